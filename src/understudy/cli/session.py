"""What every command does: it speaks, shows progress, and looks after its outputs.

Folders are written whole or not at all, as files are.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

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


def complain(heading: str, message: str = "") -> None:
    """Give a message that must be seen, even if it should be quiet."""
    from rich.text import Text

    console().print(Text(heading, "red bold"), Text(message), sep="", soft_wrap=True)


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

    with TerminalProgress(console()) as bars, reporting(bars):
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
    check_folder(path, ours, overwrite=overwrite)
    whole = path.resolve()
    try:
        temporary = Path(
            tempfile.mkdtemp(prefix=f".{whole.name}.", suffix=".part", dir=whole.parent)
        )
    except OSError as error:
        raise DataError(f"The folder {path} cannot be made: {error.strerror}.") from error
    try:
        made = temporary / "new"
        made.mkdir()
        yield made
        check_folder(path, ours, overwrite=overwrite)
        _exchange(made, whole, temporary / "old")
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(f"The folder {path} cannot be written: {reason}.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


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
