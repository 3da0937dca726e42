"""A message instead of a silent wait, when kernels are compiled on a new machine."""

from __future__ import annotations

import functools
import logging
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numba.core.event import Event

MESSAGE = (
    "understudy: preparing its counting kernels for this machine, once; "
    "this takes some seconds, and later runs start at once."
)

_said = threading.Event()
_asking = threading.Lock()


def _announce(event: Event) -> None:
    """Say once per process that a kernel of this package is being compiled."""
    details: dict[str, Any] = event.data
    if not details["dispatcher"].py_func.__module__.startswith("understudy."):
        return
    with _asking:
        if _said.is_set():
            return
        _said.set()
    logging.getLogger("understudy").warning(MESSAGE)


@functools.cache
def announce_compilation() -> None:
    """Tell the user when a kernel is compiled rather than loaded from the cache.

    Compiling takes seconds, loading milliseconds. Numba broadcasts the event "numba:compile" only
    for the former, so a second run on the same machine is silent.
    """
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Event) -> None:
            _announce(event)

        def on_end(self, event: Event) -> None:
            """Nothing to say: the work that waited goes on."""

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]
