"""Correlations of raw numbers, in the original and in the release: which strong ones are lost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from understudy.arguments import check_whole
from understudy.data.frames import Backend, Frame
from understudy.data.joint_coding import CodedTables
from understudy.progress import track
from understudy.results import Line, Result
from understudy.threads import one_thread
from understudy.utility.correlation_matrix import (
    FEWEST,
    CorrelationMatrix,
    correlation_matrix,
    levels_that_occur,
    ranks_of,
)
from understudy.utility.pair_measures import Matrix
from understudy.utility.raw_numbers import Floats, Special, raw_numbers
from understudy.utility.tables import compared_with_control, drawn_records, tables_of
from understudy.wording import counted, quoted

STRONG = 0.5
"""From here on, a correlation of the original is strong."""
LOST = 0.1
"""A strong correlation that falls by more than this, and by more than chance explains, is lost."""
CHANCE = 0.05
"""How often chance alone may move any correlation of a table beyond its limits, at most."""
WORK = 10**9
"""Records times pairs of columns that are multiplied, at most; of more records, a sample."""

Coefficient = Literal["correlation", "rank correlation"]


@dataclass(frozen=True)
class LostCorrelation:
    """A strong correlation of the original that the release has lost.

    Parameters
    ----------
    columns : tuple of str
        The two columns.
    coefficient : {"correlation", "rank correlation"}
        Pearson's; Spearman's if only that fell.
    original, synthetic, control : float
        The coefficient in each table; nan without control records.
    low, high : float
        Where a fresh sample as large as the release would have it.
    """

    columns: tuple[str, str]
    coefficient: Coefficient
    original: float
    synthetic: float
    low: float
    high: float
    control: float = math.nan

    @property
    def loss(self) -> float:
        """How far it fell towards 0, or beyond."""
        return math.copysign(1.0, self.original) * (self.original - self.synthetic)

    def sentence(self) -> str:
        """Return what happened, in a sentence.

        Examples
        --------
        >>> LostCorrelation(("out", "back"), "correlation", 0.915, 0.429, 0.91, 0.92).sentence()
        "The correlation of 'out' and 'back' fell from 0.915 to 0.429."
        """
        own = "" if math.isnan(self.control) else f" ({self.control:.3f} in the control records)"
        return (
            f"The {self.coefficient} of {quoted(self.columns)} fell from {self.original:.3f}{own} "
            f"to {self.synthetic:.3f}."
        )


@dataclass(frozen=True, eq=False)
class Coefficients:
    """One coefficient for all pairs of columns, in each table.

    Parameters
    ----------
    original, synthetic : ndarray of float64
        Square matrices; nan where undefined.
    low, high : ndarray of float64
        Where a fresh sample as large as the release would have it: limits that chance alone moves
        any pair of the table beyond with a probability of 5% at most.
    expected : ndarray of float64
        The mean absolute difference that chance alone gives.
    control : ndarray of float64 or None
        The same for control records.
    """

    original: Matrix
    synthetic: Matrix
    low: Matrix
    high: Matrix
    expected: Matrix
    control: Matrix | None = None

    @property
    def _used(self) -> NDArray[np.bool_]:
        upper = np.triu(np.ones(self.original.shape, bool), k=1)
        return upper & ~np.isnan(self.original) & ~np.isnan(self.synthetic)

    @property
    def pairs(self) -> int:
        """Pairs of columns whose coefficient is defined in both tables."""
        return int(self._used.sum())

    @property
    def mean(self) -> float:
        """The mean absolute difference of release and original; nan if there is no pair."""
        return _mean(np.abs(self.synthetic - self.original)[self._used])

    @property
    def largest(self) -> float:
        """The largest absolute difference; nan if there is no pair."""
        found = np.abs(self.synthetic - self.original)[self._used]
        return float(found.max()) if len(found) else math.nan

    @property
    def expected_mean(self) -> float:
        """The mean absolute difference that chance alone gives."""
        return _mean(self.expected[self._used])

    @property
    def control_mean(self) -> float:
        """The mean absolute difference of control records and original; nan without any."""
        if self.control is None:
            return math.nan
        found = np.abs(self.control - self.original)[self._used]
        return _mean(found[~np.isnan(found)])

    def lost(self) -> NDArray[np.bool_]:
        """Return which strong coefficients fell: by more than `LOST`, and beyond chance."""
        sign = np.sign(self.original)
        fell = sign * (self.original - self.synthetic)
        beyond = np.where(sign > 0, self.synthetic < self.low, self.synthetic > self.high)
        found: NDArray[np.bool_] = (
            self._used & (np.abs(self.original) >= STRONG) & (fell > LOST) & beyond
        )
        return found


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else math.nan


@dataclass(frozen=True, eq=False)
class Correlations(Result):
    """Correlations of all pairs of numbers and dates; `correlations` makes it.

    Parameters
    ----------
    columns : tuple of str
        The columns that hold numbers or dates.
    records, synthetic_records, control_records : int
        Records of the tables that were used; 0 without control records.
    pearson : Coefficients
        Pearson's coefficient: how near to a straight line the numbers lie.
    rank : Coefficients
        Spearman's: the same for the ranks of the numbers, which long tails do not rule.
    lost : tuple of LostCorrelation
        Strong correlations that the release has lost; the largest loss first.
    reasons : dict
        Why a value is nan, or what was left out.
    """

    SERIES: ClassVar = {
        "baseline": "Expected by chance",
        "synthetic": "This release",
        "control": "Control records",
    }
    AXIS = "Difference from the original"

    columns: tuple[str, ...]
    records: int
    synthetic_records: int
    control_records: int
    pearson: Coefficients = field(repr=False)
    rank: Coefficients = field(repr=False)
    lost: tuple[LostCorrelation, ...]
    reasons: dict[str, str]

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return one row for each pair of columns, those that changed most first.

        Parameters
        ----------
        backend : {"polars", "pandas", "pyarrow"}, optional
            The kind of frame to return; by default the kind that went in.

        Returns
        -------
        frame
            `first`, `second`; `original`, `synthetic`, `low`, `high` and, with control records,
            `control` of Pearson's coefficient; the same with `rank_` before it for Spearman's;
            and whether it is `lost`. What is undefined is null.
        """
        at = np.triu_indices(len(self.columns), k=1)
        names = np.array(self.columns, dtype=object)
        columns: dict[str, object] = {
            "first": pl.Series(names[at[0]].tolist(), dtype=pl.String),
            "second": pl.Series(names[at[1]].tolist(), dtype=pl.String),
        }
        for before, found in (("", self.pearson), ("rank_", self.rank)):
            for name in ("original", "synthetic", "low", "high", "control"):
                held = getattr(found, name)
                if held is not None:
                    columns[f"{before}{name}"] = held[at]
        columns["lost"] = self.pearson.lost()[at] | self.rank.lost()[at]
        changed = (pl.col("synthetic") - pl.col("original")).abs()
        frame = pl.DataFrame(columns).fill_nan(None)
        return self._framed(
            frame.sort(changed, descending=True, nulls_last=True, maintain_order=True), backend
        )

    def lines(self) -> list[Line]:
        """Return the mean difference of both coefficients beside what chance gives."""
        return [
            Line(
                title,
                f"mean difference from the original over {found.pairs:,} pairs of columns",
                found.expected_mean,
                found.mean,
                control=found.control_mean,
            )
            for title, found in (
                ("Correlation", self.pearson),
                ("Rank correlation", self.rank),
            )
        ]

    def summary(self) -> str:
        """Return the result in a few sentences, losses first."""
        found = self.pearson
        if not found.pairs:
            return (
                "No correlation is defined in both tables: it takes two columns of numbers or "
                "dates that vary."
            )
        lost = [one.sentence() for one in self.lost[:3]]
        if len(self.lost) > len(lost):
            more = len(self.lost) - len(lost)
            lost.append(f"{counted(more, 'more strong correlation')} fell as well.")
        control = ""
        if not math.isnan(found.control_mean):
            control = f", and control records by {found.control_mean:.3f}"
        lost.append(
            f"Over {counted(found.pairs, 'pair')} of columns, the correlation differs from the "
            f"original's by {found.mean:.3f} on average; a fresh sample would differ by "
            f"{found.expected_mean:.3f}{control}."
        )
        return " ".join(lost)


