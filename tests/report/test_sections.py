"""What is shown of each release, and side by side."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from understudy.audit.findings import Figure
from understudy.audit.measures import figure_kinds
from understudy.audit.verdict import give_verdict
from understudy.report.sections import comparison, explanations, in_units, sections


def test_parts_are_those_that_were_found(rich, minimal):
    assert list(sections(rich, None)[0].parts) == [
        "records",
        "gain",
        "people",
        "strong",
        "disclosure",
        "anonymity",
        "raw-numbers",
        "association",
        "columns",
        "propensity",
        "prediction",
        "network",
        "notes",
        "errors",
    ]
    assert "errors" not in sections(rich, None)[1].parts
    assert sections(minimal, None)[0].parts == {}


def test_each_release_has_its_own_verdict_and_keys(rich):
    verdict = give_verdict(rich)
    found = sections(rich, verdict)
    assert [section.verdict for section in found] == list(verdict.releases)
    keys = [chart.key for section in found for chart in section.all_charts()]
    assert len(set(keys)) == len(keys)


def test_columns_that_differ_most_come_first(single):
    gaps = [float(chart.sentence.split("%")[0]) for chart in sections(single, None)[0].columns]
    assert gaps == sorted(gaps, reverse=True)


def test_one_release_is_not_compared(single):
    assert comparison(single) == ()


def test_only_measures_that_were_run_are_explained(rich, minimal):
    assert explanations(minimal) == ()
    assert len(explanations(rich)) == 13
    only = replace(minimal.releases[0], anonymity=rich.releases[0].anonymity)
    assert [text.title for text in explanations(replace(minimal, releases=(only,)))] == [
        "k, l and t"
    ]


@pytest.mark.parametrize("measure", [kind.name for kind in figure_kinds()])
def test_every_figure_of_an_audit_is_explained(minimal, measure):
    only = replace(minimal.releases[0], figures=(Figure(measure, "", ""),))
    assert len(explanations(replace(minimal, releases=(only,)))) == 1


def test_texts_speak_of_what_a_record_is_about(rich):
    flights = in_units(replace(rich, unit="flights"))
    texts = [
        text
        for release in flights.releases
        for figure in release.figures
        for text in (figure.meaning, figure.note)
    ]
    texts += [text.text for text in explanations(flights)]
    texts += [
        text
        for section in sections(flights, None)
        for chart in section.charts.values()
        for text in (chart.title, chart.sentence, chart.alt)
    ]
    assert any("flights" in text for text in texts)
    assert [text for text in texts if re.search(r"\b([Pp]eople|person)\b", text)] == []
    people = replace(rich, unit="people")
    assert in_units(people) == people
