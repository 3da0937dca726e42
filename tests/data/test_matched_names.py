"""Columns of a release under other names than the original's."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from understudy.data.matched_names import match_names, other_reading


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


MADE_UP = ORIGINAL.select(pl.all().shuffle(7))


@pytest.mark.parametrize("named", ["{}_true", "True {}", "v_of_{}"])
def test_columns_that_are_there_once_more(named):
    release = MADE_UP.hstack(FRESH.rename(named.format))
    assert other_reading(ORIGINAL, release).equals(FRESH)


def test_columns_that_are_there_once_more_under_names_that_say_nothing():
    names = {"age": "x", "town": "y", "pay": "z"}
    release = MADE_UP.hstack(FRESH.rename(names))
    assert other_reading(ORIGINAL, release).equals(FRESH)
    joined = MADE_UP.with_columns(
        all=FRESH.select(pl.concat_str(pl.all(), separator="|")).to_series()
    )
    assert other_reading(ORIGINAL, joined).equals(FRESH)


def test_names_come_before_values_that_are_alike():
    # Both columns hold the same values with the same shares: only the names tell which is which.
    own = pl.DataFrame({"one": [1, 2] * 50, "two": [2, 1] * 50})
    true = own.rename({"one": "two_true", "two": "one_true"})
    release = own.select(pl.all().shuffle(1)).hstack(true)
    assert other_reading(own, release).equals(own.select(one="two", two="one"))


@pytest.mark.parametrize(
    "release",
    [
        FRESH,
        FRESH.hstack(FRESH.rename("{}_2".format)),
        FRESH.with_columns(age_2=ORIGINAL["age"]),
        FRESH.with_columns(noise=pl.lit("a"), more=pl.lit("b")),
    ],
)
def test_nothing_else_to_read(release):
    # Without other columns; the same ones twice; one alone; and such as are like none.
    assert other_reading(ORIGINAL, release) is None
