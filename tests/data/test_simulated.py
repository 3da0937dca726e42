"""The simulated credit card table: its shape, and what makes it resemble the real one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.simulated import simulate
from understudy.errors import DataError, ParameterError

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


def test_unknown_table_is_refused_with_a_hint():
    with pytest.raises(DataError, match=r"'creditcard'\. Did you mean 'credit_card'\?"):
        simulate("creditcard")
    with pytest.raises(DataError, match=r"simulate\(\) has no table 'cmc'\. Use load\('cmc'\)\."):
        simulate("cmc")
