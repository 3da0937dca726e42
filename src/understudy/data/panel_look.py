"""Whether a table looks like a panel, and what is lost if its records are drawn by themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from understudy.data.identifier_look import FEWEST, named_like_one
from understudy.data.panel_records import Records, Values, find_time
from understudy.data.schema import NUMERIC, Schema
from understudy.data.units import unit_codes
from understudy.wording import counted, quoted

MOST_UNITS = 0.67
"""Units are at most this share of the records: else most have a single record."""


def looks_like_panel(schema: Schema, columns: Mapping[str, pa.Array]) -> tuple[str, str] | None:
    """Return a column that seems to name units with several records, and one that orders these.

    A name of units repeats in groups, and is an identifier or has a name like one. Within its
    groups another column holds no value twice: a date, or numbers that are named like a time or
    rise.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"id": [n // 3 for n in range(90)], "year": [1990, 1991, 1992] * 30})
    >>> arrays = {name: table[name].to_arrow() for name in table.columns}
    >>> looks_like_panel(Schema.infer(table, kinds={"id": "identifier"}), arrays)
    ('id', 'year')
    """
    for column in schema:
        if column.kind != "identifier" and not named_like_one(column.name):
            continue
        array = columns[column.name]
        groups = len(array.unique())
        if not FEWEST <= groups <= MOST_UNITS * len(array):
            continue
        time = find_time(schema, columns, unit_codes([array]))
        if time is not None and time != column.name:
            return column.name, time
    return None


def constant_within(
    schema: Schema, columns: Mapping[str, pa.Array], units: Sequence[str]
) -> list[str]:
    """Return the columns with one value in each unit, other than identifiers.

    There are none if no unit has several records.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"id": [7, 7, 8, 8], "sex": ["f", "f", "m", "m"], "age": [1, 2, 1, 2]})
    >>> arrays = {name: table[name].to_arrow() for name in table.columns}
    >>> constant_within(Schema.infer(table), arrays, ["id"])
    ['sex']
    """
    records = Records.of(unit_codes([columns[name] for name in units]))
    now, before = records.order[records.later], records.order[records.later - 1]
    if not len(now):
        return []
    return [
        one.name
        for one in schema
        if one.kind != "identifier"
        and one.name not in units
        and Values.of(columns[one.name], one.name, numeric=one.kind in NUMERIC)
        .same(now, before)
        .all()
    ]


def panel_losses(
    schema: Schema, columns: Mapping[str, pa.Array], units: Sequence[str], time: str | None = None
) -> str:
    """Return what is lost of a panel, in a sentence, if each record is drawn by itself.

    Parameters
    ----------
    schema : Schema
        What the columns are.
    columns : mapping
        Their values.
    units : sequence of str
        The columns that name the unit.
    time : str, optional
        The column that orders the records of a unit.

    Returns
    -------
    str
        Empty if no unit has several records.
    """
    records = Records.of(unit_codes([columns[name] for name in units]))
    if not len(records.later):
        return ""
    constant = [name for name in constant_within(schema, columns, units) if name != time]
    several = int(np.count_nonzero(records.counts > 1))
    have = "has" if several == 1 else "have"
    losses = []
    if constant:
        stay = "stays" if len(constant) == 1 else "stay"
        losses.append(f"{quoted(constant)} no longer {stay} the same within a unit")
    order = f", the order in {time!r}" if time is not None else ""
    losses.append(
        f"the link of a record with the one before it{order} and the size of units are lost"
    )
    return (
        f"{counted(several, 'unit')} named by {quoted(units)} {have} several records. Each record "
        f"is drawn by itself, so {', and '.join(losses)}."
    )
