"""Which columns of numbers seem to be computed from two others, as far as a few records tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.data.dependencies.families import Form, Formula
from understudy.data.dependencies.formulas import Floats, plain_formula
from understudy.data.dependencies.looks import (
    FEWEST,
    FEWEST_MOVES,
    GLANCED,
    Looks,
    mostly,
    round_numbers,
)

Places = NDArray[np.int64]

_GLANCE = 32
_FIRST_STEPS = 12
"""Of the steps between these records, so many are looked at first."""
_SUMS = 6
_STEPS_OF_A_SUM = 6
"""So many sums of so many steps: a formula with slips of the pen in one of a hundred records is
missed about twice in a million times."""
_CHECKED_AT_ONCE = 20_000
_OFTEN_ZERO = 0.2
"""Share of zeros from which a product is looked for by where it is 0."""
_LIKE_A_TOTAL = 0.75
"""A total has this share of the variance of its parts, at least."""
_RELATIVE = 0.005
_PART = 100
"""Records that are counted at once: products of larger tables would be shared out to threads."""


@dataclass(frozen=True)
class _TwoForm:
    """A form of two numbers, as a weighted sum of them or of their logarithms."""

    form: Form
    first: float
    second: float
    logs: bool = False
    factor: float = 1.0

    @property
    def symmetric(self) -> bool:
        """Whether the two can be interchanged."""
        return self.first == self.second


_PRODUCT = _TwoForm("product", 1, 1, logs=True)
_TWO_FORMS = (
    _TwoForm("sum", 1, 1),
    _TwoForm("sum", -1, -1, factor=-1.0),
    _TwoForm("sum", 0.5, 0.5, factor=0.5),
    _TwoForm("difference", 1, -1),
    _TwoForm("ratio", 1, -1, logs=True),
    _TwoForm("ratio to square", 1, -2, logs=True),
    _PRODUCT,
)


def formulas_of_two(looks: Looks) -> list[Formula]:
    """Return the formulas of two numbers that a first look suggests, those to try first first.

    A total is computed from its parts. But the year in which people of all ages were asked is not
    the sum of their ages and years of birth: of these, the column that varies most is computed.
    """
    if len(looks.names) < 3:
        return []
    values, room, _ = looks.first
    with np.errstate(all="ignore"):
        mean = np.nanmean(values, axis=1, keepdims=True)
        spread = dict(zip(looks.names, np.nanmean((values - mean) ** 2, axis=1), strict=True))
        least = dict(zip(looks.names, np.fmin.reduce(values, 1), strict=True))
        fitted = [
            _fitted(form, pair, place, values, room, looks.names)
            for form, pair, place in _triples(looks)
        ]
    found = [one for one in fitted if one is not None]

    def first(one: Formula) -> tuple[bool, bool, bool, float]:
        linear = one.form in ("sum", "difference")
        parts = one.form in ("sum", "product") and one.factor > 0
        parts = parts and all(least[name] >= 0 for name in one.of)
        if linear:
            parts = parts and spread[one.column] >= _LIKE_A_TOTAL * max(spread[n] for n in one.of)
        return not linear, one.constant != 0, not parts, -spread[one.column] if linear else 0.0

    return sorted(found, key=first)


def _triples(looks: Looks) -> Iterator[tuple[_TwoForm, tuple[int, int], int]]:
    """Yield the columns that a few records suggest to be a form of two others.

    Sums and differences are looked at from record to record, so that constants drop out; products
    and ratios likewise, by their logarithms.
    """
    values, tolerance = looks.few(_GLANCE)
    logs = np.log(np.abs(values))
    logs[~np.isfinite(logs)] = np.nan
    # Numbers that are nearly rounded away would agree with anything.
    relative = np.minimum(tolerance / np.abs(values), _RELATIVE)
    seen = {
        False: (np.diff(values, axis=1), tolerance[:, 1:] + tolerance[:, :-1]),
        True: (np.diff(logs, axis=1), relative[:, 1:] + relative[:, :-1]),
    }
    numbers = looks.first[0]
    zeros = (numbers == 0).mean(1) > _OFTEN_ZERO
    others = np.where(numbers == 0, np.nan, numbers)
    dummies = zeros & (np.fmax.reduce(others, 1) == np.fmin.reduce(others, 1))
    for form in _TWO_FORMS:
        for a, b, place in _agreeing_steps(form, *seen[form.logs], dummies):
            yield form, (a, b), place
    yield from _interactions(looks)


def _agreeing_steps(
    form: _TwoForm, steps: Floats, room: Floats, dummies: NDArray[np.bool_]
) -> Iterator[tuple[int, int, int]]:
    """Yield two columns and a third whose steps from record to record are a form of theirs."""
    moved = np.abs(steps) > room
    triples = _suggested(form, steps, room, dummies)
    for first in range(0, len(triples), _CHECKED_AT_ONCE):
        a, b, place = triples[first : first + _CHECKED_AT_ONCE].T
        told = form.first * steps[a] + form.second * steps[b]
        # What stays as it is in both agrees by itself, and tells nothing.
        asked = ~np.isnan(told) & ~np.isnan(steps[place])
        asked &= moved[place] | (np.abs(told) > room[place])
        agree = asked & (np.abs(steps[place] - told) <= room[place] + 1e-9)
        found = agree.sum(1) >= GLANCED * np.maximum(asked.sum(1), FEWEST_MOVES)
        yield from zip(a[found].tolist(), b[found].tolist(), place[found].tolist(), strict=True)


def _suggested(
    form: _TwoForm, steps: Floats, room: Floats, dummies: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return triples of columns that are worth a check: two, and a third that may be their form.

    A triple without gaps must agree in some sum of a few of the steps, with weights of chance:
    it is looked up among the sorted sums of all columns. The others are compared step by step.
    """
    known = ~np.isnan(steps)
    moves = (known & (steps != 0)).astype(np.float32)
    fewest = GLANCED * FEWEST_MOVES
    places = np.flatnonzero(moves.sum(1) >= fewest)
    full: NDArray[np.bool_] = np.asarray(known.all(1))
    # The product with a dummy variable is 0 so often that it is found elsewhere.
    firsts = np.flatnonzero(~dummies | (form.first != form.second) | (not form.logs))
    seconds = np.flatnonzero(~dummies | (not form.logs))
    found = [_looked_up(form, steps, room, *(one[full[one]] for one in (firsts, seconds, places)))]
    most_off = int((1 - GLANCED) * steps.shape[1])
    # What is off by more than twice the room disagrees, whatever else holds.
    head, beyond = steps.T[:_FIRST_STEPS], 2 * room.T[:_FIRST_STEPS] + 1e-9
    for a in firsts if not full.all() else ():
        for others, third in (
            (seconds[~full[seconds] | ~full[a]], places),
            (seconds[full[seconds] & full[a]], places[~full[places]]),
        ):
            told = form.first * head[:, a, None] + form.second * head[:, others]
            far = np.abs(head[:, None, third] - told[:, :, None]) > beyond[:, None, third]
            enough = (known[a] & known[others]).astype(np.float32) @ moves[third].T >= fewest
            few = far.view(np.uint8).sum(0, dtype=np.uint8) <= most_off
            b, c = np.nonzero(few & enough)
            found.append(np.stack([np.full(len(b), a), others[b], third[c]], axis=1))
    triples = np.concatenate(found)
    a, b, place = triples.T
    usable = (a < b) if form.symmetric else (a != b)
    return np.asarray(triples[usable & (place != a) & (place != b)])


