"""Outputs under way: hidden beside their place until they are whole; those of dead runs are swept.

A run holds a lock on what it is writing. The system lets go of it when the process ends, however
it ends. So what has our mark and no lock was left by a run that was killed.
"""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from understudy import stopping

_HAS_LOCKS = os.name == "posix"
"""Elsewhere, nobody can remove what another process has open."""

MARK = ".understudy-"
ENDING = ".part"
OLD = "old"
"""Where the former folder is while a new one takes its place."""

_LONGEST_NAME = 150
"""Bytes of a name that its temporary one repeats: names have a limit, mostly of 255."""

finished: list[Path] = []
"""The outputs that this process has put in their places, in order."""


@contextmanager
def under_way(path: Path, *, folder: bool = False) -> Iterator[Path]:
    """Give a temporary file or folder beside `path`, which is gone after the block.

    What earlier runs left here when they were killed is swept first. Whoever finishes renames the
    file, or what the folder holds, and says so with `note_finished`.

    Raises
    ------
    OSError
        If it cannot be made.
    """
    whole = path.resolve() if folder else path
    sweep(whole)
    temporary, handle = _made(whole, folder=folder)
    try:
        with stopping.ended_with(lambda: _remove(temporary)):
            yield temporary
    finally:
        with stopping.whole():  # a signal must not cut the tidying short
            if handle is not None:
                os.close(handle)
            _remove(temporary)


def note_finished(path: Path) -> None:
    """Remember that an output is in its place, unless it is part of one that is not."""
    if not any(parent.name.endswith(ENDING) for parent in path.parents):
        finished.append(path)


def sweep(path: Path) -> None:
    """Remove what killed runs left beside `path`; nothing that a running process has.

    Of other outputs in the folder only what has our mark is removed, of this one also what older
    versions called so. A folder that was about to be replaced comes back if nothing is in its
    place.
    """
    name = glob.escape(_begin(path))
    found = {*path.parent.glob(f".{name}.*{ENDING}"), *path.parent.glob(f".*{MARK}*{ENDING}")}
    for one in sorted(found):
        with contextlib.suppress(OSError):
            handle = os.open(one, os.O_RDONLY)
            try:
                if _lock(handle) == "ours":
                    _put_back(one)
                    _remove(one)
            finally:
                os.close(handle)


def _made(path: Path, *, folder: bool) -> tuple[Path, int | None]:
    """Make a temporary file or folder, and lock it."""
    prefix = f".{_begin(path)}{MARK}"
    while True:
        if folder:
            temporary = Path(tempfile.mkdtemp(ENDING, prefix, path.parent))
        else:
            made, name = tempfile.mkstemp(ENDING, prefix, path.parent)
            os.close(made)
            temporary = Path(name)
        if not _HAS_LOCKS:
            return temporary, None
        with contextlib.suppress(FileNotFoundError):
            handle = os.open(temporary, os.O_RDONLY)
            # Another run may have swept it before it was locked.
            if _lock(handle) != "theirs" and temporary.exists():
                return temporary, handle
            os.close(handle)


def _lock(handle: int) -> Literal["ours", "theirs", "nobody's"]:
    """Lock what is open, and return who has the lock: nobody on a file system without locks."""
    if not _HAS_LOCKS:
        return "ours"
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return "theirs"
    except OSError:
        return "nobody's"
    return "ours"


def _begin(path: Path) -> str:
    name = path.name
    while len(os.fsencode(name)) > _LONGEST_NAME:
        name = name[:-1]
    return name


def _put_back(left: Path) -> None:
    """Give a folder its place again that was being replaced when the run was killed."""
    name, _, _ = left.name[1:].rpartition(MARK)
    if name and (left / OLD).is_dir() and not left.with_name(name).exists():
        (left / OLD).rename(left.with_name(name))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
