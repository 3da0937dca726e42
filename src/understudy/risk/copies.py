"""Whether a release holds the original's records themselves."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from understudy.data.joint_coding import CodedTables

_LARGEST_CODE = 2**62
"""Joint codes stay below this, so that they never overflow a signed 64-bit integer."""


def copied_records_of(
    tables: CodedTables, columns: Sequence[str] | None = None
) -> tuple[float, int]:
    """Return the share of the original's one-of-a-kind records that the release holds.

    Parameters
    ----------
    tables : CodedTables
        The tables "original" and "synthetic", perhaps among others.
    columns : sequence of str, optional
        The columns that are compared, all by default; all of them must agree.

    Returns
    -------
    share : float
        nan if every original record is like another one.
    records : int
        Original records that no other one is like.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"age": [30, 30, 40, 50], "job": ["a", "a", "b", "c"]})
    >>> tables = CodedTables.of({"original": original, "synthetic": original[2:3]})
    >>> copied_records_of(tables)  # of (40, b) and (50, c), one
    (0.5, 2)
    """
    both = tables.select(("original", "synthetic"), columns)
    original, synthetic = both["original"], both["synthetic"]
    ours = np.arange(len(original) + len(synthetic)) < len(original)
    rows = np.arange(len(ours))
    codes, bound, alone = np.zeros(len(ours), np.int64), 1, 0
    # Columns of many levels first: they leave few records in question for all others.
    for name in sorted(both.columns, key=original.cardinality, reverse=True):
        size = original.cardinality(name)
        if bound * size > _LARGEST_CODE:
            groups, codes = np.unique(codes, return_inverse=True)
            own = np.bincount(codes[ours[rows]], minlength=len(groups))
            released = np.bincount(codes[~ours[rows]], minlength=len(groups))
            settled = (own == 1) & (released == 0)
            alone += int(settled.sum())
            kept = ~settled[codes] & (own > 0)[codes]
            rows, codes, bound = rows[kept], codes[kept], len(groups)
        column = np.concatenate([original[name], synthetic[name]])[rows]
        codes = codes * size + column
        bound *= size
    groups, codes = np.unique(codes, return_inverse=True)
    own = np.bincount(codes[ours[rows]], minlength=len(groups))
    released = np.bincount(codes[~ours[rows]], minlength=len(groups))
    alone += int((own == 1).sum())
    if not alone:
        return math.nan, 0
    return float(np.count_nonzero((own == 1) & (released > 0)) / alone), alone
