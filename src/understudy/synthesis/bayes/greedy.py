"""The exact greedy search: always place the attribute whose best parents tell most about it.

Every score is a pass over the rows, so three things decide the speed: no pair of child and parents
is scored twice; what a parent set needs is shared by all its children; and the rows are sorted by
parents that many sets have in common, so that histograms fit the fastest cache.
"""

from __future__ import annotations

import logging
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from understudy.counting.engine import BatchSource, Engine, Source, engine_for, in_order
from understudy.counting.information import Information
from understudy.counting.tables import TableSet, checked_codes, counts_of_sets, group_ids
from understudy.data.coded import Coded
from understudy.errors import ParameterError
from understudy.progress import track
from understudy.synthesis.bayes.constraints import Constraints
from understudy.synthesis.bayes.kernels import CELLS, group_rows, grouped_total, score_families
from understudy.synthesis.bayes.network import Structure

Parents: TypeAlias = tuple[int, ...]
Families: TypeAlias = Mapping[Parents, Sequence[int]]
"""The children of each parent set, all by their positions."""
Scored: TypeAlias = tuple[Parents, int, int]
"""A parent set, a child, and the mutual information of the two."""

# Levels of a column that the histograms take; beyond, rows are grouped.
_NARROW = 256
# Parents that are counted with the child in one histogram; the rows are sorted by the others.
_COUNTED = 2
# Binary digits after the point of the scores that are compared, in bits of information.
_SCORE_BITS = 40
# Rows times histograms of one kernel call: about a tenth of a second, so that Ctrl-C is heard.
_CALL_WORK = 2**27
# What a pair of a child and parents takes at least, and for each record, on the machine of
# benchmarks/growth.py; an expected time is said if it is this long.
_SECONDS_A_SCORING = 3e-5
_SECONDS_A_RECORD = 7e-10
_LONG = 60
# Below this much work, starting threads costs more than it saves.
_THREADS_PAY = 2**22


@dataclass(frozen=True)
class GreedyResult:
    """The network that was found, and how many pairs of a child and parents were scored for it."""

    structure: Structure
    scorings: int


def greedy_search(
    source: Source,
    constraints: Constraints,
    rng: np.random.Generator,
    *,
    engine: Engine | None = None,
) -> GreedyResult:
    r"""Find a network attribute by attribute, each time the best pair of attribute and parents.

    Parameters
    ----------
    source : Coded or BatchSource
        The table. One in memory has a copy of its codes sorted again for each attribute. One in
        batches is gone through once for each attribute, or more often if tables are large.
    constraints : Constraints
        What the network may look like.
    rng : numpy.random.Generator
        Draws the root, unless the constraints say what comes first.
    engine : Engine, optional
        What counts, and with how many threads; that of the source, with one thread, by default.

    Returns
    -------
    GreedyResult
        The network, and how many pairs were scored.

    Notes
    -----
    With the attributes V placed so far, the next one and its parents are

    .. math:: \arg\max_{x \notin V,\; S \subseteq V,\; |S| = \min(k, |V|)} I(x; S)

    (Zhang et al. 2017, https://doi.org/10.1145/3134428, algorithm 2, without noise; Ping et al.
    2017, https://doi.org/10.1145/3085504.3091117). Scores are integers, equal where the
    informations are (up to 2^-40 bits), so ties are ties: they go to the attribute that stands
    first in the table, then to the parents that do. The
    result is the same for any number of threads.

    When an attribute is placed, only parent sets that contain it are new. Without constraints, d
    attributes take :math:`\binom{d}{k+1} + \sum_{j=1}^{k-1} (d - j)` scorings.

    Examples
    --------
    >>> from understudy.data.coded import Coded
    >>> from understudy.synthesis.bayes.constraints import build_constraints
    >>> table = Coded.from_arrays({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "c": [1, 0, 1, 0]})
    >>> rules = build_constraints(table.names, parents=1, root="a")
    >>> greedy_search(table, rules, np.random.default_rng()).structure
    Structure(order=(0, 2, 1), parents=((), (0,), (0,)))
    """
    engine = engine or engine_for(source)
    scorer: _Scorer | _StreamScorer
    if isinstance(source, Coded):
        _check_columns(source.names, constraints)
        scorer = _Scorer(source, engine.threads)
    else:
        scorer = _StreamScorer(source, engine)
        _check_columns(scorer.names, constraints)
    # For each child: minus the number of parents, minus the score, the parents. The least is the
    # best, and larger sets replace the smaller ones of the first steps.
    best: list[tuple[int, int, Parents]] = [(0, 0, ())] * len(constraints)
    placed: list[int] = []
    scorings = 0

    _warn_of_time(constraints, len(source) if isinstance(source, Coded) else 0)

    def drawn(candidates: Sequence[int]) -> int:
        return candidates[int(rng.integers(len(candidates)))]

    for _ in track(range(len(constraints)), "Placing attributes"):
        losses = [score for _, score, _ in best]
        placed.append(next_attribute(constraints, placed, losses, drawn))
        for parents, child, score in scorer.scores(placed[-1], _new_families(constraints, placed)):
            best[child] = min(best[child], (-len(parents), -score, parents))
            scorings += 1
    structure = Structure(tuple(placed), tuple(parents for _, _, parents in best))
    return GreedyResult(structure, scorings)


