"""Impossible combinations: by hand, in trivial worlds, and what fresh records show."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from understudy.utility import impossible_combinations


def pregnancies(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], rows)
    pregnant = np.where((sex == "f") & (rng.random(rows) < 0.3), "yes", "no")
    return pl.DataFrame({"sex": sex, "pregnant": pregnant, "age": rng.integers(15, 90, rows)})


def test_by_hand(as_frame):
    # No man is pregnant: of 100 records 50 men and 25 pregnancies, 12.5 would be if unrelated.
    original = {"sex": ["f", "f", "m", "m"] * 25, "pregnant": ["yes", "no", "no", "no"] * 25}
    synthetic = {"sex": ["f", "f", "m", "m"] * 25, "pregnant": ["no", "no", "yes", "no"] * 25}
    found = impossible_combinations(as_frame(original), as_frame(synthetic))
    assert (found.share, found.expected, found.combinations) == (0.25, 0, 1)
    (named,) = found.named
    assert (named.columns, named.values) == (("sex", "pregnant"), ("m", "yes"))
    assert (named.expected, named.synthetic_records) == (12.5, 25)
    assert "No original record has 'sex' 'm' and 'pregnant' 'yes'; 25 synthetic" in str(found)
    assert found.to_frame(backend="polars")["share"].to_list() == [0.25]


def test_a_copy_has_none_and_a_fresh_sample_has_as_many_as_expected():
    table = pregnancies(1_000, 1)
    assert impossible_combinations(table, table).share == 0
    fresh = impossible_combinations(table, pregnancies(1_000, 2), control=pregnancies(500, 3))
    assert fresh.combinations == 0
    assert fresh.share == pytest.approx(fresh.expected, abs=0.02)
    assert fresh.control == pytest.approx(fresh.expected, abs=0.02)


def test_a_start_after_the_end_is_found_between_groups_of_numbers():
    rng = np.random.default_rng(1)
    start = rng.uniform(0, 100, 800)
    original = pl.DataFrame({"start": start, "end": start + rng.uniform(0, 100, 800)})
    release = original.with_columns(pl.col("end").shuffle(seed=1))
    found = impossible_combinations(original, release)
    assert found.combinations > 3
    assert found.low > 0.05


def test_a_single_synthetic_record_is_no_proof():
    table = pregnancies(400, 1)
    odd = pl.DataFrame({"sex": ["m"], "pregnant": ["yes"], "age": [30]}, schema=table.schema)
    found = impossible_combinations(table, pl.concat([table, odd]))
    assert found.combinations == 0
    assert found.share == pytest.approx(1 / 401)


def test_what_control_records_have_is_possible():
    table = pregnancies(400, 1)
    odd = pl.DataFrame(
        {"sex": ["m"] * 40, "pregnant": ["yes"] * 40, "age": [30] * 40}, schema=table.schema
    )
    release = pl.concat([table, odd])
    assert impossible_combinations(table, release).combinations > 0
    named = impossible_combinations(table, release, control=pl.concat([table, odd.head(1)])).named
    assert all(one.columns != ("sex", "pregnant") for one in named)


def test_nothing_to_look_at():
    table = pl.DataFrame({"x": ["a", "b"] * 20})
    found = impossible_combinations(table, table)
    assert math.isnan(found.share)
    assert "Nothing could be looked at" in str(found)


def test_limits_in_labels_come_from_the_release():
    rng = np.random.default_rng(1)
    start = rng.uniform(0, 100, 500).round(3)
    original = pl.DataFrame({"start": start, "end": start + 1})
    release = pl.DataFrame({"start": np.arange(500.0) % 97, "end": np.arange(500.0) % 89})
    shown = " ".join(
        " ".join(one.values) for one in impossible_combinations(original, release).named
    )
    assert shown
    assert not any(f"{value}" in shown.split() for value in original["start"])
