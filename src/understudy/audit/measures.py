"""What is measured in each set of measures, and how each measure is run on one synthesis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from understudy.audit.collect_records import RecordScores
from understudy.audit.collect_risk import anonymity_of
from understudy.audit.collect_strong import attack_record, attack_sensitive
from understudy.audit.copies import copied_records
from understudy.audit.inputs import Given, MeasureSet, Preset, Task
from understudy.audit.key_sets import with_fewer_sets
from understudy.audit.samples import TEST_SHARE, TOLD_APART, prediction_tables
from understudy.audit.shares import column_shares
from understudy.data.frames import Frame, to_narwhals
from understudy.data.schema import Schema
from understudy.errors import UnderstudyError
from understudy.learning.jobs import Remembered
from understudy.risk.attackers import attackers_on
from understudy.risk.attribution import attributions
from understudy.risk.disclosure import disclosure_of
from understudy.risk.prepare import Prepared

LOOKED_UP = 1_000
"""Sets of keys that are looked up at most."""
TRAINED: dict[tuple[MeasureSet, Preset], int] = {
    ("standard", "strong"): 5,
    ("standard", "papers"): 5,
    ("full", "strong"): 20,
    ("full", "papers"): 100,
}
"""Sets of keys for which classifiers are trained at most, by measures and preset."""
RECORDS_TRAINED = 150_000
"""Records from which standard measures let classifiers learn, over all sets of keys.

