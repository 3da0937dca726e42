from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from understudy.counting import Information, entropy, joint_counts, mutual_information
from understudy.data.coded import Coded
from understudy.errors import ParameterError


def relabelled(coded, rng):
    columns = tuple(
        rng.permutation(size)[column].astype(column.dtype)
        for column, size in zip(coded.columns, coded.cardinalities, strict=True)
    )
    return Coded(coded.names, columns, coded.cardinalities)


def test_by_hand():
    coded = Coded.from_arrays({"a": [0, 0, 1, 1], "b": [0, 1, 1, 1]})
    # b is 1 with probability 3/4: 3/4 log2(4/3) + 1/4 log2 4 = 2 - 3/4 log2 3.
    h_b = 2 - 0.75 * math.log2(3)
    assert entropy(coded, "a") == 1.0
    assert entropy(coded, "b") == pytest.approx(h_b, abs=1e-15)
    # The pairs (0,0), (0,1), (1,1), (1,1): 1/4 * 2 + 1/4 * 2 + 1/2 * 1.
    assert entropy(coded, ["a", "b"]) == 1.5
    assert mutual_information(coded, "a", "b") == pytest.approx(1 + h_b - 1.5, abs=1e-15)


def test_of_sets_by_hand():
    # c is a xor b: neither alone tells anything about it, both together all.
    coded = Coded.from_arrays({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "c": [0, 1, 1, 0]})
    assert mutual_information(coded, "a", "c") == 0.0
    assert mutual_information(coded, ["a", "b"], ["c"]) == 1.0
    assert mutual_information(coded, ["a", "b"], ["b", "c"]) == 2.0  # sets may overlap
    assert mutual_information(coded, [], ["a", "b"]) == 0.0


def test_trivial_worlds():
    empty = Coded.from_arrays({"a": [], "b": []}, {"a": 3, "b": 0})
    one = Coded.from_arrays({"a": [2], "b": [0]})
    constant = Coded.from_arrays({"a": [1] * 7, "b": [0, 1, 2, 3, 4, 5, 6]})
    for coded in (empty, one, constant):
        assert entropy(coded, "a") == 0.0
        assert mutual_information(coded, "a", "b") == 0.0
    assert entropy(constant, "b") == pytest.approx(math.log2(7), abs=1e-14)
    assert entropy(constant, []) == 0.0


@given(data=st.data())
def test_a_copy_has_all_the_information_and_independence_none(random_table, data):
    size, rows = data.draw(st.integers(1, 9)), data.draw(st.integers(0, 200))
    x = random_table([size], rows, data.draw(st.integers(0, 99)))["c0"]
    copies = Coded.from_arrays({"x": x, "y": x}, {"x": size, "y": size})
    assert mutual_information(copies, "x", "y") == entropy(copies, "x")
    crossed = Coded.from_arrays({"x": np.repeat(x, 5), "y": np.tile(np.arange(5), rows)})
    assert mutual_information(crossed, "x", "y") == pytest.approx(0, abs=1e-13)
    assert mutual_information(crossed, "x", "y") >= 0


@given(data=st.data())
def test_order_of_rows_and_labels_do_not_change_a_bit(tables, data):
    coded = data.draw(tables)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    left = data.draw(st.lists(st.sampled_from(coded.names), unique=True))
    right = data.draw(st.lists(st.sampled_from(coded.names), unique=True))
    other = relabelled(coded.take(rng.permutation(len(coded))), rng)
    expected = mutual_information(coded, left, right)
    assert mutual_information(other, left, right) == expected
    assert mutual_information(other, right[::-1], left) == expected
    assert entropy(other, left[::-1]) == entropy(coded, left)


def test_one_to_one_columns_have_scores_equal_to_the_bit():
    rng = np.random.default_rng(1)
    education = rng.integers(0, 16, 48_842)
    others = {f"x{k}": (education * rng.random(48_842)).astype(int) for k in range(5)}
    coded = Coded.from_arrays(
        {"education": education, "education_num": rng.permutation(16)[education], **others}
    )
    for name in others:
        assert mutual_information(coded, name, "education") == mutual_information(
            coded, name, "education_num"
        )
        pair = [name, "education"]
        assert mutual_information(coded, pair, "x0") == mutual_information(
            coded, [name, "education_num"], "x0"
        )


@given(data=st.data())
def test_a_table_written_twice_has_the_same_information(tables, data):
    coded = data.draw(tables)
    left, right = coded.names[0], coded.names[1:]
    twice = Coded.concatenate([coded, coded])
    # Another number of rows has another rounding unit.
    assert mutual_information(twice, left, right) == pytest.approx(
        mutual_information(coded, left, right), abs=1e-9
    )


@given(data=st.data())
def test_streams_and_tables_agree_to_the_bit(tables, in_batches, data):
    coded = data.draw(tables)
    stream = in_batches(coded, *data.draw(st.lists(st.integers(0, 300), max_size=4)))
    left, right = coded.names[:2], coded.names[1:]
    assert mutual_information(stream, left, right) == mutual_information(coded, left, right)
    assert entropy(stream, left) == entropy(coded, left)


def test_scikit_learn_agrees(random_table):
    coded = random_table([20, 50], rows=20_000, seed=3)
    theirs = mutual_info_score(coded["c0"], coded["c1"]) / math.log(2)  # nats to bits
    assert mutual_information(coded, "c0", "c1") == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("rows", [2, 1000, 284_807, 50_000_000, 2**40])
def test_terms_are_the_true_ones_to_double_precision(rows):
    information = Information(rows)
    counts = np.unique(np.geomspace(1, rows, 200).astype(np.int64))
    with localcontext(prec=50):
        ln2 = Decimal(2).ln()
        exact = [Decimal(c) * Decimal(c).ln() / ln2 * 2**information.shift for c in counts.tolist()]
        errors = [
            abs(Decimal(term) - value)
            for term, value in zip(information.terms(counts).tolist(), exact, strict=True)
        ]
    for error, value in zip(errors, exact, strict=True):
        assert error <= Decimal("0.51") + value * Decimal(2) ** -51
    assert 2**58 < information.whole < 2**62  # no bit wasted, none too many


def test_looked_up_and_computed_terms_meet():
    information = Information(200_000)
    counts = np.arange(65_530, 65_545)
    one_by_one = [int(information.terms(np.array([count]))[0]) for count in counts]
    assert information.terms(counts).tolist() == one_by_one
    assert np.all(np.diff(one_by_one) > 0)
    assert information.total(counts[:3]) == sum(one_by_one[:3])


def test_totals_of_many_tables_survive_a_running_sum_that_wraps(random_table):
    coded = random_table([3, 4], rows=1000, seed=0)
    cells = joint_counts(coded, coded.names).counts.ravel()
    information = Information(1000)
    totals = information.totals(np.tile(cells, 50), np.arange(50) * len(cells))
    assert totals.tolist() == [information.total(cells)] * 50
    assert 50 * information.total(cells) > 2**63


def test_impossible_counts_are_refused():
    with pytest.raises(ParameterError, match="A count of 5 cannot come from 4 rows"):
        Information(4).total(np.array([5]))
    with pytest.raises(ParameterError, match="not be negative; got -1"):
        Information(-1)
