"""Hard surroundings: a full disk, no home, another locale, little memory: one message each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from understudy import write

pytestmark = pytest.mark.slow


@pytest.fixture
def call(tmp_path):
    """Run the command line as a process of its own; return its exit code and what it says."""
    write(
        pl.DataFrame({"größe": [1, 2, 3, 4, 5] * 20, "ort": ["Köln", "Zürich"] * 50}),
        tmp_path / "data.csv",
    )

    def run(*arguments, limits=(), without=(), **environment):
        import resource

        def limit():
            for name, value in limits:
                resource.setrlimit(getattr(resource, name), (value, value))

        kept = {name: value for name, value in os.environ.items() if name not in without}
        found = subprocess.run(
            [sys.executable, "-m", "understudy", *arguments],
            cwd=tmp_path,
            env=kept | environment,
            preexec_fn=limit,
            capture_output=True,
            check=False,
        )
        said = (found.stdout + found.stderr).decode(errors="replace")
        assert "Traceback" not in said
        return found.returncode, " ".join(said.split())

    return run


def parts(folder):
    return [path.name for path in folder.iterdir() if path.name.endswith(".part")]


def test_files_that_may_not_be_as_large(call, tmp_path):
    command = ("synth", "data.csv", "-o", "out.csv", "--rows", "200000")
    code, said = call(*command, limits=[("RLIMIT_FSIZE", 20_000)])
    assert code == 2
    assert "out.csv cannot be written: File too large" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv"]


def test_a_full_disk(call, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    if not Path("/bin/mount").exists() or os.getuid() != 0:
        pytest.skip("only root can mount a small disk")
    mounted = subprocess.run(
        ["/bin/mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", small],
        check=False,
        capture_output=True,
    )
    if mounted.returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        for name in ("out.csv", "out.parquet"):
            target = f"small/{name}"
            code, said = call("synth", "data.csv", "-o", target, "--rows", "2000000")
            assert code == 2
            assert f"{target} cannot be written" in said
            assert "No space left on device" in said
            assert list(small.iterdir()) == []
    finally:
        subprocess.run(["/bin/umount", small], check=True)


@pytest.mark.parametrize("home", [None, "/nonexistent"])
def test_no_home(call, home):
    command = ("synth", "data.csv", "-o", "out.csv", "--method", "cart")
    gone = ("HOME", "XDG_CACHE_HOME", "UNDERSTUDY_DATA")
    code, said = call(*command, without=gone, **({"HOME": home} if home else {}))
    assert code == 0, said


def test_a_home_that_cannot_be_written(call, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    if not Path("/bin/mount").exists() or os.getuid() != 0:
        pytest.skip("only root can mount a home that root cannot write")
    mounted = subprocess.run(
        ["/bin/mount", "-t", "tmpfs", "-o", "ro", "tmpfs", home], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        gone = ("XDG_CACHE_HOME", "UNDERSTUDY_DATA")
        code, said = call("synth", "data.csv", "-o", "out.csv", without=gone, HOME=str(home))
        assert code == 0, said
    finally:
        subprocess.run(["/bin/umount", home], check=True)


def test_the_plainest_locale(call):
    plain = {"LC_ALL": "C", "LANG": "C"}
    code, said = call("synth", "data.csv", "-o", "out.csv", **plain)
    assert code == 0, said
    code, said = call("schema", "data.csv", **plain)
    assert code == 0
    assert "größe" in said
    code, said = call("synth", "data.csv", "-o", "o.csv", "--drop", "größ", **plain)
    assert code == 2
    assert "Did you mean 'größe'?" in said


def test_little_memory(call, tmp_path):
    code, said = call("synth", "data.csv", "-o", "out.csv", limits=[("RLIMIT_AS", 700 * 2**20)])
    assert code == 2
    assert said.startswith("Error: This program may use 700 MB of addresses")
    assert parts(tmp_path) == []
