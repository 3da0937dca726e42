"""Progress of long work: the package reports it, and whoever shows it (the command line) listens.

A library call is silent unless a reporter is installed, so nothing is printed into notebooks or
pipelines that did not ask for it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

Item = TypeVar("Item")

Description = str | Callable[[], str]
"""What is going on; a function if that changes on the way."""


class Reporter(Protocol):
    """Shows progress: wraps an iterable and counts what is taken from it."""

    def track(
        self, items: Iterable[Item], description: Description, total: float | None
    ) -> Iterable[Item]:
        """Return `items`, counted as they are taken."""
        ...


_reporter: ContextVar[Reporter | None] = ContextVar("understudy_reporter", default=None)


@contextmanager
def reporting(reporter: Reporter | None) -> Iterator[None]:
    """Send the progress of everything inside the block to `reporter`; with None, to nobody."""
    token = _reporter.set(reporter)
    try:
        yield
    finally:
        _reporter.reset(token)


@contextmanager
def doing(description: str) -> Iterator[None]:
    """Say what goes on inside the block, which cannot be counted."""
    for _ in track([None], description, 1):
        yield


LATE = 1.0
"""Seconds after which what goes on inside a step gets a bar of its own."""


class _Late:
    """Shows only what takes long, from then on."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter

    def track(
        self, items: Iterable[Item], description: Description, total: float | None
    ) -> Iterator[Item]:
        begun, taken, rest = time.monotonic(), 0, iter(items)
        for item in rest:
            yield item
            taken += 1
            if time.monotonic() - begun > LATE:
                break
        else:
            return
        left = None if total is None else max(total - taken, 0)
        yield from self._reporter.track(rest, description, left)


@contextmanager
def inside_a_step() -> Iterator[None]:
    """Show the progress of what runs inside the block only where it takes long.

    For the steps of work that has a bar of its own: most end at once, and some take minutes.
    """
    outer = _reporter.get()
    with reporting(None if outer is None or isinstance(outer, _Late) else _Late(outer)):
        yield


@contextmanager
def quietly() -> Iterator[None]:
    """Show no progress and no warnings of what runs inside the block.

    For work that repeats a part hundreds of times: a progress bar for each, and the same warning
    each time, would say nothing and fill the screen.
    """
    log = logging.getLogger("understudy")

    def refuse(_: logging.LogRecord) -> bool:
        return False

    log.addFilter(refuse)
    try:
        with reporting(None):
            yield
    finally:
        log.removeFilter(refuse)


def track(
    items: Iterable[Item], description: Description, total: float | None = None
) -> Iterable[Item]:
    """Return `items`, counted by the reporter if there is one.

    A description that is a function is asked again after each item.

    Examples
    --------
    >>> list(track([1, 2], "counting"))
    [1, 2]
    """
    reporter = _reporter.get()
    if reporter is None:
        return items
    if total is None and isinstance(items, Sized):
        total = len(items)
    return reporter.track(items, description, total)
