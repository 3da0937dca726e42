"""Tables and bars in the terminal, with Rich."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from rich.columns import Columns
from rich.console import Console, Group
from rich.markup import escape
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from understudy.counting import marginal_counts
from understudy.data import Codec, Coded, Column
from understudy.synthesis import Synthesizer
from understudy.synthesis.base import RARE_BELOW

Item = TypeVar("Item")

ORIGINAL, SYNTHETIC = "cyan", "magenta"
_BAR_WIDTH = 12
_ROWS_PER_COLUMN = 8


class TerminalProgress:
    """Shows progress bars while the block runs, and nothing of them afterwards."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def track(self, items: Iterable[Item], description: str, total: float | None) -> Iterable[Item]:
        """Return `items`, with a bar that counts them."""
        return self._progress.track(items, total=total, description=description)


def side_by_side(codec: Codec, original: Coded, synthetic: Coded) -> Columns:
    """Return bars of each column's shares in the original and in the synthetic table."""
    panels = [
        _marginal_panel(name, codec.labels(name), before / before.sum(), after / after.sum())
        for name, before, after in zip(
            codec.names, marginal_counts(original), marginal_counts(synthetic), strict=True
        )
    ]
    return Columns(panels)


def _marginal_panel(
    name: str, labels: list[str], before: NDArray[np.float64], after: NDArray[np.float64]
) -> Panel:
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
    longest = max(before.max(), after.max())
    most = len(labels) if len(labels) <= _ROWS_PER_COLUMN else _ROWS_PER_COLUMN - 1
    hidden = len(labels) - most
    for place in sorted(np.argsort(-before, kind="stable")[:most].tolist()):
        bars = Text.assemble(
            (_bar(before[place], longest), ORIGINAL),
            f" {before[place]:6.1%}\n",
            (_bar(after[place], longest), SYNTHETIC),
            f" {after[place]:6.1%}",
        )
        table.add_row(Text(labels[place]), bars)
    if hidden:
        table.add_row(Text(f"… {hidden} more", style="dim"), "")
    distance = 0.5 * np.abs(before - after).sum()
    return Panel(
        table,
        title=f"[bold]{escape(name)}[/]",
        subtitle=f"[dim]differs by {distance:.1%}[/]",
        border_style="dim",
    )


def _bar(share: float, longest: float) -> str:
    eighths = round(8 * _BAR_WIDTH * share / longest) if longest else 0
    bar = "█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]
    return bar.ljust(_BAR_WIDTH)


def model_summary(model: Synthesizer) -> Group:
    """Return what a fitted model is: its method, its parameters, and how it sees each column."""
    table = Table(title="Columns", title_justify="left", header_style="bold")
    for heading in ("column", "kind", "role", "coded as"):
        table.add_column(heading, overflow="fold")
    for heading in ("codes", "missing"):
        table.add_column(heading, justify="right")
    sizes = dict(zip(model.codec_.names, model.codec_.cardinalities, strict=True))
    for column in model.schema_:
        table.add_row(
            Text(column.name),
            column.kind,
            column.role,
            coding_in_words(column),
            str(sizes.get(column.name, "-")),
            f"{column.missing:.1%}",
        )
    cells, rare = model.cells()
    lines = [
        Text(f"{type(model).__name__}, fitted to {model.n_rows_:,} records", style="bold"),
        Text(f"Parameters: {', '.join(f'{k}={v!r}' for k, v in model.get_params().items())}"),
        Text(
            f"Confidential: {rare:,} of its {cells:,} cells rest on fewer than {RARE_BELOW} "
            "records.",
            style="yellow" if rare else "",
        ),
    ]
    return Group(*lines, table)


def coding_in_words(column: Column) -> str:
    """Return how a column's values become codes, in a few words.

    Examples
    --------
    >>> coding_in_words(Column("age", "integer", range=(16, 49), special=(0,)))
    '20 quantile bins, 1 special value'
    """
    if column.kind == "identifier":
        return "made up anew"
    if not column.binned:
        levels = 2 if column.kind == "boolean" else len(column.levels)
        return f"{levels} level{'s' * (levels != 1)}"
    if column.binning == "edges":
        words = f"{len(column.edges) - 1} given bins"
    else:
        words = f"{column.bins} {column.binning} bins"
    if column.special:
        words += f", {len(column.special)} special value{'s' * (len(column.special) != 1)}"
    return words
