"""Syntheses of all worlds, one after the other or several at the same time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from understudy.data.frames import Frame
from understudy.errors import DataError, UnderstudyError
from understudy.risk.black_box.cells import CellCounts, Cells
from understudy.risk.black_box.command import Command
from understudy.risk.black_box.worlds import Worlds, WorldTables

Synthesize: TypeAlias = Callable[[Frame, int], Frame]
"""Makes a synthetic table of a table and a seed."""

Simulation: TypeAlias = tuple[int, int, CellCounts]
"""World, run, and the rows in each cell."""


@dataclass(frozen=True, eq=False)
class Simulator:
    """Synthesizes the table of a world with the seed of a run, and counts the cells.

    Parameters
    ----------
    synthesize : callable
        The synthesizer.
    worlds : Worlds
        The worlds, to name them in messages.
    tables : WorldTables
        Their tables.
    cells : Cells
        The cells to count.
    seeds : tuple of int
        The seed of each run, the same in every world.
    """

    synthesize: Synthesize
    worlds: Worlds
    tables: WorldTables
    cells: Cells
    seeds: tuple[int, ...]

    def simulation(self, world: int, run: int) -> Simulation:
        """Return one simulation.

        Raises
        ------
        DataError
            If the synthesizer fails, or returns what is no table like the synthetic one.
        """
        seed = self.seeds[run]
        try:
            return world, run, self.cells.counts_of(self.synthesize(self.tables.frame(world), seed))
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
