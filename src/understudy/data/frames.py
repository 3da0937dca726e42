"""Data frames at the edge: any of three libraries in, Arrow inside, the same library out.

A `Layout` remembers how a frame was stored (its library, its column order and types), so that a
frame of new values can be built that a user cannot tell from the one they gave by its form.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from understudy.errors import DataError
from understudy.showing import reason

if TYPE_CHECKING:
    import pandas as pd

Backend = Literal["polars", "pandas", "pyarrow"]
Frame: TypeAlias = Any
"""A pandas or polars DataFrame, or a pyarrow Table."""

StoredType: TypeAlias = dict[str, Any]
"""A column's type in its own library, in words that JSON can hold."""


MOST_COLUMNS = 20_000
LONGEST_NAME = 40
"""Characters of a column's name that are shown where several are listed."""
MOST_NAMES = 5
"""Names of columns that a message lists, at most."""
MOST_LETTERS = 1_000
"""Characters of a column's name; more are a text."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""What no name has; but line ends and tabs may stand in it."""


def to_narwhals(frame: Frame) -> nw.DataFrame[Any]:
    """Return `frame` behind narwhals, or say why it is not a frame that we take."""
    try:
        wrapped: nw.DataFrame[Any] = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        kind = f"{type(frame).__module__.split('.')[0]}.{type(frame).__name__}"
        hint = " Call .collect() on it first." if hasattr(frame, "collect") else ""
        raise DataError(
            f"A table is a pandas or polars DataFrame or a pyarrow Table, not {kind}.{hint}"
        ) from error
    except nw.exceptions.DuplicateError:
        # A table of pyarrow has its values, not its names, in `columns`.
        check_names(list(getattr(frame, "column_names", frame.columns)))  # says which
        raise
    if wrapped.implementation.name.lower() not in get_args(Backend):
        raise DataError(
            f"Frames of {wrapped.implementation.name.lower()} are not supported; "
            "convert to pandas, polars or pyarrow."
        )
    check_names(wrapped.columns)
    return wrapped


def check_names(names: Sequence[object]) -> None:
    """Raise unless the column names are distinct, non-empty texts, and not far too many."""
    if len(names) > MOST_COLUMNS:
        raise DataError(
            f"The table has {len(names):,} columns or more, and {MOST_COLUMNS:,} are the most that "
            "can be worked with. Choose those that are needed. If rows and columns are "
            "interchanged, turn the table around."
        )
    unnamed = [place for place, name in enumerate(names, 1) if name is None or name == ""]
    if unnamed:
        raise DataError(
            f"Column {unnamed[0]} has no name (a row index that was written along, or a title "
            "above the header?). Name it, or remove what does not belong to the table. If the "
            "header of a file is further down, give its line as `header_row`."
        )
    other = [name for name in names if not isinstance(name, str)]
    if other:
        raise DataError(
            f"Column names are text; {other[0]!r} is {type(other[0]).__name__}. Rename the column."
        )
    for place, name in enumerate(map(str, names), 1):
        if len(name) > MOST_LETTERS:
            raise DataError(
                f"Column {place} has a name of {len(name):,} characters; {MOST_LETTERS:,} are the "
                "most. If the file has no names of columns, add a line of them."
            )
        if _CONTROL.search(name):
            raise DataError(
                f"The name of column {place} holds control characters, which could change what a "
                "terminal shows. Rename it, or give the `encoding` of its file."
            )
    repeated = sorted(str(name) for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise DataError(
            f"Column names must differ; repeated: {_some_names(repeated)}. Rename them."
        )


def _some_names(names: Sequence[str]) -> str:
    """Return a few names, cut off where they are long: a line of data may pass for a header."""
    shown = [repr(f"{name[:LONGEST_NAME]}…" if name[LONGEST_NAME:] else name) for name in names]
    more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
    return ", ".join(shown[:MOST_NAMES]) + more


def to_arrow(frame: Frame) -> pa.Table:
    """Return the columns of any supported frame as one Arrow table, each in one piece."""
    wrapped = to_narwhals(frame)
    # Each by itself: to ask a wrapped frame for a column by its name in brackets takes long.
    columns = list(wrapped.iter_columns())
    arrays = [column_to_arrow(column, column.name) for column in columns]
    fields = [
        pa.field(column.name, array.type, metadata=_note(column))
        for column, array in zip(columns, arrays, strict=True)
    ]
    return pa.table(arrays, schema=pa.schema(fields))


def _note(series: nw.Series[Any]) -> Mapping[bytes, bytes] | None:
    """Return what polars notes beside an Arrow type to tell its Enum from other categories."""
    if series.dtype != nw.Enum or not series.implementation.is_polars():
        return None
    note: Mapping[bytes, bytes] | None = series.to_frame().to_native().to_arrow().field(0).metadata
    return note


def column_to_arrow(series: nw.Series[Any], name: str) -> pa.Array:
    """Return one column as an Arrow array in one piece; `name` is for messages."""
    if series.dtype in (nw.Int128, nw.UInt128):
        raise DataError(
            f"Column {name!r} holds whole numbers beyond 64 bits. If they are labels, convert the "
            "column to text; if they are amounts, give them in a larger unit."
        )
    try:
        array = series.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"Column {name!r} cannot be read as values of one type ({reason(error)}). "
            "Convert it to one, for example to text."
        ) from error
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if pa.types.is_dictionary(array.type) and not len(array.dictionary):
        return pa.nulls(len(array), pa.string())  # categories of no type: nothing but gaps
    return array


