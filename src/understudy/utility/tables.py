"""The tables that a measure compares, coded alike, and their records in an order of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import as_names
from understudy.counting.tables import joint_codes
from understudy.data.coded import Coded
from understudy.data.frames import Frame
from understudy.data.joint_coding import CodedTables
from understudy.errors import ParameterError

COMPARED = ("original", "synthetic")


def tables_of(
    original: Frame | CodedTables, synthetic: Frame | None, **others: Frame | None
) -> CodedTables:
    """Return the tables by their names, to be coded when they are used; None is none.

    `original` may be all of them, coded already: an audit does so, and each is coded once.
    """
    if isinstance(original, CodedTables):
        return original
    if synthetic is None:
        raise ParameterError("There is no synthetic table to compare with the original; give one.")
    given = {name: table for name, table in others.items() if table is not None}
    return CodedTables.of({"original": original, "synthetic": synthetic, **given}, ())


def compared(tables: CodedTables, columns: str | Sequence[str] | None) -> CodedTables:
    """Return the original and the synthetic table with the columns to compare.

    By default these are the columns of `tables`, or else all those of the original.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"age": [31], "sex": ["f"]})
    >>> compared(tables_of(table, table), None).columns
    ('age', 'sex')
    """
    return tables.select(COMPARED, _names(tables, columns)).check_rows()


def compared_with_control(tables: CodedTables, columns: str | Sequence[str] | None) -> CodedTables:
    """Return what `compared` does, and the control records too if they have all these columns."""
    names = _names(tables, columns)
    control = tables.encoded.get("control")
    held = control is not None and len(control) > 0 and all(one in control.names for one in names)
    return tables.select((*COMPARED, "control") if held else COMPARED, names).check_rows()


def _names(tables: CodedTables, columns: str | Sequence[str] | None) -> Sequence[str]:
    names = tables.columns or tables.encoded["original"].names
    names = names if columns is None else as_names(columns)
    if not names:
        raise ParameterError("There is no column to compare. Name one in columns, or leave it out.")
    return names


def drawn_records(
    tables: CodedTables, most: int, rng: np.random.Generator, doing: str, because: str
) -> tuple[dict[str, NDArray[np.int64] | slice], dict[str, str]]:
    """Return which records of each table are used, at most so many, and what is said of that.

    Examples
    --------
    >>> import polars as pl
    >>> tables = tables_of(pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [1] * 9}))
    >>> rng = np.random.default_rng(1)
    >>> used, said = drawn_records(tables, 4, rng, "sums rest on", "it is late")
    >>> used["original"], len(used["synthetic"])
    (slice(None, None, None), 4)
    >>> said["synthetic"]
    'sums rest on 4 of 9 records of the synthetic table, drawn at random, because it is late'
    """
    used: dict[str, NDArray[np.int64] | slice] = {}
    said = {}
    for name, held in tables.encoded.items():
        used[name] = slice(None)
        if len(held) > most:
            used[name] = np.sort(rng.choice(len(held), most, replace=False))
            said[name] = (
                f"{doing} {most:,} of {len(held):,} records of the {name} table, drawn at random, "
                f"because {because}"
            )
    return used, said


def content_order(table: Coded) -> NDArray[np.intp]:
    """Return the rows sorted by their codes, the columns taken in the order of their names.

    Tables with the same records have the same table in this order, however rows and columns are
    arranged. What is drawn from it by a seed is then the same too.

    Examples
    --------
    >>> content_order(Coded.from_arrays({"b": [1, 0, 0], "a": [0, 1, 0]})).tolist()
    [2, 0, 1]
    """
    return np.argsort(joint_codes(table, sorted(table.names))[0], kind="stable")
