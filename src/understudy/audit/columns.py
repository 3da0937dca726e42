"""Which column gives people away: each in turn as the secret, with the others as keys.

Whoever does not know what an attacker would want to learn asks this first. For each column, an
attacker takes the value of the most similar record of the release, by all keys
(`understudy.risk.nearest_neighbour`) or by a single one (`understudy.risk.telling_keys`), and is
compared with a guess without the release and, where there are control records, with the same attack
on people who are not in the data.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import cast

import numpy as np

from understudy.arguments import as_names
from understudy.audit.findings import NAN, ColumnRisk, Findings
from understudy.audit.levels import LEVELS, Level, size_of
from understudy.audit.limits import Limits
from understudy.audit.task import Task, columns_of_own_values
from understudy.data.joint_coding import CodedTables, EncodedTable, encode
from understudy.errors import DataError, ParameterError, unknown_columns
from understudy.progress import track
from understudy.risk.chance import corrected
from understudy.risk.kept_back import Compared
from understudy.risk.nearest_neighbour import nearest_neighbour_of
from understudy.risk.prepare import Prepared, prepared_from, releases_of
from understudy.risk.scenario import Scenario
from understudy.risk.telling_keys import telling_keys_of
from understudy.wording import Unit, counted, percent, points, quoted

MOST_PEOPLE, FEWEST_PEOPLE = 1_500, 100
"""How many people are attacked of either table, drawn at random."""
RECORDS_A_VALUE = 5
"""A column of which each value has so many records on average can tell another one."""
WORK = 2 * 10**10
"""So many values are compared at most, before fewer people are attacked."""


def tells_about(unit: Unit) -> dict[str, str]:
    """Return what a column of the release can tell, in words.

    Examples
    --------
    >>> tells_about(Unit.of("flights"))["either"]
    'about flights in the data, or a pattern'
    """
    own = f"about {unit.many} in the data"
    return {
        "people": own,
        "pattern": "a pattern, true of all",
        "either": f"{own}, or a pattern",
        "nothing": "nothing beyond chance",
        "unknown": "not known",
    }


@dataclass(frozen=True)
class Ranked:
    """The columns of each release, those that it gives away first, and what the attacker knows."""

    releases: Mapping[str, tuple[ColumnRisk, ...]]
    columns: tuple[str, ...]
    keys: tuple[str, ...] | None
    telling: Mapping[str, Collection[str]] = field(default_factory=dict)

    @property
    def first(self) -> str:
        """The column that any of the releases gives away most."""
        return min((line for lines in self.releases.values() for line in lines), key=_place).column

    @property
    def known(self) -> tuple[str, ...]:
        """What an attacker knows who wants the first column."""
        return self.keys or _keys_for(self.first, self.columns, self.telling)


def rank_releases(task: Task, wanted: str | Sequence[str] | None, limits: Limits) -> Ranked:
    """Rank the columns that all tables have, for each release, by the keys if there are any.

    Identifiers, free text and columns with one value are left out, unless they are keys.

    Raises
    ------
    ParameterError
        If a key is no column of some table, or there is nothing to guess.
    """
    keys = None if wanted is None else as_names(wanted)
    original, control, releases = task.original, task.control, task.releases
    real = {"original": encode(original)}
    if control is not None:
        real["control"] = encode(control)
    made = {given.name: [encode(table) for table in given.tables] for given in releases}
    tables = [*real.values(), *(table for held in made.values() for table in held)]
    shared = [
        name for name in real["original"].names if all(name in table.names for table in tables)
    ]
    if problems := unknown_columns(keys or (), shared):
        raise ParameterError(f"keys: {' '.join(problems)} They must be columns of all tables.")
    left_out = columns_of_own_values(task.columns) | _constant(real["original"], shared)
    columns = [name for name in shared if name not in left_out or name in (keys or ())]
    tried = [name for name in columns if name not in (keys or ())]
    if not tried or len(columns) < 2:
        raise ParameterError(
            "sensitive is not named, and there is no column to try: it takes one that all tables "
            "have beside the keys, with several values, and is neither an identifier nor free text."
        )
    telling: Mapping[str, Collection[str]] = {}
    if keys is None:
        telling = columns_that_tell(real["original"], columns)
    ranked = {}
    for name, held in made.items():
        numbered = {f"synthetic {number}": table for number, table in enumerate(held, 1)}
        coded = CodedTables.of({"original": real["original"], **numbered, **real}, ())
        ranked[name] = rank_columns(
            coded,
            columns,
            keys=keys,
            groups=task.groups,
            limits=limits,
            seed=task.seed,
            telling=telling,
        )
    return Ranked(ranked, tuple(columns), tuple(keys) if keys else None, telling)


def keys_beside(task: Task, original: EncodedTable, sensitive: str) -> tuple[str, ...]:
    """Return what an attacker knows who wants one column, if no keys are named: all others.

    Identifiers, free text, columns with one value and columns that tell the sensitive one without
    any release are no keys.

    Raises
    ------
    ParameterError
        If the original lacks the sensitive column, or there is no other column.
    """
    if problems := unknown_columns([sensitive], original.names):
        raise ParameterError(f"sensitive: {' '.join(problems)}")
    shared = [
        name
        for name in original.names
        if all(name in task.shared_columns(table) for one in task.releases for table in one.tables)
    ]
    left_out = columns_of_own_values(task.columns) | _constant(original, shared)
    columns = [name for name in shared if name not in left_out or name == sensitive]
    if len([name for name in columns if name != sensitive]) < 1:
        raise ParameterError(
            "keys are not named, and there is no other column to take: it takes one that all "
            "tables have, with several values, and is neither an identifier nor free text."
        )
    return _keys_for(sensitive, columns, columns_that_tell(original, columns))


def columns_that_tell(original: EncodedTable, columns: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return for each column the others that tell its value without any release.

    An age tells the group of ages, and a code the text that it stands for: whoever knows the one
    knows the other, and need not look into a release.

    Examples
    --------
    >>> import polars as pl
    >>> ages = pl.DataFrame({"age": [20, 30, 40, 50] * 5, "old": [False, False, True, True] * 5})
    >>> columns_that_tell(encode(ages), ["age", "old"])
    {'age': (), 'old': ('age',)}
    """
    held = CodedTables.of({"original": original}, columns).tables["original"]
    values = {name: np.unique(held[name]).size for name in columns}
    # Where hardly two records agree in a column, each value seems to tell all others.
    known = [name for name in columns if values[name] * RECORDS_A_VALUE <= len(original)]

    def tells(key: str, name: str) -> bool:
        both = held[key].astype(np.int64) * (int(held[name].max()) + 1) + held[name]
        return key != name and values[name] <= values[key] == np.unique(both).size

    return {name: tuple(key for key in known if tells(key, name)) for name in columns}


