"""Rare levels joined before synthesis, so that no level of a release stands for one person."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from understudy.arguments import check_whole
from understudy.data import FileStream, Schema
from understudy.data.frames import Frame, to_narwhals
from understudy.data.source import source_of
from understudy.errors import ParameterError
from understudy.synthesis.control.grouping import as_texts, common_values, group_rare
from understudy.wording import counted, listed


@dataclass(frozen=True, eq=False)
class Grouped:
    """A table whose rare levels were joined before it is synthesized; made by `group_rare_levels`.

    Parameters
    ----------
    original : frame or FileStream
        The table as it was.
    schema : Schema
        What the columns of the grouped table are.
    least : int
        How many records a level needs to stay.
    other : mapping of str to str
        What the joined levels became, for each column that has any.
    joined : mapping of str to int
        How many levels were joined in each.
    """

    original: Frame | FileStream
    schema: Schema
    least: int
    other: Mapping[str, str]
    joined: Mapping[str, int]

    def alike(self, frame: Frame) -> Frame:
        """Return another table with the same levels joined, and those that the original lacks."""
        if isinstance(self.original, FileStream):
            raise ParameterError("A table that is read in batches cannot be compared with others.")
        names = to_narwhals(frame).columns
        for name, label in self.other.items():
            if name in names:
                frame = group_rare(self.original, frame, {name: self.least}, other=label).frame
        return frame

    @cached_property
    def frame(self) -> Frame | FileStream:
        """The table with joined levels."""
        if not isinstance(self.original, FileStream):
            return self.alike(self.original)
        kept = {name: self.schema[name].levels for name in self.other}
        joined = tuple(
            (name, frozenset(map(str, kept[name])), label) for name, label in self.other.items()
        )
        return replace(self.original, joined=joined)

    def to_text(self, *, counts: bool = True) -> str:
        """Return in a sentence what was joined; without `counts`, nothing of it is confidential."""
        if not self.other:
            return f"No level has fewer than {self.least:,} records: none was grouped."
        told = [
            f"{counted(self.joined[name], 'level')} of {name!r} as {label!r}"
            if counts
            else f"{name!r} as {label!r}"
            for name, label in self.other.items()
        ]
        return f"Grouped levels of fewer than {self.least:,} records: {listed(told)}."


def group_rare_levels(
    original: Frame | FileStream, least: int, schema: Schema | None = None
) -> Grouped:
    """Join the levels of each categorical column that few records have, before synthesis.

    Parameters
    ----------
    original : frame or FileStream
        The table. It is not changed. One that is read in batches is grouped batch by batch.
    least : int
        How many records a level needs to stay.
    schema : Schema, optional
        What the columns are; inferred if not given.

    Returns
    -------
    Grouped
        The table and its schema; give both to a synthesizer.

    Notes
    -----
    Only texts are joined: numbers that are levels can be top coded or put into bins. The joined
    levels are called "other", or if there is such a level already, "other (grouped)". See
    `group_rare` for levels that are too few together.

    Examples
    --------
    >>> import polars as pl
    >>> town = ["Ulm"] * 5 + ["Rom", "Ems", "Bonn", "Kiel", "Linz"]
    >>> grouped = group_rare_levels(pl.DataFrame({"town": town}), 5)
    >>> grouped.schema["town"].levels, grouped.to_text()
    (('Ulm', 'other'), "Grouped levels of fewer than 5 records: 5 levels of 'town' as 'other'.")
    """
    check_whole("least", least, 1)
    schema = schema or Schema.infer(original)
    found = {column.name: column for column in schema}
    other, joined = {}, {}
    source = source_of(original)
    for name in source.layout.types:
        column = found.get(name)
        if column is None or column.kind != "categorical":
            continue
        try:
            texts = as_texts(source.table([name])[name].combine_chunks(), name)
        except ParameterError:
            continue  # numbers that are labels
        seen = set(texts.unique().drop_null().to_pylist())
        label = next(one for one in _labels() if one not in seen and one not in column.levels)
        stays = set(common_values(texts, least, label).to_pylist())
        if seen <= stays:
            continue
        levels = column.levels or tuple(sorted(seen))
        kept = [level for level in levels if level in stays & seen]
        found[name] = replace(column, levels=(*kept, label))
        other[name], joined[name] = label, len(seen - stays)
    return Grouped(original, Schema(found.values(), schema.dependencies), least, other, joined)


def _labels() -> Iterator[str]:
    yield from ("other", "other (grouped)")
    yield from (f"other (grouped {number})" for number in itertools.count(2))
