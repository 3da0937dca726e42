"""The measures of an audit, one after the other, and what they found about each release."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from understudy.audit.failures import failure_text, log_failure
from understudy.audit.findings import Figure, ReleaseFindings, UtilityFindings
from understudy.audit.made_by import made_by, method_in_words
from understudy.audit.measures import MEASURES, Measure, measures_for
from understudy.audit.measures.records import values_to_show, worst_records
from understudy.audit.measures.strong import OnUnits
from understudy.audit.synthesis import Synthesis, made_ready
from understudy.audit.task import Task
from understudy.audit.units import values_of_units
from understudy.data.frames import to_narwhals
from understudy.data.joint_coding import EncodedTable
from understudy.learning.jobs import Remembered
from understudy.progress import inside_a_step, track
from understudy.threads import one_thread
from understudy.wording import quoted


def tables_made_ready(
    task: Task, real: Mapping[str, EncodedTable], left_out: Collection[str]
) -> dict[str, list[Synthesis]]:
    """Return the tables of all releases, each coded together with the original's."""
    remembered = Remembered()
    return {
        given.name: made_ready(task, given, real, left_out, remembered) for given in task.releases
    }


def run_measures(
    task: Task,
    ready: Mapping[str, Sequence[Synthesis]],
    whole: Mapping[str, Sequence[Synthesis]],
) -> tuple[ReleaseFindings, ...]:
    """Run all measures on all tables, with one progress bar.

    `whole` has all records of units that have several, and `ready` one of each.
    """

    def given_to(measure: Measure, name: str) -> Sequence[Synthesis]:
        return (whole if measure.of_units == "all records" else ready)[name]

    jobs = [
        (synthesis, measure)
        for given in task.releases
        for measure in measures_for(task, given)
        for synthesis in given_to(measure, given.name)
        if synthesis.number == 1 or not measure.first_only
    ]
    results: dict[str, dict[str, list[Any]]] = {name: {} for name in ready}
    errors: dict[str, dict[str, str]] = {name: {} for name in ready}
    done = 0

    def doing() -> str:
        synthesis, measure = jobs[min(done, len(jobs) - 1)]
        name = f"{synthesis.given.name}: " if len(task.releases) > 1 else ""
        return f"{name}{measure.doing}"

    for synthesis, measure in track(jobs, doing, len(jobs)):
        name = synthesis.given.name
        try:
            # What a measure does inside is part of the one bar, unless it takes long.
            with inside_a_step(), one_thread():
                found = measure.run(synthesis)
        except Exception as error:  # noqa: BLE001  # whatever fails, the other measures stand
            text = failure_text(error, to_narwhals(task.original).columns)
            log_failure(error, text, synthesis, measure)
            several = len(synthesis.given.tables) > 1 and not measure.first_only
            errors[name].setdefault(
                measure.name, f"Table {synthesis.number}: {text}" if several else text
            )
        else:
            results[name].setdefault(measure.name, []).append(found)
        done += 1
    return tuple(
        _assembled(
            task,
            {measure.name: given_to(measure, given.name)[0] for measure in MEASURES},
            whole[given.name][0],
            results[given.name],
            errors[given.name],
        )
        for given in task.releases
    )


def _assembled(
    task: Task,
    given_to: Mapping[str, Synthesis],
    first: Synthesis,
    results: Mapping[str, Sequence[Any]],
    errors: Mapping[str, str],
) -> ReleaseFindings:
    """Return all that was found about one release: what each measure made of its results.

    `given_to` is the first table as each measure saw it.
    """
    given = first.given
    figures: list[Figure] = []
    numbers: dict[str, float] = {}
    fields: dict[str, Any] = {}
    use: dict[str, Any] = {}
    notes = list(_left_out(first))
    for measure in (one for one in MEASURES if results.get(one.name)):
        found = measure.collect(given_to[measure.name], results[measure.name])
        figures += found.figures
        numbers |= found.numbers
        fields |= found.release
        for name, value in found.utility.items():
            use[name] = use[name] + value if name in use else value
        notes += found.notes
    scores, strong = (next(iter(results.get(name, ())), None) for name in ("records", "strong"))
    strong = strong.most_exposed if isinstance(strong, OnUnits) else strong
    values = values_to_show(first) if task.show_records else None
    return ReleaseFindings(
        name=given.name,
        method=method_in_words(given.model),
        syntheses=len(given.tables),
        rows=len(to_narwhals(first.table)),
        figures=tuple(figures),
        worst=worst_records(scores, strong, values),
        utility=UtilityFindings(**use, notes=tuple(notes)),
        errors=dict(errors),
        made_by=made_by(given.model),
        description_seconds=given.model.description_seconds_ if given.model else math.nan,
        generation_seconds=given.model.generation_seconds_ if given.model else math.nan,
        numbers=numbers,
        **fields,
    )


def _left_out(first: Synthesis) -> Iterator[str]:
    """Say which columns of the original were not compared."""
    shared = first.task.shared_columns(first.table)
    absent = [name for name in to_narwhals(first.task.original).columns if name not in shared]
    own = [name for name in shared if name not in first.columns]
    units = [name for name in own if first.task.units and name in first.task.units.names]
    own = [name for name in own if name not in units]
    named = [name for name in own if values_of_units(first.task.original, name)]
    own = [name for name in own if name not in named]
    if named:
        look = "it looks like a name" if len(named) == 1 else "they look like names"
        yield f"Not compared, since {look} of people or other units: {quoted(named)}."
    if units:
        names = "names" if len(units) == 1 else "name"
        yield f"Not compared: {quoted(units)}, which {names} the units."
    if absent:
        columns = "column" if len(absent) == 1 else "columns"
        yield f"The release lacks the {columns} {quoted(absent)}."
    if own:
        yield f"Not compared, since nearly every record has a value of its own: {quoted(own)}."
