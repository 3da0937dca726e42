"""The tables that a measure compares, coded alike, and their records in an order of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import as_names
from understudy.counting.groups import joint_codes
from understudy.data.coded import Coded
from understudy.data.frames import Frame
from understudy.data.joint_coding import CodedTables
from understudy.errors import ParameterError

COMPARED = ("original", "synthetic")


def both_tables(original: Frame, synthetic: Frame) -> CodedTables:
    """Return both tables with all columns of the original, to be coded when they are used."""
    return CodedTables.of({"original": original, "synthetic": synthetic}, ())


def compared(tables: CodedTables, columns: str | Sequence[str] | None) -> CodedTables:
    """Return the original and the synthetic table with the columns to compare.

    Parameters
    ----------
    tables : CodedTables
        The tables "original" and "synthetic", perhaps among others.
    columns : str or sequence of str, optional
        The columns; by default those of `tables`, or else all those of the original.

    Raises
    ------
    ParameterError
        If there is no column, or a table lacks one.
    DataError
        If a table has no rows.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"age": [31], "sex": ["f"]})
    >>> compared(both_tables(table, table), None).columns
    ('age', 'sex')
    """
    names = tables.columns or tables.encoded["original"].names
    names = names if columns is None else as_names(columns)
    if not names:
        raise ParameterError("There is no column to compare. Name one in columns, or leave it out.")
    return tables.select(COMPARED, names).check_rows()


def content_order(table: Coded) -> NDArray[np.intp]:
    """Return the rows sorted by their codes, the columns taken in the order of their names.

    Tables with the same records have the same table in this order, however rows and columns are
    arranged. What is drawn from it by a seed is then the same too.

    Examples
    --------
    >>> content_order(Coded.from_arrays({"b": [1, 0, 0], "a": [0, 1, 0]})).tolist()
    [2, 0, 1]
    """
    return np.argsort(joint_codes(table, sorted(table.names))[0], kind="stable")
