"""The distance of two-column tables: by hand, against a slow twin, and on real tables."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from studies import __main__ as command
from studies import marginals as module
from studies.marginals import MarginalsLine, marginals, pair_distance
from understudy.data import load
from understudy.errors import DataError, ParameterError


def test_a_distance_by_hand():
    original = pl.DataFrame(
        {"sex": ["f", "f", "m", "m"], "ill": [0, 0, 1, 1], "job": ["a", "b", "a", "b"]}
    )
    synthetic = pl.DataFrame(
        {"sex": ["f", "m"], "ill": [0, 0], "job": ["a", None]},
    )
    # (sex, ill): f0 1/2 and m1 1/2 against f0 1/2 and m0 1/2: half of 1/2 + 1/2 is 1/2.
    # (sex, job): fa fb ma mb 1/4 each against fa 1/2 and m-missing 1/2: (1/4 + 3/4 + 1/2) / 2.
    # (ill, job): 0a 0b 1a 1b 1/4 each against 0a 1/2 and 0-missing 1/2: the same.
    assert pair_distance(original, synthetic) == pytest.approx((1 / 2 + 3 / 4 + 3 / 4) / 3)


def test_numbers_are_compared_by_tenths_of_the_original():
    original = pl.DataFrame({"age": range(100), "one": [1] * 100})
    within = pl.DataFrame({"age": [10 * (age // 10) for age in range(100)], "one": [1] * 100})
    assert pair_distance(original, within) == 0
    # All ages below 10 become 10: a tenth of the records is in another group.
    moved = original.with_columns(pl.col("age").clip(lower_bound=10))
    assert pair_distance(original, moved) == pytest.approx(0.1)
    # Outside of the original's range is its last group.
    beyond = original.with_columns(pl.when(pl.col("age") > 94).then(1000).otherwise("age"))
    assert beyond["literal"].max() == 1000
    beyond = beyond.with_columns(age="literal").drop("literal")
    assert pair_distance(original, beyond) == 0


def test_few_numbers_are_all_kept_apart():
    original = pl.DataFrame({"level": [1] * 97 + [2, 3, 4], "one": [1] * 100})
    other = pl.DataFrame({"level": [1] * 97 + [3, 3, 4], "one": [1] * 100})
    assert pair_distance(original, other) == pytest.approx(0.01)


def test_missing_numbers_are_a_group():
    original = pl.DataFrame({"age": [None, 1, 2, 3], "one": [1.0, 1.0, 1.0, None]})
    other = pl.DataFrame({"age": [1, 1, 2, 3], "one": [1.0, 1.0, 1.0, 1.0]})
    # Of four records the first and the last are in another cell.
    assert pair_distance(original, other) == pytest.approx(0.5)


def slow_distance(original, synthetic):
    """Count pairs of values in Python; for columns whose values are all kept apart."""
    moved = []
    for pair in combinations(original.columns, 2):
        first, second = (Counter(table.select(pair).iter_rows()) for table in (original, synthetic))
        moved.append(
            sum(
                abs(first[cell] / original.height - second[cell] / synthetic.height)
                for cell in first | second
            )
            / 2
        )
    return sum(moved) / len(moved)


levels = st.sampled_from([None, "a", "b", "c"])
numbers = st.one_of(st.none(), st.integers(0, 9))
rows = st.lists(st.tuples(levels, numbers, levels), min_size=1, max_size=15)
SCHEMA = {"x": pl.String, "y": pl.Int64, "z": pl.String}


def frame(records):
    return pl.DataFrame(records, schema=SCHEMA, orient="row")


@given(rows, rows)
def test_it_is_what_counting_in_python_gives(original, synthetic):
    # A number that the original lacks would join the group of another.
    known = {row[1] for row in original}
    synthetic = [(x, y if y in known else original[0][1], z) for x, y, z in synthetic]
    expected = slow_distance(frame(original), frame(synthetic))
    assert pair_distance(frame(original), frame(synthetic)) == pytest.approx(expected)


@given(rows, st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_matter(records, random):
    shuffled = records * 2
    random.shuffle(shuffled)
    assert pair_distance(frame(records), frame(shuffled)) == pytest.approx(0, abs=1e-12)


def test_nothing_in_common_is_one():
    assert pair_distance(frame([("a", 1, "a")]), frame([("b", 1, "b")])) == 1


@pytest.mark.parametrize(
    ("original", "synthetic", "message"),
    [
        (frame([("a", 1, "a")]), frame([("a", 1, "a")]).drop("y"), "'y'"),
        (frame([("a", 1, "a")]).select("x"), frame([("a", 1, "a")]), "need two columns and a row"),
        (frame([]), frame([("a", 1, "a")]), "3 columns, 0 and 1 rows"),
    ],
)
def test_tables_that_cannot_be_compared_are_refused(original, synthetic, message):
    with pytest.raises(DataError, match=message):
        pair_distance(original, synthetic)


def test_a_ratio_and_its_error():
    line = MarginalsLine("cmc", 10, 2, (0.3, 0.5), (0.2, 0.2), 1.08)
    assert line.ratio == pytest.approx(2)
    # The mean 0.4 has a standard error of 0.1414 / sqrt(2) = 0.1, a quarter of it.
    assert line.error == pytest.approx(0.5)
    assert MarginalsLine("cmc", 10, 2, (0.3,), (0.2, 0.2), None).error is None


def test_cart_keeps_the_pairs_of_cmc():
    # 1.056 over a hundred syntheses; twenty know it to 0.02, so 1.10 is two standard errors away.
    (line,) = marginals("cmc")
    assert (line.rows, line.columns, line.synthpop) == (1473, 10, 1.08)
    assert (len(line.synthetic), len(line.bootstrap)) == (20, 100)
    assert line.error < 0.025
    assert 1 < line.ratio < 1.10


@pytest.mark.slow
def test_cart_keeps_the_pairs_of_social_diagnosis(real_files):
    # 1.195 and 1.249 over twenty; one synthesis varies by 0.03, so that two know it to 0.02.
    real_files("sd2011.csv")
    lines = marginals("sd2011", seeds=2, bootstraps=5)
    assert [(line.rows, line.columns) for line in lines] == [(5000, 22), (5000, 35)]
    assert all(1.1 < line.ratio < 1.30 for line in lines)


def test_cart_keeps_the_pairs_of_adult(real_files):
    # 1.111 over twenty; one synthesis varies by 0.06, so that four know it to 0.03.
    real_files("adult_train.csv")
    (line,) = marginals("adult", seeds=4, bootstraps=10)
    assert (line.rows, line.columns, line.synthpop) == (6000, 13, 1.21)
    assert 1 < line.ratio < 1.20


def test_bootstrap_samples_are_as_far_as_other_samples_of_cmc():
    line = marginals("cmc", seeds=1, bootstraps=3)[0]
    survey = load("cmc")
    again = survey.sample(len(survey), with_replacement=True, seed=1)
    assert np.mean(line.bootstrap) == pytest.approx(pair_distance(survey, again), rel=0.2)


def test_the_tables_have_the_shapes_that_synthpop_was_given(real_files):
    real_files("sd2011.csv", "adult_train.csv")
    (some, ratio), (every, none) = module._originals("sd2011")
    assert (some.shape, ratio) == ((5000, 22), 1.34)
    assert (every.shape, none) == ((5000, 35), None)
    assert every.columns.index("eduspec") < every.columns.index("smoke")
    first = [name for name in every.columns if name != "eduspec"][:22]
    assert some.columns == first
    ((adult, _),) = module._originals("adult")
    assert adult.shape == (6000, 13)
    assert adult.equals(module._originals("adult")[0][0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"table": "cmcc"}, "got 'cmcc'. Did you mean 'cmc'"),
        ({"table": "cmc", "seeds": 0}, "seeds must be a whole number from 1; got 0"),
        ({"table": "cmc", "bootstraps": -1}, "bootstraps must be a whole number from 1; got -1"),
    ],
)
def test_what_cannot_be_done_is_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        marginals(**arguments)


def test_the_command_prints_the_table():
    arguments = ["marginals", "cmc", "--seeds", "1", "--bootstraps", "2"]
    result = CliRunner().invoke(command.app, arguments)
    assert result.exit_code == 0
    heading, _, line = result.stdout.strip().split("\n")
    assert heading == "| table | rows | columns | synthetic | bootstrap | ratio | synthpop |"
    assert line.startswith("| cmc | 1,473 | 10 | 0.0")
    assert "±" not in line  # one synthesis has no spread
