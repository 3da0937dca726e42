"""The figures of an attack by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from understudy.errors import ParameterError
from understudy.risk.strong.result import StrongAttack, named


def attack(prior, posterior, **more):
    rows = len(prior)
    return StrongAttack(
        ("method",),
        "fixed",
        "uniform",
        np.arange(rows) * 10,
        np.array(prior, float),
        np.array(posterior, float),
        tuple("abcdefgh"[:rows]),
        np.arange(rows) % 2 == 0,
        np.arange(rows) < 3,
        np.full(rows, 4),
        **more,
    )


FOUR = attack([0.25, 0.5, 0.25, 0.5], [1.0, 0.25, 0.5, 0.5])


def test_gains_and_shares():
    assert FOUR.gain_bits.tolist() == [2, -1, 1, 0]
    assert FOUR.mean_gain == 0.5
    assert FOUR.max_gain == 2
    assert FOUR.certain == 1
    assert FOUR.certain_share == 0.25
    assert FOUR.share_above(0.5) == 0.25
    assert FOUR.share_above(0.25) == 0.75
    assert FOUR.accuracy_before == 0.5
    assert FOUR.accuracy_after == 0.75
    assert len(FOUR) == 4


def test_certain_is_close_to_one_and_was_not_before():
    found = attack([0.5, 0.5, 1.0, 0.5], [1 - 1e-13, 1 - 1e-11, 1.0, 1.0])
    assert found.certain == 2


def test_quantiles_are_gains_of_records():
    assert FOUR.quantile_gain(0) == -1
    assert FOUR.quantile_gain(0.5) == 1
    assert FOUR.quantile_gain(0.34) == 1
    assert FOUR.quantile_gain() == 2
    never = attack([0.5, 0.5], [0.0, 0.5])
    assert never.quantile_gain(0) == -math.inf
    assert never.quantile_gain(0.5) == 0
    assert never.mean_gain == -math.inf


@pytest.mark.parametrize("wrong", [-0.1, 1.1, "half", None])
def test_shares_lie_between_0_and_1(wrong):
    with pytest.raises(ParameterError, match="share must lie between 0 and 1; got"):
        FOUR.quantile_gain(wrong)
    with pytest.raises(ParameterError, match="threshold must lie between 0 and 1; got"):
        FOUR.share_above(wrong)


def test_frame():
    frame = FOUR.to_frame()
    assert frame.columns == [
        "record",
        "prior",
        "posterior",
        "gain_bits",
        "guess",
        "right_before",
        "right_after",
    ]
    assert frame.row(1) == (10, 0.5, 0.25, -1.0, "b", False, True)
    assert frame.schema["guess"] == pl.String
    assert FOUR.per_record().equals(frame)
    ranked = attack([0.5], [0.5], more={"rank": np.array([3.0])})
    assert ranked.to_frame().columns[-1] == "rank"


def test_worst_first():
    assert FOUR.to_frame(worst_first=True)["record"].to_list() == [0, 20, 30, 10]
    assert FOUR.worst(2)["record"].to_list() == [0, 20]
    assert FOUR.worst(0).height == 0
    assert FOUR.worst(99).height == 4
    # Of equal gains the larger posterior comes first, then the first record; undefined ones last.
    tied = attack([0.25, 0.5, 0.25, 0.5], [0.5, 1.0, 0.5, math.nan])
    assert tied.worst()["record"].to_list() == [10, 0, 20, 30]
    for wrong in (-1, 1.5, True):
        with pytest.raises(ParameterError, match="count must be a whole number from 0"):
            FOUR.worst(wrong)


def test_dictionary_is_plain():
    plain = FOUR.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["records"] == 4
    assert plain["certain"] == 1
    assert plain["share_above_half"] == 0.25
    assert plain["share_above_90_percent"] == 0.25
    assert plain["mean_gain_bits"] == 0.5
    assert plain["gain_bits_99_percent"] == plain["max_gain_bits"] == 2
    undefined = attack([0.5], [math.nan], reasons={"posterior": "why"}, notes=("note",)).to_dict()
    assert undefined["mean_gain_bits"] is None
    assert undefined["max_gain_bits"] is None
    assert undefined["reasons"] == {"posterior": "why"}
    assert undefined["notes"] == ["note"]


def test_sentences():
    informed = replace(FOUR, prior_name="informed")
    text = str(informed)
    assert text == informed.summary()
    assert "guesses 'method' correctly for 50.0%" in text
    assert "of 4 records without the release, and for 75.0%" in text
    assert "1 is certain" in text
    assert "0.500 bits" in text
    assert "2.00 at most" in text


@pytest.mark.parametrize("prior", ["uniform", "marginal", "given"])
def test_guesses_are_compared_with_the_informed_prior_alone(prior):
    found = replace(FOUR, prior_name=prior)
    assert not found.comparable
    text = found.summary()
    assert "guesses" not in text
    assert "%" not in text
    assert "1 is certain" in text
    assert "0.500 bits" in text
    (line,) = found.lines()
    assert (line.measure, line.synthetic) == ("Certain", 0.25)
    assert math.isnan(line.baseline)
    (line,) = replace(FOUR, prior_name="informed").lines()
    assert (line.baseline, line.synthetic) == (0.5, 0.75)


def both(refitted):
    """Two people are certain by new fits, and one of them was so before."""
    fixed = attack([0.25, 0.5, 0.25, 0.5], [1.0, 0.25, 0.5, 0.5])
    more = {"fixed_posterior": fixed.posterior, "refitted": np.array(refitted)}
    posterior = np.where(refitted, [1.0, 1.0, 0.4, 0.9], fixed.posterior)
    found = attack([0.25, 0.5, 0.25, 0.5], posterior, more=more, fixed=fixed)
    return replace(found, mode="auto", prior_name="informed")


def test_both_figures_of_the_mode_auto():
    found = both([True, True, False, False])
    assert (found.certain, found.fixed.certain, found.refitted) == (2, 1, 2)
    text = found.summary()
    assert "For the 2 most exposed, the model was fitted anew for each candidate" in text
    assert "2 of them are certain, and 1 with the structure of the model as published" in text
    assert "The others were attacked with that structure alone, which can understate" in text
    plain = found.to_dict()
    assert (plain["certain"], plain["refitted"], plain["fixed"]["certain"]) == (2, 2, 1)
    assert plain["fixed"]["max_gain_bits"] == 2
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    frame = found.to_frame()
    assert frame["fixed_posterior"].to_list() == [1.0, 0.25, 0.5, 0.5]
    assert frame["posterior"].to_list() == [1.0, 1.0, 0.5, 0.5]
    assert frame["refitted"].to_list() == [True, True, False, False]


def test_the_mode_auto_with_new_fits_for_everybody():
    text = both([True] * 4).summary()
    assert "For everybody, the model was fitted anew" in text
    assert "understate" not in text


def test_other_modes_say_nothing_of_new_fits():
    assert (FOUR.refitted, FOUR.to_dict()["fixed"]) == (0, None)
    assert replace(FOUR, mode="refit").refitted == 4
    assert replace(FOUR, mode="black box").to_dict()["refitted"] is None
    assert "fitted anew" not in FOUR.summary()


def test_names_in_a_sentence():
    assert named(("a", "b", "c")) == "'a', 'b' and 'c'"
    assert named(("a", "b", "c"), most=2) == "all 3 unknown attributes"


def test_without_values_nothing_tells_which_value_a_record_has():
    found = attack([0.25], [0.5])
    kept = found.to_frame(values=False).columns
    assert "guess" not in kept
    assert "right_before" not in kept
    # A uniform prior is the same for all values; the share of a value is not.
    assert ("prior" in kept) == (found.prior_name == "uniform")
    shares = replace(found, prior_name="marginal").to_frame(values=False)
    assert shares.columns == ["record", "posterior", "right_after"]


@pytest.mark.parametrize(
    ("kind", "frame"), [("polars", pl.DataFrame), ("pandas", pd.DataFrame), ("pyarrow", pa.Table)]
)
def test_frames_are_of_the_kind_that_went_in_or_is_asked_for(kind, frame):
    found = replace(FOUR, _backend=kind)
    for table in (found.to_frame(), found.per_record(), found.worst(2)):
        assert isinstance(table, frame)
    for table in (
        FOUR.to_frame(backend=kind),
        FOUR.per_record(backend=kind),
        FOUR.worst(2, backend=kind),
    ):
        assert isinstance(table, frame)
    assert found.worst(2, backend="polars")["record"].to_list() == [0, 20]


def test_a_notebook_shows_the_line_and_the_worst_records_but_no_values():
    found = attack([0.25, 0.5], [0.5, 1.0])
    shown = replace(found, unknown=("<b>",), guess=("zorilla", "okapi"))._repr_html_()
    assert "<svg" in shown
    assert "<th>record</th><th>prior</th><th>posterior</th><th>gain_bits</th>" in shown
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown
    for value in ("zorilla", "okapi", "right_before", "guess<"):
        assert value not in shown
    # A share often says which value it is.
    shares = replace(found, prior_name="marginal")._repr_html_()
    assert "<th>record</th><th>posterior</th><th>right_after</th>" in shares
    assert "<table>" in attack([], [])._repr_html_()


def test_no_records():
    none = attack([], [])
    assert math.isnan(none.mean_gain)
    assert math.isnan(none.max_gain)
    assert math.isnan(none.certain_share)
    assert none.to_dict()["accuracy_after"] is None
