"""What the attack says beside its counts: notes, and the distances of each person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.learning.mixed_distance import Kind, PlacedTable, nearest_records
from understudy.risk.compared_tables import drawn_rows
from understudy.risk.lookalikes.near import Near
from understudy.risk.lookalikes.neighbours import Comparison, sampled_records
from understudy.risk.lookalikes.result import Closeness
from understudy.risk.lookalikes.ways import Way
from understudy.wording import quoted


def notes_of(columns: Sequence[str], told: Way, released: int) -> list[str]:
    """Return what was not compared, or read as a code, and what was sampled."""
    notes, comparison = [], told.comparison
    if told.reading.exchanged:
        notes.append(
            "The numbers of the release were read as if they stood under each other's names: only "
            "then are they related as in the original. They were compared by their ranks."
        )
    elif codes := told.reading.recoded:
        notes.append(
            f"The release holds other values than the original, or quite other shares of them, in "
            f"{quoted(codes)}: numbers were compared by their ranks, and texts by how frequent "
            "they are."
        )
    if told.reading.pair:
        notes.append(
            f"Only {quoted(comparison.original.columns)} were compared, of {comparison.compared:,} "
            "people in whom both are rare: the release holds many pairs of them that one person "
            "alone has."
        )
    elif told.reading.linked:
        notes.append(
            "Only columns were compared that hang together in the release as they do in the "
            "original; others were cut loose."
        )
    if absent := [name for name in columns if name not in comparison.original.columns]:
        notes.append(f"Not compared: {quoted(absent)}.")
    if comparison.synthetic.rows < released:
        notes.append(
            f"Many of the {released:,} synthetic records repeat each other. They count as "
            f"{comparison.synthetic.rows:,}."
        )
    people, every = comparison.compared, comparison.everybody
    if people < every and not told.reading.pair:
        equality = "; everybody was compared by equality" if comparison.units is None else ""
        notes.append(
            f"{people:,} of {every:,} people, drawn at random, were compared with all records"
            f"{equality}."
        )
    elif len(comparison.rows) < comparison.original.rows and not told.reading.pair:
        notes.append(
            f"{len(comparison.rows):,} of the {comparison.original.rows:,} records, as many of "
            "each person as there can be, were compared with all records."
        )
    looked_up = sampled_records(comparison.original.rows)
    if comparison.synthetic.rows > looked_up:
        notes.append(f"DCR and NNDR are those of {looked_up:,} synthetic records, drawn at random.")
    return notes


def spread_of(near: Mapping[Kind, Near]) -> Closeness:
    """Return how close to each person the next person is, and the one after."""
    return Closeness.of(near["whole"].person, near["whole"].second)


def closeness_of(
    synthetic: PlacedTable, original: PlacedTable, rng: np.random.Generator
) -> Closeness:
    """Return how close synthetic records are to people, of a sample if they are many."""
    rows = drawn_rows(synthetic.rows, sampled_records(original.rows), rng)
    distances, _ = nearest_records(synthetic.take(rows), original, count=2)
    return Closeness.of(distances[:, 0], distances[:, 1])


def distances_of(
    near: Mapping[Kind, Near], looked_at: NDArray[np.int64]
) -> dict[str, NDArray[np.generic]]:
    """Return the distances to the nearest record and to the next person, by each distance.

    `looked_at` are the rows of the releases that the nearest records stand for.
    """
    found: dict[str, NDArray[np.generic]] = {}
    for kind, own in near.items():
        prefix = "trimmed_" if kind == "trimmed" else ""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(own.person > 0, own.record / own.person, np.nan)
        found |= {
            f"{prefix}distance": own.record,
            f"{prefix}nearest": looked_at[own.row],
            f"{prefix}next_person": own.person,
            f"{prefix}ratio": ratio,
        }
    return found


def columns_of_people(
    comparison: Comparison, looked_at: NDArray[np.int64]
) -> dict[str, NDArray[np.generic]]:
    """Return the columns of `per_record`."""
    alike = np.zeros(len(comparison.rows), bool)
    for near in comparison.near.values():
        alike |= near.found(comparison.ratio)
    distances = distances_of(comparison.near, looked_at)
    found = {"record": comparison.rows, **distances, "lookalike": alike}
    if comparison.units is not None:
        found["unit"] = comparison.units.original[comparison.rows]
    return found
