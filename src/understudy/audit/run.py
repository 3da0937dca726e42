"""The audit of a release: what was asked is checked, measured, and put together."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from understudy._version import __version__
from understudy.arguments import read_seed
from understudy.audit.advice.coarser_values import EXTREMES
from understudy.audit.columns import Ranked, keys_beside, rank_releases, ranking_sentences
from understudy.audit.failures import each_warning_once
from understudy.audit.findings import Findings
from understudy.audit.limits import Limits
from understudy.audit.measuring import run_measures, tables_made_ready
from understudy.audit.notices import in_common, late_notices, notices
from understudy.audit.result import Audit
from understudy.audit.synthesis import encoded
from understudy.audit.task import (
    MeasureSet,
    Preset,
    Task,
    check_task,
    keys_by_kind,
    personal_columns,
    read_classifiers,
    read_groups,
    read_measures,
    read_releases,
    read_unit,
    with_types_matched,
)
from understudy.audit.units import (
    about_units,
    looking_like_units,
    name_of_units,
    one_record_each,
    read_unit_id,
    with_units,
)
from understudy.data.decisions import Reading, decisions
from understudy.data.frames import Frame, Layout, to_narwhals
from understudy.progress import doing
from understudy.risk.scenario import Scenario
from understudy.synthesis import Synthesizer
from understudy.wording import counted

Release = Frame | Sequence[Frame]
"""One table, or several syntheses of one method."""


def audit(  # noqa: PLR0913  # the tables, the attacker, the use, and how much is measured
    original: Frame,
    synthetic: Release | Mapping[str, Release],
    *,
    keys: str | Sequence[str] | None = None,
    sensitive: str | None = None,
    target: str | None = None,
    known: int | None = None,
    model: Synthesizer | Mapping[str, Synthesizer] | None = None,
    control: Frame | None = None,
    measures: MeasureSet = "standard",
    classifiers: Preset | None = "strong",
    random_state: int | None = None,
    groups: Mapping[str, int] | None = None,
    test: Frame | None = None,
    show_records: bool = False,
    limits: Limits | None = None,
    unit: str | None = None,
    unit_id: str | Sequence[str] | None = None,
    drawn: bool | Collection[str] = False,
    command: str | None = None,
) -> Audit:
    """Measure the risk and the use of a release, with everything it is to be compared with.

    Parameters
    ----------
    original : frame
        The original table.
    synthetic : frame, list of frames, or mapping
        The release; several syntheses by one method, whose figures are means and whose charts are
        about the first; or either by name, for several methods side by side.
    keys, sensitive, known
        What an attacker may know, wants, and how many keys are known; see `Scenario`. If
        `sensitive` is not given, each column in turn is tried as the secret, and the audit is about
        the one that gives most away; the others are the keys, unless `keys` names some. With
        `sensitive` alone, all other columns are the keys, but for identifiers and free text.
    target : str, optional
        What the data are used to predict.
    model : Synthesizer or mapping, optional
        The fitted model that made the release, for the attacker who knows it; by the names of the
        releases if there are several.
    control : frame, optional
        Records like the original's that were not used for the synthesis. If it has all columns,
        and no `test` is given, the prediction is tested on it, too.
    measures : {"standard", "quick", "full"}
        How much is measured; see the notes.
    classifiers : {"strong", "papers"}, optional
        Which classifiers attack: ours, or the papers' six in their place, which are weaker and in
        small tables quicker; none if it is None. See `understudy.risk.attackers`.
    random_state : int, optional
        The seed of all that is random. One is drawn and recorded if it is not given.
    groups : mapping, optional
        Numeric columns to put into so many groups of about the same number of original records.
    test : frame, optional
        Real records for the prediction that were not used for the synthesis.
    show_records : bool
        Whether the values of the records at the highest risk are kept; else their row numbers are.
    limits : Limits, optional
        What counts as much in the verdict; the defaults of `Limits` if not given.
    unit : str, optional
        What a record is about, or a unit if `unit_id` is given, for the texts: people, flights,
        household; "child/children" where the plural is not the singular with an s. By default
        records, and units are called after their column.
    unit_id : str or sequence of str, optional
        Columns that together name the person, household or firm that several records belong to.
        Then risk is counted by unit; see the notes. By default those that the model's schema names
        (role "unit"); an empty list counts by record all the same.
    drawn : bool or collection of str
        Whether you have just drawn the release from `model` yourself, so that nothing can have been
        put into it since; or the names of the releases of which this is so. Then the model may
        answer whether people's records are in it, where a comparison of records cannot tell.
    command : str, optional
        What was typed, for the record; the call by default.

    Returns
    -------
    Audit

    Raises
    ------
    ParameterError
        If an argument cannot be used, or a table lacks a column: told before any work.
    DataError
        If a table has no rows, or tables hold values that cannot be compared.

    Notes
    -----
    *Quick*: attribution (GCAP, ICAP and 0CAP, for each set of keys and for each record),
    disclosure (repU, DiSCO and their relatives), copies of records, the shares of all columns and
    of all pairs of columns, and if there is a model, the strong attacker on the sensitive attribute
    (prior ``"informed"``, mode ``"fixed"``).

    *Standard*: as quick, and classifiers of the preset ``"strong"``; k, l and t; shares of all
    triples of columns; association; propensity of a tree and a logistic regression with 25
    permutations; and if there is a target, its prediction by the papers' five classifiers.

    *Full*: as standard with 100 permutations, and beside the preset ``"strong"`` of attackers the
    preset ``"papers"`` (measures whose names begin with ``papers_``); propensity of a logistic
    regression with interactions (25 permutations); and if there is a model, the strong attacker on
    the whole record of up to 200 people, in tables of up to 20,000 records and 20 columns.

    At most 1,000 sets of keys are looked up, and classifiers of the preset ``"strong"`` are trained
    for 5 of them (20 if full), those of ``"papers"`` for 5 (100 if full); standard measures train
    for fewer sets of tables of more than 30,000 records, down to one. Of more sets, so many are
    drawn at random, which the notes of these figures say. What classifiers learn from the original
    they learn once for all releases.

    Large tables are compared by random samples, which the notes on the use say: propensity by
    20,000 records of both tables together, the prediction by 10,000 records of each table to learn
    from, and 10,000 to test on.

    Without `test` or such a `control`, the prediction is tested on 30% of the original, which
    real training is kept from and the release is not, unless it was made without them. This
    favours the release, as the verdict says.

    If `unit_id` names columns, a unit counts once. Lookalikes compare whole units: one has a
    lookalike if any of its records has, beside the nearest records of other units. Other attacks
    see one record of each unit, drawn at random, in the original and among the control records, so
    that their p-values hold although the records of a unit are alike. Control records of a unit
    that is in the original are not used. The prediction is tested on whole units.

    A measure that fails leaves its error in `errors` of the release, without values of the data,
    and the others go on. Columns in which nearly every original record has a value of its own
    (identifiers and free text) are not compared, unless they are keys, sensitive or the target.

    Examples
    --------
    >>> from understudy import Independent, load
    >>> survey = load("cmc")
    >>> release = Independent(random_state=1).fit(survey).sample()
    >>> found = audit(survey, release, keys=["age", "children"], sensitive="method",
    ...               measures="quick", random_state=1)
    >>> found.findings.releases[0].figure("gcap").gain < 0.05
    True
    """
    started = time.perf_counter()
    task = Task(
        original=original,
        releases=read_releases(synthetic, model, drawn),
        scenario=(
            Scenario.without_keys()
            if keys is None or sensitive is None
            else Scenario(keys, sensitive, known)
        ),
        target=target,
        control=control,
        test=test,
        groups=read_groups(groups),
        measures=read_measures(measures),
        classifiers=read_classifiers(classifiers),
        seed=read_seed(random_state),
        show_records=bool(show_records),
    )
    if not task.scenario.is_empty:
        check_task(task)
    names = read_unit_id(unit_id, task)
    task, notes = with_types_matched(task)
    if names:
        task, units, told = with_units(task, names)
        notes = (*notes, *told)
    elif told_of := looking_like_units(task.original):
        notes = (*notes, told_of)
    attacked = one_record_each(task)
    real = encoded(attacked)
    if sensitive is not None and keys is None:
        others = keys_beside(attacked, real["original"], sensitive)
        scenario = Scenario(others, sensitive, known)
        task, attacked = (replace(one, scenario=scenario) for one in (task, attacked))
        check_task(task)
        notes = (
            f"No keys were named. So the attacker knows {counted(len(others), 'other column')}.",
            *notes,
        )
    given_control = attacked.control
    if "control" in real and in_common("control", real["original"], real["control"]):
        task, attacked = replace(task, control=None), replace(attacked, control=None)
    ranked: Ranked | None = None
    if sensitive is None:
        with each_warning_once():
            ranked = rank_releases(attacked, keys, limits or Limits())
        scenario = Scenario(ranked.known, ranked.first, known)
        task, attacked = (replace(one, scenario=scenario) for one in (task, attacked))
        check_task(task)
    with each_warning_once():
        with doing("coding the tables"):
            left_out = personal_columns(task)
            notes = (*notices(replace(attacked, control=given_control), real), *notes)
            if task.control is None:
                real.pop("control", None)
            ready = tables_made_ready(attacked, real, left_out)
            whole = ready if attacked is task else tables_made_ready(task, encoded(task), left_out)
        releases = run_measures(task, ready, whole)
    rows, columns = to_narwhals(original).shape
    numbers, texts = keys_by_kind(task, EXTREMES)
    if ranked is not None:
        releases = tuple(replace(one, ranking=ranked.releases[one.name]) for one in releases)
    findings = Findings(
        version=__version__,
        created=dt.datetime.now(dt.UTC).astimezone().isoformat(timespec="seconds"),
        seconds=round(time.perf_counter() - started, 3),
        seed=task.seed,
        command=_call(task, ranked) if command is None else str(command),
        measures=_measures_in_words(task),
        rows=rows,
        columns=columns,
        keys=task.scenario.keys,
        known=None if task.scenario.known is None else int(task.scenario.known),
        sensitive=task.scenario.sensitive,
        target=task.target or "",
        releases=releases,
        limits=limits or Limits(),
        unit=read_unit(unit or (name_of_units(names) if names else "records")),
        numbers=numbers,
        texts=texts,
        readings=_readings(task),
        unit_id=names,
        unit_count=units.count if names else None,
    )
    if names:
        notes = (about_units(units, findings.unit, np.bincount(units.original)), *notes)
    findings = replace(
        findings, notes=(*ranking_sentences(findings), *notes, *late_notices(findings))
    )
    return Audit(findings, Layout.of(original).backend)


def _readings(task: Task) -> tuple[Reading, ...]:
    """Return how the columns of the original were read by the first model that is known."""
    model = next((one.model for one in task.releases if one.model is not None), None)
    if model is None:
        return ()
    formats = model.dialect_.in_words if model.dialect_ else {}
    return tuple(decisions(task.original, model.schema_, formats=formats).readings())


def _measures_in_words(task: Task) -> str:
    if task.measures == "quick" or task.classifiers == "strong":
        return task.measures
    trained = "no classifiers" if task.classifiers is None else "the papers' classifiers"
    return f"{task.measures}, with {trained}"


def _call(task: Task, ranked: Ranked | None) -> str:
    """Return the call that makes these findings."""
    scenario = task.scenario
    keys = scenario.keys if ranked is None else ranked.keys
    named = {
        "keys": list(keys) if keys else None,
        "sensitive": scenario.sensitive if ranked is None else None,
        "target": task.target,
        "known": scenario.known,
        "measures": task.measures,
        "classifiers": None if task.classifiers == "strong" else task.classifiers,
        "random_state": task.seed,
        "groups": dict(task.groups) or None,
        "unit_id": list(task.units.names) if task.units is not None else None,
    }
    given = [f"{name}={value!r}" for name, value in named.items() if value is not None]
    given += ["classifiers=None"] if task.classifiers is None else []
    given += [
        f"{name}={name}"
        for name, held in (
            ("model", any(release.model is not None for release in task.releases)),
            ("control", task.control is not None),
            ("test", task.test is not None),
        )
        if held
    ]
    return f"audit(original, synthetic, {', '.join(given)})"
