"""A sampler as tables of counts: the product of the tables' shares is the density."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from understudy import BayesNet, Cart, Independent, Schema, Uniform
from understudy.errors import NoDensityError, NotFittedError
from understudy.synthesis.copula import GaussianCopula
from understudy.synthesis.sampler import ABSENT, ENDED, IMPOSSIBLE, ColumnTable, Shrinkage


def table(rows=60, seed=1):
    rng = np.random.default_rng(seed)
    a, b = rng.choice(list("pq"), rows), rng.choice(list("uvw"), rows)
    x = np.where(a == "p", rng.integers(0, 4, rows), rng.integers(3, 9, rows)).astype(float)
    x[rng.random(rows) < 0.3] = -8
    x = pl.Series("x", x).set(pl.Series(rng.random(rows) < 0.2), None)
    return pl.DataFrame({"a": a, "b": b, "x": x, "y": rng.choice(list("mn"), rows)})


def share(table, original, record):
    """The share of a record's value among a table's donors, as `Shrinkage` and `Entries` say.

    It is 1 if the record takes no part.
    """
    donors = table.entries(dict(zip(original.names, original.columns, strict=True)), len(original))
    own = table.entries({name: record[name] for name in record.names}, 1)
    value = own.values[0]
    if value == ABSENT:
        return 1.0
    if value == IMPOSSIBLE:
        return 0.0
    shrinkage = table.shrinkage or Shrinkage(
        np.zeros(len(own.parents) + 1), np.zeros(table.cardinality)
    )
    inside = donors.values >= 0
    found = shrinkage.base[value]
    for level, strength in enumerate(shrinkage.strengths):
        if level:
            code = own.parents[level - 1][0]
            if code == ENDED:
                break
            inside = inside & (donors.parents[level - 1] == code)
        count = inside.sum()
        if count >= max(shrinkage.min_count, 1):
            same = (donors.values[inside] == value).sum()
            found = (same + strength * found) / (count + strength)
    return float(found)


MODELS = [
    Independent(),
    BayesNet(1, smoothing=0, random_state=1),
    BayesNet(3, smoothing=0, random_state=1),
    BayesNet(2, smoothing=0, protect={"b": None}, random_state=1),
    BayesNet(3, random_state=1),
    BayesNet(3, smoothing=0, min_count=4, random_state=1),
    BayesNet(3, "predictive", smoothing={"x": 2.5, "*": "auto"}, min_count=3, random_state=1),
    Cart(),
    Cart(minbucket=1),
    Cart(strata="a"),
    Cart(strata=["a", "y"], minbucket=2),
    Cart(keep=["a"]),
    Cart(keep=["a"], strata="a"),
    Cart(protect={"b": "a"}),
    Cart(rules=["if a == 'p' then x = -8"]),
]


@pytest.mark.parametrize("place", range(len(MODELS)))
def test_shares_multiply_to_the_density(place, caplog):
    frame = table()
    schema = Schema.infer(frame).edit("x", kind="integer", levels=(), special=(-8,), range=None)
    model = MODELS[place].clone().fit(frame, schema)
    original = model.codec_.encode(frame)
    records = model.sample_coded(60, random_state=3)
    tables = model.sampling_tables()
    found = model.log_likelihood(records)
    assert np.isfinite(found).all()
    for row in range(0, 60, 3):
        record = records.take(slice(row, row + 1))
        expected = sum(math.log(share(own, original, record)) for own in tables)
        assert found[row] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("place", range(len(MODELS)))
def test_donors_are_the_values_by_parents_and_value(place):
    frame = table()
    schema = Schema.infer(frame).edit("x", kind="integer", levels=(), special=(-8,), range=None)
    model = MODELS[place].clone().fit(frame, schema)
    original = model.codec_.encode(frame)
    codes = dict(zip(original.names, original.columns, strict=True))
    for own in model.sampling_tables():
        # What a table depends on is all that it needs.
        entries = own.entries({name: codes[name] for name in own.columns}, len(original))
        part = entries.values >= 0
        keys = (entries.values[part], *(parent[part] for parent in entries.parents[::-1]))
        assert own.donors.tolist() == entries.values[part][np.lexsort(keys)].tolist()
        assert entries.values.max() < own.cardinality
        assert len(own.sizes) == len(entries.parents)
        for size, parent in zip(own.sizes, entries.parents, strict=True):
            assert parent.max() < size


def test_column_table():
    own = ColumnTable("y", 2, ("b", "a"), (3, 2), np.array([0, 1]))
    assert own.columns == {"a", "b", "y"}
    known = {
        "a": np.array([1, 0], np.uint8),
        "b": np.array([2, 1], np.uint8),
        "y": np.array([0, 1], np.uint8),
    }
    found = own.entries(known, 2)
    assert found.values.dtype == np.int64
    assert found.values.tolist() == [0, 1]
    assert [parent.tolist() for parent in found.parents] == [[2, 1], [1, 0]]


def test_tables_of_a_network_are_in_the_order_of_drawing():
    model = BayesNet(1, [("y", "b"), ("b", "a")]).fit(table().drop("x"))
    tables = model.sampling_tables()
    assert [own.name for own in tables] == ["y", "b", "a"]
    assert [own.parents for own in tables] == [(), ("y",), ("b",)]
    assert [own.sizes for own in tables] == [(), (2,), (3,)]


def test_no_tables():
    frame = table()
    assert Uniform().fit(frame).sampling_tables() == []
    with pytest.raises(NoDensityError, match="GaussianCopula does not draw from tables of counts"):
        GaussianCopula().fit(frame).sampling_tables()
    with pytest.raises(NoDensityError, match="proper=True"):
        Cart(proper=True).fit(frame).sampling_tables()
    for model in (Independent(), BayesNet(), Cart(), Uniform()):
        with pytest.raises(NotFittedError, match="call fit first"):
            model.sampling_tables()
