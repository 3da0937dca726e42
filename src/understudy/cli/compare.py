"""The command `understudy compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from understudy.cli import attack_options as attacks
from understudy.cli import audit_options as audits
from understudy.cli import auditing, options, session, values
from understudy.cli.compared import read_files, read_methods, read_models
from understudy.errors import DataError, ParameterError

if TYPE_CHECKING:
    from understudy.synthesis import Synthesizer


def compare(  # Typer declares options as arguments
    ctx: typer.Context,
    original: attacks.Original,
    synthetic: audits.Compared = None,
    output: audits.Report = None,
    json: audits.AuditJson = None,
    png: audits.Pictures = None,
    force: options.Force = False,
    methods: audits.Methods = "",
    method: audits.MethodSpec = None,
    protect: audits.CompareProtect = None,
    copies: audits.CompareCopies = 1,
    schema: audits.CompareSchema = None,
    model: audits.CompareModels = None,
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
    seed: audits.MeasuresSeed = 0,
    show_records: audits.ShowValues = False,
    fail_if: audits.FailIf = None,
    policy: audits.PolicyFile = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    missing: options.Missing = None,
) -> None:
    """Audit several synthetic tables, or methods, side by side in one report.

    A method is NAME=METHOD:PARAMETER=VALUE,... with the parameters of its synthesizer. Values are
    written as in TOML (4, 0.01, true, ["age", "sex"]); plain words need no quotes, and protect is
    SENSITIVE:TARGET. The tables that are made here are not kept: use `understudy run` for one that
    you choose.

    Example: `understudy compare data.csv a.csv new=b.csv --keys age,job --sensitive ill`

    Example: `understudy compare data.csv --methods cart,bayes --method "strict=cart:minbucket=50"`
    `--protect ill:job --keys age,sex --sensitive ill --target job -o report.html`
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
    files = read_files(synthetic or [])
    made = read_methods(values.split_names(methods), method or [], protect, seed)
    both = [name for name in made if name in files]
    if both:
        raise ParameterError(f"{both[0]!r} is both a file and a method; give one another NAME=.")
    if not files and not made:
        raise ParameterError("Give synthetic tables, --methods or --method, to be compared.")
    if schema is not None and not made:
        raise ParameterError("--schema goes with --methods or --method.")
    fitted = read_models(model or [], list(files))
    request.gate.check_names([*files, *made])
    outputs = auditing.Outputs(output, json, png, force)
    tables = [path for paths in files.values() for path in paths]
    outputs.check([original, *tables, schema, *fitted.values(), *request.inputs])
    models = _load(fitted)
    with session.progress(ctx):
        first = session.read_table(original, "", dict(request.written))
        values.check_columns(first, request.scenario, request.target)
        releases = {
            name: [session.read_table(path, "", dict(request.written)) for path in paths]
            for name, paths in files.items()
        }
        releases |= _synthesize(first, made, copies, schema)
        found = request.audit(first, releases, models | made, seed)
    auditing.show(ctx, found)
    outputs.write(ctx, found)
    request.gate.tell(ctx, request.gate.check(found))


def _load(files: dict[str, Path]) -> dict[str, Synthesizer]:
    from understudy.synthesis import Synthesizer

    return {name: Synthesizer.load(path) for name, path in files.items()}


def _synthesize(
    original: Any,  # noqa: ANN401  # a frame
    made: dict[str, Synthesizer],
    copies: int,
    schema: Path | None,
) -> dict[str, list[Any]]:
    """Fit each method, and draw its tables."""
    from understudy.data import Schema
    from understudy.progress import track

    described = Schema.load(schema) if schema is not None else None
    found = {}
    for name, model in track(list(made.items()), "Synthesizing"):
        try:
            model.fit(original, described)
        except (DataError, ParameterError) as error:
            raise type(error)(f"{name}: {error}") from error
        found[name] = [model.sample()] if copies == 1 else model.sample(copies=copies)
    return found
