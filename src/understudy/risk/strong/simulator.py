"""The tables that the original may have been: their syntheses, and the cells of these.

Cells are combinations of values, numbered alike in the release and in simulations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, islice
from typing import TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.counting import group_ids
from understudy.data.coded import Coded, Codes, code_dtype
from understudy.data.frames import Frame, Layout, to_arrow, to_narwhals
from understudy.data.joint_coding import CodedTables, code_together
from understudy.errors import DataError, UnderstudyError
from understudy.risk.strong.candidates import CandidateValues, plain_values
from understudy.risk.strong.command import Command
from understudy.showing import reason


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
    released : collection of str, optional
        The columns that a simulated table must have; those of `synthetic` if not given.

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
        released: Collection[str] | None = None,
    ) -> None:
        self._names = tuple(columns)
        own = to_narwhals(synthetic).columns if released is None else released
        self._columns = frozenset(own)
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


def numbered_on(counts: Sequence[CellCounts], cells: Sequence[Cells]) -> CellCounts:
    """Return the counts of several releases' cells as one: cells are numbered on and on."""
    starts = first_cells(cells)
    return CellCounts(
        np.concatenate([own.cells + start for own, start in zip(counts, starts, strict=True)]),
        np.concatenate([own.counts for own in counts]),
    )


def first_cells(cells: Sequence[Cells]) -> list[int]:
    """Return the number of each release's first cell, if cells are numbered on and on."""
    return list(accumulate((own.count for own in cells[:-1]), initial=0))


Job = TypeVar("Job")
Outcome = TypeVar("Outcome")

Synthesize: TypeAlias = Callable[[Frame, int], Frame]
"""Makes a synthetic table of a table and a seed."""

Simulation: TypeAlias = tuple[int, int, CellCounts]
"""World, run, and the rows in each cell."""


@dataclass(frozen=True, eq=False)
class Worlds:
    """The distinct worlds of all attacked records; the original itself, if among them, is first.

    In each world, one original record (`row`) is changed to a candidate; both are -1 in the
    original itself. `of` is the world of each attacked record and candidate, a row for each record.
    """

    row: NDArray[np.int64]
    candidate: NDArray[np.int64]
    of: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.row)

    def name(self, world: int) -> str:
        """Return what a world is, in words that tell no value."""
        if self.row[world] < 0:
            return "the original itself"
        return f"record {self.row[world]} as candidate {self.candidate[world] + 1}"


def plan_worlds(original: Coded, records: NDArray[np.int64], candidates: CandidateValues) -> Worlds:
    """Return the distinct worlds of the attacked records, numbered.

    Records that agree in all values share their worlds: as a set of records, the table is the
    same whichever of them is changed. The first of them is, so that a world does not depend on
    which records are attacked. The true candidate of a record leaves the original as it is, unless
    it puts the middle of a group in the place of the record's number. `original` has
    the codes of all its columns.
    """
    groups = group_ids(original, original.names)
    distinct, place = np.unique(groups.ids[records], return_inverse=True)
    row = groups.representatives[distinct]
    changed = np.arange(len(candidates.candidates)) != candidates.truth[row][:, None]
    changed |= ~candidates.unchanged[row][:, None]
    first = np.full(int(not changed.all()), -1, np.int64)
    of = np.where(changed, np.cumsum(changed).reshape(changed.shape) - 1 + len(first), 0)
    which, candidate = np.nonzero(changed)
    return Worlds(np.append(first, row[which]), np.append(first, candidate), of[place])


@dataclass(frozen=True, eq=False)
class Simulator:
    """Synthesizes the table of a world with the seed of a run, and counts the cells.

    `values` are what each candidate puts into the unknown attributes; the seeds of runs are the
    same in every world. `cells` are those of each release.
    """

    synthesize: Synthesize
    original: Frame
    values: Mapping[str, pa.Array]
    worlds: Worlds
    cells: Sequence[Cells]
    seeds: tuple[int, ...]

    @cached_property
    def _stored(self) -> tuple[Layout, dict[str, pa.Array]]:
        table = to_arrow(self.original)
        columns = {name: plain_values(table[name]) for name in table.column_names}
        return Layout.of(self.original), columns

    def table(self, world: int) -> Frame:
        """Return the table of a world, a new one each time: a synthesizer may change it."""
        layout, stored = self._stored
        columns = dict(stored)
        row, candidate = int(self.worlds.row[world]), int(self.worlds.candidate[world])
        if row >= 0:
            for name, values in self.values.items():
                array = columns[name]
                columns[name] = pa.concat_arrays(
                    [array.slice(0, row), values.slice(candidate, 1), array.slice(row + 1)]
                )
        return layout.restore(columns)

    def simulation(self, world: int, run: int) -> Simulation:
        """Return one simulation.

        Raises
        ------
        DataError
            If the synthesizer fails, or returns what is no table like the synthetic one.
        """
        seed = self.seeds[run]
        try:
            simulated = self.synthesize(self.table(world), seed)
            counts = [cells.counts_of(simulated) for cells in self.cells]
            return world, run, numbered_on(counts, self.cells)
        except Exception as error:
            told = str(error) if isinstance(error, UnderstudyError) else f"{reason(error)}."
            raise DataError(
                f"The synthesizer failed in run {run + 1} (seed {seed}) of the world with "
                f"{self.worlds.name(world)}: {told}"
            ) from error

    def all(self, wanted: Iterable[tuple[int, int]], threads: int) -> Generator[Simulation]:
        """Yield the simulations of the given worlds and runs, as they are finished."""
        return run_in_threads(lambda job: self.simulation(*job), wanted, threads, self.synthesize)


def run_in_threads(
    run: Callable[[Job], Outcome], jobs: Iterable[Job], threads: int, synthesize: Synthesize
) -> Generator[Outcome]:
    """Yield what becomes of the jobs, as they are finished; each runs the synthesizer.

    Closing the generator ends what is running.
    """
    if threads == 1:
        for job in jobs:
            yield run(job)
        return
    waiting = iter(jobs)
    pool = ThreadPoolExecutor(threads)
    running: set[Future[Outcome]] = set()
    try:
        while True:
            # As many as there are threads: what has not begun need not be given up.
            running |= {
                # What may be shown is known to the thread that starts them.
                pool.submit(copy_context().run, run, job)
                for job in islice(waiting, threads - len(running))
            }
            if not running:
                break
            # Not for long at a time: polars lets a blocking wait go on after Ctrl-C.
            done, running = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        _stop(running, synthesize)
        pool.shutdown()


def _stop(running: set[Future[Outcome]], synthesize: Synthesize) -> None:
    """End what is running; a function runs until it returns, a command is terminated."""
    running = {future for future in running if not future.cancel()}
    while running:
        if isinstance(synthesize, Command):
            # Again and again: a run may have been about to start.
            synthesize.stop()
        running = wait(running, timeout=0.05).not_done
