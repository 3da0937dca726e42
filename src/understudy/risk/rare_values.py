"""Rare values one by one: the people who have it, and those of them who are told."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_whole
from understudy.data.coded import Coded, code_dtype
from understudy.data.frames import Backend, Frame
from understudy.data.levels import Levels, Value
from understudy.intervals import wilson_interval
from understudy.learning.packed import Records
from understudy.results import Line, Result
from understudy.risk.attribution_result import Attack, Scores
from understudy.risk.chance import corrected
from understudy.risk.compared_tables import listed_releases
from understudy.risk.disclosure_result import plain_level, shown_level
from understudy.risk.kept_back import newcombe_interval
from understudy.risk.prepare import Prepared, prepare
from understudy.risk.rank_groups import rank_limits
from understudy.risk.scenario import Scenario
from understudy.risk.tails import hypergeometric_tail
from understudy.wording import counted, percent

LEAST = 5
"""A value is looked at if so many people have it."""
NUMBER_GROUPS = 20
"""A sensitive number has no rare values; it is put into so many groups, and these are looked at."""
LEVEL = 0.05
NOT_RELEASED = "a value that the release does not have"

Interval = tuple[float, float]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class RareValue:
    """How many of the people with one value are told.

    Parameters
    ----------
    value : value
        The value, or the name of a group of numbers; None for missing, and for a value that the
        release does not have, which is not named.
    released : bool
        Whether the release has the value.
    people : int
        Original records with the value.
    guesses : int
        For how many original records it is guessed, rightly or wrongly.
    told : int
        For how many of the people with the value it is guessed.
    expected : float
        For how many it would be, if the same guesses were dealt out among all people at random.
    p_value : float
        How often chance alone tells as many, or more, for any of the values.
    control_people, control_told : int
        The same for the control records.
    difference : float
        The share of people who are told, less that of the control records; nan without any.
    interval : tuple of float
        Its 95% interval (Newcombe's).
    difference_p_value : float
        How often chance alone gives such a difference for any of the values, if it makes no
        difference whether somebody is in the data; nan without control records.
    """

    value: Value
    released: bool
    people: int
    guesses: int
    told: int
    expected: float
    p_value: float
    control_people: int
    control_told: int
    difference: float
    interval: Interval
    difference_p_value: float

    @property
    def share(self) -> float:
        """The share of the people with the value who are told."""
        return self.told / self.people

    @property
    def precision(self) -> float:
        """How often a guess of the value is right; nan if it is never guessed."""
        return self.told / self.guesses if self.guesses else math.nan

    @property
    def shown(self) -> str:
        """The value for a sentence."""
        return shown_level(self.value) if self.released else NOT_RELEASED


@dataclass(frozen=True, eq=False)
class RareValues(Result):
    """For how many of the people who have it each value is told; `rare_values` makes it.

    Parameters
    ----------
    scenario : Scenario
        What the attacker knows and wants.
    records : int
        Original records.
    least : int
        How many people a value must have.
    values : tuple of RareValue
        Each value that so many people have, the rarest first.
    worst : RareValue or None
        The value that is told most clearly: of those beyond chance (p-value up to 5%), or with
        control records beyond these, the one with the largest share of people beyond chance; if
        there is none, the one with the smallest p-value. None if no value has enough people.
    p_value, difference_p_value : float
        The smallest of all values, for having looked at all of them: against chance, and for people
        in the data against people kept back.
    reasons : dict
        Why a figure is undefined.
    """

    scenario: Scenario
    records: int
    least: int
    values: tuple[RareValue, ...]
    worst: RareValue | None
    p_value: float
    difference_p_value: float
    reasons: dict[str, str]
    _told: NDArray[np.bool_] = field(repr=False)

    def per_record(self, *, backend: Backend | None = None) -> Frame:
        """Return whether the value of each original record is told."""
        import polars as pl

        return self._framed(pl.DataFrame({"told": self._told}).with_row_index("record"), backend)

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each value, the rarest first."""
        names = ["people", "guesses", "told", "expected", "p_value"]
        if self.has_control:
            names += ["control_people", "control_told", "difference", "difference_p_value"]
        rows = [
            {"value": one.shown} | {name: getattr(one, name) for name in names}
            for one in self.values
        ]
        return self._framed(rows, backend)

    @property
    def has_control(self) -> bool:
        """Whether there are control records."""
        return not all(math.isnan(one.difference) for one in self.values)

    def to_dict(self) -> dict[str, object]:
        """Return all but the single records as plain values, with None for nan."""
        content = super().to_dict()
        for held, one in zip(content["values"], self.values, strict=True):
            held["value"] = plain_level(one.value)
        if self.worst is not None:
            content["worst"]["value"] = plain_level(self.worst.value)
        return content

    def summary(self) -> str:
        """Return the result in a few sentences."""
        one = self.worst
        if one is None:
            return f"No value of {self.scenario.sensitive!r} has {self.least} people or more."
        clear = one.p_value <= LEVEL
        verdict = "more than chance explains" if clear else "which chance explains"
        control = ""
        if one.control_people:
            share = percent(one.control_told / one.control_people)
            control = f" For people who are not in the data it is {share}."
        return (
            f"Of {counted(len(self.values), 'value')} of {self.scenario.sensitive!r}, {one.shown} "
            f"is told most clearly: for {one.told:,} of the {one.people:,} people who have it "
            f"({percent(one.share)}), where the same guesses at random would be correct for "
            f"{one.expected:.1f}, {verdict}.{control}"
        )

    def lines(self) -> Sequence[Line]:
        """Return the worst value beside what chance gives."""
        one = self.worst
        if one is None:
            return []
        control = one.control_told / one.control_people if one.control_people else math.nan
        chance = one.expected / one.people
        return [
            Line(
                "rare values",
                f"the value told most clearly: {one.shown}",
                chance,
                one.share,
                control=control,
                gain=one.share - chance,
            )
        ]


def rare_values(  # noqa: PLR0913  # the tables, the attacker, and how values are coded
    original: Frame,
    synthetic: Frame | Sequence[Frame],
    *,
    keys: str | Sequence[str],
    sensitive: str,
    least: int = LEAST,
    control: Frame | None = None,
    groups: Mapping[str, int] | None = None,
    special: Mapping[str, Sequence[float]] | None = None,
) -> RareValues:
    """Count, for each value of the sensitive attribute, the people who are told to have it.

    Parameters
    ----------
    original, synthetic : frame
        The original table and the release; several releases in a list are looked up together.
    keys, sensitive
        What an attacker knows, and wants.
    least : int
        How many people a value must have to be looked at.
    control, groups, special
        As in `attribution`. Numbers with more than 20 different values and dates are put into 20
        groups, if `groups` says nothing of them.

    Returns
    -------
    RareValues

    Raises
    ------
    ParameterError, DataError
        As for `attribution`.

    Notes
    -----
    A person is told if the guess of `gcap` is the person's value. An average over everybody hides
    rare values: five people with a rare illness are a thousandth of 5,000. So each value is looked
    at by itself. If n people are guessed, T of them have the value and it is guessed for G, then
    dealing out the guesses at random tells T G / n of them on average, and the number is
    hypergeometric. The p-value is that of as many or more (Fisher's), times the number of values
    (Holm's). The test against control records is Fisher's, too.

    A value that the release does not have is not named: it is in the original alone. Groups of a
    number are named by their place, and not by their limits.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"age": range(100), "ill": ["rare"] * 5 + ["no"] * 95})
    >>> found = rare_values(table, table, keys="age", sensitive="ill")
    >>> found.worst.value, found.worst.told, found.worst.expected
    ('rare', 5, 0.25)
    """
    check_whole("least", least, 1)
    prepared = prepare(
        original,
        listed_releases(synthetic),
        Scenario(keys, sensitive),
        control=control,
        groups=groups,
        special=special,
    )
    return rare_values_of(prepared, least=least)


def rare_values_of(prepared: Prepared, *, least: int = LEAST) -> RareValues:
    """Look at the values of tables that are coded already; see `rare_values`."""
    if prepared.number is not None:
        prepared = _in_groups(prepared)
    scenario = Scenario(prepared.scenario.keys, prepared.scenario.sensitive)
    places = range(len(scenario.keys))
    attack = Attack(prepared.released, Records(prepared.original))
    (scores,) = attack.scores(places, "nearest")
    outside = None
    if prepared.control is not None:
        (outside,) = Attack(prepared.released, Records(prepared.control)).scores(places, "nearest")
    values = _tested(prepared, scores, outside, least)
    worst = min(values, key=_how_clearly, default=None)
    tested = [one.difference_p_value for one in values if not math.isnan(one.difference_p_value)]
    reasons = {}
    if worst is None:
        reasons["worst"] = f"no value has {least} people or more"
    return RareValues(
        scenario=scenario,
        records=len(prepared.original),
        least=least,
        values=values,
        worst=worst,
        p_value=min((one.p_value for one in values), default=math.nan),
        difference_p_value=min(tested, default=math.nan),
        reasons=reasons,
        _told=scores.right[attack.queries.ids],
        _backend=prepared.backend,
    )


def _how_clearly(one: RareValue) -> tuple[bool, float, float]:
    """Return what sorts values: those that are told most clearly first."""
    tested = one.p_value if math.isnan(one.difference_p_value) else one.difference_p_value
    beyond = one.expected / one.people - one.share
    return (True, tested, beyond) if tested > LEVEL else (False, beyond, tested)


@dataclass(frozen=True, eq=False)
class _Tally:
    """For each code of the sensitive attribute: people, guesses, and people who are told."""

    people: Counts
    guesses: Counts
    told: Counts

    @classmethod
    def of(cls, scores: Scores, size: int) -> _Tally:
        def count(codes: NDArray[np.integer], chosen: NDArray[np.bool_]) -> Counts:
            found = np.bincount(codes[chosen], scores.weights[chosen], size)
            return found.astype(np.int64)

        every = np.ones(len(scores.weights), bool)
        return cls(
            count(scores.sensitive, every),
            count(scores.guess, scores.guess >= 0),
            count(scores.sensitive, scores.right),
        )


def _tested(
    prepared: Prepared, scores: Scores, outside: Scores | None, least: int
) -> tuple[RareValue, ...]:
    """Test each value that enough people have, the rarest first."""
    name = prepared.scenario.sensitive
    levels, size = prepared.levels[name], prepared.original.cardinality(name)
    own = _Tally.of(scores, size)
    total = int(own.people.sum())
    codes = np.flatnonzero(own.people >= least)
    codes = codes[np.argsort(own.people[codes], kind="stable")]
    people, guesses, told = own.people[codes], own.guesses[codes], own.told[codes]
    p_values = corrected(hypergeometric_tail(told, total, people, guesses))
    p_values = np.where(told > 0, p_values, 1.0)
    other = None if outside is None else _Tally.of(outside, size)
    differ = np.full(len(codes), math.nan)
    if other is not None:
        both, told_of_both = people + other.people[codes], told + other.told[codes]
        some = other.people[codes] > 0
        found = hypergeometric_tail(told, both, told_of_both, people)
        differ = corrected(np.where(some, found, math.nan))
    released = np.bincount(prepared.released[name], minlength=size) > 0
    values = []
    for place, code in enumerate(codes.tolist()):
        outsiders = 0 if other is None else int(other.people[code])
        told_of_them = 0 if other is None else int(other.told[code])
        difference, interval = _difference(
            int(told[place]), int(people[place]), told_of_them, outsiders
        )
        values.append(
            RareValue(
                value=levels.value(code) if released[code] else None,
                released=bool(released[code]),
                people=int(people[place]),
                guesses=int(guesses[place]),
                told=int(told[place]),
                expected=int(people[place]) * int(guesses[place]) / total,
                p_value=float(p_values[place]),
                control_people=outsiders,
                control_told=told_of_them,
                difference=difference,
                interval=interval,
                difference_p_value=float(differ[place]),
            )
        )
    return tuple(values)


def _difference(told: int, people: int, others_told: int, others: int) -> tuple[float, Interval]:
    """Return the difference of two shares with its interval; nan if there are no others."""
    if not others:
        return math.nan, (math.nan, math.nan)
    one, other = told / people, others_told / others
    interval = newcombe_interval(
        (one, wilson_interval(told, people)), (other, wilson_interval(others_told, others))
    )
    return one - other, interval


def _in_groups(prepared: Prepared) -> Prepared:
    """Put a sensitive number into groups of about the same number of original records.

    Groups are named by their place alone: their limits are the original's.
    """
    name, number = prepared.scenario.sensitive, prepared.number
    known = np.arange(0) if number is None else np.flatnonzero(~np.isnan(number.numbers))
    own = prepared.original[name]
    limits = rank_limits(own[own < len(known)], NUMBER_GROUPS)
    count = len(limits) + 1
    group = np.searchsorted(limits, np.arange(len(prepared.levels[name])), side="left")
    group[len(known) :] = count
    labels: list[Value] = [f"group {place} of {count} by size" for place in range(1, count + 1)]
    missing = len(known) < len(group)
    levels = Levels((*labels, *([None] if missing else [])), None, count if missing else None)

    def grouped(table: Coded) -> Coded:
        codes = group[table[name]].astype(code_dtype(len(levels)))
        columns = (*table.columns[:-1], codes)
        return Coded(table.names, columns, (*table.cardinalities[:-1], len(levels)))

    return replace(
        prepared,
        original=grouped(prepared.original),
        syntheses=tuple(map(grouped, prepared.syntheses)),
        control=None if prepared.control is None else grouped(prepared.control),
        levels={**prepared.levels, name: levels},
        number=None,
    )
