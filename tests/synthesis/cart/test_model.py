"""CART: its density by slow twins, what it keeps of each kind of column, figures of papers."""

from __future__ import annotations

import datetime as dt
import logging
from itertools import product

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2_contingency, chisquare

from understudy import Schema, Synthesizer, load
from understudy.data.coded import Coded
from understudy.errors import ParameterError
from understudy.showing import showing_records
from understudy.synthesis.cart import Cart
from understudy.synthesis.sampler import ENDED

seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def survey():
    return load("cmc")


def words(rng, letters, rows):
    return rng.choice(list(letters), rows)


def mixed(seed=0, rows=400):
    """Return a table with a column of each kind; numbers have gaps and a special value."""
    rng = np.random.default_rng(seed)
    region = words(rng, "abcde", rows)
    income = np.round(rng.gamma(2, 400, rows), 2)
    income[rng.random(rows) < 0.25] = -8.0
    days = rng.integers(0, 2000, rows)
    start = dt.datetime(2020, 1, 1, 8, 30)  # noqa: DTZ001
    return pl.DataFrame(
        {
            "region": region,
            "age": rng.integers(18, 90, rows) + 3 * (region == "a"),
            "income": pl.Series(income).set(pl.Series(rng.random(rows) < 0.15), None),
            "member": pl.Series(rng.random(rows) < 0.3).set(
                pl.Series(rng.random(rows) < 0.1), None
            ),
            "born": [dt.date(1970, 1, 1) + dt.timedelta(int(day)) for day in days],
            "seen": [start + dt.timedelta(minutes=15 * int(day)) for day in days],
            "height": pl.Series(np.round(rng.normal(170, 9, rows), 1), dtype=pl.Float32),
        }
    )


def all_records(model):
    """Return every combination of the model's codes."""
    names, sizes = model.codec_.names, model.codec_.cardinalities
    records = np.array(list(product(*map(range, sizes))))
    return Coded.from_arrays(
        dict(zip(names, records.T, strict=True)), dict(zip(names, sizes, strict=True))
    )


def share(probability, rows):
    """Return how far a share of so many rows may be from its probability: 5 standard errors."""
    return 5 * np.sqrt(probability * (1 - probability) / rows) + 1e-12


# The density


def slow_probability(model, record, places):
    """Return the probability of one coded record by walking each tree in Python."""
    (sequence,) = model.sequences_
    total = 1.0
    for column in sequence.columns:
        feature = column.feature
        code = record[feature.name]
        kind = int(feature.kind_of(np.array([code]))[0]) if column.kind else None
        wanted = [(column.kind, kind)] if column.kind else []
        if column.kind is None or kind == feature.special:
            wanted.append((column.value, code))
        for leaf_model, outcome in wanted:
            tree, node = leaf_model.tree, 0
            while tree.feature[node] >= 0:
                other = int(tree.feature[node])
                place = int(places[other])
                place = int(tree.orders[other][place]) if other in tree.orders else place
                node = int(tree.children[node, int(place > tree.threshold[node])])
            leaf = int(np.count_nonzero(tree.feature[:node] < 0))
            if leaf_model.shrinkage is None:
                total *= float(np.mean(leaf_donors(leaf_model, leaf) == outcome))
            else:
                total *= slow_smoothed(leaf_model, leaf, outcome)
    return total


def leaf_donors(leaf_model, leaf):
    start = int(leaf_model.leaf_sizes[:leaf].sum())
    return leaf_model.table.donors[start : start + int(leaf_model.leaf_sizes[leaf])]


def slow_smoothed(leaf_model, leaf, outcome):
    """Return the probability of an outcome: that of all records, drawn to those of its leaf."""
    ways = leaf_model.paths.T.tolist()
    share = leaf_model.shrinkage.base[outcome]
    for depth, strength in enumerate(leaf_model.shrinkage.strengths):
        if ENDED in ways[leaf][:depth]:
            break
        near = [n for n, way in enumerate(ways) if way[:depth] == ways[leaf][:depth]]
        donors = np.concatenate([leaf_donors(leaf_model, n) for n in near])
        share = (np.count_nonzero(donors == outcome) + strength * share) / (len(donors) + strength)
    return share


@pytest.mark.parametrize("smoothing", [0, 3.0, "auto"])
@pytest.mark.parametrize("table", ["cmc", "mixed"])
def test_the_density_is_that_of_walking_the_trees(table, smoothing):
    frame = load("cmc") if table == "cmc" else mixed()
    model = Cart(minbucket=8, smoothing_leaves=smoothing).fit(frame)
    coded = Coded.concatenate([model.codec_.encode(frame), model.sample_coded(300, 1)])
    (sequence,) = model.sequences_
    some = coded.take(np.arange(0, len(coded), 97 if smoothing else 7))
    places = [
        feature.places(codes)
        for feature, codes in zip(sequence.features, some.columns, strict=True)
    ]
    wanted = [
        slow_probability(
            model,
            {name: int(some[name][row]) for name in some.names},
            [own[row] for own in places],
        )
        for row in range(len(some))
    ]
    np.testing.assert_allclose(model.log_likelihood(some), np.log(wanted), rtol=1e-10)


@st.composite
def small_tables(draw):
    """Return a table of few combinations, with gaps and special values, and its schema."""
    rng = np.random.default_rng(draw(seeds))
    rows = draw(st.sampled_from([1, 2, 7, 30, 90]))
    letters = words(rng, "xyz", rows)
    number = (rng.integers(0, 4, rows) * (1 + (letters == "x"))).astype(float)
    number[rng.random(rows) < 0.3] = -8.0
    gaps = pl.Series(rng.random(rows) < draw(st.sampled_from([0, 0.3])))
    frame = pl.DataFrame(
        {
            "c": pl.Series(letters).set(gaps, None),
            "x": pl.Series(number).set(gaps.reverse(), None),
            "flag": rng.random(rows) < 0.4,
            "n": rng.integers(1, 4, rows),
        }
    )
    inferred = Schema.infer(frame)
    if inferred["x"].kind in ("integer", "real") and rows > 1:
        inferred = inferred.edit("x", levels=(), special=(-8,), range=None)
    return frame, inferred


