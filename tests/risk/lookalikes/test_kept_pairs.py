"""Two exact numbers that were kept together: by hand, in trivial worlds, and through the attack."""

from __future__ import annotations

import numpy as np
import polars as pl

from understudy.learning.mixed_distance import place_together
from understudy.risk.lookalikes import lookalikes
from understudy.risk.lookalikes.kept_pairs import KeptPair, kept_pair


def people(rng, rows=300):
    """Return people with two numbers of their own, one from another, one shared, and labels."""
    height, cost = rng.normal(170, 8, rows).round(2), rng.lognormal(5, 1, rows).round(2)
    return pl.DataFrame(
        {
            "height": height,
            "inches": (height / 2.54).round(3),
            "cost": cost,
            "visits": rng.integers(0, 5, rows),
            "region": rng.choice(list("abcdef"), rows),
            "sex": rng.choice(["f", "m"], rows),
        }
    )


def redrawn(frame, names, rng):
    """Return a table in which some columns were drawn anew, each by itself."""
    size = frame.height
    return frame.with_columns(frame[name][rng.integers(size, size=size)] for name in names)


def found(original, release):
    return kept_pair(
        *place_together({"own": original, "release": release}, original.columns).values()
    )


def test_two_numbers_that_were_kept():
    rng = np.random.default_rng(1)
    original = people(rng)
    release = redrawn(original, ["inches", "visits", "region", "sex"], rng)
    # Inches follow from the height, and few differ in their visits: two pairs are left.
    assert found(original, release) == KeptPair(("height", "cost"), 2)
    result = lookalikes(original, release, random_state=0)
    assert result.p_value < 1e-6
    assert any("the release holds many pairs" in note for note in result.notes)
    # The population is what it was.
    assert result.records == original.height


def test_single_numbers_that_were_kept_are_no_pair():
    rng = np.random.default_rng(2)
    original = people(rng)
    assert found(original, redrawn(original, original.columns, rng)) is None
    # With the zeros or the gaps of another column, a pair is no more than one number.
    for nothing in (0.0, None):
        sparse = original.with_columns(
            pl.when(pl.Series(rng.random(300) < 0.5)).then(pl.col("cost")).otherwise(nothing),
        )
        loose = redrawn(sparse, sparse.columns[1:], rng)
        assert found(sparse, loose) is None
    # Nor with what follows from it.
    together = redrawn(original, original.columns[2:], rng)
    assert found(original.drop("cost"), together.drop("cost")) is None


def test_who_has_telling_numbers():
    frame = pl.DataFrame({"a": [1, 1, 1, 2, 3, None], "b": [1.5, 2.5, 3.5, 4.5, 4.5, 5.5]})
    own = place_together({"own": frame}, frame.columns)["own"]
    # Three people share a 1, two share 4.5, and the last has no a.
    assert KeptPair(("a", "b"), 1).telling(own, own).tolist() == [False] * 3 + [True] * 2 + [False]


def test_fresh_people():
    rng = np.random.default_rng(3)
    values = []
    for _ in range(20):
        original, fresh = people(rng, 200), people(rng, 200)
        assert found(original, fresh) is None
        values.append(lookalikes(original, fresh, random_state=0).p_value)
    # One of 20 on average; four or more in one case of 60.
    assert sum(value < 0.05 for value in values) <= 3
