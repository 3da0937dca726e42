"""The predictive search: gains for left-out records, constraints, ties, kernels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy import load
from understudy.counting import LocalEngine, pairwise_information
from understudy.data import Codec
from understudy.data.coded import Coded
from understudy.synthesis.bayes import predictive
from understudy.synthesis.bayes.constraints import build_constraints
from understudy.synthesis.bayes.predictive import (
    _Question,
    _SearchInBatches,
    _SearchInMemory,
    _Views,
    predictive_search,
)
from understudy.synthesis.bayes.predictive_kernels import order_records, split_cells
from understudy.synthesis.shrinkage import ShrunkRows
from understudy.synthesis.tables import ConditionalTable


@pytest.fixture(scope="module")
def survey():
    frame = load("cmc")
    return Codec.fit(frame).encode(frame)


def found(coded, min_count=1, engine=None, **arguments):
    rules = build_constraints(coded.names, **({"parents": 3} | arguments))
    return predictive_search(coded, rules, min_count=min_count, engine=engine)


def left_out(coded, child, parents, min_count):
    """The log likelihood of left-out records of a table with automatic strengths."""
    names = [coded.names[place] for place in parents]
    table = ConditionalTable.of(coded, coded.names[child], names).shrunk(min_count=min_count)
    return ShrunkRows(table.nested, table.donors, table.shrinkage).left_out()


@st.composite
def coded_tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = draw(st.lists(st.integers(2, 4), min_size=4, max_size=4))
    rows = draw(st.integers(2, 60))
    arrays = {name: rng.integers(0, size, rows) for name, size in zip("abcd", sizes, strict=True)}
    arrays["a"] = np.where(rng.random(rows) < 0.5, arrays["b"] % sizes[0], arrays["a"])
    return Coded.from_arrays(arrays, dict(zip("abcd", sizes, strict=True)))


@given(coded_tables(), st.integers(0, 2), st.integers(1, 3))
def test_a_gain_is_the_difference_of_two_tables(coded, known, min_count):
    rules = build_constraints(coded.names, parents=3)
    views = _Views({}, (), len(coded.names))
    parents, candidates = [1, 2, 3][:known], [1, 2, 3][known:]
    asked = _Question(0, tuple(parents), candidates)
    steps = _SearchInMemory(coded, views, rules, min_count, 1).gains(asked)
    (counted,) = _SearchInBatches(coded, views, rules, min_count, LocalEngine()).answers([asked])
    assert counted.tolist() == steps.tolist()
    gains = steps * predictive._STEP * len(coded)
    before = left_out(coded, 0, parents, min_count)
    for gain, candidate in zip(gains, candidates, strict=True):
        if gain == 0:
            continue  # no row is split, or none that a left-out record leaves enough of
        after = left_out(coded, 0, [*parents, candidate], min_count)
        assert gain == pytest.approx(after - before, abs=1e-7)


def test_parents_are_those_of_a_slow_search(survey):
    coded = survey.take(np.arange(0, len(survey), 3))
    structure = found(coded, root="method")
    for child in range(len(coded.names)):
        placed = structure.order[: structure.order.index(child)]
        chosen: list[int] = []
        total = left_out(coded, child, (), 1)
        while len(chosen) < 3:
            totals = {
                place: left_out(coded, child, [*chosen, place], 1)
                for place in sorted(placed)
                if place not in chosen
            }
            if not totals or max(totals.values()) <= total + 1 + np.log(len(totals)):
                break
            best = max(totals, key=totals.__getitem__)
            chosen.append(best)
            total = totals[best]
        assert structure.parents[child] == tuple(chosen)


def test_the_next_attribute_is_the_one_of_which_most_is_told(survey):
    structure = found(survey, root="method")
    rules = build_constraints(survey.names, parents=3)
    gains = _SearchInMemory(survey, _Views({}, (), len(survey.names)), rules, 1, 1).pairs()
    for place in range(1, len(structure.order)):
        before, later = list(structure.order[:place]), structure.order[place:]
        told = {one: gains[one, before].max(initial=0) for one in sorted(later)}
        assert structure.order[place] == max(told, key=told.__getitem__)


def test_what_is_unrelated_has_no_parents_and_a_copy_has_one():
    a, b = np.arange(480) % 3, np.arange(480) // 3 % 4
    coded = Coded.from_arrays({"a": a, "b": b, "copy": a, "constant": np.zeros(480, int)})
    structure = found(coded, root="a")
    assert structure.parents == ((), (), (0,), ())


def test_what_tells_nothing_is_seldom_a_parent():
    # Of ten columns without any relation, some parent or other gains more than nothing by chance.
    rng = np.random.default_rng(4)
    tables = [
        Coded.from_arrays({str(place): rng.integers(0, 4, 50) for place in range(10)})
        for _ in range(20)
    ]
    edges = [sum(map(len, found(coded).parents)) for coded in tables]
    assert np.mean(edges) < 2  # of 24 that there may be; 1.25 here


def test_two_parents_that_tell_nothing_alone_are_not_found():
    # The search adds one parent at a time, so it is blind to "c is 1 if a and b differ".
    a, b = np.arange(400) % 2, np.arange(400) // 2 % 2
    coded = Coded.from_arrays({"a": a, "b": b, "c": a ^ b})
    assert found(coded, order=["a", "b", "c"]).parents == ((), (), ())
    # If one of them is required, the other tells all.
    asked = found(coded, order=["a", "b", "c"], required=[("b", "c")])
    assert asked.parents == ((), (), (1, 0))


def test_ties_go_to_the_first_column():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 3, 200)
    coded = Coded.from_arrays({"x": a, "y": a, "z": a})
    structure = found(coded, root="y")
    assert structure.order == (1, 0, 2)
    assert structure.parents == ((1,), (), (0,))


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_nothing(survey, threads, monkeypatch):
    monkeypatch.setattr(predictive, "_THREADS_PAY", 0)
    assert found(survey, engine=LocalEngine(threads)) == found(survey)


@given(coded_tables(), st.integers(0, 2**32))
def test_the_order_of_records_does_not_matter(coded, seed):
    shuffled = coded.take(np.random.default_rng(seed).permutation(len(coded)))
    assert found(coded, root="a") == found(shuffled, root="a")


def test_constraints_are_kept(survey):
    structure = found(
        survey,
        parents=2,
        root="method",
        required=[("religion", "age"), ("working", "age")],
        forbidden=[("children", "education")],
    )
    names = survey.names
    parents = {
        names[child]: {names[place] for place in own} for child, own in enumerate(structure.parents)
    }
    assert names[structure.order[0]] == "method"
    assert parents["age"] == {"religion", "working"}
    assert "children" not in parents["education"]
    assert max(map(len, parents.values())) <= 2
    assert all(not own for own in found(survey, parents=0).parents)


def test_the_first_attribute_is_the_one_that_varies_most(survey):
    entropies = np.diag(pairwise_information(survey))
    assert found(survey).order[0] == np.argmax(entropies)
    # One that may not be a parent would be a useless beginning.
    name = survey.names[np.argmax(entropies)]
    forbidden = [(name, other) for other in survey.names if other != name]
    rest = np.where(np.array(survey.names) == name, -1.0, entropies)
    assert found(survey, forbidden=forbidden).order[0] == np.argmax(rest)


def test_of_attributes_that_vary_alike_the_first_begins():
    rng = np.random.default_rng(5)
    values = rng.integers(0, 4, 60)
    coded = Coded.from_arrays({"flat": values // 2, "a": values, "b": 3 - values})
    assert found(coded).order[0] == 1


def test_sorting_kernel_equals_its_twin():
    rng = np.random.default_rng(2)
    groups, child = (rng.integers(0, size, 200).astype(np.uint32) for size in (7, 5))
    order = np.empty(200, np.int64)
    order_records(groups, 7, child, 5, order)
    np.testing.assert_array_equal(order, np.lexsort((child, groups)))


@pytest.mark.parametrize("least", [1, 2, 5])
def test_splitting_kernel_equals_its_twin(least):
    rng = np.random.default_rng(3)
    for _ in range(20):
        rows, values, codes = (rng.integers(0, size, 60).astype(np.uint32) for size in (9, 3, 4))
        order = np.lexsort((values, rows))
        rows, values, codes = rows[order], values[order], codes[order]
        starts = np.append(np.flatnonzero(np.diff(rows, prepend=99)), 60)
        cells = rows.astype(int) * 3 + values
        begins = np.append(np.flatnonzero(np.diff(cells, prepend=-1)), 60)
        filled = tuple(np.empty(60, np.int64) for _ in range(3))
        count = split_cells(starts, begins, codes, 4, least, filled)
        got = sorted(zip(*(part[:count].tolist() for part in filled), strict=True))
        expected = []
        for number, begin in enumerate(begins[:-1]):
            for code in range(4):
                joint = np.sum((cells == cells[begin]) & (codes == code))
                whole = np.sum((rows == rows[begin]) & (codes == code))
                if joint and whole - 1 >= least:
                    expected.append((joint, whole, number))
        assert got == sorted(expected)


def test_a_parent_that_splits_nothing_tells_nothing():
    starts, begins = np.array([0, 3, 6]), np.array([0, 1, 3, 5, 6])
    filled = tuple(np.empty(6, np.int64) for _ in range(3))
    codes = np.array([1, 1, 1, 0, 0, 0], np.uint32)
    assert split_cells(starts, begins, codes, 2, 1, filled) == 0


def test_columns_of_a_wide_table_try_what_tells_most_of_them_alone(survey, monkeypatch):
    monkeypatch.setattr(predictive, "WIDE", 5)
    rules = build_constraints(survey.names, parents=3, required=[("religion", "children")])
    information = pairwise_information(survey)
    every = predictive_search(survey, rules)
    monkeypatch.setattr(predictive, "SHORTLIST", len(survey.names) - 1)
    assert predictive_search(survey, rules, information=information) == every

    monkeypatch.setattr(predictive, "SHORTLIST", 2)
    found = predictive_search(survey, rules, information=information)
    assert found == predictive_search(Batches(survey), rules, information=information)
    assert found != every
    free = np.array([len(np.unique(column)) - 1 for column in survey.columns])
    told = information - np.outer(free, free) / (2 * np.log(2) * len(survey))
    np.fill_diagonal(told, -np.inf)
    children, religion = survey.names.index("children"), survey.names.index("religion")
    for child, parents in enumerate(found.parents):
        best = {*np.argsort(-told[child])[:2].tolist(), *([religion] * (child == children))}
        assert set(parents) <= best
    assert religion in found.parents[children]


class Batches:
    def __init__(self, coded):
        self.coded = coded

    def coded_batches(self):
        yield self.coded.take(slice(0, 700))
        yield self.coded.take(slice(700, None))