@given(
    table=small_tables(),
    minbucket=st.sampled_from([1, 3]),
    setting=st.sampled_from(
        [
            {},
            {"strata": "flag"},
            {"strata": ["flag", "n"]},
            {"visit_sequence": ["n", "x"]},
            {"protect": {"n": "c"}},
            {"rules": ["if flag == true then n = {n}", "if c == 'z' then n = {n}"]},
            {"rules": ["if n == {n} then flag = false"], "visit_sequence": ["n"]},
            {"proper": True, "random_state": 3},
            {"strata": "n", "rules": ["if c == 'x' then flag = false"]},
        ]
    ),
    smoothing=st.sampled_from([0, 0.1, 20, "auto", {"x": 0, "c": 2.0}]),
)
def test_the_density_sums_to_one(table, minbucket, setting, smoothing):
    frame, schema = table
    setting = {**setting, "smoothing_leaves": smoothing}
    if "rules" in setting:
        setting["rules"] = [rule.format(n=frame["n"][0]) for rule in setting["rules"]]
    logging.getLogger("understudy").setLevel(logging.ERROR)
    try:
        model = Cart(minbucket=minbucket, **setting).fit(frame, schema)
    except ParameterError as error:
        assert "fewer than minbucket" in str(error)  # noqa: PT017  # small strata are refused
        return
    finally:
        logging.getLogger("understudy").setLevel(logging.NOTSET)
    records = all_records(model)
    probability = np.exp(model.log_likelihood(records))
    assert probability.sum() == pytest.approx(1)
    drawn = model.sample_coded(300, 5)
    assert np.isfinite(model.log_likelihood(drawn)).all()


@settings(max_examples=15)
@given(
    table=small_tables(), strata=st.sampled_from([None, "flag"]), smoothing=st.sampled_from([0, 2])
)
def test_with_kept_columns_the_density_is_conditional(table, strata, smoothing):
    frame, schema = table
    settings = {"keep": ["flag", "n"], "strata": strata, "smoothing_leaves": smoothing}
    model = Cart(1, **settings).fit(frame, schema)
    records = all_records(model)
    probability = np.exp(model.log_likelihood(records))
    kept = pl.DataFrame({"flag": records["flag"], "n": records["n"], "p": probability})
    sums = kept.group_by("flag", "n").agg(pl.col("p").sum())["p"].to_numpy()
    if strata is None:
        np.testing.assert_allclose(sums, 1)
    else:  # a stratum that does not occur has no trees
        assert np.allclose(sums[sums > 0], 1)
        assert (sums > 0).any()


@pytest.mark.parametrize("smoothing", [0, 6, "auto"])
def test_shares_of_a_large_sample_are_the_density(smoothing):
    frame = pl.DataFrame(
        {
            "c": words(np.random.default_rng(1), "abc", 200),
            "x": np.random.default_rng(2).integers(0, 3, 200),
        }
    ).with_columns(y=pl.col("c") + pl.col("x").cast(pl.String).str.slice(0, 1).replace("2", "1"))
    model = Cart(smoothing_leaves=smoothing, random_state=0).fit(frame)
    records = all_records(model)
    expected = np.exp(model.log_likelihood(records))
    drawn = model.sample_coded(100_000)
    sizes = records.cardinalities
    counts = np.bincount(np.ravel_multi_index(drawn.columns, sizes), minlength=int(np.prod(sizes)))
    assert (counts[expected == 0] == 0).all()
    possible = expected > 0
    assert chisquare(counts[possible], 100_000 * expected[possible]).pvalue > 0.001


def test_records_that_cannot_be_drawn():
    frame = pl.DataFrame({"c": ["a", "b"] * 20, "x": [1, 2] * 20, "y": list(range(40))})
    schema = Schema.infer(frame).edit("y", kind="integer", role="ordinary")
    model = Cart(smoothing_leaves=0).fit(frame, schema)
    other = pl.DataFrame({"c": ["a", "a", "b", "a"], "x": [1, 2, 2, 1], "y": [0, 0, 1, 99]})
    found = np.exp(model.log_likelihood(other))
    # a and 1 are half of the records. The tree for y, where no other value is possible, is not
    # split further than minbucket and cp say; 2 is not in the leaf of a, and 99 in none.
    assert found[1] == found[3] == 0
    assert 0 < found[0] <= 0.5 * 0.2
    assert found[2] > 0
    # Smoothed leaves can draw whatever the columns can hold.
    found = np.exp(Cart(smoothing_leaves="auto").fit(frame, schema).log_likelihood(other))
    assert (found > 0).tolist() == [True, True, True, False]


def test_smoothed_leaves_by_hand():
    # Twenty records: s = p or q, half of them each; y is u for all p, and v for all q but one.
    frame = pl.DataFrame({"s": ["p"] * 10 + ["q"] * 10, "y": ["u"] * 10 + ["v"] * 9 + ["u"]})
    model = Cart(smoothing_leaves=5).fit(frame)
    assert [tree.leaves for tree in model.trees()] == [1, 2]
    # s is drawn to one half, which it is. Of all y, (11 + 5 * 1/2) / 25 = 0.54 are u; of those with
    # p, (10 + 5 * 0.54) / 15, and of those with q, (1 + 5 * 0.54) / 15.
    people = pl.DataFrame({"s": ["p", "p", "q", "q"], "y": ["u", "v", "u", "v"]})
    wanted = [12.7 / 15, 2.3 / 15, 3.7 / 15, 11.3 / 15]
    np.testing.assert_allclose(np.exp(model.log_likelihood(people)), np.array(wanted) / 2)
    *_, summary = model.trees()
    assert summary.strengths == (5.0, 5.0)
    assert summary.own_share == pytest.approx(10 / 15)


def test_no_smoothing_of_leaves_is_the_limit_of_little(survey):
    little, none = (Cart(smoothing_leaves=a, minbucket=20).fit(survey) for a in (1e-9, 0))
    seen = none.log_likelihood(survey)
    np.testing.assert_allclose(little.log_likelihood(survey), seen, atol=1e-6)