def correlations(
    original: Frame | CodedTables,
    synthetic: Frame | None = None,
    *,
    control: Frame | None = None,
    columns: str | Sequence[str] | None = None,
    special: Special = None,
    random_state: int = 0,
) -> Correlations:
    r"""Compare the correlation of each pair of numbers or dates with the original's.

    Parameters
    ----------
    original, synthetic : frame
        The tables, of pandas, polars or pyarrow; they may differ in their number of rows. Tables
        that are coded already stand for all, as `CodedTables` in place of the original.
    control : frame, optional
        Records like the original's that were not used for the synthesis, to stand beside it.
    columns : str or sequence of str, optional
        The columns to compare; all those of the original by default. Those without numbers or
        dates are passed over.
    special : mapping, optional
        Numbers of a column that are codes, such as -8, and are left out. Where nothing is said of a
        column, survey codes and frequent numbers that stand apart from all others are.
    random_state : int
        Seed of the samples of large tables.

    Returns
    -------
    Correlations
        Pearson's and Spearman's coefficients of both tables, the limits of chance, and the strong
        correlations that are lost.

    Raises
    ------
    ParameterError
        If an argument has a value that cannot be used, or a table lacks a column.
    DataError
        If a table has no rows, or the tables hold values that cannot be compared.

    Notes
    -----
    Numbers count as they are, without bins; dates and times by their distance. Each pair rests on
    the records in which both are known, at least 10 of them. Ranks are those among all known
    numbers of a column.

    The release is compared with a fresh sample of its size: two samples of n and m records differ
    in Fisher's artanh(r) by a standard error of :math:`\sqrt{v / (n - 3) + v / (m - 3)}`, where v
    is 1 for normal numbers and more for heavy tails (see `correlation_matrix`; for ranks it is at
    least :math:`1 + r^2 / 2`, Bonett and Wright 2000, doi:10.1007/BF02294183). The larger v of
    both tables counts. Limits allow for all pairs and both coefficients (Bonferroni), by Student's
    distribution. The tests simulate how often chance crosses them.

    Examples
    --------
    >>> x = np.arange(200.0)
    >>> original = pl.DataFrame({"x": x, "y": x + np.tile([0.0, 9.0], 100)})
    >>> synthetic = original.with_columns(pl.col("y").shuffle(seed=1))
    >>> found = correlations(original, synthetic)
    >>> found.lost[0].columns, round(found.lost[0].original, 2)
    (('x', 'y'), 1.0)
    """
    check_whole("random_state", random_state, 0)
    both = compared_with_control(tables_of(original, synthetic, control=control), columns)
    numbers = raw_numbers(both, special)
    names = tuple(numbers)
    rng = np.random.default_rng(random_state)
    most = max(WORK // max(len(names) ** 2, 1), 2 * FEWEST)
    used, reasons = drawn_records(
        both, most, rng, "correlations rest on", f"there are {len(names):,} columns"
    )
    plain: dict[str, CorrelationMatrix] = {}
    ranked: dict[str, CorrelationMatrix] = {}
    sizes = dict.fromkeys(("original", "synthetic", "control"), 0)
    with one_thread():
        for table, rows in track(used.items(), "comparing correlations", len(used)):
            codes, held = [], []
            for name in names:
                own = levels_that_occur(both.column(name)[0][table][rows], numbers[name])
                codes.append(own[0])
                held.append(own[1])
            sizes[table] = len(codes[0]) if codes else 0
            plain[table] = correlation_matrix(codes, held, rng)
            for place, own_codes in enumerate(codes):  # one by one: all at once take much memory
                held[place] = ranks_of(own_codes, held[place])
            ranked[table] = correlation_matrix(codes, held, rng)
    pearson, rank = _compared(plain, least=0.0), _compared(ranked, least=0.5)
    lost = _lost(names, pearson, rank)
    if not pearson.pairs:
        reasons["mean"] = "there are no two columns of numbers or dates that vary in both tables"
    return Correlations(
        names,
        sizes["original"],
        sizes["synthetic"],
        sizes["control"],
        pearson,
        rank,
        lost,
        reasons,
        _backend=both.backend,
    )


def _compared(found: dict[str, CorrelationMatrix], least: float) -> Coefficients:
    """Return a coefficient of all tables, with the limits of chance.

    The variance of Fisher's transform is at least 1 + `least` times the square of the coefficient.
    """
    from scipy.special import stdtrit  # Student's t, without all of scipy.stats

    real, made = found["original"], found["synthetic"]
    size = len(real.values)
    tests = max(size * (size - 1), 1)  # each pair, by two coefficients
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.maximum(np.maximum(real.spread, made.spread), 1 + least * real.values**2)
        freedom = np.minimum(real.records, made.records) - 3.0
        error = np.sqrt(spread * (1 / (real.records - 3.0) + 1 / (made.records - 3.0)))
        limit = stdtrit(np.maximum(freedom, 1.0), 1 - CHANCE / (2 * tests)) * error
        middle = np.arctanh(real.values)
        low, high = np.tanh(middle - limit), np.tanh(middle + limit)
        # The mean of the size of a normal number is sqrt(2 / pi).
        expected = np.sqrt(2 / np.pi) * error * (1 - real.values**2)
    certain = np.abs(real.values) == 1
    low[certain] = high[certain] = real.values[certain]
    control = found["control"].values if "control" in found else None
    return Coefficients(real.values, made.values, low, high, expected, control)


def _lost(
    names: Sequence[str], pearson: Coefficients, rank: Coefficients
) -> tuple[LostCorrelation, ...]:
    """Return the strong correlations that fell; by their ranks if only these tell."""
    worst: dict[tuple[int, int], LostCorrelation] = {}
    kinds: tuple[tuple[Coefficient, Coefficients], ...] = (
        ("correlation", pearson),
        ("rank correlation", rank),
    )
    for kind, found in kinds:
        for one, other in np.argwhere(found.lost()).tolist():
            at = one, other
            loss = LostCorrelation(
                (names[one], names[other]),
                kind,
                float(found.original[at]),
                float(found.synthetic[at]),
                float(found.low[at]),
                float(found.high[at]),
                math.nan if found.control is None else float(found.control[at]),
            )
            worst.setdefault(at, loss)
    return tuple(sorted(worst.values(), key=lambda one: -one.loss))
