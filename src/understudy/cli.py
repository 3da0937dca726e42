"""The command line: each command a few lines over the Python API."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy._version import __version__
from understudy.errors import DataError, UnderstudyError, unknown_columns

if TYPE_CHECKING:
    from rich.console import Console

    from understudy.data import Schema
    from understudy.synthesis import Synthesizer


class Method(StrEnum):
    """How to synthesize."""

    independent = "independent"
    random = "random"


class Decode(StrEnum):
    """How to draw numbers inside their bins."""

    interpolate = "interpolate"
    uniform = "uniform"


class Binning(StrEnum):
    """How to cut numbers into bins."""

    quantile = "quantile"
    width = "width"


app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _console() -> Console:
    """Return the console for messages; results go to standard output."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def _escape(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"understudy {__version__}")
        raise typer.Exit


@app.callback()
def understudy(
    ctx: typer.Context,
    version: Annotated[  # noqa: ARG001  # shown by its callback
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say more of what is done.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
) -> None:
    """Make synthetic stand-ins for confidential tables, and attack them before anyone else can."""
    from rich.logging import RichHandler

    level = logging.ERROR if quiet else logging.INFO if verbose else logging.WARNING
    handler = RichHandler(console=_console(), show_time=False, show_path=False, show_level=False)
    logging.basicConfig(level=level, format="%(message)s", handlers=[handler], force=True)
    ctx.obj = {"quiet": quiet}


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


@app.command()
def schema(
    ctx: typer.Context,
    data: Data,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The schema file to write.", show_default="the terminal"
        ),
    ] = None,
    keys: Annotated[
        str,
        typer.Option(
            help="Columns that an attacker may know, separated by commas.", show_default=False
        ),
    ] = "",
    sensitive: Annotated[
        str, typer.Option(help="Columns that an attacker wants to learn.", show_default=False)
    ] = "",
    target: Annotated[
        str, typer.Option(help="Columns that an analyst wants to predict.", show_default=False)
    ] = "",
    bins: Annotated[int, typer.Option(help="Groups for numbers with many values.", min=1)] = 20,
    binning: Annotated[
        Binning, typer.Option(help="Groups of the same size or of the same width.")
    ] = Binning.quantile,
    drop: Drop = "",
    force: Force = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    missing: Missing = None,
) -> None:
    """Describe a table's columns in a file that you can read and correct.

    Example: `understudy schema survey.csv -o survey.toml`
    """
    from understudy.data import Schema

    _check_outputs([output] if output else [], [data], force)
    options = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    with _progress(ctx):
        frame = _read(data, drop, options | {"missing": missing or ()})
        found = Schema.infer(frame, bins=bins, binning=binning.value)
    found = found.with_roles(keys=_split(keys), sensitive=_split(sensitive), target=_split(target))
    if output is None:
        typer.echo(found.to_toml(), nl=False)
        return
    found.save(output, overwrite=force)
    _say(
        ctx,
        f"Wrote {output}: {len(found)} columns. Correct it where it is wrong, then: "
        f"understudy synth {data} --schema {output} -o synthetic.csv",
    )


@app.command()
def synth(
    ctx: typer.Context,
    data: Data,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="The synthetic table to write: .csv, .tsv or .parquet.",
            show_default=False,
        ),
    ],
    method: Annotated[
        Method,
        typer.Option(
            help="independent: every column on its own; random: any value, equally often."
        ),
    ] = Method.independent,
    schema: Annotated[
        Path | None,
        typer.Option(
            help="What the columns are, from `understudy schema`.", show_default="inferred"
        ),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(help="Rows to make.", min=1, show_default="as many as the data has"),
    ] = None,
    copies: Annotated[
        int,
        typer.Option(
            help="Synthetic tables to make; more than one are numbered: synthetic-1.csv, ...", min=1
        ),
    ] = 1,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Number that decides the draws; the same one gives the same table.",
            min=0,
            show_default="a new one, which is shown",
        ),
    ] = None,
    save_model: Annotated[
        Path | None,
        typer.Option(
            help="Also write the fitted model, which is confidential.", show_default=False
        ),
    ] = None,
    decode: Annotated[
        Decode, typer.Option(help="Numbers inside a group: between its quartiles, or evenly.")
    ] = Decode.interpolate,
    stream: Annotated[
        bool,
        typer.Option("--stream", help="Read the data in batches, for a file larger than memory."),
    ] = False,
    drop: Drop = "",
    force: Force = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    missing: Missing = None,
) -> None:
    """Make a synthetic table from a confidential one.

    Example: `understudy synth survey.csv -o synthetic.csv --method independent --seed 1`
    """
    from understudy.data import Schema, detect
    from understudy.data.files import check_target

    outputs = _numbered(output, copies)
    for path in outputs:
        check_target(path, overwrite=force)
    _check_outputs([*outputs, *filter(None, [save_model])], [data, schema], force)
    described = Schema.load(schema) if schema is not None else None
    if seed is None:
        import secrets

        seed = secrets.randbelow(2**32)
    written = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    with _progress(ctx):
        frame = _read(data, drop, written | {"missing": missing or ()}, stream=stream)
        model = _synthesizer(method, decode=decode.value, random_state=seed)
        model.fit(frame, _without(described, drop))
        if save_model is not None:
            model.save(save_model, overwrite=force)
        dialect = detect(data, **written)
        for copy, path in enumerate(outputs):
            same = dialect if path.suffix.lower() == ".csv" else None
            model.sample_to(path, rows, copy=copy, overwrite=force, dialect=same)
    made = rows or model.n_rows_
    for path in outputs:
        _say(
            ctx,
            f"Wrote {path}: {made:,} rows x {len(model.schema_)} columns "
            f"({method.value}, seed {seed}).",
        )
    if save_model is not None:
        _say(ctx, f"Wrote {save_model}: the model, as confidential as the data.")


