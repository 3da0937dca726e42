"""Columns that a release holds under other names than the original, or joined with others.

A release may call the age "alter", or hold "34|f|Graz" in one column. Whoever attacks it reads them
all the same. So a column that the original lacks, or a part of one, is compared with the column
that the release lacks, if it holds the same values with the same shares. It may also hold "age" and
"age_true": then there are two ways to read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from understudy.data.frames import Frame, to_narwhals
from understudy.data.matched_types import read_like
from understudy.wording import quoted

ALIKE = 0.85
"""So many of the records must have a value as frequent as in the original, to be taken for it."""
MARKS = ("|", ";", "\t", ",", "/", "_", ":", " ", "-")
"""What may stand between the parts of a joined column."""
CONSTANT = 0.98
"""So many of the texts must have the same number of parts."""
MOST_PAIRS, MOST_PARTS, MOST_ROWS = 2_500, 40, 10_000
FEWEST = 2
"""So many columns a release must hold once more to be read in another way."""


def match_names(original: Frame, release: Frame, title: str) -> tuple[Frame, tuple[str, ...]]:
    """Return a release with columns of the original that it holds under other names, and notes.

    What it holds stays as it is; the columns found are added. A frame that needs no change is the
    same object.

    Examples
    --------
    >>> original = pl.DataFrame({"age": [30, 40, 50, 60] * 20, "sex": ["f", "m"] * 40})
    >>> joined = pl.DataFrame({"both": ["30|f", "40|m", "50|f", "60|m"] * 20})
    >>> found, notes = match_names(original, joined, "release")
    >>> found.columns, notes
    (['both', 'age', 'sex'], ("'age' and 'sex' are compared with 'both' of the release.",))
    """
    ours, theirs = to_narwhals(original), to_narwhals(release)
    absent = [name for name in ours.columns if name not in theirs.columns]
    extra = [name for name in theirs.columns if name not in ours.columns]
    if not absent or not extra or len(absent) * len(extra) > MOST_PAIRS:
        return release, ()
    own = ours.select(absent).to_polars()
    tried = [part for name in extra for part in _parts(theirs.select(name).to_polars()[name])]
    found, taken = _assigned(own, tried)
    if not found:
        return release, ()
    sources = dict.fromkeys(part.name for place, part in enumerate(tried) if place in taken)
    names = [name for name in absent if name in found]
    added = theirs.to_polars().with_columns(found[name].alias(name) for name in names)
    are = "is" if len(names) == 1 else "are"
    return added, (f"{quoted(names)} {are} compared with {quoted(list(sources))} of the {title}.",)


def other_reading(original: Frame, release: Frame) -> pl.DataFrame | None:
    """Return columns of the original that a release holds once more, under other names.

    They are called as in the original. A column that repeats what the release holds under the
    original's name is not among them. None if there are fewer than two.

    Examples
    --------
    >>> original = pl.DataFrame({"age": [30, 40, 50, 60] * 20, "sex": ["f", "m"] * 40})
    >>> made_up = original.select(pl.all().shuffle(1))
    >>> both = made_up.hstack(original.rename(lambda name: f"{name}_true"))
    >>> other_reading(original, both).equals(original)
    True
    >>> other_reading(original, made_up.with_columns(years=pl.col("age"))) is None
    True
    """
    ours, theirs = to_narwhals(original), to_narwhals(release)
    extra = [name for name in theirs.columns if name not in ours.columns]
    if not extra:
        return None
    own = ours.to_polars()
    tried = [part for name in extra for part in _parts(theirs.select(name).to_polars()[name])]
    found, _ = _assigned(own, tried, beside=theirs.to_polars())
    if len(found) < FEWEST:
        return None
    return pl.DataFrame([found[name].alias(name) for name in own.columns if name in found])


def _assigned(
    own: pl.DataFrame, tried: Sequence[pl.Series], beside: pl.DataFrame | None = None
) -> tuple[dict[str, pl.Series], set[int]]:
    """Return what is taken for each column of the original, and the places of what was taken.

    What is named after a column is taken for it first, then what is most alike. With `beside`, the
    release, what repeats one of its columns is left out, and a name is enough.
    """
    named = [_named(part, own.columns) for part in tried]
    pairs = [(name, place) for place, names in enumerate(named) for name in names]
    if len(tried) * own.width <= MOST_PAIRS:
        pairs = [(name, place) for place in range(len(tried)) for name in own.columns]
    few, parts = _thinned(own), [_thinned(part) for part in tried]
    scores = [
        (name not in named[place], -alike, place, name)
        for name, place in pairs
        if (alike := _alikeness(few[name], parts[place])) >= ALIKE
        or (beside is not None and alike > 0 and name in named[place])
    ]
    taken: set[int] = set()
    if beside is not None:
        held = _thinned(beside)
        taken = {
            place
            for *_, place, name in scores
            if name in held.columns and _are_equal(few[name], parts[place], held[name])
        }
    found: dict[str, pl.Series] = {}
    for *_, place, name in sorted(scores):
        if name not in found and place not in taken:
            read = read_like(own[name], tried[place])
            found[name] = tried[place] if read is None else read
            taken.add(place)
    return found, taken


def _are_equal(own: pl.Series, one: pl.Series, other: pl.Series) -> bool:
    """Tell whether two columns hold the same in all rows, read like the original's."""
    read = [read_like(own, values) for values in (one, other)]
    if read[0] is None or read[1] is None:
        return False
    return bool(read[0].eq_missing(read[1]).all())


