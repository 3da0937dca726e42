"""Parameters that name columns, for a part of a panel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from understudy.synthesis.panel.parts import Part
from understudy.synthesis.settings import OTHERS, PerColumn

Setting = TypeVar("Setting")


def settings_for(setting: PerColumn[Setting], part: Part) -> PerColumn[Setting]:
    """Return a setting that may differ by column without the columns that a part does not draw.

    Examples
    --------
    >>> from understudy.data import Codec
    >>> import polars as pl
    >>> part = Part(Codec.fit(pl.DataFrame({"age": [31, 45]})))
    >>> settings_for({"age": 10, "sex": 20, "*": 7}, part)
    {'age': 10, '*': 7}
    """
    if not isinstance(setting, Mapping):
        return setting
    found = {}
    for name, own in setting.items():
        drawn = name if name == OTHERS else part.drawing(name)
        if drawn is not None:
            found[drawn] = own
    return found


def protection_for(
    protect: Mapping[str, str | None] | None, part: Part
) -> dict[str, str | None] | None:
    """Return the targets of the protected columns that a part draws."""
    if not protect:
        return None
    return {
        name: target if target in part.names else None
        for name, target in protect.items()
        if name in part.drawn
    }
