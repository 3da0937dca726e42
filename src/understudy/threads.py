"""How many threads multiply matrices: one, for more wait for each other, and round otherwise.

The threads of a library for linear algebra spin while they wait. For matrices as small as ours, on
a machine that does other things as well, that takes many times as long as the work.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """Multiply matrices and train models on one thread; around a block, or a function.

    Examples
    --------
    >>> @one_thread()
    ... def work():
    ...     from threadpoolctl import threadpool_info
    ...     return {library["num_threads"] for library in threadpool_info()}
    >>> import numpy
    >>> work()
    {1}
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield
