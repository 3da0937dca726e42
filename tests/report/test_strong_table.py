"""The strong attacker's result in the terminal, from figures that are counted by hand."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from understudy.report.strong_table import strong_table, worst_table
from understudy.risk import StrongAttack
from understudy.wording import UNDEFINED


def shown(renderable, width=80):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(renderable)
    return console.file.getvalue()


def attack(unknown=("method",), posterior=(1.0, 0.75, 0.25, 0.5), **more):
    posterior = np.array(posterior)
    count = len(posterior)
    right = posterior > 0.5
    return StrongAttack(
        unknown, "fixed", "uniform", np.arange(count), np.full(count, 0.5), posterior,
        ("yes",) * count, np.arange(count) == 0, right, np.full(count, 2), **more,
    )  # fmt: skip


def rows(text):
    """Return the cells of all lines of tables, by the first of them."""
    lines = [line.strip("│").split("│") for line in text.splitlines() if line.startswith("│")]
    return {line[0].strip(): [cell.strip() for cell in line[1:]] for line in lines}


def test_figures():
    found = rows(shown(strong_table(replace(attack(), prior_name="informed"))))
    assert found["the best guess"] == ["25.00%", "50.00%", "+25.00"]
    # 1 and 0.75 are more than a half, and 0.5 is not.
    assert found["more than 50% probable"] == ["0.00%", "50.00%", "+50.00"]
    assert found["more than 90% probable"] == ["0.00%", "25.00%", "+25.00"]
    assert found["certain"] == ["0.00%", "25.00%", "+25.00"]
    # Bits: 1, log2(1.5) = 0.585, -1 and 0; their mean is 0.146, and 2 ** 0.146 = 1.107.
    assert found["the average record"] == ["+0.146", "1.11"]
    assert found["99% of the records, at most"] == ["+1.000", "2.00"]
    assert found["the most exposed record"] == ["+1.000", "2.00"]


@pytest.mark.parametrize("prior", ["uniform", "marginal", "given"])
def test_what_cannot_be_compared_is_not_shown_side_by_side(prior):
    text = shown(strong_table(replace(attack(), prior_name=prior)))
    found = rows(text)
    assert found["the best guess"] == ["50.00%"]
    assert found["certain"] == ["25.00%"]
    assert found["the average record"] == ["+0.146", "1.11"]
    assert "baseline" not in text
    said = " ".join(text.split())
    assert "they are not compared with guesses without the release" in said
    assert "Use the informed prior to compare guesses." in said


def test_what_was_certain_before_is_no_gain():
    certain = StrongAttack(
        ("x",), "refit", "informed", np.array([0]), np.array([1.0]), np.array([1.0]), ("a",),
        np.array([True]), np.array([True]), np.array([3]),
    )  # fmt: skip
    assert rows(shown(strong_table(certain)))["certain"] == ["100.00%", "100.00%", "+0.00"]


@pytest.mark.parametrize("unknown", [("method",), tuple("abcd"), tuple("abcdefgh")])
def test_all_that_is_to_be_said_stands_in_80_columns(unknown):
    found = attack(
        unknown,
        notes=("Something that a reader should know. " * 5,),
        reasons={"rank": "there are too many combinations " * 5},
        more={"mc_error": np.array([0.01, 0.02, 0.1234, np.nan])},
    )
    text = shown(strong_table(found))
    assert max(map(len, text.splitlines())) <= 80
    said = " ".join(text.split())
    assert found.summary() in said
    assert "Note: Something that a reader should know. Something" in said
    assert "Not defined: rank: there are too many combinations" in said
    assert "a standard error of up to 0.123 in a posterior." in said
    assert (
        "There are 2 candidates. Before the release (uniform prior), all candidates are equally"
        in said
    )


def test_undefined_and_unbounded_figures():
    # The release excludes the truth of the second record, and is impossible for the third.
    found = rows(shown(strong_table(attack(posterior=(1.0, 0.0)))))
    assert found["the average record"] == ["-∞", "0.00"]
    found = rows(shown(strong_table(attack(posterior=(1.0, np.nan)))))
    assert found["the average record"] == [UNDEFINED, UNDEFINED]


def test_the_worst_records_come_first_without_their_values():
    found = attack(posterior=(0.25, 1.0, 1 - 1e-6, 1e-6))
    text = shown(worst_table(found, 10))
    assert "The 4 most exposed records" in text
    assert "confidential" in text
    assert "yes" not in text
    table = rows(text)
    assert list(table) == ["1", "2", "0", "3"]
    assert table["1"] == ["50.00%", "certain", "+1.000"]
    assert table["2"] == ["50.00%", "> 99.99%", "+1.000"]
    assert table["3"] == ["50.00%", "< 0.01%", "-18.932"]


def test_guesses_are_shown_on_request_and_as_they_are():
    found = StrongAttack(
        ("[b]x",), "fixed", "uniform", np.array([7]), np.array([0.5]), np.array([0.9]),
        ("[red]value[/red]",), np.array([False]), np.array([True]), np.array([2]),
    )  # fmt: skip
    text = shown(worst_table(found, 1, guesses=True))
    assert rows(text)["7"][3:] == ["[red]value[/red]", "yes"]
    assert "The most exposed record" in text
    text = " ".join(shown(strong_table(found)).split())
    assert "Share of 1 record whose true '[b]x' is found" in text
