"""From a frame to codes and back."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.data.bins import Decoding
from understudy.data.coded import Coded, code_dtype
from understudy.data.coders import (
    BinCoder,
    Coder,
    FoldedCoder,
    build_coder,
    levels_of,
    restore_coder,
)
from understudy.data.counted import Counted
from understudy.data.dependencies.families import dependency_from_plain
from understudy.data.dependencies.plan import Plan, learn_plan
from understudy.data.frames import Frame, Layout, arrow_type, describe_arrow, to_arrow
from understudy.data.inspection import (
    column_problems,
    form_problems,
    missing_problems,
    name_problems,
    value_problems,
)
from understudy.data.made_up_identifiers import Pattern
from understudy.data.schema import NUMERIC, Column, Schema
from understudy.data.schema_file import column_from_plain, column_to_plain
from understudy.data.source import CodedStream, TableSource, source_of
from understudy.data.value_coder import ValueCoder, build_value_coder, restore_value_coder
from understudy.errors import DataError, ParameterError, SchemaError
from understudy.progress import track

_ROWS_AT_ONCE = 2**16
"""Rows whose positions are held at a time."""


@dataclass(frozen=True)
class Codec:
    """Turns a table into integer codes and codes into a table of the same form.

    Made by `Codec.fit`. Categories are coded in the order of their levels; numbers by special
    values and bins, or each by itself (`exact`); missing values have the last code. Identifiers
    are not coded, but made up when a table is decoded. Nor are columns that others tell: `plan`
    keeps the dependencies of the schema, and sets decoded columns right.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"sex": ["f", "m", None], "age": [31, 45, 31]})
    >>> codec = Codec.fit(frame)
    >>> coded = codec.encode(frame)
    >>> coded["sex"].tolist(), coded.cardinality("sex")
    ([0, 1, 2], 3)
    >>> codec.decode(coded).equals(frame)
    True
    """

    schema: Schema
    layout: Layout
    types: Mapping[str, pa.DataType]
    coders: Mapping[str, Coder]
    made_up: Mapping[str, Pattern] = field(default_factory=dict)
    plan: Plan = field(default_factory=Plan)

    @classmethod
    def fit(  # all problems of a table are collected in one go
        cls,
        data: Frame | TableSource,
        schema: Schema | None = None,
        *,
        exact: bool = False,
        ends: int = 1,
        stay: Collection[str] = (),
        hidden: Collection[str] = (),
        positions: bool = False,
    ) -> Codec:
        """Make the codec of a table, in memory or streamed.

        Parameters
        ----------
        data : frame or TableSource
            The table; what the schema leaves open (the cut points of bins) is read from it.
        schema : Schema, optional
            Inferred if not given.
        exact : bool
            Give every number that occurs a code of its own, in place of bins.
        ends : int
            Records that the lowest and the highest number of a column rest on, at least: the few
            beyond become one (see `fold_ends`).
        stay : collection of str
            Columns that are coded as they are, whatever depends on what.
        hidden : collection of str
            Columns that no other may depend on.
        positions : bool
            Learn how numbers lie inside bins, which `positions` needs.

        Raises
        ------
        SchemaError
            If the table does not fit the schema, or holds free text; with all problems. Also if
            dependencies contradict each other.
        DataError
            If `exact`, and fewer than `ends` records of a column have a number and none is
            missing. Otherwise such a column stays as it is.
        """
        source = source_of(data)
        schema = schema or Schema.infer(source)
        layout = source.layout
        problems = name_problems(schema, tuple(layout.types))
        plan = Plan() if problems else _plan_of(source, schema, stay, hidden, ends)
        resolved: dict[str, Column] = {}
        types: dict[str, pa.DataType] = {}
        coders: dict[str, Coder] = {}
        made_up: dict[str, Pattern] = {}
        alone: list[str] = []
        few: list[str] = []
        known = [name for name in layout.types if name in schema]
        for name, own in track(source.describe(known), "Coding", len(known)):
            column, array = schema[name], own
            wrong = column_problems(column, array) + _text_problems(column)
            problems += wrong
            types[name] = array.type
            if column.kind == "categorical" and not column.levels:
                column = replace(column, levels=levels_of(array))
            resolved[name] = column
            if column.kind == "categorical" and len(column.levels) == array.present > 1:
                alone.append(name)
            if wrong or name in plan.dropped:
                continue
            if name in plan.coded:
                column = plan.coded[name]
                reduced, _ = plan.reduced(source.table(plan.reads(name)))
                array = Counted.of(reduced[name].combine_chunks())
            if column.kind == "identifier":
                made_up[name] = Pattern.learn(array.values, name, array.present)
            elif exact and column.kind in NUMERIC:
                coder = build_value_coder(column, array, ends)
                few += [name] if coder.withheld and not column.missing else []
                coders[name] = coder
            else:
                coders[name] = build_coder(column, array, ends, positions=positions)
        if problems:
            raise SchemaError("The table does not fit the schema:", problems)
        if few:
            raise DataError(
                f"Fewer than {ends} records have a number in {', '.join(map(repr, few))}, and an "
                f"end of a column is to rest on {ends} (ends = {ends}). Drop such columns, or set "
                "ends = 1 to draw their numbers as they are."
            )
        _warn_of_own_values(alone)
        ordered = Schema((resolved[name] for name in layout.types), schema.dependencies)
        stored = layout.forget_values(ordered.identifiers)
        return cls(ordered, stored, types, coders, made_up, plan)

    @property
    def names(self) -> tuple[str, ...]:
        """The coded columns, in order."""
        return tuple(self.coders)

    @property
    def cardinalities(self) -> tuple[int, ...]:
        """The number of codes of each coded column; missing is one where it may occur."""
        return tuple(map(self.cardinality, self.coders))

    def cardinality(self, name: str) -> int:
        """Return the number of codes of a coded column."""
        return self.coders[name].known + (self.column(name).missing > 0)

    def column(self, name: str) -> Column:
        """Return the description of what is coded for a column, which others may partly tell."""
        return self.plan.coded.get(name) or self.schema[name]

    def labels(self, name: str) -> list[str]:
        """Return what each code of a column stands for, in words."""
        labels = self.plan.labels(name) or self.coders[name].labels()
        return labels + ["missing"] * (self.column(name).missing > 0)

    def select(self, names: Sequence[str]) -> Codec:
        """Return the codec of some of the coded columns, in the order of `names`.

        It takes tables as `reduced` gives them.
        """
        return replace(
            self,
            schema=Schema(self.column(name) for name in names),
            coders={name: self.coders[name] for name in names},
            plan=Plan(),
        )

    @property
    def inner(self) -> Codec:
        """The codec of tables as `reduced` gives them, of which no column depends on others."""
        if not self.plan:
            return self
        names = [name for name in self.schema.names if name not in self.plan.dropped]
        return replace(
            self,
            schema=Schema(self.column(name) for name in names),
            types={name: self.plan.kind(name) or self.types[name] for name in names},
            plan=Plan(),
        )

    def reduced(self, table: pa.Table) -> tuple[pa.Table, NDArray[np.bool_]]:
        """Return a table as it is coded, and which of its records keep the dependencies."""
        if not self.plan:
            return table, np.ones(table.num_rows, bool)
        return self.plan.reduced(table)

    def encode(self, frame: Frame | TableSource) -> Coded:
        """Return the codes of a table, all in memory.

        Raises
        ------
        SchemaError
            If columns are absent, or rows hold a value that the codec does not know: all of them
            are counted before it is raised.
        """
        batches = source_of(frame).arrow_batches()
        return Coded.concatenate([self.encode_batch(table) for table in batches])

    def encode_seen(self, frame: Frame) -> tuple[Coded, NDArray[np.bool_]]:
        """Return the codes of a table, and which rows hold nothing but values that have a code.

        The other rows have arbitrary codes where they hold a level, a number or a gap that the
        codec does not know. Other columns or kinds of values are errors, as in `encode`.
        """
        reduced, possible = self.reduced(to_arrow(frame))
        coded, seen = self._assign(reduced, strict=False)
        return coded, seen & possible

    def with_positions(
        self, data: Frame | TableSource, names: Collection[str], coded: Coded | None = None
    ) -> Iterator[tuple[Coded, dict[str, NDArray[np.float64]]]]:
        """Yield a table's codes, and where in their bins the numbers of some columns lie.

        A position is the share of the bin's records with a smaller number; that of a value in no
        bin means nothing. A column that is not cut into bins has no positions.

        Parameters
        ----------
        data : frame or TableSource
            The table that the codec was made of, with `positions`. Some rows come at a time.
        names : collection of str
            The columns.
        coded : Coded, optional
            The codes of all rows, if they are in memory.
        """
        first = 0
        for table in source_of(data).arrow_batches():
            rows = slice(first, first + table.num_rows)
            yield from self.positions_in(table, names, None if coded is None else coded.take(rows))
            first = rows.stop

    def positions_in(
        self, table: pa.Table, names: Collection[str], coded: Coded | None = None
    ) -> Iterator[tuple[Coded, dict[str, NDArray[np.float64]]]]:
        """Yield codes and positions of some records, as `with_positions` does."""
        binned = [name for name in names if isinstance(self.coders[name], BinCoder)]
        # Without the other columns, dependencies of these are not gone through once more.
        read = {one for name in binned for one in self.plan.reads(name)}
        needed = table.select([name for name in table.column_names if name in read])
        for start in range(0, table.num_rows, _ROWS_AT_ONCE):
            part = table.slice(start, _ROWS_AT_ONCE)
            rows = slice(start, start + part.num_rows)
            own = self.encode_batch(part) if coded is None else coded.take(rows)
            reduced, _ = self.reduced(needed.slice(start, _ROWS_AT_ONCE))
            yield own, {name: self._positions(reduced, own, name) for name in binned}

    def _positions(self, table: pa.Table, coded: Coded, name: str) -> NDArray[np.float64]:
        coder = self.coders[name]
        if not isinstance(coder, BinCoder):
            raise TypeError(f"{name!r} is not cut into bins")
        array = table.column(name).combine_chunks()
        return coder.positions(array, coded[name].astype(np.int64))

    def stream(self, source: TableSource) -> CodedStream:
        """Return a table as batches of codes."""
        return CodedStream(self, source)

    def encode_batch(self, table: pa.Table) -> Coded:
        """Return the codes of some records; see `encode`."""
        reduced, possible = self.reduced(table)
        if not possible.all():
            raise SchemaError("The table cannot be coded:", self._broken(table))
        coded, seen = self._assign(reduced, strict=True)
        if not seen.all():
            rows = np.count_nonzero(~seen)
            raise SchemaError(
                "The table cannot be coded:",
                [
                    f"{rows:,} rows hold a number that does not occur in the table that the codec "
                    "was made from."
                ],
            )
        return coded

    def _broken(self, table: pa.Table) -> list[str]:
        """Say how many rows break a dependency, for each column."""
        return [
            f"In {rows:,} rows, {name!r} breaks a dependency that has no exceptions. Correct them, "
            "or set keep = false in its [[dependency]]."
            for name, rows in self.plan.broken(table).items()
        ]

    def _assign(self, table: pa.Table, *, strict: bool) -> tuple[Coded, NDArray[np.bool_]]:
        modelled = Schema(self.column(name) for name in self.names)
        present = [name for name in table.column_names if name not in self.schema.identifiers]
        problems = name_problems(modelled, present)
        if problems:
            raise SchemaError("The table cannot be coded:", problems)
        columns = []
        seen = np.ones(table.num_rows, bool)
        for name, cardinality in zip(self.names, self.cardinalities, strict=True):
            column, coder = self.column(name), self.coders[name]
            array = table.column(name).combine_chunks()
            wrong = form_problems(column, array)
            if wrong:
                problems += wrong
                continue
            codes, missing = coder.assign(array)
            unknown = (codes < 0) & ~missing
            if not strict or (isinstance(coder, ValueCoder) and column.binned):
                seen &= ~unknown
                codes = np.maximum(codes, 0)
            else:
                problems += _value_problems(column, coder, array) if unknown.any() else []
            if missing.any():
                known = column.missing > 0
                problems += missing_problems(column, array) if strict else []
                seen &= ~missing | known
                codes = np.where(missing, coder.known if known else 0, codes)
            columns.append(codes.astype(code_dtype(cardinality)))
        if problems:
            raise SchemaError("The table cannot be coded:", problems)
        return Coded(self.names, tuple(columns), self.cardinalities), seen

    def decode(
        self,
        coded: Coded,
        how: Decoding = "interpolate",
        random_state: int | np.random.Generator | None = None,
    ) -> Frame:
        """Return a table for codes, of the kind and types that the codec was made from.

        Parameters
        ----------
        coded : Coded
            Codes of the columns `names`.
        how : {"interpolate", "uniform"}
            How a number is drawn inside its bin: between the quartiles of the data there, or
            evenly between the bin's edges. Neither picks an original record's number on purpose.
        random_state : int or numpy Generator, optional
            Decides the draws.
        """
        return self.layout.restore(
            self.decode_arrow(coded, how, np.random.default_rng(random_state))
        )

    def decode_arrow(
        self,
        coded: Coded,
        how: Decoding,
        rng: np.random.Generator,
        first_row: int = 0,
        positions: Mapping[str, NDArray[np.float64]] | None = None,
        known: Mapping[str, pa.Array] | None = None,
    ) -> dict[str, pa.Array]:
        """Return Arrow values for codes; `first_row` numbers the identifiers of a later batch.

        Columns in `positions` have their numbers at these positions in their bins. Those that are
        `known` have these values.
        """
        if how not in get_args(Decoding):
            raise ParameterError(f"decode must be 'interpolate' or 'uniform'; got {how!r}.")
        if coded.names != self.names or coded.cardinalities != self.cardinalities:
            raise ParameterError(
                "These codes are not this codec's: columns or cardinalities differ."
            )
        columns: dict[str, pa.Array] = {}
        for name in self.schema.names:
            if known and name in known:
                columns[name] = known[name]
            elif name in self.coders:
                coder, codes = self.coders[name], coded[name].astype(np.int64)
                if positions and name in positions and isinstance(coder, BinCoder):
                    columns[name] = coder.build(codes, how, rng, positions[name])
                else:
                    columns[name] = coder.build(codes, how, rng)
            elif name not in self.plan.dropped:
                # Models of former versions know no pattern: they count.
                pattern = self.made_up.get(name, Pattern())
                columns[name] = pattern.make(name, self.types[name], len(coded), first_row)
        return self.plan.restored(columns, how, rng) if self.plan else columns

    def without_positions(self) -> Codec:
        """Return a codec that does not know how numbers lie inside bins."""
        coders = {
            name: replace(coder, spread=None) if isinstance(coder, BinCoder) else coder
            for name, coder in self.coders.items()
        }
        return replace(self, coders=coders)

    def with_identifiers_of(self, data: Frame) -> Codec:
        """Return a codec that makes up no identifier of a table, which has those of its own.

        For the table of everybody, if some records were kept back before the codec was made.
        """
        table = to_arrow(data)
        patterns = {
            name: Pattern.learn(table[name].combine_chunks(), name, table.num_rows)
            for name in self.made_up
        }
        return replace(self, made_up=patterns)

    def to_plain(self) -> dict[str, Any]:
        """Return the codec in values that JSON can hold exactly, but for those of `to_arrays`."""
        plain = {
            "columns": [column_to_plain(column) for column in self.schema],
            "backend": self.layout.backend,
            "stored": [self.layout.types[name] for name in self.schema.names],
            "arrow": [_plain_type(self.types[name]) for name in self.schema.names],
            "bins": {
                name: coder.to_plain()
                for name, coder in self.coders.items()
                if isinstance(coder, BinCoder)
            },
            "exact": {
                name: coder.to_plain()
                for name, coder in self.coders.items()
                if isinstance(coder, ValueCoder)
            },
            "made_up": {name: pattern.to_plain() for name, pattern in self.made_up.items()},
        }
        listed = {
            name: coder.to_plain()
            for name, coder in self.coders.items()
            if isinstance(coder, FoldedCoder)
        }
        plain |= {"listed": listed} if listed else {}
        if self.schema.dependencies:
            plain["dependencies"] = [one.to_plain() for one in self.schema.dependencies]
        return plain | ({"plan": self.plan.to_plain()} if self.plan else {})

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what `to_plain` leaves out: the numbers of an exact codec, by place of column."""
        return {
            str(place): coder.values
            for place, coder in enumerate(self.coders.values())
            if isinstance(coder, ValueCoder)
        }

    @classmethod
    def from_plain(
        cls, plain: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]] | None = None
    ) -> Codec:
        """Return the codec that `to_plain` and `to_arrays` took apart."""
        between = [dependency_from_plain(one) for one in plain.get("dependencies", ())]
        schema = Schema((column_from_plain(column) for column in plain["columns"]), between)
        names = schema.names
        types = {
            name: arrow_type(stored) for name, stored in zip(names, plain["arrow"], strict=True)
        }
        exact = plain.get("exact", {})
        plan = Plan.from_plain(plain["plan"], types) if "plan" in plain else Plan()
        coders: dict[str, Coder] = {}
        for name in names:
            if schema[name].kind == "identifier" or name in plan.dropped:
                continue
            column, kind = plan.coded.get(name) or schema[name], plan.kind(name) or types[name]
            if name in exact:
                values = (arrays or {})[str(len(coders))]
                coders[name] = restore_value_coder(column, kind, exact[name], values)
            else:
                bins, listed = plain["bins"].get(name), plain.get("listed", {}).get(name)
                coders[name] = restore_coder(column, kind, bins, listed)
        layout = Layout(plain["backend"], dict(zip(names, plain["stored"], strict=True)))
        made_up = {name: Pattern.from_plain(one) for name, one in plain.get("made_up", {}).items()}
        return cls(schema, layout, types, coders, made_up, plan)


