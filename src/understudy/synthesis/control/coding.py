"""Top and bottom coding: extreme values, which tell who somebody is, become a limit."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.arguments import is_number
from understudy.data.frames import Frame, Layout, column_to_arrow, to_arrow, to_narwhals
from understudy.data.values import (
    TICKS_PER_SECOND,
    Numbers,
    form_of,
    held_in_words,
    numbers_to_arrow,
    text_to_time,
    to_numpy,
    unit_of,
)
from understudy.errors import ParameterError, did_you_mean, unknown_columns
from understudy.synthesis.control.records import Change, share_of_rows

Limit: TypeAlias = int | float | Decimal | date | time | np.generic | str
"""A number for numbers; a date, a time or ISO text for dates and times."""
Limits: TypeAlias = Mapping[str, tuple[Limit | None, Limit | None]]
"""The bottom and the top of each column."""
Bounds: TypeAlias = tuple[pa.Scalar | None, pa.Scalar | None]
Masks: TypeAlias = tuple[NDArray[np.bool_], NDArray[np.bool_]]


def top_bottom_code(
    synthetic: Frame,
    limits: Limits,
    *,
    special: Sequence[Limit] | Mapping[str, Sequence[Limit]] = (),
    unnamed: Collection[str] = (),
) -> Change:
    """Set values below a bottom to the bottom, and values above a top to the top.

    Parameters
    ----------
    synthetic : DataFrame or Table
        The synthetic table, of pandas, polars or pyarrow. It is not changed.
    limits : mapping of str to pair
        For each column of numbers, dates or times: its (bottom, top). None is no limit.
    special : sequence, or mapping of str to sequence
        Codes that are no amounts, such as -8 or 99, for all of these columns or by column. They
        are left alone, as missing values are.
    unnamed : collection of str
        Columns whose limits the text of the result does not name: they may be a person's.

    Returns
    -------
    Change
        The table with coded columns of the same types, and the counts `below` and `above`.

    Raises
    ------
    ParameterError
        If a column is unknown or holds no numbers or times, if a limit is of another kind or does
        not fit the column's type (1.5 among whole numbers), or if a bottom is above its top.

    Examples
    --------
    >>> import polars as pl
    >>> ages = pl.DataFrame({"age": [17, 31, 92, 99, None]})
    >>> change = top_bottom_code(ages, {"age": (18, 90)}, special=[99])
    >>> change.frame["age"].to_list(), change.below, change.above
    ([18, 31, 90, 99, None], {'age': 1}, {'age': 1})
    """
    wrapped = to_narwhals(synthetic)
    codes = _codes_by_column(wrapped.columns, limits, special)
    changed = np.zeros(len(wrapped), bool)
    below: dict[str, int] = {}
    above: dict[str, int] = {}
    coded = wrapped.clone()
    for name, pair in limits.items():
        array = to_arrow(wrapped.select(name).to_native())[name].chunk(0)
        below[name] = above[name] = 0
        if pa.types.is_null(array.type):
            continue  # nothing but gaps: it may be a column of any kind
        check_kinds([*pair, *codes[name]], array.type, name)
        bounds = _bounds(array, name, pair)
        low, high = _outside(array, bounds, codes[name])
        coded = _replace(coded, name, bounds, (low, high))
        below[name], above[name] = int(low.sum()), int(high.sum())
        changed |= low | high
    rows = np.flatnonzero(changed)
    told = _in_words(limits, below, above, unnamed)
    text = f"Changed {share_of_rows(len(rows), len(changed))}: {told}."
    return Change(coded.to_native(), rows, len(changed), text, below, above)


def limits_by_share(
    original: Frame,
    shares: Mapping[str, tuple[float | None, float | None]],
    *,
    special: Sequence[Limit] | Mapping[str, Sequence[Limit]] = (),
) -> dict[str, tuple[Limit | None, Limit | None]]:
    """Return limits beyond which lie given shares of the original's values.

    Parameters
    ----------
    original : DataFrame or Table
        The original table, of pandas, polars or pyarrow.
    shares : mapping of str to pair
        For each column of numbers, dates or times: the share of values that are below the bottom,
        and the share that are not above the top. None is no limit.
    special
        As for `top_bottom_code`. Neither these codes nor missing values count.

    Returns
    -------
    dict of str to pair
        Limits for `top_bottom_code`. Each is a value of the original.

    Raises
    ------
    ParameterError
        If a column is unknown, holds no numbers or times, or no values; or if a share is not
        between 0 and 1.

    Examples
    --------
    >>> import polars as pl
    >>> limits_by_share(pl.DataFrame({"age": range(1, 101)}), {"age": (0.02, 0.95)})
    {'age': (3, 95)}
    """
    wrapped = to_narwhals(original)
    codes = _codes_by_column(wrapped.columns, shares, special)
    found: dict[str, tuple[Limit | None, Limit | None]] = {}
    for name, pair in shares.items():
        for share in pair:
            if share is not None and not (is_number(share) and 0 < share < 1):
                raise ParameterError(
                    f"The share for a limit of {name!r} must be between 0 and 1; got {share!r}."
                )
        array = column_to_arrow(wrapped[name], name)
        check_kinds(codes[name], array.type, name)
        values = array.filter(pa.array(~_is_special(array, codes[name]))).drop_null()
        if pa.types.is_floating(values.type):
            values = values.filter(pc.invert(pc.is_nan(*_comparable(values))))
        if not len(values):
            raise ParameterError(f"Column {name!r} has no values to read a limit from.")
        values = values.take(pc.sort_indices(*_comparable(values)))
        last = len(values) - 1
        # What lies between two ranks by the rounding of a product is taken for the rank.
        bottom, top = (None if share is None else round(share * len(values), 6) for share in pair)
        found[name] = (
            None if bottom is None else values[min(math.floor(bottom), last)].as_py(),
            None if top is None else values[max(math.ceil(top) - 1, 0)].as_py(),
        )
    return found


def _codes_by_column(
    columns: Sequence[str], limits: Limits, special: Sequence[Limit] | Mapping[str, Sequence[Limit]]
) -> Mapping[str, Sequence[Limit]]:
    """Return the special codes of each column with limits, after checking the names."""
    if not isinstance(limits, Mapping) or not limits:
        raise ParameterError(
            "limits must give a pair (bottom, top) for each column to code, such as {'age': (18, "
            f"90)}}; got {limits!r}."
        )
    problems = unknown_columns(limits, columns)
    problems += [
        f"The limits of {name!r} must be a pair (bottom, top), not both None; got {pair!r}."
        for name, pair in limits.items()
        if not isinstance(pair, tuple | list) or len(pair) != 2 or all(v is None for v in pair)
    ]
    if isinstance(special, Mapping):
        problems += [
            f"special names {name!r}, which limits does not.{did_you_mean(name, limits)}"
            for name in special
            if name not in limits
        ]
        special = {name: special.get(name, ()) for name in limits}
    else:
        special = dict.fromkeys(limits, special)
    problems += [
        f"special must be a list of codes, such as [-8, 99]; got {codes!r}."
        for codes in special.values()
        if not isinstance(codes, tuple | list)
    ]
    if problems:
        raise ParameterError(" ".join(dict.fromkeys(problems)))
    return special


def _bounds(array: pa.Array, name: str, pair: tuple[Limit | None, Limit | None]) -> Bounds:
    """Return bottom and top as values of the column's type."""
    try:
        bottom, top = (None if limit is None else as_scalar(limit, array.type) for limit in pair)
    except ValueError as error:
        raise ParameterError(
            f"A limit does not fit column {name!r}, which holds {held_in_words(array.type)}: "
            f"{error}."
        ) from error
    if bottom is not None and top is not None and pc.less(*_comparable(top, bottom)).as_py():
        raise ParameterError(
            f"The limits of {name!r} are (bottom, top), but {pair[0]} is above {pair[1]}."
        )
    return bottom, top


