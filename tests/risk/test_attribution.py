"""Correct attribution probability: hand tables, a slow twin, trivial worlds, published figures."""

from __future__ import annotations

import json
import math
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy import fetch, load
from understudy.errors import DataError, ParameterError
from understudy.intervals import wilson_interval
from understudy.risk.attribution import attribution, attributions, gcap, icap, zero_cap
from understudy.risk.prepare import prepare
from understudy.risk.scenario import Scenario

RULES = ("nearest", "zero", "ignore")
CMC = ["age", "education", "husband_education", "children", "religion", "working"]


def by_hand(original, synthetic, keys, sensitive, rule):
    """Return (cap, right, rho) of each original record, with None where it does not count."""
    told = synthetic[sensitive].to_list()
    levels = sorted({*told, *original[sensitive]} - {None}, key=str)
    levels += [None]  # missing comes last
    scores = []
    for record in original.iter_rows(named=True):
        distances = [
            sum(record[key] != other[key] for key in keys)
            for other in synthetic.iter_rows(named=True)
        ]
        rho = min(distances)
        if rho and rule != "nearest":
            scores.append((0.0, False, None) if rule == "zero" else (None, None, None))
            continue
        near = [value for value, d in zip(told, distances, strict=True) if d == rho]
        guess = max(levels, key=lambda v: (near.count(v), told.count(v), -levels.index(v)))
        cap = near.count(record[sensitive]) / len(near)
        scores.append((cap, guess == record[sensitive], rho))
    return scores


def mean_of(values):
    counted = [value for value in values if value is not None]
    return sum(counted) / len(counted) if counted else math.nan


ORIGINAL = pl.DataFrame(
    {
        "age": [30, 30, 40, 50, 50],
        "sex": ["f", "f", "m", "m", "f"],
        "ill": ["no", "yes", "no", "yes", "yes"],
    }
)
SYNTHETIC = pl.DataFrame(
    {
        "age": [30, 30, 30, 40, 50, 60],
        "sex": ["f", "f", "f", "f", "f", "m"],
        "ill": ["no", "no", "yes", "no", "yes", "yes"],
    }
)
# Looked up by age and sex:
# record 0 (30 f no):  three records, no no yes: 2/3, guess no, right
# record 1 (30 f yes): the same three:           1/3, guess no, wrong
# record 2 (40 m no):  none; at distance 1 are 40 f (no) and 60 m (yes): 1/2. The guess is a tie,
#                      and no and yes are three each in all, so the first level: no, right
# record 3 (50 m yes): none; at distance 1 are 50 f (yes) and 60 m (yes): 1, guess yes, right
# record 4 (50 f yes): one record, yes: 1, guess yes, right


def hand(rule):
    return attribution(ORIGINAL, SYNTHETIC, keys=["age", "sex"], sensitive="ill", unmatched=rule)


def test_nearest_by_hand():
    found = hand("nearest")
    assert found.accuracy == 4 / 5
    assert found.mean == pytest.approx((2 / 3 + 1 / 3 + 1 / 2 + 1 + 1) / 5)
    assert (found.unmatched, found.rho) == (2 / 5, (3, 2, 0))
    assert found.interval == wilson_interval(4, 5)


def test_zero_by_hand():
    found = hand("zero")
    assert found.accuracy == 2 / 5  # records 0 and 4
    assert found.mean == pytest.approx((2 / 3 + 1 / 3 + 0 + 0 + 1) / 5)
    assert (found.unmatched, found.rho) == (2 / 5, None)
    assert found.interval == wilson_interval(2, 5)


def test_ignore_by_hand():
    found = hand("ignore")
    assert found.accuracy == 2 / 3
    assert found.mean == pytest.approx((2 / 3 + 1 / 3 + 1) / 3)
    assert (found.unmatched, found.rho) == (2 / 5, None)
    assert found.subsets[0].records == 3
    assert found.interval == wilson_interval(2, 3)


