"""A file that keeps finished simulations, so that an interrupted attack can go on.

The file is text: a first line that says which attack it belongs to, and a line of JSON for each
simulation, with the numbers of its cells and the rows in each. It holds no values, but the
counts of many syntheses of the true table: it is as confidential as these.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy as np

from understudy.data.files import check_writable
from understudy.errors import DataError
from understudy.risk.strong.cells import CellCounts
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
