"""Progress is silent until someone listens, and then counts what is taken."""

from __future__ import annotations

import pytest

from understudy.progress import reporting, track


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
