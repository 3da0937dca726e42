"""How the columns of a table were read, as a table in the terminal."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from understudy.data import Decisions
from understudy.data.decisions import HEADINGS, Change

_WIDEST_NAMES = 36


def decision_table(found: Decisions, change: Change | None = None, hint: str = "") -> Group:
    """Return what each column was taken for: what needs a look first, all others together.

    `change` says what changes a remark about some columns, and `hint` what to do with that.
    """
    table = Table(
        title="How the columns were read",
        title_justify="left",
        header_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
    )
    rows = found.readings(change)
    changes = any(row.change for row in rows)
    widths = (_WIDEST_NAMES, None, None, None) if changes else (None, None)
    for heading, widest in zip(HEADINGS, widths, strict=False):
        table.add_column(heading, overflow="fold", max_width=widest)
    for row in rows:
        more = (Text(row.why), Text(row.change)) if changes else ()
        table.add_row(Text(row.named), Text(row.read_as, "yellow" if row.why else ""), *more)
    parts: list[RenderableType] = [table, *([Text(hint)] if changes and hint else [])]
    return Group(*parts, Text(""))
