"""Carriers: other columns of a release that hold the sensitive attribute in another form."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from understudy.arguments import as_names, check_seed
from understudy.data.frames import Backend, Frame
from understudy.data.joint_coding import CodedTables
from understudy.errors import ParameterError, unknown_columns
from understudy.learning.mixed_distance import place_together
from understudy.progress import track
from understudy.results import Line, Result
from understudy.risk.chance import corrected
from understudy.risk.compared_tables import listed_releases
from understudy.risk.known_people import Carrier, KnownPeople, Secret
from understudy.risk.prepare import releases_of, tables_of
from understudy.risk.renamed import renamed_columns, unlike_columns
from understudy.risk.scenario import Scenario
from understudy.risk.tolerance import Tolerance
from understudy.wording import counted, percent, signed_points

LEVEL = 0.05
MISLED = 0.01
"""If chance alone makes people have the sensitive value of their records so rarely with at most
this probability, the values stand for others."""
TITLE = ("carriers", "another column as the sensitive one")


@dataclass(frozen=True, eq=False)
class Carriers(Result):
    """What other columns of a release tell about the sensitive attribute; `carriers` makes it.

    Parameters
    ----------
    scenario : Scenario
        What the attacker knows and wants.
    tolerance : Tolerance or None
        How far off a guess of a number or date may be.
    people : int
        People of the original who were used: half of them known, half of them tested.
    columns : tuple of Carrier
        Each column, twice: for everybody, and for people whose keys the release has.
    worst : Carrier or None
        The column that tells most clearly: of those with a gain beyond chance (p-value up to 5%)
        the one with the largest gain, else the one with the smallest p-value. None if no column
        could be tried.
    p_value : float
        The smallest of all columns, for having looked at all of them.
    difference_p_value : float
        The same for people in the data against people kept back, among people with the same value.
    reasons : dict
        Why a figure is undefined, and what was left out.
    """

    scenario: Scenario
    tolerance: Tolerance | None
    people: int
    columns: tuple[Carrier, ...]
    worst: Carrier | None
    p_value: float
    difference_p_value: float
    reasons: dict[str, str]

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each column and each way to link people."""
        names = ("column", "exact", "known", "tested", "accuracy", "reference", "gain", "p_value")
        return self._framed(
            [{name: getattr(one, name) for name in (*names, "control")} for one in self.columns],
            backend,
        )

    def summary(self) -> str:
        """Return the result in a few sentences."""
        one = self.worst
        if one is None:
            return "No other column of the release could be tried as a carrier."
        verdict = "more than chance explains" if one.p_value <= LEVEL else "which chance explains"
        who = "people whose keys the release has" if one.exact else "people"
        control = (
            f" For people who are not in the data it is {percent(one.control)}."
            if one.compared
            else ""
        )
        return (
            f"Of {counted(len({held.column for held in self.columns}), 'column')} of the release, "
            f"{one.column!r} tells most about {self.scenario.sensitive!r} to an attacker who knows "
            f"the values of half of the people: it is correct for {percent(one.accuracy)} of "
            f"{one.tested:,} other {who}. Without the release it is {percent(one.reference)}, a "
            f"gain of {signed_points(one.gain)} points, {verdict}.{control}"
        )

    def lines(self) -> Sequence[Line]:
        """Return the worst column beside its references."""
        one = self.worst
        if one is None:
            return []
        meaning = f"the column {one.column!r}"
        return [
            Line(TITLE[0], meaning, one.reference, one.accuracy, control=one.control, gain=one.gain)
        ]


def carriers(  # noqa: PLR0913  # the tables, the attacker, and the sample
    original: Frame,
    synthetic: Frame | Sequence[Frame],
    *,
    keys: str | Sequence[str],
    sensitive: str,
    columns: str | Sequence[str] | None = None,
    tolerance: Tolerance | float | dt.timedelta | str | None = None,
    control: Frame | None = None,
    people: int | None = None,
    random_state: int = 0,
) -> Carriers:
    """Try each other column of the release as an encoding of the sensitive attribute.

    A release whose sensitive column is shuffled or left out may still hold it: in a column with
    other names for the same values, or with a little noise.

    Parameters
    ----------
    original, synthetic : frame
        The original table and the release, which need not have the sensitive column. Of several
        releases in a list, columns that all of them have are tried.
    keys, sensitive
        What an attacker knows of everybody, and wants.
    columns : sequence of str, optional
        The columns that are tried; by default all of the release but keys, unless one of their
        values is spelt in several ways, and the sensitive one, which is among them if its values,
        or their shares, are not the original's, or if those who look it up are wrong more often
        than chance explains. Columns that the original lacks are also tried together, as when each
        value has a column of its own.
    tolerance, control
        As in `attribution`.
    people : int, optional
        How many people are used, drawn at random; all if not given.
    random_state : int
        Decides who is drawn, and whose values are known.

    Returns
    -------
    Carriers

    Raises
    ------
    ParameterError
        If a table lacks a key, or the original the sensitive attribute.
    DataError
        If a table has no rows.

    Notes
    -----
    Half of the people are known with their values, drawn at random. Each is linked with the nearest
    record of the release by the keys (the distance of `understudy.learning.mixed_distance`). For
    each value of a column, the most frequent sensitive value of the known people linked with it is
    what it stands for, or the middle number. Columns of more than 20 different numbers are put into
    up to 50 groups. The other half is linked and guessed in the same way.

    The known people tell something by themselves: the most frequent value, the value that goes with
    each key, the value of the most similar one. The best of these on the tested people is the
    reference. The test compares the two guesses for the same person: of the people for whom just
    one is right, no more than half are expected to be those of the column (a sign test). The
    p-values are Holm's, for all columns and both ways to link.

    The sensitive column is looked up by other attacks, so it is a carrier only if its values stand
    for others. A record of somebody else with the same keys has a person's value at least as often
    as chance gives: with the probabilities q of the value given the keys, the mean of q^2 is at
    least the square of the mean of q. So where people have the value of their record less often,
    for all values together or for one of them, the values were exchanged.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> ill = np.random.default_rng(1).choice(["no", "yes"], 200)
    >>> original = pl.DataFrame({"age": np.arange(200), "ill": ill})
    >>> release = pl.DataFrame({"age": np.arange(200), "code": np.where(ill == "yes", "q", "z")})
    >>> found = carriers(original, release, keys="age", sensitive="ill")
    >>> found.worst.column, found.worst.accuracy, found.p_value < 0.001
    ('code', 1.0, True)
    """
    check_seed(random_state)
    tables = tables_of(original, listed_releases(synthetic), control)
    return carriers_of(
        tables,
        Scenario(keys, sensitive),
        columns=columns,
        tolerance=tolerance,
        people=people,
        random_state=random_state,
    )


