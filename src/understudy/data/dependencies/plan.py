"""How a codec keeps dependencies: which columns are coded otherwise, and how they come back.

A model never sees what the dependencies tell. So every method keeps them, whatever it can learn.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.bins import Decoding
from understudy.data.coders import BinCoder, FoldedCoder, build_coder, restore_coder
from understudy.data.dependencies.checks import misfits
from understudy.data.dependencies.evidence import MOST_EXCEPTIONS
from understudy.data.dependencies.families import (
    CODES,
    Code,
    Composite,
    Dependency,
    Determined,
    Formula,
    MissingTogether,
    MissingWhen,
    Ordered,
    dependency_from_plain,
)
from understudy.data.dependencies.mappings import Entries, plain_array
from understudy.data.dependencies.search import derivation_order
from understudy.data.dependencies.steps import (
    Blank,
    Count,
    Derive,
    Difference,
    Drawing,
    Overrule,
    Residue,
    Snap,
    Step,
    counted_as,
)
from understudy.data.dependencies.told import (
    Arrays,
    ByFormula,
    ByTable,
    Mask,
    Told,
    array_from_plain,
    array_to_plain,
    gaps_of,
)
from understudy.data.dependencies.views import View
from understudy.data.frames import arrow_type
from understudy.data.inspection import Grouping, infer_columns
from understudy.data.schema import NUMERIC, Column, Kind, Schema
from understudy.data.schema_file import column_from_plain, column_to_plain
from understudy.data.values import numbers
from understudy.errors import SchemaError
from understudy.wording import percent

FEW_LEVELS = 20
"""A column that others follow from stands for them in a model if it has no more values: a model
can learn what goes with each. With more, it needs the coarser columns as well."""

_BINS_OF_EXCEPTIONS = 5


@dataclass(frozen=True, eq=False)
class Plan:
    """The steps that keep the dependencies of a table.

    Parameters
    ----------
    steps : mapping of str to Step
        What is done to the values of a column, by its name.
    blanks : tuple of Blank
        Where columns must be missing.
    snaps : mapping of str to Snap
        Numbers that must be ones that others follow from.
    coded : mapping of str to Column
        The descriptions of what is coded in place of the columns, where that is something else.
    order : tuple of str
        The columns, each after those that it is made from.
    """

    steps: Mapping[str, Step] = field(default_factory=dict)
    blanks: tuple[Blank, ...] = ()
    snaps: Mapping[str, Snap] = field(default_factory=dict)
    coded: Mapping[str, Column] = field(default_factory=dict)
    order: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.steps or self.blanks)

    @property
    def derived(self) -> dict[str, tuple[str, ...]]:
        """The columns that others tell, and which others: these are not drawn by themselves."""
        return {
            name: step.sources
            for name, step in self.steps.items()
            if isinstance(step, Derive | Overrule | Residue)
        }

    @property
    def dropped(self) -> frozenset[str]:
        """The columns that are not coded at all."""
        return frozenset(name for name, step in self.steps.items() if isinstance(step, Derive))

    @property
    def differences(self) -> dict[str, tuple[str, ...]]:
        """The columns that are drawn by their distance from others, and from which."""
        return {
            name: step.lows for name, step in self.steps.items() if isinstance(step, Difference)
        }

    def labels(self, name: str) -> list[str] | None:
        """Return what the codes of a column stand for, if its coder does not know."""
        step = self.steps.get(name)
        return step.labels if isinstance(step, Residue) else None

    def kind(self, name: str) -> pa.DataType | None:
        """Return the type of what is coded in place of a column; None if it is the column's own."""
        if name not in self.coded:
            return None
        return pa.float64() if self.coded[name].kind == "real" else pa.int64()

    def reads(self, name: str) -> tuple[str, ...]:
        """Return the columns that are needed to code one."""
        step = self.steps.get(name)
        return (name, *step.sources) if step else (name,)

    def reduced(self, table: pa.Table) -> tuple[pa.Table, Mask]:
        """Return a table as it is coded, and which of its records could be drawn.

        Of a table without some columns, those that cannot be made are left out too.
        """
        found, masks = self._reduced(table)
        possible = np.ones(table.num_rows, bool)
        for _, mask in masks:
            possible &= mask
        return pa.table(found), possible

    def broken(self, table: pa.Table) -> dict[str, int]:
        """Return how many records could not be drawn because of what they hold in each column."""
        counts: dict[str, int] = {}
        for name, mask in self._reduced(table)[1]:
            counts[name] = counts.get(name, 0) + int(np.count_nonzero(~mask))
        return {name: rows for name, rows in counts.items() if rows}

    def _reduced(self, table: pa.Table) -> tuple[dict[str, pa.Array], list[tuple[str, Mask]]]:
        """Return the columns as they are coded, and by column which records could be drawn."""
        columns = {name: table[name].combine_chunks() for name in table.column_names}
        found: dict[str, pa.Array] = {}
        masks: list[tuple[str, Mask]] = []
        for name, array in columns.items():
            step = self.steps.get(name)
            if step is None:
                found[name] = array
            elif all(source in columns for source in step.sources):
                coded, mask = step.reduced(columns)
                masks.append((name, mask))
                if coded is not None:
                    found[name] = coded
        masks += [
            (blank.column, blank.kept(columns))
            for blank in self.blanks
            if blank.column in columns and blank.other in columns
        ]
        return found, masks

    def restored(
        self, drawn: Arrays, how: Decoding, rng: np.random.Generator
    ) -> dict[str, pa.Array]:
        """Return the columns of a table, from what was drawn."""
        found = dict(drawn)
        for name in self.order:
            step = self.steps.get(name)
            told = step.told if isinstance(step, Residue | Overrule) else None
            blanks = [one for one in self.blanks if one.column == name]
            for blank in blanks if told is None and name in found else ():
                found[name] = blank.blanked(found[name], found, rng)
            if step is not None:
                found[name] = step.restored(found.get(name), found, Drawing(how, rng))
            if told is not None:
                for blank in blanks:
                    if blank.exactly:  # nowhere else: there it is what the others tell
                        found[name] = pc.coalesce(found[name], told.tell(found).values)
                    found[name] = blank.blanked(found[name], found, rng)
            if name in self.snaps:
                found[name] = self.snaps[name].snapped(found[name])
        return found

    def to_plain(self) -> dict[str, Any]:
        """Return the plan in values that JSON can hold."""
        return {
            "steps": {name: _step_to_plain(step) for name, step in self.steps.items()},
            "blanks": [
                {"column": b.column, "other": b.other, "level": b.level, "exactly": b.exactly}
                for b in self.blanks
            ],
            "snaps": {name: array_to_plain(snap.values) for name, snap in self.snaps.items()},
            "coded": {name: column_to_plain(column) for name, column in self.coded.items()},
            "order": list(self.order),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], types: Mapping[str, pa.DataType]) -> Plan:
        """Return the plan that `to_plain` took apart; `types` are those of the table."""
        steps = {
            name: _step_from_plain(name, one, types[name]) for name, one in plain["steps"].items()
        }
        needed = {source for step in steps.values() for source in step.sources} | set(steps)
        blanks = tuple(Blank(**one) for one in plain["blanks"])
        needed |= {name for blank in blanks for name in (blank.column, blank.other)}
        if not needed <= set(types) or set(plain["order"]) - set(types):
            raise ValueError("a dependency of columns that there are not")
        snaps = {name: Snap(name, array_from_plain(one)) for name, one in plain["snaps"].items()}
        coded = {name: column_from_plain(one) for name, one in plain["coded"].items()}
        return cls(steps, blanks, snaps, coded, tuple(plain["order"]))


