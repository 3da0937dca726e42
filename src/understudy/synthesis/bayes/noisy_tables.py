"""Conditional tables of noisy counts: weights of all values for all combinations of parents."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Codes, code_dtype
from understudy.synthesis.bayes.network import Network
from understudy.synthesis.tables import joint_code


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """The distribution of one column given its parents, from counts with noise.

    Negative counts are none. A combination without any has all values equally likely.

    Parameters
    ----------
    sizes : tuple of int
        The parents' cardinalities.
    weights : ndarray of float64, shape (combinations, cardinality)
        How often each value is drawn, up to a factor for each combination.

    Examples
    --------
    >>> table = NoisyTable.of(np.array([[3, 1], [-2, 0]]))
    >>> table.probability(np.array([0, 0]), [np.array([0, 1], np.uint8)]).tolist()
    [0.75, 0.5]
    """

    sizes: tuple[int, ...]
    weights: NDArray[np.float64]
    shrinkage: None = None

    @classmethod
    def of(cls, noisy: NDArray[Any]) -> NoisyTable:
        """Make the table of noisy counts, one axis for each parent and the last for the column."""
        *sizes, cardinality = noisy.shape
        weights = np.maximum(noisy, 0).astype(np.float64).reshape(-1, cardinality)
        weights[~weights.any(axis=1)] = 1
        return cls(tuple(sizes), weights)

    @property
    def cardinality(self) -> int:
        """Number of codes of the column."""
        return int(self.weights.shape[1])

    @cached_property
    def _shares(self) -> NDArray[np.float64]:
        return np.asarray(self.weights / self.weights.sum(axis=1, keepdims=True))

    @cached_property
    def _ends(self) -> NDArray[np.float64]:
        """Where each value's part of the unit interval ends, one interval after the other."""
        ends = np.cumsum(self._shares, axis=1)
        ends /= ends[:, -1:]
        return (ends + np.arange(len(ends))[:, None]).ravel()

    @cached_property
    def _last(self) -> NDArray[np.int64]:
        """The last value of each combination that can be drawn."""
        return np.asarray(self.cardinality - 1 - np.argmax(self.weights[:, ::-1] > 0, axis=1))

    def draw(self, parents: Sequence[Codes], rows: int, rng: np.random.Generator) -> Codes:
        """Draw the column for `rows` records with the given codes of the parents."""
        combinations = joint_code(parents, self.sizes, rows).astype(np.int64)
        places = np.searchsorted(self._ends, combinations + rng.random(rows), side="right")
        # A sum may be rounded up to where the next combination begins.
        codes = np.minimum(places - combinations * self.cardinality, self._last[combinations])
        return np.asarray(codes, code_dtype(self.cardinality))

    def probability(self, child: Codes, parents: Sequence[Codes]) -> NDArray[np.float64]:
        """Return the probability with which `draw` gives each code of `child`."""
        return self._shares[joint_code(parents, self.sizes, len(child)), child]

    def pair(self, place: int) -> NDArray[np.float64]:
        """Return the weights of one parent and the column, summed over the other parents."""
        array = self.weights.reshape(*self.sizes, self.cardinality)
        others = tuple(axis for axis in range(len(self.sizes)) if axis != place)
        return np.asarray(array.sum(axis=others))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the table as arrays."""
        return {"weights": self.weights}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], cardinality: int, sizes: tuple[int, ...]
    ) -> NoisyTable:
        """Return the table that `to_arrays` took apart; raise ValueError if they do not fit."""
        weights = arrays["weights"].astype(np.float64, casting="safe")
        fits = weights.shape == (math.prod(sizes), cardinality)
        if not fits or not np.isfinite(weights).all() or (weights < 0).any():
            raise ValueError("a noisy table whose parts do not fit together")
        if not weights.any(axis=1).all():
            raise ValueError("a noisy table with a combination that has no values")
        return cls(sizes, weights)


def noisy_information(
    network: Network, tables: Mapping[str, NoisyTable], names: Sequence[str]
) -> NDArray[np.float64]:
    """Return what parents tell of their children by noisy tables, in bits; NaN for other pairs.

    On the diagonal are the entropies.
    """
    places = {name: place for place, name in enumerate(names)}
    found = np.full((len(names), len(names)), np.nan)
    for child, parents in network.parents.items():
        table, row = tables[child], places[child]
        found[row, row] = _entropy(table.weights.sum(axis=0))
        for place, parent in enumerate(parents):
            joint = table.pair(place)
            margins = _entropy(joint.sum(axis=0)) + _entropy(joint.sum(axis=1))
            told = max(0.0, margins - _entropy(joint.ravel()))
            found[row, places[parent]] = found[places[parent], row] = told
    return found


def _entropy(weights: NDArray[np.float64]) -> float:
    shares = weights[weights > 0] / weights.sum()
    return float(-(shares * np.log2(shares)).sum())
