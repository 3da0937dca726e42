"""Telling synthetic records from original ones: by hand, trivial worlds, and by chance."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from understudy.data import load
from understudy.data.joint_coding import CodedTables, Levels, code_together
from understudy.errors import DataError, ParameterError
from understudy.utility.propensity import Null, _scores, propensity
from understudy.utility.propensity_models import Logistic, Tree


def people(rows, seed, shift=0.0):
    """Return records with a number, a gap here and there, and two labels."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], rows)
    age = rng.normal(40, 10, rows).round(1) + 8 * (sex == "f") + shift
    job = rng.choice(["baker", "nurse", "smith"], rows, p=[0.5, 0.3, 0.2])
    gaps = np.where(rng.random(rows) < 0.1, None, age)
    return pl.DataFrame({"sex": sex, "age": gaps.tolist(), "job": job}, strict=False)


def test_by_hand(as_frame):
    original = as_frame({"sex": ["f"] * 30 + ["m"] * 10})
    synthetic = as_frame({"sex": ["f"] * 10 + ["m"] * 30})
    result = propensity(original, synthetic, permutations=3)
    # 40 of each sex; of the women 10 of 40 are synthetic, of the men 30 of 40: each probability is
    # a quarter away from one half.
    for model in result.models.values():
        assert model.pmse == pytest.approx(1 / 16)
        assert model.accuracy == pytest.approx(0.75)
        # Pairs of a synthetic and an original record: 30 * 30 right, 10 * 10 wrong, the rest even.
        assert model.auc == pytest.approx((900 + 600 / 2) / 1600)
        assert model.parameters == 2
    # k = 2 and c = 1/2: (k - 1)(1 - c)^2 c / N = 1/8 / 80, and sqrt(2) times that.
    analytic = result.models["logistic"].analytic
    assert analytic.mean == pytest.approx(1 / 640)
    assert analytic.std == pytest.approx(math.sqrt(2) / 640)
    assert analytic.ratio == pytest.approx(40)
    assert analytic.standardised == pytest.approx((40 - 1) / math.sqrt(2))
    assert result.models["cart"].analytic is None
    assert (result.share, result.used, result.synthetic_used) == (0.5, 40, 40)


def test_tables_of_different_size_by_hand():
    original = pl.DataFrame({"sex": ["f"] * 60 + ["m"] * 30})
    synthetic = pl.DataFrame({"sex": ["f"] * 10 + ["m"] * 20})
    logistic = propensity(original, synthetic, models="logistic").models["logistic"]
    # c = 30/120. Of 70 women 10 are synthetic, of 50 men 20.
    pmse = (70 * (10 / 70 - 1 / 4) ** 2 + 50 * (20 / 50 - 1 / 4) ** 2) / 120
    assert logistic.pmse == pytest.approx(pmse)
    assert logistic.analytic.mean == pytest.approx((3 / 4) ** 2 / 4 / 120)
    # Men are guessed to be synthetic: 20 of 30, and 60 of 90 women are rightly not.
    assert logistic.accuracy == pytest.approx((2 / 3 + 2 / 3) / 2)


def test_scores_agree_with_a_plain_twin():
    rng = np.random.default_rng(5)
    labels = rng.random(60) < 0.3
    probabilities = rng.integers(0, 6, 60) / 5
    pmse, _, auc = _scores(probabilities, labels)
    share = labels.mean()
    assert pmse == pytest.approx(sum((p - share) ** 2 for p in probabilities) / 60)
    pairs = [
        (one > other) + (one == other) / 2
        for one in probabilities[labels]
        for other in probabilities[~labels]
    ]
    assert auc == pytest.approx(np.mean(pairs))


def test_a_copy_cannot_be_told():
    survey = load("cmc")
    result = propensity(survey, survey, permutations=5)
    for model in result.models.values():
        assert model.pmse == pytest.approx(0, abs=1e-12)
        assert (model.accuracy, model.auc) == (0.5, 0.5)
        assert model.permutation.ratio < 0.01
        assert model.permutation.standardised < 0
    assert result.reasons == {}


