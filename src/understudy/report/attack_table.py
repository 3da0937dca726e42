"""The result of an attack in the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from understudy.audit.attacks import MadeAttack
from understudy.risk.overview import Overview
from understudy.wording import UNDEFINED, Unit, quoted, share

_NOTICEABLE = 0.01
"""A gain of more than this share of the records is shown in colour."""


def attack_table(found: Overview, unit: Unit) -> Group:
    """Return a table of all measures beside their references, and the results in sentences.

    `unit` is what a record is about.

    The baseline is reached without the release, and the gain is what the release adds to it.
    """
    scenario = found.scenario
    table = Table(
        title=f"Share of records for which an attacker gets '{escape(scenario.sensitive)}' right",
        title_justify="left",
        header_style="bold",
    )
    lines = list(found.lines())
    controlled = any(not math.isnan(line.control) for line in lines)
    table.add_column("measure")
    table.add_column("how", overflow="fold")
    for heading in ("baseline", "synthetic", "original", *(["control"] * controlled), "gain"):
        table.add_column(heading, justify="right")
    for line in lines:
        shares = [line.baseline, line.synthetic, line.original, *([line.control] * controlled)]
        row = [Text(percentage(value)) for value in shares]
        table.add_row(line.measure, Text(unit.told(line.meaning)), *row, difference(line.gain))
    sets = f" ({len(scenario):,} possible sets)" if len(scenario) > 1 else ""
    knows = Text(f"An attacker who knows {scenario.known_keys}{sets}: {quoted(scenario.keys)}.")
    return Group(knows, table, *_sentences(found, unit))


def findings_table(attacks: Sequence[MadeAttack], unit: Unit) -> Table:
    """Return what other attacks found about those units, each in a few sentences."""
    table = Table(title="Other attacks", title_justify="left", header_style="bold", show_lines=True)
    table.add_column("attack")
    table.add_column("what it finds", overflow="fold")
    for one in attacks:
        told = unit.told(one.summary())
        table.add_row(one.title, Text(told, style="yellow" if one.error else ""))
    return table


def _sentences(found: Overview, unit: Unit) -> Iterator[RenderableType]:
    yield Text(unit.told(found.summary()))
    for measure, reason in found.reasons().items():
        yield Text(unit.told(f"Not defined: {measure}: {reason}"), style="yellow")


def percentage(value: float) -> str:
    """Return a share in percent, for a cell of a table.

    Examples
    --------
    >>> percentage(0.4271), percentage(math.nan)
    ('42.71%', '–')
    """  # noqa: RUF002
    return share(value, 2)


def difference(gain: float) -> Text:
    """Return what a release adds to a share, in points and in colour.

    Examples
    --------
    >>> difference(0.123).plain, difference(math.nan).plain
    ('+12.30', '–')
    """  # noqa: RUF002
    if math.isnan(gain):
        return Text(UNDEFINED)
    colour = "red" if gain > _NOTICEABLE else "green"
    return Text(f"{100 * gain:+.2f}", style=colour)
