"""JSON files: an array of records, or one record in each line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import polars as pl
import pyarrow as pa

from understudy.data.kinds import JSON, Produce, ReadOptions
from understudy.data.kinds.opening import Opened
from understudy.data.typed_dialect import TypedDialect
from understudy.errors import DataError

_MARK = b"\xef\xbb\xbf"
_FORM = "an array of records, [{...}, {...}], or one record {...} in each line"
_NO_NUMBER = re.compile(rb":\s*-?(?:NaN|Infinity)\s*[,}]")
_LINE = re.compile(rb"\s*\{.*\}\s*", re.DOTALL)


def read_table(opened: Opened, options: ReadOptions) -> pl.DataFrame:  # noqa: ARG001  # one form
    """Return the whole table."""
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
    return _flat(frame, opened.name, one=lines and frame.height == 1).with_columns(
        pl.col(pl.Null).cast(pl.String)
    )


def mixes(opened: Opened, name: str) -> bool:
    """Return whether a column has numbers that are no texts."""
    key = re.escape(json.dumps(name, ensure_ascii=False))
    return re.search(rf"{key}\s*:\s*-?\d".encode(), opened.path.read_bytes()) is not None


def _no_records(opened: Opened, content: bytes) -> DataError:
    """Say what is wrong with a file without saying what is in it."""
    start = content.lstrip()[:1]
    if (
        start == b"{"
        and b"\n" in content.strip()
        and not _LINE.fullmatch(content.strip().split(b"\n", 1)[0])
    ):
        return DataError(f"{opened.name} holds one JSON object; a table is {_FORM}.")
    if _NO_NUMBER.search(content):
        return DataError(
            f"{opened.name} has NaN or Infinity in the place of a number, which JSON does not "
            "know. Write null there."
        )
    return DataError(
        f"{opened.name} is JSON, but not a table, or it is damaged. A table is {_FORM}."
    )


def _flat(frame: pl.DataFrame, name: str, *, one: bool) -> pl.DataFrame:
    """Return records without lists and objects in them; `one` object may hold a table."""
    nested = [column for column, kind in frame.schema.items() if kind.is_nested()]
    if one and len(nested) == frame.width:  # the names may be those of people
        raise DataError(f"{name} holds one JSON object; a table is {_FORM}.")
    if nested:
        raise DataError(
            f"{name}: {', '.join(map(repr, nested))} holds lists or objects. A column holds one "
            "value for each record: take them apart, or leave the column out."
        )
    if not frame.width:
        raise DataError(f"{name} holds no records, or only empty ones.")
    return frame


def write_table(produce: Produce, path: Path, like: TypedDialect, ending: str) -> None:
    """Write a table, one record in each line; a .json file is an array of them."""
    array = ending in JSON.endings
    with path.open("wb") as file:
        started = False

        def sink(table: pa.Table) -> None:
            nonlocal started
            frame = cast("pl.DataFrame", pl.from_arrow(table))
            lines = _records(frame, like.words).encode()
            if array:
                # A line end inside a text is written as \n, so that each line is a record.
                lines = lines.rstrip(b"\n").replace(b"\n", b",\n")
                lines = (b",\n" if started else b"[\n") + lines if lines else b""
            started = started or bool(lines)
            file.write(lines)

        produce(sink)
        if array:
            file.write(b"\n]\n" if started else b"[]\n")


def _records(frame: pl.DataFrame, words: Mapping[str, str]) -> str:
    """Return rows as JSON, one in each line; some columns have a word where a value is missing."""
    if not words.keys() & {*frame.columns}:
        return frame.write_ndjson()
    fields = pl.concat_str([_field(name, words.get(name)) for name in frame.columns], separator=",")
    rows = frame.select(pl.lit("{") + fields + pl.lit("}")).to_series()
    return "".join(f"{row}\n" for row in rows)


def _field(name: str, word: str | None) -> pl.Expr:
    """Return a column as fields of records: its name and its value."""
    field = pl.struct(name).struct.json_encode().str.slice(1).str.head(-1)
    if word is None:
        return field
    gap = json.dumps({name: word}, ensure_ascii=False, separators=(",", ":"))[1:-1]
    return pl.when(pl.col(name).is_null()).then(pl.lit(gap)).otherwise(field)
