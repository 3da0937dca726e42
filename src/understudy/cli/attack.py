"""The command `understudy attack`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli import options, session
from understudy.cli.attacker import Attacker
from understudy.cli.option_groups import Reworded, grouped, option
from understudy.cli.strong_options import StrongOptions
from understudy.errors import ParameterError

if TYPE_CHECKING:
    from understudy.audit.findings import Figure
    from understudy.risk.scenario import Scenario


@grouped
def attack(
    *,
    ctx: typer.Context,
    original: options.Original,
    synthetic: Annotated[
        Path, typer.Argument(help="The synthetic table, from any tool.", show_default=False)
    ],
    attacker: Annotated[Attacker, Reworded(panel=None)],
    strong: StrongOptions,
    processes: Annotated[
        int,
        option(
            "Classifiers, fits or runs at the same time. The result is the same.",
            default=True,
            min=1,
        ),
    ] = 1,
    seed: options.Seed = 0,
    json: options.Json = None,
    force: options.Force = False,
    csv: options.Csv,
) -> None:
    """Try to learn what is in the original from a synthetic table, in many ways.

    With --strong, an attacker who knows the synthesizer and all records but one tries, too. Without
    --keys, nobody else does.

    Example: `understudy attack survey.csv synthetic.csv --keys age,education --sensitive method`

    Example: `understudy attack survey.csv synthetic.csv --model model.us --strong method`
    """
    strong.check(force=force)
    scenario = _scenario(attacker, strong)
    inputs = [original, synthetic, attacker.control, attacker.scenario, strong.model]
    outputs = [json, strong.strong_output]
    session.check_outputs(outputs, inputs, force)
    # Not a file to replace: it is there already when an attack goes on.
    session.check_outputs([strong.resume], [*inputs, *outputs], force=True)
    source = strong.source()
    groups = attacker.read_groups()
    found = told = None
    more: list[Figure] = []
    with session.progress(ctx):
        tables = [csv.read(path) for path in (original, synthetic)]
        strong.check_table(tables[0])
        if scenario is not None:
            from understudy.audit.run import declared_attacks
            from understudy.report.attack_table import IN_OVERVIEW
            from understudy.risk.overview import overview

            control = csv.read(attacker.control) if attacker.control is not None else None
            found = overview(
                *tables,
                keys=scenario.keys,
                sensitive=scenario.sensitive,
                known=scenario.known,
                classifiers=attacker.preset,
                control=control,
                groups=groups,
                processes=processes,
                random_state=seed,
            )
            more = declared_attacks(
                tables[0],
                tables[1],
                scenario,
                control=control,
                groups=groups,
                seed=seed,
                without=IN_OVERVIEW,
            )
        if source is not None:
            told = strong.attack(source, *tables, groups=groups, processes=processes, seed=seed)
    if not ctx.obj["quiet"]:
        from understudy.report.attack_table import attack_table

        session.show(
            *([attack_table(found, more)] if found is not None else []),
            *([""] if found is not None and told is not None else []),
            *(strong.tables(told) if told is not None else []),
        )
    if json is not None:
        from understudy.report.attack_json import write_attack

        files = {
            "original": original,
            "synthetic": synthetic,
            "control": attacker.control,
            "model": strong.model,
        }
        settings = {"groups": groups, "seed": seed, "strong": strong.settings()}
        write_attack(json, found, told, files, settings, overwrite=force)
        session.say(ctx, f"Wrote {json}: all results.")
    if strong.strong_output is not None and told is not None:
        from understudy.data import write

        rows = told.to_frame(values=strong.show_records)
        write(rows, strong.strong_output, overwrite=force)
        session.say(
            ctx,
            f"Wrote {strong.strong_output}: a row for each of {len(told):,} records, as "
            "confidential as the data.",
        )


def _scenario(attacker: Attacker, strong: StrongOptions) -> Scenario | None:
    """Return the scenario of the other attacks; None if only the strong attacker is asked for."""
    if not strong.wanted or attacker.named:
        return attacker.read()
    if attacker.known is not None:
        raise ParameterError("--known goes with --keys and --sensitive.")
    if attacker.control is not None:
        raise ParameterError("--control goes with --keys and --sensitive.")
    if attacker.groups and strong.command is None:
        raise ParameterError(
            "--groups goes with --keys and --sensitive, or with --command: a model has groups of "
            "its own."
        )
    return None
