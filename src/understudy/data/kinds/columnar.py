"""Parquet and Arrow files, which hold columns with their types; also folders of Parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import polars as pl
import pyarrow as pa

from understudy.data.kinds import ARROW, Produce, ReadOptions
from understudy.data.kinds.opening import Opened
from understudy.data.panics import silent_panics
from understudy.data.typed_dialect import TypedDialect
from understudy.errors import DataError

_FILE = b"ARROW1"


def read_table(opened: Opened, options: ReadOptions) -> pl.DataFrame:  # noqa: ARG001  # one form
    """Return the whole table."""
    try:
        with silent_panics():
            return _read(opened)
    except pl.exceptions.SchemaError:
        raise _unlike(opened) from None
    except (pl.exceptions.PolarsError, pa.ArrowException, OSError, pl.exceptions.PanicException):
        raise _damaged(opened) from None


def _read(opened: Opened) -> pl.DataFrame:
    if is_stream(opened):
        with pa.OSFile(str(opened.path)) as file, pa.ipc.open_stream(file) as stream:
            return cast("pl.DataFrame", pl.from_arrow(stream.read_all()))
    if opened.kind is ARROW:
        return pl.read_ipc(opened.path)
    if not opened.files:
        return pl.read_parquet(opened.path, glob=False)
    return scan_table(opened).collect()


def scan_table(opened: Opened) -> pl.LazyFrame:
    """Return the table as a query of polars, which reads it in pieces."""
    if opened.kind is ARROW:
        return pl.scan_ipc(opened.path, glob=False)
    files: Any = list(opened.files) or opened.path
    return pl.scan_parquet(files, glob=False, hive_partitioning=opened.partitioned)


def is_stream(opened: Opened) -> bool:
    """Return whether a file has no list of its pieces, so that it is only read from the start."""
    if opened.kind is not ARROW:
        return False
    with opened.path.open("rb") as file:
        return file.read(len(_FILE)) != _FILE


def _damaged(opened: Opened) -> DataError:
    return DataError(f"{opened.name} is a damaged {opened.kind.name} file.")


def _unlike(opened: Opened) -> DataError:
    if not opened.files:
        return _damaged(opened)
    return DataError(
        f"The files of {opened.name} do not have the same columns and types, so they are not one "
        "table."
    )


def write_table(produce: Produce, path: Path, like: TypedDialect, ending: str) -> None:  # noqa: ARG001
    """Write a table to a file, piece by piece."""
    writers: list[Any] = []

    def sink(table: pa.Table) -> None:
        if not writers:
            writers.append(_writer(path, table.schema, ending))
        writers[0].write_table(table)

    try:
        produce(sink)
    finally:
        for writer in writers:
            writer.close()


def _writer(path: Path, schema: pa.Schema, ending: str) -> Any:  # noqa: ANN401  # of two libraries
    if ending in ARROW.endings:
        # The pieces of a file share one list of categories, or bring new ones along.
        options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True, unify_dictionaries=False)
        return pa.ipc.new_file(str(path), schema, options=options)
    import pyarrow.parquet as pq

    return pq.ParquetWriter(path, schema)
