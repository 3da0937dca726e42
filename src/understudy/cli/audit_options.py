"""The options of `audit`, `run` and `compare`, with the help that a data steward reads."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.attack_options import Classifiers


class Measures(StrEnum):
    """How much is measured."""

    quick = "quick"
    standard = "standard"
    full = "full"


_ATTACKER = "The attacker"
_AUDIT = "The audit"
_GATE = "The gate"
_COMPARED = "What is compared"

Syntheses = Annotated[
    list[Path],
    typer.Argument(
        help="The synthetic table, from any tool; several are syntheses by one method.",
        show_default=False,
    ),
]
Compared = Annotated[
    list[str] | None,
    typer.Argument(
        help="Synthetic tables: FILE or NAME=FILE. Files with one NAME are syntheses by one "
        "method.",
        show_default=False,
        metavar="NAME=FILE",
    ),
]
Methods = Annotated[
    str,
    typer.Option(
        help="Methods to synthesize with, separated by commas: independent,copula,cart,bayes.",
        rich_help_panel=_COMPARED,
        show_default=False,
    ),
]
MethodSpec = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        help='NAME=METHOD:PARAMETER=VALUE,...: a method with parameters, as in "strict=cart:'
        'minbucket=50" or "bayes:parents=4,structure=genetic"; NAME= can be left out; repeatable.',
        rich_help_panel=_COMPARED,
        show_default=False,
    ),
]
CompareProtect = Annotated[
    list[str] | None,
    typer.Option(
        "--protect",
        help="SENSITIVE:TARGET: make each bayes and cart of --methods and --method a second time, "
        "with the sensitive column cut loose from all but its target; repeatable.",
        rich_help_panel=_COMPARED,
        show_default=False,
    ),
]
CompareModels = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        help="NAME=MODEL: the model that made the file of that name; repeatable. Those of "
        "--methods and --method are known.",
        rich_help_panel=_COMPARED,
        show_default=False,
    ),
]
CompareCopies = Annotated[
    int,
    typer.Option(
        "--copies",
        help="Syntheses by each method: figures are their means.",
        min=1,
        rich_help_panel=_COMPARED,
    ),
]
CompareSchema = Annotated[
    Path | None,
    typer.Option(
        "--schema",
        help="What the columns are, for --methods and --method; from `understudy schema`.",
        rich_help_panel=_COMPARED,
        show_default="inferred",
    ),
]
AuditKeys = Annotated[
    str,
    typer.Option(
        "--keys",
        help="Columns that an attacker may know of a person, separated by commas.",
        rich_help_panel=_ATTACKER,
        show_default=False,
    ),
]
AuditSensitive = Annotated[
    str,
    typer.Option(
        "--sensitive",
        help="The column that the attacker wants to learn.",
        rich_help_panel=_ATTACKER,
        show_default=False,
    ),
]
AuditKnown = Annotated[
    int | None,
    typer.Option(
        "--known",
        help="How many of the keys are known: all sets of so many are attacked.",
        min=1,
        rich_help_panel=_ATTACKER,
        show_default="all",
    ),
]
AuditScenario = Annotated[
    Path | None,
    typer.Option(
        "--scenario",
        help="A TOML file with keys, sensitive and known, in place of these options.",
        rich_help_panel=_ATTACKER,
        show_default=False,
    ),
]
AuditModel = Annotated[
    Path | None,
    typer.Option(
        "--model",
        help="The model that made the synthetic table, from `understudy synth --save-model`: "
        "attacks as one who knows it, too.",
        rich_help_panel=_ATTACKER,
        show_default=False,
    ),
]
AuditControl = Annotated[
    Path | None,
    typer.Option(
        "--control",
        help="Records like the original's that were not used for the synthesis.",
        rich_help_panel=_ATTACKER,
        show_default=False,
    ),
]
AuditTarget = Annotated[
    str,
    typer.Option(
        "--target",
        help="The column that the data are used to predict.",
        rich_help_panel=_AUDIT,
        show_default=False,
    ),
]
AuditTest = Annotated[
    Path | None,
    typer.Option(
        "--test",
        help="Real records, not used for the synthesis, to test the predictions on.",
        rich_help_panel=_AUDIT,
        show_default="some of the original",
    ),
]
MeasuresOption = Annotated[
    Measures | None,
    typer.Option(
        "--measures",
        help="quick: lookups and shares, in seconds; standard: trained attackers and predictions, "
        "too; full: all there is.",
        rich_help_panel=_AUDIT,
        show_default="standard",
    ),
]
AuditClassifiers = Annotated[
    Classifiers,
    typer.Option(
        "--classifiers",
        help="Which classifiers attack: ours, or the papers' in their place; none is quickest.",
        rich_help_panel=_AUDIT,
    ),
]
AuditGroups = Annotated[
    str,
    typer.Option(
        "--groups",
        help="Numeric columns to put in groups of the same size: age=10,income=5.",
        rich_help_panel=_AUDIT,
        show_default=False,
    ),
]
MeasuresSeed = Annotated[
    int,
    typer.Option(
        "--seed", help="Number that decides what is random.", min=0, rich_help_panel=_AUDIT
    ),
]
ShowValues = Annotated[
    bool,
    typer.Option(
        "--show-records",
        help="Show the values of the records at the highest risk in the report and the JSON file, "
        "which are then as confidential as the data.",
        rich_help_panel=_AUDIT,
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="The report to write: a page for a browser, .html.",
        show_default=False,
    ),
]
AuditJson = Annotated[
    Path | None,
    typer.Option("--json", help="Also write all findings, for programs.", show_default=False),
]
Pictures = Annotated[
    Path | None,
    typer.Option(
        "--png", help="Also write the charts as pictures into this folder.", show_default=False
    ),
]
FailIf = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-if",
        help='End with exit code 1 if this holds: "gcap.gain > 0.05", or for one release "[cart] '
        'strong.certain > 0"; repeatable.',
        rich_help_panel=_GATE,
        show_default=False,
    ),
]
PolicyFile = Annotated[
    Path | None,
    typer.Option(
        "--policy",
        help="A TOML file with such conditions, and what is audited if the options do not say.",
        rich_help_panel=_GATE,
        show_default=False,
    ),
]
ReleaseFolder = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help="The folder to make: the release, and apart from it what is confidential.",
        show_default=False,
    ),
]
