"""Rare values one by one: for how many of the people who have it each value is told."""

from __future__ import annotations

import math
from collections.abc import Sequence

from understudy.audit.attack_findings import FEW, RareValueFindings
from understudy.audit.measures.declaration import (
    Collected,
    Explanation,
    FigureKind,
    Measure,
    Trust,
    mean,
    sentences,
    smallest_p_value,
    spread,
)
from understudy.audit.synthesis import Synthesis
from understudy.intervals import wilson_interval
from understudy.risk.rare_values import RareValue, RareValues, rare_values_of

MOST_VALUES = 12
"""Values that the chart shows, the rarest."""

KIND = FigureKind(
    "rare_values",
    "Value told most clearly",
    "Share of the people with one value who are guessed to have it, for the clearest such value",
    chart="Share of the people who are told to have it, for the value that is told most clearly.",
    guess=False,
    question="ordinary",
    tested=True,
    told="Among the {units} with one certain value, {synthetic} can be told to have it; by chance "
    "it would be {baseline}",
)


def _share(told: int, people: int) -> float:
    return told / people if people else math.nan


def _collect(first: Synthesis, found: Sequence[RareValues]) -> Collected:
    worst = [result.worst for result in found if result.worst is not None]
    figure = KIND.figure(
        baseline=mean(one.expected / one.people for one in worst),
        synthetic=mean(one.share for one in worst),
        control=mean(_share(one.control_told, one.control_people) for one in worst),
        gain=mean(one.share - one.expected / one.people for one in worst),
        spread=spread([one.share for one in worst]),
        note=_note(first, worst[0]) if worst else sentences(found[0].reasons.values()),
    )
    numbers = {
        "rare_values.p_value": smallest_p_value([result.p_value for result in found]),
        "rare_values.people": mean(one.people for one in worst),
        "rare_values.told": mean(one.told for one in worst),
    }
    tested = smallest_p_value([result.difference_p_value for result in found])
    if not math.isnan(tested):
        numbers["rare_values.difference_p_value"] = tested
        numbers["rare_values.difference_high"] = mean(_largest_difference(one) for one in worst)
    return Collected([figure], numbers, release={"rare_values": _shown(first, found[0])})


def _shown(first: Synthesis, found: RareValues) -> tuple[RareValueFindings, ...]:
    """Return the rarest values, and the one that is told most clearly."""
    chosen = [one for place, one in enumerate(found.values) if place < MOST_VALUES]
    if found.worst is not None and found.worst not in chosen:
        chosen[-1] = found.worst
    return tuple(_findings(first, one) for one in chosen)


def _findings(first: Synthesis, one: RareValue) -> RareValueFindings:
    """Return what was found of a value; the limits of groups are the original's, and not named."""
    grouped = first.task.scenario.sensitive in first.task.groups
    nameable = one.released and not grouped
    nameable = nameable and (first.task.show_records or one.people >= FEW)
    return RareValueFindings(
        one.shown if nameable else "",
        one.people,
        one.told,
        round(one.expected, 3),
        one.control_people,
        one.control_told,
    )


def _largest_difference(one: RareValue) -> float:
    """Return how much more often people in the data may be told than others, for all we know."""
    if not one.control_people:
        return one.share
    return one.share - wilson_interval(one.control_told, one.control_people)[0]


def _note(first: Synthesis, one: RareValue) -> str:
    """Say of the first synthesis which value it is."""
    which = _findings(first, one).named(show_records=first.task.show_records)
    if first.task.scenario.sensitive in first.task.groups:
        which = "a group of numbers"
    return sentences(
        [
            f"{which}: told for {one.told:,} of the {one.people:,} people who have it, and guessed "
            f"for {one.guesses:,}",
            f"by chance it would be {one.expected:.1f} of them",
        ]
    )


RARE_VALUES = Measure(
    "rare_values",
    "looking at rare values",
    lambda synthesis: rare_values_of(synthesis.prepared),
    _collect,
    figures=(KIND,),
    numbers={KIND.name: ("p_value", "people", "told", "difference_p_value", "difference_high")},
    explanation=Explanation(
        "Rare values",
        "An average over everybody hides what is told about five people with a rare illness. So we "
        "look at each sensitive value that at least five people have, and count those of them for "
        "whom looking up all keys gives this value. The reference is chance: the same guesses, "
        "dealt out among people at random. A sensitive number is put into twenty groups.",
    ),
    trust=(Trust("rare values", "table", ("D2", "D3", "D5")),),
    place=52,
)