def _keys_for(
    name: str, columns: Sequence[str], telling: Mapping[str, Collection[str]]
) -> tuple[str, ...]:
    """Return the other columns, without those that tell it anyway, unless there are no more."""
    others = tuple(one for one in columns if one != name)
    return tuple(one for one in others if one not in telling.get(name, ())) or others


def _constant(table: EncodedTable, names: Sequence[str]) -> set[str]:
    held = {name: table.column(name) for name in names}
    return {name for name, column in held.items() if len(column.values) + column.gaps < 2}


def rank_columns(
    tables: CodedTables,
    columns: Sequence[str],
    *,
    keys: Sequence[str] | None = None,
    groups: Mapping[str, int] | None = None,
    limits: Limits | None = None,
    seed: int = 0,
    telling: Mapping[str, Collection[str]] | None = None,
) -> tuple[ColumnRisk, ...]:
    """Attack each column in turn, and return them with those that give most away first.

    Parameters
    ----------
    tables : CodedTables
        "original", "synthetic" (or "synthetic 1", ..) and perhaps "control".
    columns : sequence of str
        The columns that all tables have, and that are tried.
    keys : sequence of str, optional
        What the attacker knows; all other columns if not given.
    groups : mapping, optional
        Numeric columns to put in groups.
    limits : Limits, optional
        What counts as much.
    seed : int
        Decides who is attacked.
    telling : mapping, optional
        For each column the others that tell it without any release, and are no keys for it.

    Notes
    -----
    Levels come first. Of columns with the same level, those that tell about people in the data come
    before patterns: the first by how much more often people in the data are guessed than others,
    among people with the same value, and the rest by the gain over a guess without the release.
    Each line is about the keys that tell most, all of them or one. P-values (Holm) allow for the
    number of columns and of keys, intervals (Bonferroni) for that of columns.

    Examples
    --------
    >>> import polars as pl
    >>> rng = np.random.default_rng(1)
    >>> table = pl.DataFrame({"code": np.arange(400), "ill": rng.integers(0, 2, 400)})
    >>> from understudy.risk.prepare import tables_of
    >>> found = rank_columns(tables_of(table, [table]), ["code", "ill"])
    >>> [(one.column, one.level, one.synthetic) for one in found][0]
    ('ill', 'raised', 1.0)
    """
    limits = limits or Limits()
    tried = [name for name in columns if keys is None or name not in keys]
    people = _how_many(tables, len(columns))
    found: dict[str, list[_Look]] = {}
    failed: dict[str, str] = {}
    for name in track(tried, "trying each column as the secret", len(tried)):
        known = _keys_for(name, columns, telling or {}) if keys is None else tuple(keys)
        own = {one: count for one, count in (groups or {}).items() if one in (*known, name)}
        try:
            prepared = prepared_from(tables, Scenario(known, name), groups=own or None)
            found[name] = _looks(tables, prepared, people, seed)
        except DataError:
            failed[name] = "It cannot be compared."
    p_values = corrected(np.array([_smallest(looks) for looks in found.values()]))
    measured = [
        _line(name, looks, float(p_value), len(found), limits)
        for (name, looks), p_value in zip(found.items(), p_values, strict=True)
    ]
    missing = [ColumnRisk(name, "not measured", note=why) for name, why in failed.items()]
    return tuple(sorted([*measured, *missing], key=_place))


def _how_many(tables: CodedTables, columns: int) -> int:
    """Return how many people are attacked, so that wide and long tables do not take minutes."""
    released = sum(len(tables.encoded[name]) for name in releases_of(tables))
    within = WORK // max(released * columns**2 * 2, 1)
    return max(FEWEST_PEOPLE, min(MOST_PEOPLE, within))


@dataclass(frozen=True)
class _Look:
    """One way to guess a column: by some keys; with p-values for all looks at this column."""

    keys: tuple[str, ...]
    records: int
    baseline: float
    accuracy: float
    p_value: float
    control: float
    compared: Compared | None
    difference_p_value: float

    @property
    def gain(self) -> float:
        return self.accuracy - self.baseline


def _looks(tables: CodedTables, prepared: Prepared, people: int, seed: int) -> list[_Look]:
    """Guess a column from the most similar records, and from those that agree in a single key.

    Half of what chance may do is for the first, and half for all of the others, so that many keys
    do not hide what the most similar records tell.
    """
    near = nearest_neighbour_of(tables, prepared, people=people, random_state=seed)
    baseline, names = near.baseline.zero_rule, prepared.scenario.keys

    def look(keys: tuple[str, ...], accuracy: float, p_value: float, control: float,
             compared: Compared | None, looks: int) -> _Look:  # fmt: skip
        tested = NAN if compared is None else min(1.0, looks * compared.matched_p_value)
        return _Look(
            keys, near.records, baseline, accuracy, min(1.0, p_value), control, compared, tested
        )

    if len(names) == 1:
        return [look(names, near.accuracy, near.p_value, near.control, near.compared, 1)]
    found = [look(names, near.accuracy, 2 * near.p_value, near.control, near.compared, 2)]
    alone = telling_keys_of(prepared, people=people, random_state=seed, single=True)
    found += [
        look(one.keys, one.accuracy, 2 * one.p_value, one.control_accuracy, one.compared,
             2 * len(names))
        for one in alone.sets
    ]  # fmt: skip
    return found


