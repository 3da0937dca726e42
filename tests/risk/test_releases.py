"""Several releases of one table are attacked together: keys are looked up in all of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from understudy.risk import attackers, attribution, disclosure, overview

NUMBERS = {"keys": ["a", "b"], "sensitive": "pay"}
LABELS = {"keys": ["a", "b"], "sensitive": "s"}


def table(seed, rows):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "a": rng.integers(0, 4, rows),
            "b": rng.integers(0, 4, rows),
            "s": rng.choice(["x", "y", "z"], rows),
            "pay": rng.normal(size=rows),
        }
    )


@pytest.mark.parametrize("scenario", [LABELS, NUMBERS])
def test_releases_are_pooled(scenario):
    original, releases = table(0, 80), [table(seed, 30) for seed in (1, 2, 3)]
    pooled = pl.concat(releases)
    for unmatched in ("nearest", "ignore", "zero"):
        found, expected = (
            attribution(original, held, unmatched=unmatched, **scenario).to_dict()
            for held in (releases, pooled)
        )
        assert found == expected
    assert attribution(original, tuple(releases), **scenario).synthetic_records == 90
    found, expected = (
        attackers(original, held, preset="papers", **scenario).to_dict()
        for held in (releases, pooled)
    )
    assert found == expected


def test_disclosure_has_each_and_all_together():
    original, releases = table(0, 80), [table(seed, 30) for seed in (1, 2, 3)]
    found = disclosure(original, releases, **LABELS)
    assert len(found) == 3
    assert found.pooled.to_dict() == disclosure(original, pl.concat(releases), **LABELS).to_dict()
    assert found.to_dict()["pooled"]["n_synthetic"] == 90
    assert disclosure(original, releases[:1], **LABELS).pooled.n_synthetic == 30
    whole = overview(original, releases, classifiers=None, **LABELS)
    assert whole.disclosure.to_dict() == found.pooled.to_dict()


def test_numbers_agree_with_a_plain_twin():
    original = table(5, 60).with_columns(pay=pl.col("pay").round(1))
    release = table(6, 25).with_columns(
        pay=pl.when(pl.int_range(25) == 3).then(None).otherwise(pl.col("pay").round(1))
    )
    found = attribution(original, release, tolerance="0.1 ranks", **NUMBERS)
    every = np.sort(original["pay"].to_numpy())
    told = release.drop_nulls()
    keys = told.select("a", "b").to_numpy()
    expected = []
    for a, b, truth in original.select("a", "b", "pay").iter_rows():
        away = (keys != (a, b)).sum(axis=1)
        near = np.sort(told["pay"].to_numpy()[away == away.min()])

        def right(guess, truth=truth):
            low, high = sorted((guess, truth))
            return guess == truth or ((every > low) & (every < high)).sum() < 6

        guess = near[(len(near) - 1) // 2]
        expected.append((np.mean([right(one) for one in near]), right(guess), int(away.min())))
    frame = found.per_record(0)
    assert frame["cap"].to_list() == pytest.approx([cap for cap, _, _ in expected])
    assert frame["right"].to_list() == [right for _, right, _ in expected]
    assert frame["rho"].to_list() == [away for _, _, away in expected]
    assert found.accuracy == pytest.approx(np.mean([right for _, right, _ in expected]))


def test_records_without_a_number_are_left_out():
    original = pl.DataFrame({"k": [1, 2, 3], "pay": [1.0, 5.0, None]})
    release = pl.DataFrame({"k": [1, 2, 3], "pay": [1.5, None, 2.0]})
    found = attribution(original, release, keys="k", sensitive="pay", tolerance=1)
    # Person 2 finds 1 and 3 of the release at distance 1, whose lower middle is 1.5.
    assert (found.accuracy, found.subsets[0].records) == (0.5, 2)
    assert found.per_record(0)["right"].to_list() == [True, False, None]
    nothing = release.with_columns(pay=pl.lit(None, pl.Float64))
    empty = attribution(original, nothing, keys="k", sensitive="pay", tolerance=1)
    assert empty.accuracy == 0


def test_worlds_of_numbers():
    rng = np.random.default_rng(7)
    original = pl.DataFrame({"k": np.arange(500), "pay": rng.lognormal(10, 1, 500)})
    scenario = {"keys": "k", "sensitive": "pay"}
    assert attribution(original, original, **scenario).accuracy == 1
    near = original.with_columns(pl.col("pay") + 0.01)
    assert attribution(original, near, **scenario).accuracy == 1
    assert attribution(original, near, tolerance="exact", **scenario).accuracy == 0
    shuffled = original.with_columns(pl.col("pay").shuffle(1))
    found = attribution(original, shuffled, **scenario)
    # Chance is right for about a tenth: fewer than 25 of 500 on either side.
    assert found.accuracy < found.baseline.zero_rule + 0.04
    assert 0.09 < found.baseline.zero_rule < 0.12
