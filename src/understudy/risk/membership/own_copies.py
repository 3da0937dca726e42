"""How many people have a copy in a release because they are in the data, by the model's density.

Chance makes copies, too: of a record that many people could have. What counts is how much more
probable a copy is because the model has learnt from the person's own record.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_whole
from understudy.data.coded import Coded
from understudy.data.frames import Backend, Frame, Layout
from understudy.results import Line, Result, to_plain
from understudy.risk.membership.exact import check_model
from understudy.risk.strong.fixed import FixedLikelihood
from understudy.risk.strong.release import Release, coded_original
from understudy.synthesis import Synthesizer
from understudy.wording import counted, percent, points

TITLE = "Own copies"
MEANING = "who have a copy in the release because they are in the data, by its model"


@dataclass(frozen=True, eq=False)
class OwnCopies(Result):
    """The chance that a release holds a copy of each person, in the data or not; see `own_copies`.

    Parameters
    ----------
    rows : int
        Records of the release.
    inside : ndarray of float64
        The probability of a copy of each person as it is.
    outside : ndarray of float64
        The same if the model had learnt from all others alone.

    Examples
    --------
    >>> found = OwnCopies(10, np.array([0.5, 0.3]), np.array([0.1, 0.3]))
    >>> found.share, found.by_chance, found.largest
    (0.2, 0.2, 0.4)
    """

    rows: int
    inside: NDArray[np.float64]
    outside: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.inside)

    @property
    def gains(self) -> NDArray[np.float64]:
        """How much more probable a copy of each person is because they are in the data."""
        return self.inside - self.outside

    @property
    def share(self) -> float:
        """The share of people who are expected to have a copy because they are in the data."""
        return float(np.mean(self.gains)) if len(self) else math.nan

    @property
    def by_chance(self) -> float:
        """The share of people who are expected to have a copy anyway."""
        return float(np.mean(self.outside)) if len(self) else math.nan

    @property
    def largest(self) -> float:
        """The largest gain of one person."""
        return float(np.max(self.gains)) if len(self) else math.nan

    def lines(self) -> list[Line]:
        """Return the share of people with a copy, by chance and as it is."""
        with_a_copy = self.by_chance + self.share
        return [Line(TITLE, f"Share of people {MEANING}", self.by_chance, with_a_copy)]

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return the figures over all people, in one row."""
        return self._framed([self.to_dict()], backend)

    def per_record(self, *, backend: Backend | None = None) -> Frame:
        """Return the chance of a copy of each person, in the data and if they were not."""
        columns = {
            "record": np.arange(len(self)),
            "inside": self.inside,
            "outside": self.outside,
            "gain": self.gains,
        }
        return self._framed(columns, backend)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures over all people as plain values, with None for what is undefined."""
        figures = {
            "records": len(self),
            "rows": self.rows,
            "share": self.share,
            "by_chance": self.by_chance,
            "largest": self.largest,
        }
        plain: dict[str, Any] = to_plain(figures)
        return plain

    def summary(self) -> str:
        """Return the result in two plain sentences."""
        return (
            f"Of {counted(len(self), 'record')}, {percent(self.share)} are expected to have a copy "
            f"in a release of {counted(self.rows, 'row')} because they are in the data; "
            f"{percent(self.by_chance)} would have one anyway. Nobody's chance of a copy rises by "
            f"more than {points(self.largest)} because they are in the data."
        )


def own_copies(
    model: Synthesizer, original: Frame | Coded, *, rows: int | None = None
) -> OwnCopies:
    """Return who is expected to have a copy in a release because they are in the data.

    It is a forecast: nothing needs to be drawn. It says nothing about copies of some columns only.

    Parameters
    ----------
    model : Independent, BayesNet or Cart
        The fitted model.
    original : frame
        The table that it was fitted to.
    rows : int, optional
        Records of the release, or of all releases together; as many as the model was fitted to if
        not given.

    Returns
    -------
    OwnCopies

    Raises
    ------
    DataError
        If the model was not fitted to `original`.
    ParameterError
        If the model keeps columns as they are, or smooths numbers, so that nobody can see what was
        drawn.
    NoDensityError
        If the model does not work by counts.

    Notes
    -----
    With p the probability that the model gives a person's record, a release of m records holds a
    copy with the probability ``1 - (1 - p)**m``. Without the person, the model has the same
    structure, and the counts of all others. A copy is a record with the same codes: for a number in
    a bin, one of the same bin. So it is at most as probable that all values are the same.

    Examples
    --------
    >>> import polars as pl
    >>> from understudy import Independent
    >>> people = pl.DataFrame({"x": ["a", "a", "b"]})
    >>> found = own_copies(Independent().fit(people), people, rows=1)
    >>> found.inside.round(3).tolist(), found.outside.tolist()
    ([0.667, 0.667, 0.333], [0.5, 0.5, 0.0])
    """
    check_model(model)
    held = coded_original(model, original)
    size = len(held) if rows is None else check_whole("rows", rows, 1)
    nothing = Release(held, held.take(slice(0)))
    counts = FixedLikelihood.of(model.sampling_tables(), [nothing], held.names)
    layout = model.codec_.layout if isinstance(original, Coded) else Layout.of(original)
    return OwnCopies(
        size,
        _among(size, model.log_likelihood(held)),
        _among(size, counts.own_probabilities()),
        _backend=layout.backend,
    )


def _among(rows: int, logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability that one of so many records is one of this log probability."""
    with np.errstate(divide="ignore"):
        none_of_them = rows * np.log1p(-np.exp(np.minimum(logs, 0.0)))
    return np.asarray(-np.expm1(none_of_them))
