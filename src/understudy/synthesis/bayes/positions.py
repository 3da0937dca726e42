"""Where in its bin a number lies, given the numbers that the network links it to.

A network draws bins. If numbers then lay in their bins by chance alone, two columns that rise
together would lose what ties them inside the bins: little where bins are narrow, most of it in the
last bins of long tails. Here a number follows the numbers of the column's parents, and the bins of
its children, by a regression of normal scores, as far as the bin allows that was drawn for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

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
"""What the records of all codes together are worth, in records, beside those of one code."""

_FURTHEST = 3.0
_PARTS = ("means", "slopes", "own", "left")

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

    def ends(self) -> tuple[Floats, Floats]:
        """Return the lowest and the highest score of each code.

        They are infinite at the column's ends, and for a code that no number has.
        """
        from scipy.special import ndtri

        none, above = self.widths <= 0, self.lows + self.widths
        low = np.where(none, 0.0, self.lows)
        return ndtri(low), ndtri(np.where(none | (above > 1 - 1e-12), 1.0, above))


def _score(shares: Floats, records: int) -> Floats:
    from scipy.special import ndtri

    least = 0.5 / max(records, 1)
    found = ndtri(np.clip(shares, least, 1 - least))
    found /= _STEP
    np.rint(found, out=found)
    found *= _STEP
    return np.asarray(found)


@dataclass(frozen=True, eq=False)
class Link:
    """How the numbers of a column follow other columns.

    There is a regression for each code of the one of the others that tells most, the leading one.

    Parameters
    ----------
    parents : tuple of str
        Columns that are drawn before: their numbers count.
    children : tuple of str
        Columns that are drawn after: only their bins count.
    leading : str
        The leading one of them.
    means, slopes : ndarray of float64, shape (codes, columns)
        The mean score of the others among the records of each code, and what the column's own
        score rises by for each unit that they lie above it.
    own : ndarray of float64, shape (codes,)
        The mean of the column's own score.
    left : ndarray of float64, shape (codes,)
        The standard deviation of the column's own score that the others leave.
    """

    parents: tuple[str, ...]
    children: tuple[str, ...]
    leading: str
    means: Floats
    slopes: Floats
    own: Floats
    left: Floats

    def __post_init__(self) -> None:
        shape = (len(self.left), len(self.parents) + len(self.children))
        parts = (self.means, self.slopes, self.own, self.left)
        fit = self.means.shape == self.slopes.shape == shape and self.own.shape == shape[:1]
        if not fit or self.leading not in self.others:
            raise ValueError("positions whose parts do not fit together")
        if not all(np.isfinite(part).all() for part in parts) or np.any(self.left <= 0):
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
        drawn: dict[str, Floats] = {}
        scores = _Scores(coded, self.scales, drawn)
        for name in self.binned:
            chances = rng.random(len(coded))
            link = self.links.get(name)
            if link is None:
                drawn[name] = chances
                continue
            group = coded[link.leading]
            expected = link.own[group]
            for place, other in enumerate(link.others):
                told = scores.number(other) if place < len(link.parents) else scores.middle(other)
                told = (told - link.means[:, place][group]) * link.slopes[:, place][group]
                expected += np.where(self.scales[other].known(coded[other]), told, 0.0)
            drawn[name] = _inside(
                self.scales[name], coded[name], expected, link.left[group], chances
            )
        return drawn

    def to_arrays(self, places: Mapping[str, int]) -> dict[str, NDArray[np.float64 | np.int32]]:
        """Return the links as arrays; a column is known by its place."""
        found: dict[str, NDArray[np.float64 | np.int32]] = {}
        for name, link in self.links.items():
            prefix = f"position_{places[name]}_"
            found[f"{prefix}parents"] = np.array([places[one] for one in link.parents], np.int32)
            found[f"{prefix}children"] = np.array([places[one] for one in link.children], np.int32)
            found[f"{prefix}leading"] = np.array([places[link.leading]], np.int32)
            for part in _PARTS:
                found[f"{prefix}{part}"] = getattr(link, part)
        return found


def _inside(
    scale: Scale, codes: Codes, expected: Floats, deviation: Floats, chances: Floats
) -> Floats:
    """Return positions of normal scores, expected with some deviation, that lie in their bins.

    A bin that is further off than `_FURTHEST` deviations was drawn for other reasons: then the
    expected score counts as so far from it, and not as further.
    """
    from scipy.special import ndtr, ndtri

    low, high = (end[codes] for end in scale.ends())
    reach = _FURTHEST * deviation
    expected = np.clip(expected, low - reach, high + reach)
    below, above = (low - expected) / deviation, (high - expected) / deviation
    # In the upper tail the mirror image is taken: there the distribution is too near to one.
    mirrored = below > 0
    below, above = np.where(mirrored, -above, below), np.where(mirrored, -below, above)
    first, last = ndtr(below), ndtr(above)
    passed = ndtri(first + (last - first) * np.where(mirrored, 1 - chances, chances))
    score = expected + deviation * np.where(mirrored, -passed, passed)
    widths = scale.widths[codes]
    inside = (ndtr(score) - scale.lows[codes]) / np.where(widths > 0, widths, 1.0)
    # A bin that no record is in has no width: there nothing is known.
    return np.where(widths > 0, np.clip(inside, 0.0, 1.0), chances)


class Others(NamedTuple):
    """The parents and the children that a column follows, and the leading one of them."""

    parents: tuple[str, ...]
    children: tuple[str, ...]
    leading: str


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of numbers of a network, and which of them each one's positions follow.

    Parameters
    ----------
    scales : mapping from str to Scale
        The columns of numbers, in the order in which they are drawn.
    binned : tuple of str
        Those of them that are cut into bins.
    others : mapping from str to Others
        What the positions of a column follow.
    """

    scales: Mapping[str, Scale]
    binned: tuple[str, ...]
    others: Mapping[str, Others]

    @classmethod
    def of(
        cls,
        codec: Codec,
        network: Network,
        counts: Mapping[str, NDArray[np.int64]],
        information: NDArray[np.float64],
        protected: Collection[str] = (),
        childless: Collection[str] = (),
    ) -> Columns:
        """Return what the edges of a network say; `counts` are the records with each code.

        Of a column's children, those count that tell most of it. A protected column is nobody's
        child here: its numbers follow its target's, and nothing follows them. Those that are
        `childless` follow no children, which others may share.
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
                if name in network.parents[child]
                and child not in protected
                and name not in childless
            ]
            told = information[places[name]]

            def rank(other: str, told: Floats = told) -> tuple[float, int]:
                return -told[places[other]], places[other]

            children = sorted(children, key=rank)[:MOST_CHILDREN]
            if parents or children:
                leading = min((*parents, *children), key=rank)
                others[name] = Others(parents, tuple(children), leading)
        return cls(scales, binned, others)

    def learn(self, tables: Iterable[tuple[Coded, Positions]], threads: int = 1) -> Linked:
        """Learn the links from the codes and positions of all records, in one batch or several."""
        total: dict[str, Floats] = {}
        for sums in in_order(self._sums, tables, threads):
            for name, own in sums.items():
                total[name] = total[name] + own if name in total else own
        links = {name: _link(self.others[name], sums) for name, sums in total.items()}
        return Linked(self.scales, self.binned, links)

    def linked(self, arrays: Mapping[str, NDArray[np.generic]], names: Sequence[str]) -> Linked:
        """Return the links that `Linked.to_arrays` took apart; `names` are the columns by place."""
        links = {}
        for name in self.others:
            prefix = f"position_{names.index(name)}_"
            own = {k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)}
            if not own:
                continue
            parents, children, leading = (
                tuple(names[place] for place in own[side].tolist())
                for side in ("parents", "children", "leading")
            )
            if (parents, children) != self.others[name][:2] or len(leading) != 1:
                raise ValueError("positions that follow other columns than the network's")
            parts = (own[part].astype(np.float64) for part in _PARTS)
            link = Link(parents, children, leading[0], *parts)
            if len(link.left) != len(self.scales[link.leading].lows):
                raise ValueError("positions in other bins")
            links[name] = link
        return Linked(self.scales, self.binned, links)

    def _sums(self, part: tuple[Coded, Positions]) -> dict[str, Floats]:
        """Return sums of products for each column that follows others, by the leading one's codes.

        Products of the scores of the others, of whether they are known, of the column's own score,
        and of one.
        """
        coded, positions = part
        scores = _Scores(coded, self.scales, positions)
        found = {}
        for name, (parents, children, leading) in self.others.items():
            records = np.flatnonzero(self.scales[name].known(coded[name]))
            codes = coded[leading][records]
            order = np.argsort(codes, kind="stable")
            records, codes = records[order], codes[order]
            count = len(self.scales[leading].lows)
            bounds = np.searchsorted(codes, np.arange(count + 1))
            told = [scores.number(one) for one in parents] + [scores.middle(o) for o in children]
            known = [self.scales[one].known(coded[one]) for one in (*parents, *children)]
            rows = np.stack(
                [
                    *(np.where(k, one, 0.0)[records] for one, k in zip(told, known, strict=True)),
                    *(one[records].astype(np.float64) for one in known),
                    scores.number(name)[records],
                    np.ones(len(records)),
                ],
                axis=1,
            )
            sums = np.zeros((count, rows.shape[1], rows.shape[1]))
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


def _link(others: Others, sums: Floats) -> Link:
    """Return the regression of a column's scores on others, for each leading code, from sums.

    Slopes of a code are drawn towards those within all codes together, as if so many records more
    had these. A code of fewer than five records has the regression of all records.
    """
    count = len(others.parents) + len(others.children)
    every, each = _Moments.of(sums.sum(axis=0), count), _Moments.of(sums, count)
    overall = _solve(every.spread, every.along)
    many = each.records >= FEWEST_AT_ENDS
    records = max(float(each.records[many].sum()), 1.0)
    spread, along = each.spread[many].sum(axis=0), each.along[many].sum(axis=0)
    pooled = _solve(spread, along)
    rest = float(each.rest(np.broadcast_to(pooled, each.along.shape))[many].sum()) / records
    lent = spread / records * _POOLED
    fit = np.where(each.usable, _solve(each.spread + lent, each.along + lent @ pooled), 0.0)
    variance = np.where(
        many,
        (each.rest(fit) + _POOLED * rest) / (each.records + _POOLED),
        every.rest(overall) / np.maximum(every.records, 1.0),
    )
    return Link(
        *others,
        np.where(many[:, None], each.means, every.means),
        np.where(many[:, None], fit, overall),
        np.where(many, each.own, every.own),
        np.maximum(np.sqrt(np.maximum(variance, 0.0)), _STEP),
    )


def _solve(spread: Floats, along: Floats) -> Floats:
    """Solve for slopes; where columns repeat one another, or do not vary, they share."""
    scale = np.sqrt(np.maximum(np.diagonal(spread, axis1=-2, axis2=-1), 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    even = spread / (scale[..., :, None] * scale[..., None, :])
    found = np.linalg.solve(even + 1e-6 * np.eye(scale.shape[-1]), (along / scale)[..., None])
    return np.asarray(found[..., 0] / scale)


@dataclass(frozen=True, eq=False)
class _Moments:
    """Moments of the records of one code, or of each: of the scores of others, and of the own.

    Another column's score that is not known is taken for the mean. One that fewer than five of the
    records have is not usable.
    """

    records: Floats
    usable: NDArray[np.bool_]
    means: Floats
    own: Floats
    spread: Floats
    along: Floats
    total: Floats

    @classmethod
    def of(cls, sums: Floats, count: int) -> _Moments:
        scores, known, own = slice(0, count), slice(count, 2 * count), 2 * count
        records, numbers = sums[..., -1, -1], sums[..., known, -1]
        usable = numbers >= FEWEST_AT_ENDS
        means = np.where(usable, sums[..., scores, -1] / np.maximum(numbers, 1), 0.0)
        # Of column i where j is known too, times j's mean.
        cross = sums[..., scores, known] * means[..., None, :]
        both = means[..., :, None] * means[..., None, :] * sums[..., known, known]
        spread = sums[..., scores, scores] - cross - np.swapaxes(cross, -1, -2) + both
        mean = sums[..., own, -1] / np.maximum(records, 1)
        along = sums[..., scores, own] - means * sums[..., known, own]
        pair = usable[..., :, None] & usable[..., None, :]
        return cls(
            records,
            usable,
            means,
            mean,
            np.where(pair, spread, 0.0),
            np.where(usable, along, 0.0),
            sums[..., own, own] - records * mean**2,
        )

    def rest(self, slopes: Floats) -> Floats:
        """Return the sum of squares that a regression with these slopes leaves."""
        told = 2 * np.sum(slopes * self.along, axis=-1)
        return np.asarray(
            self.total - told + np.einsum("...i,...ij,...j", slopes, self.spread, slopes)
        )