def _looked_up(
    form: _TwoForm,
    steps: Floats,
    room: Floats,
    firsts: Places,
    seconds: Places,
    places: Places,
) -> NDArray[np.int64]:
    """Return the triples of columns without gaps of which sums of some steps agree."""
    if not len(places):
        return np.empty((0, 3), np.int64)
    rng = np.random.default_rng(0)
    found = []
    for _ in range(_SUMS):
        some = rng.permutation(steps.shape[1])[:_STEPS_OF_A_SUM]
        weights = rng.uniform(0.5, 1.5, len(some))
        sums, slack = steps[:, some] @ weights, room[:, some] @ weights + 1e-8
        order = places[np.argsort(sums[places], kind="stable")]
        told = (form.first * sums[firsts, None] + form.second * sums[seconds]).ravel()
        most = float(slack[places].max())
        low, high = (np.searchsorted(sums[order], told + off) for off in (-most, most))
        count = high - low
        pair = np.repeat(np.arange(len(told)), count)
        third = order[np.arange(len(pair)) - np.repeat(np.cumsum(count) - count - low, count)]
        near = np.abs(sums[third] - told[pair]) <= slack[third]
        pair, third = pair[near], third[near]
        found.append((pair * len(steps)) + third)
    keys = np.unique(np.concatenate(found))
    pair, third = keys // len(steps), keys % len(steps)
    return np.stack([firsts[pair // len(seconds)], seconds[pair % len(seconds)], third], axis=1)


def _interactions(looks: Looks) -> Iterator[tuple[_TwoForm, tuple[int, int], int]]:
    """Yield the columns that may be products of two others, of which many are 0."""
    values, tolerance, _ = looks.first
    sparse = np.flatnonzero((values == 0).mean(1) > _OFTEN_ZERO)
    if not len(sparse):
        return
    known, full = ~np.isnan(values), (values != 0) & ~np.isnan(values)
    mine = full[sparse].astype(float)
    for a in range(len(values) - 1):
        others = np.arange(a + 1, len(values))
        told = full[a] & full[others]
        # Most are discarded by where they are 0.
        seen = (known[a] & known[others]).astype(float)
        rest = [slice(first, first + _PART) for first in range(0, values.shape[1], _PART)]
        both = sum(told[:, part].astype(float) @ mine[:, part].T for part in rest)
        asked = sum(seen[:, part] @ mine[:, part].T for part in rest) - both
        asked += sum(told[:, part].astype(float) @ known[sparse][:, part].T for part in rest)
        near, one = np.nonzero(both >= GLANCED * np.maximum(asked, FEWEST_MOVES))
        places = sparse[one]
        different = (places != a) & (places != others[near])
        near, places = near[different], places[different]
        product = values[a] * values[others[near]]
        counted = known[places] & ~np.isnan(product) & ((product != 0) | (values[places] != 0))
        agree = counted & (np.abs(values[places] - product) <= tolerance[places])
        found = agree.sum(1) >= GLANCED * np.maximum(counted.sum(1), FEWEST_MOVES)
        for place in np.flatnonzero(found):
            yield _PRODUCT, (a, int(others[near[place]])), int(places[place])


def _fitted(
    form: _TwoForm,
    pair: tuple[int, int],
    place: int,
    values: Floats,
    tolerance: Floats,
    names: Sequence[str],
) -> Formula | None:
    """Return the formula with its constant or factor, if more records agree with it."""
    of = (names[pair[0]], names[pair[1]])
    mine = values[place]
    told = plain_formula(form.form, [values[one] for one in pair], form.factor, 0.0)
    known = ~np.isnan(told) & ~np.isnan(mine)
    if np.count_nonzero(known) < FEWEST:
        return None
    mine, told, room = mine[known], told[known], tolerance[place][known]
    if not form.logs:
        # Differences are exact up to rounding, so the constant is a round number.
        constant = float(np.round(np.median(mine - told), 6))
        if not mostly(np.abs(mine - told - constant) <= room):
            return None
        return Formula(names[place], form.form, of, factor=form.factor, constant=constant)
    if not (told != 0).any():
        return None
    middle = float(np.median(mine[told != 0] / told[told != 0]))
    if middle == 0:
        middle = 1.0  # mostly zeros
    for factor in round_numbers(middle):
        if factor and mostly(np.abs(mine - factor * told) <= room):
            return Formula(names[place], form.form, of, factor=factor)
    return None
