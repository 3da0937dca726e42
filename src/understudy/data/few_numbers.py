"""How the numbers of a few rows are written, found in Python alone.

Thousands of columns of a few rows would take most of their time in the calls of polars. What is
found is what `find_numbers` finds; where that is not sure, nothing is.
"""

from __future__ import annotations

import re
from collections import Counter

import polars as pl

from understudy.data.number_format import DECIMALS_KEPT, NumberFormat
from understudy.data.number_search import FEWEST_FIXED, FoundNumbers

MOST_ROWS = 100
"""From here on, polars is as quick."""
_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.(\d+))?")
_EXACT_DIGITS = 15
"""So many digits of any number does a float hold."""


def find_few_numbers(texts: pl.Series) -> FoundNumbers | None:
    """Return how plain whole numbers or fractions are written; None if they may be anything else.

    Examples
    --------
    >>> find_few_numbers(pl.Series(["1.50", None, "12.25"])).format.words
    'numbers: 2 decimals'
    >>> find_few_numbers(pl.Series(["1.50", "n/a"])) is None
    True
    """
    held = texts.to_list()
    known = [text for text in held if text is not None]
    if not known:
        return None
    if all(map(_WHOLE.fullmatch, known)):
        whole = [None if text is None else int(text) for text in held]
        values = pl.Series(texts.name, whole, pl.Int64)
        return FoundNumbers(NumberFormat(whole=True), values, exact=True)
    matches = [_NUMBER.fullmatch(text) for text in known]
    if not all(matches):
        return None
    form = _format(known, [len(match[1] or "") for match in matches if match])
    if form is None:
        return None
    numbers = [None if text is None else float(text) for text in held]
    return FoundNumbers(form, pl.Series(texts.name, numbers, pl.Float64), exact=True)


def _format(texts: list[str], places: list[int]) -> NumberFormat | None:
    most = max(places)
    usual, times = Counter(places).most_common(1)[0]
    if usual >= FEWEST_FIXED and times == len(texts):
        return NumberFormat(places=usual) if _most_digits(texts) <= _EXACT_DIGITS else None
    trimmed = 0 in places
    shortest = [repr(float(text)) for text in texts]
    if trimmed:  # 2.0 is written as 2
        shortest = [text.removesuffix(".0") for text in shortest]
    if shortest != texts:
        return None
    significant = _most_digits([text.removesuffix(".0") for text in texts])
    return NumberFormat(
        trimmed=trimmed, digits=most, significant=significant if most > DECIMALS_KEPT else 0
    )


def _most_digits(texts: list[str]) -> int:
    return max(len(text.replace(".", "").lstrip("-0")) for text in texts)
