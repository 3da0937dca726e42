"""What an audit of a privacy claim found, and what that proves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from understudy.data.frames import Backend, Frame
from understudy.results import Result, to_plain
from understudy.wording import counted, percent

Verdict = Literal["disproved", "consistent"]
How = Literal["exact", "simulated"]


@dataclass(frozen=True)
class Tried:
    """What was found in one pair of worlds.

    Parameters
    ----------
    world : str
        The pair, in words.
    how : {"exact", "simulated"}
        Whether likelihood ratios were computed, or runs compared.
    epsilon : float
        The largest epsilon that was found; infinite if a release is impossible in one world.
    drawn : float
        The same of releases that were drawn, without those that were made up; a lower bound with
        some confidence if simulated, or if there is a delta.
    proving : float
        The share of drawn releases that prove by themselves that the claim is wrong; nan if a
        single release cannot.
    releases : int
        Releases that were drawn.
    evidence : str
        What was found, in words.
    """

    world: str
    how: How
    epsilon: float
    drawn: float
    proving: float
    releases: int
    evidence: str


@dataclass(frozen=True, eq=False)
class PrivacyAudit(Result):
    """Whether a claim of differential privacy can be disproved.

    Parameters
    ----------
    tool : str
        What was audited.
    epsilon, delta : float
        What is claimed.
    neighbours : str
        Which tables count as neighbours.
    tried : tuple of Tried
        What was found in each pair of worlds.
    confidence : float
        With which simulated bounds hold, all together.
    problems : tuple of str
        What disproves the claim without a ratio: noise that is too small, or drawn twice.
    notes : tuple of str
        What was not audited, and what must be known.
    """

    tool: str
    epsilon: float
    delta: float
    neighbours: str
    tried: tuple[Tried, ...]
    confidence: float
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def worst(self) -> Tried:
        """The pair of worlds with the largest epsilon."""
        return max(self.tried, key=lambda one: one.epsilon)

    @property
    def found(self) -> float:
        """The largest epsilon that was found."""
        return self.worst.epsilon

    @property
    def verdict(self) -> Verdict:
        """Whether the claim is disproved."""
        return "disproved" if self.problems or exceeds(self.found, self.epsilon) else "consistent"

    @property
    def proving(self) -> float:
        """The share of all drawn releases that prove by themselves that the claim is wrong."""
        known = [one for one in self.tried if not math.isnan(one.proving)]
        total = sum(one.releases for one in known)
        return sum(one.proving * one.releases for one in known) / total if total else math.nan

    @property
    def releases(self) -> int:
        """How many releases were drawn."""
        return sum(one.releases for one in self.tried)

    def in_words(self) -> str:
        """Return the verdict in a few words, such as "consistent, largest found .97 of 1"."""
        if self.verdict == "disproved":
            return f"disproved: {self._found_in_words()} where {self.epsilon:g} is claimed"
        return f"consistent, largest found {short(self.found)} of {self.epsilon:g}"

    def _found_in_words(self) -> str:
        if math.isinf(self.found):
            return "no epsilon holds"
        if not exceeds(self.found, self.epsilon):
            return "the noise is not what it should be"
        return f"epsilon is at least {self.found:.4g}"

    def summary(self) -> str:
        """Return what was claimed, tried and found."""
        delta = f", delta {self.delta:g}" if self.delta else ""
        lines = [
            f"{self.tool}: {self.in_words()}.",
            f"Claimed: epsilon {self.epsilon:g}{delta} ({self.neighbours}).",
            f"Tried: {counted(len(self.tried), 'pair')} of neighbouring tables, "
            f"{counted(self.releases, 'release')}.",
        ]
        worst = self.worst
        if worst.evidence:
            lines.append(f"Largest: {worst.world}. {worst.evidence}")
        if self.verdict == "disproved" and not math.isnan(self.proving):
            lines.append(
                f"Of the releases that were drawn, {percent(self.proving)} prove it each by itself."
            )
        lines += self.problems
        if self.verdict == "consistent":
            lines.append(
                "Nothing was found that the claim does not allow. That is no proof of it: the "
                "ledger and the noise are."
            )
        return "\n".join([*lines, *self.notes])

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each pair of worlds."""
        return self._framed([vars(one) for one in self.tried], backend)

    def to_dict(self) -> dict[str, Any]:
        """Return all as plain values; an infinite epsilon is the text "infinite"."""
        plain: dict[str, Any] = to_plain(self)
        plain["tried"] = [
            {**one, "epsilon": _plain(tried.epsilon), "drawn": _plain(tried.drawn)}
            for one, tried in zip(plain["tried"], self.tried, strict=True)
        ]
        own = {"verdict": self.verdict, "found": _plain(self.found), "in_words": self.in_words()}
        return own | {"proving": to_plain(self.proving), "releases": self.releases} | plain


def exceeds(found: float, epsilon: float) -> bool:
    """Tell whether a log ratio is larger than epsilon allows, beyond rounding."""
    return found > epsilon * (1 + 1e-9) + 1e-12


def short(value: float) -> str:
    """Return a number of two decimals, without a zero in front.

    Examples
    --------
    >>> short(0.971), short(1.913)
    ('.97', '1.91')
    """
    # Rounded down: .999 must not look like 1.
    text = f"{math.floor(value * 100 + 1e-9) / 100:.2f}"
    return text.removeprefix("0")


def _plain(value: float) -> float | str | None:
    return "infinite" if math.isinf(value) else None if math.isnan(value) else value
