"""Control records that are none, and sentences that name what decided."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from understudy.audit import audit
from understudy.audit.attack_findings import DecidingLook, LookalikeFindings
from understudy.audit.findings import (
    Figure,
    Findings,
    Histogram,
    ReleaseFindings,
    StrongFindings,
)
from understudy.audit.verdict import give_verdict
from understudy.worlds.gallery import TABLES

KEYS = ["age", "sex", "region"]
OPTIONS = {"keys": KEYS, "sensitive": "ill", "measures": "quick", "random_state": 1}


def answers(findings):
    return give_verdict(findings).releases[0].answers


def test_records_of_the_original_are_no_control(people, unrelated):
    alone = audit(people, unrelated, **OPTIONS)
    beside = audit(people, unrelated, control=people.sample(100, seed=1), **OPTIONS)
    assert "are in the original too, more than chance explains" in beside.findings.notes[0]
    assert "so they were not used" in beside.findings.notes[0]
    assert beside.metrics() == pytest.approx(alone.metrics(), nan_ok=True)


def test_fresh_records_are(people, unrelated):
    rng = np.random.default_rng(3)
    fresh = people.select(pl.Series(one.name, rng.choice(one, 100)) for one in people)
    beside = audit(people, unrelated, control=fresh, **OPTIONS)
    assert not any("not used" in note for note in beside.findings.notes)
    assert "gcap.difference" in beside.metrics()


def findings(**of_release):
    release = ReleaseFindings("synthetic", "", 1, 1000, **of_release)
    return Findings(
        "1", "", 0, 0, "", "quick", 1000, 5, ("age",), None, "ill", "", (release,), unit="people"
    )


def test_the_sentence_names_the_control_records_if_they_decided():
    figure = Figure("lookalikes", "", "", baseline=0.11, synthetic=0.04, gain=-0.07, control=0.01)
    numbers = {"lookalikes.p_value": 1.0, "lookalikes.power": 0.02}
    found = findings(figures=(figure,), numbers={**numbers, "lookalikes.control_p_value": 1e-6})
    records = answers(found)["records"]
    assert records.level == "high"
    assert "4.0% of the people" in records.sentence
    assert "of those that are not in the data, 1.0%" in records.sentence
    assert "no surprise" not in records.sentence
    # Without them nothing was found.
    assert answers(findings(figures=(figure,), numbers=numbers))["records"].level == "low"


def test_the_sentence_gives_the_counts_of_the_look_that_decided():
    figure = Figure("lookalikes", "", "", baseline=0.5, synthetic=0.26, gain=-0.24, control=0.43)
    look, beside = DecidingLook(0.05, 50, 21, 4.25), DecidingLook(0.05, 50, 21, 2, 40)
    alike = LookalikeFindings(0.25, "whole", 1000, (), look=look, control_look=beside)
    numbers = {"lookalikes.power": 0.02, "lookalikes.control_p_value": 1e-6}

    def sentence(p_value, alike):
        numbers["lookalikes.p_value"] = p_value
        found = findings(figures=(figure,), numbers=numbers, lookalikes=alike)
        return answers(found)["records"].sentence

    among = "Of the 50 most isolated people, 21 have a lookalike in the release, a record much "
    among += "closer than any of the others is; "
    assert sentence(1e-6, alike) == f"{among}4.2 would be no surprise."
    assert sentence(1.0, alike) == (
        f"{among}of those that are not in the data, 2 of the 40 that are as isolated. That is more "
        "than chance explains."
    )
    every = replace(
        alike,
        look=DecidingLook(1.0, 1000, 260, 120),
        control_look=DecidingLook(1.0, 1000, 260, 10, 200),
    )
    assert sentence(1e-6, every).startswith("26.0% of the people have a lookalike")
    assert sentence(1e-6, every).endswith("12.0% would be no surprise.")
    assert "of those that are not in the data, 5.0%." in sentence(1.0, every)


def test_the_sentence_names_the_guesses_if_they_decided():
    nothing = Histogram((), (), ())
    strong = StrongFindings(
        "informed", "fixed", 1000, 0, 0.1, 0.0, 0.5, 0.55, 0.1, 0.4, 0.5, nothing
    )
    strongest = answers(findings(strong=strong))["strongest"]
    assert strongest.level == "raised"
    assert "guesses correctly for 55.0%; without the release, for 50.0%." in strongest.sentence
    less = replace(strong, accuracy_after=0.5)
    assert answers(findings(strong=less))["strongest"].level == "low"


def test_other_values_pass_nobody_and_hide_nothing():
    low = Figure("gcap", "GCAP", "", baseline=0.5, synthetic=0.5, gain=0.0)
    high = replace(low, synthetic=0.7, gain=0.2)
    unlike = {"gcap.known_values": 0.0}
    assert answers(findings(figures=(low,)))["ordinary"].level == "low"
    told = answers(findings(figures=(low,), numbers=unlike))["ordinary"]
    assert told.level == "not measured"
    assert "quite other shares" in told.sentence
    assert answers(findings(figures=(high,), numbers=unlike))["ordinary"].level == "raised"


def test_where_everybody_has_the_same_value_nothing_was_measured():
    same = Figure("gcap", "GCAP", "", baseline=1.0, synthetic=1.0, gain=0.0)
    told = answers(findings(figures=(same,)))["ordinary"]
    assert told.level == "not measured"
    assert told.sentence == "All people have the same value: there is nothing to guess."


def test_keys_and_value_of_thirty_people_among_made_up_records():
    """Averages over everybody lose them; single answers, which others do not get, do not."""
    (clinic,) = (table for table in TABLES if table.name == "clinic")
    setting = clinic.setting(0)
    told = [*setting.keys, setting.sensitive]
    group = (setting.original["sex"] == setting.original["sex"][0]).arg_true()[:30]
    people = setting.independent().with_columns(setting.original.select(told))[group]
    found = audit(
        setting.original, setting.among(people, setting.independent()), keys=setting.keys,
        sensitive=setting.sensitive, control=setting.control, measures="quick",
    )  # fmt: skip
    answer = found.verdict.releases[0].answers["ordinary"]
    assert answer.level == "raised"
    (clue,) = (clue for clue in answer.clues if clue.measure == "disco")
    assert "all synthetic records with their keys have the same value" in clue.sentence
    assert "For records that are not in the data it is" in clue.sentence
