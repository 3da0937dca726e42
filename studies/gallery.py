"""The verdicts on releases of which it is known whether they give people away.

``python -m studies gallery`` prints how many verdicts are right for each kind of release and each
table that is at hand, and lists the mistakes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from understudy.audit.gallery import GalleryTest, Judged, run_gallery
from understudy.wording import markdown_table

MeasuresName = Literal["quick", "standard", "full"]


def gallery_markdown(
    measures: MeasuresName = "quick",
    seeds: int = 1,
    *,
    tables: Sequence[str] | None = None,
    kinds: Sequence[str] | None = None,
    seed: int = 0,
    processes: int = 1,
) -> str:
    """Return the table of verdicts, and the mistakes."""
    found = run_gallery(
        measures, seeds, tables=tables, kinds=kinds, random_state=seed, processes=processes
    )
    return "\n\n".join([_counts(found), found.markdown(), *_mistakes(found)])


def _counts(found: GalleryTest) -> str:
    """Say how many verdicts are right."""
    leaks = sum(one.kind.leaks for one in found.judged)
    return (
        f"{leaks:,} audits of leaks, of which {len(found.missed):,} call a leak low, and "
        f"{len(found.below_power):,} more call one low that gives away fewer people than they say "
        f"they would see; {len(found.judged) - leaks:,} of harmless releases, with "
        f"{len(found.false_alarms):,} false alarms."
    )


def _mistakes(found: GalleryTest) -> list[str]:
    lines = [_line(one) for one in (*found.missed, *found.false_alarms)]
    heading = [
        "release",
        "table",
        "seed",
        "control",
        "records",
        "ordinary",
        "tests below 5%",
        "power",
    ]
    return [markdown_table(heading, lines)] if lines else []


def _line(one: Judged) -> list[str]:
    return [
        one.kind.name,
        one.table,
        str(one.seed),
        "with" if one.control else "without",
        one.answers["records"],
        one.answers["ordinary"],
        ", ".join(one.seen_by),
        f"{one.power:.1%}",
    ]
