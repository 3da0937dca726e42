"""The predictive search: an attribute gets the parents that help to describe a left-out record.

Mutual information rises with every parent. The likelihood of records that are left out, each under
a smoothed table of the others, does not, so the number of parents decides itself.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from understudy.counting import ContingencyTable, TableSet, counts_of_sets, group_ids
from understudy.counting.engine import BatchSource, Engine, Source, engine_for, in_order
from understudy.data.coded import Coded, Codes, code_dtype
from understudy.data.counted import tally
from understudy.progress import track
from understudy.synthesis.bayes.constraints import Constraints
from understudy.synthesis.bayes.greedy import next_attribute
from understudy.synthesis.bayes.network import Structure
from understudy.synthesis.bayes.predictive_kernels import gain_of_parent, order_records
from understudy.synthesis.shrinkage import SAME, TRIED, LeftOut, best_strength
from understudy.synthesis.tables import ConditionalTable, is_new

# Gains this near, in nats a record, differ by rounding alone.
_STEP = 1e-9
# With fewer records than this, starting threads costs more than it saves.
_THREADS_PAY = 2**16

WIDE, SHORTLIST = 100, 30
"""Of more attributes than the first number, each tries so many parents as the second. Otherwise the
time would grow with the square of the columns."""


def predictive_search(
    source: Source,
    constraints: Constraints,
    *,
    min_count: int = 1,
    groups: Mapping[int, Codes] | None = None,
    children: Collection[int] = (),
    information: NDArray[np.float64] | None = None,
    engine: Engine | None = None,
) -> Structure:
    r"""Find a network in which each attribute has the parents that help to foretell it.

    Parameters
    ----------
    source : Coded or BatchSource
        The table. One in batches is gone through once for each parent that an attribute may have,
        or more often if tables are large.
    constraints : Constraints
        What the network may look like.
    min_count : int
        The fewest records of a combination of parents' values that is used.
    groups : mapping from int to ndarray, optional
        The group of each code of some attributes: as parents they are tried in groups as well.
    children : collection of int
        The attributes whose parents are tried in groups.
    information : ndarray, optional
        What each pair of attributes has in common, in bits. With it, an attribute of a wide table
        (more than 100) tries 30 parents, those that tell most of it alone, and what is required.
    engine : Engine, optional
        What counts, and with how many threads; that of the source, with one thread, by default.

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
    engine, views = engine or engine_for(source), _Views(groups or {}, children, len(constraints))
    least = max(min_count, 1)
    search: _Search
    if isinstance(source, Coded):
        search = _SearchInMemory(source, views, constraints, least, engine.threads)
    else:
        search = _SearchInBatches(source, views, constraints, least, engine)
    if information is not None and len(constraints) > WIDE:
        search.shorten(information)
    gains = search.pairs()
    placed: list[int] = []
    told = np.zeros(len(constraints), np.int64)
    for _ in range(len(constraints)):
        placed.append(next_attribute(constraints, placed, (-told).tolist(), search.root))
        # In groups or not, the order is the same: attributes that tell most as they are come first.
        np.maximum(told, gains[:, placed[-1]], out=told)
    chosen = search.chosen(placed, gains)
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


class _Views:
    """The attributes, and after them those that can be used in groups, in groups.

    Parameters
    ----------
    groups : mapping from int to ndarray
        The group of each code of the attributes that can be used so.
    children : collection of int
        The attributes whose parents are tried in groups.
    count : int
        How many attributes there are.
    """

    def __init__(self, groups: Mapping[int, Codes], children: Collection[int], count: int) -> None:
        self.groups = groups
        self.children = children
        self.attributes = [*range(count), *groups]
        self.grouped = [False] * count + [True] * len(groups)

    def code(self, coded: Coded) -> Coded:
        """Return the columns of all of them."""
        names, columns = list(coded.names), list(coded.columns)
        sizes = list(coded.cardinalities)
        for place, own in self.groups.items():
            # Longer than all names together, so no column is called so.
            names.append(f"{coded.names} {len(names)}")
            columns.append(own[coded.columns[place]])
            sizes.append(int(own.max()) + 1)
        return Coded(tuple(names), tuple(columns), tuple(sizes))

    def of_attributes(self, attributes: Collection[int]) -> list[int]:
        """Return how some attributes can be used."""
        wanted = set(attributes)
        return [view for view, own in enumerate(self.attributes) if own in wanted]

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


class _Question(NamedTuple):
    """What each of some candidates would add to the parents that an attribute has so far."""

    child: int
    parents: tuple[int, ...]
    candidates: Sequence[int]


