"""Records that are left out of the counts of disclosure, and which a user means by them."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_whole
from understudy.data.frames import Backend, Frame
from understudy.data.levels import Levels, in_words
from understudy.errors import ParameterError, did_you_mean
from understudy.results import Result
from understudy.risk.scenario import Scenario
from understudy.showing import hint_of

if TYPE_CHECKING:
    from understudy.risk.key_tally import KeyCells

COUNTED = ("original", "synthetic", "dorig", "dsyn", "is_", "dis", "disco", "disdio")
"""What is counted, by cell: the two tables, and the records behind each measure."""
STEPS = ("excluded level", "missing target", "missing key", "excluded pair", "large cell")
"""The reasons for which records are left out, in the order in which they act."""


@dataclass(frozen=True, eq=False)
class Exclusions(Result):
    """How many records each step left out of each count, and how many remain.

    Parameters
    ----------
    left_out : ndarray of int64, shape (8, 5)
        For each of the counts in `COUNTED`, what each of the `STEPS` took away.
    remaining : ndarray of int64, shape (8,)
        What is left of each count.
    """

    left_out: NDArray[np.int64]
    remaining: NDArray[np.int64]

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return a table with a row for each count and a column for each step."""
        steps = {step: self.left_out[:, place] for place, step in enumerate(STEPS)}
        content = {"count": COUNTED, **steps, "remaining": self.remaining}
        return self._framed(content, backend)

    def to_dict(self) -> dict[str, dict[str, int]]:
        """Return the same as plain values, by count."""
        rows = np.column_stack([self.left_out, self.remaining]).tolist()
        names = (*STEPS, "remaining")
        return {
            count: dict(zip(names, row, strict=True))
            for count, row in zip(COUNTED, rows, strict=True)
        }

    def summary(self) -> str:
        """Say how many original records were left out."""
        left_out = int(self.left_out[0].sum())
        total = left_out + int(self.remaining[0])
        return f"{left_out:,} of {total:,} original records are left out."


@dataclass(frozen=True, eq=False)
class Rules:
    """Which cells are left out: by what they hold, for one of the `STEPS`, or by their size.

    `left_out` has a step and the codes of some columns that cells have in common, step by step;
    cells with more records than `largest_cell` are left out last.
    """

    left_out: Sequence[tuple[str, Mapping[str, int]]] = ()
    largest_cell: int | None = None

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        levels: Mapping[str, Levels],
        *,
        missing_target: bool = True,
        missing_keys: bool | Mapping[str, bool] = True,
        exclude_levels: Sequence[object] = (),
        exclude: Sequence[tuple[str, object, object]] = (),
        largest_cell: int | None = None,
    ) -> Rules:
        """Return what `disclosure` leaves out; raises ParameterError for no column or level."""
        target = scenario.sensitive

        def code(name: str, value: object) -> int:
            return find_level(name, levels[name], value)

        values = _listed("exclude_levels", exclude_levels, "levels, such as ['a', None]")
        if not isinstance(missing_target, bool | np.bool_):
            raise ParameterError(
                f"missing_target must be True or False; got {missing_target!r}. False leaves "
                f"out the records in which {target!r} is missing."
            )
        dropped = [("missing target", target)] if not missing_target else []
        dropped += [("missing key", name) for name in _dropped_keys(missing_keys, scenario)]
        missing = [(step, name, levels[name].missing) for step, name in dropped]
        if largest_cell is not None:
            check_whole("largest_cell", largest_cell, 1)
        return cls(
            [
                *(("excluded level", {target: code(target, value)}) for value in values),
                *((step, {name: gap}) for step, name, gap in missing if gap is not None),
                *(
                    ("excluded pair", {key: code(key, own), target: code(target, value)})
                    for key, own, value in _pairs(exclude, scenario)
                ),
            ],
            largest_cell,
        )

    def apply(
        self, cells: KeyCells, tables: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], Exclusions]:
        """Return the tables of counts without the records that are left out."""
        tables, left_out = tables.copy(), np.zeros((len(tables), len(STEPS)), np.int64)
        for step, codes in self.left_out:
            same = [cells.examples[name] == code for name, code in codes.items()]
            mask = np.logical_and.reduce(same)
            left_out[:, STEPS.index(step)] += tables[:, mask].sum(axis=1)
            tables[:, mask] = 0
        if self.largest_cell is not None:
            large = tables > self.largest_cell
            left_out[:, -1] = np.where(large, tables, 0).sum(axis=1)
            tables[large] = 0
        return tables, Exclusions(left_out, tables.sum(axis=1))


