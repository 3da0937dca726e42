"""Whether own values of single people are in a release, or its rows in their order."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.audit.measures.declaration import (
    Collected,
    Explanation,
    FigureKind,
    Measure,
    mean,
    smallest_p_value,
    spread,
)
from understudy.audit.synthesis import Synthesis
from understudy.data.frames import Frame
from understudy.data.joint_coding import EncodedTable
from understudy.risk.own_values import MEANING, TITLE, OwnValues, own_values_of

KIND = FigureKind(
    "own_values",
    TITLE,
    f"Share of {MEANING}",
    guess=False,
    question="records",
    tested=True,
)


def _run(synthesis: Synthesis) -> OwnValues:
    held = synthesis.tables.encoded
    tables: dict[str, Frame | EncodedTable] = {
        name: held[name] for name in ("original", "synthetic", "control") if name in held
    }
    shared = synthesis.task.shared_columns(synthesis.table)
    own = [name for name in shared if name not in synthesis.columns]
    named = synthesis.task.unit_id
    return own_values_of(tables, own, units=named, random_state=synthesis.task.seed)


def _collect(_first: Synthesis, found: Sequence[OwnValues]) -> Collected:
    known = [result for result in found if result.worst is not None]
    if not known:
        return Collected()
    lines = [line for result in known for line in result.lines()]
    figure = KIND.figure(
        baseline=mean(line.baseline for line in lines),
        synthetic=mean(line.synthetic for line in lines),
        control=mean(line.control for line in lines),
        gain=mean(line.gain for line in lines),
        spread=spread([line.synthetic for line in lines]),
        note=min(known, key=lambda result: result.p_value).summary(),
    )
    p_value = smallest_p_value([result.p_value for result in known])
    return Collected(figures=[figure], numbers={"own_values.p_value": p_value})


MEASURE = Measure(
    "own_values",
    "looking for own values",
    _run,
    _collect,
    place=64,
    keyless=True,
    figures=(KIND,),
    numbers={"own_values": ("p_value",)},
    explanation=Explanation(
        TITLE,
        "Columns in which nearly everybody has a value of their own, such as names, are not "
        "compared otherwise. If the release holds more of these values than fresh people would, "
        "their owners were in the data. And if the records with these values, or in the same row "
        "of the file, are more like their owners than records nearby are, they tell all that is in "
        "them.",
    ),
)
