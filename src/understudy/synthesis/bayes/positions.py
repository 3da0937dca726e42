"""Where in its bin a number lies, given the numbers that the network links it to.

A network draws bins. If numbers then lay in their bins by chance alone, two columns that rise
together would lose what ties them inside the bins: little where bins are narrow, most of it in the
last bins of long tails. Here a number follows the numbers of the column's parents, and the bins of
its children, by a regression of normal scores, as far as the bin allows that was drawn for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.counting.engine import added
from understudy.data import Codec, Coded
from understudy.data.coded import Codes
from understudy.data.coders import BinCoder
from understudy.synthesis.bayes.network import Network
from understudy.synthesis.bayes.normal_scores import Floats, Groups, Scale
from understudy.synthesis.bayes.position_links import PARTS, Link, Others, learn_link

Positions = Mapping[str, Floats]
"""By column, where in its bin each record's number lies."""

MOST_CHILDREN = 3
"""Children of a column whose bins count for its positions: those that tell most of it."""

_FURTHEST = 3.0


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
            # Models of former versions have no corners.
            whole = len(link.left) == len(self.scales[link.leading].lows)
            group = coded[link.leading] if whole else scores.groups(link.leading, name)
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
            for part in PARTS:
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

    def learn(self, parts: Iterable[Sums]) -> Linked:
        """Learn the links from the sums over all records, in one batch or several."""
        total = added(parts).by_column
        links = {}
        for name, others in self.others.items():
            if name in total:
                leading = self.scales[others.leading]
                corners = leading.corners[: len(total[name]) - len(leading.lows)]
                links[name] = learn_link(others, total[name], corners)
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
            parts = (own[part].astype(np.float64) for part in PARTS)
            link = Link(parents, children, leading[0], *parts)
            codes = len(self.scales[link.leading].lows)
            if len(link.left) not in (
                codes,
                self._groups_of(Others(parents, children, leading[0])),
            ):
                raise ValueError("positions in other bins")
            links[name] = link
        return Linked(self.scales, self.binned, links)

    def _groups_of(self, others: Others) -> int:
        """Return how many regressions a column has; a child's number is not known when drawing."""
        scale = self.scales[others.leading]
        known = others.leading in others.parents and others.leading in self.binned
        return len(scale.lows) + (len(scale.corners) if known else 0)

    def sums_in(self, codec: Codec, table: pa.Table) -> Sums:
        """Return the sums over the records of a table, coded as the network is."""
        return added(map(self.sums, codec.positions_in(table, self.binned)))

    def sums(self, part: tuple[Coded, Positions]) -> Sums:
        """Return sums of products for each column that follows others, by the leading one's codes.

        Products of the scores of the others, of whether they are known, of the column's own score,
        and of one.
        """
        coded, positions = part
        scores = _Scores(coded, self.scales, positions)
        found = {}
        for name, (parents, children, leading) in self.others.items():
            count = self._groups_of(self.others[name])
            records = np.flatnonzero(self.scales[name].known(coded[name]))
            with_corners = count > len(self.scales[leading].lows)
            codes = (scores.groups(leading, name) if with_corners else coded[leading])[records]
            order = np.argsort(codes, kind="stable")
            records, codes = records[order], codes[order]
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
        return Sums(found)


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of products for each column that follows others; those of all records add up."""

    by_column: Mapping[str, Floats]

    def __add__(self, other: Sums) -> Sums:
        pairs = self.by_column.items()
        return Sums({name: own + other.by_column[name] for name, own in pairs})


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

    def groups(self, leading: str, name: str) -> Groups:
        """Return the group of each number of a leading column, for the sake of another."""
        return self._scales[leading].groups(
            self._coded[leading], self._positions[leading], self._coded[name], self._scales[name]
        )

    def middle(self, name: str) -> Floats:
        """Return the scores of the middles of a column's codes."""
        if name not in self._middles:
            self._middles[name] = self._scales[name].scores(self._coded[name])
        return self._middles[name]
