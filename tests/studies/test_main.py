"""All studies at once: ``python -m studies all``."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from studies import __main__ as command

DOCS = Path(__file__).parents[2] / "docs"
# What does not change a figure: where it goes to, and how many processes make it.
UNIMPORTANT = re.compile(r" (?:-o|--output|--processes) \S+")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Make two small studies, and one whose data are not there, and return what is said."""
    studies = {
        "figure.svg": "figure 2 --published",
        "table.md": "marginals cmc --seeds 1 --bootstraps 2",
        "adult.md": "utility-adult --seeds 1",
    }
    monkeypatch.setattr(command, "EVERYTHING", studies)
    monkeypatch.setenv("UNDERSTUDY_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def all_studies(*options):
        result = CliRunner().invoke(
            command.app, ["all", "-o", str(tmp_path / "made"), *options], catch_exceptions=False
        )
        assert result.exit_code == 0
        return [line.removeprefix(f"{tmp_path / 'made'}/") for line in result.output.splitlines()]

    return all_studies


def test_each_is_a_file_and_what_needs_other_data_is_left_out(run, tmp_path):
    figure, table, adult = run()
    assert re.fullmatch(r"figure\.svg: \d+ s \(figure 2 --published\)", figure)
    assert re.fullmatch(r"table\.md: \d+ s \(marginals cmc --seeds 1 --bootstraps 2\)", table)
    assert adult.startswith("adult.md is left out. There is no file for 'adult_train'")
    assert (tmp_path / "made" / "figure.svg").read_text("utf-8").startswith("<svg")
    assert (tmp_path / "made" / "table.md").read_text("utf-8").startswith("| table | rows |")
    assert len(list((tmp_path / "made").iterdir())) == 2


def test_what_is_there_is_kept_unless_forced(run, tmp_path):
    (tmp_path / "made").mkdir()
    for name in ("figure.svg", "table.md"):
        (tmp_path / "made" / name).write_text("mine")
    assert run()[:2] == ["figure.svg is there already.", "table.md is there already."]
    assert (tmp_path / "made" / "table.md").read_text("utf-8") == "mine"
    run("--force")
    assert (tmp_path / "made" / "figure.svg").read_text("utf-8").startswith("<svg")
    assert (tmp_path / "made" / "table.md").read_text("utf-8").startswith("| table | rows |")


def test_all_that_the_documentation_shows_is_made():
    pages = (DOCS / "studies.md", DOCS / "strong-attacker.md")
    shown = [
        found
        for page in pages
        for found in re.findall(r"python -m studies ([^\n`]+)", page.read_text("utf-8"))
    ]
    assert len(shown) > 10
    made = {tuple(shlex.split(UNIMPORTANT.sub("", line))) for line in command.EVERYTHING.values()}
    unmade = [line for line in shown if tuple(shlex.split(UNIMPORTANT.sub("", line))) not in made]
    assert [line for line in unmade if not line.startswith(("all", "--help"))] == []
