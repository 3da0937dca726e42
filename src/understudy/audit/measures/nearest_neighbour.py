"""The nearest-neighbour attack: the value of the most similar record of the release."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.audit.measures.declaration import (
    DIFFERENCE,
    Collected,
    Explanation,
    FigureKind,
    Measure,
    Trust,
    differences,
    mean,
    sentences,
    smallest_p_value,
    spread,
)
from understudy.audit.synthesis import Synthesis
from understudy.risk.nearest_neighbour import NearestNeighbour, nearest_neighbour_of

PEOPLE = 2_000
"""How many people are attacked, drawn at random."""

KIND = FigureKind(
    "nearest_neighbour",
    "Nearest neighbour",
    "Share of people whose value is that of the most similar record of the table",
    chart="Share of people whose value is that of the most similar record of the release.",
    question="ordinary",
    tested=True,
    told="The most similar record has the right value for {synthetic} of the {units}; without the "
    "release it is {baseline}",
)


def _run(synthesis: Synthesis) -> NearestNeighbour:
    seed = synthesis.task.seed
    return nearest_neighbour_of(
        synthesis.tables, synthesis.prepared, people=PEOPLE, random_state=seed
    )


def _collect(_first: Synthesis, found: Sequence[NearestNeighbour]) -> Collected:
    one = found[0]
    most = max(one.weights, key=one.weights.__getitem__)
    figure = KIND.figure(
        baseline=mean(result.baseline.zero_rule for result in found),
        synthetic=mean(result.accuracy for result in found),
        control=mean(result.control for result in found),
        gain=mean(result.gain for result in found),
        spread=spread([result.accuracy for result in found]),
        note=sentences([f"{most!r} counts most", *one.reasons.values()]),
    )
    numbers = {
        "nearest_neighbour.p_value": smallest_p_value([result.p_value for result in found]),
        "nearest_neighbour.excess": mean(result.excess for result in found),
        "nearest_neighbour.gain_error": mean(result.gain_error for result in found),
    }
    numbers |= differences(KIND.name, [result.compared for result in found])
    return Collected([figure], numbers)


NEAREST_NEIGHBOUR = Measure(
    "nearest_neighbour",
    "looking for similar records",
    _run,
    _collect,
    figures=(KIND,),
    numbers={KIND.name: ("p_value", "excess", "gain_error", *DIFFERENCE)},
    explanation=Explanation(
        "Nearest neighbour",
        "For each person, we take the sensitive value of the most similar synthetic record. Keys "
        "that are numbers or dates count by how many of the original's records lie in between, so "
        "that a key that is a little off still finds its record. Keys that tell more about the "
        "sensitive column count for more.",
    ),
    trust=(Trust("nearest neighbour", "record", ("D3",)),),
    place=16,
)
