"""The command `understudy run`."""

from __future__ import annotations

import typer

from understudy.cli import attack_options as attacks
from understudy.cli import audit_options as audits
from understudy.cli import auditing, options, session, values
from understudy.cli.audit import release_name
from understudy.cli.synthesis import fresh_seed, own_parameters, synthesizer, without


def run(  # Typer declares options as arguments
    ctx: typer.Context,
    data: options.Data,
    output: audits.ReleaseFolder,
    method: options.MethodOption = options.Method.independent,
    schema: options.SchemaFile = None,
    rows: options.Rows = None,
    copies: options.Copies = 1,
    seed: options.Seed = None,
    settings: options.SettingsFile = None,
    decode: options.DecodeOption = None,
    drop: options.Drop = "",
    force: options.Force = False,
    keys: audits.AuditKeys = "",
    sensitive: audits.AuditSensitive = "",
    known: audits.AuditKnown = None,
    scenario: audits.AuditScenario = None,
    control: audits.AuditControl = None,
    target: audits.AuditTarget = "",
    test: audits.AuditTest = None,
    measures: audits.MeasuresOption = None,
    classifiers: audits.AuditClassifiers = attacks.Classifiers.strong,
    groups: audits.AuditGroups = "",
    show_records: audits.ShowValues = False,
    fail_if: audits.FailIf = None,
    policy: audits.PolicyFile = None,
    protect: options.Protect = None,
    parents: options.Parents = None,
    structure: options.StructureOption = None,
    root: options.Root = None,
    generations: options.Generations = None,
    threads: options.Threads = None,
    minbucket: options.Minbucket = None,
    cp: options.Cp = None,
    visit: options.Visit = None,
    keep: options.Keep = None,
    strata: options.Strata = None,
    proper: options.Proper = False,
    rule: options.RuleOption = None,
    max_predictors: options.MaxPredictors = None,
    smoothing: options.SmoothingOption = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    missing: options.Missing = None,
) -> None:
    """Make a release: synthesize, audit, and put all of it in a folder that says what may leave.

    The folder has the synthetic table and a README.md, and in `confidential/` the report, the
    findings, the model and the schema. If the gate fails (exit code 1), nothing in it may leave.

    Example: `understudy run data.csv -o release --method cart --keys age,job --sensitive ill`
    """
    from understudy.cli.release_folder import ReleaseFolder
    from understudy.data import Schema, detect

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
    folder = ReleaseFolder.planned(output, data, copies, overwrite=force)
    folder.check([data, schema, settings, *request.inputs])
    name = release_name([output / table for table in folder.tables])
    request.gate.check_names([name])
    described = Schema.load(schema) if schema is not None else None
    seed = fresh_seed() if seed is None else seed
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
    with session.progress(ctx), folder.being_made() as made:
        original = session.read_table(data, drop, dict(request.written))
        # What is asked of the attacker is checked before the synthesis takes its time.
        values.check_columns(original, request.scenario, request.target)
        model.fit(original, without(described, drop))
        tables = made.draw(model, rows, detect(data, **request.dialect))
        # The audit is of what the others will read, not of what was drawn.
        drawn = [session.read_table(path, "", dict(request.written)) for path in tables]
        found = request.audit(original, {name: drawn}, {name: model}, seed=0)
        result = request.gate.check(found)
        made.describe(model, found, failed=bool(result.failed))
    auditing.show(ctx, found)
    for path, what in folder.contents(failed=bool(result.failed)).items():
        drawn_by = f" ({method.value}, seed {seed})" if path.name in folder.tables else ""
        session.say(ctx, f"Wrote {path}: {what}{drawn_by}.")
    request.gate.tell(ctx, result)
