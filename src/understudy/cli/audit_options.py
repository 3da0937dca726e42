"""What `audit`, `run` and `compare` are asked for, the gate, and where the findings go."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from understudy.cli import options, session
from understudy.cli.advice_commands import AdviceCommands, shell
from understudy.cli.option_groups import Reworded, option, panel, repeated
from understudy.errors import DataError, ParameterError, did_you_mean, unknown_columns
from understudy.wording import quoted

if TYPE_CHECKING:
    import polars as pl

    from understudy.audit import Audit
    from understudy.audit.findings import Findings
    from understudy.audit.gate import GateResult
    from understudy.audit.policy import Policy
    from understudy.cli.holdout import KeptBack
    from understudy.data import Schema
    from understudy.risk.scenario import Scenario
    from understudy.synthesis import Synthesizer

Measures = Literal["quick", "standard", "full"]

_gate = panel("The gate")


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """What is to be audited, and how; what the options leave open, a policy file may say."""

    attacker: options.Attacker
    target: options.Target = ""
    test: Annotated[
        options.Place | None,
        options.audit_option(
            "Real records, not used for the synthesis, to test the predictions on.",
            default="some of the original",
            **options.PLACE,
        ),
    ] = None
    measures: Annotated[
        Measures | None,
        options.audit_option(
            "quick: lookups and shares, in seconds. standard: also trained attackers and "
            "predictions. full: everything.",
            default="standard",
        ),
    ] = None
    show_records: Annotated[
        bool,
        options.audit_option(
            "Show the values of the records most at risk in the report and the JSON file, and let "
            "messages show values that fewer than 5 records have. All are then as confidential as "
            "the data.",
            "--show-records",
        ),
    ] = False
    unit_id: Annotated[options.UnitId, Reworded(panel=options.AUDIT)] = ""
    unit_name: options.UnitName = ""
    fail_if: Annotated[
        list[str] | None,
        _gate(
            'End with exit code 1 if this holds: "verdict >= raised", "gcap.gain > 0.05", or for '
            'one release "[cart] strong.certain > 0". Repeatable.'
        ),
    ] = None
    policy: Annotated[
        Path | None,
        _gate(
            "A TOML file with such conditions. It may also say what to audit, where the options "
            "do not."
        ),
    ] = None

    @cached_property
    def _policy(self) -> Policy:
        from understudy.audit.gate import Condition
        from understudy.audit.policy import Policy, load_policy

        given = load_policy(self.policy) if self.policy is not None else Policy()
        more = (Condition.parse(text) for text in self.fail_if or ())
        return replace(given, conditions=(*given.conditions, *more))

    @cached_property
    def _scenario(self) -> Scenario | None:
        """What the attacker knows and wants; None if one of them is not said."""
        if self.attacker.scenario is None and not all(self.attacker.said(self._policy)[:2]):
            return None
        return self.attacker.read(self._policy)

    @property
    def _keys(self) -> tuple[str, ...]:
        if self._scenario is not None:
            return self._scenario.keys
        return tuple(self.attacker.said(self._policy)[0])

    @cached_property
    def _groups(self) -> dict[str, int] | None:
        return self.attacker.read_groups()

    @property
    def sensitive(self) -> str | None:
        """The column that the attacker wants to learn; None if every column is to be tried."""
        if self._scenario is None:
            return self.attacker.said(self._policy)[1] or None
        return self._scenario.sensitive

    @property
    def tests_on_control(self) -> bool:
        """Whether a target is predicted, and no records are given to test that on."""
        return self._target is not None and self.test is None and self._measures != "quick"

    @property
    def _target(self) -> str | None:
        return self.target.strip() or self._policy.target or None

    @property
    def inputs(self) -> list[options.Place | None]:
        """The files that these options name."""
        return [self.attacker.scenario, self.attacker.control, self.test, self.policy]

    def check(self, releases: Sequence[str]) -> None:
        """Raise if something cannot be used, before any table is read."""
        policy, _, _ = self._policy, self._scenario, self._groups
        if self.test is not None and self._target is None:
            raise ParameterError("--test needs --target, the column to predict.")
        for condition in policy.conditions:
            if condition.release is not None and condition.release not in releases:
                raise ParameterError(
                    f"'{condition}': there is no release {condition.release!r}; there is "
                    f"{', '.join(releases)}.{did_you_mean(condition.release, releases)}"
                )

    @property
    def in_files(self) -> bool:
        """Whether files or conditions say more about the audit than the names of columns."""
        return bool(self.policy or self.attacker.scenario or self.fail_if)

    def check_typed(self, columns: Sequence[str]) -> None:
        """Raise if the original lacks a column whose name was typed; loads nothing to find out."""
        self.attacker.check_typed(columns, self.target.strip())

    def check_columns(self, original: pl.DataFrame) -> None:
        """Raise if the original lacks a column that the audit is about, before any work."""
        named = [*self._keys, self.sensitive, self._target, *self.units()]
        problems = unknown_columns([name for name in named if name], original.columns)
        if problems:
            raise ParameterError(f"The original table: {' '.join(problems)}")
        if both := [name for name in self.units() if name in named[: -len(self.units())]]:
            raise ParameterError(
                f"--unit-id: {quoted(both)} names a unit, so it cannot be a key, the sensitive "
                "column or the target. Its values are made up in a release."
            )

    def units(self, described: Schema | None = None) -> list[str]:
        """Return the columns that name the units: the option's, a policy's or a schema's."""
        found = options.split_names(self.unit_id) or list(self._policy.unit_id)
        return found or list(described.units if described is not None else ())

    def audit(
        self,
        original: Any,  # noqa: ANN401  # a frame
        releases: Mapping[str, Sequence[Any]],
        models: Mapping[str, Synthesizer],
        seed: int,
        read: Callable[[options.Place], Any],
        kept_back: KeptBack | None = None,
        described: Schema | None = None,
        drawn: Collection[str] = (),
    ) -> Audit:
        """Run the measures; `read` gives the tables of the options.

        Records that were kept back from the synthesis are the control records, and so the test
        records too, unless others are given. `described` may say which columns name the units.
        `drawn` are releases that their models drew within this command.
        """
        from understudy.audit import audit

        known = self.attacker.said(self._policy)[2]
        if self._scenario is not None:
            known = self._scenario.known
        control, test = (
            None if path is None else read(path) for path in (self.attacker.control, self.test)
        )
        if kept_back is not None and kept_back.control is not None:
            control = kept_back.control
        with contextlib.nullcontext() if self._keys else _keys_are_no_choice():
            return audit(
                original,
                {name: list(tables) for name, tables in releases.items()},
                keys=self._keys or None,
                sensitive=self.sensitive,
                known=known,
                target=self._target,
                model=dict(models),
                control=control,
                test=test,
                measures=self._measures,
                classifiers=self.attacker.preset,
                random_state=seed,
                groups=self._groups,
                show_records=self.show_records,
                limits=self._policy.limits,
                unit=self.unit_name.strip() or self._policy.unit or None,
                unit_id=self.units(described) or None,
                drawn=drawn,
                command=_typed(),
            )

    def words(self, found: Findings) -> list[str]:
        """Return the options with which another release is audited in the same way."""
        measures, classifiers = self._measures, self.attacker.classifiers
        # What is said about one release of several would be refused for another one.
        for_all = all(one.release is None for one in self._policy.conditions)
        words = self._attacker_words(found) + repeated(
            {
                "target": found.target or None,
                "control": self.attacker.control,
                "test": self.test if self._target else None,
                "measures": measures if measures != "standard" else None,
                "classifiers": classifiers if classifiers != "strong" else None,
                "groups": self.attacker.groups or None,
                "unit_id": options.joined_names(found.unit_id) or None,
                "unit_name": self.unit_name.strip() or self._policy.unit or None,
                "policy": self.policy if for_all else None,
            }
        )
        conditions = self.fail_if or [] if for_all else []
        return words + [word for one in conditions for word in ("--fail-if", one)]

    def _attacker_words(self, found: Findings) -> list[str]:
        """Return what the attacker knows and wants; nothing if no option can say it.

        Then every column is tried, or a policy says it.
        """
        if self.attacker.scenario is not None:
            return ["--scenario", str(self.attacker.scenario)]
        keys = options.joined_names(found.keys)
        sayable = options.split_names(keys) == list(found.keys)
        if not sayable or found.sensitive.strip() != found.sensitive:
            return []
        return repeated({"keys": keys, "sensitive": found.sensitive, "known": found.known})

    @property
    def _measures(self) -> Measures:
        return self.measures or cast("Measures", self._policy.measures or "standard")

    def judge(self, found: Audit) -> GateResult:
        """Hold the releases against the gate."""
        return self._policy.check(found.findings)

    def tell(self, ctx: typer.Context, result: GateResult) -> None:
        """Say what came of the gate, each failure with value and limit; end with 1 if it failed.

        A gate that fails is told even if the command should be quiet.
        """
        if result.failed:
            session.complain(result.summary())
            raise typer.Exit(result.exit_code)
        if self._policy.conditions:
            session.say(ctx, result.summary())


