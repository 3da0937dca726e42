"""What a release costs in use, and which of several releases are worth a choice."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from understudy.audit.answers import Evidence, weigh
from understudy.audit.findings import Findings, ReleaseFindings, UtilityFindings, WayFindings
from understudy.audit.levels import Level
from understudy.audit.measures import main_figures
from understudy.audit.measures.declaration import Question
from understudy.audit.measures.marginals import pairs_ratio
from understudy.wording import counted, percent, points, quoted

POOR_RATIO = 2.0
"""Tables of shares that are twice as far off as chance gives have lost or invented something.

A sample of the original's own records has a ratio of about 1, whatever its size.
"""
POOR_LOSS = 0.02
"""Predictions that are correct for two people in a hundred fewer are a loss that users notice.

It is about twice the standard error of the difference for some thousand test records.
"""

RISKS: Mapping[Question, str] = {
    "records": "lookalikes beyond chance",
    "ordinary": "what an ordinary attacker gains",
    "strongest": "what the strongest attacker gains",
}
"""What is taken for the risk in a comparison, by question."""

RANKS: Mapping[Level, int] = {"low": 0, "raised": 1, "not measured": 1, "high": 2}
"""How much a level counts against a release in a comparison.

A release of which a question was not answered is never taken before one that was measured and found
raised because of that: what was not measured does not count as passed.
"""

_ROUNDING = 1e-12
_COLUMNS = {1: "single columns", 2: "two columns", 3: "three columns"}


@dataclass(frozen=True)
class Place:
    """Where a release stands: lower is better in all.

    Parameters
    ----------
    name : str
        The release.
    risk : float
        How much the question of the comparison gives away, as a share of all people; at least 0.
    loss : float
        What the release costs in use.
    level : str
        The verdict: low, raised, high or not measured.
    """

    name: str
    risk: float
    loss: float
    level: Level = "low"


@dataclass(frozen=True)
class Tradeoff:
    """Risk against loss of use, for releases that can be compared.

    Parameters
    ----------
    places : tuple of Place
        The releases, in the order of `in_order`: the one to choose first.
    loss_name : str
        What is taken for the loss, in words.
    risk_noise, loss_noise : float
        Differences up to these count as none, for chance explains them.
    question : {"records", "ordinary", "strongest"}
        Whose risk is compared.
    """

    places: tuple[Place, ...]
    loss_name: str
    risk_noise: float = 0.0
    loss_noise: float = 0.0
    question: Question = "ordinary"

    @property
    def risk_name(self) -> str:
        """What is taken for the risk, in words."""
        return RISKS[self.question]

    def frontier(self) -> tuple[Place, ...]:
        """Return the releases worth a choice: the first one, and others that cost less use.

        The verdict on them is not high, and each costs less use, beyond chance, than all that stand
        before it in the order. If there is one that is not high, there is always one.

        Examples
        --------
        >>> both = Tradeoff((Place("a", 0.0, 0.2), Place("b", 0.1, 0.0), Place("c", 0.1, 0.2)), "")
        >>> [place.name for place in both.frontier()]
        ['a', 'b']
        """
        found: list[Place] = []
        for place in self.places:
            least = min((one.loss for one in found), default=math.inf)
            if place.level != "high" and place.loss < least - self.loss_noise - _ROUNDING:
                found.append(place)
        return tuple(found)


def tradeoff(findings: Findings, question: Question | None = None) -> Tradeoff | None:
    """Return risk against loss of use, None if no two releases have measures in common.

    The risk is that of one of the three questions, in people: with a lookalike beyond chance; whose
    value is guessed beyond what is guessed without the release, or with control records beyond
    what is guessed of people who are not in the data; certain to be disclosed, or guessed beyond
    chance by the strongest attacker. By default it is the question with the worst answer, of those
    that are answered for all releases.

    The loss is that of correct predictions if a target was named, and else how far tables of two
    columns are off, as a ratio to chance. A release that lacks one of them is left out. Differences
    of the risk, and of correct predictions, count from two standard errors of a share on; see
    `Limits.noise`.
    """
    judged = {release.name: weigh(findings, release) for release in findings.releases}
    asked = question or questions_in_order(findings, list(judged.values()))[0]
    for loss, noise, in_words in _LOSSES:
        known = {
            release.name: Place(release.name, risk, lost, judged[release.name].level)
            for release in findings.releases
            if not math.isnan(risk := risk_of(release, asked))
            and not math.isnan(lost := loss(release))
        }
        if len(known) > 1:
            return Tradeoff(
                tuple(known[name] for name in in_order(findings) if name in known),
                in_words,
                _largest(_risk_noise(findings, release, asked) for release in findings.releases),
                _largest(noise(findings, one) for one in findings.releases),
                asked,
            )
    return None


def in_order(findings: Findings) -> tuple[str, ...]:
    """Return the names of the releases, the one to choose first.

    Notes
    -----
    1. The three answers decide, from the worst on: high, then raised or not measured, which count
       alike, then low.
    2. Of releases with the same levels, the one with less risk comes first: by the question with
       the worst answers, then by the other questions. Differences that chance explains count as
       none.
    3. Where the risk is the same, the one comes first that costs less use.

    What is not known comes after what is known.
    """
    judged = {release.name: weigh(findings, release) for release in findings.releases}

    def ranks(release: ReleaseFindings) -> tuple[int, ...]:
        return tuple(RANKS[level] for level in judged[release.name].levels)

    ordered = sorted(findings.releases, key=ranks)
    groups = [list(alike) for _, alike in groupby(ordered, key=ranks)]
    for question in questions_in_order(findings, list(judged.values())):
        noise = _largest(_risk_noise(findings, one, question) for one in findings.releases)
        groups = _split(groups, partial(risk_of, question=question), noise)
    for loss, loss_noise, _ in _LOSSES:
        groups = _split(
            groups, loss, _largest(loss_noise(findings, one) for one in findings.releases)
        )
    return tuple(release.name for alike in groups for release in alike)


def _split(
    groups: Iterable[list[ReleaseFindings]], value: Callable[[ReleaseFindings], float], noise: float
) -> list[list[ReleaseFindings]]:
    """Split groups such that the values in each differ from its least by the noise at most.

    The least come first, and those without a value last. So whoever has less than another, by more
    than the noise, always comes before it.
    """
    found: list[list[ReleaseFindings]] = []
    for group in groups:
        values = {one.name: math.inf if math.isnan(v := value(one)) else v for one in group}
        limit = -math.inf
        for one in sorted(group, key=lambda release: values[release.name]):
            if values[one.name] > limit:
                found.append([])
                limit = values[one.name] + noise + _ROUNDING
            found[-1].append(one)
    return found


def questions_in_order(findings: Findings, judged: Sequence[Evidence]) -> tuple[Question, ...]:
    """Return the questions, that with the worst answers first; those answered for all come first.

    Where one model is not known, another release must not look worse for being attacked more.
    """

    def seriousness(question: Question) -> tuple[bool, int, float]:
        risks = [risk_of(release, question) for release in findings.releases]
        worst = max((RANKS[one.answers[question].level] for one in judged), default=0)
        known = not any(map(math.isnan, risks))
        return known, worst, max(risks, default=0.0) if known else 0.0

    questions: tuple[Question, ...] = ("ordinary", "records", "strongest")
    return tuple(sorted(questions, key=seriousness, reverse=True))


def risk_of(release: ReleaseFindings, question: Question) -> float:
    """Return how much a question gives away, as a share of all people; nan if it is not known."""
    if question == "records":
        figure = release.figure("lookalikes")
        risks = [] if figure is None else [figure.gain, figure.synthetic - figure.control]
    elif question == "ordinary":
        risks = [
            release.numbers.get(f"{name}.difference", figure.gain)
            for name in main_figures("ordinary")
            if (figure := release.figure(name)) is not None
        ]
    else:
        risks = [
            figure.gain
            for name in main_figures("strongest")
            if (figure := release.figure(name)) is not None
        ]
        if release.strong is not None:
            risks.append(release.strong.certain / max(release.strong.records, 1))
        risks.append(release.numbers.get("membership.share_above_90_percent", math.nan))
    known = [float(risk) for risk in risks if not math.isnan(risk)]
    return max(0.0, *known) if known else math.nan


def _largest(noises: Iterable[float]) -> float:
    return max((noise for noise in noises if not math.isnan(noise)), default=0.0)


def _risk_noise(findings: Findings, release: ReleaseFindings, question: Question) -> float:
    names = ("lookalikes",) if question == "records" else main_figures(question)
    figures = (release.figure(name) for name in names)
    return _largest(
        findings.limits.noise(one.baseline, findings.counted) for one in figures if one is not None
    )


def _prediction_noise(findings: Findings, release: ReleaseFindings) -> float:
    found = release.utility.prediction
    if found is None or not found.classifiers:
        return math.nan
    tested = sum(map(sum, found.classifiers[0].real_confusion))
    return findings.limits.noise(found.mean_real, tested)


def _prediction_loss(release: ReleaseFindings) -> float:
    found = release.utility.prediction
    return max(0.0, -found.mean_difference) if found is not None else math.nan


def _no_noise(_findings: Findings, _release: ReleaseFindings) -> float:
    return 0.0


_LOSSES = (
    (_prediction_loss, _prediction_noise, "correct predictions lost"),
    (pairs_ratio, _no_noise, "distance of tables of two columns, as a ratio to chance"),
)
"""What is taken for the loss of use: how much, what chance explains, and in words."""


def _worst_way(utility: UtilityFindings) -> WayFindings | None:
    known = [one for one in utility.marginals if not math.isnan(one.ratio)]
    return max(known, key=lambda one: one.ratio, default=None)


def is_poor(utility: UtilityFindings) -> bool:
    """Tell whether a release has lost much of its use."""
    worst, found = _worst_way(utility), utility.prediction
    far = worst is not None and worst.ratio > POOR_RATIO
    if utility.correlations is not None and utility.correlations.lost:
        return True
    return far or (found is not None and found.mean_difference < -POOR_LOSS)


def utility_sentences(utility: UtilityFindings) -> Iterator[str]:
    """Yield what the release keeps, and what it costs, in words; lost correlations come first."""
    yield from lost_sentences(utility)
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
    yield from _number_sentences(utility)
    yield from _dependency_sentences(utility)
    yield from utility.notes


_TOLD = 2
"""Lost correlations that are told one by one."""


def lost_sentences(utility: UtilityFindings) -> Iterator[str]:
    """Yield which strong correlations the release has lost, the worst first; nothing if none."""
    found = utility.correlations
    if found is None or not found.losses:
        return
    told = " ".join(
        f"The {one.coefficient} of {quoted(one.columns)} fell from {one.original:.3f} to "
        f"{one.synthetic:.3f}."
        for one in found.losses[:_TOLD]
    )
    more = found.lost - min(len(found.losses), _TOLD)
    others = f" {counted(more, 'more strong correlation')} fell as well." if more else ""
    yield (
        f"{told}{others} Chance does not explain it: whatever rests on this relation comes out "
        "differently with the release."
    )


def _number_sentences(utility: UtilityFindings) -> Iterator[str]:
    """Yield what became of means by level, and of combinations that the original rules out."""
    means, absent = utility.conditional_means, utility.impossible
    if means is not None and means.beyond:
        yield (
            f"{means.beyond:,} of {counted(means.means, 'mean')} of a number by the level of "
            f"another column {'is' if means.beyond == 1 else 'are'} further off than chance "
            f"explains, by up to {means.largest_difference:.2f} standard deviations."
        )
    if absent is not None and absent.combinations:
        yield (
            f"{percent(absent.share)} of the synthetic records have a pair of values that no "
            f"original record has, where {percent(absent.expected)} of fresh records would. "
            f"Chance does not explain {counted(absent.combinations, 'combination')}."
        )


def _dependency_sentences(utility: UtilityFindings) -> Iterator[str]:
    """Yield how many dependencies of the original the release breaks, and the one most broken."""
    broken = [one for one in utility.dependencies if one.broken]
    count = len(utility.dependencies)
    of = "the one dependency" if count == 1 else f"all {count:,} dependencies"
    if count and not broken:
        yield f"It keeps {of} between columns that the original has."
    if broken:
        worst = max(broken, key=lambda one: one.synthetic)
        yield (
            f"It breaks {len(broken):,} of {count:,} dependencies between columns that the "
            f"original has. Most often broken is that {worst.sentence}: in "
            f"{percent(worst.synthetic)} of the records, and in {percent(worst.original)} of the "
            "original's."
        )
