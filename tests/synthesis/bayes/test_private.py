"""Private networks: the score and its sensitivity by brute force, what is tried, what is paid."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from understudy import BayesNet, Coded, Schema
from understudy.data.schema import Column
from understudy.errors import ParameterError
from understudy.privacy import Accountant, Guarantee, noise
from understudy.synthesis.bayes.constraints import build_constraints
from understudy.synthesis.bayes.private import (
    SHARE_FOR_STRUCTURE,
    cell_limit,
    private_search,
    score_of,
    score_sensitivity,
)


def tables(records, cells):
    """Yield all tables of so many records."""
    for places in itertools.combinations_with_replacement(range(cells), records):
        yield np.bincount(places, minlength=cells)


def moves(counts):
    """Yield all tables with one record changed."""
    for one, other in itertools.permutations(range(len(counts)), 2):
        if counts[one]:
            changed = counts.copy()
            changed[one] -= 1
            changed[other] += 1
            yield changed


def naive(counts, child):
    """Return the score by its definition: half the distance to the product of shares."""
    shares = counts / counts.sum()
    own = shares.sum(axis=1 - child)
    rest = shares.sum(axis=child)
    product = np.outer(own, rest) if child == 0 else np.outer(rest, own)
    return counts.sum() * np.abs(shares - product).sum() / 2


def test_score_by_its_definition():
    rng = np.random.default_rng(1)
    for _ in range(20):
        counts = rng.integers(0, 9, (3, 4))
        for child in (0, 1):
            assert score_of(counts, int(counts.sum()), child) == pytest.approx(naive(counts, child))
    assert score_of(np.zeros((2, 2), int), None, 0) == 0
    assert score_of(np.outer([2, 4], [1, 2]), 18, 1) == 0  # independent


@pytest.mark.parametrize(
    ("shape", "records"), [((2, 2), 6), ((2, 3), 4), ((3, 3), 3), ((2, 2, 2), 3)]
)
def test_score_sensitivity_by_brute_force_with_one_changed(shape, records):
    cells = int(np.prod(shape))
    largest = max(
        abs(score_of(a.reshape(shape), records, 0) - score_of(b.reshape(shape), records, 0))
        for a in tables(records, cells)
        for b in moves(a)
    )
    assert 0.9 < largest <= score_sensitivity(records)


def test_score_sensitivity_if_a_record_moves_out_of_the_domain():
    # The last cell is outside: it counts in the number of records alone.
    for a in tables(4, 5):
        for b in moves(a):
            one, other = (score_of(c[:4].reshape(2, 2), 4, 1) for c in (a, b))
            assert abs(one - other) <= score_sensitivity(4)


@pytest.mark.parametrize("shape", [(2, 2), (2, 3)])
def test_score_sensitivity_by_brute_force_with_one_added(shape):
    cells = int(np.prod(shape))
    largest = 0.0
    for records in range(5):
        for a in tables(records, cells):
            for place in range(cells):
                b = a.copy()
                b[place] += 1
                one, other = (score_of(c.reshape(shape), None, 1) for c in (a, b))
                largest = max(largest, abs(one - other))
    assert 0.5 < largest <= score_sensitivity(None)


def test_the_bound_of_a_changed_record_is_nearly_reached():
    # A large table whose cells are just above and below independence: the score moves by nearly 3.
    levels, each = 20, 1000
    counts = np.full((levels, levels), each)
    counts[0, 1:] += 50
    counts[0, 0] -= 50 * (levels - 1)
    counts[1:, 0] += 50
    counts[1:, 1:] -= 3
    counts[1, 1] += 400
    rows = int(counts.sum())
    changed = counts.copy()
    changed[0, 0] -= 1
    changed[1, 1] += 1
    moved = abs(score_of(changed, rows, 1) - score_of(counts, rows, 1))
    assert 2.5 < moved < score_sensitivity(rows)


PEOPLE = {"a": ["x", "y"] * 400, "b": ["x", "y"] * 400, "c": (["p"] * 5 + ["q"] * 3) * 100}
SCHEMA = Schema(
    [
        Column("a", "categorical", levels=("x", "y")),
        Column("b", "categorical", levels=("x", "y")),
        Column("c", "categorical", levels=("p", "q")),
    ]
).as_public()


def search(epsilon, rows=800, **limits):
    names = tuple(PEOPLE)
    coded = Coded.from_arrays(
        {name: np.unique(values, return_inverse=True)[1] for name, values in PEOPLE.items()},
        dict.fromkeys(names, 2),
    )
    accountant = Accountant(Guarantee(Fraction(epsilon), Fraction(0)), pure=True)
    constraints = build_constraints(names, **({"parents": 2} | limits))
    found = private_search(coded, constraints, accountant, rows, np.random.default_rng(1))
    return found.to_network(names), accountant


def test_the_search_finds_a_copy_and_pays_its_share():
    network, accountant = search(100, parents=1)
    assert "a" in network.parents["b"] or "b" in network.parents["a"]
    assert accountant.ledger.spent == SHARE_FOR_STRUCTURE * 100
    assert len(accountant.ledger.entries) == 2


def test_without_links_nothing_is_paid_for_them(caplog):
    network, accountant = search(Fraction(1, 100))
    assert not any(network.parents.values())
    assert accountant.ledger.entries == ()
    assert "noise would hide every link" in caplog.text


def test_links_are_tried_by_what_is_public_alone():
    # 800 records, 3 columns: a cell has 12 times as many as noise up to this many cells.
    accountant = Accountant(Guarantee(Fraction(10), Fraction(0)), pure=True)
    scale = 2 / (10 * (1 - float(SHARE_FOR_STRUCTURE)) / 3)
    assert cell_limit(800, 3, accountant) == int(800 / (12 * scale))


def test_a_given_structure_costs_nothing():
    model = BayesNet(structure=[("a", "b")], epsilon=2).fit(pl.DataFrame(PEOPLE), SCHEMA)
    asked = [entry.what for entry in model.ledger_.entries]
    assert "network" not in " ".join(asked)
    assert "values of 'b' given 'a'" in asked
    assert model.ledger_.left == 0


def test_protected_links_are_not_measured():
    model = BayesNet(protect={"b": None}, epsilon=50).fit(pl.DataFrame(PEOPLE), SCHEMA)
    assert not model.network_.parents["b"]
    assert not any("b" in own for own in model.network_.parents.values())


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"structure": "genetic"}, "structure='genetic' cannot be private: the search compares"),
        ({"structure": "optimal"}, "structure='optimal' cannot be private"),
        ({"smoothing": 2}, "smoothing, min_count and decode cannot be set"),
        ({"decode": "interpolate"}, "decode cannot be set"),
    ],
)
def test_settings_that_cannot_be_private_are_refused(parameters, reason):
    with pytest.raises(ParameterError, match=reason):
        BayesNet(epsilon=1, **parameters).fit(pl.DataFrame(PEOPLE), SCHEMA)


@pytest.mark.parametrize("neighbours", ["change-one", "add-remove"])
def test_tables_are_the_noisy_counts_and_nothing_else(neighbours, monkeypatch):
    seen = {}

    def noisy(counts, scale):
        seen[counts.tobytes()] = scale
        return counts - 1

    monkeypatch.setattr(noise, "with_laplace", noisy)
    model = BayesNet(structure=[("a", "b")], epsilon=3, neighbours=neighbours)
    model.fit(pl.DataFrame(PEOPLE), SCHEMA)
    assert model.tables_["b"].weights.tolist() == [[399, 0], [0, 399]]
    # 1% for what lies outside, the rest for three tables of 2, 4 and 2 cells, by their roots.
    size = 2 if neighbours == "change-one" else 1
    share = 2 / (2 + 2 * 2**0.5)
    assert min(seen.values()) == pytest.approx(size / (3 * 0.99 * share), rel=1e-3)