Of a large table they learn for fewer sets, and not from fewer records: an attacker has them all.
"""
PERMUTATIONS: dict[MeasureSet, int] = {"standard": 25, "full": 100}


@dataclass(frozen=True, eq=False)
class Synthesis:
    """One table of a release, made ready."""

    task: Task
    given: Given
    number: int
    table: Frame
    prepared: Prepared
    columns: tuple[str, ...]
    """What is compared with the original: identifiers are not."""
    remembered: Remembered
    """What classifiers guessed that learnt from the original, for all syntheses."""


@dataclass(frozen=True, eq=False)
class Measure:
    """One measure: its name in `errors`, what it is called while it runs, and how it is run."""

    name: str
    title: str
    run: Callable[[Synthesis], Any]
    first_only: bool = False


def _attribution(synthesis: Synthesis) -> Any:  # noqa: ANN401  # the result, as all of these
    fewer, _ = with_fewer_sets(synthesis.prepared, LOOKED_UP, synthesis.task.seed)
    return attributions(fewer)


def _records(synthesis: Synthesis) -> Any:  # noqa: ANN401
    fewer, _ = with_fewer_sets(synthesis.prepared, LOOKED_UP, synthesis.task.seed)
    return RecordScores.of(fewer)


def _disclosure(synthesis: Synthesis) -> Any:  # noqa: ANN401
    return disclosure_of(synthesis.prepared)


def _copies(synthesis: Synthesis) -> Any:  # noqa: ANN401
    return copied_records(synthesis.task.original, synthesis.table, synthesis.columns)


def _strong(synthesis: Synthesis) -> Any:  # noqa: ANN401
    return attack_sensitive(synthesis.task, synthesis.given, synthesis.table)


def _strong_record(synthesis: Synthesis) -> Any:  # noqa: ANN401
    return attack_record(synthesis.task, synthesis.given, synthesis.table)


def _classifiers(synthesis: Synthesis) -> Any:  # noqa: ANN401
    assert synthesis.task.classifiers is not None  # noqa: S101  # there is no such job without
    return _trained(synthesis, synthesis.task.classifiers)


def _classifiers_papers(synthesis: Synthesis) -> Any:  # noqa: ANN401
    return _trained(synthesis, "papers")


def most_trained(synthesis: Synthesis, preset: Preset) -> int:
    """Return for how many sets of keys classifiers are trained at most."""
    most = TRAINED[synthesis.task.measures, preset]
    if synthesis.task.measures == "full":
        return most
    return max(1, min(most, RECORDS_TRAINED // len(synthesis.prepared.original)))


def _trained(synthesis: Synthesis, preset: Preset) -> Any:  # noqa: ANN401
    most = most_trained(synthesis, preset)
    fewer, _ = with_fewer_sets(synthesis.prepared, most, synthesis.task.seed)
    return attackers_on(
        fewer, preset, random_state=synthesis.task.seed, remembered=synthesis.remembered
    )


def _anonymity(synthesis: Synthesis) -> Any:  # noqa: ANN401
    return anonymity_of(synthesis.prepared)


def _marginals(synthesis: Synthesis) -> Any:  # noqa: ANN401
    from understudy.utility.marginals import marginals

    task = synthesis.task
    return marginals(
        task.original,
        synthesis.table,
        ways=(1, 2) if task.measures == "quick" else (1, 2, 3),
        columns=synthesis.columns,
        groups=task.groups_of(synthesis.columns) or None,
        random_state=task.seed,
    )


def _shares(synthesis: Synthesis) -> Any:  # noqa: ANN401
    return column_shares(synthesis.task.original, synthesis.table, synthesis.columns)


def _association(synthesis: Synthesis) -> Any:  # noqa: ANN401
    from understudy.utility.association import association

    return association(
        synthesis.task.original,
        synthesis.table,
        columns=synthesis.columns,
        random_state=synthesis.task.seed,
    )


def _propensity(synthesis: Synthesis) -> Any:  # noqa: ANN401
    from understudy.utility.propensity import propensity

    return propensity(
        synthesis.task.original,
        synthesis.table,
        columns=synthesis.columns,
        permutations=PERMUTATIONS[synthesis.task.measures],
        most_records=TOLD_APART,
        random_state=synthesis.task.seed,
    )


def _propensity_interactions(synthesis: Synthesis) -> Any:  # noqa: ANN401
    from understudy.utility.propensity import propensity

    return propensity(
        synthesis.task.original,
        synthesis.table,
        columns=synthesis.columns,
        models="logistic",
        interactions=True,
        permutations=PERMUTATIONS["standard"],
        most_records=TOLD_APART,
        random_state=synthesis.task.seed,
    )


def _prediction(synthesis: Synthesis) -> Any:  # noqa: ANN401
    from understudy.utility.prediction import prediction

    task = synthesis.task
    assert task.target is not None  # noqa: S101  # there is no such job without one
    test = task.control if task.test is None else task.test
    features = [name for name in synthesis.columns if name != task.target]
    if test is not None:
        held = to_narwhals(test).columns
        known = [name for name in features if name in held]
        if task.test is None and (len(known) < len(features) or task.target not in held):
            test = None  # the control table was made for the attacks alone
        else:
            features = known
    original, synthetic, test = prediction_tables(task.original, synthesis.table, test, task.seed)
    return prediction(
        original,
        synthetic,
        target=task.target,
        test=test,
        test_share=TEST_SHARE,
        features=features,
        groups=task.groups_of([*features, task.target]) or None,
        random_state=task.seed,
    )


def measures_for(task: Task, given: Given) -> Iterator[Measure]:
    """Yield what is measured of one release, the quick measures first."""
    more = task.measures != "quick"
    full = task.measures == "full"
    yield Measure("attribution", "looking keys up", _attribution)
    yield Measure("records", "scoring each record", _records, first_only=True)
    yield Measure("disclosure", "counting disclosures", _disclosure)
    yield Measure("copies", "looking for copies", _copies)
    yield Measure("marginals", "comparing tables of shares", _marginals)
    yield Measure("shares", "comparing columns", _shares, first_only=True)
    if given.model is not None:
        yield Measure("strong", "attacking with all knowledge", _strong)
        if full:
            yield Measure("strong_record", "attacking whole records", _strong_record)
    if more:
        yield Measure("anonymity", "counting classes of keys", _anonymity)
        yield Measure("association", "comparing associations", _association)
        yield Measure("propensity", "telling the tables apart", _propensity)
        if task.target is not None:
            yield Measure("prediction", "predicting the target", _prediction)
        if task.classifiers is not None:
            yield Measure("classifiers", "training attackers", _classifiers)
    if full:
        yield Measure(
            "propensity_interactions", "telling the tables apart", _propensity_interactions
        )
        if task.classifiers == "strong":
            yield Measure(
                "classifiers_papers", "training the papers' attackers", _classifiers_papers
            )


def personal_columns(task: Task) -> frozenset[str]:
    """Return the columns in which nearly every original record has a value of its own.

    An identifier is made up anew, and a text in one's own words is like no other: comparing them
    says nothing. Columns that the audit is about are not among them.
    """
    try:
        schema = Schema.infer(task.original)
    except UnderstudyError:
        return frozenset()
    named = {*task.scenario.keys, task.scenario.sensitive, task.target}
    personal = {column.name for column in schema if column.kind in ("identifier", "text")}
    return frozenset(personal - named)
