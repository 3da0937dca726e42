"""Shares of single values, pairs and triples of values, against the original's."""

from __future__ import annotations

import math
from collections.abc import Sequence

from understudy.audit.findings import ReleaseFindings, WayFindings
from understudy.audit.measures.declaration import (
    USE,
    Collected,
    Column,
    Explanation,
    Measure,
    Part,
    mean,
)
from understudy.audit.synthesis import Synthesis
from understudy.utility.marginals import Marginals, marginals
from understudy.utility.shares import column_shares_of
from understudy.wording import one_digit


def _run(synthesis: Synthesis) -> Marginals:
    task = synthesis.task
    return marginals(
        synthesis.tables,
        ways=(1, 2) if task.measures == "quick" else (1, 2, 3),
        columns=synthesis.columns,
        groups=task.groups_of(synthesis.columns) or None,
        random_state=task.seed,
    )


def _collect(_first: Synthesis, found: Sequence[Marginals]) -> Collected:
    ways = tuple(
        WayFindings(
            way=ways[0].way,
            tables=ways[0].tables,
            mean=mean(way.mean for way in ways),
            expected=mean(way.expected for way in ways),
            ratio=mean(way.ratio for way in ways),
            worst=tuple((one.columns, one.distance, one.expected) for one in ways[0].worst),
        )
        for ways in zip(*(result.ways for result in found), strict=True)
    )
    return Collected(utility={"marginals": ways})


def pairs_ratio(release: ReleaseFindings) -> float:
    """Return how far tables of two columns are off, as a multiple of chance; nan if unknown."""
    return next((way.ratio for way in release.utility.marginals if way.way == 2), math.nan)


MARGINALS = Measure(
    "marginals",
    "comparing tables of shares",
    _run,
    _collect,
    numbers={f"marginals.{way}": ("mean", "expected", "ratio") for way in (1, 2, 3, 4)},
    values=lambda release: [(f"marginals.{way.way}", way) for way in release.utility.marginals],
    use=lambda release: [
        (f"marginals_{way.way}", way.mean, way.expected) for way in release.utility.marginals
    ],
    found=lambda release: release.utility.shares or release.utility.marginals,
    explanation=Explanation(
        "Shares and distances",
        "The distance between two tables of shares is the share of records that would have to move "
        "to another cell (total variation distance). Chance gives the mean distance of a "
        "sample drawn with replacement from the original.",
    ),
    part=Part("columns", "Columns", 7),
    columns=(
        Column(
            USE,
            "Pairs",
            "how far tables of two columns are off, as a multiple of chance",
            pairs_ratio,
            one_digit,
        ),
    ),
    of_units="all records",
    place=100,
)
SHARES = Measure(
    "shares",
    "comparing columns",
    lambda synthesis: column_shares_of(
        synthesis.tables, synthesis.columns, fewest=synthesis.task.fewest_to_name
    ),
    lambda _first, found: Collected(utility={"shares": found[0]}),
    first_only=True,
    of_units="all records",
    place=110,
)