def to_backend(frame: pl.DataFrame, backend: Backend) -> Frame:
    """Return a polars frame as a frame of the given library."""
    if backend == "polars":
        return frame
    if backend == "pyarrow":
        return frame.to_arrow()
    if backend == "pandas":
        try:
            import pandas as pd  # noqa: F401  # only to say clearly that it is not there
        except ModuleNotFoundError as error:
            raise DataError("pandas is not installed; install it or ask for polars.") from error
        return frame.to_pandas()
    raise DataError(f"backend must be one of {', '.join(get_args(Backend))}; got {backend!r}.")


@dataclass(frozen=True)
class Layout:
    """How a frame was stored: its library, and the type of each column, in order."""

    backend: Backend
    types: Mapping[str, StoredType]

    @classmethod
    def of(cls, frame: Frame) -> Layout:
        """Describe `frame`."""
        wrapped = to_narwhals(frame)
        backend = cast("Backend", wrapped.implementation.name.lower())
        types = {
            name: describe_column(backend, wrapped[name].to_native()) for name in wrapped.columns
        }
        return cls(backend, types)

    def forget_values(self, names: Sequence[str]) -> Layout:
        """Return the layout without the category lists of `names`, which may hold identifiers."""
        plain = {"pandas": "object", "polars": "String", "pyarrow": "string"}[self.backend]
        types = {
            name: {"type": plain}
            if name in names and "categories" in stored.get("arrow", stored)
            else stored
            for name, stored in self.types.items()
        }
        return replace(self, types=types)

    def restore(self, columns: Mapping[str, pa.Array]) -> Frame:
        """Build a frame of this layout from Arrow arrays of plain or dictionary-coded values."""
        if self.backend == "polars":
            return pl.DataFrame(
                [_to_polars(columns[name], stored, name) for name, stored in self.types.items()]
            )
        if self.backend == "pandas":
            import pandas as pd

            return pd.DataFrame(
                {name: _to_pandas(columns[name], stored) for name, stored in self.types.items()}
            )
        arrays = [_to_pyarrow(columns[name], stored) for name, stored in self.types.items()]
        return pa.table(arrays, names=list(self.types))


def describe_column(backend: Backend, column: Any) -> StoredType:  # noqa: ANN401  # three libraries
    """Return how a column is stored in its own library."""
    if backend == "pandas":
        return _of_pandas(column)
    return _of_polars(column) if backend == "polars" else _of_pyarrow(column)


def _of_polars(series: pl.Series) -> StoredType:
    dtype = series.dtype
    stored: StoredType = {"type": str(dtype.base_type())}
    if isinstance(dtype, pl.Enum):
        stored["categories"] = dtype.categories.to_list()
    elif isinstance(dtype, pl.Datetime):
        stored |= {"unit": dtype.time_unit, "zone": dtype.time_zone}
    elif isinstance(dtype, pl.Duration):
        stored["unit"] = dtype.time_unit
    elif isinstance(dtype, pl.Decimal):
        stored |= {"precision": dtype.precision, "scale": dtype.scale}
    return stored


_POLARS_TYPES = (
    *("Int8", "Int16", "Int32", "Int64", "Int128", "UInt8", "UInt16", "UInt32", "UInt64"),
    *("UInt128", "Float16", "Float32", "Float64", "Boolean", "String", "Categorical", "Date"),
    *("Time", "Null"),
)


def _to_polars(array: pa.Array, stored: StoredType, name: str) -> pl.Series:
    dtypes: dict[str, Any] = {
        "Enum": lambda: pl.Enum(stored["categories"]),
        "Datetime": lambda: pl.Datetime(stored["unit"], stored["zone"]),
        "Duration": lambda: pl.Duration(stored["unit"]),
        "Decimal": lambda: pl.Decimal(stored["precision"], stored["scale"]),
    }
    if stored["type"] not in dtypes and stored["type"] not in _POLARS_TYPES:
        raise DataError(f"Polars has no type {stored['type']!r} for a column.")
    dtype = dtypes.get(stored["type"], getattr(pl, stored["type"]))()
    series = cast("pl.Series", pl.from_arrow(_plain(array)))
    return series.cast(dtype).alias(name)


