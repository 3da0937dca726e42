"""Columns that are stored in one way in the original and in another way in other tables.

A release may hold the ages as text, the dates as text, or yes and no as 1 and 0. Whoever attacks it
reads them all the same, so such columns are converted to the original's type. What cannot be read
so is compared as text, in all tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import polars as pl

from understudy.data.frames import Frame, column_to_arrow, to_narwhals
from understudy.errors import DataError

Kind = Literal["numbers", "dates", "booleans", "text"]

ENOUGH = 0.95
"""So many of a column's values must be readable; what is not, such as "?", is missing then."""
NUMBER = r"^\s*[€$£]?\s*([-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][-+]?\d+)?)\s*[^\d]*$"
"""A number, with a sign of money before it or a unit after it."""
COMMA = r"\d,\d"
"""A comma within a number, before decimals or thousands."""
_END = r"(-?(?:\d+\.?\d*|inf))"
RANGE = rf"^\s*[\[(]?\s*{_END}\s*(?:-|–|,|\.\.|to)\s*{_END}\s*[\])]?\s*$"  # noqa: RUF001
"""Two numbers as the ends of a range, which stands for its middle."""
MOMENTS = (
    "%Y-%m-%d",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%Y%m%d",
)
TRUE, FALSE = ("true", "yes", "t", "y", "1", "1.0"), ("false", "no", "f", "n", "0", "0.0")


@dataclass(frozen=True, eq=False)
class Matched:
    """Tables whose columns can be compared.

    Parameters
    ----------
    original : frame
        The original; only columns that cannot be compared otherwise are text in it.
    others : tuple of frame
        The other tables, with columns like the original's.
    notes : tuple of str
        What was converted.
    """

    original: Frame
    others: tuple[Frame, ...]
    notes: tuple[str, ...]


def match_types(original: Frame, others: Sequence[tuple[str, Frame]]) -> Matched:
    """Return tables whose columns are stored like those of the original.

    Parameters
    ----------
    original : frame
        The table that decides.
    others : sequence
        Tables with what each is called, such as "release". A frame that needs no change is the same
        object, and others become frames of polars.

    Examples
    --------
    >>> original = pl.DataFrame({"age": [34, 51], "sex": ["f", "m"]})
    >>> found = match_types(original, [("release", pl.DataFrame({"age": ["34", "51 years"]}))])
    >>> found.others[0]["age"].to_list(), found.notes
    ([34, 51], ("'age' holds numbers in the original and text in the release: read as numbers.",))
    """
    first = to_narwhals(original)
    tables = [_readable(to_narwhals(table)) for _, table in others]
    notes: list[str] = []
    as_text: list[str] = []
    for column in first.columns:
        sharing = [at for at, table in enumerate(tables) if column in table.columns]
        if all(tables[at].schema[column] == first.schema[column] for at in sharing):
            continue
        own = _series(first, column)
        if (kind := _kind(own)) is None or not own.count():
            continue
        for at in sharing:
            values = _series(tables[at], column)
            other = _kind(values)
            if other is None or other == kind or not values.count():
                continue
            told = f"{column!r} holds {kind} in the original and {other} in the {others[at][0]}"
            converted = _converted(own, kind, values, other)
            if converted is None:
                as_text.append(column)
                notes.append(f"{told}, which cannot be read as {kind}: compared as text.")
            else:
                tables[at] = _with(tables[at], column, converted)
                notes.append(f"{told}: read as {kind}.")
    for column in dict.fromkeys(as_text):
        first, *tables = (
            _with(table, column, _text(_series(table, column)))
            if column in table.columns
            else table
            for table in (first, *tables)
        )
    return Matched(
        first.to_native() if as_text else original,
        tuple(table.to_native() for table in tables),
        tuple(dict.fromkeys(notes)),
    )


