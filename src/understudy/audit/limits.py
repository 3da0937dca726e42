"""What counts as much: the limits of the verdict, in one place, and the reasons for them."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from understudy.arguments import is_number, is_whole
from understudy.errors import ParameterError
from understudy.risk.renamed import RENAMED

_NO_SHARES = ("standard_errors", "doubled_bits", "enough_to_copy")
"""The limits that can be more than 1."""
_CHANCES = ("chance", "sure")
"""Without any chance of a false alarm, no evidence would be enough."""


@dataclass(frozen=True)
class Limits:
    """The limits that decide the answers of a verdict; a policy can set others.

    Parameters
    ----------
    chance : float
        What chance explains so often does not count. It is shared by all tests of both answers, on
        records and on ordinary attackers, so that a release of fresh people is suspected in one of
        20 cases at most.
    sure : float
        Evidence of people's records that chance explains less often than this makes the answer
        high: then it does not matter how many people they are.
    power : float
        If copies of more than this share of the people could have been missed, "none found" is no
        answer: one in twenty is a whole class of a school, or a ward of a hospital.
    own_copy : float
        If the model makes a copy of somebody so much more probable because they are in the data,
        this is more than chance: such a person is more likely than not to be found because of it.
    told_apart : float
        That it can be told who was in the data counts from this gain over 50% of the pairs, and
        that people in the data are singled out, from so much more than others are. Any release that
        keeps single values, such as the largest income, does both a little.
    known_values : float
        If fewer of the values of a key or of the sensitive column are values of the original, they
        have other names, and guesses from them tell nothing.
    standard_errors : float
        A gain within so many standard errors of 0 counts as none. If the release told nothing, the
        share b of correct guesses among n people would still vary, with the standard error
        sqrt(b (1 - b) / n); it stays within two of them 19 times out of 20.
    worth : float
        Tests see order among guesses that hardly gain anything, and the best of many attacks always
        gains a little. Such a gain counts from this share of all people, or of so large a share of
        the wrong guesses as is large.
    large_gain : float
        A gain of this share of all people is large: one in ten is guessed who was not before.
    large_share : float
        So is one that corrects this share of the guesses that were wrong without the release.
        Where nearly everybody has the same value, few are left to learn something about, and they
        are those with the rare value.
    certain : float
        If the strongest attacker is certain about this share of the people, the answer is high;
        if about anybody, raised. Two people of 1,629 are not the same as 639.
    members : float
        The same for being nearly sure that a person was in the data, a tenth of this share: for
        raised.
    doubled_bits : float
        The strongest attacker counts from so many bits for one person: the truth is twice as
        probable. A person is not helped by a low mean.
    copied : float
        A release that holds this share of the original's one-of-a-kind records is a copy of it. A
        model that draws from the records themselves gives back 63% of them at most.
    enough_to_copy : int
        One-of-a-kind records from which such a share means something.
    beside_copies : float
        With more new records than this share of what fresh people would bring, a release is no
        copy: where there are few different records, chance makes nearly all of them. A copy brings
        none, and half as many if as many fresh people are added.
    """

    chance: float = 0.05
    sure: float = 0.001
    power: float = 0.05
    own_copy: float = 0.5
    told_apart: float = 0.08
    known_values: float = RENAMED
    standard_errors: float = 2.0
    worth: float = 0.01
    large_gain: float = 0.10
    large_share: float = 0.25
    certain: float = 0.01
    members: float = 0.10
    doubled_bits: float = 1.0
    copied: float = 0.9
    enough_to_copy: int = 20
    beside_copies: float = 0.6

    def __post_init__(self) -> None:
        """Raise if a limit cannot be one."""
        held = {name: getattr(self, name) for name in NAMES}
        if problems := [
            told for name, value in held.items() if (told := problem_with(name, value))
        ]:
            raise ParameterError(" ".join(problems))

    def large(self, baseline: float) -> float:
        """Return the gain over a baseline from which it is large.

        Examples
        --------
        >>> Limits().large(0.5), round(Limits().large(0.9), 3)
        (0.1, 0.025)
        """
        return min(self.large_gain, self.large_share * (1 - baseline))

    def noise(self, share: float, records: int) -> float:
        """Return the gain that chance explains, for a share of so many records.

        Examples
        --------
        >>> round(Limits().noise(0.5, 100), 6), Limits().noise(1.0, 100), Limits().noise(0.5, 0)
        (0.1, 0.0, nan)
        """
        if not records or math.isnan(share):
            return math.nan
        within = min(max(share, 0.0), 1.0)
        return self.standard_errors * math.sqrt(within * (1 - within) / records)


NAMES = tuple(field.name for field in fields(Limits))


def problem_with(name: str, value: object) -> str:
    """Say why a value cannot be a limit, which would let everything pass; empty if it can.

    Examples
    --------
    >>> problem_with("power", 5)
    'power is a share from 0 to 1; got 5. For 5%, write 0.05.'
    """
    if not is_number(value) or not 0 <= value < math.inf:  # type: ignore[operator]
        return f"{name} must be a number from 0; got {value!r}."
    if value > 1 and name not in _NO_SHARES:  # type: ignore[operator]
        return f"{name} is a share from 0 to 1; got {value}. For {value}%, write {value / 100:g}."  # type: ignore[operator]
    if name in _CHANCES and not value:
        return f"{name} must be more than 0: no evidence rules out all chance; got {value!r}."
    if name == "enough_to_copy" and not is_whole(value):
        return f"{name} is a number of records; got {value!r}."
    return ""
