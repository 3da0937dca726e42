"""The schema: what each column of a table is, in terms that a person can read and correct."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from understudy.arguments import as_names
from understudy.data.dependencies.families import Dependency
from understudy.data.frames import Frame
from understudy.errors import SchemaError, did_you_mean, unknown_columns
from understudy.showing import records_are_shown
from understudy.wording import counted

Kind = Literal["categorical", "integer", "real", "datetime", "boolean", "identifier", "text"]
Role = Literal["ordinary", "key", "sensitive", "target", "identifier", "unit", "time"]
Binning = Literal["quantile", "width", "edges"]
Outside = Literal["clamp", "drop"]
Level = str | int | float | bool

MOST_BINS = 1_000_000
NUMERIC: tuple[Kind, ...] = ("integer", "real", "datetime")
NAMING: tuple[Role, ...] = ("identifier", "unit")
"""The roles of columns that name whom a record is about, which no model learns."""


@dataclass(frozen=True)
class Column:
    """One column: its kind, its role, and how its values become codes.

    Times are written as ISO text in `levels`, `special`, `range` and `edges`.

    Parameters
    ----------
    name : str
        The column's name.
    kind : {"categorical", "integer", "real", "datetime", "boolean", "identifier", "text"}
        What the values are. Identifiers are made up anew; text is refused by every synthesizer.
    role : {"ordinary", "key", "sensitive", "target", "identifier", "unit", "time"}
        What the column is to an attacker or an analyst. A "unit" names the person, household or
        firm that several records belong to; "time" orders the records of one.
    levels : tuple
        The values themselves, in order: for categories, and for numbers with few values. A
        categorical column without levels has them read from the data that it is coded with.
    binning : {"quantile", "width", "edges"}
        How numbers that have no `levels` are cut: the same number of records in each bin, the
        same width, or at the given `edges`.
    bins : int
        How many bins.
    edges : tuple
        Cut points for `binning="edges"`, in increasing order.
    special : tuple
        Numbers that are levels of their own, outside the bins, such as 0 or a code like -8.
    range : tuple of two, or None
        Smallest and largest number allowed outside `special`.
    decimals : int or None
        Decimals of real numbers; None keeps all.
    missing : float
        Share of missing values; 0 means that none may be missing.
    public : bool
        Whether all that is said here is public knowledge, not read from the records: a private
        synthesis may then use it for nothing.
    outside : {"clamp", "drop"}
        What a private synthesis does with numbers outside the range: move them to its nearer end,
        or leave the record out. A record with an unknown level is left out.

    Examples
    --------
    >>> Column("age", "integer", role="key", range=(16, 49)).codes
    20
    """

    name: str
    kind: Kind
    role: Role = "ordinary"
    levels: tuple[Level, ...] = ()
    binning: Binning = "quantile"
    bins: int = 20
    edges: tuple[Any, ...] = ()
    special: tuple[Any, ...] = ()
    range: tuple[Any, Any] | None = None
    decimals: int | None = None
    missing: float = 0.0
    public: bool = False
    outside: Outside = "clamp"

    def __post_init__(self) -> None:
        for name in ("levels", "edges", "special"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.range is not None:
            object.__setattr__(self, "range", tuple(self.range))
        # A column that identifies people is never modelled, whichever of the two says so.
        if self.role in NAMING and self.kind in get_args(Kind):
            object.__setattr__(self, "kind", "identifier")
        if self.kind == "identifier" and self.role == "ordinary":
            object.__setattr__(self, "role", "identifier")

    @property
    def binned(self) -> bool:
        """Whether the column's numbers are cut into bins."""
        return self.kind in NUMERIC and not self.levels

    @property
    def codes(self) -> int:
        """The number of codes at most: levels or special values and bins, and one for missing."""
        if self.kind == "boolean":
            known = 2
        elif self.binned:
            bins = len(self.edges) - 1 if self.binning == "edges" else self.bins
            known = len(self.special) + bins
        else:
            known = len(self.levels)
        return known + (self.missing > 0)

    def problems(self) -> Iterator[str]:
        """Yield a sentence for everything that is wrong with this column."""
        for problem in self._problems():
            yield f"{self.name!r}: {problem}"

    def _problems(self) -> Iterator[str]:
        words = {"kind": Kind, "role": Role, "binning": Binning, "outside": Outside}
        for name, allowed in words.items():
            value, options = getattr(self, name), get_args(allowed)
            if value not in options:
                hint = did_you_mean(str(value), options)
                yield f"{name} must be one of {', '.join(options)}; got {value!r}.{hint}"
        if not isinstance(self.missing, int | float) or not 0 <= self.missing <= 1:
            yield f"missing must be a share between 0 and 1; got {self.missing!r}."
        if self.public not in (True, False):
            yield f"public must be true or false; got {self.public!r}."
        yield from self._level_problems()
        decimals = self.decimals
        if decimals is not None and (not isinstance(decimals, int) or not 0 <= decimals <= 15):
            yield f"decimals must be a whole number from 0 to 15; got {decimals!r}."
        if self.kind == "identifier" and self.role not in NAMING:
            yield (
                f"an identifier cannot have the role {self.role!r}; "
                "set its kind to what its values are."
            )
        if self.kind in NUMERIC:
            yield from self._number_problems()

    def _level_problems(self) -> Iterator[str]:
        bad = [level for level in self.levels if not isinstance(level, Level)]
        if bad:
            yield f"levels must be texts, numbers, or true and false; {_item(self.levels, bad)}."
            return
        if len({float if type(level) is int else type(level) for level in self.levels}) > 1:
            first = type(self.levels[0])
            other = [level for level in self.levels if type(level) is not first]
            yield (
                "levels must be all texts, all numbers, or true and false; "
                f"{_item(self.levels, other)}, unlike the first."
            )
        repeated = [level for level, times in Counter(self.levels).items() if times > 1]
        if repeated:
            listed = f": {', '.join(map(repr, repeated))}" if records_are_shown() else ""
            first_place = self.levels.index(repeated[0]) + 1
            yield (
                f"{counted(len(repeated), 'level')} more than once{listed}, first number "
                f"{first_place} of the list."
            )

    def _number_problems(self) -> Iterator[str]:
        wrong = list(self._wrong_types())
        yield from wrong
        if wrong or not self.binned:
            return
        edges = list(self.edges)
        if self.binning == "edges":
            if len(edges) < 2 or edges != sorted(set(edges)):
                got = f"got {edges}" if records_are_shown() else f"it lists {len(edges)}"
                yield f"edges must be at least two numbers in increasing order; {got}."
        elif edges:
            yield (
                f"edges are given, but binning is {self.binning!r}; "
                "set binning to 'edges' or remove the edges."
            )
        if type(self.bins) is not int or not 1 <= self.bins <= MOST_BINS:
            yield f"bins must be a whole number from 1 to {MOST_BINS:,}; got {self.bins!r}."
        if self.range is not None and (len(self.range) != 2 or self.range[0] > self.range[1]):
            got = f"; got {list(self.range)}" if records_are_shown() else ""
            yield f"range must be [smallest, largest]{got}."

    def _wrong_types(self) -> Iterator[str]:
        allowed: Any
        allowed, noun = {
            "integer": (int, "whole numbers"),
            "real": ((int, float), "finite numbers"),
            "datetime": (str, "dates as ISO text"),
        }[self.kind]
        for name in ("levels", "edges", "special", "range"):
            values = getattr(self, name) or ()
            # Cut points between whole numbers may lie between them.
            accepted = (int, float) if name == "edges" and self.kind == "integer" else allowed
            bad = [v for v in values if not isinstance(v, accepted) or isinstance(v, bool)]
            # Infinity can be a value of its own, but no bin reaches it.
            known = (math.inf, -math.inf) if name in ("levels", "special") else ()
            endless = [v for v in values if isinstance(v, float) and not math.isfinite(v)]
            bad += [v for v in endless if v not in known]
            bad += [v for v in values if isinstance(v, int) and not -(2**63) <= v < 2**63]
            if bad:
                yield (f"{name} of this {self.kind} column must be {noun}; {_item(values, bad)}.")


