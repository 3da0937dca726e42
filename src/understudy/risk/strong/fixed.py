"""The likelihood of a release in other worlds, with the structure of the model as published.

Only counts change from world to world, and only those of the rows that the old and the new record
stand in: all records and all candidates cost about a pass over each table that depends on what is
unknown. Where rows are drawn towards those above, how far they are is held, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from understudy.counting import group_ids
from understudy.data.coded import Coded, Codes, code_dtype
from understudy.errors import DataError
from understudy.progress import track
from understudy.risk.strong.beliefs import HALF_RECORD
from understudy.risk.strong.candidates import Candidates
from understudy.risk.strong.release import Release
from understudy.risk.strong.shrunk import shrunk_tally
from understudy.synthesis.sampler import ABSENT, ENDED, IMPOSSIBLE, SamplingTable
from understudy.wording import counted, quoted

if TYPE_CHECKING:
    from understudy.risk.strong.kernels import Standing, Tally
    from understudy.risk.strong.shrunk_kernels import ShrunkTally


_NOT_MADE = "did not make the release"

_MOST_INDEXED = 2**22
"""Keys up to which a table of all of them is held, in place of a search among those that exist."""


@dataclass(frozen=True, eq=False)
class TableCounts:
    """One table of a sampler, and how many records of both tables each node and cell holds.

    `shrunk` says more of a table whose rows are drawn towards those above.
    """

    table: SamplingTable
    tally: Tally
    shrunk: ShrunkTally | None = None

    @classmethod
    def of(cls, table: SamplingTable, original: Coded, synthetic: Coded) -> TableCounts:
        """Count a table.

        Raises
        ------
        DataError
            If the model was fitted to other records than `original`, or could not have drawn
            `synthetic`.
        """
        tally, donors, shrunk = _count(table, original, synthetic)
        # Where rules decide of all records, a tree was grown on these, but nothing is drawn of it.
        if len(donors) and not np.array_equal(donors, table.donors):
            raise DataError(
                f"The model was not fitted to this original: its records of {table.name!r} differ. "
                "Give the table that the model was fitted to."
            )
        impossible = _impossible(tally) if shrunk is None else _impossible_if_shrunk(shrunk)
        if impossible:
            raise DataError(
                f"This model {_NOT_MADE}: in {counted(impossible, 'record')} of it, "
                f"{table.name!r} has a value that the model cannot draw there. Give the model that "
                "did, or attack the release as a black box (black_box_attacker)."
            )
        return cls(table, tally, shrunk)

    def locate(self, known: Mapping[str, Codes], rows: int) -> Standing:
        """Return where records stand in the table; `known` holds their codes."""
        from understudy.risk.strong.kernels import Standing, locate

        entries = self.table.entries(known, rows)
        parents = np.empty((len(entries.parents), rows), np.int64)
        for place, codes in enumerate(entries.parents):
            parents[place] = codes
        nodes = np.empty((len(parents) + 1, rows), np.int32)
        cells = np.empty_like(nodes)
        locate(self.tally, entries.values, parents, nodes, cells)
        return Standing(entries.values, nodes, cells)

    def add_shifts(
        self,
        own: Standing,
        other: Standing,
        pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
        logs: NDArray[np.float64],
        total: NDArray[np.float64],
    ) -> None:
        """Add how the log likelihood moves for pairs of a record and a candidate; see kernels."""
        from understudy.risk.strong.kernels import add_shifts
        from understudy.risk.strong.shrunk_kernels import add_shrunk_shifts

        if self.shrunk is None:
            add_shifts(self.tally, own, other, pairs, logs, total)
        else:
            add_shrunk_shifts(self.tally, self.shrunk, own, other, pairs, total)

    def add_predictions(
        self,
        own: Standing,
        other: Standing,
        pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
        hedge: float,
        total: NDArray[np.float64],
    ) -> None:
        """Add the log probability of candidates from all records but the pair's; see kernels."""
        from understudy.risk.strong.kernels import add_predictions
        from understudy.risk.strong.shrunk_kernels import add_shrunk_predictions

        if self.shrunk is None:
            add_predictions(self.tally, own, other, pairs, hedge, total)
        else:
            add_shrunk_predictions(self.tally, self.shrunk, own, other, pairs, hedge, total)

    def first_shares(self) -> NDArray[np.float64]:
        """Return with which probability each value is drawn where no parent is known."""
        from understudy.risk.strong.kernels import RECORDS

        counts = np.zeros(self.tally.cardinality)
        first = self.tally.cell_keys < self.tally.cardinality
        counts[self.tally.cell_keys[first]] = self.tally.cell_counts[first, RECORDS]
        if self.shrunk is None:
            return np.asarray(counts / counts.sum())
        if counts.sum() < self.shrunk.fewest:
            return self.shrunk.base
        strength = self.shrunk.strengths[0]
        return np.asarray((counts + strength * self.shrunk.base) / (counts.sum() + strength))


