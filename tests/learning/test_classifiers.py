"""The median of the nearest records, against a slow twin."""

from __future__ import annotations

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.learning import nearest
from understudy.learning.classifiers import NearestMedian

keys = st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 3))
beyond = st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))


@pytest.mark.parametrize("cells", [2**25, 40])
@given(
    st.lists(st.tuples(keys, st.integers(-9, 9)), min_size=1, max_size=25),
    st.lists(keys | beyond, min_size=1, max_size=10),
)
def test_median_of_the_nearest_is_that_of_a_loop(cells, records, asked):
    model = NearestMedian().fit(
        np.array([key for key, _ in records]), np.array([float(number) for _, number in records])
    )
    expected = []
    for one in asked:
        far = [sum(a != b for a, b in zip(one, key, strict=True)) for key, _ in records]
        near = [number for (_, number), d in zip(records, far, strict=True) if d == min(far)]
        expected.append(statistics.median_low(near))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nearest, "_CELLS", cells)
        assert model.predict(np.array(asked)).tolist() == expected
