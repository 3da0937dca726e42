"""The verdict: every branch with findings made by hand, and the figures in its sentences."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.audit.answers import weigh
from understudy.audit.findings import (
    ClassifierFindings,
    ColumnShares,
    DisclosureFindings,
    Figure,
    Findings,
    Histogram,
    PredictionFindings,
    ReleaseFindings,
    StrongFindings,
    UtilityFindings,
    WayFindings,
)
from understudy.audit.levels import gain_of, size_of
from understudy.audit.limits import NAMES, Limits
from understudy.audit.tradeoff import (
    RANKS,
    Place,
    Tradeoff,
    in_order,
    is_poor,
    risk_of,
    tradeoff,
)
from understudy.audit.verdict import give_verdict

NAN = math.nan
TITLES = {"gcap": "GCAP", "vote": "Vote", "icap": "ICAP", "zero_cap": "0CAP"}


def figure(measure, baseline=NAN, synthetic=NAN, **more):
    more = {"gain": synthetic - baseline} | more
    title = TITLES.get(measure, measure)
    return Figure(measure, title, "", baseline=baseline, synthetic=synthetic, **more)


def strong(certain=0, bits=0.1, before=0.6, after=0.6, **more):
    values = {"prior": "marginal", "mode": "fixed", "records": 1000} | more
    return StrongFindings(
        **values,
        certain=certain,
        share_above_half=0.6,
        share_above_90_percent=0.1,
        accuracy_before=before,
        accuracy_after=after,
        mean_gain_bits=0.01,
        gain_bits_99_percent=0.05,
        max_gain_bits=bits,
        gains=Histogram((0.0, 1.0), (1000,)),
    )


def disclosure(**more):
    values = {"repu": 0.05, "disco": 0.001, "disco_baseline": 0.0, "disco_gain": 0.001} | more
    return DisclosureFindings(uio=0.2, uis=0.2, dorig=0.3, **values)


def way(number, ratio):
    return WayFindings(number, 10, 0.1, 0.05, ratio, ())


def prediction(difference, target="job", tested=0, note=""):
    right = tested * 4 // 5
    confusion = ((right, tested - right), (0, 0))
    classifier = ClassifierFindings(
        "svm", 0.8, 0.8 + difference, difference, NAN, NAN, confusion, confusion, *[NAN] * 6
    )
    return PredictionFindings(
        target, ("a", "b"), "a", "30 %", 0.5, 0.8, 0.8 + difference, difference,
        (classifier,) if tested else (), note,
    )  # fmt: skip


def release(*figures, name="cart.csv", **more):
    return ReleaseFindings(name, more.pop("method", ""), 1, 1000, figures=figures, **more)


def findings(*releases, **more):
    values = {
        "command": "understudy audit data.csv cart.csv --keys age,sex --sensitive income",
        "measures": "standard",
        "rows": 1000,
        "columns": 5,
        "keys": ("age", "sex"),
        "known": None,
        "sensitive": "income",
        "target": "job",
        "unit": "people",
    } | more
    return Findings("1", "", 1.0, 0, **values, releases=releases)


def judge(*figures, rows=1000, **more):
    """The verdict on one release."""
    return give_verdict(findings(release(*figures, **more), rows=rows)).releases[0]


def whole_text(verdict):
    parts = [verdict.headline, *verdict.sentences]
    for one in verdict.releases:
        parts += [one.headline, *one.sentences, *one.disagreements]
        parts += [f"{advice.sentences} {advice.code}" for advice in one.advice]
    return " ".join(parts)


NOTHING = (figure("gcap", 0.61, 0.61), figure("vote", 0.61, 0.6))
GAIN = (figure("gcap", 0.61, 0.66, original=0.8), figure("vote", 0.61, 0.62))


# What counts as a gain


def test_noise_by_hand():
    # two standard errors: 2 sqrt(0.5 0.5 / 400) = 2 0.5 / 20
    assert Limits().noise(0.5, 400) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("baseline", "gain", "records", "size"),
    [
        (0.5, 0.05, 400, "none"),  # exactly two standard errors
        (0.5, 0.051, 400, "some"),
        (0.5, -0.2, 400, "none"),
        (0.5, 0.1, 400, "large"),  # one in ten
        (0.5, 0.1, 25, "none"),  # chance: 2 0.5 / 5 = 0.2
        (0.98, 0.005, 10_000, "large"),  # a quarter of the 2 % that were wrong
        (0.98, 0.0049, 10_000, "some"),
        (1.0, 0.0, 1000, "none"),
        (NAN, 0.1, 1000, "unknown"),
        (0.5, NAN, 1000, "unknown"),
        (0.5, 0.1, 0, "unknown"),
    ],
)
def test_size_of_a_gain(baseline, gain, records, size):
    assert size_of(baseline, gain, records) == size


def test_a_gain_that_was_not_given_is_the_difference():
    found = gain_of(figure("gcap", 0.5, 0.75, gain=NAN), 100)
    assert (found.gain, found.people, found.size) == (0.25, 25, "large")


SHARES = st.floats(0, 1)


@given(SHARES, SHARES, st.integers(1, 10**7))
def test_more_people_never_make_a_gain_smaller(baseline, synthetic, records):
    order = ["none", "some", "large"]
    few = size_of(baseline, synthetic - baseline, records)
    many = size_of(baseline, synthetic - baseline, 4 * records)
    assert order.index(few) <= order.index(many)


# Levels


def levels(*figures, **more):
    """Return the three answers on one release, and the overall word."""
    found = judge(*figures, **more)
    return *(answer.level for answer in found.answers.values()), found.level


LOOKED = {"lookalikes.p_value": 0.5, "lookalikes.power": 0.03}
ALIKE = figure("lookalikes", 0.1, 0.1)


@pytest.mark.parametrize(
    ("figures", "attack", "level"),
    [
        (NOTHING, None, "not measured"),
        (NOTHING, strong(), "low"),
        (NOTHING, strong(certain=1), "raised"),  # one of a thousand
        (NOTHING, strong(certain=10), "high"),
        (NOTHING, strong(bits=1.0), "raised"),
        (NOTHING, strong(after=0.65), "raised"),
        (NOTHING, strong(after=0.75), "high"),
        (NOTHING, strong(after=0.75, prior="uniform"), "low"),  # the smallest hint turns a guess
        (GAIN, None, "raised"),
        # Without control records it may be a pattern.
        ((figure("gcap", 0.61, 0.75),), None, "raised"),
        ((), None, "not measured"),
        ((figure("gcap"), figure("vote")), strong(), "not measured"),
        ((figure("gcap"), figure("vote")), strong(certain=20), "high"),
        ((figure("gcap"), figure("vote", 0.61, 0.61)), strong(), "low"),
        # high by itself, but no gain: DiSCO and repU decide nothing
        ((*NOTHING, figure("disco", 0.9, 0.9), figure("repu", synthetic=0.9)), strong(), "low"),
    ],
)
def test_level(figures, attack, level):
    assert judge(ALIKE, *figures, strong=attack, numbers=LOOKED).level == level


@pytest.mark.parametrize(
    ("numbers", "level"),
    [
        ({}, "not measured"),
        (LOOKED, "low"),
        (LOOKED | {"lookalikes.power": NAN}, "not measured"),
        (LOOKED | {"lookalikes.power": 0.3}, "not measured"),  # copies of 30% would be missed
        # One chance of 5% is shared by two questions, and lookalikes have 0.6 of it: 1.5%.
        (LOOKED | {"lookalikes.p_value": 0.014}, "raised"),
        (LOOKED | {"lookalikes.p_value": 0.016}, "low"),
        (LOOKED | {"lookalikes.p_value": 0.0002}, "high"),
        # With control records they have two tests.
        (LOOKED | {"lookalikes.control_p_value": 0.007}, "raised"),
        (LOOKED | {"lookalikes.control_p_value": 0.008}, "low"),
    ],
)
def test_whether_records_are_in_it(numbers, level):
    assert levels(ALIKE, *NOTHING, numbers=numbers, strong=strong())[0] == level


def test_a_copy_is_high_whatever_else_was_found():
    found = judge(*NOTHING, copied=0.95, one_of_a_kind=40, strong=strong())
    assert found.answers["records"].level == "high"
    assert found.headline.startswith("High risk: the release is a copy of the original")
    assert judge(*NOTHING, copied=0.95, one_of_a_kind=19).answers["records"].level != "high"
    # Among few different records, chance makes nearly all of them, and others as well.
    for new, level in ((0.0, "high"), (0.6, "high"), (0.7, "not measured")):
        made = judge(*NOTHING, copied=0.95, one_of_a_kind=40, new_records=new)
        assert made.answers["records"].level == level


SURELY_IN = "membership.share_above_90_percent"


def records_by_model(gain, largest=0.1, *, drawn=True, surely_in=0.002):
    numbers = LOOKED | {"lookalikes.power": 0.3, "own_copies.largest": largest}
    numbers |= {SURELY_IN: surely_in}
    own = figure("own_copies", 0.06, 0.06 + gain)
    return judge(*NOTHING, ALIKE, own, numbers=numbers, drawn=drawn).answers["records"]


@pytest.mark.parametrize(
    ("gain", "largest", "level"),
    [
        (0.049, 0.1, "low"),
        (0.051, 0.1, "raised"),
        (0.11, 0.1, "high"),
        (0.001, 0.51, "raised"),  # one person, who is more likely than not found by it
    ],
)
def test_the_model_tells_whose_copies_it_makes(gain, largest, level):
    found = records_by_model(gain, largest)
    assert (found.level, found.power) == (level, 0.0)
    assert "because they are in the data" in found.sentence


def test_a_model_answers_for_a_file_only_if_it_has_just_drawn_it():
    given = records_by_model(0.01, drawn=False)
    assert (given.level, given.power) == ("not measured", 0.3)
    # Parts of records may tell who was in the data, too; or it may not be known.
    assert records_by_model(0.01, surely_in=0.02).level == "not measured"
    assert records_by_model(0.01, surely_in=NAN).level == "not measured"
    # What it remembers is in any release of it.
    assert records_by_model(0.06, drawn=False).level == "raised"


def test_what_lookalikes_find_counts_whatever_the_model_says():
    own = figure("own_copies", 0.06, 0.061)
    numbers = LOOKED | {"lookalikes.p_value": 0.0002, "own_copies.largest": 0.1, SURELY_IN: 0.0}
    found = judge(*NOTHING, ALIKE, own, numbers=numbers, drawn=True).answers["records"]
    assert found.level == "high"


@pytest.mark.parametrize(
    ("synthetic", "difference", "p_value", "level"),
    [
        (0.66, 0.0, 0.5, "low"),  # a small pattern
        (0.75, 0.0, 0.5, "raised"),  # a large one
        (0.66, 0.04, 0.01, "raised"),
        (0.75, 0.12, 0.01, "high"),
    ],
)
def test_control_records_tell_people_and_patterns_apart(synthetic, difference, p_value, level):
    numbers = {"gcap.difference": difference, "gcap.difference_p_value": p_value}
    gcap = figure("gcap", 0.61, synthetic, control=synthetic - difference)
    found = judge(gcap, numbers=numbers).answers["ordinary"]
    assert found.level == level
    assert ("pattern" in found.sentence) == (difference == 0 and level == "raised")


@pytest.mark.parametrize("name", ["telling_keys", "nearest_neighbour", "rare_values", "carriers"])
def test_other_attacks_raise_the_answer(name):
    figures = (*NOTHING, figure(name, 0.3, 0.5))
    assert levels(*figures, numbers={f"{name}.p_value": 1e-4})[1] == "raised"
    assert levels(*figures, numbers={f"{name}.p_value": 0.06})[1] == "low"
    controlled = {f"{name}.p_value": 0.06, f"{name}.difference_p_value": 0.9}
    assert levels(*figures, numbers=controlled)[1] == "low"
    controlled |= {f"{name}.difference_p_value": 1e-4, f"{name}.difference": 0.2}
    assert levels(*figures, numbers=controlled)[1] == "high"


@pytest.mark.parametrize("name", ["telling_keys", "nearest_neighbour"])
@pytest.mark.parametrize(
    ("baseline", "gain", "error", "level"),
    [
        (0.75, 0.006, 0.002, "low"),  # sure, but worth little
        (0.75, 0.02, 0.011, "low"),  # within two errors
        (0.75, 0.02, 0.009, "raised"),
        (0.98, 0.004, 0.001, "low"),
        (0.98, 0.005, 0.001, "raised"),  # a quarter of the wrong guesses
    ],
)
def test_order_among_guesses_counts_if_it_gains_something(name, baseline, gain, error, level):
    numbers = {f"{name}.p_value": 1e-9, f"{name}.gain_error": error}
    held = figure(name, baseline, baseline + gain)
    assert levels(*NOTHING, held, numbers=numbers)[1] == level


@pytest.mark.parametrize("name", ["telling_keys", "nearest_neighbour", "rare_values"])
def test_what_may_be_a_pattern_is_no_pass(name):
    figures = (*NOTHING, figure(name, 0.3, 0.5))
    numbers = {f"{name}.p_value": 1e-9, f"{name}.difference_p_value": 0.9}
    few = judge(*figures, numbers=numbers | {f"{name}.difference_high": 0.3}).answers["ordinary"]
    assert few.level == "not measured"
    assert "too few control records" in few.sentence
    many = judge(*figures, numbers=numbers | {f"{name}.difference_high": 0.05}).answers["ordinary"]
    assert many.level == "low"
    (clue,) = [clue for clue in many.clues if clue.measure == name]
    assert clue.pattern
    assert "That is a pattern" in clue.sentence


def test_a_carrier_is_told_with_control_records_or_without():
    # What others know tells as much of people who are not in the data: it is the reference.
    figures = (*NOTHING, figure("carriers", 0.3, 0.5))
    numbers = {"carriers.p_value": 1e-9, "carriers.difference_p_value": 0.9}
    assert levels(*figures, numbers=numbers)[1] == "raised"


def test_guesses_from_other_names_tell_nothing():
    found = judge(*NOTHING, numbers={"gcap.known_values": 0.4}).answers["ordinary"]
    assert found.level == "not measured"
    assert "no guess can be compared" in found.sentence
    assert judge(*NOTHING, numbers={"gcap.known_values": 0.6}).answers["ordinary"].level == "low"


@pytest.mark.parametrize("numbers", [{}, {"gcap.difference": 0.0, "gcap.difference_p_value": 0.9}])
def test_too_few_records_are_no_pass_with_control_records_or_without(numbers):
    gcap = figure("gcap", 0.61, 0.61, control=0.61)
    assert judge(gcap, rows=1000, numbers=numbers).answers["ordinary"].level == "low"
    few = judge(gcap, rows=50, numbers=numbers).answers["ordinary"]
    assert (few.level, few.sentence) == ("not measured", "There are too few people to tell a gain.")


def test_answers_have_their_limits_and_their_power():
    found = judge(ALIKE, *NOTHING, numbers=LOOKED).answers
    assert found["records"].power == LOOKED["lookalikes.power"]
    assert found["records"].limits["power"] == Limits().power
    assert math.isnan(found["ordinary"].power)
    assert set().union(*(one.limits for one in found.values())) == set(NAMES)


def test_telling_people_apart_counts_only_if_it_is_more_than_slight():
    def records(auc):
        told = figure("membership_control", 0.5, auc, gain=auc - 0.5)
        return levels(ALIKE, told, numbers=LOOKED | {"membership_control.p_value": 1e-9})[0]

    assert (records(0.57), records(0.59)) == ("low", "high")


def test_singling_out_counts_only_if_others_are_singled_out_much_less():
    def records(control):
        told = figure("singling_out", 0.37, 0.4, control=control)
        return levels(ALIKE, told, numbers=LOOKED | {"singling_out.p_value": 1e-9})[0]

    assert (records(0.35), records(0.3)) == ("low", "high")


def test_who_was_in_the_data_counts_for_the_strongest():
    def share(value):
        numbers = {"membership.share_above_90_percent": value}
        return levels(*NOTHING, numbers=numbers)[2]

    # By itself it is no pass: what the attacker learns about a value was not measured.
    assert [share(value) for value in (0.005, 0.02, 0.2)] == ["not measured", "raised", "high"]


def test_other_limits():
    strict = Limits(certain=0.0, large_gain=0.05)
    given = findings(release(*NOTHING, strong=strong(certain=1)), limits=strict)
    assert give_verdict(given).releases[0].answers["strongest"].level == "high"


def test_a_table_without_rows_has_no_level():
    assert judge(*GAIN, rows=0).answers["ordinary"].level == "not measured"


@pytest.mark.parametrize(
    ("made", "choice"),
    [
        (["high", "raised"], "raised1"),
        (["raised", "low"], "low1"),
        (["high", "high"], None),
    ],
)
def test_of_several_releases_one_is_chosen_that_is_not_high(made, choice):
    attacks = {"low": strong(), "raised": strong(bits=1.0), "high": strong(certain=50)}
    releases = [
        release(ALIKE, *NOTHING, name=f"{level}{n}", strong=attacks[level], numbers=LOOKED)
        for n, level in enumerate(made)
    ]
    verdict = give_verdict(findings(*releases))
    words = "Choose none of them."
    if choice:
        only = (
            " only if you accept a raised risk. Raised risk: at most" if "raised" in choice else "."
        )
        words = f"Choose {choice!r}{only}"
    assert verdict.headline.startswith(words)
    assert verdict.level == (choice[:-1] if choice else "high")
    assert f"Of {len(made)} releases" in verdict.headline
    assert all(one.name in verdict.headline for one in releases)


def test_no_release():
    verdict = give_verdict(findings())
    assert (verdict.level, verdict.releases) == ("not measured", ())
    assert "no release" in verdict.headline


# Sentences


def test_the_three_references_are_told_with_the_gain():
    found = judge(*GAIN)
    # noise: 2 sqrt(0.61 0.39 / 1000) = 0.0308; gain 0.05 of 1000 people
    assert found.sentences[0] == (
        "Without the release, an attacker guesses 'income' correctly for 61.0% of 1,000 people. An "
        "attacker who knows 'age' and 'sex' and looks up the most similar records (GCAP) guesses "
        "correctly for 66.0% (80.0% with the original). The release adds 5.0 points, about 50 "
        "people. This is more than the 3.1 points that chance explains."
    )
    assert "correct for 62.0%. The release adds 1.0 points" in found.sentences[1]
    assert "Chance alone explains 3.1 points, so this counts as none" in found.sentences[1]
    assert found.headline == (
        "Raised risk: looking up the keys gives the right value for 66.0% of the people; without "
        "the release it is 61.0%. Control records would tell whether that is about the people in "
        "the data, or a pattern."
    )


def test_one_release_gives_the_headline():
    verdict = give_verdict(findings(release(*GAIN)))
    assert verdict.headline == verdict.releases[0].headline


def test_a_large_gain_is_called_large():
    assert "it is large" in judge(figure("gcap", 0.5, 0.7)).sentences[0]


@pytest.mark.parametrize(
    ("synthetic", "words"), [(0.61, "adds nothing."), (0.57, "adds nothing: 4.0 points fewer.")]
)
def test_no_gain_in_words(synthetic, words):
    assert judge(figure("gcap", 0.61, synthetic)).sentences[0].endswith(words)


def test_an_unknown_gain_in_words():
    assert "adds is not known" in judge(figure("gcap", NAN, 0.6)).sentences[0]


def test_the_vote_alone_is_told_with_its_baseline():
    found = judge(figure("vote", 0.61, 0.62))
    assert "without it, for 61.0%" in found.sentences[0]


def test_icap_where_it_is_defined():
    told = judge(*NOTHING, figure("icap", 0.64, 0.72)).sentences[2]
    assert "(ICAP)" in told
    assert "72.0%" in told
    assert "64.0%" in told
    assert not any("ICAP" in text for text in judge(*NOTHING, figure("icap")).sentences)


def test_spread_over_syntheses():
    several = replace(release(figure("gcap", 0.61, 0.66, spread=0.012)), syntheses=5)
    assert (
        "(± 1.2 points over 5 syntheses)"
        in give_verdict(findings(several)).releases[0].sentences[0]
    )


def test_some_of_the_keys():
    verdict = give_verdict(findings(release(*GAIN), known=1))
    assert "1 of the 2 keys 'age' and 'sex'" in verdict.releases[0].sentences[0]
    assert "1 of the 2 keys 'age' and 'sex'" in verdict.sentences[0]


def test_low_says_what_was_tried():
    found = judge(ALIKE, *NOTHING, strong=strong(), numbers=LOOKED)
    assert found.headline.startswith(
        "Low risk, as far as tested: no more of the original's records"
    )
    assert "(GCAP, Vote of classifiers)" in found.answers["ordinary"].sentence
    assert "Whole copies of 3.0% of the people" in found.answers["records"].sentence


def test_what_was_not_tried_is_said():
    found = judge(ALIKE, *NOTHING, numbers=LOOKED)
    assert found.headline == (
        "Low as far as measured; the strongest attacker was not tried: it needs the model that "
        "made the release."
    )
    failed = judge(ALIKE, *NOTHING, numbers=LOOKED, errors={"strong": "no density."})
    assert failed.answers["strongest"].sentence == "The strongest attacker failed: no density."


def test_a_constant_original_is_explained():
    found = judge(figure("gcap", 1.0, 1.0))
    assert found.answers["ordinary"].level == "not measured"
    assert "All 1,000 people of the original have the same value of 'income'" in found.sentences[0]


def test_nothing_at_all_was_measured():
    found = judge(errors={"attribution": "KeyError"})
    assert found.headline == (
        "None of the three questions could be answered: it is not known whether the original's "
        "people are in it. None of its measures could be computed. It is not known what it tells "
        "an ordinary attacker. None of its measures could be computed. The strongest attacker was "
        "not tried: it needs the model that made the release."
    )
    assert any("attribution. KeyError." in text for text in found.disagreements)


# Certain disclosure


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "is not known, because the model was not given."),
        ({"method": "Cart()"}, "because the strong attacker was not run (measures: standard)."),
        (
            {"method": "Cart()", "errors": {"strong": "the model does not fit"}},
            "because the strong attacker failed: the model does not fit.",
        ),
        ({"strong": strong(certain=12)}, "12 of 1,000 people (1.2%) are certain to be disclosed"),
        ({"strong": strong(certain=1)}, "1 of 1,000 people (0.1%) is certain to be disclosed"),
        ({"strong": strong(bits=0.2802)}, "1.2 times as probable (0.28 bits)"),
        ({"strong": strong()}, "None of 1,000 people is certain to be disclosed"),
        ({"strong": strong(before=0.6, after=0.62)}, "correctly for 60.0% without"),
    ],
)
def test_who_is_certain_to_be_disclosed(more, words):
    assert words in judge(*NOTHING, **more).sentences[2]


def test_shares_of_a_uniform_prior_are_not_told():
    told = judge(*NOTHING, strong=strong(prior="uniform")).sentences[2]
    assert "without the release and for" not in told


def test_bits_that_are_undefined_are_left_out():
    assert "bits" not in judge(*NOTHING, strong=strong(bits=NAN)).sentences[2]


def test_headline_of_certain_disclosure():
    assert judge(*NOTHING, strong=strong(certain=12)).headline == (
        "High risk: 12 of 1,000 people (1.2%) are certain to be disclosed to an attacker who knows "
        "the model and everyone else's record."
    )


def test_headline_of_the_strong_attacker_alone():
    found = judge(*NOTHING, strong=strong(bits=2))
    assert "becomes 4.0 times as probable to an attacker" in found.headline


def test_headline_goes_on_after_the_colon_and_says_who():
    sure = judge(*NOTHING, numbers={"membership.share_above_90_percent": 0.388})
    assert sure.headline == (
        "High risk: for 38.8% of the people, an attacker who knows the model and everyone else's "
        "record is more than 90% sure that they were in the data."
    )


# Control


@pytest.mark.parametrize(
    ("control", "words"),
    [
        (0.64, "correct for 64.0%. So 2.0 points of the gain of 5.0 points concern the people in"),
        (0.66, "no less often"),
        (0.70, "true of everybody"),
        (0.60, "6.0 points less often. The whole gain concerns the people in the data"),
    ],
)
def test_control(control, words):
    found = judge(figure("gcap", 0.61, 0.66, control=control))
    assert words in found.sentences[2]


def test_control_without_a_gain():
    found = judge(figure("gcap", 0.61, 0.61, control=0.6))
    assert "no gain beyond chance" in found.sentences[2]


# Disagreements


def disagreement(word, *figures, **more):
    return [text for text in judge(*figures, **more).disagreements if word in text]


def shares(top):
    return UtilityFindings(shares=(ColumnShares("income", ("a", "b"), (0.6, 0.4), (top, 1 - top)),))


RISING = disclosure(disco=0.147, disco_baseline=0.147, disco_gain=0.0)


@pytest.mark.parametrize(
    ("top", "why"),
    [
        (1.0, "'income' has a single value in the release"),
        (0.9, "one value (or group of values) of 'income' makes up 90.0% of the release"),
        (0.5, "mostly reveals the most common value"),
    ],
)
def test_disco_on_a_constant_or_dominant_target(top, why):
    (told,) = disagreement("DiSCO is 14.70%", *NOTHING, disclosure=RISING, utility=shares(top))
    assert why in told
    assert "Always saying the release's most common value is correct for 14.70%" in told
    assert "leaves no gain" in told


def test_disco_that_gains_a_little_or_loses():
    little = disclosure(disco=0.147, disco_baseline=0.142, disco_gain=0.005)
    (told,) = disagreement("DiSCO is", *NOTHING, disclosure=little)
    # 2 sqrt(0.142 0.858 / 1000) = 0.0221
    assert "a gain of 0.5 points where chance explains 2.2 points" in told
    less = disclosure(disco=0.1, disco_baseline=0.2, disco_gain=-0.1)
    assert disagreement("leaves no gain", *NOTHING, disclosure=less)


def test_disco_that_gains_or_is_small_needs_no_words():
    gains = disclosure(disco=0.3, disco_baseline=0.1, disco_gain=0.2)
    assert not disagreement("DiSCO is", *NOTHING, disclosure=gains)
    small = disclosure(disco=0.005, disco_baseline=0.005, disco_gain=0)
    assert not disagreement("DiSCO is", *NOTHING, disclosure=small)


@pytest.mark.parametrize(
    ("repu", "disco", "start"),
    [
        (0.0, 0.0, "repU and DiSCO are 0, though the strong attacker is certain about 3 people"),
        (0.0, 0.1, "repU is 0,"),
        (0.1, 0.0, "DiSCO is 0,"),
    ],
)
def test_uniqueness_is_blind_to_a_record_among_others(repu, disco, start):
    told = disclosure(repu=repu, disco=disco, disco_gain=disco)
    (text,) = disagreement("reassuring", *NOTHING, disclosure=told, strong=strong(certain=3))
    assert text.startswith(start)
    assert "cannot see a person that stands among others with the same keys" in text


def test_uniqueness_that_sees_or_nothing_to_see():
    seen = disclosure(repu=0.1, disco=0.1, disco_gain=0.1)
    assert not disagreement("reassuring", *NOTHING, disclosure=seen, strong=strong(certain=3))
    blind = disclosure(repu=0, disco=0, disco_gain=0)
    assert not disagreement("reassuring", *NOTHING, disclosure=blind, strong=strong())


def test_few_matches():
    figures = (figure("zero_cap", 0.61, 0.18), figure("icap", 0.61, 0.72))
    (told,) = disagreement("0CAP is 18.0% and ICAP 72.0%", *NOTHING, *figures)
    assert "only about 25.0% of the people have a record" in told  # 0.18 / 0.72
    near = (figure("zero_cap", 0.61, 0.65), figure("icap", 0.61, 0.72))
    assert not disagreement("0CAP is", *NOTHING, *near)


def test_best_attacker_far_above_the_vote():
    vote = figure("vote", 0.61, 0.61)
    (told,) = disagreement("best single", vote, figure("best_attacker", 0.61, 0.7))
    assert "70.0%" in told
    assert "guesses 9.0 points better" in told
    assert not disagreement("best single", vote, figure("best_attacker", 0.61, 0.65))


def test_look_up_and_vote_disagree():
    none, some = 0.61, 0.66
    assert disagreement("smooth away", figure("gcap", 0.61, some), figure("vote", 0.61, none))
    assert disagreement("over many comb", figure("gcap", 0.61, none), figure("vote", 0.61, some))
    for both in (none, some):
        same = judge(figure("gcap", 0.61, both), figure("vote", 0.61, both))
        assert not same.disagreements


def test_gain_that_concerns_everybody():
    (told,) = disagreement("what holds for people in general", *GAIN, strong=strong(bits=0.2802))
    assert "gains 5.0 points" in told
    assert "1.2 times as probable" in told
    for attack in (strong(certain=1), strong(bits=2), strong(after=0.7), None):
        assert not disagreement("people in general", *GAIN, strong=attack)


def test_guesses_from_a_uniform_prior():
    turned = strong(prior="uniform", before=0.61, after=0.731)
    (told,) = disagreement("Go by the bits", *NOTHING, strong=turned)
    assert "61.0% to 73.1%" in told
    assert not disagreement("Go by the bits", *NOTHING, strong=strong(prior="uniform"))


def test_undefined_measures_have_their_reason():
    figures = (figure("icap", note="No key matches."), figure("vote", 0.61, 0.61), figure("repu"))
    found = judge(*figures, errors={"propensity": "ValueError"}).disagreements
    assert "ICAP has no value here: No key matches." in found
    assert "repu has no value here: no reason was given." in found
    assert found[-1].endswith("propensity. ValueError.")
    failed = judge(*NOTHING, errors={"strong": "no density"})
    assert failed.disagreements == ()  # said among the sentences


# Utility


def test_what_a_poor_release_costs():
    poor = UtilityFindings(marginals=(way(1, 1.1), way(2, 3.2)), prediction=prediction(-0.05))
    told = judge(*NOTHING, utility=poor).sentences
    assert "predict 'job' correctly for 75.0% of real records" in told[3]
    assert "reach 80.0%; without training, 50.0%" in told[3]
    assert "a loss of 5.0 points, which counts as poor (limit: 2.0 points)." in told[3]
    assert "Tables of two columns are 3.2 times as far" in told[4]
    assert "lost or invented" in told[4]


def test_what_a_good_release_keeps():
    good = UtilityFindings(marginals=(way(1, 1.1), way(2, 1.0)), prediction=prediction(0.01))
    told = judge(*NOTHING, utility=good).sentences
    assert told[3].endswith("That is 1.0 points more.")
    assert told[4] == (
        "Tables of single columns are 1.1 times as far from the original's as a new sample of "
        "its records would be."
    )


@pytest.mark.parametrize(
    ("utility", "poor"),
    [
        (UtilityFindings(), False),
        (UtilityFindings(marginals=(way(1, NAN),)), False),
        (UtilityFindings(marginals=(way(1, 2.0),)), False),
        (UtilityFindings(marginals=(way(1, 2.1),)), True),
        (UtilityFindings(prediction=prediction(-0.02)), False),
        (UtilityFindings(prediction=prediction(-0.03)), True),
        (UtilityFindings(prediction=prediction(NAN)), False),
    ],
)
def test_poor_utility(utility, poor):
    assert is_poor(utility) is poor


def compared(*places, by=prediction):
    made = [
        release(
            figure("gcap", 0.6, 0.6 + risk),
            name=name,
            utility=UtilityFindings(prediction=by(-loss)),
        )
        for name, risk, loss in places
    ]
    return findings(*made)


def test_the_frontier_is_named():
    verdict = give_verdict(compared(("a", 0.1, 0.0), ("b", 0.0, 0.1), ("c", 0.1, 0.1)))
    (told,) = [text for text in verdict.sentences if "worth choosing" in text]
    assert "(correct predictions lost), b and a are worth choosing" in told
    assert "each costs less use than all releases with less risk" in told
    assert "For c, another release has no more risk and costs no more use" in told


def test_differences_within_chance_count_as_none():
    # 1,000 people at a baseline of 60%: 2 sqrt(0.6 * 0.4 / 1000) = 3.1 points. 400 test records
    # at 80%: 2 sqrt(0.8 * 0.2 / 400) = 4 points.
    def by(difference):
        return prediction(difference, tested=400)

    found = compared(("a", 0.05, 0.03), ("b", 0.03, 0.0), ("c", 0.0, 0.041), by=by)
    place = tradeoff(found)
    assert place.risk_noise == pytest.approx(2 * math.sqrt(0.6 * 0.4 / 1000))
    assert place.loss_noise == pytest.approx(0.04)
    # c has 3 points less risk than b, which is none, and costs 4.1 more: b comes first. a has a
    # raised answer, and costs no less.
    assert [one.name for one in place.frontier()] == ["b"]
    told = " ".join(give_verdict(found).sentences)
    assert (
        "Differences of up to 3.1 points of risk, and of 4.0 points of correct predictions, count "
        "as none: they are within 2 standard errors of a share."
    ) in told


def test_what_must_be_known_about_the_prediction_follows_it():
    use = UtilityFindings(prediction=prediction(0.01, note="It was seen."), notes=("A sample.",))
    (judged,) = give_verdict(findings(release(*NOTHING, utility=use))).releases
    assert any(text.endswith("1.0 points more. It was seen.") for text in judged.sentences)
    assert judged.sentences[-1] == "A sample."


def test_one_release_beats_all():
    verdict = give_verdict(compared(("a", 0.0, 0.0), ("b", 0.1, 0.1)))
    assert any("a is worth choosing" in text for text in verdict.sentences)


def test_without_a_target_pairs_are_compared():
    made = [
        release(*NOTHING, name=name, utility=UtilityFindings(marginals=(way(1, 9), way(2, ratio))))
        for name, ratio in (("a", 1.0), ("b", 2.0))
    ]
    made.append(release(*NOTHING, name="c"))
    found = tradeoff(findings(*made))
    assert [place.loss for place in found.places] == [1.0, 2.0]
    told = " ".join(give_verdict(findings(*made)).sentences)
    assert "tables of two columns" in told
    assert "1 could not be compared" in told


def test_releases_without_measures_in_common():
    verdict = give_verdict(findings(release(*NOTHING, name="a"), release(name="b")))
    assert any("cannot be compared" in text for text in verdict.sentences)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12),
    st.integers(0, 3),
    st.integers(0, 4),
)
def test_frontier_against_its_definition(points, loss, high):
    levels = ["high" if n < high else "low" for n in range(len(points))]
    places = tuple(Place(str(n), *point, levels[n]) for n, point in enumerate(points))
    best = Tradeoff(places, "", loss_noise=loss).frontier()
    eligible = [place for place in places if place.level != "high"]
    assert list(best[:1]) == eligible[:1]
    assert all(before.loss > place.loss + loss for before, place in pairwise(best))
    for place in eligible:
        # Whoever is not on it costs no less use than one of it that stands before.
        before = [one for one in best if int(one.name) < int(place.name)]
        assert (place in best) == all(one.loss > place.loss + loss for one in before)


@given(
    st.lists(
        st.tuples(*[st.sampled_from([0.0, 0.01, 0.02, 0.05, 0.2])] * 3, st.floats(1, 5)),
        min_size=2,
        max_size=5,
    )
)
def test_nobody_stands_before_a_release_with_less_risk(made):
    """Of releases with the same levels, none comes first that is worse in all that decided."""
    releases = [
        release(
            figure("lookalikes", 0.1, 0.1 + alike, gain=alike),
            figure("gcap", 0.6, 0.6 + gain),
            figure("strong", 0.6, 0.6 + told, gain=told),
            name=str(n),
            strong=strong(),
            numbers=LOOKED,
            utility=UtilityFindings(marginals=(way(2, ratio),)),
        )
        for n, (alike, gain, told, ratio) in enumerate(made)
    ]
    found = findings(*releases)
    order = [releases[int(name)] for name in in_order(found)]
    levels = [[RANKS[level] for level in weigh(found, one).levels] for one in order]
    assert levels == sorted(levels)
    noise = {"records": 0.019, "ordinary": 0.031, "strongest": 0.031}
    for place, first in enumerate(order):
        for then, level in zip(order[place + 1 :], levels[place + 1 :], strict=True):
            if level == levels[place]:
                less = [risk_of(first, name) - risk_of(then, name) for name in noise]
                beyond = [by > most for by, most in zip(less, noise.values(), strict=True)]
                assert not (all(by >= 0 for by in less) and any(beyond))


# The words


def every_verdict():
    attacks = (
        None,
        strong(),
        strong(certain=4),
        strong(bits=3),
        strong(prior="uniform", after=0.8),
    )
    for figures in (NOTHING, GAIN, (), (figure("gcap", 0.5, 0.9, control=0.6),)):
        for attack in attacks:
            for method in (
                "",
                "Cart()",
                "BayesNet(parents=2)",
                "GaussianCopula()",
                "Independent()",
            ):
                for told in (None, RISING, disclosure()):
                    yield release(*figures, method=method, strong=attack, disclosure=told)


def test_the_words_never_promise():
    for one in every_verdict():
        words = whole_text(give_verdict(findings(one))).casefold()
        assert "safe" not in words
        assert "nan" not in words.split()
        assert "unknown share" not in words


def test_the_limits_are_stated():
    told = " ".join(give_verdict(findings(release(*GAIN))).sentences)
    assert "2 standard errors" in told
    assert "10.0 points" in told
    assert "25%" in told
    assert "results of the attacks that were tried" in told


def test_evidence_names_the_largest_gain():
    found = weigh(findings(), release(*GAIN))
    assert found.largest.figure.measure == "gcap"
    assert weigh(findings(), release()).largest is None


def test_the_strong_attacker_counts_for_the_choice_if_all_releases_have_it():
    def named(name, strong):
        figures = (
            Figure("gcap", "GCAP", "", gain=0.02),
            Figure("strong", "Strong attacker", "", gain=strong),
        )
        way = WayFindings(2, 1, 0.1, 0.1, 1.0, ())
        return ReleaseFindings(
            name, "", 1, 10, figures=figures, utility=UtilityFindings(marginals=(way,))
        )

    def risks(*releases):
        found = tradeoff(findings(*releases))
        return [place.risk for place in found.places]

    assert risks(named("a", 0.2), named("b", 0.01)) == [0.01, 0.2]
    # Where one model is not known, the other release must not look worse for being attacked more.
    assert risks(named("a", 0.2), named("b", math.nan)) == [0.02, 0.02]


def with_levels(name, *, records=0.9, strongest=0, loss=1.0):
    """A release whose answers on records and on the strongest attacker are chosen."""
    use = UtilityFindings(marginals=(way(2, loss),))
    numbers = LOOKED | {"lookalikes.p_value": records}
    return release(
        ALIKE, *NOTHING, name=name, utility=use, numbers=numbers, strong=strong(certain=strongest)
    )


def test_the_order_is_that_of_the_verdicts():
    made = [
        with_levels("copies", records=1e-9, loss=1.0),
        with_levels("certain and suspected", records=0.01, strongest=1, loss=1.1),
        with_levels("suspected", records=0.01, loss=1.9),
        with_levels("low and useless", loss=9.0),
        with_levels("low", loss=2.0),
    ]
    verdict = give_verdict(findings(*made))
    assert [one.level for one in verdict.releases] == ["high", "raised", "raised", "low", "low"]
    assert verdict.order == (
        "low", "low and useless", "suspected", "certain and suspected", "copies",
    )  # fmt: skip
    assert verdict.choice == "low"
    assert verdict.headline.startswith("Choose 'low'. Of 5 releases")


def test_none_is_chosen_if_all_are_high():
    verdict = give_verdict(findings(*(with_levels(name, records=1e-9) for name in "ab")))
    assert (verdict.level, verdict.choice) == ("high", "")
    assert verdict.headline.startswith("Choose none of them.")


def test_what_was_not_measured_counts_like_a_raised_risk():
    """A release of which less is known is not chosen for that."""
    use = UtilityFindings(marginals=(way(2, 1.0),))
    unknown = release(ALIKE, *NOTHING, name="unknown", numbers=LOOKED, utility=use)
    raised = with_levels("raised", records=0.01, loss=2.0)
    found = findings(unknown, raised)
    assert [one.level for one in give_verdict(found).releases] == ["not measured", "raised"]
    # Levels count alike: what is known of the strongest attacker decides.
    assert in_order(found) == ("raised", "unknown")
    low = with_levels("low", loss=9.0)
    assert in_order(findings(unknown, raised, low))[0] == "low"
    verdict = give_verdict(findings(unknown, with_levels("high", records=1e-9)))
    assert (verdict.level, verdict.choice) == ("not measured", "unknown")
    assert verdict.headline.startswith(
        "Choose 'unknown' only after more is measured. Low as far as measured; the strongest "
        "attacker was not tried"
    )


def test_of_releases_with_the_same_levels_less_risk_comes_first():
    """Of two high ones, the one that costs less use comes later if it gives more away."""
    plain = with_levels("plain", records=1e-9, strongest=300, loss=1.0)
    protected = with_levels("protected", records=1e-9, strongest=50, loss=3.0)
    assert in_order(findings(plain, protected)) == ("protected", "plain")


def test_limits_that_are_not_the_defaults_are_told():
    found = findings(release(*GAIN), limits=Limits(power=0.2, copied=0.8))
    told = "limits of your own: power is 0.2 (by default 0.05) and copied is 0.8 (by default 0.9)."
    assert any(told in text for text in give_verdict(found).sentences)
    assert not any("of your own" in text for text in give_verdict(findings()).sentences)


@pytest.mark.parametrize(
    ("made", "question"),
    [
        ({}, "ordinary"),
        ({"records": 1e-9}, "records"),
        ({"records": 0.01, "strongest": 100}, "strongest"),
    ],
)
def test_the_risk_is_that_of_the_worst_answer(made, question):
    found = tradeoff(findings(with_levels("a"), with_levels("b", **made)))
    assert found.question == question
    assert tradeoff(findings(with_levels("a"), with_levels("b")), "records").question == "records"


def test_the_risk_of_each_question():
    made = release(
        figure("gcap", 0.61, 0.7, gain=0.09),
        figure("lookalikes", 0.1, 0.15, control=0.02, gain=0.05),
        strong=strong(certain=12), numbers={"gcap.difference": 0.02},
    )  # fmt: skip
    assert risk_of(made, "ordinary") == pytest.approx(0.02)  # what concerns people in the data
    assert risk_of(made, "records") == pytest.approx(0.13)
    assert risk_of(made, "strongest") == pytest.approx(0.012)
    assert math.isnan(risk_of(release(), "strongest"))


def test_texts_are_about_the_unit():
    texts = {}
    for unit in ("people", "records", "flights"):
        found = replace(
            findings(
                release(
                    figure("gcap", 0.61, 0.66),
                    figure("icap", 0.61, 0.66),
                    strong=strong(certain=3),
                )
            ),
            unit=unit,
        )
        verdict = give_verdict(found)
        (judged,) = verdict.releases
        texts[unit] = " ".join(
            [
                verdict.headline,
                *verdict.sentences,
                *judged.sentences,
                *judged.disagreements,
                *(answer.said(found.units) for answer in judged.answers.values()),
                *(advice.sentences for advice in judged.advice),
            ]
        )
    assert "Are people's records in it?" in texts["people"]
    assert "Are original records in it?" in texts["records"]
    assert "Are the original's flights in it?" in texts["flights"]
    assert "3 of 1,000 flights" in texts["flights"]
    assert "of a flight, and knows" in texts["flights"]
    for unit in ("records", "flights"):
        assert not re.search("people|person", texts[unit])
