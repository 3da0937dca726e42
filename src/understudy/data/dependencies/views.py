"""The columns of a table as searches need them: codes of the different values, numbers, gaps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from understudy.data.dependencies.formulas import Floats, as_floats, half_a_unit
from understudy.data.schema import NUMERIC, Column
from understudy.data.values import all_differ, from_numpy, to_numpy

Codes = NDArray[np.int64]
FEW_LEVELS = 50
"""Values of a column that is not taken for rounded, at most: too much would round to it."""
FEW_UNITS = 200
"""Units of its last decimal that such a column spans, at most."""
SEARCHED = 2000
"""Records of the sample on which most candidates are discarded."""


@dataclass(frozen=True, eq=False)
class View:
    """One column: its description, its values, and what searches need of them."""

    column: Column
    array: pa.Array

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers that one can reckon with: no labels, no times."""
        kind = self.array.type
        timed = pa.types.is_temporal(kind) and not pa.types.is_duration(kind)
        return self.column.kind in NUMERIC and not timed

    @property
    def timed(self) -> bool:
        """Whether it holds dates or times."""
        return self.column.kind == "datetime"

    @cached_property
    def _all_differ(self) -> bool:
        return all_differ(self.array)

    @cached_property
    def _encoded(self) -> tuple[Codes, int]:
        plain = self.array
        if not pa.types.is_dictionary(plain.type):
            plain = plain.dictionary_encode()
        known = len(plain.dictionary)
        codes = to_numpy(plain.indices.cast(pa.int64()), missing=known)
        gaps = to_numpy(pc.is_null(plain.dictionary, nan_is_null=True))
        if gaps.any():
            codes = np.append(np.where(gaps, known, np.arange(known)), known)[codes]
        return codes, known

    @property
    def codes(self) -> Codes:
        """A number for each different value, in no order; `size` where it is missing."""
        # Of a column of measurements, they are made when they are needed: they take much memory.
        return np.arange(len(self.array)) if self._all_differ else self._encoded[0]

    @property
    def size(self) -> int:
        """How many different values there may be."""
        return len(self.array) if self._all_differ else self._encoded[1]

    @cached_property
    def _counted(self) -> Codes:
        return np.bincount(self.codes, minlength=self.size + 1)

    @property
    def counts(self) -> Codes:
        """Records with each code; the last are those without a value."""
        if self._all_differ:
            return np.append(np.ones(self.size, np.int64), 0)
        return self._counted

    @cached_property
    def levels(self) -> int:
        """How many different values occur."""
        return int(np.count_nonzero(self.counts[:-1]))

    @cached_property
    def variety(self) -> float:
        """The probability that two records with values differ."""
        counts = self.counts[:-1].astype(np.float64)
        return 1 - float(np.square(counts / max(counts.sum(), 1)).sum())

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Where there is no value."""
        return to_numpy(pc.is_null(self.array, nan_is_null=True)).astype(bool)

    @cached_property
    def gaps(self) -> int:
        """Records without a value."""
        return int(np.count_nonzero(self.missing))

    @cached_property
    def floats(self) -> Floats:
        """The numbers, NaN where one is missing; ticks for times."""
        return as_floats(self.array, self.name)

    @cached_property
    def exact(self) -> bool:
        """Whether its numbers are finite, and small enough to reckon with exactly."""
        largest = float(np.fmax.reduce(np.abs(self.floats), initial=0.0))
        whole = pa.types.is_integer(self.array.type)
        return largest < (2.0**53 if whole else 1e100)

    @cached_property
    def special(self) -> NDArray[np.bool_]:
        """Where a number stands for something of its own, such as -9 for "no answer"."""
        if not self.column.special or not self.numeric:
            return np.zeros(len(self.array), bool)
        return np.isin(self.floats, np.array(self.column.special, np.float64))

    @cached_property
    def tolerance(self) -> Floats:
        """How far each number may lie from what it was computed as."""
        return half_a_unit(self.array.type, self.column.decimals, self.floats)

    @cached_property
    def few_levels(self) -> bool:
        """Whether its numbers are so few, and so near each other, that much would round to them."""
        if self.levels > FEW_LEVELS:
            return False
        known = self.floats[~np.isnan(self.floats)]
        unit = 2 * float(np.min(self.tolerance[~np.isnan(self.floats)], initial=np.inf))
        return len(known) == 0 or float(np.ptp(known)) <= FEW_UNITS * unit

    def take(self, rows: NDArray[Any]) -> View:
        """Return the column of some records."""
        return View(self.column, self.array.take(from_numpy(rows, np.zeros(len(rows), bool))))


@dataclass(frozen=True, eq=False)
class Views:
    """The columns of a table that may depend on each other, and a sample of its records."""

    columns: Mapping[str, View]
    rows: int

    @classmethod
    def of(cls, table: pa.Table, columns: Iterable[Column]) -> Views:
        """Return the columns that have a description, but for identifiers and free text."""
        arrays = dict(zip(table.column_names, table.columns, strict=True))
        found = {
            column.name: View(column, arrays[column.name].combine_chunks())
            for column in columns
            if column.kind not in ("identifier", "text") and column.name in arrays
        }
        return cls(found, table.num_rows)

    def __getitem__(self, name: str) -> View:
        return self.columns[name]

    def at(self, names: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the codes of some columns for some records, -1 where there is no value."""
        found = np.empty((len(rows), len(names)), np.int32)
        for place, name in enumerate(names):
            view = self.columns[name]
            codes = view.codes[rows]
            found[:, place] = np.where(codes == view.size, -1, codes)
        return found

    def varieties(self, names: Sequence[str]) -> Floats:
        """Return the probability that two records with values differ, for some columns."""
        return np.array([self.columns[name].variety for name in names])

    @cached_property
    def sample(self) -> Views:
        """The same columns of a few records, always the same ones."""
        if self.rows <= SEARCHED:
            return self
        rows = np.sort(np.random.default_rng(0).choice(self.rows, SEARCHED, replace=False))
        return Views({name: view.take(rows) for name, view in self.columns.items()}, SEARCHED)
