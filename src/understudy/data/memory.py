"""Memory that a table needs and that there is: asked before it is read, since a library may abort.

Polars ends the whole process where it cannot have the memory that it asks for, with no error that
Python could catch.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

from understudy.errors import DataError

TIMES_IN_MEMORY = 3
"""How many times the bytes of a file its table takes, about, with the copies that are made."""
TIMES_IN_ADDRESSES = 20
"""The same for addresses, of which allocators and threads take more than they use."""

TIMES_AT_WORK, TIMES_PACKED = 12, 24
"""How many times the bytes of a file all the work on its table may take: about 7 for numbers in
text, 11 for texts that all differ, and 20 for numbers in Parquet, which is packed."""
TIMES_OF_COLUMN = 6
"""How many times its bytes a column takes whose values are counted one by one."""

_CGROUP, _OWN_GROUPS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
_NAMES = {
    "": ("memory.max", "memory.current", "inactive_file"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
"""What the second and the first version of control groups call the limit, what is used, and what of
that the kernel can take back at once."""


def check_memory(path: Path, *, packed: bool = False, quietly: bool = False) -> None:
    """Raise if a table is far too large for the memory that this process may have.

    If it may be too large, that is told: the system ends a program that takes too much, without a
    word. A table that is `packed` takes more than its file suggests.

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
    free, likely = _free(), (TIMES_PACKED if packed else TIMES_AT_WORK) * size
    if free is not None and likely > free and not quietly:
        logging.getLogger("understudy").warning(
            "%s may take %s of memory, and this program can have %s. If it is ended without a "
            "word, read it in batches, leave out columns, or take a sample of its records.",
            path,
            _in_words(likely),
            _in_words(free),
        )


def check_column(name: str, size: int) -> None:
    """Raise, or tell, if a column of so many bytes is too large to be held by itself.

    Of a table that is read in batches, only a column of very many different values is.
    """
    free = _free()
    if free is None or size * TIMES_OF_COLUMN <= free:
        return
    what = (
        f"Column {name!r} has very many different values, which take "
        f"{_in_words(size * TIMES_OF_COLUMN)} of memory to count"
    )
    if size * TIMES_IN_MEMORY > free:
        raise DataError(
            f"{what}, and this program can have {_in_words(free)}. Leave the column out, round its "
            "numbers, or take a sample of the records."
        )
    logging.getLogger("understudy").warning(
        "%s, about, and this program can have %s. If it is ended without a word, leave the column "
        "out, round its numbers, or take a sample of the records.",
        what,
        _in_words(free),
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
    """Return what the control groups of this process have left, the smallest; None for no limit."""
    found = []
    for line in _lines(_OWN_GROUPS):
        _, controllers, path = line.split(":", 2)
        for name in {*controllers.split(",")} & _NAMES.keys():
            root = _CGROUP / name
            own = root / path.strip("/")
            # A container sees its own group as the root, whatever it is called outside.
            groups = [one for one in (own, *own.parents) if one.is_relative_to(root)]
            found += [_left(one, *_NAMES[name]) for one in groups]
    return min((free for free in found if free is not None), default=None)


def _left(group: Path, limit: str, used: str, reclaimable: str) -> int | None:
    limits, uses = _lines(group / limit), _lines(group / used)
    if not limits or not uses or not limits[0].isdecimal():
        return None
    counts = dict(line.split() for line in _lines(group / "memory.stat"))
    return int(limits[0]) - int(uses[0]) + int(counts.get(reclaimable, 0))


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
