"""Which knowledge tells most: the best of single keys, pairs, all but one, and all."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.audit.attack_findings import KeySetFindings
from understudy.audit.findings import NAN
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
from understudy.risk.telling_keys import TellingKeys, telling_keys_of
from understudy.wording import points, quoted

PEOPLE = 6_000
"""How many people are attacked, drawn at random: so many sets of keys take their time."""
MOST_SETS = 12
"""Sets of keys that the chart shows, those that gain most."""

KIND = FigureKind(
    "telling_keys",
    "Most telling keys",
    "Share of people whose value is guessed by looking up the keys that tell most: one, two, all "
    "but one, or all",
    chart="Share of people whose value is guessed by looking up the keys that tell most.",
    question="ordinary",
    tested=True,
    told="Looking up the most telling keys gives the right value for {synthetic} of the {units}; "
    "without the release it is {baseline}",
)


def _collect(_first: Synthesis, found: Sequence[TellingKeys]) -> Collected:
    best = found[0].best
    limit = max(mean(result.limit for result in found), 0.0)
    note = sentences(
        [
            f"{quoted(best.keys)} of {found[0].looks:,} sets of keys",
            f"chance alone gives a gain of up to {points(limit)}",
            *found[0].reasons.values(),
        ]
    )
    figure = KIND.figure(
        baseline=mean(result.baseline.zero_rule for result in found),
        synthetic=mean(result.best.accuracy for result in found),
        control=mean(result.best.control_accuracy for result in found),
        gain=mean(result.gain for result in found),
        spread=spread([result.best.accuracy for result in found]),
        note=note,
    )
    numbers = {
        "telling_keys.limit": mean(result.limit for result in found),
        "telling_keys.p_value": smallest_p_value([result.p_value for result in found]),
        "telling_keys.excess": mean(result.clearest.excess for result in found),
        "telling_keys.gain_error": mean(result.best.error for result in found),
    }
    numbers |= differences(KIND.name, [result.best.compared for result in found])
    tested = smallest_p_value([result.difference_p_value for result in found])
    if f"{KIND.name}.difference_p_value" in numbers:
        # For having looked at all sets of keys.
        numbers[f"{KIND.name}.difference_p_value"] = tested
    return Collected([figure], numbers, release={"telling_keys": _shown(found[0])})


def _shown(found: TellingKeys) -> tuple[KeySetFindings, ...]:
    """Return the sets of keys that gain most."""
    ordered = sorted(found.sets, key=lambda one: (-one.gain, len(one.keys)))
    return tuple(
        KeySetFindings(
            one.keys,
            round(one.gain, 5),
            round(one.limit, 5),
            NAN if one.compared is None else round(one.gain - one.compared.matched, 5),
        )
        for one in ordered[:MOST_SETS]
    )


TELLING_KEYS = Measure(
    "telling_keys",
    "looking for telling keys",
    lambda synthesis: telling_keys_of(
        synthesis.prepared, people=PEOPLE, random_state=synthesis.task.seed
    ),
    _collect,
    figures=(KIND,),
    numbers={KIND.name: ("limit", "p_value", "excess", "gain_error", *DIFFERENCE)},
    explanation=Explanation(
        "Most telling keys",
        "We look up each key by itself, each pair, all keys but one, and all. The figure is the "
        "largest gain of all these sets. Since the largest of many is large by chance, there is a "
        "limit: what dealing out the same guesses among people at random exceeds in at most 5% of "
        "releases, for any set.",
    ),
    trust=(Trust("telling keys", "record", ("D3",)),),
    place=15,
)
