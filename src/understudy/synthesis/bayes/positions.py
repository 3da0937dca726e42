"""Where in its bin a number lies, given the numbers that the network links it to.

A network draws bins. If numbers then lay in their bins by chance alone, two columns that rise
together would lose what ties them inside the bins: little where bins are narrow, most of it in the
last bins of long tails. Here the position in the bin follows the numbers of the column's parents,
and the bins of its children, by a regression on the normal scale, one for each bin.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.counting.engine import in_order
from understudy.data import Codec, Coded
from understudy.data.coded import Codes
from understudy.data.coders import BinCoder, Coder, NumberLevelCoder
from understudy.data.ends import FEWEST_AT_ENDS
from understudy.synthesis.bayes.network import Network

Floats = NDArray[np.float64]
Positions = Mapping[str, Floats]
"""By column, where in its bin each record's number lies."""

MOST_CHILDREN = 3
"""Children of a column whose bins count for its positions: those that tell most of it."""

_POOLED = 20.0
"""What all bins together are worth, in records, beside those of one bin."""

# Scores are multiples of this, so that sums of their products are exact in any order.
_STEP = 2.0**-10


@dataclass(frozen=True, eq=False)
class Scale:
    """The numbers of a column as values of a normal variable, by their ranks.

    Parameters
    ----------
    lows, widths : ndarray of float64
        For each code, the share of records with lower codes, and with this one. The width is -1 for
        a code that stands for no number: a special value, or a missing one.
    records : int
        Records with a number.

    Examples
    --------
    Half of four records are in the first bin; its middle is the first quartile:

    >>> scale = Scale(np.array([0.0, 0.5]), np.array([0.5, 0.5]), 4)
    >>> scale.scores(np.array([0, 1]), np.array([0.5, 0.0])).round(2).tolist()
    [-0.67, 0.0]
    """

    lows: Floats
    widths: Floats
    records: int

    @classmethod
    def of(cls, coder: Coder, counts: NDArray[np.int64]) -> Scale | None:
        """Return the scale of a column with these counts of codes; None if it has no numbers."""
        if isinstance(coder, BinCoder):
            order = np.arange(len(coder.special), coder.known)
        elif isinstance(coder, NumberLevelCoder):
            order = np.argsort(coder.numbers, kind="stable")
        else:
            return None
        own = counts[order]
        records = int(own.sum())
        if np.count_nonzero(own) < 2 and not isinstance(coder, BinCoder):
            return None
        lows, widths = np.zeros(len(counts)), np.full(len(counts), -1.0)
        lows[order] = (np.cumsum(own) - own) / max(records, 1)
        widths[order] = own / max(records, 1)
        return cls(lows, widths, records)

    def known(self, codes: Codes) -> NDArray[np.bool_]:
        """Return which codes stand for numbers."""
        return np.asarray(self.widths >= 0)[codes]

    def scores(self, codes: Codes, positions: Floats | None = None) -> Floats:
        """Return the normal score of each code at a position, or at the middle of the code."""
        if positions is None:
            middles = _score(self.lows + self.widths / 2, self.records)
            return middles[codes]
        return _score(self.lows[codes] + self.widths[codes] * positions, self.records)

    def limits(self) -> Floats:
        """Return how far out, at most, the scores of the records of each code lie."""
        return _furthest(np.maximum(self.widths, 0) * self.records)


def _score(shares: Floats, records: int) -> Floats:
    from scipy.special import ndtri

    least = 0.5 / max(records, 1)
    found = ndtri(np.clip(shares, least, 1 - least))
    found /= _STEP
    np.rint(found, out=found)
    found *= _STEP
    return np.asarray(found)


def _furthest(records: Floats) -> Floats:
    """Return the score of the highest of so many records."""
    from scipy.special import ndtri

    return np.asarray(ndtri(1 - 0.5 / np.maximum(records, 1)))


