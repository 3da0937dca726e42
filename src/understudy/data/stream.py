"""Tables that need not fit in memory: a file read in batches, or a few columns at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from understudy.data.dialect import (
    Dialect,
    are_dates,
    date_type,
    has_blank_lines,
    is_parquet,
    plain_names,
    resolve_dialect,
)
from understudy.data.files import ROWS_FOR_TYPES, has_empty_column
from understudy.data.frames import Frame, Layout, check_names, to_arrow
from understudy.errors import DataError, unknown_columns

MEMORY_FOR_COLUMNS = 2**29
"""Bytes that columns read together may take, about, while a file is described."""

_READ_WHOLE = "or read it whole with understudy.read."


@dataclass(frozen=True)
class FileStream:
    """A Parquet or CSV file that is read in pieces; made by `scan`.

    It goes wherever a frame goes that is only counted: schemas, codecs and the fitting of
    synthesizers that need no more than sums over batches.
    """

    path: Path
    batch_rows: int
    dialect: Dialect | None
    missing: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    types: dict[str, Any] = field(default_factory=dict)
    codes_in_memory: bool = False
    rows: int = field(init=False)
    empty: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        lazy = self.lazy()
        object.__setattr__(self, "rows", int(_collect(lazy.select(pl.len())).item()))
        object.__setattr__(self, "empty", _collect(lazy.head(0)))
        if self.rows == 0:
            raise DataError(f"{self.path} has a header but no rows.")

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(self.empty.columns)

    def lazy(self) -> pl.LazyFrame:
        """Return the file as a query of polars, which reads it in pieces."""
        if self.dialect is None:
            return pl.scan_parquet(self.path, glob=False).drop(self.drop)
        lazy = pl.scan_csv(
            self.path,
            with_column_names=plain_names,
            **(self.dialect.polars_options(self.missing) | self.types),
        )
        return lazy.drop(self.drop)

    def rows_without_values(self) -> int:
        """Return in how many rows every value is missing."""
        return int(_collect(self.lazy().select(pl.all_horizontal(pl.all().is_null()).sum())).item())

    def batches(self) -> Iterator[pl.DataFrame]:
        """Yield the rows in order, at most `batch_rows` at a time."""
        for batch in self.lazy().collect_batches(chunk_size=self.batch_rows, maintain_order=True):
            yield from batch.iter_slices(self.batch_rows)

    def columns(self) -> Iterator[tuple[str, pa.Array]]:
        """Yield each column whole, reading as many together as fit the memory set aside."""
        together = max(1, MEMORY_FOR_COLUMNS // (16 * max(self.rows, 1)))
        for start in range(0, len(self.names), together):
            names = self.names[start : start + together]
            part = to_arrow(_collect(self.lazy().select(names)))
            for name in names:
                yield name, part[name].combine_chunks()


def _collect(lazy: pl.LazyFrame) -> pl.DataFrame:
    try:
        return lazy.collect(engine="streaming")
    except pl.exceptions.PolarsError as error:
        raise DataError(f"The file cannot be read: {error}") from error


def scan(
    path: str | Path,
    *,
    batch_rows: int = 1_000_000,
    drop: Sequence[str] = (),
    codes_in_memory: bool = False,
    **options: Any,  # noqa: ANN401  # as in `read`
) -> FileStream:
    """Open a Parquet or CSV file that may be larger than memory, to be read in batches.

    Parameters
    ----------
    path : path
        The file.
    batch_rows : int
        Rows held in memory at a time.
    drop : sequence of str
        Columns to leave out.
    codes_in_memory : bool
        Whether a synthesizer may hold the codes of all records, about a byte for each value, for
        searches that go through the records many times. Values are never held all at once.
    **options
        For CSV files, as in `read`: delimiter, decimal, encoding and missing. The text must be
        UTF-8, since a stream is not rewritten.
    """
    if batch_rows < 1:
        raise DataError(f"batch_rows must be at least 1; got {batch_rows}.")
    path = Path(path)
    if is_parquet(path):
        stream = FileStream(path, batch_rows, None, codes_in_memory=codes_in_memory)
        return replace(stream, drop=_known(drop, stream)) if drop else stream
    dialect, missing = resolve_dialect(path, **options)
    if dialect.encoding != "utf-8":
        what = f"is in {dialect.encoding}; only UTF-8 text can be read in batches. Convert it"
        raise DataError(f"{path} {what}, {_READ_WHOLE}")
    if dialect.padded:
        what = "has spaces after its delimiters, which cannot be left out in batches. Remove them"
        raise DataError(f"{path} {what}, {_READ_WHOLE}")
    stream = FileStream(path, batch_rows, dialect, missing, codes_in_memory=codes_in_memory)
    stream = _typed(stream)
    if drop:
        stream = replace(stream, drop=_known(drop, stream))
    check_names(stream.names)
    with path.open("rb") as file:
        if len(stream.names) > 1 and has_blank_lines(file) and stream.rows_without_values():
            what = "has blank lines, which are not records. Remove them"
            raise DataError(f"{path} {what}, {_READ_WHOLE}")
    return stream


def _typed(stream: FileStream) -> FileStream:
    """Return the stream of a CSV file with the types that `read` gives its columns."""
    quick = replace(stream, types={"infer_schema_length": ROWS_FOR_TYPES})
    lazy = quick.lazy()
    try:
        first = lazy.head(ROWS_FOR_TYPES).collect(engine="streaming")
        # The counts are not wanted: they make polars parse every value.
        lazy.select(pl.all().null_count()).collect(engine="streaming")
    except pl.exceptions.PolarsError:
        return _with_dates(stream)
    return _with_dates(stream if has_empty_column(first) else quick)


def _with_dates(stream: FileStream) -> FileStream:
    """Return the stream with columns of text as dates or times where all their values are such."""
    texts = stream.dialect.texts if stream.dialect else ()
    lazy = stream.lazy()
    known = dict.fromkeys(texts, pl.String())
    dates: dict[str, Any] = {}
    for name, kind in stream.empty.schema.items():
        if kind != pl.String or name in texts:
            continue
        column = lazy.select(name)
        found = date_type(_collect(column.drop_nulls().head(ROWS_FOR_TYPES))[name])
        if found is not None and are_dates(
            _collect(column.unique(maintain_order=True))[name], found
        ):
            dates[name] = found
    return replace(stream, types=stream.types | {"schema_overrides": known | dates})


def _known(drop: Sequence[str], stream: FileStream) -> tuple[str, ...]:
    """Return the columns to drop, after making sure that the file has them."""
    problems = unknown_columns(drop, stream.names)
    if problems:
        raise DataError(f"Columns to drop: {' '.join(problems)}")
    return tuple(drop)


def layout_of(data: Frame | FileStream) -> Layout:
    """Return how a frame, or a stream's batches, are stored."""
    return Layout.of(data.empty if isinstance(data, FileStream) else data)


def columns_of(data: Frame | FileStream) -> Iterator[tuple[str, pa.Array]]:
    """Yield each column's name and values, from memory or from a file."""
    if isinstance(data, FileStream):
        yield from data.columns()
    else:
        table = to_arrow(data)
        for name, column in zip(table.column_names, table.columns, strict=True):
            yield name, column.combine_chunks()


def arrow_batches(data: Frame | FileStream) -> Iterator[pa.Table]:
    """Yield a frame as one Arrow table, or a stream as one table per batch."""
    if isinstance(data, FileStream):
        for batch in data.batches():
            yield to_arrow(batch)
    else:
        yield to_arrow(data)
