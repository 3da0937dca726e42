"""The command `understudy attack`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from understudy.cli import attack_options as attacks
from understudy.cli import options, session, values
from understudy.cli.strong import StrongOptions
from understudy.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from understudy.risk import Overview, StrongAttack
    from understudy.risk.scenario import Scenario


def attack(  # Typer declares options as arguments
    ctx: typer.Context,
    original: attacks.Original,
    synthetic: attacks.Synthetic,
    keys: attacks.AttackKeys = "",
    sensitive: attacks.AttackSensitive = "",
    known: attacks.Known = None,
    scenario: attacks.ScenarioFile = None,
    control: attacks.Control = None,
    classifiers: attacks.ClassifiersOption = attacks.Classifiers.strong,
    strong: attacks.Strong = None,
    model: attacks.AttackModel = None,
    prior: attacks.PriorOption = None,
    mode: attacks.ModeOption = None,
    records: attacks.Records = None,
    worst: attacks.Worst = 0,
    show_records: attacks.ShowRecords = False,
    strong_output: attacks.StrongOutput = None,
    command: attacks.BlackBox = None,
    runs: attacks.Runs = None,
    cells: attacks.CellColumns = None,
    resume: attacks.Resume = None,
    groups: attacks.Groups = "",
    processes: attacks.Processes = 1,
    seed: attacks.AttackSeed = 0,
    json: options.JsonOutput = None,
    force: options.Force = False,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    missing: options.Missing = None,
) -> None:
    """Try to learn what is in the original from a synthetic table, in many ways.

    With --strong also, or only, as one who knows the synthesizer and all records but one.

    Example: `understudy attack survey.csv synthetic.csv --keys age,education --sensitive method`

    Example: `understudy attack survey.csv synthetic.csv --model model.us --strong method`
    """
    asked = StrongOptions(
        strong,
        model,
        command,
        prior,
        mode,
        records,
        runs,
        cells,
        resume,
        worst,
        show_records,
        strong_output,
    )
    asked.check(force=force)
    attacker = _scenario(asked, keys, sensitive, known, scenario)
    if attacker is None:
        _refuse_others(asked, control, groups)
    inputs = [original, synthetic, control, scenario, model]
    outputs = [path for path in (json, strong_output) if path is not None]
    session.check_outputs(outputs, inputs, force)
    if resume is not None:
        # Not a file to replace: it is there already when an attack goes on.
        session.check_outputs([resume], [*inputs, *outputs], force=True)
    source = asked.source()
    given = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    written = given | {"missing": missing or ()}
    grouped = values.read_groups(groups)
    with session.progress(ctx):
        tables = [session.read_table(path, "", written) for path in (original, synthetic)]
        asked.check_table(tables[0])
        found, told = None, None
        if attacker is not None:
            from understudy.risk.overview import overview

            found = overview(
                *tables,
                keys=attacker.keys,
                sensitive=attacker.sensitive,
                known=attacker.known,
                classifiers=values.preset_of(classifiers),
                control=session.read_table(control, "", written) if control is not None else None,
                groups=grouped,
                processes=processes,
                random_state=seed,
            )
        if source is not None:
            told = asked.attack(source, *tables, groups=grouped, processes=processes, seed=seed)
    if not ctx.obj["quiet"]:
        session.show(*_results(found, told, asked))
    if json is not None:
        from understudy.report.attack_json import write_attack

        files = {"original": original, "synthetic": synthetic, "control": control, "model": model}
        settings = {"groups": grouped, "seed": seed, "strong": asked.settings()}
        write_attack(json, found, told, files, settings, overwrite=force)
        session.say(ctx, f"Wrote {json}: all results.")
    if strong_output is not None and told is not None:
        from understudy.data import write

        write(asked.per_record(told), strong_output, overwrite=force)
        session.say(
            ctx,
            f"Wrote {strong_output}: a row for each of {len(told):,} records, as confidential as "
            "the data.",
        )


def _scenario(
    asked: StrongOptions, keys: str, sensitive: str, known: int | None, file: Path | None
) -> Scenario | None:
    """Return the scenario of the other attacks; None if only the strong attacker is asked for."""
    if asked.wanted and not keys and not sensitive and file is None:
        if known is not None:
            raise ParameterError("--known goes with --keys and --sensitive.")
        return None
    return values.read_scenario(keys, sensitive, known, file)


def _refuse_others(asked: StrongOptions, control: Path | None, groups: str) -> None:
    """Raise if there are options that the strong attacker alone does not take."""
    if control is not None:
        raise ParameterError("--control goes with --keys and --sensitive.")
    if groups and asked.command is None:
        raise ParameterError(
            "--groups goes with --keys and --sensitive, or with --command: a model has groups of "
            "its own."
        )


def _results(
    found: Overview | None, told: StrongAttack | None, asked: StrongOptions
) -> Iterator[RenderableType]:
    """Yield the results that there are, for the terminal."""
    if found is not None:
        from understudy.report.attack_table import attack_table

        yield attack_table(found)
    if found is not None and told is not None:
        yield ""
    if told is not None:
        from understudy.report.strong_table import strong_table, worst_table

        yield strong_table(told)
        if asked.worst:
            yield worst_table(told, asked.worst, guesses=asked.show_records)
