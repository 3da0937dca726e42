"""What is unknown of which records, and what it might be: the candidates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from understudy.arguments import as_names
from understudy.counting import group_ids
from understudy.data.coded import Coded, Codes, code_dtype
from understudy.data.frames import Frame, Layout, to_arrow, to_narwhals
from understudy.data.joint_coding import CodedTables, Levels, code_together
from understudy.data.values import to_numpy
from understudy.errors import ParameterError, unknown_columns
from understudy.wording import quoted

WHOLE = "*"
"""Stands for all attributes: nothing of the record is known."""


DERIVES = "derives it from"
"""Tells, in a message, that a model does not draw what is asked for."""


def read_unknown(
    unknown: str | Iterable[str],
    columns: Sequence[str],
    identifiers: Sequence[str] = (),
    derived: Mapping[str, Sequence[str]] | None = None,
) -> tuple[str, ...]:
    """Return the names of the unknown attributes, in the order in which they were given.

    `derived` are those that others tell, and which others.

    Examples
    --------
    >>> read_unknown("smokes", ["sex", "smokes"]), read_unknown("*", ["sex", "smokes"])
    (('smokes',), ('sex', 'smokes'))
    """
    if isinstance(unknown, str) and unknown == WHOLE and WHOLE not in columns:
        return tuple(columns)
    if not isinstance(unknown, Iterable):
        raise ParameterError(
            'unknown must be a column, a list of columns, or "*" for the whole record; got '
            f"{unknown!r}."
        )
    names = as_names(unknown if isinstance(unknown, str) else tuple(unknown))
    for name in names:
        if name in identifiers:
            raise ParameterError(
                f"unknown: {name!r} is an identifier. The release makes up new identifiers, so "
                "there is nothing to learn."
            )
        if derived and name in derived:
            raise ParameterError(
                f"unknown: the model draws no {name!r} of its own, but {DERIVES} "
                f"{quoted(derived[name])}. So whoever knows the rest of a record knows it, with "
                f"the release or without. Ask for {quoted(derived[name])}, or fit a model that "
                "does not keep this dependency."
            )
    if WHOLE in names and WHOLE not in columns:
        raise ParameterError('unknown: write "*" alone, for the whole record.')
    return read_columns("unknown", names, columns)


def read_columns(argument: str, given: object, columns: Sequence[str]) -> tuple[str, ...]:
    """Return one column or several as a tuple of names, or raise."""
    if not isinstance(given, Iterable):
        raise ParameterError(f"{argument} must be a column or a list of columns; got {given!r}.")
    names = as_names(given if isinstance(given, str) else tuple(given))
    if not names:
        raise ParameterError(f"{argument}: name at least one column.")
    problems = unknown_columns(names, columns)
    if problems:
        raise ParameterError(f"{argument}: {' '.join(problems)}")
    return names


def check_records(records: Sequence[int] | ArrayLike | None, rows: int) -> NDArray[np.int64]:
    """Return the row numbers of the records to attack, all of them by default."""
    if records is None:
        return np.arange(rows)
    try:
        found = np.atleast_1d(np.asarray(records))
    except ValueError:
        found = np.empty((0, 0))
    if found.dtype.kind == "b" and found.shape == (rows,):
        found = np.flatnonzero(found)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise ParameterError(f"records must be row numbers from 0; got {records!r}.")
    found = found.astype(np.int64)
    outside = found[(found < 0) | (found >= rows)]
    if len(outside):
        raise ParameterError(
            f"records: there is no row {outside[0]}; the original has rows 0 to {rows - 1}."
        )
    if not len(found):
        raise ParameterError("records: name at least one row.")
    return found


@dataclass(frozen=True, eq=False)
class Candidates:
    """The combinations that the unknown attributes may have: a row for each, coded.

    Examples
    --------
    >>> candidates = Candidates.grid(("sex", "smokes"), (2, 3))
    >>> len(candidates), candidates.codes["smokes"].tolist()
    (6, [0, 1, 2, 0, 1, 2])
    >>> candidates.find(Coded.from_arrays({"sex": [1], "smokes": [2]}, {"sex": 2, "smokes": 3}))
    array([5])
    """

    codes: Coded

    @classmethod
    def grid(cls, names: tuple[str, ...], sizes: tuple[int, ...]) -> Candidates:
        """Return all combinations, in lexicographic order."""
        rest = np.arange(math.prod(sizes))
        columns = []
        for size in reversed(sizes):
            rest, own = np.divmod(rest, size)
            columns.append(own.astype(code_dtype(size)))
        return cls(Coded(names, tuple(reversed(columns)), sizes))

    @classmethod
    def occurring(cls, names: tuple[str, ...], tables: Sequence[Coded]) -> Candidates:
        """Return the combinations that some record of the tables has."""
        both = Coded.concatenate([table.select(names) for table in tables])
        return cls(both.take(group_ids(both, names).representatives))

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def names(self) -> tuple[str, ...]:
        """The unknown attributes."""
        return self.codes.names

    @cached_property
    def _sorted(self) -> bool:
        return len(self) == math.prod(self.codes.cardinalities)

    def find(self, records: Coded) -> NDArray[np.int64]:
        """Return the candidate that each record is; all must be among them."""
        own = records.select(self.names)
        if self._sorted:
            number = np.zeros(len(own), np.int64)
            for codes, size in zip(own.columns, own.cardinalities, strict=True):
                number = number * size + codes
            return number
        both = Coded.concatenate([self.codes, own])
        ids = group_ids(both, self.names).ids
        candidate_of = np.empty(int(ids.max()) + 1, np.int64)
        candidate_of[ids[: len(self)]] = np.arange(len(self))
        return candidate_of[ids[len(self) :]]

    def worlds(self, records: Coded, columns: Iterable[str]) -> dict[str, Codes]:
        """Return the given columns of every record with every candidate in its place.

        The candidates of the first record come first.
        """
        found: dict[str, Codes] = {}
        for name in columns:
            if name in self.names:
                found[name] = np.tile(self.codes[name], len(records))
            else:
                found[name] = np.repeat(records[name], len(self))
        return found

    def labels(self, labels: Mapping[str, Sequence[str]], chosen: NDArray[np.int64]) -> list[str]:
        """Return candidates in words; several attributes are separated by commas."""
        parts = [
            np.array(labels[name], object)[self.codes[name][chosen]].tolist() for name in self.names
        ]
        return parts[0] if len(parts) == 1 else [", ".join(row) for row in zip(*parts, strict=True)]


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
    releases: Sequence[Frame],
    unknown: tuple[str, ...],
    *,
    groups: Mapping[str, int],
    given: Sequence[Any] | NDArray[Any] | None = None,
) -> CandidateValues:
    """Return the candidates for the unknown attributes of any record.

    For one attribute they are the values that occur in the original; for several, the
    combinations that occur in the original or a release. A number that is put in groups
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
    showing = [release for release in releases if set(unknown) <= set(to_narwhals(release).columns)]
    if given is not None:
        frames["candidates"] = _given_table(given, unknown)
    elif len(unknown) > 1:
        several = len(showing) > 1
        frames |= {
            f"synthetic {number}" if several else "synthetic": release
            for number, release in enumerate(showing, 1)
        }
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
        _notes(unknown, len(chosen), given is not None, bool(showing), int((~held).sum())),
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
        raise ParameterError(f"candidates must be a list of values, or of tuples; got {given!r}.")
    given = given.tolist() if isinstance(given, np.ndarray) else given
    rows = [(value,) for value in given] if len(unknown) == 1 else list(given)
    for row in rows:
        if not isinstance(row, tuple | list) or len(row) != len(unknown):
            raise ParameterError(
                f"Each of candidates must be a tuple of {len(unknown)} values, for "
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
    starts = np.cumsum([0, *(len(table) for table in tables)])
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
            table = int(np.searchsorted(starts, row, side="right")) - 1
            value = arrays[table].slice(row - int(starts[table]), 1)
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
