"""Advice: what is proposed for which release, as data."""

from __future__ import annotations

import pytest

from understudy.audit.advice import give_advice, guessed_method
from understudy.audit.findings import (
    DisclosureFindings,
    Figure,
    Findings,
    Histogram,
    MadeBy,
    NetworkFindings,
    ReleaseFindings,
    StrongFindings,
    UtilityFindings,
    WayFindings,
)
from understudy.audit.levels import weigh

HIGH, LOW = 0.3, 0.0
POOR = UtilityFindings(marginals=(WayFindings(2, 1, 0.2, 0.05, 4.0, ()),))
UNIQUES = DisclosureFindings(0.2, 0.2, 0.05, 0.3, 0.1, 0.0, 0.1)
TO_METHOD = {"religion": "method"}


def certain(people):
    values = (0.6, 0.4, 0.5, 0.5, 0.1, 0.2, 0.3, Histogram((), ()))
    return StrongFindings("marginal", "fixed", 1000, people, *values)


def advise(made=None, gain=HIGH, *, name="release", more=None, **release):
    figures = () if gain is None else (Figure("gcap", "GCAP", "", 0.5, 0.5 + gain, gain=gain),)
    words = "known" if made is not None else ""
    found = ReleaseFindings(name, words, 1, 1000, figures=figures, made_by=made, **release)
    audit = {
        "command": "",
        "measures": "standard",
        "rows": 1000,
        "columns": 4,
        "keys": ("age", "education"),
        "known": None,
        "sensitive": "religion",
        "target": "method",
    } | (more or {})
    audit = Findings("1", "", 1.0, 0, **audit, releases=(found,))
    return give_advice(audit, found, weigh(audit, found))


def syntheses(*args, **more):
    """Return what is to be synthesized: its name, the method and the parameters."""
    return [
        (one.output, one.method, dict(one.parameters))
        for one in advise(*args, **more)
        if one.action == "synthesize"
    ]


def test_a_network_is_protected_and_gets_fewer_parents():
    own = {"parents": 2, "structure": "genetic"}
    found = advise(MadeBy("bayes", own))
    assert syntheses(MadeBy("bayes", own)) == [
        ("protected", "bayes", own | {"protect": TO_METHOD}),
        ("fewer-parents", "bayes", own | {"parents": 1}),
    ]
    audit = found[-1]
    assert (audit.action, audit.output) == ("audit", "protected")
    assert audit.parameters == {
        "keys": ["age", "education"],
        "sensitive": "religion",
        "target": "method",
    }
    assert {one.release for one in found} == {"release"}
    assert all(one.text for one in found)
    assert all(one.effect for one in found[:-1])


def test_trees_get_larger_leaves_and_fewer_splits():
    assert syntheses(MadeBy("cart")) == [
        ("protected", "cart", {"protect": TO_METHOD}),
        ("larger-leaves", "cart", {"minbucket": 20}),
        ("smaller-trees", "cart", {"cp": 0.001}),
    ]


def test_what_is_protected_already_is_not_protected_again():
    named = syntheses(MadeBy("bayes", {"parents": 1, "protect": TO_METHOD}))
    network = NetworkFindings((), (), ("religion",))
    drawn = syntheses(MadeBy("bayes", {"parents": 1}), network=network)
    assert named == drawn == [("independent", "independent", {})]


def test_other_protected_columns_stay_so():
    found = syntheses(MadeBy("cart", {"protect": {"age": None}, "cp": 0.01}))
    assert found[0][2] == {"protect": {"age": None, "religion": "method"}, "cp": 0.01}
    assert found[2][2]["cp"] == 0.1


@pytest.mark.parametrize(
    ("more", "target"),
    [
        ({}, "method"),
        ({"target": ""}, None),
        ({"target": "religion"}, None),
        ({"target": "age"}, None),
    ],
)
def test_a_protected_column_stays_linked_to_a_target_that_is_no_key(more, target):
    assert syntheses(MadeBy("cart"), more=more)[0][2] == {"protect": {"religion": target}}


@pytest.mark.parametrize("made", [MadeBy("copula"), None])
def test_copulas_and_other_tools_are_replaced(made):
    first = advise(made)[0]
    assert (first.method, first.parameters) == ("bayes", {"protect": TO_METHOD})
    assert "another method" in first.text


@pytest.mark.parametrize("method", ["independent", "random"])
def test_single_values_are_grouped(method):
    (found,) = advise(MadeBy(method))
    assert (found.action, found.parameters) == ("describe", {"bins": 10})


def test_certain_disclosure_proposes_another_method():
    found = syntheses(MadeBy("cart"), LOW, strong=certain(3))
    assert ("independent", "independent", {}) in found


def test_uniques_are_removed():
    found = advise(MadeBy("cart"), disclosure=UNIQUES)
    (one,) = [one for one in found if one.action == "remove uniques"]
    assert one.parameters == {"keys": ["age", "education"]}
    assert "5.00%" in one.text


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (MadeBy("bayes", {"parents": 1}), ("more-parents", "bayes", {"parents": 2})),
        (MadeBy("cart", {"minbucket": 40}), ("smaller-leaves", "cart", {"minbucket": 20})),
        (MadeBy("independent"), ("bayes", "bayes", {"protect": TO_METHOD})),
    ],
)
def test_use_can_be_bought_where_the_risk_is_low(made, expected):
    assert syntheses(made, LOW, utility=POOR) == [expected]
    assert "risk may rise" in advise(made, LOW, utility=POOR)[0].effect


def test_nothing_is_proposed_where_nothing_is_amiss():
    assert advise(MadeBy("cart"), LOW) == ()
    assert advise(MadeBy("cart"), LOW, utility=POOR) == ()  # leaves are as small as they get


def test_without_the_model_it_is_asked_for():
    (found,) = advise(gain=LOW)
    assert (found.action, found.parameters["model"]) == ("audit", "model.us")


def test_what_failed_is_audited_again():
    (found,) = advise(MadeBy("cart"), None, more={"known": 1})
    assert (found.action, found.output, found.parameters["known"]) == ("audit", "", 1)


def test_without_a_sensitive_column_there_is_nothing_to_audit():
    assert advise(gain=None, more={"sensitive": ""}) == ()


def test_what_is_not_kept_is_named_and_left_alone():
    found = advise(MadeBy("cart", {"cp": 0.1}, ("minbucket", "rules")))
    assert "Set minbucket and rules again as before" in found[0].sentences
    assert "larger-leaves" not in [one.output for one in found]


def test_the_same_in_python():
    found = advise(MadeBy("cart", {"minbucket": 9}), disclosure=UNIQUES)
    code = {one.output: one.code for one in found[:-1]}
    assert code["larger-leaves"] == "Cart(minbucket=36).fit(original).sample()"
    assert code["without-uniques"] == (
        "remove_replicated_uniques(original, synthetic, keys=['age', 'education']).frame"
    )
    assert found[-1].code.startswith("understudy.audit(original, protected, keys=['age'")
    assert advise(MadeBy("random"))[0].code == "Schema.infer(original, bins=10)"


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("cart", "cart"),
        ("BayesNet", "bayes"),
        ("out/cart-1.csv", "cart"),
        ("random", "random"),
        ("Bayes protected", "bayes"),
    ],
)
def test_a_release_can_be_named_after_its_method(name, method):
    assert guessed_method(name) == MadeBy(method)


@pytest.mark.parametrize("name", ["release.csv", "random-sample.csv", "", "cartoon.csv"])
def test_other_names_tell_nothing(name):
    assert guessed_method(name) is None
