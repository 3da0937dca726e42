"""The gate: names, conditions, and what fails, passes, or cannot be told."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.audit import audit
from understudy.audit.findings import (
    AnonymityFindings,
    AssociationFindings,
    DisclosureFindings,
    Figure,
    Findings,
    Histogram,
    PredictionFindings,
    PropensityFindings,
    ReleaseFindings,
    StrongFindings,
    UtilityFindings,
    WayFindings,
)
from understudy.audit.gate import Condition, check
from understudy.audit.gate_names import figure_names, metrics_of
from understudy.audit.levels import LEVELS
from understudy.audit.measures import MEASURES, figure_kinds
from understudy.errors import ParameterError

GROUPS = figure_names()
FIGURES = [kind.name for kind in figure_kinds()]
METRICS = [f"{group}.{figure}" for group, figures in GROUPS.items() for figure in figures]

NAN = math.nan


def release(gain=0.02, name="cart", **more):
    figure = Figure("gcap", "GCAP", "", baseline=0.5, synthetic=0.5 + gain, gain=gain)
    return ReleaseFindings(name, "", 1, 100, figures=(figure,), **more)


def findings(*releases):
    return Findings("1", "", 1.0, 0, "", "quick", 100, 3, ("a",), None, "b", "", releases)


def attack(certain=3, records=100):
    return StrongFindings(
        "marginal", "fixed", records, certain, 0.6, 0.4, 0.5, 0.75, 0.1, 1.5, 2.0, Histogram((), ())
    )


UTILITY = UtilityFindings(
    marginals=(WayFindings(1, 3, 0.1, 0.05, 2.0, ()), WayFindings(2, 3, 0.2, 0.1, 2.5, ())),
    association=AssociationFindings((), (), (), 0.01, 0.2, 0.02),
    propensity=(
        PropensityFindings("cart", 0.01, 1.5, 2.0, 0.7, 0.6),
        PropensityFindings("logistic with interactions", 0.02, 3.0, 4.0, 0.8, 0.5),
    ),
    prediction=PredictionFindings("t", (), "", "", 0.4, 0.7, 0.65, -0.05, ()),
)


# Names


def test_names_of_all_figures():
    told = DisclosureFindings(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, -0.1)
    classes = AnonymityFindings(2, 3, 1, 2, 0.5, 0.25)
    every = tuple(Figure(measure, "", "") for measure in FIGURES)
    made = ReleaseFindings(
        "cart",
        "",
        1,
        9,
        every,
        strong=attack(),
        disclosure=told,
        anonymity=classes,
        utility=UTILITY,
    )
    found = metrics_of(made)
    assert set(found) <= set(METRICS)
    # all groups but the tables, the model and the units that were not made here
    absent = {"marginals.3", "marginals.4", "propensity.logistic", "strong_unit"}
    absent |= {
        "correlation",
        "conditional_means",
        "impossible",
        "dependencies",
        "privacy",
    }  # which have tests of their own
    assert {name.rpartition(".")[0] for name in found} == set(GROUPS) - absent
    values = {
        "strong.certain": 3,
        "strong.certain_share": 0.03,
        "strong.gain": 0.25,
        "strong.mean_gain_bits": 0.1,
        "strong.gain_bits_99_percent": 1.5,
        "strong.max_gain_bits": 2,
        "strong.share_above_half": 0.6,
        "strong.share_above_90_percent": 0.4,
        "disclosure.disco_gain": -0.1,
        "disclosure.uis": 0.2,
        "anonymity.k_synthetic": 3,
        "anonymity.t_original": 0.5,
        "marginals.1.ratio": 2,
        "marginals.2.mean": 0.2,
        "association.largest_difference": 0.2,
        "propensity.cart.auc": 0.7,
        "propensity.logistic_with_interactions.ratio": 3,
        "prediction.difference": -0.05,
        "prediction.real": 0.7,
        "prediction.synthetic": 0.65,
        "prediction.baseline": 0.4,
    }
    assert {name: found[name] for name in values} == pytest.approx(values)


def test_a_measure_beside_its_references():
    found = metrics_of(release(0.25))
    assert found["gcap.baseline"] == 0.5
    assert found["gcap.synthetic"] == 0.75
    assert found["gcap.gain"] == 0.25
    assert math.isnan(found["gcap.control"])
    assert len(found) == 6


def test_a_strong_attacker_without_records():
    found = metrics_of(release(strong=attack(certain=0, records=0)))
    assert math.isnan(found["strong.certain_share"])


# Conditions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gcap.gain > 0.05", Condition("gcap.gain", ">", 0.05)),
        ("gcap.gain>5%", Condition("gcap.gain", ">", 0.05)),
        ("  vote.gain  >=  5 % ", Condition("vote.gain", ">=", 0.05)),
        ("strong.certain > 0", Condition("strong.certain", ">", 0)),
        ("prediction.difference < -.02", Condition("prediction.difference", "<", -0.02)),
        ("anonymity.k_synthetic <= 1e1", Condition("anonymity.k_synthetic", "<=", 10)),
        ("marginals.2.ratio > +2.", Condition("marginals.2.ratio", ">", 2)),
        ("[cart] gcap.gain > 0", Condition("gcap.gain", ">", 0, "cart")),
        ("[out/a [1].csv]gcap.gain > 0", Condition("gcap.gain", ">", 0, "out/a [1].csv")),
    ],
)
def test_conditions_are_read(text, expected):
    found = Condition.parse(text)
    assert (found.measure, found.comparison, found.release) == (
        expected.measure,
        expected.comparison,
        expected.release,
    )
    assert found.limit == pytest.approx(expected.limit)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gcap.gain",
        "gcap.gain > ",
        "> 0.05",
        "gcap.gain = 0.05",
        "gcap.gain == 0.05",
        "gcap.gain != 0.05",
        "gcap.gain > five",
        "gcap.gain > 0,05",
        "gcap.gain > nan",
        "gcap.gain > inf",
        "gcap.gain > 1e999",
        "gcap.gain > 0.05 and vote.gain > 0.05",
        "gcap.gain > __import__('os').getpid()",
        "gcap.gain > \u0665",  # a digit, but not ours
        "[cart gcap.gain > 0",
        "0.05 < gcap.gain",
        None,
        5,
    ],
)
def test_malformed_conditions_show_the_form(text):
    with pytest.raises(ParameterError, match=r"is not a condition\. Write MEASURE\.FIGURE > "):
        Condition.parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "gcap.gian > 0",
            r"no figure 'gcap\.gian'\. Did you mean 'gcap\.gain'\? gcap has baseline",
        ),
        ("gcpa.gain > 0", r"Did you mean 'gcap\.gain'\? .*Measures: gcap, icap, .*prediction.*\."),
        ("gcap > 0", r"'gcap' has several figures; name one: gcap\.baseline, "),
        ("strong.certian > 0", r"Did you mean 'strong\.certain'\?"),
        ("marginals.9.ratio > 0", r"Did you mean 'marginals\.[1-4]\.ratio'\?"),
        ("weather > 0", r"no figure 'weather'\. A name is a measure, a dot, and a figure"),
        ("verdcit >= raised", r"Did you mean 'verdict'\? .*Levels: verdict, records, ordinary"),
        (
            "verdict >= rised",
            r"low, not measured, raised, high \(.*'rised'\. Did you mean 'raised'",
        ),
        ("records > 0.5", r"'records' is compared with a level, one of low, .*; got '0\.5'"),
    ],
)
def test_typos_get_the_nearest_name(text, message):
    with pytest.raises(ParameterError, match=message):
        Condition.parse(text)


def test_every_name_can_be_used():
    assert all(Condition.parse(f"{name} > 1").measure == name for name in METRICS)


PIECES = st.sampled_from(
    ["gcap.gain", "[", "]", "cart", ">", ">=", "<", "%", "5", ".", "e", "-", " "]
)


@given(st.one_of(st.text(), st.lists(PIECES).map("".join)))
def test_reading_raises_nothing_but_our_error(text):
    try:
        condition = Condition.parse(text)
    except ParameterError:
        return
    assert math.isfinite(condition.limit)
    assert condition.measure in METRICS


NUMBERS = st.floats(-1, 1).map(lambda number: float(f"{number:g}"))


@given(st.sampled_from(METRICS), st.sampled_from([">", ">=", "<", "<="]), NUMBERS)
def test_a_condition_reads_as_it_is_written(measure, comparison, limit):
    condition = Condition(measure, comparison, limit, "a b")
    assert Condition.parse(str(condition)) == condition


# Levels: the order is low, not measured, raised, high.


@pytest.mark.parametrize(
    ("text", "failing"),
    [
        ("verdict >= raised", {"raised", "high"}),
        ("verdict > low", {"not measured", "raised", "high"}),
        ("verdict != low", {"not measured", "raised", "high"}),
        ("verdict = high", {"high"}),
        ("verdict == high", {"high"}),
        ("verdict <= not measured", {"low", "not measured"}),
        ("strongest=not  measured", {"not measured"}),
        ('strongest = "not measured"', {"not measured"}),
        ("ordinary < High", {"low", "not measured", "raised"}),
    ],
)
def test_levels_are_compared_by_how_serious_they_are(text, failing):
    condition = Condition.parse(text)
    assert {level for level in LEVELS if condition.holds(level)} == failing
    assert Condition.parse(str(condition)) == condition


def test_levels_of_a_release():
    # A gain of 25 points among 1,000 without control records is raised; the rest was not run.
    made = replace(findings(release(0.25), release(0.0, "bayes")), rows=1_000)
    result = check(made, ["verdict >= raised", "strongest = not measured", "ordinary > low"])
    assert [(one.release, str(one.condition), one.value) for one in result.failed] == [
        ("cart", "verdict >= raised", "raised"),
        ("cart", "strongest = not measured", "not measured"),
        ("cart", "ordinary > low", "raised"),
        ("bayes", "strongest = not measured", "not measured"),
    ]
    first, second, *_ = result.summary().splitlines()[1:]
    assert first.startswith("  - cart: verdict is raised; the gate fails if it is >= raised. ")
    assert "it needs the model that made the release" in second
    json.dumps(result.to_dict(), allow_nan=False)


def test_a_level_that_was_not_measured_passes_with_a_word():
    result = check(findings(release(0.0)), ["verdict >= raised"])
    assert result.exit_code == 0
    (note,) = result.notes
    assert note.startswith("cart: verdict is not measured, which 'verdict >= raised' allows. ")
    assert note in result.summary()


def test_ignoring_what_is_missing_is_about_figures():
    result = check(findings(release(0.0)), ["records != low"], missing="ignore")
    assert (result.exit_code, result.ignored) == (1, 0)


# The gate


@pytest.mark.parametrize(
    ("text", "fails"),
    [
        ("gcap.gain > 0.25", False),
        ("gcap.gain >= 0.25", True),
        ("gcap.gain > 24%", True),
        ("gcap.gain < 0.25", False),
        ("gcap.gain <= 0.25", True),
        ("gcap.gain < 0.26", True),
    ],
)
def test_comparisons(text, fails):
    result = check(findings(release(0.25)), [text])
    assert (len(result.failed), result.passed) == ((1, 0) if fails else (0, 1))
    assert result.exit_code == int(fails)


def test_pass():
    result = check(findings(release(0.02)), ["gcap.gain > 0.05", "gcap.synthetic > 0.9"])
    assert result.exit_code == 0
    assert str(result) == "Gate passed: 2 of 2 checks."


def test_a_failure_shows_measure_value_and_limit():
    result = check(
        findings(release(0.25), release(0.02, "bayes")), ["gcap.gain > 0.05", "gcap.gain > 0.5"]
    )
    assert result.passed == 3
    (failure,) = result.failed
    assert (failure.release, failure.measure) == ("cart", "gcap.gain")
    assert (failure.value, failure.limit) == (0.25, 0.05)
    assert result.summary() == (
        "Gate failed: 1 of 4 checks.\n  - cart: gcap.gain is 0.25; the gate fails if it is > 0.05"
    )


def test_a_value_just_beyond_the_limit_is_shown_in_full():
    beyond = 0.05 + 1e-12
    result = check(findings(release(beyond)), ["gcap.gain > 0.05"])
    assert repr(beyond) in result.summary()


def test_a_condition_for_one_release():
    both = findings(release(0.25), release(0.25, "bayes"))
    result = check(both, ["[bayes] gcap.gain > 0.05"])
    assert [failure.release for failure in result.failed] == ["bayes"]
    assert result.passed == 0


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (release(NAN), "not measured"),
        (ReleaseFindings("cart", "", 1, 9), "not measured"),
        (
            ReleaseFindings("cart", "", 1, 9, errors={"attribution": "KeyError."}),
            "not measured: KeyError",
        ),
        (
            ReleaseFindings("cart", "", 1, 9, (Figure("gcap", "", "", note="no keys."),)),
            "not measured: no keys",
        ),
    ],
)
def test_what_was_not_measured_does_not_pass(made, reason):
    result = check(findings(made), ["gcap.gain > 0.05"])
    assert result.exit_code == 1
    assert result.failed[0].reason == reason
    assert f"gcap.gain was {reason} (limit: gcap.gain > 0.05)" in result.summary()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("gcap.control", "it needs control records"),
        ("gcap.difference_p_value", "it needs control records"),
        ("gcap.spread", "it needs several syntheses"),
        ("strong.certain", "it needs the model that made the release"),
        ("membership.share_above_90_percent", "it needs the model that made the release"),
        ("membership_control.p_value", "it needs control records"),
        ("vote.gain", "it needs the standard measures, and these are quick"),
        ("marginals.2.ratio", ""),
    ],
)
def test_the_reason_says_what_is_needed(name, why):
    (failure,) = check(findings(release(0.0)), [f"{name} > 1"]).failed
    assert failure.reason == (f"not measured: {why}" if why else "not measured")


def test_every_number_of_an_audit_has_a_name(people, unrelated):
    parts = people.head(120), people.tail(80)
    found = audit(
        parts[0],
        [unrelated.head(120), unrelated.tail(80)],
        control=parts[1],
        keys=["age", "sex", "region"],
        sensitive="ill",
        measures="quick",
        random_state=1,
    )
    values = found.metrics()
    assert set(values) <= set(METRICS)
    assert not found.findings.releases[0].errors
    quick = [
        one for one in MEASURES if one.level == "quick" and one.needs in {"", "control records"}
    ]
    declared = {f"{group}.{name}" for one in quick for group, names in one.numbers.items()
                for name in names}  # fmt: skip
    # All that quick measures declare is there, but for tables of three columns and more.
    assert {name for name in declared - set(values) if not name.startswith("marginals.")} <= {
        name for name in declared if name.endswith("difference_p_value")
    }
    assert not math.isnan(values["lookalikes.p_value"])


def test_what_was_not_measured_can_be_ignored():
    conditions = ["gcap.gain > 0.05", "strong.certain > 0"]
    result = check(findings(release(0.02)), conditions, missing="ignore")
    assert (result.exit_code, result.passed, result.ignored) == (0, 1, 1)
    assert str(result) == "Gate passed: 1 of 2 checks; 1 not measured and ignored."
    failed = check(findings(release(0.2)), conditions, missing="ignore")
    assert failed.summary().startswith("Gate failed: 1 of 2 checks; 1 not measured and ignored.")


@pytest.mark.parametrize(
    ("audit", "conditions", "more", "message"),
    [
        (findings(release()), ["[crat] gcap.gain > 0"], {}, "no release 'crat'.*mean 'cart'"),
        (findings(), ["gcap.gain > 0"], {}, "holds no release"),
        (findings(release()), "gcap.gain > 0", {}, "a list of conditions"),
        (findings(release()), ["gcap > 0"], {}, "several figures"),
        (findings(release()), [], {"missing": "pass"}, "one of fail, ignore; got 'pass'"),
    ],
)
def test_what_the_gate_refuses(audit, conditions, more, message):
    with pytest.raises(ParameterError, match=message):
        check(audit, conditions, **more)


def test_plain_values_can_be_written_as_json():
    made = findings(release(NAN), release(0.25, "bayes"))
    found = check(made, ["gcap.gain > 0.05"]).to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == {
        "exit_code": 1,
        "passed": 0,
        "ignored": 0,
        "failed": [
            {
                "condition": "gcap.gain > 0.05",
                "release": "cart",
                "measure": "gcap.gain",
                "value": None,
                "limit": 0.05,
                "reason": "not measured",
                "decided": "",
            },
            {
                "condition": "gcap.gain > 0.05",
                "release": "bayes",
                "measure": "gcap.gain",
                "value": 0.25,
                "limit": 0.05,
                "reason": "",
                "decided": "",
            },
        ],
        "notes": [],
    }


@pytest.mark.parametrize("text", ["gcap.gain > 5", "vote.synthetic >= 50", "gcap.gain < 150%"])
def test_a_share_has_no_limit_beyond_1(text):
    with pytest.raises(ParameterError, match="is a share from 0 to 1"):
        Condition.parse(text)
    assert Condition.parse("strong.certain > 5").limit == 5
    assert Condition.parse("gcap.gain > 100%").limit == 1
