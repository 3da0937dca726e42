"""Whether a few values explain most disclosures, so that they may be no news to anybody.

A level that nearly everybody has is guessed correctly without any release. These checks point out
such levels among the records that DiSCO counts; a person judges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.data.levels import Levels, Value
from understudy.errors import ParameterError
from understudy.results import to_plain
from understudy.risk.key_cells import KeyCells
from understudy.risk.level_values import plain_level, shown_level
from understudy.risk.scenario import Scenario
from understudy.wording import percent

Threshold = tuple[int, float]
"""A number of records and a share, both to be exceeded."""

ONE_WAY: Threshold = (50, 0.9)
TWO_WAY: Threshold = (4, 0.8)


@dataclass(frozen=True)
class OneWayCheck:
    """The sensitive value that is disclosed most often.

    Parameters
    ----------
    level : value
        The value as Python has it; None for missing.
    records : int
        Original records, without those that are left out.
    level_records : int
        Those of them that have the value.
    disclosed : int
        All records that DiSCO counts.
    level_disclosed : int
        Those of them that have the value.
    flagged : bool
        Whether there are so many of them, and they are so large a share of all, that it is worth
        a look.
    """

    level: Value
    records: int
    level_records: int
    disclosed: int
    level_disclosed: int
    flagged: bool

    @property
    def level_share(self) -> float:
        """The value's share of the original records."""
        return self.level_records / self.records

    @property
    def disclosed_share(self) -> float:
        """The value's share of the disclosed records."""
        return self.level_disclosed / self.disclosed

    def __str__(self) -> str:
        return (
            f"{shown_level(self.level)} makes up {self.level_disclosed:,} of {self.disclosed:,} "
            f"disclosed values ({percent(self.disclosed_share)}) and {percent(self.level_share)} "
            f"of all original values.{' This is worth a look.' if self.flagged else ''}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the check as plain values."""
        return {
            **to_plain(self),
            "level": plain_level(self.level),
            "level_share": self.level_share,
            "disclosed_share": self.disclosed_share,
        }


@dataclass(frozen=True)
class TwoWayCheck:
    """A level of one key that tells the sensitive value by itself, most of the time.

    Parameters
    ----------
    key : str
        The key.
    key_level, level : value
        The key's level and the sensitive value; None for missing.
    disclosed : int
        Records with both that DiSCO counts, in cells that are large enough.
    both_records : int
        Original records with both; none is left out here.
    key_records : int
        Original records with the key's level; none is left out here.
    """

    key: str
    key_level: Value
    level: Value
    disclosed: int
    both_records: int
    key_records: int

    @property
    def share(self) -> float:
        """How many of the original records with the key's level have the sensitive value."""
        return self.both_records / self.key_records

    def __str__(self) -> str:
        return (
            f"{shown_level(self.level)} is disclosed for {self.disclosed:,} records in which "
            f"{self.key!r} is {shown_level(self.key_level)}. {percent(self.share)} of all original "
            f"records with this {self.key!r} have it anyway."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the check as plain values."""
        levels = {name: plain_level(getattr(self, name)) for name in ("key_level", "level")}
        return {**to_plain(self), **levels, "share": self.share}


def check_threshold(name: str, threshold: Threshold) -> None:
    """Refuse a threshold that is no number of records and share."""
    try:
        records, share = threshold
        good = records >= 0 and 0 <= share <= 1
    except (TypeError, ValueError):
        good = False
    if not good:
        raise ParameterError(
            f"{name} must be a number of records and a share between 0 and 1, such as {ONE_WAY}; "
            f"got {threshold!r}."
        )


def one_way_check(
    cells: KeyCells,
    original: NDArray[np.int64],
    disclosed: NDArray[np.int64],
    decode: Mapping[str, Levels],
    scenario: Scenario,
    threshold: Threshold = ONE_WAY,
) -> OneWayCheck | None:
    """Return the sensitive value that is disclosed most often, None if nothing is disclosed.

    Parameters
    ----------
    cells : KeyCells
        The cells.
    original, disclosed : ndarray of int64
        Original records of each cell that are not left out, and those that DiSCO counts.
    decode : mapping
        What the codes of each column stand for.
    scenario : Scenario
        Keys and sensitive attribute.
    threshold : (int, float)
        The check is flagged if more disclosed records than this have the value, and their share
        of all disclosed ones is above this.
    """
    by_level = _sums(cells.value, disclosed)
    total = int(by_level.sum())
    if not total:
        return None
    code = int(by_level.argmax())  # of equals, the first in the order of levels
    found = int(by_level[code])
    return OneWayCheck(
        decode[scenario.sensitive].value(code),
        int(original.sum()),
        int(original[cells.value == code].sum()),
        total,
        found,
        flagged=found > threshold[0] and found / total > threshold[1],
    )


def two_way_checks(
    cells: KeyCells,
    original: NDArray[np.int64],
    disclosed: NDArray[np.int64],
    decode: Mapping[str, Levels],
    scenario: Scenario,
    threshold: Threshold = TWO_WAY,
) -> tuple[TwoWayCheck, ...]:
    """Return the levels of keys that tell the sensitive value by themselves, most records first.

    Parameters
    ----------
    cells, disclosed, decode, scenario
        As for `one_way_check`.
    original : ndarray of int64
        All original records of each cell; here none is left out.
    threshold : (int, float)
        Cells with more disclosed records than this are looked at; a pair is returned if the share
        of the key's level that has the sensitive value is above this.
    """
    target = scenario.sensitive
    large = disclosed > threshold[0]
    if not large.any():
        return ()
    found = []
    values = len(decode[target])
    for name in scenario.keys:
        codes = cells.examples[name].astype(np.int64)
        key_records = _sums(codes, original)
        joint = codes * values + cells.value
        pairs, place = np.unique(joint[large], return_inverse=True)
        told = _sums(place, disclosed[large])
        wanted = np.searchsorted(pairs, joint)
        wanted[wanted == len(pairs)] = 0
        ours = pairs[wanted] == joint
        both = _sums(wanted[ours], original[ours])
        found += [
            TwoWayCheck(
                name,
                decode[name].value(pair // values),
                decode[target].value(pair % values),
                *(int(told[at]), int(both[at]), int(key_records[pair // values])),
            )
            for at, pair in sorted(enumerate(pairs.tolist()), key=lambda item: item[1] % values)
            if both[at] / key_records[pair // values] > threshold[1]
        ]
    # The sort is stable: of equals, the earlier key and the earlier value come first.
    return tuple(sorted(found, key=lambda check: -check.disclosed))


def _sums(codes: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    # Sums of counts below 2**53 are exact in the floats that bincount adds.
    return np.bincount(codes, counts).astype(np.int64)
