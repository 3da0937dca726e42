"""Results in plain values for programs, and in percent for people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from understudy.risk.references import Baseline


def to_plain(value: Any) -> Any:  # noqa: ANN401  # whatever a result holds
    """Return a value as JSON knows it: nan is None, and a result a mapping of its public fields.

    Examples
    --------
    >>> to_plain({"share": float("nan"), "rows": (np.int64(1), 2)})
    {'share': None, 'rows': [1, 2]}
    """
    if isinstance(value, Baseline):
        return value.to_dict()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): to_plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if is_dataclass(value):
        names = [item.name for item in fields(value) if not item.name.startswith("_")]
        return {name: to_plain(getattr(value, name)) for name in names}
    return value


def percent(share: float, digits: int = 1) -> str:
    """Return a share of records in percent, for a sentence.

    Examples
    --------
    >>> percent(0.4271), percent(float("nan"))
    ('42.7 %', 'an unknown share')
    """
    return "an unknown share" if math.isnan(share) else f"{100 * share:.{digits}f} %"
