"""Checks of arguments: what they let through, and what they say of the rest."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.arguments import check_seed
from understudy.errors import ParameterError


@pytest.mark.parametrize("seed", [-1, 2**32, 1.5, True, None, "7"])
def test_other_seeds_are_refused(seed):
    with pytest.raises(ParameterError, match="random_state must be a whole number from 0"):
        check_seed(seed)


def test_seeds():
    assert check_seed(np.int64(3)) == 3
    assert check_seed(2**32 - 1) == 2**32 - 1
