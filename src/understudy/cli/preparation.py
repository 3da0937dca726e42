"""What is done to a table before it is synthesized: how its columns are read, and rare levels."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from understudy.cli import session
from understudy.cli.option_groups import panel, spelled
from understudy.cli.options import joined_names
from understudy.cli.privacy_options import is_private
from understudy.errors import ParameterError, unknown_columns
from understudy.wording import quoted

if TYPE_CHECKING:
    from understudy.data import Schema
    from understudy.data.column_remarks import Remark
    from understudy.data.files import Written
    from understudy.data.schema import Kind
    from understudy.synthesis import Synthesizer
    from understudy.synthesis.control import Grouped

_columns = panel("The columns")

_WAYS_OUT = (
    "Text is refused if most of its values stand for one record each, or are sentences: a model "
    "would hand them out. Leave it out (--drop-text for all such columns, --drop COLUMN for one), "
    "have it made up anew (--kind COLUMN=identifier), or say that its values are categories "
    "(--kind COLUMN=categorical). If it is numbers or dates but for a few words, say which words "
    "are missing values (--missing WORD). Texts that all differ and look like names or codes are "
    "identifiers: those are made up anew without being asked."
)

KindOption = Annotated[
    list[str] | None,
    _columns(
        "COLUMN=KIND: what a column is, whatever it looks like: categorical, integer, real, "
        "datetime, boolean, identifier or text. Repeatable."
    ),
]


DependenciesOption = Annotated[
    bool,
    _columns(
        "Whether what holds between columns is found and kept: code and name, total = a + b, "
        "start <= end, blocks that are missing together. The schema file has a switch for each.",
        "--dependencies/--no-dependencies",
    ),
]


def read_kinds(texts: Sequence[str] | None) -> dict[str, Kind]:
    """Return the kinds that were given as COLUMN=KIND; a name may hold the sign.

    Examples
    --------
    >>> read_kinds(["survival=real"])
    {'survival': 'real'}
    """
    found: dict[str, Kind] = {}
    for text in texts or ():
        column, _, kind = text.rpartition("=")
        if not column or not kind.strip():
            raise ParameterError(
                f"--kind must be COLUMN=KIND, such as survival=real; got {text!r}."
            )
        if column in found:
            raise ParameterError(f"--kind names {column!r} twice.")
        found[column] = cast("Kind", kind.strip())
    return found


def with_units(schema: Schema, units: Sequence[str]) -> Schema:
    """Return a schema in which some columns name the units that records belong to."""
    if problems := unknown_columns(units, schema.names):
        raise ParameterError(f"--unit-id: {' '.join(problems)}")
    return schema.with_roles(unit=units) if units else schema


def with_time(schema: Schema, name: str) -> Schema:
    """Return a schema in which a column orders the records of each unit; as it is without one."""
    if not name:
        return schema
    if name not in schema:
        raise ParameterError(f"--time: {unknown_columns([name], schema.names)[0]}")
    return schema.edit(name, role="time")


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table that is ready to be synthesized, and what its columns are."""

    frame: Any
    schema: Schema | None
    grouped: Grouped | None = None
    left_out: tuple[str, ...] = ()
    private: bool = False
    """Whether nothing but the types of columns was looked at."""
    private_schema: Schema | None = None
    """What the columns are for private methods, if others know more of them."""

    def schema_for(self, model: Synthesizer) -> Schema | None:
        """Return what the columns are for a method."""
        own = self.private_schema if is_private(model) else None
        return own or self.schema

    def alike(self, frame: Any) -> Any:  # noqa: ANN401  # a frame
        """Return another table, changed as this one was."""
        return frame if self.grouped is None or frame is None else self.grouped.alike(frame)

    @property
    def note(self) -> str:
        """What was done to the table, in words; empty if nothing was."""
        return "" if self.grouped is None else self.grouped.to_text()

    @property
    def open_note(self) -> str:
        """The same without a figure of the original, for what may leave."""
        grouped = self.grouped is not None and self.grouped.other
        return self.grouped.to_text(counts=False) if self.grouped and grouped else ""

    def show(self, ctx: typer.Context, written: Written | None) -> None:
        """Show what each column was taken for, unless it should be quiet."""
        if self.schema is not None and not self.private:
            show_decisions(ctx, self.frame, self.schema, written)
        if self.left_out:
            session.say(ctx, f"Left out, because free text is refused: {quoted(self.left_out)}.")
        elif self.schema is not None and refused(self.schema):
            session.say(ctx, _WAYS_OUT)
        if self.note:
            session.say(ctx, self.note)


