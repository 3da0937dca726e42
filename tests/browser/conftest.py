"""A real browser, and the reports that it opens."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

_EXAMPLES = Path(__file__).parents[1] / "report" / "conftest.py"
_found = importlib.util.spec_from_file_location("report_examples", _EXAMPLES)
examples = importlib.util.module_from_spec(_found)
_found.loader.exec_module(examples)

rich = examples.rich
hostile = examples.hostile
minimal = examples.minimal

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def browser():
    """Chromium, without a window."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed (pip install playwright)"
    )
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip(f"no browser is installed: none of {', '.join(names)}")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=path, args=list(FLAGS))
        yield opened
        opened.close()