def carriers_of(
    tables: CodedTables,
    scenario: Scenario,
    *,
    columns: str | Sequence[str] | None = None,
    groups: Mapping[str, int] | None = None,
    tolerance: object = None,
    people: int | None = None,
    random_state: int = 0,
) -> Carriers:
    """Try the columns of tables that are coded already; see `carriers`.

    With `groups`, a sensitive number is put into groups.
    """
    made = releases_of(tables)
    used = [name for name in tables.encoded if name in ("original", "control", *made)]
    tables = tables.select(used, ()).check_rows()
    tried = _columns(tables, scenario, columns)
    secret = Secret.of(tables, scenario, groups, tolerance)
    attack = KnownPeople.of(tables, scenario, secret, people, random_state)
    if columns is None and _is_a_code(tables, scenario.sensitive, attack):
        tried.append(scenario.sensitive)
    found = [
        one
        for column in track(tried, "Trying carriers", len(tried))
        for one in attack.tried(column, tables.select(made, [column]))
    ]
    if columns is None:
        new = [name for name in tried if name not in tables.encoded["original"].names]
        found += attack.tried_together(new, tables.select(made, new))
    return replace(_result(scenario, secret, attack, found), _backend=tables.backend)


def _columns(
    tables: CodedTables, scenario: Scenario, columns: str | Sequence[str] | None
) -> list[str]:
    """Return the columns to try: those of all releases, or those that are asked for."""
    made = [tables.encoded[name].names for name in releases_of(tables)]
    common = [name for name in made[0] if all(name in names for names in made[1:])]
    others = [name for name in common if name not in (*scenario.keys, scenario.sensitive)]
    if columns is None:
        spelt = [name for name in scenario.keys if name in common and _has_spellings(tables, name)]
        return [*others, *spelt]
    wanted = list(as_names(columns))
    if unknown := unknown_columns(wanted, others):
        raise ParameterError(f"columns: {' '.join(unknown)}")
    return wanted


def _has_spellings(tables: CodedTables, column: str) -> bool:
    """Tell whether a release writes one value in several ways, such as with a space behind it."""
    for name in releases_of(tables):
        texts = tables.encoded[name].column(column).values
        if texts.dtype == pl.String:
            alike = texts.str.strip_chars().str.to_lowercase()
            if alike.n_unique() < texts.n_unique():
                return True
    return False


def _is_a_code(tables: CodedTables, sensitive: str, attack: KnownPeople) -> bool:
    """Tell whether the sensitive values of a release do not mean what they say.

    They are not the original's, or have other shares; or people have the values of the records they
    are linked with less often than chance explains.
    """
    made = releases_of(tables)
    if any(sensitive not in tables.encoded[name].names for name in made):
        return False
    own = tables.select(["original", *made], [sensitive])
    original, *released = place_together(own.encoded, [sensitive]).values()
    return (
        any(
            renamed_columns(original, table) or unlike_columns(original, table)
            for table in released
        )
        or attack.least_agreement(sensitive, own) < MISLED
    )


def _result(
    scenario: Scenario, secret: Secret, attack: KnownPeople, found: Sequence[Carrier]
) -> Carriers:
    p_values = corrected(np.array([one.p_value for one in found]))
    held = tuple(
        replace(one, p_value=float(p_value)) for one, p_value in zip(found, p_values, strict=True)
    )
    tried = [one for one in held if not math.isnan(one.p_value)]
    differences = np.array(
        [math.nan if one.compared is None else one.compared.matched_p_value for one in tried]
    )
    tested = corrected(differences)
    people, reasons = len(attack.known.truths) + len(attack.tested.truths), {}
    if people < attack.total:
        reasons["people"] = (
            f"{people:,} of {attack.total:,} people were used: drawn at random, with a value to "
            "guess"
        )
    if not tried:
        reasons["worst"] = "no column could be tried, or too few records are linked"
    return Carriers(
        scenario=scenario,
        tolerance=None if secret.number is None else secret.number.closeness.tolerance,
        people=people,
        columns=held,
        worst=min(tried, key=_how_clearly, default=None),
        p_value=min((one.p_value for one in tried), default=math.nan),
        difference_p_value=float(np.nanmin(tested)) if (~np.isnan(tested)).any() else math.nan,
        reasons=reasons,
    )


def _how_clearly(one: Carrier) -> tuple[bool, float, float]:
    """Return what sorts columns: those that tell most clearly first."""
    if one.p_value <= LEVEL:
        return False, -one.gain, one.p_value
    return True, one.p_value, -one.gain
