"""The posterior that each person was in the data, and figures over all people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_whole, is_number
from understudy.data.frames import Backend, Frame
from understudy.errors import ParameterError
from understudy.results import Line, Result, to_plain
from understudy.risk.strong.result import CERTAIN
from understudy.wording import counted, percent

SURE = (0.5, 0.9)
"""Posteriors above which people are counted."""


@dataclass(frozen=True, eq=False)
class Posteriors:
    """The posterior of some people, and how many of them are betrayed by it.

    All values are nan if they are not known, and so are then the figures.

    Examples
    --------
    >>> found = Posteriors(np.array([0.4, 0.95, 1.0]))
    >>> found.maximum, round(found.share_above(0.5), 3), found.certain
    (1.0, 0.667, 1)
    """

    values: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def known(self) -> bool:
        """Whether there are people, and their posteriors are defined."""
        return len(self) > 0 and not np.isnan(self.values).any()

    @property
    def maximum(self) -> float:
        """The largest posterior; nan if there is none."""
        return float(np.max(self.values)) if len(self) else math.nan

    @property
    def mean(self) -> float:
        """The mean posterior; nan if there is none."""
        return float(np.mean(self.values)) if len(self) else math.nan

    @property
    def certain(self) -> int:
        """People of whom it is certain that they were in the data."""
        return int(np.count_nonzero(self.values >= 1 - CERTAIN))

    def share_above(self, threshold: float) -> float:
        """Return the share of people with a posterior of more than this."""
        if not is_number(threshold) or not 0 <= threshold <= 1:
            raise ParameterError(f"threshold must lie between 0 and 1; got {threshold!r}.")
        return float(np.mean(self.values > threshold)) if self.known else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return the figures over all people as plain values."""
        plain: dict[str, Any] = to_plain(
            {
                "mean": self.mean,
                "maximum": self.maximum,
                "share_above_half": self.share_above(SURE[0]),
                "share_above_90_percent": self.share_above(SURE[1]),
                "certain": self.certain if self.known else math.nan,
            }
        )
        return plain


@dataclass(frozen=True, eq=False)
class ExactMembership(Result):
    """How sure an attacker who knows everyone else is that a person was in the data.

    See `membership_exact`.

    Parameters
    ----------
    prior : float
        Probability that the person was in, before the release.
    mode : {"fixed", "refit"}
        How the likelihood of the release in the other world was found.
    record : ndarray of int64
        Row numbers in the original, from 0.
    without : Posteriors
        Against the world in which the person is missing and nobody takes their place.
    replaced : Posteriors
        Against the world in which a fresh person of the model takes their place.
    mc_error : ndarray of float64
        Standard error of each posterior of `replaced`: 0 if the average over fresh people is
        exact.
    draws : int
        Fresh people who were drawn; 0 if the average is exact.
    releases : int
        How many releases were seen.
    control : Posteriors or None
        The same as `without` for people who were not in the data, if there are such.
    reasons : mapping from str to str
        Why a figure is undefined.
    notes : tuple of str
        What a reader should know, such as which columns were withheld.

    Examples
    --------
    >>> found = ExactMembership(0.5, "fixed", np.array([0, 1]), Posteriors(np.array([0.5, 1.0])),
    ...     Posteriors(np.array([0.5, 0.96])), np.zeros(2))
    >>> found.without.certain, found.replaced.share_above(0.9)
    (1, 0.5)
    """

    prior: float
    mode: str
    record: NDArray[np.int64]
    without: Posteriors
    replaced: Posteriors
    mc_error: NDArray[np.float64]
    draws: int = 0
    releases: int = 1
    control: Posteriors | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.record)

    def lines(self) -> list[Line]:
        """Return the shares of people above each limit, and of people who were not in."""
        return [
            Line(
                f"Above {limit:.0%}, {title}",
                f"Share of people who are in the data with a probability of more than {limit:.0%}",
                float(self.prior > limit),
                found.share_above(limit),
                control=control.share_above(limit) if control is not None else math.nan,
            )
            for title, found, control in (
                ("or not in", self.without, self.control),
                ("or replaced", self.replaced, None),
            )
            for limit in SURE
        ]

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each kind of other world."""
        worlds = {"without": self.without, "replaced": self.replaced}
        if self.control is not None:
            worlds["control"] = self.control
        rows = [{"world": name, **found.to_dict()} for name, found in worlds.items()]
        return self._framed(rows, backend)

    def per_record(self, *, backend: Backend | None = None) -> Frame:
        """Return the posteriors of each person: row number, both other worlds, and the error."""
        columns = {
            "record": self.record,
            "without": self.without.values,
            "replaced": self.replaced.values,
            "mc_error": self.mc_error,
        }
        return self._framed(columns, backend)

    def worst(self, count: int = 10, *, backend: Backend | None = None) -> Frame:
        """Return the people who are most surely in the data."""
        most = check_whole("count", count, 0)
        key = self.without.values
        if self.replaced.known:
            key = key + self.replaced.values
        order = np.lexsort((self.record, -key))[:most]
        found: Any = self.per_record(backend="polars")
        return self._framed(found[order], backend)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures over all people as plain values, with None for what is undefined."""
        control = None if self.control is None else self.control.to_dict()
        figures = {
            "prior": self.prior,
            "mode": self.mode,
            "records": len(self),
            "releases": self.releases,
            "without": self.without.to_dict(),
            "replaced": self.replaced.to_dict(),
            "control": control,
            "draws": self.draws,
            "max_mc_error": float(self.mc_error.max(initial=0.0)),
            "reasons": dict(self.reasons),
            "notes": list(self.notes),
        }
        plain: dict[str, Any] = to_plain(figures)
        return plain

    def summary(self) -> str:
        """Return the result in a few plain sentences."""
        found = self.without
        text = (
            f"An attacker who knows everyone else's record, and thinks that a person was in the "
            f"data with a probability of {self.prior:.0%}, is more than 90% sure after the release "
            f"for {percent(found.share_above(0.9))} of {counted(len(self), 'record')}. "
            f"The largest probability is {found.maximum:.3f}."
        )
        if self.replaced.known:
            text += (
                " If somebody else would have taken the person's place, it is "
                f"{self.replaced.maximum:.3f}, and above 90% for "
                f"{percent(self.replaced.share_above(0.9))}."
            )
        if self.control is not None:
            text += (
                f" Of {counted(len(self.control), 'person')} who were not in the data, "
                f"{percent(self.control.share_above(0.9))} seem to have been, with more than 90%."
            ).replace("persons", "people")
        return text
