"""The likelihood of a release in other worlds, with the structure of the model as published.

Only counts change from world to world, and only those of the rows that the old and the new record
stand in: all records and all candidates cost about a pass over each table that depends on what is
unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.counting import group_ids
from understudy.data.coded import Coded
from understudy.risk.strong.candidates import Candidates
from understudy.risk.strong.counts import TableCounts, columns_of
from understudy.risk.strong.release import Release
from understudy.synthesis.sampler import SamplingTable
from understudy.wording import quoted

if TYPE_CHECKING:
    from understudy.risk.strong.kernels import Standing


@dataclass(frozen=True, eq=False)
class FixedLikelihood:
    """How the likelihood of a release depends on the unknown attributes of one record.

    Parameters
    ----------
    release : Release
        The original and the synthetic records.
    tables : tuple of TableCounts
        The tables that depend on the unknown attributes, and are fully shown in the release.
    unseen : tuple of TableCounts
        The tables that depend on them and on what the release withholds: of use for a prior alone.
    left_out : tuple of str
        Columns of the release that were drawn from withheld ones: of these it cannot be seen from
        which records they were drawn.
    """

    release: Release
    tables: tuple[TableCounts, ...]
    unseen: tuple[TableCounts, ...]
    left_out: tuple[str, ...]
    _places: dict[int, tuple[Candidates, _Distinct]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, tables: Iterable[SamplingTable], release: Release, unknown: Iterable[str]
    ) -> FixedLikelihood:
        """Count the tables that matter."""
        asked, withheld = set(unknown), set(release.withheld)
        concerned = [table for table in tables if table.columns & asked]
        shown = [table for table in concerned if not table.columns & withheld]
        hidden = [table for table in concerned if table.columns & withheld]
        blurred = [table.name for table in hidden if table.name not in withheld]
        nothing = release.synthetic.take(slice(0))
        return cls(
            release,
            tuple(TableCounts.of(table, release.original, release.synthetic) for table in shown),
            tuple(TableCounts.of(table, release.original, nothing) for table in hidden),
            tuple(dict.fromkeys(blurred)),
        )

    @property
    def columns(self) -> frozenset[str]:
        """All columns that decide the likelihood, and the predictions."""
        every = (*self.tables, *self.unseen)
        return frozenset().union(*(counts.table.columns for counts in every))

    def notes(self) -> tuple[str, ...]:
        """Return what a reader of a result should know of columns whose draws could not be used."""
        if not self.left_out:
            return ()
        return (
            f"The draws of {quoted(self.left_out)} do not count, because they depend on columns "
            "that the release does not show. The gain may be larger; mode='refit' counts them.",
        )

    @cached_property
    def _logs(self) -> NDArray[np.float64]:
        logs = np.zeros(len(self.release.original) + 2)
        logs[1:] = np.log(np.arange(1, len(logs)))
        return logs

    def log_likelihoods(self, records: Coded, candidates: Candidates) -> NDArray[np.float64]:
        """Return the log likelihood in each world, records by candidates; that of the truth is 0.

        Minus infinity where the release is impossible.
        """
        return self._summed(records, candidates, of_prior=False)

    def predictions(self, records: Coded, candidates: Candidates) -> NDArray[np.float64]:
        """Return the log probability of each candidate from all other records, not normalised."""
        return self._summed(records, candidates, of_prior=True)

    def _summed(
        self, records: Coded, candidates: Candidates, *, of_prior: bool
    ) -> NDArray[np.float64]:
        total = np.zeros((len(records), len(candidates)))
        for counts in (*self.tables, *self.unseen) if of_prior else self.tables:
            if counts.table.columns <= set(candidates.names):
                total += self._of_standings(counts, records, candidates, of_prior=of_prior)
            else:
                total += self._of_worlds(counts, records, candidates, of_prior=of_prior)
        return total

    def _of_standings(
        self, counts: TableCounts, records: Coded, candidates: Candidates, *, of_prior: bool
    ) -> NDArray[np.float64]:
        """Return what a table adds if nothing but the candidate decides where that stands."""
        own = _Distinct.of(counts, counts.locate(columns_of(records), len(records)))
        other = self._placed(counts, candidates)
        pairs = np.divmod(np.arange(len(own) * len(other)), len(other))
        found = self._logs_of(counts, own.standing, other.standing, pairs, of_prior=of_prior)
        small = found.reshape(len(own), len(other))
        return np.asarray(small[own.number][:, other.number])

    def _placed(self, counts: TableCounts, candidates: Candidates) -> _Distinct:
        """Return where candidates stand in a table, found once for all pieces of the records."""
        known = self._places.get(id(counts))
        if known is None or known[0] is not candidates:
            standing = counts.locate(columns_of(candidates.codes), len(candidates))
            known = candidates, _Distinct.of(counts, standing)
            self._places[id(counts)] = known
        return known[1]

    def _of_worlds(
        self, counts: TableCounts, records: Coded, candidates: Candidates, *, of_prior: bool
    ) -> NDArray[np.float64]:
        """Return what a table adds if a candidate's place depends on the rest of the record, too.

        Records that agree on all that the table depends on are looked at once.
        """
        names = [name for name in records.names if name in counts.table.columns]
        groups = group_ids(records, names)
        chosen = records.take(groups.representatives)
        own = counts.locate(columns_of(chosen), len(chosen))
        every = np.arange(len(chosen) * len(candidates))
        other = counts.locate(candidates.worlds(chosen, names), len(every))
        pairs = every // len(candidates), every
        found = self._logs_of(counts, own, other, pairs, of_prior=of_prior)
        return np.asarray(found.reshape(len(chosen), len(candidates))[groups.ids])

    def table_logs(
        self, counts: TableCounts, record: Coded, other: Standing, *, of_prior: bool
    ) -> NDArray[np.float64]:
        """Return what one table adds to either, for one record and candidates that stand there."""
        every = np.arange(len(other.values))
        own = counts.locate(columns_of(record), 1)
        return self._logs_of(counts, own, other, (np.zeros_like(every), every), of_prior=of_prior)

    def _logs_of(
        self,
        counts: TableCounts,
        own: Standing,
        other: Standing,
        pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
        *,
        of_prior: bool,
    ) -> NDArray[np.float64]:
        from understudy.risk.strong.kernels import add_predictions, add_shifts

        total = np.zeros(len(pairs[0]))
        if of_prior:
            add_predictions(counts.tally, own, other, pairs, total)
        else:
            add_shifts(counts.tally, own, other, pairs, self._logs, total)
        return total


@dataclass(frozen=True, eq=False)
class _Distinct:
    """The different places where records stand, and which of them each record has."""

    standing: Standing
    number: NDArray[np.int64]

    @classmethod
    def of(cls, counts: TableCounts, standing: Standing) -> _Distinct:
        # Nodes of deeper levels have higher numbers: the last one and the value decide the rest.
        last = standing.nodes.max(axis=0).astype(np.int64)
        key = np.where(
            standing.values < 0, standing.values, last * counts.tally.cardinality + standing.values
        )
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
        values, nodes, cells = standing
        return cls(type(standing)(values[first], nodes[:, first], cells[:, first]), number)

    def __len__(self) -> int:
        return len(self.standing.values)
