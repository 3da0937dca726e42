"""The two tables that an attack is about, in the codes of the model that made the release."""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from understudy.data.codec import Codec
from understudy.data.coded import Coded, Codes, code_dtype
from understudy.data.frames import Frame, to_arrow, to_narwhals
from understudy.data.value_coder import ValueCoder
from understudy.errors import DataError, NoDensityError, ParameterError, SchemaError
from understudy.risk.compared_tables import listed_releases
from understudy.synthesis import Synthesizer
from understudy.wording import counted, quoted

_BY_CHANCE = math.log(1e-9)
"""A constant column that the model draws less often than this is none of its draws."""


@dataclass(frozen=True, eq=False)
class Release:
    """The original and the synthetic records, in the codes of the model.

    Columns are `withheld` if the release does not show them, though the model draws them: they are
    not in it, or hold the same value everywhere. Their synthetic codes are 0, and mean nothing.
    """

    original: Coded
    synthetic: Coded
    withheld: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        model: Synthesizer,
        original: Frame | Coded,
        synthetic: Frame | Coded,
        columns: Collection[str] | None = None,
    ) -> Release:
        """Code the table that a model was fitted to, and one release; see `read_releases`."""
        return read_releases(model, original, synthetic, columns)[0]

    def sizes(self, names: Sequence[str]) -> tuple[int, ...]:
        """Return the number of values of each of these columns."""
        return tuple(self.original.cardinality(name) for name in names)


@contextmanager
def numbered(number: int, count: int) -> Iterator[None]:
    """Say of an error to which of several releases it belongs."""
    try:
        yield
    except DataError as error:
        if count == 1:
            raise
        raise DataError(f"Release {number + 1} of {count}: {error}") from error


def read_releases(
    model: Synthesizer,
    original: Frame | Coded,
    synthetic: Frame | Coded | Sequence[Frame | Coded],
    columns: Collection[str] | None = None,
) -> tuple[Release, ...]:
    """Code the table that a model was fitted to, and each of its releases.

    `columns` are those that matter; all if not given.

    Raises
    ------
    DataError
        If the model was fitted to another number of records, or a release holds values that it
        cannot draw, or breaks its rules.
    """
    codec = _codec_of(model, columns)
    coded = coded_original(model, original, columns)
    tables = listed_releases(synthetic)
    found = []
    for number, table in enumerate(tables):
        with numbered(number, len(tables)):
            found.append(_read(model, codec, coded, table))
    withheld = dict.fromkeys(name for release in found for name in release.withheld)
    if withheld:
        logging.getLogger("understudy").warning(
            "The release holds nothing, or the same value everywhere, in %s. The model would "
            "not draw that, so what it drew there counts as withheld.",
            quoted(tuple(withheld)),
        )
    return tuple(found)


def _codec_of(model: Synthesizer, columns: Collection[str] | None) -> Codec:
    codec = model.codec_
    return codec.select([name for name in codec.names if columns is None or name in columns])


def coded_original(
    model: Synthesizer, original: Frame | Coded, columns: Collection[str] | None = None
) -> Coded:
    """Code the table that a model was fitted to.

    Raises
    ------
    DataError
        If the model was fitted to another number of records.
    ParameterError
        If its numbers are smoothed, so that nobody can see which were drawn.
    """
    codec = _codec_of(model, columns)
    _check_smoothing(codec)
    coded = _coded(model, codec, original, "original")
    if len(coded) != model.n_rows_:
        raise DataError(
            f"The model was fitted to {model.n_rows_:,} records, and the original has "
            f"{len(coded):,}. Give the table that the model was fitted to."
        )
    return coded


def withheld_notes(releases: Sequence[Release]) -> tuple[str, ...]:
    """Return what a reader of a result should know of the releases."""
    return tuple(
        f"{'The release' if len(releases) == 1 else f'Release {number}'} does not show "
        f"{quoted(release.withheld)}: there is no such column, or it holds a constant that the "
        "model would not draw. What was drawn there counts as unknown."
        for number, release in enumerate(releases, 1)
        if release.withheld
    )


def _read(model: Synthesizer, codec: Codec, original: Coded, synthetic: Frame | Coded) -> Release:
    hidden: tuple[str, ...] = ()
    if isinstance(synthetic, Coded):
        drawn = _coded(model, codec, synthetic, "synthetic")
    else:
        drawn, hidden = _read_release(model.codec_, codec, synthetic)
    if not len(drawn):
        raise DataError("The synthetic table has no rows, so there is nothing to learn from.")
    withheld = tuple(
        name
        for name in original.names
        if name in hidden or _is_constant(model, original, drawn, name, hidden)
    )
    known = {name: drawn[name] for name in drawn.names if name not in withheld}
    broken = model.broken_rules(known)
    if broken:
        told = "; ".join(f"{rule} ({counted(n, 'record')})" for rule, n in broken.items())
        rules = "a rule" if len(broken) == 1 else f"{len(broken)} rules"
        raise DataError(
            f"This model did not make the release, which breaks {rules} of the model: {told}. Give "
            "the model that did, or attack the release as a black box (black_box_attacker)."
        )
    return Release(original, _blank(drawn, withheld), withheld)


def _check_smoothing(codec: Codec) -> None:
    moved = [
        name
        for name, coder in codec.coders.items()
        if isinstance(coder, ValueCoder) and coder.smoothing is not None
    ]
    if moved:
        raise ParameterError(
            f"{quoted(moved)}: numbers of the release are smoothed, so nobody can see which were "
            "drawn. Attack the release as a black box (black_box_attacker)."
        )


