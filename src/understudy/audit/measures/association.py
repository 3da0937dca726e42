"""How strongly columns hang together, against the original."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.audit.findings import AssociationFindings, ReleaseFindings
from understudy.audit.measures.declaration import (
    BIG_DATA,
    Collected,
    Explanation,
    Measure,
    Part,
    Use,
    mean,
)
from understudy.audit.synthesis import Synthesis
from understudy.utility.association import Association, association
from understudy.utility.pair_measures import Matrix


def _run(synthesis: Synthesis) -> Association:
    return association(
        synthesis.tables, columns=synthesis.columns, random_state=synthesis.task.seed
    )


def _collect(_first: Synthesis, found: Sequence[Association]) -> Collected:
    """Return the matrices of the first synthesis, and the differences over all."""
    first = found[0].strength
    return Collected(
        utility={
            "association": AssociationFindings(
                columns=first.columns,
                original=_rows(first.original),
                synthetic=_rows(first.synthetic),
                mean_difference=mean(result.strength.mean for result in found),
                largest_difference=mean(result.strength.largest for result in found),
                expected_difference=mean(result.strength.expected_mean for result in found),
            )
        }
    )


def _rows(matrix: Matrix) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())


def _use(release: ReleaseFindings) -> Use:
    found = release.utility.association
    if found is not None:
        yield "association", found.mean_difference, found.expected_difference


ASSOCIATION = Measure(
    "association",
    "comparing associations",
    _run,
    _collect,
    level="standard",
    numbers={"association": ("mean_difference", "largest_difference", "expected_difference")},
    values=lambda release: [("association", release.utility.association)],
    use=_use,
    found=lambda release: release.utility.association,
    explanation=Explanation(
        "Association",
        "Pearson's correlation for two numbers, Cramér's V for two categories, the correlation "
        "ratio for one of each. Chance gives the mean difference of samples drawn with "
        "replacement from the original.",
        BIG_DATA,
    ),
    part=Part("association", "Association", 6),
    of_units="all records",
    place=120,
)
