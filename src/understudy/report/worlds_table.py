"""The table of measures against the desiderata, in the terminal."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from understudy.worlds.desiderata import DESIDERATA
from understudy.worlds.table import WorldsTable

_STYLES = {"yes": "green", "(yes)": "dim", "no": "bold red"}


def worlds_table(found: WorldsTable) -> Table:
    """Return a line for each measure: which of D1 to D5 it meets.

    Two scores stand beside the verdicts: the mean where the record is certain to be disclosed, and
    the score without a release, which a measure that is to be trusted exceeds there.
    """
    meanings = [f"{name} {meaning}" for name, meaning in DESIDERATA.items()]
    table = Table(
        title="What each measure says of a record that is known to be disclosed",
        title_justify="left",
        header_style="bold",
        caption="\n".join([*meanings, "(yes) only because the score never changes"]),
        caption_justify="left",
    )
    table.add_column("measure")
    table.add_column("without", justify="right")
    table.add_column("disclosed", justify="right")
    for name in DESIDERATA:
        table.add_column(name, justify="center")
    for measure in found.verdicts:
        marks = [Text(word, style=_STYLES[word]) for word in found.words(measure)]
        disclosed = found.by_world[measure]["present"].mean()
        table.add_row(measure.label, f"{measure.baseline:.3f}", f"{disclosed:.3f}", *marks)
    return table
