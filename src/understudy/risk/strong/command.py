"""A synthesizer that is another program, run by its command line."""

from __future__ import annotations

import contextlib
import csv
import math
import os
import shlex
import shutil
import signal
import string
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pyarrow as pa

from understudy.arguments import is_number
from understudy.data.dialect import Dialect
from understudy.data.files import read_with_dialect, write
from understudy.data.frames import Backend, Frame, to_arrow, to_backend, to_narwhals
from understudy.data.missing_words import ALWAYS
from understudy.data.typed_dialect import TypedDialect
from understudy.errors import DataError, ParameterError, did_you_mean
from understudy.risk.strong.candidates import plain_values
from understudy.showing import NOT_SHOWN, records_are_shown
from understudy.stopping import ended_with

PLACEHOLDERS = ("original", "synthetic", "seed")
_EXAMPLE = "'Rscript synth.R {original} {synthetic} {seed}'"
_LINES_SHOWN = 5
_PATIENCE = 0.3
"""Seconds that a program has to end by itself once it is asked to."""
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


class Command:
    """A program that reads a table from a file and writes a synthetic one to another.

    The program is started directly, without a shell, in the current folder. The tables are CSV
    files in a temporary folder that only this user can read, and that is removed afterwards.
    Columns of text in the first are read as text from the second; an empty field is a missing
    value there, and so are ``?`` and ``NA`` unless the first has them as texts.

    Parameters
    ----------
    text : str
        The command line. `{original}` stands for the file to read, `{synthetic}` for the file to
        write, `{seed}` for a whole number below 2**31 that decides all chance. Quotes keep
        spaces together as in a shell; braces themselves are written `{{` and `}}`.
    timeout : float, optional
        Seconds after which a run counts as failed. None waits for ever.

    Raises
    ------
    ParameterError
        If the command line lacks a placeholder, has another one, or names no program.

    Examples
    --------
    >>> Command("python3 synth.py {original} {synthetic} {seed}", timeout=60)
    Command('python3 synth.py {original} {synthetic} {seed}', timeout=60)
    """

    def __init__(self, text: str, timeout: float | None = None) -> None:
        self.text = text
        self.timeout = timeout
        self._pieces = _split(text)
        if timeout is not None and not (is_number(timeout) and 0 < timeout < math.inf):
            raise ParameterError(
                f"timeout must be a number of seconds above 0, or None; got {timeout!r}."
            )
        if shutil.which(self._pieces[0]) is None:
            raise ParameterError(
                f"There is no program {self._pieces[0]!r} to run. Check its name, or give its "
                "whole path; a path with spaces needs quotes."
            )
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        timeout = "" if self.timeout is None else f", timeout={self.timeout!r}"
        return f"{type(self).__name__}({self.text!r}{timeout})"

    def __call__(self, frame: Frame, seed: int) -> Frame:
        """Return what the program makes of `frame`, as a frame of the same library.

        Raises
        ------
        DataError
            If the program fails, takes too long, or writes no table.
        """
        with tempfile.TemporaryDirectory(prefix="understudy-") as name:
            folder = Path(name)
            original, synthetic = folder / "original.csv", folder / "synthetic.csv"
            write(frame, original)
            places = {"original": original, "synthetic": synthetic, "seed": int(seed)}
            self._run([piece.format(**places) for piece in self._pieces], folder / "messages")
            if not synthetic.is_file():
                raise DataError(
                    "The command ended without an error, but did not write the file that "
                    "{synthetic} stands for."
                )
            return _read_like(frame, synthetic)

    def stop(self) -> None:
        """End the runs that are under way; each then fails."""
        with self._lock:
            running = list(self._running)
        for process in running:
            _end(process)

    def _run(self, arguments: list[str], messages: Path) -> None:
        with messages.open("wb") as stderr:
            try:
                process = subprocess.Popen(  # noqa: S603  # the user's own command, without a shell
                    arguments,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=stderr,
                    # A group of its own, so that the programs that it starts end with it.
                    start_new_session=True,
                )
            except OSError as error:
                raise ParameterError(
                    f"{arguments[0]!r} cannot be run: {error.strerror or error}."
                ) from error
        with self._lock:
            self._running.add(process)
        try:
            with ended_with(lambda: _signal(process, KILL)):
                status = self._wait(process, messages)
        finally:
            _end(process)
            with self._lock:
                self._running.discard(process)
        if status:
            raise DataError(f"The command ended with status {status}.{_last_lines(messages)}")

    def _wait(self, process: subprocess.Popen[bytes], messages: Path) -> int:
        """Return the status of a program when it has ended.

        It is asked again and again: polars lets a blocking wait go on after Ctrl-C.
        """
        deadline = time.monotonic() + (math.inf if self.timeout is None else self.timeout)
        while (left := deadline - time.monotonic()) > 0:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(min(left, 1.0))
        raise DataError(
            f"The command took longer than {self.timeout:g} seconds (timeout)."
            f"{_last_lines(messages)}"
        )


