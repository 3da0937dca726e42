"""Domains that are bought: thresholds keep their delta, and counts move as much as is paid for."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache

import numpy as np
import polars as pl
import pytest

from understudy import Schema
from understudy.data.schema import Column
from understudy.data.source import FrameSource
from understudy.errors import DataError
from understudy.privacy import Accountant, Guarantee, noise
from understudy.privacy.domain import schema_of_types
from understudy.privacy.noisy_domain import OTHER, buy_domain, in_bought_levels, needs_delta

DELTA = Fraction(1, 1000)


def accountant(epsilon=100, neighbours="change-one", pure=True):
    promise = Guarantee(Fraction(epsilon), DELTA, neighbours)
    return Accountant(promise, pure=pure, open_domain=True)


def bought(table, schema=None, own=None, share=Fraction(1, 2)):
    return buy_domain(table, schema or schema_of_types(table), own or accountant(), share)


def test_common_levels_are_published_and_rare_ones_are_others():
    table = pl.DataFrame({"town": ["a"] * 500 + ["b"] * 400 + ["Hamlet"]})
    domain = bought(table)
    assert domain.schema["town"].levels == ("a", "b", OTHER)
    assert domain.names == domain.grouped == ("town",)
    grouped = in_bought_levels(FrameSource(table), domain).frame
    assert grouped["town"].value_counts().sort("count").to_dict(as_series=False) == {
        "town": [OTHER, "b", "a"],
        "count": [1, 400, 500],
    }


def test_a_level_of_one_record_passes_as_rarely_as_delta_says(monkeypatch):
    # The noise is replaced by each value it can have, so that the probability is exact.
    table = pl.DataFrame({"town": ["only"]})
    own = accountant(epsilon=1)
    scale = own.scale_of(Fraction(1, 2))
    passing = 0.0
    total = sum(np.exp(-abs(v) / scale) for v in range(-400, 401))
    for value in range(40):
        monkeypatch.setattr(noise, "with_laplace", lambda counts, _, v=value: counts + v)
        if "only" in bought(table, own=accountant(epsilon=1)).schema["town"].levels:
            passing += np.exp(-value / scale) / total
    tail = sum(np.exp(-v / scale) for v in range(40, 401)) / total
    assert 0.5 * float(DELTA) < passing + tail <= float(DELTA)


def test_levels_take_delta_and_their_number_is_not_in_the_ledger():
    own = accountant()
    table = pl.DataFrame({"a": ["x"] * 500, "b": ["y"] * 500})
    bought(table, own=own)
    assert own.ledger.delta_spent == DELTA
    assert [entry.answers for entry in own.ledger.entries] == [0, 0]
    assert own.ledger.spent == own.total / 2
    assert needs_delta(schema_of_types(table))
    assert not needs_delta(schema_of_types(pl.DataFrame({"n": [1]})))


@pytest.mark.parametrize("values", [["x"], [None]])
def test_whether_there_is_any_text_is_not_told(values):
    # Both give the one level that is always there, and no error.
    table = pl.DataFrame({"a": pl.Series(values, dtype=pl.String)})
    assert bought(table, own=accountant(epsilon=Fraction(1, 100))).schema["a"].levels == (OTHER,)


def test_numbers_get_a_range_and_cuts_with_as_many_records():
    rng = np.random.default_rng(1)
    table = pl.DataFrame({"income": rng.lognormal(8, 0.5, 5000).round(2)})
    column = bought(table).schema["income"]
    low, high = column.range
    # Powers of two around nearly all values.
    assert low in {256, 512, 1024}
    assert high in {8192, 16384, 32768}
    counts, _ = np.histogram(table["income"], column.edges)
    assert column.binning == "edges"
    assert counts.max() < 3 * 5000 / len(counts)


def test_few_whole_numbers_are_levels_and_dates_have_years():
    table = pl.DataFrame(
        {
            "n": [1, 2, 3] * 500,
            "zero": [0, 0, 500] * 500,
            "day": pl.date_range(pl.date(2020, 1, 1), pl.date(2024, 2, 8), eager=True).head(1500),
        }
    )
    found = bought(table, own=accountant(epsilon=300)).schema
    assert found["n"].levels == (1, 2, 3)
    assert found["zero"].special == (0,)
    assert str(found["day"].range[0]).startswith("2020-01-01")
    assert str(found["day"].range[1]).startswith("2024-12-31")


def test_what_a_schema_that_is_not_public_says_of_values_is_not_used():
    schema = Schema(
        [
            Column("town", "categorical", levels=("secret",), missing=0.5),
            Column("x", "real", range=(0.0, 987.654), decimals=3, special=(987.654,)),
        ]
    )
    table = pl.DataFrame({"town": ["a"] * 900, "x": [3.0] * 900})
    found = str(bought(table, schema).schema.to_toml())
    assert "secret" not in found
    assert "987" not in found


def test_a_range_that_noise_hides_is_an_error_that_names_the_column(monkeypatch):
    monkeypatch.setattr(noise, "with_laplace", lambda counts, _: counts)
    own = accountant(epsilon=Fraction(1, 1000))
    with pytest.raises(DataError, match="range of 'n' cannot be found at this epsilon"):
        bought(pl.DataFrame({"n": [1, 2, 3]}), own=own)


@pytest.mark.parametrize("neighbours", ["change-one", "add-remove"])
def test_counts_of_sizes_and_parts_move_as_much_as_is_paid_for(neighbours, monkeypatch):
    seen = []
    monkeypatch.setattr(noise, "with_laplace", lambda counts, _: seen.append(counts) or counts + 99)
    values = [-5, 0, 3, 1000, None]
    size = 2 if neighbours == "change-one" else 1

    @cache
    def asked(rows):
        seen.clear()
        table = pl.DataFrame({"n": pl.Series(rows, dtype=pl.Int64)})
        bought(table, own=accountant(neighbours=neighbours))
        return list(seen)

    if neighbours == "change-one":
        pairs = [((a, b), (a, c)) for a, b, c in itertools.product(values, repeat=3)]
    else:
        pairs = [((a, b), (a,)) for a, b in itertools.product(values, repeat=2)]
    moved = [
        np.abs(one - other).sum()
        for first, second in pairs
        for one, other in zip(asked(first), asked(second), strict=True)
    ]
    assert max(moved) == size
