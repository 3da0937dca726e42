"""The schema as a TOML file: plain enough to correct by hand, with comments that say how."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from understudy.data.dependencies.families import (
    Dependency,
    dependency_from_plain,
    plain_problems,
)
from understudy.data.schema import Column, Schema
from understudy.errors import ParameterError, SchemaError, did_you_mean
from understudy.showing import records_are_shown
from understudy.toml_file import parse_toml, read_toml

FORMAT = 1

_HEADER = """\
What understudy knows of each column. Correct it where it is wrong before you synthesize with it.
It lists values of the data: treat it as confidentially as the data.

name      the column's name in the table
kind      categorical, integer, real, datetime, boolean;
          identifier: names a person, is left out of the model and made up anew;
          text: free text, which cannot be synthesized: drop it or choose another kind
role      ordinary; key (an attacker may know it), sensitive (an attacker wants to learn it),
          target (an analyst wants to predict it), identifier,
          unit (names whom several records belong to, such as a household), time (orders these)
levels    all values, in order; numbers have this only when they have few values
binning   how other numbers are grouped: quantile (same number of records in each group),
          width (same width), or edges (at the numbers listed in edges)
bins      how many groups
edges     the limits of the groups, in increasing order, for binning = "edges"
special   numbers that mean something of their own, such as 0 or -8: each is a group by itself
range     smallest and largest number outside special
decimals  decimals of real numbers; leave it out to keep all
missing   share of records without a value; 0 means that every record must have one
public    true if all of this is public knowledge, for a synthesis with epsilon; at the top
          of the file, it is said of every column
outside   what such a synthesis does with numbers outside the range: clamp, or drop the record

