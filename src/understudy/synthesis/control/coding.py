"""Top and bottom coding: extreme values, which tell who somebody is, become a limit."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.data.frames import Frame, Layout, to_arrow, to_narwhals
from understudy.data.values import to_numpy
from understudy.errors import ParameterError, did_you_mean, unknown_columns
from understudy.synthesis.control.change import Change, share_of_rows
from understudy.synthesis.control.limits import Limit, as_scalar, check_kinds

Limits: TypeAlias = Mapping[str, tuple[Limit | None, Limit | None]]
"""The bottom and the top of each column."""
Bounds: TypeAlias = tuple[pa.Scalar | None, pa.Scalar | None]
Masks: TypeAlias = tuple[NDArray[np.bool_], NDArray[np.bool_]]


def top_bottom_code(
    synthetic: Frame,
    limits: Limits,
    *,
    special: Sequence[Limit] | Mapping[str, Sequence[Limit]] = (),
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
    text = f"Changed {share_of_rows(len(rows), len(changed))}: {_in_words(limits, below, above)}."
    return Change(coded.to_native(), rows, len(changed), text, below, above)


def _codes_by_column(
    columns: Sequence[str],
    limits: Limits,
    special: Sequence[Limit] | Mapping[str, Sequence[Limit]],
) -> Mapping[str, Sequence[Limit]]:
    """Return the special codes of each column with limits, after checking the names."""
    if not isinstance(limits, Mapping) or not limits:
        raise ParameterError(
            "limits gives a (bottom, top) for each column to code, such as "
            f"{{'age': (18, 90)}}; got {limits!r}."
        )
    problems = unknown_columns(limits, columns)
    problems += [
        f"The limits of {name!r} are a pair (bottom, top), not both None; got {pair!r}."
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
        f"special is a list of codes, such as [-8, 99]; got {codes!r}."
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
            f"A limit does not fit column {name!r}, which holds {array.type}: {error}."
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


def _in_words(limits: Limits, below: Mapping[str, int], above: Mapping[str, int]) -> str:
    """Say of each column how many values became which limit."""
    parts = []
    for name, (bottom, top) in limits.items():
        counts = [
            f"{count:,} set to the {side} {limit}"
            for side, limit, count in (("bottom", bottom, below[name]), ("top", top, above[name]))
            if limit is not None
        ]
        parts.append(f"{name} has {' and '.join(counts)}")
    return "; ".join(parts)
