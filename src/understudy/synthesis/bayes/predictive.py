"""The predictive search: an attribute gets the parents that help to describe a left-out record.

Mutual information rises with every parent. The likelihood of records that are left out, each under
a smoothed table of the others, does not, so the number of parents decides itself.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.counting.engine import Engine, LocalEngine, in_order
from understudy.counting.tables import group_ids
from understudy.data.coded import Coded, Codes
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
    groups: Mapping[int, Codes] | None = None,
    children: Collection[int] = (),
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
    groups : mapping from int to ndarray, optional
        The group of each code of some attributes: as parents they are tried in groups as well.
    children : collection of int
        The attributes whose parents are tried in groups.
    engine : Engine, optional
        Says how many threads to use; the local one, with one thread, by default.

    Returns
    -------
    Structure
        The network; parents are in the order in which they were chosen. With `groups`, it has the
        levels of each table.

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

    A parent in groups makes fewer rows, which are better known. Once it is chosen so, it can be
    chosen again as it is, which divides each group: of one parent more it is not.

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
    views = _Views.of(coded, groups or {}, children)
    search = _Search(views, constraints, max(min_count, 1), (engine or LocalEngine()).threads)
    gains = search.pairs()
    placed: list[int] = []
    chosen: dict[int, list[int]] = {}
    for _ in track(range(len(constraints)), "Placing attributes"):
        # In groups or not, the order is the same: attributes that tell most as they are come first.
        told = gains[:, placed].max(axis=1, initial=0)
        newest = next_attribute(constraints, placed, (-told).tolist(), search.root)
        chosen[newest] = search.views_for(newest, placed, gains[newest])
        placed.append(newest)
    attributes = range(len(constraints))
    parents = tuple(
        tuple(dict.fromkeys(views.attributes[view] for view in chosen[child]))
        for child in attributes
    )
    if not groups:
        return Structure(tuple(placed), parents)
    levels = tuple(
        tuple((views.attributes[view], views.grouped[view]) for view in chosen[child])
        for child in attributes
    )
    return Structure(tuple(placed), parents, levels)


@dataclass(frozen=True, eq=False)
class _Views:
    """The attributes, and after them those that can be used in groups, in groups.

    Parameters
    ----------
    coded : Coded
        The columns of all of them.
    attributes : list of int
        The attribute that each of them is.
    grouped : list of bool
        Whether it is in groups.
    children : collection of int
        The attributes whose parents are tried in groups.
    """

    coded: Coded
    attributes: list[int]
    grouped: list[bool]
    children: Collection[int]

    @classmethod
    def of(cls, coded: Coded, groups: Mapping[int, Codes], children: Collection[int]) -> _Views:
        attributes, grouped = list(range(len(coded.names))), [False] * len(coded.names)
        names, columns = list(coded.names), list(coded.columns)
        sizes = list(coded.cardinalities)
        for place, own in groups.items():
            attributes.append(place)
            grouped.append(True)
            # Longer than all names together, so no column is called so.
            names.append(f"{coded.names} {len(names)}")
            columns.append(own[coded.columns[place]])
            sizes.append(int(own.max()) + 1)
        everything = Coded(tuple(names), tuple(columns), tuple(sizes))
        return cls(everything, attributes, grouped, children)

    def of_attributes(self, attributes: Collection[int]) -> list[int]:
        """Return how some attributes can be used."""
        return [view for view, own in enumerate(self.attributes) if own in attributes]

    def tried(self, child: int, attributes: Collection[int]) -> list[int]:
        """Return how some attributes can be used for another: in groups before value by value."""
        order = sorted(self.of_attributes(attributes), key=lambda one: (self.attributes[one], -one))
        return [view for view in order if not self.grouped[view] or child in self.children]

    def further(self, child: int, usable: Collection[int], chosen: Sequence[int]) -> list[int]:
        """Return how some attributes can be used after what was chosen.

        What was chosen in groups can be used as it is, but not the other way round.
        """
        whole = {self.attributes[view] for view in chosen if not self.grouped[view]}
        left = [one for one in usable if one not in whole]
        return [view for view in self.tried(child, left) if view not in chosen]


class _Search:
    """The table, and what a further parent of an attribute tells."""

    def __init__(self, views: _Views, constraints: Constraints, least: int, threads: int) -> None:
        self.views = views
        self.coded = views.coded
        self.constraints = constraints
        self.least = least
        self.threads = threads if len(self.coded) >= _THREADS_PAY else 1
        # One type for all, so that the kernels are compiled once.
        self.columns = [np.ascontiguousarray(column, np.uint32) for column in self.coded.columns]

    def root(self, candidates: Sequence[int]) -> int:
        """Return the candidate with the largest entropy, the first of several."""
        return min(candidates, key=lambda place: (self._certainty(place), place))

    def _certainty(self, place: int) -> int:
        """Return what an attribute's entropy lacks of the logarithm of the records, in steps."""
        counts = np.bincount(self.columns[place])
        seen = np.sort(counts[counts > 0])
        return round(float(seen @ np.log(seen)) / (_STEP * max(len(self.coded), 1)))

    def pairs(self) -> NDArray[np.int64]:
        """Return what each view of an attribute (column) alone tells of each attribute (row)."""
        found = np.zeros((len(self.constraints), len(self.views.attributes)), np.int64)
        for child in track(range(len(self.constraints)), "Comparing attributes"):
            allowed = np.flatnonzero(self.constraints.allowed[child]).tolist()
            candidates = self.views.tried(child, allowed)
            if self.constraints.most[child] and candidates:
                found[child, candidates] = self.gains(child, (), candidates)
        return found

    def views_for(self, child: int, placed: Sequence[int], alone: NDArray[np.int64]) -> list[int]:
        """Return the parents of an attribute among those placed, of which `alone` are the gains.

        Parents that are required are taken whatever they tell.
        """
        most, missing = int(self.constraints.most[child]), set(self.constraints.required[child])
        allowed = [place for place in sorted(placed) if self.constraints.allowed[child, place]]
        chosen: list[int] = []
        while True:
            has = {self.views.attributes[view] for view in chosen}
            # Required parents keep their room.
            room = most - len(has) > len(missing)
            usable = [one for one in allowed if one in has or one in missing or room]
            candidates = self.views.further(child, usable, chosen)
            if not candidates:
                break
            gains = self.gains(child, chosen, candidates) if chosen else alone[candidates]
            told = dict(zip(candidates, gains.tolist(), strict=True))
            if max(gains) <= self.by_chance(len(candidates)):
                candidates = [one for one in candidates if self.views.attributes[one] in missing]
            if not candidates:
                break
            # The first of equally good ones.
            best = max(candidates, key=told.__getitem__)
            chosen.append(best)
            missing.discard(self.views.attributes[best])
        return chosen

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
