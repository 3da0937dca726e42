"""Tables whose rows are drawn towards those above, against a twin that counts every world anew."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from understudy.data import Coded
from understudy.errors import DataError
from understudy.risk.strong.candidates import Candidates
from understudy.risk.strong.fixed import FixedLikelihood, TableCounts, columns_of
from understudy.risk.strong.kernels import Standing
from understudy.risk.strong.release import Release
from understudy.synthesis.sampler import ABSENT, ENDED, IMPOSSIBLE, Entries, Shrinkage


@dataclass(frozen=True)
class PathTable:
    """A column y given others, some of which may say that a path ends.

    The code after the last one of a parent is `ENDED`; those after the last one of y are `ABSENT`
    and `IMPOSSIBLE`.
    """

    name = "y"
    parents: tuple[str, ...]
    sizes: tuple[int, ...]
    cardinality: int
    shrinkage: Shrinkage | None
    donors: np.ndarray

    @property
    def columns(self):
        return frozenset({"y", *self.parents})

    def entries(self, known, rows):
        values = known["y"].astype(np.int64)
        values = np.where(values == self.cardinality, ABSENT, values)
        values = np.where(values > self.cardinality, IMPOSSIBLE, values)
        parents, ended = [], np.zeros(rows, bool)
        for name, size in zip(self.parents, self.sizes, strict=True):
            ended |= known[name] == size
            parents.append(np.where(ended, ENDED, known[name].astype(np.int64)))
        return Entries(values, tuple(parents))


def places(table, coded):
    """Return the path and the value of each record."""
    entries = table.entries(columns_of(coded), len(coded))
    paths = np.stack([*entries.parents, entries.values], axis=1).tolist()
    return [(tuple(path), value) for *path, value in paths]


def probability(shrinkage, records, path, value):
    """Return the probability of a value: from all records down to those with the whole path."""
    share = shrinkage.base[value]
    for level in range(len(path) + 1):
        if ENDED in path[:level]:
            break
        row = [own for other, own in records if own >= 0 and other[:level] == path[:level]]
        if len(row) >= max(shrinkage.min_count, 1):
            strength = shrinkage.strengths[level]
            share = (row.count(value) + strength * share) / (len(row) + strength)
    return share


def log_likelihood(shrinkage, records, drawn):
    if any(value == IMPOSSIBLE for _, value in records):
        return -math.inf
    shares = [probability(shrinkage, records, *record) for record in drawn if record[1] >= 0]
    return sum(math.log(share) if share > 0 else -math.inf for share in shares)


def coded_table(rng, rows, sizes, *, more=0):
    """Return random records; with `more`, paths may end and records be absent."""
    columns = {name: rng.integers(0, size + more, rows) for name, size in sizes.items()}
    limits = {name: size + 2 for name, size in sizes.items()}
    return Coded.from_arrays(columns, limits)


def every_record(sizes, more):
    """Return all records, with absent and impossible ones and with paths that end."""
    grids = np.meshgrid(
        *(np.arange(size + (2 * more if name == "y" else more)) for name, size in sizes.items()),
        indexing="ij",
    )
    columns = {name: grid.ravel() for name, grid in zip(sizes, grids, strict=True)}
    return Coded.from_arrays(columns, {name: size + 2 for name, size in sizes.items()})


@st.composite
def worlds(draw, *, strengths=(1e-6, 0.3, 1.0, 5.0, 500.0), more=None, fewest=4):
    """Return a table, the original, releases that it can have drawn, and all candidates."""
    depth = draw(st.integers(0, 3))
    sizes = {name: draw(st.integers(1, 3)) for name in [*"abc"[:depth], "y"]}
    ends = draw(st.integers(0, 1)) if more is None else more
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    # Some paths are much more frequent than others, and some records are the same.
    original = coded_table(rng, draw(st.integers(1, 14)), sizes, more=ends)
    synthetic = coded_table(rng, draw(st.integers(0, 20)), sizes, more=ends)
    base = rng.dirichlet(np.ones(sizes["y"]))
    shrinkage = Shrinkage(
        np.array([draw(st.sampled_from(strengths)) for _ in range(depth + 1)]),
        base if draw(st.booleans()) else np.full(len(base), 1 / len(base)),
        draw(st.integers(1, fewest)),
    )
    table = table_of(original, sizes, shrinkage)
    records = places(table, original)
    possible = [
        value == ABSENT or probability(shrinkage, records, path, value) > 0
        for path, value in places(table, synthetic)
    ]
    return table, original, synthetic.take(np.flatnonzero(possible)), every_record(sizes, ends)


def table_of(original, sizes, shrinkage):
    names = list(sizes)[:-1]
    blank = PathTable(
        tuple(names), tuple(sizes[n] for n in names), sizes["y"], shrinkage, np.empty(0)
    )
    donors = [value for _, value in sorted(places(blank, original)) if value >= 0]
    return PathTable(blank.parents, blank.sizes, blank.cardinality, shrinkage, np.array(donors))


def shifts(counts, original, candidates, *, leaves=True, joins=True):
    """Return the moves, records by candidates; nobody leaves, or nobody joins, in the last."""
    own, other = (
        counts.locate(columns_of(coded), len(coded)) if takes_part else nobody(counts)
        for coded, takes_part in ((original, leaves), (candidates, joins))
    )
    pairs = np.divmod(np.arange(len(own.values) * len(other.values)), len(other.values))
    logs = np.log(np.maximum(np.arange(len(original) + 3), 1))
    total = np.zeros(len(pairs[0]))
    counts.add_shifts(own, other, pairs, logs, total)
    return total.reshape(len(own.values), -1)


def nobody(counts):
    nowhere = np.full((len(counts.tally.sizes) + 1, 1), -1, np.int32)
    return Standing(np.full(1, ABSENT), nowhere, nowhere)


def check(world):
    table, original, synthetic, candidates = world
    counts = TableCounts.of(table, original, synthetic)
    records, drawn = places(table, original), places(table, synthetic)
    others = places(table, candidates)
    before = log_likelihood(table.shrinkage, records, drawn)
    found = shifts(counts, original, candidates)
    out = shifts(counts, original, candidates, joins=False)
    for i in range(len(records)):
        rest = records[:i] + records[i + 1 :]
        after = log_likelihood(table.shrinkage, rest, drawn)
        assert out[i, 0] == pytest.approx(after - before, abs=1e-9)
        for c, other in enumerate(others):
            after = log_likelihood(table.shrinkage, [*rest, other], drawn)
            assert found[i, c] == pytest.approx(after - before, abs=1e-9)
    joined = shifts(counts, original, candidates, leaves=False)
    for c, other in enumerate(others):
        after = log_likelihood(table.shrinkage, [*records, other], drawn)
        assert joined[0, c] == pytest.approx(after - before, abs=1e-9)


class TestShifts:
    @settings(max_examples=60)
    @given(worlds())
    def test_same_as_counting_every_world_anew(self, world):
        check(world)

    @settings(max_examples=60)
    @given(worlds(strengths=(0.0, 0.0, 0.5)))
    def test_values_that_become_impossible(self, world):
        check(world)

    @settings(max_examples=15)
    @given(worlds(strengths=(0.0, 0.5, 5.0)), st.sampled_from([0, 60]))
    def test_little_room_and_large_tables_change_nothing(self, world, room):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("understudy.risk.strong.shrunk.MOST_KEPT", room)
            patch.setattr("understudy.risk.strong.fixed._MOST_INDEXED", 0)
            check(world)

    @settings(max_examples=40)
    @given(worlds(strengths=(0.0,), more=0, fewest=1))
    def test_no_strength_is_the_table_as_it_is(self, world):
        table, original, synthetic, candidates = world
        # Without any record nothing could be drawn from the table; this one has a base.
        assume(len(original) > 1)
        plain = PathTable(table.parents, table.sizes, table.cardinality, None, table.donors)
        shrunk = TableCounts.of(table, original, synthetic)
        counts = TableCounts.of(plain, original, synthetic)
        for how in ({}, {"joins": False}, {"leaves": False}):
            found, expected = (shifts(own, original, candidates, **how) for own in (shrunk, counts))
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)

    def test_by_hand(self):
        # One row, y = 0, 0, 1 with two records' worth of (1/2, 1/2): p(0) = (2 + 1) / 5 = 3/5. If a
        # record with 0 had 1, p(0) = 2/5 and p(1) = 3/5; without it, p(0) = p(1) = 2/4.
        original = Coded.from_arrays({"y": [0, 0, 1]}, {"y": 4})
        shrinkage = Shrinkage(np.array([2.0]), np.array([0.5, 0.5]))
        table = table_of(original, {"y": 2}, shrinkage)
        release = Coded.from_arrays({"y": [0, 0, 1]}, {"y": 4})
        counts = TableCounts.of(table, original, release)
        before = 2 * math.log(3 / 5) + math.log(2 / 5)
        found = shifts(counts, original, Coded.from_arrays({"y": [1]}, {"y": 4}))
        assert found[0, 0] == pytest.approx(2 * math.log(2 / 5) + math.log(3 / 5) - before)
        out = shifts(counts, original, original, joins=False)
        assert out[0, 0] == pytest.approx(3 * math.log(1 / 2) - before)

    def test_a_record_moves_a_row_that_it_is_not_in(self):
        # Rows a = 0: y = 0; a = 1: y = 1. Strengths 2 towards (1/2, 1/2), and 1 towards the row of
        # all: p(0 | all) = (1 + 1) / 4 = 1/2, p(0 | a = 0) = (1 + 1/2) / 2 = 3/4. If the record in
        # a = 1 had 0: p(0 | all) = 3/4, p(0 | a = 0) = (1 + 3/4) / 2 = 7/8.
        original = Coded.from_arrays({"a": [0, 1], "y": [0, 1]}, {"a": 4, "y": 4})
        shrinkage = Shrinkage(np.array([2.0, 1.0]), np.array([0.5, 0.5]))
        table = table_of(original, {"a": 2, "y": 2}, shrinkage)
        release = Coded.from_arrays({"a": [0], "y": [0]}, {"a": 4, "y": 4})
        counts = TableCounts.of(table, original, release)
        candidate = Coded.from_arrays({"a": [1], "y": [0]}, {"a": 4, "y": 4})
        assert shifts(counts, original, candidate)[1, 0] == pytest.approx(math.log(7 / 8 / (3 / 4)))

    def test_long_paths(self):
        rng = np.random.default_rng(1)
        names = [f"s{level}" for level in range(30)]
        sizes = {**dict.fromkeys(names, 2), "y": 3}
        # Turns to the left are rare, so that paths part at all depths; they end early, too.
        ends = rng.integers(0, 31, 24)
        columns = {
            name: np.where(level >= ends, 2, rng.random(24) < 0.9)
            for level, name in enumerate(names)
        }
        columns["y"] = rng.integers(0, 3, 24)
        both = Coded.from_arrays(columns, {name: size + 2 for name, size in sizes.items()})
        original, synthetic = both.take(slice(0, 12)), both.take(slice(8, 24))
        for fewest in (1, 3):
            shrinkage = Shrinkage(rng.uniform(0.1, 3, 31), np.full(3, 1 / 3), fewest)
            check((table_of(original, sizes, shrinkage), original, synthetic, both))

    def test_no_digits_are_lost_in_a_large_release(self):
        # A record with a value that nobody else has, and a strength of one in a million: without it
        # p(1) falls from about 1/1000 to 1e-9. 50,000 synthetic records multiply any error.
        original = Coded.from_arrays({"y": np.arange(1000) // 999}, {"y": 4})
        release = Coded.from_arrays({"y": np.arange(50_000) // 49_950}, {"y": 4})
        strength = 1e-6
        shrinkage = Shrinkage(np.array([strength]), np.array([0.5, 0.5]))
        counts = TableCounts.of(table_of(original, {"y": 2}, shrinkage), original, release)
        half = strength / 2
        expected = 49_950 * math.log1p(1 / (999 + half)) + 50 * math.log(half / (1 + half))
        found = shifts(counts, original, Coded.from_arrays({"y": [0]}, {"y": 4}))[-1, 0]
        assert found == pytest.approx(expected, rel=1e-14)


class TestPredictions:
    @settings(max_examples=40)
    @given(worlds(strengths=(0.3, 1.0, 500.0)))
    def test_same_as_counting_the_other_records(self, world):
        self.check(world)

    @settings(max_examples=40)
    @given(worlds(strengths=(0.0, 1.0)))
    def test_half_a_record_where_a_value_may_be_impossible(self, world):
        self.check(world)

    @staticmethod
    def check(world):
        table, original, synthetic, candidates = world
        shrinkage = table.shrinkage
        counts = TableCounts.of(table, original, synthetic)
        own = counts.locate(columns_of(original), len(original))
        other = counts.locate(columns_of(candidates), len(candidates))
        pairs = np.divmod(np.arange(len(original) * len(candidates)), len(candidates))
        total = np.zeros(len(pairs[0]))
        counts.add_predictions(own, other, pairs, 0.5, total)
        records, others = places(table, original), places(table, candidates)
        for i, c, found in zip(*pairs, total, strict=True):
            path, value = others[c]
            if value < 0:
                assert found == (0 if value == ABSENT else -math.inf)
                continue
            rest = records[:i] + records[i + 1 :]
            share = probability(shrinkage, rest, path, value)
            if (shrinkage.strengths == 0).any():
                rows = [
                    sum(own >= 0 and q[:level] == path[:level] for q, own in rest)
                    for level in range(len(path) + 1)
                    if ENDED not in path[:level]
                ]
                used = min([n for n in rows if n >= shrinkage.min_count], default=0)
                share = (used * share + 0.5 * shrinkage.base[value]) / (used + 0.5)
            assert found == pytest.approx(math.log(share), abs=1e-12)


class TestTables:
    def test_shares_where_no_parent_is_known(self):
        original = Coded.from_arrays({"y": [0, 0, 2]}, {"y": 5})
        sizes, base = {"y": 3}, np.array([0.2, 0.3, 0.5])
        for fewest, expected in ((1, [2.2 / 4, 0.3 / 4, 1.5 / 4]), (4, base)):
            table = table_of(original, sizes, Shrinkage(np.array([1.0]), base, fewest))
            counts = TableCounts.of(table, original, original)
            assert counts.first_shares() == pytest.approx(expected)
        table = PathTable((), (), 3, None, table.donors)
        plain = TableCounts.of(table, original, original)
        assert plain.first_shares().tolist() == [2 / 3, 0, 1 / 3]

    def test_a_value_that_nobody_has_can_be_drawn(self):
        original = Coded.from_arrays({"a": [0, 0, 1], "y": [0, 0, 1]}, {"a": 4, "y": 4})
        strange = Coded.from_arrays({"a": [0, 0, 1], "y": [1, 1, 1]}, {"a": 4, "y": 4})
        sizes, base = {"a": 2, "y": 2}, np.array([0.5, 0.5])
        table = table_of(original, sizes, Shrinkage(np.array([1.0, 1.0]), base))
        TableCounts.of(table, original, strange)
        hard = table_of(original, sizes, Shrinkage(np.zeros(2), base, 2))
        with pytest.raises(DataError, match="in 2 records of it, 'y' has a value"):
            TableCounts.of(hard, original, strange)
        other = Coded.from_arrays({"a": [0, 0, 1], "y": [0, 1, 1]}, {"a": 4, "y": 4})
        with pytest.raises(DataError, match="not fitted to this original"):
            TableCounts.of(table, other, original)


@settings(max_examples=25)
@given(worlds(more=0), st.data())
def test_records_of_several_releases_and_of_whole_worlds(world, data):
    table, original, synthetic, _ = world
    assume(len(original) > 1)
    cut = data.draw(st.integers(0, len(synthetic)))
    parts = [synthetic.take(slice(cut)), synthetic.take(slice(cut, None))]
    likelihood = FixedLikelihood.of([table], [Release(original, part) for part in parts], ["y"])
    candidates = Candidates.grid(("y",), (table.cardinality,))
    found = likelihood.log_likelihoods(original, candidates)
    records, drawn = places(table, original), places(table, synthetic)
    before = log_likelihood(table.shrinkage, records, drawn)
    for i, (path, _) in enumerate(records):
        rest = records[:i] + records[i + 1 :]
        for value in range(table.cardinality):
            after = log_likelihood(table.shrinkage, [*rest, (path, value)], drawn)
            assert found[i, value] == pytest.approx(after - before, abs=1e-9)
