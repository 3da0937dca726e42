"""The verdicts on releases of which it is known whether they give people away.

``python -m studies gallery`` prints how many verdicts are right for each kind of release and each
table that is at hand, and lists the mistakes. With ``--keep FILE`` a run that was interrupted goes
on where it stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from studies.keeping import kept_or_made
from understudy.audit.gallery import GalleryTest, Judged, run_gallery
from understudy.wording import markdown_table
from understudy.worlds.gallery import KINDS, TABLES

MeasuresName = Literal["quick", "standard", "full"]


def gallery_markdown(
    measures: MeasuresName = "quick",
    seeds: int = 1,
    *,
    tables: Sequence[str] | None = None,
    kinds: Sequence[str] | None = None,
    seed: int = 0,
    processes: int = 1,
    keep: Path | None = None,
) -> str:
    """Return the table of verdicts, and the mistakes; what `keep` holds is not made again.

    "leaks" and "harmless" stand for all kinds that are so.
    """
    if kinds is not None and len(kinds) == 1 and kinds[0] in ("leaks", "harmless"):
        kinds = [kind.name for kind in KINDS if kind.leaks == (kinds[0] == "leaks")]
    if keep is None:
        found = run_gallery(
            measures, seeds, tables=tables, kinds=kinds, random_state=seed, processes=processes
        )
    else:
        asked = {"measures": measures, "kinds": kinds}
        places = [table.name for table in TABLES] if tables is None else tables
        parts = [(place, one) for place in places for one in range(seed, seed + seeds)]
        judged = _kept(keep, asked, parts, processes)
        found = GalleryTest(measures, tuple(judged))
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


def _kept(
    keep: Path, asked: dict[str, Any], parts: Sequence[tuple[str, int]], processes: int
) -> Iterator[Judged]:
    """Yield the verdicts of each table and seed: as they were kept, or judged and then kept."""

    def judge(places: Sequence[int]) -> Iterator[list[dict[str, Any]]]:
        for table, seed in (parts[place] for place in places):
            found = run_gallery(
                asked["measures"],
                tables=[table],
                kinds=asked["kinds"],
                random_state=seed,
                processes=processes,
            )
            yield [asdict(one) | {"kind": one.kind.name} for one in found.judged]

    names = [{**asked, "table": table, "seed": seed} for table, seed in parts]
    kinds = {kind.name: kind for kind in KINDS}
    for judged in kept_or_made(keep, names, judge):
        for one in judged:
            lists = {field: tuple(one[field]) for field in ("patterns", "errors")}
            yield Judged(**one | lists | {"kind": kinds[one["kind"]]})
