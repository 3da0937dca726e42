"""The two tables that an attack is about, in the codes of the model that made the release."""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from understudy.data.codec import Codec
from understudy.data.coded import Coded, Codes, code_dtype
from understudy.data.frames import Frame, to_arrow, to_narwhals
from understudy.data.value_coder import ValueCoder
from understudy.errors import DataError, ParameterError, SchemaError
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
        """Code the table that a model was fitted to, and the release.

        `columns` are those that matter; all if not given.

        Raises
        ------
        DataError
            If the model was fitted to another number of records, or the release holds values that
            it cannot draw.
        """
        codec = model.codec_
        if columns is not None:
            codec = codec.select([name for name in codec.names if name in columns])
        _check_smoothing(codec)
        coded = _coded(model, codec, original, "original")
        if len(coded) != model.n_rows_:
            raise DataError(
                f"The model was fitted to {model.n_rows_:,} records, and the original has "
                f"{len(coded):,}. Give the table that the model was fitted to."
            )
        hidden: tuple[str, ...] = ()
        if isinstance(synthetic, Coded):
            drawn = _coded(model, codec, synthetic, "synthetic")
        else:
            drawn, hidden = _read_release(model.codec_, codec, synthetic)
        if not len(drawn):
            raise DataError("The synthetic table has no rows, so there is nothing to learn from.")
        # Where a rule sets a column, it may be constant though the original's is not.
        ruled = model.columns_set_by_rules
        withheld = tuple(
            name
            for name in coded.names
            if name in hidden or (name not in ruled and _is_constant(coded, drawn, name))
        )
        if withheld:
            logging.getLogger("understudy").warning(
                "The release holds nothing, or the same value everywhere, in %s. The model would "
                "not draw that, so what it drew there counts as withheld.",
                quoted(withheld),
            )
        return cls(coded, _blank(drawn, withheld), withheld)

    def sizes(self, names: Sequence[str]) -> tuple[int, ...]:
        """Return the number of values of each of these columns."""
        return tuple(self.original.cardinality(name) for name in names)

    def notes(self) -> tuple[str, ...]:
        """Return what a reader of a result should know of the release."""
        if not self.withheld:
            return ()
        return (
            f"The release does not show {quoted(self.withheld)}: there is no such column, or it "
            "holds a constant that the model would not draw. What was drawn there counts as "
            "unknown.",
        )


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
    if not isinstance(table, Coded):
        return codec.encode(_selected(table, codec.names))
    own = model.codec_
    if (table.names, table.cardinalities) != (own.names, own.cardinalities):
        raise ParameterError(
            f"{which}: these codes are not this model's: columns or cardinalities differ."
        )
    return table.select(codec.names)


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
    table = _selected(synthetic, codec.names)
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
                f"The release has {counted(len(strange), 'row')} with a value that the model "
                f"cannot draw; the first is row {strange[0]}. Give the model that made the "
                "release, or attack it as a black box (black_box_attacker)."
            )
        columns |= zip(coded.names, coded.columns, strict=True)
    hidden = tuple(name for name in codec.names if name not in shown)
    return Coded(codec.names, tuple(columns.values()), codec.cardinalities), hidden


def _unknown_constant(codec: Codec, table: pa.Table) -> bool:
    """Tell whether the codec's one column holds the same value everywhere, one it does not know."""
    values = table.select(codec.names)
    if values.column(0).null_count not in {0, len(values)} or len(values.column(0).unique()) != 1:
        return False
    try:
        return not codec.encode_seen(values.slice(0, 1))[1].all()
    except SchemaError:
        return True


def _is_constant(original: Coded, drawn: Coded, name: str) -> bool:
    """Tell whether a column is constant in the release, and this is no chance."""
    codes = drawn[name]
    if (codes != codes[0]).any():
        return False
    share = np.count_nonzero(original[name] == codes[0]) / len(original)
    return share == 0 or len(drawn) * math.log(share) < _BY_CHANCE


def _blank(drawn: Coded, withheld: Sequence[str]) -> Coded:
    columns = tuple(
        np.zeros_like(codes) if name in withheld else codes
        for name, codes in zip(drawn.names, drawn.columns, strict=True)
    )
    return Coded(drawn.names, columns, drawn.cardinalities)
