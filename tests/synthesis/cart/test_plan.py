"""Plans: order, predictors, settings, protection, and the wishes that cannot be met together."""

from __future__ import annotations

import logging

import numpy as np
import pandas as pd
import polars as pl
import pytest

from understudy.data.codec import Codec
from understudy.data.schema import Schema
from understudy.errors import ParameterError
from understudy.synthesis.cart import Cart
from understudy.synthesis.cart import model as model_module
from understudy.synthesis.cart.features import read_features
from understudy.synthesis.cart.plan import (
    Plan,
    Step,
    Wishes,
    check_settings,
    keep_most_telling,
)
from understudy.synthesis.cart.rules import read_rules

NAMES = ["a", "b", "c", "d"]


def plan(names=NAMES, **wishes):
    """Return the plan for the default wishes with some changed."""
    given = {
        "minbucket": 5,
        "cp": 1e-8,
        "visit_sequence": None,
        "predictors": None,
        "keep": (),
        "strata": None,
        "rules": (),
        "protect": None,
    }
    wishes["rules"] = read_rules(wishes.get("rules"), names)
    return Wishes(**(given | wishes)).plan(names)


def predictors(**wishes):
    """Return the names of each column's predictors, in the order of the steps."""
    return {
        NAMES[step.column]: [NAMES[place] for place in step.predictors]
        for step in plan(**wishes).steps
    }


def test_all_earlier_columns_by_default():
    assert predictors() == {"a": [], "b": ["a"], "c": ["a", "b"], "d": ["a", "b", "c"]}
    assert plan() == Plan(
        (),
        (),
        (
            Step(0, (), 5, 1e-8),
            Step(1, (0,), 5, 1e-8),
            Step(2, (0, 1), 5, 1e-8),
            Step(3, (0, 1, 2), 5, 1e-8),
        ),
    )


@pytest.mark.parametrize("visit", [["c", "a"], ("c", "a"), ["c", "a", "b", "d"]])
def test_the_visit_sequence_comes_first_and_the_rest_in_the_tables_order(visit):
    found = predictors(visit_sequence=visit)
    assert list(found) == ["c", "a", "b", "d"]
    assert found["b"] == ["c", "a"]


def test_one_name_can_be_given_by_itself():
    assert list(predictors(visit_sequence="d")) == ["d", "a", "b", "c"]
    assert plan(keep="b").kept == plan(strata="b").strata == (1,)


def test_predictors_as_a_mapping():
    found = predictors(predictors={"c": ["b"], "d": []})
    assert found == {"a": [], "b": ["a"], "c": ["b"], "d": []}
    assert predictors(predictors={"d": "a"})["d"] == ["a"]


@pytest.mark.parametrize("kind", [list, np.array, lambda m: np.array(m, bool)])
def test_predictors_as_a_matrix(kind):
    matrix = [[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    same = predictors(predictors={"c": ["b"], "d": []})
    assert predictors(predictors=kind(matrix)) == same
    # What is not visited before is no predictor, though the matrix allows it, as in synthpop.
    every = np.ones((4, 4))
    assert predictors(predictors=every) == predictors()
    # The rows are in the order of the table, whatever the order of the visits.
    assert predictors(predictors=kind(matrix), visit_sequence=["d", "c"]) == {
        "d": [],
        "c": [],
        "a": [],
        "b": ["a"],
    }


def test_kept_columns_predict_all_others_and_strata_none():
    assert predictors(keep=["d"]) == {"a": ["d"], "b": ["d", "a"], "c": ["d", "a", "b"]}
    assert predictors(strata=["d"]) == {"a": [], "b": ["a"], "c": ["a", "b"]}
    both = plan(keep=["c", "d"], strata=["d"])
    assert (both.kept, both.strata) == ((2, 3), (3,))
    assert [step.predictors for step in both.steps] == [(2,), (2, 0)]


def test_a_protected_column_is_drawn_from_its_target_and_predicts_nothing():
    found = predictors(protect={"a": "d"})
    assert found == {"d": [], "a": ["d"], "b": ["d"], "c": ["d", "b"]}
    assert predictors(protect={"b": None}) == {"b": [], "a": [], "c": ["a"], "d": ["a", "c"]}
    found = predictors(protect={"a": "d", "b": "d"})
    assert found == {"d": [], "a": ["d"], "b": ["d"], "c": ["d"]}
    assert predictors(protect={"a": "d"}, predictors={"a": ["d"], "c": ["d"]}) == {
        "d": [],
        "a": ["d"],
        "b": ["d"],
        "c": ["d"],
    }
    assert predictors(protect={"a": "d"}, keep=["d"]) == {"a": ["d"], "b": ["d"], "c": ["d", "b"]}
    # In the strata of its target, what is left is its share there.
    assert predictors(protect={"a": "d"}, strata=["d"]) == {"a": [], "b": [], "c": ["b"]}


def test_settings_of_single_steps():
    steps = plan(minbucket={"c": 50, "*": 10}, cp={"b": 0.5}).steps
    assert [step.minbucket for step in steps] == [10, 10, 50, 10]
    assert [step.cp for step in steps] == [1e-8, 0.5, 1e-8, 1e-8]


def test_rules_go_to_their_columns():
    steps = plan(rules=["if a == 'x' then c = 1", "if b > 2 then c = 2", "if c > 1 then d = 0"])
    assert [len(step.rules) for step in steps.steps] == [0, 0, 2, 1]


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"visit_sequence": ["a", "bb"]}, r"visit_sequence: .*'bb'.*Did you mean 'b'"),
        ({"visit_sequence": ["a", "b", "a"]}, "visit_sequence: 'a' is named twice"),
        ({"keep": ["aa"]}, "keep: .*'aa'"),
        ({"strata": "aa"}, "strata: .*'aa'"),
        ({"minbucket": {"z": 3}}, "minbucket: .*'z'"),
        ({"cp": {"z": 3}}, "cp: .*'z'"),
        ({"predictors": {"z": []}}, "predictors: .*'z'"),
        ({"predictors": {"b": ["z"]}}, "predictors of 'b': .*'z'"),
        ({"predictors": {"b": ["c"]}}, "'c' cannot predict 'b', since it is not visited before"),
        ({"predictors": {"b": ["b"]}}, "'b' cannot predict 'b'"),
        ({"predictors": np.ones((3, 4))}, r"for each of the 4 columns.*got the shape \(3, 4\)"),
        ({"predictors": np.full((4, 4), 2)}, "a matrix must hold 0 and 1"),
        ({"keep": ["a"], "strata": ["a", "b"]}, "either all columns of the strata are kept"),
        ({"protect": {"a": "z"}}, "protect.*'z'"),
        ({"protect": {"a": "d"}, "visit_sequence": ["a", "d"]}, "the target must come before it"),
        ({"protect": {"a": "d"}, "visit_sequence": ["a"]}, "the target must come before it"),
        ({"protect": {"a": "d"}, "keep": ["a"]}, "'a' cannot be protected and kept"),
        ({"protect": {"a": "d"}, "strata": ["a"]}, "'a' cannot be protected and kept"),
        ({"protect": {"a": "d"}, "strata": ["b"]}, "'a' would depend on these columns"),
        ({"protect": {"a": "d"}, "strata": ["b", "d"]}, "'a' would depend on these columns"),
        ({"protect": {"a": None}, "strata": ["b"]}, "'a' would depend on these columns"),
        ({"keep": ["b"], "rules": ["if a == 1 then b = 2"]}, "'b' is not synthesized"),
        ({"strata": ["b"], "rules": ["if a == 1 then b = 2"]}, "'b' is not synthesized"),
        ({"rules": ["if c == 1 then b = 2"]}, "'c' must come before 'b' in visit_sequence"),
        (
            {"protect": {"a": "d"}, "rules": ["if a == 1 then b = 2"]},
            "would tie a protected column to 'a'",
        ),
        (
            {
                "protect": {"a": "d"},
                "rules": ["if b == 1 then a = 2"],
                "visit_sequence": ["d", "b", "a"],
            },
            "would tie a protected column to 'b'",
        ),
    ],
)
def test_wishes_that_cannot_be_met(wishes, message):
    with pytest.raises(ParameterError, match=message):
        plan(**wishes)


def test_a_rule_may_tie_a_protected_column_to_its_target():
    steps = plan(protect={"a": "d"}, rules=["if d == 1 then a = 2"]).steps
    assert [len(step.rules) for step in steps] == [0, 1, 0, 0]


def test_an_expression_does_not_tell_what_it_ties():
    import narwhals as nw

    with pytest.raises(ParameterError, match="with protect, write conditions as text"):
        plan(protect={"a": "d"}, rules=[("b", nw.col("c") > 1, 2)])


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ((0, 0.1, None), "minbucket must be a whole number from 1; got 0"),
        ((2.5, 0.1, None), "minbucket must be a whole number from 1; got 2.5"),
        ((True, 0.1, None), "minbucket must be a whole number from 1; got True"),
        (({"a": "3"}, 0.1, None), "minbucket must be a whole number from 1; got '3'"),
        ((5, -0.1, None), "cp must be a share of at least 0; got -0.1"),
        ((5, float("nan"), None), "cp must be a share of at least 0; got nan"),
        ((5, float("inf"), None), "cp must be a share of at least 0; got inf"),
        ((5, {"*": None}, None), "cp must be a share of at least 0; got None"),
        ((5, 0.1, "spline"), "interpolate, density, or None; got 'spline'"),
        ((5, 0.1, {"a": True}), "interpolate, density, or None; got True"),
    ],
)
def test_settings_that_cannot_be_used(setting, message):
    with pytest.raises(ParameterError, match=message):
        check_settings(*setting)


def test_settings_that_can_be_used():
    check_settings(np.int64(3), 0, None)
    check_settings({"a": 1}, {"a": np.float64(0.5)}, {"a": "density", "b": None})


# The most telling predictors


def telling():
    """Return a table in which c copies b, and d follows a with noise; b and a are unrelated."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 4, (2, 600))
    d = np.where(rng.random(600) < 0.7, a, rng.integers(0, 4, 600))
    numbers = a * 100 + rng.permutation(600) % 90  # many numbers, of which a can be told
    frame = pl.DataFrame({"a": a, "b": b, "c": b, "d": d, "x": numbers}).with_columns(
        pl.col("a", "b", "c", "d").cast(pl.String)
    )
    codec = Codec.fit(frame, Schema.infer(frame, dependencies=False), exact=True)
    coded = codec.encode(frame)
    return frame.columns, read_features(codec), coded


def test_the_most_telling_predictors_are_kept(caplog):
    names, features, coded = telling()
    whole = plan(names)
    caplog.set_level(logging.INFO, "understudy")
    one = keep_most_telling(whole, 1, features, coded)
    assert "Each tree looks at 1 columns at most" in caplog.text
    #  a first; b from a; c from b; d from a; and x from a, not from d, which is a with noise.
    assert [step.predictors for step in one.steps] == [(), (0,), (1,), (0,), (0,)]
    two = keep_most_telling(whole, 2, features, coded)
    assert [step.predictors for step in two.steps][-1] == (0, 3)
    assert keep_most_telling(whole, 4, features, coded) is whole
    # Its other settings stay.
    assert [step.column for step in one.steps] == [0, 1, 2, 3, 4]


def test_a_number_can_be_the_most_telling_predictor():
    names, features, coded = telling()
    order = plan(names, visit_sequence=["x", "b", "c", "d", "a"])
    found = keep_most_telling(order, 1, features, coded)
    assert [step.predictors for step in found.steps] == [(), (4,), (1,), (4,), (4,)]


def test_predictors_that_contradict_a_protection():
    with pytest.raises(ParameterError, match="'a' is protected, so its only predictor"):
        plan(protect={"a": "d"}, predictors={"a": ["b"]}, visit_sequence=["d", "b", "a"])
    with pytest.raises(ParameterError, match="'a' is protected, so it cannot predict 'c'"):
        plan(protect={"a": "d"}, predictors={"c": ["a"]})


def test_a_labelled_matrix_is_read_by_its_labels():
    names = list("abcd")
    backwards = names[::-1]
    frame = pd.DataFrame(np.ones((4, 4), int), index=backwards, columns=backwards)
    frame["a"] = 0
    assert predictors(predictors=frame) == {"a": [], "b": [], "c": ["b"], "d": ["b", "c"]}
    frame.loc["d", "b"] = 0
    assert predictors(predictors=frame)["d"] == ["c"]
    # Without labels of its rows, these are in the order of the table.
    assert predictors(predictors=pl.DataFrame({n: [0, 0, 0, n == "b"] for n in backwards})) == {
        "a": [],
        "b": [],
        "c": [],
        "d": ["b"],
    }
    with pytest.raises(ParameterError, match="have the names of the table's columns"):
        plan(predictors=frame.rename(columns={"a": "x"}))


@pytest.mark.parametrize(
    "wishes",
    [
        {"keep": 5},
        {"visit_sequence": [1]},
        {"strata": 3},
        {"predictors": {"c": 3}},
        {"predictors": {"c": None}},
        {"predictors": {"c": [["a"]]}},
        {"predictors": [[1, 2], [1]]},
        {"predictors": np.full((4, 4), "x")},
        {"protect": {"a": 3}},
        {"protect": {"a": ["b"]}},
        {"keep": list("abcd")},
        {"keep": list("abc"), "strata": ["d"]},
    ],
)
def test_wishes_of_another_kind(wishes):
    with pytest.raises(ParameterError):
        plan(**wishes)


def test_many_levels_do_not_seem_to_tell_much():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 2000)
    frame = pl.DataFrame(
        {
            "noise": rng.integers(0, 400, 2000).astype(str),
            "x": x.astype(str),
            "y": np.where(rng.random(2000) < 0.3, rng.integers(0, 4, 2000), 3 * x).astype(str),
        }
    )
    model = Cart(max_predictors=1).fit(frame)
    assert list(model.trees()[-1].uses) == ["x"]


def test_trees_of_a_wide_table_look_at_few_columns_unless_told_otherwise(monkeypatch):
    monkeypatch.setattr(model_module, "WIDE", 4)
    monkeypatch.setattr(model_module, "FEW_PREDICTORS", 1)
    x = np.arange(400) % 2
    columns = {name: np.arange(400) // step % 2 for step, name in ((4, "a"), (8, "b"), (16, "c"))}
    frame = pl.DataFrame({"x": x, **columns, "y": x}).cast(pl.String)

    def looked_at(**given):
        model = Cart(**given).fit(frame, Schema.infer(frame, dependencies=False))
        return [len(step.predictors) for step in model.plan_.steps]

    assert looked_at() == [0, 1, 1, 1, 1]
    assert looked_at(max_predictors=4) == [0, 1, 2, 3, 4]
    assert looked_at(predictors=np.tril(np.ones((5, 5), int), -1)) == [0, 1, 2, 3, 4]
    monkeypatch.setattr(model_module, "WIDE", 5)
    assert looked_at() == [0, 1, 2, 3, 4]
