"""Columns of a release under other names than the original's."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from understudy.data.matched_names import match_names


def people(seed, rows=300):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "town": rng.choice(["Graz", "Wien", "Linz"], rows, p=[0.6, 0.3, 0.1]),
            "pay": rng.normal(2000, 300, rows).round(2),
        }
    )


ORIGINAL, FRESH = people(1), people(2)


def test_columns_under_other_names():
    found, notes = match_names(ORIGINAL, FRESH.rename({"age": "alter", "town": "ort"}), "release")
    assert found.select("age", "town", "pay").equals(FRESH.select("age", "town", "pay"))
    assert notes == ("'age' and 'town' are compared with 'alter' and 'ort' of the release.",)


@pytest.mark.parametrize("mark", ["|", ";", ", ", " "])
def test_columns_that_are_joined(mark):
    joined = FRESH.select("pay", pl.concat_str(["age", "town"], separator=mark).alias("both"))
    found, notes = match_names(ORIGINAL, joined, "release")
    assert found["age"].to_list() == FRESH["age"].to_list()
    assert notes == ("'age' and 'town' are compared with 'both' of the release.",)


def test_parts_that_are_empty_are_missing():
    own, other = (
        frame.with_columns(town=pl.when(pl.col("age") > 50).then("town"))
        for frame in (ORIGINAL, FRESH)
    )
    both = pl.concat_str(["age", pl.col("town").fill_null("")], separator="|").alias("both")
    found, _ = match_names(own, other.select("pay", both), "release")
    assert found["town"].to_list() == other["town"].to_list()


def test_numbers_as_text_are_read():
    found, _ = match_names(ORIGINAL, FRESH.select(pl.col("age").cast(pl.String).alias("x")), "r")
    assert found["age"].to_list() == FRESH["age"].to_list()


def test_what_is_alike_in_nothing_stays_apart():
    rng = np.random.default_rng(3)
    other = FRESH.drop("age").with_columns(pl.Series("code", rng.integers(500, 900, 300)))
    assert match_names(ORIGINAL, other, "release") == (other, ())
    # A column is taken for one of the original's at most.
    twice = FRESH.drop("age", "pay").with_columns(FRESH["age"].alias("x"), FRESH["age"].alias("y"))
    found, _ = match_names(ORIGINAL, twice, "release")
    assert found.columns == ["town", "x", "y", "age"]


@pytest.mark.parametrize("release", [FRESH, FRESH.drop("age"), FRESH.with_columns(x=1)])
def test_a_release_with_nothing_to_match_is_the_same_object(release):
    assert match_names(ORIGINAL, release, "release")[0] is release