def test_unrelated_data_are_told_apart():
    original, other = people(400, 1), people(400, 2, shift=60)
    result = propensity(original, other, permutations=10)
    for model in result.models.values():
        assert model.pmse > 0.15  # the most there is, 0.25, but for the ages that are missing
        assert model.permutation.ratio > 5
        assert model.accuracy > 0.9
    assert result.models["logistic"].analytic.standardised > 50


def test_an_association_is_found_by_trees_and_by_interactions():
    rng = np.random.default_rng(0)
    a, b = rng.choice(["x", "y"], (2, 500))
    related = pl.DataFrame({"a": a, "b": a})
    unrelated = pl.DataFrame({"a": a, "b": b})
    plain = propensity(related, unrelated, permutations=5)
    crossed = propensity(related, unrelated, permutations=5, interactions=True)
    assert plain.models["logistic"].pmse < 0.01
    assert crossed.models["logistic"].pmse > 0.05
    assert plain.models["cart"].pmse > 0.05
    # Intercept, a, b and their product.
    assert crossed.models["logistic"].parameters == 4


@pytest.mark.slow
def test_two_samples_of_the_same_people_have_the_pmse_of_shuffled_ones():
    # Over 40 pairs of samples the mean ratio of the logistic regression, k - 1 = 5, has a standard
    # error of sqrt(2/5) / sqrt(40) = 0.1; three of these, and a little for 10 shuffles a pair.
    results = [
        propensity(people(300, seed), people(300, 1000 + seed), permutations=10)
        for seed in range(40)
    ]
    logistic = np.mean([one.models["logistic"].permutation.ratio for one in results])
    assert logistic == pytest.approx(1, abs=0.35)
    tree = np.mean([one.models["cart"].permutation.ratio for one in results])
    assert tree == pytest.approx(1, abs=0.1)
    assert results[0].models["logistic"].parameters == 6
    # The formula is for data that are drawn anew from this very original: half as much here.
    analytic = np.mean([one.models["logistic"].analytic.ratio for one in results])
    assert analytic == pytest.approx(2, abs=0.6)


@pytest.mark.slow
def test_records_drawn_from_the_original_have_the_pmse_of_the_formula():
    original = people(400, 7)
    ratios, scores = [], []
    for seed in range(60):
        drawn = original.sample(200, with_replacement=True, seed=seed)
        found = propensity(original, drawn, models="logistic", permutations=0)
        ratios.append(found.models["logistic"].analytic.ratio)
        scores.append(found.models["logistic"].analytic.standardised)
    # Means of 60: sqrt(2/5) / sqrt(60) = 0.08 is a standard error of the ratio, and 0.13 of the
    # standardised value, whose own deviation is 1 (give or take 0.09 times a heavy tail).
    assert np.mean(ratios) == pytest.approx(1, abs=0.25)
    assert np.mean(scores) == pytest.approx(0, abs=0.4)
    assert np.std(scores) == pytest.approx(1, abs=0.4)


def test_order_of_rows_and_columns_and_names_of_levels_do_not_count():
    original, synthetic = people(200, 1), people(150, 2, shift=5)
    first = propensity(original, synthetic, permutations=4)
    other = propensity(
        original.sample(fraction=1, shuffle=True, seed=1).select("job", "age", "sex"),
        synthetic.sample(fraction=1, shuffle=True, seed=2),
        permutations=4,
    )
    assert first.to_dict() == other.to_dict()

    def renamed(table):
        return table.with_columns(sex="the " + pl.col("sex"), age=pl.col("age") * 10)

    again = propensity(renamed(original), renamed(synthetic), permutations=4)
    for name, model in again.models.items():
        assert model.pmse == pytest.approx(first.models[name].pmse)
        assert model.permutation.mean == pytest.approx(first.models[name].permutation.mean)


def test_the_tables_change_places():
    one, other = people(200, 1), people(200, 2, shift=5)
    for name in ("cart", "logistic"):
        there = propensity(one, other, models=name, permutations=0).models[name]
        back = propensity(other, one, models=name, permutations=0).models[name]
        assert there.pmse == pytest.approx(back.pmse)


