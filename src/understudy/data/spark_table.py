"""Tables that live on a Spark cluster: its machines count, and only counts travel."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import polars as pl
import pyarrow as pa

from understudy.data.coded import Coded
from understudy.data.counted import Counted, Tallies
from understudy.data.frames import Layout, check_names
from understudy.data.source import CodedStream, Combinations, Encoder, Joined
from understudy.errors import DataError, unknown_columns

ROWS_AT_ONCE = 2**18
"""Rows that a worker gives to a kernel at a time; Spark's own batches are smaller."""


def is_spark_frame(data: Any) -> bool:  # noqa: ANN401  # whatever a user gives
    """Whether something is a DataFrame of Spark; Spark is not imported."""
    kind = type(data)
    return kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.")


@dataclass(frozen=True, eq=False)
class SparkTable:
    """A DataFrame of Spark. It should be cached there if it is costly to compute.

    Records of Spark have no order, so nothing depends on it.
    """

    frame: Any

    dialect: None = None

    def __post_init__(self) -> None:
        check_names(self.frame.columns)

    @cached_property
    def rows(self) -> int:
        """How many records there are."""
        return int(self.frame.count())

    @cached_property
    def empty(self) -> pa.Table:
        """A table of the same columns and types without rows."""
        return self.frame.limit(0).toArrow()

    @cached_property
    def layout(self) -> Layout:
        """How the table is stored: as Arrow, which Spark gives."""
        return Layout.of(self.empty)

    @property
    def special(self) -> Mapping[str, Sequence[float]]:
        """Spark has no place for declared special values."""
        return {}

    def describe(self, names: Collection[str] | None = None) -> Iterator[tuple[str, Counted]]:
        """Yield the columns, or some of them, with the values that occur and their counts.

        Columns of few different values are counted together, in one pass over the table. Each of
        the others is grouped by itself.
        """
        wanted = [name for name in self.frame.columns if names is None or name in names]
        tallies = Tallies(wanted, ordered=False)
        for part in self.summed(partial(_tallied, wanted), wanted):
            tallies += part
        for name in wanted:
            yield name, tallies.counted(name) or self._grouped(name)

    def _grouped(self, name: str) -> Counted:
        if not self.rows:
            return Counted.of(self.empty[name].combine_chunks())
        found = self.frame.groupBy(_quoted(name)).count().toArrow()
        counts = found.column(1).to_numpy().astype("int64")
        return Counted(found.column(0).combine_chunks(), counts)

    def combinations(self, names: Sequence[str]) -> Combinations:
        """Return the different rows of some columns, and how many records are like each."""
        found = self.frame.groupBy(*map(_quoted, names)).count().toArrow()
        rows = pl.DataFrame(pl.from_arrow(found.select(range(len(names)))))
        return Combinations(rows, found.column(len(names)).to_numpy().astype("int64"))

    def table(self, names: Sequence[str] | None = None) -> pa.Table:
        """Return all columns, or some, whole."""
        wanted = self.frame.columns if names is None else names
        return self.frame.select(*map(_quoted, wanted)).toArrow()

    def every(self, step: int) -> pa.Table:
        """Return about one row of every so many: those whose values have such a hash."""
        if step == 1:
            return self.table()
        from pyspark.sql import functions as spark

        hashed = spark.xxhash64(*map(_quoted, self.frame.columns))
        return self.frame.where(spark.pmod(hashed, spark.lit(step)) == 0).toArrow()

    def arrow_batches(self) -> Iterator[pa.Table]:
        """Yield all rows, which travel to this machine, a partition's at a time."""
        for part in self.summed(_Stacked.of):
            yield pa.concat_tables(part.parts)

    def with_joined(self, joined: Sequence[Joined]) -> SparkTable:
        """Return the table with all but some texts of columns as one."""
        from pyspark.sql import functions as spark

        changed = {}
        for name, kept, label in joined:
            text = spark.col(_quoted(name)).cast("string")
            stays = text.isin(sorted(kept)) | text.isNull()
            changed[name] = spark.when(stays, text).otherwise(spark.lit(label))
        return SparkTable(self.frame.withColumns(changed))

    def coded(self, codec: Encoder) -> SparkCoded:
        """Return the codes of the table, which the machines of the cluster find batch by batch."""
        return SparkCoded(codec, self)

    def summed(self, kernel: Any, names: Sequence[str] | None = None) -> Iterator[Any]:  # noqa: ANN401  # any result
        """Yield the sum of `kernel(batch)` over each partition of some columns, in any order.

        Kernels and results are sent by Spark's own means, between machines that trust each other.
        """
        wanted = self.frame.columns if names is None else names
        # PySpark takes a dot in a name for a field of a column here.
        plain = [f"column{place}" for place in range(len(wanted))]
        chosen = self.frame.select(*map(_quoted, wanted)).toDF(*plain)
        found = chosen.mapInArrow(partial(_partition_sum, kernel, list(wanted)), "result binary")
        for row in found.toLocalIterator(prefetchPartitions=True):
            yield _received(row[0])