def _step_to_plain(step: Step) -> dict[str, Any]:
    if isinstance(step, Count):
        return {"step": "count", "code": step.code}
    if isinstance(step, Difference):
        return {"step": "difference"} | step.to_plain()
    plain: dict[str, Any] = {"told": step.told.to_plain()}
    if isinstance(step, Derive):
        if step.otherwise is not None:
            plain["otherwise"] = array_to_plain(step.otherwise)
        return {"step": "derive"} | plain
    if isinstance(step, Overrule):
        return {"step": "overrule", "exceptions": step.exceptions, "gaps": step.gaps} | plain
    coder = step.coder
    return {
        "step": "residue",
        **plain,
        "exceptions": step.exceptions,
        "gaps": step.gaps,
        "blank": step.blank,
        "special": {name: list(values) for name, values in step.special.items()},
        "column": column_to_plain(step.described),
        "bins": coder.to_plain() if isinstance(coder, BinCoder) else None,
        "listed": coder.to_plain() if isinstance(coder, FoldedCoder) else None,
    }


def _step_from_plain(name: str, plain: Mapping[str, Any], kind: pa.DataType) -> Step:
    how = plain["step"]
    if how == "count":
        return Count(name, plain["code"], kind)
    if how == "difference":
        lows, anchor, top = tuple(plain["lows"]), plain["anchor"], plain["top"]
        return Difference(name, lows, anchor, top, kind, plain["decimals"], plain.get("code"))
    told: Told
    if "formula" in plain["told"]:
        own = plain["told"]
        formula = dependency_from_plain(own["formula"])
        if not isinstance(formula, Formula):
            raise ValueError(f"a formula of {name!r} that is none")
        two = tuple(map(float, own.get("two", ())))
        if len(two) not in (0, 2):
            raise ValueError(f"{name!r} has two values, or any number of them")
        told = ByFormula(formula, arrow_type(own["type"]), own["decimals"], two)
    else:
        told = ByTable.from_plain(plain["told"])
    if how == "derive":
        otherwise = plain.get("otherwise")
        return Derive(told, None if otherwise is None else array_from_plain(otherwise))
    if how == "overrule":
        return Overrule(told, float(plain["exceptions"]), bool(plain.get("gaps", False)))
    column = column_from_plain(plain["column"])
    coder = restore_coder(column, kind, plain["bins"], plain["listed"])
    special = {one: tuple(values) for one, values in plain["special"].items()}
    # Models of former versions only know whether there are exceptions, and leave none out.
    former = {"exceptions": plain["broken"], "gaps": plain["broken"]} if "broken" in plain else {}
    shares = {**plain, **former}
    exceptions, gaps, blank = (float(shares[name]) for name in ("exceptions", "gaps", "blank"))
    return Residue(told, coder, column, exceptions, gaps, blank, special)


