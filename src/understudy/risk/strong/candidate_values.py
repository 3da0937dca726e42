"""The values that candidates put into a record, so that its world can be simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.counting.tables import group_ids
from understudy.data.coded import Coded, Codes, code_dtype
from understudy.data.frames import Frame, Layout, to_arrow, to_narwhals
from understudy.data.joint_coding import CodedTables, Levels, code_together
from understudy.data.values import to_numpy
from understudy.errors import ParameterError
from understudy.risk.strong.candidates import Candidates
from understudy.wording import quoted

MOST_CANDIDATES = 256
"""More candidates than this take a number of simulations that nobody means to run."""


@dataclass(frozen=True, eq=False)
class CandidateValues:
    """The candidates of any record, and the values that they put into it.

    Parameters
    ----------
    candidates : Candidates
        Their codes, among the levels that some candidate has.
    labels : dict from str to tuple of str
        What these levels of each attribute are called.
    values : dict from str to pyarrow.Array
        The value that each candidate puts into the record, in the original's type.
    truth : ndarray of int64
        The candidate that stands for the true values of each original record; -1 if none does.
    unchanged : ndarray of bool
        Whether that candidate leaves the record as it is; another number of the same group does
        not.
    notes : tuple of str
        Which candidates there are, in words.
    """

    candidates: Candidates
    labels: dict[str, tuple[str, ...]]
    values: dict[str, pa.Array]
    truth: NDArray[np.int64]
    unchanged: NDArray[np.bool_]
    notes: tuple[str, ...]


def find_candidates(
    original: Frame,
    synthetic: Frame,
    unknown: tuple[str, ...],
    *,
    groups: Mapping[str, int],
    given: Sequence[Any] | NDArray[Any] | None = None,
) -> CandidateValues:
    """Return the candidates for the unknown attributes of any record.

    For one attribute they are the values that occur in the original; for several, the
    combinations that occur in the original or the synthetic table. A number that is put in groups
    is stood for by the middle one of the original's numbers in its group. `given` are candidates
    that a user chose: values, or tuples of values for several attributes.

    Raises
    ------
    ParameterError
        If there are too many candidates, or a given one cannot be used.
    DataError
        If tables hold values that cannot be compared.
    """
    frames: dict[str, Frame] = {"original": original}
    released = set(unknown) <= set(to_narwhals(synthetic).columns)
    if given is not None:
        frames["candidates"] = _given_table(given, unknown)
    elif len(unknown) > 1 and released:
        frames["synthetic"] = synthetic
    grouped = {name: count for name, count in groups.items() if name in unknown}
    together = code_together(frames, unknown, groups=grouped)
    stacked = Coded.concatenate(list(together.tables.values()))
    found = group_ids(stacked, unknown)
    rows = len(together["original"])
    chosen = found.ids[rows:].astype(np.int64) if given is not None else np.arange(found.count)
    if len(np.unique(chosen)) < len(chosen):
        raise ParameterError("candidates: two of them are the same, or fall into the same group.")
    places = np.arange(rows, len(stacked)) if given is not None else found.representatives[chosen]
    if given is None and found.count > MOST_CANDIDATES:
        raise ParameterError(
            f"The unknown attributes have {found.count:,} candidates, and each needs simulations "
            f"of its own; {MOST_CANDIDATES} is the most. Put numbers in groups (groups=), choose "
            "the candidates (candidates=), or ask for fewer attributes."
        )
    stand_ins = _middles(original, together, grouped) if given is None else {}
    held, values = _held(frames, stacked, unknown, places, stand_ins)
    if given is not None and not held.all():
        raise ParameterError(
            f"candidates: number {int(np.argmin(held)) + 1} has a value that the original's "
            "columns cannot hold, such as a fraction among whole numbers or a new category."
        )
    chosen, places = chosen[held], places[held]
    candidate_of = np.full(found.count, -1, np.int64)
    candidate_of[chosen] = np.arange(len(chosen))
    truth = candidate_of[found.ids[:rows]]
    candidates, labels = _relevelled(stacked.take(places), together.levels)
    return CandidateValues(
        candidates,
        labels,
        values,
        truth,
        _unchanged(original, values, list(grouped), truth),
        _notes(unknown, len(chosen), given is not None, released, int((~held).sum())),
    )


def _relevelled(
    coded: Coded, levels: Mapping[str, Levels]
) -> tuple[Candidates, dict[str, tuple[str, ...]]]:
    """Return candidates with codes of only the levels that some of them has, and their labels."""
    columns: list[Codes] = []
    labels = {}
    for name, codes in zip(coded.names, coded.columns, strict=True):
        if len(coded.names) == 1:
            own, number = codes, np.arange(len(codes))  # in the order of the candidates
        else:
            own, number = np.unique(codes, return_inverse=True)
        columns.append(number.astype(code_dtype(len(own))))
        labels[name] = tuple(levels[name].labels[code] for code in own.tolist())
    sizes = tuple(len(own) for own in labels.values())
    return Candidates(Coded(coded.names, tuple(columns), sizes)), labels


def _given_table(given: Sequence[Any] | NDArray[Any], unknown: tuple[str, ...]) -> pa.Table:
    """Return the candidates that a user gave as a table."""
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray) or not len(given):
        raise ParameterError(f"candidates is a list of values, or of tuples; got {given!r}.")
    given = given.tolist() if isinstance(given, np.ndarray) else given
    rows = [(value,) for value in given] if len(unknown) == 1 else list(given)
    for row in rows:
        if not isinstance(row, tuple | list) or len(row) != len(unknown):
            raise ParameterError(
                f"Each of candidates is a tuple of {len(unknown)} values, for "
                f"{quoted(unknown)}; got {row!r}."
            )
    columns = {}
    for name, values in zip(unknown, zip(*rows, strict=True), strict=True):
        try:
            columns[name] = pa.array(list(values), from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
            raise ParameterError(
                f"candidates: the values for {name!r} are not of one type ({error})."
            ) from error
    return pa.table(columns)


def _middles(
    original: Frame, together: CodedTables, grouped: Mapping[str, int]
) -> dict[str, NDArray[np.int64]]:
    """Return for each grouped column and level an original row that holds its middle number.

    It is -1 where no original record has the level.
    """
    exact = code_together({"original": original}, list(grouped))["original"]
    middles = {}
    for name in grouped:
        level = together["original"][name]
        size = np.bincount(level, minlength=len(together.levels[name]))
        order = np.lexsort((exact[name], level))
        middle = np.cumsum(size) - size + (size - 1) // 2
        middles[name] = np.where(size > 0, order[np.clip(middle, 0, len(order) - 1)], -1)
    return middles


def _held(
    frames: Mapping[str, Frame],
    stacked: Coded,
    unknown: tuple[str, ...],
    places: NDArray[np.int64],
    stand_ins: Mapping[str, NDArray[np.int64]],
) -> tuple[NDArray[np.bool_], dict[str, pa.Array]]:
    """Return which candidates the original's types can hold, and the values of these."""
    layout = Layout.of(frames["original"])
    tables = [to_arrow(frame) for frame in frames.values()]
    rows = len(tables[0])
    columns: dict[str, list[pa.Array | None]] = {}
    for name in unknown:
        arrays = [plain_values(table[name]) for table in tables]
        stored = layout.types[name]
        categories = stored.get("arrow", stored).get("categories")
        columns[name] = []
        for place in places.tolist():
            row = place
            if name in stand_ins and (middle := int(stand_ins[name][stacked[name][place]])) >= 0:
                row = middle
            array = arrays[0] if row < rows else arrays[1]
            value = array.slice(row if row < rows else row - rows, 1)
            columns[name].append(_converted(value, arrays[0].type, categories))
    held = np.array(
        [all(column[at] is not None for column in columns.values()) for at in range(len(places))]
    )
    return held, {
        name: pa.concat_arrays([value for value, kept in zip(column, held, strict=True) if kept])
        for name, column in columns.items()
    }