@dataclass(frozen=True, eq=False)
class Link:
    """How the position of a column's numbers follows other columns, bin by bin.

    Parameters
    ----------
    parents : tuple of str
        Columns that are drawn before: their numbers count.
    children : tuple of str
        Columns that are drawn after: only their bins count.
    means, slopes : ndarray of float64, shape (codes, columns)
        The mean score of the others among the records of each code, and what the score of the
        position rises by for each unit that they lie above it.
    left : ndarray of float64, shape (codes,)
        The share of the variance of positions that the others do not tell.
    """

    parents: tuple[str, ...]
    children: tuple[str, ...]
    means: Floats
    slopes: Floats
    left: Floats

    def __post_init__(self) -> None:
        shape = (len(self.left), len(self.parents) + len(self.children))
        parts = (self.means, self.slopes, self.left)
        if self.means.shape != shape or self.slopes.shape != shape or not shape[1]:
            raise ValueError("positions whose parts do not fit together")
        if not all(np.isfinite(part).all() for part in parts) or np.any(self.left < 0):
            raise ValueError("positions that cannot be")

    @property
    def others(self) -> tuple[str, ...]:
        """The columns that the position follows."""
        return (*self.parents, *self.children)


@dataclass(frozen=True, eq=False)
class Linked:
    """The positions of all columns of a network, as its edges link them.

    Parameters
    ----------
    scales : mapping from str to Scale
        The columns of numbers, in the order in which they are drawn.
    binned : tuple of str
        Those of them that are cut into bins.
    links : mapping from str to Link
        Those of these whose positions follow others; any others lie in their bins by chance.
    """

    scales: Mapping[str, Scale]
    binned: tuple[str, ...]
    links: Mapping[str, Link]

    def draw(self, coded: Coded, rng: np.random.Generator) -> dict[str, Floats]:
        """Draw where in its bin each number lies."""
        from scipy.special import ndtr

        drawn: dict[str, Floats] = {}
        scores = _Scores(coded, self.scales, drawn)
        for name in self.binned:
            link = self.links.get(name)
            if link is None:
                drawn[name] = rng.random(len(coded))
                continue
            codes = coded[name]
            expected = np.zeros(len(coded))
            for place, other in enumerate(link.others):
                told = scores.number(other) if place < len(link.parents) else scores.middle(other)
                told = (told - link.means[:, place][codes]) * link.slopes[:, place][codes]
                expected += np.where(self.scales[other].known(coded[other]), told, 0.0)
            # A bin that others make unlikely would else give its outermost number again and again.
            limits = self.scales[name].limits()[codes]
            np.clip(expected, -limits, limits, out=expected)
            expected += np.sqrt(link.left)[codes] * rng.standard_normal(len(coded))
            drawn[name] = ndtr(expected, out=expected)
        return drawn

    def to_arrays(self, places: Mapping[str, int]) -> dict[str, NDArray[np.float64 | np.int32]]:
        """Return the links as arrays; a column is known by its place."""
        found: dict[str, NDArray[np.float64 | np.int32]] = {}
        for name, link in self.links.items():
            prefix = f"position_{places[name]}_"
            found[f"{prefix}parents"] = np.array([places[one] for one in link.parents], np.int32)
            found[f"{prefix}children"] = np.array([places[one] for one in link.children], np.int32)
            found[f"{prefix}means"], found[f"{prefix}slopes"] = link.means, link.slopes
            found[f"{prefix}left"] = link.left
        return found


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of numbers of a network, and which of them each one's positions follow.

    Parameters
    ----------
    scales : mapping from str to Scale
        The columns of numbers, in the order in which they are drawn.
    binned : tuple of str
        Those of them that are cut into bins.
    others : mapping from str to a pair of tuples of str
        The parents and the children that the positions of a column follow.
    """

    scales: Mapping[str, Scale]
    binned: tuple[str, ...]
    others: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]

    @classmethod
    def of(
        cls,
        codec: Codec,
        network: Network,
        counts: Mapping[str, NDArray[np.int64]],
        information: NDArray[np.float64],
        protected: Collection[str] = (),
    ) -> Columns:
        """Return what the edges of a network say; `counts` are the records with each code.

        Of a column's children, those count that tell most of it. A protected column is nobody's
        child here: its numbers follow its target's, and nothing follows them.
        """
        found = {name: Scale.of(codec.coders[name], counts[name]) for name in network.names}
        scales = {name: scale for name, scale in found.items() if scale is not None}
        binned = tuple(name for name in scales if isinstance(codec.coders[name], BinCoder))
        places = {name: place for place, name in enumerate(codec.names)}
        others = {}
        for name in binned:
            parents = tuple(one for one in network.parents[name] if one in scales)
            children = [
                child
                for child in scales
                if name in network.parents[child] and child not in protected
            ]
            told = information[places[name]]
            children.sort(key=lambda child: (-told[places[child]], places[child]))
            if parents or children:
                others[name] = parents, tuple(children[:MOST_CHILDREN])
        return cls(scales, binned, others)

    def learn(self, tables: Iterable[tuple[Coded, Positions]], threads: int = 1) -> Linked:
        """Learn the links from the codes and positions of all records, in one batch or several."""
        total: dict[str, Floats] = {}
        for sums in in_order(self._sums, tables, threads):
            for name, own in sums.items():
                total[name] = total[name] + own if name in total else own
        links = {
            name: _link(self.others[name], sums, len(self.scales[name].lows))
            for name, sums in total.items()
        }
        return Linked(self.scales, self.binned, links)

    def linked(self, arrays: Mapping[str, NDArray[np.generic]], names: Sequence[str]) -> Linked:
        """Return the links that `Linked.to_arrays` took apart; `names` are the columns by place."""
        links = {}
        for name in self.others:
            prefix = f"position_{names.index(name)}_"
            own = {k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)}
            if not own:
                continue
            parents, children = (
                tuple(names[place] for place in own[side].tolist())
                for side in ("parents", "children")
            )
            if (parents, children) != self.others[name]:
                raise ValueError("positions that follow other columns than the network's")
            parts = (own[part].astype(np.float64) for part in ("means", "slopes", "left"))
            link = Link(parents, children, *parts)
            if len(link.left) != len(self.scales[name].lows):
                raise ValueError("positions in other bins")
            links[name] = link
        return Linked(self.scales, self.binned, links)

    def _sums(self, part: tuple[Coded, Positions]) -> dict[str, Floats]:
        """Return sums of products for each column that follows others, and each of its codes.

        Products of the scores of the others, of whether they are known, of the score of the
        position, and of one.
        """
        from scipy.special import ndtri

        coded, positions = part
        scores = _Scores(coded, self.scales, positions)
        found = {}
        for name, (parents, children) in self.others.items():
            scale = self.scales[name]
            records = np.flatnonzero(scale.known(coded[name]))
            codes = coded[name][records]
            order = np.argsort(codes, kind="stable")
            records, codes = records[order], codes[order]
            bounds = np.searchsorted(codes, np.arange(len(scale.lows) + 1))
            told = [scores.number(one) for one in parents] + [scores.middle(o) for o in children]
            known = [self.scales[one].known(coded[one]) for one in (*parents, *children)]
            limits = scale.limits()[codes]
            own = np.clip(ndtri(positions[name][records]), -limits, limits)
            rows = np.stack(
                [
                    *(np.where(k, one, 0.0)[records] for one, k in zip(told, known, strict=True)),
                    *(one[records].astype(np.float64) for one in known),
                    np.rint(own / _STEP) * _STEP,
                    np.ones(len(records)),
                ],
                axis=1,
            )
            sums = np.zeros((len(scale.lows), rows.shape[1], rows.shape[1]))
            for code in np.unique(codes).tolist():
                within = rows[bounds[code] : bounds[code + 1]]
                sums[code] = within.T @ within
            found[name] = sums
        return found


class _Scores:
    """The scores of some records, each column computed once."""

    def __init__(self, coded: Coded, scales: Mapping[str, Scale], positions: Positions) -> None:
        self._coded, self._scales, self._positions = coded, scales, positions
        self._numbers: dict[str, Floats] = {}
        self._middles: dict[str, Floats] = {}

    def number(self, name: str) -> Floats:
        """Return the scores of a column's numbers, by their codes and positions."""
        if name not in self._positions:
            return self.middle(name)
        if name not in self._numbers:
            codes = self._coded[name]
            self._numbers[name] = self._scales[name].scores(codes, self._positions[name])
        return self._numbers[name]

    def middle(self, name: str) -> Floats:
        """Return the scores of the middles of a column's codes."""
        if name not in self._middles:
            self._middles[name] = self._scales[name].scores(self._coded[name])
        return self._middles[name]


