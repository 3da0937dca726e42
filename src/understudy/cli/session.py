"""What every command does: it speaks, shows progress, and looks after its outputs.

Folders are written whole or not at all, as files are.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from understudy import stopping
from understudy.errors import AlreadyThereError, DataError

if TYPE_CHECKING:
    import typer
    from rich.console import Console, RenderableType

    from understudy.cli.options import Place

Ours = Callable[[str], bool]
"""Tells whether a file in a folder, or a folder in it, is one that we write there.

It is given the path from the folder, with slashes.
"""


def console() -> Console:
    """Return the console for messages; results go to standard output."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def each_once() -> Callable[[logging.LogRecord], bool]:
    """Return a filter that lets the same warning through once: a command may fit several models."""
    seen: set[str] = set()

    def is_new(record: logging.LogRecord) -> bool:
        text = record.getMessage()
        told = record.levelno == logging.WARNING and text in seen
        seen.add(text)
        return not told

    return is_new


def complain(heading: str, message: str = "") -> None:
    """Give a message that must be seen, even if it should be quiet."""
    from rich.text import Text

    console().print(Text(heading, "red bold"), Text(message), sep="", soft_wrap=True)


def tell_stopped() -> None:
    """Say that the command was stopped, and what it had written before."""
    from understudy.data.partial import finished
    from understudy.wording import listed

    written = f"already written: {listed(list(map(str, finished)))}" if finished else ""
    complain("Stopped;", f" {written or 'nothing was written'}.")


LEAST_ADDRESSES = 2_000 * 2**20
"""Bytes of addresses without which the libraries that this program needs abort when they load."""


def check_address_limit() -> None:
    """Raise if a limit (ulimit -v) leaves too little for the program itself."""
    try:
        import resource
    except ImportError:  # there are no such limits
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < LEAST_ADDRESSES:
        raise DataError(
            f"This program may use {limit / 2**20:,.0f} MB of addresses (ulimit -v), and needs at "
            f"least {LEAST_ADDRESSES / 2**20:,.0f} MB to start. To limit its memory, use a "
            "container or a control group: they count what is used."
        )


def complain_of_memory() -> None:
    """Say that memory ran out, and what needs less."""
    complain(
        "Error:",
        " The memory of this machine, or what it allows this program, is not enough. Use fewer "
        "columns (--drop), read in batches (--stream, with bayes and independent), take a sample "
        "of the records, or end other programs.",
    )


def complain_of_bug(error: BaseException) -> None:
    """Say that understudy itself failed; with -v where, without what its data were.

    The text of an error may quote records, so it is shown only with them.
    """
    import traceback

    from understudy.showing import reason

    steps = traceback.extract_tb(error.__traceback__)
    where = f"{Path(steps[-1].filename).name}, line {steps[-1].lineno}" if steps else "no place"
    verbose = logging.getLogger().isEnabledFor(logging.INFO)
    more = "" if verbose else " Run it again with -v (understudy -v ...) to see how it came there."
    complain(
        "Error:",
        f" understudy failed in a way that it should not ({where}: {reason(error)}). Nothing that "
        f"was not finished is left. Please report it.{more}",
    )
    if verbose:
        console().print(
            "".join(traceback.format_list(steps)) + type(error).__name__,
            markup=False,
            soft_wrap=True,
        )


def say(ctx: typer.Context, message: str) -> None:
    """Give a message, unless it should be quiet."""
    if not ctx.obj["quiet"]:
        console().print(message, markup=False, soft_wrap=True)


def show(*results: RenderableType, aside: bool = False) -> None:
    """Show results, one below the other, on standard output; `aside` on standard error."""
    from rich.console import Console

    Console(stderr=aside).print(*results, sep="\n")


@contextmanager
def progress(ctx: typer.Context) -> Iterator[None]:
    """Show progress bars inside the block, if a person is watching."""
    if ctx.obj["quiet"] or not sys.stderr.isatty():
        yield
        return
    from understudy.progress import reporting
    from understudy.report.terminal import TerminalProgress

    shown = console()
    with (
        TerminalProgress(shown) as bars,
        reporting(bars),
        stopping.ended_with(lambda: shown.show_cursor(True)),
    ):
        yield


