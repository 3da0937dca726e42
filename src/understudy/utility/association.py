"""How strongly columns are associated, in the original and in the synthetic table."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from understudy.arguments import check_whole
from understudy.counting import ContingencyTable
from understudy.data.coded import Coded, Codes
from understudy.data.frames import Backend, Frame
from understudy.data.groups import numbers_of
from understudy.data.joint_coding import CodedTables
from understudy.data.levels import Levels
from understudy.errors import ParameterError, unknown_columns
from understudy.progress import track
from understudy.results import Line, Result
from understudy.utility.pair_measures import (
    Kind,
    Matrix,
    MatrixComparison,
    correlation_ratio,
    cramers_v,
    measure_of,
    pearson,
)
from understudy.utility.tables import COMPARED, compared, tables_of
from understudy.wording import quoted


@dataclass(frozen=True, eq=False)
class Association(Result):
    """How columns are associated in a synthetic table and in the original; `association` makes it.

    Parameters
    ----------
    columns : tuple of str
        The columns.
    kinds : dict
        Whether each column was taken for a ``"number"`` or a ``"category"``.
    records, synthetic_records : int
        Size of the tables.
    corrected : bool
        Whether the bias of Cramér's V is corrected.
    bootstraps, random_state : int
        How many samples of the original were drawn for what sampling alone gives, and their seed.
    measured : MatrixComparison
        The measure that fits each pair: Pearson's coefficient with its sign for two numbers,
        Cramér's V for two categories, the correlation ratio for a number and a category.
    strength : MatrixComparison
        The same without signs, from 0 to 1 for all pairs: for a heat map of mixed columns.
    pearson : MatrixComparison
        Pearson's coefficient for all pairs, categories by the places of their levels.
    reasons : dict
        Why a value is nan: by pair, as in ``"age, sex"``, or by figure.
    """

    SERIES: ClassVar = {"baseline": "Expected by chance", "synthetic": "This release"}
    AXIS = "Difference from the original"

    columns: tuple[str, ...]
    kinds: dict[str, Kind]
    records: int
    synthetic_records: int
    corrected: bool
    bootstraps: int
    random_state: int
    measured: MatrixComparison
    strength: MatrixComparison
    pearson: MatrixComparison
    reasons: dict[str, str] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """The mean absolute difference of `measured`."""
        return self.measured.mean

    @property
    def largest(self) -> float:
        """The largest absolute difference of `measured`."""
        return self.measured.largest

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return one row for each pair of columns, with the measure that fits it.

        Parameters
        ----------
        backend : {"polars", "pandas", "pyarrow"}, optional
            The kind of frame to return; by default the kind that went in.

        Returns
        -------
        frame
            `first`, `second`, `measure`, then `original`, `synthetic`, `difference` and `expected`
            of it (see `MatrixComparison`), `reason` if it is undefined, and `pearson_original` and
            `pearson_synthetic` on the places of levels. What is undefined is null.
        """
        at = np.triu_indices(len(self.columns), k=1)
        pairs = list(combinations(self.columns, 2))
        frame = pl.DataFrame(
            {
                "first": [first for first, _ in pairs],
                "second": [second for _, second in pairs],
                "measure": [measure_of(self.kinds[one], self.kinds[other]) for one, other in pairs],
                "original": self.measured.original[at],
                "synthetic": self.measured.synthetic[at],
                "difference": self.measured.difference[at],
                "expected": self.measured.expected[at],
                "reason": [self.reasons.get(pair_key(pair)) for pair in pairs],
                "pearson_original": self.pearson.original[at],
                "pearson_synthetic": self.pearson.synthetic[at],
            },
            schema_overrides=dict.fromkeys(("first", "second", "measure", "reason"), pl.String),
        )
        return self._framed(frame.fill_nan(None), backend)

    def lines(self) -> list[Line]:
        """Return the mean difference beside what sampling alone gives."""
        found = self.measured
        about = f"mean difference from the original over {found.pairs:,} pairs of columns"
        return [Line("Strength of association", about, found.expected_mean, found.mean)]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, with None for nan."""
        found = super().to_dict()
        for name in ("measured", "strength", "pearson"):
            found[name] = getattr(self, name).to_dict()
        return found

    def summary(self) -> str:
        """Return the result in a few sentences."""
        found = self.measured
        if found.largest_pair is None:
            return "No association of two columns is defined in both tables."
        at = tuple(self.columns.index(name) for name in found.largest_pair)
        chance = f" Random samples of the original differ by {found.expected_mean:.3f}."
        chance = "" if math.isnan(found.expected_mean) else chance
        others = math.comb(len(self.columns), 2) - found.pairs
        undefined = f" For {others:,} other pairs it is undefined." if others else ""
        return (
            f"The strength of association of two columns (0 for none, 1 or -1 for the strongest) "
            f"differs from the original's by {found.mean:.3f} on average over {found.pairs:,} "
            f"pairs.{chance} The largest difference is between {quoted(found.largest_pair)}: "
            f"{found.original[at]:.3f} in the original and {found.synthetic[at]:.3f} in the "
            f"synthetic data.{undefined}"
        )


def pair_key(pair: Sequence[str]) -> str:
    """Return the key of a pair of columns in `Association.reasons`."""
    return ", ".join(pair)


def association(
    original: Frame | CodedTables,
    synthetic: Frame | None = None,
    *,
    columns: str | Sequence[str] | None = None,
    categorical: Collection[str] = (),
    corrected: bool = False,
    bootstraps: int = 20,
    random_state: int = 0,
) -> Association:
    """Compare how strongly each pair of columns is associated with the original.

    Parameters
    ----------
    original, synthetic : frame
        The tables, of pandas, polars or pyarrow; they may differ in their number of rows. Tables
        that are coded already stand for both, as `CodedTables` in place of the original.
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
    both = compared(tables_of(original, synthetic), columns)
    names = both.columns
    if isinstance(categorical, str) or not isinstance(categorical, Collection):
        raise ParameterError(f"categorical must be a list of columns; got {categorical!r}.")
    if problems := unknown_columns(categorical, names):
        raise ParameterError(f"categorical: {' '.join(problems)}")
    tables = real, made = both["original"], both["synthetic"]
    scales = tuple(
        _scale(both.levels[name], real[name], as_number=name not in categorical) for name in names
    )
    first, second = (_measured(held, scales, corrected=corrected) for held in tables)
    rng = np.random.default_rng(random_state)
    rows_drawn = (rng.integers(len(real), size=len(made)) for _ in range(bootstraps))
    samples = np.array(
        [
            _measured(real.take(rows), scales, corrected=corrected)
            for rows in track(rows_drawn, "drawing samples of the original", bootstraps)
        ]
    ).reshape(bootstraps, 2, len(names), len(names))

    def comparison(which: int, *, signed: bool = True) -> MatrixComparison:
        own, other, drawn = first[which], second[which], samples[:, which]
        if not signed:
            own, other, drawn = np.abs(own), np.abs(other), np.abs(drawn)
        return MatrixComparison.of(names, own, other, drawn, both.backend)

    measured = comparison(0)
    return Association(
        names,
        {name: scale.kind for name, scale in zip(names, scales, strict=True)},
        len(real),
        len(made),
        corrected,
        bootstraps,
        random_state,
        measured,
        comparison(0, signed=False),
        comparison(1),
        _reasons(measured, tables, scales, bootstraps),
        _backend=both.backend,
    )


