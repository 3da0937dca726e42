"""Memory that a table needs and that there is: asked before it is read, since a library may abort.

Polars ends the whole process where it cannot have the memory that it asks for, with no error that
Python could catch.
"""

from __future__ import annotations

import os
from pathlib import Path

from understudy.errors import DataError

TIMES_IN_MEMORY = 3
"""How many times the bytes of a file its table takes, about, with the copies that are made."""
TIMES_IN_ADDRESSES = 12
"""The same for addresses, of which allocators and threads take more than they use."""

_CGROUP = Path("/sys/fs/cgroup")


def check_memory(path: Path) -> None:
    """Raise if a table is far too large for the memory that this process may have.

    Raises
    ------
    DataError
        With what it needs, and what there is.
    """
    size = path.stat().st_size
    for times, free in ((TIMES_IN_MEMORY, _free()), (TIMES_IN_ADDRESSES, _free_addresses())):
        if free is not None and times * size > free:
            raise DataError(
                f"{path} needs about {_in_words(times * size)} of memory, and this program can "
                f"have {_in_words(free)}. Read it in batches, leave out columns, or take a sample "
                "of its records."
            )


def _in_words(size: float) -> str:
    return f"{size / 2**30:.1f} GB" if size >= 2**30 else f"{max(size, 0) / 2**20:.0f} MB"


def _free() -> int | None:
    """Return the bytes that the machine and the container have left; None if that is unknown."""
    found = [_of_machine(), _of_container()]
    return min((free for free in found if free is not None), default=None)


def _of_machine() -> int | None:
    for line in _lines(Path("/proc/meminfo")):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _of_container() -> int | None:
    limit, used = (_lines(_CGROUP / name) for name in ("memory.max", "memory.current"))
    if not limit or not used or not limit[0].isdecimal():
        return None
    return int(limit[0]) - int(used[0])


def _free_addresses() -> int | None:
    """Return how many more bytes the process may map (ulimit -v); None if there is no limit."""
    limit = _address_limit()
    for line in _lines(Path("/proc/self/status")) if limit is not None else ():
        if line.startswith("VmSize:"):
            return (limit or 0) - int(line.split()[1]) * 1024
    return limit


def _address_limit() -> int | None:
    """Return how many bytes the process may map in all; None if there is no limit."""
    if os.name != "posix":
        return None
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []
