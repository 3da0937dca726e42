"""The likelihood with the structure as published, against a twin that counts in dictionaries.

The twin changes the record, counts again, and asks record by record and column by column from which
original records the value was drawn; the network, or the trees, stay as they are.
"""

from __future__ import annotations

import logging
import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy import BayesNet, Cart, Independent, Schema, risk
from understudy.data import Coded
from understudy.errors import DataError
from understudy.risk.strong.candidates import Candidates
from understudy.risk.strong.fixed import FixedLikelihood, TableCounts, columns_of
from understudy.risk.strong.kernels import add_predictions, add_shifts
from understudy.risk.strong.release import Release
from understudy.synthesis.cart import binned
from understudy.synthesis.cart.features import matrix_of
from understudy.synthesis.sampler import ENDED, ColumnTable
from understudy.synthesis.tables import ConditionalTable


def strong_attacker(*tables, **how):
    """Attack with a flat prior and the structure fixed, if nothing else is said."""
    return risk.strong_attacker(*tables, **({"prior": "uniform", "mode": "fixed"} | how))


seeds = st.integers(0, 2**32 - 1)


def log(share):
    return math.log(share) if share > 0 else -math.inf


def rows_of(coded):
    return [tuple(int(code) for code in row) for row in zip(*coded.columns, strict=True)]


def network_log_likelihood(parents, names, original, synthetic):
    """Sum over all draws; back to fewer parents until some record has their values."""
    place = {name: number for number, name in enumerate(names)}
    total = 0.0
    for child, found in parents.items():
        for row in rows_of(synthetic):
            donors = rows_of(original)
            for parent in found:
                narrower = [r for r in donors if r[place[parent]] == row[place[parent]]]
                if not narrower:
                    break
                donors = narrower
            counts = Counter(r[place[child]] for r in donors)
            total += log(counts[row[place[child]]] / len(donors))
    return total


def tree_log_likelihood(model, original, synthetic):
    """Sum over all draws of trees whose splits stay as they are; records are led down anew."""
    recipe, features = model._recipe, model._recipe.features
    both = Coded.concatenate([original, synthetic])
    n, places, by_place = len(original), matrix_of(features, both), dict(enumerate(both.columns))
    strata = [tuple(row[place] for place in recipe.strata.columns) for row in rows_of(both)]
    known = [tuple(codes) for codes in recipe.strata.codes.tolist()]
    if any(stratum not in known for stratum in strata[:n]):
        return -math.inf  # the published trees have no place for such a record
    total = 0.0
    if recipe.draws_strata and recipe.strata.columns:
        counts = Counter(strata[:n])
        total += sum(log(counts[stratum] / n) for stratum in strata[n:])
    for stratum, sequence in zip(known, model.sequences_, strict=True):
        mine = [row for row in range(len(both)) if strata[row] == stratum]
        for step, column in zip(sequence.steps, sequence.columns, strict=True):
            own = features[step.column]
            codes = both.columns[step.column].astype(int).tolist()
            ruled = recipe.book.covered(step.rules, by_place)
            free = [row for row in mine if ruled is None or ruled[row] < 0]
            draws = [(column.kind, own.kind_of(both.columns[step.column]).tolist(), free)]
            ordinary = [row for row in free if own.kinds == 1 or draws[0][1][row] == own.special]
            draws.append((column.value, codes, ordinary))
            for leaves, values, part in draws:
                if leaves is None:
                    continue
                leaf = leaves.tree.find(places).tolist()
                donors = [row for row in part if row < n]
                for row in part:
                    if row >= n and leaves.shrinkage is not None:
                        total += log(shrunk_probability(leaves, leaf, values, donors, row))
                    elif row >= n:
                        near = [d for d in donors if leaf[d] == leaf[row]] or donors
                        counts = Counter(values[d] for d in near)
                        total += log(counts[values[row]] / len(near) if near else 0)
    return total


