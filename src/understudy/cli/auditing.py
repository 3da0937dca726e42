"""What `audit`, `run` and `compare` have in common: what is asked, the gate, and the outputs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from understudy.cli import session, values
from understudy.cli.attack_options import Classifiers
from understudy.cli.audit_options import Measures
from understudy.errors import DataError, ParameterError, did_you_mean

if TYPE_CHECKING:
    from understudy.audit import Audit
    from understudy.audit.gate import Condition, GateResult, Missing
    from understudy.audit.policy import Policy
    from understudy.risk.scenario import Scenario
    from understudy.synthesis import Synthesizer


@dataclass(frozen=True)
class Gate:
    """When the command ends with exit code 1."""

    conditions: tuple[Condition, ...]
    missing: Missing

    def check_names(self, names: Sequence[str]) -> None:
        """Raise if a condition is about a release that there will not be, before any work."""
        for condition in self.conditions:
            if condition.release is not None and condition.release not in names:
                raise ParameterError(
                    f"'{condition}': there is no release {condition.release!r}; there is "
                    f"{', '.join(names)}.{did_you_mean(condition.release, names)}"
                )

    def check(self, found: Audit) -> GateResult:
        """Hold the releases against the conditions."""
        from understudy.audit.gate import check

        return check(found.findings, self.conditions, missing=self.missing)

    def tell(self, ctx: typer.Context, result: GateResult) -> None:
        """Say what came of it, each failure with its value and limit; end with 1 if there is one.

        A gate that fails is told even if the command should be quiet.
        """
        if result.failed:
            session.console().print(
                f"[red bold]{session.escape(result.summary())}[/]", soft_wrap=True
            )
            raise typer.Exit(result.exit_code)
        if self.conditions:
            session.say(ctx, result.summary())


@dataclass(frozen=True)
class Request:
    """What is to be audited, and how; all that can be checked before tables are read is."""

    scenario: Scenario
    target: str | None
    measures: Measures
    classifiers: Classifiers
    groups: Mapping[str, int] | None
    control: Path | None
    test: Path | None
    show_records: bool
    gate: Gate
    written: Mapping[str, Any]
    inputs: tuple[Path, ...]

    @property
    def dialect(self) -> dict[str, Any]:
        """How the CSV files are written, but for what stands for a missing value."""
        return {name: value for name, value in self.written.items() if name != "missing"}

    def audit(
        self,
        original: Any,  # noqa: ANN401  # a frame
        synthetic: Mapping[str, Sequence[Any]],
        models: Mapping[str, Synthesizer],
        seed: int,
    ) -> Audit:
        """Run the measures."""
        from understudy.audit import audit

        control, test = (
            None if path is None else session.read_table(path, "", dict(self.written))
            for path in (self.control, self.test)
        )
        return audit(
            original,
            {name: list(tables) for name, tables in synthetic.items()},
            keys=self.scenario.keys,
            sensitive=self.scenario.sensitive,
            known=self.scenario.known,
            target=self.target,
            model=dict(models),
            control=control,
            test=test,
            measures=self.measures.value,
            classifiers=values.preset_of(self.classifiers),
            random_state=seed,
            groups=self.groups,
            show_records=self.show_records,
            command=typed(),
        )


def read_request(
    *,
    keys: str,
    sensitive: str,
    known: int | None,
    scenario: Path | None,
    target: str,
    control: Path | None,
    test: Path | None,
    measures: Measures | None,
    classifiers: Classifiers,
    groups: str,
    show_records: bool,
    fail_if: Sequence[str] | None,
    policy: Path | None,
    written: Mapping[str, Any],
) -> Request:
    """Return what the options ask for; what they leave open, a policy file may say."""
    from understudy.audit.gate import Condition
    from understudy.audit.policy import Policy, load_policy

    given = load_policy(policy) if policy is not None else Policy()
    conditions = (*given.conditions, *(Condition.parse(text) for text in fail_if or ()))
    wanted = target.strip() or given.target or None
    if test is not None and wanted is None:
        raise ParameterError("--test goes with --target, which names what is predicted.")
    inputs = (scenario, control, test, policy)
    return Request(
        scenario=_scenario(keys, sensitive, known, scenario, given),
        target=wanted,
        measures=measures or Measures(given.measures or Measures.standard),
        classifiers=classifiers,
        groups=values.read_groups(groups),
        control=control,
        test=test,
        show_records=show_records,
        gate=Gate(conditions, given.missing),
        written=written,
        inputs=tuple(path for path in inputs if path is not None),
    )


def _scenario(
    keys: str, sensitive: str, known: int | None, file: Path | None, policy: Policy
) -> Scenario:
    from understudy.risk.scenario import Scenario

    if file is not None:
        return values.read_scenario(keys, sensitive, known, file)
    names = values.split_names(keys) or list(policy.keys)
    wanted = sensitive.strip() or policy.sensitive
    if not names or not wanted:
        raise ParameterError(
            "Give --keys and --sensitive, or a --scenario file, or a --policy file with them."
        )
    if known is None and not keys:
        known = policy.known  # which goes with the keys of the policy
    return Scenario(names, wanted, known)


@dataclass(frozen=True)
class Outputs:
    """Where the findings go."""

    report: Path | None
    json: Path | None
    pictures: Path | None
    force: bool

    def check(self, inputs: Sequence[Path | None]) -> None:
        """Raise before any work is done if something cannot be written, or is read."""
        if self.report is not None and self.report.suffix.lower() not in {".html", ".htm"}:
            raise DataError(f"{self.report} should end in .html: it is a page for a browser.")
        files = [path for path in (self.report, self.json) if path is not None]
        session.check_outputs(files, inputs, self.force)
        if self.pictures is not None:
            from understudy.cli.folders import check_folder

            check_folder(self.pictures, is_picture, overwrite=self.force, inputs=[*inputs, *files])

    def write(self, ctx: typer.Context, found: Audit) -> None:
        """Write what was asked for, each file whole or not at all."""
        shown = " It shows values of original records." if found.shows_records else ""
        with session.progress(ctx):
            if self.report is not None:
                found.to_html(self.report, overwrite=self.force)
            if self.json is not None:
                found.to_json(self.json, overwrite=self.force)
            if self.pictures is not None:
                from understudy.cli.folders import replaced_folder
                from understudy.report.page import write_pictures

                with replaced_folder(self.pictures, is_picture, overwrite=self.force) as folder:
                    pictures = len(write_pictures(found.findings, folder))
        if self.report is not None:
            session.say(ctx, f"Wrote {self.report}: the report, to open in a browser.{shown}")
        if self.json is not None:
            session.say(ctx, f"Wrote {self.json}: all findings, for programs.{shown}")
        if self.pictures is not None:
            session.say(ctx, f"Wrote {self.pictures}: {pictures} pictures.")


def is_picture(name: str) -> bool:
    """Tell whether a file is one of the charts' pictures."""
    return name.endswith(".png")


def show(ctx: typer.Context, found: Audit) -> None:
    """Show the verdict and the table, unless it should be quiet."""
    if ctx.obj["quiet"]:
        return
    from understudy.report.audit_table import audit_table, next_steps

    session.show(audit_table(found))
    # Not through Rich, which would break long commands into lines.
    for line in next_steps(found):
        typer.echo(line)


def typed() -> str:
    """Return the command as it was typed, for the record."""
    from understudy.audit.commands import shell

    return shell(["understudy", *sys.argv[1:]])
