"""The predictive search: an attribute gets the parents that help to describe a left-out record.

Mutual information rises with every parent. The likelihood of records that are left out, each under
a smoothed table of the others, does not, so the number of parents decides itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.counting.engine import Engine, LocalEngine, in_order
from understudy.counting.tables import group_ids
from understudy.data.coded import Coded
from understudy.progress import track
from understudy.synthesis.bayes.constraints import Constraints
from understudy.synthesis.bayes.greedy import next_attribute
from understudy.synthesis.bayes.kernels import order_records, split_cells
from understudy.synthesis.bayes.network import Structure
from understudy.synthesis.shrinkage import LeftOut, best_strength
from understudy.synthesis.tables import ConditionalTable

# Gains this near, in nats a record, differ by rounding alone.
_STEP = 1e-9
# With fewer records than this, starting threads costs more than it saves.
_THREADS_PAY = 2**16


def predictive_search(
    coded: Coded,
    constraints: Constraints,
    *,
    min_count: int = 1,
    engine: Engine | None = None,
) -> Structure:
    r"""Find a network in which each attribute has the parents that help to foretell it.

    Parameters
    ----------
    coded : Coded
        The table, in memory.
    constraints : Constraints
        What the network may look like.
    min_count : int
        The fewest records of a combination of parents' values that is used.
    engine : Engine, optional
        Says how many threads to use; the local one, with one thread, by default.

    Returns
    -------
    Structure
        The network; parents are in the order in which they were chosen.

    Notes
    -----
    What parents tell is the gain in the log likelihood of all records, each under the table of the
    others, smoothed with the best strengths. The first attribute, unless the constraints say which
    it is, is the one with the largest entropy: given others it would have many values in each of
    many rows, while others are easily told given it. As in the greedy search, the next attribute
    is the one of which a placed one tells most. Its parents are chosen among the placed ones, one
    at a time and the best one first, as long as the likelihood rises by more than the best of so
    many would raise it by chance: 1 + log(candidates) nats. Ties go to the attribute that stands
    first in the table. The result is the same for any number of threads.

    Examples
    --------
    The third column repeats the first, and the second has nothing to do with either:

    >>> from understudy.data.coded import Coded
    >>> from understudy.synthesis.bayes.constraints import build_constraints
    >>> a, b = np.arange(40) % 2, np.arange(40) // 2 % 2
    >>> rules = build_constraints("abc", parents=2, root="a")
    >>> table = Coded.from_arrays({"a": a, "b": b, "c": a})
    >>> predictive_search(table, rules).parents
    ((), (), (0,))
    """
    search = _Search(coded, constraints, max(min_count, 1), (engine or LocalEngine()).threads)
    gains = search.pairs()
    placed: list[int] = []
    parents: dict[int, tuple[int, ...]] = {}
    for _ in track(range(len(constraints)), "Placing attributes"):
        told = gains[:, placed].max(axis=1, initial=0)
        newest = next_attribute(constraints, placed, (-told).tolist(), search.root)
        parents[newest] = search.parents(newest, placed, gains[newest])
        placed.append(newest)
    return Structure(tuple(placed), tuple(parents[child] for child in range(len(constraints))))


class _Search:
    """The table, and what a further parent of an attribute tells."""

    def __init__(self, coded: Coded, constraints: Constraints, least: int, threads: int) -> None:
        self.coded = coded
        self.constraints = constraints
        self.least = least
        self.threads = threads if len(coded) >= _THREADS_PAY else 1
        # One type for all, so that the kernels are compiled once.
        self.columns = [np.ascontiguousarray(column, np.uint32) for column in coded.columns]

    def root(self, candidates: Sequence[int]) -> int:
        """Return the candidate with the largest entropy, the first of several."""
        return min(candidates, key=lambda place: (self._certainty(place), place))

    def _certainty(self, place: int) -> int:
        """Return what an attribute's entropy lacks of the logarithm of the records, in steps."""
        counts = np.bincount(self.columns[place])
        seen = np.sort(counts[counts > 0])
        return round(float(seen @ np.log(seen)) / (_STEP * max(len(self.coded), 1)))

    def pairs(self) -> NDArray[np.int64]:
        """Return what each attribute (column) alone tells of each (row), as `gains` has it."""
        found = np.zeros((len(self.constraints), len(self.constraints)), np.int64)
        for child in track(range(len(self.constraints)), "Comparing attributes"):
            allowed = np.flatnonzero(self.constraints.allowed[child]).tolist()
            if self.constraints.most[child] and allowed:
                found[child, allowed] = self.gains(child, (), allowed)
        return found

    def parents(
        self, child: int, placed: Sequence[int], alone: NDArray[np.int64]
    ) -> tuple[int, ...]:
        """Return the parents of an attribute among those placed, of which `alone` are the gains.

        Parents that are required are taken whatever they tell.
        """
        most, missing = int(self.constraints.most[child]), list(self.constraints.required[child])
        usable = [place for place in sorted(placed) if self.constraints.allowed[child, place]]
        chosen: list[int] = []
        while usable and len(chosen) < most:
            # Required parents keep their room.
            candidates = usable if most - len(chosen) > len(missing) else missing
            gains = self.gains(child, chosen, candidates) if chosen else alone[candidates]
            told = dict(zip(candidates, gains.tolist(), strict=True))
            if max(gains) <= self.by_chance(len(candidates)):
                candidates = missing
            if not candidates:
                break
            # The first of equally good ones.
            best = max(candidates, key=told.__getitem__)
            chosen.append(best)
            usable.remove(best)
            if best in missing:
                missing.remove(best)
        return tuple(chosen)

    def by_chance(self, candidates: int) -> float:
        """Return what the best of so many candidates must exceed, in steps as gains are.

        The records that judge a parent also choose it. One that tells nothing gains a little now
        and then, and the best of many does so often; so it must gain as much as makes up for the
        choice among them, and a nat more.
        """
        return (1 + math.log(candidates)) / (_STEP * len(self.coded))

    def gains(
        self, child: int, parents: Sequence[int], candidates: Sequence[int]
    ) -> NDArray[np.int64]:
        """Return what each candidate adds to some parents of an attribute.

        Gains in log likelihood are whole numbers of small steps, so that ties are ties.
        """
        state = _State.of(self, child, parents)
        with closing(in_order(state.gain, candidates, self.threads)) as found:
            gains = np.fromiter(found, np.float64, len(candidates))
        return np.rint(gains / (_STEP * len(self.coded))).astype(np.int64)


