"""The counts behind repU, DiSCO and their relatives, and the records that are left out of them.

What is disclosive is decided on the whole tables. Records are then taken out of each count, and
the denominators stay: that is how synthpop does it, so that figures can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_whole
from understudy.data.frames import Backend, Frame
from understudy.data.levels import Levels
from understudy.errors import ParameterError, did_you_mean
from understudy.results import Result
from understudy.risk.baseline import Baseline
from understudy.risk.key_cells import KeyCells
from understudy.risk.level_values import find_level
from understudy.risk.scenario import Scenario

COUNTED = ("original", "synthetic", "dorig", "dsyn", "is_", "dis", "disco", "disdio")
"""What is counted, by cell: the two tables, and the records behind each measure."""
STEPS = ("excluded level", "missing target", "missing key", "excluded pair", "large cell")
"""The reasons for which records are left out, in the order in which they act."""
RATES = (
    *("uio", "uis", "uiois", "repu", "dorig", "dsyn", "is_", "dis", "disco", "disdio"),
    *("base_cap", "cap_d", "cap_s", "dcap", "tcap_dis", "tcap_is"),
    *("disco_baseline", "disco_gain", "disco_beyond"),
)
"""The measures that are shares; see `Disclosure` for what they mean."""


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
                f"out the records in which {target!r} is missing."
            )
        keep = self._kept_keys(scenario)
        missing = {name: levels[name].missing for name in scenario.keys if not keep[name]}
        if self.largest_cell is not None:
            check_whole("largest_cell", self.largest_cell, 1)
        return Rules(
            frozenset(code(target, value) for value in left_out),
            None if self.missing_target else levels[target].missing,
            {name: place for name, place in missing.items() if place is not None},
            tuple(
                (key, code(key, own), code(target, value))
                for key, own, value in self._pairs(scenario)
            ),
            self.largest_cell,
        )

    def _kept_keys(self, scenario: Scenario) -> dict[str, bool]:
        wanted = self.missing_keys
        if isinstance(wanted, bool | np.bool_):
            return dict.fromkeys(scenario.keys, bool(wanted))
        if not isinstance(wanted, Mapping):
            raise ParameterError(
                "missing_keys is True or False, or a mapping of keys to True or False, such as "
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


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of attacked records and of synthetic ones, without those that are left out.

    Parameters
    ----------
    cells : KeyCells
        The cells.
    table : int
        The place of the attacked table among those of `cells`.
    tables : ndarray of int64, shape (8, cells)
        The counts named in `COUNTED`, without the records that are left out.
    in_synthetic : ndarray of bool
        Whether each key occurs in the synthetic table, before any record is left out.
    constant : int
        The synthetic table's most frequent sensitive value; of equals, the first level.
    rows, synthetic_rows : int
        All records of the two tables: the denominators.
    exclusions : Exclusions
        What was left out.
    """

    cells: KeyCells
    table: int
    tables: NDArray[np.int64]
    in_synthetic: NDArray[np.bool_]
    constant: int
    rows: int
    synthetic_rows: int
    exclusions: Exclusions

    @classmethod
    def of(cls, cells: KeyCells, rules: Rules | None = None, *, table: int = 0) -> Tally:
        """Count one of the tables of `cells` against the second, which is the synthetic one."""
        attacked, synthetic = cells.counts[table], cells.counts[1]
        by_key = cells.per_key(synthetic)
        in_synthetic = by_key > 0
        # A key is disclosive where one cell holds all its records.
        told = (synthetic == by_key[cells.key]) & (synthetic > 0)
        known = attacked == cells.per_key(attacked)[cells.key]
        disclosive = np.zeros(cells.keys, bool)
        disclosive[cells.key[told]] = True
        right = attacked * told
        tables = np.stack(
            [
                attacked,
                synthetic,
                attacked * known,
                synthetic * told,
                attacked * in_synthetic[cells.key],
                attacked * disclosive[cells.key],
                right,
                right * known,
            ]
        )
        tables, exclusions = (rules or Rules()).apply(cells, tables)
        shares = np.bincount(cells.value, synthetic)
        return cls(
            cells,
            table,
            tables,
            in_synthetic,
            int(shares.argmax()),
            int(attacked.sum()),
            int(synthetic.sum()),
            exclusions,
        )

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        """Return one of the counts named in `COUNTED`, by cell."""
        counts: NDArray[np.int64] = self.tables[COUNTED.index(name)]
        return counts

    def rates(self) -> tuple[dict[str, float], dict[str, str]]:
        """Return all measures that are shares, and the reasons of those that are nan."""
        cells, rows, others = self.cells, self.rows, self.synthetic_rows
        total = dict(zip(COUNTED, self.exclusions.remaining.tolist(), strict=True))
        original, synthetic = self["original"], self["synthetic"]
        keys, synthetic_keys = cells.per_key(original), cells.per_key(synthetic)
        unique = keys == 1
        matched = int(keys[synthetic_keys > 0].sum())
        # A key without records has no share: its cells hold 0 of 1.
        own = original / np.maximum(keys, 1)[cells.key]
        said = synthetic / np.maximum(synthetic_keys, 1)[cells.key]
        constant = cells.value == self.constant
        baseline = int(self["dis"][constant].sum())
        beyond = total["disco"] - int(self["disco"][constant].sum())
        all_values = np.bincount(cells.value, cells.counts[self.table]).astype(np.int64)
        rates = {
            "uio": np.count_nonzero(unique) / rows,
            "uis": np.count_nonzero(synthetic_keys == 1) / others,
            "uiois": np.count_nonzero(unique & self.in_synthetic) / rows,
            "repu": np.count_nonzero(unique & (synthetic_keys == 1)) / rows,
            "dorig": total["dorig"] / rows,
            "dsyn": total["dsyn"] / others,
            "is_": total["is_"] / rows,
            "dis": total["dis"] / rows,
            "disco": total["disco"] / rows,
            "disdio": total["disdio"] / rows,
            "base_cap": Baseline.of(all_values).proportional,
            "cap_d": float(own @ original) / rows,
            "cap_s": float(said @ synthetic) / others,
            "dcap": float(said @ original) / rows,
            "tcap_dis": total["disco"] / total["dis"] if total["dis"] else math.nan,
            "tcap_is": total["disco"] / matched if matched else math.nan,
            "disco_baseline": baseline / rows,
            "disco_gain": (total["disco"] - baseline) / rows,
            "disco_beyond": beyond / rows,
        }
        reasons = {}
        if not total["dis"]:
            reasons["tcap_dis"] = "No original record has a key that is disclosive in the release."
        if not matched:
            reasons["tcap_is"] = "No original record has a key that occurs in the release."
        return {name: float(rate) for name, rate in rates.items()}, reasons

    def flags(self) -> dict[str, NDArray[np.bool_]]:
        """Return, for each attacked record, whether it is counted by each measure of records."""
        cells = self.cells
        keys = cells.per_key(self["original"])
        synthetic_keys = cells.per_key(self["synthetic"])
        unique = (keys == 1)[cells.key] & (self["original"] > 0)
        by_cell = {
            "unique": unique,
            "replicated": unique & (synthetic_keys == 1)[cells.key],
            "in_synthetic": self["is_"] > 0,
            "disclosive": self["dis"] > 0,
            "correct": self["disco"] > 0,
            "constant": (self["dis"] > 0) & (cells.value == self.constant),
        }
        return {name: held[cells.cell_of[self.table]] for name, held in by_cell.items()}
