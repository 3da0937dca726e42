"""How models vote, against a plain twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from understudy.risk.attacker_votes import majority


@given(
    votes=st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=6),
    counts=st.lists(st.integers(0, 3), min_size=5, max_size=5),
)
def test_majority_agrees_with_a_plain_twin(votes, counts):
    expected = [
        min(set(column), key=lambda code: (-column.count(code), -counts[code], code))
        for column in zip(*votes, strict=True)
    ]
    found = majority([np.array(vote) for vote in votes], np.array(counts))
    assert found.tolist() == expected