Choice: TypeAlias = Generator[_Question, NDArray[np.int64], list[int]]
"""Asks what candidates tell, and returns the parents of an attribute."""


class _Search(ABC):
    """What a further parent of an attribute tells, from a table in memory or in batches."""

    rows: int

    def __init__(self, views: _Views, constraints: Constraints, least: int) -> None:
        self.views = views
        self.constraints = constraints
        self.tried = constraints.allowed
        self.wider = np.ones(len(constraints))
        self.least = least

    def shorten(self, information: NDArray[np.float64]) -> None:
        """Try only the parents that tell most of each attribute alone.

        Of what a pair seems to tell, as much is taken off as unrelated attributes would seem to
        (Miller 1955).
        """
        count = len(self.constraints)
        free = np.array([np.count_nonzero(self.counts(place)) for place in range(count)]) - 1.0
        told = information - np.outer(free, free) / (2 * math.log(2) * max(self.rows, 1))
        told[~self.constraints.allowed] = -np.inf
        best = np.argsort(-told, axis=1, kind="stable")[:, :SHORTLIST]
        tried = np.zeros(told.shape, bool)
        np.put_along_axis(tried, best, values=True, axis=1)
        for child, parents in enumerate(self.constraints.required):
            tried[child, list(parents)] = True
        self.tried = tried & self.constraints.allowed
        possible = self.constraints.allowed.sum(axis=1)
        self.wider = possible / np.maximum(self.tried.sum(axis=1), 1)

    @abstractmethod
    def counts(self, place: int) -> NDArray[np.int64]:
        """Return how many records have each code of an attribute."""

    @abstractmethod
    def pairs(self) -> NDArray[np.int64]:
        """Return what each view of an attribute (column) alone tells of each attribute (row)."""

    @abstractmethod
    def chosen(self, placed: Sequence[int], gains: NDArray[np.int64]) -> dict[int, list[int]]:
        """Return the parents of each attribute, given in which order these are placed."""

    def root(self, candidates: Sequence[int]) -> int:
        """Return the candidate with the largest entropy, the first of several."""
        return min(candidates, key=lambda place: (self._certainty(place), place))

    def _certainty(self, place: int) -> int:
        """Return what an attribute's entropy lacks of the logarithm of the records, in steps."""
        counts = self.counts(place)
        seen = np.sort(counts[counts > 0])
        return round(float(seen @ np.log(seen)) / (_STEP * max(self.rows, 1)))

    def candidates(self, child: int) -> list[int]:
        """Return how all attributes can be used that an attribute may depend on."""
        tried = np.flatnonzero(self.tried[child]).tolist()
        return self.views.tried(child, tried) if self.constraints.most[child] else []

    def choice(self, child: int, placed: Sequence[int], alone: NDArray[np.int64]) -> Choice:
        """Choose the parents of an attribute among those placed, of which `alone` are the gains.

        Parents that are required are taken whatever they tell.
        """
        most, missing = int(self.constraints.most[child]), set(self.constraints.required[child])
        allowed = [place for place in sorted(placed) if self.tried[child, place]]
        chosen: list[int] = []
        while True:
            has = {self.views.attributes[view] for view in chosen}
            # Required parents keep their room.
            room = most - len(has) > len(missing)
            usable = [one for one in allowed if one in has or one in missing or room]
            candidates = self.views.further(child, usable, chosen)
            if not candidates:
                break
            if chosen:
                gains = yield _Question(child, tuple(chosen), candidates)
            else:
                gains = alone[candidates]
            told = dict(zip(candidates, gains.tolist(), strict=True))
            # Those that are not tried in a wide table were candidates as well.
            if max(gains) <= self.by_chance(len(candidates) * float(self.wider[child])):
                candidates = [one for one in candidates if self.views.attributes[one] in missing]
            if not candidates:
                break
            # The first of equally good ones.
            best = max(candidates, key=told.__getitem__)
            chosen.append(best)
            missing.discard(self.views.attributes[best])
        return chosen

    def by_chance(self, candidates: float) -> float:
        """Return what the best of so many candidates must exceed, in steps as gains are.

        The records that judge a parent also choose it. One that tells nothing gains a little now
        and then, and the best of many does so often; so it must gain as much as makes up for the
        choice among them, and a nat more.
        """
        return (1 + math.log(candidates)) / (_STEP * self.rows)

    def in_steps(self, gains: Sequence[float] | NDArray[np.float64]) -> NDArray[np.int64]:
        """Return gains in log likelihood as whole numbers of small steps, so that ties are ties."""
        return np.rint(np.asarray(gains, np.float64) / (_STEP * self.rows)).astype(np.int64)


