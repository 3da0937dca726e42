"""The accountant: it never spends more than there is, and pays before it draws."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.privacy import Accountant, BudgetError, Guarantee, noise

COUNTS = np.array([40, 60])


def accountant(epsilon=1, delta=Fraction(0), neighbours="change-one", **kwargs):
    return Accountant(Guarantee(Fraction(epsilon), Fraction(delta), neighbours), **kwargs)


questions = st.lists(
    st.tuples(
        st.sampled_from(["counts", "choose"]),
        st.fractions(Fraction(0), Fraction(1), max_denominator=50),
        st.integers(1, 3),
    ),
    max_size=6,
)


@settings(max_examples=8)
@given(
    questions,
    st.booleans(),
    st.sampled_from(["change-one", "add-remove"]),
    st.sampled_from([Fraction(1, 10), Fraction(1), Fraction(7, 3)]),
)
def test_the_ledger_is_never_over_budget(asked, pure, neighbours, epsilon):
    own = accountant(epsilon, Fraction(1, 10**6), neighbours, pure=pure)
    for kind, share, tables in asked:
        before, cost = own.ledger, share * own.total
        try:
            if kind == "counts":
                own.counts("some", COUNTS, cost, tables=tables)
            else:
                own.choose("some", np.array([1.0, 2.0]), 3.0, cost)
        except BudgetError:
            assert cost <= 0 or cost > before.left
            assert own.ledger == before
    assert own.ledger.spent <= own.ledger.total
    assert list(own.ledger.problems()) == []


@pytest.mark.parametrize(("neighbours", "l1"), [("change-one", 2), ("add-remove", 1)])
def test_sensitivity_of_counts_by_brute_force(neighbours, l1):
    own = accountant(neighbours=neighbours, pure=True)
    tables = [np.bincount(records, minlength=3) for records in ([0, 1], [0, 2], [1, 1], [0], [])]
    sizes = [
        np.abs(one - other)
        for one in tables
        for other in tables
        if (one.sum() == other.sum()) == (neighbours == "change-one")
        and np.abs(one - other).sum() <= 2
        and abs(one.sum() - other.sum()) <= 1
    ]
    assert own.l1 == l1 == max(size.sum() for size in sizes)
    assert own.l2 >= max(np.sqrt((size**2).sum()) for size in sizes)
    assert own.l2 == pytest.approx(np.sqrt(l1))


@settings(max_examples=30)
@given(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=6),
    st.booleans(),
    st.fractions(Fraction(1, 1000), 3),
)
def test_a_split_spends_all_and_moves_the_fewest_records(cells, pure, budget):
    costs = accountant(delta=Fraction(1, 10**6), pure=pure).split(budget, cells)
    assert sum(costs) == budget
    power = 1 if pure else 0.5

    def moved(costs):
        return sum(count * float(cost) ** -power for count, cost in zip(cells, costs, strict=True))

    least = moved(costs)
    # No other split is better, by more than the rounding of a part in a thousand.
    for place in range(len(cells)):
        for factor in (Fraction(1, 2), Fraction(9, 10), Fraction(11, 10), 2):
            others = [cost * factor if place == i else cost for i, cost in enumerate(costs)]
            scaled = [cost * budget / sum(others) for cost in others]
            assert moved(scaled) >= least * (1 - 1e-6)


def test_the_scale_allows_for_all_tables():
    pure, concentrated = accountant(pure=True), accountant(delta=Fraction(1, 10**6))
    assert pure.scale_of(Fraction(1, 2), tables=3) == pytest.approx(2 * 3 / 0.5)
    # The square of the distance is 2 * 3, and rho is half of it over the square of the scale.
    assert concentrated.scale_of(Fraction(1, 8), tables=3) == pytest.approx(24**0.5)


def test_it_pays_before_it_draws(monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("no noise")

    monkeypatch.setattr(noise, "_noised", broken)
    own = accountant(pure=True)
    with pytest.raises(RuntimeError):
        own.counts("some", COUNTS, Fraction(1, 4))
    assert own.left == Fraction(3, 4)


def test_too_expensive_a_question_draws_nothing(monkeypatch):
    monkeypatch.setattr(noise, "_noised", lambda *_: pytest.fail("drawn"))
    own = accountant(pure=True)
    with pytest.raises(BudgetError, match=r"Counts of 'sex' would cost 1\.5, but 1 of 1 is left"):
        own.counts("counts of 'sex'", COUNTS, Fraction(3, 2))
    with pytest.raises(BudgetError, match="must cost something"):
        own.counts("some", COUNTS, Fraction(0))


def test_delta_is_split_between_levels_and_noise():
    delta = Fraction(1, 10**6)
    assert accountant(delta=delta, pure=True, open_domain=True).delta_for_domain == delta
    both = accountant(delta=delta, open_domain=True)
    assert both.delta_for_domain == delta / 2
    # Less delta is left for noise, so there is less to spend.
    assert both.total < accountant(delta=delta).total
    assert accountant(delta=delta).delta_for_domain == 0
    with pytest.raises(BudgetError, match="no delta left"):
        both.counts("levels", COUNTS, both.total, delta=delta)


def test_noise_differs_from_run_to_run():
    drawn = {
        tuple(accountant(pure=True).counts("some", np.zeros(20, int), Fraction(1, 10)).tolist())
        for _ in range(3)
    }
    assert len(drawn) == 3


def test_the_reach_is_that_of_its_noise():
    own = accountant(pure=True)
    assert own.reach(Fraction(1), 0.01) == noise.reach(2.0, 0.01, gaussian=False)
