"""The command line: each command a few lines over the Python API."""

from __future__ import annotations

import logging
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from understudy._version import __version__
from understudy.cli import auditing, options, session, values
from understudy.cli.attack import attack
from understudy.cli.audit import audit
from understudy.cli.compare import compare
from understudy.cli.run import run
from understudy.cli.synthesis import fresh_seed, own_parameters, synthesizer, without
from understudy.errors import ParameterError, UnderstudyError

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
    seed = fresh_seed() if seed is None else seed
    written = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    model = synthesizer(
        method,
        settings,
        seed,
        own_parameters(
            parents=parents,
            structure=structure,
            protect=protect,
            root=root,
            generations=generations,
            threads=threads,
            minbucket=minbucket,
            cp=cp,
            visit=visit,
            keep=keep,
            strata=strata,
            proper=proper,
            smoothing=smoothing,
            rule=rule,
            max_predictors=max_predictors,
            decode=decode,
        ),
    )
    with session.progress(ctx):
        frame = session.read_table(data, drop, written | {"missing": missing or ()}, stream=stream)
        model.fit(frame, without(described, drop))
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
app.command()(audit)
app.command()(run)
app.command()(compare)


@app.command()
def worlds(
    ctx: typer.Context,
    seed: options.WorldsSeed = 0,
    releases: options.Releases = 30,
    classifiers: options.TrainClassifiers = True,
    json: options.JsonOutput = None,
    force: options.Force = False,
) -> None:
    """Try the measures of risk themselves, where it is known what a release gives away.

    Example: `understudy worlds --no-classifiers`
    """
    from understudy.worlds.table import run_worlds

    if json is not None:
        session.check_outputs([json], [], force)
    with session.progress(ctx):
        found = run_worlds(seed, releases=releases, classifiers=classifiers)
    if not ctx.obj["quiet"]:
        from understudy.report.worlds_report import worlds_text

        session.show(worlds_text(found))
    for sentence in found.failures():
        logging.getLogger("understudy").info("%s", sentence)
    if json is not None:
        from understudy.report.worlds_report import write_worlds

        write_worlds(json, found, {"seed": seed, "releases": releases}, overwrite=force)
        session.say(ctx, f"Wrote {json}: all verdicts and scores.")


@app.command()
def demo(
    ctx: typer.Context,
    output: options.DemoFolder = Path("understudy-demo"),
    seed: options.DemoSeed = 1,
    force: options.Force = False,
) -> None:
    """Show the whole idea on the bundled survey: seven syntheses, attacked and compared.

    Takes less than a minute, and writes a report with the verdict into the folder.

    Example: `understudy demo`
    """
    from understudy.cli.demonstration import run_demo

    with session.progress(ctx):
        result = run_demo(output, seed=seed, overwrite=force)
    auditing.show(ctx, result.audit)
    for path, what in result.files.items():
        session.say(ctx, f"Wrote {path}: {what}.")


def main() -> None:
    """Run the command line; a user's mistake is one message and exit code 2, with no traceback."""
    # Like Ctrl-C: what was being written vanishes, in place of lying there half.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        app()
    except UnderstudyError as error:
        session.console().print(f"[red bold]Error:[/] {session.escape(str(error))}", soft_wrap=True)
        sys.exit(2)
