"""The tables that come with the package, and the simulated credit card table."""

from __future__ import annotations

import sys
from importlib import resources
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data import public_tables
from understudy.data.bundled import AVAILABLE, load, load_syntheses, simulate
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


COMPONENTS = [f"V{number}" for number in range(1, 29)]


@pytest.fixture(scope="module")
def payments():
    return simulate("credit_card")


def test_the_default_has_the_shape_of_the_real_file(payments):
    assert payments.shape == (284_807, 31)
    assert payments.columns == ["Time", *COMPONENTS, "Amount", "Class"]
    assert payments["Class"].value_counts(sort=True).rows() == [(0, 284_315), (1, 492)]
    integers = [name for name, dtype in payments.schema.items() if dtype == pl.Int64]
    assert integers == ["Time", "Class"]
    assert payments.null_count().sum_horizontal().item() == 0


def test_time_is_sorted_and_has_quiet_nights_on_both_days(payments):
    seconds = payments["Time"].to_numpy()
    assert (np.diff(seconds) >= 0).all()
    assert seconds[0] >= 0
    assert seconds[-1] <= 172_792
    per_hour = np.bincount(seconds // 3600, minlength=48).reshape(2, 24)
    # The rate is between 0.2 and 1.8 of its mean, so 3 o'clock has a ninth of 15 o'clock; with
    # about 1,200 payments in the quietest hour, a fifth is out of reach of chance.
    assert (per_hour[:, 3] < per_hour[:, 15] / 5).all()


def test_components_are_uncorrelated(payments):
    correlations = np.corrcoef(payments.select(COMPONENTS).to_numpy(), rowvar=False)
    largest = np.abs(correlations - np.eye(28)).max()
    # Chance: the squares of a multivariate t(5) are correlated, which makes the standard error
    # sqrt(3 / n) = 0.0032, and the largest of 378 is some 3.5 of them. The frauds add at most
    # their share times the two largest shifts: 0.0017 * 3.5 * 3 = 0.018.
    assert largest < 0.03


def test_components_get_narrower_and_have_heavy_tails(payments):
    values = payments.select(COMPONENTS).to_numpy()
    spread = values.std(axis=0)
    assert (np.diff(spread) < 0).all()
    # The standard error is 0.3 %, and the shift of the frauds adds up to 1.1 %.
    np.testing.assert_allclose(spread, np.geomspace(1.96, 0.33, 28), rtol=0.03)
    beyond_five = (np.abs(values) > 5 * spread).mean(axis=0)
    # Normal values would be so far out in 6e-7 of the rows; t(5) is in 1.3e-3 of them.
    assert (beyond_five > 5e-4).all()


def test_amounts_are_skewed_with_two_decimals_and_some_zeros(payments):
    amounts = payments["Amount"]
    # Standard errors: the median's is 22 * 1.25 * 1.67 / sqrt(n) = 0.09, the mean's 0.6.
    assert amounts.median() == pytest.approx(22, abs=0.6)
    assert amounts.mean() == pytest.approx(88, abs=4)
    assert amounts.min() == 0
    assert (amounts == 0).mean() == pytest.approx(0.0064, abs=0.001)
    assert (amounts == amounts.round(2)).all()


@pytest.mark.parametrize(("column", "sign"), [("V14", -1), ("V12", -1), ("V11", 1), ("V4", 1)])
def test_frauds_can_be_told_apart(payments, column, sign):
    assert auc(payments, column, sign) > 0.9


def test_components_without_a_shift_do_not_tell_frauds_apart(payments):
    # The standard error of an area of 0.5 with 492 frauds is 1 / sqrt(12 * 492) = 0.013.
    assert auc(payments, "V1", 1) == pytest.approx(0.5, abs=0.055)


def auc(payments, column, sign):
    """Return how often a fraud's value is above that of another payment."""
    scores = sign * payments[column].to_numpy()
    is_fraud = payments["Class"].to_numpy() == 1
    others = np.sort(scores[~is_fraud])
    return np.searchsorted(others, scores[is_fraud]).mean() / len(others)


def test_the_same_seed_gives_the_same_table():
    first = simulate("credit_card", 500, random_state=7)
    assert first.equals(simulate("credit_card", 500, random_state=7))
    assert not first.equals(simulate("credit_card", 500, random_state=8))
    assert not first.equals(simulate("credit_card", 500, random_state=None))


def test_a_generator_is_used_and_moves_on():
    generator = np.random.default_rng(7)
    first = simulate("credit_card", 500, random_state=generator)
    assert first.equals(simulate("credit_card", 500, random_state=7))
    assert not first.equals(simulate("credit_card", 500, random_state=generator))


@pytest.mark.parametrize(
    ("rows", "positives"),
    [
        (1, 1),
        (2, 1),
        (578, 1),  # 578 * 492 / 284,807 = 0.998
        (2_000, 3),  # 3.45
        (28_481, 49),  # 49.2
        (np.int64(569_614), 984),
    ],
)
def test_frauds_are_in_proportion_but_at_least_one(rows, positives):
    table = simulate("credit_card", rows=rows)
    assert table.height == rows
    assert table["Class"].sum() == positives


@given(rows=st.integers(1, 300), seed=st.integers(0, 2**32))
def test_every_size_is_complete_and_in_range(rows, seed):
    table = simulate("credit_card", rows, random_state=seed)
    assert table.shape == (rows, 31)
    assert table["Time"].is_sorted()
    assert table["Time"].is_between(0, 172_792).all()
    assert table["Amount"].is_between(0, 25_691.16).all()
    assert np.isfinite(table.to_numpy()).all()
    assert table["Class"].sum() == 1


@pytest.mark.parametrize(
    ("backend", "kind"),
    [("polars", pl.DataFrame), ("pandas", pd.DataFrame), ("pyarrow", pa.Table)],
)
def test_simulate_returns_the_kind_of_frame_that_was_asked_for(backend, kind):
    table = simulate("credit_card", 50, backend=backend)
    assert isinstance(table, kind)
    as_polars = table if backend == "polars" else pl.DataFrame(table)
    assert as_polars.equals(simulate("credit_card", 50))


@pytest.mark.parametrize("rows", [0, -5, 10.0, "10", True, None])
def test_rows_must_be_a_positive_whole_number(rows):
    with pytest.raises(ParameterError, match=f"positive whole number, not {rows!r}"):
        simulate("credit_card", rows=rows)


@pytest.mark.parametrize("seed", [-1, "seed", 1.5])
def test_random_state_must_be_a_seed(seed):
    with pytest.raises(ParameterError, match=f"`random_state` must be .* not {seed!r}"):
        simulate("credit_card", 10, random_state=seed)


def test_unknown_simulation_is_refused_with_a_hint():
    with pytest.raises(DataError, match=r"'creditcard'\. Did you mean 'credit_card'\?"):
        simulate("creditcard")
    with pytest.raises(DataError, match=r"simulate\(\) has no table 'cmc'\. Use load\('cmc'\)\."):
        simulate("cmc")