def _warn_of_time(constraints: Constraints, rows: int) -> None:
    """Say how long the search may take if it is long: pairs grow with a power of the columns."""
    columns, most = len(constraints), int(constraints.most.max(initial=0))
    scorings = math.comb(columns, most + 1)
    expected = scorings * max(_SECONDS_A_SCORING, rows * _SECONDS_A_RECORD)
    if expected > _LONG:
        logging.getLogger("understudy").warning(
            "The greedy search compares up to %s sets of parents with a column each, which may "
            "take about %s minutes. The predictive search, which is the default, takes far less "
            "for so many columns; fewer parents take less, too.",
            f"{scorings:,}",
            f"{math.ceil(expected / 60):,}",
        )


def _check_columns(names: Sequence[str], constraints: Constraints) -> None:
    if tuple(names) != constraints.names:
        raise ParameterError(
            f"The constraints are for the columns {list(constraints.names)}, "
            f"but the table has {list(names)}."
        )


def next_attribute(
    constraints: Constraints,
    placed: Sequence[int],
    losses: Sequence[int],
    root: Callable[[Sequence[int]], int],
) -> int:
    """Return the attribute to place next: the one with the least loss, the first one of several.

    `root` chooses among those that can be the first, unless the constraints say which it is.
    """
    if len(placed) < len(constraints.first):
        return constraints.first[len(placed)]
    if not placed:
        return root(_possible_roots(constraints))
    known = set(placed)
    ready = [
        child
        for child in range(len(constraints))
        if child not in known and known.issuperset(constraints.required[child])
    ]
    return min(ready, key=lambda child: (losses[child], child))


def _possible_roots(constraints: Constraints) -> list[int]:
    """Return the attributes that can stand without parents, if possible those that can be one."""
    free = [child for child, parents in enumerate(constraints.required) if not parents]
    useful = [place for place in free if constraints.allowed[:, place].any()]
    return useful or free


def _new_families(constraints: Constraints, placed: Sequence[int]) -> Families:
    """Return the parent sets that the last placed attribute makes possible, with their children."""
    families: dict[Parents, list[int]] = {}
    for child in sorted(set(range(len(constraints))) - set(placed)):
        usable = {place for place in placed if constraints.allowed[child, place]}
        needed = {*constraints.required[child], placed[-1]}
        if not needed <= usable:
            continue
        size = min(int(constraints.most[child]), len(usable))
        # More parents needed than allowed: the newest attribute has no room beside the required.
        if len(needed) > size:
            continue
        for added in combinations(sorted(usable - needed), size - len(needed)):
            families.setdefault(tuple(sorted((*needed, *added))), []).append(child)
    return families


