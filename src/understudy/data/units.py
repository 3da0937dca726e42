"""Units: the people, households or firms that records belong to, by the columns that name them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Codes = NDArray[np.int64]


def without_gaps(array: pa.Array) -> pa.Array:
    """Return the values of a column that are not missing, as they are and not as a dictionary."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_floating(array.type):
        array = array.filter(pc.invert(pc.is_nan(array)).fill_null(False))
    return array.drop_null()


def codes_of(array: pa.Array) -> Codes:
    """Return a number for each record, the same for equal values; missing is one, too."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    coded = array.dictionary_encode("encode")
    return np.asarray(coded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)


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
        gaps = np.asarray(pc.is_null(array, nan_is_null=True).to_numpy(zero_copy_only=False))
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
