"""The options of the command line: their types, and the help that a data steward reads."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Method(StrEnum):
    """How to synthesize."""

    bayes = "bayes"
    cart = "cart"
    copula = "copula"
    independent = "independent"
    random = "random"


class Structure(StrEnum):
    """How to find a Bayesian network."""

    greedy = "greedy"
    genetic = "genetic"
    optimal = "optimal"


class Decode(StrEnum):
    """How to draw numbers inside their bins."""

    interpolate = "interpolate"
    uniform = "uniform"


class Binning(StrEnum):
    """How to cut numbers into bins."""

    quantile = "quantile"
    width = "width"


class Smoothing(StrEnum):
    """How to move numbers away from the original's."""

    interpolate = "interpolate"
    density = "density"


_BAYES = "Bayesian network (--method bayes)"
_CART = "Trees (--method cart)"
_EXACT = "Numbers as in the original (--method cart and copula)"
_PROTECTING = "Protection (--method bayes and cart)"

Data = Annotated[Path, typer.Argument(help="The table: a CSV or Parquet file.", show_default=False)]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="Character between the fields of the CSV.",
        rich_help_panel="CSV",
        show_default="detected",
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        help="Decimal sign of its numbers.", rich_help_panel="CSV", show_default="detected"
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(help="Its text encoding.", rich_help_panel="CSV", show_default="detected"),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        help="A text that stands for a missing value, as the empty field, ? and NA do.",
        rich_help_panel="CSV",
        show_default=False,
    ),
]
Drop = Annotated[
    str, typer.Option(help="Columns to leave out, separated by commas.", show_default=False)
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there already.")]

SchemaOutput = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="The schema file to write.", show_default="the terminal"),
]
Keys = Annotated[
    str,
    typer.Option(
        help="Columns that an attacker may know, separated by commas.", show_default=False
    ),
]
Sensitive = Annotated[
    str, typer.Option(help="Columns that an attacker wants to learn.", show_default=False)
]
Target = Annotated[
    str, typer.Option(help="Columns that an analyst wants to predict.", show_default=False)
]
Bins = Annotated[int, typer.Option(help="Groups for numbers with many values.", min=1)]
BinningOption = Annotated[
    Binning, typer.Option(help="Groups of the same size or of the same width.")
]
SyntheticOutput = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help="The synthetic table to write: .csv, .tsv or .parquet.",
        show_default=False,
    ),
]
MethodOption = Annotated[
    Method,
    typer.Option(
        help="independent: every column on its own; bayes: each column given a few others; cart: "
        "each column from trees on the columns before it; copula: all columns from one correlation "
        "matrix; random: any value, equally often."
    ),
]
SchemaFile = Annotated[
    Path | None,
    typer.Option(help="What the columns are, from `understudy schema`.", show_default="inferred"),
]
Rows = Annotated[
    int | None,
    typer.Option(help="Rows to make.", min=1, show_default="as many as the data has"),
]
Copies = Annotated[
    int,
    typer.Option(
        help="Synthetic tables to make; more than one are numbered: synthetic-1.csv, ...", min=1
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        help="Number that decides the draws; the same one gives the same table.",
        min=0,
        show_default="a new one, which is shown",
    ),
]
Parents = Annotated[
    int | None,
    typer.Option(
        help="Columns that a column may depend on, at most.",
        min=0,
        rich_help_panel=_BAYES,
        show_default="3",
    ),
]
StructureOption = Annotated[
    Structure | None,
    typer.Option(help="How the network is found.", rich_help_panel=_BAYES, show_default="greedy"),
]
Protect = Annotated[
    list[str] | None,
    typer.Option(
        help="SENSITIVE:TARGET: cut a sensitive column loose from all but its target (or from "
        "all: SENSITIVE:); repeatable.",
        rich_help_panel=_PROTECTING,
        show_default=False,
    ),
]
Root = Annotated[
    str | None,
    typer.Option(
        help="The column that the network begins with.",
        rich_help_panel=_BAYES,
        show_default="drawn",
    ),
]
Generations = Annotated[
    int | None,
    typer.Option(
        help="Rounds of the genetic search.",
        min=0,
        rich_help_panel=_BAYES,
        show_default="400",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        help="Threads to use; the result is the same.",
        min=1,
        rich_help_panel=_BAYES,
        show_default="1",
    ),
]
Minbucket = Annotated[
    int | None,
    typer.Option(
        help="Records in a leaf, at least: more hides single records better.",
        min=1,
        rich_help_panel=_CART,
        show_default="5",
    ),
]
Cp = Annotated[
    float | None,
    typer.Option(
        help="Share of the impurity that a split must explain: more gives smaller trees.",
        min=0,
        rich_help_panel=_CART,
        show_default="1e-8",
    ),
]
Visit = Annotated[
    str | None,
    typer.Option(
        help="Columns in the order in which they are drawn; the others follow.",
        rich_help_panel=_CART,
        show_default="as in the data",
    ),
]
Keep = Annotated[
    str | None,
    typer.Option(
        help="Columns to leave as they are (partial synthesis).",
        rich_help_panel=_CART,
        show_default=False,
    ),
]
Strata = Annotated[
    str | None,
    typer.Option(
        help="Columns by whose values the records are split; each part has trees of its own.",
        rich_help_panel=_CART,
        show_default=False,
    ),
]
Proper = Annotated[
    bool,
    typer.Option(
        "--proper",
        help="Grow trees on bootstrap samples, new ones for each copy.",
        rich_help_panel=_CART,
    ),
]
SmoothingOption = Annotated[
    Smoothing | None,
    typer.Option(
        help="Move numbers away from the original's: up to halfway to their neighbours, or by "
        "normal noise.",
        rich_help_panel=_EXACT,
        show_default="off",
    ),
]
RuleOption = Annotated[
    list[str] | None,
    typer.Option(
        "--rule",
        help="\"if marital == 'single' then years_married = 0\"; repeatable.",
        rich_help_panel=_CART,
        show_default=False,
    ),
]
MaxPredictors = Annotated[
    int | None,
    typer.Option(
        help="Columns that a tree looks at, at most: those that tell most.",
        min=1,
        rich_help_panel=_CART,
        show_default="all",
    ),
]
SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings",
        help="A TOML file with parameters of the method, also for single columns.",
        show_default=False,
    ),
]
SaveModel = Annotated[
    Path | None,
    typer.Option(help="Also write the fitted model, which is confidential.", show_default=False),
]
DecodeOption = Annotated[
    Decode | None,
    typer.Option(
        help="Numbers inside a group: between its quartiles, or evenly (not with cart and copula).",
        show_default="interpolate",
    ),
]
Stream = Annotated[
    bool,
    typer.Option("--stream", help="Read the data in batches, for a file larger than memory."),
]
ModelFile = Annotated[
    Path,
    typer.Argument(help="A model file, from `understudy synth --save-model`.", show_default=False),
]
Draw = Annotated[
    Path | None,
    typer.Option(
        help="Draw the network of a bayes model into this .svg or .png file.",
        show_default=False,
    ),
]
JsonOutput = Annotated[
    Path | None,
    typer.Option("--json", help="Also write all results to this file.", show_default=False),
]
DemoFolder = Annotated[Path, typer.Option("--output", "-o", help="Folder for what it makes.")]
DemoSeed = Annotated[int, typer.Option(help="Number that decides the draws.", min=0)]
WorldsSeed = Annotated[int, typer.Option("--seed", help="Number that decides the releases.", min=0)]
Releases = Annotated[
    int, typer.Option(help="Releases of each kind that is drawn by chance.", min=2)
]
TrainClassifiers = Annotated[
    bool,
    typer.Option(
        "--classifiers/--no-classifiers",
        help="Whether classifiers are tried too, which takes longer.",
    ),
]