def test_larger_tables_are_compared_by_a_sample():
    one, other = people(900, 1), people(300, 2, shift=5)
    result = propensity(one, other, permutations=2, most_records=400)
    assert (result.used, result.synthetic_used) == (300, 100)
    assert (result.records, result.synthetic_records, result.share) == (900, 300, 0.25)
    assert "400 of the 1,200 records" in result.reasons["records"]
    shuffled = one.sample(fraction=1, shuffle=True, seed=5)
    again = propensity(shuffled, other, permutations=2, most_records=400)
    assert again.to_dict() == result.to_dict()
    few = propensity(one, other.head(1), models="cart", permutations=0, most_records=2)
    assert (few.used, few.synthetic_used) == (1, 1)


def test_gaps_have_an_indicator_and_rare_levels_share_one():
    rows = 120
    table = pl.DataFrame(
        {
            "number": [None if row % 5 == 0 else float(row) for row in range(rows)],
            "name": [f"{row % 60:02}" for row in range(rows)],
            "same": ["x"] * rows,
        }
    )
    result = propensity(table, table, models="logistic", permutations=0)
    # Intercept, the number, its gap, and 49 indicators for 49 frequent names and the rest: the
    # names in 49 columns, each of which occurs four times, tell nothing of the gaps or the rest.
    assert result.models["logistic"].parameters == 1 + 1 + 1 + 49
    assert "all but the 49 most frequent for one" in result.reasons["column name"]
    codes = code_together({"original": table, "synthetic": table}, ["number"])
    shown = Logistic.of(
        codes["original"]["number"].astype(np.int64)[:, None], [codes.levels["number"]]
    )
    gaps = np.arange(rows) % 5 == 0
    assert np.array_equal(shown.features[:, 1], gaps)
    assert shown.features[gaps, 0].tolist() == [0.0] * int(gaps.sum())
    assert shown.features[~gaps, 0].mean() == pytest.approx(0)
    assert shown.features[~gaps, 0].std() == pytest.approx(1)


def test_columns_that_follow_from_others_do_not_count_as_parameters():
    table = people(100, 1)
    twice = table.with_columns(age_again=pl.col("age") * 2 + 1, sex_again=pl.col("sex"))
    one, two = (
        propensity(frame, frame.head(60), models="logistic", permutations=0).models["logistic"]
        for frame in (table, twice)
    )
    assert one.parameters == two.parameters == 6
    assert one.pmse == pytest.approx(two.pmse, rel=1e-4)


def test_infinite_and_huge_numbers_and_levels_of_one_table():
    original = pl.DataFrame({"x": [1e300, -1e300, 3.0, math.inf] * 10, "y": ["a", "b"] * 20})
    synthetic = pl.DataFrame({"x": [1e300, -1e300, 3.0, None] * 10, "y": ["c", "b"] * 20})
    result = propensity(original, synthetic, permutations=2)
    for model in result.models.values():
        # Half of the records have a or c, which tells their table; of those with b, half have an
        # infinite or a missing number, which tells it too. The others are even.
        assert model.pmse == pytest.approx(0.75 / 4, abs=1e-4)
        assert math.isfinite(model.permutation.ratio)


@pytest.mark.parametrize("rows", [1, 30])
def test_nothing_varies(rows):
    table = pl.DataFrame({"a": ["x"] * rows, "b": [1.5] * rows})
    result = propensity(table, table, permutations=3)
    for model in result.models.values():
        assert (model.pmse, model.accuracy, model.auc) == (0.0, 0.5, 0.5)
        assert math.isnan(model.permutation.ratio)
        assert math.isnan(model.permutation.standardised)
    assert math.isnan(result.models["logistic"].analytic.ratio)
    assert set(result.reasons) == {
        "cart.permutation",
        "logistic.permutation",
        "logistic.analytic",
    }


def test_without_shuffles_there_is_no_reference_and_a_reason():
    result = propensity(people(50, 1), people(50, 2), models="cart", permutations=0)
    assert math.isnan(result.models["cart"].permutation.ratio)
    assert "not shuffled" in result.reasons["cart.permutation"]
    assert result.summary().endswith("guessing is right in 50%.")
    once = propensity(people(50, 1), people(50, 2), models="cart", permutations=1)
    assert once.models["cart"].permutation.ratio > 0
    assert math.isnan(once.models["cart"].permutation.standardised)
    assert "shuffled once" in once.reasons["cart.permutation"]


