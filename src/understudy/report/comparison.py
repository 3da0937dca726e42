"""The releases side by side: a row for each, between what no release and the original give."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from understudy.audit.findings import Findings, ReleaseFindings
from understudy.report.wording import UNDEFINED, number, percent, points

_Value = Callable[[ReleaseFindings], float]
_GUESSED = "Guessed right, %"
_STRONG = "Strong attacker"
_COUNTED = "Counted, %"
_USE = "Use"


@dataclass(frozen=True)
class Heading:
    """What a column of the table is called, and what is in it, in words."""

    title: str
    about: str


@dataclass(frozen=True)
class Comparison:
    """The releases side by side, in words.

    Parameters
    ----------
    groups : tuple of (str, int)
        Headings over several columns, and how many.
    headings : tuple of Heading
        Of the columns.
    without, original : tuple of str
        What is reached without a release, and with the original; empty where there is no such
        figure.
    rows : tuple of tuple of str
        A row for each release.
    """

    groups: tuple[tuple[str, int], ...]
    headings: tuple[Heading, ...]
    without: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    original: tuple[str, ...]


@dataclass(frozen=True)
class _Column:
    """A column: how its figures are found and written; the references may be missing."""

    group: str
    heading: Heading
    value: _Value
    write: Callable[[float], str]
    without: _Value | None = None
    original: _Value | None = None


def comparison_table(findings: Findings) -> Comparison:
    """Return the main figures of all releases; what none of them has is left out.

    Examples
    --------
    >>> release = ReleaseFindings("a.csv", "", 1, 10)
    >>> comparison_table(Findings("", "", 0, 0, "", "", 10, 2, (), None, "", "", (release,))).rows
    ((),)
    """
    releases = findings.releases
    shown = [
        column
        for column in _COLUMNS
        if any(math.isfinite(column.value(release)) for release in releases)
    ]
    return Comparison(
        tuple((name, len(list(found))) for name, found in groupby(c.group for c in shown)),
        tuple(column.heading for column in shown),
        tuple(_reference(column, column.without, releases) for column in shown),
        tuple(
            tuple(column.write(column.value(release)) for column in shown) for release in releases
        ),
        tuple(_reference(column, column.original, releases) for column in shown),
    )


def _reference(column: _Column, value: _Value | None, releases: Sequence[ReleaseFindings]) -> str:
    """Return what all releases are compared with; from the least to the most if it differs."""
    if value is None:
        return ""
    known = [found for release in releases if math.isfinite(found := value(release))]
    if not known:
        return UNDEFINED
    least, most = column.write(min(known)), column.write(max(known))
    return least if least == most else f"{least} to {most}"


def _figure(measure: str, field: str) -> _Value:
    def value(release: ReleaseFindings) -> float:
        found = release.figure(measure)
        return math.nan if found is None else float(getattr(found, field))

    return value


def _guessed(measure: str, title: str, about: str) -> _Column:
    return _Column(
        _GUESSED,
        Heading(title, about),
        _figure(measure, "synthetic"),
        percent,
        _figure(measure, "baseline"),
        _figure(measure, "original"),
    )


def _strong(field: str) -> _Value:
    return lambda release: math.nan if release.strong is None else getattr(release.strong, field)


def _disclosure(field: str) -> _Value:
    return lambda release: (
        math.nan if release.disclosure is None else getattr(release.disclosure, field)
    )


def _prediction(field: str) -> _Value:
    def value(release: ReleaseFindings) -> float:
        found = release.utility.prediction
        return math.nan if found is None else float(getattr(found, field))

    return value


def _pairs(release: ReleaseFindings) -> float:
    return next((way.ratio for way in release.utility.marginals if way.way == 2), math.nan)


_COLUMNS = (
    _guessed("gcap", "GCAP", "by who looks the keys up in the release"),
    _guessed("vote", "Vote", "by a vote of classifiers that learn from it"),
    _guessed("mean_attacker", "Mean", "by one of these classifiers, on average"),
    _guessed("papers_mean_attacker", "Mean, papers", "by one of the papers' classifiers"),
    _Column(
        _STRONG,
        Heading("Certain", "people whose value is certain to one who knows all but that"),
        _strong("certain"),
        number,
    ),
    _Column(
        _STRONG,
        Heading("Bits", "what this attacker learns of a person, on average"),
        _strong("mean_gain_bits"),
        lambda bits: number(bits, 3),
    ),
    _Column(
        _COUNTED,
        Heading("repU", "people whose keys are unique in both tables"),
        _disclosure("repu"),
        percent,
        original=_disclosure("uio"),
    ),
    _Column(
        _COUNTED,
        Heading("DiSCO", "in points above a constant guess"),
        _disclosure("disco_gain"),
        points,
    ),
    _Column(
        _USE,
        Heading("Predicted, %", "the target, by classifiers that learn from the release"),
        _prediction("mean_synthetic"),
        percent,
        _prediction("baseline"),
        _prediction("mean_real"),
    ),
    _Column(
        _USE,
        Heading("Pairs", "how far tables of two columns are off, as a multiple of chance"),
        _pairs,
        lambda ratio: number(ratio, 1),
    ),
)