def test_references_by_hand():
    found = hand("nearest")
    # Always yes: 3 of 5. By shares: (3/5)^2 + (2/5)^2.
    assert found.baseline.zero_rule == 3 / 5
    assert found.baseline.proportional == pytest.approx(13 / 25)
    assert found.gain == pytest.approx(4 / 5 - 3 / 5)
    # On itself 30 f is a tie of no and yes, and yes is the more frequent in all; others are unique.
    assert found.original.accuracy == 4 / 5
    assert found.original.mean == pytest.approx((1 / 2 + 1 / 2 + 1 + 1 + 1) / 5)
    assert (found.original.accuracy_std, found.accuracy_std, found.mean_std) == (0, 0, 0)
    assert (found.records, found.synthetic_records, found.control) == (5, 6, None)
    assert found.reasons == {}


def test_records_one_by_one():
    frame = hand("nearest").per_record(0)
    assert frame.columns == ["record", "cap", "rho", "guess", "right"]
    assert frame["record"].to_list() == [0, 1, 2, 3, 4]
    assert frame["cap"].to_list() == pytest.approx([2 / 3, 1 / 3, 1 / 2, 1, 1])
    assert frame["rho"].to_list() == [0, 0, 1, 1, 0]
    assert frame["guess"].to_list() == ["no", "no", "no", "yes", "yes"]
    assert frame["right"].to_list() == [True, False, True, True, True]


def test_records_without_a_match_one_by_one():
    zero, ignore = hand("zero").per_record(0), hand("ignore").per_record(["sex", "age"])
    for frame, cap, right in ((zero, 0.0, False), (ignore, None, None)):
        assert frame["cap"].to_list()[2:4] == [cap, cap]
        assert frame["right"].to_list() == [True, False, right, right, True]
        assert frame["rho"].to_list() == [0, 0, None, None, 0]
        assert frame["guess"].to_list() == ["no", "no", None, None, "yes"]


def test_records_over_all_sets_of_keys():
    found = attribution(
        ORIGINAL, SYNTHETIC, keys=["age", "sex"], sensitive="ill", known=1, unmatched="ignore"
    )
    # By age, 30 is no no yes, 40 no, 50 yes. By sex, f is no no yes no yes, m is yes.
    frame = found.per_record()
    caps = [[2 / 3, 3 / 5], [1 / 3, 2 / 5], [1, 0], [1, 1], [1, 2 / 5]]
    rights = [[1, 1], [0, 0], [1, 0], [1, 1], [1, 0]]
    assert frame["cap"].to_list() == pytest.approx([sum(pair) / 2 for pair in caps])
    assert frame["right"].to_list() == [sum(pair) / 2 for pair in rights]
    assert frame["sets"].to_list() == [2] * 5
    # Accuracies 4/5 and 2/5; half their difference is the standard deviation of two.
    assert (found.accuracy, found.accuracy_std) == pytest.approx((3 / 5, 1 / 5))
    means = [sum(pair[place] for pair in caps) / 5 for place in (0, 1)]
    assert found.mean == pytest.approx(sum(means) / 2)
    assert found.mean_std == pytest.approx(abs(means[0] - means[1]) / 2)
    assert found.interval is None
    assert [one.keys for one in found.subsets] == [("age",), ("sex",)]


def test_records_that_never_count_are_null():
    synthetic = pl.DataFrame({"age": [30], "sex": ["x"], "ill": ["no"]})
    found = attribution(
        ORIGINAL, synthetic, keys=["age", "sex"], sensitive="ill", known=1, unmatched="ignore"
    )
    frame = found.per_record()
    assert frame["sets"].to_list() == [1, 1, 0, 0, 0]
    assert frame["cap"].to_list() == [1, 0, None, None, None]
    # Nobody has the sex of a synthetic record: that set is left out, and the result says so.
    assert found.accuracy == 1 / 2
    assert "1 of 2 sets" in found.reasons["subsets"]
    assert math.isnan(found.subsets[1].accuracy)


level = st.sampled_from([None, 0, 1, 2])


@st.composite
def two_tables(draw):
    width = draw(st.integers(1, 6))
    names = [f"k{place}" for place in range(width)]
    row = st.tuples(*[level] * (width + 1))
    tables = [draw(st.lists(row, min_size=1, max_size=12)) for _ in range(2)]
    schema = dict.fromkeys([*names, "t"], pl.Int64)
    return [pl.DataFrame(table, schema=schema, orient="row") for table in tables], names


