"""Looking keys up: GCAP, ICAP and 0CAP, over all sets of keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from understudy.audit.findings import SubsetRisk
from understudy.audit.measures.declaration import (
    CODASPY,
    DIFFERENCE,
    Collected,
    Explanation,
    FigureKind,
    Measure,
    Part,
    Trust,
    differences,
    guessed,
    mean,
    sentences,
    spread,
)
from understudy.audit.synthesis import Synthesis
from understudy.learning.mixed_distance import place_together
from understudy.risk.attribution import attributions
from understudy.risk.attribution_result import TITLES, Attribution, Unmatched
from understudy.risk.renamed import known_share, unlike_columns

LOOKED_UP = 1_000
"""Sets of keys that are looked up at most."""

Found = Mapping[Unmatched, Attribution]

KINDS: Mapping[Unmatched, FigureKind] = {
    "nearest": FigureKind(
        "gcap",
        TITLES["nearest"][0],
        "Share of people whose value is guessed by looking up their keys in the table, or the "
        "nearest keys where none are the same",
        question="ordinary",
        told="Looking up the keys gives the right value for {synthetic} of the {units}; without "
        "the release it is {baseline}",
        chart="Share of people whose value is guessed by looking up their keys.",
    ),
    "ignore": FigureKind(
        "icap", TITLES["ignore"][0], "The same, counting only people whose keys are in the table"
    ),
    "zero": FigureKind(
        "zero_cap",
        TITLES["zero"][0],
        "The same, counting a wrong guess for people whose keys are not in the table",
    ),
}


def run(synthesis: Synthesis) -> Found:
    """Look up all sets of keys, or some of them where there are very many."""
    return attributions(synthesis.with_fewer_sets(LOOKED_UP)[0])


def collect(first: Synthesis, found: Sequence[Found]) -> Collected:
    """Return the three figures, and GCAP for each set of keys."""
    _, note = first.with_fewer_sets(LOOKED_UP)
    tolerance = found[0]["nearest"].tolerance
    within = "" if tolerance is None else tolerance.sentence()
    figures, numbers = [], {"gcap.known_values": known_values(first)}
    for rule, kind in KINDS.items():
        results = [result[rule] for result in found]
        numbers |= differences(
            kind.name, [result.control.compared for result in results if result.control]
        )
        reasons = {
            reason
            for result in results
            for name, reason in result.reasons.items()
            if name in ("accuracy", "subsets")
        }
        figures.append(
            kind.figure(
                baseline=mean(result.baseline.zero_rule for result in results),
                synthetic=mean(result.accuracy for result in results),
                original=mean(result.original.accuracy for result in results),
                control=mean(
                    result.control.accuracy for result in results if result.control is not None
                ),
                gain=mean(result.gain for result in results),
                spread=spread([result.accuracy for result in results]),
                note=sentences([note, within, *sorted(reasons)]),
            )
        )
    nearest = [result["nearest"] for result in found]
    subsets = tuple(
        SubsetRisk(
            keys=sets[0].keys,
            baseline=mean(one.baseline.zero_rule for one in sets),
            synthetic=mean(one.accuracy for one in sets),
            original=mean(one.original_accuracy for one in sets),
        )
        for sets in zip(*(result.subsets for result in nearest), strict=True)
    )
    return Collected(figures, numbers, release={"subsets": subsets})


def known_values(first: Synthesis) -> float:
    """Return the share of the release's values that the original has, where it is smallest.

    Keys and sensitive attribute are looked at, but for numbers and dates, which are compared by
    their size. Where hardly any value is known, no guess can be right, whatever the release tells.
    The same holds where values have quite other shares: those of the sensitive attribute, or of
    keys other than one, for it may be left out. Then it is 0.
    """
    prepared = first.prepared
    keys, sensitive = prepared.scenario.keys, prepared.scenario.sensitive
    columns = (*keys, sensitive)
    held = first.tables.select(["original", "synthetic"], columns).encoded
    original, released = place_together(held, columns).values()
    unlike = unlike_columns(original, released)
    if sensitive in unlike or len(unlike) > min(1, len(keys) - 1):
        return 0.0
    shares = [
        known_share(prepared.original[name], prepared.released[name])
        for name in columns
        if not prepared.levels[name].have_sizes
    ]
    return min(shares, default=1.0)


ATTRIBUTION = Measure(
    "attribution",
    "looking keys up",
    run,
    collect,
    figures=tuple(KINDS.values()),
    numbers={kind.name: DIFFERENCE for kind in KINDS.values()}
    | {"gcap": (*DIFFERENCE, "known_values")},
    found=lambda release: release.subsets,
    explanation=Explanation(
        "Lookup of keys (GCAP, ICAP, 0CAP)",
        "For each person, we look up the synthetic records with the same keys. The most frequent "
        "sensitive value among them is the guess. Where no record agrees, GCAP takes those that "
        "differ in the fewest keys, ICAP leaves the person out, and 0CAP counts a wrong guess. "
        "The reference without the release is the one guess that is correct for most people. A "
        "sensitive number or date is guessed by the middle one of the records found, and a guess "
        "is right if fewer than 5% of the original's records lie between it and the truth.",
        CODASPY,
    ),
    part=Part("gain", "What an attacker gains", 1),
    trust=(
        Trust("0CAP", "record", ("D3",)),
        Trust("ICAP", "record", ("D3",)),
        Trust("GCAP", "record", ("D3",)),
    ),
    columns=(guessed("gcap", "GCAP", "by looking up the keys in the release"),),
    place=10,
)
