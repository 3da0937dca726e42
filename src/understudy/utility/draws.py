"""Records in an order that their content alone decides, so that chance treats equals alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from understudy.data import Coded
from understudy.errors import ParameterError


def content_order(table: Coded) -> NDArray[np.intp]:
    """Return the rows sorted by their codes, the columns taken in the order of their names.

    Tables with the same records have the same table in this order, however rows and columns are
    arranged. What is drawn from it by a seed is then the same too.

    Examples
    --------
    >>> content_order(Coded.from_arrays({"b": [1, 0, 0], "a": [0, 1, 0]})).tolist()
    [2, 0, 1]
    """
    rows: NDArray[np.intp] = np.lexsort([table[name] for name in sorted(table.names, reverse=True)])
    return rows


def check_seed(seed: object) -> int:
    """Return a seed that scikit-learn takes too, or raise.

    Raises
    ------
    ParameterError
        If it is something else than a whole number from 0 to 2**32 - 1.
    """
    whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not whole or not 0 <= int(seed) < 2**32:  # type: ignore[call-overload]
        raise ParameterError(f"random_state is a whole number from 0 to {2**32 - 1}; got {seed!r}.")
    return int(seed)  # type: ignore[call-overload,no-any-return]