@given(two_tables(), st.sampled_from(RULES), st.data())
def test_scores_are_those_of_comparing_all_pairs(tables, rule, data):
    (original, synthetic), names = tables
    known = data.draw(st.integers(1, len(names)))
    found = attribution(original, synthetic, keys=names, sensitive="t", known=known, unmatched=rule)
    accuracies, means = [], []
    for place, keys in enumerate(combinations(names, known)):
        scores = by_hand(original, synthetic, keys, "t", rule)
        frame = found.per_record(place)
        assert frame["cap"].to_list() == pytest.approx([cap for cap, _, _ in scores])
        assert frame["right"].to_list() == [right for _, right, _ in scores]
        assert frame["rho"].to_list() == [rho for _, _, rho in scores]
        one = found.subsets[place]
        accuracies.append(mean_of([right for _, right, _ in scores]))
        means.append(mean_of([cap for cap, _, _ in scores]))
        assert (one.accuracy, one.mean) == pytest.approx((accuracies[-1], means[-1]), nan_ok=True)
        if rule == "nearest":
            distances = [rho for _, _, rho in scores]
            assert one.rho == tuple(distances.count(rho) for rho in range(known + 1))
        itself = by_hand(original, original, keys, "t", rule)
        assert one.original_accuracy == pytest.approx(mean_of([right for _, right, _ in itself]))
        assert one.original_mean == pytest.approx(mean_of([cap for cap, _, _ in itself]))
    defined = [value for value in accuracies if not math.isnan(value)]
    expected = np.mean(defined) if defined else math.nan
    assert found.accuracy == pytest.approx(expected, nan_ok=True)
    assert found.accuracy_std == pytest.approx(
        np.std(defined) if defined else math.nan, nan_ok=True
    )
    assert bool(found.reasons) == (len(defined) < len(accuracies))


def test_all_rules_at_once_are_the_rules_one_by_one():
    tables = prepare(ORIGINAL, [SYNTHETIC], Scenario(["age", "sex"], "ill"), control=ORIGINAL)
    together = attributions(tables)
    assert list(together) == list(RULES)
    for rule in RULES:
        alone = attribution(
            ORIGINAL,
            SYNTHETIC,
            keys=["age", "sex"],
            sensitive="ill",
            unmatched=rule,
            control=ORIGINAL,
        )
        assert together[rule].to_dict() == alone.to_dict()
        assert together[rule].per_record().equals(alone.per_record())


@pytest.mark.parametrize(
    ("keys", "sensitive", "known", "accuracy", "std", "zero_rule"),
    [
        ([*CMC, "husband_occupation"], "method", 3, 54.9, 7.8, 42.7),
        ([*CMC, "husband_occupation"], "method", 6, 84.0, 7.4, 42.7),
        ([*CMC[:2], *CMC[3:]], "husband_education", 2, 64.3, 3.1, 61.0),
        ([*CMC[:2], *CMC[3:]], "husband_education", 4, 77.8, 7.0, 61.0),
    ],
)
def test_figures_of_the_paper_on_cmc(keys, sensitive, known, accuracy, std, zero_rule):
    table = load("cmc")
    found = attribution(table, table, keys=keys, sensitive=sensitive, known=known)
    assert round(100 * found.accuracy, 1) == accuracy
    assert round(100 * found.accuracy_std, 1) == std
    assert round(100 * found.baseline.zero_rule, 1) == zero_rule
    assert (found.original.accuracy, found.unmatched) == (found.accuracy, 0)


@pytest.mark.parametrize(
    ("sensitive", "accuracy", "std", "zero_rule"),
    [("accident", 77.0, 5.9, 56), ("surgery", 71.7, 9.0, 51)],
)
def test_figures_of_the_paper_on_fertility(real_files, sensitive, accuracy, std, zero_rule):
    real_files("fertility.csv")
    table = fetch("fertility")
    found = attribution(
        table, table, keys=["age", "alcohol", "smoking"], sensitive=sensitive, known=2
    )
    assert round(100 * found.accuracy, 1) == accuracy
    assert round(100 * found.accuracy_std, 1) == std
    assert 100 * found.baseline.zero_rule == pytest.approx(zero_rule)


