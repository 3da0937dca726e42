"""What the table of measures against the desiderata says, in the terminal."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from understudy.report.worlds_table import worlds_table
from understudy.worlds.table import WorldsTable

_BEFORE = (
    "Every measure is put to the same test: releases of which it is known what they tell of one "
    "record. Some make it certain, some tell nothing, and some have more and more noise. Its score "
    "without a release stands beside the mean score where the record is certain to be disclosed. A "
    "measure that can be trusted does the five things that are listed below the table."
)


def worlds_text(found: WorldsTable) -> Group:
    """Return the table between what is tried and what came of it."""
    good = [
        measure.label
        for measure, verdicts in found.verdicts.items()
        if all(verdict.passed for verdict in verdicts)
    ]
    met = f"All five are met by: {'; '.join(good)}." if good else "No measure meets all five."
    why = "Why a measure fails: understudy -v worlds, or --json FILE."
    return Group(Text(_BEFORE), worlds_table(found), Text(f"{met} {why}"))
