"""Units: the people, households or firms that records belong to, by the columns that name them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.data.frames import Frame, column_to_arrow, to_narwhals
from understudy.data.values import to_numpy
from understudy.errors import ParameterError, unknown_columns

Codes = NDArray[np.int64]


def without_gaps(array: pa.Array) -> pa.Array:
    """Return the values of a column that are not missing, as they are and not as a dictionary."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_floating(array.type) and pc.any(none := pc.is_nan(array)).as_py():
        array = array.filter(pc.invert(none).fill_null(False))
    return array.drop_null() if array.null_count else array


def codes_of(array: pa.Array) -> Codes:
    """Return a number for each record, the same for equal values; missing is one, too."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    coded = array.dictionary_encode("encode")
    return to_numpy(coded.indices).astype(np.int64)


def unit_codes(columns: Iterable[pa.Array]) -> Codes:
    """Return the unit of each record, from 0, in the order in which units first occur.

    The columns name the unit together. Records in which all of them are missing are units of their
    own: nothing says that they belong together.

    Examples
    --------
    >>> unit_codes([pa.array([7, 7, 8, None, None]), pa.array([1, 2, 1, None, None])]).tolist()
    [0, 1, 2, 3, 4]
    """
    arrays = list(columns)
    together, missing = None, None
    for array in arrays:
        codes = codes_of(array)
        gaps = to_numpy(pc.is_null(array, nan_is_null=True))
        missing = gaps if missing is None else missing & gaps
        if together is None:
            together = codes
        else:
            together = _renumbered(together * (int(codes.max(initial=0)) + 1) + codes)
    if together is None or missing is None:
        raise ValueError("a unit is named by at least one column")
    alone = np.flatnonzero(missing)
    together = together.copy()
    together[alone] = int(together.max(initial=0)) + 1 + np.arange(len(alone))
    return _renumbered(together)


def _renumbered(codes: Codes) -> Codes:
    """Return codes numbered from 0 in the order in which they first occur."""
    _, first, where = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[where.ravel()]


def units_of(frame: Frame, names: Sequence[str]) -> Codes:
    """Return the unit of each record of a table, from 0, by the columns that name it together.

    Raises
    ------
    ParameterError
        If the table lacks such a column.

    Examples
    --------
    >>> import polars as pl
    >>> units_of(pl.DataFrame({"home": ["a", "b", "a"]}), ["home"]).tolist()
    [0, 1, 0]
    """
    table = to_narwhals(frame)
    if problems := unknown_columns(names, table.columns):
        raise ParameterError(f"unit_id: {' '.join(problems)}")
    return unit_codes(column_to_arrow(table[name], name) for name in names)


def one_of_each(units: Codes, rng: np.random.Generator) -> Codes:
    """Return a row of each unit, drawn at random, in the order of the rows.

    Examples
    --------
    >>> rows = one_of_each(np.array([0, 0, 1, 2, 2]), np.random.default_rng(1))
    >>> rows[1], len(rows)
    (np.int64(2), 3)
    """
    shuffled = rng.permutation(len(units))
    _, first = np.unique(units[shuffled], return_index=True)
    return np.sort(shuffled[first])
