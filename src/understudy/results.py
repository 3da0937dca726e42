"""What all results share: plain values for programs, frames of the caller's kind, notebooks."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields, is_dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from understudy.charts import number_line as charts
from understudy.data.frames import Backend, Frame, to_backend

SHOWN_ROWS = 20
"""Rows of a result's table that a notebook shows."""


def to_plain(value: Any) -> Any:  # noqa: ANN401  # whatever a result holds
    """Return a value as JSON knows it: nan is None, and a result a mapping of its public fields.

    Examples
    --------
    >>> to_plain({"share": float("nan"), "rows": (np.int64(1), 2)})
    {'share': None, 'rows': [1, 2]}
    """
    if isinstance(value, float) and hasattr(value, "to_dict"):
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


@dataclass(frozen=True)
class Line:
    """One measure beside what it is compared with; shares of records, nan where there is none.

    Parameters
    ----------
    measure, meaning : str
        Its name, and what is counted, in words.
    baseline : float
        Without the release.
    synthetic : float
        With it.
    original : float
        With the original data themselves.
    control : float
        With the release, for people who are not in the data.
    gain : float
        What the release adds to the baseline.
    """

    measure: str
    meaning: str
    baseline: float = math.nan
    synthetic: float = math.nan
    original: float = math.nan
    control: float = math.nan
    gain: float = math.nan

    def drawn(self) -> charts.Line:
        """Return the line of a chart."""
        roles = ("baseline", "synthetic", "original", "control")
        values = {role: getattr(self, role) for role in roles}
        return charts.Line(self.measure, self.meaning, values)


@dataclass(frozen=True, eq=False)
class Result:
    """A result of a measure: it gives frames of the kind that went in, and shows itself.

    A subclass has `summary()`, and `to_frame(backend=None)` that ends in `self._framed(...)`.
    `SERIES` says what the roles of its number line are called, and `AXIS` what it shows.
    """

    SERIES: ClassVar[Mapping[str, str]] = {
        "baseline": "Without the release",
        "synthetic": "With the release",
        "original": "With the original data",
        "control": "People who are not in the data",
    }
    AXIS: ClassVar[str] = "Share of people"

    _: KW_ONLY
    _backend: Backend = field(default="polars", repr=False)

    def _framed(self, content: Any, backend: Backend | None) -> Any:  # noqa: ANN401
        """Return a table, or what polars makes one of, in the kind asked for or that went in."""
        return to_backend(pl.DataFrame(content), self._backend if backend is None else backend)

    def lines(self) -> Iterable[Line]:
        """Return the measures beside their references; none unless a subclass says so."""
        return ()

    def to_frame(self, *, backend: Backend | None = "polars") -> Frame:
        """Return the result as a table."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return all but the single records as plain values, with None for nan."""
        plain: dict[str, Any] = to_plain(self)
        return plain

    def summary(self) -> str:
        """Return the result in a few sentences."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        """Return the number line and the table, for notebooks."""
        drawn = draw_number_line(type(self).__name__, self.lines(), self.SERIES, self.AXIS)
        text = f"<p>{html.escape(str(self))}</p>"
        return f"<div>{text}{drawn}{html_table(self.to_frame(backend='polars'))}</div>"


def draw_number_line(
    title: str,
    lines: Iterable[Line],
    series: Mapping[str, str] = Result.SERIES,
    axis: str = Result.AXIS,
) -> str:
    """Return the number line as a drawing that stands by itself; empty if there is no line."""
    words = charts.Words("result", title, "", "Measure", axis)
    chart = charts.number_line(words, [line.drawn() for line in lines], series)
    if chart is None:
        return ""
    import vl_convert as vlc

    return str(vlc.vegalite_to_svg(chart.for_picture()))


def html_table(frame: Any, most: int = SHOWN_ROWS) -> str:  # noqa: ANN401  # a polars frame
    """Return the first rows of a table as HTML; every value is escaped.

    Examples
    --------
    >>> import polars as pl
    >>> html_table(pl.DataFrame({"a<b": [1.23456]}))
    '<table><thead><tr><th>a&lt;b</th></tr></thead><tbody><tr><td>1.235</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{html.escape(name)}</th>" for name in frame.columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{html.escape(_cell(value))}</td>' for value in row)}</tr>"
        for row in frame.head(most).iter_rows()
    )
    more = f"<p>and {frame.height - most:,} more rows</p>" if frame.height > most else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
