"""Orders that content alone decides."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data import Coded
from understudy.errors import ParameterError
from understudy.utility.draws import check_seed, content_order


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


@pytest.mark.parametrize("seed", [-1, 2**32, 1.5, True, None, "7"])
def test_other_seeds_are_refused(seed):
    with pytest.raises(ParameterError, match="random_state is a whole number from 0"):
        check_seed(seed)


def test_seeds():
    assert check_seed(np.int64(3)) == 3
    assert check_seed(2**32 - 1) == 2**32 - 1
