"""What there is to know about the dependencies between columns, beside how each one was read."""

from __future__ import annotations

import numpy as np

from understudy.data.column_remarks import Remark
from understudy.data.dependencies.families import (
    CODES,
    Composite,
    Dependency,
    Determined,
    Formula,
    MissingTogether,
    MissingWhen,
    Ordered,
)
from understudy.data.dependencies.mappings import FEW, Groups
from understudy.data.dependencies.views import Views
from understudy.data.schema import Schema
from understudy.data.source import TableSource
from understudy.wording import counted, listed, percent

SWITCH = "keep = false in its [[dependency]]"


def dependency_remarks(source: TableSource, schema: Schema) -> dict[str, list[Remark]]:
    """Return what there is to know, by the column that is derived, drawn otherwise or set right."""
    known = set(source.layout.types)
    found: dict[str, list[Remark]] = {}
    for one in schema.dependencies:
        if set(one.names) <= known:
            why = f"{_what(one)}{_few(one, source, schema)}{_exceptions(one)}"
            line = SWITCH if one.keep else "keep = true in its [[dependency]]"
            remark = Remark("dependency", why if one.keep else f"{why}; not kept", line)
            found.setdefault(one.names[0], []).append(remark)
    return found


def _what(one: Dependency) -> str:
    """Return what holds for the first column that a dependency names, and what is done."""
    if isinstance(one, Determined):
        return f"follows from {listed([repr(name) for name in one.by])}, and is derived"
    if isinstance(one, Formula):
        return f"is {one.text}, and is computed"
    if isinstance(one, Ordered):
        return f"is never below {one.low!r}: the difference is drawn"
    if isinstance(one, Composite):
        return f"{one.sentence.partition(' ')[2]}, drawn as {CODES[one.code][1]}"
    if isinstance(one, MissingTogether):
        return f"is missing together with {listed([repr(name) for name in one.columns[1:]])}"
    assert isinstance(one, MissingWhen)  # noqa: S101  # the last kind
    # A level may be the value of a few people, and is in the schema file.
    return f"{one.sentence.partition(' ')[2].rpartition(' is ')[0]} has a certain value"


def _few(one: Dependency, source: TableSource, schema: Schema) -> str:
    """Return how many entries of a table of codes and names tell of few people."""
    if not isinstance(one, Determined) or any(schema[n].kind == "identifier" for n in one.names):
        return ""
    views = Views.of(source.table(one.by), [schema[name] for name in one.by])
    if len(views.columns) < len(one.by):
        return ""
    counts = Groups.of(*(views[name] for name in one.by)).counts
    few = int(np.count_nonzero((counts > 0) & (counts < FEW)))
    if not few:
        return ""
    entries = counted(int(np.count_nonzero(counts)), "entry").replace("entrys", "entries")
    rest = "rests" if few == 1 else "rest"
    return f"; {few:,} of {entries} {rest} on fewer than {FEW} records"


def _exceptions(one: Dependency) -> str:
    return f"; not so in {percent(one.exceptions, 2)} of records" if one.exceptions else ""