def check_outputs(
    outputs: Sequence[Path | None], inputs: Sequence[Place | None], force: bool
) -> None:
    """Raise before any work is done if a file cannot be written, or is one that is read."""
    from understudy.data.files import check_writable

    if sum(_is_standard(path) for path in inputs) > 1:
        raise DataError("Only one table can come from the standard input (-). Give files.")
    if sum(_is_standard(path) for path in outputs) > 1:
        raise DataError("Only one table can go to the standard output (-). Give files.")
    taken = set(_files(inputs))
    for output in _paths(outputs):
        if output.resolve() in taken:
            raise DataError(f"{output} is already an input or output of this command; rename it.")
        for folder in taken:
            if folder in output.resolve().parents and folder.is_dir():
                raise DataError(
                    f"{output} would be in {folder}, which is read as one table; put it elsewhere."
                )
        check_writable(output, overwrite=force)
        taken.add(output.resolve())


def called(path: Path) -> str:
    """Return what an output is called in messages."""
    return "the standard output" if _is_standard(path) else str(path)


def _is_standard(path: Place | None) -> bool:
    return str(path) == "-"


def _paths(places: Sequence[Place | None]) -> Iterator[Path]:
    """Yield those that are files, also in a folder."""
    for place in places:
        if isinstance(place, Path) and not _is_standard(place):
            yield place


def _files(places: Sequence[Place | None]) -> Iterator[Path]:
    """Yield the files of some tables, also those of databases, where they are in the end."""
    for place in places:
        file = getattr(place, "file", place)
        if isinstance(file, Path) and not _is_standard(file):
            yield file.resolve()


def check_folder(
    path: Path, ours: Ours, *, overwrite: bool, inputs: Sequence[Place | None] = ()
) -> None:
    """Raise unless a folder can be written to `path`, before any work is done for it.

    A folder that already exists is replaced only if `overwrite`, and never if it holds anything
    that is not `ours`, or one of the `inputs`.
    """
    whole = path.resolve()
    if sum(_is_standard(read) for read in inputs) > 1:
        raise DataError("Only one table can come from the standard input (-). Give files.")
    for read in _files(inputs):
        if whole in (read, *read.parents):
            raise DataError(f"{read} is in {path}, which would be replaced; choose another folder.")
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise DataError(f"{path} already exists and is not a folder; choose another name.")
    if path.is_dir():
        if not overwrite:
            raise AlreadyThereError(path)
        held = (found.relative_to(path).as_posix() for found in path.rglob("*"))
        others = sorted(name for name in held if not ours(name))
        if others:
            raise DataError(
                f"{path} holds {others[0]!r}, which does not belong there, so the folder is not "
                "replaced. Move the file away, or choose another name."
            )
    if not whole.parent.is_dir():
        raise DataError(f"There is no folder {path.parent}; create it first.")
    if not os.access(whole.parent, os.W_OK):
        raise DataError(f"The folder {path.parent} cannot be written to.")


@contextmanager
def replaced_folder(path: Path, ours: Ours, *, overwrite: bool) -> Iterator[Path]:
    """Give an empty temporary folder beside `path` that takes its name at the end of the block.

    If the block ends in an error, or is interrupted, the temporary folder vanishes, and a folder
    that was there before stays as it was.
    """
    from understudy.data.partial import OLD, note_finished, under_way

    check_folder(path, ours, overwrite=overwrite)
    try:
        with under_way(path, folder=True) as temporary:
            made = temporary / "new"
            made.mkdir()
            try:
                yield made
            except DataError as error:
                if str(made) not in str(error):
                    raise
                raise DataError(str(error).replace(str(made), str(path))) from error
            check_folder(path, ours, overwrite=overwrite)
            with stopping.whole():
                _exchange(made, path.resolve(), temporary / OLD)
                note_finished(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(f"The folder {path} cannot be written: {reason}.") from error


def _exchange(made: Path, path: Path, old: Path) -> None:
    """Put a folder in the place of another, which comes back if that fails."""
    if not path.exists():
        made.rename(path)
        return
    try:
        path.rename(old)
        made.rename(path)
    except BaseException:
        if old.exists() and not path.exists():
            old.rename(path)
        raise
