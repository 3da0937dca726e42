"""Records that are kept back from a synthesis, to be compared with those that it has seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.arguments import as_names, is_number, read_seed
from understudy.data.declared import declare_like
from understudy.data.frames import Frame, column_to_arrow, to_narwhals
from understudy.data.units import units_of
from understudy.errors import DataError, ParameterError, unknown_columns

MOST = 0.5
"""The largest share that can be kept back: most records are there to synthesize from."""
FEWEST = 10
"""The fewest records that are worth keeping back: fewer say nothing about an attack."""
GROUPS = 10
"""Groups of equal size that the values of a number or date are put into, at most."""

_STREAM = 1_214_606_444
"""Sets the draws apart from those of a synthesizer that is given the same seed."""

Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Parts:
    """A table in two parts: what is synthesized from, and what was kept back.

    Parameters
    ----------
    kept : frame
        The records to synthesize from, in their order; the table itself if none were kept back.
    held_out : frame or None
        The records that were kept back, in their order; None if there are none.
    rows : ndarray of int64
        The row of each record of `kept` in the table, from 0.
    reason : str
        Why nothing was kept back although it was asked for; empty otherwise.
    """

    kept: Frame
    held_out: Frame | None
    rows: Codes
    reason: str = ""


def hold_out(
    frame: Frame,
    share: float = 0.2,
    *,
    by: str | None = None,
    unit_id: str | Sequence[str] = (),
    random_state: int | None = None,
) -> Parts:
    """Keep back a share of the records at random, such that a column is spread alike in both parts.

    Parameters
    ----------
    frame : frame
        The table.
    share : float
        What is kept back, from 0 to 0.5.
    by : str, optional
        The column whose values are in both parts as often as `share` says, but for rounding.
        Numbers and dates of more than 10 values are put into 10 groups of equal size; missing
        values are a group of their own.
    unit_id : str or sequence of str
        Columns that together name the person, household or firm that a record belongs to. Then
        this share of the units is kept back, each with all of its records, and a unit counts with
        the value of `by` of its first record.
    random_state : int, optional
        The seed; a fresh one by default.

    Returns
    -------
    Parts

    Raises
    ------
    ParameterError
        If `share` is no such number, or `by` or `unit_id` names no column.
    DataError
        If the values of that column cannot be compared.

    Notes
    -----
    Every record is kept back with the same probability, those of rare values too, so that both
    parts are samples of the same people. Records are ordered by group, the rare ones side by side,
    at random inside each group, and drawn at equal steps from a random start. A group of n records
    then gives floor(n r) or ceil(n r) of them, where r is the share of all that is kept back. A
    value that one record has may be in the part that is kept back, and in no other.

    If fewer than 10 records would be kept back, none are, and `reason` says so.

    Examples
    --------
    >>> from understudy.data import load
    >>> parts = hold_out(load("cmc"), by="method", random_state=1)
    >>> len(parts.kept), len(parts.held_out)
    (1178, 295)
    """
    if not is_number(share) or not 0 <= share <= MOST:
        raise ParameterError(f"share must be a number from 0 to {MOST}; got {share!r}.")
    table = to_narwhals(frame)
    if by is not None and (problems := unknown_columns([by], table.columns)):
        raise ParameterError(f"by: {' '.join(problems)}")
    rows, names = len(table), as_names(unit_id)
    units = units_of(table, names) if names else np.arange(rows)
    _, first = np.unique(units, return_index=True)
    # An exact half of a record counts as one, whatever the share is in binary.
    count = int(np.floor(round(share * len(first), 9) + 0.5))
    if count < FEWEST:
        noun = "units" if names else "records"
        few = f"{100 * share:.3g}% of {len(first):,} {noun} are {count}"
        reason = f"{few}, and fewer than {FEWEST} say too little." if share else ""
        return Parts(frame, None, np.arange(rows), reason)
    rng = np.random.default_rng([read_seed(random_state), _STREAM])
    groups = np.zeros(rows, np.int64) if by is None else _groups(column_to_arrow(table[by], by), by)
    drawn = _drawn(groups[first], count, rng)[units]
    kept, held_out = (
        declare_like(table.filter(part.tolist()).to_native(), frame) for part in (~drawn, drawn)
    )
    return Parts(kept, held_out, np.flatnonzero(~drawn))


def _groups(column: pa.Array, name: str) -> Codes:
    """Return the group of each record: its value, or a range of numbers or dates."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_nested(kind):
        raise DataError(f"by must name a column of plain values; {name!r} holds {kind}.")
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
    coded = column.dictionary_encode()
    levels = len(coded.dictionary)
    codes: Codes = coded.indices.fill_null(levels).to_numpy(zero_copy_only=False).astype(np.int64)
    measured = any(
        test(kind)
        for test in (
            pa.types.is_integer,
            pa.types.is_floating,
            pa.types.is_decimal,
            pa.types.is_temporal,
        )
    )
    if not measured or levels <= GROUPS:
        return codes
    order = pc.array_sort_indices(coded.dictionary).to_numpy()
    counts = np.bincount(codes, minlength=levels + 1)[:levels]
    below = np.empty(levels, np.int64)
    below[order] = np.cumsum(counts[order]) - counts[order]
    # Equal values are in one group; missing ones are in the last.
    return np.append(below * GROUPS // counts.sum(), GROUPS)[codes]


def _drawn(groups: Codes, count: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw so many records, as many from each group as it has part in all, but for rounding."""
    rows = len(groups)
    sizes = np.bincount(groups)
    tied = rng.random(len(sizes))
    order = np.lexsort((rng.random(rows), tied[groups], -sizes[groups]))
    steps = (np.arange(rows + 1) * count + rng.integers(rows)) // rows
    drawn = np.zeros(rows, bool)
    drawn[order] = np.diff(steps) > 0
    return drawn
