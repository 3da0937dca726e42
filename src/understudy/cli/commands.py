"""The command line: each command a few lines over the Python API."""

from __future__ import annotations

import logging
import sys
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, cast

import typer

from understudy import stopping
from understudy._version import __version__
from understudy.cli import options, session
from understudy.cli.advice_commands import AdviceCommands
from understudy.cli.attack import attack
from understudy.cli.audit_options import AuditOptions, AuditOutputs, show_audit
from understudy.cli.audit_privacy import audit_privacy
from understudy.cli.control import control
from understudy.cli.holdout import Holdout, KeptBack, KeptBackFile
from understudy.cli.named_releases import NamedReleases
from understudy.cli.option_groups import Reworded, argument, grouped, option, repeated
from understudy.cli.preparation import (
    DependenciesOption,
    KindOption,
    read_kinds,
    show_decisions,
    with_units,
)
from understudy.cli.privacy_options import described_model
from understudy.cli.synthesis import Source, Synthesis, describes, lacking, seed_words
from understudy.cli.typed_names import AsTyped, as_typed
from understudy.errors import (
    AlreadyThereError,
    ParameterError,
    PublicDomainError,
    UnderstudyError,
)
from understudy.showing import NOT_SHOWN, showing_records
from understudy.wording import size_of

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
        bool, option("Show the version.", "--version", callback=_show_version, is_eager=True)
    ] = False,
    verbose: Annotated[bool, option("Say more about what is done.", "--verbose", "-v")] = False,
    quiet: Annotated[bool, option("Show nothing but errors.", "--quiet", "-q")] = False,
) -> None:
    """Make synthetic stand-ins for confidential tables, and attack them before anyone else can."""
    from rich.logging import RichHandler

    level = logging.ERROR if quiet else logging.INFO if verbose else logging.WARNING
    handler = RichHandler(
        console=session.console(), show_time=False, show_path=False, show_level=False
    )
    handler.addFilter(AsTyped())
    handler.addFilter(session.each_once())
    logging.basicConfig(level=level, format="%(message)s", handlers=[handler], force=True)
    ctx.obj = {"quiet": quiet}


@app.command()
@grouped
def schema(
    *,
    ctx: typer.Context,
    data: options.Data,
    output: Annotated[
        Path | None,
        options.output("The schema file to write."),
        Reworded(show_default="the terminal"),
    ] = None,
    keys: Annotated[options.Keys, Reworded(panel=None)] = "",
    sensitive: Annotated[
        options.Sensitive,
        Reworded(panel=None, help="Columns that an attacker wants to learn, separated by commas."),
    ] = "",
    target: Annotated[
        options.Target,
        Reworded(panel=None, help="Columns that an analyst wants to predict, separated by commas."),
    ] = "",
    bins: Annotated[int, option("Groups for numbers with many values.", default=True, min=1)] = 20,
    binning: Annotated[
        Literal["quantile", "width"],
        option("Groups with equally many records, or of equal width.", default=True),
    ] = "quantile",
    kind: Annotated[KindOption, Reworded(panel=None)] = None,
    unit_id: options.UnitId = "",
    dependencies: Annotated[
        DependenciesOption,
        Reworded(
            panel=None,
            help="Whether to look for what holds between columns: code and name, total = a + b, "
            "start <= end, blocks that are missing together.",
        ),
    ] = True,
    stream: options.Stream = False,
    drop: options.Drop = "",
    force: options.Force = False,
    show_records: options.ShowRecords = False,  # noqa: ARG001  # `grouped` reads it
    csv: options.Csv,
) -> None:
    """Describe a table's columns in a file that you can read and correct.

    Example: `understudy schema survey.csv -o survey.toml`
    """
    from understudy.data import Schema

    session.check_outputs([output], [data], force)
    kinds = read_kinds(kind)
    with session.progress(ctx):
        table, dialect = csv.open(data, drop, stream=stream)
        found = Schema.infer(
            table, bins=bins, binning=binning, kinds=kinds, dependencies=dependencies
        )
    found = found.with_roles(
        keys=options.split_names(keys),
        sensitive=options.split_names(sensitive),
        target=options.split_names(target),
    )
    found = with_units(found, options.split_names(unit_id))
    show_decisions(ctx, table, found, dialect)
    if output is None or str(output) == "-":
        typer.echo(found.to_toml(), nl=False)
        return
    found.save(output, overwrite=force)
    session.say(
        ctx,
        f"Wrote {output}: {len(found)} columns. Correct it where it is wrong, then: "
        f"understudy synth {data} --schema {output} -o synthetic.csv",
    )


