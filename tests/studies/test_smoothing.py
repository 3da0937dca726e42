"""The study of smoothing: a table for each original, models with and without."""

from __future__ import annotations

import numpy as np
import pytest

from studies import smoothing as study
from understudy.errors import ParameterError

ONLY = ("greedy, 3 parents", "greedy, 3 parents, smoothed")


@pytest.fixture
def few(monkeypatch):
    """Let the study look at two models of a part of the bundled survey."""
    models = {name: make for name, make in study.MODELS.items() if name in ONLY}
    monkeypatch.setattr(study, "MODELS", models)
    (cmc,) = (table for table in study.TABLES if table.title == "cmc")
    return cmc


def test_smoothing_describes_fresh_people_and_hides_those_in_the_data(few):
    found = study.judge(few, 0)
    plain, smoothed = (found[name] for name in ONLY)
    assert smoothed["fresh people, nats"] > plain["fresh people, nats"] + 2
    assert plain["lookalikes"] > 2 * plain["expected"]
    assert smoothed["lookalikes"] < smoothed["expected"]
    assert (plain["certain"] > 100, smoothed["certain"]) == (True, 0)
    assert smoothed["sure members"] < 0.1 < plain["sure members"]
    assert set(found[study.FRESH]) < set(smoothed) == set(study.FIGURES)


def test_figures_are_means_over_splits_and_the_largest_gain_is_the_largest():
    figures = dict.fromkeys(study.FIGURES, 1.0)
    splits = [
        dict.fromkeys([study.FRESH, *study.MODELS], figures | {"pairs": pairs, gain: pairs})
        for gain in ["largest gain, bits"]
        for pairs in (0.1, 0.3)
    ]
    line = study._table_of(splits).splitlines()[-1].split(" | ")
    cells = dict(zip(["model", *study.FIGURES], line, strict=True))
    assert (cells["pairs"], cells["largest gain, bits"]) == ("0.2000", "0.3")


def test_an_undefined_figure_is_left_empty():
    splits = [{name: {"pairs": np.nan} for name in [study.FRESH, *study.MODELS]}]
    assert "nan" not in study._table_of(splits)


def test_names_of_tables_are_checked():
    with pytest.raises(ParameterError, match=r"tables must be names out of 'cmc', .*; got 'x'"):
        study.smoothing_markdown(1, tables=["x"])


def test_names_of_models_are_checked():
    with pytest.raises(ParameterError, match=r"models must be names out of .*'CART'.*; got 'x'"):
        study.smoothing_markdown(1, models=["x"])


def test_splits_that_were_kept_are_not_judged_again(few, tmp_path, monkeypatch):
    asked = {"tables": ["cmc"], "models": ONLY[:1], "keep": tmp_path / "splits.jsonl"}
    first = study.smoothing_markdown(1, **asked)
    judged = []

    def judge(table, split, models):
        judged.append((table.title, split, models))
        return {
            name: dict.fromkeys(study.FIGURES, float(split)) for name in (study.FRESH, *ONLY[:1])
        }

    monkeypatch.setattr(study, "judge", judge)
    assert study.smoothing_markdown(1, **asked) == first
    assert judged == []
    both = study.smoothing_markdown(2, **asked)
    assert judged == [("cmc", 1, ONLY[:1])]
    before, after = (float(text.splitlines()[-1].split(" | ")[3]) for text in (first, both))
    # The mean of what was kept and of 1.
    assert after == pytest.approx((before + 1) / 2, abs=2e-4)
