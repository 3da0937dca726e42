"""Drawing on a Spark cluster: its machines draw the blocks that one machine would."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from understudy.data.frames import describe_arrow
from understudy.data.spark_table import require_spark
from understudy.errors import DataError
from understudy.synthesis.blocks import Block

_WIDER = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
    pa.large_string(): pa.string(),
    pa.string_view(): pa.string(),
    pa.null(): pa.string(),
}
"""What Spark has in place of Arrow's types."""

Draw = Callable[[Block], pa.Table]


def draw_on_spark(draw: Draw, blocks: Sequence[Block], spark: Any) -> Any:  # noqa: ANN401  # of Spark
    """Return the rows of all blocks, in their order, as a DataFrame of Spark.

    Parameters
    ----------
    draw : callable
        Draws a block; it is sent to the machines of the cluster.
    blocks : sequence of Block
        What is drawn.
    spark : SparkSession
        The session.
    """
    require_spark()
    from pyspark.sql.pandas.types import from_arrow_schema

    first = blocks[0]
    schema = as_spark_has_it(draw(Block(first.first_row, 1, first.seed, first.copy))).schema
    numbers = spark.range(0, len(blocks), 1, len(blocks))
    drawn = partial(_drawn, draw, list(blocks), schema)
    return numbers.mapInArrow(drawn, from_arrow_schema(schema))


def as_spark_has_it(table: pa.Table) -> pa.Table:
    """Return a table in types that Spark has.

    Examples
    --------
    >>> as_spark_has_it(pa.table({"x": pa.array([1], pa.uint8())})).schema.types
    [DataType(int16)]
    """
    columns = [_as_spark_has_it(table[name].combine_chunks(), name) for name in table.column_names]
    return pa.table(columns, names=table.column_names)


def _as_spark_has_it(array: pa.Array, name: str) -> pa.Array:
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if pa.types.is_time(kind):
        raise DataError(
            f"Column {name!r} holds {describe_arrow(kind)['type']}, which Spark cannot hold. Draw "
            "on this machine, or convert the column to text first."
        )
    if pa.types.is_timestamp(kind) and kind.unit != "us":
        return array.cast(pa.timestamp("us", kind.tz), safe=False)
    if pa.types.is_duration(kind) and kind.unit != "us":
        return array.cast(pa.duration("us"), safe=False)
    return array.cast(_WIDER.get(kind, kind))


def _drawn(
    draw: Draw, blocks: Sequence[Block], schema: pa.Schema, numbers: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Draw the blocks of some numbers, on a worker."""
    for batch in numbers:
        for number in batch.column(0).to_pylist():
            yield from as_spark_has_it(draw(blocks[number])).cast(schema).to_batches()
