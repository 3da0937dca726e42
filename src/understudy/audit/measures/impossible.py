"""Pairs of values that the original rules out and the release has."""

from __future__ import annotations

import math
from collections.abc import Sequence

from understudy.audit.findings import ReleaseFindings
from understudy.audit.measures.correlations import NUMBERS, sampling_notes
from understudy.audit.measures.declaration import Collected, Explanation, Measure, Use, mean
from understudy.audit.number_findings import CombinationFindings, ImpossibleFindings
from understudy.audit.synthesis import Synthesis
from understudy.utility.impossible_combinations import (
    ImpossibleCombinations,
    impossible_combinations,
)


def _run(synthesis: Synthesis) -> ImpossibleCombinations:
    return impossible_combinations(
        synthesis.tables, columns=synthesis.columns, random_state=synthesis.task.seed
    )


def _collect(_first: Synthesis, found: Sequence[ImpossibleCombinations]) -> Collected:
    first = found[0]
    if math.isnan(first.share):
        return Collected()
    named = tuple(
        CombinationFindings(one.columns, one.values, one.expected, one.synthetic_records, one.share)
        for one in first.named
    )
    findings = ImpossibleFindings(
        cells=first.cells,
        share=mean(one.share for one in found),
        expected=mean(one.expected for one in found),
        control=mean(one.control for one in found),
        combinations=max(one.combinations for one in found),
        named=named,
    )
    return Collected(utility={"impossible": findings}, notes=sampling_notes(first.reasons))


def _use(release: ReleaseFindings) -> Use:
    found = release.utility.impossible
    if found is not None:
        yield "impossible_combinations", found.share, found.expected


IMPOSSIBLE = Measure(
    "impossible_combinations",
    "looking for impossible combinations",
    _run,
    _collect,
    numbers={"impossible": ("share", "expected", "control", "combinations", "cells")},
    values=lambda release: [("impossible", release.utility.impossible)],
    use=_use,
    found=lambda release: release.utility.impossible,
    explanation=Explanation(
        "Impossible combinations",
        "Pairs of values that no original record has, although so many records would have them if "
        "the columns were unrelated that their absence means something. The share of synthetic "
        "records with such a pair stands beside that of fresh records, which is estimated by "
        "leaving out one original record at a time.",
        "Good (1953). The population frequencies of species and the estimation of population "
        "parameters. Biometrika 40. doi:10.1093/biomet/40.3-4.237",
    ),
    part=NUMBERS,
    place=98,
)