def plain_values(column: pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece, with the values themselves where it holds categories."""
    array = column.combine_chunks()
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _converted(
    value: pa.Array, kind: pa.DataType, categories: Sequence[Any] | None
) -> pa.Array | None:
    """Return one value in the original's type, or None if that would change it."""
    try:
        converted = value.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    known = converted[0].as_py()
    if categories is not None and known is not None and known not in categories:
        return None
    return converted


def _unchanged(
    original: Frame,
    values: Mapping[str, pa.Array],
    grouped: Sequence[str],
    truth: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Return which records have the very numbers that stand for their groups."""
    import pyarrow.compute as pc

    table = to_arrow(original)
    same = np.ones(len(truth), bool)
    for name in grouped:
        own = plain_values(table[name])
        put = values[name].take(pa.array(np.maximum(truth, 0)))
        both_missing = pc.and_(own.is_null(), put.is_null())
        same &= to_numpy(pc.or_(pc.fill_null(pc.equal(own, put), fill_value=False), both_missing))
    return same


def _notes(
    unknown: tuple[str, ...], count: int, given: bool, released: bool, dropped: int
) -> tuple[str, ...]:
    if given:
        return (f"The candidates are the {count:,} that were given.",)
    if len(unknown) == 1:
        return (f"The candidates are the {count:,} values (or groups) in the original.",)
    where = "the original or the synthetic table" if released else "the original"
    notes = [
        f"The candidates are the {count:,} combinations that occur in {where}, the true one among "
        "them; other combinations are not considered."
    ]
    if dropped:
        notes.append(
            "Combinations of the synthetic table that the original's columns cannot hold are left "
            f"out: {dropped:,}."
        )
    return tuple(notes)
