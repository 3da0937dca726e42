"""The study of lookalikes: what is planted is found, and fresh people are not."""

from __future__ import annotations

import polars as pl
import pytest

from studies import lookalikes as study
from understudy.data import load


@pytest.fixture
def small(monkeypatch):
    """Let half of a small table do, beside one that is not at hand."""
    halves = (
        study.Half("cmc", lambda: load("cmc"), 300),
        study.Half("absent", lambda: study.fetch("nowhere"), 10),
    )
    monkeypatch.setattr(study, "HALVES", halves)


@pytest.mark.usefixtures("small")
def test_what_is_planted_is_found():
    table = study.lookalikes_markdown(seed=2)
    assert table.splitlines()[0] == "| release | cmc |"
    lines = {line.split(" | ")[0].strip("| "): line for line in table.splitlines()[2:]}
    assert "power" in lines["the other half (fresh people)"]
    assert "**" not in lines["independent"]
    assert "**" in lines["copies of 30% and independent"]
    assert "**" in lines["the 40 oddest and fresh people"]
    assert "**" in lines["greedy network, 3 parents"]


def test_releases_have_as_many_records_as_the_original():
    drawn = load("cmc").sample(400, shuffle=True, seed=1)
    made = study.releases_of(drawn.head(200), drawn.slice(200), seed=1)
    assert {table.height for table in made.values()} == {200}
    assert all(isinstance(table, pl.DataFrame) for table in made.values())