def world(rows, seed, levels=5):
    """Return a table whose sensitive value follows the first key, but for some noise."""
    rng = np.random.default_rng(seed)
    keys = rng.integers(levels, size=(rows, 3))
    noise = rng.random(rows) < 0.2
    value = np.where(noise, rng.integers(3, size=rows), keys[:, 0] % 3)
    return pl.DataFrame({"a": keys[:, 0], "b": keys[:, 1], "c": keys[:, 2], "t": value})


WORLD = {"keys": ["a", "b", "c"], "sensitive": "t"}


@pytest.mark.parametrize("rule", RULES)
def test_a_copy_with_unique_keys_tells_everything(rule):
    table = pl.DataFrame({"id": [3, 1, 2], "t": ["x", "y", "x"]})
    found = attribution(table, table, keys="id", sensitive="t", unmatched=rule)
    assert (found.accuracy, found.mean, found.gain) == (1, 1, pytest.approx(1 / 3))
    assert found.unmatched == 0


def test_unrelated_data_tell_nothing():
    """With 2,000 records, three standard errors of the accuracy are 0.034."""
    original = world(2_000, 1)
    unrelated = original.with_columns(pl.col("t").shuffle(seed=1))
    found = attribution(original, unrelated, **WORLD)
    assert abs(found.mean - found.baseline.proportional) < 0.034
    assert found.gain < 0.034


@pytest.mark.parametrize("rule", RULES)
def test_a_constant_is_known_without_the_release(rule):
    original = world(50, 1).with_columns(t=pl.lit(1))
    found = attribution(original, world(50, 2).with_columns(t=pl.lit(1)), **WORLD, unmatched=rule)
    share = 1 - found.unmatched if rule == "zero" else 1
    assert (found.accuracy, found.mean) == pytest.approx((share, share))
    assert found.baseline.zero_rule == 1
    assert found.gain <= 0


def test_a_synthetic_value_that_the_original_lacks_is_never_right():
    original = world(50, 1)
    found = attribution(original, original.with_columns(t=pl.lit(7)), **WORLD)
    assert (found.accuracy, found.mean) == (0, 0)


def test_one_record_each():
    original = pl.DataFrame({"a": [1], "t": ["x"]})
    found = attribution(original, pl.DataFrame({"a": [2], "t": ["x"]}), keys="a", sensitive="t")
    assert (found.accuracy, found.mean, found.rho) == (1, 1, (0, 1))


def test_nothing_to_look_up_is_undefined():
    original = pl.DataFrame({"a": [1, 2], "t": ["x", "y"]})
    synthetic = pl.DataFrame({"a": [3], "t": ["x"]})
    found = attribution(original, synthetic, keys="a", sensitive="t", unmatched="ignore")
    assert all(math.isnan(value) for value in (found.accuracy, found.mean, found.gain))
    assert set(found.reasons) >= {"accuracy", "mean", "gain", "interval"}
    assert "no record has the keys" in found.reasons["accuracy"]
    assert "unknown share" in str(found)
    assert (found.unmatched, found.original.accuracy) == (1, 1)
    assert found.to_dict()["accuracy"] is None


def test_missing_is_a_value_like_any_other():
    original = pl.DataFrame({"a": [1, None, None], "t": ["x", None, "x"]})
    synthetic = pl.DataFrame({"a": [None, None, 2], "t": [None, None, "x"]})
    found = attribution(original, synthetic, keys="a", sensitive="t", unmatched="zero")
    frame = found.per_record(0)
    assert frame["cap"].to_list() == [0, 1, 0]
    assert frame["guess"].to_list() == [None, None, None]


def test_forty_keys():
    rng = np.random.default_rng(2)
    names = [f"k{place}" for place in range(40)]
    original, synthetic = (
        pl.DataFrame(rng.integers(3, size=(60, 41)), schema=[*names, "t"]) for _ in range(2)
    )
    found = attribution(original, synthetic, keys=names, sensitive="t")
    scores = by_hand(original, synthetic, names, "t", "nearest")
    assert found.accuracy == pytest.approx(mean_of([right for _, right, _ in scores]))
    assert found.mean == pytest.approx(mean_of([cap for cap, _, _ in scores]))


