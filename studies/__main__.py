"""The studies as commands: ``python -m studies --help``."""

from __future__ import annotations

import io
import shlex
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from studies import kills as killing
from studies import mutations, silence
from studies.buyer_beware import (
    attacked_markdown,
    protections,
    protections_markdown,
    published_syntheses,
    unique_copies,
)
from studies.cart_sweep import cart_sweep, sweep_markdown
from studies.dependencies import dependencies_markdown
from studies.disclosure_counts import KEYS, TARGET, sd2011_disclosure
from studies.figures import CPS, MINBUCKETS, FigureName, draw_figure
from studies.gallery import MeasuresName, gallery_markdown
from studies.lookalikes import lookalikes_markdown
from studies.marginals import TableName, marginals, marginals_markdown
from studies.networks import Coding, utility_adult, utility_cmc
from studies.numbers import numbers_markdown
from studies.panels import panels_markdown
from studies.privacy_audit import privacy_audit_lines, to_markdown, tool_lines
from studies.private_risk import private_risk_markdown
from studies.real_tables import real_tables_markdown
from studies.reproduction.page import costs_markdown, table_markdown, write_page
from studies.reproduction.printed import printed_tables
from studies.reproduction.verdicts import summary
from studies.reproduction.work import SYNTHESES, carry_out, judged, work_for
from studies.smoothing import smoothing_markdown
from understudy import load, read, stopping
from understudy.data.files import check_writable, write_bytes
from understudy.errors import DataError, UnderstudyError
from understudy.progress import reporting

EVERYTHING = {
    "figure-1.svg": "figure 1",
    "figure-2.svg": "figure 2",
    "figure-3.svg": "figure 3",
    "figure-4.svg": "figure 4",
    "figure-a1.svg": "figure A.1",
    "unique-record.md": "unique-record",
    "cart-sweep.md": "cart-sweep cmc",
    "sixteen-worlds.md": "sixteen-worlds",
    "marginals-cmc.md": "marginals cmc",
    "marginals-sd2011.md": "marginals sd2011",
    "marginals-adult.md": "marginals adult",
    "lookalikes.md": "lookalikes",
    "panels.md": "panels --processes 2",
    "private-risk.md": "private-risk",
    "gallery.md": "gallery --tables clinic,ballot,cmc --seeds 3 --processes 2",
    "gallery-slipped.md": "gallery --tables tests,clinic,wages --seeds 3 --kinds "
    '"two exact numbers kept;two exact numbers of 30% kept;'
    "numbers under each other's names;sensitive values in their rows, seven rows further down;"
    "fresh people, numbers under each other's names\"",
    "gallery-twenty.md": "gallery --tables ballot,cmc --seeds 20",
    "gallery-harmless.md": "gallery --kinds harmless --tables clinic,ballot,cmc --seeds 20",
    "smoothing.md": "smoothing --splits 10 --processes 2",
    "numbers.md": "numbers --releases 3",
    "real-tables.md": "real-tables --processes 2",
    "dependencies.md": "dependencies",
    "mutations.md": "mutations",
    "kills.md": "kills",
    "silence.md": "silence",
    "privacy-audit.md": "privacy-audit",
    "sd2011-disclosure.md": "sd2011-disclosure --seeds 100",
    "utility-cmc.md": "utility-cmc --processes 2",
    "utility-adult-k3.md": (
        "utility-adult --structures genetic --parents 3 --svm-seeds 10 --processes 2"
    ),
    "utility-adult-k3-our-coding.md": (
        "utility-adult --structures genetic --parents 3 --processes 2 --coding understudy"
    ),
    "utility-adult-genetic.md": (
        "utility-adult --structures genetic --parents 1,2,4 --seeds 3 --svm-seeds 1 --processes 2"
    ),
    "utility-adult-greedy.md": (
        "utility-adult --structures greedy --seeds 3 --svm-seeds 1 --processes 2"
    ),
}
"""All that the documentation shows, the quick ones first: each file, and the command for it."""


