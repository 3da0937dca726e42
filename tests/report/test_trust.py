"""The verdicts on the measures are those of the worlds."""

from __future__ import annotations

import pytest

from understudy.audit.measures import MEASURES as DECLARED
from understudy.report.trust import SILENT, YES, trust_table, words_for
from understudy.worlds.measures import CLASSIFIERS, MEASURES
from understudy.worlds.table import run_worlds

TRUST = {(one.measure, one.about): words_for(one) for measure in DECLARED for one in measure.trust}


@pytest.mark.slow
def test_the_verdicts_are_those_of_a_new_run():
    # The classifiers are left out, since they take most of the time.
    found = run_worlds(releases=15, classifiers=False)
    new = {(measure.name, measure.about): tuple(found.words(measure)) for measure in found.verdicts}
    left_out = (CLASSIFIERS.name, CLASSIFIERS.about)
    assert new == {measure: words for measure, words in TRUST.items() if measure != left_out}


def test_every_measure_and_demand_is_there():
    assert list(TRUST) == [(measure.name, measure.about) for measure in MEASURES]


def test_measures_that_were_judged_alike_are_in_one_line():
    assert [line.measures for line in trust_table()] == [
        ("0CAP", "ICAP", "GCAP", "classifiers"),
        ("repU", "DiSCO (of one person)", "DiSCO gain"),
        ("DiSCO (of all people)",),
        ("Membership", "Strong attacker"),
    ]
    assert [line.words.count(YES) for line in trust_table()] == [1, 0, 1, 5]
    assert trust_table()[1].words.count(SILENT) == 2