def _dropped_keys(wanted: object, scenario: Scenario) -> list[str]:
    """Return the keys whose missing values are left out."""
    if isinstance(wanted, bool | np.bool_):
        return [] if wanted else list(scenario.keys)
    if not isinstance(wanted, Mapping):
        raise ParameterError(
            "missing_keys must be True or False, or a mapping of keys to True or False, such "
            f"as {{{scenario.keys[0]!r}: False}}; got {wanted!r}."
        )
    for name, keep in wanted.items():
        _check_key("missing_keys", name, scenario)
        if not isinstance(keep, bool | np.bool_):
            raise ParameterError(f"missing_keys of {name!r} must be True or False; got {keep!r}.")
    return [name for name in scenario.keys if not wanted.get(name, True)]


def _pairs(exclude: object, scenario: Scenario) -> list[tuple[str, object, object]]:
    what = "(key, level of the key, level of the sensitive attribute)"
    pairs = _listed("exclude", exclude, what)
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 3:
            raise ParameterError(f"exclude must be a list of {what}; got {pair!r}.")
        _check_key("exclude", pair[0], scenario)
    return pairs


def _listed(argument: str, given: object, what: str) -> list[Any]:
    """Return what a user gives as a list."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise ParameterError(f"{argument} must be a list of {what}; got {given!r}.")
    return list(given)


def _check_key(argument: str, name: str, scenario: Scenario) -> None:
    if name not in scenario.keys:
        hint = did_you_mean(str(name), scenario.keys)
        raise ParameterError(f"{argument}: {name!r} is not among the keys.{hint}")


def find_level(name: str, levels: Levels, value: object) -> int:
    """Return the code of the level of column `name` that a user means.

    That is the value itself, its text (also that of a group), or None for missing.

    Raises
    ------
    ParameterError
        If there is no such level.

    Examples
    --------
    >>> levels = Levels((0, 1.5, None), np.array([0, 1.5, np.nan]), 2)
    >>> find_level("x", levels, 1.5), find_level("x", levels, "0"), find_level("x", levels, None)
    (1, 0, 2)
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        if levels.missing is None:
            raise ParameterError(f"{name!r} has no missing values to leave out.")
        return levels.missing
    for code, held in enumerate(levels.values):
        if held is not None and _same(held, value):
            return code
    text = in_words(value) if isinstance(value, float) else str(value)
    # A number of single precision has other digits in double precision, which `numbers` hold.
    doubles = levels.numbers if _is_number(value) else None
    for code, held in enumerate(levels.values):
        double = doubles is not None and isinstance(held, float) and doubles[code] == value
        if held is not None and (double or levels.labels[code] == text):
            return code
    hint = hint_of(text, levels.labels[: levels.missing])
    raise ParameterError(
        f"{name!r} does not have the value {value!r} in these tables.{hint} Give the value "
        "itself, or None for missing."
    )


def _same(held: object, value: object) -> bool:
    if isinstance(held, bool) or isinstance(value, bool | np.bool_):
        return isinstance(held, bool) and isinstance(value, bool | np.bool_) and held == value
    if isinstance(held, dt.date) and isinstance(value, dt.date):
        return _moment(held) == _moment(value)
    comparable = type(held) is type(value) or (_is_number(held) and _is_number(value))
    return comparable and held == value


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _moment(day: dt.date) -> dt.datetime:
    """Return a date as its midnight, as which it is compared with times."""
    if isinstance(day, dt.datetime):
        return day
    return dt.datetime.combine(day, dt.time())
