"""What can be done to a release itself: coarser values, and records that look like one person."""

from __future__ import annotations

import re
from collections.abc import Iterator

from understudy.audit.advice.case import Case
from understudy.audit.advice.piece import Advice
from understudy.audit.answers import Evidence
from understudy.utility.shares import MOST_LABELS, NOT_SHOWN
from understudy.wording import listed, percent, quoted

EXTREMES, FEW_PEOPLE = 0.99, 5
"""Numbers above those of 99% of the people are cut off, and texts of fewer than five joined."""
ABOUT_THE_RARE = ("lookalikes", "singling_out", "rare_values", "telling_keys")
"""Measures that see most of what is rare."""
MOST_REMOVED = 0.5
"""Where this share of the records looks like one person, a release without them is no release."""
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def coarsen(case: Case, evidence: Evidence) -> Iterator[Advice]:
    """Propose coarser values if what is rare gives people away, and the release has such values."""
    numbers = [name for name in case.findings.numbers if _may_have_extremes(case, name)]
    texts = [name for name in case.findings.texts if _may_have_rare_values(case, name)]
    told = [*evidence.answers["records"].clues, *evidence.answers["ordinary"].clues]
    rare = any(clue.measure in ABOUT_THE_RARE and clue.level in {"raised", "high"} for clue in told)
    if not rare or not (numbers or texts):
        return
    parts = [f"cut off the extremes of {quoted(numbers)}"] if numbers else []
    parts += [f"join the rare values of {quoted(texts)}"] if texts else []
    text = listed(parts)
    yield Advice(
        f"{text[0].upper()}{text[1:]} in the release.",
        "This takes away single extreme values and rare groups. "
        f"{case.many[0].upper()}{case.many[1:]} may still stand out by combinations of keys.",
        "coarsen",
        parameters={
            **({"top_code": dict.fromkeys(numbers, EXTREMES)} if numbers else {}),
            **({"group_rare": dict.fromkeys(texts, FEW_PEOPLE)} if texts else {}),
        },
        output="coarser-values",
    )


def _shares(case: Case, column: str) -> list[tuple[str, float]]:
    """Return the values of a column in the release, or groups of them, and the original's share."""
    found = next((one for one in case.release.utility.shares if one.column == column), None)
    if found is None:
        return []
    pairs = zip(found.labels, found.original, strict=True)
    return [(label, share) for label, share in pairs if label != NOT_SHOWN]


def _may_have_extremes(case: Case, column: str) -> bool:
    """Tell whether the release may have numbers above those that are the limit.

    That is not so if its largest number is so frequent in the original that it is the limit itself.
    """
    shares = _shares(case, column)
    numbers = {float(label): share for label, share in shares if _NUMBER.fullmatch(label)}
    if not numbers or len(numbers) < len(shares) - 1:  # groups; one label may be what is missing
        return True
    return numbers[max(numbers)] <= 1 - EXTREMES


def _may_have_rare_values(case: Case, column: str) -> bool:
    """Tell whether the release may have texts that few have; many texts are counted together."""
    shares, rows = _shares(case, column), case.findings.rows
    return (
        not shares
        or len(shares) >= MOST_LABELS
        or any(share * rows < FEW_PEOPLE - 0.5 for _, share in shares)
    )


def remove_uniques(case: Case) -> Iterator[Advice]:
    """Propose to take out records whose keys look like one person's, unless they are too many."""
    told = case.release.disclosure
    if told is None or not case.release.rows:
        return
    removed = told.repu * case.findings.counted / case.release.rows
    if 0 < removed < MOST_REMOVED:
        yield Advice(
            f"Remove the synthetic records that look like one original record: "
            f"{percent(told.repu, 2)} of the {case.many} have unique keys in the original and "
            "exactly one record with these keys in the release.",
            "This removes what looks alarming. It does not change what else the release reveals.",
            "remove uniques",
            parameters={"keys": list(case.findings.keys)},
            output="without-uniques",
        )
