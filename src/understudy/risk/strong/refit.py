"""The likelihood of a release in other worlds, with the synthesizer fitted anew in each of them.

This is the reference that the quick ways are held against, and takes a fit for each world: distinct
records with distinct candidates.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from understudy.counting import group_ids
from understudy.data.coded import Coded, Codes
from understudy.errors import ParameterError, UnderstudyError
from understudy.learning.jobs import mapped
from understudy.progress import quietly, track
from understudy.risk.strong.candidates import Candidates
from understudy.risk.strong.release import Release
from understudy.synthesis import Synthesizer
from understudy.wording import quoted

MOST_COMPLETIONS = 4096
"""Combinations of withheld values that are summed over, at most."""

World = tuple[int, tuple[int, ...]]
"""The place of a record among the sorted ones, and the codes that it has in this world."""


@dataclass(frozen=True, eq=False)
class RefitLikelihood:
    """Fits the model anew in a world, and asks it for the probability of the release."""

    model: Synthesizer
    release: Release

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.int64], Coded]:
        """The order of the original records by their codes, and the records in it.

        Sums over records can depend on their order in the last digits; this one is always the same.
        """
        order = np.lexsort(self.release.original.columns[::-1])
        return order, self.release.original.take(order)

    @cached_property
    def _distinct(self) -> tuple[Coded, NDArray[np.int64]]:
        """The distinct synthetic records, and how often each occurs."""
        synthetic = self.release.synthetic
        groups = group_ids(synthetic, synthetic.names)
        return synthetic.take(groups.representatives), np.bincount(groups.ids)

    @cached_property
    def _completed(self) -> tuple[Coded, int]:
        """The distinct synthetic records with all values that withheld columns may have had."""
        shown, _ = self._distinct
        withheld = self.release.withheld
        sizes = self.release.sizes(withheld)
        if math.prod(sizes) > MOST_COMPLETIONS:
            raise ParameterError(
                f"There are {math.prod(sizes):,} combinations of the withheld columns "
                f"{quoted(withheld)}, too many to sum over. Use mode='fixed', or attack the "
                "release as a black box (black_box_attacker)."
            )
        ways = Candidates.grid(withheld, sizes)
        columns = ways.worlds(shown, shown.names)
        table = Coded(shown.names, tuple(columns.values()), shown.cardinalities)
        return table, len(ways)

    def of_world(self, world: World) -> float:
        """Return the log likelihood of the release in one world."""
        place, codes = world
        columns: list[Codes] = []
        for column, code in zip(self._sorted[1].columns, codes, strict=True):
            changed = column.copy()
            changed[place] = code
            columns.append(changed)
        original = self.release.original
        records = Coded(original.names, tuple(columns), original.cardinalities)
        try:
            with quietly():
                fitted = self.model.refit(records)
        except UnderstudyError:
            if all(
                new[place] == old[place]
                for new, old in zip(columns, self._sorted[1].columns, strict=True)
            ):
                raise
            # Where the synthesizer refuses to work, there would be no release.
            return -math.inf
        return self.of_model(fitted)

    def of_model(self, fitted: Synthesizer) -> float:
        """Return the log likelihood of the release if this model made it."""
        shown, times = self._distinct
        if not self.release.withheld:
            return fitted.release_log_likelihood(shown, times)
        table, ways = self._completed
        logs = fitted.log_likelihood(table).reshape(-1, ways)
        return float(times @ np.logaddexp.reduce(logs, axis=1))

    def log_likelihoods(
        self, rows: NDArray[np.int64], candidates: Candidates, processes: int = 1
    ) -> NDArray[np.float64]:
        """Return the log likelihood in each world, distinct records by candidates."""
        original = self.release.original
        truth = candidates.find(original.take(rows))
        place_of = np.empty(len(original), np.int64)
        place_of[self._sorted[0]] = np.arange(len(original))
        every = range(len(rows) * len(candidates))
        own = set((np.arange(len(rows)) * len(candidates) + truth).tolist())

        def jobs() -> Iterator[World]:
            # The world of the truth is the same for all records.
            yield int(place_of[rows[0]]), _codes_of(original, int(rows[0]))
            for record, row in enumerate(rows.tolist()):
                # One record's worlds at a time: all of them may be more than memory holds.
                columns = candidates.worlds(original.take(slice(row, row + 1)), original.names)
                codes = np.stack([columns[name] for name in original.names], axis=1)
                for candidate, world in enumerate(codes.tolist()):
                    if candidate != truth[record]:
                        yield int(place_of[row]), tuple(world)

        with mapped(
            self.of_world if processes == 1 else _in_world,
            jobs(),
            processes,
            must_travel=self.model,
            prepare=_start,
            given=(self.model, self.release),
        ) as results:
            counted = iter(track(results, "Fitting worlds", len(every) - len(own) + 1))
            of_truth = next(counted)
            found = np.fromiter(
                (of_truth if number in own else next(counted) for number in every),
                np.float64,
                len(every),
            ).reshape(len(rows), len(candidates))
            # The bar ends when all is taken from it.
            next(counted, None)
        return found


def _codes_of(coded: Coded, row: int) -> tuple[int, ...]:
    return tuple(int(column[row]) for column in coded.columns)


_here: list[RefitLikelihood] = []
"""What a process that was started for this attack works on: sent once, not with every world."""


def _start(model: Synthesizer, release: Release) -> None:
    _here[:] = [RefitLikelihood(model, release)]


def _in_world(world: World) -> float:
    return _here[0].of_world(world)