def test_much_smoothing_draws_columns_alone(survey):
    model = Cart(smoothing_leaves={"age": 1e-9, "*": 1e12}, minbucket=20).fit(survey)
    drawn = model.sample(20_000, random_state=1)
    # Worth so many records, equally likely codes decide.
    assert drawn["religion"].mean() == pytest.approx(0.5, abs=share(0.5, 20_000))
    auto = Cart(smoothing_leaves="auto", random_state=1).fit(survey)
    assert auto.sample(20_000)["religion"].mean() == pytest.approx(
        survey["religion"].mean(), abs=0.02
    )


def test_left_out_records_describe_others_better(survey):
    # The half that was not learnt from is far more probable with smoothed leaves.
    halves = survey.sample(fraction=1, shuffle=True, seed=1)
    whole = Cart(smoothing_leaves="auto").fit(survey)
    first, second = (whole.codec_.encode(part) for part in (halves[:736], halves[736:]))
    found = whole.refit(first).log_likelihood(second)
    assert np.isfinite(found).all()
    bare = Cart(smoothing_leaves=0).fit(survey).refit(first).log_likelihood(second)
    assert np.isneginf(bare).mean() > 0.4
    stumps = Cart(smoothing_leaves="auto", cp=1).fit(survey).refit(first)
    assert found.mean() > stumps.log_likelihood(second).mean() + 0.3


# Draws


def test_the_first_column_has_its_marginal(survey):
    model = Cart(smoothing_leaves=0, random_state=0).fit(survey)
    drawn = model.sample(60_000)["age"].value_counts().sort("age")
    original = survey["age"].value_counts().sort("age")
    assert drawn["age"].equals(original["age"])
    expected = original["count"].to_numpy() * 60_000 / survey.height
    assert chisquare(drawn["count"].to_numpy(), expected).pvalue > 0.001


@pytest.mark.parametrize("minbucket", [1, 5, 40])
def test_no_leaf_is_smaller_than_minbucket(survey, minbucket):
    trees = Cart(minbucket).fit(survey).trees()
    assert min(tree.smallest_leaf for tree in trees) >= minbucket
    assert max(tree.leaves for tree in trees) > 5


def test_settings_count_for_their_columns(survey):
    def leaves(**given_settings):
        return {tree.column: tree for tree in Cart(**given_settings).fit(survey).trees()}

    usual = leaves()
    large = leaves(minbucket={"children": 300, "*": 5})
    assert large["children"].smallest_leaf >= 300
    assert all(large[name] == usual[name] for name in usual if name != "children")
    others = leaves(minbucket={"children": 5, "*": 300})
    assert others["children"] == usual["children"]
    assert min(others[name].smallest_leaf for name in usual if name != "children") >= 300
    stump = leaves(cp={"method": 1.0})
    assert (stump["method"].leaves, stump["method"].depth) == (1, 0)
    assert stump["children"] == usual["children"]
    assert all(tree.leaves == 1 for tree in leaves(cp=1.0).values())


def test_a_table_smaller_than_minbucket_is_one_leaf_each():
    model = Cart(minbucket=50, random_state=0).fit(pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}))
    assert [tree.leaves for tree in model.trees()] == [1, 1]
    # Each of the four combinations has probability 1/4, though only two occur.
    assert np.exp(model.log_likelihood(all_records(model))).tolist() == pytest.approx([0.25] * 4)


def test_trees_do_not_depend_on_the_seed(survey):
    one, other = (Cart(random_state=seed).fit(survey) for seed in (1, 2))
    assert one.trees() == other.trees()
    np.testing.assert_array_equal(one.log_likelihood(survey), other.log_likelihood(survey))
    proper = [Cart(proper=True, random_state=seed).fit(survey) for seed in (1, 2)]
    assert proper[0].trees() != proper[1].trees()


# Kinds of columns


@pytest.mark.parametrize("smoothing", [None, "interpolate", "density"])
def test_each_kind_of_column_is_kept(smoothing):
    frame = mixed()
    wanted = None if smoothing is None else dict.fromkeys(("income", "born", "height"), smoothing)
    model = Cart(smoothing=wanted, random_state=1).fit(frame)
    rows = 20_000
    drawn = model.sample(rows)
    assert drawn.schema == frame.schema
    for name in frame.columns:
        missing = frame[name].null_count() / frame.height
        assert drawn[name].null_count() / rows == pytest.approx(missing, abs=share(missing, rows))
        if smoothing is None or name not in wanted:
            assert set(drawn[name].unique()) <= set(frame[name].unique())
    special = (frame["income"] == -8).sum() / frame.height
    assert (drawn["income"] == -8).sum() / rows == pytest.approx(special, abs=share(special, rows))
    ordinary = frame["income"].drop_nulls().filter(frame["income"].drop_nulls() != -8)
    moved = drawn["income"].drop_nulls().filter(drawn["income"].drop_nulls() != -8)
    assert ordinary.min() <= moved.min() <= moved.max() <= ordinary.max()
    assert moved.equals(moved.round(2))
    if smoothing is None:
        assert model.codec_.schema["income"].special == (-8.0,)
    else:
        assert moved.is_in(ordinary).mean() < 0.5
        assert drawn["height"].equals(drawn["height"].round(1))
        assert frame["born"].min() <= drawn["born"].min() <= drawn["born"].max()
        assert drawn["born"].max() <= frame["born"].max()
        assert drawn["born"].n_unique() > 1.5 * frame["born"].n_unique()


