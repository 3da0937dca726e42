"""The form of identifiers: what may stand at each place, and how none of the original's begins.

A character is kept as it is only if nearly all records share it, and what may stand elsewhere is a
whole class of characters: nothing of a single record is in a form.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from understudy.data.check_digits import (
    Characters,
    Check,
    check_places,
    find_check,
    set_check,
)

SHARED, FEWEST_SHARED = 0.9, 20
"""A character stays as it is if this share of the records have it, and at least so many."""

FEWEST = 5
"""Fewer records than this have no say in what may stand at a place."""

DIGITS = "0123456789"
UPPER, LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
_CLASSES = (
    DIGITS,
    UPPER,
    LOWER,
    DIGITS + "abcdef",
    DIGITS + "ABCDEF",
    DIGITS + UPPER,
    DIGITS + LOWER,
    DIGITS + UPPER + LOWER,
)
_MOST_BEGINNINGS, _MOST_LEAD, _MOST_COUNTED = 2**22, 22, 2**31
_FEW_KEPT, _MOST_KEPT = 64, 4096
"""Beginnings that are kept: so many for variety, and no more than this."""


@dataclass(frozen=True)
class Form:
    """One form of identifiers: what may stand at each place, and how none of the original's begins.

    Parameters
    ----------
    places : tuple of str
        The characters that may stand at each place.
    lead : int
        How many places with a choice make up the beginning.
    free : tuple of int
        The beginnings that no original has, by their number among all.
    check : str
        The scheme of the check digits; empty for none.
    checked : tuple of int
        Their places.
    """

    places: tuple[str, ...]
    lead: int = 0
    free: tuple[int, ...] = ()
    check: Check = ""
    checked: tuple[int, ...] = ()

    @property
    def open(self) -> list[int]:
        """The places with a choice, without those of check digits."""
        return [n for n, one in enumerate(self.places) if len(one) > 1 and n not in self.checked]

    @property
    def _counted(self) -> int:
        """How many of the last open places count the identifiers; those between are filled."""
        count, combinations = 0, 1
        for place in reversed(self.open[self.lead :]):
            if combinations * len(self.places[place]) > _MOST_COUNTED:
                break
            combinations *= len(self.places[place])
            count += 1
        return count

    @property
    def _per_beginning(self) -> int:
        last = self.open[len(self.open) - self._counted :]
        return math.prod(len(self.places[place]) for place in last)

    @property
    def room(self) -> int:
        """How many different identifiers there are of this form."""
        return len(self.free) * self._per_beginning

    def make(self, order: NDArray[np.int64]) -> Characters:
        """Return the identifiers at some places of a fixed order, a row each."""
        made = np.empty((len(order), len(self.places)), np.uint32)
        for place, one in enumerate(self.places):
            made[:, place] = ord(one[0])
        first, turn = order % len(self.free), order // len(self.free)
        self._write(made, self.open[: self.lead], np.array(self.free, np.int64)[first])
        counted = len(self.open) - self._counted
        size = self._per_beginning
        start = (_mixed(first, 0) % np.uint64(size)).astype(np.int64)
        self._write(made, self.open[counted:], (turn * _step(size) + start) % size)
        for number, place in enumerate(self.open[self.lead : counted]):
            alphabet = _codes(self.places[place])
            made[:, place] = alphabet[_mixed(order, number) % np.uint64(len(alphabet))]
        set_check(self.check, made, list(self.checked))
        return made

    def _write(self, made: Characters, places: Sequence[int], numbers: NDArray[np.int64]) -> None:
        """Write a number in the characters of some places, the last of them the units."""
        rest = numbers
        for place in reversed(places):
            alphabet = _codes(self.places[place])
            made[:, place] = alphabet[rest % len(alphabet)]
            rest = rest // len(alphabet)

    def fitted(self, pieces: Iterable[Characters], wanted: int) -> Form | None:
        """Return the form with beginnings that no original has; None if it lacks the room.

        The originals come in pieces, for a column may be too large to be written out at once. The
        shortest beginnings that leave room for `wanted` identifiers are taken.
        """
        sizes = np.cumprod([len(self.places[place]) for place in self.open[:_MOST_LEAD]])
        unused = [np.ones(size, bool) for size in sizes if 0 < size <= _MOST_BEGINNINGS]
        for characters in pieces:
            own = characters[self.of_this_form(characters)]
            taken = np.zeros(len(own), np.int64)
            for place, left in zip(self.open, unused, strict=False):
                taken = taken * len(self.places[place]) + self._ranks(place)[own[:, place]]
                left[taken] = False
        for lead, left in enumerate(unused, 1):
            free = np.flatnonzero(left)
            form = replace(self, lead=lead, free=(0,))
            needed = -(-wanted // form.room)
            if needed > _MOST_KEPT:
                return None  # longer beginnings leave less room each
            if len(free) >= needed:
                spread = np.linspace(0, len(free) - 1, max(needed, min(len(free), _FEW_KEPT)))
                return replace(form, free=tuple(free[spread.astype(int)].tolist()))
        return None

    def _ranks(self, place: int) -> NDArray[np.int64]:
        """Return for each character code its place among those that may stand there."""
        codes = _codes(self.places[place])
        ranks = np.zeros(int(codes.max()) + 1, np.int64)
        ranks[codes] = np.arange(len(codes))
        return ranks

    def of_this_form(self, characters: Characters) -> NDArray[np.bool_]:
        """Return which identifiers have this form, whatever their check digits."""
        same = np.full(len(characters), characters.shape[1] == len(self.places))
        if not same.any():
            return same
        allowed = np.zeros(int(characters.max()) + 1, bool)
        for place, one in enumerate(self.places):
            if place not in self.checked:
                codes = _codes(one)
                allowed[:] = False
                allowed[codes[codes < len(allowed)]] = True
                same &= allowed[characters[:, place]]
        return same

    def looser(self, first: str) -> Form | None:
        """Return the form with one more digit left open, the last that is fixed; None if none is.

        `first` are the digits that may come first.
        """
        for place in reversed(range(len(self.places))):
            one = self.places[place]
            if len(one) == 1 and one in DIGITS and place not in self.checked:
                digits = first if place == 0 else DIGITS
                return replace(
                    self, places=(*self.places[:place], digits, *self.places[place + 1 :])
                )
        return None

    def wider(self, digits: int) -> Form | None:
        """Return the form with more digits; None if its check digits need this length."""
        if self.check not in ("", "luhn"):
            return None
        numeric = [place for place in self.open if self.places[place][-1:] == "9"]
        end = max(numeric, default=len(self.places) - 1) + 1
        places = (*self.places[:end], *[DIGITS] * digits, *self.places[end:])
        moved = tuple(one + digits * (one >= end) for one in self.checked)
        return replace(self, places=places, checked=moved)


def _step(size: int) -> int:
    """Return a step near the golden section that comes to every number below `size` in turn."""
    start = int(0.618 * size) + 1
    return next(one for one in range(start, start + size + 1) if math.gcd(one, size) == 1) % size


def _codes(alphabet: str) -> NDArray[np.uint32]:
    return np.array([ord(one) for one in alphabet], np.uint32)


def _mixed(order: NDArray[np.int64], number: int) -> NDArray[np.uint64]:
    """Return numbers that look random (splitmix64), the same for the same row and place."""
    with np.errstate(over="ignore"):
        state = order.astype(np.uint64) * np.uint64(64) + np.uint64(number + 1)
        state *= np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return (state ^ (state >> np.uint64(31))) >> np.uint64(33)


def read_form(characters: Characters, first: str | None) -> Form | None:
    """Return what may stand at each place of identifiers of one length; None if it has no form.

    `first` are the digits that may come first if they are numbers.
    """
    if characters.shape[1] == 36 and first is None:
        uuid = _uuid_form(characters)
        if uuid is not None:
            return uuid
    places = []
    for place, column in enumerate(characters.T):
        times = np.bincount(column)
        codes = np.flatnonzero(times)
        counts = times[codes]
        top = int(counts.argmax())
        if counts[top] >= max(SHARED * len(column), FEWEST_SHARED):
            places.append(chr(codes[top]))
            continue
        allowed = next(
            (one for one in _CLASSES if counts[~np.isin(codes, _codes(one))].sum() < FEWEST),
            None,
        )
        if allowed is None:
            return None
        places.append(first if first is not None and place == 0 else allowed)
    form = Form(tuple(places))
    own = characters[form.of_this_form(characters)]
    if len(own) < FEWEST:
        return None
    check = find_check(own) if len(own) >= FEWEST_SHARED else ""
    if check:
        form = replace(form, check=check, checked=tuple(check_places(check, own)))
    return form if form.open or any(one in DIGITS for one in form.places) else None


def _uuid_form(characters: Characters) -> Form | None:
    dashes = [8, 13, 18, 23]
    fit = (characters[:, dashes] == ord("-")).all(axis=1)
    fit &= np.isin(np.delete(characters, dashes, axis=1), _codes(DIGITS + "abcdefABCDEF")).all(
        axis=1
    )
    if np.count_nonzero(fit) < max(SHARED * len(fit), FEWEST):
        return None
    own = characters[fit]
    upper = np.isin(own, _codes(UPPER)).sum() > np.isin(own, _codes(LOWER)).sum()
    letters = "ABCDEF" if upper else "abcdef"
    versions, counts = np.unique(own[:, 14], return_counts=True)
    common = counts.max() >= max(SHARED * len(own), FEWEST_SHARED)
    places = [DIGITS + letters] * 36
    for dash in dashes:
        places[dash] = "-"
    places[14] = chr(versions[counts.argmax()]) if common else "4"
    places[19] = "89" + letters[:2]
    return Form(tuple(places))
