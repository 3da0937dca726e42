"""Whether any record of a unit is disclosed: by looking keys up, and by repU and DiSCO."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.audit.measures.attribution import LOOKED_UP
from understudy.audit.measures.declaration import (
    DIFFERENCE,
    Collected,
    Explanation,
    FigureKind,
    Measure,
    differences,
    mean,
    spread,
)
from understudy.audit.measures.records import scores_by_lookup
from understudy.audit.synthesis import Synthesis
from understudy.audit.units import Units
from understudy.counting import group_ids
from understudy.data.coded import Coded
from understudy.data.frames import to_narwhals
from understudy.data.units import units_of
from understudy.learning.packed import Records
from understudy.risk.attribution_result import Attack
from understudy.risk.chance import shares_right
from understudy.risk.disclosure import disclosure_of
from understudy.risk.kept_back import Compared, People, compare_people

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

LOOKUP = FigureKind(
    "gcap_any_record",
    "GCAP, any record",
    "Share of people for whom one of their records, or more, is guessed by looking up its keys and "
    "taking one of the values found",
)
REPU = FigureKind(
    "repu_any_record",
    "repU, any record",
    "Share of people with a record whose keys nobody else has in the original, and exactly one in "
    "the release",
    guess=False,
)
DISCO = FigureKind(
    "disco_any_record",
    "DiSCO, any record",
    "Share of people with a record for which all synthetic records with its keys have the same "
    "sensitive value, and it is theirs",
    guess=False,
)


@dataclass(frozen=True)
class AnyRecord:
    """Shares of units of which at least one record is disclosed."""

    lookup: float
    lookup_baseline: float
    lookup_original: float
    lookup_control: float
    compared: Compared | None
    repu: float
    uio: float
    disco: float
    disco_baseline: float
    dorig: float


def any_of(chances: Floats, units: Codes) -> Floats:
    """Return how probable it is that at least one of a unit's records is guessed.

    Examples
    --------
    >>> any_of(np.array([0.5, 0.5, 0.2]), np.array([0, 0, 1])).tolist()
    [0.75, 0.2]
    """
    count = int(units.max(initial=-1)) + 1
    with np.errstate(divide="ignore"):
        none = np.exp(np.bincount(units, np.log1p(-np.minimum(chances, 1.0)), count))
    return np.round(1.0 - none, 12)


def _run(synthesis: Synthesis) -> AnyRecord:
    units = synthesis.task.units
    assert units is not None  # noqa: S101  # there is no such job without them
    prepared, _ = synthesis.with_fewer_sets(LOOKED_UP)
    scenario, number = prepared.scenario, prepared.number
    own, asked = prepared.original[scenario.sensitive], Records(prepared.original)
    release = scores_by_lookup(Attack(prepared.released, asked, number), scenario)
    upper = scores_by_lookup(Attack(prepared.original, asked, number), scenario)
    inside = any_of(release, units.original)
    expected = any_of(shares_right(own, number), units.original)
    control, compared = float("nan"), None
    if prepared.control is not None and units.control is not None:
        attack = Attack(prepared.released, Records(prepared.control), number)
        outside = any_of(scores_by_lookup(attack, scenario), units.control)
        control = float(outside.mean())
        # What is guessed about a unit rests on how many records it has, and on their values.
        pooled = shares_right(
            np.concatenate([own, prepared.control[scenario.sensitive]]).astype(np.int64), number
        )
        parts = (pooled[: len(own)], units.original), (pooled[len(own) :], units.control)
        one, other = (np.digitize(any_of(*part), _CUTS) for part in parts)
        compared = compare_people(People(inside, one), People(outside, other))
    flags = disclosure_of(synthesis.prepared).per_record(backend="polars")

    def share(which: NDArray[np.bool_]) -> float:
        return float((np.bincount(units.original, which) > 0).mean())

    unique, replicated = _unique(synthesis, units)
    return AnyRecord(
        float(inside.mean()),
        float(expected.mean()),
        float(any_of(upper, units.original).mean()),
        control,
        compared,
        share(unique & replicated),
        share(unique),
        share(flags["correct"].to_numpy()),
        share(flags["constant"].to_numpy()),
        share(_one_value(synthesis)),
    )


def _unique(synthesis: Synthesis, units: Units) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which records have keys that no other unit has; and that one has in the release.

    Records of the release are units if nothing says which of them belong together.
    """
    prepared = synthesis.prepared
    combined = _combined((prepared.original, *prepared.syntheses), prepared.scenario.keys)
    own, other = combined[: len(units.original)], combined[len(units.original) :]
    released = np.arange(len(other))
    if set(units.names) <= set(to_narwhals(synthesis.table).columns):
        released = units_of(synthesis.table, units.names)
    size = int(combined.max(initial=0)) + 1
    return _of_one(own, units.original, size)[own], _of_one(other, released, size)[own]


