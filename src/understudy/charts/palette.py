"""Colours of the report, for light and dark screens, and what all charts look like.

Charts name a colour by its role. In the page that is a variable of the stylesheet, so that a chart
follows the screen and the printer without being drawn again; in a picture it is the colour itself.
The hues are those of Okabe and Ito (2008), which people with any kind of colour vision tell apart.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

LIGHT: Mapping[str, str] = {
    "page": "#f4f5f7",
    "shade": "#b9c0ca",
    "card": "#ffffff",
    "soft": "#eef0f3",
    "ink": "#1a1f26",
    "muted": "#545d6b",
    "edge": "#d5d9e0",
    "grid": "#e6e9ee",
    "link": "#00598c",
    "baseline": "#6b7480",
    "synthetic": "#d55e00",
    "original": "#0072b2",
    "control": "#009e73",
    "node": "#dfe3e9",
    "node-text": "#1a1f26",
    "node-sensitive": "#f9b27c",
    "node-target": "#8fcaec",
    "low": "#00694c",
    "low-soft": "#dff3ec",
    "raised": "#835200",
    "raised-soft": "#fdf0d5",
    "high": "#a83a00",
    "high-soft": "#fde5d8",
    "unknown": "#4d5663",
    "unknown-soft": "#e8ebef",
    "heat-1": "#edf3f8",
    "heat-2": "#c9dfee",
    "heat-3": "#92c0df",
    "heat-4": "#4d97c6",
    "heat-5": "#0a68a3",
    "heat-6": "#003f66",
    "less-3": "#0a68a3",
    "less-2": "#6fabd2",
    "less-1": "#c9dfee",
    "same": "#f1f3f5",
    "more-1": "#fbd9b8",
    "more-2": "#f09a4f",
    "more-3": "#b84d00",
    "on-pale": "#1a1f26",
    "on-strong": "#ffffff",
}

DARK: Mapping[str, str] = {
    "page": "#12151a",
    "shade": "#4c5664",
    "card": "#1b2027",
    "soft": "#242a33",
    "ink": "#eceff3",
    "muted": "#aab3c0",
    "edge": "#39414d",
    "grid": "#2c333d",
    "link": "#7cc4ee",
    "baseline": "#97a1ae",
    "synthetic": "#f0882e",
    "original": "#56b4e9",
    "control": "#35c497",
    "node": "#3a434f",
    "node-text": "#f3f5f8",
    "node-sensitive": "#8f4a0c",
    "node-target": "#15608f",
    "low": "#6fdcb8",
    "low-soft": "#143329",
    "raised": "#f2c05a",
    "raised-soft": "#382c11",
    "high": "#ff9d66",
    "high-soft": "#41200f",
    "unknown": "#b6bfcb",
    "unknown-soft": "#2a313a",
    "heat-1": "#222a34",
    "heat-2": "#1f3f57",
    "heat-3": "#205a80",
    "heat-4": "#2f7fb0",
    "heat-5": "#6bb8e6",
    "heat-6": "#c4e5f9",
    "less-3": "#6bb8e6",
    "less-2": "#2f7fb0",
    "less-1": "#1f3f57",
    "same": "#262d36",
    "more-1": "#573516",
    "more-2": "#b0641c",
    "more-3": "#f5a55a",
    "on-pale": "#eceff3",
    "on-strong": "#12151a",
}

ROLES = ("baseline", "synthetic", "original", "control")
"""What a dot can stand for, in the order of legends."""

SHAPES: Mapping[str, str] = {
    "baseline": "square",
    "synthetic": "circle",
    "original": "diamond",
    "control": "triangle-up",
}

FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif'


COUNT = ",~f"
"""How numbers stand on an axis: 1,400. Without the type, ticks would be written as 1.4e+3."""


def colour(role: str) -> str:
    """Return how a chart names the colour of a role.

    Examples
    --------
    >>> colour("synthetic")
    'var(--synthetic)'
    """
    if role not in LIGHT:
        raise KeyError(role)
    return f"var(--{role})"


def in_light(specification: dict[str, Any]) -> dict[str, Any]:
    """Return a chart with the light colours in place of their names, to be drawn as a picture."""
    text = json.dumps(specification)
    for role, value in LIGHT.items():
        text = text.replace(colour(role), value)
    drawn: dict[str, Any] = json.loads(text)
    return drawn


CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": colour("muted"),
        "titleColor": colour("muted"),
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": 500,
        "titlePadding": 8,
        "domainColor": colour("edge"),
        "tickColor": colour("edge"),
        "gridColor": colour("grid"),
        "labelLimit": 150,
    },
    "legend": {
        "labelColor": colour("ink"),
        "titleColor": colour("muted"),
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": 500,
        "labelLimit": 260,
    },
    "text": {"color": colour("ink"), "fontSize": 12},
    "rule": {"color": colour("edge")},
    "header": {"labelColor": colour("ink"), "titleColor": colour("muted")},
}
