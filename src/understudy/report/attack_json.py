"""The result of an attack as a file that programs read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from understudy._version import __version__
from understudy.data.files import write_bytes
from understudy.data.kinds.database import Address
from understudy.risk.overview import Overview
from understudy.risk.strong.result import StrongAttack

Place = Path | Address
FORMAT = "understudy attack"
VERSION = 1
_MATCHING = ("scenario", "attribution", "attackers", "disclosure")


def write_attack(
    path: str | Path,
    found: Overview | None,
    others: Mapping[str, Any],
    strong: StrongAttack | None,
    files: Mapping[str, Place | Sequence[Place] | None],
    settings: Mapping[str, Any],
    *,
    overwrite: bool = False,
) -> Path:
    """Write all results, rates as shares of 1 and null where undefined; whole or not at all.

    Attacks that were not made are null too, or absent from `others`, which are plain values by
    name. `files` and `settings` say what the results were made from.
    """
    matching = dict.fromkeys(_MATCHING) if found is None else found.to_dict()
    content = {
        "format": FORMAT,
        "version": VERSION,
        "understudy": __version__,
        "files": {name: _named(held) for name, held in files.items()},
        "settings": dict(settings),
        **matching,
        "others": dict(others),
        "strong": None if strong is None else strong.to_dict(),
    }
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1)
    return write_bytes(text.encode(), path, overwrite=overwrite)


def _named(held: Place | Sequence[Place] | None) -> str | list[str] | None:
    """Return the name of a file without its folder, or those of several."""
    if held is None or isinstance(held, Path | Address):
        return None if held is None else held.name
    return held[0].name if len(held) == 1 else [file.name for file in held]