def learn_plan(
    table_of: Any,  # noqa: ANN401  # gives the named columns as an Arrow table
    schema: Schema,
    stay: Collection[str],
    hidden: Collection[str],
    ends: int,
) -> Plan:
    """Return the plan that keeps the dependencies of a schema.

    Parameters
    ----------
    table_of : callable
        Gives the named columns of the table that the plan is made for.
    schema : Schema
        The columns and their dependencies; those with ``keep = false`` are left out.
    stay : collection of str
        Columns that must be coded as they are, since the settings of a method name them.
    hidden : collection of str
        Columns that no other may depend on: what follows from them would give them away.
    ends : int
        Records that the highest number of a column rests on.
    """
    wanted = [one for one in schema.dependencies if one.keep]
    kept = [one for one in wanted if _possible(one, schema)]
    made_up = [one for one in wanted if one not in kept and set(one.names) <= set(schema.names)]
    telling = [one for one in kept if len(one.names) > 1 and set(hidden) & set(one.names)]
    named = [one for one in kept if one not in telling and _changed(one) & set(stay)]
    for left, why in (
        (made_up, "identifiers are made up, and free text is left out"),
        (telling, "they would tell of a protected column"),
        (named, "the settings of the method name the column"),
    ):
        if left:
            logging.getLogger("understudy").warning(
                "Not kept, since %s: %s.", why, "; ".join(one.sentence for one in left)
            )
    kept = [one for one in kept if one not in telling and one not in named]
    if not kept:
        return Plan()
    sources = _sources(kept)
    order = derivation_order(sources)
    names = sorted({name for one in kept for name in one.names})
    table: pa.Table = table_of(names)
    types = {name: table.schema.field(name).type for name in names}
    if problems := [problem for one in kept for problem in misfits(one, schema, types)]:
        raise SchemaError("The dependencies cannot be kept:", problems)
    learner = _Learner(schema, {n: table[n].combine_chunks() for n in names}, order, ends)
    return learner.plan(kept)


