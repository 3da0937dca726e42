"""Which columns follow from one other column, or from two: codes and names, cities and states.

Records are grouped by the columns that may determine; the others must not change inside a group.
What a few records leave of all candidates is counted exactly.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.data.dependencies.evidence import (
    LEFT_OPEN,
    LIKELY_MAPPING,
    beyond_chance,
)
from understudy.data.dependencies.families import Determined
from understudy.data.dependencies.neighbours import shortlist, shortlists
from understudy.data.dependencies.views import Codes, View, Views

FEW = 5
"""An entry of a table of codes and names that rests on fewer records tells of few people."""

IN_GROUPS = 0.5
"""Share of the records that must be in groups of `FEW` or more: otherwise the table of what follows
from what would be a list of people."""

MOST_PAIRS = 600
"""Pairs of columns that are tried, at most: those with the fewest combinations come first."""

_DENSE = 4
"""Combinations are counted in a table if it has no more cells than so many times the records."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Records that agree in one column, or in two, where these have values."""

    codes: Codes
    """A number for each group, -1 for records that are in none."""
    counts: Codes

    @classmethod
    def of(cls, *views: View) -> Groups:
        """Return the groups of one column, or of two."""
        first = views[0]
        codes, missing = first.codes, first.codes == first.size
        for other in views[1:]:
            missing = missing | (other.codes == other.size)
            codes = codes * (other.size + 1) + other.codes
        if len(views) == 1:
            counts = first.counts[:-1]
            return cls(np.where(missing, -1, codes), counts)
        _, dense = np.unique(codes[~missing], return_inverse=True)
        found = np.full(len(codes), -1, np.int64)
        found[~missing] = dense
        return cls(found, np.bincount(dense) if len(dense) else np.zeros(0, np.int64))

    @cached_property
    def records(self) -> int:
        """Records that are in a group."""
        return int(self.counts.sum())

    @cached_property
    def number(self) -> int:
        """How many groups have a record."""
        return int(np.count_nonzero(self.counts))

    @property
    def repeat(self) -> bool:
        """Whether enough records are in groups that are large enough to tell of nobody."""
        large = int(self.counts[self.counts >= FEW].sum())
        rows = len(self.codes)
        return self.number > 1 and large >= IN_GROUPS * self.records and 2 * self.records >= rows

    def majorities(self, view: View) -> Codes:
        """Return what goes with each group: the value that most of its records with one have.

        It is missing if fewer than `FEW` of them have one, and most have none.
        """
        cells, counts = self._cells(view)
        groups = cells // view.size if view.size else cells
        # By group, and within it the most frequent first; of equally many, the first code.
        order = np.lexsort((cells, -counts, groups))
        first = np.unique(groups[order], return_index=True)[1]
        chosen = order[first]
        best = np.full(len(self.counts), view.size, np.int64)
        best[groups[chosen]] = cells[chosen] % max(view.size, 1)
        best[empty_groups(self.counts, self.present(view))] = view.size
        return best

    def _cells(self, view: View) -> tuple[Codes, Codes]:
        """Return the combinations of group and value that occur, and how many records have each."""
        within = self.within(view)
        together = self.codes[within] * view.size + view.codes[within]
        if len(self.counts) * view.size <= _DENSE * max(len(together), 1000):
            counted = np.bincount(together)
            cells = np.flatnonzero(counted)
            return cells, counted[cells]
        return np.unique(together, return_counts=True)

    def within(self, view: View) -> NDArray[np.bool_] | slice:
        """Return which records are in a group and have a value of a column."""
        if self.records == len(self.codes) and not view.counts[-1]:
            return slice(None)
        return np.asarray((self.codes >= 0) & (view.codes != view.size))

    def present(self, view: View) -> Codes:
        """Return how many records of each group have a value of a column."""
        return np.bincount(self.codes[self.within(view)], minlength=len(self.counts))

    def exceptions(self, view: View) -> int:
        """Return how many records have another value than goes with their group."""
        cells, counts = self._cells(view)
        if not len(cells):
            return 0
        groups = cells // view.size
        first = np.flatnonzero(np.diff(groups, prepend=-1))
        most = np.zeros(len(self.counts), np.int64)
        most[groups[first]] = np.maximum.reduceat(counts, first)
        present = self.present(view)
        most[empty_groups(self.counts, present)] = 0
        return int(present.sum() - most.sum())


def empty_groups(counts: Codes, present: Codes) -> NDArray[np.bool_]:
    """Return which groups have no value of a column, but for a few records that may be slips."""
    return (present < FEW) & (2 * present < counts)


def find_mappings(views: Views, taken: Collection[str]) -> Iterator[Determined]:
    """Yield the columns that follow from another, then those that follow from two.

    `taken` are columns that are known to be computed from others.
    """
    names = list(views.columns)
    varied = [name for name in names if views[name].levels > 1]
    telling = [name for name in varied if _may_tell(views[name])]
    tests = len(telling) * max(len(varied) - 1, 1)
    follows: dict[tuple[str, str], int] = {}
    varied = [name for name in varied if _may_follow(views[name], tests)]
    alone = [(name,) for name in telling if varied]
    for by, others in zip(alone, shortlists(views, alone, varied), strict=True):
        (name,) = by
        groups = Groups.of(views[name])
        for other in shortlist(views, by, others):
            exceptions = _exceptions(groups, views[other], tests)
            if exceptions is not None:
                follows[name, other] = exceptions
    singles = list(_simplest(views, follows, taken))
    yield from singles
    told = {one.column for one in singles} | set(taken)
    yield from _find_pairs(views, follows, [n for n in telling if n not in told], told)


