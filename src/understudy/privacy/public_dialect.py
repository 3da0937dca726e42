"""How a private release is written: like the original, as far as that is public."""

from __future__ import annotations

from dataclasses import replace

from understudy.data import Schema
from understudy.data.formats import ColumnFormat
from understudy.data.number_format import NumberFormat
from understudy.data.schema import Column
from understudy.data.typed_dialect import AnyDialect


def public_dialect(written: AnyDialect, schema: Schema) -> AnyDialect:
    """Return a dialect without what the longest number or a single gap of the original tells.

    Delimiter, decimal sign, quotes and the order of dates stay: they are the form of the file. How
    many decimals there are, and whether a word stands for missing values, is for the schema to say.

    Parameters
    ----------
    written : Dialect or TypedDialect
        How the original is written.
    schema : Schema
        What is public of its columns.
    """
    formats = {
        name: _public_format(form, schema[name])
        for name, form in written.formats.items()
        if name in schema
    }
    return replace(written, formats=formats, notices=())


def _public_format(form: ColumnFormat, column: Column) -> ColumnFormat:
    missing = form.missing[:1] if column.missing else ("",)
    quoted = form.missing_quoted and bool(column.missing)
    values = form.values
    if isinstance(values, NumberFormat):
        decimals = column.decimals
        fixed = values.places is not None and decimals is not None
        values = replace(
            values,
            places=decimals if fixed else None,
            exponents="late",
            digits=decimals or 0,
            significant=0,
            width=0,
            odd=(),
            # Whether any number has an M behind it is what the largest tells.
            magnitudes=(),
        )
    return replace(form, values=values, missing=missing, missing_quoted=quoted)
