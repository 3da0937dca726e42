"""Tables as Markdown, as the studies print them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown_table(heading: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table as Markdown: its heading, a rule, and its lines.

    Examples
    --------
    >>> print(markdown_table(["data", "repU"], [["original", "48.38"]]))
    | data | repU |
    | --- | --- |
    | original | 48.38 |
    """
    rows = [heading, ["---"] * len(heading), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
