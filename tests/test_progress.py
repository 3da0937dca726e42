"""Progress is silent until someone listens, and then counts what is taken."""

from __future__ import annotations

import pytest

from understudy.progress import doing, inside_a_step, reporting, track


class Recorder:
    def __init__(self):
        self.calls = []
        self.taken = 0

    def track(self, items, description, total):
        self.calls.append((description, total))
        for item in items:
            self.taken += 1
            yield item


def test_without_a_reporter_the_items_are_returned_as_they_are():
    items = [1, 2]
    assert track(items, "counting") is items


@pytest.mark.parametrize(
    ("items", "total", "reported"),
    [([1, 2, 3], None, 3), (iter([1, 2, 3]), None, None), (iter([1, 2, 3]), 3, 3), ([1], 7, 7)],
)
def test_the_total_is_the_one_given_or_the_length(items, total, reported):
    recorder = Recorder()
    with reporting(recorder):
        taken = list(track(items, "counting", total))
    assert recorder.calls == [("counting", reported)]
    assert recorder.taken == len(taken)


def test_the_innermost_reporter_listens_and_none_after_the_block():
    outer, inner = Recorder(), Recorder()
    with reporting(outer):
        with reporting(inner):
            list(track([1], "inside"))
        list(track([1, 2], "outside"))
    list(track([1], "silent"))
    assert inner.calls == [("inside", 1)]
    assert outer.calls == [("outside", 2)]


def test_a_reporter_is_gone_after_an_error():
    recorder = Recorder()
    with pytest.raises(KeyboardInterrupt), reporting(recorder):
        raise KeyboardInterrupt
    list(track([1], "later"))
    assert recorder.calls == []


def test_inside_a_step_only_what_takes_long_is_shown(monkeypatch):
    outer = Recorder()
    with reporting(outer), inside_a_step():
        assert list(track([1, 2, 3], "quick")) == [1, 2, 3]
        assert not outer.calls
        monkeypatch.setattr("understudy.progress.LATE", -1.0)
        assert list(track([1, 2, 3], "slow")) == [1, 2, 3]
        assert list(track(iter([1, 2]), "endless")) == [1, 2]
    assert outer.calls == [("slow", 2), ("endless", None)]
    assert outer.taken == 3


def test_inside_a_step_of_a_step_nothing_is_late_twice(monkeypatch):
    monkeypatch.setattr("understudy.progress.LATE", -1.0)
    outer = Recorder()
    with reporting(outer), inside_a_step(), inside_a_step():
        assert list(track([1, 2], "deep")) == [1, 2]
    assert not outer.calls
    with inside_a_step():
        assert list(track([1], "nobody listens")) == [1]


def test_what_cannot_be_counted_is_said():
    recorder = Recorder()
    with reporting(recorder), doing("Reading"):
        pass
    assert recorder.calls == [("Reading", 1)]
    with pytest.raises(ValueError, match="no table"), reporting(recorder), doing("Reading"):
        raise ValueError("no table")
    with doing("nobody listens"):
        pass
