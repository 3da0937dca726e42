"""Made-up identifiers: fresh, and recognisable as artificial."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from understudy.data.values import Numbers, form_of, from_numpy, numbers_to_arrow
from understudy.errors import DataError


def make_identifiers(name: str, kind: pa.DataType, count: int, first: int = 0) -> pa.Array:
    """Return `count` new identifiers: ``synthetic-1``, ... for text; -1, -2, ... for numbers.

    Numbers without a sign count down from the largest that their type holds.

    Examples
    --------
    >>> make_identifiers("id", pa.string(), 2).to_pylist()
    ['synthetic-1', 'synthetic-2']
    """
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    numbers = np.arange(first + 1, first + 1 + count)
    if pa.types.is_integer(kind):
        largest = 2 ** (kind.bit_width - (not pa.types.is_unsigned_integer(kind))) - 1
        if first + count > largest:
            raise DataError(
                f"Column {name!r} is stored as {kind}, which holds no {first + count:,} different "
                "identifiers. Store it in a wider type, or drop it."
            )
    if form_of(kind, name) == "category":
        return pa.array([f"synthetic-{number}" for number in numbers])
    if pa.types.is_unsigned_integer(kind):
        top = np.iinfo(kind.to_pandas_dtype()).max
        return from_numpy(top - (numbers - 1).astype(kind.to_pandas_dtype()), numbers < 0)
    return numbers_to_arrow(Numbers(-numbers, np.zeros(count, dtype=bool)), kind)
