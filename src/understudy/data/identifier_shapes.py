"""Identifiers of many lengths, such as names of people, number plates and addresses of computers.

What is kept of them is their shape: words and numbers one after the other, the signs between them,
and how long each usually is. Words that are made up alternate consonants and vowels, so that they
can be read, and are the names of nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.identifier_forms import (
    DIGITS,
    FEWEST_SHARED,
    LOWER,
    SHARED,
    UPPER,
    Form,
)

_MOST = 0.5
"""Share of the records that must have the shape."""
_LONGEST_SHAPE, _LONGEST_RUN, _SHORTEST_NAME = 24, 12, 4
_LONGEST_CODE = 3
"""Letters of one case, up to so many, are a code such as HH, and no word."""
_CLASSES = {"9": r"\d+", "a": r"\p{Ll}+", "A": r"\p{Lu}+"}
_VOWELS = "aeiou"
_CONSONANTS = "".join(sorted({*LOWER} - {*_VOWELS, *"qxy"}))
_COMPUTERS = "9.9.9.9"


def form_by_shape(values: pa.Array) -> Form | None:
    """Return a form of the shape that most of some different texts have; None if none is common.

    Examples
    --------
    >>> plates = pa.array([f"{'B' * (1 + n % 2)}-{n}" for n in range(100, 140)])
    >>> form_by_shape(plates).places[:2]
    ('ABCDEFGHIJKLMNOPQRSTUVWXYZ', '-')
    """
    shapes = values.cast(pa.large_string())
    for sign, pattern in _CLASSES.items():
        shapes = pc.replace_substring_regex(shapes, pattern, sign)
    counts = shapes.value_counts()
    if not len(counts):
        return None
    times = counts.field("counts").to_numpy()
    shape = str(counts.field("values")[int(times.argmax())])
    runs = re.findall("[Aa9]|[^Aa9]+", shape)
    if times.max() < max(FEWEST_SHARED, _MOST * len(values)) or len(shape) > _LONGEST_SHAPE:
        return None
    own = values.filter(pc.equal(shapes, shape))
    groups = "".join(
        f"(?P<r{n}>{_CLASSES[run]})" if run in _CLASSES else re.escape(run)
        for n, run in enumerate(runs)
    )
    found = pc.extract_regex(own, f"^{groups}$")
    places: list[str] = []
    for n, run in enumerate(runs):
        if run not in _CLASSES:
            places += run
            continue
        texts = pc.struct_field(found, f"r{n}")
        shared = _shared(texts)
        if shared:
            places += shared
            continue
        length = min(int(np.median(np.asarray(pc.utf8_length(texts)))), _LONGEST_RUN)
        if run == "9":
            places += _number(3 if shape == _COMPUTERS else length, shape)
        else:
            before, after = (runs[at] if 0 <= at < len(runs) else "" for at in (n - 1, n + 1))
            places += _letters(run, length, before, after)
    return Form(tuple(places)) if any(len(place) > 1 for place in places) else None


def _shared(texts: pa.Array) -> str:
    """Return the text that nearly all records have in one place; empty if there is none."""
    counts = texts.value_counts()
    times = counts.field("counts").to_numpy()
    top = int(times.argmax())
    enough = times[top] >= max(SHARED * len(texts), FEWEST_SHARED)
    return str(counts.field("values")[top]) if enough else ""


def _number(length: int, shape: str) -> Iterator[str]:
    # Each part of an address of a computer is below 256.
    yield "1" if shape == _COMPUTERS else DIGITS[1:] if length > 1 else DIGITS
    yield from [DIGITS] * (length - 1)


def _letters(run: str, length: int, before: str, after: str) -> Iterator[str]:
    """Yield what may stand at the places of a run of letters of one case."""
    if run == "A" and after == "a":
        yield _CONSONANTS.upper()
        return
    if run == "a" and before == "A":
        length = max(length, _SHORTEST_NAME - 1)
        yield from (_CONSONANTS if at % 2 else _VOWELS for at in range(length))
    elif length <= _LONGEST_CODE:
        yield from [UPPER if run == "A" else LOWER] * length
    else:
        for at in range(length):
            letters = _VOWELS if at % 2 else _CONSONANTS
            yield letters.upper() if run == "A" else letters
