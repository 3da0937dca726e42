"""How strongly columns hang together, in the original and in the synthetic table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from understudy.counting import ContingencyTable
from understudy.data.coded import Coded, Codes
from understudy.data.frames import Frame
from understudy.data.joint_coding import code_together
from understudy.data.levels import Levels
from understudy.errors import DataError, ParameterError, unknown_columns
from understudy.progress import track
from understudy.utility.arguments import check_whole, chosen_columns
from understudy.utility.association_result import (
    Association,
    Kind,
    Matrix,
    MatrixComparison,
    measure_of,
    pair_key,
)
from understudy.utility.grouped import numbers_of
from understudy.utility.pair_measures import correlation_ratio, cramers_v, pearson


def association(
    original: Frame,
    synthetic: Frame,
    *,
    columns: str | Sequence[str] | None = None,
    categorical: Collection[str] = (),
    corrected: bool = False,
    bootstraps: int = 20,
    random_state: int = 0,
) -> Association:
    """Compare how strongly each pair of columns hangs together with the original.

    Parameters
    ----------
    original, synthetic : frame
        The tables, of pandas, polars or pyarrow; they may differ in their number of rows.
    columns : str or sequence of str, optional
        The columns to compare; all those of the original by default.
    categorical : collection of str
        Columns of numbers that stand for categories, such as 1 for single and 2 for married.
    corrected : bool
        Whether to correct the bias of Cramér's V (Bergsma 2013). Plain by default, as in most
        other tools; what sampling alone gives has the same bias.
    bootstraps : int
        How many samples of the original are drawn, with replacement and of as many records as the
        synthetic table has, for what sampling alone gives.
    random_state : int
        Seed of the samples.

    Returns
    -------
    Association
        Matrices of the original, the synthetic table and the difference, beside what sampling
        alone gives.

    Raises
    ------
    ParameterError
        If an argument has a value that cannot be used, or a table lacks a column.
    DataError
        If a table has no rows, or the tables hold values that cannot be compared.

    Notes
    -----
    Two columns of numbers are compared by Pearson's correlation coefficient, two categorical ones
    by Cramér's V, and a number and a category by the correlation ratio eta. Missing is a category
    like others; a record whose number is missing or infinite does not count for that number. Dates
    and times are numbers: their places among all of the column.

    `pearson` has Pearson's coefficient for all pairs, as Figure 1 of the paper on Bayesian networks
    (2022) shows it for all columns of Adult. The paper does not say how categories become numbers.
    Here a level stands for its place in the order of the original's levels: sorted, or as an
    ordered type has it. A level that the original lacks stands half way between its neighbours, and
    missing does not count. Numbers stand for themselves. For categories without an order the sign
    and the size mean little; that is what Cramér's V is for.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["y", "y", "n", "n"]})
    >>> synthetic = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["y", "n", "y", "n"]})
    >>> association(original, synthetic, bootstraps=0).measured.difference[0, 1]
    np.float64(-1.0)
    """
    check_whole("bootstraps", bootstraps, 0)
    check_whole("random_state", random_state, 0)
    names = chosen_columns(original, columns)
    if isinstance(categorical, str) or not isinstance(categorical, Collection):
        raise ParameterError(f"categorical is a list of columns; got {categorical!r}.")
    if problems := unknown_columns(categorical, names):
        raise ParameterError(f"categorical: {' '.join(problems)}")
    together = code_together({"original": original, "synthetic": synthetic}, names)
    tables = together["original"], together["synthetic"]
    for name, table in together.tables.items():
        if not len(table):
            raise DataError(f"The {name} table has no rows.")
    scales = tuple(
        _scale(together.levels[name], tables[0][name], as_number=name not in categorical)
        for name in names
    )
    both = [_measured(table, scales, corrected=corrected) for table in tables]
    rng = np.random.default_rng(random_state)
    drawn = (rng.integers(len(tables[0]), size=len(tables[1])) for _ in range(bootstraps))
    samples = np.array(
        [
            _measured(tables[0].take(rows), scales, corrected=corrected)
            for rows in track(drawn, "drawing samples of the original", bootstraps)
        ]
    ).reshape(bootstraps, 2, len(names), len(names))

    def compared(which: int, *, signed: bool = True) -> MatrixComparison:
        matrices = both[0][which], both[1][which], samples[:, which]
        return MatrixComparison.of(names, *(one if signed else np.abs(one) for one in matrices))

    measured = compared(0)
    return Association(
        names,
        {name: scale.kind for name, scale in zip(names, scales, strict=True)},
        len(tables[0]),
        len(tables[1]),
        corrected,
        bootstraps,
        random_state,
        measured,
        compared(0, signed=False),
        compared(1),
        _reasons(measured, tables, scales, bootstraps),
    )


@dataclass(frozen=True, eq=False)
class _Scale:
    """What a column is taken for, and the number that each of its codes stands for."""

    kind: Kind
    numbers: NDArray[np.float64]

    def varies(self, codes: Codes) -> bool:
        """Tell whether different values occur: numbers that are known, or categories."""
        seen = np.flatnonzero(np.bincount(codes, minlength=len(self.numbers)))
        if self.kind == "number":
            seen = seen[~np.isnan(self.numbers[seen])]
        return len(seen) > 1


def _scale(levels: Levels, codes: Codes, *, as_number: bool) -> _Scale:
    numbers = numbers_of(levels)
    if as_number and numbers is not None:
        return _Scale("number", np.where(np.isfinite(numbers), numbers, np.nan))
    known = np.bincount(codes, minlength=len(levels)) > 0
    places: NDArray[np.float64] = np.cumsum(known) - np.where(known, 1.0, 0.5)
    if levels.missing is not None:
        places[levels.missing] = np.nan
    return _Scale("category", places)


def _measured(coded: Coded, scales: Sequence[_Scale], *, corrected: bool) -> Matrix:
    """Return the matrices of one table, stacked: the measure of each pair, and Pearson's."""
    values = np.array(
        [scale.numbers[codes] for codes, scale in zip(coded.columns, scales, strict=True)]
    )
    coefficients = pearson(values)
    measured = coefficients.copy()
    for place, (codes, scale) in enumerate(zip(coded.columns, scales, strict=True)):
        measured[place, place] = 1.0 if scale.varies(codes) else np.nan
    # Beyond so many cells, most of them are empty.
    dense_cells = max(2**10, len(coded))
    for first, second in combinations(range(len(scales)), 2):
        measure = measure_of(scales[first].kind, scales[second].kind)
        if measure == "pearson":
            continue
        if measure == "cramers_v":
            pair = coded.names[first], coded.names[second]
            table = ContingencyTable.of(coded, pair, dense_cells=dense_cells)
            found = cramers_v(table, corrected=corrected)
        else:
            category, number = sorted((first, second), key=lambda place: scales[place].kind)
            found = correlation_ratio(coded.columns[category], values[number])
        measured[first, second] = measured[second, first] = found
    return np.array([measured, coefficients])


