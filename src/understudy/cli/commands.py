"""The command line: each command a few lines over the Python API."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy._version import __version__
from understudy.cli import options, session, values
from understudy.cli.attack import attack
from understudy.errors import ParameterError, UnderstudyError

if TYPE_CHECKING:
    from understudy.data import Schema
    from understudy.synthesis import Synthesizer


app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
    handler = RichHandler(
        console=session.console(), show_time=False, show_path=False, show_level=False
    )
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

    session.check_outputs([output] if output else [], [data], force)
    written = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    with session.progress(ctx):
        frame = session.read_table(data, drop, written | {"missing": missing or ()}, stream=stream)
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
    session.say(
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
    session.check_outputs([*outputs, *filter(None, [save_model])], [data, schema, settings], force)
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
    with session.progress(ctx):
        frame = session.read_table(data, drop, written | {"missing": missing or ()}, stream=stream)
        model.fit(frame, _without(described, drop))
        dialect = detect(data, **written)
        for copy, path in enumerate(outputs):
            same = None if path.suffix.lower() == ".tsv" else dialect
            model.sample_to(path, rows, copy=copy, overwrite=force, dialect=same)
        if save_model is not None:
            model.save(save_model, overwrite=force)
    made = rows or model.n_rows_
    for path in outputs:
        session.say(
            ctx,
            f"Wrote {path}: {made:,} rows x {len(model.schema_)} columns "
            f"({method.value}, seed {seed}).",
        )
    if save_model is not None:
        session.say(ctx, f"Wrote {save_model}: the model, as confidential as the data.")


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
    from understudy.report.terminal import model_summary
    from understudy.synthesis import BayesNet, Synthesizer

    if draw is not None:
        session.check_outputs([draw], [model], force)
    fitted = Synthesizer.load(model)
    if draw is not None:
        if not isinstance(fitted, BayesNet):
            raise ParameterError(f"{model} has no network to draw: its method is {fitted.method}.")
        from understudy.report.network import draw_network

        draw_network(fitted, draw, overwrite=force)
    session.show(model_summary(fitted))
    if draw is not None:
        session.say(ctx, f"Wrote {draw}: the network.")


app.command()(attack)


@app.command()
def worlds(
    ctx: typer.Context,
    seed: options.WorldsSeed = 0,
    releases: options.Releases = 25,
    classifiers: options.TrainClassifiers = True,
    json: options.JsonOutput = None,
    force: options.Force = False,
) -> None:
    """Try the measures of risk themselves, where it is known what a release gives away.

    Example: `understudy worlds --no-classifiers`
    """
    from understudy.studies.worlds import run_worlds

    if json is not None:
        session.check_outputs([json], [], force)
    with session.progress(ctx):
        found = run_worlds(seed, releases=releases, classifiers=classifiers)
    if not ctx.obj["quiet"]:
        from understudy.report.worlds_text import worlds_text

        session.show(worlds_text(found))
    for sentence in found.failures():
        logging.getLogger("understudy").info("%s", sentence)
    if json is not None:
        from understudy.report.worlds_json import write_worlds

        write_worlds(json, found, {"seed": seed, "releases": releases}, overwrite=force)
        session.say(ctx, f"Wrote {json}: all verdicts and scores.")


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

    with session.progress(ctx):
        result = run_demo(output, seed=seed, overwrite=force)
    if not ctx.obj["quiet"]:
        from understudy.report.attack_table import attack_table

        session.show(result.picture(), "", attack_table(result.attack))
    for path, what in result.files.items():
        session.say(ctx, f"Wrote {path}: {what}.")


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


def _without(described: Schema | None, drop: str) -> Schema | None:
    if described is None:
        return None
    return described.drop(*(name for name in values.split_names(drop) if name in described))


def main() -> None:
    """Run the command line; a user's mistake is one message and exit code 2, with no traceback."""
    try:
        app()
    except UnderstudyError as error:
        session.console().print(f"[red bold]Error:[/] {session.escape(str(error))}", soft_wrap=True)
        sys.exit(2)
