"""Memory that is asked for before a table is read."""

from __future__ import annotations

import pytest

from understudy.data import memory, read
from understudy.errors import DataError


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x\n" + "1\n" * 1000)  # 2,002 bytes
    return path


def test_there_is_enough_for_a_small_table(table):
    memory.check_memory(table)
    assert read(table).height == 1000


@pytest.mark.parametrize(
    ("where", "free", "fits"),
    [
        ("_of_machine", 6006, True),
        ("_of_machine", 6005, False),
        ("_of_container", 6005, False),
        ("_free_addresses", 24_023, False),
        ("_free_addresses", 24_024, True),
        ("_free_addresses", -5, False),
    ],
)
def test_what_is_too_large_is_refused(table, monkeypatch, where, free, fits):
    monkeypatch.setattr(memory, where, lambda: free)
    if fits:
        memory.check_memory(table)
        return
    with pytest.raises(DataError, match=r"needs about 0 MB of memory, and this program can have 0"):
        read(table)


def test_limits_of_a_container_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    assert memory._of_container() is None
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("400\n")
    assert memory._of_container() == 600
    (tmp_path / "memory.max").write_text("max\n")
    assert memory._of_container() is None
