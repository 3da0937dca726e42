"""What every command does: it reads tables, looks at its outputs, shows progress, and speaks."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.cli import values
from understudy.errors import DataError, unknown_columns

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


def check_outputs(outputs: Sequence[Path], inputs: Sequence[Path | None], force: bool) -> None:
    """Raise before any work is done if a file cannot be written, or is one that is read."""
    from understudy.data.files import check_writable

    taken = {path.resolve() for path in inputs if path is not None}
    for output in outputs:
        if output.resolve() in taken:
            raise DataError(f"{output} is already an input or output of this command; rename it.")
        check_writable(output, overwrite=force)
        taken.add(output.resolve())


def read_table(
    data: Path,
    drop: str,
    written: dict[str, Any],
    *,
    stream: bool = False,
) -> Any:  # noqa: ANN401  # a frame, or a file that is read in batches
    """Return a table without the columns that are not wanted."""
    from understudy.data import read, scan

    unwanted = values.split_names(drop)
    if stream:
        file = scan(data, drop=unwanted, **written)
        logging.getLogger("understudy").info("%s: %s rows in batches", data, f"{file.rows:,}")
        return file
    frame = read(data, **written)
    logging.getLogger("understudy").info(
        "%s: %s rows x %s columns", data, f"{frame.height:,}", frame.width
    )
    problems = unknown_columns(unwanted, frame.columns)
    if problems:
        raise DataError(f"Columns to drop: {' '.join(problems)}")
    return frame.drop(unwanted)


def written(
    delimiter: str | None,
    decimal: str | None,
    encoding: str | None,
    missing: list[str] | None,
) -> dict[str, Any]:
    """Return how the CSV files are written, as `read_table` takes it."""
    return {
        "delimiter": delimiter,
        "decimal": decimal,
        "encoding": encoding,
        "missing": missing or (),
    }
