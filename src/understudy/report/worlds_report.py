"""The table of measures against the desiderata: in the terminal, and as a file for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from understudy._version import __version__
from understudy.data.files import write_bytes
from understudy.results import to_plain
from understudy.worlds.desiderata import DESIDERATA
from understudy.worlds.table import WorldsTable

FORMAT = "understudy worlds"
VERSION = 1

_STYLES = {"yes": "green", "(yes)": "dim", "no": "bold red"}
_BEFORE = (
    "Every measure takes the same test: releases with a known answer about one record. Some make "
    "the record certain, some say nothing about it, and some add more and more noise. The table "
    "shows the score without a release beside the mean score of releases that make the record "
    "certain. A measure that you can trust does the five things listed below the table."
)


def worlds_text(found: WorldsTable, hint: str = "") -> Group:
    """Return the table between what is tried and what came of it, and where to learn more."""
    good = [
        measure.label
        for measure, verdicts in found.verdicts.items()
        if all(verdict.passed for verdict in verdicts)
    ]
    met = f"All five are met by: {'; '.join(good)}." if good else "No measure meets all five."
    return Group(Text(_BEFORE), worlds_table(found), Text(f"{met} {hint}".strip()))


def worlds_table(found: WorldsTable) -> Table:
    """Return a line for each measure: which of D1 to D5 it meets.

    Two scores stand beside the verdicts: the mean where the record is certain to be disclosed, and
    the score without a release, which a measure that is to be trusted exceeds there.
    """
    meanings = [f"{name} {meaning}" for name, meaning in DESIDERATA.items()]
    table = Table(
        title="What each measure says about a record that is known to be disclosed",
        title_justify="left",
        header_style="bold",
        caption="\n".join([*meanings, "(yes) only because the score never changes"]),
        caption_justify="left",
    )
    table.add_column("measure")
    table.add_column("without", justify="right")
    table.add_column("disclosed", justify="right")
    for name in DESIDERATA:
        table.add_column(name, justify="center")
    for measure in found.verdicts:
        marks = [Text(word, style=_STYLES[word]) for word in found.words(measure)]
        disclosed = found.by_world[measure]["present"].mean()
        table.add_row(measure.label, f"{measure.baseline:.3f}", f"{disclosed:.3f}", *marks)
    return table


def write_worlds(
    path: str | Path, found: WorldsTable, settings: Mapping[str, Any], *, overwrite: bool = False
) -> Path:
    """Write for each measure its verdicts and its scores in each world; whole or not at all."""
    measures = [
        {
            "measure": measure.name,
            "about": measure.about,
            "meaning": measure.meaning,
            "baseline": measure.baseline,
            "maximum": measure.maximum,
            "verdicts": {
                verdict.desideratum: {"passed": verdict.passed, "why": verdict.why}
                for verdict in verdicts
            },
            "scores": {world: scores.tolist() for world, scores in found.by_world[measure].items()},
        }
        for measure, verdicts in found.verdicts.items()
    ]
    content = {
        "format": FORMAT,
        "version": VERSION,
        "understudy": __version__,
        "settings": dict(settings),
        "desiderata": DESIDERATA,
        "measures": to_plain(measures),
    }
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1)
    return write_bytes(text.encode(), path, overwrite=overwrite)
