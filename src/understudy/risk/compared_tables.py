"""The tables of an attack that looks at whole records: the original, releases, control records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import as_names
from understudy.data.frames import Frame
from understudy.data.joint_coding import EncodedTable, encode
from understudy.errors import DataError, ParameterError, did_you_mean

ORIGINAL, CONTROL = "original", "control"


def listed_releases(synthetic: Any) -> list[Any]:  # noqa: ANN401  # frames or codes
    """Return the tables of a release: one, or several in a list.

    Examples
    --------
    >>> listed_releases("a frame"), listed_releases(("a frame", "another"))
    (['a frame'], ['a frame', 'another'])
    """
    if not isinstance(synthetic, list | tuple):
        return [synthetic]
    if not synthetic:
        raise ParameterError("synthetic must be a table or a list of tables; got an empty list.")
    return list(synthetic)


def drawn_rows(rows: int, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return all rows, or if they are many, so many that are drawn at random, in order."""
    return np.arange(rows) if rows <= most else np.sort(rng.choice(rows, most, replace=False))


def named_tables(
    original: Frame, synthetic: Frame | Sequence[Frame], control: Frame | None
) -> dict[str, EncodedTable]:
    """Return the tables by name, to be encoded when they are used; releases may be several.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"x": [1]})
    >>> list(named_tables(table, [table, table], table))
    ['original', 'synthetic 1', 'synthetic 2', 'control']
    """
    releases = listed_releases(synthetic)
    frames = {ORIGINAL: original}
    for number, table in enumerate(releases, 1):
        frames["synthetic" if len(releases) == 1 else f"synthetic {number}"] = table
    if control is not None:
        frames[CONTROL] = control
    return {name: encode(frame) for name, frame in frames.items()}


def without_others(tables: Mapping[str, EncodedTable]) -> dict[str, EncodedTable]:
    """Return the original, the releases and the control records; no test records, for example."""
    return {
        name: table
        for name, table in tables.items()
        if name in (ORIGINAL, CONTROL) or name.startswith("synthetic")
    }


def shared_columns(
    tables: Mapping[str, EncodedTable], columns: str | Sequence[str] | None
) -> tuple[str, ...]:
    """Return the columns that all tables have, or those asked for; raise if one is not there."""
    for name, table in tables.items():
        if not len(table):
            raise DataError(f"The {name} table has no rows.")
    first = next(iter(tables.values()))
    if columns is None:
        names = tuple(
            name for name in first.names if all(name in table.names for table in tables.values())
        )
        if not names:
            raise ParameterError("The tables have no column in common; nothing can be compared.")
        return names
    asked = tuple(dict.fromkeys(as_names(columns)))
    problems = [
        f"The {title} table has no column {name!r}.{did_you_mean(name, table.names)}"
        for title, table in tables.items()
        for name in asked
        if name not in table.names
    ]
    if problems:
        raise ParameterError(" ".join(problems))
    if not asked:
        raise ParameterError("columns must name at least one column; got none.")
    return asked
