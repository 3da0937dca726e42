"""The unit of each record, by the columns that name it."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.units import unit_codes, without_gaps


def test_units_by_one_column_and_by_two():
    homes, people = pa.array([5, 5, 3, 5, 3]), pa.array(["a", "b", "a", "a", "a"])
    assert unit_codes([homes]).tolist() == [0, 0, 1, 0, 1]
    assert unit_codes([homes, people]).tolist() == [0, 1, 2, 0, 2]


def test_records_without_a_name_are_units_of_their_own():
    assert unit_codes([pa.array([None, 1, None, 1])]).tolist() == [0, 1, 2, 1]
    assert unit_codes([pa.array([np.nan, 1.0, np.nan])]).tolist() == [0, 1, 2]
    partly = [pa.array([1, 1, None]), pa.array([None, None, None], pa.int64())]
    assert unit_codes(partly).tolist() == [0, 0, 1]


def test_a_dictionary_names_units_too():
    array = pa.array(["x", "y", "x", None]).dictionary_encode()
    assert unit_codes([array]).tolist() == [0, 1, 0, 2]
    assert without_gaps(array).to_pylist() == ["x", "y", "x"]


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab")), min_size=1, max_size=30))
def test_units_are_the_different_combinations(pairs):
    codes = unit_codes([pa.array([one for one, _ in pairs]), pa.array([two for _, two in pairs])])
    assert len(np.unique(codes)) == len(set(pairs)) == codes.max() + 1
    assert all((codes[i] == codes[0]) == (pair == pairs[0]) for i, pair in enumerate(pairs))
