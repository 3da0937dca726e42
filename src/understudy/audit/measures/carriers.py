"""Carriers: other columns of the release that hold the sensitive one in another form."""

from __future__ import annotations

import math
from collections.abc import Sequence

from understudy.audit.measures.declaration import (
    DIFFERENCE,
    Collected,
    Explanation,
    FigureKind,
    Measure,
    differences,
    mean,
    sentences,
    smallest_p_value,
    spread,
)
from understudy.audit.synthesis import Synthesis
from understudy.risk.carriers import Carriers, carriers_of
from understudy.risk.scenario import Scenario

PEOPLE = 4_000
"""How many people are used, drawn at random: half of them known, half of them tested."""

KIND = FigureKind(
    "carriers",
    "Best carrier",
    "Share of people whose value is guessed from another column of the most similar record, after "
    "learning from half of the people what it stands for",
    chart="Share of people whose value another column of the release gives away.",
    question="ordinary",
    tested=True,
    told="Another column of the release tells the value of {synthetic} of the {units}; without the "
    "release it is {baseline}",
)


def _run(synthesis: Synthesis) -> Carriers:
    task = synthesis.task
    return carriers_of(
        synthesis.tables,
        Scenario(task.scenario.keys, task.scenario.sensitive),
        groups=task.groups_of([task.scenario.sensitive]),
        tolerance=task.tolerance,
        people=PEOPLE,
        random_state=task.seed,
    )


def _collect(_first: Synthesis, found: Sequence[Carriers]) -> Collected:
    worst = [result.worst for result in found if result.worst is not None]
    told = [f"the column {worst[0].column!r}"] if worst else []
    figure = KIND.figure(
        baseline=mean(one.reference for one in worst),
        synthetic=mean(one.accuracy for one in worst),
        control=mean(one.control for one in worst),
        gain=mean(one.gain for one in worst),
        spread=spread([one.accuracy for one in worst]),
        note=sentences([*told, *found[0].reasons.values()]),
    )
    numbers = {"carriers.p_value": smallest_p_value([result.p_value for result in found])}
    numbers |= differences(KIND.name, [one.compared for one in worst])
    tested = smallest_p_value([result.difference_p_value for result in found])
    if not math.isnan(tested):
        # For having looked at all columns.
        numbers["carriers.difference_p_value"] = tested
    return Collected([figure], numbers)


CARRIERS = Measure(
    "carriers",
    "trying other columns",
    _run,
    _collect,
    figures=(KIND,),
    numbers={KIND.name: ("p_value", *DIFFERENCE)},
    explanation=Explanation(
        "Carriers in other columns",
        "A release may hold the sensitive column under another name. We suppose that an attacker "
        "knows the values of half of the people, finds their most similar records by the keys, and "
        "learns what each value of another column stands for. The figure is how often this is "
        "right for the other half, for the column that tells most clearly. The reference is the "
        "best guess from these known people without the release.",
    ),
    place=54,
)
