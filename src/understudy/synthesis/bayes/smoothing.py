"""How far the tables of a network are smoothed: what a user says, as strengths for each table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import is_number
from understudy.errors import ParameterError
from understudy.synthesis.bayes.halves import Step, SteppedTable
from understudy.synthesis.tables import ConditionalTable

AUTO: Literal["auto"] = "auto"
"""Left-out records decide."""

Smoothing: TypeAlias = Literal["auto"] | float | Sequence[float] | Sequence[Sequence[float]]
"""Of one column: one strength for all numbers of parents, or one for each, from none on. Of a
column in steps, these may have one for each step."""


def check_smoothing(smoothing: Any) -> None:  # noqa: ANN401  # whatever a user gave
    """Raise if a smoothing, for all columns or by column, cannot be used."""
    for one in smoothing.values() if isinstance(smoothing, Mapping) else [smoothing]:
        if isinstance(one, str) and one == AUTO:
            continue
        if not all(is_number(strength) and 0 <= strength < math.inf for strength in _flat(one)):
            raise ParameterError(
                "smoothing must be 'auto', or a number of records from 0, which may differ by "
                f"column and by number of parents; got {smoothing!r}."
            )


def _flat(given: Any) -> list[Any]:  # noqa: ANN401  # whatever a user gave
    """Return the numbers of a list, or of a list of lists of one length."""
    if not isinstance(given, list | tuple | np.ndarray) or not len(given):
        return [given]
    nested = [one for one in given if isinstance(one, list | tuple | np.ndarray)]
    if len(nested) == len(given) and len({len(one) for one in nested}) == 1 and len(nested[0]):
        return [strength for one in nested for strength in one]
    return list(given)


def is_smoothed(smoothing: Any) -> bool:  # noqa: ANN401  # whatever `check_smoothing` accepts
    """Tell whether a smoothing, for all columns or by column, smooths anything.

    Examples
    --------
    >>> is_smoothed("auto"), is_smoothed({"age": 0, "*": [0, 2.5]}), is_smoothed(0)
    (True, True, False)
    """
    given = smoothing.values() if isinstance(smoothing, Mapping) else [smoothing]
    return any(isinstance(one, str) or bool(np.any(one)) for one in given)


def smooth(
    table: ConditionalTable, smoothing: Smoothing, min_count: int, name: str
) -> ConditionalTable:
    """Return the table of a column with its rows drawn towards those with fewer parents.

    A table that is not smoothed and uses all its rows is returned as it is.

    Examples
    --------
    >>> from understudy.data.coded import Coded
    >>> coded = Coded.from_arrays({"sex": [0, 1, 1, 1], "smokes": [1, 0, 1, 1]})
    >>> table = ConditionalTable.of(coded, "smokes", ["sex"])
    >>> smooth(table, 5, 1, "smokes").shrinkage.strengths
    array([5., 5.])
    """
    levels = len(table.ranges.sizes) + 1
    strengths: NDArray[np.float64] | None = None
    if not isinstance(smoothing, str):
        given = np.asarray(smoothing, np.float64)
        if given.ndim and len(given) != levels:
            raise ParameterError(
                f"smoothing: {name!r} has {levels - 1} parents, so it needs {levels} strengths, "
                f"from no parent on; got {len(given)}."
            )
        strengths = np.full(levels, given)
        if min_count == 1 and not strengths.any():
            return table
    return table.shrunk(strengths, min_count)


def smooth_steps(
    table: ConditionalTable,
    steps: tuple[Step, ...],
    smoothing: Any,  # noqa: ANN401  # numbers in rows, as `check_smoothing` found
    min_count: int,
    name: str,
) -> SteppedTable:
    """Return the table of a column in steps, with a strength for each number of parents and step.

    Raises
    ------
    ParameterError
        If the column is not drawn in so many steps, or has other parents.
    """
    strengths = np.asarray(smoothing, np.float64)
    wanted = len(table.ranges.sizes) + 1, len(steps)
    if strengths.shape != wanted:
        raise ParameterError(
            f"smoothing: {name!r} has {wanted[0] - 1} parents and is drawn in {wanted[1]} steps, "
            f"so it needs {wanted[0]} rows of {wanted[1]} strengths, from no parent on; got "
            f"{strengths.shape[0]} rows of {strengths.shape[1]}."
        )
    return SteppedTable.of(table, steps, min_count, strengths)
