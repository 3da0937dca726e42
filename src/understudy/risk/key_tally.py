"""The counts behind repU, DiSCO and their relatives, by cell of keys and sensitive value."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.risk.exclusions import COUNTED, Exclusions, Rules
from understudy.risk.key_cells import KeyCells
from understudy.risk.references import Baseline

RATES = (
    *("uio", "uis", "uiois", "repu", "dorig", "dsyn", "is_", "dis", "disco", "disdio"),
    *("base_cap", "cap_d", "cap_s", "dcap", "tcap_dis", "tcap_is"),
    *("disco_baseline", "disco_gain", "disco_beyond"),
)
"""The measures that are shares; see `Disclosure` for what they mean."""


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
