"""Check digits of well-known numbers: found in a column, and worked out for made-up ones.

Identifiers come as a matrix of character codes, a row for each, so that a whole column is checked
at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Check = Literal["", "luhn", "mod10", "isbn10", "iban"]
Characters = NDArray[np.uint32]
Digits = NDArray[np.int64]

_ZERO, _NINE = ord("0"), ord("9")


class Scheme(NamedTuple):
    """How a check digit is worked out: which places it has, and from what it follows."""

    places: slice
    """Where it stands, among the places that are no separators."""

    fits: Callable[[int], bool]
    """Whether identifiers of so many digits, without separators, can have it."""

    compute: Callable[[Digits], Digits]
    """Turns values (digits; letters from 10 up), a row each, into the digits at those places."""


def _luhn(values: Digits) -> Digits:
    doubled = values[:, -2::-2] * 2
    total = (doubled - 9 * (doubled > 9)).sum(axis=1) + values[:, -3::-2].sum(axis=1)
    return np.asarray(-total % 10)[:, None]


def _mod10(values: Digits) -> Digits:
    total = 3 * values[:, -2::-2].sum(axis=1) + values[:, -3::-2].sum(axis=1)
    return np.asarray(-total % 10)[:, None]


def _isbn10(values: Digits) -> Digits:
    return (values[:, :9] @ np.arange(1, 10) % 11)[:, None]


def _iban(values: Digits) -> Digits:
    moved = np.hstack([values[:, 4:], values[:, :2], np.zeros((len(values), 2), np.int64)])
    rest = np.zeros(len(values), np.int64)
    for column in moved.T:
        rest = (rest * np.where(column > 9, 100, 10) + column) % 97
    check = 98 - rest
    return np.stack([check // 10, check % 10], axis=1)


SCHEMES: dict[str, Scheme] = {
    "luhn": Scheme(slice(-1, None), lambda length: length >= 8, _luhn),
    "mod10": Scheme(slice(-1, None), lambda length: length in (8, 12, 13, 14), _mod10),
    "isbn10": Scheme(slice(-1, None), lambda length: length == 10, _isbn10),
    "iban": Scheme(slice(2, 4), lambda length: 15 <= length <= 34, _iban),
}
"""Luhn (bank cards), EAN, UPC, GTIN and ISBN-13 (modulo 10), ISBN-10, and IBAN (ISO 7064)."""


def find_check(characters: Characters) -> Check:
    """Return the scheme whose check digits all rows have; empty if there is none.

    Examples
    --------
    >>> find_check(characters_of(["4539578763621486", "4111111111111111"]))
    'luhn'
    """
    if not len(characters):
        return ""
    values, places = _values(characters[:100])
    for name, scheme in SCHEMES.items():
        if _could_be(name, values) and np.array_equal(
            scheme.compute(values), values[:, scheme.places]
        ):
            whole, _ = _values(characters, places)
            if np.array_equal(scheme.compute(whole), whole[:, scheme.places]):
                return name  # type: ignore[return-value]  # a key of SCHEMES
    return ""


def _could_be(name: str, values: Digits) -> bool:
    length = values.shape[1]
    if not SCHEMES[name].fits(length):
        return False
    if name == "iban":
        return bool((values[:, :2] > 9).all() and (values[:, 2:4] <= 9).all())
    free = 1 if name == "isbn10" else 0  # its last place may be an X
    known = values[:, : length - free]
    return bool((known <= 9).all()) and bool((values <= 10).all() if free else True)


def _values(
    characters: Characters, places: NDArray[np.int64] | None = None
) -> tuple[Digits, NDArray[np.int64]]:
    """Return digits and letters as numbers, without the places that hold separators."""
    codes = characters.astype(np.int64)
    digit = (codes >= _ZERO) & (codes <= _NINE)
    upper = codes & ~32
    letter = (upper >= ord("A")) & (upper <= ord("Z"))
    if places is None:
        places = np.flatnonzero((digit | letter).all(axis=0))
    values = np.where(digit, codes - _ZERO, upper - ord("A") + 10)[:, places]
    if values.shape[1] == 10:  # the tenth place of an ISBN: X stands for ten
        values[:, -1] = np.where(codes[:, places[-1]] == ord("X"), 10, values[:, -1])
    return values, places


def check_places(check: Check, characters: Characters) -> list[int]:
    """Return the places of the check digits in identifiers of one form."""
    _, places = _values(characters)
    return [int(place) for place in places[SCHEMES[check].places]] if check else []


def set_check(check: Check, characters: Characters, places: list[int]) -> None:
    """Write the check digits that belong to the other characters, in place."""
    if not check or not len(characters):
        return
    values, _ = _values(characters)
    found = SCHEMES[check].compute(values)
    characters[:, places] = np.where(found == 10, ord("X"), found + _ZERO)


def characters_of(texts: list[str]) -> Characters:
    """Return texts of one length as a matrix of character codes."""
    length = max(len(texts[0]) if texts else 0, 1)
    return np.array(texts, f"<U{length}").view(np.uint32).reshape(len(texts), length)