def test_noise_in_the_synthetic_data_does_not_raise_it():
    """D2; D3 and D4: less is learnt in each step, down to what is known without the release.

    Each step is a copy with ever more records whose value is redrawn, so the true accuracy falls by
    about 0.1 each time; the standard error of its difference is below 0.01 for 3,000 records.
    """
    original = world(3_000, 3, levels=8)
    rng = np.random.default_rng(4)
    chance, drawn = rng.random(3_000), rng.integers(3, size=3_000)
    accuracies, means = [], []
    for share in (0, 0.25, 0.5, 0.75, 1):
        redrawn = np.where(chance < share, drawn, original["t"].to_numpy())
        found = attribution(original, original.with_columns(t=redrawn), **WORLD)
        accuracies.append(found.accuracy)
        means.append(found.mean)
    assert accuracies == sorted(accuracies, reverse=True)
    assert means == sorted(means, reverse=True)
    assert accuracies[0] == found.original.accuracy
    assert abs(means[-1] - 1 / 3) < 0.03


def test_a_low_value_for_a_record_that_can_be_told_apart_is_false_reassurance():
    """D1 and D5 are not met: a unique record shows by its absence, which no lookup sees.

    The paper on CART: all records but one are (0, 0); the attacker who knows the others learns the
    last one from what the synthetic data lack. Here its score is 0, as for a record that is safe.
    """
    original = pl.DataFrame({"a": [0] * 99 + [1], "t": [0] * 99 + [1]})
    without = pl.DataFrame({"a": [0] * 100, "t": [0] * 100})
    absent = attribution(original, without, keys="a", sensitive="t").per_record(0)
    assert absent["cap"][99] == 0
    present = attribution(original, original, keys="a", sensitive="t").per_record(0)
    assert present["cap"][99] == 1


def comparable(found):
    content = found.to_dict()
    for one in content["subsets"]:
        one["keys"] = sorted(one["keys"])
    content["subsets"].sort(key=lambda one: one["keys"])
    return {name: content[name] for name in ("accuracy", "mean", "unmatched", "rho", "subsets")}


def assert_alike(first, second):
    first, second = comparable(first), comparable(second)
    for one, other in zip(first.pop("subsets"), second.pop("subsets"), strict=True):
        for name, value in one.items():
            assert other[name] == (pytest.approx(value) if isinstance(value, float) else value)
    assert first.pop("rho") == second.pop("rho")
    assert first == pytest.approx(second, nan_ok=True)


@pytest.mark.parametrize("rule", RULES)
def test_invariances(rule):
    original, synthetic = world(120, 5, levels=7), world(90, 6, levels=7)
    options = {"sensitive": "t", "known": 2, "unmatched": rule}
    found = attribution(original, synthetic, keys=["a", "b", "c"], **options)
    shuffled = original.sample(fraction=1, shuffle=True, seed=1)
    mixed = synthetic.sample(fraction=1, shuffle=True, seed=2)
    assert_alike(found, attribution(shuffled, mixed, keys=["a", "b", "c"], **options))
    assert_alike(found, attribution(original, synthetic, keys=["c", "a", "b"], **options))
    renamed = [t.with_columns(pl.all() * 3 + 10) for t in (original, synthetic)]
    assert_alike(found, attribution(*renamed, keys=["a", "b", "c"], **options))


def test_duplicating_a_table_changes_no_rate():
    original, synthetic = world(120, 5, levels=7), world(90, 6, levels=7)
    found = attribution(original, synthetic, **WORLD)
    for tables in (
        (pl.concat([original] * 3), synthetic),
        (original, pl.concat([synthetic] * 3)),
    ):
        again = attribution(*tables, **WORLD)
        rates = (again.accuracy, again.mean, again.unmatched)
        assert rates == pytest.approx((found.accuracy, found.mean, found.unmatched))


