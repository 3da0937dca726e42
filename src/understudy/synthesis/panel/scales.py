"""Numbers that rise or fall from record to record of a unit, in units in which they can be added.

A year, an age and a count of visits go on by steps. Dates go on by days, or by months if all of
them are the same day of the month or the last: a step is then a whole number of months.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from understudy.data.values import TICKS_PER_SECOND, unit_of

LAST_DAY = 0
"""In place of a day of the month: the last."""
_SURE_DAY = 28
"""Every month has this day."""


@dataclass(frozen=True)
class Plain:
    """Numbers and dates as they are stored."""

    def read(self, stored: NDArray[Any]) -> NDArray[Any]:
        """Return stored numbers in the units of the scale."""
        return stored

    def write(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return numbers of the scale as they are stored."""
        return values

    def to_plain(self) -> dict[str, int]:
        """Return the scale in values that JSON can hold."""
        return {}


@dataclass(frozen=True)
class Months:
    """Dates by months since 1970, all of the same `day` and the same ticks after midnight.

    Examples
    --------
    >>> scale = Months(day=LAST_DAY, rest=0, per_day=1)
    >>> days = np.array(["2020-01-31", "2020-02-29"], "datetime64[D]").astype(np.int64)
    >>> scale.read(days).tolist(), (scale.write(scale.read(days)) == days).all()
    ([600, 601], np.True_)
    """

    day: int
    rest: int
    per_day: int

    def read(self, stored: NDArray[Any]) -> NDArray[np.int64]:
        """Return stored dates as months."""
        return _months_of(stored // self.per_day)

    def write(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return months as stored dates."""
        if self.day == LAST_DAY:
            days = _first_days(values + 1) - 1
        else:
            days = _first_days(values) + self.day - 1
        return np.asarray(days * self.per_day + self.rest)

    def to_plain(self) -> dict[str, int]:
        """Return the scale in values that JSON can hold."""
        return {"day": self.day, "rest": self.rest, "per_day": self.per_day}


Scale = Plain | Months


def scale_from_plain(plain: Mapping[str, Any]) -> Scale:
    """Return the scale that `to_plain` took apart; ValueError if it cannot be one."""
    if not plain:
        return Plain()
    scale = Months(int(plain["day"]), int(plain["rest"]), int(plain["per_day"]))
    if not 0 <= scale.day <= _SURE_DAY or not 0 <= scale.rest < scale.per_day:
        raise ValueError("a scale of time that cannot be")
    return scale


def scale_of(stored: NDArray[Any], kind: pa.DataType) -> Scale:
    """Return the scale of a column's stored numbers, none of which is missing."""
    if not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)) or not len(stored):
        return Plain()
    unit = unit_of(kind)
    per_day = 1 if unit == "D" else 86_400 * TICKS_PER_SECOND[unit]
    days, rest = np.divmod(stored, per_day)
    if (rest != rest[0]).any():
        return Plain()
    months = _months_of(days)
    if len(np.unique(months)) < 3:
        return Plain()
    day = days - _first_days(months) + 1
    if (day == day[0]).all() and day[0] <= _SURE_DAY:
        return Months(int(day[0]), int(rest[0]), per_day)
    if (days + 1 == _first_days(months + 1)).all():
        return Months(LAST_DAY, int(rest[0]), per_day)
    return Plain()


def _months_of(days: NDArray[np.int64]) -> NDArray[np.int64]:
    return days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)


def _first_days(months: NDArray[np.int64]) -> NDArray[np.int64]:
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
