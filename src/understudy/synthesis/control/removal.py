"""Remove synthetic records that look like somebody of the original.

A record is unique if no other record of its table has the same values in the keys. Whoever knows
these values of one person finds exactly that record.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.data.frames import Frame, to_narwhals
from understudy.synthesis.control.change import Change, share_of_rows
from understudy.synthesis.control.matching import common_columns, count_matches


def remove_replicated_uniques(
    original: Frame, synthetic: Frame, *, keys: str | Sequence[str] | None = None
) -> Change:
    """Remove synthetic records that are unique and match a record that is unique in the original.

    These are the replicated uniques that the measure repU counts: a person who is the only one
    with these values in the original finds one record with them in the synthetic table, and takes
    it for their own.

    Parameters
    ----------
    original : DataFrame or Table
        The original table, of pandas, polars or pyarrow.
    synthetic : DataFrame or Table
        The synthetic table. It is not changed.
    keys : str or sequence of str, optional
        Columns to compare; all that the two tables share if not given.

    Returns
    -------
    Change
        The table without these records.

    Raises
    ------
    ParameterError
        If a key is not a column of both tables.
    DataError
        If a table cannot be read, or a column holds numbers in one and text in the other.

    Notes
    -----
    Missing is a value: it equals missing, and NaN is missing. Values are compared, not types: a
    category equals its text, 1 equals 1.0, and a date its midnight. If both tables hold floats,
    they are compared in the lower of the two precisions.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"age": [31, 45, 45], "sex": ["f", "m", "m"]})
    >>> synthetic = pl.DataFrame({"age": [31, 45, 28], "sex": ["f", "m", "f"]})
    >>> remove_replicated_uniques(original, synthetic).frame.rows()
    [(45, 'm'), (28, 'f')]
    """
    names = common_columns(original, synthetic, keys)
    matches = count_matches(original, synthetic, names)
    removed = (matches.synthetic == 1) & (matches.original == 1)
    return _without(
        synthetic, removed, f"unique in both tables, with the same values, {_by(names)}"
    )


def remove_uniques_in_original(
    original: Frame, synthetic: Frame, *, keys: str | Sequence[str] | None = None
) -> Change:
    """Remove synthetic records that are unique and match any record of the original.

    This removes more than `remove_replicated_uniques`: several people of the original may have
    the values.

    Parameters
    ----------
    original : DataFrame or Table
        The original table, of pandas, polars or pyarrow.
    synthetic : DataFrame or Table
        The synthetic table. It is not changed.
    keys : str or sequence of str, optional
        Columns to compare; all that the two tables share if not given.

    Returns
    -------
    Change
        The table without these records.

    Raises
    ------
    ParameterError
        If a key is not a column of both tables.
    DataError
        If a table cannot be read, or a column holds numbers in one and text in the other.

    See Also
    --------
    remove_replicated_uniques : How values are compared is said there.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"age": [31, 45, 45], "sex": ["f", "m", "m"]})
    >>> synthetic = pl.DataFrame({"age": [31, 45, 28], "sex": ["f", "m", "f"]})
    >>> print(remove_uniques_in_original(original, synthetic))
    Removed 2 of 3 rows (66.7 %) that are unique and occur in the original, by age and sex.
    """
    names = common_columns(original, synthetic, keys)
    matches = count_matches(original, synthetic, names)
    removed = (matches.synthetic == 1) & (matches.original > 0)
    return _without(synthetic, removed, f"unique and occur in the original, {_by(names)}")


def _without(synthetic: Frame, removed: NDArray[np.bool_], reason: str) -> Change:
    rows = np.flatnonzero(removed)
    frame = to_narwhals(synthetic)[np.flatnonzero(~removed)].to_native()
    text = f"Removed {share_of_rows(len(rows), len(removed))} that are {reason}."
    return Change(frame, rows, len(removed), text)


def _by(names: Sequence[str]) -> str:
    """Name the columns that were compared, or say how many they are."""
    if len(names) > 5:
        return f"by {len(names)} columns"
    return f"by {' and '.join(filter(None, (', '.join(names[:-1]), names[-1])))}"
