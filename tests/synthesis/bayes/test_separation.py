"""Protection along paths: what a search may use, what a user's network may not have."""

from __future__ import annotations

from itertools import permutations

import networkx as nx
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy import BayesNet
from understudy.errors import ParameterError
from understudy.synthesis.bayes.constraints import build_constraints
from understudy.synthesis.bayes.network import read_graph
from understudy.synthesis.bayes.separation import read_separation, separating

NAMES = ("a", "b", "s", "t")


def linked_table(rows: int = 3000) -> pl.DataFrame:
    """Return records in which everything depends on a: b, s, and t on all of them."""
    rng = np.random.default_rng(3)
    a = rng.integers(0, 4, rows)
    b = np.where(rng.random(rows) < 0.8, a, rng.integers(0, 4, rows))
    s = np.where(rng.random(rows) < 0.8, a, rng.integers(0, 4, rows))
    t = (a + s + (rng.random(rows) < 0.2)) % 4
    return pl.DataFrame({"a": a, "b": b, "s": s, "t": t}).cast(pl.String)


def test_what_a_search_may_use_by_hand():
    allowed = separating([("s", "a"), ("s", "b")], NAMES)
    # a and b only from each other, s from nothing but itself, t from everything.
    assert allowed.tolist() == [
        [True, True, False, False],
        [True, True, False, False],
        [False, False, True, False],
        [True, True, True, True],
    ]
    assert separating([], NAMES).all()


def test_required_edges_order_what_comes_first():
    names = ("a", "b", "s", "t")
    rules = build_constraints(
        names=names, parents=2, protect_from={"s": ["a", "b"]}, required=[("b", "a")]
    )
    assert [names[place] for place in rules.first] == ["s", "b", "a"]


@settings(max_examples=60, deadline=None)
@given(
    pairs=st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")).filter(lambda p: p[0] != p[1]),
        min_size=1,
        max_size=4,
    ),
    seed=st.integers(0, 10**6),
)
def test_no_network_of_allowed_edges_links_a_pair(pairs, seed):
    names = list("abcdef")
    rng = np.random.default_rng(seed)
    allowed = separating(pairs, names)
    order = rng.permutation(len(names))
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    for later, child in enumerate(order):
        for parent in order[:later]:
            if allowed[child, parent]:
                graph.add_edge(names[parent], names[child])
    assert all(nx.is_d_separator(graph, one, other, set()) for one, other in pairs)


@pytest.mark.parametrize("structure", ["predictive", "greedy", "genetic", "optimal"])
def test_a_protected_column_is_independent_of_the_chosen_ones(structure):
    table = linked_table()
    model = BayesNet(
        2, structure, protect_from={"s": ["a", "b"]}, generations=30, random_state=1
    ).fit(table)
    graph = model.network_.to_networkx()
    assert all(nx.is_d_separator(graph, "s", key, set()) for key in "ab")
    # The others may still depend on both.
    assert {"s", "a"} & set(model.network_.parents["t"])
    drawn = model.sample(20_000, random_state=2)
    agree = (drawn["s"] == drawn["a"]).mean()
    shares = [drawn[name].value_counts(normalize=True, sort=True) for name in "sa"]
    chance = (
        shares[0]
        .join(shares[1], left_on="s", right_on="a")
        .select((pl.col("proportion") * pl.col("proportion_right")).sum())
        .item()
    )
    # In the original they agree in 85% of the records; by chance the share varies by 0.3%.
    assert abs(agree - chance) < 0.015
    assert (table["s"] == table["a"]).mean() > 0.8


def test_numbers_inside_bins_do_not_tell_either():
    rng = np.random.default_rng(5)
    a = rng.normal(size=4000)
    s = a + 0.3 * rng.normal(size=4000)
    table = pl.DataFrame({"a": a, "s": s, "t": a + s + 0.1 * rng.normal(size=4000)})
    model = BayesNet(protect_from={"s": "a"}, random_state=1).fit(table)
    drawn = model.sample()
    found = np.corrcoef(drawn["s"].to_numpy(), drawn["a"].to_numpy())[0, 1]
    assert abs(found) < 4 / np.sqrt(4000)  # four standard errors of a correlation of 0
    assert np.corrcoef(drawn["s"].to_numpy(), drawn["t"].to_numpy())[0, 1] > 0.3


def test_a_network_of_ones_own_is_judged_by_its_paths():
    rules = build_constraints(NAMES, parents=2, protect_from={"s": ["a"]}, searched=False)
    rules.check(read_graph([("b", "s"), ("a", "t"), ("s", "t")], NAMES))  # t is a collider
    with pytest.raises(ParameterError, match="a path links them: s - b - a"):
        rules.check(read_graph([("b", "s"), ("b", "a")], NAMES))
    table = linked_table(500)
    with pytest.raises(ParameterError, match="'s' is to be independent of 'a'"):
        BayesNet(structure=[("a", "b"), ("b", "s")], protect_from={"s": ["a"]}).fit(table)


def test_every_order_of_a_collider_is_fine():
    rules = build_constraints(NAMES, parents=3, protect_from={"s": ["a", "b"]}, searched=False)
    for order in permutations("abs"):
        rules.check(read_graph(dict.fromkeys(order, ()) | {"t": order}, NAMES))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"protect_from": ["s"]}, "must be a mapping from a sensitive attribute"),
        ({"protect_from": {"s": []}}, "name at least one column from which 's' is protected"),
        ({"protect_from": {"s": ["s"]}}, "cannot be protected from itself"),
        ({"protect_from": {"s": ["x"]}}, "protect_from: 'x' is not a column"),
        ({"protect_from": {"s": "a"}, "protect": {"s": "t"}}, "Give one of them"),
        ({"protect_from": {"s": "a"}, "required": [("a", "s")]}, "may not be a parent of 's'"),
        ({"protect_from": {"s": "a"}, "keep": ("s",)}, "'s' is to be protected"),
        ({"protect": {"s": None}, "keep": ("s",)}, "'s' is to be protected"),
        ({"required": [("a", "b")], "keep": ("b",)}, "'b' is kept as it is"),
    ],
)
def test_what_cannot_be_asked(arguments, message):
    with pytest.raises(ParameterError, match=message):
        build_constraints(NAMES, parents=2, **arguments)


def test_one_name_stands_for_a_list():
    assert read_separation({"s": "a"}, NAMES) == (("s", "a"),)
    assert read_separation(None, NAMES) == ()
