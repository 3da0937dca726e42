"""What every command does: it reads tables, looks at its outputs, shows progress, and speaks."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import DataError

if TYPE_CHECKING:
    import typer
    from rich.console import Console, RenderableType


def console() -> Console:
    """Return the console for messages; results go to standard output."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def escape(text: str) -> str:
    """Return a text in which square brackets are no markup."""
    from rich.markup import escape

    return escape(text)


def complain(heading: str, message: str = "") -> None:
    """Give a message that must be seen, even if it should be quiet."""
    console().print(f"[red bold]{escape(heading)}[/]{escape(message)}", soft_wrap=True)


def say(ctx: typer.Context, message: str) -> None:
    """Give a message, unless it should be quiet."""
    if not ctx.obj["quiet"]:
        console().print(escape(message), soft_wrap=True)


def show(*results: RenderableType) -> None:
    """Show results, one below the other, on standard output."""
    from rich.console import Console

    Console().print(*results, sep="\n")


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
    outputs: Sequence[Path | None], inputs: Sequence[Path | None], force: bool
) -> None:
    """Raise before any work is done if a file cannot be written, or is one that is read."""
    from understudy.data.files import check_writable

    taken = {path.resolve() for path in inputs if path is not None}
    for output in filter(None, outputs):
        if output.resolve() in taken:
            raise DataError(f"{output} is already an input or output of this command; rename it.")
        check_writable(output, overwrite=force)
        taken.add(output.resolve())
