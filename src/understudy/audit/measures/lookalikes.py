"""Whether synthetic records are closer to people than other people are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from understudy.audit.attack_findings import DecidingLook, LookalikeFindings, Points
from understudy.audit.measures.declaration import (
    COUNTED,
    Collected,
    Column,
    Explanation,
    FigureKind,
    Measure,
    Trust,
    of_figure,
)
from understudy.audit.synthesis import Synthesis
from understudy.data.frames import Frame, to_narwhals
from understudy.data.joint_coding import EncodedTable
from understudy.data.matched_names import other_reading
from understudy.risk.lookalikes import Lookalikes, lookalikes_of
from understudy.risk.lookalikes.attack import units_of_tables
from understudy.risk.lookalikes.looks import LEVEL
from understudy.risk.lookalikes.neighbours import MOST_PEOPLE, SAMPLED_PEOPLE
from understudy.risk.lookalikes.result import MEANING, TITLE
from understudy.risk.lookalikes.whole_units import UnitsOf
from understudy.wording import quoted

PAIRS, FEWEST = 3 * 10**8, 1_000
"""Of a table of more than 20,000 people, so many are compared that this makes so many pairs of a
person and a record, but at least the second number; everybody is compared by equality."""

FEWEST_COLUMNS = 2
"""So many columns must be there once more to be looked at by themselves."""

MOST_POINTS, MOST_CONTROL_POINTS = 1_500, 500
"""People and control records whose distances are kept for the chart."""

LOOKALIKES = FigureKind(
    "lookalikes",
    TITLE,
    f"Share of {MEANING}",
    chart="Share of people with a lookalike, and at most how many fresh people would have one.",
    guess=False,
    question="records",
    tested=True,
    told="{synthetic} of the {units} have a lookalike in the release, a record much closer than "
    "any of the others is; {baseline} would be no surprise",
)


OF_THE_CHANCE = 0.8
"""The part of the chance of a false alarm that goes to the columns under the original's names, if
the release holds some of them once more."""


def _run(synthesis: Synthesis) -> Lookalikes:
    """Look at all tables of the release together, in each way to read them."""
    held = synthesis.tables.encoded
    first, *others = synthesis.given.tables
    shared = [
        name
        for name in synthesis.columns
        if all(name in synthesis.task.shared_columns(table) for table in synthesis.given.tables)
    ]
    found = _look(synthesis, [held["synthetic"], *others], shared)
    readings = [other_reading(synthesis.task.original, table) for table in (first, *others)]
    again = [reading for reading in readings if reading is not None]
    if len(again) < len(readings):
        return found
    twice = [name for name in synthesis.columns if all(name in table.columns for table in again)]
    read = [(again, twice)] if len(twice) >= FEWEST_COLUMNS else []
    if read and set(shared) - set(twice):
        # Others may be true where they are.
        mixed = [
            to_narwhals(table).to_polars().with_columns(reading.select(twice))
            for table, reading in zip((first, *others), again, strict=True)
        ]
        read.append((mixed, [name for name in synthesis.columns if name in {*shared, *twice}]))
    looked = [_look(synthesis, tables, columns) for tables, columns in read]
    return _most_telling(found, looked, twice)


def _look(
    synthesis: Synthesis, releases: Sequence[Frame | EncodedTable], columns: Sequence[str]
) -> Lookalikes:
    """Look for lookalikes by some columns, so far as control records have them."""
    held = synthesis.tables.encoded
    tables: dict[str, Frame | EncodedTable] = {"original": held["original"]}
    tables |= {f"synthetic {number}": table for number, table in enumerate(releases, 1)}
    if "control" in held:
        tables["control"] = held["control"]
    shared = [name for name in columns if "control" not in held or name in held["control"].names]
    rows = len(held["original"])
    records = rows + len(held["synthetic"]) * len(releases)
    people = None if rows <= MOST_PEOPLE else max(FEWEST, min(SAMPLED_PEOPLE, PAIRS // records))
    return lookalikes_of(
        tables,
        columns=shared,
        people=people,
        random_state=synthesis.task.seed,
        units=_units(synthesis),
    )


def _units(synthesis: Synthesis) -> UnitsOf | None:
    """Return the units of all tables, if they are named."""
    task = synthesis.task
    if task.units is None:
        return None
    return units_of_tables(task.original, synthesis.given.tables, task.control, task.units.names)


def _most_telling(
    named: Lookalikes, others: Sequence[Lookalikes], columns: Sequence[str]
) -> Lookalikes:
    """Return what the most telling way to read a release shows, with p-values for all of them."""
    if not others:
        return named
    parts = [OF_THE_CHANCE, *[(1 - OF_THE_CHANCE) / len(others)] * len(others)]
    shared = [_at_part(one, part) for one, part in zip((named, *others), parts, strict=True)]
    told = min(shared, key=_smallest)
    if told is shared[0] or _smallest(told) >= LEVEL:
        return shared[0]
    note = f"{quoted(columns)} are read from columns with other names that hold them once more."
    return replace(
        told,
        power=named.power,
        reasons=named.reasons,
        notes=(*told.notes, note),
    )


def _at_part(found: Lookalikes, part: float) -> Lookalikes:
    """Return a result that has a part of the chance of a false alarm."""
    control = found.control
    if control is not None:
        control = replace(control, p_value=min(1.0, control.p_value / part))
    return replace(found, p_value=min(1.0, found.p_value / part), control=control)


def _smallest(found: Lookalikes) -> float:
    return min(found.p_value, found.control.p_value if found.control is not None else 1.0)


def _collect(_first: Synthesis, found: Sequence[Lookalikes]) -> Collected:
    (result,) = found
    (line,) = result.lines()
    figure = LOOKALIKES.figure(
        baseline=line.baseline,
        synthetic=line.synthetic,
        control=line.control,
        gain=line.gain,
        note=result.summary(),
    )
    numbers = {"p_value": result.p_value, "power": result.power}
    if result.control is not None:
        numbers["control_p_value"] = result.control.p_value
        # Either test would have told.
        numbers["power"] = float(np.fmin(result.power, result.control.power))
    return Collected(
        figures=[figure],
        numbers={f"lookalikes.{name}": held for name, held in numbers.items()},
        release={"lookalikes": _findings(result)},
    )


def _findings(result: Lookalikes) -> LookalikeFindings:
    distances, rng = result.distances(), np.random.default_rng(result.seed)
    next_person, nearest = distances["original"]
    worst = result.worst
    found = LookalikeFindings(
        ratio=result.ratio,
        distance=result.distance,
        people=len(nearest),
        points=_points(next_person, nearest, MOST_POINTS, rng),
        look=DecidingLook(worst.isolated, worst.people, worst.found, worst.expected),
    )
    if "control" not in distances or result.control is None:
        return found
    next_person, nearest = distances["control"]
    beside = result.control.worst
    return replace(
        found,
        control_people=len(nearest),
        control=_points(next_person, nearest, MOST_CONTROL_POINTS, rng),
        control_look=DecidingLook(
            beside.isolated,
            beside.people,
            beside.found,
            beside.control_found,
            beside.control_people,
        ),
    )


def _points(
    next_person: NDArray[np.float64],
    nearest: NDArray[np.float64],
    most: int,
    rng: np.random.Generator,
) -> Points:
    """Return the distances of at most so many people, rounded, those alike together."""
    both = np.stack([next_person, nearest], axis=1)
    both = both[np.isfinite(both).all(axis=1)].round(3)
    if len(both) > most:
        both = both[rng.choice(len(both), most, replace=False)]
    places, counts = np.unique(both, axis=0, return_counts=True)
    return tuple(
        (person, record, count)
        for (person, record), count in zip(places.tolist(), counts.tolist(), strict=True)
    )


MEASURE = Measure(
    "lookalikes",
    "looking for lookalikes",
    _run,
    _collect,
    place=65,
    first_only=True,
    keyless=True,
    of_units="all records",
    figures=(LOOKALIKES,),
    numbers={"lookalikes": ("p_value", "power", "control_p_value")},
    explanation=Explanation(
        TITLE,
        "A person has a lookalike if a synthetic record is closer than a quarter of the distance "
        "to the next person. What fresh people would give follows from the original alone: how "
        "many people have a nearest neighbour so much closer than the second nearest. The distance "
        "is the sum of differences in rank for numbers and dates, and of 0 or 1 for all else.",
    ),
    trust=(
        Trust("lookalikes", "record", ("D1", "D5")),
        Trust("lookalikes", "table", ("D2", "D3", "D5")),
    ),
    columns=(
        Column(
            COUNTED,
            TITLE,
            "people with a lookalike",
            of_figure("lookalikes", "synthetic"),
            without=of_figure("lookalikes", "baseline"),
            in_terminal=False,
        ),
    ),
)
