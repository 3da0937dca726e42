"""Associations of two tables: by hand, in trivial worlds, and as others compute them."""

from __future__ import annotations

import datetime as dt
import json
import math

import numpy as np
import polars as pl
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from understudy.data import fetch, load
from understudy.data.joint_coding import CodedTables
from understudy.errors import DataError, ParameterError
from understudy.synthesis import Independent
from understudy.utility.association import association

ORIGINAL = {
    "sex": ["f", "f", "m", "m"],
    "ill": ["y", "y", "n", "n"],
    "age": [1, 3, 3, 5],
    "pay": [4.0, 8.0, 8.0, 12.0],
}
SYNTHETIC = {
    "sex": ["f", "f", "m", "m"],
    "ill": ["y", "n", "y", "n"],
    "age": [1, 3, 3, 5],
    "pay": [12.0, 8.0, 8.0, 4.0],
}


def test_what_was_compared(as_frame):
    found = association(as_frame(ORIGINAL), as_frame(SYNTHETIC))
    assert (found.records, found.synthetic_records) == (4, 4)
    assert found.kinds == {"sex": "category", "ill": "category", "age": "number", "pay": "number"}
    assert (found.bootstraps, found.random_state, found.corrected) == (20, 0, False)
    # Of sex and ill any sample keeps the full association, unless it has a single sex.
    assert found.measured.expected[0, 1] == pytest.approx(0)
    assert found.measured.expected[0, 2] > 0


def test_a_row_for_each_pair_by_hand(as_frame):
    found = association(as_frame(ORIGINAL), as_frame(SYNTHETIC), bootstraps=0)
    half = math.sqrt(1 / 2)  # between the sexes lie 4 of the 8 squares of age
    frame = found.to_frame(backend="polars")
    rows = frame.select("first", "second", "measure", "original", "synthetic").rows()
    assert [row[:3] for row in rows] == [
        ("sex", "ill", "cramers_v"),
        ("sex", "age", "correlation_ratio"),
        ("sex", "pay", "correlation_ratio"),
        ("ill", "age", "correlation_ratio"),
        ("ill", "pay", "correlation_ratio"),
        ("age", "pay", "pearson"),
    ]
    assert [row[3] for row in rows] == pytest.approx([1, half, half, half, half, 1])
    # In the synthetic data those who are ill have the ages 1 and 3, as before, but of either sex.
    assert [row[4] for row in rows] == pytest.approx([0, half, half, half, half, -1])
    # Differences 1, 0, 0, 0, 0 and 2, whose sign strength does not see.
    assert (found.mean, found.largest) == pytest.approx((1 / 2, 2))
    assert found.measured.largest_pair == ("age", "pay")
    assert (found.strength.mean, found.strength.largest) == pytest.approx((1 / 6, 1))
    assert found.strength.largest_pair == ("sex", "ill")
    assert np.diag(found.strength.original).tolist() == [1, 1, 1, 1]
    assert math.isnan(found.measured.expected_mean)
    assert found.reasons == {"expected": "no samples of the original were asked for (bootstraps=0)"}


def test_pearson_on_the_places_of_levels():
    original = pl.DataFrame({"grade": ["a", "b", "d", "d"], "x": [1, 2, 3, 3]})
    synthetic = pl.DataFrame({"grade": ["a", "c", "b", None], "x": [0, 3, 2, 9]})
    found = association(original, synthetic).pearson
    # a, b, d are 0, 1, 2 in the original, whatever the synthetic data hold.
    assert found.original[0, 1] == pytest.approx(1)
    # c lies between b and d, at 1.5; missing does not count: 0, 1.5, 1 with 0, 3, 2.
    assert found.synthetic[0, 1] == pytest.approx(1)


def test_an_ordered_type_gives_the_places():
    levels = pl.Enum(["low", "high", "highest"])
    table = pl.DataFrame(
        {"dose": pl.Series(["low", "high", "highest"], dtype=levels), "x": [1, 2, 3]}
    )
    assert association(table, table).pearson.original[0, 1] == pytest.approx(1)
    assert association(table.cast({"dose": pl.String}), table).pearson.original[0, 1] < 1


def test_numbers_that_are_categories():
    survey = load("cmc")
    found = association(survey, survey, categorical=["religion", "method"], bootstraps=1)
    assert found.kinds["method"] == "category"
    assert found.kinds["age"] == "number"
    at = found.columns.index("religion"), found.columns.index("method")
    counts = survey.group_by("religion", "method").len().pivot("method", index="religion")
    expected = scipy.stats.contingency.association(counts.drop("religion").to_numpy())
    assert found.measured.original[at] == pytest.approx(expected)


def test_dates_count_as_numbers():
    days = [dt.date(2020, 1, 1), dt.date(2020, 1, 5), None, dt.date(2021, 1, 1)]
    table = pl.DataFrame({"day": days, "x": [1, 2, 7, 3]})
    found = association(table, table)
    assert found.kinds["day"] == "number"
    assert found.measured.original[0, 1] == pytest.approx(1)  # places 0, 1, 2 with 1, 2, 3


def test_a_copy_differs_in_nothing():
    survey = load("cmc")
    found = association(survey, survey, categorical=["religion", "working", "method"])
    for compared in (found.measured, found.strength, found.pearson):
        assert (compared.mean, compared.largest, compared.ratio) == (0, 0, 0)
        assert not compared.difference.any()
        # A correlation of 1,473 records varies by 1 / sqrt(1473) = 0.026, by 0.02 on average.
        assert compared.expected_mean == pytest.approx(0.02, abs=0.005)
        assert compared.expected_largest > compared.expected_mean
        assert compared.pairs == 45
    assert found.reasons == {}
    assert found.strength.original.min() >= 0
    assert found.strength.original.max() <= 1


def test_unrelated_columns_lose_their_associations():
    survey = load("cmc")
    synthetic = Independent(random_state=0).fit(survey).sample(random_state=1)
    found = association(survey, synthetic)
    assert found.measured.ratio > 3
    assert np.abs(found.measured.synthetic[np.triu_indices(10, 1)]).max() < 0.1
    first, second = (found.columns.index(name) for name in found.measured.largest_pair)
    pairs = np.abs(found.measured.original[np.triu_indices(10, 1)])
    assert abs(found.measured.original[first, second]) == pytest.approx(pairs.max(), abs=0.05)


def test_another_sample_differs_as_chance_alone_says():
    # Pairs of one sample move together, so that its ratio varies by a fifth; ten know it to 0.07.
    survey = load("cmc")
    samples = [survey.sample(fraction=0.5, with_replacement=True, seed=seed) for seed in range(10)]
    ratios = [association(survey, one).measured.ratio for one in samples]
    assert np.mean(ratios) == pytest.approx(1, abs=0.2)


