"""Which measures can be trusted, as `understudy worlds` finds: the same for every report.

The verdicts are about the measures, and not about the data of a report, so each measure declares
them and they are not computed again. A test compares them with a new run.
"""

from __future__ import annotations

from dataclasses import dataclass

from understudy.audit.measures import MEASURES
from understudy.audit.measures.declaration import Trust
from understudy.worlds.desiderata import DESIDERATA

NO, YES, SILENT = "no", "yes", "(yes)"
"""What is said of a measure; `SILENT` if the demand is met only as the score never changes."""


@dataclass(frozen=True)
class Trusted:
    """One line of the table: the measures that were judged alike, and the words for D1 to D5."""

    measures: tuple[str, ...]
    words: tuple[str, ...]


def words_for(trust: Trust) -> tuple[str, ...]:
    """Return for each of D1 to D5 whether it is met."""
    return tuple(
        YES if demand in trust.meets else SILENT if demand in trust.silent else NO
        for demand in DESIDERATA
    )


def trust_table() -> tuple[Trusted, ...]:
    """Return the verdicts, with measures that were judged alike in one line.

    Examples
    --------
    >>> trust_table()[-1]
    Trusted(measures=('Membership', 'Strong attacker'), words=('yes', 'yes', 'yes', 'yes', 'yes'))
    """
    declared = [trust for measure in MEASURES for trust in measure.trust]
    lines: dict[tuple[str, ...], list[str]] = {}
    for trust in declared:
        words = words_for(trust)
        name = trust.measure.capitalize() if trust.measure.islower() else trust.measure
        # Figures of a table were looked at for the one person too: named if that is not the same.
        if any(words_for(other) != words for other in declared if other.measure == trust.measure):
            name += " (of one person)" if trust.about == "record" else " (of all people)"
        names = lines.setdefault(words, [])
        if name not in names:
            names.append(name)
    return tuple(Trusted(tuple(names), words) for words, names in lines.items())
