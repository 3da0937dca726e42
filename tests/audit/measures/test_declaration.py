"""A measure is declared once: a toy measure is found everywhere that measures are shown."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

import understudy
from understudy.audit import Audit, measures
from understudy.audit.gate import check
from understudy.audit.gate_names import figure_names
from understudy.audit.measures import MEASURES, figure_kinds, registered
from understudy.audit.measures.declaration import (
    Collected,
    Explanation,
    FigureKind,
    Measure,
    Trust,
    guessed,
)
from understudy.cli.commands import app
from understudy.report.audit_table import audit_table
from understudy.report.page import render_report
from understudy.report.trust import trust_table

DOCS = Path(__file__).parents[3] / "docs" / "measures.md"

KIND = FigureKind(
    "toy",
    "Toy measure",
    "Share of people whose toy is guessed",
    question="ordinary",
    chart="Share of people whose toy is guessed, by release.",
)
TOY = Measure(
    "toy",
    "playing",
    lambda synthesis: len(synthesis.prepared.syntheses[0]) / 1000,
    lambda _first, found: Collected(
        [KIND.figure(baseline=0.1, synthetic=found[0], original=0.9, gain=found[0] - 0.1)],
        numbers={"toy.marbles": 7.0},
    ),
    figures=(KIND,),
    numbers={"toy": ("marbles",)},
    explanation=Explanation("How toys are counted", "We count the toys.", "Toymaker (1900)."),
    trust=(Trust("Toy measure", "record", ("D2", "D4")),),
    columns=(guessed("toy", "Toy", "by playing"),),
)


@pytest.fixture
def found(people, unrelated):
    with registered(TOY):
        yield understudy.audit(
            people, {"a": people, "b": unrelated}, keys=["age"], sensitive="ill",
            measures="quick", random_state=1,
        )  # fmt: skip
    assert TOY not in MEASURES


@pytest.fixture
def alone(found):
    first = Audit.from_json(found.to_json()).findings
    return Audit(type(first)(**(vars(first) | {"releases": first.releases[:1]})))


def in_terminal(audit):
    console = Console(width=160)
    with console.capture() as shown:
        console.print(audit_table(audit))
    return shown.get()


def test_in_python(found):
    assert found.findings.releases[0].figure("toy").synthetic == 0.2  # of 200 people
    assert "toy" in found.to_frame()["measure"].to_list()
    assert "Toy measure" in found.summary()
    assert "Toy measure" in found._repr_html_()


def test_in_the_terminal(found, alone):
    assert re.search(
        r"Toy measure\s*│\s*10.00%\s*│\s*20.00%\s*│\s*90.00%\s*│ \+10.00", in_terminal(alone)
    )
    several = in_terminal(found)
    assert re.search(r"no release\s.*10\.0", several)
    assert "Toy: by playing" in several


def test_in_the_overview_of_an_attack(people, tmp_path):
    people.write_csv(tmp_path / "people.csv")
    arguments = ["attack", *[str(tmp_path / "people.csv")] * 2, "--keys", "age", "--sensitive"]
    with registered(TOY):
        result = CliRunner().invoke(app, [*arguments, "ill", "--classifiers", "none"])
    assert result.exit_code == 0, result.output
    assert "Toy measure" in result.stdout
    assert "Toy measure" not in CliRunner().invoke(app, [*arguments, "ill"]).stdout


def test_in_the_file_for_programs(found):
    release = json.loads(found.to_json())["findings"]["releases"][0]
    assert "toy" in [figure["measure"] for figure in release["figures"]]
    assert release["numbers"]["toy.marbles"] == 7.0


def test_at_the_gate(found):
    assert found.metrics("a")["toy.gain"] == pytest.approx(0.1)
    assert {"gain", "marbles"} <= set(figure_names()["toy"])
    (failure, _) = check(found.findings, ["toy.gain > 5%"]).failed
    assert failure.measure == "toy.gain"
    assert not check(found.findings, ["toy.marbles > 7"]).failed


def test_it_counts_for_the_verdict(found):
    # A gain of 10 points for 200 people is more than chance explains; it may be a pattern.
    clues = {clue.measure: clue for clue in found.verdict.releases[1].answers["ordinary"].clues}
    assert clues["toy"].level == "raised"
    assert "20.0%" in clues["toy"].sentence


def test_in_the_report(found, alone):
    one, several = (
        render_report(audit.findings, verdict=audit.verdict) for audit in (alone, found)
    )
    for page in (one, several):
        assert "Toy measure" in page
        assert "How toys are counted" in page
        assert "Toymaker (1900)." in page
        assert "toy.marbles" in page
    assert "Share of records whose toy is guessed, by release." in several  # the chart
    assert "by playing" in several  # the table


def test_among_those_that_can_be_trusted(found):
    assert ("Toy measure",) in [line.measures for line in trust_table()]


@pytest.mark.skipif(not DOCS.exists(), reason=f"there is no {DOCS}")
@pytest.mark.parametrize("kind", figure_kinds(), ids=lambda kind: kind.name)
def test_every_figure_has_its_line_in_the_docs(kind):
    rows = [line for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    assert any(f"`{kind.name}`" in row and kind.title in row for row in rows)


def test_names_are_different():
    names = [kind.name for kind in figure_kinds()]
    assert len(set(names)) == len(names)
    jobs = [measure.name for measure in MEASURES]
    assert len(set(jobs)) == len(jobs)


def test_every_module_is_found_by_itself():
    modules = {path.stem for path in Path(measures.__file__).parent.glob("*.py")}
    declaring = {name for name in modules if name not in ("__init__", "declaration")}
    found = {
        name
        for name in declaring
        for value in vars(importlib.import_module(f"{measures.__name__}.{name}")).values()
        if value in MEASURES
    }
    assert found == declaring
    assert [measure.place for measure in MEASURES] == sorted({one.place for one in MEASURES})