def _possible(one: Dependency, schema: Schema) -> bool:
    """Return whether a dependency can be kept: identifiers are made up, and tell nothing."""
    names = [name for name in one.names if name in schema]
    made_up = [name for name in names if schema[name].kind in ("identifier", "text")]
    return len(names) == len(one.names) and not made_up


def _changed(one: Dependency) -> set[str]:
    """Return the columns that are coded otherwise, or set right, to keep a dependency."""
    if isinstance(one, MissingTogether):
        return set(one.columns)
    return {one.names[0]}


def _sources(kept: Iterable[Dependency]) -> dict[str, list[str]]:
    """Return what the values of each column are made from, or raise if that cannot be."""
    sources: dict[str, list[str]] = {}
    makers: dict[str, Dependency] = {}
    problems = []
    for one in kept:
        if isinstance(one, MissingTogether | MissingWhen):
            continue
        name, *others = one.names
        former = makers.get(name)
        # An upper date that is written as one number is drawn by its distance in days.
        pair = {type(one), type(former)}
        if former is not None and not (Ordered in pair and pair <= {Ordered, Composite}):
            problems.append(
                f"{name!r} has two that give its value: {former.sentence}; {one.sentence}. Set "
                "keep = false for one of them."
            )
            continue
        makers[name] = one
        sources.setdefault(name, []).extend(others)
    try:
        derivation_order(sources)
    except ValueError as error:
        problems.append(
            f"{str(error)!r} would follow from itself, by way of others. Set keep = false for one "
            "of its dependencies."
        )
    if problems:
        raise SchemaError("The dependencies cannot be kept:", problems)
    return sources


