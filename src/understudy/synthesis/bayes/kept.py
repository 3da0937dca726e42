"""Partial synthesis by a network: columns of the original that a release keeps as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.data import Codec, Coded, Schema
from understudy.data.coded import Codes, code_dtype
from understudy.data.source import TableSource
from understudy.errors import ParameterError, unknown_columns
from understudy.synthesis.blocks import Block

_CODES = "kept_"
_VALUES = "kept_values_"


def read_keep(keep: Any, names: Sequence[str], identifiers: Sequence[str]) -> tuple[str, ...]:  # noqa: ANN401  # a user's
    """Return the columns that are kept, in the order of the table, or say what is wrong."""
    given = [keep] if isinstance(keep, str) else list(keep or ())
    made_up = [name for name in given if name in identifiers]
    if made_up:
        raise ParameterError(
            f"keep: {made_up[0]!r} is an identifier, which is made up. If it is something else, "
            "set its kind in the schema."
        )
    problems = unknown_columns(dict.fromkeys(given), names)
    if problems:
        raise ParameterError(f"keep: {' '.join(problems)}")
    if given and set(given) == set(names):
        raise ParameterError("keep names every column, so there is nothing to synthesize.")
    return tuple(name for name in names if name in given)


@dataclass(frozen=True, eq=False)
class Kept:
    """The kept columns of all records: their values, and the codes by which others follow them.

    A network sees numbers in bins, which do not give the numbers back. So these have codes of
    their own, one for each number.

    Parameters
    ----------
    codec : Codec
        Turns the values into codes, and back exactly.
    values : Coded
        The values.
    """

    codec: Codec
    values: Coded

    @classmethod
    def of(cls, source: TableSource, schema: Schema, names: Sequence[str]) -> Self:
        """Read the columns of a table."""
        table = source.table(names)
        codec = Codec.fit(table, Schema(schema[name] for name in names), exact=True)
        return cls(codec, codec.encode(table))

    def columns(self, block: Block, types: Mapping[str, pa.DataType]) -> dict[str, pa.Array]:
        """Return the values of the records of a block."""
        rows = self.values.take(slice(block.first_row, block.first_row + block.rows))
        found = self.codec.decode_arrow(rows, "interpolate", np.random.default_rng(0))
        return {name: array.cast(types[name]) for name, array in found.items()}

    def to_plain(self) -> dict[str, Any]:
        """Return what JSON can hold of it."""
        return self.codec.to_plain()

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the rest of it."""
        found: dict[str, NDArray[Any]] = {
            f"{_VALUES}{place}": array for place, array in self.codec.to_arrays().items()
        }
        return found | {f"{_CODES}{n}": codes for n, codes in enumerate(self.values.columns)}

    @classmethod
    def restore(
        cls, plain: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], rows: int
    ) -> Self:
        """Return what `to_plain` and `to_arrays` took apart."""
        numbers = {k.removeprefix(_VALUES): a for k, a in arrays.items() if k.startswith(_VALUES)}
        codec = Codec.from_plain(plain, numbers)
        columns = tuple(
            _column(arrays[f"{_CODES}{place}"], size, rows)
            for place, size in enumerate(codec.cardinalities)
        )
        return cls(codec, Coded(codec.names, columns, codec.cardinalities))


def _column(codes: NDArray[Any], cardinality: int, rows: int) -> Codes:
    if codes.shape != (rows,) or int(codes.max(initial=0)) >= cardinality:
        raise ValueError("kept records that do not fit the columns")
    return codes.astype(code_dtype(cardinality), casting="safe")