def _link(others: tuple[tuple[str, ...], tuple[str, ...]], sums: Floats, codes: int) -> Link:
    """Return the regression of a column's positions on others, for each code, from sums.

    Slopes of a code are drawn towards those of all codes together, as if so many records more had
    these. Another column of which a code has fewer than five records tells nothing there.
    """
    count = len(others[0]) + len(others[1])
    means, slopes, left = np.zeros((codes, count)), np.zeros((codes, count)), np.ones(codes)
    moments = [_Moments.of(own, count) for own in sums]
    used = [one for one in moments if one.records >= FEWEST_AT_ENDS and one.varies]
    if not used:
        return Link(*others, means, slopes, left)
    records = sum(one.records for one in used)
    spread = np.sum([one.spread for one in used], axis=0)
    along = np.sum([one.along for one in used], axis=0)
    pooled = _solve(spread, along)
    rest = 1 - (2 * pooled @ along - pooled @ spread @ pooled) / records
    lent = spread / records * _POOLED
    for code, one in enumerate(moments):
        if one.records < FEWEST_AT_ENDS or not one.varies:
            continue
        own = _solve(one.spread + lent, one.along + lent @ pooled)
        own_rest = one.records - 2 * own @ one.along + own @ one.spread @ own
        means[code], slopes[code] = one.means, np.where(one.usable, own, 0.0)
        left[code] = (own_rest + _POOLED * rest) / (one.records + _POOLED)
    return Link(*others, means, slopes, np.clip(left, 0.0, 1.0))


