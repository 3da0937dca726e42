"""Where the names of dots are written, so that none lies on another or on a dot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_LETTER = 7.2
"""Pixels of a letter, on average."""

_HEIGHT = 15
_DOT = 8
"""Pixels from the middle of a dot to its edge."""

_GAP = 4


@dataclass(frozen=True)
class Label:
    """A name at a dot: its number, how far off it starts in pixels, and to which side it goes."""

    dot: int
    dx: float
    dy: float
    align: str


@dataclass(frozen=True)
class _Box:
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: _Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def place_labels(
    names: Sequence[str], dots: Sequence[tuple[float, float]], width: float, height: float
) -> tuple[Label, ...]:
    """Return where each name is written; names for which there is no room are left out.

    Parameters
    ----------
    names : sequence of str
        Those that come first get the better places.
    dots : sequence of (float, float)
        Where the dots are, in pixels from the upper left corner.
    width, height : float
        Of the drawing, in pixels.

    Examples
    --------
    >>> place_labels(["a", "b"], [(50, 50), (50, 50)], 100, 100)
    (Label(dot=0, dx=0, dy=-17.5, align='center'), Label(dot=1, dx=0, dy=17.5, align='center'))
    """
    taken = [_Box(x - _DOT, y - _DOT, x + _DOT, y + _DOT) for x, y in dots]
    found = []
    for dot, (name, (x, y)) in enumerate(zip(names, dots, strict=True)):
        for label in _choices(dot):
            box = _box(label, x, y, _LETTER * len(name))
            inside = box.left >= 0 and box.top >= 0 and box.right <= width and box.bottom <= height
            if inside and not any(box.meets(other) for other in taken):
                taken.append(box)
                found.append(label)
                break
    return tuple(found)


def _choices(dot: int) -> Iterator[Label]:
    """Yield where a name could be: above its dot, below it, and at its sides."""
    up, aside = _DOT + 2 + _HEIGHT / 2, _DOT + _GAP
    yield Label(dot, 0, -up, "center")
    yield Label(dot, 0, up, "center")
    for dy in (0.0, -up, up):
        yield Label(dot, aside, dy, "left")
        yield Label(dot, -aside, dy, "right")


def _box(label: Label, x: float, y: float, width: float) -> _Box:
    middle = y + label.dy
    start = x + label.dx - {"left": 0.0, "center": width / 2, "right": width}[label.align]
    return _Box(start, middle - _HEIGHT / 2, start + width, middle + _HEIGHT / 2)
