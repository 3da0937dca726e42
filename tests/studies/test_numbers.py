"""The study of numbers: correlations of releases beside those of the original."""

import numpy as np
import polars as pl
import pytest

from studies import numbers as study
from understudy.data import Schema
from understudy.errors import DataError, ParameterError
from understudy.synthesis import BayesNet


def table(records=600):
    rng = np.random.default_rng(1)
    x = rng.normal(size=records)
    return pl.DataFrame(
        {
            "x": x,
            "twice": 2 * x + rng.normal(0, 0.5, records),
            "other": rng.normal(size=records),
            "sex": rng.choice(["f", "m"], records),
        }
    )


def test_correlations_by_hand():
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0] * 10, "b": [1.0, 8.0, 27.0, 64.0] * 10})
    found = study.Correlations.of(frame, Schema.infer(frame))
    assert found.ranks["a", "b"] == pytest.approx(1)
    x, y = frame["a"].to_numpy(), frame["b"].to_numpy()
    assert found.pearson["a", "b"] == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert found.strong() == {("a", "b")}


def test_gaps_special_values_and_constants_do_not_count():
    frame = table().with_columns(
        pl.when(pl.int_range(pl.len()) < 50).then(-8).otherwise(pl.col("x") + 10).alias("x"),
        pl.when(pl.int_range(pl.len()) < 500).then(None).otherwise("twice").alias("twice"),
        constant=pl.lit(3),
    )
    schema = Schema.infer(frame).edit("x", special=(-8,))
    found = study.Correlations.of(frame, schema)
    known = frame[500:]
    expected = np.corrcoef(known["x"], known["twice"])[0, 1]
    assert found.pearson["x", "twice"] == pytest.approx(expected)
    assert not any("constant" in pair for pair in found.pearson)


def test_losses_of_a_copy_and_of_unrelated_columns():
    frame = table()
    schema = Schema.infer(frame)
    before = study.Correlations.of(frame, schema)
    assert set(before.losses(before).values()) == {0}
    shuffled = frame.with_columns(pl.col("x").shuffle(seed=1))
    lost = before.losses(study.Correlations.of(shuffled, schema))
    assert lost["Pearson, largest loss"] > 0.8
    constant = frame.with_columns(x=pl.lit(1.0))
    assert before.losses(study.Correlations.of(constant, schema))["ranks, mean loss"] > 0.9


def test_a_table_for_each_original_and_a_reason_for_others(monkeypatch):
    def absent():
        raise DataError("There is no such file. Fetch it.")

    models = {
        study.BEFORE: lambda seed: BayesNet(decode="interpolate", random_state=seed),
        "now": lambda seed: BayesNet(random_state=seed),
    }
    monkeypatch.setattr(study, "MODELS", models)
    monkeypatch.setattr(study, "TABLES", {"small": table, "absent": absent})
    found = study.numbers_markdown(rows=300, releases=1)
    assert "**small**, 300 records, 1 pair of numbers" in found
    assert "**absent** is left out. There is no such file." in found
    assert found.count("| now |") == 1
    assert f"| {study.AGAIN} |" in found
    assert study.BEFORE not in study.numbers_markdown(["small"], ["now"], rows=300, releases=1)


def test_an_unknown_table_is_refused():
    with pytest.raises(ParameterError, match="tables must be names out of 'flights'"):
        study.numbers_markdown(["fights"])
    with pytest.raises(ParameterError, match="models must be names out of"):
        study.numbers_markdown(["flights"], ["trees"])
