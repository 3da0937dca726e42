"""The command `understudy audit-privacy`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.cli import options, session
from understudy.cli.option_groups import Reworded, argument, grouped, option, panel
from understudy.cli.privacy_options import NeighboursOption
from understudy.effort import COLUMNS, LEVELS, ROWS, Effort
from understudy.errors import ParameterError

if TYPE_CHECKING:
    from understudy.risk import Command
    from understudy.synthesis import Synthesizer

_effort = panel("How long it may take")
_tables = panel("The made-up tables")


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What is claimed of a tool."""

    epsilon: Annotated[
        float | None, option("The epsilon that is claimed.", default="what the model says")
    ] = None
    delta: Annotated[
        float | None,
        option("The delta that is claimed.", default="what the model says, or 0"),
    ] = None
    neighbours: Annotated[
        NeighboursOption,
        Reworded(show_default="what the model says, or change-one", panel=None),
    ] = None


@dataclass(frozen=True, kw_only=True)
class MadeUp:
    """The tables that are made up."""

    columns: Annotated[
        int | None, _tables("Columns, for a command.", default=f"{COLUMNS}", min=1, max=20)
    ] = None
    levels: Annotated[
        int | None, _tables("Values of each column, for a command.", default=f"{LEVELS}", min=2)
    ] = None
    rows: Annotated[
        int | None,
        _tables(
            "Records of a table.", default=f"those of the model, or {ROWS} for a command", min=2
        ),
    ] = None
    released: Annotated[
        int | None, _tables("Rows of each release of a model.", default="as many", min=1)
    ] = None


@dataclass(frozen=True, kw_only=True)
class EffortOptions:
    """How long an audit may take."""

    worlds: Annotated[
        int, _effort("Pairs of neighbouring tables for exact ratios.", default=True)
    ] = Effort.worlds
    releases: Annotated[int, _effort("Releases that are drawn in each of them.", default=True)] = (
        Effort.releases
    )
    pairs: Annotated[int, _effort("Pairs of tables in which runs are simulated.", default=True)] = (
        Effort.pairs
    )
    runs: Annotated[
        int, _effort("Runs in each table of such a pair, if ratios are not known.", default=True)
    ] = Effort.runs
    confidence: Annotated[
        float, _effort("Confidence of bounds that are simulated.", default=True)
    ] = Effort.confidence
    processes: Annotated[int, _effort("Runs of a command at the same time.", default=True)] = (
        Effort.processes
    )
    timeout: Annotated[
        float | None, _effort("Seconds after which a run of a command has failed.", min=0.001)
    ] = None

    def effort(self) -> Effort:
        """Return the effort as the library knows it."""
        return Effort(**{one.name: getattr(self, one.name) for one in fields(Effort)})


@grouped
def audit_privacy(
    *,
    ctx: typer.Context,
    tool: Annotated[
        str,
        argument(
            "A model file with epsilon; or, in quotes, the command of another tool with "
            "{original}, {synthetic} and {seed}.",
            metavar="MODEL|COMMAND",
        ),
    ],
    claim: Claim,
    tables: MadeUp,
    how: EffortOptions,
    seed: options.Seed = 0,
    json: options.Json = None,
    force: options.Force = False,
) -> None:
    """Try to disprove an epsilon, on made-up tables that differ in one record. Needs no data.

    How probable a release of our models is can be computed exactly in both tables: one whose ratio
    is above epsilon disproves the claim. Other tools are run many times. The exit code is 1 if the
    claim is disproved.

    Example: `understudy audit-privacy model.us`

    Example: `understudy audit-privacy "Rscript synth.R {original} {synthetic} {seed}" --epsilon 1`
    """
    session.check_outputs([json], [], force)
    audited = _read(tool, claim, how)
    with session.progress(ctx):
        from understudy.risk.privacy_audit import audit_privacy as audit

        found = audit(
            audited, **vars(claim), **vars(tables), effort=how.effort(), random_state=seed
        )
    if not ctx.obj["quiet"]:
        from rich.text import Text

        session.show(Text(found.summary()))
    if json is not None:
        from understudy.report.privacy_json import write_privacy_audit

        settings: dict[str, Any] = {"tool": tool, "seed": seed, **vars(tables), **vars(how)}
        write_privacy_audit(json, found, settings, overwrite=force)
        session.say(ctx, f"Wrote {json}: all that was found.")
    if found.verdict == "disproved":
        raise typer.Exit(1)


def _read(tool: str, claim: Claim, how: EffortOptions) -> Synthesizer | Command:
    """Return the model in a file, or a command."""
    if "{" in tool:
        from understudy.risk import Command

        if claim.epsilon is None:
            raise ParameterError("--epsilon is needed: a command does not say what it claims.")
        return Command(tool, how.timeout)
    if how.timeout is not None:
        raise ParameterError("--timeout is for a command, not for a model.")
    from understudy.synthesis import Synthesizer

    if not Path(tool).is_file():
        raise ParameterError(
            f"There is no model file {tool!r}. Give a file that --save-model wrote, or a command "
            "with {original}, {synthetic} and {seed}, in quotes."
        )
    return Synthesizer.load(tool)
