"""Distances of tables of shares: by hand, in trivial worlds, against a slow twin."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data import fetch, load
from understudy.data.joint_coding import CodedTables
from understudy.errors import DataError, ParameterError
from understudy.progress import reporting
from understudy.synthesis import Independent
from understudy.utility.marginals import Marginals, marginals

ORIGINAL = {"sex": ["f", "f", "m", "m"], "ill": [0, 0, 1, 1], "job": ["a", "b", "a", "b"]}
SYNTHETIC = {"sex": ["f", "m"], "ill": [0, 0], "job": ["a", None]}


def test_distances_by_hand(as_frame):
    found = marginals(as_frame(ORIGINAL), as_frame(SYNTHETIC))
    assert (found.records, found.synthetic_records) == (4, 2)
    assert found.columns == ("sex", "ill", "job")
    frame = found.to_frame(backend="polars")
    distances = dict(zip(map(tuple, frame["columns"]), frame["distance"], strict=True))
    assert distances == pytest.approx(
        {
            ("sex",): 0,
            ("ill",): 1 / 2,  # 0 1 by halves against 0 always
            ("job",): 1 / 2,  # a b by halves against a and missing by halves
            ("sex", "ill"): 1 / 2,  # f0 m1 against f0 m0
            ("sex", "job"): 3 / 4,  # fa fb ma mb by quarters against fa, m-missing: of fa a quarter
            ("ill", "job"): 3 / 4,
            ("sex", "ill", "job"): 3 / 4,
        }
    )
    one, two, three = found.ways
    assert (one.way, one.tables, one.possible) == (1, 3, 3)
    assert one.mean == pytest.approx(1 / 3)
    assert (one.median, one.largest) == (1 / 2, 1 / 2)
    assert two.mean == pytest.approx(2 / 3)
    assert (two.median, two.largest) == (3 / 4, 3 / 4)
    assert three.mean == 3 / 4
    # By chance: two records from two halves are at 1/4 on average (1/2 with chance 1/2).
    assert one.expected == pytest.approx(1 / 4)
    assert one.ratio == pytest.approx(4 / 3)
    # A cell of a quarter has 0, 1, 2 of two records with chances 9, 6, 1 of 16: its deviation is
    # (9 / 4 + 6 / 4 + 3 / 4) / 16 = 9 / 32, and half of four such is 9 / 16.
    assert two.expected == pytest.approx((1 / 4 + 9 / 16 + 9 / 16) / 3)
    assert found.reasons == {}
    assert [table.columns for table in one.worst] == [("ill",), ("job",), ("sex",)]
    assert one.worst[0].ratio == pytest.approx(2)


def test_shares_of_a_column(as_frame):
    found = marginals(as_frame(ORIGINAL), as_frame(SYNTHETIC))
    shares = found.shares("job", backend="polars")
    assert shares.rows() == [("a", 0.5, 0.5), ("b", 0.5, 0), (None, 0, 0.5)]
    assert found.shares("ill", backend="polars").rows() == [("0", 0.5, 1), ("1", 0.5, 0)]
    assert found.groups == {"ill": 2}
    with pytest.raises(ParameterError, match=r"'jobb' is not a column. Did you mean 'job'"):
        found.shares("jobb")


def test_a_copy_is_at_distance_0():
    survey = load("cmc")
    found = marginals(survey, survey)
    assert [way.largest for way in found.ways] == [0, 0, 0]
    assert [way.tables for way in found.ways] == [10, 45, 120]
    assert all(0.01 < way.expected < 0.1 for way in found.ways)
    assert [way.ratio for way in found.ways] == [0, 0, 0]


def test_nothing_in_common_is_at_distance_1():
    found = marginals(pl.DataFrame({"x": ["a"], "y": [1]}), pl.DataFrame({"x": ["b"], "y": [1]}))
    assert (found[1].median, found[1].largest, found[2].mean) == (0.5, 1, 1)


def test_unrelated_columns_keep_their_own_shares_alone():
    survey = load("cmc")
    synthetic = Independent(random_state=0).fit(survey).sample(random_state=1)
    one, two, three = marginals(survey, synthetic).ways
    assert one.ratio < 1.5
    assert two.ratio > 2
    assert three.mean > two.mean > one.mean


def test_another_sample_is_as_far_as_chance_alone_says():
    # Ten samples; the mean over all pairs of one varies by a tenth, so that three standard errors
    # of ten are a tenth.
    survey = load("cmc")
    samples = [survey.sample(fraction=0.5, with_replacement=True, seed=seed) for seed in range(10)]
    ratios = np.array([[way.ratio for way in marginals(survey, one).ways] for one in samples])
    assert ratios.mean(axis=0) == pytest.approx(1, abs=0.1)


def test_one_column_has_no_pairs():
    found = marginals(pl.DataFrame({"x": [1, 2]}), pl.DataFrame({"x": [1, 1]}))
    assert found[1].mean == 0.5
    assert (found[2].tables, found[2].possible, found[2].worst) == (0, 0, ())
    assert math.isnan(found[2].mean)
    assert found.reasons["2-way"] == "there is no table of 2 columns, because only 1 are compared"
    assert "one column" in found.summary()
    alone = marginals(pl.DataFrame({"x": [1]}), pl.DataFrame({"x": [1]}), ways=2)
    assert alone.summary() == (
        "No table was compared: there is no table of 2 columns, because only 1 are compared."
    )
    assert alone.to_frame().shape == (0, 6)


def test_one_level_leaves_nothing_to_chance():
    original = pl.DataFrame({"x": ["a", "a"]})
    found = marginals(original, pl.DataFrame({"x": ["a", "b"]}), ways=1)
    assert (found[1].mean, found[1].expected) == (0.5, 0)
    assert math.isnan(found[1].ratio)
    assert found.reasons == {
        "1-way ratio": "chance moves nothing, because every table has one cell",
    }
    assert found.to_frame()["ratio"].to_list() == [None]
    assert "times as much" not in found.summary()


def test_numbers_missing_and_special():
    original = pl.DataFrame({"x": [*range(100), None, -8]})
    synthetic = pl.DataFrame({"x": [*range(100), 7, 8]})
    # Missing and special one each of 102 records.
    found = marginals(original, synthetic, special={"x": [-8]}, groups={"x": 4}, ways=1)
    assert found[1].mean == pytest.approx(2 / 102)
    assert found.groups == {"x": 4}
    assert found.shares("x")["level"].to_list()[-2:] == ["-8", None]


def slow_distances(original, synthetic, way):
    """Count combinations of values in Python; for columns whose values are all kept apart."""
    found = {}
    for names in combinations(original.columns, way):
        first, second = (
            Counter(table.select(names).iter_rows()) for table in (original, synthetic)
        )
        found[names] = (
            sum(
                abs(first[cell] / original.height - second[cell] / synthetic.height)
                for cell in first | second
            )
            / 2
        )
    return found


levels = st.sampled_from([None, "a", "b", "c"])
rows = st.lists(
    st.tuples(levels, st.none() | st.integers(0, 4), levels, st.booleans()), min_size=1, max_size=15
)
SCHEMA = {"x": pl.String, "y": pl.Int64, "z": pl.String, "w": pl.Boolean}


def frame(records):
    return pl.DataFrame(records, schema=SCHEMA, orient="row")


@given(rows, rows)
def test_it_is_what_counting_in_python_gives(original, synthetic):
    # Numbers that the original lacks are told from those that it has, but not from each other.
    known = {row[1] for row in original}
    synthetic = [(x, y if y in known else original[0][1], z, w) for x, y, z, w in synthetic]
    original, synthetic = frame(original), frame(synthetic)
    found = marginals(original, synthetic, ways=(1, 2, 3, 4)).to_frame()
    got = dict(zip(map(tuple, found["columns"]), found["distance"], strict=True))
    expected = {}
    for way in (1, 2, 3, 4):
        expected |= slow_distances(original, synthetic, way)
    assert got == pytest.approx(expected)


@given(rows, rows, st.randoms(use_true_random=False))
def test_order_repetition_and_names_of_levels_do_not_matter(original, synthetic, random):
    before = marginals(frame(original), frame(synthetic))
    shuffled = synthetic * 3
    random.shuffle(shuffled)
    names = {"a": "zz", "b": "yy", "c": "aa", None: None}
    new = [
        frame([(names[x], y, names[z], not w) for x, y, z, w in table])
        for table in (original * 2, shuffled)
    ]
    after = marginals(*new)
    assert after.to_frame()["distance"].to_list() == pytest.approx(
        before.to_frame()["distance"].to_list(), abs=1e-12
    )


def test_many_tables_of_three_are_drawn():
    survey = load("cmc")
    other = survey.sample(fraction=1, with_replacement=True, seed=3)
    every = marginals(survey, other)
    some = marginals(survey, other, most_tables=30, random_state=5)
    assert (some[3].tables, some[3].possible) == (30, 120)
    assert (some[2].tables, some[1].tables) == (45, 10)  # these are exact
    assert some.reasons == {
        "3-way": "30 of 120 tables of 3 columns, drawn at random with random_state 5"
    }
    chosen = some.to_frame().filter(pl.col("way") == 3)
    assert chosen["columns"].n_unique() == 30
    joined = chosen.join(every.to_frame(), on=["way", "columns"])
    assert joined["distance"].to_list() == chosen["distance"].to_list()
    again = marginals(survey, other, most_tables=30, random_state=5)
    assert again.to_frame().equals(some.to_frame())
    another = marginals(survey, other, most_tables=30, random_state=6)
    assert not another.to_frame().equals(some.to_frame())


def test_every_set_can_be_drawn():
    table = pl.DataFrame({f"c{place}": ["a"] for place in range(6)})
    drawn = set()
    for seed in range(40):
        found = marginals(table, table, ways=3, most_tables=5, random_state=seed).to_frame()
        drawn |= set(map(tuple, found["columns"]))
    # Each seed draws a quarter: one of twenty sets is left out by all with chance 20 * 0.75^40.
    assert drawn == set(combinations(table.columns, 3))


def test_the_worst_tables():
    found = marginals(pl.DataFrame(ORIGINAL), pl.DataFrame(SYNTHETIC))
    assert (
        found.worst(2).rows()
        == found.to_frame().sort("distance", descending=True, maintain_order=True).head(2).rows()
    )
    assert found.worst(1, way=1)["columns"].to_list() == [["ill"]]
    assert found.worst(1, by="ratio")["ratio"].to_list() == [pytest.approx(2)]
    with pytest.raises(ParameterError, match="by must be 'distance' or 'ratio'; got 'size'"):
        found.worst(by="size")
    with pytest.raises(ParameterError, match="Tables of 4 columns were not compared, but of 1, 2"):
        found.worst(way=4)


def test_columns_restrict():
    found = marginals(load("cmc"), load("cmc"), columns=["age", "method"], ways=[2, 2])
    assert found.columns == ("age", "method")
    assert [way.way for way in found.ways] == [2]


def test_plain_values_and_words():
    found = marginals(pl.DataFrame(ORIGINAL), pl.DataFrame(SYNTHETIC))
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["ways"][0]["mean"] == pytest.approx(1 / 3)
    assert plain["ways"][0]["worst"][0]["columns"] == ["ill"]
    assert plain["ways"][0]["worst"][0]["ratio"] == pytest.approx(2)
    assert not any(name.startswith("_") for name in plain)
    assert str(found) == (
        "66.7% of the synthetic records would have to change for the tables of 2 columns to have "
        "the original's shares (mean of 3 tables). A random sample of the original differs by "
        "45.8%, so this is 1.45 times as much. The worst table is 'sex' and 'job' with 75.0%, "
        "where chance alone gives 56.2%."
    )


def test_frames_are_of_the_kind_that_went_in(as_frame):
    found = marginals(as_frame(ORIGINAL), as_frame(SYNTHETIC))
    for frame in (found.to_frame(), found.shares("ill"), found.worst(1)):
        assert type(frame) is type(as_frame({}))
    assert isinstance(found.to_frame(backend="polars"), pl.DataFrame)
    assert found._repr_html_().startswith("<div><p>66.7% of the synthetic records")


def test_a_notebook_shows_each_number_of_columns_beside_chance():
    found = marginals(pl.DataFrame(ORIGINAL), pl.DataFrame(SYNTHETIC), ways=(1, 2, 3, 4))
    lines = found.lines()
    assert [line.measure for line in lines[:3]] == [
        "Single columns",
        "Pairs of columns",
        "Three columns at once",
    ]
    assert (lines[1].baseline, lines[1].synthetic) == (found[2].expected, found[2].mean)
    assert lines[1].meaning == "3 tables, 1.5 times what chance gives"
    shown = found._repr_html_()
    for words in (*Marginals.SERIES.values(), Marginals.AXIS, "Pairs of columns"):
        assert f">{words}<" in shown
    assert "4 columns at once" not in shown  # there is no such table


def test_coded_tables_give_the_same():
    frames = {"original": pl.DataFrame(ORIGINAL), "synthetic": pl.DataFrame(SYNTHETIC)}
    tables = CodedTables.of(frames | {"control": pl.DataFrame(ORIGINAL)})
    found = marginals(tables, columns=["ill", "job"])
    direct = marginals(*frames.values(), columns=["ill", "job"])
    assert found.to_dict() == direct.to_dict()
    assert marginals(tables).to_dict() == marginals(*frames.values()).to_dict()


def test_progress_is_reported():
    heard = []

    class Reporter:
        def track(self, items, description, total):
            heard.append((description, total))
            return items

    with reporting(Reporter()):
        marginals(pl.DataFrame(ORIGINAL), pl.DataFrame(SYNTHETIC))
    assert heard == [("comparing tables of shares", total) for total in (3, 3, 1)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ways": 0}, r"ways must be whole numbers from 1 to 4, such as \(1, 2, 3\); got 0"),
        ({"ways": ()}, r"got \(\)"),
        ({"ways": "12"}, "got '12'"),
        ({"ways": (1, 5)}, r"got \(1, 5\)"),
        ({"ways": 1.5}, "got 1.5"),
        ({"most_tables": 0}, "most_tables must be a whole number from 1; got 0"),
        ({"random_state": -1}, "random_state must be a whole number from 0; got -1"),
        ({"columns": ["sexx"]}, "has no column 'sexx'. Did you mean 'sex'"),
        ({"columns": []}, "There is no column to compare"),
    ],
)
def test_what_cannot_be_done_is_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        marginals(pl.DataFrame(ORIGINAL), pl.DataFrame(SYNTHETIC), **arguments)


def test_tables_that_cannot_be_compared_are_refused():
    with pytest.raises(DataError, match="which cannot be compared"):
        marginals(pl.DataFrame({"x": ["a"]}), pl.DataFrame({"x": [1]}))


def test_adult_in_full(real_files):
    real_files("adult_train.csv")
    adult = fetch("adult_train")
    other = adult.sample(fraction=1, with_replacement=True, seed=0)
    found = marginals(adult, other)
    assert [way.tables for way in found.ways] == [15, 105, 455]
    # One sample: over fifteen columns the mean varies by a quarter, over the tables by a tenth.
    assert found[1].ratio == pytest.approx(1, abs=0.5)
    assert [found[2].ratio, found[3].ratio] == pytest.approx([1, 1], abs=0.2)
    # Nine of ten have no gains: these are a level, which quantiles alone would lose.
    assert found.shares("capital_gain")["original"].max() == pytest.approx(0.917, abs=0.001)
