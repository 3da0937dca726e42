"""Records that are left out of counts of disclosure, and how many each step takes away.

What is disclosive is decided on the whole tables. Records are then taken out of each count, and
the denominators stay: that is how synthpop does it, so that figures can be compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.data.joint_coding import Levels
from understudy.errors import ParameterError, did_you_mean
from understudy.risk.key_cells import KeyCells
from understudy.risk.level_values import find_level
from understudy.risk.scenario import Scenario

if TYPE_CHECKING:
    import polars as pl

COUNTED = ("original", "synthetic", "dorig", "dsyn", "is_", "dis", "disco", "disdio")
"""What is counted, by cell: the two tables, and the records behind each measure."""
STEPS = ("excluded level", "missing target", "missing key", "excluded pair", "large cell")
"""The reasons for which records are left out, in the order in which they act."""


@dataclass(frozen=True, eq=False)
class Exclusions:
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

    def to_frame(self) -> pl.DataFrame:
        """Return a table with a row for each count and a column for each step."""
        import polars as pl

        steps = {step: self.left_out[:, place] for place, step in enumerate(STEPS)}
        return pl.DataFrame({"count": COUNTED, **steps, "remaining": self.remaining})

    def to_dict(self) -> dict[str, dict[str, int]]:
        """Return the same as plain values, by count."""
        return {
            str(row.pop("count")): {name: int(value) for name, value in row.items()}
            for row in self.to_frame().to_dicts()
        }


@dataclass(frozen=True, eq=False)
class Rules:
    """Which cells are left out, in codes.

    Parameters
    ----------
    levels : frozenset of int
        Sensitive values.
    missing_target : int or None
        The code of a missing sensitive value, if such records are left out.
    missing_keys : dict
        The code of missing in each key whose missing values are left out.
    pairs : tuple of (str, int, int)
        Key, its code, and the code of the sensitive value.
    largest_cell : int or None
        Cells with more records than this are left out.
    """

    levels: frozenset[int] = frozenset()
    missing_target: int | None = None
    missing_keys: Mapping[str, int] | None = None
    pairs: tuple[tuple[str, int, int], ...] = ()
    largest_cell: int | None = None

    def apply(
        self, cells: KeyCells, tables: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], Exclusions]:
        """Return the tables of counts without the records that are left out."""
        left_out = np.zeros((len(tables), len(STEPS)), np.int64)
        for place, mask in enumerate(self._masks(cells)):
            if mask is not None:
                left_out[:, place] = tables[:, mask].sum(axis=1)
                tables = np.where(mask, 0, tables)
        if self.largest_cell is not None:
            large = tables > self.largest_cell
            left_out[:, -1] = np.where(large, tables, 0).sum(axis=1)
            tables = np.where(large, 0, tables)
        return tables, Exclusions(left_out, tables.sum(axis=1))

    def _masks(self, cells: KeyCells) -> list[NDArray[np.bool_] | None]:
        masks: list[NDArray[np.bool_] | None] = [None] * 4
        if self.levels:
            masks[0] = np.isin(cells.value, list(self.levels))
        if self.missing_target is not None:
            masks[1] = cells.value == self.missing_target
        if self.missing_keys:
            masks[2] = np.any(
                [cells.examples[name] == code for name, code in self.missing_keys.items()], axis=0
            )
        if self.pairs:
            masks[3] = np.any(
                [
                    (cells.examples[name] == code) & (cells.value == value)
                    for name, code, value in self.pairs
                ],
                axis=0,
            )
        return masks


@dataclass(frozen=True)
class Wishes:
    """What a user wants to leave out, in values; see `disclosure` for what they mean."""

    missing_target: bool = True
    missing_keys: bool | Mapping[str, bool] = True
    exclude_levels: Sequence[object] = ()
    exclude: Sequence[tuple[str, object, object]] = ()
    largest_cell: int | None = None

    def in_codes(self, scenario: Scenario, levels: Mapping[str, Levels]) -> Rules:
        """Return the rules in codes; raises ParameterError for what is no column or level."""
        target = scenario.sensitive

        def code(name: str, value: object) -> int:
            return find_level(name, levels[name], value)

        left_out = _listed("exclude_levels", self.exclude_levels, "levels, such as ['a', None]")
        if not isinstance(self.missing_target, bool | np.bool_):
            raise ParameterError(
                f"missing_target is True or False; got {self.missing_target!r}. False leaves "
                f"out records that miss {target!r}."
            )
        keep = self._kept_keys(scenario)
        missing = {name: levels[name].missing for name in scenario.keys if not keep[name]}
        limit = self.largest_cell
        whole = isinstance(limit, int | np.integer) and not isinstance(limit, bool)
        if limit is not None and not (whole and limit >= 1):
            raise ParameterError(f"largest_cell is a whole number from 1; got {limit!r}.")
        return Rules(
            frozenset(code(target, value) for value in left_out),
            None if self.missing_target else levels[target].missing,
            {name: place for name, place in missing.items() if place is not None},
            tuple(
                (key, code(key, own), code(target, value))
                for key, own, value in self._pairs(scenario)
            ),
            limit,
        )

    def _kept_keys(self, scenario: Scenario) -> dict[str, bool]:
        wanted = self.missing_keys
        if isinstance(wanted, bool | np.bool_):
            return dict.fromkeys(scenario.keys, bool(wanted))
        if not isinstance(wanted, Mapping):
            raise ParameterError(
                "missing_keys is True or False, or a mapping from key to True or False, such as "
                f"{{{scenario.keys[0]!r}: False}}; got {wanted!r}."
            )
        for name, keep in wanted.items():
            _check_key("missing_keys", name, scenario)
            if not isinstance(keep, bool | np.bool_):
                raise ParameterError(f"missing_keys of {name!r} is True or False; got {keep!r}.")
        return {name: bool(wanted.get(name, True)) for name in scenario.keys}

    def _pairs(self, scenario: Scenario) -> list[tuple[str, object, object]]:
        what = "(key, level of the key, level of the sensitive attribute)"
        pairs = _listed("exclude", self.exclude, what)
        for pair in pairs:
            if not isinstance(pair, list | tuple) or len(pair) != 3:
                raise ParameterError(f"exclude is a list of {what}; got {pair!r}.")
            _check_key("exclude", pair[0], scenario)
        return pairs


def _listed(argument: str, given: object, what: str) -> list[Any]:
    """Return what a user gives as a list."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise ParameterError(f"{argument} is a list of {what}; got {given!r}.")
    return list(given)


def _check_key(argument: str, name: str, scenario: Scenario) -> None:
    if name not in scenario.keys:
        hint = did_you_mean(str(name), scenario.keys)
        raise ParameterError(f"{argument}: {name!r} is not among the keys.{hint}")
