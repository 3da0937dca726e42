"""Advice: what is proposed for which release, and that its commands run as they stand."""

from __future__ import annotations

import shlex
import subprocess
import sys
from typing import get_args

import polars as pl
import pytest
from typer.testing import CliRunner

from understudy import BayesNet, Cart, cli, load
from understudy.audit.advice import DEFAULT_CP, DEFAULT_MINBUCKET, DEFAULT_PARENTS, give_advice
from understudy.audit.commands import dialect_in, files_in, shell
from understudy.audit.evidence import weigh
from understudy.audit.findings import (
    DisclosureFindings,
    Figure,
    Findings,
    Histogram,
    NetworkFindings,
    ReleaseFindings,
    StrongFindings,
    UtilityFindings,
    WayFindings,
)
from understudy.audit.recipe import CLASSES, Recipe
from understudy.cli.synthesis import Method
from understudy.synthesis import METHODS

HIGH, LOW = 0.3, 0.0
POOR = UtilityFindings(marginals=(WayFindings(2, 1, 0.2, 0.05, 4.0, ()),))
UNIQUES = DisclosureFindings(0.2, 0.2, 0.05, 0.3, 0.1, 0.0, 0.1)
COMMAND = "understudy audit survey.csv out.csv --keys age,education --sensitive religion"


def certain(people):
    values = (0.6, 0.4, 0.5, 0.5, 0.1, 0.2, 0.3, Histogram((), ()))
    return StrongFindings("marginal", "fixed", 1000, people, *values)


def advise(gain=HIGH, *, method="", name="release", command=COMMAND, more=None, **release):
    figures = () if gain is None else (Figure("gcap", "GCAP", "", 0.5, 0.5 + gain, gain=gain),)
    made = ReleaseFindings(name, method, 1, 1000, figures=figures, **release)
    audit = {
        "command": command,
        "measures": "standard",
        "rows": 1000,
        "columns": 4,
        "keys": ("age", "education"),
        "known": None,
        "sensitive": "religion",
        "target": "method",
    } | (more or {})
    audit = Findings("1", "", 1.0, 0, **audit, releases=(made,))
    return give_advice(audit, made, weigh(audit, made))


def commands(*args, **more):
    return [one.command for one in advise(*args, **more)]


AUDIT = (
    "understudy audit survey.csv {} --keys age,education --sensitive religion --target method "
    "-o next-report.html"
)


def test_a_network_is_protected_and_gets_fewer_parents():
    assert commands(method="BayesNet(parents=2, structure='genetic', random_state=3)") == [
        "understudy synth survey.csv -o protected.csv --method bayes --parents 2 --structure "
        "genetic --protect religion:method",
        "understudy synth survey.csv -o fewer-parents.csv --method bayes --parents 1 --structure "
        "genetic",
        AUDIT.format("protected.csv"),
    ]


def test_trees_get_larger_leaves_and_fewer_splits():
    assert commands(method="Cart()") == [
        "understudy synth survey.csv -o protected.csv --method cart --protect religion:method",
        "understudy synth survey.csv -o larger-leaves.csv --method cart --minbucket 20",
        "understudy synth survey.csv -o smaller-trees.csv --method cart --cp 0.001",
        AUDIT.format("protected.csv"),
    ]


def test_what_is_protected_already_is_not_protected_again():
    named = commands(method="BayesNet(parents=1, protect={'religion': 'method'})")
    drawn = commands(method="BayesNet(parents=1)", network=NetworkFindings((), (), ("religion",)))
    for found in (named, drawn):
        assert found == [
            "understudy synth survey.csv -o independent.csv --method independent",
            AUDIT.format("independent.csv"),
        ]


def test_other_protected_columns_stay_so():
    found = commands(method="Cart(protect={'age': None}, cp=0.01)")
    assert "--protect age: --cp 0.01" not in found[0]
    assert "--protect age: --protect religion:method" in found[0]
    assert "--cp 0.1" in found[2]


