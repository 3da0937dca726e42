"""How each column is distributed in both tables; see `understudy.utility.shares`."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.data.frames import Frame
from understudy.utility.shares import NOT_SHOWN, ColumnShares, column_shares_of
from understudy.utility.tables import both_tables

__all__ = ["NOT_SHOWN", "ColumnShares", "column_shares"]


def column_shares(
    original: Frame, synthetic: Frame, columns: Sequence[str]
) -> tuple[ColumnShares, ...]:
    """Return the shares of the values of each column in the original and in a release."""
    return column_shares_of(both_tables(original, synthetic), columns)