def _named(part: pl.Series, columns: Sequence[str]) -> list[str]:
    """Return the column of the original with the longest name that a name begins or ends with."""
    called = _plain(part.name)
    named = [
        name
        for name in columns
        if (plain := _plain(name)) and (called.startswith(plain) or called.endswith(plain))
    ]
    return sorted(named, key=lambda name: -len(_plain(name)))[:1]


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


Table = TypeVar("Table", pl.DataFrame, pl.Series)


def _thinned(table: Table) -> Table:
    """Return enough of the rows to see whether columns are alike."""
    return table.gather_every(-(-len(table) // MOST_ROWS)) if len(table) > MOST_ROWS else table


def _parts(column: pl.Series) -> Iterator[pl.Series]:
    """Yield a column, and its parts if it is joined from several; all under its name."""
    yield column
    if column.dtype != pl.String or not column.count():
        return
    for mark in MARKS:
        counts = column.drop_nulls().str.count_matches(mark, literal=True)
        most = int(counts.mode().min())  # type: ignore[arg-type]  # of whole numbers
        if 0 < most < MOST_PARTS and float((counts == most).mean()) >= CONSTANT:  # type: ignore[arg-type]
            split = column.str.split_exact(mark, most).struct.unnest()
            yield from (
                split[part].str.strip_chars().replace("", None).alias(column.name)
                for part in split.columns
            )
            return


def _alikeness(own: pl.Series, other: pl.Series) -> float:
    """Return which share of the records has a value as frequent as in the original; 0 if unread."""
    read = read_like(own, other)
    if read is None or not read.count() or not own.count():
        return 0.0
    if own.dtype.is_numeric() or own.dtype.is_temporal():
        ours, theirs = (_sized(one).drop_nulls().cast(pl.Float64).to_numpy() for one in (own, read))
        return 1 - _apart(ours, theirs)
    shares = [
        one.cast(pl.String).alias("value").drop_nulls().value_counts(normalize=True)
        for one in (own, read)
    ]
    common = shares[0].join(shares[1], on="value")
    least = common.select(pl.min_horizontal("proportion", "proportion_right").sum())
    return float(least.item())


def _sized(values: pl.Series) -> pl.Series:
    return values.cast(pl.Int64) if values.dtype.is_temporal() else values


def _apart(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """Return the largest difference of the shares below a number."""
    sizes = np.unique(np.concatenate([ours, theirs]))
    below = [np.searchsorted(np.sort(one), sizes, "right") / len(one) for one in (ours, theirs)]
    return float(np.abs(below[0] - below[1]).max())
