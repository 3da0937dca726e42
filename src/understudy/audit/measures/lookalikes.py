"""Whether synthetic records are closer to people than other people are."""

from __future__ import annotations

from collections.abc import Sequence

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

LOOKALIKES = FigureKind(
    "lookalikes",
    TITLE,
    f"Share of {MEANING}",
    chart="Share of people with a lookalike, and at most how many fresh people would have one.",
    guess=False,
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
    control = {} if result.control is None else {"control_p_value": result.control.p_value}
    numbers = {"p_value": result.p_value, "power": result.power, **control}
    return Collected(
        figures=[figure], numbers={f"lookalikes.{name}": held for name, held in numbers.items()}
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
