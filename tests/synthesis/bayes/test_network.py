"""Networks, and reading those that a user gives."""

from __future__ import annotations

import networkx as nx
import pytest

from understudy.errors import ParameterError
from understudy.synthesis.bayes.network import Network, read_graph, residual_paths

NAMES = ("a", "b", "c", "d")


def test_parents_come_before_their_children():
    with pytest.raises(ParameterError, match=r"parents of 'a' must be .* before it; got 'b'"):
        Network({"a": ("b",), "b": ()})
    with pytest.raises(ParameterError, match="different attributes"):
        Network({"a": (), "b": ("a", "a")})


def test_degree_and_graph():
    network = Network({"a": (), "b": ("a",), "c": ("b", "a")})
    assert network.degree == 2
    assert set(network.to_networkx().edges) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert Network({"a": ()}).degree == 0
    assert Network({}).degree == 0


@pytest.mark.parametrize(
    "graph",
    [[("d", "a"), ("d", "b")], nx.DiGraph([("d", "a"), ("d", "b")]), [["d", "a"], ["d", "b"]]],
)
def test_edges_and_graphs_are_read_alike(graph):
    network = read_graph(graph, NAMES)
    assert network == Network({"c": (), "d": (), "a": ("d",), "b": ("d",)})


def test_columns_keep_their_order_where_edges_allow():
    assert read_graph([], NAMES).names == NAMES
    assert read_graph([("a", "d")], NAMES, order=("b", "a", "d", "c")).names == ("b", "a", "d", "c")


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ([("a", "b"), ("b", "c"), ("c", "a")], r"a cycle: a -> b -> c -> a. Remove one"),
        ([("a", "bb")], r"structure: 'bb' is not a column. Did you mean 'b'\?"),
        (nx.DiGraph([("a", "x1")]), r"'x1' is not a column"),
        ([("a", "a")], r"'a' cannot be its own parent"),
        ([("a", "b", "c")], r"an edge must be a pair \(parent, child\); got \('a', 'b', 'c'\)"),
        (["ab"], r"an edge must be a pair"),
        (7, r"structure must be a list of edges \(parent, child\); got 7"),
    ],
)
def test_wrong_graphs_are_explained(graph, message):
    with pytest.raises(ParameterError, match=message):
        read_graph(graph, NAMES)


@pytest.mark.parametrize(
    ("parents", "expected"),
    [
        # chain: everything below the target is reached through it
        ({"t": (), "s": ("t",), "x": ("t",), "y": ("x",)}, ["st", "stx", "stxy"]),
        # the target's own parent
        ({"x": (), "t": ("x",), "s": ("t",)}, ["st", "stx"]),
        # siblings through a common ancestor, and an attribute that stands alone
        ({"r": (), "t": ("r",), "s": ("t",), "x": ("r",), "z": ()}, ["st", "str", "strx"]),
        # a collider is no link: t and x meet only in y
        ({"t": (), "s": ("t",), "x": (), "y": ("t", "x")}, ["st", "sty"]),
        # without a target nothing remains
        ({"s": (), "t": (), "x": ("t",)}, []),
    ],
)
def test_residual_paths_by_structure(parents, expected):
    assert residual_paths(Network(parents), {"s": "t"}) == {"s": [tuple(path) for path in expected]}
