"""How many threads multiply matrices: one, for more wait for each other, and round otherwise.

The threads of a library for linear algebra spin while they wait. For matrices as small as ours, on
a machine that does other things as well, that takes many times as long as the work.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


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
    with _libraries(len(sys.modules)).limit(limits=1):
        yield


@lru_cache(maxsize=1)
def _libraries(_: int) -> ThreadpoolController:
    """Return the libraries that have threads, looked for again once more modules are imported.

    The search goes through all libraries of the process, and takes milliseconds.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
