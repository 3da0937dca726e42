"""Work for other processes, and its results in order."""

from __future__ import annotations

import multiprocessing
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar

from understudy.errors import ParameterError

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

    Parameters
    ----------
    function : callable
        What is done with each job.
    jobs : iterable
        The jobs, taken as they are needed.
    processes : int
        How many run at the same time; with 1, everything runs here.
    must_travel : object
        What may be impossible to send to other processes; this is tried first.
    prepare, given : callable and tuple
        What each other process calls once before its first job, and with what.

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
    with ProcessPoolExecutor(
        processes, mp_context=context, initializer=prepare, initargs=given
    ) as pool:
        yield _in_order(pool, function, jobs, AHEAD * processes)


def _in_order(
    pool: ProcessPoolExecutor,
    function: Callable[[Task], Outcome],
    jobs: Iterable[Task],
    window: int,
) -> Iterator[Outcome]:
    waiting: deque[Future[Outcome]] = deque()
    try:
        for job in jobs:
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