app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Reproduce a table of a paper as Markdown, or draw one of its figures. The tables of the "
    "page docs/reproduction.md are commands, too, by their numbers: python -m studies 2020-1.",
)
Parents = Annotated[str, typer.Option(help="Values of k, separated by commas.")]
Structures = Annotated[str, typer.Option(help="Searches, separated by commas.")]
Seeds = Annotated[int, typer.Option(min=1, help="Runs of each row.")]
SvmSeeds = Annotated[int, typer.Option(min=1, help="How many of these runs include the slow SV.")]
CodingOption = Annotated[Coding, typer.Option(help="How numbers are cut into bins.")]
Trees = Annotated[int, typer.Option(min=1, help="Trees of the random forest.")]
Processes = Annotated[int, typer.Option(min=1, help="Runs at the same time.")]
Drop = Annotated[str, typer.Option(help="Columns to leave out, separated by commas.")]
Seed = Annotated[int, typer.Option(min=0, help="Decides the syntheses.")]


@app.command("utility-cmc")
def print_cmc(
    parents: Parents = "1,2,3,4",
    structures: Structures = "genetic,greedy",
    seeds: Seeds = 10,
    coding: CodingOption = "paper",
    trees: Trees = 100,
    processes: Processes = 1,
) -> None:
    """Reproduce Table V of the paper on networks: utility on Contraceptive Method Choice."""
    with _progress():
        table = utility_cmc(
            _whole_numbers(parents),
            _names(structures),  # type: ignore[arg-type]  # checked by the function
            seeds=seeds,
            coding=coding,
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
    coding: CodingOption = "paper",
    trees: Trees = 100,
    drop: Drop = "fnlwgt,education",
    processes: Processes = 1,
) -> None:
    """Reproduce Table VI of the paper on networks: utility on Adult, from your files of it."""
    with _progress():
        table = utility_adult(
            _whole_numbers(parents),
            _names(structures),  # type: ignore[arg-type]  # checked by the function
            seeds=seeds,
            svm_seeds=svm_seeds,
            coding=coding,
            trees=trees,
            drop=_names(drop),
            processes=processes,
        )
    typer.echo(table.to_markdown())


@app.command("lookalikes")
def print_lookalikes(seed: Seed = 1) -> None:
    """Look for lookalikes in releases of which it is known what they hold."""
    with _progress():
        table = lookalikes_markdown(seed)
    typer.echo(table)


@app.command("private-risk")
def print_private_risk(
    table: Annotated[
        str | None, typer.Option(help="cmc or Adult; both that are at hand if not given.")
    ] = None,
    releases: Annotated[int, typer.Option(min=1, help="Releases of each method.")] = 10,
    seed: Seed = 1,
) -> None:
    """Attack private releases, beside those of trees and networks."""
    with _progress():
        found = private_risk_markdown(table, seed, releases)
    typer.echo(found)


@app.command("panels")
def print_panels(
    tables: Annotated[str, typer.Option(help="Panels, separated by commas; all if empty.")] = "",
    seed: Seed = 1,
    processes: Processes = 1,
) -> None:
    """Draw real panels record by record and unit by unit, and see what stays within units."""
    with _progress():
        text = panels_markdown(_names(tables) or None, seed=seed, processes=processes)
    typer.echo(text)


@app.command("gallery")
def print_gallery(
    measures: Annotated[MeasuresName, typer.Option(help="How much is measured.")] = "quick",
    seeds: Annotated[int, typer.Option(min=1, help="Releases of each kind and table.")] = 1,
    tables: Annotated[str, typer.Option(help="Tables, separated by commas; all if empty.")] = "",
    kinds: Annotated[
        str,
        typer.Option(help="Kinds, separated by semicolons, or leaks, or harmless; all if empty."),
    ] = "",
    seed: Seed = 0,
    processes: Processes = 1,
    keep: Annotated[
        Path | None,
        typer.Option(help="Keep the verdicts of each table and seed here, and go on from there."),
    ] = None,
) -> None:
    """Audit releases of which it is known whether they give people away."""
    with _progress():
        text = gallery_markdown(
            measures,
            seeds,
            tables=_names(tables) or None,
            kinds=_kinds(kinds) or None,
            seed=seed,
            processes=processes,
            keep=keep,
        )
    typer.echo(text)


@app.command("smoothing")
def print_smoothing(
    splits: Annotated[int, typer.Option(min=1, help="Random halves of each table.")] = 10,
    tables: Annotated[str, typer.Option(help="Tables, separated by commas; all if empty.")] = "",
    models: Annotated[str, typer.Option(help="Models, by semicolons; all if empty.")] = "",
    seed: Seed = 0,
    processes: Processes = 1,
    keep: Annotated[
        Path | None, typer.Option(help="Keep the figures of each split here, and go on from there.")
    ] = None,
) -> None:
    """Set networks and trees with smoothing beside those without, by fresh people and attacks."""
    with _progress():
        text = smoothing_markdown(
            splits,
            tables=_names(tables) or None,
            models=_kinds(models) or None,
            processes=processes,
            seed=seed,
            keep=keep,
        )
    typer.echo(text)


