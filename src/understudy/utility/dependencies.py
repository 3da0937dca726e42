"""Whether a release keeps what holds between the columns of the original."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
import pyarrow as pa

from understudy.data.dependencies.breaks import broken_rows, own_exceptions
from understudy.data.dependencies.families import Dependency, Determined
from understudy.data.dependencies.finding import find_dependencies
from understudy.data.dependencies.mappings import Entries
from understudy.data.dependencies.told import ByTable, Mask, gaps_of
from understudy.data.dependencies.views import View
from understudy.data.frames import Backend, Frame, Layout, to_arrow, to_backend
from understudy.data.matched_types import match_types
from understudy.data.schema import Column, Schema
from understudy.errors import DataError
from understudy.wording import counted, percent

_BY_CHANCE = 3
"""Standard deviations by which the share of exceptions may differ from the original's."""


@dataclass(frozen=True)
class KeptDependency:
    """One dependency, and the share of records that break it.

    Parameters
    ----------
    dependency : Dependency
        What holds in the original.
    original, synthetic : float
        The share of records that break it; nan if the release does not show its columns.
    records : int
        Records of the release.
    """

    dependency: Dependency
    original: float
    synthetic: float
    records: int

    @property
    def broken(self) -> bool:
        """Whether the release breaks it more often than the original, beyond chance."""
        spread = math.sqrt(self.original * (1 - self.original) / max(self.records, 1))
        return self.synthetic > self.original + _BY_CHANCE * spread


@dataclass(frozen=True, eq=False)
class KeptDependencies:
    """The dependencies of the original, and how far a release keeps them.

    Iterate over it for each one; `str` and `to_frame` show all.
    """

    dependencies: tuple[KeptDependency, ...]
    _backend: Backend = field(default="polars", repr=False)

    def __iter__(self) -> Iterator[KeptDependency]:
        return iter(self.dependencies)

    def __len__(self) -> int:
        return len(self.dependencies)

    @property
    def broken(self) -> tuple[KeptDependency, ...]:
        """Those that the release breaks, the most often broken first."""
        return tuple(sorted((o for o in self.dependencies if o.broken), key=lambda o: -o.synthetic))

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each dependency."""
        rows = [
            {
                "kind": one.dependency.kind,
                "column": one.dependency.names[0],
                "dependency": one.dependency.sentence,
                "original": one.original,
                "synthetic": one.synthetic,
                "broken": one.broken,
            }
            for one in self.dependencies
        ]
        types = {
            "kind": pl.String,
            "column": pl.String,
            "dependency": pl.String,
            "original": pl.Float64,
            "synthetic": pl.Float64,
            "broken": pl.Boolean,
        }
        frame = pl.DataFrame(rows, schema=types)
        return to_backend(frame, self._backend if backend is None else backend)

    def __str__(self) -> str:
        if not self.dependencies:
            return "No dependencies between columns were found in the original."
        heading = (
            f"The release breaks {len(self.broken):,} of "
            f"{counted(len(self), 'dependency').replace('dependencys', 'dependencies')}."
        )
        return "\n".join(
            [heading]
            + [
                f"  {one.dependency.sentence}: broken in {percent(one.synthetic)} of the records, "
                f"and in {percent(one.original)} of the original's"
                for one in self.broken
            ]
        )


def dependencies(
    original: Frame,
    synthetic: Frame,
    *,
    found: Sequence[Dependency] | None = None,
    schema: Schema | None = None,
) -> KeptDependencies:
    """Measure how far a release, of any tool, keeps what holds between the original's columns.

    Parameters
    ----------
    original, synthetic : frame
        The two tables.
    found : sequence of Dependency, optional
        What holds in the original; looked for if not given (see `find_dependencies`).
    schema : Schema, optional
        What the columns are; inferred if not given.

    Notes
    -----
    Where one column follows from others, a synthetic record breaks this if it has another value
    than most original records with the same values of the others. If the original has no such
    record, most synthetic ones decide. A record without a value breaks neither this nor a formula.

    Examples
    --------
    >>> import polars as pl
    >>> starts = [7 * n % 41 for n in range(100)]
    >>> table = pl.DataFrame({"start": starts, "days": [3, 4, 1, 7, 5] * 20})
    >>> table = table.with_columns(end=pl.col("start") + pl.col("days"))
    >>> off = table.with_columns(end=pl.col("end") + (pl.col("days") > 5))
    >>> print(dependencies(table, off))
    The release breaks 1 of 1 dependency.
      'end' = 'start' + 'days': broken in 20.0% of the records, and in 0.0% of the original's
    """
    backend = Layout.of(original).backend
    matched = match_types(original, [("release", synthetic)])
    if schema is None:
        schema = Schema.infer(original, dependencies=False)
    if found is None:
        found = schema.dependencies or find_dependencies(original, schema)
    real, drawn = to_arrow(matched.original), to_arrow(matched.others[0])
    columns = {column.name: column for column in schema}
    kept = tuple(_kept(one, real, drawn, columns) for one in found)
    return KeptDependencies(kept, backend)


def _kept(
    one: Dependency, real: pa.Table, drawn: pa.Table, columns: Mapping[str, Column]
) -> KeptDependency:
    known = all(name in columns and name in real.column_names for name in one.names)
    usable = known and all(columns[n].kind not in ("identifier", "text") for n in one.names)
    shown = all(name in drawn.column_names for name in one.names)
    synthetic = original = math.nan
    if usable:
        original = _share(own_exceptions(one, real, columns))
        if shown and drawn.num_rows:
            try:
                synthetic = _share(_broken(one, real, drawn, columns))
            except (DataError, pa.ArrowInvalid, pa.ArrowNotImplementedError):
                synthetic = math.nan  # values of another kind: they are compared as text elsewhere
    return KeptDependency(one, original, synthetic, drawn.num_rows)


def _share(rows: Mask) -> float:
    return float(rows.mean()) if len(rows) else 0.0


def _broken(
    one: Dependency, real: pa.Table, drawn: pa.Table, columns: Mapping[str, Column]
) -> Mask:
    """Return which records of a release break a dependency of the original."""
    if not isinstance(one, Determined):
        return broken_rows(one, drawn, columns)

    def view(name: str) -> View:
        return View(columns[name], real[name].combine_chunks())

    entries = Entries.learn(tuple(view(name) for name in one.by), view(one.column))
    told = ByTable(one.column, one.by, entries)
    arrays = {name: drawn[name].combine_chunks() for name in one.names}
    agree, known = told.agrees(arrays[one.column], arrays)
    missing = gaps_of(arrays[one.column])
    return np.where(known, ~agree & ~missing, own_exceptions(one, drawn, columns))
