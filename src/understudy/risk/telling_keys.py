"""Which knowledge tells most: single keys, pairs, all but one, all; and a limit for the looks."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_seed
from understudy.data.coded import Coded
from understudy.data.frames import Backend, Frame
from understudy.learning.packed import Records
from understudy.progress import track
from understudy.results import Line, Result
from understudy.risk.attribution_result import Attack, Scores
from understudy.risk.chance import Agreement, agreement, corrected, gain_error
from understudy.risk.compared_tables import listed_releases
from understudy.risk.kept_back import Compared, People, compare_people, strata_of
from understudy.risk.linking import Rows, drawn_people
from understudy.risk.prepare import Prepared, prepare
from understudy.risk.scenario import Baseline, Scenario
from understudy.risk.tolerance import NumberTarget, Tolerance
from understudy.wording import counted, percent, points, quoted, signed_points

LEVEL = 0.05
"""Chance alone exceeds a limit in this share of releases at most."""
MOST_PAIRS = 500
"""Of more pairs than this, those of the single keys that tell most are looked at."""
TITLE = ("telling keys", "the keys that tell most")


@dataclass(frozen=True)
class KeySetGain:
    """What somebody learns who knows one set of keys, and looks them up.

    Parameters
    ----------
    keys : tuple of str
        What is known.
    accuracy, gain : float
        Share of correct guesses, and what is left of it beyond the zero rule.
    error : float
        The standard error of the gain.
    excess : float
        What is left of it beyond chance: the same guesses dealt out among people at random. A guess
        of a rare value that is often right counts here, even if the zero rule is right more often.
    p_value : float
        How often chance alone gives such an excess for this or a more telling set, of all that were
        looked at.
    limit : float
        The gain that chance alone exceeds in at most 5% of releases for any set.
    control_accuracy : float
        Accuracy for the control records; nan without any.
    compared : Compared or None
        People in the data beside people kept back; its p-values are for one look.
    """

    keys: tuple[str, ...]
    accuracy: float
    gain: float
    error: float
    excess: float
    p_value: float
    limit: float
    control_accuracy: float
    compared: Compared | None


@dataclass(frozen=True, eq=False)
class TellingKeys(Result):
    """Which keys tell most about the sensitive attribute; `telling_keys` makes it.

    Parameters
    ----------
    scenario : Scenario
        All keys, and what the attacker wants.
    tolerance : Tolerance or None
        How far off a guess of a number or date may be.
    records : int
        People with a value to guess.
    baseline : Baseline
        What is reached without the release.
    sets : tuple of KeySetGain
        Each set of keys: single ones, pairs, all but one, all.
    best : KeySetGain
        The set with the largest gain; of equals, the one beyond chance most.
    clearest : KeySetGain
        The set that is beyond chance most clearly.
    gain, limit : float
        The largest gain, and the one that chance alone exceeds in at most 5% of releases.
    p_value : float
        How often chance alone gives such an excess as that of the clearest set, for any set.
    difference_p_value : float
        How often it makes no difference for any set whether somebody is in the data and chance
        alone still gives such a difference, among people with the same value; nan without control.
    looks : int
        How many sets there are.
    reasons : dict
        What was left out.
    """

    scenario: Scenario
    tolerance: Tolerance | None
    records: int
    baseline: Baseline
    sets: tuple[KeySetGain, ...]
    best: KeySetGain
    clearest: KeySetGain
    gain: float
    limit: float
    p_value: float
    difference_p_value: float
    looks: int
    reasons: dict[str, str]
    _right: NDArray[np.float64] = field(repr=False)

    @property
    def exceeds(self) -> bool:
        """Whether the largest gain is more than chance explains."""
        return self.gain > self.limit

    def per_record(self, *, backend: Backend | None = None) -> Frame:
        """Return with which share of the sets of keys each original record is guessed correctly.

        It is null for a record that was not drawn, or has no value to guess.
        """
        import polars as pl

        frame = pl.DataFrame({"right": self._right}).fill_nan(None).with_row_index("record")
        return self._framed(frame, backend)

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each set of keys."""
        names = ("accuracy", "gain", "excess", "p_value", "limit", "control_accuracy")
        rows = [
            {"keys": list(one.keys), "size": len(one.keys)}
            | {name: getattr(one, name) for name in names}
            for one in self.sets
        ]
        return self._framed(rows, backend)

    def summary(self) -> str:
        """Return the result in a few sentences."""
        verdict = (
            f"more than the {points(max(self.limit, 0.0))} that chance explains"
            if self.exceeds
            else "which chance explains"
        )
        control = (
            f" For people who are not in the data it is {percent(self.best.control_accuracy)}."
            if self.best.compared
            else ""
        )
        return (
            f"Of {counted(self.looks, 'set')} of keys, {quoted(self.best.keys)} tell most about "
            f"{self.scenario.sensitive!r}: guesses are correct for {percent(self.best.accuracy)} "
            f"of the records, and without the release for {percent(self.baseline.zero_rule)}. That "
            f"is a gain of {signed_points(self.gain)} points, {verdict}.{control}"
        )

    def lines(self) -> Sequence[Line]:
        """Return the best set beside its references."""
        one = self.best
        return [
            Line(
                TITLE[0],
                quoted(one.keys),
                self.baseline,
                one.accuracy,
                control=one.control_accuracy,
                gain=one.gain,
            )
        ]


