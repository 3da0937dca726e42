"""The command `understudy audit`."""

from __future__ import annotations

from pathlib import Path

import typer

from understudy.cli import attack_options as attacks
from understudy.cli import audit_options as audits
from understudy.cli import auditing, options, session


def audit(  # Typer declares options as arguments
    ctx: typer.Context,
    original: attacks.Original,
    synthetic: audits.Syntheses,
    output: audits.Report = None,
    json: audits.AuditJson = None,
    png: audits.Pictures = None,
    force: options.Force = False,
    keys: audits.AuditKeys = "",
    sensitive: audits.AuditSensitive = "",
    known: audits.AuditKnown = None,
    scenario: audits.AuditScenario = None,
    model: audits.AuditModel = None,
    control: audits.AuditControl = None,
    target: audits.AuditTarget = "",
    test: audits.AuditTest = None,
    measures: audits.MeasuresOption = None,
    classifiers: audits.AuditClassifiers = attacks.Classifiers.strong,
    groups: audits.AuditGroups = "",
    seed: audits.MeasuresSeed = 0,
    show_records: audits.ShowValues = False,
    fail_if: audits.FailIf = None,
    policy: audits.PolicyFile = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    missing: options.Missing = None,
) -> None:
    """Say whether a synthetic table can leave the building: its risk, its use, and a verdict.

    Ends with exit code 0, with 1 if the gate fails (--fail-if, --policy), and with 2 for mistakes.

    Example: `understudy audit data.csv synthetic.csv --keys age,job --sensitive ill -o report.html`

    Example: `understudy audit data.csv synthetic.csv --policy policy.toml --json audit.json`
    """
    request = auditing.read_request(
        keys=keys,
        sensitive=sensitive,
        known=known,
        scenario=scenario,
        target=target,
        control=control,
        test=test,
        measures=measures,
        classifiers=classifiers,
        groups=groups,
        show_records=show_records,
        fail_if=fail_if,
        policy=policy,
        written=session.written(delimiter, decimal, encoding, missing),
    )
    name = release_name(synthetic)
    request.gate.check_names([name])
    outputs = auditing.Outputs(output, json, png, force)
    outputs.check([original, *synthetic, model, *request.inputs])
    models = {}
    if model is not None:
        from understudy.synthesis import Synthesizer

        models[name] = Synthesizer.load(model)
    with session.progress(ctx):
        first, *tables = (
            session.read_table(path, "", dict(request.written)) for path in (original, *synthetic)
        )
        found = request.audit(first, {name: tables}, models, seed)
    auditing.show(ctx, found)
    outputs.write(ctx, found)
    request.gate.tell(ctx, request.gate.check(found))


def release_name(synthetic: list[Path]) -> str:
    """Return what a release is called: its file, if it is one."""
    from understudy.audit.inputs import RELEASE

    return str(synthetic[0]) if len(synthetic) == 1 else RELEASE
