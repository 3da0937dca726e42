"""Mistakes that break a private synthesizer, to be planted and found again by the privacy audit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from understudy import BayesNet, Independent
from understudy.data import Codec
from understudy.privacy import Accountant, domain, noise
from understudy.synthesis.bayes import private
from understudy.synthesis.private import PrivateSynthesizer

Counts = NDArray[np.int64]


ROWS_WITH_LINKS = 600
"""With fewer records, noise at epsilon 1 would hide every link, and none is chosen."""


@dataclass(frozen=True)
class Bug:
    """A mistake, and the synthesizer in which it is planted.

    Parameters
    ----------
    name, about : str
        What it is called, and what is done wrong.
    planted : callable
        Returns a context in which it is there.
    synthesizer : callable
        Returns a synthesizer that has it there.
    rows : int
        Records of the tables in which it shows.
    """

    name: str
    about: str
    planted: Callable[[], AbstractContextManager[Any]]
    synthesizer: Callable[[], PrivateSynthesizer]
    rows: int = 20


def _half_the_scale() -> AbstractContextManager[Any]:
    right = noise.laplace_scale

    def wrong(l1: int, epsilon: Fraction) -> float:
        return right(l1, epsilon) / 2

    return patch.object(noise, "laplace_scale", wrong)


def _half_the_noise() -> AbstractContextManager[Any]:
    right = noise._noised  # noqa: SLF001  # this is where noise is drawn

    def wrong(measurement: object, counts: Counts) -> Counts:
        return counts + np.rint((right(measurement, counts) - counts) / 2).astype(np.int64)

    return patch.object(noise, "_noised", wrong)


def _fixed_seed() -> AbstractContextManager[Any]:
    def wrong(_measurement: object, counts: Counts) -> Counts:
        rng = np.random.default_rng(0)
        return np.asarray(counts + np.rint(rng.laplace(0, 6, counts.shape)).astype(np.int64))

    return patch.object(noise, "_noised", wrong)


def _never_debited() -> AbstractContextManager[Any]:
    return patch.object(Accountant, "_pay", lambda *_: None)


def _euclidean() -> AbstractContextManager[Any]:
    return patch.object(private, "score_sensitivity", lambda _rows: math.sqrt(2) / 2)


@contextmanager
def _domain_of_the_records() -> Iterator[None]:
    with patch.object(domain, "public_codec", lambda data, _schema: Codec.fit(data)):
        yield


def _structure_for_nothing() -> AbstractContextManager[Any]:
    def wrong(_self: Accountant, _what: str, scores: NDArray[np.float64], *_: object) -> int:
        return int(np.argmax(scores))

    return patch.object(Accountant, "choose", wrong)


def _columns() -> PrivateSynthesizer:
    return Independent(epsilon=1.0)


def _network() -> PrivateSynthesizer:
    return BayesNet(epsilon=1.0, parents=1)


BUGS: Mapping[str, Bug] = {
    bug.name: bug
    for bug in (
        Bug("noise halved", "the scale is half of what it must be", _half_the_scale, _columns),
        Bug(
            "noise halved when drawn",
            "the ledger has the right scale, and half of the noise is added",
            _half_the_noise,
            _columns,
        ),
        Bug(
            "budget spent twice",
            "nothing is debited, and so structure and tables both have the whole budget",
            _never_debited,
            _network,
            ROWS_WITH_LINKS,
        ),
        Bug(
            "L2 used for L1 in a score",
            "the sensitivity of the score is that of a Euclidean distance",
            _euclidean,
            _network,
            ROWS_WITH_LINKS,
        ),
        Bug(
            "domain from data",
            "levels are read from the records",
            _domain_of_the_records,
            _columns,
        ),
        Bug("fixed seed", "the same noise is drawn every time", _fixed_seed, _columns),
        Bug(
            "structure free",
            "the best parents are chosen without noise",
            _structure_for_nothing,
            _network,
            ROWS_WITH_LINKS,
        ),
    )
}
"""The mistakes by name."""
