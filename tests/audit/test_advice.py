"""Advice: what is proposed for which release, as data."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from understudy.audit.advice import give_advice
from understudy.audit.advice.case import guessed_method
from understudy.audit.answers import weigh
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
from understudy.audit.task import Given, Task, keys_by_kind
from understudy.risk.scenario import Scenario
from understudy.utility.shares import ColumnShares

HIGH, LOW = 0.3, 0.0
POOR = UtilityFindings(marginals=(WayFindings(2, 1, 0.2, 0.05, 4.0, ()),))
UNIQUES = DisclosureFindings(0.2, 0.2, 0.05, 0.3, 0.1, 0.0, 0.1)
TO_METHOD = {"religion": "method"}


def certain(people):
    values = (0.6, 0.4, 0.5, 0.5, 0.1, 0.2, 0.3, Histogram((), ()))
    return StrongFindings("marginal", "fixed", 1000, people, *values)


ALL_LOW = {
    "numbers": {"lookalikes.p_value": 0.9, "lookalikes.power": 0.01},
    "strong": certain(0),
}


def shares_of(column, original):
    """Return the shares of the values that the release shows."""
    return ColumnShares(column, tuple(original), tuple(original.values()), (0.5,) * len(original))


def advise(
    made=None, gain=HIGH, *, name="release", more=None, also=(), control=0.1, beside=(), **release
):
    figures = (Figure("lookalikes", "Lookalikes", "", 0.1, 0.1, control=control), *also)
    if gain is not None:
        figures += (Figure("gcap", "GCAP", "", 0.5, 0.5 + gain, gain=gain),)
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
    audit = Findings("1", "", 1.0, 0, **audit, releases=(found, *beside))
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
    assert (audit.action, audit.uses, audit.output) == ("audit", "protected", "protected-report")
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


@pytest.mark.parametrize(
    ("method", "own", "changes"),
    [
        ("bayes", {"smoothing": 0}, {"smoothing": "auto"}),
        (
            "bayes",
            {"smoothing": 0, "structure": "greedy", "parents": 1},
            {"smoothing": "auto", "structure": "predictive"},
        ),
        (
            "bayes",
            {"smoothing": [0, 0.0], "structure": [["age", "religion"]]},
            {"smoothing": "auto"},
        ),
        ("cart", {"smoothing_leaves": {"age": 0, "*": 0.0}}, {"smoothing_leaves": "auto"}),
    ],
)
@pytest.mark.parametrize("gain", [HIGH, 0.07])
def test_what_is_not_smoothed_is_to_be_smoothed_first(method, own, changes, gain):
    found = syntheses(MadeBy(method, own), gain)
    assert found[0] == ("smoothed", method, own | changes)
    then = next(one for one in advise(MadeBy(method, own), gain) if one.action == "audit")
    assert (then.uses, then.output) == ("smoothed", "smoothed-report")


@pytest.mark.parametrize(
    "made",
    [
        MadeBy("bayes"),
        MadeBy("bayes", {"smoothing": 2.5}),
        MadeBy("bayes", {"smoothing": {"age": 0, "*": "auto"}}),
        MadeBy("cart", {"smoothing_leaves": 1}),
        MadeBy("cart", {}, ("smoothing_leaves",)),
        MadeBy("copula"),
        MadeBy("independent"),
    ],
)
def test_what_is_smoothed_or_may_be_is_not_smoothed_again(made):
    assert "smoothed" not in [output for output, _, _ in syntheses(made)]


def test_what_is_low_needs_no_smoothing():
    assert syntheses(MadeBy("bayes", {"smoothing": 0}), LOW, **ALL_LOW) == []


def test_a_release_that_is_smoothed_in_the_comparison_is_not_proposed():
    made = MadeBy("bayes", {"smoothing": 0, "parents": 1})
    other = ReleaseFindings("other", "", 1, 1000, made_by=MadeBy("bayes", {"parents": 1}))
    assert "smoothed" not in [output for output, _, _ in syntheses(made, beside=(other,))]


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
    schema, synthesis, audit = advise(MadeBy(method))
    assert (schema.action, schema.parameters) == ("describe", {"bins": 10})
    assert (synthesis.method, synthesis.uses) == (method, schema.output)
    assert audit.uses == synthesis.output


def test_certain_disclosure_proposes_another_method():
    found = syntheses(MadeBy("cart"), LOW, strong=certain(3))
    assert ("independent", "independent", {}) in found


def test_rare_values_are_made_coarser():
    rare = {"numbers": {"rare_values.p_value": 1e-9}, "name": "release"}
    told = Figure("rare_values", "Value told most clearly", "", 0.1, 0.5, gain=0.4)
    kinds = {"numbers": ("age",), "texts": ("education",)}

    def coarser(**more):
        return [
            one for one in advise(MadeBy("cart"), also=(told,), **more) if one.action == "coarsen"
        ]

    def use(ages, schools):
        shares = (shares_of("age", ages), shares_of("education", schools))
        return {"utility": UtilityFindings(shares=shares)}

    (one,) = coarser(more=kinds, **rare)
    assert one.parameters == {"top_code": {"age": 0.99}, "group_rare": {"education": 5}}
    assert one.text == (
        "Cut off the extremes of 'age' and join the rare values of 'education' in the release."
    )
    assert one.code == (
        "synthetic = top_bottom_code(synthetic, limits_by_share(original, {'age': (None, 0.99)}))"
        ".frame\nsynthetic = group_rare(original, synthetic, {'education': 5}).frame"
    )
    assert one.effect == (
        "This takes away single extreme values and rare groups. Records may still stand out by "
        "combinations of keys."
    )
    assert coarser(**rare) == []  # there are no such keys
    # 20% have the largest age, which is the limit itself; one of 1,000 has a school of its own.
    (one,) = coarser(more=kinds, **rare, **use({"9": 0.8, "10": 0.2}, {"a": 0.999, "b": 0.001}))
    assert one.parameters == {"group_rare": {"education": 5}}
    (one,) = coarser(more=kinds, **rare, **use({"9": 0.999, "100": 0.001}, {"a": 0.9, "b": 0.1}))
    assert one.parameters == {"top_code": {"age": 0.99}}
    # In groups, the extremes are not seen. Many texts are counted together.
    many = dict.fromkeys(map(str, range(20)), 0.05)
    (one,) = coarser(more=kinds, **rare, **use({"0 to 9": 0.5, "9 to 20": 0.5}, many))
    assert set(one.parameters) == {"top_code", "group_rare"}
    assert coarser(more=kinds, **rare, **use({"9": 0.8, "10": 0.2}, {"a": 0.9, "b": 0.1})) == []
    assert coarser(more=kinds) == []  # nothing rare was told


def test_only_extremes_that_are_there_are_cut_off(as_frame):
    numbers = {"age": [*range(1, 101)], "few": [1, 2] * 50}
    dates = [dt.datetime(2020, 1, 1, tzinfo=dt.UTC) + dt.timedelta(day) for day in range(100)]
    original = as_frame({**numbers, "born": dates, "job": ["a", "b"] * 50})
    plain = {"target": None, "control": None, "test": None, "groups": {}, "measures": "quick"}
    plain |= {"classifiers": None, "seed": 0, "show_records": False}
    # 99 of 100 are at most 99 years old, and born by the 99th day.
    for oldest, latest, expected in [(99, 98, ()), (100, 98, ("age",)), (99, 99, ("born",))]:
        release = as_frame(
            {
                "age": [1, oldest],
                "few": [1, 2],
                "born": [dates[0], dates[latest]],
                "job": ["a", "b"],
            }
        )
        task = Task(
            original=original,
            releases=(Given("r", (release,)),),
            scenario=Scenario(("age", "few", "born", "job"), "ill"),
            **plain,
        )
        assert keys_by_kind(task, 0.99) == (expected, ("job",))


@pytest.mark.parametrize(("gain", "asked"), [(HIGH, True), (None, True), (LOW, False)])
def test_control_records_are_asked_for_where_they_would_tell(gain, asked):
    found = advise(MadeBy("cart"), gain, control=float("nan"), **ALL_LOW)
    told = [one for one in found if "Give control records" in one.text]
    assert len(told) == asked
    if asked:
        assert told[0].code.endswith("control=control)")


def test_uniques_are_removed():
    found = advise(MadeBy("cart"), disclosure=UNIQUES)
    (one,) = [one for one in found if one.action == "remove uniques"]
    assert one.parameters == {"keys": ["age", "education"]}
    assert "5.00%" in one.text


def test_nearly_all_records_are_not_removed():
    nearly_all = replace(UNIQUES, repu=0.9)
    found = advise(MadeBy("cart"), disclosure=nearly_all)
    assert "remove uniques" not in [one.action for one in found]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (MadeBy("bayes", {"parents": 1}), ("more-parents", "bayes", {"parents": 2})),
        (MadeBy("cart", {"minbucket": 40}), ("smaller-leaves", "cart", {"minbucket": 20})),
        (MadeBy("independent"), ("bayes", "bayes", {"protect": TO_METHOD})),
    ],
)
def test_use_can_be_bought_where_the_risk_is_low(made, expected):
    assert syntheses(made, LOW, utility=POOR, **ALL_LOW) == [expected]
    assert "risk may rise" in advise(made, LOW, utility=POOR, **ALL_LOW)[0].effect
    # What was not measured is not low.
    assert syntheses(made, LOW, utility=POOR) == []


def test_nothing_is_proposed_where_nothing_is_amiss():
    assert advise(MadeBy("cart"), LOW) == ()
    assert advise(MadeBy("cart"), LOW, utility=POOR) == ()  # leaves are as small as they get


def test_without_the_model_it_is_asked_for():
    (found,) = advise(gain=LOW)
    assert (found.action, found.uses, "model" in found.parameters) == ("audit", "", True)
    assert found.code.endswith("target='method', model=model)")


def test_what_failed_is_audited_again():
    (found,) = advise(MadeBy("cart"), None, more={"known": 1})
    assert (found.action, found.uses, found.parameters["known"]) == ("audit", "", 1)


UNSEEN = {"lookalikes.p_value": 0.9, "lookalikes.power": 0.2}
NO_POWER = UNSEEN | {"lookalikes.power": float("nan")}


def told(found):
    return [(one.action, one.parameters.get("control"), one.text.split(":")[0]) for one in found]


def test_copies_that_could_have_been_missed():
    """What is not known about records can be found out, or somebody decides without it."""
    more = ("audit", "control", "Give more control records")
    decide = (
        "decide",
        None,
        "If no more records can be had, decide without an answer about copies.",
    )
    found = advise(MadeBy("cart"), LOW, numbers=UNSEEN, strong=certain(0))
    assert told(found) == [more, decide]
    assert found[1].code == ""
    assert found[1].effect.endswith("may be missed (20.0% could be): its limit 'power' is 5.0%.")
    assert told(advise(MadeBy("cart"), LOW, numbers=NO_POWER, strong=certain(0))) == [decide]
    none = advise(MadeBy("cart"), LOW, numbers=UNSEEN, strong=certain(0), control=float("nan"))
    assert told(none) == [("audit", "control", "Give control records"), decide]


def test_few_records_and_other_names_are_no_failures():
    few = advise(MadeBy("cart"), LOW, more={"rows": 20}, **ALL_LOW)
    assert [one.action for one in few] == ["decide"]
    assert "too few records" in few[0].effect
    numbers = ALL_LOW["numbers"] | {"gcap.known_values": 0.1}
    (renamed,) = advise(MadeBy("cart"), LOW, **(ALL_LOW | {"numbers": numbers}))
    assert "have the same values in the release as in the original" in renamed.text
    alike = Figure("gcap", "GCAP", "", 1.0, 1.0, gain=0.0)
    (constant,) = advise(MadeBy("cart"), None, also=(alike,), **ALL_LOW)
    assert constant.text == "Name another sensitive column."


def test_a_copy_is_not_made_a_release_by_finishing_touches():
    copy = {"copied": 0.99, "one_of_a_kind": 500, "disclosure": UNIQUES}
    assert "remove uniques" not in [one.action for one in advise(MadeBy("cart"), **copy)]


def test_a_release_of_high_risk_needs_no_more_control_records():
    found = advise(MadeBy("cart"), LOW, numbers=UNSEEN, strong=certain(100))
    assert not {"audit", "decide"} & {one.action for one in found if not one.uses}


def test_a_model_without_probabilities():
    errors = {"strong": "Copulas have none"}
    (found,) = advise(MadeBy("copula"), LOW, **(ALL_LOW | {"strong": None}), errors=errors)
    assert (found.action, "Copulas have none." in found.effect) == ("decide", True)


def test_what_is_compared_already_is_not_proposed():
    """The protected release is there, and so is that with four times as many records a leaf."""
    protected = ReleaseFindings("b", "", 1, 1000, made_by=MadeBy("cart", {"protect": TO_METHOD}))
    by_default = MadeBy("cart", {"minbucket": 20, "cp": 1e-8})
    larger = ReleaseFindings("c", "", 1, 1000, made_by=by_default)
    found = advise(MadeBy("cart"), beside=(protected, larger))
    made = [one.output for one in found if one.action == "synthesize"]
    assert made == ["smaller-trees"]
    assert [one.uses for one in found if one.action == "audit"] == ["smaller-trees"]


def test_numbers_have_no_exponent():
    (one,) = [one for one in advise(MadeBy("cart")) if one.output == "smaller-trees"]
    assert "raise cp from 0.00000001 to 0.001." in one.text


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
    schema, synthesis, _ = advise(MadeBy("random"))
    assert schema.code == "Schema.infer(original, bins=10)"
    assert synthesis.code == "Uniform().fit(original, schema).sample()"


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
