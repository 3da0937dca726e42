"""Names at dots: none on another, none on a dot, none outside."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from understudy.charts.labels import place_labels

WIDTH, HEIGHT = 400, 300
PLACES = st.tuples(st.floats(0, WIDTH), st.floats(0, HEIGHT))


def boxes(labels, names, dots):
    """Left, top, right and bottom of each name, with letters of 7 pixels and lines of 15."""
    for label in labels:
        x, y = dots[label.dot]
        width = 7 * len(names[label.dot])
        left = x + label.dx - {"left": 0, "center": width / 2, "right": width}[label.align]
        yield left, y + label.dy - 7.5, left + width, y + label.dy + 7.5


@given(st.lists(st.tuples(st.text("abc", min_size=1, max_size=20), PLACES), max_size=40))
def test_no_name_lies_on_another_or_on_a_dot(drawn):
    names, dots = [name for name, _ in drawn], [dot for _, dot in drawn]
    labels = place_labels(names, dots, WIDTH, HEIGHT)
    assert len({label.dot for label in labels}) == len(labels)
    found = list(boxes(labels, names, dots))
    for one, other in combinations(found, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
    for left, top, right, bottom in found:
        assert left >= -0.01
        assert top >= -0.01
        assert right <= WIDTH + 0.01
        assert bottom <= HEIGHT + 0.01
        assert not any(left < x < right and top < y < bottom for x, y in dots)


def test_a_name_with_room_is_above_its_dot():
    names, dots = ["a", "b"], [(100, 100), (300, 200)]
    assert [(label.dx, label.align) for label in place_labels(names, dots, 400, 300)] == [
        (0, "center"),
        (0, "center"),
    ]


def test_names_of_one_place_go_to_different_sides():
    labels = place_labels(["one"] * 3, [(200, 150)] * 3, 400, 300)
    assert [(label.align, label.dy < 0) for label in labels] == [
        ("center", True),
        ("center", False),
        ("left", False),
    ]


def test_a_name_without_room_is_left_out():
    assert place_labels(["a long name"], [(10, 10)], 20, 20) == ()