def test_the_samples_are_seeded():
    survey = load("cmc")
    one, same, other = (association(survey, survey, random_state=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.measured.expected, same.measured.expected, equal_nan=True)
    assert not np.array_equal(one.measured.expected, other.measured.expected, equal_nan=True)
    assert np.array_equal(one.measured.original, other.measured.original)


def test_samples_have_the_size_of_the_synthetic_table():
    survey = load("cmc")
    small = association(survey, survey.head(100)).measured.expected_mean
    # A fifteenth of the records: about 1 / sqrt(100) = 0.1 instead of 0.026.
    assert small == pytest.approx(0.08, abs=0.02)


def test_one_column_has_no_association():
    found = association(pl.DataFrame({"x": [1, 2]}), pl.DataFrame({"x": [1, 2]}))
    assert math.isnan(found.mean)
    assert found.measured.largest_pair is None
    assert found.reasons == {
        "mean": "there is no pair of columns whose association is defined in both tables"
    }
    assert str(found) == "No association of two columns is defined in both tables."
    assert found.to_frame().shape == (0, 10)


def test_a_constant_column_is_undefined():
    original = pl.DataFrame({"x": [1, 2, 3], "y": ["a", "b", "b"], "z": [1, 3, 2]})
    synthetic = original.with_columns(y=pl.lit("a"), z=pl.lit(7))
    found = association(original, synthetic)
    assert found.measured.pairs == 0
    assert np.isnan(found.measured.synthetic[0, 1])
    assert np.isnan(found.measured.synthetic[1, 1])
    assert found.reasons["x, y"] == "'y' has a single value in the synthetic table"
    assert found.reasons["y, z"] == "'y' and 'z' have a single value in the synthetic table"
    both = association(synthetic, synthetic)
    assert both.reasons["x, y"] == (
        "'y' has a single value in the original table; 'y' has a single value in the synthetic "
        "table"
    )
    row = found.to_frame().row(0, named=True)
    assert row["original"] == pytest.approx(math.sqrt(3 / 4))  # mean 2; 1 and 1.5 to 2.5 of 2
    assert (row["synthetic"], row["difference"]) == (None, None)
    assert row["reason"] == found.reasons["x, y"]


def test_some_pairs_may_be_undefined():
    original = pl.DataFrame({"x": [1, 2, 3], "y": [1, 3, 2], "one": [1, 1, 1]})
    found = association(original, original)
    assert found.measured.pairs == 1
    assert found.summary().endswith("For 2 other pairs it is undefined.")
    assert found.measured.mean == 0


def test_values_that_are_never_known_together():
    original = pl.DataFrame({"x": [1, 2, None, None], "y": [None, None, 1, 2]})
    found = association(original, original)
    assert math.isnan(found.measured.original[0, 1])
    assert found.reasons["x, y"].startswith(
        "one of them does not vary where both are known in the original table"
    )


def test_the_bias_is_corrected_if_asked_for():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({name: rng.integers(20, size=500).astype(str) for name in "ab"})
    plain = association(table, table, bootstraps=1)
    corrected = association(table, table, bootstraps=1, corrected=True)
    # Chance alone: sqrt(361 / 500 / 19) = 0.195.
    assert plain.measured.original[0, 1] == pytest.approx(0.195, abs=0.03)
    assert corrected.measured.original[0, 1] < 0.08
    assert (plain.corrected, corrected.corrected) == (False, True)
    distinct = pl.DataFrame({"a": ["x", "y", "z"], "b": ["x", "y", "y"]})
    found = association(distinct, distinct, corrected=True)
    assert "the bias cannot be corrected" in found.reasons["a, b"]


def test_missing_values():
    original = pl.DataFrame(
        {"x": [1.0, 3.0, 3.0, 5.0, None, np.inf], "y": ["a", "a", None, None, "c", "d"]}
    )
    found = association(original, original)
    # Missing is a category like a: the squares are those of the correlation ratio by hand.
    assert found.measured.original[0, 1] == pytest.approx(math.sqrt(1 / 2))


rows = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "y", None]), st.integers(0, 9)),
    min_size=2,
    max_size=12,
)
SCHEMA = {"p": pl.String, "q": pl.String, "n": pl.Int64}


@given(rows, rows, st.randoms(use_true_random=False))
def test_order_repetition_names_of_levels_and_units_do_not_matter(original, synthetic, random):
    def found(*tables):
        frames = [pl.DataFrame(table, schema=SCHEMA, orient="row") for table in tables]
        compared = association(*frames, bootstraps=0).measured
        return np.array([compared.original, compared.synthetic])

    names = {"a": "c", "b": "a", "c": "zz", "x": None, "y": "x", None: "w"}
    shuffled = [(names[p], names[q], 7 - 3 * n) for p, q, n in synthetic * 2]
    random.shuffle(shuffled)
    before = found(original, synthetic)
    after = found([(names[p], names[q], 7 - 3 * n) for p, q, n in original], shuffled)
    assert after == pytest.approx(before, abs=1e-7, nan_ok=True)


