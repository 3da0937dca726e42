"""Pairs of values that only the release has, though many original records should by chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_whole
from understudy.data.frames import Backend, Frame
from understudy.data.joint_coding import CodedTables
from understudy.progress import track
from understudy.results import Line, Result
from understudy.utility.raw_numbers import Special, raw_numbers
from understudy.utility.tables import compared_with_control, drawn_records, tables_of
from understudy.utility.value_groups import ValueGroups, value_groups
from understudy.wording import counted, percent

EXPECTED = 5
"""Records that a pair of values has in the original if its columns are unrelated, at least."""
CHANCE = 0.05
"""The share of the named combinations that may be due to chance, at most."""
NAMED = 20
"""How many combinations a result names."""
WORK = 4 * 10**8
"""Records of all tables times pairs of columns, at most; of more records, a sample."""


@dataclass(frozen=True)
class Combination:
    """A pair of values that the release has and no original record has.

    Parameters
    ----------
    columns, values : tuple of str
        The columns, and the value of each in words.
    expected : float
        Original records that would have both if the columns were unrelated.
    synthetic_records : int
        Synthetic records that have both.
    share : float
        Their share of the release.
    """

    columns: tuple[str, str]
    values: tuple[str, str]
    expected: float
    synthetic_records: int
    share: float

    def sentence(self) -> str:
        """Return it in a sentence.

        Examples
        --------
        >>> Combination(("sex", "pregnant"), ("m", "yes"), 41.2, 17, 0.017).sentence()
        "No original record has 'sex' 'm' and 'pregnant' 'yes'; 17 synthetic ones (1.7%) have."
        """
        first, second = (
            f"{column!r} {value!r}" for column, value in zip(self.columns, self.values, strict=True)
        )
        ones = "synthetic one" if self.synthetic_records == 1 else "synthetic ones"
        have = "has" if self.synthetic_records == 1 else "have"
        return (
            f"No original record has {first} and {second}; {self.synthetic_records:,} {ones} "
            f"({percent(self.share)}) {have}."
        )


@dataclass(frozen=True, eq=False)
class ImpossibleCombinations(Result):
    """Pairs of values that only the release has; `impossible_combinations` makes it.

    Parameters
    ----------
    records, synthetic_records : int
        Records that were used.
    pairs, cells : int
        Pairs of columns, and pairs of values that should occur by chance, that were looked at.
    share : float
        Synthetic records with at least one pair of values that no original record has.
    expected : float
        The same for a fresh record: original records with a pair that no other original record
        has. nan if nothing could be looked at.
    control : float
        The same as `share` for control records; nan without any.
    low : float
        The least by which `share` exceeds `expected` beyond chance, 0 if it does not.
    combinations : int
        Pairs of values that chance does not explain.
    named : tuple of Combination
        The most frequent of them.
    reasons : dict
        Why a value is nan, or what was left out.
    """

    SERIES: ClassVar = {
        "baseline": "A fresh record",
        "synthetic": "A record of the release",
        "control": "A control record",
    }
    AXIS = "Share of records with a pair of values that no original record has"

    records: int
    synthetic_records: int
    pairs: int
    cells: int
    share: float
    expected: float
    control: float
    low: float
    combinations: int
    named: tuple[Combination, ...]
    reasons: dict[str, str]

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return one row for each combination that is named, the most frequent first."""
        rows = {
            "first": [one.columns[0] for one in self.named],
            "first_value": [one.values[0] for one in self.named],
            "second": [one.columns[1] for one in self.named],
            "second_value": [one.values[1] for one in self.named],
            "expected": [one.expected for one in self.named],
            "synthetic_records": [one.synthetic_records for one in self.named],
            "share": [one.share for one in self.named],
        }
        return self._framed(rows, backend)

    def lines(self) -> list[Line]:
        """Return the share of records beside that of fresh ones."""
        about = f"over {self.cells:,} pairs of values"
        return [
            Line("Impossible combinations", about, self.expected, self.share, control=self.control)
        ]

    def summary(self) -> str:
        """Return the result in a few sentences."""
        if math.isnan(self.share):
            return f"Nothing could be looked at: {self.reasons['share']}."
        control = "" if math.isnan(self.control) else f"; a control record, {percent(self.control)}"
        told = [
            f"{percent(self.share)} of the synthetic records have a pair of values that no "
            f"original record has. Of fresh records, {percent(self.expected)} would{control}."
        ]
        if self.combinations:
            told.append(
                f"Chance does not explain {counted(self.combinations, 'combination')}. "
                f"{self.named[0].sentence()}"
            )
        return " ".join(told)