def _outside(array: pa.Array, bounds: Bounds, codes: Sequence[Limit]) -> Masks:
    """Return the rows below the bottom, and those above the top; special codes are in neither."""
    spared = _is_special(array, codes)
    found = []
    for bound, compare in zip(bounds, (pc.less, pc.greater), strict=True):
        if bound is None:
            found.append(np.zeros(len(array), bool))
        else:
            # A missing value compares as missing, NaN as false: both stay as they are.
            found.append(to_numpy(compare(*_comparable(array, bound)).fill_null(False)) & ~spared)
    return found[0], found[1]


def _is_special(array: pa.Array, codes: Sequence[Limit]) -> NDArray[np.bool_]:
    spared = np.zeros(len(array), bool)
    for code in codes:
        # What the type cannot hold does not occur.
        with contextlib.suppress(ValueError):
            found = pc.equal(*_comparable(array, as_scalar(code, array.type)))
            spared |= to_numpy(found.fill_null(False))
    return spared


def _comparable(*values: pa.Array | pa.Scalar) -> list[pa.Array | pa.Scalar]:
    """Return values that Arrow can compare: it does not compare half precision."""
    return [v.cast(pa.float32()) if pa.types.is_float16(v.type) else v for v in values]


def _replace(
    table: nw.DataFrame[Any], name: str, bounds: Bounds, masks: Masks
) -> nw.DataFrame[Any]:
    """Put the bounds into the rows of the masks; all other values stay as they are stored."""
    places = [np.flatnonzero(mask) for mask in masks]
    values = [
        pa.repeat(bound, len(rows))
        for bound, rows in zip(bounds, places, strict=True)
        if bound is not None and len(rows)
    ]
    if not values:
        return table
    layout = Layout.of(table.select(name).to_native())
    coded = to_narwhals(layout.restore({name: pa.concat_arrays(values)}))[name]
    return table.with_columns(table[name].scatter(np.concatenate(places).tolist(), coded))


def _in_words(
    limits: Limits, below: Mapping[str, int], above: Mapping[str, int], unnamed: Collection[str]
) -> str:
    """Say of each column how many values became which limit."""
    parts = []
    for name, (bottom, top) in limits.items():
        counts = [
            f"{count:,} set to the {side}{'' if name in unnamed else f' {limit}'}"
            for side, limit, count in (("bottom", bottom, below[name]), ("top", top, above[name]))
            if limit is not None
        ]
        parts.append(f"{name!r} has {' and '.join(counts)}")
    return "; ".join(parts)


def check_kinds(limits: Sequence[Limit | None], kind: pa.DataType, name: str) -> None:
    """Refuse a column that has no extremes, and limits that are no values of its kind."""
    form = form_of(kind, name)
    if form not in ("whole", "number", "time") or pa.types.is_duration(kind):
        raise ParameterError(
            f"Column {name!r} holds {held_in_words(kind)}; top and bottom coding is for numbers, "
            "dates and times."
        )
    allowed, wanted = (
        ((str, date, time, np.datetime64), "dates, times or ISO text such as '2024-12-31'")
        if form == "time"
        else ((int, float, Decimal, np.integer, np.floating), "numbers")
    )
    for limit in limits:
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, allowed)):
            raise ParameterError(
                f"Limits and special codes of {name!r}, which holds {held_in_words(kind)}, must be "
                f"{wanted}; got {limit!r}."
            )


def as_scalar(limit: Limit, kind: pa.DataType) -> pa.Scalar:
    """Return a limit as a value of type `kind`.

    Raises
    ------
    ValueError
        If the type cannot hold the limit.

    Examples
    --------
    >>> as_scalar("2024-12-31", pa.date32()), as_scalar(18.0, pa.int8())
    (<pyarrow.Date32Scalar: datetime.date(2024, 12, 31)>, <pyarrow.Int8Scalar: 18>)
    """
    if pa.types.is_temporal(kind):
        ticks = Numbers(np.array([_ticks(limit, kind)]), np.array([False]))
        return numbers_to_arrow(ticks, kind)[0]
    return _number(limit.item() if isinstance(limit, np.generic) else limit, kind)


def _number(limit: Limit, kind: pa.DataType) -> pa.Scalar:
    if not isinstance(limit, int | float | Decimal) or not _is_finite(limit):
        raise ValueError(f"{limit} is not a finite number")
    value: int | float | Decimal = limit
    if pa.types.is_integer(kind):
        value = int(limit)
    elif pa.types.is_decimal(kind):
        value = Decimal(str(limit))
    elif not isinstance(limit, int):
        value = float(limit)
    try:
        scalar = pa.scalar(value, kind)
    except (pa.ArrowInvalid, OverflowError) as error:
        raise ValueError(f"it cannot hold {limit}") from error
    # Arrow lets a float that is too large become infinite.
    if (pa.types.is_integer(kind) and value != limit) or not _is_finite(scalar.as_py()):
        raise ValueError(f"it cannot hold {limit}")
    return scalar


def _is_finite(number: float | Decimal) -> bool:
    # Whole numbers may be too large to be asked as floats.
    return isinstance(number, int) or math.isfinite(number)


def _ticks(limit: Limit, kind: pa.DataType) -> int:
    """Return a date or time as ticks of `kind`, if it is a whole number of them."""
    text = limit.isoformat() if isinstance(limit, date | time) else str(limit)
    if not pa.types.is_time(kind):
        try:
            zoned = datetime.fromisoformat(text).tzinfo is not None
        except ValueError as error:
            raise ValueError(
                f"{text!r} is no date or time such as 2024-12-31 or 2024-12-31T12:00"
            ) from error
        if zoned != (pa.types.is_timestamp(kind) and kind.tz is not None):
            raise ValueError(
                f"{text} has a time zone, and the column has none"
                if zoned
                else f"{text} has no time zone, and the column has one; add it, such as +00:00"
            )
    ticks = text_to_time(text, kind)
    unit = unit_of(kind)
    if unit != "ns":
        # NumPy would cut off what the unit cannot tell.
        fine = text_to_time(text, pa.time64("us") if pa.types.is_time(kind) else pa.timestamp("us"))
        day = pa.types.is_date(kind)
        tick = 86_400 * 10**6 if day else 10**6 // TICKS_PER_SECOND[unit]
        if fine % tick:
            raise ValueError(f"{text} falls between two {'days' if day else f'ticks of {unit}'}")
    return ticks
