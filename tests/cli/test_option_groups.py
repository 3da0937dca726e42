"""Groups of options become flat options, and come back as groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from understudy.cli.option_groups import Reworded, grouped, option

Seed = Annotated[int, option("Decides all.", panel="Chance", default=True, min=0)]


@dataclass(frozen=True, kw_only=True)
class Inner:
    seed: Seed = 3
    names: Annotated[list[str] | None, option("Some names.", panel="Names")] = None


@dataclass(frozen=True, kw_only=True)
class Outer:
    inner: Inner
    max_rows: Annotated[int | None, option("Most rows.", default="all")] = None
    fast: Annotated[bool, option("Hurry.", "--fast")] = False


@pytest.fixture
def invoke(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")

    def run(command, *words):
        app = typer.Typer()
        app.command()(command)
        return CliRunner().invoke(app, list(words))

    return run


def test_the_command_gets_groups_with_what_was_typed(invoke):
    got = []

    @grouped
    def command(
        *, data: Annotated[str, typer.Argument()], how: Outer, more: Annotated[int, option("")] = 1
    ) -> None:
        got.append((data, how, more))

    assert invoke(command, "d.csv").exit_code == 0
    words = ("--seed", "5", "--names", "a", "--names", "b", "--max-rows", "9", "--fast")
    assert invoke(command, *words, "d.csv", "--more", "2").exit_code == 0
    assert got == [
        ("d.csv", Outer(inner=Inner()), 1),
        ("d.csv", Outer(inner=Inner(seed=5, names=["a", "b"]), max_rows=9, fast=True), 2),
    ]


def test_limits_are_kept(invoke):
    @grouped
    def command(*, how: Outer) -> None:
        raise AssertionError

    assert invoke(command, "--seed", "-1").exit_code == 2
    assert invoke(command, "--no-fast").exit_code == 2


def test_a_command_may_word_an_option_or_place_a_group_differently(invoke):
    @grouped
    def plain(*, how: Outer) -> None:
        """Do it."""

    @grouped
    def other(
        *,
        how: Annotated[Outer, Reworded(panel=None)],
        random: Annotated[Seed, Reworded(help="Decides little.")] = 1,
    ) -> None:
        """Do it otherwise."""

    for _ in range(2):  # the change is the other command's own
        text = invoke(plain, "--help").output
        assert "Chance" in text
        assert "Names" in text
        assert "Decides all." in text
        assert "Decides little." not in text
        text = invoke(other, "--help").output
        assert "Do it otherwise." in text
        assert "Names" not in text
        assert "Decides all." in text
        assert "Decides little." in text


def test_two_groups_with_the_same_option_do_not_go_together():
    def command(*, one: Inner, other: Inner) -> None: ...

    with pytest.raises(ValueError, match="duplicate parameter name"):
        grouped(command)
