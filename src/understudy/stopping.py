"""Ctrl-C and SIGTERM: the work ends within a second, and leaves nothing half done behind.

Python runs its own handler of a signal only between two steps of its own. A kernel or a library
that computes for minutes would keep it waiting. So a thread of `stoppable` waits for the signal,
too: if the work has not ended by itself soon after it, the thread calls what was registered with
`ended_with` (temporary files go, other processes end) and ends the process.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

PATIENCE = 0.3
"""Seconds after a signal until the work must have heard of it, or is ended."""

TIME_TO_TIDY = 0.5
"""Further seconds that work which has heard of it has to end by itself."""

LONGEST_EXCHANGE = 5.0
"""Seconds that the end waits for what must be done whole, such as two files changing places."""

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(BaseException):  # no error, as KeyboardInterrupt is none
    """The user asked to stop. Click would take KeyboardInterrupt for itself."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__(number)
        self.number = number

    @property
    def exit_code(self) -> int:
        """What a shell expects of a process that a signal ends: 130 after Ctrl-C."""
        return 128 + self.number


class _State:
    """What the handler of signals and the thread share; there is one process to stop."""

    def __init__(self) -> None:
        self.asked: int | None = None
        self.depth = 0
        self.blocks = 0
        self.whole = threading.Lock()
        self.endings: dict[object, Callable[[], object]] = {}


_state = _State()


@contextmanager
def ended_with(end: Callable[[], object]) -> Iterator[None]:
    """Have `end` called if the process is stopped inside the block and does not leave it in time.

    It is called from another thread, and must not wait for the one that is inside.
    """
    key = object()
    _state.endings[key] = end
    try:
        yield
    finally:
        _state.endings.pop(key, None)


@contextmanager
def whole() -> Iterator[None]:
    """Put off a signal while something short is done that must be done as a whole."""
    with _state.whole:
        _state.depth += 1
        try:
            yield
        finally:
            _state.depth -= 1
    if _state.asked is not None:
        raise Stopped(_state.asked)


@contextmanager
def stoppable(tell: Callable[[], object]) -> Iterator[None]:
    """Let signals end the block with `Stopped`, or the process if it does not end in time.

    Parameters
    ----------
    tell : callable
        Says that the work was stopped, if the process has to be ended.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread hears signals
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    awake, waker = socket.socketpair()
    waker.setblocking(False)
    done = threading.Event()
    watch = threading.Thread(target=_watch, args=(awake, done, tell), daemon=True)
    former = signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # as nohup asks
            signal.signal(number, _ask)
    watch.start()
    _state.blocks += 1
    try:
        yield
    finally:
        _state.blocks -= 1
        done.set()
        signal.set_wakeup_fd(former)
        for number, handler in before.items():
            signal.signal(number, handler)
        waker.close()
        watch.join(1)
        awake.close()
        _state.asked = None


def once(tell: Callable[[], object]) -> Callable[[], None]:
    """Return what tells the first time only; another thread waits until that is done."""
    telling, told = threading.Lock(), threading.Event()

    def tell_first() -> None:
        with telling:
            if not told.is_set():
                told.set()
                tell()

    return tell_first


def stopped_by(interrupt: KeyboardInterrupt) -> BaseException:
    """Return what an interrupt is to be passed on as: `Stopped` inside `stoppable`, else itself."""
    return Stopped() if _state.blocks else interrupt


def asked() -> Stopped | None:
    """Return the stop that was asked for, if one was.

    A library that is interrupted may raise an error of its own, such as `ImportError`.
    """
    return None if _state.asked is None else Stopped(_state.asked)


def leave(code: int) -> NoReturn:
    """End the process, without waiting for threads that still compute."""
    others = [one for one in threading.enumerate() if not one.daemon]
    if len(others) > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _ask(number: int, _: FrameType | None) -> None:
    """Raise `Stopped` at once, or after what must be done whole; the second time, do nothing."""
    if _state.asked is not None:
        return
    _state.asked = number
    if not _state.depth:
        raise Stopped(number)


def _watch(awake: socket.socket, done: threading.Event, tell: Callable[[], object]) -> None:
    """Wait for a signal, then for the end of the work; then end the process."""
    while signals := _received(awake):
        number = next((one for one in signals if one in SIGNALS), None)
        if number is None:
            continue
        if not done.wait(PATIENCE) and not (_state.asked and done.wait(TIME_TO_TIDY)):
            _end(number, tell)
        return


def _received(awake: socket.socket) -> bytes:
    """Return the numbers of signals, as Python writes them; nothing at the end."""
    try:
        return awake.recv(64)
    except OSError:
        return b""


def _end(number: int, tell: Callable[[], object]) -> None:
    _state.whole.acquire(timeout=LONGEST_EXCHANGE)
    for end in reversed(list(_state.endings.values())):
        with contextlib.suppress(Exception):
            end()
    with contextlib.suppress(Exception):
        tell()
        sys.stderr.flush()
    os._exit(128 + number)
