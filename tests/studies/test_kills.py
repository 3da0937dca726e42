"""Commands that are killed."""

from __future__ import annotations

import pytest

from studies import kills


@pytest.mark.slow
def test_nine_kills(tmp_path):
    found = kills.run(9, tmp_path, seed=3)
    assert found.failures == []
    assert found.outcomes.total() == 9


@pytest.mark.long
def test_sixty_kills(tmp_path):
    assert kills.run(60, tmp_path).failures == []


@pytest.mark.parametrize(
    ("after", "killed", "told"),
    [
        ({"a.csv": "old"}, False, []),
        ({"a.csv": "other"}, False, ["a.csv is neither the old one nor a new one"]),
        ({}, False, ["a.csv is gone"]),
        ({"a.csv": "old", ".a.csv.understudy-1.part": "x"}, True, []),
        (
            {"a.csv": "old", ".a.csv.understudy-1.part": "x"},
            False,
            [".a.csv.understudy-1.part is left"],
        ),
    ],
)
def test_what_is_half(after, killed, told):
    assert list(kills._half({"a.csv": "old"}, after, killed)) == told
