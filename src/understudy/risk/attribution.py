"""Correct attribution probability: looking a person's keys up in the synthetic data."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from typing import Required, TypedDict, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_choice
from understudy.data.frames import Frame
from understudy.intervals import wilson_interval
from understudy.learning.packed import Records
from understudy.progress import track
from understudy.risk.attribution_result import (
    Attack,
    Attribution,
    ControlRates,
    Rates,
    Scores,
    SubsetAttribution,
    Unmatched,
)
from understudy.risk.compared_tables import listed_releases
from understudy.risk.kept_back import People, compare_people, strata_of
from understudy.risk.prepare import Prepared, prepare
from understudy.risk.scenario import Baseline, Scenario
from understudy.risk.tolerance import Tolerance

_NO_MATCH = "no record has the keys of a synthetic one, so nothing can be looked up"


def attribution(  # noqa: PLR0913  # the scenario, the rule and the coding are the user's
    original: Frame,
    synthetic: Frame | Sequence[Frame],
    *,
    keys: str | Sequence[str],
    sensitive: str,
    known: int | None = None,
    unmatched: Unmatched = "nearest",
    tolerance: Tolerance | float | dt.timedelta | str | None = None,
    control: Frame | None = None,
    groups: Mapping[str, int] | None = None,
    special: Mapping[str, Sequence[float]] | None = None,
) -> Attribution:
    """Attack each record by looking its keys up in the synthetic data.

    Parameters
    ----------
    original : frame, FileStream or DataFrame of Spark
        The original table.
    synthetic : the same, or a list
        The synthetic table, by any tool and of any size. Keys are looked up in the records of
        several releases together.
    keys : sequence of str
        Columns that an attacker may know of a person.
    sensitive : str
        The column that the attacker wants to learn.
    known : int, optional
        How many of the keys are known: all sets of so many keys are attacked. All keys if not
        given.
    unmatched : {"nearest", "zero", "ignore"}
        What a record counts whose keys no synthetic record has: what the synthetic records that
        differ in the fewest keys say (GCAP), nothing (0CAP), or it is left out (ICAP).
    tolerance : Tolerance, float, timedelta, str, optional
        How far off a guess of a number or a date may be, and still be right: a number or a text
        such as ``"500"`` for the largest difference, ``"0.1 relative"`` for a share of the true
        number, ``"0.05 ranks"`` for fewer than 5% of the original's records in between, and
        ``"exact"`` for equality. If it is not given, numbers with more than 20 different values in
        the original and all dates are guessed within ``"0.05 ranks"``, and all else exactly.
    control : frame, optional
        Records like the original's that were not used for the synthesis: the same attack on them
        tells what is learnt about everybody.
    groups : mapping, optional
        Numeric columns to put into so many groups of about the same number of original records.
        Others count by their exact values.
    special : mapping, optional
        Numbers of a grouped column that are not grouped, such as -8.

    Returns
    -------
    Attribution
        Accuracy and mean, with the references: without the release, and with the original.

    Raises
    ------
    ParameterError
        If keys, `known` or `unmatched` cannot be used, or a table lacks a column.
    DataError
        If a table has no rows, or tables hold values that cannot be compared.

    Notes
    -----
    The correct attribution probability (CAP) of a record is the share with its sensitive value
    among the synthetic records found for it. `mean` is the mean of these. `accuracy` is the share
    of records that an attacker guesses correctly who takes the most frequent value among the
    records found. Of values that are equally frequent, it is the one that is more frequent in all
    of the synthetic data, and then the first level [1]_. Missing is a value like any other.

    Within a tolerance, the score is the share of the records found whose number is right, and the
    guess is the middle one of their numbers (of two the lower). The zero rule is the one guess that
    is right for most people. Records without a number are left out, in all tables.

    `gcap`, `icap` and `zero_cap` are this function with the rule in their name.

    References
    ----------
    .. [1] Hittmeir, Mayer, Ekelhart (2020). A Baseline for Attribute Disclosure Risk in Synthetic
       Data. CODASPY, doi:10.1145/3374664.3375722

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"age": [30, 31, 31, 40], "ill": ["no", "no", "yes", "yes"]})
    >>> synthetic = pl.DataFrame({"age": [30, 31, 31, 31], "ill": ["no", "no", "yes", "yes"]})
    >>> found = attribution(original, synthetic, keys="age", sensitive="ill", unmatched="zero")
    >>> found.accuracy, found.mean, found.unmatched, found.baseline.zero_rule
    (0.5, 0.5, 0.25, 0.5)
    """
    check_choice("unmatched", unmatched, get_args(Unmatched))
    scenario = Scenario(keys, sensitive, known)
    prepared = prepare(
        original,
        listed_releases(synthetic),
        scenario,
        control=control,
        groups=groups,
        special=special,
        tolerance=tolerance,
    )
    return attributions(prepared, [unmatched])[unmatched]


class Options(TypedDict, total=False):
    """What `gcap`, `icap` and `zero_cap` take besides the two tables; see `attribution`."""

    keys: Required[str | Sequence[str]]
    sensitive: Required[str]
    known: int | None
    tolerance: Tolerance | float | dt.timedelta | str | None
    control: Frame | None
    groups: Mapping[str, int] | None
    special: Mapping[str, Sequence[float]] | None


def gcap(
    original: Frame, synthetic: Frame | Sequence[Frame], **options: Unpack[Options]
) -> Attribution:
    """Measure the generalized correct attribution probability (GCAP).

    A record whose keys no synthetic record has is guessed from the synthetic records that differ
    from it in the fewest keys.

    Parameters
    ----------
    original, synthetic : frame
        The original table and the release.
    **options
        `keys`, `sensitive`, `known`, `tolerance`, `control`, `groups` and `special`, as in
        `attribution`.

    Notes
    -----
    For original record j, let S(j) be the synthetic records at the smallest Hamming distance from
    its keys. Then CAP(j) = #{i in S(j): sensitive value of i = that of j} / #S(j). `mean` is its
    mean over all original records; `accuracy` is the share of records whose value is the most
    frequent one in S(j). It is `attribution` with ``unmatched="nearest"``. See
    Hittmeir, Mayer, Ekelhart (2020), doi:10.1145/3374664.3375722.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"age": [30, 31, 31, 40], "ill": ["no", "no", "yes", "yes"]})
    >>> synthetic = pl.DataFrame({"age": [30, 31, 31, 31], "ill": ["no", "no", "yes", "yes"]})
    >>> gcap(original, synthetic, keys="age", sensitive="ill").mean  # (1 + 1/3 + 2/3 + 1/2) / 4
    0.625
    """
    return attribution(original, synthetic, unmatched="nearest", **options)


def icap(
    original: Frame, synthetic: Frame | Sequence[Frame], **options: Unpack[Options]
) -> Attribution:
    """Measure the correct attribution probability of the records that have a match (ICAP).

    A record whose keys no synthetic record has is ignored.

    Parameters
    ----------
    original, synthetic, **options
        As in `gcap`.

    Notes
    -----
    As `gcap`, where S(j) are the synthetic records with the keys of record j, and the means are
    over the records for which there are any. It is `attribution` with ``unmatched="ignore"``.

    Examples
    --------
    >>> from understudy import load
    >>> survey = load("cmc")
    >>> found = icap(survey[:700], survey[700:], keys=["age", "children"], sensitive="method")
    >>> found.subsets[0].records, round(found.accuracy, 3)  # 101 women have no match
    (599, 0.314)
    """
    return attribution(original, synthetic, unmatched="ignore", **options)


def zero_cap(
    original: Frame, synthetic: Frame | Sequence[Frame], **options: Unpack[Options]
) -> Attribution:
    """Measure the correct attribution probability, where no match counts as wrong (0CAP).

    Parameters
    ----------
    original, synthetic, **options
        As in `gcap`.

    Notes
    -----
    As `icap`, but the means are over all records, and CAP(j) = 0 for a record whose keys no
    synthetic record has. It is `attribution` with ``unmatched="zero"``.

    Examples
    --------
    >>> from understudy import load
    >>> survey = load("cmc")
    >>> found = zero_cap(survey[:700], survey[700:], keys=["age", "children"], sensitive="method")
    >>> found.subsets[0].records, round(found.accuracy, 3)
    (700, 0.269)
    """
    return attribution(original, synthetic, unmatched="zero", **options)


def attributions(
    prepared: Prepared, rules: Sequence[Unmatched] = get_args(Unmatched)
) -> dict[Unmatched, Attribution]:
    """Attack the synthetic tables coded already, together, by each rule for no match.

    Keys are looked up once for all rules, so that three rules take little more time than one.
    """
    scenario, number = prepared.scenario, prepared.number
    original = Records(prepared.original)
    attack = Attack(prepared.released, original, number)
    upper = Attack(prepared.original, original, number)
    control = None
    if prepared.control is not None:
        control = Attack(prepared.released, Records(prepared.control), number)
    found = {rule: _Found(attack, control) for rule in rules}
    for keys in track(scenario.subsets(), "looking keys up", len(scenario)):
        places = [scenario.keys.index(key) for key in keys]
        # A record is among those that it is looked up in: each has a match, whatever the rule.
        (best,) = upper.scores(places, "zero")
        outside = control.scores(places, *rules) if control else [None] * len(rules)
        for rule, scores, others in zip(rules, attack.scores(places, *rules), outside, strict=True):
            found[rule].add(_attacked(rule, keys, scores, best, others), scores, others)
    return {rule: _collected(prepared, rule, found[rule]) for rule in rules}


class _Found:
    """What each set of keys gave, and how often each record was guessed."""

    def __init__(self, attack: Attack, control: Attack | None) -> None:
        self.attack = attack
        self.subsets: list[SubsetAttribution] = []
        self.members = _Hits(attack)
        self.control = None if control is None else _Hits(control)

    def add(self, subset: SubsetAttribution, scores: Scores, control: Scores | None) -> None:
        self.subsets.append(subset)
        self.members.add(scores)
        if self.control is not None and control is not None:
            self.control.add(control)

    def compared(self, *, numbers: bool) -> tuple[People, People]:
        """Return the people in the data and those kept back."""
        hits = [held for held in (self.members, self.control) if held is not None]
        strata = strata_of(*(held.sensitive for held in hits), numbers=numbers)
        one, other = (People(held.scores, own) for held, own in zip(hits, strata, strict=True))
        return one, other


class _Hits:
    """How often each record is guessed, over the sets of keys in which it counts."""

    def __init__(self, attack: Attack) -> None:
        self._queries = attack.queries
        self._right, self._sets = (np.zeros(len(attack.queries.weights)) for _ in range(2))
        self.baselines: list[Baseline] = []
        self.interval = (math.nan, math.nan)

    def add(self, scores: Scores) -> None:
        self._right += scores.right & scores.counted
        self._sets += scores.counted
        self.baselines.append(scores.baseline)
        self.interval = _interval(scores)

    @property
    def scores(self) -> NDArray[np.float64]:
        """The share of right guesses of each record that counts at all."""
        counts = self._sets > 0
        return np.repeat(self._right[counts] / self._sets[counts], self._queries.weights[counts])

    @property
    def sensitive(self) -> NDArray[np.int32]:
        """The sensitive value of each of these records."""
        counts = self._sets > 0
        return np.repeat(self._queries.sensitive[counts], self._queries.weights[counts])


def _attacked(
    rule: Unmatched,
    keys: tuple[str, ...],
    scores: Scores,
    original: Scores,
    control: Scores | None,
) -> SubsetAttribution:
    return SubsetAttribution(
        keys=keys,
        records=scores.records,
        accuracy=scores.accuracy,
        mean=scores.mean,
        interval=_interval(scores),
        baseline=scores.baseline,
        unmatched=scores.unmatched,
        rho=scores.at_distance(len(keys)) if rule == "nearest" else None,
        original_accuracy=original.accuracy,
        original_mean=original.mean,
        control_accuracy=control.accuracy if control else math.nan,
        control_mean=control.mean if control else math.nan,
    )


def _collected(prepared: Prepared, rule: Unmatched, found: _Found) -> Attribution:
    """Return the result over all sets of keys."""
    subsets, number = tuple(found.subsets), prepared.number
    rates = Rates.over([(one.accuracy, one.mean) for one in subsets])
    baseline = Baseline.mean([one.baseline for one in subsets])
    control = None
    if prepared.control is not None and found.control is not None:
        others = Rates.over([(one.control_accuracy, one.control_mean) for one in subsets])
        control = ControlRates(
            **vars(others),
            records=prepared.control.records,
            interval=found.control.interval if len(subsets) == 1 else None,
            baseline=Baseline.mean(found.control.baselines),
            difference=rates.accuracy - others.accuracy,
            mean_difference=rates.mean - others.mean,
            compared=compare_people(*found.compared(numbers=number is not None)),
        )
    distances = [one.rho for one in subsets if one.rho is not None]
    return Attribution(
        **vars(rates),
        scenario=prepared.scenario,
        rule=rule,
        tolerance=None if number is None else number.closeness.tolerance,
        records=prepared.original.records,
        synthetic_records=prepared.released.records,
        interval=subsets[0].interval if len(subsets) == 1 else None,
        baseline=baseline,
        gain=rates.accuracy - baseline.zero_rule,
        original=Rates.over([(one.original_accuracy, one.original_mean) for one in subsets]),
        control=control,
        unmatched=sum(one.unmatched for one in subsets) / len(subsets) / prepared.original.records,
        rho=tuple(map(sum, zip(*distances, strict=True))) if distances else None,
        subsets=subsets,
        reasons=_reasons(subsets, control),
        _attack=found.attack,
        _levels=prepared.levels[prepared.scenario.sensitive],
        _backend=prepared.backend,
    )


def _interval(scores: Scores | None) -> tuple[float, float]:
    return wilson_interval(scores.hits, scores.records) if scores else (math.nan, math.nan)


def _reasons(subsets: Sequence[SubsetAttribution], control: ControlRates | None) -> dict[str, str]:
    """Say why results are undefined, and how many sets of keys were left out of them."""
    reasons = {}
    empty = sum(math.isnan(one.accuracy) for one in subsets)
    if empty == len(subsets):
        names = ("accuracy", "accuracy_std", "mean", "mean_std", "gain", "interval")
        reasons = dict.fromkeys(names[: -1 if len(subsets) > 1 else None], _NO_MATCH)
    elif empty:
        reasons["subsets"] = f"{empty} of {len(subsets)} sets of keys are left out: {_NO_MATCH}"
    if control and math.isnan(control.accuracy):
        reasons["control"] = f"among the control records, {_NO_MATCH}"
    return reasons