def _coded(model: Synthesizer, codec: Codec, table: Frame | Coded, which: str) -> Coded:
    """Return the codes of the codec's columns, which may be some of the model's."""
    own = model.codec_
    if not isinstance(table, Coded):
        return codec.encode(_selected(_reduced(own, table), codec.names))
    if (table.names, table.cardinalities) != (own.names, own.cardinalities):
        raise ParameterError(
            f"{which}: these codes are not this model's: columns or cardinalities differ."
        )
    return table.select(codec.names)


def _reduced(whole: Codec, table: Frame) -> Frame:
    """Return a table as it is coded: without what others tell, if the model keeps dependencies."""
    if not whole.plan:
        return table
    shown = to_narwhals(table)
    wanted = [name for name in whole.schema.names if name in shown.columns]
    reduced, possible = whole.reduced(to_arrow(shown[wanted].to_native()))
    broken = int(np.count_nonzero(~possible))
    if broken:
        raise DataError(
            f"The table has {counted(broken, 'row')} that break a dependency which the model "
            "keeps. Give the model that made the release, or attack it as a black box "
            "(black_box_attacker)."
        )
    return reduced


def _selected(table: Frame, names: Sequence[str]) -> pa.Table:
    """Return those of the named columns that a table has."""
    frame = to_narwhals(table)
    # By item: `select` would take a name such as * for a pattern.
    return to_arrow(frame[[name for name in names if name in frame.columns]].to_native())


def _read_release(whole: Codec, codec: Codec, synthetic: Frame) -> tuple[Coded, tuple[str, ...]]:
    """Return the codes of a release, and the columns that it does not show.

    `codec` has those of the columns of `whole` that matter.
    """
    frame = to_narwhals(synthetic)
    if not set(whole.names) & set(frame.columns):
        raise DataError(f"The release shows none of the model's columns {quoted(whole.names)}.")
    table = _selected(_reduced(whole, synthetic), codec.names)
    shown = [
        name
        for name in codec.names
        if name in table.column_names and not _unknown_constant(codec.select([name]), table)
    ]
    columns: dict[str, Codes] = {
        name: np.zeros(len(frame), code_dtype(size))
        for name, size in zip(codec.names, codec.cardinalities, strict=True)
    }
    if shown:
        coded, seen = codec.select(shown).encode_seen(table.select(shown))
        strange = np.flatnonzero(~seen)
        if len(strange):
            raise DataError(
                f"The release has {counted(len(strange), 'row')} with a value in "
                f"{_strange_columns(codec, table, shown)} that the model cannot draw; the first is "
                f"row {strange[0]}. Give the model that made the release, or attack it as a black "
                "box (black_box_attacker)."
            )
        columns |= zip(coded.names, coded.columns, strict=True)
    hidden = tuple(name for name in codec.names if name not in shown)
    return Coded(codec.names, tuple(columns.values()), codec.cardinalities), hidden


def _strange_columns(codec: Codec, table: pa.Table, shown: Sequence[str]) -> str:
    """Return which columns hold values that the codec does not know, and in how many rows."""
    strange = {
        name: int((~codec.select([name]).encode_seen(table.select([name]))[1]).sum())
        for name in shown
    }
    found = {name: count for name, count in strange.items() if count}
    if len(found) == 1:
        return quoted(tuple(found))
    return " or ".join(f"{name!r} ({counted(count, 'row')})" for name, count in found.items())


def _unknown_constant(codec: Codec, table: pa.Table) -> bool:
    """Tell whether the codec's one column holds the same value everywhere, one it does not know."""
    values = table.select(codec.names)
    if values.column(0).null_count not in {0, len(values)} or len(values.column(0).unique()) != 1:
        return False
    try:
        return not codec.encode_seen(values.slice(0, 1))[1].all()
    except SchemaError:
        return True


def _is_constant(
    model: Synthesizer, original: Coded, drawn: Coded, name: str, hidden: Sequence[str]
) -> bool:
    """Tell whether a column is constant in the release, and this is no chance and no rule."""
    codes = drawn[name]
    if (codes != codes[0]).any():
        return False
    own, rows = original[name], len(drawn)
    if name in model.columns_set_by_rules:
        by_rule = [
            model.codes_set_by_rules(name, {n: table[n] for n in table.names if n not in hidden})
            for table in (original, drawn)
        ]
        if by_rule[0] is None or by_rule[1] is None:
            return False  # which records the rule covers cannot be seen
        if ((by_rule[1] >= 0) & (by_rule[1] != codes[0])).any():
            return True
        own, rows = own[by_rule[0] < 0], int((by_rule[1] < 0).sum())
        if not rows:
            return False
    share = float(np.count_nonzero(own == codes[0]) / max(len(own), 1))
    if share == 0:
        share = _share_of_none(model, original, name, int(codes[0]))
    return share == 0 or rows * math.log(share) < _BY_CHANCE


def _share_of_none(model: Synthesizer, original: Coded, name: str, code: int) -> float:
    """Return about how often a model draws a value that no record has."""
    try:
        tables = model.sampling_tables()
    except NoDensityError:
        return 0.0
    for table in tables:
        drawn_to = table.shrinkage
        if table.name == name and drawn_to and len(drawn_to.base) == original.cardinality(name):
            strength = float(drawn_to.strengths[0])
            return strength * float(drawn_to.base[code]) / (len(original) + strength)
    return 0.0


def _blank(drawn: Coded, withheld: Sequence[str]) -> Coded:
    columns = tuple(
        np.zeros_like(codes) if name in withheld else codes
        for name, codes in zip(drawn.names, drawn.columns, strict=True)
    )
    return Coded(drawn.names, columns, drawn.cardinalities)
