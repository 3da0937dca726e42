"""Simulated syntheses: kept in a file, and made a log likelihood of the release in each world.

The file is text, so that an interrupted attack can go on: a first line that says which attack it
belongs to, and a line of JSON for each simulation, with the numbers of its cells and the rows in
each. It holds no values, but the counts of many syntheses of the true table: it is as confidential
as these. Runs of one world differ as chance gives, or more because the fit itself is random; the
likelihood allows for that.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from understudy.data.files import check_writable
from understudy.errors import DataError
from understudy.risk.strong.simulator import CellCounts, Cells
from understudy.wording import counted

_FORMAT = "understudy simulations 1"


class SimulationStore:
    """The finished simulations of one attack, in a file that grows with each.

    The fingerprint is a hash of all that the simulations depend on; `kept` counts the simulations
    that were found in the file, and added.

    Raises
    ------
    DataError
        If the file is of another kind or belongs to another attack, or cannot be written.
    """

    def __init__(self, path: str | Path, fingerprint: str, *, worlds: int, cells: int) -> None:
        self.path = Path(path)
        self._worlds, self._cells = worlds, cells
        header = {"format": _FORMAT, "attack": fingerprint, "worlds": worlds, "cells": cells}
        self._header = json.dumps(header).encode() + b"\n"
        self._end = 0
        self.kept = 0
        self._file: BinaryIO | None = None
        check_writable(self.path, overwrite=True)
        if self.path.exists():
            self._check_header()

    def _check_header(self) -> None:
        try:
            with self.path.open("rb") as file:
                first = file.readline(len(self._header) + 1000)
        except OSError as error:
            raise DataError(f"{self.path} cannot be read: {error.strerror}.") from error
        if first == self._header:
            self._end = len(first)
            return
        if not first.endswith(b"\n") and self._header.startswith(first):
            return  # stopped in the middle of its first line, or before: there is nothing in it
        try:
            ours = json.loads(first)["format"].startswith("understudy simulations")
        except (ValueError, TypeError, KeyError, AttributeError):
            ours = False
        if not ours:
            raise DataError(f"{self.path} is not a file of simulations. Give resume another name.")
        raise DataError(
            f"{self.path} keeps the simulations of another attack: its tables, records, "
            "candidates, cells, groups, seed or command differ. Give resume another name, or "
            "remove the file."
        )

    def finished(self) -> Iterator[tuple[int, int, CellCounts]]:
        """Yield world, run and counts of what the file holds, each world and run once.

        A last line that is not whole, as a crash leaves it, is not counted.
        """
        if not self._end:
            return
        seen: set[tuple[int, int]] = set()
        with self.path.open("rb") as file:
            file.seek(self._end)
            for line in file:
                found = self._parsed(line)
                if found is None:
                    if file.read(1):
                        raise DataError(
                            f"{self.path} is damaged after {counted(len(seen), 'simulation')}. "
                            "Remove the file, or what follows."
                        )
                    return
                self._end += len(line)
                if found[:2] not in seen:
                    seen.add(found[:2])
                    self.kept = len(seen)
                    yield found

    def _parsed(self, line: bytes) -> tuple[int, int, CellCounts] | None:
        """Return what a line says, or None if it is not whole."""
        if not line.endswith(b"\n"):
            return None
        try:
            world, run, cells, counts = json.loads(line)
            found = CellCounts(np.array(cells), np.array(counts))
        except (ValueError, TypeError):
            return None
        whole = (
            type(world) is type(run) is int
            and 0 <= world < self._worlds
            and run >= 0
            and found.cells.shape == found.counts.shape
            and all(
                part.dtype == np.int64 and part.ndim == 1 for part in (found.cells, found.counts)
            )
            and 0 <= int(found.cells.min()) <= int(found.cells.max()) < self._cells
            and int(found.counts.min()) > 0
        )
        return (world, run, found) if whole else None

    def __enter__(self) -> Self:
        """Open the file to add to it, after what `finished` found to be whole."""
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            self._file = os.fdopen(descriptor, "r+b")
            self._file.truncate(self._end)
            self._file.seek(self._end)
            if not self._end:
                self._write(self._header)
        except OSError as error:
            raise DataError(f"{self.path} cannot be written: {error.strerror}.") from error
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def add(self, world: int, run: int, found: CellCounts) -> None:
        """Keep a simulation; it is in the file when this returns."""
        entry: list[Any] = [world, run, found.cells.tolist(), found.counts.tolist()]
        try:
            self._write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
        except OSError as error:
            raise DataError(f"{self.path} cannot be written: {error.strerror}.") from error
        self.kept += 1

    def _write(self, line: bytes) -> None:
        if self._file is None:
            raise DataError(f"{self.path} is not open.")
        self._file.write(line)
        self._file.flush()


FEWEST_EXPECTED = 5
"""Cells with fewer rows expected in a run are merged: chi-square does not hold for them."""

CHANCE = 0.001
"""Runs differ clearly if chance alone would make them differ as much less often than this."""

_LEAST_CONCENTRATION = 1e-6


@dataclass(frozen=True)
class RunCounts:
    """The runs of one world: rows in each cell of the release, and rows in all."""

    rows: NDArray[np.integer]
    totals: NDArray[np.int64]


@dataclass(frozen=True)
class Dispersion:
    """How much runs of a world differ.

    `factor` is how many times more than counts of one multinomial differ by chance; nan if unknown.
    `concentration` is that of a Dirichlet distribution of the fits' shares; infinite if all fits
    count as alike.
    """

    factor: float
    concentration: float


@dataclass(frozen=True, eq=False)
class Likelihood:
    """How likely a release is in each world.

    `logs` are the log likelihoods; `without` the same without each of the runs, worlds by runs
    (none for a single run); `unreached` how many cells of the release no run of a world reached.
    """

    logs: NDArray[np.float64]
    without: NDArray[np.float64]
    dispersion: Dispersion
    unreached: NDArray[np.int64]

    @classmethod
    def product(cls, parts: Sequence[Likelihood]) -> Likelihood:
        """Return the likelihood of several releases; the dispersion is the largest of theirs."""
        return cls(
            np.sum([part.logs for part in parts], axis=0),
            np.sum([part.without for part in parts], axis=0),
            min((part.dispersion for part in parts), key=lambda own: own.concentration),
            np.sum([part.unreached for part in parts], axis=0),
        )


class SimulatedLikelihood:
    """Collects simulations and turns them into log likelihoods when all are there.

    Notes
    -----
    All rows of a world's runs are pooled. With c(cell) of them in a cell, t in all, C cells and
    the smoothing s, the share of a cell is (c(cell) + s) / (t + s C). If the runs differ as chance
    gives, the log likelihood is the sum over the cells of the release's count times the logarithm
    of the share. If they differ clearly more, it is that of a Dirichlet-multinomial with these mean
    shares, and the same concentration in all worlds. What only depends on the release is left out.
    """

    def __init__(self, cells: Cells, worlds: int, runs: int, smoothing: float) -> None:
        self._times = cells.released.counts
        self._smoothing = smoothing
        self._spread = smoothing * cells.count
        # Other cells than those of the release count only in the total.
        self._place = np.full(cells.count, -1, np.int64)
        self._place[cells.released.cells] = np.arange(len(cells.released.cells))
        self._worlds = worlds
        self._runs = runs
        self._found: dict[tuple[int, int], tuple[NDArray[np.integer], int]] = {}

    def add(self, world: int, run: int, found: CellCounts, first: int = 0) -> None:
        """Take in one simulation, once; runs beyond the last are not counted.

        `first` is the number of the first cell, if those of other releases come before and after.
        """
        if run >= self._runs:
            return
        own = (found.cells >= first) & (found.cells < first + len(self._place))
        place, counts = self._place[found.cells[own] - first], found.counts[own]
        # All runs are kept until the end, so in as little space as they need.
        row = np.zeros(len(self._times), np.min_scalar_type(int(counts.max())))
        row[place[place >= 0]] = counts[place >= 0]
        self._found[world, run] = row, int(counts.sum())

    def missing(self) -> list[tuple[int, int]]:
        """Return the worlds and runs that are still to come, world by world."""
        every = product(range(self._worlds), range(self._runs))
        return [one for one in every if one not in self._found]

    def result(self) -> Likelihood:
        """Return the log likelihoods, when all simulations are there."""
        worlds = [self._runs_of(world) for world in range(self._worlds)]
        dispersion = find_dispersion(worlds)
        logs = np.empty(self._worlds)
        without = np.empty((self._worlds, self._runs if self._runs > 1 else 0))
        unreached = np.empty(self._worlds, np.int64)
        for number, world in enumerate(worlds):
            pooled, total = world.rows.sum(axis=0, dtype=np.int64), world.totals.sum()
            logs[number] = self._logs(pooled[None], total[None], dispersion.concentration)[0]
            unreached[number] = np.count_nonzero(pooled == 0)
            if self._runs > 1:
                without[number] = self._logs(
                    pooled - world.rows, total - world.totals, dispersion.concentration
                )
        return Likelihood(logs, without, dispersion, unreached)

    def _runs_of(self, world: int) -> RunCounts:
        found = [self._found[world, run] for run in range(self._runs)]
        return RunCounts(
            np.stack([row for row, _ in found]), np.array([total for _, total in found])
        )

    def _logs(
        self, counts: NDArray[np.int64], totals: NDArray[np.int64], concentration: float
    ) -> NDArray[np.float64]:
        if math.isinf(concentration):
            shares = np.log(counts + self._smoothing) - np.log(totals + self._spread)[:, None]
            return np.asarray((shares * self._times).sum(axis=1))
        from scipy.special import gammaln

        weights = concentration * (counts + self._smoothing) / (totals + self._spread)[:, None]
        return np.asarray((gammaln(self._times + weights) - gammaln(weights)).sum(axis=1))


def find_dispersion(worlds: Iterable[RunCounts]) -> Dispersion:
    """Return how much runs of a world differ, over all worlds.

    The factor is the sum of Pearson's chi-square of all worlds, of the runs' counts against their
    pooled shares, over the sum of the degrees of freedom. It counts as above 1 if a chi-square
    with the degrees of freedom of one world exceeds it with a probability below `CHANCE`: the runs
    of all worlds have the same seeds, so that more worlds may tell nothing new.

    Notes
    -----
    A Dirichlet-multinomial of n rows and the concentration A varies (n + A) / (1 + A) times as
    much as a multinomial. Solved for A, with n the mean number of rows of a run.

    Examples
    --------
    >>> runs = RunCounts(np.array([[40, 60], [60, 40]]), np.array([100, 100]))
    >>> find_dispersion([runs])  # 4 cells, each 10 from 50 expected; no clear difference of 2 runs
    Dispersion(factor=8.0, concentration=inf)
    >>> find_dispersion([RunCounts(10 * runs.rows, 10 * runs.totals)])  # (1000 - 80) / (80 - 1)
    Dispersion(factor=80.0, concentration=11.645569620253164)
    """
    from scipy.special import chdtri

    found = [_chi_square(world) for world in worlds]
    chi_square, freedom, rows = (math.fsum(part) for part in zip(*found, strict=True))
    if not freedom:
        return Dispersion(math.nan, math.inf)
    factor = chi_square / freedom
    in_one = freedom / sum(1 for _, own, _ in found if own)
    if factor <= max(1.0, chdtri(in_one, CHANCE) / in_one):
        return Dispersion(factor, math.inf)
    mean = rows / len(found)
    # Runs that differ as much as they can have fits without any spread of their own.
    concentration = max((mean - factor) / (factor - 1), _LEAST_CONCENTRATION)
    return Dispersion(factor, concentration)


def _chi_square(world: RunCounts) -> tuple[float, float, float]:
    """Return chi-square of the runs of a world, its degrees of freedom, and the rows of a run."""
    mean = float(world.totals.mean())
    pooled = world.rows.sum(axis=0, dtype=np.int64)
    order = np.argsort(pooled, kind="stable")
    all_rows = int(world.totals.sum())
    fewest = FEWEST_EXPECTED * len(world.totals)
    # The cells that the release lacks are one; small cells join it until it is large enough.
    lacking = all_rows - int(pooled.sum())
    merged = int((pooled < fewest).sum())
    while merged < len(order) and 0 < lacking + pooled[order[:merged]].sum() < fewest:
        merged += 1
    kept = world.rows[:, order[merged:]].astype(np.int64)
    rest = world.totals - kept.sum(axis=1)
    counts = np.column_stack([kept, rest]) if rest.any() else kept
    expected = np.outer(world.totals, counts.sum(axis=0) / all_rows)
    freedom = (len(counts) - 1) * (counts.shape[1] - 1)
    if freedom <= 0:
        return 0.0, 0.0, mean
    return float(((counts - expected) ** 2 / expected).sum()), float(freedom), mean