@app.command()
@grouped
def synth(
    *,
    ctx: typer.Context,
    data: options.Data,
    output: Annotated[
        Path, options.output(f"The synthetic table to write: {options.OUTPUT_KINDS}.")
    ],
    how: Synthesis,
    unit_id: options.UnitId = "",
    save_model: Annotated[
        Path | None, option("Also write the fitted model, which is confidential.")
    ] = None,
    stream: options.Stream = False,
    engine: options.EngineName = "local",
    master: options.Master = None,
    force: options.Force = False,
    show_records: options.ShowRecords = False,  # noqa: ARG001  # `grouped` reads it
    csv: options.Csv,
) -> None:
    """Make a synthetic table from a confidential one.

    Example: `understudy synth survey.csv -o synthetic.csv --seed 1`
    """
    from understudy.data.files import check_target
    from understudy.data.spark_table import read_on_spark

    outputs = options.numbered(output, how.copies)
    for path in outputs:
        check_target(path, overwrite=force)
    session.check_outputs([*outputs, save_model], [data, *how.inputs], force)
    described, model = how.described(), how.synthesizer()
    if master is not None and engine != "spark":
        raise ParameterError("--master is for --engine spark.")

    def opened(drop: str = "") -> tuple[Any, Any]:
        if engine == "spark":
            return read_on_spark(data, options.split_names(drop), master), None
        return csv.open(data, drop, stream=stream)

    with session.progress(ctx):
        table, dialect = opened(how.drop)
        ready = how.prepare(table, described, model, options.split_names(unit_id))
        ready.show(ctx, dialect)
        # What was dropped is of the same people: the ledger knows the table by all of it.
        how.privacy.keep_account(ctx, [model], lambda: opened()[0] if how.drop else table)
        model.fit(ready.frame, ready.schema, dialect=dialect)
        how.draw(model, outputs, overwrite=force)
        if save_model is not None:
            model.save(save_model, overwrite=force, with_times=True)
    made = size_of(model.rows_to_draw(how.rows), len(model.schema_))
    for path in outputs:
        place = session.called(path)
        session.say(ctx, f"Wrote {place}: {made} ({how.method}, seed {model.random_state}).")
    if save_model is not None:
        session.say(ctx, f"Wrote {save_model}: {described_model(model)}.")


@app.command()
@grouped
def show(
    *,
    ctx: typer.Context,
    model: Annotated[Path, argument("A model file, from `understudy synth --save-model`.")],
    draw: Annotated[
        Path | None, option("Draw the network of a bayes model into this .svg or .png file.")
    ] = None,
    force: options.Force = False,
) -> None:
    """Show what is in a model file: its method, how it sees each column, and its network.

    Example: `understudy show model.us --draw network.svg`
    """
    from understudy.report.terminal import model_summary
    from understudy.synthesis import BayesNet, Synthesizer

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


app.command()(control)
app.command()(attack)
app.command("audit-privacy")(audit_privacy)


