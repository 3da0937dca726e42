"""What holds between the original's columns, and how many records of a release break it."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.audit.findings import DependencyFindings
from understudy.audit.measures.declaration import (
    Collected,
    Explanation,
    Measure,
    Part,
    mean,
)
from understudy.audit.synthesis import Synthesis
from understudy.utility.dependencies import KeptDependencies, dependencies


def _run(synthesis: Synthesis) -> KeptDependencies:
    task = synthesis.task
    schema = task.described
    return dependencies(task.original, synthesis.table, found=schema.dependencies, schema=schema)


def _collect(_first: Synthesis, found: Sequence[KeptDependencies]) -> Collected:
    listed = tuple(
        DependencyFindings(
            kind=ones[0].dependency.kind,
            columns=ones[0].dependency.names,
            sentence=ones[0].dependency.sentence,
            original=ones[0].original,
            synthetic=mean(one.synthetic for one in ones),
            broken=any(one.broken for one in ones),
        )
        for ones in zip(*(result.dependencies for result in found), strict=True)
    )
    numbers = {
        "dependencies.found": float(len(listed)),
        "dependencies.broken": float(sum(one.broken for one in listed)),
        "dependencies.largest": max((one.synthetic for one in listed if one.broken), default=0.0),
    }
    return Collected(numbers=numbers, utility={"dependencies": listed})


DEPENDENCIES = Measure(
    "dependencies",
    "checking dependencies",
    _run,
    _collect,
    numbers={"dependencies": ("found", "broken", "largest")},
    found=lambda release: release.utility.dependencies,
    explanation=Explanation(
        "Dependencies",
        "What holds between columns of the original, for all records or all but 1% of them: a "
        "column that follows from one or two others or is computed from them, orderings, columns "
        "that are missing together, dates and times as numbers. Counted are the records that "
        "break it.",
    ),
    part=Part("dependencies", "Dependencies", 6),
    place=115,
)