def _may_tell(view: View) -> bool:
    """Return whether others may follow from a column: it is no measurement, and repeats."""
    measured = view.column.kind == "real" and view.column.binned
    return not measured and Groups.of(view).repeat


def _may_follow(view: View, tests: int) -> bool:
    """Return whether a column has values enough, in enough records, to be told from chance."""
    present = len(view.codes) - int(view.counts[-1])
    chance = 1 - int(view.counts[:-1].max(initial=0)) / max(present, 1)
    return beyond_chance(0, present, chance, tests, LIKELY_MAPPING)


def _exceptions(groups: Groups, view: View, tests: int) -> int | None:
    """Return the exceptions to that a column follows from what made the groups; None if chance."""
    present = groups.present(view)
    records = int(present.sum())
    most = int(np.bincount(view.codes[groups.within(view)], minlength=1).max())
    chance = 1 - most / max(records, 1)
    tries = records - int(np.count_nonzero(present))
    if not beyond_chance(0, tries, chance, tests, LIKELY_MAPPING):
        return None  # nor would it be with exceptions, which take longer to count
    exceptions = groups.exceptions(view)
    holds = beyond_chance(exceptions, tries, chance, tests, LIKELY_MAPPING)
    return exceptions if holds else None


def _simplest(
    views: Views, follows: dict[tuple[str, str], int], taken: Collection[str]
) -> Iterator[Determined]:
    """Yield one determination for each column, of those that hold.

    Of columns that follow from each other, one stays; the others follow from it.
    """
    places = {name: place for place, name in enumerate(views.columns)}

    def first(name: str) -> tuple[int, int]:
        column = views[name].column
        # The order of numbers helps a model; a number in groups loses what it stands for.
        rank = 2 if column.binned else 1 if column.kind == "categorical" else 0
        return (name in taken) * 3 + rank, places[name]

    told_by: dict[str, list[str]] = {}
    for one, other in follows:
        told_by.setdefault(other, []).append(one)
    ordered = {name: place for place, name in enumerate(sorted(places, key=first))}
    stays: dict[str, str] = {}
    for name in ordered:
        earlier = [one for one in told_by.get(name, ()) if one in stays and (name, one) in follows]
        stays[name] = stays[min(earlier, key=ordered.__getitem__)] if earlier else name
    for name in places:
        if name in taken:
            continue
        if stays[name] != name:
            by = stays[name]
        else:
            # What is computed already can tell it: the name of a weekday follows from its number.
            telling = told_by.get(name, ())
            found = [one for one in telling if one in taken and stays[one] == name]
            found = found or [one for one in telling if stays[one] == one]
            if not found:
                continue
            by = min(found, key=lambda n: (views[n].column.binned, views[n].levels, places[n]))
        share = follows[by, name] / views.rows
        yield Determined(name, (by,), exceptions=share)


def _find_pairs(
    views: Views,
    follows: dict[tuple[str, str], int],
    telling: list[str],
    told: Collection[str],
) -> Iterator[Determined]:
    """Yield the columns that follow from two others, and from none alone."""
    left = [name for name, view in views.columns.items() if name not in told and view.levels > 1]
    if len(telling) > MOST_PAIRS:
        # None of the others is in one of the pairs with the fewest combinations.
        fewest = set(sorted(telling, key=lambda name: views[name].levels)[: MOST_PAIRS + 1])
        telling = [name for name in telling if name in fewest]
    pairs = [
        (a, b)
        for a, b in combinations(telling, 2)
        if (a, b) not in follows
        and (b, a) not in follows
        and views[a].levels * views[b].levels < views.rows
    ]
    pairs.sort(key=lambda pair: views[pair[0]].levels * views[pair[1]].levels)
    pairs = pairs[:MOST_PAIRS]
    tests = len(pairs) * max(len(left) - 2, 1)
    left = [name for name in left if _may_follow(views[name], tests)]
    done: set[str] = set()
    for pair, likely in zip(pairs, shortlists(views, pairs, left), strict=True):
        others = shortlist(views, pair, [name for name in likely if name not in done])
        if not others:
            continue
        groups = Groups.of(*(views[name] for name in pair))
        if not groups.repeat:
            continue
        for name in others:
            exceptions = _exceptions(groups, views[name], tests)
            if exceptions is None:
                continue
            alone = min(Groups.of(views[one]).exceptions(views[name]) for one in pair)
            if exceptions <= LEFT_OPEN * alone:
                done.add(name)
                yield Determined(name, pair, exceptions=exceptions / views.rows)


@dataclass(frozen=True, eq=False)
class Entries:
    """What follows from what: the values of one column, or two, and the value that goes with them.

    `few` is how many entries rest on fewer than `FEW` records.
    """

    by: tuple[pa.Array, ...]
    told: pa.Array
    few: int = 0

    @classmethod
    def learn(cls, by: tuple[View, ...], view: View) -> Entries:
        """Read the entries from a table: in each group, what most records have."""
        groups = Groups.of(*by)
        best = groups.majorities(view)
        used = np.flatnonzero(groups.counts)
        inside = np.flatnonzero(groups.codes >= 0)
        first = np.full(len(groups.counts), -1, np.int64)
        first[groups.codes[inside][::-1]] = inside[::-1]
        rows = pa.array(first[used])
        # A record that has the value, for each code of it.
        example = np.full(view.size + 1, -1, np.int64)
        example[view.codes[::-1]] = np.arange(len(view.codes))[::-1]
        return cls(
            tuple(plain_array(one.array.take(rows)) for one in by),
            plain_array(view.array.take(pa.array(example[best[used]]))),
            int(np.count_nonzero(groups.counts[used] < FEW)),
        )


def plain_array(array: pa.Array) -> pa.Array:
    """Return categories as their values."""
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
