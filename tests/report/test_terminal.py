"""What the terminal shows."""

from __future__ import annotations

import io

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from understudy import BayesNet, Column, Independent
from understudy.progress import reporting, track
from understudy.report.terminal import (
    TerminalProgress,
    coding_in_words,
    model_summary,
)


def shown(renderable, width=100):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(renderable)
    return console.file.getvalue()


def test_names_are_no_markup():
    frame = pl.DataFrame({"[bold]x[/bold]": ["a", "b"]})
    assert "[bold]x[/bold]" in shown(model_summary(Independent().fit(frame)))


def test_the_summary_counts_the_rare_cells():
    frame = pl.DataFrame({"sex": ["f"] * 6 + ["m"] * 4})
    text = shown(model_summary(Independent(random_state=1).fit(frame)))
    assert "Independent, fitted to 10 records" in text
    assert "random_state=1" in text
    assert "1 of its 2 cells rest on fewer than 5 records" in text  # the four of m


def test_the_summary_of_a_network_says_how_it_is_smoothed():
    frame = pl.DataFrame({"sex": ["f"] * 6 + ["m"] * 4, "smokes": ["y", "n"] * 5})
    strengths = {"sex": 1000, "smokes": [2.5, 12]}
    model = BayesNet(structure=[("sex", "smokes")], smoothing=strengths, min_count=3).fit(frame)
    text = " ".join(shown(model_summary(model)).split())
    assert "│ sex │ - │ 1,000 │" in text
    assert "│ 2.5, 12 │" in text
    assert "borrows from the group with one column fewer" in text
    assert "Groups of fewer than 3 records are not used." in text
    plain = shown(model_summary(model.set_params(smoothing=0, min_count=1).fit(frame)))
    assert "smoothed by" not in plain
    assert "borrows" not in plain


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (Column("a", "identifier"), "made up anew"),
        (Column("a", "boolean"), "2 levels"),
        (Column("a", "categorical", levels=("x",)), "1 level"),
        (Column("a", "integer", levels=(1, 2)), "2 levels"),
        (Column("a", "real", bins=5, binning="width"), "5 width bins"),
        (Column("a", "real", special=(0, -8)), "20 quantile bins, 2 special values"),
        (Column("a", "real", binning="edges", edges=(0, 1, 2)), "2 given bins"),
    ],
)
def test_coding_in_words(column, words):
    assert coding_in_words(column) == words


def test_progress_counts_what_is_taken():
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    with TerminalProgress(console) as bars, reporting(bars):
        assert list(track(np.arange(3), "Counting")) == [0, 1, 2]
    assert "Counting" in console.file.getvalue()
    assert "3/3" in console.file.getvalue()


def test_progress_tells_what_changes_on_the_way():
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    items = [3, 2, 1]
    with TerminalProgress(console) as bars, reporting(bars):
        for item in track(range(3), lambda: f"Sum so far {6 - sum(items)}"):
            items[item] = 0
    assert "Sum so far 6" in console.file.getvalue()
    assert "3/3" in console.file.getvalue()
