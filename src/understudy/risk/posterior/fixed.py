"""The likelihood of a release in other worlds, with the structure of the model as published.

Only counts change from world to world, and only those of the rows that the old and the new record
stand in: all records and all candidates cost about a pass over each table that depends on what is
unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Coded
from understudy.risk.posterior.candidates import Candidates
from understudy.risk.posterior.counts import TableCounts, columns_of
from understudy.risk.posterior.release import Release
from understudy.synthesis.sampler import SamplingTable

if TYPE_CHECKING:
    from understudy.risk.posterior.kernels import Standing


@dataclass(frozen=True, eq=False)
class FixedLikelihood:
    """How the likelihood of a release depends on the unknown attributes of one record.

    Parameters
    ----------
    release : Release
        The original and the synthetic records.
    tables : tuple of TableCounts
        The tables that depend on the unknown attributes, and are fully shown in the release.
    left_out : tuple of str
        Columns of the release that were drawn from withheld ones: of these it cannot be seen from
        which records they were drawn.
    """

    release: Release
    tables: tuple[TableCounts, ...]
    left_out: tuple[str, ...]

    @classmethod
    def of(
        cls, tables: Iterable[SamplingTable], release: Release, unknown: Iterable[str]
    ) -> FixedLikelihood:
        """Count the tables that matter."""
        asked, withheld = set(unknown), set(release.withheld)
        concerned = [table for table in tables if table.columns & asked]
        shown = [table for table in concerned if not table.columns & withheld]
        blurred = [t.name for t in concerned if t.columns & withheld and t.name not in withheld]
        return cls(
            release,
            tuple(TableCounts.of(table, release.original, release.synthetic) for table in shown),
            tuple(dict.fromkeys(blurred)),
        )

    @property
    def columns(self) -> frozenset[str]:
        """All columns that decide the likelihood."""
        return frozenset().union(*(counts.table.columns for counts in self.tables))

    @cached_property
    def _logs(self) -> NDArray[np.float64]:
        logs = np.zeros(len(self.release.original) + 2)
        logs[1:] = np.log(np.arange(1, len(logs)))
        return logs

    def log_likelihoods(self, records: Coded, candidates: Candidates) -> NDArray[np.float64]:
        """Return the log likelihood in each world, records by candidates; that of the truth is 0.

        Minus infinity where the release is impossible.
        """
        from understudy.risk.posterior.kernels import add_shifts

        total = np.zeros(len(records) * len(candidates))
        for counts in self.tables:
            own, other, pairs = _standings(counts, records, candidates)
            add_shifts(counts.tally, own, other, pairs, self._logs, total)
        return total.reshape(len(records), len(candidates))

    def predictions(self, records: Coded, candidates: Candidates) -> NDArray[np.float64]:
        """Return the log probability of each candidate from all other records, not normalised."""
        from understudy.risk.posterior.kernels import add_predictions

        total = np.zeros(len(records) * len(candidates))
        for counts in self.tables:
            own, other, pairs = _standings(counts, records, candidates)
            add_predictions(counts.tally, own, other, pairs, total)
        return total.reshape(len(records), len(candidates))

    def table_logs(
        self, counts: TableCounts, record: Coded, other: Standing, *, of_prior: bool
    ) -> NDArray[np.float64]:
        """Return what one table adds to either, for one record and candidates that stand there."""
        from understudy.risk.posterior.kernels import add_predictions, add_shifts

        own = counts.locate(columns_of(record), 1)
        every = np.arange(len(other.values))
        pairs = (np.zeros_like(every), every)
        total = np.zeros(len(every))
        if of_prior:
            add_predictions(counts.tally, own, other, pairs, total)
        else:
            add_shifts(counts.tally, own, other, pairs, self._logs, total)
        return total


def _standings(
    counts: TableCounts, records: Coded, candidates: Candidates
) -> tuple[Standing, Standing, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return where records and candidates stand, and which of them make up each pair."""
    own = counts.locate(columns_of(records), len(records))
    every = np.arange(len(records) * len(candidates))
    record, candidate = np.divmod(every, len(candidates))
    if counts.table.columns <= set(candidates.names):
        other = counts.locate(columns_of(candidates.codes), len(candidates))
        return own, other, (record, candidate)
    worlds = candidates.worlds(records, counts.table.columns)
    return own, counts.locate(worlds, len(every)), (record, every)
