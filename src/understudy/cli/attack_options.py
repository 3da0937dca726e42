"""The options of `understudy attack`: their types, and the help that a data steward reads."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Classifiers(StrEnum):
    """Which classifiers attack."""

    strong = "strong"
    papers = "papers"
    none = "none"


class Prior(StrEnum):
    """What the strong attacker believes before the release."""

    uniform = "uniform"
    marginal = "marginal"
    informed = "informed"


class Mode(StrEnum):
    """How the strong attacker sees other worlds."""

    fixed = "fixed"
    refit = "refit"


_STRONG = "The strong attacker (--strong)"
_BLACK_BOX = "The strong attacker on a release of another tool (--command)"

Original = Annotated[
    Path, typer.Argument(help="The original table: a CSV or Parquet file.", show_default=False)
]
Synthetic = Annotated[
    Path, typer.Argument(help="The synthetic table, from any tool.", show_default=False)
]
AttackKeys = Annotated[
    str,
    typer.Option(
        "--keys",
        help="Columns that an attacker may know of a person, separated by commas.",
        show_default=False,
    ),
]
AttackSensitive = Annotated[
    str,
    typer.Option("--sensitive", help="The column to learn.", show_default=False),
]
Known = Annotated[
    int | None,
    typer.Option(
        help="How many of the keys are known: all sets of so many are attacked.",
        min=1,
        show_default="all",
    ),
]
ScenarioFile = Annotated[
    Path | None,
    typer.Option(
        "--scenario",
        help="A TOML file with keys, sensitive and known, in place of these options.",
        show_default=False,
    ),
]
Control = Annotated[
    Path | None,
    typer.Option(
        help="Records like the original's that were not used for the synthesis.",
        show_default=False,
    ),
]
ClassifiersOption = Annotated[
    Classifiers, typer.Option(help="Which classifiers attack; none is quickest.")
]
Groups = Annotated[
    str,
    typer.Option(
        help="Numeric columns to put in groups of the same size: age=10,income=5.",
        show_default=False,
    ),
]
Processes = Annotated[
    int,
    typer.Option(
        help="Classifiers, new fits or runs at the same time; the result is the same.", min=1
    ),
]
AttackSeed = Annotated[
    int, typer.Option("--seed", help="Seed of the classifiers, and of the runs.", min=0)
]
Strong = Annotated[
    str | None,
    typer.Option(
        help="Columns of a record that one who knows all else wants to learn, separated by commas; "
        '"*" for the whole record.',
        rich_help_panel=_STRONG,
        show_default=False,
    ),
]
AttackModel = Annotated[
    Path | None,
    typer.Option(
        "--model",
        help="The model that made the synthetic table, from `understudy synth --save-model`.",
        rich_help_panel=_STRONG,
        show_default=False,
    ),
]
PriorOption = Annotated[
    Prior | None,
    typer.Option(
        help="Believed before: all candidates alike, by their shares among the other records, or "
        "as the model predicts.",
        rich_help_panel=_STRONG,
        show_default="uniform",
    ),
]
ModeOption = Annotated[
    Mode | None,
    typer.Option(
        help="fixed: the structure of the model stays, its counts change; refit: it is fitted anew "
        "for each candidate, which takes long.",
        rich_help_panel=_STRONG,
        show_default="fixed",
    ),
]
Records = Annotated[
    str | None,
    typer.Option(
        help="Rows to attack, from 0: 0-99,999.",
        rich_help_panel=_STRONG,
        show_default="all",
    ),
]
Worst = Annotated[
    int,
    typer.Option(
        help="Show so many of the records of which most is learned, by row number.",
        min=0,
        rich_help_panel=_STRONG,
    ),
]
ShowRecords = Annotated[
    bool,
    typer.Option(
        "--show-records",
        help="Show the guesses as well, which may be true values of the original.",
        rich_help_panel=_STRONG,
    ),
]
StrongOutput = Annotated[
    Path | None,
    typer.Option(
        help="Write a row for each record: .csv or .parquet. It is confidential.",
        rich_help_panel=_STRONG,
        show_default=False,
    ),
]
BlackBox = Annotated[
    str | None,
    typer.Option(
        "--command",
        help="Makes such a table, in place of --model: "
        '"Rscript synth.R {original} {synthetic} {seed}".',
        rich_help_panel=_BLACK_BOX,
        show_default=False,
    ),
]
Runs = Annotated[
    int | None,
    typer.Option(
        help="How often it is run for each candidate.",
        min=1,
        rich_help_panel=_BLACK_BOX,
        show_default="100",
    ),
]
CellColumns = Annotated[
    str | None,
    typer.Option(
        "--cells",
        help="Columns whose combinations are counted, separated by commas.",
        rich_help_panel=_BLACK_BOX,
        show_default="all",
    ),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        help="A file that keeps finished runs: an interrupted attack goes on with it.",
        rich_help_panel=_BLACK_BOX,
        show_default=False,
    ),
]
