"""The tables that the original may have been: one for each candidate of each attacked record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.counting.groups import group_ids
from understudy.data.coded import Coded
from understudy.data.frames import Frame, Layout, to_arrow
from understudy.risk.black_box.candidates import Candidates, plain_values


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


def plan_worlds(exact: Coded, records: NDArray[np.int64], candidates: Candidates) -> Worlds:
    """Return the distinct worlds of the attacked records, numbered.

    Records that agree in all values share their worlds: as a set of records, the table is the
    same whichever of them is changed. The first of them is, so that a world does not depend on
    which records are attacked. The true candidate of a record leaves the original as it is, unless
    it puts the middle of a group in the place of the record's number.

    Parameters
    ----------
    exact : Coded
        All columns of the original.
    records : ndarray of int64
        The attacked records.
    candidates : Candidates
        What may be true of them.
    """
    groups = group_ids(exact, exact.names)
    distinct, place = np.unique(groups.ids[records], return_inverse=True)
    row = groups.representatives[distinct]
    changed = np.arange(len(candidates)) != candidates.truth[row][:, None]
    changed |= ~candidates.unchanged[row][:, None]
    first = np.full(int(not changed.all()), -1, np.int64)
    of = np.where(changed, np.cumsum(changed).reshape(changed.shape) - 1 + len(first), 0)
    which, candidate = np.nonzero(changed)
    return Worlds(np.append(first, row[which]), np.append(first, candidate), of[place])


class WorldTables:
    """Makes the table of a world, as a frame like the original.

    Parameters
    ----------
    original : frame
        The original.
    worlds : Worlds
        The worlds.
    candidates : Candidates
        What the changed record is changed to.
    """

    def __init__(self, original: Frame, worlds: Worlds, candidates: Candidates) -> None:
        self._worlds = worlds
        self._values = candidates.values
        self._layout = Layout.of(original)
        table = to_arrow(original)
        self._columns: dict[str, pa.Array] = {
            name: plain_values(table[name]) for name in table.column_names
        }

    def frame(self, world: int) -> Frame:
        """Return the table of a world, a new one each time: a synthesizer may change it."""
        columns = dict(self._columns)
        row, candidate = int(self._worlds.row[world]), int(self._worlds.candidate[world])
        if row >= 0:
            for name, values in self._values.items():
                array = columns[name]
                columns[name] = pa.concat_arrays(
                    [array.slice(0, row), values.slice(candidate, 1), array.slice(row + 1)]
                )
        return self._layout.restore(columns)
