"""The command `understudy audit-privacy`."""

from __future__ import annotations

import json

import polars as pl
import pytest
from typer.testing import CliRunner

from understudy import Cart, Independent
from understudy.cli.commands import app
from understudy.data import Schema
from understudy.errors import ParameterError

COPY = 'sh -c \'cp "$0" "$1"\' {original} {synthetic} {seed}'


@pytest.fixture
def model(tmp_path):
    frame = pl.DataFrame({"sex": ["f", "m"] * 10, "smokes": ["y", "n", "n", "n"] * 5})
    path = tmp_path / "model.us"
    Independent(epsilon=1.0).fit(frame, Schema.infer(frame).as_public()).save(path)
    return path


def run(*arguments):
    return CliRunner().invoke(app, ["audit-privacy", *map(str, arguments)])


def test_a_model_is_audited_without_data(model, tmp_path):
    written = tmp_path / "found.json"
    found = run(model, "--worlds", 3, "--releases", 2, "--json", written)
    assert found.exit_code == 0, found.output
    assert "consistent, largest found .99 of 1" in found.output
    told = json.loads(written.read_text())
    assert told["format"] == "understudy privacy audit"
    assert told["verdict"] == "consistent"
    assert len(told["tried"]) == 3


def test_a_smaller_claim_is_disproved_with_exit_code_1(model):
    found = run(model, "--epsilon", 0.1, "--worlds", 3, "--releases", 2)
    assert found.exit_code == 1
    assert "disproved" in found.output


def test_a_command_is_run_in_two_worlds():
    found = run(COPY, "--epsilon", 1, "--runs", 40, "--columns", 2)
    assert found.exit_code == 1
    assert "disproved" in found.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.us"], "There is no model file"),
        ([COPY], "--epsilon is needed"),
        (["cp {original} {synthetic}", "--epsilon", "1"], "lacks {seed}"),
        ([COPY, "--epsilon", "1", "--pairs", "0"], "pairs must be a whole number from 1; got 0."),
    ],
)
def test_mistakes_get_one_plain_message(arguments, message):
    found = run(*arguments)
    assert isinstance(found.exception, ParameterError)
    assert message in str(found.exception)


def test_a_model_without_epsilon_has_no_claim(tmp_path):
    path = tmp_path / "cart.us"
    Cart().fit(pl.DataFrame({"a": ["x", "y"] * 10, "b": ["u", "v"] * 10})).save(path)
    found = run(path)
    assert "has no epsilon" in str(found.exception)
