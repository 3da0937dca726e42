"""What an audit of privacy found, as a file for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from understudy._version import __version__
from understudy.data.files import write_bytes
from understudy.results import to_plain
from understudy.risk.privacy_audit import PrivacyAudit

FORMAT = "understudy privacy audit"
VERSION = 1


def write_privacy_audit(
    path: str | Path, found: PrivacyAudit, settings: Mapping[str, Any], *, overwrite: bool = False
) -> Path:
    """Write an audit of privacy to a JSON file.

    Parameters
    ----------
    path : str or Path
        The file.
    found : PrivacyAudit
        What was found.
    settings : mapping
        How it was asked for.
    overwrite : bool
        Whether an existing file may be replaced.
    """
    content = {
        "format": FORMAT,
        "version": VERSION,
        "understudy": __version__,
        "settings": to_plain(dict(settings)),
        **found.to_dict(),
    }
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1)
    return write_bytes(text.encode(), path, overwrite=overwrite)