@pytest.mark.parametrize(
    ("target", "words"),
    [("", "religion:"), ("religion", "religion:"), ("a:b", "religion:"), ("a b", "'religion:a b'")],
)
def test_protection_as_the_command_line_takes_it(target, words):
    found = commands(method="Cart()", more={"target": target})
    assert found[0].endswith(f"--protect {words}")


def test_copulas_and_other_tools_are_replaced():
    for method in ("GaussianCopula()", ""):
        first = advise(method=method)[0]
        assert first.command == (
            "understudy synth survey.csv -o protected.csv --method bayes --protect religion:method"
        )
        assert "another method" in first.text


@pytest.mark.parametrize("method", ["Independent()", "Uniform()"])
def test_single_values_are_grouped(method):
    assert commands(method=method) == [
        "understudy schema survey.csv -o schema.toml --bins 10",
    ]


def test_certain_disclosure_proposes_another_method():
    found = commands(LOW, method="Cart()", strong=certain(3))
    assert any("--method independent" in command for command in found)


def test_uniques_are_removed():
    found = commands(method="Cart()", name="out.csv", disclosure=UNIQUES)
    (command,) = [one for one in found if one.startswith("python")]
    assert (
        'remove_replicated_uniques(read("survey.csv"), read("out.csv")' in shlex.split(command)[2]
    )


@pytest.mark.parametrize(
    ("method", "command"),
    [
        ("BayesNet(parents=1)", "-o more-parents.csv --method bayes --parents 2"),
        ("Cart(minbucket=40)", "-o smaller-leaves.csv --method cart --minbucket 20"),
        ("Independent()", "-o bayes.csv --method bayes --protect religion:method"),
    ],
)
def test_use_can_be_bought_where_the_risk_is_low(method, command):
    found = advise(LOW, method=method, utility=POOR)
    assert found[0].command == f"understudy synth survey.csv {command}"
    assert "risk may rise" in found[0].text


def test_nothing_is_proposed_where_nothing_is_amiss():
    assert advise(LOW, method="Cart()") == ()
    assert advise(LOW, method="Cart()", utility=POOR) == ()  # leaves are as small as they get


def test_without_the_model_it_is_asked_for():
    (found,) = advise(LOW, name="out.csv")
    assert found.command == (
        "understudy audit survey.csv out.csv --keys age,education --sensitive religion --target "
        "method --model model.us -o next-report.html"
    )


def test_what_failed_is_audited_again():
    found = advise(None, method="Cart()", more={"known": 1})
    assert [one.command for one in found] == [
        "understudy audit survey.csv out.csv --keys age,education --sensitive religion --target "
        "method --known 1 -o next-report.html"
    ]


def test_names_that_no_command_can_hold_give_none():
    assert commands(LOW, more={"keys": ("a,b",)}) == []
    assert commands(None, more={"sensitive": ""}) == []


def test_files_that_are_not_known():
    found = commands(method="Cart()", command="audit(original, synthetic)", disclosure=UNIQUES)
    assert found[0].startswith("understudy synth data.csv -o")
    assert any('read("synthetic.csv")' in shlex.split(one)[2] for one in found if "python" in one)


def test_what_the_command_line_cannot_say_is_named():
    found = advise(method="Cart(minbucket={'age': 9}, rules=…, random_state=4)")
    assert "What was set for minbucket and rules goes into a --settings file" in found[0].text
    assert not any("larger-leaves" in one.command for one in found)


# Recipes


@pytest.mark.parametrize(
    ("description", "name", "method", "parameters"),
    [
        ("BayesNet()", "x", "bayes", {}),
        ("Cart(minbucket=7, cp=0.5)", "x", "cart", {"minbucket": 7, "cp": 0.5}),
        ("bayes, parents 2", "x", "bayes", {"parents": 2}),
        ("cart (cp=1e-3)", "x", "cart", {"cp": 1e-3}),
        ("", "cart", "cart", {}),
        ("", "out/cart-1.csv", "cart", {}),
        ("", "random", "random", {}),
        ("", "Bayes protected", "bayes", {}),
    ],
)
def test_recipes_are_read(description, name, method, parameters):
    assert Recipe.read(description, name) == Recipe(method, parameters)