def shrunk_probability(leaves, leaf, values, donors, row):
    """Return the probability of a record's value: of all donors first, then of fewer and fewer."""
    strengths, paths = leaves.shrinkage.strengths, leaves.paths.T.tolist()
    share = leaves.shrinkage.base[values[row]]
    way = [turn for turn in paths[leaf[row]] if turn != ENDED]
    for depth in range(len(way) + 1):
        near = [values[donor] for donor in donors if paths[leaf[donor]][:depth] == way[:depth]]
        if near:
            strength = strengths[depth]
            share = (near.count(values[row]) + strength * share) / (len(near) + strength)
    return share


def replaced(coded, row, names, codes):
    columns = []
    for name, column in zip(coded.names, coded.columns, strict=True):
        changed = column.copy()
        if name in names:
            changed[row] = codes[names.index(name)]
        columns.append(changed)
    return Coded(coded.names, tuple(columns), coded.cardinalities)


def compare(model, frame, synthetic, unknown, rows):
    """Hold all worlds of some records against the twin; return the twin's differences."""
    release = Release.of(model, frame, synthetic)
    original = release.original
    sizes = tuple(original.cardinality(name) for name in unknown)
    candidates = Candidates.grid(tuple(unknown), sizes)
    likelihood = FixedLikelihood.of(model.sampling_tables(), [release], unknown)
    found = likelihood.log_likelihoods(original.take(np.array(rows)), candidates)

    def twin(coded):
        if isinstance(model, Cart):
            return tree_log_likelihood(model, coded, release.synthetic)
        parents = dict.fromkeys(original.names, ())
        if isinstance(model, BayesNet):
            parents = model.network_.parents
        return network_log_likelihood(parents, original.names, coded, release.synthetic)

    before = twin(original)
    assert before == pytest.approx(model.release_log_likelihood(release.synthetic), abs=1e-9)
    differences = []
    for place, row in enumerate(rows):
        for number, codes in enumerate(rows_of(candidates.codes)):
            after = twin(replaced(original, row, list(unknown), codes))
            assert found[place, number] == pytest.approx(after - before, abs=1e-9)
            differences.append(after - before)
    return differences


def letters(seed, rows, names="abcd", levels=3):
    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(0, rng.integers(2, levels + 1), rows) for name in names}
    columns[names[-1]] = (columns[names[0]] + (rng.random(rows) < 0.3)) % levels
    return pl.DataFrame(
        {name: [f"{name}{code}" for code in codes] for name, codes in columns.items()}
    )


UNKNOWN = [["b"], ["d"], ["a", "c"], ["a", "b", "c", "d"]]


class TestNetworks:
    @settings(max_examples=10)
    @given(seeds, st.sampled_from(UNKNOWN))
    def test_independent(self, seed, unknown):
        frame = letters(seed, 8)
        model = Independent(random_state=seed).fit(frame)
        compare(model, frame, model.sample(6), unknown, [0, 3])

    @pytest.mark.parametrize("parents", [1, 2, 3])
    def test_networks(self, parents):
        impossible = []

        # The same examples every time: what they hold all together is asserted below.
        @settings(max_examples=10, derandomize=True)
        @given(seeds, st.sampled_from(UNKNOWN))
        def check(seed, unknown):
            frame = letters(seed, 8)
            model = BayesNet(parents, smoothing=0, random_state=seed).fit(frame)
            moved = compare(model, frame, model.sample(6, random_state=seed), unknown, [0, 3])
            impossible.append(-math.inf in moved)

        check()
        # Worlds of probability zero are among them.
        assert any(impossible)

    def test_protected(self):
        frame = letters(1, 10)
        protect = {"b": "a", "c": None}
        model = BayesNet(2, protect=protect, smoothing=0, random_state=1).fit(frame)
        for unknown in UNKNOWN:
            compare(model, frame, model.sample(8, random_state=1), unknown, [0, 3])


def mixed(seed, rows):
    """A table with gaps and a special value in a number."""
    rng = np.random.default_rng(seed)
    frame = letters(seed, rows, "abd")
    x = rng.integers(1, 4, rows) + 2.0 * (frame["a"] == "a0").to_numpy()
    x[rng.random(rows) < 0.2] = -8
    x[:2], x[2:4] = -8, 1
    x = pl.Series(x).set(pl.Series(rng.random(rows) < 0.2), None)
    frame = frame.insert_column(2, x.alias("x"))
    return frame, Schema.infer(frame).edit(
        "x", kind="integer", levels=(), special=(-8,), range=None
    )