def impossible_combinations(
    original: Frame | CodedTables,
    synthetic: Frame | None = None,
    *,
    control: Frame | None = None,
    columns: str | Sequence[str] | None = None,
    special: Special = None,
    random_state: int = 0,
) -> ImpossibleCombinations:
    r"""Look for pairs of values that the release has and the original rules out.

    Parameters
    ----------
    original, synthetic, control, columns, special, random_state
        As for `correlations`.

    Returns
    -------
    ImpossibleCombinations
        The share of synthetic records with such a pair, beside that of fresh records, and the pairs
        that chance does not explain.

    Raises
    ------
    ParameterError
        If an argument has a value that cannot be used, or a table lacks a column.
    DataError
        If a table has no rows, or the tables hold values that cannot be compared.

    Notes
    -----
    Numbers and dates are put into 10 groups of about the same number of synthetic records, in which
    a frequent number is by itself; codes and missing are values of their own. A pair of values is
    looked at if its absence means something: were no columns related, each pair would have so many
    original records that none of all is absent, with a probability of 95%. These are
    :math:`\log(c / 0.05)` records for c pairs of values, and at least 5.

    A pair with no original record may still be possible. So the share of the release is set beside
    that of fresh records, which is estimated by leaving out one original record at a time (Good and
    Turing's estimate). For a pair that k of m synthetic and none of n original records have,
    :math:`(m / (n + m))^k` is the probability that all k of them fall into the release. By these
    p-values pairs are named so that at most 5% of those named are due to chance (Benjamini and
    Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x), unless a control record has them.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"sex": ["f", "m"] * 100, "pregnant": ["yes", "no"] * 100})
    >>> synthetic = original.with_columns(pl.col("pregnant").shuffle(seed=1))
    >>> found = impossible_combinations(original, synthetic)
    >>> found.combinations, found.share > 0.4, found.expected
    (2, True, 0.0)
    """
    check_whole("random_state", random_state, 0)
    both = compared_with_control(tables_of(original, synthetic, control=control), columns)
    numbers = raw_numbers(both, special)
    groups: dict[str, ValueGroups] = {}
    for name in both.columns:
        codes, levels = both.column(name)
        group = value_groups(
            levels,
            codes["original"],
            codes["synthetic"],
            numbers.get(name),
            fewest=EXPECTED,
        )
        if group.count > 1:
            groups[name] = group
    tables, reasons = _coded(both, groups, random_state)
    look = _Look.of(tables, groups)
    if look is None:
        reasons["share"] = "there are no two columns with values that enough records have"
        nan = math.nan
        original_rows, made_rows = (len(both.encoded[one]) for one in ("original", "synthetic"))
        return ImpossibleCombinations(
            original_rows, made_rows, 0, 0, nan, nan, nan, nan, 0, (), reasons,
            _backend=both.backend,
        )  # fmt: skip
    rows = {table: len(next(iter(held.values()))) for table, held in tables.items()}
    share, expected = float(look.unseen["synthetic"].mean()), float(look.alone.mean())
    error = math.sqrt(
        (share * (1 - share) + 1 / rows["synthetic"]) / rows["synthetic"]
        + (expected * (1 - expected) + 1 / rows["original"]) / rows["original"]
    )
    # All records with a pair fall into the release by chance with (m / (n + m))^k.
    each = math.log(rows["synthetic"] / (rows["synthetic"] + rows["original"]))
    ordered = sorted(look.pairs, key=lambda one: -one.records)
    sure = [
        place
        for place, one in enumerate(ordered, 1)
        if one.records * each < math.log(CHANCE * place / look.cells)
    ]
    found = ordered[: sure[-1] if sure else 0]
    unseen = look.unseen.get("control")
    return ImpossibleCombinations(
        rows["original"],
        rows["synthetic"],
        math.comb(len(groups), 2),
        look.cells,
        share,
        expected,
        math.nan if unseen is None else float(unseen.mean()),
        max(0.0, share - expected - 2 * error),
        len(found),
        tuple(one.told(groups, rows["synthetic"]) for one in found[:NAMED]),
        reasons,
        _backend=both.backend,
    )


