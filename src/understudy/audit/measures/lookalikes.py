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
from understudy.data.frames import Frame
from understudy.data.joint_coding import EncodedTable
from understudy.risk.lookalikes import Lookalikes, lookalikes_of
from understudy.risk.lookalikes.neighbours import MOST_PEOPLE, SAMPLED_PEOPLE
from understudy.risk.lookalikes.result import MEANING, TITLE

PAIRS, FEWEST = 3 * 10**8, 1_000
"""Of a table of more than 20,000 people, so many are compared that this makes so many pairs of a
person and a record, but at least the second number; everybody is compared by equality."""

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


def _run(synthesis: Synthesis) -> Lookalikes:
    """Look at all tables of the release together."""
    held = synthesis.tables.encoded
    tables: dict[str, Frame | EncodedTable] = {"original": held["original"]}
    tables["synthetic 1"] = held["synthetic"]
    for number, table in enumerate(synthesis.given.tables[1:], 2):
        tables[f"synthetic {number}"] = table
    if "control" in held:
        tables["control"] = held["control"]
    shared = [
        name
        for name in synthesis.columns
        if all(name in synthesis.task.shared_columns(table) for table in synthesis.given.tables)
        and ("control" not in held or name in held["control"].names)
    ]
    rows = len(held["original"])
    records = rows + len(held["synthetic"]) * len(synthesis.given.tables)
    people = None if rows <= MOST_PEOPLE else max(FEWEST, min(SAMPLED_PEOPLE, PAIRS // records))
    return lookalikes_of(tables, columns=shared, people=people, random_state=synthesis.task.seed)


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
