"""The worlds that membership is judged by: as it is, without a person, with another in their place.

How much more or less likely a release is in another world than in the one as it is comes from the
model's counts, with its structure as published, or from fitting it anew.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from understudy.counting import group_ids
from understudy.data.coded import Coded
from understudy.data.frames import Frame
from understudy.errors import NoDensityError, UnderstudyError
from understudy.progress import quietly, track
from understudy.risk.strong.candidates import Candidates
from understudy.risk.strong.fixed import FixedLikelihood, columns_of
from understudy.risk.strong.refit import RefitLikelihood
from understudy.risk.strong.release import Release
from understudy.synthesis import Synthesizer
from understudy.synthesis.blocks import RandomState, seed_of
from understudy.synthesis.sampler import ABSENT, ColumnTable

MOST_LISTED = 4096
"""Combinations of values up to which the average over fresh people goes through all."""

_PAIRS_AT_ONCE = 2**20
"""Pairs of a person and a fresh one that are held in memory at the same time."""

Average = tuple[NDArray[np.float64], NDArray[np.float64]]
"""For each person the log of the mean likelihood ratio, and the relative error of the mean."""


@dataclass(frozen=True, eq=False)
class Fresh:
    """People who may take somebody's place, and the log probability of each.

    None are listed if no column depends on another: the average then goes column by column.
    `draws` is 0 if the list is complete.
    """

    listed: Candidates | None
    logs: NDArray[np.float64]
    draws: int

    @classmethod
    def of(cls, model: Synthesizer, draws: int, random_state: RandomState) -> Fresh:
        """Return all that the published model can draw, if they are few, or so many draws."""
        names, sizes = model.codec_.names, model.codec_.cardinalities
        if math.prod(sizes) <= MOST_LISTED:
            grid = Candidates.grid(names, sizes)
            return cls(grid, model.log_likelihood(grid.codes), 0)
        # Not the numbers that the same seed gave the release.
        seed = np.random.SeedSequence(seed_of(random_state).generate_state(4).tolist())
        drawn = model.sample_coded(draws, np.random.default_rng(seed))
        listed = Candidates.occurring(names, [drawn])
        times = np.bincount(listed.find(drawn), minlength=len(listed))
        return cls(listed, np.log(times / draws), draws)

    def mean(self, logs: NDArray[np.float64], people: Coded, own: NDArray[np.float64]) -> Average:
        """Return the log of the mean of exp(logs) for each person, and its relative error.

        A fresh person may be the same as the one whose place they take. How probable that is, is
        known (`own`) and changes nothing: it is not left to the draws.
        """
        assert self.listed is not None  # noqa: S101  # what goes column by column has no list
        weighted = logs + self.logs
        if not self.draws:
            return np.logaddexp.reduce(weighted, axis=1), np.zeros(len(people))
        every = Candidates.occurring(people.names, [self.listed.codes, people])
        same = every.find(self.listed.codes) == every.find(people)[:, None]
        weighted[same] = -np.inf
        others = np.logaddexp.reduce(weighted, axis=1)
        mean = np.logaddexp(own, others)
        squares = np.logaddexp.reduce(weighted + logs, axis=1)
        variance = (np.exp(squares - 2 * mean) - np.exp(2 * (others - mean))) / self.draws
        # One more draw could be one that makes the release as likely as it is, though none was.
        least = np.exp(-mean) / self.draws
        return mean, np.maximum(np.sqrt(np.maximum(variance, 0)), least)


class OtherWorlds(Protocol):
    """How much more likely the releases are in another world than in the one as it is, as logs."""

    def without(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return it for the world without each record."""
        ...

    def joined(self, control: Frame) -> NDArray[np.float64]:
        """Return it for the world with each of some people who were not in the data."""
        ...

    def fresh(self, draws: int, random_state: RandomState) -> Fresh:
        """Return who may take a record's place."""
        ...

    def replaced(self, rows: NDArray[np.int64], fresh: Fresh) -> Average:
        """Return it for the world in which one of them takes each record's place."""
        ...


