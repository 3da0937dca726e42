"""What raw numbers keep of the original, in plain values: correlations, means, combinations."""

from __future__ import annotations

import math
from dataclasses import dataclass

NAN = math.nan


@dataclass(frozen=True)
class PairFindings:
    """The correlation of two columns, in the original and in the release.

    Parameters
    ----------
    columns : tuple of str
        The two columns.
    original, synthetic, control : float
        Pearson's coefficient; nan where undefined, or without control records.
    low, high : float
        Where a fresh sample as large as the release would have it.
    rank_original, rank_synthetic, rank_low, rank_high : float
        The same for Spearman's coefficient.
    """

    columns: tuple[str, str]
    original: float
    synthetic: float
    low: float = NAN
    high: float = NAN
    control: float = NAN
    rank_original: float = NAN
    rank_synthetic: float = NAN
    rank_low: float = NAN
    rank_high: float = NAN


@dataclass(frozen=True)
class LostFindings:
    """A strong correlation of the original that fell: which, and from where to where.

    `coefficient` is "correlation" (Pearson's) or "rank correlation" (Spearman's).
    """

    columns: tuple[str, str]
    coefficient: str
    original: float
    synthetic: float
    control: float = NAN


@dataclass(frozen=True)
class CorrelationFindings:
    """Correlations of all pairs of numbers and dates: means over the syntheses of a release.

    Parameters
    ----------
    columns, pairs : int
        How many columns of numbers and dates there are, and pairs that could be compared.
    mean_difference, expected_difference, control_difference, largest_difference : float
        The mean absolute difference of Pearson's coefficient from the original's, what a fresh
        sample gives, what control records give, and the largest one.
    rank_mean_difference, rank_expected_difference, rank_largest_difference : float
        The same for Spearman's.
    strong, lost : int
        Pairs that are strongly correlated in the original, and how many of these fell.
    largest_loss : float
        By how much the worst of these fell; 0 if none did.
    losses : tuple of LostFindings
        The worst of them.
    shown : tuple of PairFindings
        Each pair; of many, those that are strong or changed most.
    """

    columns: int
    pairs: int
    mean_difference: float
    expected_difference: float
    control_difference: float
    largest_difference: float
    rank_mean_difference: float
    rank_expected_difference: float
    rank_largest_difference: float
    strong: int
    lost: int
    largest_loss: float
    losses: tuple[LostFindings, ...] = ()
    shown: tuple[PairFindings, ...] = ()


@dataclass(frozen=True)
class MeanFindings:
    """The mean of a number among the records of one level of another column.

    `difference` and `limit` are in standard deviations of the column; means of dates are nan.
    """

    number: str
    by: str
    level: str
    original: float
    synthetic: float
    difference: float
    limit: float


@dataclass(frozen=True)
class ConditionalMeanFindings:
    """Means of numbers by the levels of other columns, beside what chance gives.

    Parameters
    ----------
    means, beyond : int
        How many were compared, and how many are further off than chance explains.
    mean_difference, expected_difference, control_difference, largest_difference : float
        The mean absolute difference from the original's in standard deviations of the column,
        what a fresh sample gives, what control records give, and the largest one.
    worst : tuple of MeanFindings
        Those that are furthest off.
    """

    means: int
    beyond: int
    mean_difference: float
    expected_difference: float
    control_difference: float
    largest_difference: float
    worst: tuple[MeanFindings, ...] = ()


@dataclass(frozen=True)
class CombinationFindings:
    """A pair of values that no original record has, and how many synthetic ones have it."""

    columns: tuple[str, str]
    values: tuple[str, str]
    expected: float
    records: int
    share: float


@dataclass(frozen=True)
class ImpossibleFindings:
    """Pairs of values that no original record has, though many should by chance.

    Parameters
    ----------
    cells : int
        Pairs of values that were looked at.
    share, expected, control : float
        Synthetic records with a pair that no original record has, as a share of all; the same for
        fresh records and for control records.
    combinations : int
        Pairs of values that chance does not explain.
    named : tuple of CombinationFindings
        The most frequent of these.
    """

    cells: int
    share: float
    expected: float
    control: float
    combinations: int
    named: tuple[CombinationFindings, ...] = ()