class _SearchInMemory(_Search):
    """The search among records that are in memory."""

    def __init__(
        self, coded: Coded, views: _Views, constraints: Constraints, least: int, threads: int
    ) -> None:
        super().__init__(views, constraints, least)
        self.coded = views.code(coded)
        self.rows = len(coded)
        self.threads = threads if self.rows >= _THREADS_PAY else 1
        # One type for all, so that the kernels are compiled once.
        self.columns = [np.ascontiguousarray(column, np.uint32) for column in self.coded.columns]

    def counts(self, place: int) -> NDArray[np.int64]:
        return np.bincount(self.columns[place])

    def pairs(self) -> NDArray[np.int64]:
        found = np.zeros((len(self.constraints), len(self.views.attributes)), np.int64)
        for child in track(range(len(self.constraints)), "Comparing attributes"):
            candidates = self.candidates(child)
            if candidates:
                found[child, candidates] = self.gains(_Question(child, (), candidates))
        return found

    def chosen(self, placed: Sequence[int], gains: NDArray[np.int64]) -> dict[int, list[int]]:
        found = {}
        for place, child in enumerate(track(placed, "Placing attributes")):
            choice = self.choice(child, placed[:place], gains[child])
            found[child] = _answered(choice, self.gains)
        return found

    def gains(self, question: _Question) -> NDArray[np.int64]:
        """Return what each candidate adds."""
        state = _State.of(self, question.child, question.parents)
        with closing(in_order(state.gain, question.candidates, self.threads)) as found:
            return self.in_steps(np.fromiter(found, np.float64, len(question.candidates)))


def _answered(choice: Choice, answer: Callable[[_Question], NDArray[np.int64]]) -> list[int]:
    """Return what is chosen if all that is asked is answered at once."""
    try:
        question = next(choice)
        while True:
            question = choice.send(answer(question))
    except StopIteration as end:
        chosen: list[int] = end.value
        return chosen


class _SearchInBatches(_Search):
    """The search among records that come in batches, by tables of all of them.

    The order of the attributes is known after one pass. So all of them ask for one more parent
    together, and each pass answers all.
    """

    def __init__(
        self,
        source: BatchSource,
        views: _Views,
        constraints: Constraints,
        least: int,
        engine: Engine,
    ) -> None:
        super().__init__(views, constraints, least)
        self.source, self.engine = source, engine
        self.margins = engine.sum_over(source, TableSet.of_columns).tables
        names = tuple(table.names[0] for table in self.margins)
        sizes = tuple(table.cardinalities[0] for table in self.margins)
        nobody = tuple(np.empty(0, code_dtype(size)) for size in sizes)
        self.empty = views.code(Coded(names, nobody, sizes))
        self.rows = self.margins[0].total

    def counts(self, place: int) -> NDArray[np.int64]:
        return self.margins[place].counts

    def pairs(self) -> NDArray[np.int64]:
        wanted = range(len(self.constraints))
        questions = [_Question(child, (), self.candidates(child)) for child in wanted]
        found = np.zeros((len(self.constraints), len(self.views.attributes)), np.int64)
        for (child, _, candidates), gains in zip(questions, self.answers(questions), strict=True):
            found[child, candidates] = gains
        return found

    def chosen(self, placed: Sequence[int], gains: NDArray[np.int64]) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        choices = {
            child: self.choice(child, placed[:place], gains[child])
            for place, child in enumerate(placed)
        }
        asked: dict[int, _Question] = {}
        answers: dict[int, NDArray[np.int64]] = {}
        while len(found) < len(placed):
            for child in [child for child in placed if child not in found]:
                choice = choices[child]
                try:
                    told = answers.get(child)
                    asked[child] = next(choice) if told is None else choice.send(told)
                except StopIteration as end:
                    found[child] = end.value
                    asked.pop(child, None)
            questions = list(asked.values())
            answers = dict(zip(asked, self.answers(questions), strict=True))
        return found

    def answers(self, questions: Sequence[_Question]) -> Iterator[NDArray[np.int64]]:
        """Yield what candidates add, for each question; tables are counted for many together."""
        names, sizes = self.empty.names, self.empty.cardinalities
        sets, cells = [], []
        for child, parents, candidates in questions:
            for attribute in self._attributes(candidates):
                places = (*parents, child, attribute)
                sets.append([names[place] for place in places])
                cells.append(min(math.prod(sizes[place] for place in places), self.rows))
        tables = counts_of_sets(self.source, sets, cells, view=self.views.code, engine=self.engine)
        for _, parents, candidates in questions:
            found = {one: next(tables).to_sparse() for one in self._attributes(candidates)}
            state = None
            gains = []
            for view in candidates:
                table = found[self.views.attributes[view]]
                state = state or _CountedState.of(table, len(parents) + 1, self.least)
                gains.append(state.gain(table, self.groups_of(view)))
            yield self.in_steps(gains)

    def _attributes(self, candidates: Sequence[int]) -> list[int]:
        return list(dict.fromkeys(self.views.attributes[view] for view in candidates))

    def groups_of(self, view: int) -> Codes | None:
        """Return the group of each code of an attribute that is used in groups."""
        return self.views.groups[self.views.attributes[view]] if self.views.grouped[view] else None