def _impossible(tally: Tally) -> int:
    """Return how many synthetic records have a value that none has in the row they came from."""
    from understudy.risk.strong.kernels import DRAWN, RECORDS, RELEASED

    drawn, cells = tally.node_counts[0], tally.cell_counts
    if drawn[RECORDS] == 0:
        return int(drawn[RELEASED])
    return int(cells[cells[:, RECORDS] == 0, DRAWN].sum())


def _impossible_if_shrunk(shrunk: ShrunkTally) -> int:
    """Return the same if rows are drawn towards those above: there, values have probabilities."""
    # The first level's entries are the cells of the row of all records, in the same order.
    first = np.flatnonzero(shrunk.levels[: len(shrunk.shares)] == 0)
    shares = np.repeat(shrunk.shares[first], shrunk.stops[first] - shrunk.starts[first])
    return int(shrunk.times[shrunk.fixed[0] + shrunk.factors[0] * shares <= 0].sum())


def columns_of(coded: Coded) -> dict[str, Codes]:
    """Return the columns of a coded table by name."""
    return dict(zip(coded.names, coded.columns, strict=True))


def _count(
    table: SamplingTable, original: Coded, synthetic: Coded
) -> tuple[Tally, NDArray[np.int64], ShrunkTally | None]:
    """Return the counts, the values of the original records by node and value, and more if shrunk.

    If not, all paths reach the deepest level.
    """
    from understudy.risk.strong.kernels import Tally

    parents, values, records, released = _distinct_cells(table, original, synthetic)
    # For each level, which of the distinct cells of the deepest one reach it, and their nodes.
    reach: list[slice | NDArray[np.int64]] = [slice(None)]
    node_of = [np.zeros(len(values), np.int64)]
    starts, bases, child_keys = [0, 1], [], []
    ends = 0
    for size, codes in zip(table.sizes, parents, strict=True):
        above, here, there = node_of[-1], codes[reach[-1]], reach[-1]
        if (here == ENDED).any():
            goes_on = np.flatnonzero(here != ENDED)
            above, here = above[goes_on], here[goes_on]
            there = np.arange(len(values))[there][goes_on]
        keys = above * size + here
        new = np.ones(len(keys), bool)
        new[1:] = keys[1:] != keys[:-1]
        bases.append(ends)
        child_keys.append(keys[new] + ends)
        ends += (starts[-1] - starts[-2]) * size
        reach.append(there)
        node_of.append(np.cumsum(new) - 1)
        starts.append(starts[-1] + int(new.sum()))
    counts = [
        np.bincount(own, records[there], stop - start).astype(np.int64)
        for own, there, start, stop in zip(node_of, reach, starts[:-1], starts[1:], strict=True)
    ]
    # Each synthetic record was drawn from its deepest node that holds an original one.
    level_of = np.zeros(len(values), np.int64)
    for count, own, there in zip(counts[1:], node_of[1:], reach[1:], strict=True):
        level_of[there] += count[own] > 0
    node_parts, cell_parts, cell_keys, cell_of = [], [], [], []
    known = 0
    for level, (own, there, count) in enumerate(zip(node_of, reach, counts, strict=True)):
        weights = [records[there], released[there]]
        drawn = np.where((level_of[there] == level) & (count[own] > 0), weights[1], 0)
        node_parts.append(_sums(own, len(count), *weights, drawn))
        keys, number = np.unique(own * table.cardinality + values[there], return_inverse=True)
        cell_parts.append(_sums(number, len(keys), *weights, drawn))
        cell_keys.append(keys + starts[level] * table.cardinality)
        if table.shrinkage is not None:
            cell_of.append(np.full(len(values), -1, np.int32))
            cell_of[-1][there] = number + known
        known += len(keys)
    children = np.concatenate([np.empty(0, np.int64), *child_keys])
    cells = np.concatenate(cell_keys)
    tally = Tally(
        np.array(table.sizes, np.int64),
        table.cardinality,
        np.array(starts, np.int64),
        np.array(bases, np.int64),
        children,
        _index(children, ends),
        cells,
        _index(cells, starts[-1] * table.cardinality),
        np.concatenate(node_parts),
        np.concatenate(cell_parts),
    )
    shrunk = None
    if table.shrinkage is not None:
        shrunk = shrunk_tally(table.shrinkage, tally, np.stack(cell_of), released)
    return tally, np.repeat(values, records), shrunk