A [[dependency]] is something that holds between columns, and that synthetic records keep. Set
keep = false to let the model draw the columns as it learns them; add those that you know of."""

_TEXTS = ("name", "kind", "role", "binning", "outside")
_LISTS = ("levels", "edges", "special", "range")
_FIELDS = tuple(item.name for item in fields(Column))
_REMARKS = {
    "kind": "categorical, integer, real, datetime, boolean, identifier, text",
    "role": "ordinary, key, sensitive, target, identifier, unit, time",
    "levels": "all values, in order",
    "binning": "quantile, width, edges",
    "bins": "number of groups",
    "edges": "limits of the groups",
    "special": "each a group of its own",
    "range": "smallest and largest, outside special",
    "decimals": "decimals kept",
    "missing": "share of missing values",
    "public": "known to everybody, not read from the records",
    "outside": "clamp, drop",
}

_DEPENDENCY_REMARKS = {
    "exceptions": "share of records for which it does not hold",
    "keep": "whether synthetic records keep it",
}


def column_to_plain(column: Column) -> dict[str, Any]:
    """Return the fields that matter for a column of its kind, as TOML and JSON can hold them."""
    plain: dict[str, Any] = {"name": column.name, "kind": column.kind, "role": column.role}
    if column.binned:
        if column.binning == "edges":
            plain |= {"binning": column.binning, "edges": list(column.edges)}
        else:
            plain |= {"binning": column.binning, "bins": column.bins}
        plain["special"] = [_finite(value) for value in column.special]
        if column.range is not None:
            plain["range"] = list(column.range)
    elif column.kind not in ("boolean", "identifier", "text"):
        plain["levels"] = [_finite(value) for value in column.levels]
    if column.decimals is not None:
        plain["decimals"] = column.decimals
    plain["missing"] = column.missing
    plain |= {"public": True} if column.public else {}
    return plain | ({"outside": column.outside} if column.outside != "clamp" else {})


def _finite(value: Any) -> Any:  # noqa: ANN401  # any level
    """Return infinities as text: JSON has no number for them."""
    return str(value) if isinstance(value, float) and math.isinf(value) else value


def column_from_plain(plain: Mapping[str, Any]) -> Column:
    """Return the column that `column_to_plain` put into plain values."""
    values = dict(plain)
    for name in _LISTS:
        if name in values:
            values[name] = tuple(_read_value(value, values["kind"]) for value in values[name])
    return Column(**values)


def _read_value(value: Any, kind: str) -> Any:  # noqa: ANN401  # any level
    if kind == "datetime" and isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if kind == "real" and value in ("inf", "-inf"):
        return float(value)
    return value


def schema_to_toml(schema: Schema) -> str:
    """Return a schema as commented TOML."""
    import tomlkit

    document = tomlkit.document()
    for line in _HEADER.splitlines():
        document.add(tomlkit.comment(line) if line else tomlkit.nl())
    document.add(tomlkit.nl())
    document.add("understudy_schema", tomlkit.item(FORMAT).comment("version of this file's format"))
    columns = tomlkit.aot()
    for column in schema:
        table = tomlkit.table()
        for name, value in column_to_plain(column).items():
            item = tomlkit.item(value)
            if name in _REMARKS:
                item.comment(_REMARKS[name])
            table.add(name, item)
        columns.append(table)
    document.add("column", columns)
    if schema.dependencies:
        found = tomlkit.aot()
        for one in schema.dependencies:
            table = tomlkit.table()
            table.comment(one.sentence.replace("\n", " "))
            for name, value in one.to_plain().items():
                item = tomlkit.item(value)
                if name in _DEPENDENCY_REMARKS:
                    item.comment(_DEPENDENCY_REMARKS[name])
                table.add(name, item)
            found.append(table)
        document.add("dependency", found)
    return tomlkit.dumps(document)


def schema_from_toml(text: str) -> Schema:
    """Return the schema in a TOML text, or raise with every problem in it."""
    return _schema_of(lambda: parse_toml(text, "The schema"), "The schema")


def load_schema(path: str | Path) -> Schema:
    """Return the schema in a TOML file, or raise with every problem in it."""
    return _schema_of(lambda: read_toml(path), str(path))


def _schema_of(document_of: Callable[[], dict[str, Any]], source: str) -> Schema:
    try:
        document = document_of()
    except ParameterError as error:
        raise SchemaError("The schema cannot be read:", [str(error)]) from error
    problems = []
    version = document.get("understudy_schema")
    if version != FORMAT:
        problems.append(
            f"understudy_schema must be {FORMAT}; got {version!r}."
            if version is None or not isinstance(version, int) or version < FORMAT
            else f"it has format {version}, newer than {FORMAT}: update understudy to read it."
        )
    described = document.get("column")
    if not isinstance(described, list) or not described:
        problems.append("it has no [[column]] section.")
        described = []
    columns = []
    for place, plain in enumerate(described, 1):
        wrong = list(_plain_problems(plain, place))
        problems += wrong
        if not wrong:
            columns.append(column_from_plain(plain))
    between: list[Dependency] = []
    listed = document.get("dependency", [])
    if not isinstance(listed, list):
        problems.append("dependency must be a list of [[dependency]] sections.")
        listed = []
    for place, plain in enumerate(listed, 1):
        wrong = plain_problems(plain)
        problems += [f"dependency {place}: {problem}" for problem in wrong]
        if not wrong:
            between.append(dependency_from_plain(plain))
    problems += _public_problems(document)
    if problems:
        problems += [problem for column in columns for problem in column.problems()]
        raise SchemaError(f"{source} has problems:", problems)
    found = Schema(columns, between)
    return found.as_public() if document.get("public") else found


def _public_problems(document: Mapping[str, Any]) -> list[str]:
    public = document.get("public", False)
    return [] if isinstance(public, bool) else [f"public must be true or false; got {public!r}."]


def _shown(name: str, value: object) -> str:
    """Return what a field holds, in words that show no record: lists hold values of the data."""
    hidden = name in _LISTS and not records_are_shown()
    return f"one {type(value).__name__}" if hidden else repr(value)


def _plain_problems(plain: Any, place: int) -> list[str]:  # noqa: ANN401  # whatever a file held
    if not isinstance(plain, dict):
        return [f"column {place} is not a section of fields."]
    label = repr(plain["name"]) if isinstance(plain.get("name"), str) else f"column {place}"
    problems = [f"{name} is missing." for name in ("name", "kind") if name not in plain]
    problems += [
        f"there is no field {name!r}.{did_you_mean(name, _FIELDS)}"
        for name in plain
        if name not in _FIELDS
    ]
    forms: dict[str, tuple[type, str]] = dict.fromkeys(_TEXTS, (str, "text"))
    forms |= dict.fromkeys(_LISTS, (list, "a list"))
    problems += [
        f"{name} must be {noun}; got {_shown(name, plain[name])}."
        for name, (form, noun) in forms.items()
        if name in plain and not isinstance(plain[name], form)
    ]
    return [f"{label}: {problem}" for problem in problems]
