"""Advice as commands: what is typed, and that it runs as it stands."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import understudy
from understudy import BayesNet, Cart, GaussianCopula, Independent, cli, load
from understudy.audit.advice import Advice
from understudy.cli.advice_commands import AdviceCommands
from understudy.cli.options import Csv

KEYS = {"keys": ["age", "education"], "sensitive": "religion"}


def command(*advice, data="survey.csv", csv=None, files=None, **more):
    return AdviceCommands(Path(data), csv or Csv(), files or {})(Advice("", "", *advice, **more))


def synthesize(method, parameters, **more):
    return command("synthesize", method, parameters, "new", **more)


def test_a_synthesis():
    assert synthesize("bayes", {"parents": 2, "structure": "genetic"}) == (
        "understudy synth survey.csv -o new.csv --method bayes --parents 2 --structure genetic"
    )
    assert synthesize("cart", {"cp": 1e-3}, data="my data.csv") == (
        "understudy synth 'my data.csv' -o new.csv --method cart --cp 0.001"
    )


@pytest.mark.parametrize(
    ("target", "words"),
    [(None, "religion:"), ("job", "religion:job"), ("a:b", "religion:"), ("a b", "'religion:a b'")],
)
def test_protection_as_the_command_line_takes_it(target, words):
    assert synthesize("cart", {"protect": {"religion": target}}).endswith(f"--protect {words}")


def test_every_parameter_that_the_command_line_has():
    parameters = {
        "visit_sequence": ["age", "sex"],
        "keep": ["sex"],
        "proper": True,
        "rules": ["if a == 1 then b = 0"],
        "smoothing": "density",
        "max_predictors": 3,
        "strata": None,
    }
    assert synthesize("cart", parameters).endswith(
        "--method cart --visit age,sex --keep sex --proper --rule 'if a == 1 then b = 0' "
        "--smoothing density --max-predictors 3"
    )


def test_what_the_command_line_cannot_say_goes_into_a_file():
    found = synthesize("cart", {"minbucket": {"age": 9}}, unsaid=("rules",))
    assert found.endswith("--method cart  # and --settings FILE with minbucket, rules")


def test_an_audit():
    parameters = KEYS | {"target": "method", "known": 1}
    assert command("audit", parameters=parameters, output="new") == (
        "understudy audit survey.csv new.csv --keys age,education --sensitive religion "
        "--target method --known 1 -o next-report.html"
    )
    files = {"r": Path("out.csv")}
    assert "survey.csv out.csv" in command("audit", parameters=KEYS, release="r", files=files)
    again = command("audit", parameters=KEYS | {"model": "model.us"})
    assert "survey.csv synthetic.csv" in again
    assert "--model model.us" in again


def test_names_that_no_command_can_hold_give_none():
    assert command("audit", parameters=KEYS | {"keys": ["a,b"]}) == ""


def test_how_files_are_written_is_kept():
    csv = Csv(delimiter=";", missing=["-8", "x"])
    found = command("describe", parameters={"bins": 10}, output="schema", csv=csv)
    assert found == (
        "understudy schema survey.csv -o schema.toml --bins 10 --delimiter ';' --missing=-8 "
        "--missing x"
    )


@pytest.fixture(scope="module")
def survey():
    return load("cmc").select("age", "education", "religion", "method").head(300)


MODELS = (
    BayesNet(parents=2, structure="greedy", random_state=1),
    Cart(minbucket=10, random_state=1),
    GaussianCopula(random_state=1),
    Independent(random_state=1),
)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.method)
def test_commands_run_as_they_stand(model, survey, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    survey.write_csv("survey.csv")
    # A copy, so that the risk is high and there is much to try.
    survey.write_csv("out.csv")
    found = understudy.audit(
        survey, {"out.csv": survey}, model={"out.csv": model.fit(survey)}, measures="quick",
        keys=["age", "education"], sensitive="religion", target="method", random_state=1,
    )  # fmt: skip
    commands = AdviceCommands(Path("survey.csv"), Csv(), {"out.csv": Path("out.csv")})
    tried = [commands(one) for one in found.verdict.releases[0].advice]
    ran = 0
    for words in map(shlex.split, tried):
        if words[:2] in (["understudy", "synth"], ["understudy", "schema"]):
            result = CliRunner().invoke(cli.app, ["-q", *words[1:]], catch_exceptions=False)
            assert result.exit_code == 0, result.output
            assert Path(words[words.index("-o") + 1]).exists()
            ran += 1
    assert ran >= 1
    (remove,) = [shlex.split(one) for one in tried if one.startswith("python")]
    subprocess.run([sys.executable, *remove[1:]], check=True)
    assert pl.read_csv("without-uniques.csv").columns == survey.columns
