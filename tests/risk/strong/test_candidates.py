"""What a record might be."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from understudy.data.coded import Coded
from understudy.errors import ParameterError
from understudy.risk.strong.candidates import Candidates, check_records, read_unknown

TABLE = Coded.from_arrays({"a": [1, 0, 1, 1], "b": [2, 0, 2, 1], "c": [0, 1, 0, 1]})


def rows(coded):
    return list(zip(*(codes.tolist() for codes in coded.columns), strict=True))


def test_grid_is_in_lexicographic_order():
    sizes = (2, 1, 3)
    grid = Candidates.grid(("a", "b", "c"), sizes)
    assert rows(grid.codes) == list(itertools.product(*map(range, sizes)))
    assert len(grid) == 6
    assert grid.names == ("a", "b", "c")
    assert grid.codes.cardinalities == sizes


def test_occurring_are_those_of_any_table_once():
    other = Coded.from_arrays({"a": [0], "b": [2], "c": [0]}, {"a": 2, "b": 3, "c": 2})
    found = Candidates.occurring(("a", "b"), [TABLE, other])
    assert rows(found.codes) == [(0, 0), (0, 2), (1, 1), (1, 2)]


@pytest.mark.parametrize(
    "candidates",
    [Candidates.grid(("a", "b"), (2, 3)), Candidates.occurring(("a", "b"), [TABLE])],
    ids=["grid", "occurring"],
)
def test_find_is_the_candidate_of_each_record(candidates):
    found = candidates.find(TABLE)
    assert [rows(candidates.codes)[number] for number in found] == [(1, 2), (0, 0), (1, 2), (1, 1)]


def test_occurring_that_are_all_are_found_alike():
    full = Coded.from_arrays({"a": [1, 0, 1, 0], "b": [1, 1, 0, 0]})
    occurring = Candidates.occurring(("a", "b"), [full])
    grid = Candidates.grid(("a", "b"), (2, 2))
    assert rows(occurring.codes) == rows(grid.codes)
    assert occurring.find(full).tolist() == grid.find(full).tolist() == [3, 1, 2, 0]


def test_worlds():
    candidates = Candidates.grid(("b",), (3,))
    found = candidates.worlds(TABLE.take(np.array([0, 1])), ["b", "c"])
    assert found["b"].tolist() == [0, 1, 2, 0, 1, 2]
    assert found["c"].tolist() == [0, 0, 0, 1, 1, 1]
    assert list(found) == ["b", "c"]


def test_labels():
    grid = Candidates.grid(("a", "b"), (2, 2))
    words = {"a": ("no", "yes"), "b": ("low", "high")}
    assert grid.labels(words, np.array([1, 2])) == ["no, high", "yes, low"]
    assert Candidates.grid(("b",), (2,)).labels(words, np.array([1, 1])) == ["high", "high"]


class TestUnknown:
    COLUMNS = ("sex", "age", "*")

    def test_names_in_the_order_given(self):
        assert read_unknown(["age", "sex"], self.COLUMNS) == ("age", "sex")
        assert read_unknown(iter(["age"]), self.COLUMNS) == ("age",)

    def test_a_column_that_is_called_like_the_whole(self):
        assert read_unknown("*", self.COLUMNS) == ("*",)
        assert read_unknown("*", ("sex", "age")) == ("sex", "age")
        with pytest.raises(ParameterError, match='write "\\*" alone'):
            read_unknown(["*", "age"], ("sex", "age"))

    def test_identifiers(self):
        with pytest.raises(ParameterError, match="'id' is an identifier"):
            read_unknown(["age", "id"], self.COLUMNS, ["id"])

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ("aeg", r"unknown: .*'aeg'.*mean 'age'"),
            ([], "at least one column"),
            (None, "got None"),
            (1.5, "got 1.5"),
        ],
    )
    def test_wrong(self, wrong, message):
        with pytest.raises(ParameterError, match=message):
            read_unknown(wrong, self.COLUMNS)


def test_records():
    assert check_records(None, 3).tolist() == [0, 1, 2]
    assert check_records(2, 3).tolist() == [2]
    assert check_records([2, 0, 2], 3).tolist() == [2, 0, 2]
    assert check_records([True, False, True], 3).tolist() == [0, 2]
    assert check_records(np.array([1], np.uint8), 3).dtype == np.int64
    for wrong in ([True], [0.0], "a", [[0]], [[0], [1, 2]], {"a": 1}):
        with pytest.raises(ParameterError, match="records must be row numbers from 0"):
            check_records(wrong, 3)
    for outside in ([3], [-1]):
        with pytest.raises(ParameterError, match=rf"no row {outside[0]}; .* rows 0 to 2"):
            check_records(outside, 3)
    for nothing in ([], [False, False, False]):
        with pytest.raises(ParameterError, match="at least one row"):
            check_records(nothing, 3)
