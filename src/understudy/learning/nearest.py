"""The search for the reference records nearest to each query: exact, and never all pairs in memory.

Records with the same key are found by grouping. A reference record at distance r from a key agrees
with it on exactly one set of all but r attributes, if none is nearer; so the values at that
distance are sums of group counts over these sets, and only keys without a match go on to r + 1.
Where the sets are too many, the keys that are left are compared with every different key of the
reference, block by block.

Values that are few have a cell each for every key. Where they are many, only those that occur are
kept, and keys go through the search in as few blocks as that leaves.

Memory grows with the records alone. Time is at most about twice that of comparing each different
key without a match with each different key of the reference, whatever the number of attributes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.learning.packed import Records, Words

Entries = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]
"""Where each key's entries start, and each entry's sensitive value and weight."""
Groups = tuple[NDArray[np.int32], NDArray[np.int32], int]
"""The key of each query, the first record of each key, and how many the reference has."""

# Counts of values that are held at a time, four bytes each; or, where there are many values, a
# quarter as many entries of 16 bytes for those that occur.
_CELLS = 2**25
# So few comparisons take less time than to plan anything better.
_FEW = 2**20
# Keys that are compared with all others to learn how far away the nearest ones are.
_SAMPLE = 64
# Nanoseconds, measured: for a key under a mask, for a pair of keys, and for each byte of the pair.
# They only decide which way is taken.
_PER_MASKED_KEY, _PER_PAIR, _PER_BYTE = 3.6, 0.05, 0.025
# What a kernel does at a time, so that a user who interrupts is heard within a second.
_MASKED_KEYS, _PAIRS = 10**8, 2 * 10**9


@dataclass(frozen=True, eq=False)
class Matches:
    """What the nearest reference records say about each of the different queries.

    How many share the query's sensitive value, and how many there are (0 if none was found); the
    most frequent value among them; and in how many attributes they differ from the query (-1:
    none).
    """

    same: NDArray[np.int64]
    total: NDArray[np.int64]
    guess: NDArray[np.int32]
    distance: NDArray[np.int32]


class Search:
    """Finds the records of a reference that are nearest to each query, for any set of attributes.

    Both tables were coded alike.
    """

    def __init__(self, reference: Records, queries: Records) -> None:
        self.reference = reference
        self.queries = queries
        same = reference is queries
        self._words = reference.words if same else np.hstack([reference.words, queries.words])
        # Values in the order in which they win a tie: the most frequent first, then by level.
        self._values = np.argsort(-reference.counts, kind="stable").astype(np.int32)
        rank = np.empty(len(self._values), np.int32)
        rank[self._values] = np.arange(len(rank), dtype=np.int32)
        self._told, self._wanted = rank[reference.sensitive], rank[queries.sensitive]

    def matches(self, places: Sequence[int], *, nearest: bool) -> Matches:
        """Find the reference records that agree with each query on the attributes at these places.

        With `nearest`, those at the smallest distance are taken where none agrees on all.
        """
        from understudy.learning.matching_kernels import score_matches

        groups, entries, (asked, rows, wanted), found = self._grouped(places)
        ids, firsts, known = groups
        distance = np.zeros(len(firsts), np.int32)
        distance[known:] = -1
        for begin, bounds, near, far in self._answers(places, groups, entries, asked, nearest):
            score_matches(near, (bounds, rows, wanted), len(self._values), found)
            distance[begin : begin + len(far)] = far
        same, total, guess = found
        return Matches(same, total, self._values[guess], distance[ids])

    def middle_matches(
        self,
        places: Sequence[int],
        limits: tuple[NDArray[np.int32], NDArray[np.int32]],
        *,
        nearest: bool,
    ) -> Matches:
        """Find the same records as `matches` for values that have an order, by their codes.

        `same` counts the records whose value lies within the limits, a first and a last code for
        each of the different queries. The guess is the middle value; of two the lower.
        """
        from understudy.learning.matching_kernels import score_between

        groups, entries, (asked, rows, _), _ = self._grouped(places)
        ids, firsts, known = groups
        distance = np.zeros(len(firsts), np.int32)
        distance[known:] = -1
        size = len(self.queries.weights)
        found = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int32)
        matched = 0, asked[: known + 1], entries, np.zeros(known, np.int32)
        others = self._answers(places, groups, entries, asked, nearest and known > 0)
        for begin, bounds, near, far in chain([matched], others):
            score_between(near, self._values, (bounds, rows), limits, found)
            distance[begin : begin + len(far)] = far
        return Matches(*found, distance[ids])

    def nearest_counts(self, places: Sequence[int]) -> Iterator[tuple[NDArray[np.int32], Any]]:
        """Yield how often each sensitive value occurs among the nearest records, block by block.

        A block has some of the different queries, and a sparse array of counts with a row for each
        and a column for each value. Entries of the same row and column add up.
        """
        from scipy.sparse import csr_array

        groups, entries, (asked, rows, _), _ = self._grouped(places)
        ids, _, known = groups
        matched = 0, entries, np.zeros(known, np.int32)
        for begin, near, far in chain([matched], self._nearest(places, groups, entries)):
            starts, values, weights = near
            chosen = rows[asked[begin] : asked[begin + len(far)]]
            counts = csr_array(
                (weights, self._values[values], starts), shape=(len(far), len(self._values))
            )
            yield chosen, counts[ids[chosen] - begin]

    def _grouped(self, places: Sequence[int]) -> tuple[Groups, Entries, Any, Any]:
        """Group the records of both sides by some attributes, and score the queries that match."""
        from understudy.learning.matching_kernels import match_keys

        mask = self.reference.mask(places)
        used = np.flatnonzero(mask) if mask.any() else np.zeros(1, np.int64)
        whole = len(used) == len(mask)
        return match_keys(
            self._words if whole else np.ascontiguousarray(self._words[used]),
            mask if whole else mask[used],
            (self._told, self.reference.weights),
            self._wanted,
            len(self._values),
        )

    def _answers(
        self,
        places: Sequence[int],
        groups: Groups,
        entries: Entries,
        asked: NDArray[np.int64],
        nearest: bool,
    ) -> Iterator[tuple[int, NDArray[np.int64], Entries, NDArray[np.int32]]]:
        """Yield what `_nearest` does, and where the queries of each group of entries start."""
        _, firsts, known = groups
        if not nearest:
            return
        if len(places) == 1 and 0 < known < len(firsts):
            # Nobody agrees on the one attribute, so everybody is as near, to all such keys alike.
            everybody = np.array([0, len(self._told)]), self._told, self.reference.weights
            far = np.ones(len(firsts) - known, np.int32)
            yield known, asked[[known, len(firsts)]], everybody, far
            return
        for begin, near, far in self._nearest(places, groups, entries):
            yield begin, asked[begin : begin + len(far) + 1], near, far

    def _nearest(
        self, places: Sequence[int], groups: Groups, entries: Entries
    ) -> Iterator[tuple[int, Entries, NDArray[np.int32]]]:
        """Yield the first of some keys without a match, their nearest entries, and how far away."""
        _, firsts, begin = groups
        known, size = firsts[:begin], len(firsts) - begin
        cells = max(_CELLS // len(self._values), 1)
        while begin < len(firsts):
            keys, room = firsts[begin : begin + size], _CELLS // 4 if size > cells else 0
            unmatched = _Unmatched(self, places, keys, known, entries, room)
            if not unmatched.search():
                size = max(size // 2, cells)
                continue
            for near, far in unmatched.found():
                yield begin, near, far
                begin += len(far)

    def bytes_of(
        self, places: Sequence[int], rows: NDArray[np.int32]
    ) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Return the codes of reference records, or of queries numbered after them, as bytes."""
        own = self.reference.words.shape[1]
        if len(rows) and rows[0] >= own:
            return self.queries.key_bytes(places, rows - own)
        return self.reference.key_bytes(places, rows)

    def codes_of(self, place: int, rows: NDArray[np.int32]) -> tuple[NDArray[np.int32], int]:
        """Return the codes of a column in records numbered alike, and how many codes it has."""
        word, shift, bits = self.reference.fields[place]
        codes = (self._words[word, rows] >> np.uint64(shift)) & np.uint64((1 << bits) - 1)
        return codes.astype(np.int32), self.reference.coded.cardinalities[place]

    def words_of(self, rows: NDArray[np.int32]) -> Words:
        """Return reference records, or queries numbered after them, packed."""
        return np.ascontiguousarray(self._words[:, rows])


