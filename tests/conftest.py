"""What tests of the whole package share: a table in each of three libraries, and real files."""

from __future__ import annotations

import gc
import logging
import os
import signal
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import settings

from understudy.data.public_tables import fetch

# A deadline would make every test a timed one, and the first call of a kernel compiles it.
# `make test` is quick; `make test-all` asks for the other with --hypothesis-profile.
settings.register_profile("quick", deadline=None, max_examples=20)
settings.register_profile("thorough", deadline=None)
settings.load_profile("quick")

# What the user chose, read before a test hides it.
CHOSEN = os.environ.get("UNDERSTUDY_DATA")
BESIDE = Path(__file__).parents[2] / "shared" / "data"
# In `make test`, each file is for one process. The documentation takes longest and needs nearly all
# kernels. While one process compiles them, others do what needs none: otherwise, in a fresh clone,
# each would compile the same ones. Then come the files that take long, so that no process still has
# one to do when the others have finished.
FIRST = (
    "tests/test_docs.py",
    "tests/browser/",
    "tests/report/",
    "tests/data/",
    "tests/audit/",
    "tests/cli/",
    "tests/risk/",
    "tests/studies/",
)
LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def _turn(nodeid):
    places = (place for place, start in enumerate(FIRST) if nodeid.startswith(start))
    return next(places, len(FIRST))


def pytest_configure():
    # Ctrl-C is ignored by a job in the background and all that it starts, so by these tests, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish():
    # Ten thousand tests stay to the end: not to look through them for garbage saves much time.
    gc.collect()
    gc.freeze()


def pytest_unconfigure():
    gc.unfreeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Begin with what is to come first; the order within each part stays as it is."""
    items.sort(key=lambda item: _turn(item.nodeid))


@pytest.fixture(params=LIBRARIES, scope="session")
def as_frame(request):
    """Make a frame of a mapping of columns; a test that takes this runs once for each library."""
    return LIBRARIES[request.param]


@pytest.fixture
def survey(as_frame):
    """Return a small table with a column of each plain kind, in each library."""
    return as_frame(
        {
            "sex": ["f", "m", None, "f", "m", "f"],
            "age": [31, 45, 31, 28, 60, 45],
            "income": [1500.5, 2300.25, 0.0, 1800.75, 0.0, None],
            "smoker": [True, False, False, True, False, True],
        }
    )


def _folder_with(*files, chosen=CHOSEN, beside=BESIDE):
    folders = [Path(chosen).expanduser(), beside] if chosen else [beside]
    for folder in folders:
        if all((folder / file).is_file() for file in files):
            return folder
    looked_in = " or ".join(map(str, folders))
    return pytest.skip(f"{' and '.join(files)} not found in {looked_in} (set UNDERSTUDY_DATA)")


@pytest.fixture(scope="session")
def folder_with():
    """Find real files, all in one folder: that of UNDERSTUDY_DATA, or the one beside the clone.

    A test whose files are not there is skipped.
    """
    return _folder_with


@pytest.fixture
def real_files(folder_with, monkeypatch):
    """Let `fetch` find real files for one test, and return their folder."""

    def use(*files):
        folder = folder_with(*files)
        monkeypatch.setenv("UNDERSTUDY_DATA", str(folder))
        return folder

    return use


@pytest.fixture(scope="session")
def sd2011(folder_with):
    """Return Social Diagnosis 2011."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNDERSTUDY_DATA", str(folder_with("sd2011.csv")))
        return fetch("sd2011")


@pytest.fixture(autouse=True)
def logging_as_it_was():
    """Undo what the command line sets for the whole process, such as silence by -q."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    root.handlers[:] = handlers
