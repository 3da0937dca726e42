"""Steps of disclosure control on whole records: what a step did, removing records, labelling them.

A record is unique if no other record of its table has the same values in the keys. Whoever knows
these values of one person finds exactly that record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from understudy.arguments import as_names
from understudy.counting import group_ids
from understudy.data.coded import Coded
from understudy.data.frames import Frame, to_narwhals
from understudy.data.joint_coding import CodedTables
from understudy.errors import DataError, ParameterError, unknown_columns
from understudy.wording import percent, quoted


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


def label(synthetic: Frame, *, column: str = "synthetic", value: str = "synthetic") -> Change:
    """Add a first column that says of every row that it is synthetic.

    Parameters
    ----------
    synthetic : DataFrame or Table
        The synthetic table, of pandas, polars or pyarrow.
    column : str
        Name of the new column; it stands first, where a reader of the file sees it.
    value : str
        The text in every row.

    Returns
    -------
    Change
        The table with the new column.

    Raises
    ------
    ParameterError
        If the table has a column of that name, or a name or text is empty.

    Examples
    --------
    >>> import polars as pl
    >>> change = label(pl.DataFrame({"age": [31, 45]}))
    >>> change.frame.rows()
    [('synthetic', 31), ('synthetic', 45)]
    """
    wrapped = to_narwhals(synthetic)
    for argument, text in (("column", column), ("value", value)):
        if not isinstance(text, str) or not text:
            raise ParameterError(f"{argument} must be a text that is not empty; got {text!r}.")
    if column in wrapped.columns:
        raise ParameterError(
            f"The table already has a column {column!r}. Give another name with column=."
        )
    total = len(wrapped)
    marks = nw.new_series(column, [value] * total, nw.String, backend=wrapped.implementation)
    frame = wrapped.with_columns(marks).select(column, *wrapped.columns).to_native()
    text = f"Marked all {total:,} rows as {value!r}, in the new first column {column!r}."
    return Change(frame, np.arange(total), total, text)


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
    names = _common_columns(original, synthetic, keys)
    theirs, ours = count_matches(original, synthetic, names)
    reason = "are unique in both tables, with the same values"
    return _without(synthetic, (ours == 1) & (theirs == 1), reason, names)


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
    names = _common_columns(original, synthetic, keys)
    theirs, ours = count_matches(original, synthetic, names)
    reason = "are unique and occur in the original"
    return _without(synthetic, (ours == 1) & (theirs > 0), reason, names)


def _without(
    synthetic: Frame, removed: NDArray[np.bool_], reason: str, names: Sequence[str]
) -> Change:
    rows = np.flatnonzero(removed)
    frame = to_narwhals(synthetic)[np.flatnonzero(~removed)].to_native()
    compared = f"{len(names)} columns" if len(names) > 5 else quoted(names)
    text = f"Removed {share_of_rows(len(rows), len(removed))} that {reason}, by {compared}."
    return Change(frame, rows, len(removed), text)


def _common_columns(
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


def count_matches(
    original: Frame, synthetic: Frame, names: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many records of the original, and of its own table, have each one's values.

    Examples
    --------
    >>> import polars as pl
    >>> count_matches(pl.DataFrame({"a": [1, 2, 2]}), pl.DataFrame({"a": [2, 3]}), ["a"])
    (array([2, 0]), array([1, 1]))
    """
    both = CodedTables.of({"original": original, "synthetic": synthetic}, names)
    groups = group_ids(Coded.concatenate([both["original"], both["synthetic"]]), names)
    theirs, ours = np.split(groups.ids, [len(both["original"])])
    counts = (np.bincount(side, minlength=groups.count) for side in (theirs, ours))
    before, after = (found[ours] for found in counts)
    return before, after
