"""The ledger: what was spent, what is wrong with one, and its way through a file."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from understudy.privacy import Entry, Guarantee, Ledger

PURE = Guarantee(Fraction(1), Fraction(0))
ENTRY = Entry("counts of 'sex'", "discrete Laplace", 2, 4.0, Fraction(1, 2), answers=2)


def test_rows_have_a_running_total():
    ledger = Ledger(PURE, "epsilon", Fraction(1), (ENTRY, replace(ENTRY, what="others")))
    first, second = ledger.rows()
    assert first["epsilon"] == second["epsilon"] == 0.5
    assert (first["total"], second["total"]) == (0.5, 1.0)
    assert ledger.left == 0
    assert ledger.lines()[1] == ("others", "discrete Laplace", "2", "4", "0.5", "1")
    assert len(ledger.headings) == len(ledger.lines()[0])


# Each formula by hand, at a sensitivity of 3 and a scale of 2.
@pytest.mark.parametrize(
    ("mechanism", "cost"),
    [
        ("discrete Laplace", 1.5),
        ("discrete Gaussian", 1.125),
        ("permute and flip", 3.0),
        ("exponential", 1.125),
    ],
)
def test_cost_of_mechanisms_by_hand(mechanism, cost):
    assert Entry("x", mechanism, 3, 2.0, Fraction(9)).least_cost == cost


def test_a_proof_has_no_problems():
    assert list(Ledger(PURE, "epsilon", Fraction(1), (ENTRY,)).problems()) == []
    assert (
        list(Ledger(replace(PURE, delta=Fraction(1, 10**6)), "rho", Fraction(1, 50)).problems())
        == []
    )


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"entries": (ENTRY, ENTRY, ENTRY)}, "it spends 1.5 of 1"),
        ({"entries": (replace(ENTRY, scale=2.0),)}, "question 1 .* costs 1, but 0.5 was paid"),
        ({"total": Fraction(2)}, "more than epsilon"),
        ({"entries": (replace(ENTRY, delta=Fraction(1, 9)),)}, "more delta than there is"),
        ({"currency": "rho"}, "delta is 0"),
        (
            {"currency": "rho", "guarantee": replace(PURE, delta=Fraction(1, 10**6))},
            "rho 1 has a larger epsilon",
        ),
    ],
)
def test_what_makes_it_no_proof(changes, problem):
    ledger = replace(Ledger(PURE, "epsilon", Fraction(1), (ENTRY,)), **changes)
    with pytest.raises(AssertionError, match=problem):
        assert not "\n".join(ledger.problems()), "\n".join(ledger.problems())


def test_to_plain_and_back():
    ledger = Ledger(PURE, "epsilon", Fraction(1, 3), (ENTRY,), ("The columns.",), "0.16.0")
    assert Ledger.from_plain(ledger.to_plain()) == ledger


@pytest.mark.parametrize(
    "wrong",
    [{"mechanism": "none"}, {"scale": 0}, {"cost": "-1"}, {"delta": "-1"}, {"sensitivity": -2}],
)
def test_entries_that_cannot_be_are_refused(wrong):
    with pytest.raises(ValueError, match="cannot be"):
        Entry.from_plain(ENTRY.to_plain() | wrong)
    with pytest.raises(ValueError, match="currency"):
        Ledger.from_plain(Ledger(PURE, "epsilon", Fraction(1)).to_plain() | {"currency": "gold"})


def test_the_promise_in_words():
    said = Ledger(PURE, "epsilon", Fraction(1)).in_words()
    assert "at most 2.72 times as likely as if any one record were another." in said
    other = Ledger(Guarantee(Fraction(30), Fraction(1, 10**9), "add-remove"), "rho", Fraction(1))
    assert "exp(30) times" in other.in_words()
    assert "were not there, except with a probability of 1e-09." in other.in_words()
