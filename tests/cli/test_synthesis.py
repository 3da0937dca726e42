"""Options of the methods as parameters, and parameters as options."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from understudy.cli.commands import app
from understudy.cli.synthesis import MethodOptions, unsaid, words_for
from understudy.synthesis import METHODS

SAID = [
    ("bayes", {"parents": 2, "structure": "genetic", "generations": 9, "root": "age"}),
    ("bayes", {"protect": {"income": "job", "a:b": None}}),
    ("bayes", {"smoothing": "auto", "min_count": 3, "structure": "predictive"}),
    ("bayes", {"parent_groups": 1, "halves": False, "decode": "dependent"}),
    ("bayes", {"smoothing": 0.0}),
    ("bayes", {"population": 50, "elite": 5, "mutation_rate": 0.25}),
    ("bayes", {"required": [("a", "b"), ("a", "c")], "forbidden": [("b", "c")]}),
    ("bayes", {"protect_from": {"ill": ["age", "sex"], "a:b": ["age"]}, "keep": ["job"]}),
    ("bayes", {"smoothing": 2.5}),
    ("cart", {"minbucket": 50, "cp": 0.0123456789, "max_predictors": 3}),
    ("cart", {"visit_sequence": ["age", "sex"], "keep": ["job"], "strata": ["x", "y"]}),
    ("cart", {"proper": True, "rules": ["if a == 1 then b = 2", "if a > 1 then b = 3"]}),
    ("cart", {"smoothing_leaves": "auto"}),
    ("cart", {"splits": "histogram"}),
    ("cart", {"smoothing_leaves": 2.5, "smoothing": "interpolate"}),
    ("copula", {"smoothing": "density", "ends": 10}),
    ("independent", {"decode": "uniform"}),
    ("random", {}),
]


@pytest.mark.parametrize(("method", "parameters"), SAID)
def test_what_is_said_is_read_again(method, parameters, monkeypatch):
    found = {}

    def record(self):
        found[self.method] = self.parameters.parameters()
        raise KeyboardInterrupt

    monkeypatch.setattr("understudy.cli.synthesis.Synthesis.synthesizer", record)
    words = words_for(method, parameters)
    CliRunner().invoke(app, ["-q", "synth", "data.csv", "-o", "never.csv", *words])
    assert found == {method: parameters}
    assert unsaid(parameters) == ()


def test_every_parameter_with_an_option_is_one_of_a_synthesizer():
    given = MethodOptions(
        parents=1, structure="greedy", root="a", generations=1, threads=1, protect=["a:b"],
        minbucket=1, cp=0.0, visit="a", keep="a", strata="a", proper=True, rule=["r"],
        max_predictors=1, smoothing="density", ends=1, decode="uniform", min_count=1,
        smoothing_leaves="0", parent_groups=1, no_halves=True, population=9, elite=3,
        mutation_rate=0.5, require=["a:b"], forbid=["b:a"], protect_from=["a:b"],
        splits="exact",
    )  # fmt: skip
    known = {name for method in METHODS.values() for name in method.parameter_names()}
    assert len(given.parameters()) == 28
    assert set(given.parameters()) <= known
    assert MethodOptions().parameters() == {}


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"minbucket": {"age": 50}}, ("minbucket",)),
        ({"predictors": {"age": ["sex"]}, "cp": 0.1}, ("predictors",)),
        ({"keep": {"a": 1}}, ("keep",)),
        ({"rules": [...]}, ("rules",)),
        ({"protect": ...}, ("protect",)),
        ({"smoothing": {"age": 5.0}}, ("smoothing",)),
        ({"random_state": 3, "threads": 2, "root": None}, ()),
    ],
)
def test_what_no_option_can_say(parameters, expected):
    assert unsaid(parameters) == expected
    for name in expected:
        assert words_for("cart", {name: parameters[name]}) == ["--method", "cart"]


def test_a_target_that_the_option_cannot_name_is_left_out():
    assert words_for("bayes", {"protect": {"x": "a:b"}})[2:] == ["--protect", "x:"]


def test_neither_seed_nor_threads_belong_to_advice():
    assert words_for("bayes", {"random_state": 3, "threads": 2}) == ["--method", "bayes"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--require", "a"], "--require must be PARENT:CHILD; got 'a'"),
        (["--forbid", "a:"], "--forbid must be PARENT:CHILD; got 'a:'"),
        (["--protect-from", "a:"], "--protect-from must be SENSITIVE:KEY,KEY; got 'a:'"),
        (["--method", "cart", "--protect-from", "a:b"], "--protect-from cannot be used with"),
    ],
)
def test_edges_and_keys_that_cannot_be_read(words, message, refused, people):
    refused("synth", people / "people.csv", "-o", people / "never.csv", *words, says=message)


def test_times_of_a_saved_model_are_shown(call, people):
    model = people / "timed.us"
    assert (
        call("synth", people / "people.csv", "-o", people / "s.csv", "--save-model", model)[0] == 0
    )
    code, out, _ = call("show", model)
    assert code == 0
    assert "Description took" in out
    assert "and generation" in out
    assert "Description took" not in call("show", people / "model.us")[1]
