"""Mark a table as synthetic, so that nobody takes it for the original."""

from __future__ import annotations

import narwhals as nw
import numpy as np

from understudy.data.frames import Frame, to_narwhals
from understudy.errors import ParameterError
from understudy.synthesis.control.change import Change


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
