"""Whether a release links the keys of people with all else that is known of them."""

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
    mean,
    of_figure,
    smallest_p_value,
    spread,
)
from understudy.audit.synthesis import Synthesis
from understudy.risk.linkability import linkability_of
from understudy.risk.linkability_result import Linkability

LINKED = FigureKind(
    "linkability",
    "Linkability",
    "Share of people whose nearest synthetic record is the same by their keys and by their other "
    "columns",
    chart="Share of people whose keys and other columns are linked by a synthetic record.",
    guess=False,
    question="ordinary",
    tested=True,
    told="{synthetic} of the {units} can be linked: the release connects what one attacker knows "
    "of them with what another knows; chance would connect {baseline}",
)


def _run(synthesis: Synthesis) -> Linkability | None:
    """Link the keys with all other columns; None if there are no others.

    Without keys, every other column is on one side.
    """
    held = synthesis.tables.encoded
    control = held.get("control")
    keys = synthesis.task.scenario.keys
    others = [
        name
        for name in synthesis.columns
        if name not in keys and (control is None or name in control.names)
    ]
    if not others:
        return None
    sides = (keys, others) if keys else (None, None)
    return linkability_of(held, *sides, random_state=synthesis.task.seed)


def _collect(_first: Synthesis, found: Sequence[Linkability | None]) -> Collected:
    told = [result for result in found if result is not None]
    if not told:
        return Collected()
    figure = LINKED.figure(
        baseline=mean(one.baseline.value for one in told),
        synthetic=mean(one.attack.value for one in told),
        control=mean(one.control.value for one in told if one.control is not None),
        gain=mean(one.attack.value - one.baseline.value for one in told),
        spread=spread([one.attack.value for one in told]),
        note=told[0].summary(),
    )
    numbers = {
        "linkability.risk": mean(one.risk for one in told),
        "linkability.p_value": mean(one.p_value for one in told),
    }
    if told[0].control is not None:
        numbers["linkability.difference"] = mean(one.difference for one in told)
        numbers["linkability.difference_p_value"] = smallest_p_value([one.p_value for one in told])
    return Collected([figure], numbers=numbers)


MEASURE = Measure(
    "linkability",
    "linking people",
    _run,
    _collect,
    place=67,
    keyless=True,
    figures=(LINKED,),
    numbers={"linkability": ("risk", "p_value", "difference", "difference_p_value")},
    explanation=Explanation(
        LINKED.title,
        "Say an attacker has two files: one with people's keys, the other with all their other "
        "columns, and wants to know which rows belong to the same person. We look for the "
        "synthetic record nearest to a person by the keys, and the one nearest by the other "
        "columns. The person is linked if they are the same. Of equally near records, one is taken "
        "at random.",
        "Giomi and others (2023), doi:10.56553/popets-2023-0055",
    ),
    trust=(
        Trust("linkability", "record", ("D2", "D3")),
        Trust("linkability", "table", ("D2", "D3", "D5")),
    ),
    columns=(
        Column(
            COUNTED,
            LINKED.title,
            "people whose keys are linked with their other columns",
            of_figure("linkability", "synthetic"),
            without=of_figure("linkability", "baseline"),
            in_terminal=False,
        ),
    ),
)
