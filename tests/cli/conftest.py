"""The command line as a user meets it: a small table, a release of it, and a way to run."""

from __future__ import annotations

import shutil
import sys

import numpy as np
import polars as pl
import pytest

from understudy import BayesNet, write
from understudy.cli import main

ROWS = 120
SCENARIO = ("--keys", "age,sex", "--sensitive", "ill")


def make_people():
    """Make people whose illness depends on their age, and work on their illness."""
    rng = np.random.default_rng(1)
    age = rng.integers(2, 8, ROWS) * 10
    ill = np.where(rng.random(ROWS) < 0.1 + 0.8 * (age > 45), "yes", "no")
    works = np.where(rng.random(ROWS) < 0.2 + 0.6 * (ill == "no"), "yes", "no")
    return pl.DataFrame(
        {"age": age, "sex": rng.choice(["f", "m"], ROWS), "ill": ill, "works": works}
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return an empty folder to work in, with a terminal that does not break lines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    return tmp_path


@pytest.fixture(scope="session")
def made_people(tmp_path_factory):
    """Return a folder, to be copied, of the original, a release and the model that made it."""
    folder = tmp_path_factory.mktemp("made")
    table = make_people()
    write(table, folder / "people.csv")
    model = BayesNet(3, random_state=1).fit(table)
    model.save(folder / "model.us")
    write(model.sample(), folder / "release.csv")
    return folder


@pytest.fixture
def people(folder, made_people):
    """Write the original, a release, and the model that made it: a copy would be as telling."""
    shutil.copytree(made_people, folder, dirs_exist_ok=True)
    return folder


@pytest.fixture
def call(folder, monkeypatch, capsys):
    """Run the command line with the given arguments; return its exit code, output and messages."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["understudy", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return end.value.code, captured.out, " ".join(captured.err.split())

    return run


@pytest.fixture
def refused(call, folder):
    """Check that a mistake is one message with exit code 2, and that nothing was written."""

    def check(*arguments, says):
        before = content(folder)
        code, out, err = call(*arguments)
        assert code == 2
        assert says in err
        assert "Traceback" not in out + err
        assert content(folder) == before

    return check


def content(folder):
    """Return all files below a folder with what is in them, hidden ones included."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.fixture(name="content")
def content_of():
    return content