def _smallest(looks: Sequence[_Look]) -> float:
    tested = [look.difference_p_value for look in looks if not math.isnan(look.difference_p_value)]
    return min(tested, default=NAN)


def _line(
    column: str, looks: Sequence[_Look], p_value: float, columns: int, limits: Limits
) -> ColumnRisk:
    """Return the look that tells most: about people in the data if any does, else by its gain."""
    told = [one for one in looks if one.p_value * columns < limits.chance]
    best = max(told or looks[:1], key=lambda one: one.gain)
    if p_value < limits.chance:
        best = min(looks, key=lambda one: (one.difference_p_value, -one.gain))
    line = ColumnRisk(
        column,
        "not measured",
        best.baseline,
        best.accuracy,
        best.gain,
        best.control,
        p_value=p_value,
        keys=best.keys,
    )
    if best.compared is not None:
        difference = best.compared.matched
        low, high = best.compared.matched_interval
        # A 95% interval for one look, made wider for all columns.
        normal = NormalDist()
        wider = normal.inv_cdf(1 - 0.025 / columns) / normal.inv_cdf(0.975)
        line = replace(
            line,
            difference=difference,
            difference_low=difference + wider * (low - difference),
            difference_high=difference + wider * (high - difference),
        )
    return _judged(line, best.records, limits)


def _judged(line: ColumnRisk, records: int, limits: Limits) -> ColumnRisk:
    """Return a line with its level: as for guesses in the verdict."""
    size = size_of(line.baseline, line.gain, records, limits)
    large = limits.large(line.baseline)
    level: Level
    if size == "unknown":
        level, tells = "not measured", "unknown"
    elif line.p_value < limits.chance:
        level, tells = "high" if line.difference >= large else "raised", "people"
    elif not math.isnan(line.p_value):
        level, tells = ("raised", "pattern") if size == "large" else ("low", "nothing")
        if level == "low" and size == "some":
            tells = "pattern"
    elif limits.noise(line.baseline, records) >= large and line.baseline < 1:
        level, tells = "not measured", "unknown"
    else:
        level, tells = ("low", "nothing") if size == "none" else ("raised", "either")
    return replace(line, level=level, tells=tells)


def _place(line: ColumnRisk) -> tuple[int, bool, float]:
    own = line.tells == "people"
    most = line.difference if own else line.gain
    return LEVELS.index(cast("Level", line.level)), not own, math.inf if math.isnan(most) else -most


def ranking_sentences(findings: Findings) -> Iterator[str]:
    """Yield how the columns were ranked, and what came of it; nothing if they were not."""
    ranked = [release for release in findings.releases if release.ranking]
    if not ranked:
        return
    lines = [line for release in ranked for line in release.ranking]
    tried = list(dict.fromkeys(line.column for line in lines))
    others = [name for name in findings.keys if name not in tried]
    known = quoted(others) if len(others) == len(findings.keys) else "all other columns"
    yield (
        f"No sensitive column was named. So each of {counted(len(tried), 'column')} was tried as "
        f"the secret of an attacker who knows {known}. The audit is about "
        f"{findings.sensitive!r}, which comes first."
    )
    left_out = [name for name in tried if name not in (*findings.keys, findings.sensitive)]
    if left_out and len(others) < len(findings.keys):
        are = "is" if len(left_out) == 1 else "are"
        yield (
            f"Of the others, {quoted(left_out)} {are} not taken for known: that alone tells "
            f"{findings.sensitive!r}, without any release."
        )
    first = min(lines, key=_place)
    if first.level == "low":
        yield "No column is given away beyond chance."
    elif first.tells == "people":
        yield (
            f"Most of all, {first.column!r} gives {findings.units.many} away: it is guessed "
            f"correctly for {percent(first.synthetic)} of those in the data, and for "
            f"{points(first.difference)} fewer of others who have the same value."
        )
    elif first.level == "raised":
        yield (
            f"{first.column!r} is told most: it is guessed correctly for "
            f"{percent(first.synthetic)}, and without the release for {percent(first.baseline)}. "
            f"This is {tells_about(findings.units)[first.tells]}."
        )
