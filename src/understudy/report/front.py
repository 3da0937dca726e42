"""The first page of the report: the answer, the three answers behind it, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from understudy.audit.advice import KEEP
from understudy.audit.answers import questions_about
from understudy.audit.findings import Findings, ReleaseFindings
from understudy.audit.verdict import TITLES, choose
from understudy.charts.chart import Chart
from understudy.report.charts.answers import answer_chart

if TYPE_CHECKING:
    from understudy.audit.advice import Advice
    from understudy.audit.levels import Level
    from understudy.audit.measures.declaration import Question
    from understudy.audit.result import Commands
    from understudy.audit.verdict import ReleaseVerdict, Verdict

LEVELS = {level: title.partition(",")[0] for level, title in TITLES.items()}
"""What stands on a badge."""

STEPS: dict[Level, str] = {
    "high": "Do not pass this file on as it is.",
    "raised": "Decide whether what it tells may be told, or make it tell less.",
    "not measured": "Not every question has an answer yet. Find out before you pass it on.",
    "low": "Nothing that was tried speaks against passing it on. Keep this report with it.",
}
"""What a reader does about each level."""
SHORT: dict[Question, str] = {
    "records": "Records",
    "ordinary": "Ordinary attacker",
    "strongest": "Strongest attacker",
}
"""The three questions as headings of a narrow table."""
NONE_CHOSEN = "Do not pass any of these files on as they are."

_MOST_ADVICE, _MOST_RELEASES = 2, 8
"""Pieces of advice, and releases, on the first page; the details have all."""


@dataclass(frozen=True)
class FrontAnswer:
    """One of the three answers: the question, its level, why in a sentence, and a picture."""

    title: str
    level: Level
    sentence: str
    chart: Chart | None


@dataclass(frozen=True)
class Front:
    """The first page.

    Parameters
    ----------
    level, badge : str
        The answer, and what stands on its badge.
    headline : str
        Why, in a sentence.
    about : str
        The release that the three answers are about; empty if none of several is to be chosen.
    answers : tuple of FrontAnswer
        The three answers.
    step : str
        What to do, in a sentence.
    advice : tuple of Advice
        What to try.
    releases : int
        How many of several releases are listed, those with the best verdicts.
    lost : str
        The strong correlations that the release has lost; empty if there are none.
    """

    level: Level
    badge: str
    headline: str
    about: str
    answers: tuple[FrontAnswer, ...]
    step: str
    advice: tuple[Advice, ...]
    releases: int = 0
    lost: str = ""

    def charts(self) -> Iterator[Chart]:
        """Yield the pictures."""
        yield from (one.chart for one in self.answers if one.chart is not None)


def front_page(findings: Findings, verdict: Verdict | None) -> Front | None:
    """Return what stands on the first page; None without a verdict.

    Of several releases, which are in the order of choice, it is about the one to choose.
    """
    if verdict is None or not verdict.releases:
        return None
    several = len(verdict.releases) > 1
    name = verdict.choice if several else verdict.releases[0].name
    listed = min(_MOST_RELEASES, len(verdict.releases)) if several else 0
    pairs = zip(verdict.releases, findings.releases, strict=True)
    judged, release = next((both for both in pairs if both[0].name == name), (None, None))
    if judged is None or release is None:
        first = verdict.releases[0]
        headline = f"As far as tested, the risk of all {len(verdict.releases)} releases is high."
        return Front("high", "Choose none", headline, "", (), NONE_CHOSEN, first.advice[:1], listed)
    badge = choose(name, judged.level) if several else LEVELS[judged.level]
    if not several and all(one.level == "not measured" for one in judged.answers.values()):
        badge = "Not measured"
    return Front(
        judged.level,
        badge,
        # How the others compare, the table says, and the badge of one release its level.
        judged.headline if several else _reason(judged),
        name,
        tuple(_answers(findings, judged, release)),
        STEPS[judged.level],
        first_steps(judged.advice, 1 if several else _MOST_ADVICE),
        listed,
        judged.lost,
    )


def _reason(judged: ReleaseVerdict) -> str:
    """Return the headline without its first words, if they are those of the badge."""
    reason = judged.headline.removeprefix(LEVELS[judged.level])
    if not reason.startswith((": ", "; ")):
        return judged.headline
    reason = reason[2:]
    return reason[0].upper() + reason[1:]


def chosen_first(findings: Findings, verdict: Verdict) -> tuple[Findings, Verdict]:
    """Return both with their releases in the order of the verdict, the one to choose first."""
    names = [one.name for one in verdict.releases]
    if sorted(verdict.order) != sorted(names):  # a verdict of others may have none
        return findings, verdict
    places = [names.index(name) for name in verdict.order]
    return (
        replace(findings, releases=tuple(findings.releases[place] for place in places)),
        replace(verdict, releases=tuple(verdict.releases[place] for place in places)),
    )


def to_be_followed(verdict: Verdict, commands: Commands) -> Verdict:
    """Return the verdict without advice that the command of another one follows already.

    If the release to choose was made only to be compared, the first advice is to keep it.
    """

    def advice(release: ReleaseVerdict) -> Iterator[Advice]:
        keep = replace(KEEP, release=release.name)
        if release.name == verdict.choice and commands(keep):
            yield keep
        yield from (one for one in release.advice if commands(one) is not None)

    releases = tuple(replace(one, advice=tuple(advice(one))) for one in verdict.releases)
    return replace(verdict, releases=releases)


def first_steps(advice: Sequence[Advice], most: int) -> tuple[Advice, ...]:
    """Return the first pieces of advice, so many beside that to keep the release."""
    return tuple(advice[: most + any(one.action == "keep" for one in advice)])


def _answers(
    findings: Findings, judged: ReleaseVerdict, release: ReleaseFindings
) -> Iterator[FrontAnswer]:
    for question, answer in judged.answers.items():
        chart = answer_chart(question, answer, release, findings.counted, findings.units)
        yield FrontAnswer(
            questions_about(findings.units)[question], answer.level, answer.sentence, chart
        )
