"""What `disclosure` returns: every measure with its references, for one synthesis or several."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from understudy.data.frames import Backend, Frame
from understudy.data.levels import Value, in_words
from understudy.errors import ParameterError, did_you_mean
from understudy.results import Line, Result, to_plain
from understudy.risk.exclusions import Exclusions
from understudy.risk.kept_back import Compared
from understudy.risk.key_tally import RATES, Tally
from understudy.risk.prepare import NOT_HELD
from understudy.risk.scenario import Scenario
from understudy.wording import percent

Interval = tuple[float, float]
NUMBERS = ("n_original", "n_synthetic", *RATES, "max_cell", "mean_cell")
"""The figures of a result, in the order of its table."""
REPU = ("repU", "unique in both tables")
DISCO = ("DiSCO", "a single, correct value")
"""What the two main figures are called, and what they count."""


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


@dataclass(frozen=True)
class ControlDisclosure:
    """The same attack on people who are not in the data, and the difference.

    What is learnt about them too is learnt about everybody; what is left concerns the members.

    Attributes
    ----------
    records : int
        Records of the control table.
    disco, dcap, disco_gain : float
        As in `Disclosure`, for these records.
    disco_interval : (float, float)
        The Wilson interval of `disco`.
    disco_difference, dcap_difference : float
        The members' measure less that of these records.
    difference_interval : (float, float)
        The interval of `disco_difference`, from the two Wilson intervals (Newcombe 1998,
        doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I, method 10).
    compared : Compared
        People in the data beside these, for DiSCO: tests, and the difference among people with the
        same sensitive value. Records that are left out of the count do not count here either.
    """

    records: int
    disco: float
    dcap: float
    disco_gain: float
    disco_interval: Interval
    disco_difference: float
    dcap_difference: float
    difference_interval: Interval
    compared: Compared


@dataclass(frozen=True, eq=False)
class Disclosure(Result):
    """Identity and attribute disclosure of one synthetic table; shares are fractions of 1.

    A *key* is a combination of the values of all key columns. It is *disclosive* in a table if all
    its records there have the same sensitive value.

    Attributes
    ----------
    scenario : Scenario
        Keys and sensitive attribute.
    n_original, n_synthetic : int
        Records of the two tables.
    uio : float
        Original records that are unique on the keys: repU of the original with itself.
    uis : float
        Synthetic records that are unique on the keys (of the synthetic records).
    uiois : float
        Unique original records whose key occurs in the synthetic table.
    repu : float
        Original records that are unique, and whose key is unique in the synthetic table too.
    dorig : float
        Original records whose key is disclosive in the original: DiSCO of it with itself.
    dsyn : float
        Synthetic records whose key is disclosive there (of the synthetic records).
    is_ : float
        Original records whose key occurs in the synthetic table.
    dis : float
        Original records whose key is disclosive in the synthetic table, rightly or wrongly.
    disco : float
        Those of `dis` whose sensitive value is the one that is disclosed.
    disdio : float
        Those of `disco` whose key is disclosive in the original too.
    base_cap : float
        Guessing the sensitive value from its shares: the sum of squared shares in the original.
    cap_d, cap_s : float
        Mean share of a record's own sensitive value among the records with its key: of the
        original in itself, and of the synthetic table in itself.
    dcap : float
        The same of original records in the synthetic table; 0 for those without a match.
    tcap_dis, tcap_is : float
        `disco` as a share of `dis`, and of `is_`. synthpop's text describes the first, its code
        gives the second. (If records are left out, the second is a share of the original records
        whose key is still in the synthetic table.)
    disco_baseline : float
        Of the records of `dis`, those about whom one is right who always says the synthetic
        table's most frequent value: the same records attacked by a constant guess.
    disco_gain : float
        `disco` - `disco_baseline`: records that the release gets right and the constant guess
        does not, less those for whom it is the other way round. Negative if believing the release
        is worse than the constant guess.
    disco_beyond : float
        The first part of `disco_gain` alone: those of `disco` that the constant guess gets wrong.
    max_cell, mean_cell : float
        The largest and the mean number of original records in a cell (key and sensitive value)
        of `disco`.
    constant : value
        The constant guess, as Python has it; None if it is a missing value.
    repu_interval, disco_interval : (float, float)
        Wilson intervals.
    check_1way : OneWayCheck or None
        The value that is disclosed most; None if there is no disclosure.
    check_2way : tuple of TwoWayCheck
        Levels of single keys that tell the sensitive value anyway.
    exclusions : Exclusions
        How many records were left out of which count, and why.
    control : ControlDisclosure or None
        The same for people who are not in the data, if a control table was given.
    reasons : dict
        Why a field is nan.
    """

    scenario: Scenario
    n_original: int
    n_synthetic: int
    uio: float
    uis: float
    uiois: float
    repu: float
    dorig: float
    dsyn: float
    is_: float
    dis: float
    disco: float
    disdio: float
    base_cap: float
    cap_d: float
    cap_s: float
    dcap: float
    tcap_dis: float
    tcap_is: float
    disco_baseline: float
    disco_gain: float
    disco_beyond: float
    max_cell: int
    mean_cell: float
    constant: Value
    repu_interval: Interval
    disco_interval: Interval
    check_1way: OneWayCheck | None
    check_2way: tuple[TwoWayCheck, ...]
    exclusions: Exclusions
    control: ControlDisclosure | None
    reasons: dict[str, str]
    _tally: Tally = field(repr=False)

    def per_record(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each original record: which measures count it.

        The shares of True are `uio` (unique), `repu` (replicated), `is_` (in_synthetic), `dis`
        (disclosive), `disco` (correct) and `disco_baseline` (constant). Rows are numbered from 0.
        """
        import polars as pl

        if self._tally.cells.weights[self._tally.table] is not None:
            raise ParameterError(NOT_HELD)
        frame = pl.DataFrame(self._tally.flags()).with_row_index("record")
        return self._framed(frame, backend)

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return all figures as a table of one row."""
        return self._framed([self._figures()], backend)

    def _figures(self) -> dict[str, float]:
        return {name: getattr(self, name) for name in NUMBERS}

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the records as plain values, nan as None."""
        return {
            "keys": list(self.scenario.keys),
            "sensitive": self.scenario.sensitive,
            **{name: to_plain(getattr(self, name)) for name in NUMBERS},
            "constant": plain_level(self.constant),
            "repu_interval": to_plain(self.repu_interval),
            "disco_interval": to_plain(self.disco_interval),
            "check_1way": self.check_1way.to_dict() if self.check_1way else None,
            "check_2way": [check.to_dict() for check in self.check_2way],
            "exclusions": self.exclusions.to_dict(),
            "control": to_plain(self.control),
            "reasons": dict(self.reasons),
        }

    def summary(self) -> str:
        """Say the two main figures with their references, in percent."""
        text = (
            f"{percent(self.repu, 2)} of the {self.n_original:,} original records are unique on "
            f"the keys in both tables (repU). {percent(self.uio, 2)} are unique in the original. "
            f"The release discloses {self.scenario.sensitive!r} correctly for "
            f"{percent(self.disco, 2)} of the records (DiSCO). The original discloses it for "
            f"{percent(self.dorig, 2)}. Where the release discloses a value, always guessing "
            f"{shown_level(self.constant)} would be correct for "
            f"{percent(self.disco_baseline, 2)} of the records: a gain of "
            f"{100 * self.disco_gain:.2f} points."
        )
        if self.control is not None:
            text += (
                f" For people who are not in the data, the release is correct for "
                f"{percent(self.control.disco, 2)}."
            )
        return text

    def lines(self) -> Sequence[Line]:
        """Return repU and DiSCO beside their references."""
        control = self.control.disco if self.control else math.nan
        return _lines_of(self._figures().__getitem__, control)