def telling_keys(  # noqa: PLR0913  # the tables, the attacker, and how values are coded
    original: Frame,
    synthetic: Frame | Sequence[Frame],
    *,
    keys: str | Sequence[str],
    sensitive: str,
    tolerance: Tolerance | float | dt.timedelta | str | None = None,
    control: Frame | None = None,
    groups: Mapping[str, int] | None = None,
    special: Mapping[str, Sequence[float]] | None = None,
    people: int | None = None,
    random_state: int = 0,
) -> TellingKeys:
    """Find the keys that tell most: all single ones, all pairs, all but one, and all.

    Parameters
    ----------
    original, synthetic : frame
        The original table and the release; several releases in a list are looked up together.
    keys, sensitive
        What an attacker may know, and wants.
    tolerance, control, groups, special
        As in `attribution`.
    people : int, optional
        How many people are attacked, drawn at random; all if not given.
    random_state : int
        Decides who is drawn.

    Returns
    -------
    TellingKeys

    Notes
    -----
    Each set of keys is looked up as `gcap` does. Its gain is the accuracy less the zero rule. The
    largest of many gains is large by chance alone, so there is a limit. If the release's sensitive
    values have nothing to do with the keys, then the guesses have nothing to do with the people,
    and any of them could have been dealt any guess. The correct guesses then have the mean and
    variance that `understudy.risk.chance.agreement` states. The limit of a set is exceeded with the
    probability 0.05 / sets (Bonferroni), and that of the largest gain is the largest of them. The
    p-values are Holm's.

    A pattern that holds for everybody exceeds the limit, too. Control records tell it from what is
    told about the people in the data.

    Of more than 500 pairs, only those of the single keys are looked at that are most clearly beyond
    chance; the p-values are those for all pairs.

    Examples
    --------
    >>> from understudy import load
    >>> survey = load("cmc")
    >>> found = telling_keys(survey, survey, keys=["age", "education", "religion"],
    ...                      sensitive="method")
    >>> found.best.keys, found.looks, found.exceeds
    (('age', 'education', 'religion'), 7, True)
    """
    prepared = prepare(
        original,
        listed_releases(synthetic),
        Scenario(keys, sensitive),
        control=control,
        groups=groups,
        special=special,
        tolerance=tolerance,
    )
    return telling_keys_of(prepared, people=people, random_state=random_state)


def telling_keys_of(
    prepared: Prepared,
    *,
    people: int | None = None,
    random_state: int = 0,
    single: bool = False,
) -> TellingKeys:
    """Find the most telling keys of tables that are coded already; see `telling_keys`.

    With `single`, only single keys are looked at.
    """
    check_seed(random_state)
    scenario = Scenario(prepared.scenario.keys, prepared.scenario.sensitive)
    names, number = scenario.keys, prepared.number

    def attack_on(table: Coded) -> Attack:
        rows = drawn_people(len(table), people, random_state)
        asked = table if len(rows) == len(table) else table.take(rows)
        return Attack(prepared.released, Records(asked), number)

    attack = attack_on(prepared.original)
    control = None if prepared.control is None else attack_on(prepared.control)
    looks = _Looks(names, attack, control, number)
    singles = [(name,) for name in names]
    large = [*combinations(names, len(names) - 1), names] if len(names) > 1 else []
    looks.at(singles)
    chosen, reasons = ([], {}) if single else _pairs(names, looks)
    others = [one for one in dict.fromkeys([*chosen, *large]) if one not in singles]
    looks.at([] if single else others)
    pairs = 0 if single else math.comb(len(names), 2)
    rows = drawn_people(len(prepared.original), people, random_state)
    if len(rows) < len(prepared.original):
        reasons["records"] = (
            f"{len(rows):,} of {len(prepared.original):,} people were attacked, drawn at random"
        )
    return _result(
        prepared,
        scenario,
        looks,
        right=looks.per_record(len(prepared.original), rows),
        looks=len(looks.found) + max(pairs - len(chosen), 0),
        reasons=reasons,
    )


@dataclass(frozen=True, eq=False)
class _Look:
    keys: tuple[str, ...]
    agreement: Agreement
    error: float
    baseline: Baseline
    control_accuracy: float
    compared: Compared | None

    @property
    def accuracy(self) -> float:
        return self.agreement.hits / self.agreement.people if self.agreement.people else math.nan