def _split(text: object) -> list[str]:
    """Return the parts of a command line, after a look at its placeholders."""
    if not isinstance(text, str) or not text.strip():
        raise ParameterError(f"A command must be a line of text, such as {_EXAMPLE}; got {text!r}.")
    try:
        pieces = shlex.split(text)
        fields = [field for piece in pieces for field in string.Formatter().parse(piece)]
    except ValueError as error:
        raise ParameterError(
            f"The command {text!r} cannot be read: {error}. Close every quote, and write braces "
            "that are not placeholders as {{ and }}."
        ) from error
    names = [name for _, name, _, _ in fields if name is not None]
    plain = all(not spec and not how for _, name, spec, how in fields if name is not None)
    for name in names:
        if name not in PLACEHOLDERS or not plain:
            raise ParameterError(
                f"The command has a placeholder {{{name}}} that cannot be filled; there are "
                f"{{original}}, {{synthetic}} and {{seed}}.{did_you_mean(name, PLACEHOLDERS)} "
                "Write braces that are not placeholders as {{ and }}."
            )
    missing = [f"{{{name}}}" for name in PLACEHOLDERS if name not in names]
    if missing:
        raise ParameterError(
            f"The command {text!r} lacks {' and '.join(missing)}. It must say where the files and "
            f"the seed go, as in {_EXAMPLE}."
        )
    return pieces


def _read_like(frame: Frame, path: Path) -> Frame:
    """Return the table in a file as a frame of the same library, with text where `frame` has it.

    Codes such as 1, 2, 3, truth values and dates that are text in `frame` look like numbers, truth
    values and dates in the file. They stay as they are written.
    """
    import polars as pl

    given = to_arrow(frame)
    found, dialect = read_with_dialect(path, quietly=True)
    texts = {
        name: values
        for name in found.columns
        if name in given.column_names and _is_text((values := plain_values(given[name])).type)
    }
    if isinstance(dialect, TypedDialect):
        found = dialect.stored(found)
    elif dialect is not None and texts:
        columns = _written(path, dialect, texts)
        found = found.with_columns(pl.Series(name, columns[name], pl.String) for name in texts)
    backend = cast("Backend", to_narwhals(frame).implementation.name.lower())
    return to_backend(found, backend)


def _is_text(kind: pa.DataType) -> bool:
    return kind in (pa.string(), pa.large_string(), pa.string_view())


def _written(
    path: Path, dialect: Dialect, texts: Mapping[str, pa.Array]
) -> dict[str, list[str | None]]:
    """Return columns of a CSV file as they are written.

    What usually marks a missing value is one, unless the values in `texts` have it as a text. The
    empty text must be missing if they have missing values too: these are written the same.
    """
    encoding = "utf-8-sig" if dialect.encoding == "utf-8" else dialect.encoding
    with path.open(encoding=encoding, newline="") as file:
        # The csv module, not polars, which reads 1, "a, b" as three fields.
        reader = csv.reader(file, delimiter=dialect.delimiter, skipinitialspace=dialect.padded)
        header = [name.strip() if dialect.padded else name for name in next(reader)]
        # A blank line is no record, but the missing value of a single column.
        rows = [row for row in reader if row or len(header) == 1]
    columns: dict[str, list[str | None]] = {}
    for name, values in texts.items():
        known = set(values.unique().to_pylist())
        words = ("", *ALWAYS)
        missing = {text for text in words if text not in known or (not text and None in known)}
        place = header.index(name)
        written = (row[place] if place < len(row) else "" for row in rows)
        tidied = (text.strip() for text in written) if dialect.padded else written
        columns[name] = [None if text in missing else text for text in tidied]
    return columns


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and those that it has started: ask first, then insist."""
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)
    if process.poll() is None:
        _signal(process, KILL)
        process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)


def _last_lines(messages: Path) -> str:
    lines = messages.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    if not lines:
        return ""
    if not records_are_shown():
        return f" Its messages are {NOT_SHOWN} they may quote records."
    return " Its last messages:\n" + "\n".join(f"  {line}" for line in lines[-_LINES_SHOWN:])