def show_decisions(
    ctx: typer.Context,
    frame: Any,  # noqa: ANN401  # a frame or stream
    schema: Schema,
    written: Written | None,
) -> None:
    """Show what each column of a table was taken for, unless it should be quiet."""
    if ctx.obj["quiet"]:
        return
    from understudy.data import decisions
    from understudy.report.decision_table import decision_table

    formats = written.in_words if written else {}
    hint = "Change a line in the schema file, or give the option that is shown."
    found = decisions(frame, schema, formats=formats)
    session.console().print(decision_table(found, option_for, hint))


def option_for(remark: Remark, columns: Sequence[str]) -> str:
    """Return what to type to change a remark about columns, or the line of the schema file.

    Examples
    --------
    >>> from understudy.data.column_remarks import Remark
    >>> option_for(Remark("codes", "", "", "kind", "categorical"), ["zip code"])
    "--kind 'zip code=categorical'"
    """
    name = columns[0] if len(columns) == 1 else "COLUMN"
    if remark.setting == "unit":
        named = shlex.join([spelled("unit_id"), joined_names([name])])
        return f"{named}; {shlex.join([spelled('kind'), f'{name}={remark.value}'])} if it is none"
    words = {
        "kind": [spelled("kind"), f"{name}={remark.value}"],
        "drop": [spelled("drop"), joined_names([name] if len(columns) == 1 else columns)],
        "group": [spelled("group_rare"), remark.value],
        "missing": [spelled("missing"), remark.value],
    }.get(remark.setting)
    return remark.line if words is None else shlex.join(words)


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """How the columns are read, and which levels are joined."""

    kind: KindOption = None
    time: Annotated[
        str,
        _columns(
            "The column that orders the records of a unit, such as a year or a date.",
            default="found by its look",
        ),
    ] = ""
    group_rare: Annotated[
        int | None,
        _columns(
            "Join the levels of a category that fewer records have, into one, before the "
            "synthesis.",
            min=2,
        ),
    ] = None

    drop_text: Annotated[
        bool,
        _columns(
            "Leave out the columns that are refused because they hold free text.", "--drop-text"
        ),
    ] = False
    dependencies: DependenciesOption = True

    def check(self) -> None:
        """Raise if an option cannot be read, before any work."""
        read_kinds(self.kind)

    def apply(
        self,
        frame: Any,  # noqa: ANN401  # a frame or stream
        described: Schema | None,
        units: Sequence[str] = (),
        *,
        private: bool = False,
    ) -> Prepared:
        """Return a table as it is to be synthesized.

        `described` says what its columns are, and `units` which of them name the units. If the
        synthesis is `private`, nothing but the types of columns may be looked at.
        """
        kinds = read_kinds(self.kind)
        try:
            schema = self._columns(frame, described, kinds, private=private)
        except ParameterError as error:
            raise ParameterError(f"--kind: {error}") from error
        schema = with_time(with_units(schema, units), self.time)
        left_out = refused(schema) if self.drop_text else []
        if left_out:
            frame, schema = without(frame, left_out), schema.drop(*left_out)
        if not self.dependencies:
            schema = schema.with_dependencies(keep=False)
        if self.group_rare is None:
            return Prepared(frame, schema, left_out=tuple(left_out), private=private)
        from understudy.synthesis.control import group_rare_levels

        grouped = group_rare_levels(frame, self.group_rare, schema)
        return Prepared(grouped.frame, grouped.schema, grouped, tuple(left_out))

    def _columns(
        self,
        frame: Any,  # noqa: ANN401  # a frame or stream
        described: Schema | None,
        kinds: Mapping[str, Kind],
        *,
        private: bool,
    ) -> Schema:
        from understudy.data import Schema

        if described is None and private:
            from understudy.privacy.domain import schema_of_types

            return schema_of_types(frame, kinds)
        if described is None:
            return Schema.infer(frame, kinds=kinds, dependencies=self.dependencies)
        if kinds and private:
            raise ParameterError(
                "with --epsilon, a column cannot be read anew from the records. Change its kind in "
                "the schema file."
            )
        return described.read_anew(frame, kinds) if kinds else described

    def words(self) -> list[str]:
        """Return these options as they are typed."""
        found = [word for text in self.kind or () for word in (spelled("kind"), text)]
        found += [spelled("time"), self.time] if self.time else []
        if self.group_rare is not None:
            found += [spelled("group_rare"), str(self.group_rare)]
        found += [spelled("drop_text")] if self.drop_text else []
        return found if self.dependencies else [*found, spelled("no_dependencies")]


def refused(schema: Schema) -> list[str]:
    """Return the columns that cannot be synthesized, because they hold free text."""
    return [column.name for column in schema if column.kind == "text"]


def without(frame: Any, names: Sequence[str]) -> Any:  # noqa: ANN401  # a frame or stream
    """Return a table, or a stream, without some columns."""
    from understudy.data import FileStream
    from understudy.data.declared import declare_like

    if isinstance(frame, FileStream):
        return replace(frame, drop=(*frame.drop, *names))
    return declare_like(frame.drop(*names), frame)
