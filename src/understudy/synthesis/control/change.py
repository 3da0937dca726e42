"""What a step of disclosure control did to a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from understudy.data.frames import Frame
from understudy.wording import percent


@dataclass(frozen=True, eq=False)
class Change:
    """The table after a step of disclosure control, and what the step did.

    Parameters
    ----------
    frame : DataFrame or Table
        The new table, of the same library and types as the table given.
    rows : ndarray of int64
        Positions of the rows that were changed or removed, in the table given, from 0 up.
    total : int
        Number of rows of the table given.
    text : str
        What was done, as one sentence.
    below, above : mapping of str to int
        After top and bottom coding: values raised to the bottom and lowered to the top, by column.
    """

    frame: Frame = field(repr=False)
    rows: NDArray[np.int64] = field(repr=False)
    total: int
    text: str
    below: Mapping[str, int] = field(default_factory=dict)
    above: Mapping[str, int] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Number of rows that were changed or removed."""
        return len(self.rows)

    def to_text(self) -> str:
        """Return what was done, as one plain sentence."""
        return self.text

    def __str__(self) -> str:
        return self.text


def share_of_rows(count: int, total: int) -> str:
    """Say how many of a table's rows `count` is.

    Examples
    --------
    >>> share_of_rows(12, 1473)
    '12 of 1,473 rows (0.8%)'
    """
    share = f" ({percent(count / total)})" if total else ""
    return f"{count:,} of {total:,} rows{share}"
