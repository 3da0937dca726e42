"""How often the values of each synthetic record occur in the original and in the synthetic table.

Both tables are stacked and grouped at once, so that values are compared exactly. Before that, each
column is brought to one type in which equal values are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.data.alignment import stack_column
from understudy.data.frames import Frame, to_arrow, to_narwhals
from understudy.errors import DataError, ParameterError, unknown_columns

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Matches:
    """For each synthetic record, how many records of each table have its values.

    Parameters
    ----------
    original : ndarray
        Records of the original.
    synthetic : ndarray
        Records of the synthetic table, itself among them.
    """

    original: NDArray[np.integer]
    synthetic: NDArray[np.integer]


def common_columns(
    original: Frame, synthetic: Frame, keys: str | Sequence[str] | None
) -> tuple[str, ...]:
    """Return the columns to compare: the keys, or all that both tables have."""
    tables = {
        "original": to_narwhals(original).columns,
        "synthetic": to_narwhals(synthetic).columns,
    }
    if keys is None:
        shared = tuple(name for name in tables["original"] if name in tables["synthetic"])
        if not shared:
            raise DataError("The original and the synthetic table have no column in common.")
        return shared
    names = (keys,) if isinstance(keys, str) else tuple(dict.fromkeys(keys))
    problems = [
        f"In the {table} table, {problem}"
        for table, columns in tables.items()
        for problem in unknown_columns(names, columns)
    ]
    if problems:
        raise ParameterError(f"keys must name columns of both tables. {' '.join(problems)}")
    if not names:
        raise ParameterError("keys names no column; leave it out to compare all columns.")
    return names


def count_matches(original: Frame, synthetic: Frame, names: Sequence[str]) -> Matches:
    """Count, for each synthetic record, the records of both tables with the same values.

    Examples
    --------
    >>> import polars as pl
    >>> matches = count_matches(pl.DataFrame({"a": [1, 2, 2]}), pl.DataFrame({"a": [2, 3]}), ["a"])
    >>> matches.original.tolist(), matches.synthetic.tolist()
    ([2, 0], [1, 1])
    """
    import polars as pl

    tables = [
        to_arrow(to_narwhals(table).select(*names).to_native()) for table in (original, synthetic)
    ]
    columns: list[pl.Series] = []
    for name in names:
        arrays = [table[name].chunk(0) for table in tables]
        columns += stack_column(name, dict(zip(("original", "synthetic"), arrays, strict=True)))
    rows = [len(table) for table in tables]
    stacked = pl.DataFrame([column.alias(str(place)) for place, column in enumerate(columns)])
    side = pl.Series("side", np.repeat(np.array([0, 1], np.uint32), rows))
    keys = stacked.columns
    counts = stacked.with_columns(side).select(
        all=pl.len().over(keys), synthetic=pl.col("side").sum().over(keys)
    )[rows[0] :]
    ours = counts["synthetic"].to_numpy().astype(np.int64)
    return Matches(counts["all"].to_numpy() - ours, ours)