@dataclass(frozen=True, eq=False)
class Disclosures(Result):
    """The results of several syntheses of one original, in their order.

    Parameters
    ----------
    results : tuple of Disclosure
        One for each synthesis.
    pooled : Disclosure
        That of an attacker who looks keys up in all syntheses together.
    """

    results: tuple[Disclosure, ...]
    pooled: Disclosure

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, place: int) -> Disclosure:
        return self.results[place]

    def __iter__(self) -> Iterator[Disclosure]:
        return iter(self.results)

    def mean(self, name: str) -> float:
        """Return the mean of a figure over the syntheses; nan if it is undefined for one."""
        if name not in NUMBERS:
            raise ParameterError(f"There is no figure {name!r}.{did_you_mean(name, NUMBERS)}")
        return math.fsum(getattr(result, name) for result in self.results) / len(self.results)

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return a table with a row for each synthesis, numbered from 1."""
        import polars as pl

        rows = pl.DataFrame([result._figures() for result in self.results])  # noqa: SLF001
        return self._framed(rows.with_row_index("synthesis", offset=1), backend)

    def to_dict(self) -> dict[str, Any]:
        """Return the results and the means as plain values, nan as None."""
        return {
            "results": [result.to_dict() for result in self.results],
            "means": {name: to_plain(self.mean(name)) for name in NUMBERS},
            "pooled": self.pooled.to_dict(),
        }

    def summary(self) -> str:
        """Say the means of the main figures, in percent."""
        first = self.results[0]
        return (
            f"On average over {len(self.results)} syntheses, {percent(self.mean('repu'), 2)} of "
            f"the {first.n_original:,} original records are unique on the keys in both tables "
            f"(repU). {percent(first.uio, 2)} are unique in the original. The release discloses "
            f"{first.scenario.sensitive!r} correctly for {percent(self.mean('disco'), 2)} of the "
            f"records (DiSCO). The original discloses it for {percent(first.dorig, 2)}. The gain "
            f"over a constant guess is {100 * self.mean('disco_gain'):.2f} points."
        )

    def lines(self) -> Sequence[Line]:
        """Return the means of repU and DiSCO beside their references."""
        controls = [one.control.disco for one in self.results if one.control]
        return _lines_of(self.mean, math.fsum(controls) / len(controls) if controls else math.nan)


def _lines_of(figure: Callable[[str], float], control: float) -> Sequence[Line]:
    baseline, disco, original, gain = map(
        figure, ("disco_baseline", "disco", "dorig", "disco_gain")
    )
    return [
        Line(*REPU, synthetic=figure("repu"), original=figure("uio")),
        Line(*DISCO, baseline, disco, original, control, gain),
    ]


def shown_level(value: Value) -> str:
    """Return a level for a sentence: text in quotes, and other values in words.

    Examples
    --------
    >>> shown_level("no"), shown_level(2.0), shown_level(None)
    ("'no'", '2', 'missing')
    """
    return repr(value) if isinstance(value, str) else in_words(value)


def plain_level(value: Value) -> str | float | None:
    """Return a level as JSON knows it: what is no text, number or boolean as text.

    Examples
    --------
    >>> import datetime as dt
    >>> plain_level(dt.date(2020, 1, 31)), plain_level(2.5), plain_level(None)
    ('2020-01-31', 2.5, None)
    """
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, str | int | float):
        return value
    return in_words(value)
