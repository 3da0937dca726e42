"""The tables that come with the package."""

from __future__ import annotations

import sys
from importlib import resources
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from understudy.data import public_tables
from understudy.data.bundled import AVAILABLE, load, load_syntheses
from understudy.errors import DataError, ParameterError

SHARED = Path(__file__).parents[3] / "shared"
KINDS = {"polars": pl.DataFrame, "pandas": pd.DataFrame, "pyarrow": pa.Table}


def cell_counts(frame):
    cells = frame.select(pl.concat_str(pl.all().cast(pl.String)).alias("cell"))
    return dict(cells.group_by("cell").len().iter_rows())


def test_cmc_has_the_shape_and_the_columns_of_the_uci_table():
    cmc = load("cmc")
    assert cmc.shape == (1473, 10)
    assert cmc.columns == [
        "age",
        "education",
        "husband_education",
        "children",
        "religion",
        "working",
        "husband_occupation",
        "living_standard",
        "media_exposure",
        "method",
    ]
    assert set(cmc.dtypes) == {pl.Int64}
    assert cmc.row(0) == (24, 2, 3, 3, 1, 1, 2, 3, 0, 1)
    assert cmc.null_count().sum_horizontal().item() == 0


@pytest.mark.parametrize(
    ("column", "mode", "count", "percent"),
    [("method", 1, 629, 42.7), ("husband_education", 4, 899, 61.0)],
)
def test_cmc_share_of_the_most_frequent_value(column, mode, count, percent):
    values = load("cmc")[column]
    assert values.mode().to_list() == [mode]
    assert (values == mode).sum() == count
    assert round(100 * count / 1473, 1) == percent


def test_cmc_has_the_rows_of_the_shared_file_in_its_order(folder_with):
    assert load("cmc").equals(pl.read_csv(folder_with("cmc.csv") / "cmc.csv"))


def test_cmc_comes_with_its_licence_and_citation():
    notice = resources.files("understudy.data") / "tables" / "cmc.LICENSE.md"
    text = notice.read_text(encoding="utf-8")
    assert "CC BY 4.0" in text
    assert "10.24432/C59W2D" in text
    assert all(f"`{column}`" in text for column in load("cmc").columns)


def test_buyer_beware_is_built_from_its_cells():
    original = load("buyer_beware")
    assert original.shape == (1000, 4)
    assert original.columns == ["var1", "var2", "var3", "var4"]
    assert set(original.dtypes) == {pl.Int64}
    counts = cell_counts(original)
    assert len(counts) == 16
    assert counts["0000"] == 69
    assert counts["1111"] == 1
    # 74 + 63 + 54 + 69 + 77 + 59 + 66 + 1: the cells that start with 1.
    assert original["var1"].sum() == 463


def test_buyer_beware_rows_follow_the_cells_and_end_with_the_unique_record():
    original = load("buyer_beware")
    assert original.row(68) == (0, 0, 0, 0)
    assert original.row(69) == (0, 0, 0, 1)
    assert original.row(999) == (1, 1, 1, 1)
    assert original.equals(original.sort(pl.all()))


def test_buyer_beware_syntheses_hold_the_unique_record_as_published():
    syntheses = load_syntheses("buyer_beware")
    assert [frame.shape for frame in syntheses] == [(1000, 4)] * 10
    unique = [cell_counts(frame).get("1111", 0) for frame in syntheses]
    assert unique == [1, 0, 1, 3, 2, 1, 3, 0, 1, 1]


@pytest.mark.parametrize(
    ("synthesis", "cell", "count"),
    [(1, "0000", 68), (2, "0111", 91), (6, "0101", 90), (7, "1010", 39), (10, "1110", 60)],
)
def test_buyer_beware_synthesis_by_number(synthesis, cell, count):
    frame = load("buyer_beware", synthesis=np.int64(synthesis))
    assert cell_counts(frame)[cell] == count
    assert frame.equals(load_syntheses("buyer_beware")[synthesis - 1])


def test_buyer_beware_counts_are_those_of_the_paper():
    path = SHARED / "papers" / "buyer-beware-cart.txt"
    if not path.exists():
        pytest.skip(f"{path} is not here to compare with")
    lines = path.read_text(encoding="utf-8").split("Table A.1:")[1].split("Table A.2:")[0]
    table = {cell: counts for cell, *counts in map(str.split, lines.splitlines()[4:20])}
    assert len(table) == 16
    for column, frame in enumerate([load("buyer_beware"), *load_syntheses("buyer_beware")]):
        published = {cell: int(counts[column]) for cell, counts in table.items()}
        assert cell_counts(frame) == {cell: count for cell, count in published.items() if count}


@pytest.mark.parametrize("backend", KINDS)
@pytest.mark.parametrize("name", AVAILABLE["load"])
def test_load_returns_the_kind_of_frame_that_was_asked_for(name, backend):
    frame = load(name, backend=backend)
    assert isinstance(frame, KINDS[backend])
    as_polars = frame if backend == "polars" else pl.DataFrame(frame)
    assert as_polars.equals(load(name))


@pytest.mark.parametrize("backend", KINDS)
def test_load_syntheses_returns_the_kind_of_frame_that_was_asked_for(backend):
    kinds = {type(frame) for frame in load_syntheses("buyer_beware", backend=backend)}
    assert kinds == {KINDS[backend]}


def test_without_pandas_the_error_says_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(DataError, match=r"pandas.*not installed.*install it"):
        load("cmc", backend="pandas")


def test_unknown_backend_is_refused_with_the_choices():
    with pytest.raises(DataError, match=r"polars, pandas, pyarrow.*'panda'"):
        load("cmc", backend="panda")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("buyer_bewar", r"no table 'buyer_bewar'\. Did you mean 'buyer_beware'\? It has: 'cmc'"),
        ("zzz", r"no table 'zzz'\. It has: 'cmc', 'buyer_beware'\."),
        ("adult", r"no table 'adult'\. Use fetch\('adult'\)\."),
        ("credit_card", r"Use simulate\('credit_card'\) or fetch\('credit_card'\)\."),
        (3, r"no table 3\."),
    ],
)
def test_unknown_table_is_refused_with_a_hint(name, message):
    with pytest.raises(DataError, match=message):
        load(name)


def test_unknown_table_has_no_syntheses():
    with pytest.raises(DataError, match=r"no published syntheses of 'cmc', only of 'buyer_beware'"):
        load_syntheses("cmc")


@pytest.mark.parametrize("synthesis", [0, 11, -1, 2.0, "3", True])
def test_synthesis_out_of_range_is_refused(synthesis):
    with pytest.raises(ParameterError, match=f"from 1 to 10, not {synthesis!r}"):
        load("buyer_beware", synthesis=synthesis)


def test_synthesis_of_a_table_without_any_is_refused():
    with pytest.raises(ParameterError, match="'cmc' has no published syntheses"):
        load("cmc", synthesis=1)


def test_the_names_that_fetch_lists_are_those_it_has_sources_for():
    assert set(AVAILABLE["fetch"]) == set(public_tables._SOURCES) | set(public_tables._PARTS)
