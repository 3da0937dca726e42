"""What runs quietly shows nothing, and what comes after it does."""

from __future__ import annotations

import logging

import pytest

from understudy.progress import quietly, reporting, track


class Bars:
    """Keeps what it is asked to show."""

    def __init__(self):
        self.shown = []

    def track(self, items, description, total):
        self.shown.append((description, total))
        return items


def test_bars_and_warnings_are_shown_again_afterwards(caplog):
    log = logging.getLogger("understudy")
    bars = Bars()
    with reporting(bars):
        with quietly():
            log.warning("inside")
            assert list(track([1, 2], "inside")) == [1, 2]
        log.warning("after")
        assert list(track([1, 2], "after")) == [1, 2]
    assert caplog.messages == ["after"]
    assert bars.shown == [("after", 2)]


def test_an_error_does_not_leave_it_quiet(caplog):
    with pytest.raises(ZeroDivisionError), quietly():
        raise ZeroDivisionError
    logging.getLogger("understudy").warning("after")
    assert caplog.messages == ["after"]