@app.command("numbers")
def print_numbers(
    tables: Annotated[str, typer.Option(help="Tables, separated by commas; all if empty.")] = "",
    models: Annotated[str, typer.Option(help="Models, by semicolons; all if empty.")] = "",
    rows: Annotated[int, typer.Option(min=1, help="Rows to take of a larger table.")] = 5_000,
    releases: Annotated[int, typer.Option(min=1, help="Releases of each model.")] = 2,
    seed: Seed = 0,
) -> None:
    """Say how far the correlations of numbers are off in releases: networks, trees, copula."""
    with _progress():
        text = numbers_markdown(
            _names(tables) or None,
            _kinds(models) or None,
            rows=rows,
            releases=releases,
            seed=seed,
        )
    typer.echo(text)


@app.command("real-tables")
def print_real_tables(
    tables: Annotated[str, typer.Option(help="Tables, separated by commas; all if empty.")] = "",
    methods: Annotated[str, typer.Option(help="Methods, separated by commas; all if empty.")] = "",
    rows: Annotated[int, typer.Option(min=1, help="Rows to take of a larger table.")] = 5000,
    processes: Processes = 1,
) -> None:
    """Put real tables of other packages through the command line, and say what becomes of them."""
    with _progress():
        text = real_tables_markdown(_names(tables), _names(methods), rows=rows, processes=processes)
    typer.echo(text)


@app.command("dependencies")
def print_dependencies(
    tables: Annotated[str, typer.Option(help="Tables, separated by commas; all if empty.")] = "",
    rows: Annotated[
        int, typer.Option(min=100, help="Rows to synthesize of a larger table.")
    ] = 5000,
    seed: Seed = 1,
) -> None:
    """Find the dependencies of real tables, and say which a synthesis keeps, with and without."""
    with _progress():
        text = dependencies_markdown(_names(tables), rows=rows, seed=seed)
    typer.echo(text)


@app.command("figure")
def draw(
    number: Annotated[FigureName, typer.Argument(help="Its number in the paper.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The picture: .svg or .png.")],
    seed: Seed = 0,
    copies: Annotated[int, typer.Option(min=1, help="Syntheses in Figures 2 to A.1.")] = 10,
    published: Annotated[
        bool, typer.Option("--published", help="The syntheses that the paper prints (1 and 2).")
    ] = False,
    synthesis: Annotated[
        int, typer.Option(min=1, max=10, help="The paper's synthesis that Figure 3 attacks.")
    ] = 1,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Draw a figure of the paper on CART: what becomes of its one disclosive record."""
    with _progress():
        draw_figure(
            number,
            output,
            copies=copies,
            published=published,
            synthesis=synthesis,
            random_state=seed,
            overwrite=force,
        )


@app.command("cart-sweep")
def print_cart_sweep(
    data: Annotated[str, typer.Argument(help="Your table, a file; or cmc, which is bundled.")],
    minbuckets: Annotated[str, typer.Option(help="Least records of a leaf, by commas.")] = (
        ",".join(map(str, MINBUCKETS))
    ),
    cps: Annotated[str, typer.Option(help="Least gains of a split, by commas.")] = (
        ",".join(f"{value:g}" for value in CPS)
    ),
    syntheses: Annotated[int, typer.Option(min=1, help="Tables with each setting.")] = 3,
    seed: Seed = 0,
) -> None:
    """Sweep CART's parameters over a table of your own, as Figure A.1 of the paper on CART."""
    table = load("cmc") if data == "cmc" else read(data)
    with _progress():
        found = cart_sweep(
            table,
            _whole_numbers(minbuckets),
            _numbers(cps),
            syntheses=syntheses,
            random_state=seed,
        )
    typer.echo(sweep_markdown(table, found))


@app.command("unique-record")
def print_unique_record(
    syntheses: Annotated[int, typer.Option(min=1, help="Tables to draw.")] = 1000,
    minbucket: Annotated[int, typer.Option(min=1, help="Least records of a leaf.")] = 5,
    cp: Annotated[float, typer.Option(min=0, help="Least gain of a split.")] = 1e-8,
    seed: Seed = 0,
) -> None:
    """Count the copies of the disclosive record in many syntheses, and say what is expected."""
    with _progress():
        found = unique_copies(syntheses, minbucket=minbucket, cp=cp, random_state=seed)
    typer.echo(found.to_markdown())


@app.command("sixteen-worlds")
def print_sixteen_worlds(
    releases: Annotated[int, typer.Option(min=2, help="Releases with each setting of CART.")] = 100,
    seed: Seed = 0,
) -> None:
    """Attack syntheses as someone who knows every record but the last: the paper's, and others."""
    with _progress():
        published = published_syntheses()
        settings = protections(releases, seed)
    typer.echo(attacked_markdown(published))
    typer.echo("")
    typer.echo(protections_markdown(settings))


@app.command("marginals")
def print_marginals(
    table: Annotated[TableName, typer.Argument(help="The table to synthesize.")],
    seeds: Annotated[int, typer.Option(min=1, help="Syntheses.")] = 20,
    bootstraps: Annotated[int, typer.Option(min=1, help="Samples to compare them with.")] = 100,
) -> None:
    """Compare the two-column tables of CART syntheses with those of bootstrap samples."""
    with _progress():
        lines = marginals(table, seeds=seeds, bootstraps=bootstraps)
    typer.echo(marginals_markdown(lines))


@app.command("sd2011-disclosure")
def print_sd2011_disclosure(
    seeds: Annotated[int, typer.Option(min=1, help="Syntheses.")] = 20,
) -> None:
    """Reproduce Table A.4 of the paper on CART: risk on Social Diagnosis 2011, from your file."""
    with _progress():
        tables = [sd2011_disclosure(seeds), sd2011_disclosure(seeds, columns=None)]
    typer.echo(f"Keys: {', '.join(KEYS)}. Target: {TARGET}.")
    for table in tables:
        typer.echo(f"\nSynthesized, {len(table.columns)} columns: {', '.join(table.columns)}.\n")
        typer.echo(table.to_markdown())


@app.command("mutations")
def print_mutations(
    cases: Annotated[int, typer.Option(min=1, help="Broken files.")] = 1000, seed: Seed = 1
) -> None:
    """Break tables, schemas, settings, policies and models, and see whether that is told well."""
    with _progress(), tempfile.TemporaryDirectory() as folder:
        found = mutations.run(cases, Path(folder), seed)
    typer.echo(found.to_markdown())
    raise typer.Exit(bool(found.failures))


@app.command("kills")
def print_kills(
    kills: Annotated[int, typer.Option(min=1, help="Commands to kill.")] = 60, seed: Seed = 1
) -> None:
    """Kill commands at random moments, and look at what they leave."""
    with _progress(), tempfile.TemporaryDirectory() as folder:
        found = killing.run(kills, Path(folder), seed)
    typer.echo(found.to_markdown())
    raise typer.Exit(bool(found.failures))


@app.command("silence")
def print_silence(
    rows: Annotated[int, typer.Option(min=100, help="Rows of the table.")] = 20_000,
    only: Annotated[str, typer.Option(help="Commands, separated by commas.")] = "",
) -> None:
    """Find the longest time in which no progress bar of a command moves."""
    with tempfile.TemporaryDirectory() as folder:
        names = [name.strip() for name in only.split(",") if name.strip()]
        found = silence.run(rows, Path(folder), names)
    typer.echo(silence.to_markdown(found))


@app.command("privacy-audit")
def print_privacy_audit(
    worlds: Annotated[int, typer.Option(min=5, help="Worlds for what is correct.")] = 1000,
    bug_worlds: Annotated[int, typer.Option(min=1, help="Worlds for each mistake.")] = 40,
    datasynthesizer: Annotated[
        str, typer.Option(help="The Python of an environment with DataSynthesizer 0.1.13.")
    ] = "",
    releases: Annotated[int, typer.Option(min=1, help="Releases of that tool.")] = 150,
    seed: Seed = 0,
) -> None:
    """Audit claims of differential privacy: correct ones, planted mistakes, and DataSynthesizer."""
    with _progress():
        lines = privacy_audit_lines(worlds, bug_worlds, seed)
        if datasynthesizer:
            lines += tool_lines(datasynthesizer, releases)
    typer.echo(to_markdown(lines))


@app.command("all")
def make_all(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder.")] = Path(
        "reproduction"
    ),
    force: Annotated[bool, typer.Option("--force", help="Make existing files again.")] = False,
) -> None:
    """Reproduce every table and figure of the documentation, each in a file of its own.

    Existing files are kept, so an interrupted run continues where it stopped. Tables whose data are
    not found are left out: set UNDERSTUDY_DATA to the folder that holds them.
    """
    output.mkdir(parents=True, exist_ok=True)
    for name, command in EVERYTHING.items():
        path = output / name
        if path.exists() and not force:
            typer.echo(f"{path} is there already.")
            continue
        start = time.monotonic()
        try:
            _make(path, shlex.split(command), force=force)
        except DataError as error:
            reason, *_ = str(error).split(". ")
            typer.echo(f"{path} is left out. {reason}.")
        else:
            typer.echo(f"{path}: {time.monotonic() - start:.0f} s ({command})")


@app.command("reproduce")
def reproduce(  # Typer declares options as arguments
    tables: Annotated[
        list[str] | None, typer.Argument(help="Tables, such as 2020-1; all if none is named.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of the runs.")] = Path(
        "reproduction"
    ),
    page: Annotated[
        Path | None, typer.Option(help="Also write the page, with its pictures beside it.")
    ] = None,
    syntheses: Annotated[int, typer.Option(min=2, help="Syntheses of each row.")] = SYNTHESES,
    processes: Processes = 2,
    force: Annotated[bool, typer.Option("--force", help="Make finished runs again.")] = False,
) -> None:
    """Make the tables of the three papers, and set them beside the printed figures.

    Finished runs are kept, so an interrupted one goes on where it stopped. Tables whose data are
    not found are left out, with where to get them.
    """
    named = tables or []
    works = work_for(named)
    with _progress():
        for line in carry_out(works, output, syntheses=syntheses, processes=processes, again=force):
            typer.echo(line, err=True)
    found = judged(output)
    for name, (table, cells) in found.items():
        if not named or name in named:
            typer.echo(f"\n{table.paper}, {table.number}: {table.title}\n")
            typer.echo(table_markdown(table, cells))
    chosen = [
        cell for name, (_, own) in found.items() if not named or name in named for cell in own
    ]
    typer.echo(f"\n{summary(chosen)}")
    if not named:
        typer.echo(f"\n{costs_markdown(output)}")
    if page is not None:
        write_page(output, page)


def _one_table(name: str) -> None:
    """Add the command that makes one table: ``python -m studies 2020-1``."""

    @app.command(name, hidden=True)
    def make_one(
        output: Annotated[Path, typer.Option("--output", "-o", help="The folder of the runs.")] = (
            Path("reproduction")
        ),
        syntheses: Annotated[int, typer.Option(min=2, help="Syntheses.")] = SYNTHESES,
        processes: Processes = 2,
        force: Annotated[bool, typer.Option("--force", help="Make it again.")] = False,
    ) -> None:
        """Make one table of the three papers."""
        reproduce([name], output, None, syntheses, processes, force)


for _name in printed_tables():
    _one_table(_name)


def _make(path: Path, arguments: list[str], *, force: bool) -> None:
    """Run one command; what it prints goes into the file, if it does not draw it itself."""
    check_writable(path, overwrite=force)
    if path.suffix == ".svg":
        options = ["--output", str(path), *(["--force"] if force else [])]
        app([*arguments, *options], standalone_mode=False)
        return
    printed = io.StringIO()
    with redirect_stdout(printed):
        app(arguments, standalone_mode=False)
    write_bytes(printed.getvalue().encode(), path, overwrite=force)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _kinds(text: str) -> list[str]:
    """Return names that may hold commas."""
    return [name.strip() for name in text.split(";") if name.strip()]


def _whole_numbers(text: str) -> list[int]:
    try:
        return [int(number) for number in _names(text)]
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is not a list of whole numbers.") from error


def _numbers(text: str) -> list[float]:
    try:
        return [float(number) for number in _names(text)]
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is not a list of numbers.") from error


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
    with stopping.stoppable(_tell_stopped):
        try:
            app()
        except stopping.Stopped as stopped:
            _tell_stopped()
            stopping.leave(stopped.exit_code)
        except UnderstudyError as error:
            typer.echo(f"Error: {error}", err=True)
            sys.exit(2)


def _tell_stopped() -> None:
    typer.echo("Stopped; what is not finished is not written.", err=True)


if __name__ == "__main__":
    main()
