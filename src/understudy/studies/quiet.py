"""Work that is part of a study does not report for itself."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from understudy.progress import Description, Item, reporting


@contextmanager
def quietly() -> Iterator[None]:
    """Show no progress and no warnings of what runs inside the block.

    A study repeats the same work hundreds of times, on data that are known: a progress bar for each
    part of it, and the same warning each time, would say nothing and fill the screen.
    """
    log = logging.getLogger("understudy")

    def refuse(_: logging.LogRecord) -> bool:
        return False

    log.addFilter(refuse)
    try:
        with reporting(_Silent()):
            yield
    finally:
        log.removeFilter(refuse)


class _Silent:
    """Shows no progress."""

    def track(
        self,
        items: Iterable[Item],
        description: Description,  # noqa: ARG002  # of the protocol
        total: float | None,  # noqa: ARG002  # of the protocol
    ) -> Iterable[Item]:
        """Return `items` as they are."""
        return items