def _distinct_cells(
    table: SamplingTable, original: Coded, synthetic: Coded
) -> tuple[list[NDArray[np.int64]], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return parents' codes and value of each combination that occurs, and how often it does.

    Combinations are in lexicographic order, parents first.
    """
    both = []
    for coded, which in ((original, "was not fitted to this original"), (synthetic, _NOT_MADE)):
        entries = table.entries(columns_of(coded), len(coded))
        impossible = int(np.count_nonzero(entries.values == IMPOSSIBLE))
        if impossible:
            raise DataError(
                f"This model {which}: {counted(impossible, 'record')} of it "
                f"{'has' if impossible == 1 else 'have'} a combination of {table.name!r} that no "
                "record had when the model was fitted."
            )
        part = np.flatnonzero(entries.values != ABSENT)
        both.append([*(codes[part] for codes in entries.parents), entries.values[part]])
    of_original = len(both[0][-1])
    columns, sizes, added = [], [], []
    for *pair, size in zip(*both, (*table.sizes, table.cardinality), strict=True):
        codes = np.concatenate(pair)
        # Codes of a table begin with 0.
        more = int((codes == ENDED).any())
        sizes.append(size + more)
        codes = codes.astype(np.int64) + 1 if more else codes
        columns.append(codes.astype(code_dtype(sizes[-1])))
        added.append(more)
    names = tuple(str(place) for place in range(len(sizes)))
    groups = group_ids(Coded(names, tuple(columns), tuple(sizes)), names)
    *parents, values = (
        codes[groups.representatives].astype(np.int64) - more
        for codes, more in zip(columns, added, strict=True)
    )
    counts = [
        np.bincount(ids, minlength=groups.count)
        for ids in (groups.ids[:of_original], groups.ids[of_original:])
    ]
    return parents, values, counts[0], counts[1]


def _sums(group: NDArray[np.int64], groups: int, *weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of each weight in each group; counts are far below the limits of floats."""
    sums = [np.bincount(group, weight, groups) for weight in weights]
    return np.stack(sums, axis=1).astype(np.int64)


def _index(keys: NDArray[np.int64], bound: int) -> NDArray[np.int32]:
    """Return the place of every key below `bound`, -1 for none; empty if there are too many."""
    if bound > _MOST_INDEXED:
        return np.empty(0, np.int32)
    index = np.full(max(bound, 1), -1, np.int32)
    index[keys] = np.arange(len(keys))
    return index


@dataclass(frozen=True, eq=False)
class FixedLikelihood:
    """How the likelihood of releases depends on the unknown attributes of one record.

    Each of `tables` depends on the unknown attributes, and some release shows all its columns: it
    counts the records of these releases. `unseen` depend on what every release withholds, and are
    of use for a prior alone. `left_out` are columns of a release that were drawn from withheld
    ones: it cannot be seen from which records.
    """

    original: Coded
    tables: tuple[TableCounts, ...]
    unseen: tuple[TableCounts, ...]
    left_out: tuple[str, ...]
    _places: dict[int, tuple[Candidates, _Distinct]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, tables: Iterable[SamplingTable], releases: Sequence[Release], unknown: Iterable[str]
    ) -> FixedLikelihood:
        """Count the tables that matter."""
        asked, original = set(unknown), releases[0].original
        shown, unseen, blurred = [], [], []
        wanted = [table for table in tables if table.columns & asked]
        for table in track(wanted, "Counting for the attacker"):
            showing = [not table.columns & set(release.withheld) for release in releases]
            drawn = [r.synthetic for r, shows in zip(releases, showing, strict=True) if shows]
            blurred += [
                table.name
                for release, shows in zip(releases, showing, strict=True)
                if not shows and table.name not in release.withheld
            ]
            if drawn:
                # Records of all releases are draws of one model: they count together.
                every = drawn[0] if len(drawn) == 1 else Coded.concatenate(drawn)
                shown.append(TableCounts.of(table, original, every))
            else:
                nothing = releases[0].synthetic.take(slice(0))
                unseen.append(TableCounts.of(table, original, nothing))
        return cls(original, tuple(shown), tuple(unseen), tuple(dict.fromkeys(blurred)))

    @property
    def columns(self) -> frozenset[str]:
        """All columns that decide the likelihood, and the predictions."""
        every = (*self.tables, *self.unseen)
        return frozenset().union(*(counts.table.columns for counts in every))

    @property
    def width(self) -> int:
        """How much memory a pair of a record and a candidate takes, beside one in small tables.

        Where a record stands is told for each level, and trees may be deep.
        """
        return max((len(counts.table.sizes) // 4 for counts in self.tables), default=1) or 1

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
        logs = np.zeros(len(self.original) + 2)
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

    def predictions_of_others(self, record: Coded, candidates: Candidates) -> NDArray[np.float64]:
        """Return the same for one record, a table of one row, that `original` does not hold."""
        from understudy.risk.strong.kernels import Standing

        total = np.zeros(len(candidates))
        for counts in (*self.tables, *self.unseen):
            known = candidates.worlds(record, counts.table.columns)
            other = counts.locate(known, len(candidates))
            nowhere = np.full((len(other.nodes), 1), -1, np.int32)
            absent = Standing(np.full(1, ABSENT, np.int64), nowhere, nowhere)
            every = np.arange(len(candidates))
            pairs = np.zeros_like(every), every
            total += self._logs_of(counts, absent, other, pairs, of_prior=True)
        return total

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

    def own_probabilities(self) -> NDArray[np.float64]:
        """Return how probable each record would be without it, as logs; -inf if impossible."""
        total = np.zeros(len(self.original))
        every = np.arange(len(self.original))
        for counts in (*self.tables, *self.unseen):
            own = counts.locate(columns_of(self.original), len(self.original))
            counts.add_predictions(own, own, (every, every), 0.0, total)
        return total

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
        total = np.zeros(len(pairs[0]))
        if of_prior:
            counts.add_predictions(own, other, pairs, HALF_RECORD, total)
        else:
            counts.add_shifts(own, other, pairs, self._logs, total)
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
        # Level by level as they were: kernels would be compiled anew for any other order.
        places = (held.take(first, axis=1) for held in (nodes, cells))
        return cls(type(standing)(values[first], *places), number)

    def __len__(self) -> int:
        return len(self.standing.values)
