"""All attacks side by side."""

from __future__ import annotations

import json
import logging
import math

import polars as pl
import pytest

from understudy import Independent, load
from understudy.errors import DataError, ParameterError
from understudy.risk import attackers, attribution, disclosure, overview

KEYS = ["age", "education", "children"]


@pytest.fixture(scope="module")
def survey():
    return load("cmc")


@pytest.fixture(scope="module")
def unrelated(survey):
    return Independent(random_state=1).fit(survey).sample()


def test_the_lines_are_those_of_the_measures(survey, unrelated):
    found = overview(survey, unrelated, keys=KEYS, sensitive="method", known=2, classifiers=None)
    lines = {line.measure: line for line in found.lines()}
    assert list(lines) == ["GCAP", "ICAP", "0CAP", "repU", "DiSCO"]
    for name, rule in (("GCAP", "nearest"), ("ICAP", "ignore"), ("0CAP", "zero")):
        alone = attribution(
            survey, unrelated, keys=KEYS, sensitive="method", known=2, unmatched=rule
        )
        line = lines[name]
        assert line.synthetic == alone.accuracy
        assert line.original == alone.original.accuracy
        assert line.baseline == alone.baseline
        if name != "ICAP":  # which counts only some of the women
            assert line.baseline == pytest.approx(629 / 1473)  # who use no contraception
        assert line.gain == pytest.approx(line.synthetic - line.baseline)
        assert math.isnan(line.control)
    assert lines["repU"].meaning == "unique in both tables, all 3 keys"
    told = disclosure(survey, unrelated, keys=KEYS, sensitive="method")
    assert (lines["repU"].synthetic, lines["repU"].original) == (told.repu, told.uio)
    assert (lines["DiSCO"].synthetic, lines["DiSCO"].original) == (told.disco, told.dorig)
    assert lines["DiSCO"].gain == told.disco_gain
    assert not found.reasons()


def test_a_copy_tells_as_much_as_the_original(survey):
    found = overview(survey, survey, keys=KEYS, sensitive="method", classifiers=None)
    for line in found.lines():
        assert line.synthetic == line.original
    assert found.attribution["nearest"].gain > 0.2


def test_unrelated_data_tell_nothing(survey, unrelated):
    found = overview(survey, unrelated, keys=KEYS, sensitive="method", classifiers=None)
    # Looking up strangers is no better than guessing: less than three standard errors of a share.
    assert found.attribution["nearest"].gain < 3 * math.sqrt(0.25 / 1473)
    assert found.disclosure.disco_gain < 3 * math.sqrt(0.25 / 1473)


def test_classifiers_and_control(survey, unrelated):
    part = survey[:300]
    found = overview(
        part, unrelated[:300], keys=KEYS, sensitive="method", classifiers="papers",
        control=survey[300:600],
    )  # fmt: skip
    lines = {line.measure: line for line in found.lines()}
    assert list(lines) == ["GCAP", "ICAP", "0CAP", "vote", "mean", "best", "repU", "DiSCO"]
    assert lines["vote"].synthetic == found.attackers.ensemble.accuracy
    alone = attackers(
        part, unrelated[:300], keys=KEYS, sensitive="method", preset="papers",
        control=survey[300:600],
    )  # fmt: skip
    assert found.attackers.to_dict() == alone.to_dict()
    assert lines["best"].synthetic == max(s.accuracy for s in found.attackers.models.values())
    for name in ("GCAP", "vote", "mean", "best", "DiSCO"):
        assert 0 <= lines[name].control <= 1


def test_all_results_can_be_written_as_json(survey, unrelated):
    found = overview(survey, unrelated, keys=KEYS, sensitive="method", classifiers=None)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["scenario"] == {"keys": KEYS, "sensitive": "method", "known": None}
    assert plain["attribution"]["nearest"]["accuracy"] == found.attribution["nearest"].accuracy
    assert plain["disclosure"]["repu"] == found.disclosure.repu
    assert plain["attackers"] is None


def test_undefined_results_have_reasons():
    original = pl.DataFrame({"k": ["a", "b"] * 3, "s": ["x", "y"] * 3})
    synthetic = pl.DataFrame({"k": ["c", "d"] * 3, "s": ["x", "y"] * 3})
    found = overview(original, synthetic, keys="k", sensitive="s", classifiers=None)
    assert math.isnan(found.attribution["ignore"].accuracy)
    assert any(name.startswith("ICAP, accuracy") for name in found.reasons())
    assert found.to_dict()["attribution"]["ignore"]["accuracy"] is None


def test_mistakes_are_told_before_any_work(survey):
    with pytest.raises(ParameterError, match=r"'agee'.*Did you mean 'age'"):
        overview(survey, survey, keys=["agee"], sensitive="method")
    with pytest.raises(DataError, match="The synthetic table has no rows"):
        overview(survey, survey[:0], keys=["age"], sensitive="method")


def test_a_key_that_matches_nobody_is_warned_of_once(survey, caplog):
    numbered = survey.with_row_index("id")
    with caplog.at_level(logging.WARNING, "understudy"):
        overview(numbered, numbered, keys=["id", "age"], sensitive="method", classifiers=None)
    assert caplog.text.count("The key 'id' has 1,473 different values") == 1
