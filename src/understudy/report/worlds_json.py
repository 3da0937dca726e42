"""The table of measures against the desiderata as a file that programs read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from understudy._version import __version__
from understudy.data.files import write_bytes
from understudy.results import to_plain
from understudy.worlds.desiderata import DESIDERATA
from understudy.worlds.table import WorldsTable

FORMAT = "understudy worlds"
VERSION = 1


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
