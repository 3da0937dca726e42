"""What came of comparing how columns hang together in an original and in its synthesis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from understudy.results import to_plain

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["number", "category"]
Measure = Literal["pearson", "cramers_v", "correlation_ratio"]
Matrix = NDArray[np.float64]


def measure_of(first: Kind, second: Kind) -> Measure:
    """Return the measure for two columns of these kinds."""
    if first == second:
        return "pearson" if first == "number" else "cramers_v"
    return "correlation_ratio"


@dataclass(frozen=True, eq=False)
class MatrixComparison:
    """One matrix of all pairs of columns, for the original and the synthetic table.

    Parameters
    ----------
    columns : tuple of str
        What rows and columns stand for.
    original, synthetic : ndarray of float64
        The values; nan where undefined.
    expected : ndarray of float64
        What sampling alone gives for each absolute difference: its mean over bootstrap samples of
        the original, of as many records as the synthetic table has. nan without samples.
    pairs : int
        Pairs of different columns whose value is defined in both tables; all figures are of them.
    mean, largest : float
        Of the absolute differences; nan if there is no pair.
    largest_pair : tuple of str or None
        Whose difference is the largest.
    expected_mean, expected_largest : float
        The mean and, on average over the samples, the largest absolute difference that sampling
        alone gives.
    ratio : float
        `mean` over `expected_mean`; nan if that is 0 or unknown.
    """

    columns: tuple[str, ...]
    original: Matrix
    synthetic: Matrix
    expected: Matrix
    pairs: int
    mean: float
    largest: float
    largest_pair: tuple[str, str] | None
    expected_mean: float
    expected_largest: float
    ratio: float

    @classmethod
    def of(
        cls, columns: tuple[str, ...], original: Matrix, synthetic: Matrix, samples: Matrix
    ) -> MatrixComparison:
        """Compare two matrices, beside those of bootstrap samples, stacked in `samples`."""
        moved = np.abs(samples - original)
        defined = ~np.isnan(moved)
        times = defined.sum(axis=0)
        sums = np.where(defined, moved, 0.0).sum(axis=0)
        expected = np.where(times > 0, sums / np.maximum(times, 1), np.nan)
        upper = np.triu(np.ones(original.shape, bool), k=1)
        used = upper & ~np.isnan(original) & ~np.isnan(synthetic)
        places = np.argwhere(used)
        if not len(places):
            nan = math.nan
            return cls(columns, original, synthetic, expected, 0, nan, nan, None, nan, nan, nan)
        gaps = np.abs(synthetic - original)[used]
        first, second = places[int(gaps.argmax())].tolist()
        known = expected[used][~np.isnan(expected[used])]
        chance = float(known.mean()) if len(known) else math.nan
        largest = np.where(defined, moved, 0.0)[:, used].max(axis=1)
        mean = float(gaps.mean())
        return cls(
            columns,
            original,
            synthetic,
            expected,
            len(gaps),
            mean,
            float(gaps.max()),
            (columns[first], columns[second]),
            chance,
            float(largest.mean()) if len(largest) else math.nan,
            mean / chance if chance else math.nan,
        )

    @property
    def difference(self) -> Matrix:
        """The synthetic values less the original ones."""
        return self.synthetic - self.original

    def to_frame(self) -> pl.DataFrame:
        """Return one row for each cell, for a heat map: both orders of a pair, and the diagonal.

        What is undefined is null.
        """
        import polars as pl

        count = len(self.columns)
        values = {
            "original": self.original,
            "synthetic": self.synthetic,
            "difference": self.difference,
            "expected": self.expected,
        }
        return pl.DataFrame(
            {
                "first": pl.Series(np.repeat(self.columns, count).tolist(), dtype=pl.String),
                "second": pl.Series(list(self.columns) * count, dtype=pl.String),
                **{name: matrix.reshape(-1) for name, matrix in values.items()},
            }
        ).with_columns(pl.col(list(values)).fill_nan(None))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, matrices as lists of rows, with None for nan."""
        found: dict[str, Any] = to_plain(self)
        found["difference"] = self.difference
        for name in ("original", "synthetic", "expected", "difference"):
            found[name] = to_plain(np.asarray(found[name]).tolist())
        return found


@dataclass(frozen=True, eq=False)
class Association:
    """How columns hang together in a synthetic table and in the original; `association` makes it.

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

    def to_frame(self) -> pl.DataFrame:
        """Return one row for each pair of columns, with the measure that fits it.

        Returns
        -------
        polars.DataFrame
            `first`, `second`, `measure`, then `original`, `synthetic`, `difference` and `expected`
            of it (see `MatrixComparison`), `reason` if it is undefined, and `pearson_original` and
            `pearson_synthetic` on the places of levels. What is undefined is null.
        """
        import polars as pl

        places = list(combinations(range(len(self.columns)), 2))
        at = tuple(np.array(places, np.int64).reshape(-1, 2).T)
        pairs = [(self.columns[first], self.columns[second]) for first, second in places]
        values = {
            "original": self.measured.original[at],
            "synthetic": self.measured.synthetic[at],
            "difference": self.measured.difference[at],
            "expected": self.measured.expected[at],
            "pearson_original": self.pearson.original[at],
            "pearson_synthetic": self.pearson.synthetic[at],
        }
        texts: dict[str, Sequence[str | None]] = {
            "first": [first for first, _ in pairs],
            "second": [second for _, second in pairs],
            "measure": [measure_of(self.kinds[one], self.kinds[other]) for one, other in pairs],
            "reason": [self.reasons.get(pair_key(pair)) for pair in pairs],
        }
        order = (*("first", "second", "measure"), *list(values)[:4], "reason", *list(values)[4:])
        frame = pl.DataFrame(
            {name: pl.Series(held, dtype=pl.String) for name, held in texts.items()} | values
        )
        return frame.with_columns(pl.col(list(values)).fill_nan(None)).select(order)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, with None for nan."""
        found: dict[str, Any] = to_plain(self)
        for name in ("measured", "strength", "pearson"):
            found[name] = getattr(self, name).to_dict()
        return found

    def summary(self) -> str:
        """Return the result in a few words."""
        found = self.measured
        if found.largest_pair is None:
            return "No association of two columns is defined in both tables."
        at = tuple(self.columns.index(name) for name in found.largest_pair)
        chance = (
            ""
            if math.isnan(found.expected_mean)
            else f", where samples of the original's records differ by {found.expected_mean:.3f}"
        )
        possible = math.comb(len(self.columns), 2)
        undefined = (
            f" For {possible - found.pairs:,} other pairs it is undefined."
            if possible > found.pairs
            else ""
        )
        return (
            f"How strongly two columns hang together (0 for not at all, 1 or -1 for fully) differs "
            f"from the original by {found.mean:.3f} on average over {found.pairs:,} pairs{chance}. "
            f"The most: {' and '.join(found.largest_pair)}, {found.original[at]:.3f} in the "
            f"original and {found.synthetic[at]:.3f} in the synthetic data.{undefined}"
        )

    def __str__(self) -> str:
        return self.summary()


def pair_key(pair: Sequence[str]) -> str:
    """Return the key of a pair of columns in `Association.reasons`."""
    return ", ".join(pair)
