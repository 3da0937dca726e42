"""Rare values beside what else is true of their owners: by hand, and in trivial worlds."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.joint_coding import encode
from understudy.risk import own_values
from understudy.risk.kept_companions import Rare, kept_companions
from understudy.risk.lookalikes.looks import tail

PEOPLE = 400


def people(seed, rows=PEOPLE):
    """Return people with a date, what follows from it, and what does not."""
    rng = np.random.default_rng(seed)
    days = rng.integers(0, 3000, rows)
    return pl.DataFrame(
        {
            "day": [dt.date(2012, 1, 1) + dt.timedelta(int(day)) for day in days],
            "minute": pl.Series(rng.integers(0, 10**8, rows)).cast(pl.Datetime("ms")),
            "height": rng.normal(170, 8, rows).round(2),
            "ward": rng.choice(list("abcdefgh"), rows),
            "sex": rng.choice(["f", "m"], rows),
        }
    )


def with_what_follows(frame):
    return frame.with_columns(
        inches=(pl.col("height") / 2.54).round(2),
        weekday=pl.col("day").dt.weekday().cast(pl.String),
        hour=pl.col("minute").dt.hour(),
        tall=pl.col("height") > 178,
    )


def drawn_again(frame, seed):
    """Return a table each column of which was drawn by itself, with replacement."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame([one[rng.integers(len(one), size=len(one))] for one in frame])


def kept(original, release):
    tables, rng = (encode(original), encode(release)), np.random.default_rng(0)
    return {one.column: one for one in kept_companions(*tables, original.columns, rng)}


def marks(original, release):
    return {mark.column: mark for mark in own_values(original, release, columns=[]).marks}


def test_columns_that_were_kept_together():
    original = people(1)
    loose = drawn_again(original, 2)
    release = loose.with_columns(original.select("day", "ward")).sample(
        PEOPLE, shuffle=True, seed=3
    )
    found = marks(original, release)["day"]
    assert found.beside == "ward"
    assert found.aligned_p_value < 1e-9
    assert found.kept == found.people
    result = own_values(original, release, columns=[])
    assert "In 'ward', the records with these values are more alike than others" in str(result)
    # Some of the people are enough, and others may have the date as well.
    some = pl.concat([release[:120], loose[120:]]).sample(PEOPLE, shuffle=True, seed=4)
    assert marks(original, some)["day"].aligned_p_value < 0.01
    # Whoever is said to be in the ward had better be the person with the date.
    assert own_values(original, loose, columns=[]).p_value == 1


def test_the_chance_by_hand():
    original = pl.DataFrame(
        {
            # Twenty-five dates of one person each, and five of two.
            "day": [*range(25), *np.repeat(range(100, 105), 2)],
            "ward": ["a", "b", "c", "d", "e"] * 5 + ["a", "b"] * 4 + ["c", "c"],
        }
    )
    # All single dates come back with the ward, but for five of them.
    release = original.with_columns(
        ward=pl.when(pl.col("day") < 5).then(pl.lit("z")).otherwise("ward")
    )
    found = kept(original, release)["day"]
    assert (found.people, len(found.owners)) == (25, 25)
    assert [pair.rows for pair in found.pairs] == [25, 25]
    owners, records = (pair.select(["day"]).values.tolist() for pair in found.pairs)
    assert owners == records
    # 28 pairs of a date and a ward are one person's and released (20 of the single dates, and all
    # 8 of the dates of two in different wards); 2 people share both.
    shared = float(tail(np.array([28.0]), np.array([2.0]), 1.0)[0])
    # "ward" has no rare values, so that one pair of columns was looked at.
    assert found.kept == {"ward": pytest.approx(shared)}
    # If both people of every date of two had the same ward, it would follow from the date.
    wards = pl.when(pl.col("day") >= 100).then(pl.lit("c")).otherwise("ward")
    assert not kept(original.with_columns(ward=wards), release)


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 60))
def test_pairs_are_those_of_a_plain_count(seed, people, records):
    rng = np.random.default_rng(seed)
    (day, ward), (released, wards) = (
        rng.integers(-3, [[people], [3]], (2, n)).astype(np.int32) for n in (people, records)
    )
    pairs = list(zip(day.tolist(), ward.tolist(), strict=True))
    held = set(zip(released.tolist(), wards.tolist(), strict=True))
    times = np.array([np.count_nonzero(day == one) for one in day])
    of_pair = np.array([pairs.count(pair) for pair in pairs])
    there = np.array([pair in held for pair in pairs])
    rare = Rare.of(day, released)
    assert rare.pairs(ward, wards) == (
        np.count_nonzero((of_pair == 1) & (times <= 2) & there),
        np.count_nonzero((of_pair == 2) & (times <= 3)),
    )
    assert rare.times.tolist() == times.tolist()
    alone, owners, found = rare.linked(day, released)
    assert alone == np.count_nonzero(times == 1)
    assert owners.tolist() == [row for row in np.flatnonzero(times == 1) if day[row] in released]
    assert (day[owners] == released[found]).all()


@pytest.mark.parametrize("seed", range(5))
def test_fresh_people_and_single_values_keep_nothing(seed):
    original, fresh = (with_what_follows(people(2 * seed + part)) for part in (0, 1))
    assert own_values(original, fresh, columns=[]).p_value > 0.05
    loose = with_what_follows(drawn_again(people(2 * seed), seed))
    assert own_values(original, loose, columns=[]).p_value > 0.05


def test_what_follows_from_a_value_is_no_sign():
    original = with_what_follows(people(1))
    loose = with_what_follows(drawn_again(people(1), 2))
    # The moment tells the hour, so the test of fresh people sees more than they share.
    assert "hour" in kept(original, loose)["minute"].kept
    assert marks(original, loose)["minute"].aligned_p_value > 0.5
    # The weekday follows from the date in the original, too: whoever share a date share it.
    assert {"weekday", "sex"} & {*kept(original, loose)["day"].kept} == {"sex"}


def test_people_who_belong_together_share_a_value():
    # Couples with the same rent in the same town, one of whom is in the data.
    rng = np.random.default_rng(1)
    rent, town = rng.permutation(3 * PEOPLE)[:PEOPLE], rng.choice(list("abcdefgh"), PEOPLE)
    homes = np.arange(PEOPLE) // 2
    everybody = pl.DataFrame(
        {"rent": rent[homes], "town": town[homes], "age": rng.integers(20, 80, PEOPLE)}
    ).sample(PEOPLE, shuffle=True, seed=2)
    original, fresh = everybody[: PEOPLE // 2], everybody[PEOPLE // 2 :]
    assert not kept(original, fresh)
    assert own_values(original, fresh, columns=[]).p_value > 0.05


def test_few_rare_values_tell_nothing():
    original = people(1)[:19]
    assert kept(original, original) == {}


def test_files_sorted_by_a_column():
    original = people(1)
    made_up = drawn_again(original, 2)
    told = made_up.sort("height").with_columns(original.sort("height")["ward"])
    for release in (told, told.reverse()):
        assert marks(original, release)["row number"].aligned_p_value < 1e-6
    fresh = people(5).sort("height")
    assert marks(original, fresh)["row number"].aligned_p_value > 0.05
    # Sorted by a column with few values, the order says little.
    by_ward = made_up.sort("ward").with_columns(original.sort("ward")["sex"])
    assert marks(original, by_ward)["row number"].aligned_p_value > 0.05
