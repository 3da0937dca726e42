"""Remove synthetic records that look like somebody of the original.

A record is unique if no other record of its table has the same values in the keys. Whoever knows
these values of one person finds exactly that record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import as_names
from understudy.counting import group_ids
from understudy.data.coded import Coded
from understudy.data.frames import Frame, to_narwhals
from understudy.data.joint_coding import CodedTables
from understudy.errors import DataError, ParameterError, unknown_columns
from understudy.synthesis.control.change import Change, share_of_rows
from understudy.wording import quoted


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
    reason = "are unique in both tables, with the same values"
    return _without(synthetic, removed, reason, names)


def remove_uniques_in_original(
    original: Frame, synthetic: Frame, *, keys: str | Sequence[str] | None = None
) -> Change:
    """Remove synthetic records that are unique and match any record of the original.

    This removes more than `remove_replicated_uniques`: several people of the original may have
    the values.

    Parameters
    ----------
    original, synthetic, keys
        As for `remove_replicated_uniques`.

    Returns
    -------
    Change
        The table without these records.

    See Also
    --------
    remove_replicated_uniques : Says how values are compared, and what can be wrong.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"age": [31, 45, 45], "sex": ["f", "m", "m"]})
    >>> synthetic = pl.DataFrame({"age": [31, 45, 28], "sex": ["f", "m", "f"]})
    >>> print(remove_uniques_in_original(original, synthetic))
    Removed 2 of 3 rows (66.7%) that are unique and occur in the original, by 'age' and 'sex'.
    """
    names = common_columns(original, synthetic, keys)
    matches = count_matches(original, synthetic, names)
    removed = (matches.synthetic == 1) & (matches.original > 0)
    return _without(synthetic, removed, "are unique and occur in the original", names)


def _without(
    synthetic: Frame, removed: NDArray[np.bool_], reason: str, names: Sequence[str]
) -> Change:
    rows = np.flatnonzero(removed)
    frame = to_narwhals(synthetic)[np.flatnonzero(~removed)].to_native()
    compared = f"{len(names)} columns" if len(names) > 5 else quoted(names)
    text = f"Removed {share_of_rows(len(rows), len(removed))} that {reason}, by {compared}."
    return Change(frame, rows, len(removed), text)


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
    names = tuple(dict.fromkeys(as_names(keys)))
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
    both = CodedTables.of({"original": original, "synthetic": synthetic}, names)
    groups = group_ids(Coded.concatenate([both["original"], both["synthetic"]]), names)
    theirs, ours = np.split(groups.ids, [len(both["original"])])
    return Matches(
        np.bincount(theirs, minlength=groups.count)[ours],
        np.bincount(ours, minlength=groups.count)[ours],
    )