def test_what_goes_with_gaps_and_special_values_is_kept():
    # Incomes miss for the young, are -8 for the old; ordinary ones grow with age.
    rng = np.random.default_rng(0)
    age = rng.integers(15, 90, 1500)
    income = np.select([age < 18, age > 70], [np.nan, -8.0], np.round(100.0 * age, 1))
    frame = pl.DataFrame({"age": age, "income": income}).with_columns(
        pl.col("income").fill_nan(None)
    )
    drawn = Cart(smoothing_leaves=0, random_state=0).fit(frame).sample(5000)
    assert drawn.filter(pl.col("age") < 18)["income"].is_null().all()
    assert (drawn.filter(pl.col("age") > 70)["income"] == -8).all()
    rest = drawn.filter(pl.col("age").is_between(18, 70))
    assert (rest["income"] / 100 - rest["age"]).abs().max() < 5


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"a": [1]}),
        pl.DataFrame({"a": ["x"], "b": [2.5], "c": [None]}),
        pl.DataFrame({"a": [1, 2], "b": ["x", "x"]}),
        pl.DataFrame({"a": [1, 2, 2] * 20}),
        pl.DataFrame({"a": ["x"] * 40, "b": [1.5] * 40, "c": [True] * 40, "d": [0, 1] * 20}),
        pl.DataFrame(
            {
                "gap": pl.Series([None] * 40, dtype=pl.Float64),
                "word": pl.Series([None] * 40, dtype=pl.String),
                "day": pl.Series([None] * 40, dtype=pl.Date),
                "x": [1, 2] * 20,
            }
        ),
    ],
    ids=["one cell", "one row", "two rows", "one column", "constants", "gaps"],
)
def test_trivial_tables(frame, tmp_path):
    for setting in ({}, {"proper": True}, {"minbucket": 1}):
        model = Cart(**setting, random_state=0).fit(frame)
        drawn = model.sample(50)
        assert drawn.schema == frame.schema
        for name in frame.columns:
            assert set(drawn[name]) <= set(frame[name])
        loaded = Synthesizer.load(model.save(tmp_path / "m.us", overwrite=True))
        assert loaded.sample(50).equals(drawn)
        if not model.proper:
            assert np.isfinite(model.log_likelihood(frame)).all()


def test_identifiers_are_made_up():
    frame = mixed(rows=60).with_columns(id=pl.Series([f"person {n}" for n in range(60)]))
    model = Cart(random_state=0).fit(frame)
    made = model.sample(300)["id"]
    assert made.str.contains(r"^person \d+$").all()
    assert made.n_unique() == 300
    assert not set(made) & set(frame["id"])
    assert "id" not in {tree.column for tree in model.trees()}


def test_hundreds_of_categories_are_predicted_and_predict():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 300, 6000)
    group = rng.permutation(300)[codes] % 3
    frame = pl.DataFrame({"town": [f"t{code}" for code in codes], "area": group.astype(str)})
    model = Cart(smoothing_leaves=0, random_state=0).fit(frame)
    assert {tree.column: tree.leaves for tree in model.trees()} == {"town": 1, "area": 3}
    area_of = dict(zip(frame["town"], frame["area"], strict=True))
    drawn = model.sample(2000)
    assert all(area_of[town] == area for town, area in drawn.iter_rows())
    back = Cart(visit_sequence=["area"], smoothing_leaves=0, random_state=0).fit(frame).sample(2000)
    assert all(area_of[town] == area for town, area in back.iter_rows())


