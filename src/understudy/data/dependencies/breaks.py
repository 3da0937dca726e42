"""How many records of a table break a dependency: of the original, or of a release of any tool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from understudy.data.dependencies.composites import as_count
from understudy.data.dependencies.families import (
    Composite,
    Dependency,
    Determined,
    Formula,
    MissingTogether,
    MissingWhen,
    Ordered,
)
from understudy.data.dependencies.formula_search import excused_rows, told_by
from understudy.data.dependencies.formulas import agreeing
from understudy.data.dependencies.mappings import Groups, empty_groups, plain_array
from understudy.data.dependencies.steps import Blank
from understudy.data.dependencies.told import Mask, gaps_of
from understudy.data.dependencies.views import View, Views
from understudy.data.schema import Column


def broken_rows(one: Dependency, table: pa.Table, columns: Mapping[str, Column]) -> Mask:
    """Return which records break a dependency; not one that follows from a table of entries."""
    views = Views.of(table.select(list(one.names)), [columns[name] for name in one.names])
    if isinstance(one, Formula):
        of, view = [views[name] for name in one.of], views[one.column]
        told = told_by(one, views)
        wrong = ~agreeing(told, view.floats, view.tolerance)
        return wrong & ~excused_rows(told, view, of)
    if isinstance(one, Ordered):
        with np.errstate(invalid="ignore"):
            return np.asarray(views[one.low].floats > views[one.high].floats)
    if isinstance(one, MissingTogether):
        gaps = [views[name].missing for name in one.columns]
        return np.asarray(np.any(gaps, axis=0) & ~np.all(gaps, axis=0))
    if isinstance(one, MissingWhen):
        blank = Blank(one.column, one.other, one.level, one.exactly)
        return ~blank.kept({name: view.array for name, view in views.columns.items()})
    if isinstance(one, Composite):
        found = as_count(views[one.column].array, one.code, one.column)
        return np.asarray((found.values < 0) & ~found.missing)
    raise TypeError(type(one).__name__)


@dataclass(eq=False)
class Checks:
    """Counts, batch by batch, the records that break dependencies."""

    dependencies: Sequence[Dependency]
    columns: Mapping[str, Column]
    rows: int = 0
    broken: list[int] = field(default_factory=list)
    _cells: dict[int, pa.Table] = field(default_factory=dict)

    @classmethod
    def of(cls, dependencies: Sequence[Dependency], columns: Iterable[Column]) -> Checks:
        """Return checks that have not seen a record yet."""
        known = {column.name: column for column in columns}
        return cls(dependencies, known, broken=[0] * len(dependencies))

    def add(self, table: pa.Table) -> None:
        """Count the records of one more batch."""
        self.rows += table.num_rows
        for place, one in enumerate(self.dependencies):
            if isinstance(one, Determined):
                self._add_cells(place, one, table)
            else:
                self.broken[place] += int(broken_rows(one, table, self.columns).sum())

    def _add_cells(self, place: int, one: Determined, table: pa.Table) -> None:
        """Count which values occur together; these are far fewer than the records."""
        names = list(one.names)
        part = pa.table({n: plain_array(table[n].combine_chunks()) for n in names})
        counted = part.group_by(names).aggregate([([], "count_all")])
        former = self._cells.get(place)
        if former is not None:
            both = pa.concat_tables([former, counted])
            counted = both.group_by(names).aggregate([("count_all", "sum")])
            counted = counted.rename_columns([*names, "count_all"])
        self._cells[place] = counted

    def shares(self) -> list[float]:
        """Return the share of records that break each dependency."""
        for place, cells in self._cells.items():
            one = self.dependencies[place]
            assert isinstance(one, Determined)  # noqa: S101  # only these have cells
            self.broken[place] = _exceptions(one, cells, self.columns)
        return [count / max(self.rows, 1) for count in self.broken]


def _exceptions(one: Determined, cells: pa.Table, columns: Mapping[str, Column]) -> int:
    """Return how many records have another value than most with the same values of the others."""
    by = tuple(View(columns[name], cells[name].combine_chunks()) for name in one.by)
    groups = Groups.of(*by).codes
    inside = groups >= 0
    gaps = gaps_of(cells[one.column].combine_chunks())
    counts = np.asarray(cells["count_all"].to_numpy())
    size = int(groups.max(initial=-1)) + 1
    records, present, most = np.zeros((3, size), np.int64)
    np.add.at(records, groups[inside], counts[inside])
    inside &= ~gaps
    np.add.at(present, groups[inside], counts[inside])
    np.maximum.at(most, groups[inside], counts[inside])
    most[empty_groups(records, present)] = 0
    return int(present.sum() - most.sum())


def own_exceptions(one: Dependency, table: pa.Table, columns: Mapping[str, Column]) -> Mask:
    """Return which records of a table break a dependency, also one by entries.

    A record breaks that one if it has another value than most that agree in the others and have
    one.
    """
    if not isinstance(one, Determined):
        return broken_rows(one, table, columns)
    views = Views.of(table.select(list(one.names)), [columns[name] for name in one.names])
    groups = Groups.of(*(views[name] for name in one.by))
    view = views[one.column]
    best = groups.majorities(view)
    inside = (groups.codes >= 0) & (view.codes != view.size)
    wrong = np.zeros(table.num_rows, bool)
    wrong[inside] = view.codes[inside] != best[groups.codes[inside]]
    return wrong
