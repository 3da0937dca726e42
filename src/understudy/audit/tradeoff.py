"""What a release costs in use, and which of several releases are worth a choice."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from understudy.audit.findings import Findings, ReleaseFindings, UtilityFindings, WayFindings
from understudy.audit.levels import noise_of
from understudy.audit.measures import main_figures
from understudy.audit.measures.marginals import pairs_ratio
from understudy.wording import percent, points, quoted

POOR_RATIO = 2.0
"""Tables of shares that are twice as far off as chance gives have lost or invented something.

A sample of the original's own records has a ratio of about 1, whatever its size.
"""
POOR_LOSS = 0.02
"""Predictions that are correct for two people in a hundred fewer are a loss that users notice.

It is about twice the standard error of the difference for some thousand test records.
"""

_ROUNDING = 1e-12
_COLUMNS = {1: "single columns", 2: "two columns", 3: "three columns"}


@dataclass(frozen=True)
class Place:
    """Where a release stands: lower is better in both.

    Parameters
    ----------
    name : str
        The release.
    risk : float
        The largest gain of the measures that decide, and at least 0.
    loss : float
        What the release costs in use.
    """

    name: str
    risk: float
    loss: float


@dataclass(frozen=True)
class Tradeoff:
    """Risk against loss of use, for releases that can be compared.

    Parameters
    ----------
    places : tuple of Place
        The releases, in their order.
    loss_name : str
        What is taken for the loss, in words.
    risk_noise, loss_noise : float
        Differences up to these count as none, for chance explains them.
    """

    places: tuple[Place, ...]
    loss_name: str
    risk_noise: float = 0.0
    loss_noise: float = 0.0

    def frontier(self) -> tuple[Place, ...]:
        """Return the releases that no other beats in one respect and equals in the other.

        There is always one: who beats another is better by more than the noise in one respect, and
        worse by at most the noise in the other, so that nobody is beaten in a circle.

        Examples
        --------
        >>> both = Tradeoff((Place("a", 0.1, 0.0), Place("b", 0.0, 0.2), Place("c", 0.1, 0.2)), "")
        >>> [place.name for place in both.frontier()]
        ['a', 'b']
        """
        return tuple(
            place
            for place in self.places
            if not any(self._beats(other, place) for other in self.places)
        )

    def _beats(self, one: Place, other: Place) -> bool:
        better = other.risk - one.risk, other.loss - one.loss
        noise = self.risk_noise, self.loss_noise
        return all(
            gained >= -by_chance - _ROUNDING
            for gained, by_chance in zip(better, noise, strict=True)
        ) and any(
            gained > by_chance + _ROUNDING for gained, by_chance in zip(better, noise, strict=True)
        )


def tradeoff(findings: Findings) -> Tradeoff | None:
    """Return risk against loss of use, None if no two releases have measures in common.

    The risk is the largest gain of an ordinary attacker (GCAP, the classifiers' vote) and, if it
    was run on all releases, of the strong attacker. The loss is that of correct predictions if a
    target was named, and else how far tables of two columns are off, as a ratio to chance. A
    release that lacks one of them is left out. Differences of the risk, and of correct
    predictions, count from two standard errors of a share on; see `noise_of`.
    """
    measures = main_figures("ordinary")
    # The strongest attacker counts if all releases have it: it needs their models.
    for measure in main_figures("strongest"):
        if all(_known_gain(release, measure) for release in findings.releases):
            measures = (*measures, measure)
    for loss, noise, name in (
        (_prediction_loss, _prediction_noise, "correct predictions lost"),
        (pairs_ratio, None, "distance of tables of two columns, as a ratio to chance"),
    ):
        places = tuple(
            Place(release.name, risk, lost)
            for release in findings.releases
            if not math.isnan(risk := _risk(release, measures))
            and not math.isnan(lost := loss(release))
        )
        if len(places) > 1:
            return Tradeoff(
                places,
                name,
                _largest(_risk_noise(findings, release) for release in findings.releases),
                _largest(map(noise, findings.releases)) if noise is not None else 0.0,
            )
    return None


def _largest(noises: Iterable[float]) -> float:
    return max((noise for noise in noises if not math.isnan(noise)), default=0.0)


def _risk_noise(findings: Findings, release: ReleaseFindings) -> float:
    figures = (release.figure(measure) for measure in main_figures("ordinary"))
    return _largest(noise_of(one.baseline, findings.rows) for one in figures if one is not None)


def _prediction_noise(release: ReleaseFindings) -> float:
    found = release.utility.prediction
    if found is None or not found.classifiers:
        return math.nan
    tested = sum(map(sum, found.classifiers[0].real_confusion))
    return noise_of(found.mean_real, tested)


def _known_gain(release: ReleaseFindings, measure: str) -> bool:
    figure = release.figure(measure)
    return figure is not None and not math.isnan(figure.gain)


def _risk(release: ReleaseFindings, measures: Sequence[str]) -> float:
    figures = (release.figure(measure) for measure in measures)
    gains = [one.gain for one in figures if one is not None and not math.isnan(one.gain)]
    return max(0.0, *gains) if gains else math.nan


def _prediction_loss(release: ReleaseFindings) -> float:
    found = release.utility.prediction
    return max(0.0, -found.mean_difference) if found is not None else math.nan


def _worst_way(utility: UtilityFindings) -> WayFindings | None:
    known = [one for one in utility.marginals if not math.isnan(one.ratio)]
    return max(known, key=lambda one: one.ratio, default=None)


def is_poor(utility: UtilityFindings) -> bool:
    """Tell whether a release has lost much of its use."""
    worst, found = _worst_way(utility), utility.prediction
    far = worst is not None and worst.ratio > POOR_RATIO
    return far or (found is not None and found.mean_difference < -POOR_LOSS)


def utility_sentences(utility: UtilityFindings) -> Iterator[str]:
    """Yield what the release keeps, and what it costs, in words."""
    found = utility.prediction
    if found is not None and not math.isnan(found.mean_difference):
        change = found.mean_difference
        cost = f"a loss of {points(change)}" if change < 0 else f"{points(change)} more"
        poor = f", which counts as poor (limit: {points(POOR_LOSS)})" if change < -POOR_LOSS else ""
        yield (
            f"Classifiers trained on the release predict {quoted([found.target])} correctly for "
            f"{percent(found.mean_synthetic)} of real records. Trained on real records, they reach "
            f"{percent(found.mean_real)}; without training, {percent(found.baseline)}. That is "
            f"{cost}{poor}.{f' {found.note}' if found.note else ''}"
        )
    worst = _worst_way(utility)
    if worst is not None:
        far = (
            f" Beyond {POOR_RATIO:.0f} times, the release has lost or invented something, and "
            "analyses that rest on it will differ."
            if worst.ratio > POOR_RATIO
            else ""
        )
        yield (
            f"Tables of {_COLUMNS.get(worst.way, f'{worst.way} columns')} are {worst.ratio:.1f} "
            f"times as far from the original's as a new sample of its records would be.{far}"
        )
    yield from utility.notes
