"""Engines: every statistic is a sum over batches of rows, and an engine is what adds them up."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

from understudy.data.coded import Coded
from understudy.data.spark_table import SparkCoded
from understudy.errors import DataError, ParameterError
from understudy.progress import track


class BatchSource(Protocol):
    """A table that comes in batches, because it does not fit in memory or lives elsewhere."""

    def coded_batches(self) -> Iterator[Coded]:
        """Return a new pass over the batches.

        All batches have the same names and cardinalities. There is at least one; an empty table
        is one batch without rows.
        """
        ...


Source: TypeAlias = Coded | BatchSource


class Addable(Protocol):
    """A partial result: two of them add up to the result of the rows of both."""

    def __add__(self, other: Any, /) -> Any: ...  # noqa: ANN401


Partial = TypeVar("Partial", bound=Addable)
Item = TypeVar("Item")
Result = TypeVar("Result")


class Engine(Protocol):
    """Runs kernels over the batches of a source, wherever these are."""

    @property
    def threads(self) -> int:
        """Threads that a kernel may use for itself when the source is a single batch."""
        ...

    def sum_over(self, source: Source, kernel: Callable[[Coded], Partial]) -> Partial:
        """Return the sum of `kernel(batch)` over all batches, added in their order."""
        ...

    def write_over(
        self,
        plan: Sequence[Item],
        kernel: Callable[[Item], Result],
        sink: Callable[[Result], object],
    ) -> None:
        """Give `kernel(item)` of every item of the plan to `sink`, in the order of the plan."""
        ...


def added(partials: Iterable[Partial]) -> Partial:
    """Return the sum of partial results, in their order."""
    total: Partial | None = None
    for partial in partials:
        total = partial if total is None else total + partial
    if total is None:
        raise DataError("The source has no batches, so its columns are unknown.")
    return total


@dataclass(frozen=True)
class LocalEngine:
    """The engine of this machine: tables in memory, or streamed batch by batch.

    Results do not depend on the number of threads or the size of the batches.

    Parameters
    ----------
    threads : int, default 1
        How many batches are worked on at once. At most one more waits for its turn, so memory
        stays bounded.

    Examples
    --------
    >>> table = Coded.from_arrays({"sex": [0, 1, 1]})
    >>> LocalEngine().sum_over(table, len)
    3
    """

    threads: int = 1

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise ParameterError(f"`threads` must be at least 1; got {self.threads}.")

    def sum_over(self, source: Source, kernel: Callable[[Coded], Partial]) -> Partial:
        """Return the sum of `kernel(batch)` over all batches, added in their order.

        Parameters
        ----------
        source : Coded or BatchSource
            The table; a `Coded` is a single batch.
        kernel : callable
            Turns a batch into a partial result. With threads, it is called from several at once.

        Returns
        -------
        object
            What the kernel returns, summed.
        """
        if isinstance(source, Coded):
            return kernel(source)
        batches = track(_alike(source.coded_batches()), "Counting")
        with closing(in_order(kernel, batches, self.threads)) as partials:
            return added(partials)

    def write_over(
        self,
        plan: Sequence[Item],
        kernel: Callable[[Item], Result],
        sink: Callable[[Result], object],
    ) -> None:
        """Give `kernel(item)` of every item of the plan to `sink`, in the order of the plan.

        Parameters
        ----------
        plan : sequence
            The work items, such as ranges of rows.
        kernel : callable
            Turns an item into a batch. With threads, it runs ahead of the sink, boundedly.
        sink : callable
            Takes each batch; always called from the calling thread.
        """
        with closing(in_order(kernel, track(plan, "Sampling"), self.threads)) as results:
            for result in results:
                sink(result)


@dataclass(frozen=True)
class SparkEngine(LocalEngine):
    """The engine of a Spark cluster: its machines sum over their partitions, this one adds up.

    Sums are of whole numbers, or of floats that are exact in any order, so that the result is the
    same to the bit as on one machine. What is in memory here, it works on as `LocalEngine` does.
    """

    def sum_over(self, source: Source, kernel: Callable[[Coded], Partial]) -> Partial:
        """Return the sum of `kernel(batch)` over all batches."""
        if not isinstance(source, SparkCoded):
            return super().sum_over(source, kernel)
        partials: Iterator[Partial] = source.summed(kernel)
        return added(track(partials, "Counting"))


def engine_for(source: Source, threads: int = 1) -> Engine:
    """Return the engine of a table: that of the cluster where it lives, or of this machine."""
    if isinstance(source, SparkCoded):
        return SparkEngine(threads)
    return LocalEngine(threads)


def threads_within(engine: Engine, source: Source) -> int:
    """Return the threads that a kernel may use: all for a single batch, one where batches share."""
    return engine.threads if isinstance(source, Coded) else 1


def _alike(batches: Iterator[Coded]) -> Iterator[Coded]:
    """Yield the batches, refusing one whose columns differ from the first one's."""
    first: Coded | None = None
    for number, batch in enumerate(batches):
        first = batch if first is None else first
        if batch.names != first.names or batch.cardinalities != first.cardinalities:
            raise DataError(
                f"Batch {number} has other columns or cardinalities than the first batch: "
                f"{dict(zip(batch.names, batch.cardinalities, strict=True))} instead of "
                f"{dict(zip(first.names, first.cardinalities, strict=True))}."
            )
        yield batch


def in_order(
    kernel: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Generator[Result]:
    """Yield `kernel(item)` in order, worked out by `threads` threads that run ahead boundedly."""
    if threads == 1:
        yield from map(kernel, items)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(pool.submit(kernel, item))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