def test_more_rows_than_one_block():
    rng = np.random.default_rng(0)
    x = rng.permutation(70_000)
    frame = pl.DataFrame({"x": x / 10, "y": np.where(x % 50 == 0, None, x // 7000).astype(float)})
    model = Cart(minbucket=200, smoothing_leaves=0, random_state=0, keep=["x"]).fit(frame)
    drawn = model.sample()
    assert drawn["x"].equals(frame["x"])
    assert drawn["y"].drop_nulls().is_in(frame["y"].unique()).all()
    known = drawn.drop_nulls()
    # Seven thousand numbers share a y, and a leaf has records of two at most.
    assert ((known["x"] / 700).floor() - known["y"]).abs().max() <= 1
    found = model.log_likelihood(frame)
    assert len(found) == 70_000
    assert np.isfinite(found).all()


# Predictors and protection


def test_trees_use_what_they_may(survey):
    names = survey.columns
    model = Cart(predictors={"children": ["age"], "method": []}).fit(survey)
    uses = {tree.column: set(tree.uses) for tree in model.trees()}
    assert uses["children"] == {"age"}
    assert uses["method"] == set()
    assert len(uses["working"]) > 1
    matrix = np.zeros((len(names), len(names)), int)
    matrix[names.index("children"), names.index("age")] = 1
    uses = {tree.column: set(tree.uses) for tree in Cart(predictors=matrix).fit(survey).trees()}
    assert {name for name, used in uses.items() if used} == {"children"}


def test_the_visit_sequence_decides_what_predicts_what(survey):
    model = Cart(visit_sequence=["method", "children"]).fit(survey)
    summary = model.trees()
    assert [tree.column for tree in summary][:3] == ["method", "children", "age"]
    assert set(summary[1].uses) == {"method"}
    assert set(summary[2].uses) == {"method", "children"}
    assert model.sample(5, random_state=0).columns == survey.columns


@pytest.mark.parametrize("target", ["children", None])
def test_a_protected_column_depends_on_its_target_alone(survey, target):
    model = Cart(protect={"method": target}, random_state=0).fit(survey)
    for tree in model.trees():
        assert "method" not in tree.uses
        if tree.column == "method":
            assert set(tree.uses) == ({target} if target else set())
    drawn = model.sample(60_000)
    # Given its target, or without one by itself, it is independent of each other column.
    values = [None] if target is None else [0, 1, 2, 3]
    pvalues = []
    for other in ("education", "religion", "living_standard", "media_exposure"):
        for value in values:
            part = drawn if value is None else drawn.filter(pl.col("children") == value)
            counts = part.pivot(other, index="method", values="age", aggregate_function="len")
            counts = counts.drop("method").fill_null(0).to_numpy()
            pvalues.append(chi2_contingency(counts).pvalue)
    assert min(pvalues) > 0.001 / len(pvalues)
    # In the original it depends on them: the test would see it.
    counts = survey.pivot("education", index="method", values="age", aggregate_function="len")
    assert chi2_contingency(counts.drop("method").fill_null(0).to_numpy()).pvalue < 1e-6


def test_the_density_of_a_protected_column_factors(survey):
    names = ["age", "education", "children", "method"]
    model = Cart(protect={"method": "children"}).fit(survey.select(names))
    one, other = survey.select(names)[:200], survey.select(names)[200:400]
    # Swapping the sensitive values of two records with the same target changes nothing in total.
    both = one.with_columns(other["method"], children=pl.lit(2, pl.Int64))
    back = other.with_columns(one["method"], children=pl.lit(2, pl.Int64))
    here = one.with_columns(children=pl.lit(2, pl.Int64))
    there = other.with_columns(children=pl.lit(2, pl.Int64))
    swapped = model.log_likelihood(both) + model.log_likelihood(back)
    straight = model.log_likelihood(here) + model.log_likelihood(there)
    possible = np.isfinite(swapped) & np.isfinite(straight)
    assert possible.sum() > 100
    np.testing.assert_allclose(swapped[possible], straight[possible])


def test_few_predictors_are_the_most_telling(survey, tmp_path):
    rng = np.random.default_rng(0)
    noise = {f"n{place}": rng.integers(0, 9, 800) for place in range(6)}
    frame = pl.DataFrame({**noise, "x": rng.integers(0, 50, 800)}).with_columns(
        y=pl.col("x") // 5, z=pl.col("n3") * 2
    )
    model = Cart(max_predictors=1).fit(frame, Schema.infer(frame, dependencies=False))
    uses = {tree.column: set(tree.uses) for tree in model.trees()}
    assert uses["y"] == {"x"}
    assert uses["z"] == {"n3"}
    assert max(map(len, uses.values())) == 1
    loaded = Synthesizer.load(model.save(tmp_path / "m.us"))
    assert loaded.plan_ == model.plan_


# Strata, kept columns, proper synthesis


def test_strata_have_their_marginal_and_trees_of_their_own():
    # In the two strata the same y goes with opposite x.
    rng = np.random.default_rng(0)
    part, y = words(rng, "ppq", 900), rng.integers(0, 2, 900)
    frame = pl.DataFrame({"y": y, "x": np.where(part == "p", y, 1 - y), "part": part})
    model = Cart(strata="part", smoothing_leaves=0, random_state=0).fit(frame)
    assert [tree.stratum for tree in model.trees()] == ["part = p"] * 2 + ["part = q"] * 2
    drawn = model.sample(30_000)
    assert drawn.columns == frame.columns
    assert ((drawn["y"] == drawn["x"]) == (drawn["part"] == "p")).all()
    p = (part == "p").mean()
    assert (drawn["part"] == "p").mean() == pytest.approx(p, abs=share(p, 30_000))
    assert sum(model.strata_.counts) == 900
    # Each tree was grown on the records of its part.
    sizes = [sequence.columns[0].value.leaf_sizes.sum() for sequence in model.sequences_]
    assert sizes == [(part == "p").sum(), (part == "q").sum()]


def test_a_stratum_that_did_not_occur_cannot_be_drawn():
    frame = pl.DataFrame({"a": ["x", "x", "y"] * 20, "b": [1, 1, 2] * 20, "c": [0, 1, 0] * 20})
    model = Cart(strata=["a", "b"], smoothing_leaves=0).fit(frame)
    other = pl.DataFrame({"a": ["x", "y"], "b": [2, 2], "c": [0, 0]})
    assert np.exp(model.log_likelihood(other)).tolist() == pytest.approx([0, 1 / 3])


@showing_records()
def test_strata_that_are_too_small_are_refused():
    frame = pl.DataFrame({"a": ["x"] * 50 + ["y"] * 4, "b": [1, 2] * 27})
    with pytest.raises(ParameterError, match=r"1 of 2 parts have fewer than minbucket = 5 .*a = y"):
        Cart(strata="a").fit(frame)
    with pytest.raises(ParameterError, match=r"minbucket = 20 "):
        Cart(strata="a", minbucket={"b": 20, "*": 2}).fit(frame)
    assert len(Cart(strata="a", minbucket=4).fit(frame).strata_) == 2
    constant = frame.with_columns(a=pl.lit("x"))
    assert Cart(60, strata="a").fit(constant).sample(5)["a"].to_list() == ["x"] * 5


@pytest.mark.parametrize("strata", [None, "region"])
def test_kept_columns_are_those_of_the_original_row_by_row(strata):
    frame = mixed()
    keep = ["region", "income", "born"]
    model = Cart(keep=keep, strata=strata, smoothing="density", random_state=0).fit(frame)
    for drawn in model.sample(copies=2):
        assert drawn.select(keep).equals(frame.select(keep))
        assert not drawn["age"].equals(frame["age"])
    assert model.sample(400).height == 400
    assert {tree.column for tree in model.trees()}.isdisjoint(keep)
    with pytest.raises(ParameterError, match=r"n: 'region'.* of all 400 records stay.*got 10"):
        model.sample(10)
    with pytest.raises(ParameterError, match="has as many records; got 401"):
        model.sample_coded(401)


def test_drawn_columns_follow_the_kept_ones():
    frame = pl.DataFrame({"x": [1, 2, 3] * 40, "y": ["a", "b", "c"] * 40})
    assert Cart(keep=["y"], smoothing_leaves=0).fit(frame).sample(random_state=0).equals(frame)
    assert (Cart(keep="y", smoothing_leaves=0).fit(frame).log_likelihood(frame) == 0).all()


def test_the_strata_of_kept_columns_are_not_drawn():
    frame = pl.DataFrame({"y": ["a", "b", "b"] * 40, "x": [1, 2, 2] * 40})
    model = Cart(keep="y", strata="y", smoothing_leaves=0).fit(frame)
    assert model.sample(random_state=0).equals(frame)
    assert (model.log_likelihood(frame) == 0).all()


def test_proper_copies_come_from_samples_of_their_own(survey, tmp_path):
    frame = survey.select("age", "education", "children")
    model = Cart(proper=True, minbucket=30, random_state=4).fit(frame)
    trees = [model._trees_of(copy) for copy in range(3)]
    # Each sample has as many records as the original, in other shares.
    original = np.bincount(model.codec_.encode(frame)["education"])
    found = [np.bincount(one[0].columns[1].value.table.donors) for one in trees]
    assert [counts.sum() for counts in found] == [survey.height] * 3
    assert len({tuple(counts.tolist()) for counts in [original, *found]}) == 4
    copies = model.sample(copies=3)
    loaded = Synthesizer.load(model.save(tmp_path / "m.us"))
    for one, other in zip(copies, loaded.sample(copies=3), strict=True):
        assert one.equals(other)
    # A later copy is the same by itself.
    alone = loaded.sample_to(tmp_path / "third.parquet", copy=2)
    assert pl.read_parquet(alone).equals(copies[2])


def test_proper_copies_vary_more_between_copies():
    # The share of x is that of the bootstrap sample, with a variance of p (1 - p) / n on top.
    frame = pl.DataFrame({"x": [1, 0, 0, 0] * 25})
    ones = [
        np.var(
            [
                copy["x"].mean()
                for copy in Cart(proper=proper, random_state=0).fit(frame).sample(2000, copies=150)
            ]
        )
        for proper in (False, True)
    ]
    assert ones[0] == pytest.approx(0.75 * 0.25 / 2000, rel=0.5)
    assert ones[1] == pytest.approx(0.75 * 0.25 * (1 / 100 + 1 / 2000), rel=0.5)


# Rules


def ruled(rows=600):
    """Return a table in which children do not work, but for six of them."""
    rng = np.random.default_rng(0)
    age = rng.integers(5, 80, rows)
    hours = np.where(age < 16, 0, rng.integers(1, 50, rows))
    few = np.flatnonzero(age < 16)[:6]
    hours[few] = 8
    pay = pl.Series(np.round(hours * rng.uniform(9, 30, rows), 2))
    return pl.DataFrame({"age": age, "hours": hours, "pay": pay.set(pl.Series(hours == 0), None)})


RULES = ["if age < 16 then hours = 0", "if hours == 0 then pay = missing"]


def test_rules_hold_are_left_out_of_the_fit_and_broken_ones_counted(caplog):
    frame = ruled()
    covered = frame.filter(pl.col("age") < 16).height
    model = Cart(rules=RULES, smoothing_leaves=0, random_state=0).fit(frame)
    assert model.violations_ == {RULES[0]: 6, RULES[1]: 0}
    assert f"6 of the {covered} original records that this rule covers" in caplog.text
    assert RULES[0] in caplog.text
    assert RULES[1] not in caplog.text
    drawn = model.sample(5000)
    assert (drawn.filter(pl.col("age") < 16)["hours"] == 0).all()
    assert drawn.filter(pl.col("hours") == 0)["pay"].is_null().all()
    assert drawn.filter(pl.col("hours") > 0)["pay"].is_null().sum() == 0
    (sequence,) = model.sequences_
    assert sequence.columns[1].value.leaf_sizes.sum() == frame.height - covered
    # The six that break it have no place in the density, and all others do.
    found = model.log_likelihood(frame)
    broken = (frame["age"] < 16) & (frame["hours"] > 0)
    np.testing.assert_array_equal(np.isneginf(found), broken.to_numpy())


def test_a_rule_that_covers_nothing_is_pointed_out(caplog):
    model = Cart(rules=["if age > 100 then hours = 0"]).fit(ruled())
    assert "This rule covers no original record: if age > 100 then hours = 0" in caplog.text
    assert model.violations_ == {"if age > 100 then hours = 0": 0}


def test_a_rule_that_covers_all_records():
    frame = pl.DataFrame({"a": [1, 2] * 20, "b": [0] * 40})
    drawn = Cart(rules=["if a > 0 then b = 0"], random_state=0).fit(frame).sample()
    assert (drawn["b"] == 0).all()


def test_rules_about_kept_columns_and_strata():
    frame = ruled().with_columns(
        young=pl.when(pl.col("age") < 16).then(pl.lit("y")).otherwise(pl.lit("n"))
    )
    for setting in ({"keep": ["young"]}, {"strata": ["young"]}):
        model = Cart(rules=["if young == 'y' then hours = 0"], random_state=0, **setting).fit(frame)
        drawn = model.sample()
        assert (drawn.filter(pl.col("young") == "y")["hours"] == 0).all()
        assert drawn.filter(pl.col("young") == "y").height > 20


def test_an_expression_is_a_rule_but_cannot_be_saved(tmp_path):
    frame = ruled()
    model = Cart(rules={"hours": (nw.col("age") < 16, 0)}, random_state=0).fit(frame)
    assert list(model.violations_.values()) == [6]
    as_text = Cart(rules=RULES[:1], random_state=0).fit(frame)
    assert model.sample().equals(as_text.sample())
    with pytest.raises(ParameterError, match="cannot be saved"):
        model.save(tmp_path / "m.us")
    assert not (tmp_path / "m.us").exists()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"rules": ["if age < 16 then hours = 99"]}, "'hours' has no value 99 in the original"),
        ({"rules": ["if ages < 16 then hours = 0"]}, "Did you mean 'age'"),
        ({"smoothing": {"word": "density"}}, "smoothing: 'word' holds no numbers"),
        ({"smoothing": {"nobody": "density"}}, "smoothing: .*'nobody'"),
        ({"max_predictors": 0}, "max_predictors must be a whole number from 1"),
        ({"proper": "yes"}, "proper must be true or false; got 'yes'"),
        ({"minbucket": 0}, "minbucket must be a whole number from 1"),
        ({"cp": -1}, "cp must be a share of at least 0"),
    ],
)
def test_settings_that_cannot_be_used(setting, message):
    frame = ruled().with_columns(word=pl.lit("a"))
    with pytest.raises(ParameterError, match=message):
        Cart(**setting).fit(frame)


def test_smoothing_of_all_columns_leaves_categories_alone():
    frame = mixed()
    drawn = Cart(smoothing="density", random_state=0).fit(frame).sample()
    assert set(drawn["region"]) <= set(frame["region"])
    others = Cart(smoothing={"age": None, "*": "interpolate"}, random_state=0).fit(frame).sample()
    assert set(others["age"]) <= set(frame["age"])
    assert not set(others["income"]) <= set(frame["income"])


def test_levels_that_are_not_known_cannot_be_drawn():
    model = Cart().fit(ruled().with_columns(word=pl.lit("a")))
    other = ruled().with_columns(word=pl.Series(["a", "b"] * (ruled().height // 2)))
    found = model.log_likelihood(other)
    assert np.isneginf(found[1::2]).all()
    assert np.isfinite(found[::2]).any()


def test_a_rule_on_a_later_column_is_refused_before_anything_is_drawn():
    frame = ruled()
    later = frame.columns[-1]
    with pytest.raises(ParameterError, match=later):
        Cart(rules=[(frame.columns[0], nw.col(later) == frame[later][0], frame[0, 0])]).fit(frame)


def test_outcomes_with_very_many_levels():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3000, 20_000)
    frame = pl.DataFrame({"x": x.astype(float) + rng.random(20_000), "word": x.astype(str)})
    model = Cart(random_state=0).fit(frame)
    drawn = model.sample(2000)
    # Splits are by the frequent levels and the rest, but all levels are drawn, from their leaves.
    assert drawn["word"].n_unique() > 500
    assert set(drawn["word"]) <= set(frame["word"])


# Invariants


def without_ties(seed, rows=300):
    """Return a table in which no two splits are equally good, but by a rare chance."""
    rng = np.random.default_rng(seed)
    c = rng.integers(0, 5, rows)
    x = rng.normal(size=rows) + c
    y = x * rng.choice([0.5, 2, -1], 5)[c] + rng.normal(size=rows)
    return pl.DataFrame({"c": c.astype(str), "x": x, "y": y, "z": (y + x > 2).astype(int)})


@settings(max_examples=15)
@given(seeds)
def test_the_order_of_rows_does_not_matter(seed):
    frame = without_ties(seed)
    order = np.random.default_rng(seed).permutation(frame.height)
    first = Cart(minbucket=10).fit(frame).log_likelihood(frame)
    second = Cart(minbucket=10).fit(frame[order]).log_likelihood(frame)
    np.testing.assert_allclose(first, second)


@settings(max_examples=15)
@given(seeds)
def test_names_of_categories_do_not_matter(seed):
    frame = without_ties(seed)
    labels = np.random.default_rng(seed).permutation(list("vwxyz"))
    renamed = frame.with_columns(
        pl.col("c").replace_strict(dict(zip("01234", labels, strict=True)))
    )
    columns = ["c", "x", "y"]
    first = Cart(minbucket=10).fit(frame.select(columns)).log_likelihood(frame.select(columns))
    second = Cart(minbucket=10).fit(renamed.select(columns)).log_likelihood(renamed.select(columns))
    np.testing.assert_allclose(first, second)


@settings(max_examples=10)
@given(seeds)
def test_monotone_changes_of_a_predictor_do_not_matter(seed):
    frame = without_ties(seed).select("x", "y")
    changed = frame.with_columns(pl.col("x").exp())
    first = Cart(minbucket=10).fit(frame).log_likelihood(frame)
    second = Cart(minbucket=10).fit(changed).log_likelihood(changed)
    np.testing.assert_allclose(first, second)


def test_everything_twice_with_leaves_twice_as_large():
    frame = without_ties(3)
    twice = pl.concat([frame, frame])
    first = Cart(minbucket=10, smoothing_leaves=0).fit(frame).log_likelihood(frame)
    second = Cart(minbucket=20, smoothing_leaves=0).fit(twice).log_likelihood(frame)
    np.testing.assert_allclose(first, second)


# Figures of papers


def unique_record(frame):
    return pl.DataFrame({name: [1] for name in frame.columns}, schema=frame.schema)


def test_the_unique_record_has_one_of_the_67_donors_of_its_leaf():
    frame = load("buyer_beware")
    model = Cart(smoothing_leaves=0).fit(frame)
    ones = [
        frame.filter(pl.all_horizontal(pl.col(frame.columns[:k]) == 1)).height for k in (1, 2, 3)
    ]
    assert ones[2] == 67
    # n(1)/1000 * n(11)/n(1) * n(111)/n(11) * 1/67 = 1/1000: each factor cancels the next.
    found = float(np.exp(model.log_likelihood(unique_record(frame)))[0])
    assert found == pytest.approx(ones[0] / 1000 * ones[1] / ones[0] * ones[2] / ones[1] / 67)
    assert found == pytest.approx(1 / 1000)
    last = model.sequences_[0].columns[-1].value
    leaf = last.tree.find(np.full((1, 4), 2, np.int32))  # the rank of 1 is 2
    assert last.leaf_sizes[leaf].tolist() == [67]
    assert last.probability(np.full((1, 4), 2, np.int32), np.array([1])).tolist() == [1 / 67]


@pytest.mark.slow
def test_copies_of_the_unique_record_follow_the_binomial_law():
    frame = load("buyer_beware")
    model = Cart(smoothing_leaves=0, random_state=2024).fit(frame)
    copies = np.array(
        [
            sum(table.select(pl.all_horizontal(pl.all() == 1).sum()).row(0))
            for table in model.sample(copies=1000)
        ]
    )
    observed = np.bincount(np.minimum(copies, 4), minlength=5)
    law = binom(1000, 1 / 1000)
    expected = 1000 * np.append(law.pmf(range(4)), law.sf(3))
    assert chisquare(observed, expected).pvalue > 0.001
    # The paper saw 41, 38, 14 and 7 of a hundred with none, one, two, and three or more.
    paper = 10 * np.array([41, 38, 14, 7])
    assert np.abs(np.append(observed[:3], observed[3:].sum()) - paper).max() < 60


def test_larger_leaves_no_longer_single_the_record_out():
    frame = load("buyer_beware")

    def shares(**setting):
        model = Cart(**setting, smoothing_leaves=0).fit(frame)
        return float(np.exp(model.log_likelihood(unique_record(frame)))[0]), model

    # 67 records are too few for a leaf of 75. The parent holds (1,1,0) and (1,1,1), or those of
    # the column that was split last: in any case the share of ones there, not 1/67.
    found, model = shares(minbucket=75)
    last = model.sequences_[0].columns[-1].value
    leaf = int(last.tree.find(np.full((1, 4), 2, np.int32))[0])
    size = int(last.leaf_sizes[leaf])
    assert size > 75
    joined = last.probability(np.full((1, 4), 2, np.int32), np.array([1]))[0]
    pairs = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    keys = pl.concat_list(frame.columns[:3])
    parents = [
        frame.filter(keys.is_in([[1, 1, 1], pair])).get_column(frame.columns[3]) for pair in pairs
    ]
    assert (size, joined) in [(len(parent), pytest.approx(parent.mean())) for parent in parents]
    assert found == pytest.approx(67 / 1000 * joined)
    assert found > 0.01  # twenty copies, among the others' 54 to 79
    # cp = 0.05 cuts all splits: the product of the four shares of ones.
    found, model = shares(cp=0.05)
    assert all(tree.leaves == 1 for tree in model.trees())
    assert found == pytest.approx(np.prod([frame[name].mean() for name in frame.columns]))


@pytest.mark.slow
def test_sd2011_synthesizes_out_of_the_box(sd2011):
    model = Cart(random_state=0).fit(sd2011)
    rows = 20_000
    drawn = model.sample(rows)
    assert drawn.shape == (rows, 35)
    assert drawn.schema == sd2011.schema
    for column in model.schema_:
        name = column.name
        ours, theirs = drawn[name], sd2011[name]
        if name != "bmi":  # which is computed from height and weight
            assert set(ours.unique()) <= set(theirs.unique())
        if column.kind == "categorical":
            # A level that makes up a percent cannot be absent from 20,000 rows.
            often = theirs.value_counts().filter(pl.col("count") >= 50)[name]
            assert set(often) <= set(ours.unique())
        for value in (None, *column.special):
            p = theirs.eq_missing(value).mean()
            found = ours.eq_missing(value).mean()
            # Twice the noise: what a column is drawn from is drawn, too.
            assert found == pytest.approx(p, abs=2 * share(p, rows)), (name, value)
    assert model.schema_["bmi"].kind == "real"
    assert model.schema_["income"].special[0] == -8


def test_disclosure_of_sd2011_is_that_of_synthpop(sd2011):
    """Means over a hundred syntheses of synthpop 1.9-3: repU, DiSCO, and DiSCO for depress = 0."""
    keys, target = ["sex", "age", "region", "placesize"], "depress"
    sequence = [*keys, target]
    model = Cart(visit_sequence=sequence, smoothing_leaves=0).fit(sd2011.select(sequence))

    def unique(table):
        return table.group_by(keys).len().filter(pl.col("len") == 1)

    def disclosed(table):
        told = table.group_by(keys).agg(
            pl.col(target).n_unique().alias("n"), pl.col(target).first()
        )
        right = sd2011.join(
            told.filter(pl.col("n") == 1), on=sequence, how="semi", nulls_equal=True
        )
        return right.height

    found = []
    for seed in range(20):
        drawn = model.sample(random_state=seed)
        replicated = unique(sd2011).join(unique(drawn), on=keys, how="semi").height
        zero = drawn.with_columns(pl.lit(0, drawn[target].dtype).alias(target))
        found.append([replicated, disclosed(drawn), disclosed(zero)])
    means = 100 * np.mean(found, axis=0) / sd2011.height
    assert np.abs(means - [13.98, 9.33, 14.60]).max() < 1


def test_rules_hold_beside_smoothing_since_their_columns_are_left_alone():
    rng = np.random.default_rng(0)
    age = rng.integers(10, 30, 3000)
    frame = pl.DataFrame({"age": age, "income": np.where(age < 18, 0.0, rng.gamma(2, 50, 3000))})
    rules = ["if age < 18 then income = 0"]
    drawn = Cart(rules=rules, smoothing="density", random_state=0).fit(frame).sample()
    assert drawn.filter(pl.col("age") < 18)["income"].unique().to_list() == [0]
    with pytest.raises(ParameterError, match="'age' is kept or part of a rule"):
        Cart(rules=rules, smoothing={"age": "density"}).fit(frame)
    with pytest.raises(ParameterError, match="with smoothing, write conditions as text"):
        Cart(rules=[("income", nw.col("age") < 18, 0)], smoothing="density").fit(frame)


@pytest.mark.parametrize("smoothing", ["interpolate", "density"])
def test_infinite_numbers_are_not_smoothed(smoothing):
    frame = pl.DataFrame({"x": [float("inf"), 1.0, 2.5, float("-inf")] * 20})
    drawn = Cart(smoothing=smoothing, random_state=0).fit(frame).sample()["x"]
    assert drawn.is_infinite().any()
    assert drawn.filter(drawn.is_finite()).is_between(1.0, 2.5).all()


@pytest.mark.parametrize(
    "wishes", [{"keep": 5}, {"strata": 3}, {"visit_sequence": 7}, {"predictors": {"pay": None}}]
)
def test_wishes_of_another_kind_get_a_message(wishes):
    with pytest.raises(ParameterError, match=next(iter(wishes))):
        Cart(**wishes).fit(ruled())


def test_identifiers_are_named_as_such():
    frame = ruled().with_row_index("id")
    for argument in ("keep", "strata", "visit_sequence"):
        with pytest.raises(ParameterError, match=f"{argument}: 'id' is an identifier"):
            Cart(**{argument: ["id"]}).fit(frame)


def test_names_may_be_an_array(tmp_path):
    frame = ruled()
    model = Cart(
        keep=np.array(["hours"]), visit_sequence=np.array(["pay", "age"]), random_state=0
    ).fit(frame)
    loaded = Synthesizer.load(model.save(tmp_path / "m.us"))
    assert loaded.sample().equals(model.sample())


def test_what_an_attacker_may_take_for_granted(caplog):
    caplog.set_level(logging.ERROR)
    model = Cart(keep=["hours"], rules=["if hours == 0 then pay = missing"], random_state=0).fit(
        ruled()
    )
    assert model.kept_columns == ("hours",)
    assert model.columns_set_by_rules == {"pay"}
    assert model.random_fit is None
    plain = Cart(proper=True).fit(ruled())
    assert (plain.kept_columns, plain.columns_set_by_rules) == ((), frozenset())
    assert plain.random_fit == "records"
