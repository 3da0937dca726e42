"""Correlations of raw numbers, against the original's: which strong ones are lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from understudy.audit.findings import NAN, ReleaseFindings
from understudy.audit.measures.declaration import (
    Collected,
    Explanation,
    Measure,
    Part,
    Use,
    mean,
)
from understudy.audit.number_findings import CorrelationFindings, LostFindings, PairFindings
from understudy.audit.synthesis import Synthesis
from understudy.utility.correlations import STRONG, Correlations, correlations
from understudy.wording import sentence

NUMBERS = Part("raw-numbers", "Numbers", 5)
"""The part of the report about raw numbers; means and combinations are in it, too."""
MOST_SHOWN = 1_000
"""Pairs that the findings hold one by one."""
MOST_LOSSES = 20
_FIELDS = ("original", "synthetic", "low", "high")


def _run(synthesis: Synthesis) -> Correlations:
    return correlations(
        synthesis.tables, columns=synthesis.columns, random_state=synthesis.task.seed
    )


def _collect(_first: Synthesis, found: Sequence[Correlations]) -> Collected:
    """Return the pairs of the first synthesis, and the figures over all."""
    first = found[0]
    if not first.pearson.pairs:
        return Collected()
    lost = tuple(
        LostFindings(one.columns, one.coefficient, one.original, one.synthetic, one.control)
        for one in first.lost[:MOST_LOSSES]
    )
    upper = np.triu(np.abs(first.pearson.original) >= STRONG, k=1)
    findings = CorrelationFindings(
        columns=len(first.columns),
        pairs=first.pearson.pairs,
        mean_difference=mean(one.pearson.mean for one in found),
        expected_difference=mean(one.pearson.expected_mean for one in found),
        control_difference=mean(one.pearson.control_mean for one in found),
        largest_difference=mean(one.pearson.largest for one in found),
        rank_mean_difference=mean(one.rank.mean for one in found),
        rank_expected_difference=mean(one.rank.expected_mean for one in found),
        rank_largest_difference=mean(one.rank.largest for one in found),
        strong=int(upper.sum()),
        lost=max(len(one.lost) for one in found),
        largest_loss=mean(one.lost[0].loss if one.lost else 0.0 for one in found),
        losses=lost,
        shown=tuple(_shown(first)),
    )
    return Collected(utility={"correlations": findings}, notes=sampling_notes(first.reasons))


def sampling_notes(reasons: dict[str, str]) -> list[str]:
    """Return what must be said where a measure rests on samples of the tables.

    Examples
    --------
    >>> sampling_notes({"original": "means rest on a sample", "mean": "there is none"})
    ['Means rest on a sample.']
    """
    told = [reasons[table] for table in ("original", "synthetic") if table in reasons]
    return [sentence(text[0].upper() + text[1:]) for text in told]


def _shown(found: Correlations) -> Iterator[PairFindings]:
    """Yield the pairs that can be compared; of many, those that are strong or changed most."""
    pearson, rank = found.pearson, found.rank
    used = np.triu(~np.isnan(pearson.original) & ~np.isnan(pearson.synthetic), k=1)
    places = np.argwhere(used)
    moved = np.abs(pearson.synthetic - pearson.original)[used]
    weight = np.maximum(moved, np.abs(pearson.original)[used] / 2)
    chosen = np.sort(np.argsort(-weight, kind="stable")[:MOST_SHOWN])
    for one, other in places[chosen].tolist():
        at = one, other
        yield PairFindings(
            (found.columns[one], found.columns[other]),
            **{name: float(getattr(pearson, name)[at]) for name in _FIELDS},
            **{f"rank_{name}": float(getattr(rank, name)[at]) for name in _FIELDS},
            control=NAN if pearson.control is None else float(pearson.control[at]),
        )


def _use(release: ReleaseFindings) -> Use:
    found = release.utility.correlations
    if found is not None:
        yield "correlation", found.mean_difference, found.expected_difference
        yield "rank_correlation", found.rank_mean_difference, found.rank_expected_difference


CORRELATIONS = Measure(
    "correlations",
    "comparing correlations",
    _run,
    _collect,
    numbers={
        "correlation": (
            "mean_difference",
            "expected_difference",
            "control_difference",
            "largest_difference",
            "rank_mean_difference",
            "rank_expected_difference",
            "rank_largest_difference",
            "strong",
            "lost",
            "largest_loss",
        )
    },
    values=lambda release: [("correlation", release.utility.correlations)],
    use=_use,
    found=lambda release: release.utility.correlations,
    explanation=Explanation(
        "Correlations",
        "Pearson's coefficient of the numbers themselves, without bins, and Spearman's of their "
        "ranks. Missing values and codes such as -8 are left out. The limits of chance are those "
        "of a fresh sample of the same size, for all pairs together; heavy tails make them wider. "
        "A correlation of at least 0.5 is lost if it falls by more than 0.1, and beyond its limit.",
        "Steiger, Hakstian (1982). The asymptotic distribution of elements of a correlation "
        "matrix. British Journal of Mathematical and Statistical Psychology 35. "
        "doi:10.1111/j.2044-8317.1982.tb00653.x",
    ),
    part=NUMBERS,
    place=94,
)