def _combined(tables: Sequence[Coded], keys: Sequence[str]) -> Codes:
    """Return the combination of keys of each record of all tables, from 0."""
    every = Coded.concatenate([table.select(keys) for table in tables])
    return group_ids(every, tuple(keys)).ids.astype(np.int64)


def _of_one(combined: Codes, units: Codes, size: int) -> NDArray[np.bool_]:
    """Return which combinations exactly one unit has."""
    low, high = np.full(size, np.iinfo(np.int64).max), np.full(size, -1)
    np.minimum.at(low, combined, units)
    np.maximum.at(high, combined, units)
    alone: NDArray[np.bool_] = low == high
    return alone


def _one_value(synthesis: Synthesis) -> NDArray[np.bool_]:
    """Return which records have keys with one sensitive value in the original."""
    prepared = synthesis.prepared
    combined = _combined((prepared.original,), prepared.scenario.keys)
    own = prepared.original[prepared.scenario.sensitive].astype(np.int64)
    return _of_one(combined, own, int(combined.max(initial=0)) + 1)[combined]


_CUTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Units are alike if they would be guessed about as often without the release."""


def _collect(_first: Synthesis, found: Sequence[AnyRecord]) -> Collected:
    figures = [
        LOOKUP.figure(
            baseline=mean(one.lookup_baseline for one in found),
            synthetic=mean(one.lookup for one in found),
            original=mean(one.lookup_original for one in found),
            control=mean(one.lookup_control for one in found),
            gain=mean(one.lookup - one.lookup_baseline for one in found),
            spread=spread([one.lookup for one in found]),
            note="Without the release, each record is guessed by a value drawn from the original's "
            "shares, as often as there are records.",
        ),
        REPU.figure(
            synthetic=mean(one.repu for one in found),
            original=mean(one.uio for one in found),
            spread=spread([one.repu for one in found]),
        ),
        DISCO.figure(
            baseline=mean(one.disco_baseline for one in found),
            synthetic=mean(one.disco for one in found),
            original=mean(one.dorig for one in found),
            gain=mean(one.disco - one.disco_baseline for one in found),
            spread=spread([one.disco for one in found]),
        ),
    ]
    return Collected(figures, differences(LOOKUP.name, [one.compared for one in found]))


ANY_RECORD = Measure(
    "any_record",
    "looking at all records of each unit",
    _run,
    _collect,
    needed=lambda task, _given: task.units is not None,
    needs="a unit id",
    of_units="all records",
    figures=(LOOKUP, REPU, DISCO),
    numbers={LOOKUP.name: DIFFERENCE},
    explanation=Explanation(
        "Any record of a unit",
        "A person with several records is disclosed if one of them is. For each record, we look up "
        "the synthetic records with the same keys, or the nearest ones, and take the value of one "
        "of them. We show how often at least one of these guesses is right, beside as many guesses "
        "without the release. repU and DiSCO count people with at least one such record; keys are "
        "unique if no other person has them.",
    ),
    place=56,
)
