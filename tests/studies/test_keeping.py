"""Answers of long runs that are kept in a file."""

from __future__ import annotations

import json

import pytest

from studies.keeping import kept_or_made

ASKED = [{"table": "a", "seed": 0}, {"table": "a", "seed": 1}, {"seed": 0, "table": "b"}]


def squares(asked, made):
    """Return what makes answers, and notes for which places it did."""

    def make(places):
        for place in places:
            made.append(place)
            yield {"answer": [place**2, float("nan")]}

    return make


def test_only_what_is_not_kept_is_made(tmp_path):
    file, made = tmp_path / "kept.jsonl", []
    first = kept_or_made(file, ASKED[:2], squares(ASKED[:2], made))
    again = kept_or_made(file, ASKED, squares(ASKED, made))
    assert made == [0, 1, 2]
    assert [one["answer"][0] for one in first] == [0, 1]
    assert [one["answer"][0] for one in again] == [0, 1, 4]


def test_without_a_file_all_is_made(tmp_path):
    made = []
    kept_or_made(None, ASKED, squares(ASKED, made))
    kept_or_made(None, ASKED, squares(ASKED, made))
    assert made == [0, 1, 2] * 2
    assert list(tmp_path.iterdir()) == []


def test_what_an_interrupted_run_finished_is_kept(tmp_path):
    file = tmp_path / "kept.jsonl"

    def make(places):
        yield "first"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kept_or_made(file, ASKED, make)
    # The next line was being written when the run was killed.
    file.write_text(file.read_text("utf-8") + '{"name": {"tab', "utf-8")
    made = []
    found = kept_or_made(file, ASKED, squares(ASKED, made))
    assert (found[0], made) == ("first", [1, 2])
    assert [json.loads(line)["name"] for line in file.read_text("utf-8").splitlines()] == ASKED
