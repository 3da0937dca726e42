"""The releases side by side, in a table."""

from __future__ import annotations

import math
from dataclasses import replace

from understudy.audit.findings import Figure
from understudy.report.side_by_side import side_by_side
from understudy.wording import UNDEFINED


def column(found, title):
    place = [heading.title for heading in found.columns].index(title)
    return [found.without[place], *(row[place] for row in found.rows), found.original[place]]


def test_each_release_stands_between_no_release_and_the_original(rich):
    found = side_by_side(rich)
    assert column(found, "GCAP") == ["61.0", "65.3", "61.4", "77.8"]
    # The mean of classifiers gains 0.8 of 4.3 and 0.4 points.
    assert column(found, "Mean") == ["61.0", "64.4", "61.3", "70.0"]
    # 54% with real records, and 0.8 and 1.3 points less with the releases.
    assert column(found, "Predicted, %") == ["42.7", "53.2", "52.7", "54.0"]
    assert column(found, "Certain") == ["", "3", "0", ""]
    assert column(found, "DiSCO") == ["", "+2.0", "+2.0", ""]
    assert column(found, "repU") == ["", "3.1", "3.1", "21.0"]
    assert column(found, "Pairs") == ["", "1.3", "1.3", ""]


def test_groups_span_their_columns(rich):
    found = side_by_side(rich)
    assert found.groups == (
        ("Guessed correctly, %", 3),
        ("Strong attacker", 2),
        ("Counted, %", 2),
        ("Use", 2),
    )
    assert len(found.columns) == len(found.rows[0]) == len(found.without) == 9
    assert all(heading.about for heading in found.columns)


def test_the_papers_classifiers_have_a_column_of_their_own(rich):
    papers = Figure("papers_mean_attacker", "", "", 0.61, 0.65, 0.7)
    releases = (
        replace(rich.releases[0], figures=(*rich.releases[0].figures, papers)),
        rich.releases[1],
    )
    found = side_by_side(replace(rich, releases=releases))
    assert column(found, "Mean, papers") == ["61.0", "65.0", UNDEFINED, "70.0"]


def test_what_nobody_measured_is_left_out(rich):
    without = replace(rich.releases[0], strong=None, disclosure=None)
    one = side_by_side(replace(rich, releases=(without, rich.releases[1])))
    assert column(one, "Certain") == ["", UNDEFINED, "0", ""]
    none = side_by_side(replace(rich, releases=(without, without)))
    assert not {"Certain", "Bits", "repU", "DiSCO"} & {heading.title for heading in none.columns}


def test_references_that_differ_are_shown_from_the_least_to_the_most(rich):
    def with_baseline(release, baseline):
        return replace(release, figures=(replace(release.figures[0], baseline=baseline),))

    first, second = rich.releases
    releases = (with_baseline(first, 0.6), with_baseline(second, 0.63))
    assert side_by_side(replace(rich, releases=releases)).without[0] == "60.0 to 63.0"
    releases = (with_baseline(first, math.nan), with_baseline(second, math.nan))
    assert side_by_side(replace(rich, releases=releases)).without[0] == UNDEFINED
