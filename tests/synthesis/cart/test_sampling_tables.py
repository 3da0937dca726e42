"""Trees as tables of counts: which record stands where, and which takes no part."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from understudy import Cart, Schema
from understudy.synthesis.cart.sampling_tables import StratumTable, TreeTable
from understudy.synthesis.sampler import ABSENT, ENDED, IMPOSSIBLE


@pytest.fixture
def frame():
    return pl.DataFrame(
        {
            "s": ["a"] * 12 + ["b"] * 12,
            "x": [1, 1, 1, 2, 2, -8, 9, 9, 9, 9, -8, None] * 2,
            "y": ["u"] * 5 + ["v"] * 7 + ["u"] * 6 + ["v"] * 6,
        }
    )


def fitted(frame, **settings):
    schema = Schema.infer(frame).edit("x", kind="integer", levels=(), special=(-8,), range=None)
    return Cart(**({"smoothing_leaves": 0} | settings), random_state=1).fit(frame, schema)


def codes_of(model, frame):
    coded = model.codec_.encode(frame)
    return dict(zip(coded.names, coded.columns, strict=True))


def test_kinds_and_values(frame):
    model = fitted(frame, minbucket=12)
    tables = model.sampling_tables()
    assert [(own.name, own.part) for own in tables] == [
        ("s", "value"),
        ("x", "kind"),
        ("x", "value"),
        ("y", "value"),
    ]
    known = codes_of(model, frame)
    kind, value = (own.entries(known, 24) for own in tables[1:3])
    # One special value, then ordinary numbers, then missing.
    assert kind.values[:12].tolist() == [1] * 5 + [0] + [1] * 4 + [0, 2]
    assert tables[1].cardinality == 3
    ordinary = [True] * 5 + [False] + [True] * 4 + [False, False]
    assert (value.values[:12] != ABSENT).tolist() == ordinary
    assert tables[2].cardinality == model.codec_.cardinalities[1]
    assert len(tables[2].donors) == 18


def test_leaves_are_those_of_the_tree(frame):
    model = fitted(frame.drop("s"), minbucket=2, cp=0.01)
    own = model.sampling_tables()[-1]
    assert own.name == "y"
    assert own.columns == {"x", "y"}
    tree = model.sequences_[0].columns[1].value.tree
    assert own.sizes == (tree.leaves,)
    assert tree.leaves > 1
    known = codes_of(model, frame.drop("s"))
    leaf = own.entries(known, 24).parents[0]
    # The leaf depends on x alone, whatever y is.
    other = own.entries(known | {"y": np.zeros(24, np.uint8)}, 24)
    assert other.parents[0].tolist() == leaf.tolist()
    assert not other.values.any()
    for row, x in enumerate(frame["x"]):
        assert leaf[row] == leaf[frame["x"].to_list().index(x)]
    assert len(set(leaf.tolist())) == tree.leaves


def test_strata(frame):
    model = fitted(frame, minbucket=12, strata="s")
    first, *trees = model.sampling_tables()
    assert isinstance(first, StratumTable)
    assert (first.name, first.columns, first.cardinality, first.sizes) == ("s", {"s"}, 2, ())
    assert first.donors.tolist() == [0] * 12 + [1] * 12
    known = codes_of(model, frame)
    assert first.entries(known, 24).values.tolist() == [0] * 12 + [1] * 12
    for own in trees:
        assert isinstance(own, TreeTable)
        assert "s" in own.columns
        inside = own.entries(known, 24).values != ABSENT
        assert inside[:12].any() == (own.stratum == 0)
        assert inside[12:].any() == (own.stratum == 1)


def test_strata_that_no_record_has(frame):
    frame = frame.with_columns(t=pl.Series(["p"] * 18 + ["q"] * 6))
    model = fitted(frame, minbucket=1, strata=["s", "t"])
    first, *trees = model.sampling_tables()
    assert first.name == "s, t"
    assert first.donors.tolist() == [0] * 12 + [1] * 6 + [2] * 6
    # a goes with p alone.
    known = codes_of(model, frame)
    known["t"] = np.ones(24, np.uint8)
    assert first.entries(known, 24).values.tolist() == [IMPOSSIBLE] * 12 + [2] * 12
    for own in trees:
        assert (own.entries(known, 24).values[:12] == ABSENT).all()


def test_kept_strata_are_not_drawn(frame):
    tables = fitted(frame, minbucket=12, strata="s", keep="s").sampling_tables()
    assert {own.name for own in tables} == {"x", "y"}
    assert all(isinstance(own, TreeTable) for own in tables)


def test_records_of_rules_take_no_part(frame, caplog):
    model = fitted(frame, minbucket=12, rules=["if x == -8 then y = 'v'"])
    own = model.sampling_tables()[-1]
    assert own.columns >= {"x", "y"}
    known = codes_of(model, frame)
    covered = [x == -8 for x in frame["x"].to_list()]
    assert (own.entries(known, 24).values == ABSENT).tolist() == covered
    # Another value of the condition's column brings a record in.
    moved = known | {"x": np.full(24, known["x"][0])}
    assert (own.entries(moved, 24).values != ABSENT).all()


def test_a_table_without_ordinary_numbers(frame):
    frame = frame.with_columns(x=pl.Series([-8, None] * 12))
    schema = Schema.infer(frame).edit(
        "x", kind="integer", levels=(), special=(-8,), range=None, edges=()
    )
    model = Cart(random_state=1).fit(frame, schema)
    # Not even smoothed kinds are ordinary: there is no number to draw.
    assert model.sampling_tables()[1].shrinkage.base.tolist() == [0.5, 0, 0.5]
    assert [(own.name, own.part) for own in model.sampling_tables()][1:2] == [("x", "kind")]
    assert ("x", "value") not in [(own.name, own.part) for own in model.sampling_tables()]


def test_smoothed_leaves_are_told_by_the_way_there(frame):
    plain = fitted(frame, minbucket=2, cp=0.01)
    model = fitted(frame, minbucket=2, cp=0.01, smoothing_leaves=3)
    known = codes_of(model, frame)
    for own, one in zip(model.sampling_tables(), plain.sampling_tables(), strict=True):
        assert len(own.sizes) <= own.leaves.tree.depth
        assert own.shrinkage.strengths.tolist() == [3.0] * (len(own.sizes) + 1)
        assert one.shrinkage is None
        assert own.donors.tolist() == one.donors.tolist()
        entries, leaves = own.entries(known, 24), one.entries(known, 24).parents[0]
        assert entries.values.tolist() == one.entries(known, 24).values.tolist()
        # Leaves are numbered from left to right, as ways are sorted.
        ways = list(zip(*(turns.tolist() for turns in entries.parents), strict=True))
        ways = ways or [()] * 24
        for first, second in ((0, 7), (5, 11), (12, 23), (3, 6)):
            assert (ways[first] < ways[second]) == (leaves[first] < leaves[second])
            assert (ways[first] == ways[second]) == (leaves[first] == leaves[second])
        for way in ways:
            ended = way.index(ENDED) if ENDED in way else len(way)
            assert set(way[ended:]) <= {ENDED}
        for size, turns in zip(own.sizes, entries.parents, strict=True):
            assert turns.max() < size
    assert max(len(own.sizes) for own in model.sampling_tables()) > 1


def test_above_the_root_all_codes_that_a_part_can_have_are_equally_likely(frame):
    tables = fitted(frame, minbucket=12, smoothing_leaves="auto").sampling_tables()
    bases = {(own.name, own.part): own.shrinkage.base.tolist() for own in tables}
    third = pytest.approx([1 / 3] * 3)
    assert bases["s", "value"] == [0.5, 0.5]
    assert bases["x", "kind"] == third
    # The special value has the first code, then 1, 2 and 9, then missing.
    assert bases["x", "value"] == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3, 0])