def _readable(table: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    """Return a table of pandas with columns of several kinds, such as 1 and "a", as text."""
    mixed = {}
    for column in table.columns if table.implementation.is_pandas_like() else ():
        if table.schema[column] not in (nw.Object, nw.Unknown):
            continue
        try:
            column_to_arrow(table[column], column)
        except DataError:
            held = [None if one is None else str(one) for one in table[column].to_list()]
            mixed[column] = pl.Series(column, held, pl.String)
    if not mixed:
        return table
    rest = table.drop(list(mixed)).to_polars().with_columns(mixed.values())
    return nw.from_native(rest.select(table.columns))


def _series(table: nw.DataFrame[Any], column: str) -> pl.Series:
    found = pl.from_arrow(column_to_arrow(table[column], column))
    assert isinstance(found, pl.Series)  # noqa: S101  # for the type checker
    return found


def _with(table: nw.DataFrame[Any], column: str, values: pl.Series) -> nw.DataFrame[Any]:
    return nw.from_native(table.to_polars().with_columns(values.alias(column)))


def _kind(values: pl.Series) -> Kind | None:
    kind = values.dtype
    if kind == pl.Boolean:
        return "booleans"
    if kind.is_numeric():
        return "numbers"
    if kind in (pl.Date, pl.Datetime):
        return "dates"
    if kind == pl.String or (
        kind in (pl.Categorical, pl.Enum) and values.cast(pl.String).dtype == pl.String
    ):
        return "text"
    return None


def _converted(own: pl.Series, kind: Kind, values: pl.Series, other: Kind) -> pl.Series | None:
    """Return values like the original's, or None if they cannot be read so."""
    if other == "text":
        values = values.cast(pl.String).replace("", None)
    for reader in _readers(kind, other):
        found = reader(own, values)
        if found is not None and found.count() >= ENOUGH * values.count():
            return found
    return None


def read_like(own: pl.Series, values: pl.Series) -> pl.Series | None:
    """Return values stored like the original's column, or None if they cannot be read so."""
    kind, other = _kind(own), _kind(values)
    if kind is None or other is None:
        return None
    return values if kind == other else _converted(own, kind, values, other)


_Reader = Callable[[pl.Series, pl.Series], pl.Series | None]


def _readers(kind: Kind, other: Kind) -> Iterator[_Reader]:
    if kind == "text":
        yield _like_text
    elif kind == "numbers" and other == "text":
        yield _as_numbers
        yield _truth_as_numbers
    elif kind == "numbers" and other == "booleans":
        yield lambda own, values: values.cast(own.dtype)
    elif kind == "dates" and other == "text":
        yield _as_moments
    elif kind == "booleans":
        yield _as_truth


def _as_numbers(own: pl.Series, text: pl.Series) -> pl.Series:
    """Read numbers, with a point or a comma before the decimals: as fits the original better."""
    readings = [_with_point(text)]
    if text.str.contains(COMMA).any():
        # "1.234,5" as "1,234.5".
        swapped = text.str.replace_all(",", "\n").str.replace_all(".", ",", literal=True)
        readings.append(_with_point(swapped.str.replace_all("\n", ".")))
    known = own.cast(pl.Float64).drop_nulls()
    low, high = known.min(), known.max()
    found = max(
        readings, key=lambda one: (one.count() >= ENOUGH * text.count(), _within(one, low, high))
    )
    if found.null_count() > text.null_count():
        found = found.fill_null(_middles(text))
    whole = own.dtype.is_integer() and (found.drop_nulls() == found.drop_nulls().round()).all()
    return found.cast(pl.Int64, strict=False) if whole else found


def _with_point(text: pl.Series) -> pl.Series:
    plain = text.str.strip_chars().cast(pl.Float64, strict=False)
    return plain.fill_null(
        text.str.extract(NUMBER, 1).str.replace_all(",", "").cast(pl.Float64, strict=False)
    )


def _within(values: pl.Series, low: Any, high: Any) -> int:  # noqa: ANN401  # numbers, or None
    """Return how many values lie where the original's do."""
    return int(values.is_between(low, high).sum()) if low is not None else 0


def _middles(text: pl.Series) -> pl.Series:
    """Read ranges as their middle; those without an end as the other one."""
    ends = text.to_frame("text").select(
        pl.col("text").str.extract(RANGE, end).cast(pl.Float64, strict=False).alias(name)
        for end, name in ((1, "low"), (2, "high"))
    )
    known = [pl.when(pl.col(name).is_finite()).then(pl.col(name)) for name in ("low", "high")]
    return ends.select(pl.mean_horizontal(known)).to_series()


def _as_moments(own: pl.Series, text: pl.Series) -> pl.Series:
    """Read dates in the form that fits most of them."""
    stripped = text.str.strip_chars()
    tried = [stripped.str.to_datetime(form, strict=False, time_unit="us") for form in MOMENTS]
    best = max(tried, key=lambda found: found.count())
    return best.cast(own.dtype) if own.dtype == pl.Date else best


def _as_truth(_own: pl.Series, values: pl.Series) -> pl.Series | None:
    if values.dtype.is_temporal():
        return None
    lower = values.cast(pl.String).str.strip_chars().str.to_lowercase()
    meaning = dict.fromkeys(TRUE, True) | dict.fromkeys(FALSE, False)
    return lower.replace_strict(meaning, default=None, return_dtype=pl.Boolean)


def _truth_as_numbers(own: pl.Series, text: pl.Series) -> pl.Series | None:
    """Read yes and no where the original has 1 and 0."""
    if not own.drop_nulls().cast(pl.Float64).is_in([0.0, 1.0]).all():
        return None
    found = _as_truth(own, text)
    return None if found is None else found.cast(own.dtype)


def _like_text(own: pl.Series, values: pl.Series) -> pl.Series:
    """Write numbers, moments and booleans as the original's text does."""
    spelt = own.cast(pl.String).unique().drop_nulls()
    if values.dtype == pl.Boolean:
        by_truth = pl.DataFrame({"text": spelt, "value": _as_truth(spelt, spelt)})
        return _spelt(by_truth, values, _text(values))
    if values.dtype.is_numeric():
        numbers = spelt.str.strip_chars().cast(pl.Float64, strict=False)
        by_size = pl.DataFrame({"text": spelt, "value": numbers})
        return _spelt(by_size, values.cast(pl.Float64), _text(values))
    best = max(
        (
            spelt.str.strip_chars().str.to_datetime(form, strict=False, time_unit="us")
            for form in MOMENTS
        ),
        key=lambda found: found.count(),
    )
    by_moment = pl.DataFrame({"text": spelt, "value": best})
    return _spelt(by_moment, values.cast(pl.Datetime("us")), _text(values))


def _spelt(known: pl.DataFrame, values: pl.Series, otherwise: pl.Series) -> pl.Series:
    """Return the original's text for each value that it has, and another for the rest."""
    first = known.drop_nulls().sort("text").unique("value", keep="first")
    joined = values.to_frame("value").join(first, on="value", how="left", maintain_order="left")
    return joined["text"].fill_null(otherwise.alias("text"))


def _text(values: pl.Series) -> pl.Series:
    """Return values as text; whole numbers have no decimal point."""
    if values.dtype.is_float():
        whole = values.cast(pl.Int64, strict=False)
        is_whole = (values == whole.cast(pl.Float64)).fill_null(value=False)
        return whole.cast(pl.String).zip_with(is_whole, values.cast(pl.String))
    return values.cast(pl.String)
