"""Records of each table by key and sensitive value: the counts behind repU, DiSCO and others.

What is disclosive is decided on the whole tables. Records are then taken out of each count, and
the denominators stay: that is how synthpop does it, so that figures can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy.counting import group_ids
from understudy.data.coded import Coded
from understudy.data.joint_coding import CodedTables
from understudy.risk.exclusions import COUNTED, Exclusions, Rules
from understudy.risk.scenario import Baseline

Counts = NDArray[np.int64]
RATES = (
    *("uio", "uis", "uiois", "repu", "dorig", "dsyn", "is_", "dis", "disco", "disdio"),
    *("base_cap", "cap_d", "cap_s", "dcap", "tcap_dis", "tcap_is"),
    *("disco_baseline", "disco_gain", "disco_beyond"),
)
"""The measures that are shares; see `Disclosure` for what they mean."""


@dataclass(frozen=True, eq=False)
class KeyCells:
    """Counts of several tables, for each key and sensitive value that any of them holds.

    A *key* is a combination of the key columns' values, a *cell* a key with a sensitive value.

    Parameters
    ----------
    key : ndarray of int64
        The number of each cell's key; keys are numbered from 0 in the order of their codes.
    value : ndarray of int64
        The code of each cell's sensitive value.
    keys : int
        How many different keys there are.
    counts : tuple of ndarray of int64
        For each table, its records in each cell.
    cell_of : tuple of ndarray of int64
        For each table, the cell of each row.
    weights : tuple of ndarray of int64 or None
        For each table, how many records each row stands for; None if one.
    examples : Coded
        One record for each cell, with all columns.
    """

    key: Counts
    value: Counts
    keys: int
    counts: tuple[Counts, ...]
    cell_of: tuple[Counts, ...]
    weights: tuple[Counts | None, ...]
    examples: Coded

    @classmethod
    def of(cls, tables: Sequence[Coded], keys: Sequence[str], sensitive: str) -> KeyCells:
        """Count tables that were coded alike.

        Examples
        --------
        >>> table = Coded.from_arrays({"age": [0, 0, 1, 0], "ill": [1, 0, 0, 1]})
        >>> cells = KeyCells.of([table], ["age"], "ill")
        >>> cells.key.tolist(), cells.value.tolist(), cells.counts[0].tolist()
        ([0, 0, 1], [0, 1, 0], [1, 2, 1])
        """
        stacked = Coded.concatenate(tables)
        keyed = group_ids(stacked, keys)
        values = stacked[sensitive]
        pairs = Coded(
            ("key", "value"), (keyed.ids, values), (keyed.count, stacked.cardinality(sensitive))
        )
        cells = group_ids(pairs, pairs.names)
        ends = np.cumsum([len(table) for table in tables])[:-1]
        cell_of = tuple(np.split(cells.ids.astype(np.int64), ends))
        return cls(
            keyed.ids[cells.representatives].astype(np.int64),
            values[cells.representatives].astype(np.int64),
            keyed.count,
            tuple(
                table.counts(part, cells.count) for table, part in zip(tables, cell_of, strict=True)
            ),
            cell_of,
            tuple(table.weights for table in tables),
            stacked.take(cells.representatives),
        )

    @cached_property
    def starts(self) -> Counts:
        """The first cell of each key: cells are in the order of keys, then of values."""
        changes = np.flatnonzero(self.key[1:] != self.key[:-1]) + 1
        return np.concatenate([np.zeros(min(self.keys, 1), np.int64), changes])

    def per_key(self, counts: Counts) -> Counts:
        """Return the sums of the cells' counts over each key."""
        return np.add.reduceat(counts, self.starts)


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
        """Return, for each attacked row, whether it is counted by each measure of records."""
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


class CopiedRecords(NamedTuple):
    """What a release holds of the original's records; see `copied_records_of`.

    Parameters
    ----------
    share : float
        Of the original's one-of-a-kind records, the share that the release holds; nan without any.
    one_of_a_kind : int
        How many these records are.
    new : float
        The share of the release's records that the original does not hold, as a multiple of the
        share that fresh people would bring; nan if that is none.
    """

    share: float
    one_of_a_kind: int
    new: float


def copied_records_of(tables: CodedTables, columns: Sequence[str] | None = None) -> CopiedRecords:
    """Return what a release holds of the original's records, and what it holds beside them.

    Of fresh people, as large a share is like nobody in the original as of the original's people is
    like no other (Good, 1953, doi:10.1093/biomet/40.3-4.237). All of the columns must agree: those
    given, or else all.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"age": [30, 30, 40, 50], "job": ["a", "a", "b", "c"]})
    >>> tables = CodedTables.of({"original": original, "synthetic": original[2:3]})
    >>> copied_records_of(tables)  # of (40, b) and (50, c), one
    CopiedRecords(share=0.5, one_of_a_kind=2, new=0.0)
    """
    both = tables.select(("original", "synthetic"), columns)
    original, synthetic = both.encoded["original"], both.encoded["synthetic"]
    for name in both.columns:
        if original.column(name).values.dtype != synthetic.column(name).values.dtype:
            both.column(name)  # raises for what cannot be compared, even if it tells no more
    own = np.repeat([True, False], [len(original), len(synthetic)])
    rows, ids, count, alone = np.arange(len(own)), np.zeros(len(own), np.uint32), 1, 0
    new = 0
    # Columns of many values first: they tell most records apart, and few rows are left for others.
    for name in sorted(both.columns, key=lambda name: -len(original.column(name).values)):
        codes, levels = both.column(name)
        values = np.concatenate([codes["original"], codes["synthetic"]])[rows]
        pairs = Coded(("group", "value"), (ids, values), (count, len(levels)))
        groups = group_ids(pairs, pairs.names)
        ids, count = groups.ids, groups.count
        people, records = _sizes(ids, count, own[rows]), _sizes(ids, count)
        alone += int(np.count_nonzero((people == 1) & (records == 1)))
        new += int(records[people == 0].sum())
        undecided = ((people > 0) & (records > 1))[ids]
        rows, ids = rows[undecided], ids[undecided]
        if not len(rows):
            break
    people, records = _sizes(ids, count, own[rows]), _sizes(ids, count)
    copied = int(np.count_nonzero((people == 1) & (records > 1)))
    alone += int(np.count_nonzero(people == 1))
    if not alone:
        return CopiedRecords(math.nan, 0, math.nan)
    of_fresh_people = alone / len(original)
    return CopiedRecords(copied / alone, alone, new / max(len(synthetic), 1) / of_fresh_people)


def _sizes(
    ids: NDArray[np.integer], count: int, which: NDArray[np.bool_] | None = None
) -> NDArray[np.int64]:
    """Return how many rows, or of some rows, are in each group."""
    return np.bincount(ids if which is None else ids[which], minlength=count)
