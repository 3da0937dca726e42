"""Grouping: values that few people have, which tell who somebody is, become one value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.arguments import check_whole
from understudy.data.frames import Frame, Layout, column_to_arrow, to_narwhals
from understudy.data.values import form_of, held_in_words, to_numpy
from understudy.errors import ParameterError, unknown_columns
from understudy.synthesis.control.records import Change, share_of_rows


def group_rare(
    original: Frame, synthetic: Frame, least: Mapping[str, int], *, other: str = "other"
) -> Change:
    """Replace the values that few people of the original have by one value.

    Parameters
    ----------
    original : DataFrame or Table
        The original table, of pandas, polars or pyarrow, in which people are counted.
    synthetic : DataFrame or Table
        The synthetic table. It is not changed.
    least : mapping of str to int
        For each column of text: how many people a value needs to stay.
    other : str
        What the other values become.

    Returns
    -------
    Change
        The table with grouped columns. Lists of categories are replaced by plain text.

    Raises
    ------
    ParameterError
        If a column is unknown or holds no text, or a number is not a whole number from 1 up.

    Notes
    -----
    If the rare values together have fewer people than a value needs, the next rarest join them.
    Values that nobody in the original has are grouped, and missing values stay missing.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"town": ["Ulm", "Ulm", "Rom", "Ems", "Ulm"]})
    >>> group_rare(original, original, {"town": 2}).frame["town"].to_list()
    ['Ulm', 'Ulm', 'other', 'other', 'Ulm']
    """
    people, wrapped = to_narwhals(original), to_narwhals(synthetic)
    if not isinstance(least, Mapping) or not least:
        raise ParameterError(
            "least must say for each column to group how many people a value needs, such as "
            f"{{'town': 10}}; got {least!r}."
        )
    if not isinstance(other, str) or not other:
        raise ParameterError(f"other must be a text that is not empty; got {other!r}.")
    problems = [
        f"In the {table} table, {problem}"
        for table, columns in (("original", people.columns), ("synthetic", wrapped.columns))
        for problem in unknown_columns(least, columns)
    ]
    if problems:
        raise ParameterError(" ".join(problems))
    changed = np.zeros(len(wrapped), bool)
    grouped, told = wrapped, []
    for name, needed in least.items():
        check_whole(f"The number of people for {name!r}", needed, 1)
        stays = common_values(texts_of(people[name], name), needed, other)
        values = texts_of(wrapped[name], name)
        rare = pc.and_(values.is_valid(), pc.invert(pc.is_in(values, value_set=stays)))
        rows = to_numpy(rare)
        if rows.any():
            layout = Layout.of(wrapped.select(name).to_native()).forget_values([name])
            column = layout.restore({name: pc.if_else(rare, other, values)})
            grouped = grouped.with_columns(to_narwhals(column)[name])
        told.append(f"{name!r} has {int(rows.sum()):,} set to {other!r}")
        changed |= rows
    rows = np.flatnonzero(changed)
    text = f"Changed {share_of_rows(len(rows), len(changed))}: {'; '.join(told)}."
    return Change(grouped.to_native(), rows, len(changed), text)


def texts_of(series: nw.Series[Any], name: str) -> pa.Array:
    """Return a column of text, or of categories that are text, as text."""
    return as_texts(column_to_arrow(series, name), name)


def as_texts(array: pa.Array, name: str) -> pa.Array:
    """Return what `texts_of` does, for an array of Arrow."""
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if form_of(kind, name) != "category":
        raise ParameterError(
            f"Column {name!r} holds {held_in_words(array.type)}; rare values are grouped in "
            "columns of text. Numbers, dates and times can be top and bottom coded."
        )
    return array.cast(pa.string())


def common_values(values: pa.Array, least: int, other: str) -> pa.Array:
    """Return the values that stay: those of enough people, if the others are enough together."""
    inside = pc.equal(values, other).fill_null(False)
    found = values.filter(pc.invert(inside)).drop_null().value_counts()
    levels, counts = found.field("values"), to_numpy(found.field("counts"))
    order = np.argsort(counts, kind="stable")
    sizes = counts[order]
    rare = int(np.searchsorted(sizes, least))
    if rare:
        together = np.cumsum(sizes) + pc.sum(inside).as_py()
        rare = max(rare, int(np.searchsorted(together, least)) + 1)
    return pa.concat_arrays([levels.take(pa.array(order[rare:])), pa.array([other])])
