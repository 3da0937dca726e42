"""Finding the dependencies of a table in memory, or of a file that is read in batches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from understudy.data.dependencies.breaks import Checks
from understudy.data.dependencies.evidence import MOST_EXCEPTIONS
from understudy.data.dependencies.families import Dependency
from understudy.data.dependencies.search import search_table
from understudy.data.frames import Frame
from understudy.data.schema import Column, Schema
from understudy.data.source import FrameSource, TableSource, source_of

SAMPLED = 200_000
"""Records of a stream that are searched, spread over its batches; what is found there is then
checked on all records, in one more pass."""


def find_dependencies(
    data: Frame | TableSource, columns: Iterable[Column] | None = None
) -> tuple[Dependency, ...]:
    """Return what holds between the columns of a table, for all records or all but a few.

    Parameters
    ----------
    data : frame or TableSource
        The table. Of one that is not a frame, a sample is searched, and what is found is checked
        on all records.
    columns : iterable of Column, optional
        What the columns are; inferred if not given.

    Notes
    -----
    A column has one dependency that gives its value, at most. Formulas come before tables of what
    follows from what, and one column before two. At most 1% of the records may break one, and it
    must not be chance: in a table of unrelated columns there is one finding in a thousand tables.

    Two columns are tried together for at most 600 pairs, and formulas of two numbers for the
    first 60 columns of numbers.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"rent": range(100, 200), "heating": [20, 30, 45, 50] * 25})
    >>> table = table.with_columns(total=pl.col("rent") + pl.col("heating"))
    >>> [one.sentence for one in find_dependencies(table)]
    ["'total' = 'rent' + 'heating'"]
    """
    source = source_of(data)
    if columns is None:
        columns = Schema.infer(source, dependencies=False)
    known = tuple(columns)
    if isinstance(source, FrameSource):
        return search_table(source.table(), known)
    found = search_table(source.every(-(-source.rows // SAMPLED)), known)
    if source.rows <= SAMPLED or not found:
        return found
    checks = Checks.of(found, known)
    for batch in source.arrow_batches():
        checks.add(batch)
    return tuple(
        replace(one, exceptions=share)
        for one, share in zip(found, checks.shares(), strict=True)
        if share <= (MOST_EXCEPTIONS if one.kind in ("determined", "formula") else 0)
    )
