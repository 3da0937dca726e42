"""The paper's simulated table of four variables, whose 1,000th record is like no other."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
from numpy.typing import NDArray

VARIABLES = ("var1", "var2", "var3", "var4")
CELLS = tuple("".join(values) for values in product("01", repeat=len(VARIABLES)))
"""The 16 combinations of the four variables, in the order of the paper."""
UNIQUE = "1111"
"""The combination of the one disclosive record."""


def cell_counts(table: pl.DataFrame) -> NDArray[np.int64]:
    """Return how many records of a table have each of the 16 combinations.

    Examples
    --------
    >>> from understudy.data import load
    >>> dict(zip(CELLS, cell_counts(load("buyer_beware")).tolist(), strict=True))["1111"]
    1
    """
    number = table.select(
        pl.fold(0, lambda so_far, value: 2 * so_far + value, [pl.col(name) for name in VARIABLES])
    ).to_series()
    return np.bincount(number.to_numpy(), minlength=len(CELLS))
