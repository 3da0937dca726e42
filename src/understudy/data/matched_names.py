"""Columns that a release holds under other names than the original, or joined with others.

A release may call the age "alter", or hold "34|f|Graz" in one column. Whoever attacks it reads them
all the same. So a column that the original lacks, or a part of one, is compared with the column
that the release lacks, if it holds the same values with the same shares.
"""

from __future__ import annotations

from collections.abc import Iterator

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
MOST_PAIRS, MOST_PARTS = 2_500, 40


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
    scores = [
        (alike, place, name, part)
        for place, part in enumerate(tried)
        for name in absent
        if (alike := _alikeness(own[name], part)) >= ALIKE
    ]
    found: dict[str, pl.Series] = {}
    taken: set[int] = set()
    for _, place, name, part in sorted(scores, key=lambda one: (-one[0], one[1])):
        if name not in found and place not in taken:
            read = read_like(own[name], part)
            found[name] = part if read is None else read
            taken.add(place)
    if not found:
        return release, ()
    sources = dict.fromkeys(part.name for place, part in enumerate(tried) if place in taken)
    names = [name for name in absent if name in found]
    added = theirs.to_polars().with_columns(found[name].alias(name) for name in names)
    are = "is" if len(names) == 1 else "are"
    return added, (f"{quoted(names)} {are} compared with {quoted(list(sources))} of the {title}.",)


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