@dataclass(frozen=True, kw_only=True)
class AuditOutputs:
    """Where the findings go."""

    output: Annotated[
        Path | None, options.output("The report to write: a page for a browser, .html.")
    ] = None
    json: options.Json = None
    png: Annotated[Path | None, option("Also write the charts as pictures into this folder.")] = (
        None
    )
    force: options.Force = False

    def check(self, inputs: Sequence[options.Place | None]) -> None:
        """Raise before any work is done if something cannot be written, or is read."""
        if self.output is not None and self.output.suffix.lower() not in {".html", ".htm"}:
            raise DataError(f"{self.output} should end in .html: it is a page for a browser.")
        files = [path for path in (self.output, self.json) if path is not None]
        session.check_outputs(files, inputs, self.force)
        if self.png is not None:
            session.check_folder(
                self.png, _is_picture, overwrite=self.force, inputs=[*inputs, *files]
            )

    def write(self, ctx: typer.Context, found: Audit, commands: AdviceCommands) -> None:
        """Write what was asked for, each file whole or not at all."""
        shown = " It shows values of original records." if found.shows_records else ""
        told = []
        with session.progress(ctx):
            if self.output is not None:
                found.to_html(self.output, overwrite=self.force, commands=commands)
                told.append(f"Wrote {self.output}: the report, to open in a browser.{shown}")
            if self.json is not None:
                found.to_json(self.json, overwrite=self.force)
                told.append(f"Wrote {self.json}: all findings, for programs.{shown}")
            if self.png is not None:
                from understudy.report.page import write_pictures

                with session.replaced_folder(self.png, _is_picture, overwrite=self.force) as folder:
                    pictures = len(write_pictures(found.findings, folder))
                told.append(f"Wrote {self.png}: {pictures} pictures.")
        for sentence in told:
            session.say(ctx, sentence)


def _is_picture(name: str) -> bool:
    return name.endswith(".png")


def show_audit(ctx: typer.Context, found: Audit, commands: AdviceCommands | None = None) -> None:
    """Show the verdict and the table, unless it should be quiet."""
    if ctx.obj["quiet"]:
        return
    from understudy.report.audit_table import audit_table, next_steps

    session.show(audit_table(found))
    # Not through Rich, which would break long commands into lines.
    for line in next_steps(found, commands):
        typer.echo(line)


@contextlib.contextmanager
def _keys_are_no_choice() -> Iterator[None]:
    """Leave out the warning about a key that nobody named: all other columns are keys in turn."""
    log = logging.getLogger("understudy")

    def is_asked_for(record: logging.LogRecord) -> bool:
        return not str(record.msg).startswith("The key %r")

    log.addFilter(is_asked_for)
    try:
        yield
    finally:
        log.removeFilter(is_asked_for)


def _typed() -> str:
    """Return the command as it was typed, for the record, without passwords."""
    from understudy.data.kinds.database import without_passwords

    return shell(["understudy", *map(without_passwords, sys.argv[1:])])