def _solve(spread: Floats, along: Floats) -> Floats:
    """Solve for slopes; where columns repeat one another, or do not vary, they share."""
    scale = np.sqrt(np.maximum(np.diag(spread), 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    even = spread / np.outer(scale, scale) + 1e-6 * np.eye(len(scale))
    return np.asarray(np.linalg.solve(even, along / scale) / scale)


@dataclass(frozen=True, eq=False)
class _Moments:
    """Moments of the records of one code; positions have variance one.

    Another column's score that is not known is taken for the mean.
    """

    records: float
    varies: bool
    usable: NDArray[np.bool_]
    means: Floats
    spread: Floats
    along: Floats

    @classmethod
    def of(cls, sums: Floats, count: int) -> _Moments:
        scores, known, own = slice(0, count), slice(count, 2 * count), 2 * count
        records = float(sums[-1, -1])
        numbers = sums[known, -1]
        usable = numbers >= FEWEST_AT_ENDS
        means = np.where(usable, sums[scores, -1] / np.maximum(numbers, 1), 0.0)
        both = sums[known, known]
        cross = sums[scores, known] * means  # of column i where j is known too, times j's mean
        spread = sums[scores, scores] - cross - cross.T + np.outer(means, means) * both
        along = sums[scores, own] - means * sums[known, own]
        pair = np.outer(usable, usable)
        total = sums[own, own] - sums[own, -1] ** 2 / max(records, 1)
        deviation = np.sqrt(max(total, 0.0) / max(records, 1))
        varies = bool(deviation > 1e-3)
        along = np.where(usable, along / deviation, 0.0) if varies else np.zeros(count)
        return cls(records, varies, usable, means, np.where(pair, spread, 0.0), along)
