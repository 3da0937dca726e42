"""The likelihood of a release in other worlds, with the synthesizer fitted anew in each of them.

This is the reference that the quick ways are held against, and takes a fit for each world: distinct
records with distinct candidates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.counting import group_ids
from understudy.data.coded import Coded, Codes
from understudy.errors import DataError, NoDensityError, ParameterError, UnderstudyError
from understudy.learning.jobs import mapped
from understudy.progress import quietly, track
from understudy.risk.strong.beliefs import HALF_RECORD
from understudy.risk.strong.candidates import Candidates
from understudy.risk.strong.fixed import FixedLikelihood
from understudy.risk.strong.release import Release, numbered
from understudy.synthesis import Synthesizer
from understudy.wording import counted, quoted

MOST_COMPLETIONS = 4096
"""Combinations of withheld values that are summed over, at most."""

World = tuple[int, tuple[int, ...]]
"""The row of a record, and the codes that it has in this world."""


@dataclass(frozen=True, eq=False)
class _Shown:
    """What one release shows: its distinct records, and how often each occurs."""

    release: Release
    records: Coded
    times: NDArray[np.int64]

    @classmethod
    def of(cls, release: Release) -> _Shown:
        synthetic = release.synthetic
        groups = group_ids(synthetic, synthetic.names)
        return cls(release, synthetic.take(groups.representatives), np.bincount(groups.ids))

    @cached_property
    def _completed(self) -> tuple[Coded, int]:
        """The distinct records with all values that withheld columns may have had."""
        withheld = self.release.withheld
        sizes = self.release.sizes(withheld)
        if math.prod(sizes) > MOST_COMPLETIONS:
            raise ParameterError(
                f"There are {math.prod(sizes):,} combinations of the withheld columns "
                f"{quoted(withheld)}, too many to sum over. Use mode='fixed', or attack the "
                "release as a black box (black_box_attacker)."
            )
        ways = Candidates.grid(withheld, sizes)
        columns = ways.worlds(self.records, self.records.names)
        table = Coded(self.records.names, tuple(columns.values()), self.records.cardinalities)
        return table, len(ways)

    @property
    def completions(self) -> int:
        """How many combinations of withheld values there are."""
        return math.prod(self.release.sizes(self.release.withheld))

    def log_likelihood(self, fitted: Synthesizer) -> float:
        """Return the log likelihood of the release under a fitted model."""
        if not self.release.withheld:
            return fitted.release_log_likelihood(self.records, self.times)
        return float(self.times @ self._record_logs(fitted))

    def _record_logs(self, fitted: Synthesizer) -> NDArray[np.float64]:
        if not self.release.withheld:
            return fitted.log_likelihood(self.records)
        table, ways = self._completed
        logs = fitted.log_likelihood(table).reshape(-1, ways)
        return np.asarray(np.logaddexp.reduce(logs, axis=1))

    def impossible(self, fitted: Synthesizer) -> int:
        """Return how many records of the release a fitted model cannot draw."""
        return int(self.times[np.isneginf(self._record_logs(fitted))].sum())


@dataclass(frozen=True, eq=False)
class RefitLikelihood:
    """Fits the model anew in a world, and asks it for the probability of the releases."""

    model: Synthesizer
    releases: tuple[Release, ...]
    unknown: tuple[str, ...]
    processes: int = 1

    @property
    def original(self) -> Coded:
        """The records in the order in which they are given: that of the fit, it is hoped.

        Sums over records depend on their order in the last digits, and with them the trees.
        """
        return self.releases[0].original

    @cached_property
    def _shown(self) -> list[_Shown]:
        return [_Shown.of(release) for release in self.releases]

    @property
    def possible(self) -> bool:
        """Whether the values that releases withhold are few enough to sum over."""
        return all(shown.completions <= MOST_COMPLETIONS for shown in self._shown)

    @cached_property
    def _true(self) -> Synthesizer:
        """The model in the world of the truth."""
        with quietly():
            return self.model.refit(self.original)

    @cached_property
    def of_truth(self) -> float:
        """The log likelihood of the releases in the world of the truth.

        Raises
        ------
        DataError
            If the model cannot have made a release.
        """
        for number, shown in enumerate(self._shown):
            if math.isinf(shown.log_likelihood(self.model)):
                with numbered(number, len(self._shown)):
                    _refuse(shown.impossible(self.model))
        return sum(shown.log_likelihood(self._true) for shown in self._shown)

    @cached_property
    def reproduces(self) -> bool:
        """Whether a new fit to the original gives the published model again, for all it shows."""
        published = sum(shown.log_likelihood(self.model) for shown in self._shown)
        return math.isclose(self.of_truth, published, rel_tol=1e-9)

    def of_world(self, world: World) -> float:
        """Return the log likelihood of the releases in one world."""
        place, codes = world
        original = self.original
        columns: list[Codes] = []
        for column, code in zip(original.columns, codes, strict=True):
            changed = column.copy()
            changed[place] = code
            columns.append(changed)
        records = Coded(original.names, tuple(columns), original.cardinalities)
        try:
            with quietly():
                fitted = self._true.refit_changed(records, self.unknown)
        except UnderstudyError:
            # Where the synthesizer refuses to work, there would be no release.
            return -math.inf
        return self.of_model(fitted)

    def of_model(self, fitted: Synthesizer) -> float:
        """Return the log likelihood of the releases if this model made them."""
        return sum(shown.log_likelihood(fitted) for shown in self._shown)

    def log_likelihoods(
        self, rows: NDArray[np.int64], candidates: Candidates
    ) -> NDArray[np.float64]:
        """Return the log likelihood in each world, distinct records by candidates."""
        original = self.original
        truth = candidates.find(original.take(rows))
        # The world of the truth is the same for all records.
        found = np.full((len(rows), len(candidates)), self.of_truth)
        others = np.ones(found.shape, bool)
        others[np.arange(len(rows)), truth] = False

        def jobs() -> Iterator[World]:
            for record, row in enumerate(rows.tolist()):
                # One record's worlds at a time: all of them may be more than memory holds.
                columns = candidates.worlds(original.take(slice(row, row + 1)), original.names)
                codes = np.stack([columns[name] for name in original.names], axis=1)
                for candidate, world in enumerate(codes.tolist()):
                    if candidate != truth[record]:
                        yield row, tuple(world)

        with self._mapped(RefitLikelihood.of_world, jobs()) as results:
            fitted = track(results, "Fitting worlds", int(others.sum()))
            found[others] = np.fromiter(fitted, np.float64)
        return found

    def predictions(self, rows: NDArray[np.int64], candidates: Candidates) -> NDArray[np.float64]:
        """Return the log probability of each candidate from a fit to all other records.

        The published structure may tell of the record; this one cannot. A row is nan where the
        synthesizer refuses to work without the record.
        """
        jobs = ((row, candidates) for row in rows.tolist())
        with self._mapped(RefitLikelihood.without, jobs) as results:
            return np.stack(list(track(results, "Fitting without each record", len(rows))))

    def without(self, job: tuple[int, Candidates]) -> NDArray[np.float64]:
        """Return the log probability of each candidate for one record, from all others."""
        row, candidates = job
        record = self.original.take(slice(row, row + 1))
        others = self.original.take(np.delete(np.arange(len(self.original)), row))
        try:
            with quietly():
                fitted = self._true.refit_changed(others, self.unknown)
        except UnderstudyError:
            return np.full(len(candidates), np.nan)
        try:
            tables = fitted.sampling_tables()
        except NoDensityError:
            return _from_density(fitted, record, candidates, len(others))
        alone = Release(others, others.take(slice(0)))
        counted = FixedLikelihood.of(tables, [alone], candidates.names)
        return counted.predictions_of_others(record, candidates)

    def _mapped(
        self, work: Callable[[RefitLikelihood, Any], Any], jobs: Iterable[Any]
    ) -> AbstractContextManager[Iterator[Any]]:
        return mapped(
            partial(work, self) if self.processes == 1 else partial(_in_process, work),
            jobs,
            self.processes,
            must_travel=self.model,
            prepare=_start,
            given=(self.model, self.releases, self.unknown),
        )


def _from_density(
    fitted: Synthesizer, record: Coded, candidates: Candidates, records: int
) -> NDArray[np.float64]:
    """Return log probabilities from a density; half a record is spread over all candidates."""
    columns = candidates.worlds(record, record.names)
    worlds = Coded(record.names, tuple(columns.values()), record.cardinalities)
    logs = fitted.log_likelihood(worlds)
    weights = np.exp(logs - logs.max()) if np.isfinite(logs.max()) else np.zeros(len(logs))
    shares = weights / max(weights.sum(), 1.0)
    return np.asarray(np.log(records * shares + HALF_RECORD / len(logs)))


def _refuse(impossible: int) -> None:
    told = f": it cannot draw {counted(impossible, 'record')} of it" if impossible else ""
    raise DataError(
        f"This model did not make the release{told}. Give the model that did, or attack the "
        "release as a black box (black_box_attacker)."
    )


_here: list[RefitLikelihood] = []
"""What a process that was started for this attack works on: sent once, not with every world."""


def _start(model: Synthesizer, releases: tuple[Release, ...], unknown: tuple[str, ...]) -> None:
    _here[:] = [RefitLikelihood(model, releases, unknown)]


def _in_process(work: Callable[[RefitLikelihood, Any], Any], job: Any) -> Any:  # noqa: ANN401
    return work(_here[0], job)