@app.command()
@grouped
def audit(
    *,
    ctx: typer.Context,
    original: options.Original,
    synthetic: Annotated[
        list[options.Place],
        argument(
            "The synthetic table, from any tool. Several are syntheses by one method.",
            metavar="SYNTHETIC...",
            **options.PLACE,
        ),
    ],
    outputs: AuditOutputs,
    asked: AuditOptions,
    model: Annotated[
        options.Model,
        Reworded(
            help="The model that made the synthetic table, from `understudy synth --save-model`. "
            "This adds an attacker who knows the model."
        ),
    ] = None,
    kept_back: KeptBackFile = None,
    seed: Annotated[options.Seed, Reworded(panel=options.AUDIT)] = 0,
    csv: options.Csv,
) -> None:
    """Say whether a synthetic table can leave the building: its risk, its use, and a verdict.

    Ends with exit code 0, with 1 if the gate fails (--fail-if, --policy), and with 2 for mistakes.
    Without --sensitive, it tries every column: which gives people away?

    Example: `understudy audit data.csv synthetic.csv --keys age,job --sensitive ill -o report.html`

    Example: `understudy audit data.csv synthetic.csv --policy policy.toml --json audit.json`
    """
    if asked.in_files:
        asked.check([_release_name(synthetic)])
    outputs.check([original, *synthetic, model, kept_back, *asked.inputs])
    with session.progress(ctx):
        first, dialect = csv.open(original)
        asked.check_typed(first.columns)
        name = _release_name(synthetic)
        asked.check([name])
        models = _loaded({} if model is None else {name: model})
        read = partial(csv.read, like=dialect)
        tables = list(map(read, synthetic))
        parts = None if kept_back is None else KeptBack.read(kept_back, first, asked)
        used = first if parts is None else parts.kept
        found = asked.audit(used, {name: tables}, models, seed, read, parts)
    found = found if parts is None else parts.tell(found)
    commands = AdviceCommands(
        original,
        csv,
        {
            name: Source(
                synthetic[0],
                model=model,
                schema=model if models and describes(models[name], first) else None,
                drop=lacking(first, tables),
            )
        },
        synthesis=[
            *(word for made in models.values() for word in seed_words(made)),
            *repeated({"unit_id": options.joined_names(found.findings.unit_id) or None}),
        ],
        audit=asked.words(found.findings),
        seed=seed,
        rerun=None if parts is None else parts.again(),
        kept_back=repeated({"kept_back": kept_back}),
    )
    show_audit(ctx, found, commands)
    outputs.write(ctx, found, commands)
    asked.tell(ctx, asked.judge(found))


@app.command()
@grouped
def run(
    *,
    ctx: typer.Context,
    data: options.Data,
    output: Annotated[
        Path,
        options.output(
            "The folder to make. It holds the release and, in a folder of its own, what is "
            "confidential."
        ),
    ],
    force: options.Force = False,
    final: Annotated[
        bool,
        option(
            "After the audit, make the release anew from all records, with the same settings. The "
            "audit stays that of the release without the records kept back.",
            "--final",
        ),
    ] = False,
    asked: AuditOptions,
    holdout: Holdout,
    how: Synthesis,
    csv: options.Csv,
) -> None:
    """Make a release: synthesize, audit, and put everything in a folder that says what may leave.

    The folder has the synthetic table and a README.md, and in `confidential/` the report, the
    findings, the model and the schema. If the gate fails (exit code 1), nothing in it may leave.
    A fifth of the records is kept back from the synthesis, to test the release with (--holdout).

    Example: `understudy run data.csv -o release --method cart --keys age,job --sensitive ill`

    Example: `understudy run data.csv -o release --keys age,job --sensitive ill --final`
    """
    from understudy.cli.release_folder import Release, ReleaseFolder

    folder = ReleaseFolder.planned(output, data, how.copies, overwrite=force)
    paths = [output / table for table in folder.tables]
    if asked.in_files:
        asked.check([_release_name(paths)])
    holdout.check(asked)
    folder.check([data, *how.inputs, *asked.inputs])
    with session.progress(ctx):
        everybody, dialect = csv.open(data, how.drop)
    asked.check_typed(everybody.columns)
    name = _release_name(paths)
    asked.check([name])
    described, model = how.described(), how.synthesizer()
    with session.progress(ctx), folder.being_made() as made:
        read = partial(csv.read, like=dialect)
        # What is asked of the attacker is checked before the synthesis takes its time.
        asked.check_columns(everybody)
        units = asked.units(described)
        seed = cast("int", model.random_state)
        parts = holdout.part(everybody, asked, seed, units=units, models=[model])
        ready = how.prepare(parts.kept, described, model, units)
        ready.show(ctx, dialect)
        parts = parts.prepared(ready)
        how.privacy.keep_account(
            ctx,
            [model],
            lambda: csv.open(data)[0] if how.drop else everybody,
            times=2 if final and parts.control is not None else 1,
        )
        model.fit(ready.frame, ready.schema, dialect=dialect).avoid_identifiers(everybody)
        tables = [made / table for table in folder.tables]
        how.draw(model, tables)
        # The audit is of what the others will read, not of what was drawn.
        drawn = [how.read_drawn(path, read) for path in tables]
        found = asked.audit(
            parts.kept,
            {name: drawn},
            {name: model},
            0,
            lambda path: ready.alike(read(path)),
            parts,
            described,
            drawn=[name],
        )
        result = asked.judge(found)
        failed, kept_back = bool(result.failed), parts.control is not None
        anew = final and kept_back and not failed
        if anew:
            ready = how.prepare(everybody, described, model, units)
            model.fit(ready.frame, ready.schema, dialect=dialect)
            how.draw(model, tables, overwrite=True)
        found = parts.tell(found, final=anew)
        commands = AdviceCommands(
            data,
            csv,
            {name: how.source(*folder.table_and_model(failed=failed))},
            synthesis=how.words(),
            audit=asked.words(found.findings),
            rerun=holdout.again(asked, how.copies, final=final),
        )
        rows = model.rows_to_draw(how.rows)
        back = "" if anew else parts.written()
        release = Release(model, rows, found, kept_back, anew, failed, ready.open_note)
        folder.describe(made, release, commands, back)
    show_audit(ctx, found, commands)
    if final and not anew:
        why = "it failed its gate" if failed and kept_back else "no records were kept back"
        session.say(ctx, f"The release was not made anew: {why}.")
    how_made = f"{', made from all records' * anew} ({how.method}, seed {model.random_state})"
    contents = folder.contents(model, failed=failed, kept_back=bool(back))
    _say_written(ctx, contents, folder.tables, how_made)
    asked.tell(ctx, result)


def _say_written(
    ctx: typer.Context, written: Mapping[Path, str], tables: Collection[str], how_made: str
) -> None:
    """Say what each file of a release is, and of its tables how they were made."""
    for path, what in written.items():
        by = how_made if path.name in tables else ""
        session.say(ctx, f"Wrote {path}: {what}{by}.")


@app.command()
@grouped
def compare(
    *,
    ctx: typer.Context,
    original: options.Original,
    outputs: AuditOutputs,
    compared: NamedReleases,
    asked: AuditOptions,
    holdout: Holdout,
    seed: Annotated[options.Seed, Reworded(panel=options.AUDIT)] = 0,
    csv: options.Csv,
) -> None:
    """Audit several synthetic tables, or methods, side by side in one report.

    A method is NAME=METHOD:PARAMETER=VALUE,... with the parameters of its synthesizer. Write values
    as in TOML (4, 0.01, true, ["age", "sex"]). Plain words need no quotes, and protect is
    SENSITIVE:TARGET. The tables made here are not kept: use `understudy run` for the one that you
    choose. If there are methods only, a fifth of the records is kept back from them (--holdout).

    Example: `understudy compare data.csv a.csv new=b.csv --keys age,job --sensitive ill`

    Example: `understudy compare data.csv --methods cart,bayes --method "strict=cart:minbucket=50"`
    `--protect ill:job --keys age,sex --sensitive ill --target job -o report.html`
    """
    outputs.check([original, *compared.inputs, *asked.inputs])
    with session.progress(ctx):
        everybody, dialect = csv.open(original)
        asked.check_typed(everybody.columns)
        files, made, models = compared.read(seed)
        asked.check([*files, *made])
        holdout.check(asked, list(files))
        asked.check_columns(everybody)
        described = compared.described()
        units = asked.units(described)
        parts = holdout.part(everybody, asked, seed, list(files), units, made.values())
        ready = compared.prepare(parts.kept, made, units)
        parts = parts.prepared(ready)

        def read(path: options.Place) -> Any:  # noqa: ANN401  # a frame
            return ready.alike(csv.read(path, like=dialect))

        releases = {name: list(map(read, paths)) for name, paths in files.items()}
        compared.files.keep_account(ctx, made.values(), lambda: everybody)
        releases |= compared.synthesize(ready, made)
        found = asked.audit(
            parts.kept, releases, models | made, seed, read, parts, described, drawn=list(made)
        )
    found = parts.tell(found)
    sources = compared.sources(everybody, releases, made)
    commands = AdviceCommands(
        original,
        csv,
        sources,
        synthesis=compared.words(seed),
        audit=asked.words(found.findings),
        seed=seed,
        rerun=holdout.again(asked, compared.copies, list(files)),
    )
    show_audit(ctx, found, commands)
    outputs.write(ctx, found, commands)
    asked.tell(ctx, asked.judge(found))


