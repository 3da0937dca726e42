"""The first page: the answer, three answers with a picture each, and what to do."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

from tests.report.conftest import audit_of, release
from tests.report.test_page import Page
from understudy.audit.answers import QUESTIONS, Answer, Clue
from understudy.audit.findings import Figure, Histogram, UtilityFindings
from understudy.audit.verdict import ReleaseVerdict, Verdict, give_verdict
from understudy.charts.palette import LIGHT
from understudy.report.charts.answers import guesses_chart, strongest_chart
from understudy.report.front import LEVELS, NONE_CHOSEN, STEPS, front_page
from understudy.report.page import render_report
from understudy.wording import Unit

RECORDS = Unit.of("records")


def judged(*levels, name="greedy.csv", advice=()):
    """Return the verdict on a release by its three answers; the worst decides."""
    order = ("high", "raised", "not measured", "low")
    answers = {
        question: Answer(
            question, level, f"Why {question} is {level}.", (Clue("gcap", "GCAP", level, "So."),)
        )
        for question, level in zip(QUESTIONS, levels, strict=True)
    }
    worst = min(levels, key=order.index)
    return ReleaseVerdict(name, worst, answers, f"{worst} it is.", (), (), advice)


def front_text(findings, verdict):
    """Return the text above the details, and the classes of its badges."""
    page = Page(render_report(findings, verdict=verdict))
    text, _, details = page.text.partition("Details No original record")
    assert details
    classes = [attrs["class"] for tag, attrs in page.elements if "badge" in attrs.get("class", "")]
    return text, classes


@pytest.mark.parametrize(
    "levels",
    [
        ("low", "low", "low"),
        ("low", "raised", "low"),
        ("high", "low", "not measured"),
        ("low", "low", "not measured"),
    ],
)
def test_one_release_has_one_badge_three_answers_and_a_step(levels, single):
    own = judged(*levels, advice=give_verdict(single).releases[0].advice)
    text, badges = front_text(single, Verdict(own.level, own.headline, (), (own,)))
    assert "Can this file leave the building?" in text
    assert own.headline in text
    assert STEPS[own.level] in text
    assert all(question in text for question in QUESTIONS.values())
    for answer in own.answers.values():
        assert answer.sentence in text
    names = [own.level, *levels]
    assert badges[:4] == [f"badge {level.replace(' ', '-')}" for level in names]
    assert LEVELS[own.level] in text
    assert re.sub(r"\s+", " ", own.advice[0].code) in text


@pytest.mark.parametrize(
    ("level", "headline", "shown"),
    [
        ("raised", "Raised risk: looking up helps.", "Looking up helps."),
        ("not measured", "Low as far as measured; it is not known.", "It is not known."),
        # The badge does not say how far.
        ("low", *["Low risk, as far as tested: no more than chance."] * 2),
    ],
)
def test_the_sentence_does_not_repeat_the_badge(level, headline, shown, single):
    own = replace(judged(level, "low", "low"), level=level, headline=headline)
    assert front_page(single, Verdict(level, headline, (), (own,))).headline == shown


def test_not_measured_has_a_colour_of_its_own():
    colours = {LIGHT[name] for name in ("low", "raised", "high", "unknown")}
    soft = {LIGHT[f"{name}-soft"] for name in ("low", "raised", "high", "unknown")}
    assert len(colours) == len(soft) == 4


def test_what_was_not_measured_has_no_picture(single):
    (found,) = single.releases
    figures = tuple(one for one in found.figures if one.measure != "strong")
    bare = replace(found, strong=None, figures=figures, numbers={}, lookalikes=None)
    findings = replace(single, releases=(bare,))
    own = judged("not measured", "low", "not measured")
    verdict = Verdict("not measured", "", (), (own,))
    first, second, third = front_page(findings, verdict).answers
    assert (first.chart, third.chart) == (None, None)
    assert second.chart.key == "answer-ordinary"
    text, _ = front_text(findings, verdict)
    assert text.count("No picture: it was not measured.") == 2


def test_of_several_releases_one_is_to_be_chosen():
    findings = audit_of(
        release("greedy.csv", 0.043, 0.008, certain=3),
        release("protected.csv", 0.004, 0.013, certain=0, seed=1),
    )
    both = (judged("high", "raised", "low"), judged("low", "low", "low", name="protected.csv"))
    order = ("protected.csv", "greedy.csv")
    verdict = Verdict("low", "Choose 'protected.csv'. It is better.", (), both, order, order[0])
    text, badges = front_text(findings, verdict)
    assert "one of these files" in text
    assert "Choose 'protected.csv'" in text
    assert "Three answers about protected.csv" in text
    # The answer, a row of three for each release in order, and the three of the chosen one.
    words = [*["low"] * 4, "high", "raised", *["low"] * 4]
    assert badges[: len(words)] == [f"badge {word}" for word in words]
    assert "Why records is low." in text
    assert "Why records is high." not in text
    front = front_page(findings, verdict)
    assert [chart.key for chart in front.charts()] == [f"answer-{name}" for name in QUESTIONS]


def test_of_several_releases_none_may_be_worth_choosing(rich):
    both = (judged("high", "low", "low"), judged("low", "high", "low", name="protected.csv"))
    text, badges = front_text(rich, Verdict("high", "Choose none of them.", (), both))
    assert "Choose none As far as tested, the risk of all 2 releases is high." in text
    assert NONE_CHOSEN in text
    assert badges[0] == "badge high"
    assert not front_page(rich, Verdict("high", "", (), both)).answers


def test_of_many_releases_the_best_are_listed(single):
    # The details of nine releases would take most of the time.
    lean = replace(single.releases[0], utility=UtilityFindings(), network=None)
    many = tuple(replace(lean, name=f"release {place}") for place in range(9))
    levels = ["high", *["low"] * 8]
    verdicts = tuple(
        judged(level, "low", "low", name=one.name) for level, one in zip(levels, many, strict=True)
    )
    order = tuple(one.name for one in reversed(many))
    findings = replace(single, releases=many)
    verdict = Verdict("low", "", (), verdicts, order, order[0])
    assert front_page(findings, verdict).releases == 8
    text, _ = front_text(findings, verdict)
    places = [text.index(f"release {place} ") for place in range(8, 0, -1)]
    assert places == sorted(places)
    assert "1 more release, with no better verdict, is in the details." in text


@pytest.mark.parametrize(
    ("level", "badge"),
    [
        ("low", "Choose 'greedy.csv'"),
        ("raised", "Choose 'greedy.csv' only if you accept a raised risk"),
        ("not measured", "Choose 'greedy.csv' only after more is measured"),
    ],
)
def test_a_choice_that_is_not_low_has_a_condition(rich, level, badge):
    both = (judged(level, "low", "low"), judged("high", "low", "low", name="protected.csv"))
    names = tuple(one.name for one in both)
    overall = f"{badge}. {both[0].headline} Of 2 releases, the risk is high for protected.csv."
    front = front_page(rich, Verdict(level, overall, (), both, names, names[0]))
    # The table below says how the others compare.
    assert (front.badge, front.headline) == (badge, both[0].headline)


def test_where_nothing_was_answered_the_badge_says_so(single):
    own = judged(*["not measured"] * 3)
    assert front_page(single, Verdict("not measured", "", (), (own,))).badge == "Not measured"


def test_the_order_of_the_verdict_is_that_of_the_page(rich):
    first, second = rich.releases
    both = (judged("raised", "low", "low"), judged("low", "low", "low", name=second.name))
    verdict = Verdict("low", "", (), both, (second.name, first.name), second.name)
    page = Page(render_report(rich, verdict=verdict))
    rows = page.text.partition("The releases side by side")[2].partition("The original")[0]
    assert rows.index(second.name) < rows.index(first.name)
    assert f"{second.name} Low" in rows
    assert f"{first.name} Raised" in rows


def test_advice_that_another_command_follows_is_left_out(single):
    verdict = give_verdict(single)
    (own,) = verdict.releases
    skipped = own.advice[-1]
    page = Page(
        render_report(
            single,
            verdict=verdict,
            commands=lambda advice: None if advice == skipped else advice.output,
        )
    )
    assert skipped.sentences not in page.text
    assert own.advice[0].sentences in page.text


def test_a_lost_correlation_is_on_the_first_page(single):
    page = render_report(single, verdict=give_verdict(single))
    front, details = page.split('id="details"')
    assert "fell from 0.915 to 0.429" in front
    assert "Is it still useful?" in front
    assert "Strong correlations that fell" in details
    use = replace(single.releases[0].utility, correlations=None)
    kept = replace(single, releases=(replace(single.releases[0], utility=use),))
    assert front_page(kept, give_verdict(kept)).lost == ""


def test_without_a_verdict_there_is_no_first_page(single):
    assert front_page(single, None) is None
    page = render_report(single)
    assert "What to do" not in page
    assert 'id="details"' in page


def test_guesses_are_bars_for_people_and_patterns():
    figure = Figure("gcap", "GCAP", "By lookup", 0.6, 0.7, control=0.65)
    chart = guesses_chart(figure, RECORDS)
    assert [row[1:3] for row in chart.rows] == [
        ("Without the release", 0.6),
        ("With it: records not in the data", 0.65),
        ("With it: records in the data", 0.7),
    ]
    assert "is a pattern" in chart.sentence
    alone = guesses_chart(replace(figure, control=math.nan), RECORDS)
    assert len(alone.rows) == 2
    assert "pattern" not in alone.sentence


def test_the_strongest_attacker_is_counted(single):
    (found,) = single.releases
    gains = Histogram((-1.0, 0.0, 1.0, 2.0, 3.0), (400, 1000, 50, 23))
    strong = replace(found.strong, records=1473, certain=3, gains=gains)
    chart = strongest_chart(replace(found, strong=strong), RECORDS)
    assert [row[3] for row in chart.rows] == ["3 (0.2%)", "12.0%", "73 (5.0%)"]
    assert chart.rows[2][1] == "At least twice as probable"
    coarse = replace(strong, gains=Histogram((0.0, 40.0, 80.0), (1400, 73)))
    chart = strongest_chart(replace(found, strong=coarse), RECORDS)
    assert chart.rows[2][1] == "At least more than a million times as probable"
    members = replace(found, strong=None, numbers={"membership.share_above_90_percent": 0.164})
    assert [row[3] for row in strongest_chart(members, RECORDS).rows] == ["16.4%"]
    assert strongest_chart(replace(found, strong=None, numbers={}), RECORDS) is None


def test_rare_values_are_not_in_the_page_unless_asked_for(single):
    assert "rare illness" not in render_report(single, verdict=give_verdict(single))
    assert "rare illness" in render_report(single, show_records=True)


def test_absurd_bits_are_capped(single):
    (found,) = single.releases
    strong = replace(found.strong, max_gain_bits=69.7, gain_bits_99_percent=44.0)
    worst = (replace(found.worst[0], gain_bits=69.7),)
    page = Page(
        render_report(replace(single, releases=(replace(found, strong=strong, worst=worst),)))
    )
    assert not re.search(r"69\.7|44\.0", page.text)
    assert page.text.count("more than 20") == 3
