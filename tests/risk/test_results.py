"""Results of all measures: frames of the kind that went in, and what a notebook shows."""

from __future__ import annotations

from dataclasses import asdict

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.dummy import DummyClassifier

from understudy.data import load
from understudy.results import Line, Result
from understudy.risk import (
    anonymity,
    attackers,
    attribution,
    disclosure,
    overview,
    sweep,
)

SURVEY = load("cmc")[:60]
KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}
SCENARIO = {"keys": ["age", "education"], "sensitive": "method"}


def results_of(original, synthetic):
    """Return a result of each kind."""
    both = original, synthetic
    several = disclosure(original, [synthetic, original], **SCENARIO)
    return {
        "attribution": attribution(*both, **SCENARIO, known=1, control=original),
        "attackers": attackers(*both, **SCENARIO, models={"constant": DummyClassifier()}),
        "disclosure": several[0],
        "disclosures": several,
        "exclusions": several[0].exclusions,
        "sweep": sweep(*both, **SCENARIO),
        "anonymity": anonymity(original, **SCENARIO),
        "overview": overview(*both, **SCENARIO, classifiers=None),
    }


def frames_of(result, **options):
    """Return all frames that a result can give."""
    yield result.to_frame(**options)
    if hasattr(result, "per_record"):
        yield result.per_record(**options)
    if hasattr(result, "worst"):
        yield from (result.worst(measure, **options) for measure in "klt")


@pytest.mark.parametrize("kind", KINDS)
def test_frames_are_of_the_kind_that_went_in(kind):
    frame = {"polars": SURVEY, "pandas": SURVEY.to_pandas(), "pyarrow": SURVEY.to_arrow()}[kind]
    # The kind is that of the original: a release may come from elsewhere.
    for name, result in results_of(frame, SURVEY).items():
        assert isinstance(result, Result), name
        for found in frames_of(result):
            assert isinstance(found, KINDS[kind]), name


@pytest.mark.parametrize("kind", KINDS)
def test_frames_are_of_the_kind_that_is_asked_for(kind):
    for name, result in results_of(SURVEY.to_pandas(), SURVEY).items():
        asked, given = (list(frames_of(result, backend=backend)) for backend in (kind, "polars"))
        for found, expected in zip(asked, given, strict=True):
            assert isinstance(found, KINDS[kind]), name
            assert len(found) == len(expected), name


def test_the_scores_of_one_set_of_keys_are_of_that_kind_too():
    found = attribution(SURVEY.to_pandas(), SURVEY, **SCENARIO, known=1)
    assert isinstance(found.per_record("age"), pd.DataFrame)
    assert found.per_record("age")["guess"].tolist() == (
        found.per_record("age", backend="polars")["guess"].to_list()
    )


def test_a_notebook_shows_the_number_line_and_the_table():
    for name, result in results_of(SURVEY, SURVEY).items():
        shown = result._repr_html_()
        assert "<table>" in shown, name
        assert str(result).split("\n")[0].split("'")[0] in shown, name
        # These are no shares of people beside what is reached without the release.
        assert ("<svg" in shown) == (name not in {"exclusions", "sweep", "anonymity"}), name


def test_the_number_line_has_every_reference():
    found = attribution(SURVEY, SURVEY, **SCENARIO, control=SURVEY)
    values = {
        "baseline": found.baseline.zero_rule,
        "synthetic": found.accuracy,
        "original": found.original.accuracy,
        "control": found.control.accuracy,
        "gain": found.gain,
    }
    assert found.lines() == [Line("GCAP", "nearest records", **values)]
    names = [line.measure for line in overview(SURVEY, SURVEY, **SCENARIO).lines()]
    assert names == ["GCAP", "ICAP", "0CAP", "vote", "mean", "best", "repU", "DiSCO"]
    means = disclosure(SURVEY, [SURVEY, SURVEY[:30]], **SCENARIO, control=SURVEY)
    values = {"synthetic": means.mean("repu"), "original": means.mean("uio")}
    repu, disco = means.lines()
    expected = asdict(Line("repU", "unique in both tables", **values))
    assert asdict(repu) == pytest.approx(expected, nan_ok=True)
    assert asdict(disco) == {
        "measure": "DiSCO",
        "meaning": "a single, correct value",
        "baseline": means.mean("disco_baseline"),
        "synthetic": means.mean("disco"),
        "original": means.mean("dorig"),
        "control": (means[0].control.disco + means[1].control.disco) / 2,
        "gain": means.mean("disco_gain"),
    }
