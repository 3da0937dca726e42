"""Lookalikes of people who are in the data against those of people who are not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.learning.mixed_distance import Kind
from understudy.risk.lookalikes.looks import SEEN, SEEN_AT, Family, nested
from understudy.risk.lookalikes.near import Near
from understudy.risk.tails import hypergeometric_tail

_SIMULATIONS = 2000
_PLANTINGS = 400


@dataclass(frozen=True)
class ControlLook:
    """One comparison of people in the data with control records.

    Parameters
    ----------
    distance : str
        By which distance.
    isolated : float
        The share of the people in the data that were looked at, the most isolated.
    people, found : int
        How many of the people in the data that are, and how many of them have a lookalike.
    control_people, control_found : int
        The same of the control records that are as isolated.
    p_value : float
        Of this look by itself.
    """

    distance: str
    isolated: float
    people: int
    found: int
    control_people: int
    control_found: int
    p_value: float


@dataclass(frozen=True)
class ControlLookalikes:
    """How many people who are not in the data have a lookalike.

    Parameters
    ----------
    people : int
        How many were compared.
    found : int
        How many have one, by the distance of the result's `found`.
    share : float
        The same as a share.
    difference : float
        The share of people in the data who have one, less this one.
    p_value : float
        Of the largest difference over all looks, if it made no difference who is in the data.
    worst : ControlLook
        The look with the smallest p-value.
    power : float
        The smallest share of people whose whole records would have been seen by this comparison,
        had they been copied, 99 times of 100; nan if not even copies of everybody would.
    """

    people: int
    found: int
    share: float
    difference: float
    p_value: float
    worst: ControlLook
    power: float = math.nan


def compare_with_control(
    families: Mapping[str, Family],
    control: Mapping[Kind, Near],
    ratio: float,
    distance: str,
    *,
    power: bool = True,
) -> ControlLookalikes:
    """Compare people in the data with control records, by each distance and share of the isolated.

    Which of all people are in the data is drawn anew many times; the smallest p-value of all looks
    is compared with those that come of it. The power takes most of the time.
    """
    kinds: list[Kind] = list(control)
    inside, outside = (
        np.concatenate(parts, axis=1)
        for parts in zip(
            *(
                _flags(families[name], control[name].person, control[name].found(ratio))
                for name in kinds
            ),
            strict=True,
        )
    )
    rows, kind_of, sizes = np.unique(
        np.vstack([inside, outside]), axis=0, return_inverse=True, return_counts=True
    )
    observed = np.bincount(kind_of.ravel()[: len(inside)], minlength=len(rows))
    rng = np.random.default_rng(0)
    drawn = rng.multivariate_hypergeometric(sizes, len(inside), _SIMULATIONS, method="marginals")
    shells = [len(families[name].cuts) for name in kinds]
    p_values = _p_values(observed[None], rows, sizes, shells)
    smallest = float(p_values.min())
    simulated = _p_values(drawn, rows, sizes, shells).min(axis=1)
    corrected = (1 + np.count_nonzero(simulated <= smallest * (1 + 1e-9))) / (1 + _SIMULATIONS)
    own = families[distance].found
    other = next(near for kind, near in control.items() if kind == distance).found(ratio)
    share = float(other.mean()) if len(other) else math.nan
    return ControlLookalikes(
        len(other),
        int(other.sum()),
        share,
        float(own.mean()) - share,
        min(corrected, smallest * p_values.shape[1], 1.0),
        _look(int(p_values.argmin()), smallest, families, kinds, (inside, outside)),
        _smallest_share_seen(families, kinds, inside, outside) if power else math.nan,
    )


def _look(
    number: int,
    p_value: float,
    families: Mapping[str, Family],
    kinds: list[Kind],
    flags: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> ControlLook:
    """Return one of all looks, which go by distance, and from everybody to the most isolated."""
    looks = [(place, cut) for place, k in enumerate(kinds) for cut in range(len(families[k].cuts))]
    place, cut = looks[number]
    (people, found), (others, of_others) = (
        (int(looked_at.sum()), int(held[looked_at, 2 * place + 1].sum()))
        for held in flags
        for looked_at in [held[:, 2 * place] >= cut]
    )
    isolated = people / len(flags[0])
    return ControlLook(kinds[place], isolated, people, found, others, of_others, p_value)


def _smallest_share_seen(
    families: Mapping[str, Family],
    kinds: list[Kind],
    inside: NDArray[np.int64],
    outside: NDArray[np.int64],
) -> float:
    """Return the smallest share of copies at which one of the looks sees them.

    People in the data are taken to be found as often as control records are, and as often again as
    copies of them are planted that would be lookalikes. Each look has its part of the chance.
    """
    looks = [
        (
            np.count_nonzero(within),
            np.count_nonzero(beyond),
            float(outside[beyond, 2 * place + 1].mean()) if beyond.any() else math.nan,
            float(families[kind].open[within].mean()) if within.any() else math.nan,
        )
        for place, kind in enumerate(kinds)
        for cut in range(len(families[kind].cuts))
        for within, beyond in [(inside[:, 2 * place] >= cut, outside[:, 2 * place] >= cut)]
    ]
    rng = np.random.default_rng(0)
    for share in np.geomspace(0.002, 1, 40):
        for people, others, found, open_to in looks:
            # Shrunk a little, so that none found in a few does not mean that there are none.
            base = (found * others + 0.5) / (others + 1) if others else math.nan
            if math.isnan(base) or math.isnan(open_to):
                continue
            hits = rng.binomial(people, base + share * open_to * (1 - base), _PLANTINGS)
            chance = rng.binomial(others, base, _PLANTINGS)
            p_values = hypergeometric_tail(hits, people + others, hits + chance, people)
            if np.mean(p_values <= SEEN_AT / len(looks)) >= SEEN:
                return float(share)
    return math.nan


def _flags(
    family: Family, isolation: NDArray[np.float64], found: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the shell of each person, and whether they are found: of both groups."""
    shell = np.searchsorted(family.cuts, isolation, "right") - 1
    inside = np.stack([family.shell, family.found.astype(np.int64)], axis=1)
    return inside, np.stack([shell, found.astype(np.int64)], axis=1)


def _p_values(
    drawn: NDArray[np.int64], rows: NDArray[np.int64], sizes: NDArray[np.int64], shells: list[int]
) -> NDArray[np.float64]:
    """Return the p-value of each look: so many found among those inside, or more."""
    found = []
    for place, count in enumerate(shells):
        shell, hit = rows[:, 2 * place], rows[:, 2 * place + 1]
        where = np.eye(count)[shell]
        people, hits = nested(drawn @ where), nested(drawn @ (where * hit[:, None]))
        every, all_hits = nested(sizes @ where), nested(sizes @ (where * hit[:, None]))
        found.append(hypergeometric_tail(hits, every, all_hits, people))
    return np.concatenate(found, axis=1)
