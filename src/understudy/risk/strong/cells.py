"""Cells of a table: combinations of values, numbered alike in the release and in simulations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.counting.tables import group_ids
from understudy.data.coded import Coded, Codes, code_dtype
from understudy.data.frames import Frame, to_arrow, to_narwhals
from understudy.data.joint_coding import CodedTables, code_together
from understudy.errors import DataError


@dataclass(frozen=True, eq=False)
class CellCounts:
    """How many rows of a table fall into each cell; cells without rows are left out."""

    cells: NDArray[np.int64]
    counts: NDArray[np.int64]


class Cells:
    """The combinations of values that occur in the original or the synthetic table.

    A combination that neither has falls into one more cell, the last.

    Parameters
    ----------
    original, synthetic : frame
        The tables.
    columns : sequence of str
        The columns that make up a cell.
    groups : mapping
        How many groups the numbers of a column are put in.

    Attributes
    ----------
    count : int
        The number of cells, that for other combinations included.
    released : CellCounts
        The rows of the synthetic table in each cell.

    Examples
    --------
    >>> import polars as pl
    >>> cells = Cells(pl.DataFrame({"x": [1, 2]}), pl.DataFrame({"x": [2, 3]}), ["x"], {})
    >>> found = cells.counts_of(pl.DataFrame({"x": [9, 1, 2, 2]}))
    >>> cells.count, found.cells.tolist(), found.counts.tolist()
    (4, [0, 1, 3], [1, 2, 1])
    """

    def __init__(
        self,
        original: Frame,
        synthetic: Frame,
        columns: Sequence[str],
        groups: Mapping[str, int],
    ) -> None:
        self._names = tuple(columns)
        self._columns = frozenset(to_narwhals(synthetic).columns)
        self._groups = {name: count for name, count in groups.items() if name in self._names}
        frames = {"original": original, "synthetic": synthetic}
        together = code_together(frames, self._names, groups=self._groups)
        for table, coded in together.tables.items():
            if not len(coded):
                raise DataError(f"The {table} table has no rows.")
        stacked = Coded.concatenate(list(together.tables.values()))
        found = group_ids(stacked, self._names)
        self.count = found.count + 1
        self.codes = stacked.take(found.representatives)
        self.labels = {name: together.levels[name].labels for name in self._names}
        self.released = _counted(found.ids[len(together["original"]) :].astype(np.int64))
        self._parts = list(self._references(frames, together, stacked))

    def _references(
        self, frames: Mapping[str, Frame], together: CodedTables, stacked: Coded
    ) -> Iterator[tuple[list[str], dict[str, pa.Table], Coded]]:
        """Yield columns, tables to code a simulated one with, and the codes of their rows."""
        grouped = [name for name in self._names if name in self._groups]
        tables = {table: to_arrow(frame) for table, frame in frames.items()}
        if grouped:
            # All records are needed: they decide the limits of the groups.
            yield grouped, tables, stacked
        exact = [name for name in self._names if name not in self._groups]
        if not exact:
            return
        # Of the others a row for each level is enough, which is quicker to code.
        rows = np.unique(np.concatenate([_first_rows(stacked[name]) for name in exact]))
        start, chosen = 0, {}
        for table, coded in together.tables.items():
            own = rows[(rows >= start) & (rows < start + len(coded))] - start
            chosen[table] = tables[table].take(own)
            start += len(coded)
        yield exact, chosen, stacked.take(rows)

    def counts_of(self, simulated: Frame) -> CellCounts:
        """Return how many rows of a simulated table fall into each cell.

        Raises
        ------
        DataError
            If it has no rows, other columns than the synthetic table, or values that cannot be
            compared.
        """
        frame = to_narwhals(simulated)
        if set(frame.columns) != self._columns:
            lacking = sorted(self._columns - set(frame.columns))
            extra = sorted(set(frame.columns) - self._columns)
            raise DataError(
                "The simulated table has other columns than the synthetic one"
                + (f"; it lacks {', '.join(lacking)}" if lacking else "")
                + (f"; it adds {', '.join(extra)}" if extra else "")
                + "."
            )
        if not len(frame):
            raise DataError("The simulated table has no rows.")
        known = np.ones(len(frame), bool)
        columns: dict[str, NDArray[np.int64]] = {}
        for names, references, codes in self._parts:
            together = code_together(
                {**references, "simulated": simulated},
                names,
                groups={name: self._groups[name] for name in names if name in self._groups},
            )
            stacked = Coded.concatenate(list(together.tables.values()))
            for name in names:
                # New values move the codes; the rows whose codes are known tell where to.
                size = self.codes.cardinality(name)
                code = np.full(stacked.cardinality(name), size, np.int64)
                code[stacked[name][: len(codes)]] = codes[name]
                columns[name] = code[stacked[name][len(codes) :]]
                known &= columns[name] < size
        return _counted(self._cell_of(columns, known))

    def _cell_of(
        self, columns: Mapping[str, NDArray[np.integer]], known: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        sizes = self.codes.cardinalities
        rows = Coded(
            self._names,
            tuple(
                columns[name][known].astype(code_dtype(size))
                for name, size in zip(self._names, sizes, strict=True)
            ),
            sizes,
        )
        found = group_ids(Coded.concatenate([self.codes, rows]), self._names)
        number = np.full(found.count, self.count - 1, np.int64)
        number[found.ids[: len(self.codes)]] = np.arange(len(self.codes))
        cells = np.full(len(known), self.count - 1, np.int64)
        cells[known] = number[found.ids[len(self.codes) :]]
        return cells


def _counted(cells: NDArray[np.int64]) -> CellCounts:
    return CellCounts(*np.unique(cells, return_counts=True))


def _first_rows(codes: Codes) -> NDArray[np.int64]:
    return np.unique(codes, return_index=True)[1]
