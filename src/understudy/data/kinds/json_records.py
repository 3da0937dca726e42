"""JSON files: an array of records, or one record in each line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

import polars as pl
import pyarrow as pa

from understudy.data.format_search import with_dates
from understudy.data.kinds import JSON, Produce, ReadOptions
from understudy.data.kinds.opening import Opened
from understudy.errors import DataError

_MARK = b"\xef\xbb\xbf"
_FORM = "an array of records, [{...}, {...}], or one record {...} in each line"
_LINE = re.compile(rb"\s*\{.*\}\s*", re.DOTALL)


def read_table(opened: Opened, options: ReadOptions) -> pl.DataFrame:
    """Return the whole table; texts that are all dates become dates, as in CSV files."""
    content = opened.path.read_bytes().removeprefix(_MARK)
    lines = opened.kind is not JSON or content.lstrip()[:1] == b"{"
    try:
        if lines:
            # What is missing in the first records may have any type in the others.
            frame = pl.read_ndjson(content, infer_schema_length=None)
        else:
            frame = pl.read_json(content, infer_schema_length=None)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise _no_records(opened, content) from None
    frame = _without_tokens(_flat(frame, opened.name), options)
    return with_dates(frame.with_columns(pl.col(pl.Null).cast(pl.String)))


def scan_table(opened: Opened) -> pl.LazyFrame:
    """Return JSON lines as a query of polars, with the types that all of them allow."""
    lazy = pl.scan_ndjson(opened.path, infer_schema_length=None)
    try:
        schema = lazy.collect_schema()
    except pl.exceptions.PolarsError:
        raise _no_records(opened, opened.path.read_bytes()) from None
    _flat(pl.DataFrame(schema=schema), opened.name)
    return lazy


def _no_records(opened: Opened, content: bytes) -> DataError:
    """Say what is wrong with a file without saying what is in it."""
    start = content.lstrip()[:1]
    if (
        start == b"{"
        and b"\n" in content.strip()
        and not _LINE.fullmatch(content.strip().split(b"\n", 1)[0])
    ):
        return DataError(f"{opened.name} holds one JSON object; a table is {_FORM}.")
    return DataError(
        f"{opened.name} is JSON, but not a table, or it is damaged. A table is {_FORM}."
    )


def _flat(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    nested = [column for column, kind in frame.schema.items() if kind.is_nested()]
    if len(nested) == frame.width and frame.height == 1:  # the names may be those of people
        raise DataError(f"{name} holds one JSON object; a table is {_FORM}.")
    if nested:
        raise DataError(
            f"{name}: {', '.join(map(repr, nested))} holds lists or objects. A column holds one "
            "value for each record: take them apart, or leave the column out."
        )
    if not frame.width:
        raise DataError(f"{name} holds no records, or only empty ones.")
    return frame


def _without_tokens(frame: pl.DataFrame, options: ReadOptions) -> pl.DataFrame:
    """Return a table without the texts that a user says stand for a missing value."""
    missing = options.missing_words
    if not missing:
        return frame
    text = pl.col(pl.String)
    return frame.with_columns(pl.when(text.is_in(missing)).then(None).otherwise(text).name.keep())


def write_table(produce: Produce, path: Path, like: object, ending: str) -> None:  # noqa: ARG001
    """Write a table, one record in each line; a .json file is an array of them."""
    array = ending in JSON.endings
    with path.open("wb") as file:
        started = False

        def sink(table: pa.Table) -> None:
            nonlocal started
            frame = cast("pl.DataFrame", pl.from_arrow(table))
            lines = frame.write_ndjson().encode()
            if array:
                # A line end inside a text is written as \n, so that each line is a record.
                lines = lines.rstrip(b"\n").replace(b"\n", b",\n")
                lines = (b",\n" if started else b"[\n") + lines if lines else b""
            started = started or bool(lines)
            file.write(lines)

        produce(sink)
        if array:
            file.write(b"\n]\n" if started else b"[]\n")
