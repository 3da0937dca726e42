"""The scores of records under one set of keys, by each rule for records without a match."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from understudy.risk.nearest import Matches, Search
from understudy.risk.packed import Records
from understudy.risk.references import Baseline

Unmatched = Literal["nearest", "zero", "ignore"]


@dataclass(frozen=True, eq=False)
class Scores:
    """How well each of the different queries is attributed; a query can stand for many records.

    Parameters
    ----------
    cap : ndarray of float64
        Share of the records found that have the query's sensitive value; 0 if none was found.
    right : ndarray of bool
        Whether the most frequent value among them is the query's.
    guess : ndarray of int32
        That value; -1 if none was found.
    distance : ndarray of int32
        In how many keys they differ from the query; -1 if none was found.
    counted : ndarray of bool
        Whether the query counts at all.
    weights : ndarray of int64
        How many records each query stands for.
    sensitive : ndarray of int
        The sensitive value of each query.
    """

    cap: NDArray[np.float64]
    right: NDArray[np.bool_]
    guess: NDArray[np.int32]
    distance: NDArray[np.int32]
    counted: NDArray[np.bool_]
    weights: NDArray[np.int64]
    sensitive: NDArray[np.integer]

    @property
    def baseline(self) -> Baseline:
        """What is reached without the release, among the records that count."""
        own = self.sensitive[self.counted]
        counts = np.bincount(own, self.weights[self.counted], minlength=1)
        return Baseline.of(counts.astype(np.int64))

    @cached_property
    def records(self) -> int:
        """How many records count."""
        return int(self.weights @ self.counted)

    @cached_property
    def hits(self) -> int:
        """How many records are guessed rightly."""
        return int(self.weights @ self.right)

    @property
    def accuracy(self) -> float:
        """Share of the records that are guessed rightly; nan if none counts."""
        return self.hits / self.records if self.records else math.nan

    @property
    def mean(self) -> float:
        """Mean of the records' scores; nan if none counts."""
        # Not as a product of vectors: of floats, NumPy's would start threads.
        total = float((self.weights * self.cap).sum())
        return total / self.records if self.records else math.nan

    @property
    def unmatched(self) -> int:
        """How many records have no match on all keys."""
        return int(self.weights @ (self.distance != 0))

    def at_distance(self, keys: int) -> tuple[int, ...]:
        """Return how many records have their nearest match at distance 0, 1, .. `keys`."""
        found = self.distance >= 0
        counts = np.bincount(self.distance[found], self.weights[found], minlength=keys + 1)
        return tuple(int(count) for count in counts)


class Attack:
    """An attacker who looks the keys of each query up in a reference table.

    Parameters
    ----------
    reference : Records
        The table that the attacker has.
    queries : Records
        The records that are attacked.
    """

    def __init__(self, reference: Records, queries: Records) -> None:
        self.queries = queries
        self._search = Search(reference, queries)

    def scores(self, places: Sequence[int], *rules: Unmatched) -> list[Scores]:
        """Attack with the keys at these places among the columns.

        Parameters
        ----------
        places : sequence of int
            Places of the keys.
        *rules : {"nearest", "zero", "ignore"}
            What a query without a match counts: what the nearest say, 0, or nothing at all.

        Returns
        -------
        list of Scores
            One for each rule. The records are looked up once for all of them.
        """
        found = self._search.matches(places, nearest="nearest" in rules)
        return [self._scored(found, rule) for rule in rules]

    def _scored(self, found: Matches, rule: Unmatched) -> Scores:
        matched = found.total > 0
        distance, cap = found.distance, found.same / np.maximum(found.total, 1)
        if rule != "nearest":
            matched = distance == 0
            distance, cap = np.where(matched, distance, np.int32(-1)), cap * matched
        return Scores(
            cap=cap,
            right=matched & (found.guess == self.queries.sensitive),
            guess=np.where(matched, found.guess, np.int32(-1)),
            distance=distance,
            counted=matched if rule == "ignore" else np.ones(len(matched), bool),
            weights=self.queries.weights,
            sensitive=self.queries.sensitive,
        )
