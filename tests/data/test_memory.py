"""Memory that is asked for before a table is read."""

from __future__ import annotations

import pytest

from understudy.data import memory, read, scan
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
        ("_free_addresses", 40_039, False),
        ("_free_addresses", 40_040, True),
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


@pytest.mark.parametrize(("packed", "enough"), [(False, 12 * 2002), (True, 24 * 2002)])
def test_what_may_be_too_large_is_told(table, monkeypatch, caplog, packed, enough):
    monkeypatch.setattr(memory, "_of_machine", lambda: enough)
    memory.check_memory(table, packed=packed)
    assert caplog.text == ""
    monkeypatch.setattr(memory, "_of_machine", lambda: enough - 1)
    memory.check_memory(table, packed=packed, quietly=True)
    assert caplog.text == ""
    memory.check_memory(table, packed=packed)
    assert "a.csv may take 0 MB of memory, and this program can have 0 MB" in caplog.text


def test_a_column_of_very_many_values_is_refused_or_told(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("understudy.data.counted.MOST_DISTINCT", 10_000)
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f"{n / 7},{n % 2}\n" for n in range(30_000)))
    stream = scan(path, batch_rows=8_000)  # 8 bytes for each x
    dict(stream.describe())
    assert "memory" not in caplog.text
    monkeypatch.setattr(memory, "_of_machine", lambda: 6 * 240_000 - 1)
    dict(stream.describe())
    assert "Column 'x' has very many different values, which take 1 MB of memory" in caplog.text
    assert "'y'" not in caplog.text
    monkeypatch.setattr(memory, "_of_machine", lambda: 3 * 240_000 - 1)
    with pytest.raises(DataError, match="'x' has very many different values"):
        dict(stream.describe())


@pytest.mark.parametrize(
    ("line", "folder", "limit", "used", "cache"),
    [
        ("0::/", ".", "memory.max", "memory.current", "inactive_file"),
        ("0::/a/b", "a/b", "memory.max", "memory.current", "inactive_file"),
        ("0::/a/b", "a", "memory.max", "memory.current", "inactive_file"),
        ("0::/of/the/host", ".", "memory.max", "memory.current", "inactive_file"),
        (
            *("4:cpu,memory:/a", "memory/a"),
            *("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ),
    ],
)
def test_limits_of_a_container_are_read(tmp_path, monkeypatch, line, folder, limit, used, cache):
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    monkeypatch.setattr(memory, "_OWN_GROUPS", tmp_path / "cgroup")
    assert memory._of_container() is None
    (tmp_path / "cgroup").write_text(f"1:pids:/\n{line}\n")
    assert memory._of_container() is None
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    (tmp_path / folder / limit).write_text("1000\n")
    (tmp_path / folder / used).write_text("400\n")
    assert memory._of_container() == 600
    (tmp_path / folder / "memory.stat").write_text(f"cache 300\n{cache} 50\n")
    assert memory._of_container() == 650
    (tmp_path / folder / limit).write_text("max\n")
    assert memory._of_container() is None