@dataclass(frozen=True, eq=False)
class SparkCoded(CodedStream):
    """A table of Spark as codes, for everything that is a sum over rows."""

    source: SparkTable

    def coded_batches(self) -> Iterator[Coded]:
        """Yield all rows as codes, which travel to this machine, a partition's at a time."""
        for part in self.summed(_Stacked.of):
            yield Coded.concatenate(part.parts)

    def summed(self, kernel: Any) -> Iterator[Any]:  # noqa: ANN401  # any result
        """Yield the sum of `kernel(codes)` over each partition, in any order."""
        return self.source.summed(partial(_of_codes, self.codec, kernel))


def require_spark() -> None:
    """Raise unless PySpark can be imported.

    Raises
    ------
    DataError
        If it is not installed.
    """
    try:
        import pyspark  # noqa: F401  # only whether it is there
    except ModuleNotFoundError as error:
        raise DataError(
            "PySpark is not installed. Install it with: pip install 'understudy[spark]'. It needs "
            "Java 17 or later."
        ) from error


def read_on_spark(path: object, drop: Sequence[str] = (), master: str | None = None) -> Any:  # noqa: ANN401  # of Spark
    """Return a Parquet file, or a folder of them, as a DataFrame of a Spark session.

    Parameters
    ----------
    path : path
        A place that the machines of the cluster can read.
    drop : sequence of str
        Columns to leave out.
    master : str, optional
        The cluster; that of the session, or of the job, if not given.

    Raises
    ------
    DataError
        If PySpark is not installed, or the file is of another kind.
    """
    require_spark()
    import sys

    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("understudy").config("spark.sql.session.timeZone", "UTC")
    session = (builder if master is None else builder.master(master)).getOrCreate()
    try:
        frame = session.read.parquet(str(path))
    except (PySparkException, Py4JError) as error:
        raise DataError(
            f"Spark cannot read {path} as Parquet. Convert the table to Parquet, and give a place "
            "that all machines of the cluster can read."
        ) from error
    problems = unknown_columns(drop, frame.columns)
    if problems:
        raise DataError(f"Columns to drop: {' '.join(problems)}")
    return frame.drop(*drop)


def _quoted(name: str) -> str:
    """Return a name as Spark reads it as one, whatever dots it has."""
    return f"`{name.replace('`', '``')}`"


def _tallied(names: Sequence[str], batch: pa.Table) -> Tallies:
    found = Tallies(names, ordered=False)
    found.add(batch)
    return found


def _of_codes(codec: Encoder, kernel: Any, batch: pa.Table) -> Any:  # noqa: ANN401  # any result
    return kernel(codec.encode_batch(batch))


def _partition_sum(
    kernel: Any,  # noqa: ANN401  # of any result
    names: list[str],
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Return the sum over a partition, on a worker; nothing for one without rows."""
    total = None
    for table in _joined(batches):
        found = kernel(table.rename_columns(names))
        total = found if total is None else total + found
    if total is not None:
        yield pa.record_batch([pa.array([_sent(total)], pa.binary())], names=["result"])


def _joined(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the rows of small batches, so many at a time that kernels are worth their start."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            rows += batch.num_rows
        if rows >= ROWS_AT_ONCE:
            yield pa.Table.from_batches(waiting)
            waiting, rows = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


class _Stacked:
    """Tables of Arrow, or of codes, that add up to one below the other."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts

    @classmethod
    def of(cls, part: Any) -> _Stacked:  # noqa: ANN401  # a table
        return cls([part])

    def __add__(self, other: _Stacked) -> _Stacked:
        return _Stacked(self.parts + other.parts)


def _sent(result: Any) -> bytes:  # noqa: ANN401  # any result
    from pyspark.serializers import CPickleSerializer

    return bytes(CPickleSerializer().dumps(result))


def _received(data: bytes) -> Any:  # noqa: ANN401  # any result
    from pyspark.serializers import CPickleSerializer

    return CPickleSerializer().loads(bytes(data))
