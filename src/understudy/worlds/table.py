"""Measures of risk in worlds where it is known what a release gives away.

`run_worlds` makes the releases, scores each by every measure, and decides from the scores which
of the five desiderata a measure meets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
import polars as pl

from understudy.arguments import check_whole
from understudy.data import load
from understudy.errors import ParameterError
from understudy.progress import quietly, track
from understudy.wording import markdown_table
from understudy.worlds.desiderata import DESIDERATA, Scores, Verdict, judge
from understudy.worlds.measures import MEASURES, Measure, scores_of
from understudy.worlds.releases import WORLDS, draw_releases


@dataclass(frozen=True, eq=False)
class WorldsTable:
    """Which measures meet which desiderata, and the scores that say so.

    Parameters
    ----------
    by_world : mapping
        For each measure, its scores in each world, one for each release.
    verdicts : mapping
        For each measure, a verdict for each of D1 to D5.
    """

    by_world: Mapping[Measure, Scores]
    verdicts: Mapping[Measure, tuple[Verdict, ...]]

    def passed(self, name: str, about: str = "record") -> tuple[str, ...]:
        """Return which of D1 to D5 a measure meets.

        Parameters
        ----------
        name : str
            Of the measure, such as "DiSCO".
        about : {"record", "table"}
            Which of its scores.
        """
        for measure, verdicts in self.verdicts.items():
            if (measure.name, measure.about) == (name, about):
                return tuple(verdict.desideratum for verdict in verdicts if verdict.passed)
        known = "; ".join(measure.label for measure in self.verdicts)
        raise ParameterError(f"The measures are: {known}; got {f'{name}, {about}'!r}.")

    def is_silent(self, measure: Measure) -> bool:
        """Return whether a measure has the same score for every release.

        It then meets D2 and D3 for no other reason than that it says nothing.
        """
        found = np.concatenate(list(self.by_world[measure].values()))
        return bool(np.all(found == found[0]))

    def words(self, measure: Measure) -> list[str]:
        """Return yes or no for each of D1 to D5; in brackets if the measure says nothing."""
        yes = "(yes)" if self.is_silent(measure) else "yes"
        return [yes if verdict.passed else "no" for verdict in self.verdicts[measure]]

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each measure and desideratum: whether it is met, and why."""
        rows = [
            {
                "measure": measure.name,
                "about": measure.about,
                "desideratum": verdict.desideratum,
                "passed": verdict.passed,
                "why": verdict.why,
            }
            for measure, verdicts in self.verdicts.items()
            for verdict in verdicts
        ]
        return pl.DataFrame(rows)

    def scores(self) -> pl.DataFrame:
        """Return a row for each measure and release: its world, its number, and the score."""
        frames = [
            pl.DataFrame(
                {
                    "measure": measure.name,
                    "about": measure.about,
                    "world": world,
                    "release": np.arange(len(scores)),
                    "score": scores,
                }
            )
            for measure, found in self.by_world.items()
            for world, scores in found.items()
        ]
        return pl.concat(frames)

    def markdown(self) -> str:
        """Return the table of measures against desiderata; (yes) if the score never changes."""
        heading = ["measure", *(f"{name} {meaning}" for name, meaning in DESIDERATA.items())]
        lines = [[measure.label, *self.words(measure)] for measure in self.verdicts]
        return markdown_table(heading, lines)

    def means_markdown(self) -> str:
        """Return the mean score of each measure in each world, beside its baseline."""
        lines = [
            [measure.label, f"{measure.baseline:.3f}", *(f"{s.mean():.3f}" for s in found.values())]
            for measure, found in self.by_world.items()
        ]
        return markdown_table(["measure", "without a release", *WORLDS], lines)

    def failures(self) -> list[str]:
        """Return a sentence for each desideratum that a measure does not meet."""
        return [
            f"{measure.label}, {verdict.desideratum}: {verdict.why}"
            for measure, verdicts in self.verdicts.items()
            for verdict in verdicts
            if not verdict.passed
        ]


def run_worlds(
    random_state: int = 0, *, releases: int = 30, classifiers: bool = True
) -> WorldsTable:
    """Run every measure through releases of which it is known what they give away.

    Parameters
    ----------
    random_state : int
        Decides the releases that are drawn by chance.
    releases : int
        How many are drawn in each of these worlds.
    classifiers : bool
        Whether to train classifiers as well, which take most of the time.

    Returns
    -------
    WorldsTable
        The scores, and which of the desiderata D1 to D5 each measure meets.

    Notes
    -----
    The data are the simulated ones of the paper on CART [1]_, and the record is its disclosive
    one. An attacker by matching knows its three keys; the strong attacker knows all other records
    and the synthesizer, and asks for all four values. The worlds are in `worlds.releases`, the
    desiderata in `worlds.desiderata`.

    References
    ----------
    .. [1] Latner, J., Neunhoeffer, M., Drechsler, J. Buyer Beware: Understanding the trade-off
       between utility and risk in CART based models using simulation data.
    """
    check_whole("releases", releases, 2)  # a standard error needs two
    original = cast("pl.DataFrame", load("buyer_beware"))
    found: dict[Measure, dict[str, list[float]]] = {}
    with quietly():
        drawn = list(draw_releases(releases, random_state))
    for release in track(drawn, "Attacking"):
        with quietly():
            scores = scores_of(release, original, classifiers=classifiers)
        for measure, score in scores.items():
            found.setdefault(measure, {}).setdefault(release.world, []).append(score)
    by_world: dict[Measure, Scores] = {
        measure: {world: np.array(found[measure][world]) for world in WORLDS}
        for measure in MEASURES
        if measure in found
    }
    return WorldsTable(
        by_world, {measure: judge(measure, scores) for measure, scores in by_world.items()}
    )
