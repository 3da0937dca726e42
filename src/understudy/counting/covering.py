"""Covering all pairs of columns with few triples, so that one pass counts three pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Pair = tuple[int, int]
Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Cover:
    """Triples and pairs of columns that together hold every wanted pair.

    Parameters
    ----------
    triples : tuple of (int, int, int)
        Increasing positions of three columns to count at once.
    wanted : tuple of (bool, bool, bool)
        For each triple, which of its pairs (0, 1), (0, 2), (1, 2) it serves: each pair is served
        once.
    pairs : tuple of (int, int)
        Pairs to count by themselves.
    """

    triples: tuple[Triple, ...]
    wanted: tuple[tuple[bool, bool, bool], ...]
    pairs: tuple[Pair, ...]

    def served(self) -> Iterator[Iterator[tuple[Pair, bool]]]:
        """Yield, for each triple, its three pairs and whether it serves them."""
        for triple, wanted in zip(self.triples, self.wanted, strict=True):
            yield zip(combinations(triple, 2), wanted, strict=True)


def steiner_triples(points: int) -> Iterator[Triple]:
    """Yield triples of 0 .. `points` - 1 that hold every pair exactly once.

    The number is 1 or 3 modulo 6, for there is no such system otherwise.

    Notes
    -----
    The constructions of Bose (3 modulo 6) and Skolem (1 modulo 6), in the form of Lindner and
    Rodger, *Design Theory*, 2nd ed. (2008), sections 1.2 and 1.3: three copies of a commutative
    quasigroup, and for the latter one more point.

    Examples
    --------
    >>> sorted(steiner_triples(7))
    [(0, 1, 3), (0, 2, 4), (0, 5, 6), (1, 2, 6), (1, 4, 5), (2, 3, 5), (3, 4, 6)]
    """
    third, extra = divmod(points, 3)
    half = third // 2
    last = points - 1
    for x in range(half if extra else third):
        yield x, x + third, x + 2 * third
    if extra:
        for x in range(half):
            for copy in range(3):
                after = (copy + 1) % 3
                a, b = sorted((x + half + copy * third, x + after * third))
                yield a, b, last
    for x, y in combinations(range(third), 2):
        middle = (x + y) % third
        # The middle of x and y modulo an odd number, or its half-idempotent stand-in for an even.
        even = middle // 2 + half * (middle % 2)
        product = even if extra else middle * (half + 1) % third
        for copy in range(3):
            after = (copy + 1) % 3
            a, b, c = sorted((x + copy * third, y + copy * third, product + after * third))
            yield a, b, c


def cover_pairs(cardinalities: Sequence[int], pairs: Sequence[Pair], cells: int) -> Cover:
    """Choose triples of columns that hold the wanted pairs, and leave the rest as pairs.

    A Steiner system on at least as many points as there are columns comes first; where some of
    its triples have more than `cells` cells, what they leave uncovered is put together greedily.
    Each triple serves at least two of the pairs, which are increasing and given once.

    Examples
    --------
    >>> cover_pairs([2, 2, 2, 2], [(0, 1), (0, 2), (1, 2), (2, 3)], cells=8)
    Cover(triples=((0, 1, 2),), wanted=((True, True, True),), pairs=((2, 3),))
    """
    columns = len(cardinalities)
    sizes = np.array(cardinalities, np.float64)
    missing = np.zeros((columns, columns), bool)
    for i, j in pairs:
        missing[i, j] = missing[j, i] = True
    triples: list[Triple] = []
    wanted: list[tuple[bool, bool, bool]] = []

    def take(triple: Triple) -> None:
        served = tuple(bool(missing[i, j]) for i, j in combinations(triple, 2))
        triples.append(triple)
        wanted.append((served[0], served[1], served[2]))
        for i, j in combinations(triple, 2):
            missing[i, j] = missing[j, i] = False

    points = next(v for v in range(columns, columns + 6) if v % 6 in {1, 3})
    for triple in steiner_triples(points):
        i, j, k = triple
        if k >= columns or cardinalities[i] * cardinalities[j] * cardinalities[k] > cells:
            continue
        if int(missing[i, j]) + int(missing[i, k]) + int(missing[j, k]) >= 2:
            take(triple)

    alone: list[Pair] = []
    smallest = min(cardinalities, default=1)
    for i, j in pairs:
        if missing[i, j]:
            fits = cardinalities[i] * cardinalities[j] * smallest <= cells
            third = _best_third(missing, sizes, (i, j), cells) if fits else None
            if third is None:
                alone.append((i, j))
            else:
                a, b, c = sorted((i, j, third))
                take((a, b, c))
    return Cover(tuple(triples), tuple(wanted), tuple(alone))


def _best_third(
    missing: NDArray[np.bool_], sizes: NDArray[np.float64], pair: Pair, cells: int
) -> int | None:
    """Return the column that serves most pairs together with `pair`; the smallest of equals."""
    i, j = pair
    gain = missing[i].astype(np.int64) + missing[j]
    gain[sizes * (sizes[i] * sizes[j]) > cells] = 0
    gain[[i, j]] = 0
    best = np.flatnonzero(gain == gain.max())
    return int(best[np.argmin(sizes[best])]) if gain.max() > 0 else None