def _item(values: Sequence[Any], bad: Sequence[Any]) -> str:
    """Return which of some values is wrong: its place and its type, and itself if it may be shown.

    Examples
    --------
    >>> _item([1, "Smith"], ["Smith"])
    'number 2 of the list is a text'
    """
    place = next(place for place, value in enumerate(values, 1) if value is bad[0])
    word = _WORDS.get(type(bad[0]), type(bad[0]).__name__)
    shown = f": {bad[0]!r}" if records_are_shown() else ""
    return f"number {place} of the list is {word}{shown}"


_WORDS: dict[type, str] = {
    str: "a text",
    int: "a whole number",
    float: "a real number",
    bool: "true or false",
}


_EDITABLE = tuple(item.name for item in fields(Column) if item.name != "name")


@dataclass(frozen=True)
class Schema:
    """An ordered, frozen description of a table's columns.

    Infer it from a table, look at it, correct it, and give it to a synthesizer.

    Parameters
    ----------
    columns : iterable of Column
        The columns in order.
    dependencies : iterable of Dependency
        What holds between columns, such as ``Ordered("start", "end")``: every synthesizer keeps
        those that do not say otherwise.

    Raises
    ------
    SchemaError
        With every problem that was found, not only the first.

    Examples
    --------
    >>> import polars as pl
    >>> schema = Schema.infer(pl.DataFrame({"sex": ["f", "m", "f"], "age": [31, 45, 31]}))
    >>> schema["sex"].levels, schema["age"].levels
    (('f', 'm'), (31, 45))
    >>> schema.edit("age", role="key").keys
    ('age',)
    """

    columns: tuple[Column, ...]
    dependencies: tuple[Dependency, ...] = ()
    _places: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __init__(self, columns: Iterable[Column], dependencies: Iterable[Dependency] = ()) -> None:
        ordered, between = tuple(columns), tuple(dependencies)
        object.__setattr__(self, "columns", ordered)
        object.__setattr__(self, "dependencies", between)
        object.__setattr__(self, "_places", {c.name: place for place, c in enumerate(ordered)})
        problems = [problem for column in ordered for problem in column.problems()]
        if len(self._places) < len(ordered):
            names = [column.name for column in ordered]
            repeated = sorted({name for name in names if names.count(name) > 1})
            problems.insert(0, f"columns are described twice: {', '.join(map(repr, repeated))}.")
        problems += [
            f"dependency {place} ({one.kind}): {problem}"
            for place, one in enumerate(between, 1)
            for problem in one.problems(self.names)
        ]
        if problems:
            raise SchemaError("The schema has problems:", problems)

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __getitem__(self, name: str) -> Column:
        if name not in self._places:
            self._require([name])
        return self.columns[self._places[name]]

    def _require(self, names: Iterable[str]) -> None:
        problems = unknown_columns(names, self.names)
        if problems:
            raise SchemaError("The schema has no such column:", problems)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that an attacker may know of a person."""
        return self._with_role("key")

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The columns that an attacker wants to learn."""
        return self._with_role("sensitive")

    @property
    def targets(self) -> tuple[str, ...]:
        """The columns that an analyst wants to predict."""
        return self._with_role("target")

    @property
    def units(self) -> tuple[str, ...]:
        """The columns that name the person, household or firm that records belong to."""
        return self._with_role("unit")

    @property
    def time(self) -> str | None:
        """The column that orders a unit's records, if one has this role."""
        return next(iter(self._with_role("time")), None)

    @property
    def identifiers(self) -> tuple[str, ...]:
        """The columns that are left out of every model and made up anew."""
        return tuple(column.name for column in self.columns if column.kind == "identifier")

    def _with_role(self, role: Role) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.role == role)

    @classmethod
    def infer(
        cls,
        frame: Frame,
        *,
        bins: int = 20,
        binning: Literal["quantile", "width"] = "quantile",
        special_share: float = 0.05,
        kinds: Mapping[str, Kind] | None = None,
        dependencies: bool = True,
    ) -> Schema:
        """Describe the columns of a table, and what holds between them, by looking at its values.

        Parameters
        ----------
        frame : frame or FileStream
            The table, in memory or as `scan` gives it.
        bins : int
            Bins for numbers; a column with no more distinct numbers keeps each as a level.
        binning : {"quantile", "width"}
            How numbers are cut into bins.
        special_share : float
            A number that makes up more than this share of a column's records becomes a level of
            its own if it stands apart from the others, or is much more frequent than those beside
            it; 1 for none. Codes such as -9, 98 and 999 need fewer records, but must stand apart.
        kinds : mapping of str to str, optional
            The kinds of some columns, whatever they look like.
        dependencies : bool
            Look for dependencies between columns (see `find_dependencies`).

        Examples
        --------
        >>> import polars as pl
        >>> table = pl.DataFrame({"room": [101, 102, 101]})
        >>> Schema.infer(table, kinds={"room": "categorical"})["room"].kind
        'categorical'
        """
        from understudy.data.inspection import Grouping, infer_columns

        columns = tuple(infer_columns(frame, Grouping(bins, binning, special_share), kinds))
        if not dependencies:
            return cls(columns)
        from understudy.data.dependencies.finding import find_dependencies

        return cls(columns, find_dependencies(frame, columns))

    def read_anew(self, frame: Frame, kinds: Mapping[str, Kind]) -> Schema:
        """Return the schema with some columns read once more from a table, as other kinds.

        Their roles stay, unless a column becomes an identifier or is none any longer.
        """
        from understudy.data.inspection import check_kinds, infer_columns

        check_kinds(kinds, self.names)
        found = {one.name: one for one in infer_columns(frame, kinds=kinds, names=kinds)}

        def changed(column: Column) -> Column:
            new = found.get(column.name, column)
            kept = new.role not in NAMING and column.role not in NAMING
            return replace(new, role=column.role) if kept else new

        return Schema(map(changed, self), self.dependencies)

    def edit(self, *names: str, **changes: Any) -> Schema:  # noqa: ANN401  # any field of Column
        """Return the schema with fields of the named columns changed."""
        self._require(names)
        unknown = [
            f"a column has no field {name!r}.{did_you_mean(name, _EDITABLE)}"
            for name in changes
            if name not in _EDITABLE
        ]
        if unknown:
            raise SchemaError("The schema cannot be edited like this:", unknown)

        def changed(column: Column) -> Column:
            settings = dict(changes)
            if column.role in NAMING and changes.get("kind", "identifier") != "identifier":
                # A column that is given another kind is no identifier any longer.
                settings.setdefault("role", "ordinary")
            return replace(column, **settings)

        columns = (changed(column) if column.name in names else column for column in self)
        return Schema(columns, self.dependencies)

    def with_roles(
        self,
        *,
        keys: str | Sequence[str] = (),
        sensitive: str | Sequence[str] = (),
        target: str | Sequence[str] = (),
        unit: str | Sequence[str] = (),
    ) -> Schema:
        """Return the schema with the given columns in these roles; the others keep theirs.

        Those of `unit` name the units together, and no other does any longer.
        """
        keys, sensitive, target, unit = map(as_names, (keys, sensitive, target, unit))
        self._require([*keys, *sensitive, *target, *unit])
        found = (
            self.edit(*keys, role="key")
            .edit(*sensitive, role="sensitive")
            .edit(*target, role="target")
        )
        if not unit:
            return found

        def naming(column: Column) -> Column:
            if column.name in unit:  # without a trace of its values
                return Column(column.name, "identifier", "unit", missing=column.missing)
            return replace(column, role="identifier") if column.role == "unit" else column

        return Schema(map(naming, found), found.dependencies)

    def as_public(self) -> Schema:
        """Return the schema as one that says only what is public knowledge, of every column.

        It is for you to decide: whoever reads levels or ranges from the records, and calls them
        public, breaks the promise of a private synthesis.
        """
        return self.edit(*self.names, public=True)

    def drop(self, *names: str) -> Schema:
        """Return the schema without the named columns, and what depends on them."""
        self._require(names)
        left = (one for one in self.dependencies if not set(one.names) & set(names))
        return Schema((column for column in self if column.name not in names), left)

    def with_dependencies(self, *dependencies: Dependency, keep: bool | None = None) -> Schema:
        """Return the schema with more dependencies, or with all of them switched on or off.

        A new one takes the place of those that say how the same column comes about.

        Parameters
        ----------
        *dependencies : Dependency
            What holds between columns, as you know it.
        keep : bool, optional
            Whether synthesizers keep all that the schema had; each as it is if not given.

        Examples
        --------
        >>> from understudy.data import Ordered
        >>> schema = Schema([Column("start", "integer"), Column("end", "integer")])
        >>> schema.with_dependencies(Ordered("start", "end")).dependencies[0].sentence
        "'start' <= 'end'"
        """
        giving = ("determined", "formula", "composite")
        given = {one.names[0] for one in dependencies if one.kind in giving}
        former = [
            one if keep is None else replace(one, keep=keep)
            for one in self.dependencies
            if one not in dependencies
            and not (one.names[0] in given and one.kind in (*giving, "ordered"))
        ]
        return Schema(self.columns, (*former, *dependencies))

    def check(self, frame: Frame) -> None:
        """Raise with every way in which a table does not fit: columns, kinds, levels, ranges."""
        from understudy.data.inspection import table_problems

        problems = table_problems(self, frame)
        if problems:
            raise SchemaError("The table does not fit the schema:", problems)

    def to_toml(self) -> str:
        """Return the schema as TOML with comments for the person who edits it."""
        from understudy.data.schema_file import schema_to_toml

        return schema_to_toml(self)

    @classmethod
    def from_toml(cls, text: str) -> Schema:
        """Read a schema from TOML."""
        from understudy.data.schema_file import schema_from_toml

        return schema_from_toml(text)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the schema to a TOML file."""
        from understudy.data.files import write_bytes

        write_bytes(self.to_toml().encode(), path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """Read a schema from a TOML file."""
        from understudy.data.schema_file import load_schema

        return load_schema(path)