def test_records_follow_the_order_of_the_original():
    original, synthetic = world(60, 5), world(50, 6)
    found = attribution(original, synthetic, **WORLD).per_record(0)
    backwards = attribution(original.reverse(), synthetic, **WORLD).per_record(0)
    assert backwards.drop("record").reverse().equals(found.drop("record"))


def test_control_records_tell_what_is_learnt_about_everybody():
    control = pl.DataFrame({"age": [30, 70], "sex": ["f", "m"], "ill": ["no", "no"]})
    found = attribution(ORIGINAL, SYNTHETIC, keys=["age", "sex"], sensitive="ill", control=control)
    # 30 f: no no yes, right with 2/3. 70 m: the nearest is 60 m (yes), wrong with 0.
    assert (found.control.accuracy, found.control.mean) == pytest.approx((1 / 2, 1 / 3))
    assert found.control.difference == pytest.approx(found.accuracy - 1 / 2)
    assert found.control.mean_difference == pytest.approx(found.mean - 1 / 3)
    assert (found.control.records, found.control.interval) == (2, wilson_interval(1, 2))
    assert "not in the data" in found.summary()
    assert found.to_frame()["control_accuracy"].to_list() == [0.5]


def test_members_are_told_apart_from_others():
    """A copy knows its members; people like them are known as far as the keys tell."""
    both = world(2_000, 7, levels=12)
    members, others = both.head(1_000), both.tail(1_000)
    found = attribution(members, members, **WORLD, control=others)
    assert found.control.difference > 0.1
    fresh = attribution(members, world(1_000, 8, levels=12), **WORLD, control=others)
    # Three standard errors of a difference of two shares of 1,000 are 0.067.
    assert abs(fresh.control.difference) < 0.067


def test_control_without_a_match_is_undefined():
    control = pl.DataFrame({"age": [1], "sex": ["f"], "ill": ["no"]})
    found = attribution(
        ORIGINAL,
        SYNTHETIC,
        keys=["age", "sex"],
        sensitive="ill",
        control=control,
        unmatched="ignore",
    )
    assert math.isnan(found.control.accuracy)
    assert "control records" in found.reasons["control"]
    assert found.accuracy == 2 / 3


@pytest.mark.parametrize(
    ("measure", "rule"), [(gcap, "nearest"), (icap, "ignore"), (zero_cap, "zero")]
)
def test_the_measures_by_their_names(measure, rule):
    options = {"keys": ["age", "sex"], "sensitive": "ill", "known": 1, "control": ORIGINAL}
    found = measure(ORIGINAL, SYNTHETIC, **options)
    assert found.rule == rule
    expected = attribution(ORIGINAL, SYNTHETIC, unmatched=rule, **options)
    assert found.to_dict() == expected.to_dict()


def test_any_frame(as_frame):
    original = as_frame(ORIGINAL.to_dict(as_series=False))
    synthetic = as_frame(SYNTHETIC.to_dict(as_series=False))
    found = attribution(original, synthetic, keys=["age", "sex"], sensitive="ill")
    assert found.accuracy == 4 / 5


def test_numbers_in_groups():
    original = pl.DataFrame({"x": [1.5, 2.5, 10.5, 11.5], "t": [0, 0, 1, 1]})
    synthetic = pl.DataFrame({"x": [1.1, 12.2], "t": [0, 1]})
    options = {"keys": "x", "sensitive": "t", "unmatched": "zero"}
    assert attribution(original, synthetic, **options).unmatched == 1
    found = attribution(original, synthetic, **options, groups={"x": 2})
    assert (found.unmatched, found.accuracy) == (0, 1)


def test_frame_and_dictionary():
    found = attribution(ORIGINAL, SYNTHETIC, keys=["age", "sex"], sensitive="ill", known=1)
    frame = found.to_frame()
    assert frame["keys"].to_list() == [["age"], ["sex"]]
    assert frame["rho"].to_list() == [[5, 0], [5, 0]]
    assert frame["original_accuracy"].to_list() == [one.original_accuracy for one in found.subsets]
    low, high = found.subsets[0].interval
    assert (frame["low"][0], frame["high"][0]) == (low, high)
    assert "control_accuracy" not in frame.columns
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert content["scenario"] == {"keys": ["age", "sex"], "sensitive": "ill", "known": 1}
    assert content["baseline"] == {
        "zero_rule": 0.6,
        "proportional": pytest.approx(0.52),
        "release_rule": 0.4,
        "uniform": 0.5,
    }
    assert content["subsets"][1]["accuracy"] == found.subsets[1].accuracy
    assert content["subsets"][1]["control_accuracy"] is None
    assert not any(name.startswith("_") for name in content)


