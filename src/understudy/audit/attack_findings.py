"""What charts of attacks show, in plain values: a few hundred points at most, and no records."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

LATER = {"later": True}
"""Marks fields that JSON files of earlier versions lack."""
FEW = 20
"""A sensitive value that fewer people have is named only where records may be shown."""

Points = tuple[tuple[float, float, int], ...]
"""Distances to the nearest other person and to the nearest synthetic record, and how many people
have them."""


@dataclass(frozen=True)
class DecidingLook:
    """The count of lookalikes that is most telling, beside what it is compared with.

    Parameters
    ----------
    isolated : float
        The share of the people that were looked at, the most isolated.
    people, found : float
        How many that are, and how many of them have a lookalike.
    others : float
        Of as many fresh people, how many would have one at most; or how many of the control records
        have one.
    other_people : int
        How many control records were looked at; 0 if `others` are fresh people.
    """

    isolated: float
    people: int
    found: float
    others: float
    other_people: int = 0


@dataclass(frozen=True)
class LookalikeFindings:
    """How close synthetic records come to people, beside how close other people are.

    Parameters
    ----------
    ratio : float
        A person has a lookalike if a synthetic record is closer than this share of the distance to
        the next person.
    distance : str
        "whole", or "trimmed" if the distances leave out the column that differs most.
    people, control_people : int
        How many were compared, in the data and among the control records.
    points, control : tuple
        The distances of all of them, or of a random sample.
    look, control_look : DecidingLook or None
        The most telling counts, beside fresh people and beside control records.
    """

    ratio: float
    distance: str
    people: int
    points: Points
    control_people: int = 0
    control: Points = ()
    look: DecidingLook | None = field(default=None, metadata=LATER)
    control_look: DecidingLook | None = field(default=None, metadata=LATER)


@dataclass(frozen=True)
class MembershipCurve:
    """How many of the people in the data a score finds, for each share of false alarms.

    `points` are shares of control records that score higher than a limit, and the shares of the
    people in the data who do.
    """

    score: str
    people: int
    control_people: int
    auc: float
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class RareValueFindings:
    """For how many of the people who have it one sensitive value is told.

    Parameters
    ----------
    value : str
        Its name; empty if it is not to be shown.
    people, told : int
        Who has it, and of whom it is guessed.
    expected : float
        Of how many it would be guessed by chance.
    control_people, control_told : int
        The same for control records.
    """

    value: str
    people: int
    told: int
    expected: float
    control_people: int = 0
    control_told: int = 0

    def named(self, *, show_records: bool, unit: str = "records") -> str:
        """Return the value for a reader: by name, or by how many of the unit have it.

        Examples
        --------
        >>> RareValueFindings("AB negative", 7, 1, 0.1).named(show_records=False)
        'a value that 7 records have'
        >>> RareValueFindings("A", 700, 1, 0.1).named(show_records=False)
        'A'
        """
        if self.value and (show_records or self.people >= FEW):
            return self.value
        return f"a value that {self.people:,} {unit} have"


@dataclass(frozen=True)
class KeySetFindings:
    """What somebody gains who knows one set of keys: shares of correct guesses beyond the baseline.

    `control_gain` is that for control records with the same sensitive values (nan without any),
    and `limit` the gain that chance alone exceeds in at most 5% of releases.
    """

    keys: tuple[str, ...]
    gain: float
    limit: float
    control_gain: float = math.nan