@dataclass(frozen=True, eq=False)
class _Learner:
    """Reads from a table what the steps of a plan need."""

    schema: Schema
    columns: Arrays
    order: list[str]
    ends: int

    def plan(self, kept: list[Dependency]) -> Plan:
        steps: dict[str, Step] = {}
        snaps: dict[str, Snap] = {}
        lows: dict[str, list[str]] = {}
        for one in kept:
            if isinstance(one, Ordered):
                lows.setdefault(one.high, []).append(one.low)
            elif isinstance(one, Composite):
                steps[one.column] = Count(one.column, one.code, self._type(one.column))
            elif isinstance(one, Formula):
                told = ByFormula(
                    one,
                    self._type(one.column),
                    self.schema[one.column].decimals,
                    self._two_values(one.column),
                )
                steps[one.column] = self._telling(one, told, own=False)
            elif isinstance(one, Determined):
                entries = Entries.learn(
                    tuple(self._view(name) for name in one.by), self._view(one.column)
                )
                own = self._needed_too(one)
                told_by = ByTable(one.column, one.by, entries)
                steps[one.column] = self._telling(one, told_by, own=own)
                for name, values in zip(one.by, entries.by, strict=True):
                    if self.schema[name].binned:
                        snaps[name] = Snap(name, values.unique())
        for high, below in lows.items():
            former = steps.get(high)
            code = former.code if isinstance(former, Count) else None
            self._check_ordered(high, below, code)
            steps[high] = self._difference(high, tuple(below), code)
        coded = dict(self._coded(steps))
        blanks, order = self._blanks(kept, steps)
        return Plan(steps, blanks, snaps, coded, tuple(order))

    def _type(self, name: str) -> pa.DataType:
        return self.columns[name].type

    def _view(self, name: str) -> View:
        return View(self.schema[name], self.columns[name])

    def _needed_too(self, one: Determined) -> bool:
        """Return whether a model needs the column for the sake of the others."""
        if len(one.by) > 1:
            return True
        levels, own = self._view(one.by[0]).levels, self._view(one.column).levels
        return levels > FEW_LEVELS and 2 * own < levels

    def _telling(self, one: Dependency, told: Told, *, own: bool) -> Step:
        """Return the step of a column that others tell, given how often they do not."""
        step = self._step(told, own=own)
        share = 0.0 if isinstance(step, Derive) else step.exceptions
        if share > max(one.exceptions, MOST_EXCEPTIONS):
            logging.getLogger("understudy").warning(
                "%s: this is not so in %s of the records, and will not be in as many synthetic "
                "ones. If that is a mistake, correct its [[dependency]], or set keep = false.",
                *(one.sentence, percent(share)),
            )
        return step

    def _step(self, told: Told, *, own: bool) -> Derive | Overrule | Residue:
        array = self.columns[told.column]
        agree, known = told.agrees(array, self.columns)
        special = {
            name: self.schema[name].special
            for name in told.sources
            if self.schema[name].special and self._view(name).numeric
        }
        missing = gaps_of(array)
        if own:
            share = _share(~agree & ~missing, known)
            return Overrule(told, share, bool((~agree & missing & known).any()))
        if agree.all():
            return Derive(told, self._otherwise(told.column))
        step = self._residue(told, array, agree, special)
        ordinary = known & ~step.is_special(self.columns)
        return replace(
            step,
            exceptions=_share(~agree & ~missing, ordinary),
            gaps=_share(~agree & missing, ordinary),
            blank=_share(missing, ~known),
        )

    def _two_values(self, name: str) -> tuple[float, ...]:
        """Return the values of a column of numbers that has two; nothing for any other."""
        view = self._view(name)
        if view.levels != 2 or not view.numeric:
            return ()
        low, high = np.unique(view.floats[~np.isnan(view.floats)]).tolist()
        return (low, high)

    def _otherwise(self, name: str) -> pa.Array | None:
        """Return the most frequent value of a column without gaps, or the middle of its numbers."""
        column, array = self.schema[name], plain_array(self.columns[name])
        if column.missing > 0 or not len(array) or array.null_count:
            return None
        if column.kind in NUMERIC:
            found = numbers(array, name).values
            return array.take(pa.array([np.argsort(found, kind="stable")[len(found) // 2]]))
        view = self._view(name)
        return array.take(pa.array([int(np.argmax(view.counts[view.codes]))]))

    def _residue(
        self, told: Told, array: pa.Array, agree: Mask, special: dict[str, Any]
    ) -> Residue:
        column = self.schema[told.column]
        others = array.filter(pa.array(~agree))
        if column.kind in NUMERIC and not column.levels:
            # The number of a single record must not come back: bins rest on several, or are not.
            present = len(others) - others.null_count
            bins = min(_BINS_OF_EXCEPTIONS, present // self.ends)
            if not bins:
                others = others.filter(others.is_null())
            column = replace(
                column, binning="quantile", bins=max(bins, 1), edges=(), range=None, special=()
            )
        elif column.kind == "categorical":
            seen = set(others.unique().to_pylist())
            levels = column.levels or tuple(
                sorted(one for one in array.unique().to_pylist() if one is not None)
            )
            column = replace(column, levels=tuple(one for one in levels if one in seen))
        column = replace(column, missing=1.0, role="ordinary")
        coder = build_coder(column, others, self.ends)
        return Residue(told, coder, column, 0.0, 0.0, 0.0, special)

    def _difference(self, high: str, lows: tuple[str, ...], code: Code | None) -> Difference:
        kind, own = self._type(high), counted_as(self.columns[high], code, high)
        below = [counted_as(self.columns[name], code, name) for name in lows]
        whole = own.values.dtype.kind == "i" and all(b.values.dtype.kind == "i" for b in below)
        least = [one.present.min() for one in (own, *below) if len(one.present)]
        ordered = np.sort(own.present)
        top = ordered[-min(self.ends, len(ordered))] if len(ordered) else 0
        number = int if whole else float
        anchor = number(min(least)) if least else number(0)
        return Difference(high, lows, anchor, number(top), kind, self.schema[high].decimals, code)

    def _coded(self, steps: Mapping[str, Step]) -> Iterator[tuple[str, Column]]:
        """Yield the descriptions of what is coded in place of columns."""
        for name, step in steps.items():
            column = self.schema[name]
            if isinstance(step, Residue):
                levels = tuple(range(step.coder.known + 2))
                yield name, Column(name, "categorical", column.role, levels=levels)
            elif isinstance(step, Difference | Count):
                array = step.reduced(self.columns).array
                assert array is not None  # noqa: S101  # for the type checker
                kind: Kind = "real" if pa.types.is_floating(array.type) else "integer"
                grouping = Grouping(
                    column.bins, "width" if column.binning == "width" else "quantile"
                )
                alone = pa.table({name: array})
                found = next(iter(infer_columns(alone, grouping, {name: kind})))
                yield name, replace(found, role=column.role)

    def _blanks(
        self, kept: list[Dependency], steps: Mapping[str, Step]
    ) -> tuple[tuple[Blank, ...], list[str]]:
        """Return where columns must be missing, and an order that goes with it."""
        made = {name: list(step.sources) for name, step in steps.items() if step.sources}
        # Of a column that others tell, the gaps may be of its own.
        told = {
            name
            for name, step in steps.items()
            if isinstance(step, Derive) or (isinstance(step, Residue | Overrule) and not step.gaps)
        }
        places = {name: place for place, name in enumerate(derivation_order(made))}
        blanks: list[Blank] = []
        leads: dict[str, str] = {}
        for one in sorted(kept, key=lambda one: isinstance(one, MissingWhen)):
            wanted: list[Blank] = []
            if isinstance(one, MissingTogether):
                names = [name for name in one.columns if name not in told]
                names.sort(key=lambda name: places.get(name, -1))
                wanted = [Blank(name, names[0], None, exactly=True) for name in names[1:]]
                leads |= dict.fromkeys(names[1:], names[0])
            elif isinstance(one, MissingWhen) and one.column not in told:
                # Of a block, the first is asked, and the others follow it.
                first = leads.get(one.column, one.column)
                wanted = [Blank(first, one.other, one.level, one.exactly)]
            for blank in wanted:
                sources = {k: list(v) for k, v in made.items()}
                sources.setdefault(blank.column, []).append(blank.other)
                try:
                    derivation_order(sources)
                except ValueError:
                    logging.getLogger("understudy").warning(
                        "Not kept, since %r is itself made from %r: %s.",
                        blank.other,
                        blank.column,
                        one.sentence,
                    )
                    continue
                made = sources
                blanks.append(blank)
        return tuple(blanks), derivation_order(made | {n: made.get(n, []) for n in self.columns})

    def _check_ordered(self, high: str, lows: Iterable[str], code: Code | None) -> None:
        problems = [
            f"{low!r} <= {high!r}: {high!r} holds {CODES[code][0]} as {code}, {low!r} not."
            for low in lows
            if code and (counted_as(self.columns[low], code, low).present < 0).any()
        ]
        if problems:
            raise SchemaError("The dependencies cannot be kept:", problems)


def _share(rows: Mask, among: Mask) -> float:
    """Return the share of some records that a mask has; 0 of none."""
    return int(np.count_nonzero(rows & among)) / max(int(np.count_nonzero(among)), 1)
