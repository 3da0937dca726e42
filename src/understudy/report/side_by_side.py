"""The releases side by side: a row for each, between what no release and the original give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from understudy.audit.findings import Findings, ReleaseFindings
from understudy.audit.measures import columns
from understudy.audit.measures.declaration import Column, Value
from understudy.wording import UNDEFINED


@dataclass(frozen=True)
class SideBySide:
    """The releases side by side, in words.

    Parameters
    ----------
    columns : tuple of Column
        What is shown.
    without, original : tuple of str
        What is reached without a release, and with the original; empty where there is no such
        figure.
    rows : tuple of tuple of str
        A row for each release.
    """

    columns: tuple[Column, ...]
    without: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    original: tuple[str, ...]

    @property
    def groups(self) -> tuple[tuple[str, int], ...]:
        """Headings over several columns, and how many."""
        names = (column.group for column in self.columns)
        return tuple((name, len(list(found))) for name, found in groupby(names))


def side_by_side(findings: Findings, *, in_terminal: bool = False) -> SideBySide:
    """Return the main figures of all releases; what none of them has is left out.

    Examples
    --------
    >>> release = ReleaseFindings("a.csv", "", 1, 10)
    >>> side_by_side(Findings("", "", 0, 0, "", "", 10, 2, (), None, "", "", (release,))).rows
    ((),)
    """
    releases = findings.releases
    shown = tuple(
        column
        for column in columns()
        if (column.in_terminal or not in_terminal)
        and any(math.isfinite(column.value(release)) for release in releases)
    )
    return SideBySide(
        shown,
        tuple(_reference(column, column.without, releases) for column in shown),
        tuple(
            tuple(column.write(column.value(release)) for column in shown) for release in releases
        ),
        tuple(_reference(column, column.original, releases) for column in shown),
    )


def _reference(column: Column, value: Value | None, releases: Sequence[ReleaseFindings]) -> str:
    """Return what all releases are compared with; from the least to the most if it differs."""
    if value is None:
        return ""
    known = [found for release in releases if math.isfinite(found := value(release))]
    if not known:
        return UNDEFINED
    least, most = column.write(min(known)), column.write(max(known))
    return least if least == most else f"{least} to {most}"
