"""The study of panels: what is measured within units, by hand."""

from __future__ import annotations

import polars as pl
import pytest

from studies import panels as study
from studies.packaged_tables import PackagedTable
from tests.synthesis.panel.test_model import people

TOY = study.RealPanel(PackagedTable("toy", "toy==1", "toy.csv", "nothing"), "id", "year")


@pytest.fixture
def toy(monkeypatch, tmp_path):
    """Let a panel that is made up do."""
    file = tmp_path / "toy.csv"
    table = people(40).with_columns(id=pl.col("id").str.slice(1).cast(pl.Int64))
    table.write_csv(file)
    monkeypatch.setattr(study, "PANELS", (TOY,))
    monkeypatch.setattr(study, "cached_file", lambda _table: file)
    return table


def test_a_copy_keeps_everything():
    table = people(20)
    kept = study.measure(table, table.sample(fraction=1, shuffle=True, seed=1), TOY)
    assert (kept.sizes, kept.constant, kept.steps, kept.original_units) == (0, 1, 1, 1)
    assert set(kept.autocorrelations) == set(kept.of_ranks) == {"age", "x"}


def test_what_is_broken_is_counted():
    original = pl.DataFrame({"id": [1, 1, 2, 2], "year": [1, 2, 1, 2], "sex": list("ffmm"), "x": 1})
    release = pl.DataFrame(
        {"id": [7, 7, 2, 9, 9], "year": [1, 2, 1, 1, 5], "sex": list("ffmfm"), "x": 1}
    )
    kept = study.measure(original, release, TOY)
    # Two of three units have two records, as all have in the original.
    assert kept.sizes == pytest.approx(1 / 3)
    assert kept.constant == 0.5
    assert kept.steps == 0.5
    assert kept.original_units == 0.2


def test_the_table_is_made(toy):
    text = study.panels_markdown(seed=1)
    lines = [line for line in text.splitlines() if line.startswith("| toy")]
    assert len(lines) == 5
    named = [line for line in lines if "| named |" in line]
    assert all("| 0% | 100% | 100% | 0% | 2 of 2 |" in line for line in named)
    assert f"| {len(toy):,} |" in lines[0]


def test_an_unknown_panel_is_refused():
    with pytest.raises(study.ParameterError, match="There is no panel 'moon'"):
        study.panels_markdown(["moon"])