def test_plain_values_and_words():
    found = association(pl.DataFrame(ORIGINAL), pl.DataFrame(SYNTHETIC), bootstraps=0)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["measured"]["difference"][2] == pytest.approx([0, 0, 0, -2], abs=1e-12)
    assert plain["measured"]["expected"][0][1] is None
    assert plain["strength"]["largest_pair"] == ["sex", "ill"]
    assert plain["kinds"]["age"] == "number"
    assert str(found) == (
        "The strength of association of two columns (0 for none, 1 or -1 for the strongest) "
        "differs from the original's by 0.500 on average over 6 pairs. The largest difference is "
        "between 'age' and 'pay': 1.000 in the original and -1.000 in the synthetic data."
    )
    with_chance = association(pl.DataFrame(ORIGINAL), pl.DataFrame(SYNTHETIC))
    assert "Random samples of the original differ by 0." in str(with_chance)


def test_frames_are_of_the_kind_that_went_in(as_frame):
    found = association(as_frame(ORIGINAL), as_frame(SYNTHETIC), bootstraps=0)
    for frame in (found.to_frame(), found.strength.to_frame()):
        assert type(frame) is type(as_frame({}))
    assert isinstance(found.to_frame(backend="polars"), pl.DataFrame)
    assert "<td>cramers_v</td>" in found._repr_html_()
    assert "<p>6 pairs of columns differ by" in found.measured._repr_html_()


def test_a_notebook_shows_the_mean_difference_beside_chance():
    found = association(pl.DataFrame(ORIGINAL), pl.DataFrame(SYNTHETIC), bootstraps=3)
    (line,) = found.lines()
    assert line.meaning == "mean difference from the original over 6 pairs of columns"
    assert (line.baseline, line.synthetic) == (found.measured.expected_mean, found.mean)
    shown = found._repr_html_()
    for words in (*found.SERIES.values(), found.AXIS, line.measure):
        assert f">{words}<" in shown


def test_coded_tables_give_the_same():
    frames = {"original": pl.DataFrame(ORIGINAL), "synthetic": pl.DataFrame(SYNTHETIC)}
    found = association(CodedTables.of(frames), columns=["age", "ill"], random_state=1)
    direct = association(*frames.values(), columns=["age", "ill"], random_state=1)
    assert found.to_dict() == direct.to_dict()


def test_cells_for_a_heat_map():
    found = association(pl.DataFrame(ORIGINAL), pl.DataFrame(SYNTHETIC)).pearson.to_frame()
    assert found.columns == ["first", "second", "original", "synthetic", "difference", "expected"]
    assert len(found) == 16
    assert found.row(11)[:2] == ("age", "pay")
    assert found.row(11)[2:5] == pytest.approx((1, -1, -2))
    assert found.row(0)[2:] == (1, 1, 0, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"columns": ["sexx"]}, "has no column 'sexx'. Did you mean 'sex'"),
        ({"columns": []}, "There is no column to compare"),
        ({"categorical": "age"}, "categorical must be a list of columns; got 'age'"),
        ({"categorical": ["agee"]}, "categorical: 'agee' is not a column. Did you mean 'age'"),
        ({"bootstraps": -1}, "bootstraps must be a whole number from 0; got -1"),
        ({"random_state": 0.5}, "random_state must be a whole number from 0; got 0.5"),
    ],
)
def test_what_cannot_be_done_is_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        association(pl.DataFrame(ORIGINAL), pl.DataFrame(SYNTHETIC), **arguments)


def test_tables_without_rows_are_refused():
    table = pl.DataFrame(ORIGINAL)
    with pytest.raises(DataError, match="The synthetic table has no rows"):
        association(table, table.head(0))


def test_figure_1_of_the_paper_on_networks(real_files):
    # Its heat map is a picture without figures; the text says that the correlation of relationship
    # and income is negative. On sorted levels it is -0.25.
    real_files("adult_train.csv")
    adult = fetch("adult_train")
    found = association(adult, adult, bootstraps=0).pearson
    at = found.columns.index("relationship"), found.columns.index("income")
    assert found.original[at] == pytest.approx(-0.25, abs=0.005)