def _of_pandas(series: pd.Series[Any]) -> StoredType:
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return {
            "type": "category",
            "categories": dtype.categories.tolist(),
            "category_type": str(dtype.categories.dtype),
            "ordered": bool(dtype.ordered),
        }
    if isinstance(dtype, pd.ArrowDtype):
        return {"type": "arrow", "arrow": _of_pyarrow(pa.chunked_array([pa.array(series)]))}
    stored: StoredType = {"type": str(dtype)}
    if isinstance(dtype, pd.StringDtype):
        stored = {
            "type": "text",
            "storage": dtype.storage,
            "missing": "NA" if dtype.na_value is pd.NA else "nan",
        }
    elif pd.api.types.is_object_dtype(dtype):
        gaps = series[series.isna()]
        none = gaps.empty or gaps.iloc[0] is None
        stored["missing"] = "None" if none else "nan"
    return stored


def _to_pandas(array: pa.Array, stored: StoredType) -> pd.Series[Any]:
    import pandas as pd

    kind = stored["type"]
    if kind == "category":
        categories = pd.Index(stored["categories"], dtype=stored["category_type"])
        dtype = pd.CategoricalDtype(categories, stored["ordered"])
        codes = _category_codes(array, stored["categories"])
        return pd.Series(pd.Categorical.from_codes(cast("Any", codes), dtype=dtype))
    if kind == "arrow":
        return pd.Series(pd.arrays.ArrowExtensionArray(_to_pyarrow(array, stored["arrow"])))
    array = _plain(array)
    if kind == "object":
        missing = np.nan if stored.get("missing") == "nan" else None
        values = [missing if value is None else value for value in array.to_pylist()]
        return pd.Series(values, dtype=object)
    if kind == "text":
        missing = cast("Any", np.nan if stored["missing"] == "nan" else pd.NA)
        dtype_of_text = pd.StringDtype(stored["storage"], na_value=missing)
        return pd.Series(array.to_pylist(), dtype=dtype_of_text)
    if kind.startswith("float") and not kind.endswith("]"):
        return pd.Series(array.to_numpy(zero_copy_only=False)).astype(kind)
    arrow_backed = pd.Series(pd.arrays.ArrowExtensionArray(array))
    return arrow_backed.astype(pd.api.types.pandas_dtype(kind))


def _of_pyarrow(column: pa.ChunkedArray) -> StoredType:
    kind = column.type
    if pa.types.is_dictionary(kind):
        dictionary = column.unify_dictionaries()
        values = dictionary.chunk(0).dictionary if dictionary.num_chunks else pa.array([])
        return {
            "type": "dictionary",
            "index": str(kind.index_type),
            "value": str(kind.value_type),
            "ordered": kind.ordered,
            "categories": values.to_pylist(),
        }
    return describe_arrow(kind)


def _to_pyarrow(array: pa.Array, stored: StoredType) -> pa.Array:
    if stored["type"] == "dictionary":
        codes = _category_codes(array, stored["categories"])
        indices = pa.array(codes, type=pa.type_for_alias(stored["index"]), mask=codes < 0)
        values = pa.array(stored["categories"], type=pa.type_for_alias(stored["value"]))
        return pa.DictionaryArray.from_arrays(indices, values, ordered=stored["ordered"])
    return _plain(array).cast(arrow_type(stored))


def describe_arrow(kind: pa.DataType) -> StoredType:
    """Return an Arrow type in words that JSON can hold.

    Examples
    --------
    >>> describe_arrow(pa.timestamp("us", tz="UTC"))
    {'type': 'timestamp', 'unit': 'us', 'zone': 'UTC'}
    """
    if pa.types.is_timestamp(kind):
        return {"type": "timestamp", "unit": kind.unit, "zone": kind.tz}
    if pa.types.is_decimal(kind):
        name = str(kind).partition("(")[0]
        return {"type": name, "precision": kind.precision, "scale": kind.scale}
    return {"type": str(kind)}


def arrow_type(stored: StoredType) -> pa.DataType:
    """Return the Arrow type that `describe_arrow` put into words."""
    name = stored["type"]
    if name == "timestamp":
        return pa.timestamp(stored["unit"], tz=stored["zone"])
    if name.startswith("decimal"):
        return getattr(pa, name)(stored["precision"], stored["scale"])
    # pyarrow prints these two under names by which it does not find them again.
    return pa.type_for_alias({"date32[day]": "date32", "date64[ms]": "date64"}.get(name, name))


def _plain(array: pa.Array) -> pa.Array:
    """Return the values themselves where they are stored as positions in a dictionary."""
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _category_codes(array: pa.Array, categories: Sequence[Any]) -> NDArray[np.int64]:
    """Return the position of each value in `categories`, -1 where it is missing."""
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    places = {value: place for place, value in enumerate(categories)}
    lookup = np.array([places[value] for value in array.dictionary.to_pylist()] + [-1])
    indices = array.indices.cast(pa.int64()).fill_null(len(lookup) - 1)
    codes: NDArray[np.int64] = lookup[indices.to_numpy(zero_copy_only=False)]
    return codes