@dataclass(frozen=True, eq=False)
class CountedWorlds:
    """With the structure as published: only counts change."""

    model: Synthesizer
    likelihood: FixedLikelihood

    @classmethod
    def of(cls, model: Synthesizer, releases: Sequence[Release]) -> CountedWorlds:
        """Count the tables of a model in the original and in its releases."""
        try:
            tables = model.sampling_tables()
        except NoDensityError as error:
            # In a traceback, and not in the words of an audit, which calls no function.
            error.add_note("Use mode='refit' if the model has a density, or membership_by_shadows.")
            raise
        return cls(model, FixedLikelihood.of(tables, releases, model.codec_.names))

    @property
    def _original(self) -> Coded:
        return self.likelihood.original

    def without(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return it for the world without each record."""
        if len(self._original) == 1:
            # Where there is nobody, there would be no release.
            return np.full(len(rows), -np.inf)
        return self._shifts(self._original.take(rows), joins=False)

    def joined(self, control: Frame) -> NDArray[np.float64]:
        """Return it for the world with each of some people who were not in the data."""
        coded, seen = self.model.codec_.encode_seen(control)
        found = self._shifts(coded, joins=True)
        # Somebody with a value that nobody had: the levels as published show that they were out.
        return np.where(seen, found, -np.inf)

    def _shifts(self, people: Coded, *, joins: bool) -> NDArray[np.float64]:
        """Return how the log likelihood moves as each of some people joins the data, or leaves."""
        from understudy.risk.strong.kernels import Standing

        logs = np.zeros(len(self._original) + 2)
        logs[1:] = np.log(np.arange(1, len(logs)))
        every = np.arange(len(people))
        total = np.zeros(len(people))
        for counts in self.likelihood.tables:
            there = counts.locate(columns_of(people), len(people))
            place = np.full((len(there.nodes), 1), -1, np.int32)
            nobody = Standing(np.full(1, ABSENT, np.int64), place, place)
            both = (nobody, there) if joins else (there, nobody)
            pairs = (np.zeros_like(every), every) if joins else (every, np.zeros_like(every))
            counts.add_shifts(*both, pairs, logs, total)
        return total

    def fresh(self, draws: int, random_state: RandomState) -> Fresh:
        """Return who may take a record's place."""
        tables = [counts.table for counts in self.likelihood.tables]
        if all(isinstance(table, ColumnTable) and not table.parents for table in tables):
            return Fresh(None, np.empty(0), 0)
        return Fresh.of(self.model, draws, random_state)

    def replaced(self, rows: NDArray[np.int64], fresh: Fresh) -> Average:
        """Return it for the world in which one of them takes each record's place."""
        names = self._original.names
        groups = group_ids(self._original, names)
        distinct, number = np.unique(groups.ids[rows], return_inverse=True)
        first = groups.representatives[distinct]
        if fresh.listed is None:
            mean = self._column_by_column(first)
            return mean[number], np.zeros(len(rows))
        size = max(1, _PAIRS_AT_ONCE // (len(fresh.listed) * self.likelihood.width))
        pieces = [first[start : start + size] for start in range(0, len(first), size)]
        parts = []
        for piece in track(pieces, "Replacing records"):
            people = self._original.take(piece)
            logs = self.likelihood.log_likelihoods(people, fresh.listed)
            parts.append(fresh.mean(logs, people, self.model.log_likelihood(people)))
        mean, error = (np.concatenate(part)[number] for part in zip(*parts, strict=True))
        return mean, error

    def _column_by_column(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the log of the mean over all fresh people if no column depends on another."""
        people = self._original.take(rows)
        total = np.zeros(len(rows))
        for name in self._original.names:
            size = self._original.cardinality(name)
            values = Candidates.grid((name,), (size,))
            tables = tuple(held for held in self.likelihood.tables if held.table.name == name)
            own = replace(self.likelihood, tables=tables).log_likelihoods(people, values)
            for counts in tables:
                with np.errstate(divide="ignore"):
                    total += np.logaddexp.reduce(own + np.log(counts.first_shares()), axis=1)
        return total


@dataclass(frozen=True, eq=False)
class RefittedWorlds:
    """With the synthesizer fitted anew in each world: the reference, which takes long."""

    model: Synthesizer
    releases: Sequence[Release]

    @cached_property
    def _likelihood(self) -> RefitLikelihood:
        return RefitLikelihood(self.model, tuple(self.releases), self.model.codec_.names)

    @cached_property
    def _as_it_is(self) -> float:
        return self._with(self.releases[0].original)

    def _with(self, records: Coded) -> float:
        """Return the log likelihood of all releases if these were the records."""
        if not len(records):
            return -math.inf
        with quietly():
            fitted = self.model.refit(records)
        return self._likelihood.of_model(fitted)

    def without(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return it for the world without each record."""
        original = self.releases[0].original
        every = np.arange(len(original))
        found = [
            self._possible(original.take(np.delete(every, row)))
            for row in track(rows.tolist(), "Fitting without a record")
        ]
        return np.array(found) - self._as_it_is

    def joined(self, control: Frame) -> NDArray[np.float64]:
        """Return it for the world with each of some people who were not in the data."""
        coded, seen = self.model.codec_.encode_seen(control)
        original = self.releases[0].original
        found = [
            self._possible(Coded.concatenate([original, coded.take(slice(row, row + 1))]))
            for row in track(range(len(coded)), "Fitting with a record")
        ]
        return np.where(seen, np.array(found) - self._as_it_is, -np.inf)

    def _possible(self, records: Coded) -> float:
        try:
            return self._with(records)
        except UnderstudyError:
            # Where the synthesizer refuses to work, there would be no release.
            return -math.inf

    def fresh(self, draws: int, random_state: RandomState) -> Fresh:
        """Return who may take a record's place."""
        return Fresh.of(self.model, draws, random_state)

    def replaced(self, rows: NDArray[np.int64], fresh: Fresh) -> Average:
        """Return it for the world in which one of them takes each record's place."""
        assert fresh.listed is not None  # noqa: S101  # counts alone go column by column
        original = self.releases[0].original
        groups = group_ids(original, original.names)
        distinct, number = np.unique(groups.ids[rows], return_inverse=True)
        first = groups.representatives[distinct]
        attacked = original.take(first)
        # The truth is one of the worlds, whether it was drawn or not.
        every = Candidates.occurring(original.names, [fresh.listed.codes, attacked])
        place, truth = every.find(fresh.listed.codes), every.find(attacked)
        logs = self._likelihood.log_likelihoods(first, every)
        logs -= logs[np.arange(len(first)), truth][:, None]
        mean, error = fresh.mean(logs[:, place], attacked, self.model.log_likelihood(attacked))
        return mean[number], error[number]