class _Looks:
    """Looks sets of keys up, and keeps what each tells."""

    def __init__(
        self,
        names: Sequence[str],
        attack: Attack,
        control: Attack | None,
        number: NumberTarget | None,
    ) -> None:
        self._places = {name: place for place, name in enumerate(names)}
        self._attack, self._control, self._number = attack, control, number
        self.found: list[_Look] = []
        self.right = np.zeros(len(attack.queries.weights))

    def at(self, sets: Sequence[tuple[str, ...]]) -> None:
        """Look some sets of keys up."""
        for keys in track(sets, "Looking for telling keys", len(sets)):
            places = [self._places[key] for key in keys]
            (scores,) = self._attack.scores(places, "nearest")
            outside = self._control.scores(places, "nearest")[0] if self._control else None
            self.right += np.where(scores.counted, scores.right, math.nan)
            compared = None if outside is None else self._compared(scores, outside)
            held = scores.counted
            self.found.append(
                _Look(
                    keys,
                    agreement(
                        scores.guess[held],
                        scores.sensitive[held],
                        self._number,
                        scores.weights[held],
                    ),
                    gain_error(
                        scores.right[held],
                        scores.sensitive[held],
                        scores.baseline.zero_rule,
                        scores.weights[held],
                        self._number,
                    ),
                    scores.baseline,
                    outside.accuracy if outside else math.nan,
                    compared,
                )
            )

    def _compared(self, scores: Scores, outside: Scores) -> Compared:
        sides = [
            (
                np.repeat(held.right[own], held.weights[own]).astype(np.float64),
                np.repeat(held.sensitive[own], held.weights[own]),
            )
            for held in (scores, outside)
            for own in (held.counted,)
        ]
        strata = strata_of(sides[0][1], sides[1][1], numbers=self._number is not None)
        return compare_people(
            *(People(right, own) for (right, _), own in zip(sides, strata, strict=True))
        )

    def per_record(self, total: int, rows: Rows) -> NDArray[np.float64]:
        """Return the share of sets with which each record is guessed correctly; nan for others."""
        shares = np.full(total, math.nan)
        shares[rows] = (self.right / len(self.found))[self._attack.queries.ids]
        return shares


def _pairs(names: Sequence[str], looks: _Looks) -> tuple[list[tuple[str, ...]], dict[str, str]]:
    """Return the pairs to look at: all, or those of the single keys that tell most."""
    every = math.comb(len(names), 2)
    if every <= MOST_PAIRS:
        return [*combinations(names, 2)], {}
    most = math.isqrt(2 * MOST_PAIRS)
    order = sorted(
        looks.found,
        key=lambda one: (one.agreement.p_value, -one.agreement.excess, names.index(one.keys[0])),
    )
    kept = {one.keys[0] for one in order[:most]}
    chosen: list[tuple[str, ...]] = [*combinations([name for name in names if name in kept], 2)]
    reason = (
        f"{len(chosen):,} of {every:,} pairs were looked at: those of the {most} single keys that "
        "are most clearly beyond chance"
    )
    return chosen, {"sets": reason}


def _result(
    prepared: Prepared,
    scenario: Scenario,
    found: _Looks,
    *,
    right: NDArray[np.float64],
    looks: int,
    reasons: dict[str, str],
) -> TellingKeys:
    held = found.found
    p_values = corrected(np.array([one.agreement.p_value for one in held]), looks)
    sets = tuple(
        KeySetGain(
            one.keys,
            one.accuracy,
            one.accuracy - one.baseline.zero_rule,
            one.error,
            one.agreement.excess,
            float(p_value),
            one.agreement.limit(LEVEL / looks) / max(one.agreement.people, 1)
            - one.baseline.zero_rule,
            one.control_accuracy,
            one.compared,
        )
        for one, p_value in zip(held, p_values, strict=True)
    )
    best = max(sets, key=lambda one: (one.gain, one.excess))
    clearest = min(sets, key=lambda one: (one.p_value, -one.excess))
    differences = np.array(
        [math.nan if one.compared is None else one.compared.matched_p_value for one in sets]
    )
    tested = corrected(differences, looks)
    number = prepared.number
    return TellingKeys(
        scenario=scenario,
        tolerance=None if number is None else number.closeness.tolerance,
        records=held[0].agreement.people,
        baseline=held[0].baseline,
        sets=sets,
        best=best,
        clearest=clearest,
        gain=best.gain,
        limit=max(one.limit for one in sets),
        p_value=clearest.p_value,
        difference_p_value=float(np.nanmin(tested)) if not np.isnan(tested).all() else math.nan,
        looks=looks,
        reasons=reasons,
        _right=right,
        _backend=prepared.backend,
    )