VARIANTS = {
    "single records": {"minbucket": 1},
    "trees": {"minbucket": 3},
    "another order": {"minbucket": 2, "visit_sequence": ["d", "x", "b", "a"]},
    "strata": {"minbucket": 2, "strata": "b"},
    "strata of two columns": {"minbucket": 1, "strata": ["a", "b"]},
    "rules": {"minbucket": 1, "rules": ["if a == 'a0' then d = 'd0'", "if b == 'b1' then x = -8"]},
    "rules and strata": {"minbucket": 1, "strata": "b", "rules": ["if b == 'b1' then x = -8"]},
    "protect": {"minbucket": 1, "protect": {"b": "a"}},
    "keep": {"minbucket": 1, "keep": ["a"]},
    "keep and strata": {"minbucket": 2, "keep": ["a"], "strata": "a"},
    "few predictors": {"minbucket": 1, "max_predictors": 1},
    "few bins": {"minbucket": 2, "splits": "histogram"},
    "smoothed leaves": {"minbucket": 2, "smoothing_leaves": "auto"},
    "weakly smoothed leaves": {"minbucket": 1, "smoothing_leaves": 0.01},
    "some smoothed leaves": {"minbucket": 2, "smoothing_leaves": {"x": 3, "d": 0}, "strata": "b"},
    "smoothed leaves and rules": {
        "minbucket": 1,
        "smoothing_leaves": 2,
        "rules": ["if a == 'a0' then d = 'd0'", "if b == 'b1' then x = -8"],
    },
    "smoothed leaves and kept columns": {"smoothing_leaves": "auto", "keep": ["a"]},
}


