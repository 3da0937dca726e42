"""Columns whose values have other names, scales or shares in a release, and how they are read."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.learning.mixed_distance import UNIT, place_together
from understudy.risk.renamed import (
    largest_gap,
    ranked,
    recoded,
    renamed_columns,
    unlike_columns,
)

ROWS = 400


def people(seed, rows=ROWS):
    rng = np.random.default_rng(seed)
    height = rng.normal(170, 10, rows)
    return pl.DataFrame(
        {
            "height": height,
            "weight": height - 100 + rng.normal(0, 3, rows),
            "sex": rng.choice(["f", "m"], rows, p=[0.7, 0.3]),
            "town": rng.choice(["Graz", "Wien", "Linz"], rows, p=[0.5, 0.3, 0.2]),
        }
    )


ORIGINAL, FRESH = people(1), people(2)


def placed(release):
    return place_together({"original": ORIGINAL, "release": release}, ORIGINAL.columns).values()


def test_fresh_people_are_like_the_original():
    assert unlike_columns(*placed(FRESH)) == renamed_columns(*placed(FRESH)) == []
    assert unlike_columns(*placed(FRESH[:10].with_columns(sex=pl.lit("m")))) == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (pl.col("height") * 2.54, ["height"]),
        (pl.col("height") + 5, ["height"]),
        (pl.col("sex").replace({"f": "m", "m": "f"}), ["sex"]),
        # Three towns in a circle: the shares are the same, sorted.
        (pl.col("town").replace({"Graz": "Linz", "Linz": "Wien", "Wien": "Graz"}), ["town"]),
        (pl.col("height").round(), []),
    ],
)
def test_other_shares_are_seen(change, found):
    assert unlike_columns(*placed(FRESH.with_columns(change))) == found


def test_other_names_are_seen():
    other = FRESH.with_columns(pl.col("sex").replace({"f": "w", "m": "h"}))
    assert renamed_columns(*placed(other)) == ["sex"]


def test_a_code_is_read():
    coded = ORIGINAL.with_columns(
        (-(pl.col("height", "weight") ** 3)).round(6),
        pl.col("sex").replace({"f": "1", "m": "2"}),
        pl.col("town").replace({"Graz": "Linz", "Linz": "Wien", "Wien": "Graz"}),
    )
    original, release = placed(coded)
    both = [recoded(original, release, ORIGINAL.columns, flip=flip) for flip in (False, True)]
    # Which way both numbers run cannot be told; that they run together can.
    own = ranked(original, original, ORIGINAL.columns)
    right = [np.abs(one.values - own.values).max() <= 1 for one in both]
    assert sorted(right) == [False, True]


def test_numbers_that_run_the_other_way():
    turned = ORIGINAL.with_columns(weight=-pl.col("weight"))
    original, release = placed(turned)
    read = recoded(original, release, ["weight"])
    place = original.columns.index("weight")
    own = ranked(original, original, ["weight"])
    assert np.abs(read.values[place] - own.values[place]).max() <= 1
    # Others stand between them.
    _, fresh = placed(FRESH)
    between = ranked(fresh, original, ["weight"]).values[place]
    order = np.argsort(fresh.values[place])
    assert (np.diff(between[order]) >= 0).all()


def test_labels_that_the_original_lacks_stand_for_none_of_its_own():
    more = FRESH.with_columns(town=pl.Series(list("abcdefgh") * 50))
    original, release = placed(more)
    place = original.columns.index("town")
    read = recoded(original, release, ["town"]).values[place]
    assert len(np.unique(read)) == 8
    assert np.isin(read, original.values[place]).mean() == 3 / 8


def test_missing_numbers_stay_missing():
    gaps = ORIGINAL.with_columns(height=pl.when(pl.col("sex") == "f").then("height") * 3)
    original, release = placed(gaps)
    read = recoded(original, release, ["height"], flip=True)
    place = original.columns.index("height")
    assert ((read.values[place] < -2 * UNIT) == gaps["height"].is_null().to_numpy()).all()


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_the_largest_gap_is_that_of_the_sums_of_shares(seed, largest):
    rng = np.random.default_rng(seed)
    ours, theirs = (
        rng.integers(-5, largest, rng.integers(1, 50)).astype(np.int32) for _ in range(2)
    )
    gaps = [abs((ours <= size).mean() - (theirs <= size).mean()) for size in range(-5, largest)]
    assert largest_gap(ours, theirs) == pytest.approx(max(gaps), abs=1e-12)
