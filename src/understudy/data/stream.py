"""Tables that need not fit in memory: a file read in batches, or a few columns at a time."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl
import pyarrow as pa

from understudy.data.counted import Counted, Order, Tallies
from understudy.data.csv_files import (
    direct_columns,
    found_columns,
    header_in_words,
    unnamed_in_words,
    unreadable,
)
from understudy.data.csv_preamble import below_preamble
from understudy.data.csv_shape import shape_of, with_quotes
from understudy.data.declared import declared
from understudy.data.dialect import Dialect, has_blank_lines, plain_names
from understudy.data.files import Place, read_with_dialect, tell_notices
from understudy.data.format_search import Found, Search, doubts_in_words
from understudy.data.formats import ColumnFormat
from understudy.data.frames import Layout, check_names, to_arrow
from understudy.data.kinds import ARROW, CSV, ReadOptions
from understudy.data.kinds.database import is_address
from understudy.data.kinds.opening import Opened, open_table
from understudy.data.memory import check_column
from understudy.data.number_format import NumberFormat
from understudy.data.source import CodedStream, Combinations, Encoder, Joined
from understudy.data.text_columns import find_texts
from understudy.data.typed_dialect import AnyDialect, TypedDialect
from understudy.data.values import to_numpy
from understudy.errors import DataError, unknown_columns
from understudy.showing import reason

if TYPE_CHECKING:
    from understudy.data.coded import Coded

MEMORY_FOR_COLUMNS = 2**29
"""Bytes that columns read together may take, about, while the formats of a file are found."""

BYTES_OF_TEXT = 2**22
"""Bytes of a CSV file that polars takes up at a time, instead of several times as many."""

VALUES_OF_BATCH, FEWEST_ROWS = 2**22, 2**12
"""Values that a batch of many columns has, about, and the rows that it has at least."""

_PLAIN_NUMBERS = {
    pl.Float64: np.float64,
    pl.Float32: np.float32,
    pl.Int64: np.int64,
    pl.Int32: np.int32,
    pl.UInt64: np.uint64,
    pl.UInt32: np.uint32,
}

_READ_WHOLE = "or read it whole, without `stream`."


@dataclass(frozen=True)
class FileStream:
    """A file, or a folder of them, that is read in pieces; made by `scan`.

    It is a `TableSource`, and goes wherever a frame goes that is only counted: schemas, codecs and
    the fitting of synthesizers that need no more than sums over batches. All but some texts of a
    column in `joined` are read as one.
    """

    opened: Opened | pl.DataFrame
    batch_rows: int
    dialect: AnyDialect | None
    drop: tuple[str, ...] = ()
    codes_in_memory: bool = False
    joined: tuple[Joined, ...] = ()
    state: tuple[tuple[int, int], ...] = field(init=False, repr=False)
    rows: int = field(init=False)
    empty: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "state", self._state())
        lazy = self.lazy()
        # Of a CSV file, `pl.len` alone would hold the whole text in memory.
        is_csv = isinstance(self.dialect, Dialect)
        length = pl.first().is_null().count() if is_csv else pl.len()
        object.__setattr__(self, "rows", int(self._collect(lazy.select(length)).item()))
        object.__setattr__(self, "empty", self._collect(lazy.head(0)))
        if self.rows == 0:
            raise DataError(f"{self.name} has a header but no rows.")

    @property
    def name(self) -> str:
        """What the table is called in messages."""
        return self.opened.name if isinstance(self.opened, Opened) else "The table"

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(self.empty.columns)

    def lazy(self) -> pl.LazyFrame:
        """Return the file as a query of polars, which reads it in pieces."""
        self._check_unchanged()
        lazy = self._as_it_is()
        texts = {name: pl.col(name).cast(pl.String) for name, _, _ in self.joined}
        return lazy.with_columns(
            pl.when(texts[name].is_in(list(kept)) | texts[name].is_null())
            .then(texts[name])
            .otherwise(pl.lit(label))
            .alias(name)
            for name, kept, label in self.joined
        )

    def _as_it_is(self) -> pl.LazyFrame:
        if isinstance(self.opened, pl.DataFrame):
            return self.opened.lazy().drop(self.drop)
        if not isinstance(self.dialect, Dialect):
            lazy: pl.LazyFrame = self.opened.kind.load().scan_table(self.opened)
            written = {} if self.dialect is None else self.dialect.formats
            return lazy.drop(self.drop).with_columns(
                form.parsed(pl.col(name)).alias(name)
                for name, form in written.items()
                if name not in self.drop
            )
        formats = self.dialect.formats
        # Polars reads plain numbers faster than their texts.
        numbers = {
            name: form.dtype
            for name, form in formats.items()
            if isinstance(form.values, NumberFormat)
            and form.values.plain
            and form.values.decimal == "."
            and form.missing == ("",)
            and '"' not in name
        }
        texts = pl.scan_csv(
            self.opened.path,
            with_column_names=partial(plain_names, unnamed=self.dialect.unnamed),
            schema_overrides=numbers,
            **self.dialect.texts_of_polars,
        )
        return texts.drop(self.drop).with_columns(
            form.parsed(pl.col(name)).alias(name)
            for name, form in formats.items()
            if name not in self.drop and name not in numbers
        )

    def rows_without_values(self) -> int:
        """Return in how many rows every value is missing."""
        return int(
            self._collect(self.lazy().select(pl.all_horizontal(pl.all().is_null()).sum())).item()
        )

    @property
    def layout(self) -> Layout:
        """How the batches are stored."""
        return Layout.of(self.empty)

    @property
    def special(self) -> Mapping[str, Sequence[float]]:
        """Numbers that a file which was read whole declares to be no amounts, by column."""
        held = declared(self.opened) if isinstance(self.opened, pl.DataFrame) else {}
        return {name: values for name, values in held.items() if name in self.names}

    def describe(self, names: Collection[str] | None = None) -> Iterator[tuple[str, Counted]]:
        """Yield the columns, or some of them, with the values that occur and their counts.

        Columns of few different values are counted together, in one pass over the file. Each of
        the others is read by itself.
        """
        wanted = [name for name in self.names if names is None or name in names]
        tallies, sizes = Tallies(wanted), dict.fromkeys(wanted, 0)
        for batch in self.batches(wanted):
            tallies.add(to_arrow(batch))
            for column in batch:
                sizes[column.name] += int(column.estimated_size())
        for name in wanted:
            found = tallies.counted(name)
            if found is None:
                pa.default_memory_pool().release_unused()  # of what was counted before
                check_column(name, sizes[name])
                found = self._counted(name)
            yield name, found

    def _counted(self, name: str) -> Counted:
        """Count the many values of a column; numbers are held once, and sorted where they are."""
        kind = self.empty.schema[name]
        if kind not in _PLAIN_NUMBERS:
            return Counted.of(self.table([name])[name].combine_chunks())
        values, filled = np.empty(self.rows, _PLAIN_NUMBERS[kind]), 0
        orders = []
        for batch in self.arrow_batches([name]):
            part = batch[name].combine_chunks()
            orders.append(Order.of(part))
            known = to_numpy(part.drop_null())
            values[filled : filled + len(known)] = known
            filled += len(known)
        return Counted.of_numbers(values[:filled], self.rows - filled, reduce(add, orders))

    def combinations(self, names: Sequence[str]) -> Combinations:
        """Return the different rows of some columns, and how many records are like each."""
        return Combinations.of(self.lazy().select(names))

    def table(self, names: Sequence[str] | None = None) -> pa.Table:
        """Return all columns, or some, whole."""
        return to_arrow(self._collect(self.lazy().select(self.names if names is None else names)))

    def every(self, step: int) -> pa.Table:
        """Return one row of every so many."""
        parts, seen = [], 0
        for batch in self.batches():
            parts.append(batch.gather_every(step, (-seen) % step))
            seen += len(batch)
        return to_arrow(pl.concat(parts))

    def arrow_batches(self, names: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the rows in order as Arrow tables, at most `batch_rows` at a time."""
        yield from map(to_arrow, self.batches(names))

    def batches(self, names: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """Yield the rows in order, or some columns of them, at most `batch_rows` at a time."""
        lazy = self.lazy() if names is None else self.lazy().select(names)
        width = max(1, len(self.names if names is None else names))
        rows = min(self.batch_rows, max(FEWEST_ROWS, VALUES_OF_BATCH // width))
        with self._in_plain_words():
            for batch in lazy.collect_batches(chunk_size=rows, maintain_order=True):
                yield from batch.iter_slices(rows)

    def with_joined(self, joined: Sequence[Joined]) -> FileStream:
        """Return the file with all but some texts of columns read as one."""
        return replace(self, joined=(*self.joined, *joined))

    def coded(self, codec: Encoder) -> Coded | CodedStream:
        """Return the codes of the file, batch by batch or in memory."""
        return codec.encode(self) if self.codes_in_memory else CodedStream(codec, self)

    def parts(self, names: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """Yield all columns, or some, as many at a time as fit the memory set aside."""
        together = max(1, MEMORY_FOR_COLUMNS // (16 * max(self.rows, 1)))
        wanted = self.names if names is None else names
        for start in range(0, len(wanted), together):
            yield self._collect(self.lazy().select(wanted[start : start + together]))

    def _collect(self, lazy: pl.LazyFrame) -> pl.DataFrame:
        with self._in_plain_words():
            return lazy.collect(engine="streaming")

    @contextmanager
    def _in_plain_words(self) -> Iterator[None]:
        """Say without any of its fields why the file cannot be read, or that it has changed."""
        try:
            yield
        except pl.exceptions.PolarsError as error:
            self._check_unchanged()
            if isinstance(self.dialect, Dialect) and isinstance(self.opened, Opened):
                raise DataError(unreadable(self.opened.path, self.dialect, error)) from error
            raise DataError(f"{self.name} cannot be read ({reason(error)}).") from error

    def _check_unchanged(self) -> None:
        if self._state() != self.state:
            raise DataError(
                f"{self.name} has changed since it was opened. Start again when nothing writes to "
                "it any more."
            ) from None

    def _state(self) -> tuple[tuple[int, int], ...]:
        """Return when the files were written, and their sizes; none where one is gone."""
        if not isinstance(self.opened, Opened):
            return ()
        try:
            found = [path.stat() for path in self.opened.files or (self.opened.path,)]
        except OSError:
            return ()
        return tuple((one.st_mtime_ns, one.st_size) for one in found)


def scan(
    path: Place,
    *,
    batch_rows: int = 1_000_000,
    drop: Sequence[str] = (),
    codes_in_memory: bool = False,
    **options: Any,  # noqa: ANN401  # as in `read`
) -> FileStream:
    """Open a table that may be larger than memory, to be read in batches.

    Parameters
    ----------
    path : path
        The file: Parquet, also a folder or a pattern of files, Arrow or CSV, also compressed.
        Anything else that `read` takes is read whole, and a message says so.
    batch_rows : int
        Rows held in memory at a time.
    drop : sequence of str
        Columns to leave out.
    codes_in_memory : bool
        Whether a synthesizer may hold the codes of all records, about a byte for each value, for
        searches that go through the records many times. Values are never held all at once.
    **options
        As in `read`. The text of a CSV file must be UTF-8, since a stream is not rewritten.
    """
    if batch_rows < 1:
        raise DataError(f"batch_rows must be at least 1; got {batch_rows}.")
    opened = None if is_address(path) else open_table(cast("str | Path", path))
    if opened is None or not opened.kind.batches or _is_arrow_stream(opened):
        what = "A database" if opened is None else opened.name
        logging.getLogger("understudy").warning(
            "%s cannot be read in batches: the whole table is held in memory.", what
        )
        stream = FileStream(*_whole(path, batch_rows, options))
    elif opened.kind is CSV:
        with opened.called_by_name():
            stream = _scan_csv(opened, batch_rows, ReadOptions(**options))
    else:
        stream = _scan_typed(opened, batch_rows, ReadOptions(**options))
    if drop or codes_in_memory:
        stream = replace(stream, drop=_known(drop, stream), codes_in_memory=codes_in_memory)
    check_names(stream.names)
    return stream


def _is_arrow_stream(opened: Opened) -> bool:
    return opened.kind is ARROW and opened.kind.load().is_stream(opened)


def _whole(
    path: Place, batch_rows: int, options: Mapping[str, Any]
) -> tuple[pl.DataFrame, int, TypedDialect | None]:
    frame, written = read_with_dialect(path, **options)
    return frame, batch_rows, written


def _scan_typed(opened: Opened, batch_rows: int, options: ReadOptions) -> FileStream:
    """Open a file that has types; its columns of text may be written as in a CSV file."""
    stream = FileStream(opened, batch_rows, None)
    schema = stream.empty.schema
    texts = [name for name, kind in schema.items() if kind == pl.String]
    _, dialect = find_texts(stream.parts(texts), schema, options, with_values=False)
    tell_notices(opened.name, dialect)
    return replace(stream, dialect=dialect) if dialect else stream


def _scan_csv(opened: Opened, batch_rows: int, options: ReadOptions) -> FileStream:
    os.environ.setdefault("POLARS_CSV_CHUNK_SIZE", str(BYTES_OF_TEXT))
    opened, options, above = below_preamble(opened, options)
    path = opened.path
    dialect = options.dialect(path)
    if dialect.encoding != "utf-8":
        what = f"is in {dialect.encoding}; only UTF-8 text can be read in batches. Convert it"
        raise DataError(f"{path} {what}, {_READ_WHOLE}")
    if dialect.padded:
        what = "has spaces after its delimiters, which cannot be left out in batches. Remove them"
        raise DataError(f"{path} {what}, {_READ_WHOLE}")
    if dialect.newline == "\r":
        what = "has lines that end in \\r alone, which cannot be read in batches. Convert it"
        raise DataError(f"{path} {what}, {_READ_WHOLE}")
    texts = FileStream(opened, batch_rows, dialect)
    check_names(texts.names)
    stream = replace(texts, dialect=above.noted(_with_formats(path, texts, dialect, options)))
    with path.open("rb") as file:
        if len(stream.names) > 1 and has_blank_lines(file) and stream.rows_without_values():
            what = "has blank lines, which are not records. Remove them"
            raise DataError(f"{path} {what}, {_READ_WHOLE}")
    assert stream.dialect is not None  # noqa: S101  # for the type checker
    tell_notices(opened.name, stream.dialect, given=True)
    return stream


def _found(
    texts: FileStream, search: Search, direct: Mapping[str, ColumnFormat]
) -> dict[str, Found] | None:
    """Return the columns without their values; None if some cannot be read directly after all."""
    assert texts.dialect is not None  # noqa: S101  # for the type checker
    found: dict[str, Found] = {}
    try:
        for part in replace(texts, dialect=replace(texts.dialect, formats=direct)).parts():
            if any(part[name].is_nan().any() for name in direct if name in part.columns):
                return None
            found |= {
                name: replace(one, values=one.values.clear())
                for name, one in found_columns(part, search, direct).items()
            }
    except DataError:
        if direct:
            return None
        raise
    return found


def _with_formats(path: Path, texts: FileStream, dialect: Dialect, options: ReadOptions) -> Dialect:
    """Return the dialect with the formats of all columns, as `read` finds them."""
    shape = shape_of(path, dialect.delimiter, len(texts.names))
    search = options.search(dialect)
    found = _found(texts, search, direct_columns(path, dialect, search))
    if found is None:
        found = _found(texts, search, {}) or {}
    quotes = dict(zip(texts.names, shape.quotes, strict=True))
    formats: dict[str, ColumnFormat] = {
        name: with_quotes(one.format, quotes[name]) for name, one in found.items()
    }
    return replace(
        dialect,
        newline=shape.newline,
        ending=shape.ending,
        header_quoted=shape.header_quoted,
        formats=formats,
        notices=(
            *header_in_words(formats),
            *unnamed_in_words(dialect),
            *doubts_in_words(found),
            *shape.in_words(formats, blank=False),
        ),
    )


def _known(drop: Sequence[str], stream: FileStream) -> tuple[str, ...]:
    """Return the columns to drop, after making sure that the file has them."""
    problems = unknown_columns(drop, stream.names)
    if problems:
        raise DataError(f"Columns to drop: {' '.join(problems)}")
    return tuple(drop)
