"""What the arguments of BayesNet ask of a network, and what they cannot ask."""

from __future__ import annotations

import pytest

from understudy.errors import ParameterError
from understudy.synthesis.bayes.constraints import build_constraints
from understudy.synthesis.bayes.network import Network, read_graph

NAMES = ("a", "b", "c", "d")


def test_without_rules_everything_goes_but_oneself():
    rules = build_constraints(NAMES, parents=2)
    assert rules.most.tolist() == [2, 2, 2, 2]
    assert (~rules.allowed).sum() == 4
    assert not rules.allowed.diagonal().any()
    assert rules.required == ((), (), (), ())
    assert rules.first == ()


def test_protection_by_hand():
    rules = build_constraints(NAMES, parents=2, protect={"b": "d", "c": None})
    assert rules.first == (3, 1)  # target, then the attribute it explains
    assert rules.required == ((), (3,), (), ())
    assert rules.most.tolist() == [2, 1, 0, 2]
    allowed = {(NAMES[c], NAMES[p]) for c, p in zip(*rules.allowed.nonzero(), strict=True)}
    assert allowed == {("a", "d"), ("b", "d"), ("d", "a")}


def test_order_root_required_and_forbidden():
    rules = build_constraints(
        NAMES, parents=1, order=("d", "c", "b", "a"), required=[("d", "a")], forbidden=[("b", "a")]
    )
    assert rules.first == (3, 2, 1, 0)
    assert rules.required[0] == (3,)
    assert not rules.allowed[0, 1]
    assert build_constraints(NAMES, parents=1, root="c").first == (2,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"root": "x"}, "root: 'x' is not a column"),
        ({"required": [("a", "x")]}, "required: 'x' is not a column"),
        ({"forbidden": [("x", "a")]}, "forbidden: 'x' is not a column"),
        ({"protect": {"x": "a"}}, "protect: 'x' is not a column"),
        ({"protect": {"a": "x"}}, "protect: 'x' is not a column"),
        ({"protect": ["a"]}, r"mapping from a sensitive attribute to its target; got \['a'\]"),
        ({"protect": {"a": "b", "b": "c"}}, "'b' is protected itself, so it cannot be the target"),
        ({"protect": {"a": "b"}, "required": [("a", "c")]}, "'a' may not be a parent of 'c'"),
        ({"protect": {"a": "b"}, "required": [("c", "a")]}, "'c' may not be a parent of 'a'"),
        ({"protect": {"a": "b"}, "forbidden": [("b", "a")]}, "'b' -> 'a' is forbidden"),
        ({"protect": {"a": "b"}, "root": "c"}, "begins with its target: 'b'"),
        ({"protect": {"a": None}, "root": "a"}, "'a' is protected, so nothing can depend on it"),
        ({"required": [("a", "c"), ("b", "c"), ("d", "c")]}, "must have 3 parents, .* only 2"),
        ({"required": [("a", "b"), ("b", "a")]}, "required has a cycle: b -> a -> b|a -> b -> a"),
        ({"order": ("a", "b", "c")}, "every attribute once. 'd' is not in it"),
        ({"order": ("a", "b", "c", "d", "d")}, "every attribute once"),
        ({"order": NAMES, "root": "b"}, "begins with 'a', but root is 'b'"),
        ({"order": NAMES, "required": [("d", "a")]}, "'d' must be a parent of 'a', but the order"),
    ],
)  # fmt: skip
def test_what_cannot_be_met_is_explained(arguments, message):
    with pytest.raises(ParameterError, match=message):
        build_constraints(NAMES, parents=2, **arguments)


def test_a_user_network_is_checked_against_every_rule():
    rules = build_constraints(
        NAMES, parents=1, protect={"b": "d"}, required=[("d", "c")], forbidden=[("c", "a")]
    )
    network = Network({"d": (), "b": (), "c": ("b",), "a": ("c", "d")})
    with pytest.raises(ParameterError) as error:
        rules.check(network)
    for problem in (
        "'d' must be a parent of 'b'.",
        "'b' may not be a parent of 'c'.",
        "'d' must be a parent of 'c'.",
        "'c' may not be a parent of 'a'.",
        "'a' has 2 parents, more than the 1 allowed.",
    ):
        assert problem in str(error.value)
    rules.check(read_graph([("d", "b"), ("d", "c"), ("d", "a")], NAMES))


def test_a_user_network_that_contradicts_the_order():
    rules = build_constraints(NAMES, parents=1, order=NAMES)
    with pytest.raises(ParameterError, match="'d' is a parent of 'a', but the order puts it later"):
        rules.check(read_graph([("d", "a")], NAMES))


def test_given_attributes_come_first_and_followers_have_one_parent():
    rules = build_constraints("abcd", parents=2, root="b").with_given(["d"], {"c": "a"})
    assert rules.first == (3, 1)
    assert rules.most.tolist() == [2, 2, 1, 0]
    assert rules.required == ((), (), (0,), ())
    assert rules.allowed[2].tolist() == [True, False, False, False]
    assert not rules.allowed[3].any()
    assert rules.allowed[1].tolist() == [True, False, True, True]