def test_summary_is_in_percent():
    assert str(hand("nearest")) == (
        "An attacker who knows both keys and looks them up guesses 'ill' correctly for 80.0% of "
        "the records. Without the release it is 60.0%, with the original 80.0%."
    )
    assert "have a match" in hand("ignore").summary()
    several = attribution(ORIGINAL, SYNTHETIC, keys=["age", "sex"], sensitive="ill", known=1)
    assert "looks it up guesses 'ill' correctly" in several.summary()
    assert "averaged over 2 sets of keys" in several.summary()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keys": ["agee", "sex"]}, "Did you mean 'age'"),
        ({"keys": ["age", "ill"]}, "both a key and the sensitive attribute"),
        ({"keys": []}, "keys is empty"),
        ({"sensitive": "sick"}, "no column 'sick'"),
        ({"unmatched": "nearst"}, "Did you mean 'nearest'"),
        ({"unmatched": None}, "one of nearest, zero, ignore; got None"),
        ({"known": 3}, "from 1 to 2"),
        ({"known": 0}, "from 1 to 2"),
        ({"groups": {"sex": 3}}, "holds no numbers"),
    ],
)
def test_what_cannot_be_used_is_refused(change, message):
    options = {"keys": ["age", "sex"], "sensitive": "ill"} | change
    with pytest.raises(ParameterError, match=message):
        attribution(ORIGINAL, SYNTHETIC, **options)


def test_text_is_not_compared_with_numbers():
    synthetic = SYNTHETIC.with_columns(pl.col("age").cast(pl.String))
    with pytest.raises(DataError, match="cannot be compared"):
        attribution(ORIGINAL, synthetic, keys="age", sensitive="ill")


@pytest.mark.parametrize("empty", ["original", "synthetic", "control"])
def test_an_empty_table_is_refused(empty):
    tables = {"original": ORIGINAL, "synthetic": SYNTHETIC, "control": SYNTHETIC}
    tables[empty] = tables[empty].clear()
    with pytest.raises(DataError, match=f"The {empty} table has no rows"):
        attribution(**tables, keys="age", sensitive="ill")


@pytest.mark.parametrize("subset", [1, -1, ["age"], "sex", []])
def test_a_set_of_keys_that_was_not_attacked_is_refused(subset):
    with pytest.raises(ParameterError, match="subset must be a number below 1"):
        hand("zero").per_record(subset)


def test_those_who_match_have_a_baseline_of_their_own():
    # Ten people match, nine of whom have a: who says a is right for 9 of 10, with the release or
    # without. The other ten have b and match nobody.
    original = pl.DataFrame(
        {"k": [1] * 10 + list(range(10, 20)), "s": ["a"] * 9 + ["b"] + ["b"] * 10}
    )
    synthetic = pl.DataFrame({"k": [1] * 10, "s": ["a"] * 9 + ["b"]})
    found = attribution(
        original, synthetic, keys="k", sensitive="s", unmatched="ignore", control=original
    )
    assert (found.accuracy, found.baseline, found.gain) == (0.9, 0.9, 0)
    assert found.baseline.proportional == pytest.approx(0.81 + 0.01)
    assert found.control.baseline == found.baseline
    every = attribution(original, synthetic, keys="k", sensitive="s", unmatched="zero")
    assert (every.accuracy, every.baseline) == (9 / 20, 11 / 20)
    assert found.to_frame()["baseline"].to_list() == [0.9]


def test_a_guess_is_none_for_missing_and_not_for_its_word():
    values = ["missing", None, "a"]
    table = pl.DataFrame({"key": values, "value": values})
    found = attribution(table, table, keys="key", sensitive="value")
    assert found.per_record(0)["guess"].to_list() == values