class _Pair(NamedTuple):
    """A pair of groups that only the release has."""

    columns: tuple[str, str]
    at: tuple[int, int]
    expected: float
    records: int

    def told(self, groups: dict[str, ValueGroups], rows: int) -> Combination:
        """Return it in words."""
        first, second = (
            groups[name].label(place) for name, place in zip(self.columns, self.at, strict=True)
        )
        return Combination(
            self.columns, (first, second), self.expected, self.records, self.records / rows
        )


def _coded(
    both: CodedTables, groups: dict[str, ValueGroups], random_state: int
) -> tuple[dict[str, dict[str, NDArray[np.int64]]], dict[str, str]]:
    """Return the groups of all records by table and column; of large tables, those of a sample."""
    pairs = max(math.comb(len(groups), 2), 1)
    used, reasons = drawn_records(
        both,
        max(WORK // (pairs * len(both.encoded)), 1_000),
        np.random.default_rng(random_state),
        "impossible combinations are looked for in",
        f"there are {pairs:,} pairs of columns",
    )
    tables = {
        table: {
            name: group.place[both.column(name)[0][table][rows]] for name, group in groups.items()
        }
        for table, rows in used.items()
    }
    return tables, reasons


@dataclass(frozen=True, eq=False)
class _Look:
    """What is found in all pairs of columns.

    `unseen` tells of each record of a table whether it has a pair that no original record has, and
    `alone` of each original record whether it has one that no other has.
    """

    cells: int
    unseen: dict[str, NDArray[np.bool_]]
    alone: NDArray[np.bool_]
    pairs: list[_Pair]

    @classmethod
    def of(
        cls, tables: dict[str, dict[str, NDArray[np.int64]]], groups: dict[str, ValueGroups]
    ) -> _Look | None:
        """Count all pairs of columns; None if there is nothing to look at."""
        sizes = {
            table: len(next(iter(held.values()))) if held else 0 for table, held in tables.items()
        }
        unseen = {
            table: np.zeros(rows, bool) for table, rows in sizes.items() if table != "original"
        }
        alone = np.zeros(sizes["original"], bool)
        pairs: list[_Pair] = []
        cells = 0
        both = list(combinations(groups, 2))
        # Of all pairs together, fewer than CHANCE would be absent if no columns were related.
        possible = sum(groups[one].count * groups[other].count for one, other in both)
        enough = max(EXPECTED, math.log(max(possible, 1) / CHANCE))
        for first, second in track(both, "looking for impossible combinations", len(both)):
            one, other = groups[first], groups[second]
            width = other.count + 1
            bound = (one.count + 1) * width
            joint = {table: held[first] * width + held[second] for table, held in tables.items()}
            counts = {
                table: np.bincount(codes, minlength=bound).reshape(-1, width)
                for table, codes in joint.items()
            }
            real = counts["original"]
            expected = np.outer(real.sum(axis=1), real.sum(axis=0)) / sizes["original"]
            looked = expected >= enough
            looked[-1, :] = looked[:, -1] = False
            cells += int(looked.sum())
            absent, single = looked & (real == 0), looked & (real == 1)
            if single.any():
                alone |= single.reshape(-1)[joint["original"]]
            for table in unseen:
                if (absent & (counts[table] > 0)).any():
                    unseen[table] |= absent.reshape(-1)[joint[table]]
            made = counts["synthetic"]
            told = absent & (made > 0)
            if "control" in counts:
                told &= counts["control"] == 0
            pairs += [
                _Pair(
                    (first, second),
                    (row, column),
                    float(expected[row, column]),
                    int(made[row, column]),
                )
                for row, column in np.argwhere(told).tolist()
            ]
        return cls(cells, unseen, alone, pairs) if cells else None
