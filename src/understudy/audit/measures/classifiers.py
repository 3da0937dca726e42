"""Attackers who train classifiers on the release: their vote, their mean and the best of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from understudy.audit.findings import Figure
from understudy.audit.measures.declaration import (
    BIG_DATA,
    DIFFERENCE,
    Collected,
    Explanation,
    FigureKind,
    Measure,
    Trust,
    differences,
    guessed,
    mean,
    sentences,
    spread,
)
from understudy.audit.synthesis import Synthesis
from understudy.audit.task import MeasureSet, Preset
from understudy.risk.attacker_votes import Attackers, Score
from understudy.risk.attackers import attackers_on

TRAINED: dict[tuple[MeasureSet, Preset], int] = {
    ("standard", "strong"): 5,
    ("standard", "papers"): 5,
    ("full", "strong"): 20,
    ("full", "papers"): 100,
}
"""Sets of keys for which classifiers are trained at most, by measures and preset."""
RECORDS_TRAINED = 150_000
"""Records from which standard measures let classifiers learn, over all sets of keys.

Of a large table they learn for fewer sets, and not from fewer records: an attacker has them all.
"""
IN_PLACE = "These are the papers' classifiers; ours are stronger, and take longer."

Score_ = Callable[[Attackers], Score]
_SCORES: dict[str, Score_] = {
    "vote": lambda found: found.ensemble,
    "mean_attacker": lambda found: found.mean,
    "best_attacker": lambda found: found.maximum,
}
_MEANINGS = {
    "vote": "Share of people whose value is guessed by a vote of classifiers trained on the table",
    "mean_attacker": "The same for one classifier, on average over all of them",
    "best_attacker": "The same for the best classifier; an attacker cannot know which one it is",
}
_TITLES = {
    "vote": "Vote of classifiers",
    "mean_attacker": "Mean of classifiers",
    "best_attacker": "Best classifier",
}


def _kinds(prefix: str, suffix: str, charts: dict[str, str]) -> dict[str, FigureKind]:
    return {
        name: FigureKind(
            f"{prefix}{name}",
            f"{title}{suffix}",
            _MEANINGS[name],
            question="ordinary" if f"{prefix}{name}" == "vote" else None,
            told="Classifiers trained on the release guess correctly for {synthetic} of the "
            "{units}; without the release it is {baseline}",
            chart=charts.get(name, ""),
        )
        for name, title in _TITLES.items()
    }


OURS = _kinds(
    "",
    "",
    {
        "vote": "Share of people whose value is guessed by a vote of trained classifiers.",
        "mean_attacker": "Share of people whose value one of these classifiers guesses, on "
        "average.",
    },
)
PAPERS = _kinds(
    "papers_",
    ", as in the papers",
    {
        "mean_attacker": "Share of people whose value one of the papers' classifiers guesses, on "
        "average."
    },
)


def most_trained(synthesis: Synthesis, preset: Preset) -> int:
    """Return for how many sets of keys classifiers are trained at most."""
    most = TRAINED[synthesis.task.measures, preset]
    if synthesis.task.measures == "full":
        return most
    return max(1, min(most, RECORDS_TRAINED // len(synthesis.prepared.original)))


def train(synthesis: Synthesis, preset: Preset) -> Attackers:
    """Train the classifiers of a preset on the original and on the synthesis."""
    fewer, _ = synthesis.with_fewer_sets(most_trained(synthesis, preset))
    return attackers_on(
        fewer, preset, random_state=synthesis.task.seed, remembered=synthesis.remembered
    )


def figures_of(
    kinds: dict[str, FigureKind], found: Sequence[Attackers], note: str = ""
) -> list[Figure]:
    """Return the vote, the mean and the best of classifiers over the syntheses."""
    best = ", ".join(sorted({result.best for result in found if result.best}))
    failed = {
        name
        for result in found
        for name, score in result.models.items()
        if math.isnan(score.accuracy)
    }
    # Why they failed is not said: the text may show records.
    within = "" if found[0].tolerance is None else found[0].tolerance.sentence()
    lost = f"Left out because it failed: {', '.join(sorted(failed))}." if failed else ""
    own = {
        "vote": f"Classifiers: {', '.join(found[0].models)}.",
        "best_attacker": f"Best: {best}." if best else "",
    }
    return [
        kind.figure(
            baseline=mean(result.baseline.zero_rule for result in found),
            synthetic=mean(_SCORES[name](result).accuracy for result in found),
            original=mean(_SCORES[name](result).original for result in found),
            control=mean(_SCORES[name](result).control for result in found),
            gain=mean(_SCORES[name](result).gain for result in found),
            spread=spread([_SCORES[name](result).accuracy for result in found]),
            note=sentences([note, own.get(name, ""), within, lost]),
        )
        for name, kind in kinds.items()
    ]


def _differences(kinds: dict[str, FigureKind], found: Sequence[Attackers]) -> dict[str, float]:
    """Return how much more often people in the data are guessed than people kept back."""
    numbers: dict[str, float] = {}
    for name, kind in kinds.items():
        numbers |= differences(kind.name, [_SCORES[name](result).compared for result in found])
    return numbers


def _run(synthesis: Synthesis) -> Attackers:
    return train(synthesis, synthesis.task.classifiers or "strong")


def _collect(first: Synthesis, found: Sequence[Attackers]) -> Collected:
    preset = first.task.classifiers or "strong"
    _, note = first.with_fewer_sets(most_trained(first, preset))
    if preset == "papers":
        note = f"{IN_PLACE} {note}"
    return Collected(figures_of(OURS, found, note), _differences(OURS, found))


def _collect_papers(first: Synthesis, found: Sequence[Attackers]) -> Collected:
    _, note = first.with_fewer_sets(most_trained(first, "papers"))
    return Collected(figures_of(PAPERS, found, note), _differences(PAPERS, found))


CLASSIFIERS = Measure(
    "classifiers",
    "training attackers",
    _run,
    _collect,
    level="standard",
    needed=lambda task, _given: task.classifiers is not None,
    needs="trained classifiers",
    figures=tuple(OURS.values()),
    numbers={kind.name: DIFFERENCE for kind in OURS.values()},
    explanation=Explanation(
        "Trained attackers",
        "Classifiers learn from the synthetic records to predict the sensitive column from the "
        "keys. Then they predict it for every person in the original. We show their mean, the best "
        "of them, and their majority vote. An attacker cannot know which one is best.",
        BIG_DATA,
    ),
    trust=(Trust("classifiers", "record", ("D3",)),),
    columns=(
        guessed("vote", "Vote", "by a vote of classifiers trained on the release"),
        guessed("mean_attacker", "Mean", "by one of these classifiers, on average"),
    ),
    place=30,
)
CLASSIFIERS_PAPERS = Measure(
    "classifiers_papers",
    "training the papers' attackers",
    lambda synthesis: train(synthesis, "papers"),
    _collect_papers,
    level="full",
    needed=lambda task, _given: task.classifiers == "strong",
    needs="our classifiers beside the papers'",
    figures=tuple(PAPERS.values()),
    numbers={kind.name: DIFFERENCE for kind in PAPERS.values()},
    explanation=Explanation(
        "Trained attackers, as in the papers",
        "The same with the six classifiers of the papers and their parameters: naive Bayes, a "
        "support vector machine, nearest neighbours, a random forest of ten trees, logistic "
        "regression and fixed radius. They make figures comparable with the published ones. The "
        "classifiers above are stronger.",
        BIG_DATA,
    ),
    columns=(
        guessed(
            "papers_mean_attacker", "Mean, papers", "by one of the papers' classifiers, on average"
        ),
    ),
    place=40,
)
