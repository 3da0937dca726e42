"""Special values that a file declares itself: codes in a column of numbers that are no amounts.

SPSS and Stata files say which codes stand for "refused" or "don't know". A frame has no place for
that, so it is kept beside it: polars gets an attribute, pandas its `attrs`, Arrow its metadata.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pyarrow as pa

from understudy.data.frames import Frame

_NAME = "understudy_special_values"


def declare(frame: Frame, special: Mapping[str, Sequence[float]]) -> Frame:
    """Return a frame with special values of its columns noted beside it.

    Examples
    --------
    >>> frame = declare(pl.DataFrame({"age": [31, 45, 99]}), {"age": [99]})
    >>> declared(frame)
    {'age': [99]}
    """
    if not special:
        return frame
    noted = {name: list(values) for name, values in special.items()}
    if isinstance(frame, pl.DataFrame):
        frame.__dict__[_NAME] = noted
        return frame
    if isinstance(frame, pa.Table):
        known = frame.schema.metadata or {}
        return frame.replace_schema_metadata({**known, _NAME: json.dumps(noted)})
    frame.attrs[_NAME] = noted
    return frame


def declared(frame: Any) -> dict[str, list[float]]:  # noqa: ANN401  # a frame or stream
    """Return the special values that were noted beside a frame, for the columns that it has."""
    if isinstance(frame, pa.Table):
        known = (frame.schema.metadata or {}).get(_NAME.encode())
        noted = json.loads(known) if known else {}
        names = set(frame.column_names)
    else:
        held = getattr(frame, "opened", frame)  # a stream may hold the whole table
        noted = getattr(held, "attrs", {}).get(_NAME) or getattr(held, _NAME, {})
        names = set(held.columns) if noted else set()
    return {name: list(values) for name, values in noted.items() if name in names}


def declare_like(frame: Frame, other: Frame) -> Frame:
    """Return a frame with the notes of another one, from which it was made."""
    return declare(frame, declared(other))