def _plan_of(
    source: TableSource, schema: Schema, stay: Collection[str], hidden: Collection[str], ends: int
) -> Plan:
    """Return what keeps the dependencies of a schema, read from a table."""
    if not schema.dependencies:
        return Plan()
    return learn_plan(source.table, schema, stay, hidden, ends)


def _value_problems(column: Column, coder: Coder, array: pa.Array) -> list[str]:
    """Return a sentence about the values that a coder does not know."""
    found = Counted.of(array)
    codes, missing = coder.assign(found.values)
    return value_problems(column, found, (codes < 0) & ~missing)


def _plain_type(kind: pa.DataType) -> dict[str, Any]:
    # Of categories only their values' type matters here: the levels are in the schema.
    return describe_arrow(kind.value_type if pa.types.is_dictionary(kind) else kind)


def _warn_of_own_values(names: Sequence[str]) -> None:
    if names:
        logging.getLogger("understudy").warning(
            "Every record has a value of its own in %s, and the synthetic table will show "
            "them. If they name people, set the kind to identifier, or drop the column.",
            ", ".join(map(repr, names)),
        )


def _text_problems(column: Column) -> list[str]:
    if column.kind != "text":
        return []
    return [
        f"{column.name!r} looks like free text, which cannot be synthesized. Drop it, sort it into "
        "categories, or declare it as categorical or identifier in the schema."
    ]