@pytest.mark.parametrize("name", ["release.csv", "random-sample.csv", "", "cartoon.csv"])
def test_no_recipe(name):
    assert Recipe.read("", name) is None
    assert Recipe.read("SomeTool(x=1)", name) is None


def test_the_description_of_a_synthesizer_runs_nothing():
    assert Recipe.read("Cart(minbucket=print('ran'))", "x") == Recipe("cart", {"minbucket": ...})


def test_every_parameter_that_the_command_line_has():
    recipe = Recipe(
        "cart",
        {
            "visit_sequence": ["age", "sex"],
            "keep": "sex",
            "proper": True,
            "rules": ["if a == 1 then b = 0"],
            "smoothing": "density",
            "max_predictors": 3,
            "strata": None,
        },
    )
    assert shell(recipe.words()) == (
        "--method cart --visit age,sex --keep sex --proper --rule 'if a == 1 then b = 0' "
        "--smoothing density --max-predictors 3"
    )
    assert recipe.unsaid == ()


def test_methods_and_defaults_are_those_of_the_package():
    assert {cls.__name__: name for name, cls in METHODS.items()} == CLASSES
    assert set(get_args(Method)) == set(CLASSES.values())
    assert BayesNet().parents == DEFAULT_PARENTS
    assert (Cart().minbucket, Cart().cp) == (DEFAULT_MINBUCKET, DEFAULT_CP)


# Commands


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("understudy audit a.csv b.parquet --keys x", ["a.csv", "b.parquet"]),
        ("understudy audit --keys x --force a.csv b.csv", ["a.csv", "b.csv"]),
        ("understudy audit --control c.csv --keys=x a.csv b.csv", ["a.csv", "b.csv"]),
        ("/usr/bin/understudy run 'my data.csv' -o release/", ["my data.csv"]),
        ("python -m understudy compare a.csv b.csv c.csv", ["a.csv", "b.csv", "c.csv"]),
        ("understudy -q compare a=1.csv x=b.csv b=c.csv.gz", ["a=1.csv", "b.csv", "c.csv.gz"]),
        ("understudy audit a=1.csv x=b.csv", ["a=1.csv", "x=b.csv"]),
        ("understudy audit a.csv b.csv --png c.csv", ["a.csv", "b.csv"]),
        ("audit(read('a.csv'), read('b.csv'))", []),
        ("understudy audit 'a.csv", []),
        ("", []),
    ],
)
def test_files_of_a_command(command, files):
    assert files_in(command) == files


def test_how_files_are_written_is_kept():
    command = "understudy audit a.csv b.csv --delimiter ';' --missing=-8 --keys x"
    assert dialect_in(command) == ["--delimiter", ";", "--missing=-8"]
    found = commands(method="Cart()", command=command)
    assert found[0].endswith("--delimiter ';' --missing=-8")


METHODS_TO_TRY = (
    "BayesNet(parents=2, structure='greedy')",
    "Cart(minbucket=10)",
    "GaussianCopula()",
    "Independent()",
)


@pytest.mark.parametrize("method", METHODS_TO_TRY)
def test_commands_run_as_they_stand(method, tmp_path, monkeypatch):
    survey = load("cmc").select("age", "education", "religion", "method").head(300)
    survey.write_csv(tmp_path / "survey.csv")
    survey.head(20).write_csv(tmp_path / "out.csv")
    monkeypatch.chdir(tmp_path)
    tried = advise(method=method, name="out.csv", disclosure=UNIQUES, strong=certain(2))
    ran = 0
    for one in tried:
        words = shlex.split(one.command)
        if words[:2] in (["understudy", "synth"], ["understudy", "schema"]):
            result = CliRunner().invoke(cli.app, ["-q", *words[1:]], catch_exceptions=False)
            assert result.exit_code == 0, result.output
            assert (tmp_path / words[words.index("-o") + 1]).exists()
            ran += 1
    assert ran >= 1
    (remove,) = [shlex.split(one.command) for one in tried if one.command.startswith("python")]
    subprocess.run([sys.executable, *remove[1:]], check=True)
    assert pl.read_csv("without-uniques.csv").columns == survey.columns
