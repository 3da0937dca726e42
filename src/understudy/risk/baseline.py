"""What an attacker reaches without the release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray


class Baseline(float):
    """Guessing the sensitive attribute from its shares alone: as a number, by the zero rule.

    Parameters
    ----------
    zero_rule : float
        Share of correct guesses by somebody who always says the most frequent value.
    proportional : float
        The same for guessing each value as often as it occurs: the sum of squared shares.

    Examples
    --------
    >>> baseline = Baseline.of(np.array([3, 1]))
    >>> baseline, baseline + 0.125
    (Baseline(zero_rule=0.75, proportional=0.625), 0.875)
    """

    proportional: float

    def __new__(cls, zero_rule: float, proportional: float) -> Self:
        """Make the number, with the other reference beside it."""
        made = super().__new__(cls, zero_rule)
        made.proportional = proportional
        return made

    @classmethod
    def of(cls, counts: NDArray[np.int64]) -> Self:
        """Return the baseline for the counts of a column's values; nan if there are none."""
        total = int(counts.sum())
        if not total:
            return cls(math.nan, math.nan)
        squares = int((counts.astype(object) ** 2).sum())
        return cls(int(counts.max()) / total, squares / total**2)

    @classmethod
    def mean(cls, baselines: Sequence[Baseline]) -> Self:
        """Return the mean of several baselines; those that are undefined are left out."""
        defined = [one for one in baselines if not math.isnan(one)]
        if not defined:
            return cls(math.nan, math.nan)
        zero_rules = math.fsum(one.zero_rule for one in defined)
        proportional = math.fsum(one.proportional for one in defined)
        return cls(zero_rules / len(defined), proportional / len(defined))

    @property
    def zero_rule(self) -> float:
        """Share of correct guesses by somebody who always says the most frequent value."""
        return float(self)

    def to_dict(self) -> dict[str, float | None]:
        """Return both references as plain values, with None for nan."""
        both = {"zero_rule": self.zero_rule, "proportional": self.proportional}
        return {name: None if math.isnan(value) else value for name, value in both.items()}

    def __repr__(self) -> str:
        return f"Baseline(zero_rule={self.zero_rule!r}, proportional={self.proportional!r})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Baseline) and self.proportional != other.proportional:
            return False
        return float(self) == other

    def __hash__(self) -> int:
        return super().__hash__()

    def __reduce__(self) -> tuple[type[Self], tuple[float, float]]:
        return type(self), (self.zero_rule, self.proportional)
