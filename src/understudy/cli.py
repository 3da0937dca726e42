"""The command line: each command a few lines over the Python API."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy import cli_options as options
from understudy import cli_values as values
from understudy._version import __version__
from understudy.errors import DataError, ParameterError, UnderstudyError, unknown_columns

if TYPE_CHECKING:
    from rich.console import Console

    from understudy.data import Schema
    from understudy.synthesis import Synthesizer


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


@app.command()
def schema(
    ctx: typer.Context,
    data: options.Data,
    output: options.SchemaOutput = None,
    keys: options.Keys = "",
    sensitive: options.Sensitive = "",
    target: options.Target = "",
    bins: options.Bins = 20,
    binning: options.BinningOption = options.Binning.quantile,
    stream: options.Stream = False,
    drop: options.Drop = "",
    force: options.Force = False,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    missing: options.Missing = None,
) -> None:
    """Describe a table's columns in a file that you can read and correct.

    Example: `understudy schema survey.csv -o survey.toml`
    """
    from understudy.data import Schema

    _check_outputs([output] if output else [], [data], force)
    written = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    with _progress(ctx):
        frame = _read(data, drop, written | {"missing": missing or ()}, stream=stream)
        found = Schema.infer(frame, bins=bins, binning=binning.value)
    found = found.with_roles(
        keys=values.split_names(keys),
        sensitive=values.split_names(sensitive),
        target=values.split_names(target),
    )
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
    data: options.Data,
    output: options.SyntheticOutput,
    method: options.MethodOption = options.Method.independent,
    schema: options.SchemaFile = None,
    rows: options.Rows = None,
    copies: options.Copies = 1,
    seed: options.Seed = None,
    parents: options.Parents = None,
    structure: options.StructureOption = None,
    protect: options.Protect = None,
    root: options.Root = None,
    generations: options.Generations = None,
    threads: options.Threads = None,
    minbucket: options.Minbucket = None,
    cp: options.Cp = None,
    visit: options.Visit = None,
    keep: options.Keep = None,
    strata: options.Strata = None,
    proper: options.Proper = False,
    smoothing: options.SmoothingOption = None,
    rule: options.RuleOption = None,
    max_predictors: options.MaxPredictors = None,
    settings: options.SettingsFile = None,
    save_model: options.SaveModel = None,
    decode: options.DecodeOption = None,
    stream: options.Stream = False,
    drop: options.Drop = "",
    force: options.Force = False,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    missing: options.Missing = None,
) -> None:
    """Make a synthetic table from a confidential one.

    Example: `understudy synth survey.csv -o synthetic.csv --method independent --seed 1`
    """
    from understudy.data import Schema, detect
    from understudy.data.files import check_target

    outputs = values.numbered(output, copies)
    for path in outputs:
        check_target(path, overwrite=force)
    _check_outputs([*outputs, *filter(None, [save_model])], [data, schema, settings], force)
    described = Schema.load(schema) if schema is not None else None
    if seed is None:
        import secrets

        seed = secrets.randbelow(2**32)
    written = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    model = _synthesizer(
        method,
        settings,
        seed,
        {
            "parents": parents,
            "structure": structure and structure.value,
            "protect": values.read_protection(protect),
            "root": root,
            "generations": generations,
            "threads": threads,
            "minbucket": minbucket,
            "cp": cp,
            "visit_sequence": values.split_names(visit) if visit else None,
            "keep": values.split_names(keep) if keep else None,
            "strata": values.split_names(strata) if strata else None,
            "proper": proper or None,
            "smoothing": smoothing and smoothing.value,
            "rules": rule or None,
            "max_predictors": max_predictors,
            "decode": decode and decode.value,
        },
    )
    with _progress(ctx):
        frame = _read(data, drop, written | {"missing": missing or ()}, stream=stream)
        model.fit(frame, _without(described, drop))
        dialect = detect(data, **written)
        for copy, path in enumerate(outputs):
            same = None if path.suffix.lower() == ".tsv" else dialect
            model.sample_to(path, rows, copy=copy, overwrite=force, dialect=same)
        if save_model is not None:
            model.save(save_model, overwrite=force)
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
    ctx: typer.Context,
    model: options.ModelFile,
    draw: options.Draw = None,
    force: options.Force = False,
) -> None:
    """Show what is in a model file: its method, how it sees each column, and its network.

    Example: `understudy show model.us --draw network.svg`
    """
    from rich.console import Console

    from understudy.report.terminal import model_summary
    from understudy.synthesis import BayesNet, Synthesizer

    if draw is not None:
        _check_outputs([draw], [model], force)
    fitted = Synthesizer.load(model)
    if draw is not None:
        if not isinstance(fitted, BayesNet):
            raise ParameterError(f"{model} has no network to draw: its method is {fitted.method}.")
        from understudy.report.network import draw_network

        draw_network(fitted, draw, overwrite=force)
    Console().print(model_summary(fitted))
    if draw is not None:
        _say(ctx, f"Wrote {draw}: the network.")


@app.command()
def attack(
    ctx: typer.Context,
    original: options.Original,
    synthetic: options.Synthetic,
    keys: options.AttackKeys = "",
    sensitive: options.AttackSensitive = "",
    known: options.Known = None,
    scenario: options.ScenarioFile = None,
    control: options.Control = None,
    classifiers: options.ClassifiersOption = options.Classifiers.strong,
    groups: options.Groups = "",
    processes: options.Processes = 1,
    seed: options.AttackSeed = 0,
    json: options.JsonOutput = None,
    force: options.Force = False,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    missing: options.Missing = None,
) -> None:
    """Try to learn a sensitive column of the original from a synthetic table, in many ways.

    Example: `understudy attack survey.csv synthetic.csv --keys age,education --sensitive method`
    """
    from understudy.risk.overview import overview

    if json is not None:
        _check_outputs([json], [original, synthetic, control, scenario], force)
    attacker = values.read_scenario(keys, sensitive, known, scenario)
    written = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    given = written | {"missing": missing or ()}
    grouped = values.read_groups(groups)
    with _progress(ctx):
        found = overview(
            _read(original, "", given),
            _read(synthetic, "", given),
            keys=attacker.keys,
            sensitive=attacker.sensitive,
            known=attacker.known,
            classifiers=values.preset_of(classifiers),
            control=_read(control, "", given) if control is not None else None,
            groups=grouped,
            processes=processes,
            random_state=seed,
        )
    if not ctx.obj["quiet"]:
        from rich.console import Console

        from understudy.report.attack_table import attack_table

        Console().print(attack_table(found))
    if json is not None:
        from understudy.report.attack_json import write_attack

        files = {"original": original, "synthetic": synthetic, "control": control}
        write_attack(found, json, files, {"groups": grouped, "seed": seed}, overwrite=force)
        _say(ctx, f"Wrote {json}: all results.")


@app.command()
def demo(
    ctx: typer.Context,
    output: options.DemoFolder = Path("understudy-demo"),
    seed: options.DemoSeed = 1,
    force: options.Force = False,
) -> None:
    """Synthesize the bundled survey, set its columns beside the original's, and attack it.

    Example: `understudy demo`
    """
    from understudy.demonstration import run_demo

    with _progress(ctx):
        result = run_demo(output, seed=seed, overwrite=force)
    if not ctx.obj["quiet"]:
        from rich.console import Console

        from understudy.report.attack_table import attack_table

        Console().print(result.picture(), "", attack_table(result.attack))
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


def _check_outputs(outputs: list[Path], inputs: list[Path | None], force: bool) -> None:
    """Raise before any work is done if a file cannot be written, or is one that is read."""
    from understudy.data.files import check_writable

    taken = {path.resolve() for path in inputs if path is not None}
    for output in outputs:
        if output.resolve() in taken:
            raise DataError(f"{output} is already an input or output of this command; rename it.")
        check_writable(output, overwrite=force)
        taken.add(output.resolve())


_NAMED_OTHERWISE = {"visit_sequence": "--visit", "rules": "--rule"}


def _synthesizer(
    method: options.Method, settings: Path | None, seed: int, own: dict[str, Any]
) -> Synthesizer:
    """Return the synthesizer of a method, with those options that were given, and a file's."""
    from understudy.synthesis import METHODS
    from understudy.synthesis.settings import Settings

    cls = METHODS[method.value]
    given = {name: value for name, value in own.items() if value is not None}
    wrong = [
        _NAMED_OTHERWISE.get(name, f"--{name.replace('_', '-')}")
        for name in given
        if name not in cls.parameter_names()
    ]
    if wrong:
        raise ParameterError(f"{', '.join(wrong)} does not go with --method {method.value}.")
    file = Settings.load(settings) if settings is not None else Settings()
    return cls(**(file.parameters(cls, given) | {"random_state": seed}))


def _read(data: Path, drop: str, written: dict[str, Any], *, stream: bool = False) -> Any:  # noqa: ANN401
    from understudy.data import read, scan

    unwanted = values.split_names(drop)
    if stream:
        file = scan(data, drop=unwanted, **written)
        logging.getLogger("understudy").info("%s: %s rows in batches", data, f"{file.rows:,}")
        return file
    frame = read(data, **written)
    logging.getLogger("understudy").info(
        "%s: %s rows x %s columns", data, f"{frame.height:,}", frame.width
    )
    problems = unknown_columns(unwanted, frame.columns)
    if problems:
        raise DataError(f"Columns to drop: {' '.join(problems)}")
    return frame.drop(unwanted)


def _without(described: Schema | None, drop: str) -> Schema | None:
    if described is None:
        return None
    return described.drop(*(name for name in values.split_names(drop) if name in described))


def main() -> None:
    """Run the command line; a user's mistake is one message and exit code 2, with no traceback."""
    try:
        app()
    except UnderstudyError as error:
        _console().print(f"[red bold]Error:[/] {_escape(str(error))}", soft_wrap=True)
        sys.exit(2)
