"""The file of finished simulations: what is kept, what is dropped, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.errors import DataError
from understudy.risk.strong.cells import CellCounts
from understudy.risk.strong.store import SimulationStore


def counts(cells, times):
    return CellCounts(np.array(cells), np.array(times))


def kept(path, **changes):
    store = SimulationStore(path, **({"fingerprint": "f", "worlds": 3, "cells": 5} | changes))
    found = [(w, r, c.cells.tolist(), c.counts.tolist()) for w, r, c in store.finished()]
    return store, found


@pytest.fixture
def path(tmp_path):
    """Return a file with two simulations."""
    path = tmp_path / "a file"
    store, found = kept(path)
    assert found == []
    with store:
        store.add(0, 0, counts([0, 4], [2, 1]))
        store.add(2, 7, counts([3], [9]))
    return path


TWO = [(0, 0, [0, 4], [2, 1]), (2, 7, [3], [9])]


def test_what_is_added_is_kept(path):
    store, found = kept(path)
    assert found == TWO
    with store:
        store.add(1, 1, counts([1], [1]))
    assert kept(path)[1] == [*TWO, (1, 1, [1], [1])]


@pytest.mark.parametrize("cut", range(1, 13))
def test_a_crash_in_the_middle_of_a_line_loses_that_line(path, cut):
    # The last line is `[2,7,[3],[9]]` and a line end.
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    store, found = kept(path)
    assert found == TWO[:1]
    with store:
        store.add(2, 7, counts([3], [9]))
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"[3,0,[0],[1]]",
        b"[0,-1,[0],[1]]",
        b"[0,0,[5],[1]]",
        b"[0,0,[-1],[1]]",
        b"[0,0,[0],[0]]",
        b"[0,0,[0,1],[1]]",
        b"[0,0,[],[]]",
        b"[0,0,[[0]],[[1]]]",
        b"[0,0,0,1]",
        b'["0",0,[0],[1e400]]',
        b"{}",
    ],
)
def test_a_line_that_cannot_be(path, line):
    with path.open("ab") as file:
        file.write(line + b"\n")
    assert kept(path)[1] == TWO  # as the last: a crash
    with path.open("ab") as file:
        file.write(b"[1,0,[0],[1]]\n")
    with pytest.raises(DataError, match="damaged after 2 simulations"):
        kept(path)


def test_a_simulation_counts_once(path):
    with path.open("ab") as file:
        file.write(b"[2,7,[3],[9]]\n")
    assert kept(path)[1] == TWO
    store, found = kept(path)
    assert store.kept == len(found) == 2
    with store:
        store.add(1, 1, counts([1], [1]))
    assert store.kept == 3


@pytest.mark.parametrize("size", [0, 1, 30])
def test_a_crash_in_the_first_line_is_a_new_file(path, size):
    path.write_bytes(path.read_bytes()[:size])
    store, found = kept(path)
    assert found == []
    with store:
        store.add(2, 7, counts([3], [9]))
    assert kept(path)[1] == TWO[1:]


def test_files_of_others_are_refused(path, tmp_path):
    for changes in ({"fingerprint": "g"}, {"worlds": 4}, {"cells": 6}):
        with pytest.raises(DataError, match="another attack"):
            kept(path, **changes)
    for content in (b"x,y\n1,2\n", b"[]\n", b'{"format": 3}\n', b"\xff\x00"):
        other = tmp_path / "other"
        other.write_bytes(content)
        with pytest.raises(DataError, match="not a file of simulations"):
            kept(other)
        assert other.read_bytes() == content
    with pytest.raises(DataError, match="is a folder"):
        kept(tmp_path)
    with pytest.raises(DataError, match="no folder"):
        kept(tmp_path / "nowhere" / "file")


def test_nothing_is_added_to_a_closed_file(path):
    store, _ = kept(path)
    with pytest.raises(DataError, match="is not open"):
        store.add(0, 1, counts([0], [1]))
