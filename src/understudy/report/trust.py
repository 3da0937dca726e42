"""Which measures can be trusted, as `understudy worlds` finds: the same for every report.

The verdicts are about the measures, and not about the data of a report, so they are kept here and
not computed again. A test compares them with a new run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

DEMANDS: Mapping[str, str] = {
    "D1": "certain disclosure gives the maximum",
    "D2": "noise does not raise it",
    "D3": "no gain without information",
    "D4": "it rises with the information",
    "D5": "a low value is no false reassurance",
}
"""What a measure of risk must do; the same as `understudy.worlds.desiderata.DESIDERATA`."""

NO, YES, SILENT = "no", "yes", "(yes)"
"""What is said of a measure; `SILENT` if the demand is met only as the score never changes."""

_MISLED = (NO, NO, YES, NO, NO)
_MUTE = (NO, SILENT, SILENT, NO, NO)

TRUST: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("0CAP", "record"): _MISLED,
    ("ICAP", "record"): _MISLED,
    ("GCAP", "record"): _MISLED,
    ("classifiers", "record"): _MISLED,
    ("repU", "record"): _MUTE,
    ("DiSCO", "record"): _MUTE,
    ("DiSCO gain", "record"): _MUTE,
    ("repU", "table"): _MUTE,
    ("DiSCO", "table"): (NO, YES, NO, NO, NO),
    ("DiSCO gain", "table"): _MUTE,
    ("strong attacker", "record"): (YES,) * 5,
}
"""For each measure, and what its score is about, which of the demands it meets."""


@dataclass(frozen=True)
class Trusted:
    """One line of the table: the measures that were judged alike, and the words for D1 to D5."""

    measures: tuple[str, ...]
    words: tuple[str, ...]


def trust_table() -> tuple[Trusted, ...]:
    """Return the verdicts, with measures that were judged alike in one line.

    Examples
    --------
    >>> trust_table()[-1]
    Trusted(measures=('Strong attacker',), words=('yes', 'yes', 'yes', 'yes', 'yes'))
    """
    lines: dict[tuple[str, ...], list[str]] = {}
    for (measure, about), words in TRUST.items():
        # Figures of a table were looked at for the one person too: named if that is not the same.
        if TRUST.get((measure, "table"), words) != TRUST.get((measure, "record"), words):
            name = f"{measure} ({'of one person' if about == 'record' else 'of all people'})"
        else:
            name = "Strong attacker" if measure == "strong attacker" else measure
        names = lines.setdefault(words, [])
        if name not in names:
            names.append(name)
    return tuple(Trusted(tuple(names), words) for words, names in lines.items())