@dataclass(frozen=True, eq=False)
class _CountedState:
    """An attribute with the parents that it has so far, from a table of all records.

    The first columns of the table are the parents, and then the attribute: so many `columns`.

    Parameters
    ----------
    shares, logs : ndarray of float64
        The probability of each cell's value for a left-out record, and its logarithm.
    columns : int
        The parents and the attribute.
    least : int
        The fewest records of a row that is used.
    """

    shares: NDArray[np.float64]
    logs: NDArray[np.float64]
    columns: int
    least: int

    @classmethod
    def of(cls, table: ContingencyTable, columns: int, least: int) -> _CountedState:
        known = ConditionalTable.from_counts(table.marginal(table.names[:columns]))
        base = np.full(known.cardinality, 1 / known.cardinality)
        left_out = LeftOut(known.nested, known.held, base, least)
        for _ in range(known.nested.levels):
            left_out.add_level()
        return cls(left_out.shares, np.log(left_out.shares), columns, least)

    def gain(self, table: ContingencyTable, groups: Codes | None) -> float:
        """Return what one more parent adds, the last column of a table; see `_State.gain`.

        With `groups`, it is used in these.
        """
        if table.combinations is None:
            raise TypeError("a sparse table has combinations")
        # Combinations are in order, so rows and cells are numbered as they come.
        row_of = np.cumsum(is_new(table.combinations[:, : self.columns - 1])) - 1
        cell_of = np.cumsum(is_new(table.combinations[:, : self.columns])) - 1
        codes = table.combinations[:, -1]
        codes = (codes if groups is None else groups[codes]).astype(np.int64)
        size = int(codes.max(initial=0)) + 1
        rows = np.zeros(int(cell_of[-1]) + 1, np.int64)
        rows[cell_of] = row_of
        keys, joint = tally(cell_of * size + codes, table.counts)
        cells, codes = np.divmod(keys, size)
        parts, place = np.unique(rows[cells] * size + codes, return_inverse=True)
        whole = np.bincount(place, joint).astype(np.int64)[place]
        enough = np.bincount(row_of, table.counts) - 1 >= self.least
        if not (np.bincount(parts // size)[enough] > 1).any():
            return 0.0  # no row is split
        used = enough[rows[cells]] & (whole - 1 >= self.least)
        if not used.any():
            return 0.0
        joint, whole, cells = joint[used], whole[used], cells[used]
        _, total = best_strength((joint, whole), self.shares[cells], self.least)
        return total - float((joint * self.logs[cells]).sum())


@dataclass(frozen=True, eq=False)
class _State:
    """An attribute with the parents that it has so far.

    `order` sorts the records by the parents' values and the attribute's; `starts` and `begins` are
    where each row of the parents and each cell of a row begins. `shares` are the probabilities of
    the cells' values for a left-out record, and `logs` their logarithms.
    """

    search: _SearchInMemory
    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    begins: NDArray[np.int64]
    shares: NDArray[np.float64]
    logs: NDArray[np.float64]

    @classmethod
    def of(cls, search: _SearchInMemory, child: int, parents: Sequence[int]) -> _State:
        coded = search.coded
        names = [coded.names[place] for place in parents]
        table = ConditionalTable.of(coded, coded.names[child], names)
        base = np.full(table.cardinality, 1 / table.cardinality)
        left_out = LeftOut(table.nested, table.held, base, search.least)
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
        return gain_of_parent(
            (self.order, self.starts, self.begins),
            search.columns[candidate],
            search.coded.cardinalities[candidate],
            (self.shares, self.logs),
            TRIED,
            search.least,
            SAME,
        )
