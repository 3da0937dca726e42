"""Tables to compare, and orders that content alone decides."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data import Coded
from understudy.errors import ParameterError
from understudy.utility import association, marginals, prediction, propensity
from understudy.utility.tables import content_order


@given(
    rows=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12),
    shuffle=st.randoms(use_true_random=False),
)
def test_the_same_records_have_the_same_order(rows, shuffle):
    other = shuffle.sample(rows, len(rows))
    first = Coded.from_arrays(dict(zip("ab", np.array(rows).T, strict=True)))
    second = Coded.from_arrays(dict(zip("ba", np.array(other).T[::-1], strict=True)))
    one, two = (table.take(content_order(table)) for table in (first, second))
    assert one == two.select("ab")
    assert list(zip(*one.columns, strict=True)) == sorted(rows)


@pytest.mark.parametrize(
    "measure", [marginals, association, propensity, lambda table: prediction(table, target="x")]
)
def test_one_table_is_not_enough(measure):
    with pytest.raises(ParameterError, match="no synthetic table to compare"):
        measure(pl.DataFrame({"x": ["a", "b"], "y": [1, 2]}))
