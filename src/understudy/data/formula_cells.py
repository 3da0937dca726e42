"""Texts that a spreadsheet would run as a formula when it opens a table: found, and made harmless.

A cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return is a formula to many
spreadsheets, and a formula can send what the sheet holds elsewhere. An apostrophe before it makes
it a text (OWASP, CSV injection). Numbers such as -5 are no texts, and are left alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from understudy.wording import quoted

Sink = Callable[[pa.Table], None]

_BEGINNING = r"^[=+\-@\t\r]"
_NUMBER = r"^[+\-]?[\p{Sc}]?[0-9., ]*[%\p{Sc}]?$"
"""A number with a sign, also one with a currency, or a sign alone, which stands for nothing."""
_ESCAPED = r"^'([=+\-@\t\r])"


def formula_columns(table: pa.Table) -> list[str]:
    """Return the columns whose names or texts a spreadsheet would take for formulas.

    Examples
    --------
    >>> formula_columns(pa.table({"a": ["=1+1", "b"], "n": [-5, 2], "t": ["-5", "-"]}))
    ['a']
    """
    # Through polars: `pyarrow.array` loads pandas where there is one, which takes half a second.
    names = pl.Series(table.column_names, dtype=pl.String).to_arrow()
    return [
        name
        for name, formula, column in zip(
            table.column_names, _formulas(names).to_pylist(), table.columns, strict=True
        )
        if formula or any(map(_holds_formula, column.chunks))
    ]


def _formulas(texts: pa.Array) -> pa.Array:
    begin = pc.match_substring_regex(texts, _BEGINNING)
    return pc.and_(begin, pc.invert(pc.match_substring_regex(texts, _NUMBER)))


def _holds_formula(array: pa.Array) -> bool:
    texts = array.dictionary if pa.types.is_dictionary(array.type) else array
    if not is_text(texts.type):
        return False
    return bool(pc.any(_formulas(texts)).as_py())


def is_text(kind: pa.DataType) -> bool:
    """Return whether an Arrow type holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def escaped(table: pa.Table) -> pa.Table:
    """Return a table with an apostrophe before each name and text that would be a formula.

    Examples
    --------
    >>> escaped(pa.table({"=a": ["=1+1", "b", None]})).to_pydict()
    {"'=a": ["'=1+1", 'b', None]}
    """
    columns = [_escaped(column) for column in table.columns]
    names = _escaped(pa.chunked_array([pa.array(table.column_names, pa.string())]))
    return pa.table(columns, names.to_pylist())


def _escaped(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not is_text(kind):
        return column
    texts = column.cast(kind)
    quote = pa.scalar("'", kind)
    before = pc.binary_join_element_wise(quote, texts, pa.scalar("", kind))
    return pc.if_else(_formulas(texts), before, texts)


def unescaped(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table as it was before `escaped`.

    Examples
    --------
    >>> unescaped(pl.DataFrame({"'=a": ["'=1+1", "'tis"]})).to_dict(as_series=False)
    {'=a': ['=1+1', "'tis"]}
    """
    names = pl.Series(frame.columns, dtype=pl.String).str.replace(_ESCAPED, "$1")
    plain = frame.with_columns(pl.col(pl.String).str.replace(_ESCAPED, "$1"))
    plain.columns = names.to_list()
    return plain


class Guard:
    """Warns of formulas in the pieces of a table that are written, or makes them harmless.

    Parameters
    ----------
    safe : bool
        Whether to escape them.
    """

    def __init__(self, *, safe: bool) -> None:
        self._safe = safe
        self._found: dict[str, None] = {}

    def before(self, sink: Sink) -> Sink:
        """Return a sink that looks at each piece before it gives it to another."""

        def look(table: pa.Table) -> None:
            found = formula_columns(table)
            self._found |= dict.fromkeys(found)
            sink(escaped(table) if found and self._safe else table)

        return look

    def tell_needless(self, target: object) -> None:
        """Say that a file that is no CSV file needs no apostrophes, if they were asked for."""
        if self._safe:
            logging.getLogger("understudy").warning(
                "%s needs no `safe_cells`: only in CSV files are texts taken for formulas.", target
            )

    def warn(self, target: object) -> None:
        """Say what was found, if it was not escaped."""
        if self._found and not self._safe:
            logging.getLogger("understudy").warning(
                "%s has texts in %s that a spreadsheet takes for formulas (they begin with =, +, - "
                "or @). If it is to be opened in one, write it with `safe_cells`.",
                target,
                quoted(_some(list(self._found))),
            )


def _some(names: Sequence[str]) -> Sequence[str]:
    return names[:5] if len(names) > 5 else names
