"""Correct attribution probability: looking a person's keys up in the synthetic data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Required, TypedDict, Unpack, get_args

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
from understudy.risk.prepare import Prepared, prepare
from understudy.risk.scenario import Baseline, Scenario

_NO_MATCH = "no record has the keys of a synthetic one, so nothing can be looked up"


def attribution(  # noqa: PLR0913  # the scenario, the rule and the coding are the user's
    original: Frame,
    synthetic: Frame,
    *,
    keys: str | Sequence[str],
    sensitive: str,
    known: int | None = None,
    unmatched: Unmatched = "nearest",
    control: Frame | None = None,
    groups: Mapping[str, int] | None = None,
    special: Mapping[str, Sequence[float]] | None = None,
) -> Attribution:
    """Attack each record by looking its keys up in the synthetic data.

    Parameters
    ----------
    original : frame
        The original table.
    synthetic : frame
        The synthetic table, by any tool and of any size.
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
        original, [synthetic], scenario, control=control, groups=groups, special=special
    )
    return attributions(prepared, [unmatched])[unmatched]


class Options(TypedDict, total=False):
    """What `gcap`, `icap` and `zero_cap` take besides the two tables; see `attribution`."""

    keys: Required[str | Sequence[str]]
    sensitive: Required[str]
    known: int | None
    control: Frame | None
    groups: Mapping[str, int] | None
    special: Mapping[str, Sequence[float]] | None


def gcap(original: Frame, synthetic: Frame, **options: Unpack[Options]) -> Attribution:
    """Measure the generalized correct attribution probability (GCAP).

    A record whose keys no synthetic record has is guessed from the synthetic records that differ
    from it in the fewest keys.

    Parameters
    ----------
    original, synthetic : frame
        The original table and the release.
    **options
        `keys`, `sensitive`, `known`, `control`, `groups` and `special`, as in `attribution`.

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


def icap(original: Frame, synthetic: Frame, **options: Unpack[Options]) -> Attribution:
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


def zero_cap(original: Frame, synthetic: Frame, **options: Unpack[Options]) -> Attribution:
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
    """Attack the first synthetic table of those coded already, by each rule for no match.

    Keys are looked up once for all rules, so that three rules take little more time than one.
    """
    scenario = prepared.scenario
    original, synthetic = Records(prepared.original), Records(prepared.syntheses[0])
    attack, upper = Attack(synthetic, original), Attack(original, original)
    control = prepared.control and Attack(synthetic, Records(prepared.control))
    found: dict[Unmatched, list[_Attacked]] = {rule: [] for rule in rules}
    for keys in track(scenario.subsets(), "looking keys up", len(scenario)):
        places = [scenario.keys.index(key) for key in keys]
        # A record is among those that it is looked up in: each has a match, whatever the rule.
        (best,) = upper.scores(places, "zero")
        outside = control.scores(places, *rules) if control else [None] * len(rules)
        for rule, scores, others in zip(rules, attack.scores(places, *rules), outside, strict=True):
            found[rule].append(_attacked(rule, keys, scores, best, others))
    return {rule: _collected(prepared, rule, attack, found[rule]) for rule in rules}


# The result of one set of keys, and the scores of the control records.
_Attacked = tuple[SubsetAttribution, Scores | None]


def _attacked(
    rule: Unmatched,
    keys: tuple[str, ...],
    scores: Scores,
    original: Scores,
    control: Scores | None,
) -> _Attacked:
    one = SubsetAttribution(
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
    return one, control


def _collected(
    prepared: Prepared, rule: Unmatched, attack: Attack, found: Sequence[_Attacked]
) -> Attribution:
    """Return the result over all sets of keys."""
    subsets = tuple(one for one, _ in found)
    rates = Rates.over([(one.accuracy, one.mean) for one in subsets])
    baseline = Baseline.mean([one.baseline for one in subsets])
    control = None
    if prepared.control is not None:
        others = Rates.over([(one.control_accuracy, one.control_mean) for one in subsets])
        control = ControlRates(
            **vars(others),
            records=len(prepared.control),
            interval=_interval(found[0][1]) if len(found) == 1 else None,
            baseline=Baseline.mean([scores.baseline for _, scores in found if scores]),
            difference=rates.accuracy - others.accuracy,
            mean_difference=rates.mean - others.mean,
        )
    distances = [one.rho for one in subsets if one.rho is not None]
    return Attribution(
        **vars(rates),
        scenario=prepared.scenario,
        rule=rule,
        records=len(prepared.original),
        synthetic_records=len(prepared.syntheses[0]),
        interval=subsets[0].interval if len(found) == 1 else None,
        baseline=baseline,
        gain=rates.accuracy - baseline.zero_rule,
        original=Rates.over([(one.original_accuracy, one.original_mean) for one in subsets]),
        control=control,
        unmatched=sum(one.unmatched for one in subsets) / len(subsets) / len(prepared.original),
        rho=tuple(map(sum, zip(*distances, strict=True))) if distances else None,
        subsets=subsets,
        reasons=_reasons(subsets, control),
        _attack=attack,
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
