"""Where tables come from: a frame in memory, a file that is read in batches, or a cluster.

Whatever learns from a table asks its source: for what is in each column, for its rows as codes, and
now and then for a few columns whole. A new kind of source needs no more than this.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from understudy.data.counted import Counted
from understudy.data.declared import declared
from understudy.data.frames import Frame, Layout, to_arrow, to_narwhals

if TYPE_CHECKING:
    from understudy.data.coded import Coded
    from understudy.data.typed_dialect import AnyDialect


Joined: TypeAlias = tuple[str, frozenset[str], str]
"""A column, the texts of it that stay, and what the others become."""


class Encoder(Protocol):
    """Turns records into codes: a `Codec`, or what else knows the values of a table."""

    @property
    def names(self) -> tuple[str, ...]:
        """The coded columns, in order."""
        ...

    @property
    def cardinalities(self) -> tuple[int, ...]:
        """The number of codes of each column."""
        ...

    def encode(self, source: Any, /) -> Coded:  # noqa: ANN401  # a table of any kind
        """Return the codes of a table, all in memory."""
        ...

    def encode_batch(self, table: pa.Table) -> Coded:
        """Return the codes of some records."""
        ...


class Combinations(NamedTuple):
    """The different rows of some columns of a table, and how many records are like each."""

    rows: pl.DataFrame
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, frame: pl.DataFrame | pl.LazyFrame) -> Combinations:
        """Count the rows of a frame; -0.0 is the same as 0.0, and NaN as NaN."""
        lazy, times = frame.lazy(), "times"
        names = lazy.collect_schema().names()
        while times in names:
            times += "_"
        found = lazy.group_by(names).agg(pl.len().cast(pl.Int64).alias(times)).collect()
        return cls(found.drop(times), found[times].to_numpy())


class TableSource(Protocol):
    """A table, wherever it lives; `source_of` makes one of whatever a user gives."""

    @property
    def rows(self) -> int:
        """How many records there are."""
        ...

    @property
    def layout(self) -> Layout:
        """How the table is stored."""
        ...

    @property
    def empty(self) -> Frame:
        """A frame of the same columns and types without rows."""
        ...

    @property
    def dialect(self) -> AnyDialect | None:
        """How the table's file is written, if that is known."""
        ...

    @property
    def special(self) -> Mapping[str, Sequence[float]]:
        """Numbers that the table itself declares to be no amounts, by column."""
        ...

    def describe(self, names: Collection[str] | None = None) -> Iterator[tuple[str, Counted]]:
        """Yield the columns, or some of them, with the values that occur and their counts."""
        ...

    def combinations(self, names: Sequence[str]) -> Combinations:
        """Return the different rows of some columns, and how many records are like each."""
        ...

    def table(self, names: Sequence[str] | None = None) -> pa.Table:
        """Return all columns, or some, whole."""
        ...

    def every(self, step: int) -> pa.Table:
        """Return one row of every so many."""
        ...

    def arrow_batches(self) -> Iterator[pa.Table]:
        """Yield all rows, some at a time."""
        ...

    def with_joined(self, joined: Sequence[Joined]) -> TableSource:
        """Return the table with all but some texts of columns as one."""
        ...

    def coded(self, codec: Encoder) -> Coded | Any:  # noqa: ANN401  # any `counting.Source`
        """Return the codes of the table, in memory or as a source of batches with an engine."""
        ...


@dataclass(frozen=True, eq=False)
class FrameSource:
    """A frame in memory, of any library."""

    frame: Frame

    dialect: AnyDialect | None = None

    @cached_property
    def rows(self) -> int:
        """How many records there are."""
        return len(to_narwhals(self.frame))

    @cached_property
    def layout(self) -> Layout:
        """How the frame is stored."""
        return Layout.of(self.frame)

    @property
    def empty(self) -> Frame:
        """A frame of the same columns and types without rows."""
        return to_narwhals(self.frame).head(0).to_native()

    @property
    def special(self) -> Mapping[str, Sequence[float]]:
        """Numbers that are declared to be no amounts, by column."""
        return declared(self.frame)

    @cached_property
    def _whole(self) -> pa.Table:
        return to_arrow(self.frame)

    def describe(self, names: Collection[str] | None = None) -> Iterator[tuple[str, Counted]]:
        """Yield the columns, or some of them, with the values that occur and their counts."""
        for name, column in zip(self._whole.column_names, self._whole.columns, strict=True):
            if names is None or name in names:
                yield name, Counted.of(column.combine_chunks())

    def combinations(self, names: Sequence[str]) -> Combinations:
        """Return the different rows of some columns, and how many records are like each."""
        return Combinations.of(pl.DataFrame(pl.from_arrow(self.table(names))))

    def table(self, names: Sequence[str] | None = None) -> pa.Table:
        """Return all columns, or some, whole."""
        return self._whole if names is None else self._whole.select(list(names))

    def every(self, step: int) -> pa.Table:
        """Return one row of every so many."""
        return self._whole.take(pa.array(np.arange(0, self.rows, step)))

    def arrow_batches(self) -> Iterator[pa.Table]:
        """Yield all rows at once."""
        yield self._whole

    def with_joined(self, joined: Sequence[Joined]) -> FrameSource:
        """Return the table with all but some texts of columns as one."""
        texts = {name: nw.col(name).cast(nw.String) for name, _, _ in joined}
        changed = to_narwhals(self.frame).with_columns(
            nw.when(texts[name].is_in(list(kept)) | nw.col(name).is_null())
            .then(texts[name])
            .otherwise(nw.lit(label))
            .alias(name)
            for name, kept, label in joined
        )
        return FrameSource(changed.to_native())

    def coded(self, codec: Encoder) -> Coded:
        """Return the codes of the table."""
        return codec.encode(self)


@dataclass(frozen=True)
class CodedStream:
    """A table that is coded batch by batch, for everything that is a sum over rows."""

    codec: Encoder
    source: TableSource

    @property
    def names(self) -> tuple[str, ...]:
        """The coded columns, in order."""
        return self.codec.names

    @property
    def cardinalities(self) -> tuple[int, ...]:
        """The number of codes of each column."""
        return self.codec.cardinalities

    def coded_batches(self) -> Iterator[Coded]:
        """Yield the rows as codes, in order."""
        yield from map(self.codec.encode_batch, self.source.arrow_batches())


def source_of(data: Frame | TableSource) -> TableSource:
    """Return the source of a table: a frame, a file from `scan`, or a DataFrame of Spark."""
    from understudy.data.spark_table import SparkTable, is_spark_frame
    from understudy.data.stream import FileStream

    if isinstance(data, FrameSource | FileStream | SparkTable):
        return data
    return SparkTable(data) if is_spark_frame(data) else FrameSource(data)
