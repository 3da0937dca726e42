"""How the columns were read, in the terminal: compact, and plain text whatever it holds."""

from __future__ import annotations

import io

import polars as pl
from rich.console import Console

from understudy.data import decisions
from understudy.report.decision_table import decision_table


def shown(frame, *more, width=100):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(decision_table(decisions(frame), *more))
    return console.file.getvalue()


def test_it_fits_a_hundred_columns_and_has_a_row_for_what_needs_no_look():
    frame = pl.DataFrame({"id": range(30)} | {f"flag{n}": [True, False] * 15 for n in range(31)})
    lines = shown(frame, None, "Change it.").splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[0].rstrip() == "How the columns were read"
    assert "identifier" in lines[3]
    assert "31 columns: flag0" in "\n".join(lines)
    assert "23 more" in "\n".join(lines)
    assert "Change it." in lines
    assert len(lines) < 12


def test_without_remarks_there_is_nothing_to_change():
    text = shown(pl.DataFrame({"sex": ["f", "m"] * 9}), None, "Change it.")
    assert "to change it" not in text
    assert "Change it." not in text
    assert "category" in text


def test_what_to_type_is_told_by_the_caller():
    text = shown(pl.DataFrame({"id": range(30)}), lambda remark, names: f"{remark.value}!{names}")
    assert "integer!['id']" in text


def test_names_are_no_markup():
    assert "[red]x[/red]" in shown(pl.DataFrame({"[red]x[/red]": ["a", "b"] * 9}))
