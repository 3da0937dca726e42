"""Work here or in other processes, such as the training of one model for one set of keys."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import pickle
import signal
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from understudy.data.joint_coding import Levels
from understudy.errors import ParameterError
from understudy.learning.classifiers import Codes, Model, encode
from understudy.showing import reason
from understudy.stopping import ended_with
from understudy.threads import one_thread

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")

AHEAD = 2
"""Jobs that wait or run for each process: each holds its tables, so not all can wait at once."""


@contextmanager
def mapped(
    function: Callable[[Task], Outcome],
    jobs: Iterable[Task],
    processes: int,
    *,
    must_travel: object,
    prepare: Callable[..., None] | None = None,
    given: tuple[Any, ...] = (),
) -> Iterator[Iterator[Outcome]]:
    """Give the function's results for all jobs in order, as they are taken.

    With one process, everything runs here; others call `prepare` with `given` once before their
    first job. `must_travel` is what may be impossible to send to other processes, which is tried
    first.

    Raises
    ------
    ParameterError
        If something cannot be sent to other processes, or these cannot be started.
    """
    if processes == 1:
        yield map(function, jobs)
        return
    try:
        pickle.dumps(must_travel)
    except Exception as error:
        raise ParameterError(
            f"The models cannot be sent to other processes: {error}. Use processes=1."
        ) from error
    # A forked process would inherit the locks of polars' threads.
    context = multiprocessing.get_context("spawn")
    _start_tracker()
    pool = ProcessPoolExecutor(
        processes, mp_context=context, initializer=_begin, initargs=(prepare, given)
    )
    try:
        with ended_with(lambda: _kill(pool)):
            yield _in_order(pool, function, jobs, AHEAD * processes)
    except BaseException:
        # Nobody wants the other results: no process is left to compute them.
        _kill(pool)
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(prepare: Callable[..., None] | None, given: tuple[Any, ...]) -> None:
    """Start a process of a pool: it ends with the one that started it, and leaves Ctrl-C to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if prepare is not None:
        prepare(*given)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _start_tracker() -> None:
    """Start what tidies up after processes that were killed, and have it do so in silence."""
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = "ignore:resource_tracker:UserWarning"
    try:
        resource_tracker.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before


def _kill(pool: ProcessPoolExecutor) -> None:
    """End the processes of a pool, whatever they are doing."""
    # The pool has no other way before Python 3.14.
    for process in list((getattr(pool, "_processes", None) or {}).values()):
        process.kill()


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Keep Ctrl-C from processes that start inside the block: it is for the one that starts them.

    It would reach them before they can say so, and each would print where it was.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _in_order(
    pool: ProcessPoolExecutor,
    function: Callable[[Task], Outcome],
    jobs: Iterable[Task],
    window: int,
) -> Iterator[Outcome]:
    waiting: deque[Future[Outcome]] = deque()
    try:
        for job in jobs:
            with _without_interrupts():
                waiting.append(pool.submit(function, job))
            if len(waiting) == window:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise ParameterError(
            "The processes that train the models ended too early. Each of them reads your script "
            'again, so put what the script does under `if __name__ == "__main__":`. If it is there '
            "already, memory may have run out: use processes=1."
        ) from error


Guesses = NDArray[Any] | str
"""What a model guesses, or why it failed."""


@dataclass(frozen=True, eq=False)
class Job:
    """One model to train for one set of keys, and the records to guess."""

    model: Model
    keys: Codes
    truth: NDArray[Any]
    asked: Codes
    levels: tuple[Levels, ...]
    seed: int
    may_recur: bool = False
    """Whether attacks on other releases have the same job: it learns from the original."""

    def guesses(self) -> Guesses:
        """Return what the model guesses, or why it failed."""
        if not len(self.truth):
            return "there is no number to learn from"
        if (self.truth == self.truth[0]).all() or (self.keys == self.keys[0]).all():
            return np.full(len(self.asked), self._commonest())
        try:
            found = np.asarray(self._trained())
        except Exception as error:  # noqa: BLE001  # a user's model may raise anything
            return reason(error)
        if found.shape != (len(self.asked),):
            return f"it returned an array of shape {found.shape} for {len(self.asked)} records"
        if self._of_numbers:
            finite = found.dtype.kind in "fiu" and np.isfinite(found).all()
            return found if finite else "it guessed something that is not a number"
        known = np.isin(found, self.truth).all()
        return found.astype(np.int64) if known else "it guessed a level that it was not shown"

    @property
    def _of_numbers(self) -> bool:
        return self.truth.dtype.kind == "f"

    def _commonest(self) -> Any:  # noqa: ANN401  # a code or a number
        if self._of_numbers:
            return np.sort(self.truth)[(len(self.truth) - 1) // 2]
        return np.bincount(self.truth).argmax()

    def _trained(self) -> Any:  # noqa: ANN401  # whatever the model predicts
        from sklearn.exceptions import ConvergenceWarning

        shown, asked = encode(self.model.encoding, self.keys, self.asked, self.levels)
        model = self.model.new(self.seed, len(self.truth), self.levels)
        with one_thread(), warnings.catch_warnings():
            if self.model.is_ours:
                # The papers' settings, or a thousand steps: a fit that could be a little better is
                # an attacker like any other, and nothing that the user could mend.
                warnings.simplefilter("ignore", ConvergenceWarning)
            return model.fit(shown, self.truth).predict(asked)

    def content(self) -> bytes:
        """Return what tells this job from any other of the same model."""
        found = hashlib.blake2b(repr(self.seed).encode())
        for array in (self.keys, self.truth, self.asked):
            found.update(f"{array.dtype.str}{array.shape}".encode())
            found.update(np.ascontiguousarray(array).tobytes())
        for levels in self.levels:
            # Models see codes and numbers, never labels.
            found.update(repr((len(levels), levels.missing)).encode())
            found.update(b"" if levels.numbers is None else levels.numbers.tobytes())
        return found.digest()


@dataclass(eq=False)
class Remembered:
    """What models guessed that learnt from the original, for attacks on its other releases.

    A job is the same only if all that it is given is: the same records, in the same order, with
    the same levels. A release with levels of its own has jobs of its own.
    """

    _found: dict[tuple[Model, bytes], Guesses] = field(default_factory=dict)

    def guesses(self, job: Job) -> Guesses:
        """Return what the job's model guesses; it is trained once."""
        if not job.may_recur:
            return job.guesses()
        # The model itself is the key, so that none of the same place in memory can follow it.
        known = job.model, job.content()
        if known not in self._found:
            self._found[known] = job.guesses()
        return self._found[known]