class _Unmatched:
    """Keys that no reference record agrees with, on the way to those that are nearest."""

    def __init__(
        self,
        search: Search,
        places: Sequence[int],
        keys: NDArray[np.int32],
        others: NDArray[np.int32],
        entries: Entries,
        room: int,
    ) -> None:
        from understudy.learning.matching_kernels import new_store

        self._search = search
        self._places = places
        self._keys, self._others, self._entries = keys, others, entries
        self._room = room
        self._store = new_store(len(keys), len(search._values), room)  # noqa: SLF001
        self.distance = np.zeros(len(keys), np.int32)
        self._left = np.arange(len(keys), dtype=np.int32)

    def search(self) -> bool:
        """Count the values among the nearest reference records of each key, if there is room."""
        if len(self._keys) * len(self._others) > _FEW:
            step = max(len(self._keys) // _SAMPLE, 1)
            self._compare(self._left[::step])
            # The sample says how much room all keys will need.
            if self._full or step * self._used > self._room > 0:
                return False
            sample = self.distance[::step]
            self._drop_found()
            for distance in range(1, self._last_level(sample) + 1):
                if self._full or not len(self._left):
                    break
                self._agree_on_all_but(distance)
        self._compare(self._left)
        return not self._full

    def found(self) -> Iterator[tuple[Entries, NDArray[np.int32]]]:
        """Yield the values that were counted and how far away they are, for some keys at a time."""
        from understudy.learning.matching_kernels import stored_entries

        cells, heads, chains, state = self._store
        # An entry takes more memory than a cell.
        step = len(heads) if self._room else max(_CELLS // 16 // cells.shape[1], 1)
        for begin in range(0, len(heads), step):
            part = slice(begin, begin + step)
            some = cells[part], heads[part], chains, state
            yield stored_entries(some), self.distance[part]

    @property
    def _used(self) -> int:
        """How many entries the counts take up."""
        return int(self._store[3][0])

    @property
    def _full(self) -> bool:
        """Whether the counts had no room, so that some are missing."""
        return bool(self._store[3][2])

    def _last_level(self, sample: NDArray[np.int32]) -> int:
        """Choose up to which distance sets of attributes are tried before keys are compared."""
        attributes, theirs, mine = len(self._places), len(self._others), len(self._left)
        words = np.count_nonzero(self._search.reference.mask(self._places))
        pair = _PER_PAIR + _PER_BYTE * attributes
        best, chosen, spent = mine * theirs * pair, 0, 0.0
        for level in range(1, attributes + 1):
            # One more than was seen: a sample without far keys does not prove that there are none.
            at, beyond = (
                mine * (np.count_nonzero(sample >= lowest) + 1) / (len(sample) + 1)
                for lowest in (level, level + 1)
            )
            sets = math.comb(attributes, level)
            spent += sets * (at + theirs) * _PER_MASKED_KEY * max(int(words), 1)
            if spent > best:
                break
            whole = spent + (beyond if level < attributes else 0.0) * theirs * pair
            if whole < best:
                best, chosen = whole, level
        return chosen

    def _agree_on_all_but(self, distance: int) -> None:
        """Add what the keys at this distance say, for every set of attributes that they share."""
        from understudy.learning.nearest_kernels import add_agreeing

        mask, sizes = self._search.reference.mask, self._search.reference.coded.cardinalities
        places = sorted(self._places, key=lambda place: -sizes[place])
        portion = min(max(_MASKED_KEYS // (len(self._left) + len(self._others)), 1), 1024)
        # By the attribute with the most levels that is kept: all with more levels are left out.
        for before in range(distance + 1):
            kept = places[before : before + 1]
            mine, theirs = self._parts(kept, self._left), self._parts(kept, None)
            whole = mask(places[before:])
            fewer = combinations(places[before + 1 :], distance - before)
            while masks := [whole & ~mask(left_out) for left_out in islice(fewer, portion)]:
                add_agreeing(np.array(masks), mine, theirs, self._entries, self._store)
        self.distance[self._left[self._store[1][self._left] >= 0]] = distance
        self._drop_found()

    def _parts(
        self, kept: Sequence[int], lines: NDArray[np.int32] | None
    ) -> tuple[Words, NDArray[np.int32], NDArray[np.int64]]:
        """Return keys (of the reference, if no lines are given) in parts that share an attribute.

        They are packed; with the line of each, and where each part starts.
        """
        from understudy.learning.matching_kernels import sort_by_group

        rows = self._others if lines is None else self._keys[lines]
        numbers = np.arange(len(rows), dtype=np.int32) if lines is None else lines
        codes, parts = np.zeros(len(rows), np.int32), 1
        for place in kept:
            codes, parts = self._search.codes_of(place, rows)
        starts, order = sort_by_group(codes, parts)
        return self._search.words_of(rows[order]), numbers[order], starts

    def _drop_found(self) -> None:
        self._left = self._left[self.distance[self._left] == 0]

    def _compare(self, lines: NDArray[np.int32]) -> None:
        from understudy.learning.nearest_kernels import compare_all

        others, ends = self._search.bytes_of(self._places, self._others)
        portion = max(_PAIRS // len(self._others), 1)
        for begin in range(0, len(lines), portion):
            if self._full:
                break
            chosen = np.ascontiguousarray(lines[begin : begin + portion])
            codes, _ = self._search.bytes_of(self._places, self._keys[chosen])
            nearest = np.zeros(len(chosen), np.min_scalar_type(len(self._places)))
            keys = np.ascontiguousarray(codes.T)
            compare_all(keys, chosen, others, ends, self._entries, self._store, nearest)
            self.distance[chosen] = nearest
