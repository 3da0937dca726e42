"""The attack on many attributes of a network at once, by variable elimination.

Replacing one record moves the log likelihood of a release by a sum over the network's tables, each
of which depends on one attribute and its parents alone. The posterior over all combinations is
therefore a product of small factors along the network: its sum, its marginals and its most
probable combination are found without going through the combinations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.counting import marginal_counts
from understudy.data.coded import Coded
from understudy.errors import ParameterError
from understudy.progress import track
from understudy.risk.strong.beliefs import Beliefs, Question, attribute_logs
from understudy.risk.strong.candidates import Candidates
from understudy.risk.strong.elimination import (
    Factor,
    log_total,
    log_weight,
    marginals,
    most_probable,
)
from understudy.risk.strong.elimination_order import Plan, plan_elimination
from understudy.risk.strong.fixed import FixedLikelihood, TableCounts, columns_of
from understudy.risk.strong.result import StrongAttack

if TYPE_CHECKING:
    from understudy.risk.strong.kernels import Standing

MOST_RANKED = 100_000
"""Combinations that are more probable than the truth are counted up to this many."""


def by_elimination(
    question: Question, likelihood: FixedLikelihood, notes: Sequence[str]
) -> StrongAttack:
    """Attack all combinations of the unknown attributes, record by record."""
    original = likelihood.original
    combinations = math.prod(original.cardinality(name) for name in question.unknown)
    if question.prior_name == "given":
        raise ParameterError(
            f"prior: {combinations:,} combinations of {len(question.unknown)} attributes are too "
            "many for an array of weights. Use a prior by name."
        )
    first, number = question.distinct(original, {*likelihood.columns, *question.unknown})
    attack = _Elimination(question, likelihood)
    found = [
        attack.beliefs(original.take(slice(row, row + 1)), place)
        for place, row in enumerate(track(question.rows[first].tolist(), "Attacking records"))
    ]
    beliefs = Beliefs.concatenate([one for one, _ in found]).take(number)
    labels = question.labels.values()
    guesses = [
        ", ".join(own[code] for own, code in zip(labels, guess, strict=True)) for _, guess in found
    ]
    reasons = {}
    if np.isnan(beliefs.rank).any():
        reasons["rank"] = f"more than {MOST_RANKED:,} combinations are more probable"
    return question.answer(
        "fixed",
        beliefs,
        [guesses[place] for place in beliefs.guess.tolist()],
        combinations,
        reasons=reasons,
        notes=notes,
    )


@dataclass(frozen=True, eq=False)
class _Elimination:
    """The factors of each record's posterior, and what follows from them."""

    question: Question
    likelihood: FixedLikelihood

    @property
    def _sizes(self) -> tuple[int, ...]:
        original = self.likelihood.original
        return tuple(original.cardinality(name) for name in self.question.unknown)

    @cached_property
    def _counts(self) -> dict[str, NDArray[np.int64]]:
        """How many records have each value of each unknown attribute."""
        own = self.likelihood.original.select(self.question.unknown)
        return dict(zip(own.names, marginal_counts(own), strict=True))

    @cached_property
    def _tables(self) -> tuple[TableCounts, ...]:
        """The tables of the likelihood, and then those of a prior alone."""
        return (*self.likelihood.tables, *self.likelihood.unseen)

    @cached_property
    def _scopes(self) -> list[tuple[int, ...]]:
        """The unknown attributes that each table depends on."""
        return [
            tuple(
                place
                for place, name in enumerate(self.question.unknown)
                if name in counts.table.columns
            )
            for counts in self._tables
        ]

    @cached_property
    def _prior_scopes(self) -> list[tuple[int, ...]]:
        if self.question.prior_name == "informed":
            return self._scopes
        if self.question.prior_name == "marginal":
            return [(place,) for place in range(len(self.question.unknown))]
        return []

    @cached_property
    def _plans(self) -> tuple[Plan, Plan]:
        """How to sum the prior, and how to sum the posterior."""
        sizes = self._sizes
        return (
            plan_elimination(sizes, self._prior_scopes),
            plan_elimination(
                sizes, [*self._scopes[: len(self.likelihood.tables)], *self._prior_scopes]
            ),
        )

    @cached_property
    def _grids(self) -> list[Candidates]:
        """All values of the unknown attributes that each table depends on."""
        names, sizes = self.question.unknown, self._sizes
        return [
            Candidates.grid(tuple(names[n] for n in scope), tuple(sizes[n] for n in scope))
            for scope in self._scopes
        ]

    @cached_property
    def _standings(self) -> list[Standing | None]:
        """Where these stand in the tables that depend on nothing else: the same for all records."""
        return [
            counts.locate(columns_of(grid.codes), len(grid))
            if counts.table.columns <= set(grid.names)
            else None
            for counts, grid in zip(self._tables, self._grids, strict=True)
        ]

    def _factors(self, record: Coded, *, of_prior: bool) -> list[Factor]:
        """Return a factor for each table: of the likelihood, or of the model's own prediction."""
        found = []
        parts = list(zip(self._tables, self._grids, self._scopes, self._standings, strict=True))
        for counts, grid, scope, standing in (
            parts if of_prior else parts[: len(self.likelihood.tables)]
        ):
            other = standing
            if other is None:
                other = counts.locate(grid.worlds(record, counts.table.columns), len(grid))
            logs = self.likelihood.table_logs(counts, record, other, of_prior=of_prior)
            found.append(Factor(scope, logs.reshape(grid.codes.cardinalities)))
        return found

    def _prior_factors(self, record: Coded) -> list[Factor]:
        if self.question.prior_name == "informed":
            return self._factors(record, of_prior=True)
        if self.question.prior_name == "uniform":
            return []
        return [
            Factor((place,), attribute_logs(self._counts[name], record[name])[0])
            for place, name in enumerate(self.question.unknown)
        ]

    def beliefs(self, record: Coded, number: int) -> tuple[Beliefs, tuple[int, ...]]:
        """Return what is believed of one record, a table of one row, and the guess."""
        truth = tuple(int(record[name][0]) for name in self.question.unknown)
        before_plan, plan = self._plans
        before = self._prior_factors(record)
        factors = [*self._factors(record, of_prior=False), *before]
        sums, best = marginals(plan, factors), most_probable(plan, factors)
        rank = best.rank_of(truth, limit=MOST_RANKED)
        if self.question.prior_name == "uniform":
            guessed = self._most_frequent(record)
        else:
            guessed = most_probable(before_plan, before).assignment
        before_truth = log_weight(before, truth) - log_total(before_plan, before)
        after_truth = log_weight(factors, truth) - sums.log_total
        believed = Beliefs(
            np.array([_probability(before_truth)]),
            np.array([_probability(after_truth)]),
            np.array([number]),
            np.array([guessed == truth]),
            np.array([best.assignment == truth]),
            np.array([math.nan if rank is None else float(rank)]),
            tuple(own[None] for own in sums.probabilities),
        )
        return believed, best.assignment

    @cached_property
    def _frequent(self) -> tuple[Candidates, NDArray[np.int64]]:
        """The combinations that occur, and how many records have each."""
        original = self.likelihood.original
        occurring = Candidates.occurring(self.question.unknown, [original])
        return occurring, np.bincount(occurring.find(original), minlength=len(occurring))

    def _most_frequent(self, record: Coded) -> tuple[int, ...]:
        """Return the combination that most other records have."""
        occurring, counts = self._frequent
        others = counts.copy()
        others[occurring.find(record)[0]] -= 1
        chosen = int(others.argmax())
        return tuple(int(codes[chosen]) for codes in occurring.codes.columns)


def _probability(log: float) -> float:
    """Return exp(log), at most 1: sums in different orders may differ in their last digits."""
    return math.exp(min(log, 0.0))
