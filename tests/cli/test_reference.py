"""The page on the command line names every option that there is."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from understudy.cli.commands import app

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
COMMANDS = typer.main.get_command(app).commands


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_on_the_page(command):
    text = PAGE.read_text()
    assert f"## understudy {command}\n" in text
    options = [word for one in COMMANDS[command].params for word in one.opts if word[:2] == "--"]
    assert options
    assert [option for option in options if f"`{option}" not in text] == []


def test_there_is_no_option_on_the_page_that_no_command_has():
    known = {
        word
        for command in COMMANDS.values()
        for one in command.params
        for word in (*one.opts, *one.secondary_opts)
    }
    general = {"--version", "--verbose", "--quiet", "--install-completion", "--help"}
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `-")]
    named = {word.strip("`,") for row in rows for word in row.split("|")[1].split()}
    assert {word for word in named if word.startswith("--")} <= known | general