@dataclass(frozen=True, eq=False)
class _State:
    """An attribute with the parents that it has so far.

    `order` sorts the records by the parents' values and the attribute's; `starts` and `begins` are
    where each row of the parents and each cell of a row begins. `shares` are the probabilities of
    the cells' values for a left-out record, and `logs` their logarithms.
    """

    search: _Search
    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    begins: NDArray[np.int64]
    shares: NDArray[np.float64]
    logs: NDArray[np.float64]

    @classmethod
    def of(cls, search: _Search, child: int, parents: Sequence[int]) -> _State:
        coded = search.coded
        names = [coded.names[place] for place in parents]
        table = ConditionalTable.of(coded, coded.names[child], names)
        base = np.full(table.cardinality, 1 / table.cardinality)
        left_out = LeftOut(table.nested, table.donors, base, search.least)
        for _ in range(table.nested.levels):
            left_out.add_level()
        groups = group_ids(coded, names)
        order = np.empty(len(coded), np.int64)
        column = search.columns[child]
        order_records(groups.ids.astype(np.uint32), groups.count, column, table.cardinality, order)
        starts = table.nested.starts[table.nested.bounds[-2] :]
        ends = [len(coded)]
        return cls(
            search,
            order,
            np.append(starts, ends),
            np.append(left_out.cells.begins, ends),
            left_out.shares,
            np.log(left_out.shares),
        )

    def gain(self, candidate: int) -> float:
        """Return what one more parent adds to the log likelihood of left-out records, in nats."""
        search = self.search
        codes = search.columns[candidate][self.order]
        size = search.coded.cardinalities[candidate]
        joint, whole, cells = np.empty((3, len(self.order)), np.int64)
        count = split_cells(
            self.starts, self.begins, codes, size, search.least, (joint, whole, cells)
        )
        if not count:
            return 0.0
        joint, whole, cells = joint[:count], whole[:count], cells[:count]
        _, total = best_strength((joint, whole), self.shares[cells], search.least)
        return total - float((joint * self.logs[cells]).sum())