def _scores(
    information: Information,
    joint: NDArray[np.int64],
    alone: NDArray[np.int64],
    singles: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return mutual informations as integers that are equal where the informations are.

    The same information can come from different counts, whose terms round differently by a few
    units. So scores are compared in steps of 2^-40 bits, far above that and far below what counts.
    """
    scores = information.mutual_score(joint, alone, singles)
    step = max(1, int(information.rows * 2.0 ** (information.shift - _SCORE_BITS)))
    return (scores + step // 2) // step


class _StreamScorer:
    """Scores families of a table that comes in batches, from the tables of all its rows."""

    def __init__(self, source: BatchSource, engine: Engine) -> None:
        margins = engine.sum_over(source, TableSet.of_columns)
        self.source, self.engine = source, engine
        self.names = tuple(table.names[0] for table in margins.tables)
        self.levels = [table.cardinalities[0] for table in margins.tables]
        self.information = Information(int(margins.tables[0].counts.sum()))
        self.singles = np.array([self.information.total(one.counts) for one in margins.tables])

    def scores(self, newest: int, families: Families) -> Iterator[Scored]:  # noqa: ARG002  # as the other
        """Yield the score of each child and parent set."""
        pairs = [(parents, child) for parents, family in families.items() for child in family]
        sets = [[self.names[place] for place in (*parents, child)] for parents, child in pairs]
        most = self.information.rows
        cells = [
            min(math.prod(self.levels[place] for place in (*parents, child)), most)
            for parents, child in pairs
        ]
        tables = counts_of_sets(self.source, sets, cells, engine=self.engine)
        shared, alone = None, np.zeros(1, np.int64)
        for (parents, child), table in zip(pairs, tables, strict=True):
            if parents != shared:
                shared = parents
                counts = table.marginal(table.names[:-1]).counts.ravel()
                alone = np.array([self.information.total(counts)])
            joint = np.array([self.information.total(table.counts.ravel())])
            (score,) = _scores(self.information, joint, alone, self.singles[[child]]).tolist()
            yield parents, child, score


class _Scorer:
    """Scores families: the mutual information of each child with its parents, as exact integers."""

    def __init__(self, coded: Coded, threads: int) -> None:
        self.coded = coded
        self.threads = threads
        self.information = Information(len(coded))
        # A copy, for a read-only array would compile the kernels again.
        self.terms = self.information.table.copy(), self.information.shift
        columns = len(coded.names)
        # One more column, a constant, stands for parents that a small set does not have.
        self.stack = np.zeros((columns + 1, len(coded)), np.uint8)
        self.sizes = np.ones(columns + 1, np.int64)
        self.singles = np.zeros(columns, np.int64)
        self.wide: dict[int, NDArray[np.uint32]] = {}
        for place in range(columns):
            codes: NDArray[np.integer] = checked_codes(coded, place)
            size = coded.cardinalities[place]
            if size > _NARROW:
                # Only levels that occur count, so that memory grows with the rows alone.
                levels, codes = np.unique(codes, return_inverse=True)
                size = len(levels)
            if size > _NARROW:
                self.wide[place] = codes.astype(np.uint32)
            else:
                self.stack[place] = codes
            self.sizes[place] = size
            counts = np.bincount(codes, minlength=1)
            self.singles[place] = self.information.total(counts)
        self.levels: list[int] = self.sizes.tolist()

    def scores(self, newest: int, families: Families) -> Iterator[Scored]:
        """Yield the score of each child and parent set; `newest` is in all the sets."""
        work = len(self.coded) * sum(map(len, families.values()))
        threads = self.threads if work >= _THREADS_PAY else 1
        with closing(
            in_order(operator.call, self._calls(newest, families, threads), threads)
        ) as results:
            for scored in results:
                yield from scored

    def _calls(
        self, newest: int, families: Families, threads: int
    ) -> Iterator[Callable[[], list[Scored]]]:
        """Yield pieces of work that can run at the same time; rows are sorted as late as can be."""
        by_shared: dict[Parents, dict[Parents, list[int]]] = {}
        for parents, children in families.items():
            narrow = [] if self.wide.keys() & set(parents) else set(children) - self.wide.keys()
            grouped = [child for child in children if child not in narrow]
            if grouped:
                yield partial(self._score_grouped, parents, grouped)
            if narrow:
                shared = self._shared(newest, parents, narrow)
                by_shared.setdefault(shared, {})[parents] = sorted(narrow)
        for shared, chosen in by_shared.items():
            stack, bounds = self._sorted_by(shared)
            sets = list(chosen)
            for part in self._parts(chosen, threads):
                piece = {parents: chosen[parents] for parents in sets[part]}
                yield partial(self._score_sorted, stack, bounds, shared, piece)

    def _shared(self, newest: int, parents: Parents, children: Iterable[int]) -> Parents:
        """Return the parents by which to sort, so that the others fit a histogram with a child.

        The newest attribute comes first, for it is in all sets: one order of the rows serves many.
        """
        ordered = (newest, *(place for place in parents if place != newest))
        widest = max(self.levels[child] for child in children)
        cells = math.prod(self.levels[place] for place in ordered[-_COUNTED:]) * widest
        return ordered[: -_COUNTED if cells <= CELLS else -1]

    def _parts(self, families: Families, threads: int) -> Iterator[slice]:
        """Cut families into calls: enough for all threads to end together, and none a long one."""
        sets = len(families)
        passes = 1 + sum(map(len, families.values())) // sets
        even = -(-sets // (4 * threads)) if threads > 1 else sets
        step = max(1, min(even, _CALL_WORK // (passes * max(len(self.coded), 1))))
        for start in range(0, sets, step):
            yield slice(start, start + step)

    def _sorted_by(self, shared: Parents) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return all columns with the rows sorted by some, and where blocks of equal rows start."""
        if not shared:
            return self.stack, np.array([0, self.stack.shape[1]])
        stack = self.stack.take(np.lexsort(self.stack[list(shared[::-1])]), axis=1)
        keys = stack[list(shared)]
        starts = np.ones(stack.shape[1] + 1, bool)
        starts[1:-1] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
        return stack, np.flatnonzero(starts)

    def _score_sorted(
        self, stack: NDArray[np.uint8], bounds: NDArray[np.int64], shared: Parents, piece: Families
    ) -> list[Scored]:
        """Score families of narrow columns, given the rows sorted by the parents they share."""
        others = np.full((len(piece), _COUNTED), len(stack) - 1, np.int64)
        for row, parents in zip(others, piece, strict=True):
            counted = [place for place in parents if place not in shared]
            row[: len(counted)] = counted
        lengths = [len(children) for children in piece.values()]
        children = np.concatenate([*piece.values()]).astype(np.int64)
        alone, joint = np.zeros(len(piece), np.int64), np.zeros(len(children), np.int64)
        numbered = (others, np.cumsum(lengths), children)
        score_families(stack, bounds, self.sizes, numbered, self.terms, alone, joint)
        scores = _scores(self.information, joint, np.repeat(alone, lengths), self.singles[children])
        pairs = ((parents, child) for parents, family in piece.items() for child in family)
        return [
            (parents, child, score)
            for (parents, child), score in zip(pairs, scores.tolist(), strict=True)
        ]

    def _score_grouped(self, parents: Parents, children: Sequence[int]) -> list[Scored]:
        """Score a family of columns of any width, from the groups of rows with equal parents."""
        groups = group_ids(self.coded, [self.coded.names[place] for place in parents])
        members = np.bincount(groups.ids, minlength=groups.count).astype(np.uint32)
        order, ends = np.empty(len(groups.ids), np.uint32), np.empty(groups.count, np.int64)
        ends = ends[: group_rows(groups.ids, members, order, ends)]
        joint = np.zeros(len(children), np.int64)
        for number, child in enumerate(children):
            column = self.wide.get(child)
            if column is None:
                column = self.stack[child].astype(np.uint32)
            counts = np.zeros(self.sizes[child], np.uint32)
            joint[number] = grouped_total(order, ends, column, counts, self.terms)
        alone = np.asarray(self.information.total(members))
        scores = _scores(self.information, joint, alone, self.singles[list(children)])
        return [
            (parents, child, score) for child, score in zip(children, scores.tolist(), strict=True)
        ]
