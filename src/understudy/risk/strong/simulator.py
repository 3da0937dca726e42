"""The tables that the original may have been, and their syntheses, several at the same time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.counting.tables import group_ids
from understudy.data.coded import Coded
from understudy.data.frames import Frame, Layout, to_arrow
from understudy.errors import DataError, UnderstudyError
from understudy.risk.strong.candidate_values import CandidateValues, plain_values
from understudy.risk.strong.cells import CellCounts, Cells
from understudy.risk.strong.command import Command

Synthesize: TypeAlias = Callable[[Frame, int], Frame]
"""Makes a synthetic table of a table and a seed."""

Simulation: TypeAlias = tuple[int, int, CellCounts]
"""World, run, and the rows in each cell."""


@dataclass(frozen=True, eq=False)
class Worlds:
    """The distinct worlds of all attacked records; the original itself, if among them, is first.

    Parameters
    ----------
    row : ndarray of int64
        The original record that is changed in each world; -1 in the original itself.
    candidate : ndarray of int64
        The candidate that it is changed to; -1 in the original itself.
    of : ndarray of int64
        The world of each attacked record and candidate, a row for each record.
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
    same in every world.
    """

    synthesize: Synthesize
    original: Frame
    values: Mapping[str, pa.Array]
    worlds: Worlds
    cells: Cells
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
            return world, run, self.cells.counts_of(self.synthesize(self.table(world), seed))
        except Exception as error:
            name = "" if isinstance(error, UnderstudyError) else f"{type(error).__name__}: "
            raise DataError(
                f"The synthesizer failed in run {run + 1} (seed {seed}) of the world with "
                f"{self.worlds.name(world)}: {name}{error}"
            ) from error

    def all(self, wanted: Iterable[tuple[int, int]], threads: int) -> Generator[Simulation]:
        """Yield the simulations of the given worlds and runs, as they are finished."""
        if threads == 1:
            for world, run in wanted:
                yield self.simulation(world, run)
            return
        waiting = iter(wanted)
        pool = ThreadPoolExecutor(threads)
        running: set[Future[Simulation]] = set()
        try:
            while True:
                # As many as there are threads: what has not begun need not be given up.
                running |= {
                    pool.submit(self.simulation, world, run)
                    for world, run in islice(waiting, threads - len(running))
                }
                if not running:
                    break
                # Not for long at a time: polars lets a blocking wait go on after Ctrl-C.
                done, running = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        finally:
            self._stop(running)
            pool.shutdown()

    def _stop(self, running: set[Future[Simulation]]) -> None:
        """End what is running; a function runs until it returns, a command is terminated."""
        running = {future for future in running if not future.cancel()}
        while running:
            if isinstance(self.synthesize, Command):
                # Again and again: a run may have been about to start.
                self.synthesize.stop()
            running = wait(running, timeout=0.05).not_done