@dataclass(frozen=True, eq=False)
class _Scale:
    """What a column is taken for, and the number that each of its codes stands for."""

    kind: Kind
    numbers: NDArray[np.float64]

    def varies(self, codes: Codes) -> bool:
        """Tell whether different values occur: numbers that are known, or categories."""
        unknown = np.isnan(self.numbers)
        if self.kind == "number" and unknown.any():
            codes = codes[~unknown[codes]]
        return len(codes) > 0 and bool(codes.min() < codes.max())


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
    values = np.empty((len(scales), len(coded)))
    for row, codes, scale in zip(values, coded.columns, scales, strict=True):
        np.take(scale.numbers, codes, out=row)
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
        table: [
            name
            for name, codes, scale in zip(coded.names, coded.columns, scales, strict=True)
            if not scale.varies(codes)
        ]
        for table, coded in zip(COMPARED, tables, strict=True)
    }
    reasons = {}
    for first, second in combinations(range(len(scales)), 2):
        hidden = (
            "all values of a column differ, so that the bias cannot be corrected,"
            if measure_of(scales[first].kind, scales[second].kind) == "cramers_v"
            else "one of them does not vary where both are known"
        )
        pair = measured.columns[first], measured.columns[second]
        texts = []
        for table, constant in still.items():
            if np.isnan(getattr(measured, table)[first, second]):
                names = [repr(name) for name in pair if name in constant]
                have = "has" if len(names) == 1 else "have"
                what = f"{' and '.join(names)} {have} a single value" if names else hidden
                texts.append(f"{what} in the {table} table")
        if texts:
            reasons[pair_key(pair)] = "; ".join(texts)
    if not measured.pairs:
        reasons["mean"] = "there is no pair of columns whose association is defined in both tables"
    elif not bootstraps:
        reasons["expected"] = "no samples of the original were asked for (bootstraps=0)"
    elif not measured.expected_mean:
        reasons["ratio"] = "sampling alone changes nothing"
    return reasons
