"""Outputs under way: hidden, locked, and swept when their run was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from understudy import stopping
from understudy.data import partial
from understudy.data.files import write_bytes
from understudy.data.partial import ENDING, MARK, OLD, note_finished, sweep, under_way


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_it_is_beside_its_place_and_gone_afterwards(tmp_path):
    with under_way(tmp_path / "a.csv") as temporary:
        assert temporary.parent == tmp_path
        assert temporary.name.startswith(f".a.csv{MARK}")
        assert temporary.name.endswith(ENDING)
    assert names(tmp_path) == []
    with under_way(tmp_path / "release", folder=True) as temporary:
        (temporary / "new").mkdir()
    assert names(tmp_path) == []


def test_names_as_long_as_names_can_be(tmp_path):
    path = tmp_path / ("ä" * 125 + ".csv")
    assert write_bytes(b"x", path).read_bytes() == b"x"


def test_what_a_dead_run_left_is_swept(tmp_path):
    for name in (f".b.csv{MARK}123{ENDING}", ".a.csv.abcdefgh.part"):
        (tmp_path / name).write_text("half")
    left = tmp_path / f".release{MARK}1{ENDING}"
    (left / "new").mkdir(parents=True)
    precious = [".b.csv.abcdefgh.part", "a.csv.part", ".x.part", f"a{MARK}.part"]
    for name in precious:
        (tmp_path / name).write_text("somebody else's")
    write_bytes(b"x", tmp_path / "a.csv")
    assert names(tmp_path) == sorted([*precious, "a.csv"])


def test_what_is_being_written_is_not_swept(tmp_path):
    with under_way(tmp_path / "a.csv") as first, under_way(tmp_path / "a.csv") as second:
        sweep(tmp_path / "a.csv")
        assert first.exists()
        assert second.exists()
        assert first != second


def test_a_name_is_no_pattern(tmp_path):
    (tmp_path / ".ab.csv.1.part").write_text("another's")
    sweep(tmp_path / "a[b].csv")
    sweep(tmp_path / "*.csv")
    assert names(tmp_path) == [".ab.csv.1.part"]


def test_a_folder_that_was_being_replaced_comes_back(tmp_path):
    left = tmp_path / f".release{MARK}1{ENDING}"
    (left / OLD).mkdir(parents=True)
    (left / OLD / "README.md").write_text("precious")
    sweep(tmp_path / "other.csv")
    assert (tmp_path / "release" / "README.md").read_text() == "precious"
    assert names(tmp_path) == ["release"]


PROGRAM = """
import sys, time
from pathlib import Path
from understudy.data.partial import under_way
with under_way(Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    print("ready", flush=True)
    time.sleep(60)
"""


def test_a_signal_does_not_cut_the_tidying_short(tmp_path, monkeypatch):
    remove = partial._remove

    def interrupted(path):
        os.kill(os.getpid(), signal.SIGINT)
        remove(path)

    def replace_a_folder():
        with under_way(tmp_path / "release", folder=True) as temporary:
            (temporary / OLD).mkdir()
            (temporary / OLD / "report.html").write_text("former")
            monkeypatch.setattr(partial, "_remove", interrupted)

    with pytest.raises(stopping.Stopped), stopping.stoppable(lambda: None):
        replace_a_folder()
    assert names(tmp_path) == []


@pytest.mark.slow
def test_a_killed_process_leaves_what_the_next_one_sweeps(tmp_path):
    path = tmp_path / "a.csv"
    running = subprocess.Popen([sys.executable, "-c", PROGRAM, path], stdout=subprocess.PIPE)
    assert running.stdout.readline() == b"ready\n"
    write_bytes(b"one", path)
    assert len(names(tmp_path)) == 2  # it still runs
    running.send_signal(signal.SIGKILL)
    running.communicate()
    time.sleep(0.1)
    write_bytes(b"two", path, overwrite=True)
    assert names(tmp_path) == ["a.csv"]


def test_what_is_finished_is_noted_but_not_inside_what_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr(partial, "finished", [])
    write_bytes(b"x", tmp_path / "a.csv")
    note_finished(tmp_path / f".release{MARK}1{ENDING}" / "new" / "b.csv")
    assert partial.finished == [tmp_path / "a.csv"]