def _reasons(
    measured: MatrixComparison,
    tables: tuple[Coded, Coded],
    scales: Sequence[_Scale],
    bootstraps: int,
) -> dict[str, str]:
    """Say why values are undefined."""
    still = {
        table: [not scale.varies(codes) for codes, scale in zip(coded.columns, scales, strict=True)]
        for table, coded in zip(("original", "synthetic"), tables, strict=True)
    }
    reasons = {}
    for first, second in combinations(range(len(scales)), 2):
        hidden = (
            "all values of a column differ, so that the bias cannot be corrected,"
            if measure_of(scales[first].kind, scales[second].kind) == "cramers_v"
            else "one of them does not vary where both are known"
        )
        texts = []
        for table, matrix in (("original", measured.original), ("synthetic", measured.synthetic)):
            if np.isnan(matrix[first, second]):
                names = [repr(measured.columns[at]) for at in (first, second) if still[table][at]]
                have = "has" if len(names) == 1 else "have"
                what = f"{' and '.join(names)} {have} a single value" if names else hidden
                texts.append(f"{what} in the {table} table")
        if texts:
            pair = measured.columns[first], measured.columns[second]
            reasons[pair_key(pair)] = "; ".join(texts)
    if not measured.pairs:
        reasons["mean"] = "there is no pair of columns whose association is defined in both tables"
    elif not bootstraps:
        reasons["expected"] = "no samples of the original were asked for (bootstraps=0)"
    elif not measured.expected_mean:
        reasons["ratio"] = "sampling alone changes nothing"
    return reasons
