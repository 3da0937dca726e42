"""Attacks on a release, and what came of them as plain values."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.audit.findings import (
    NAN,
    AnonymityFindings,
    DisclosureFindings,
    Figure,
    SubsetRisk,
)
from understudy.data.coded import Coded
from understudy.risk.anonymity import Anonymity, anonymity
from understudy.risk.attacker_results import Attackers, Score
from understudy.risk.attribution_result import Attribution, Unmatched
from understudy.risk.disclosure_result import Disclosure
from understudy.risk.prepare import Prepared

_RULES: Mapping[Unmatched, tuple[str, str, str]] = {
    "nearest": (
        "gcap",
        "GCAP",
        "Share of people guessed right by who looks their keys up in the table, and takes the "
        "nearest records where none has the same keys",
    ),
    "ignore": (
        "icap",
        "ICAP",
        "The same for those people alone whose keys are found in the table",
    ),
    "zero": (
        "zero_cap",
        "0CAP",
        "The same for all people, where who is not found counts as a wrong guess",
    ),
}

_SOME_GROUP = "a group of numbers"
_TOLD_WITHOUT = "nearly every guess would be right without the release"


def mean(values: Iterable[float]) -> float:
    """Return the mean of what is defined; nan if nothing is.

    Examples
    --------
    >>> mean([0.5, float("nan"), 1.0])
    0.75
    """
    defined = [float(value) for value in values if not math.isnan(value)]
    return math.fsum(defined) / len(defined) if defined else NAN


def spread(values: Sequence[float]) -> float:
    """Return the standard deviation over syntheses; nan if there is one.

    Examples
    --------
    >>> spread([1.0, 3.0]), spread([1.0])
    (1.4142135623730951, nan)
    """
    defined = [float(value) for value in values if not math.isnan(value)]
    return float(np.std(defined, ddof=1)) if len(defined) > 1 else NAN


def attribution_figures(
    found: Sequence[Mapping[Unmatched, Attribution]], note: str = ""
) -> list[Figure]:
    """Return GCAP, ICAP and 0CAP over the syntheses."""
    figures = []
    for rule, (measure, title, meaning) in _RULES.items():
        results = [result[rule] for result in found]
        reasons = {
            reason
            for result in results
            for name, reason in result.reasons.items()
            if name in ("accuracy", "subsets")
        }
        controls = [result.control.accuracy for result in results if result.control is not None]
        figures.append(
            Figure(
                measure,
                title,
                meaning,
                baseline=mean(result.baseline.zero_rule for result in results),
                synthetic=mean(result.accuracy for result in results),
                original=mean(result.original.accuracy for result in results),
                control=mean(controls),
                gain=mean(result.gain for result in results),
                spread=spread([result.accuracy for result in results]),
                note=_sentences([note, *sorted(reasons)]),
            )
        )
    return figures


def subset_risks(found: Sequence[Attribution]) -> tuple[SubsetRisk, ...]:
    """Return GCAP for each set of keys, over the syntheses."""
    return tuple(
        SubsetRisk(
            keys=sets[0].keys,
            baseline=mean(one.baseline.zero_rule for one in sets),
            synthetic=mean(one.accuracy for one in sets),
            original=mean(one.original_accuracy for one in sets),
        )
        for sets in zip(*(result.subsets for result in found), strict=True)
    )


def attacker_figures(
    found: Sequence[Attackers], *, of_papers: bool = False, note: str = ""
) -> list[Figure]:
    """Return the vote, the mean and the best of classifiers over the syntheses."""
    prefix, suffix = ("papers_", ", as in the papers") if of_papers else ("", "")
    models = ", ".join(found[0].models)
    best = ", ".join(sorted({result.best for result in found if result.best}))
    rows: list[tuple[str, str, str, list[Score], str]] = [
        (
            "vote",
            "Vote of classifiers",
            f"Share of people guessed right by a vote of classifiers that learnt from the table "
            f"({models})",
            [result.ensemble for result in found],
            "",
        ),
        (
            "mean_attacker",
            "Mean of classifiers",
            "The same for a classifier, on average over all of them",
            [result.mean for result in found],
            "",
        ),
        (
            "best_attacker",
            "Best classifier",
            "The same for the classifier that does best; an attacker cannot know which it is",
            [result.maximum for result in found],
            f"Best: {best}." if best else "",
        ),
    ]
    failed = {
        name
        for result in found
        for name, score in result.models.items()
        if math.isnan(score.accuracy)
    }
    # Why they failed is not said: the text may show records.
    lost = f"Left out, for it failed: {', '.join(sorted(failed))}." if failed else ""
    return [
        Figure(
            f"{prefix}{measure}",
            f"{title}{suffix}",
            meaning,
            baseline=mean(result.baseline.zero_rule for result in found),
            synthetic=mean(score.accuracy for score in scores),
            original=mean(score.original for score in scores),
            control=mean(score.control for score in scores),
            gain=mean(score.gain for score in scores),
            spread=spread([score.accuracy for score in scores]),
            note=_sentences([note, own, lost]),
        )
        for measure, title, meaning, scores, own in rows
    ]


def disclosure_figures(found: Sequence[Disclosure]) -> list[Figure]:
    """Return repU and DiSCO over the syntheses."""
    scenario = found[0].scenario
    keys = f"all {len(scenario.keys)} keys" if len(scenario.keys) > 1 else "the key"
    controls = [result.control.disco for result in found if result.control is not None]
    flagged = any(result.check_1way is not None and result.check_1way.flagged for result in found)
    return [
        Figure(
            "repu",
            "repU",
            f"Share of people who are unique by {keys} in the original, and whose keys one "
            "synthetic record has",
            synthetic=mean(result.repu for result in found),
            original=mean(result.uio for result in found),
            spread=spread([result.repu for result in found]),
            note="There is no baseline: being unique in both tables is no guess.",
        ),
        Figure(
            "disco",
            "DiSCO",
            f"Share of people for whom all synthetic records with {keys} have the same sensitive "
            "value, and it is theirs",
            baseline=mean(result.disco_baseline for result in found),
            synthetic=mean(result.disco for result in found),
            original=mean(result.dorig for result in found),
            control=mean(controls),
            gain=mean(result.disco_gain for result in found),
            spread=spread([result.disco for result in found]),
            note=f"One value is most of what is disclosed: {_TOLD_WITHOUT}." if flagged else "",
        ),
    ]


def disclosure_findings(
    found: Sequence[Disclosure], grouped: Collection[str] = ()
) -> DisclosureFindings:
    """Return the figures over the syntheses, and the checks of the first.

    The values that the checks name are in the release, for it discloses them. Not so the limits of
    groups, which are the original's: columns in groups are given no values.
    """
    return DisclosureFindings(
        uio=mean(result.uio for result in found),
        uis=mean(result.uis for result in found),
        repu=mean(result.repu for result in found),
        dorig=mean(result.dorig for result in found),
        disco=mean(result.disco for result in found),
        disco_baseline=mean(result.disco_baseline for result in found),
        disco_gain=mean(result.disco_gain for result in found),
        checks=tuple(_checks(found[0], grouped)),
    )


def _checks(found: Disclosure, grouped: Collection[str]) -> Iterator[str]:
    sensitive = found.scenario.sensitive
    hidden: dict[str, Any] = {"level": _SOME_GROUP} if sensitive in grouped else {}
    if found.check_1way is not None:
        yield str(replace(found.check_1way, **hidden))
    for check in found.check_2way:
        own: dict[str, Any] = {"key_level": _SOME_GROUP} if check.key in grouped else {}
        yield str(replace(check, **hidden, **own))


def anonymity_of(prepared: Prepared) -> tuple[Anonymity, Anonymity]:
    """Measure the original and the first synthetic table, with numbers in the same groups."""
    scenario = prepared.scenario
    original, synthetic = (
        anonymity(_as_frame(prepared, table), keys=scenario.keys, sensitive=scenario.sensitive)
        for table in (prepared.original, prepared.syntheses[0])
    )
    return original, synthetic


def _as_frame(prepared: Prepared, table: Coded) -> object:
    """Return a table of codes as a frame, with the order of levels, and gaps where they are."""
    import polars as pl

    sensitive = prepared.scenario.sensitive
    levels = prepared.levels[sensitive]
    codes: NDArray[np.int64] = table[sensitive].astype(np.int64)
    values = pl.Series(sensitive, codes)
    if levels.numbers is None:
        values = values.cast(pl.String)
    elif levels.missing is not None:
        values = values.replace(levels.missing, None)
    keys = [pl.Series(name, table[name].astype(np.int64)) for name in prepared.scenario.keys]
    return pl.DataFrame([*keys, values])


def anonymity_findings(found: Sequence[tuple[Anonymity, Anonymity]]) -> AnonymityFindings:
    """Return k, l and t over the syntheses."""
    original = found[0][0]
    return AnonymityFindings(
        k_original=float(original.k),
        k_synthetic=mean(synthetic.k for _, synthetic in found),
        l_original=float(original.l),
        l_synthetic=mean(synthetic.l for _, synthetic in found),
        t_original=float(original.t),
        t_synthetic=mean(synthetic.t for _, synthetic in found),
    )


def _sentences(parts: Iterable[str]) -> str:
    """Join notes, each as a sentence."""
    told = [part.strip() for part in parts if part.strip()]
    return " ".join(
        f"{part[0].upper()}{part[1:]}{'' if part.endswith('.') else '.'}" for part in told
    )