def test_a_null_by_hand():
    null = Null.drawn(6.0, [1.0, 3.0])
    assert (null.mean, null.std) == (2.0, math.sqrt(2))
    assert (null.ratio, null.standardised) == (3.0, pytest.approx(4 / math.sqrt(2)))


def test_the_tree_keeps_its_limits():
    rng = np.random.default_rng(0)
    levels = [Levels(tuple(map(str, range(5000))), np.arange(5000.0), None)]
    codes = np.arange(5000)[:, None]
    probabilities, leaves = Tree.of(codes, levels, 0).fit(rng.random(5000) < 0.5)
    assert leaves == 100
    # Each leaf is a run of numbers with one probability.
    runs = np.diff(np.flatnonzero(np.diff(probabilities, prepend=-1, append=-1)))
    assert runs.min() >= 20


def test_forms_of_the_result():
    result = propensity(people(80, 1), people(80, 2), permutations=2)
    frame = result.to_frame()
    assert frame["model"].to_list() == ["cart", "logistic", "logistic"]
    assert frame["null"].to_list() == ["permutation", "permutation", "analytic"]
    assert frame["ratio"][2] == result.models["logistic"].analytic.ratio
    content = json.loads(json.dumps(result.to_dict()))
    assert content["models"]["cart"]["analytic"] is None
    assert content["columns"] == ["age", "job", "sex"]
    assert str(result) == result.summary()
    assert result.summary().startswith("A decision tree tells which table a record is from in ")
    assert "With the records shuffled between the tables, it is right in" in result.summary()


def test_frames_are_of_the_kind_that_went_in(as_frame):
    frames = [as_frame(people(20, seed).to_dict(as_series=False)) for seed in (1, 2)]
    found = propensity(*frames, models="logistic", permutations=0)
    assert type(found.to_frame()) is type(as_frame({}))
    assert isinstance(found.to_frame(backend="polars"), pl.DataFrame)
    assert "<td>analytic</td>" in found._repr_html_()


def test_a_notebook_shows_each_model_beside_chance():
    found = propensity(people(20, 1), people(20, 2), permutations=1)
    tree, logistic = found.lines()
    assert tree.measure == "A decision tree"
    assert logistic.measure == "A logistic regression"
    cart = found.models["cart"]
    assert (tree.baseline, tree.synthetic) == (cart.permuted_auc, cart.auc)
    assert tree.meaning.startswith("pMSE ")
    shown = found._repr_html_()
    for words in (*found.SERIES.values(), found.AXIS, tree.measure):
        assert f">{words}<" in shown


def test_coded_tables_give_the_same():
    frames = {"original": people(40, 1), "synthetic": people(30, 2)}
    found = propensity(CodedTables.of(frames), permutations=2)
    assert found.to_dict() == propensity(*frames.values(), permutations=2).to_dict()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"models": "logit"}, "models are among cart, logistic; got 'logit'. Did you mean 'logis"),
        ({"models": []}, "models are among cart, logistic"),
        ({"columns": ["agee"]}, "no column 'agee'. Did you mean 'age'"),
        ({"columns": []}, "no column to compare"),
        ({"columns": ["age", "age"]}, "'age' is named twice"),
        ({"permutations": -1}, "permutations must be a whole number from 0; got -1"),
        ({"most_records": 1}, "most_records must be a whole number from 2; got 1"),
        ({"random_state": "one"}, "random_state must be a whole number"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ParameterError, match=message):
        propensity(people(20, 1), people(20, 2), **arguments)


def test_tables_that_cannot_be_compared():
    table = people(20, 1)
    with pytest.raises(DataError, match="synthetic table has no rows"):
        propensity(table, table.head(0))
    with pytest.raises(ParameterError, match="synthetic table has no column 'job'"):
        propensity(table, table.drop("job"))
    many = pl.DataFrame({name: [f"{row}" for row in range(40)] for name in "abc"})
    with pytest.raises(ParameterError, match="interactions the logistic regression has 4,680 par"):
        propensity(many, many, interactions=True)


def test_scikit_learn_is_imported_late():
    code = "import sys, understudy.utility.propensity, understudy.utility.prediction\n"
    code += "assert not {'sklearn', 'scipy', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
