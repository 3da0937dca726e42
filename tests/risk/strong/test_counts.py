"""Tables of counts, and how the probability of a release moves when a record changes.

The twin fits the conditional table anew, and asks it for the probability of every synthetic record.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.data import Coded
from understudy.errors import DataError
from understudy.risk.strong.counts import TableCounts, columns_of
from understudy.risk.strong.kernels import add_predictions, add_shifts
from understudy.synthesis.sampler import ColumnTable
from understudy.synthesis.tables import ConditionalTable


def column_table(coded, child, parents):
    fitted = ConditionalTable.of(coded, child, parents)
    sizes = tuple(coded.cardinality(parent) for parent in parents)
    return ColumnTable(child, coded.cardinality(child), tuple(parents), sizes, fitted.donors)


def log_likelihood(original, synthetic, child, parents):
    table = ConditionalTable.of(original, child, parents)
    with np.errstate(divide="ignore"):
        return np.log(
            table.probability(synthetic[child], [synthetic[parent] for parent in parents])
        ).sum()


def replaced(coded, row, record):
    columns = []
    for codes, value in zip(coded.columns, record, strict=True):
        changed = codes.copy()
        changed[row] = value
        columns.append(changed)
    return Coded(coded.names, tuple(columns), coded.cardinalities)


def shifts(counts, original, candidates):
    own = counts.locate(columns_of(original), len(original))
    other = counts.locate(columns_of(candidates), len(candidates))
    pairs = np.divmod(np.arange(len(original) * len(candidates)), len(candidates))
    logs = np.log(np.maximum(np.arange(len(original) + 2), 1e-300))
    total = np.zeros(len(pairs[0]))
    add_shifts(counts.tally, own, other, pairs, logs, total)
    return total.reshape(len(original), len(candidates))


def every_record(coded):
    grids = np.meshgrid(*(np.arange(size) for size in coded.cardinalities), indexing="ij")
    columns = (
        grid.ravel().astype(column.dtype) for grid, column in zip(grids, coded.columns, strict=True)
    )
    return Coded(coded.names, tuple(columns), coded.cardinalities)


@st.composite
def releases(draw, parents):
    sizes = {name: draw(st.integers(1, 3)) for name in [*"abc"[:parents], "y"]}
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    records, drawn = draw(st.integers(1, 12)), draw(st.integers(0, 20))
    original = Coded.from_arrays(
        {name: rng.integers(0, size, records) for name, size in sizes.items()}, sizes
    )
    given_codes = {name: rng.integers(0, sizes[name], drawn) for name in list(sizes)[:-1]}
    table = ConditionalTable.of(original, "y", list(given_codes))
    # Parents that no record has are drawn too, so that draws fall back on fewer of them.
    codes = [np.asarray(column, original[name].dtype) for name, column in given_codes.items()]
    given_codes["y"] = table.draw(codes, drawn, rng)
    return original, Coded.from_arrays(given_codes, sizes), list(sizes)[:-1]


class TestShifts:
    @pytest.mark.parametrize("parents", [0, 1, 2, 3])
    def test_same_as_fitting_anew(self, parents):
        @settings(max_examples=60)
        @given(releases(parents))
        def check(release):
            original, synthetic, names = release
            counts = TableCounts.of(column_table(original, "y", names), original, synthetic)
            candidates = every_record(original)
            found = shifts(counts, original, candidates)
            before = log_likelihood(original, synthetic, "y", names)
            for i in range(len(original)):
                for c in range(len(candidates)):
                    world = replaced(original, i, [codes[c] for codes in candidates.columns])
                    after = log_likelihood(world, synthetic, "y", names)
                    assert found[i, c] == pytest.approx(after - before, abs=1e-9)

        check()

    def test_by_hand(self):
        # y of 3 records: 0, 0, 1; a release of two 0 and one 1 has (2/3)^2 (1/3) = 4/27. With the
        # first record 1 in place of 0 it has (1/3)^2 (2/3) = 2/27, with the third 0 it has none.
        original = Coded.from_arrays({"y": [0, 0, 1]})
        synthetic = Coded.from_arrays({"y": [0, 1, 0]})
        counts = TableCounts.of(column_table(original, "y", []), original, synthetic)
        found = shifts(counts, original, every_record(original))
        assert found[0].tolist() == pytest.approx([0, np.log(0.5)])
        assert found[2].tolist() == [-np.inf, 0]

    def test_falls_back_on_fewer_parents(self):
        # The only record with a = 1 gives the draw under a = 1. Without it, that draw comes from
        # all: y = 0, 0, 1 if it is replaced by (0, 1), so it has 1/3 in place of 1; and the other
        # draw, of y = 0 under a = 0, has 2/3 in place of 1.
        original = Coded.from_arrays({"a": [0, 0, 1], "y": [0, 0, 1]})
        synthetic = Coded.from_arrays({"a": [0, 1], "y": [0, 1]})
        counts = TableCounts.of(column_table(original, "y", ["a"]), original, synthetic)
        candidates = Coded.from_arrays({"a": [0], "y": [1]}, {"a": 2, "y": 2})
        assert shifts(counts, original, candidates)[2, 0] == pytest.approx(np.log(1 / 3 * 2 / 3))

    def test_large_tables_search_their_keys(self, monkeypatch):
        rng = np.random.default_rng(1)
        original = Coded.from_arrays({"a": rng.integers(0, 4, 50), "y": rng.integers(0, 3, 50)})
        table = column_table(original, "y", ["a"])
        candidates = every_record(original)
        quick = shifts(TableCounts.of(table, original, original), original, candidates)
        monkeypatch.setattr("understudy.risk.strong.counts._MOST_INDEXED", 0)
        counts = TableCounts.of(table, original, original)
        assert len(counts.tally.cell_index) == 0
        assert shifts(counts, original, candidates).tolist() == quick.tolist()


class TestPredictions:
    @settings(max_examples=40)
    @given(releases(2))
    def test_same_as_counting_the_other_records(self, release):
        original, synthetic, names = release
        counts = TableCounts.of(column_table(original, "y", names), original, synthetic)
        candidates = every_record(original)
        own = counts.locate(columns_of(original), len(original))
        other = counts.locate(columns_of(candidates), len(candidates))
        pairs = np.divmod(np.arange(len(original) * len(candidates)), len(candidates))
        total = np.zeros(len(pairs[0]))
        add_predictions(counts.tally, own, other, pairs, total)
        size = original.cardinality("y")
        for i, c, found in zip(*pairs, total, strict=True):
            rest = original.take(np.arange(len(original)) != i)
            inside = np.ones(len(rest), bool)
            for name in names:
                narrower = inside & (rest[name] == candidates[name][c])
                if not narrower.any():
                    break
                inside = narrower
            right = np.count_nonzero(rest["y"][inside] == candidates["y"][c])
            expected = (right + 0.5 / size) / (inside.sum() + 0.5)
            assert found == pytest.approx(np.log(expected))


class TestChecks:
    def test_other_original(self):
        original = Coded.from_arrays({"y": [0, 0, 1]})
        table = column_table(original, "y", [])
        other = Coded.from_arrays({"y": [0, 1, 1]})
        with pytest.raises(DataError, match=r"not fitted to this original.*'y'"):
            TableCounts.of(table, other, original)

    def test_release_of_another_model(self):
        original = Coded.from_arrays({"a": [0, 0, 1], "y": [0, 0, 1]})
        synthetic = Coded.from_arrays({"a": [0, 0], "y": [1, 1]})
        with pytest.raises(DataError, match="in 2 records of it, 'y' has a value"):
            TableCounts.of(column_table(original, "y", ["a"]), original, synthetic)