def _loaded(models: Mapping[str, Path]) -> dict[str, Any]:
    """Return the models by name, which loads all that models are made of."""
    from understudy.synthesis import Synthesizer

    return {name: Synthesizer.load(path) for name, path in models.items()}


def _release_name(synthetic: Sequence[options.Place]) -> str:
    """Return what a release is called: its file, if it is one."""
    from understudy.audit.task import RELEASE

    return str(synthetic[0]) if len(synthetic) == 1 else RELEASE


@app.command()
@grouped
def worlds(
    *,
    ctx: typer.Context,
    seed: options.Seed = 0,
    releases: Annotated[int, option("Random releases of each kind.", default=True, min=2)] = 30,
    classifiers: Annotated[
        bool,
        option(
            "Also test the classifiers, which takes longer.",
            "--classifiers/--no-classifiers",
            default=True,
        ),
    ] = True,
    json: options.Json = None,
    force: options.Force = False,
) -> None:
    """Test the measures of risk themselves, on releases that are known to give much or little away.

    Example: `understudy worlds --no-classifiers`
    """
    from understudy.worlds.table import run_worlds

    session.check_outputs([json], [], force)
    with session.progress(ctx):
        found = run_worlds(seed, releases=releases, classifiers=classifiers)
    if not ctx.obj["quiet"]:
        from understudy.report.worlds_report import worlds_text

        hint = "To see why a measure fails: understudy -v worlds, or --json FILE."
        session.show(worlds_text(found, hint))
    for sentence in found.failures():
        logging.getLogger("understudy").info("%s", sentence)
    if json is not None:
        from understudy.report.worlds_report import write_worlds

        write_worlds(json, found, {"seed": seed, "releases": releases}, overwrite=force)
        session.say(ctx, f"Wrote {json}: all verdicts and scores.")


@app.command()
@grouped
def demo(
    *,
    ctx: typer.Context,
    output: Annotated[
        Path, options.output("Folder for what it makes."), Reworded(show_default=True)
    ] = Path("understudy-demo"),
    seed: options.Seed = 1,
    unit_name: Annotated[options.UnitName, Reworded(panel=None, show_default=True)] = "people",
    force: options.Force = False,
) -> None:
    """Show the whole idea on the bundled survey: seven syntheses, attacked and compared.

    Takes less than a minute, and writes a report with the verdict into the folder.

    Example: `understudy demo`
    """
    from understudy.cli.demonstration import run_demo

    with session.progress(ctx):
        result = run_demo(output, seed=seed, unit=unit_name, overwrite=force)
    show_audit(ctx, result.audit)
    for path, what in result.files.items():
        session.say(ctx, f"Wrote {path}: {what}.")


def main() -> None:
    """Run the command line; a user's mistake is one message and exit code 2, with no traceback.

    Ctrl-C and SIGTERM end it within a second with 130 and 143, a fault of understudy itself with 3.
    """
    tell_stopped = stopping.once(session.tell_stopped)
    with stopping.stoppable(tell_stopped):
        try:
            session.check_address_limit()
            app()
        except BaseException as error:  # noqa: BLE001  # a panic of polars is no Exception
            stopped = error if isinstance(error, stopping.Stopped) else stopping.asked()
            if stopped is None or isinstance(error, SystemExit):
                _tell(error)
            tell_stopped()
            stopping.leave(stopped.exit_code)


def _tell(error: BaseException) -> NoReturn:
    """Say what went wrong, and end with the exit code for it."""
    if isinstance(error, SystemExit):
        raise error
    if isinstance(error, UnderstudyError):
        message = as_typed(str(error))
        if isinstance(error, AlreadyThereError):
            message = f"{error.path} already exists. Choose another name, or add --force."
        elif isinstance(error, PublicDomainError):
            message = message.replace(error.in_python, "or --public-schema FILE")
        elif NOT_SHOWN in message:
            message += " To see it, add --show-records where nobody else can look."
        session.complain("Error:", f" {message}")
    elif isinstance(error, MemoryError):
        session.complain_of_memory()
    elif isinstance(error, OSError):
        at = f" ({error.filename})" if error.filename else ""
        session.complain("Error:", f" {error.strerror or type(error).__name__}{at}.")
    else:
        with showing_records("--show-records" in sys.argv):
            session.complain_of_bug(error)
        sys.exit(3)
    sys.exit(2)