class TestTrees:
    @pytest.mark.parametrize("seeds", [[0], pytest.param([1, 2], marks=pytest.mark.slow)])
    @pytest.mark.parametrize("variant", VARIANTS)
    def test_trees(self, variant, seeds, caplog, monkeypatch):
        caplog.set_level(logging.ERROR)
        monkeypatch.setattr(binned, "MOST_BINS", 4)
        for seed in seeds:
            frame, schema = mixed(seed, 24)
            model = Cart(**({"smoothing_leaves": 0} | VARIANTS[variant]), random_state=1).fit(
                frame, schema
            )
            synthetic = model.sample(random_state=seed)
            drawn = [name for name in frame.columns if name not in model.keep]
            moved = [
                compare(model, frame, synthetic, unknown, [0, 5, 11])
                for unknown in ([drawn[0]], ["b"], ["x"], ["d"], [drawn[0], "d"])
            ]
            # Something is learnt that is not certain.
            assert any(0 < abs(m) < math.inf for m in moved[0])

    def test_all_of_a_record(self):
        frame, schema = mixed(7, 15)
        model = Cart(minbucket=2, smoothing_leaves=0, random_state=1).fit(frame, schema)
        moved = compare(model, frame, model.sample(8, random_state=1), frame.columns, [0, 9])
        assert -math.inf in moved

    def test_all_of_a_record_that_smoothed_leaves_leave_possible(self):
        frame, schema = mixed(7, 15)
        model = Cart(minbucket=2, smoothing_leaves="auto", random_state=1).fit(frame, schema)
        moved = compare(model, frame, model.sample(8, random_state=1), frame.columns, [0, 9])
        assert np.isfinite(moved).all()

    def test_a_rule_that_the_original_breaks(self, caplog):
        caplog.set_level(logging.ERROR)
        frame = letters(3, 20)
        model = Cart(minbucket=2, rules=["if a == 'a1' then b = 'b0'"], random_state=1).fit(frame)
        assert sum(model.violations_.values()) > 0
        for unknown in (["a"], ["b"], ["d"]):
            compare(model, frame, model.sample(random_state=1), unknown, range(6))

    def test_the_only_record_that_a_rule_leaves(self):
        # y is drawn from the one record of a1 alone: in a world without it, nothing could be.
        frame = pl.DataFrame({"a": ["a0"] * 9 + ["a1"], "y": ["u"] * 9 + ["v"]})
        model = Cart(
            minbucket=1, rules=["if a == 'a0' then y = 'u'"], smoothing_leaves=0, random_state=1
        ).fit(frame)
        synthetic = pl.DataFrame({"a": ["a0", "a0", "a1"], "y": ["u", "u", "v"]})
        moved = compare(model, frame, synthetic, ["a"], [0, 9])
        assert moved[2:] == [-math.inf, 0]
        # A second one would be drawn from, too: y is v in one of two.
        assert moved[1] == pytest.approx(math.log((8 / 9) ** 2 * 2 * 1 / 2))
        release = Release.of(model, frame, synthetic)
        tables = [table for table in model.sampling_tables() if table.name == "y"]
        alone = FixedLikelihood.of(tables, [release], ["a"])
        found = alone.log_likelihoods(
            release.original.take(np.array([9])), Candidates.grid(("a",), (2,))
        )
        assert found.tolist() == [[-math.inf, 0]]

    def test_the_candidate_goes_another_way_in_later_trees(self):
        # y follows x: below 5 it is u, from 5 v. All that is not x = 9 is drawn alike, so that x
        # of the record with x = 9, y = v, and v in the release under x = 9, tells by the tree of y.
        frame = pl.DataFrame({"x": [1.0] * 10 + [9.0] * 10, "y": ["u"] * 10 + ["v"] * 10})
        model = Cart(minbucket=5, smoothing_leaves=0, random_state=1).fit(frame)
        assert model.sequences_[0].columns[1].value.tree.leaves == 2
        synthetic = pl.DataFrame({"x": [1.0, 9.0], "y": ["u", "v"]})
        # x: 10/20 of each; if the last record were 1, 11/20 and 9/20. y: then u has 10/11 in the
        # leaf of x = 1, which holds one v. So the odds of 1 against 9 are 99/100 times 10/11.
        odds = 11 / 10 * 9 / 10 * 10 / 11
        attack = strong_attacker(model, frame, synthetic, unknown="x", records=[19])
        assert attack.posterior[0] == pytest.approx(1 / (1 + odds), abs=1e-12)


def test_tables_that_depend_on_nothing_unknown_are_left_out():
    frame = letters(1, 30)
    model = BayesNet(1, [("a", "b"), ("b", "c"), ("a", "d")], random_state=1).fit(frame)
    release = Release.of(model, frame, model.sample())
    found = FixedLikelihood.of(model.sampling_tables(), [release], ["b"])
    assert [counts.table.name for counts in found.tables] == ["b", "c"]
    assert found.columns == {"a", "b", "c"}
    assert found.left_out == ()


def test_tables_of_withheld_columns_are_kept_for_a_prior():
    frame = letters(1, 30)
    model = BayesNet(1, [("a", "b"), ("b", "c"), ("a", "d")], random_state=1).fit(frame)
    release = Release.of(model, frame, model.sample().drop("b"))
    found = FixedLikelihood.of(model.sampling_tables(), [release], ["b"])
    assert not found.tables
    assert found.left_out == ("c",)
    assert [counts.table.name for counts in found.unseen] == ["b", "c"]
    whole = FixedLikelihood.of(
        model.sampling_tables(), [Release.of(model, frame, model.sample())], ["b"]
    )
    candidates = Candidates.grid(("b",), (release.original.cardinality("b"),))
    np.testing.assert_array_equal(
        found.predictions(release.original, candidates),
        whole.predictions(release.original, candidates),
    )
    assert not found.log_likelihoods(release.original, candidates).any()


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
    @pytest.mark.parametrize("parents", [0, 1, 2, pytest.param(3, marks=pytest.mark.slow)])
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
                    record = [codes[c] for codes in candidates.columns]
                    world = replaced(original, i, original.names, record)
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
        monkeypatch.setattr("understudy.risk.strong.fixed._MOST_INDEXED", 0)
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
        add_predictions(counts.tally, own, other, pairs, 0.5, total)
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
