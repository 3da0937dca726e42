"""The verdicts on the measures are those of the worlds."""

from __future__ import annotations

import pytest

from understudy.audit.measures import MEASURES as DECLARED
from understudy.report.trust import SILENT, YES, trust_table, words_for
from understudy.worlds.measures import CLASSIFIERS, MEASURES
from understudy.worlds.table import run_worlds

TRUSTED = [one for measure in DECLARED for one in measure.trust]
TRUST = {(one.measure, one.about): words_for(one) for one in TRUSTED}


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
    table = {line.words: line.measures for line in trust_table()}
    assert len(table) == len(trust_table())
    named = {name.split(" (")[0].lower() for line in trust_table() for name in line.measures}
    assert {one.measure.lower() for one in TRUSTED} == named
    # Those that see nothing but a rise by chance are in one line, and so are those that meet all.
    (all_met,) = (line for line in trust_table() if line.words.count(YES) == 5)
    assert all_met.measures == ("Membership", "Strong attacker")
    (silent,) = (line for line in trust_table() if SILENT in line.words)
    assert silent.measures == ("repU", "DiSCO (of one person)", "DiSCO gain")
    assert silent.words.count(SILENT) == 2
    assert {"0CAP", "ICAP", "GCAP", "Classifiers"} <= set(trust_table()[0].measures)
