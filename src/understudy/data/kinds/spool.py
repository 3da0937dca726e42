"""Tables that are not files yet, or not plain ones: unpacked, piped in, or put together.

Their bytes go to a file that has no name, so that nothing of a confidential table is left on the
disk if the program is killed. It can be opened by its path any number of times.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

import pyarrow as pa

from understudy.errors import DataError

PLAIN_LIMIT = 2**30
"""Bytes that any compressed file may unpack to."""

RATIO_LIMIT = 200
"""Times its own size that a larger compressed file may unpack to: real tables stay far below."""

LIMIT_VARIABLE = "UNDERSTUDY_UNPACK_LIMIT"
"""The environment variable that replaces both limits, with a number of gigabytes."""

_CHUNK = 2**20
_BY_NUMBER = Path("/proc/self/fd")


class Spool:
    """A file without a name, which lasts as long as this object."""

    def __init__(self) -> None:
        try:
            if _BY_NUMBER.is_dir():
                self._file: Any = tempfile.TemporaryFile(prefix="understudy-")  # noqa: SIM115
                self.path = _BY_NUMBER / str(self._file.fileno())
            else:  # it needs a name then, and goes with this object
                self._file = tempfile.NamedTemporaryFile(prefix="understudy-")  # noqa: SIM115
                self.path = Path(self._file.name)
        except OSError as error:
            raise _no_room(error) from error
        weakref.finalize(self, self._file.close)

    def fill(self, source: IO[bytes] | Any, limit: int | None = None, name: str = "") -> int:  # noqa: ANN401
        """Add all that a source gives; return how many bytes it were.

        Raises
        ------
        DataError
            If it is more than `limit`; `name` is what the message calls the source.
        """
        total = 0
        while chunk := source.read(_CHUNK):
            total += len(chunk)
            if limit is not None and total > limit:
                raise _too_large(name, limit)
            self.add(chunk)
        self.flush()
        return total

    def add(self, content: bytes) -> None:
        """Add bytes."""
        try:
            self._file.write(content)
        except OSError as error:
            raise _no_room(error) from error

    def flush(self) -> None:
        """Put everything where `path` finds it."""
        try:
            self._file.flush()
        except OSError as error:
            raise _no_room(error) from error


def _no_room(error: OSError) -> DataError:
    reason = error.strerror or str(error)
    return DataError(
        f"A table cannot be unpacked in {tempfile.gettempdir()}: {reason}. Make room there, or set "
        "TMPDIR to another folder."
    )


def _too_large(name: str, limit: int) -> DataError:
    return DataError(
        f"{name} unpacks to more than {limit / 2**30:,.1f} GB, which no table of its size does. If "
        f"it is one that you trust, set {LIMIT_VARIABLE} to the number of GB that it may have."
    )


def unpack_limit(packed: int) -> int:
    """Return how many bytes a compressed file of a size may unpack to.

    Examples
    --------
    >>> unpack_limit(1000) == PLAIN_LIMIT
    True
    """
    given = os.environ.get(LIMIT_VARIABLE, "").strip()
    if not given:
        return max(PLAIN_LIMIT, RATIO_LIMIT * packed)
    try:
        limit = float(given)
        if not 0 < limit < float("inf"):
            raise ValueError  # noqa: TRY301  # said below, with the other
    except ValueError:
        raise DataError(
            f"{LIMIT_VARIABLE} must be a number of gigabytes above 0; got {given!r}."
        ) from None
    return int(limit * 2**30)


def check_unpacked(name: str, packed: int, unpacked: int) -> None:
    """Raise if an archive says that it holds more than a file of its size may."""
    limit = unpack_limit(packed)
    if unpacked > limit:
        raise _too_large(name, limit)


def unpack(path: Path, packed: str, name: str) -> Spool:
    """Return the content of a compressed file, of which `packed` is the ending."""
    spool, limit = Spool(), unpack_limit(path.stat().st_size)
    try:
        with path.open("rb") as file, unpacked(file, packed) as stream:
            spool.fill(stream, limit, name)
    except (OSError, EOFError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise DataError(f"{name} cannot be read: {error.strerror}.") from error
        raise DataError(f"{name} is damaged, or cut off: it cannot be unpacked.") from None
    return spool


@contextmanager
def unpacked(file: BinaryIO, packed: str) -> Iterator[Any]:
    """Give what a compressed file unpacks to, as a file."""
    if packed == ".gz":
        with gzip.GzipFile(fileobj=file) as stream:
            yield stream
    else:
        with pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd") as stream:
            yield stream


def pack(spool: Spool, path: Path, packed: str) -> None:
    """Write the content of a spool to a compressed file, the same bytes each time."""
    with spool.path.open("rb") as source, path.open("wb") as file:
        if packed == ".gz":
            # No name and no time in it: the same table gives the same bytes.
            with gzip.GzipFile("", "wb", 6, file, mtime=0) as target:
                shutil.copyfileobj(source, target, _CHUNK)
        else:
            with pa.CompressedOutputStream(pa.PythonFile(file, "w"), "zstd") as target:
                while chunk := source.read(_CHUNK):
                    target.write(chunk)


class _Piped:
    """The standard input, which can be read only once, with what it held."""

    source: Any = None
    spool: Spool | None = None


def standard_input() -> Spool:
    """Return what is piped in; it can be asked for again."""
    if sys.stdin is None or sys.stdin.closed:
        raise DataError("The table is to come from the standard input (-), but there is none.")
    if _Piped.spool is None or _Piped.source is not sys.stdin:
        if sys.stdin.isatty():
            raise DataError(
                "The table is to come from the standard input (-), but nothing is piped in. "
                "Pipe it in, or give the name of a file."
            )
        spool = Spool()
        try:
            spool.fill(sys.stdin.buffer)
        except OSError as error:
            raise DataError(f"The standard input cannot be read: {error.strerror}.") from error
        _Piped.source, _Piped.spool = sys.stdin, spool
    return _Piped.spool


def to_standard_output(spool: Spool) -> None:
    """Write the content of a spool to the standard output."""
    try:
        sys.stdout.flush()
        with spool.path.open("rb") as source:
            shutil.copyfileobj(source, cast("Any", sys.stdout).buffer, _CHUNK)
        sys.stdout.flush()
    except BrokenPipeError:
        # Python would complain once more when it ends.
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise DataError(
            "The standard output was closed before the whole table was written."
        ) from None
    except OSError as error:
        raise DataError(f"The standard output cannot be written: {error.strerror}.") from error