@app.command()
def show(
    model: Annotated[
        Path,
        typer.Argument(
            help="A model file, from `understudy synth --save-model`.", show_default=False
        ),
    ],
) -> None:
    """Show what is in a model file: its method, and how it sees each column.

    Example: `understudy show model.us`
    """
    from rich.console import Console

    from understudy.report.terminal import model_summary
    from understudy.synthesis import Synthesizer

    Console().print(model_summary(Synthesizer.load(model)))


@app.command()
def demo(
    ctx: typer.Context,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for what it makes.")
    ] = Path("understudy-demo"),
    seed: Annotated[int, typer.Option(help="Number that decides the draws.", min=0)] = 1,
    force: Force = False,
) -> None:
    """Synthesize the bundled survey, and set its columns beside the original's.

    Example: `understudy demo`
    """
    from understudy.demonstration import run_demo

    with _progress(ctx):
        result = run_demo(output, seed=seed, overwrite=force)
    if not ctx.obj["quiet"]:
        from rich.console import Console

        Console().print(result.picture())
    for path, what in result.files.items():
        _say(ctx, f"Wrote {path}: {what}.")


@contextmanager
def _progress(ctx: typer.Context) -> Iterator[None]:
    """Show progress bars inside the block, if a person is watching."""
    if ctx.obj["quiet"] or not sys.stderr.isatty():
        yield
        return
    from understudy.progress import reporting
    from understudy.report.terminal import TerminalProgress

    with TerminalProgress(_console()) as bars, reporting(bars):
        yield


def _say(ctx: typer.Context, message: str) -> None:
    if not ctx.obj["quiet"]:
        _console().print(_escape(message), soft_wrap=True)


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _numbered(path: Path, copies: int) -> list[Path]:
    if copies == 1:
        return [path]
    return [path.with_name(f"{path.stem}-{copy}{path.suffix}") for copy in range(1, copies + 1)]


def _check_outputs(outputs: list[Path], inputs: list[Path | None], force: bool) -> None:
    """Raise before any work is done if a file cannot be written, or is one that is read."""
    from understudy.data.files import check_writable

    taken = {path.resolve() for path in inputs if path is not None}
    for output in outputs:
        if output.resolve() in taken:
            raise DataError(f"{output} is already an input or output of this command; rename it.")
        check_writable(output, overwrite=force)
        taken.add(output.resolve())


def _synthesizer(method: Method, **params: Any) -> Synthesizer:  # noqa: ANN401  # of any synthesizer
    from understudy.synthesis import METHODS

    return METHODS[method.value](**params)


def _read(data: Path, drop: str, options: dict[str, Any], *, stream: bool = False) -> Any:  # noqa: ANN401
    from understudy.data import read, scan

    unwanted = _split(drop)
    if stream:
        file = scan(data, **options)
        if unwanted:
            raise DataError("--drop does not go with --stream; remove the columns from the file.")
        logging.getLogger("understudy").info("%s: %s rows in batches", data, f"{file.rows:,}")
        return file
    frame = read(data, **options)
    logging.getLogger("understudy").info(
        "%s: %s rows x %s columns", data, f"{frame.height:,}", frame.width
    )
    problems = unknown_columns(unwanted, frame.columns)
    if problems:
        raise DataError(f"--drop: {' '.join(problems)}")
    return frame.drop(unwanted)


def _without(described: Schema | None, drop: str) -> Schema | None:
    if described is None:
        return None
    return described.drop(*(name for name in _split(drop) if name in described))


def main() -> None:
    """Run the command line; a user's mistake is one message and exit code 2, with no traceback."""
    try:
        app()
    except UnderstudyError as error:
        _console().print(f"[red bold]Error:[/] {_escape(str(error))}", soft_wrap=True)
        sys.exit(2)
