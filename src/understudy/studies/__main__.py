"""The studies as commands: ``python -m understudy.studies --help``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated

import typer

from understudy.errors import UnderstudyError
from understudy.progress import reporting
from understudy.studies.networks import utility_adult, utility_cmc


class CodingName(StrEnum):
    """How numbers become bins and bins numbers."""

    paper = "paper"
    understudy = "understudy"


app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Make a table of a paper again, and print it as Markdown.",
)
Parents = Annotated[str, typer.Option(help="Values of k, separated by commas.")]
Structures = Annotated[str, typer.Option(help="Searches, separated by commas.")]
Seeds = Annotated[int, typer.Option(min=1, help="Runs of each row.")]
SvmSeeds = Annotated[int, typer.Option(min=1, help="Runs that include the slow SV.")]
CodingOption = Annotated[CodingName, typer.Option(help="How numbers are cut into bins.")]
Trees = Annotated[int, typer.Option(min=1, help="Trees of the random forest.")]
Processes = Annotated[int, typer.Option(min=1, help="Runs at the same time.")]
Drop = Annotated[str, typer.Option(help="Columns to leave out, separated by commas.")]


@app.command("utility-cmc")
def print_cmc(
    parents: Parents = "1,2,3,4",
    structures: Structures = "genetic,greedy",
    seeds: Seeds = 10,
    coding: CodingOption = CodingName.paper,
    trees: Trees = 100,
    processes: Processes = 1,
) -> None:
    """Make Table V of the paper on networks: utility on Contraceptive Method Choice."""
    with _progress():
        table = utility_cmc(
            _whole_numbers(parents),
            _names(structures),  # type: ignore[arg-type]  # checked by the function
            seeds=seeds,
            coding=coding.value,
            trees=trees,
            processes=processes,
        )
    typer.echo(table.to_markdown())


@app.command("utility-adult")
def print_adult(  # noqa: PLR0913, PLR0917  # Typer declares options as arguments
    parents: Parents = "1,2,3,4",
    structures: Structures = "genetic,greedy",
    seeds: Seeds = 10,
    svm_seeds: SvmSeeds = 3,
    coding: CodingOption = CodingName.paper,
    trees: Trees = 100,
    drop: Drop = "fnlwgt,education",
    processes: Processes = 1,
) -> None:
    """Make Table VI of the paper on networks: utility on Adult, from your files of it."""
    with _progress():
        table = utility_adult(
            _whole_numbers(parents),
            _names(structures),  # type: ignore[arg-type]  # checked by the function
            seeds=seeds,
            svm_seeds=svm_seeds,
            coding=coding.value,
            trees=trees,
            drop=_names(drop),
            processes=processes,
        )
    typer.echo(table.to_markdown())


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _whole_numbers(text: str) -> list[int]:
    try:
        return [int(number) for number in _names(text)]
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is not a list of whole numbers.") from error


@contextmanager
def _progress() -> Iterator[None]:
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    from understudy.report.terminal import TerminalProgress

    with TerminalProgress(Console(stderr=True)) as bars, reporting(bars):
        yield


def main() -> None:
    """Run the command; a user's mistake is one message and exit code 2, with no traceback."""
    try:
        app()
    except UnderstudyError as error:
        typer.echo(f"Error: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
