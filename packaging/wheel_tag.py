"""Say of a wheel for which Python and which platform it is, if it has compiled kernels.

Kernels that were compiled for one are of no use to another. A wheel without them is for all.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMPILED = Path("src", "understudy", "compiled")


class WheelTag(BuildHookInterface):  # type: ignore[misc,type-arg]  # Hatchling is not typed here
    """What Hatchling asks before it builds a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Take the tag of this Python and this platform if there are compiled kernels."""
        folder = Path(self.root, COMPILED)
        if version != "editable" and any(path.is_file() for path in folder.rglob("*")):
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
