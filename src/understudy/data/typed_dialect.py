"""How a table is written in a file that has types, such as Excel, JSON and Parquet, or a database.

Such a file has numbers and dates of its own. But a column of text in it may hold numbers, dates and
words for missing values all the same, written as in a CSV file: "$1,234.50", "31/12/2023", "N/A".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import polars as pl

from understudy.data.dialect import Dialect
from understudy.data.formats import ColumnFormat, TextFormat


@dataclass(frozen=True)
class TypedDialect:
    """How a table is written in a file that has types.

    Parameters
    ----------
    formats : mapping
        How columns of text are written that hold more than plain text, by their names.
    mixed : tuple of str
        Those of them whose numbers and dates are stored as such: only the words for a missing
        value are text.
    own : object
        What else the kind of file has to say: the sheet of a workbook, or the labels of a file of
        SPSS, Stata or SAS.
    notices : tuple of str
        What a person should know about how the texts were read.
    """

    formats: Mapping[str, ColumnFormat] = field(default_factory=dict, hash=False)
    mixed: tuple[str, ...] = ()
    own: Any = None
    notices: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def __bool__(self) -> bool:
        return bool(self.formats) or self.own is not None

    @property
    def in_words(self) -> dict[str, str]:
        """How columns of text are written, in words, where there is something to say."""
        told = {
            # Numbers and dates that are stored as such are not written in any way.
            name: replace(form, values=TextFormat()) if name in self.mixed else form
            for name, form in self.formats.items()
        }
        return {name: form.words for name, form in told.items() if form.words}

    @property
    def words(self) -> dict[str, str]:
        """The words for missing values that stand among numbers and dates, by column."""
        held = {name: form for name, form in self.formats.items() if name in self.mixed}
        return {name: form.missing[0] for name, form in held.items() if form.missing[0]}

    def stored(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return a table with the texts that the file has in the place of values.

        Examples
        --------
        >>> from understudy.data.number_format import NumberFormat
        >>> money = ColumnFormat(NumberFormat(places=2, prefix="$"), ("N/A",))
        >>> frame = pl.DataFrame({"paid": [12.5, None], "age": [31, 45]})
        >>> TypedDialect({"paid": money}).stored(frame).rows()
        [('$12.50', 31), ('N/A', 45)]
        """
        return frame.with_columns(
            _stored(frame[name], form)
            for name, form in self.formats.items()
            if name in frame.columns and name not in self.mixed and form.fits(frame[name].dtype)
        )

    def to_plain(self) -> dict[str, Any]:
        """Return what is said of texts as JSON can hold it."""
        formats = {name: form.to_plain() for name, form in self.formats.items()}
        return {"typed": True, "mixed": list(self.mixed), "formats": formats}


def _stored(values: pl.Series, form: ColumnFormat) -> pl.Series:
    text = form.render(values)
    # What a CSV file has in quotes without a letter is an empty text here.
    return text.fill_null("") if form.missing_quoted and not form.missing[0] else text


AnyDialect: TypeAlias = Dialect | TypedDialect
"""How a table is written, in a CSV file or in one that has types."""


def dialect_from_plain(plain: Mapping[str, Any]) -> AnyDialect:
    """Return the dialect that `to_plain` described; raise `ValueError` if it is none."""
    if not plain.get("typed"):
        return Dialect.from_plain(plain)
    try:
        formats = {name: ColumnFormat.from_plain(form) for name, form in plain["formats"].items()}
        mixed = tuple(plain.get("mixed", ()))
        if not formats.keys() >= {*mixed}:
            raise ValueError("no dialect of a file with types: a mixed column has no format")
        return TypedDialect(formats, mixed)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no dialect of a file with types: {error}") from error
