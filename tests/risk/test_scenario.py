"""Scenarios: their sets of keys, their file, and what they refuse. Baselines by hand."""

from __future__ import annotations

import logging
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data import load
from understudy.errors import ParameterError
from understudy.risk.scenario import Baseline, Scenario


def test_all_keys_are_one_set():
    scenario = Scenario(["age", "sex", "job"], "income")
    assert list(scenario.subsets()) == [("age", "sex", "job")]
    assert len(scenario) == 1


@pytest.mark.parametrize("known", range(1, 6))
def test_known_keys_give_all_sets_of_that_size(known):
    scenario = Scenario(list("abcde"), "t", known)
    sets = list(scenario.subsets())
    assert len(scenario) == len(sets) == math.comb(5, known)
    assert len(set(sets)) == len(sets)
    assert all(list(held) == sorted(held) and len(held) == known for held in sets)


def test_a_single_name_is_one_key():
    assert Scenario("age", "sex").keys == ("age",)
    assert Scenario("age", "sex") == Scenario(["age"], "sex")


@pytest.mark.parametrize(
    ("keys", "known", "words"),
    [
        (1, None, "the key"),
        (2, None, "both keys"),
        (3, 3, "all 3 keys"),
        (3, 1, "1 of 3 keys"),
    ],
)
def test_how_many_keys_are_known_in_words(keys, known, words):
    assert Scenario([f"k{n}" for n in range(keys)], "t", known).known_keys == words


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], "t"), "keys is empty"),
        ((["a", 3], "t"), "keys and sensitive must be names of columns; got 3"),
        ((["a"], None), "keys and sensitive must be names of columns; got None"),
        ((["a", "b", "a"], "t"), "keys: 'a' is named twice"),
        ((["a", "t"], "t"), "'t' is both a key and the sensitive attribute"),
        (
            (["a", "b"], "t", 0),
            "known must be a whole number from 1 to 2, the number of keys; got 0",
        ),
        ((["a", "b"], "t", 3), "from 1 to 2, the number of keys; got 3"),
        ((["a", "b"], "t", True), "from 1 to 2, the number of keys; got True"),
        ((["a", "b"], "t", 1.0), r"from 1 to 2, the number of keys; got 1\.0"),
    ],
)
def test_what_is_no_scenario(arguments, message):
    with pytest.raises(ParameterError, match=message):
        Scenario(*arguments)


def test_a_scenario_from_a_file(tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text('keys = ["größe", "sex"]\nsensitive = "t"\nknown = 1\n', encoding="utf-8")
    assert Scenario.load(path) == Scenario.load(str(path)) == Scenario(["größe", "sex"], "t", 1)
    assert Scenario.from_toml('keys = "a"\nsensitive = "t"') == Scenario(["a"], "t")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("keys = [", "The scenario is not a TOML file"),
        ('sensitive = "t"', "lacks the field 'keys'"),
        ('keys = ["a"]', "lacks the field 'sensitive'"),
        ('key = ["a"]\nsensitive = "t"', r"no field 'key'.* Did you mean 'keys'\?"),
        ('keys = 3\nsensitive = "t"', "keys must be a list of columns; got 3"),
        ('keys = ["a"]\nsensitive = 3', "names of columns; got 3"),
        ('keys = ["a"]\nsensitive = "t"\nknown = "x"', "known must be a whole number"),
    ],
)
def test_a_file_that_is_no_scenario(text, message):
    with pytest.raises(ParameterError, match=message):
        Scenario.from_toml(text)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(ParameterError, match=r"There is no file .*none\.toml"):
        Scenario.load(tmp_path / "none.toml")
    with pytest.raises(ParameterError, match="cannot be opened"):
        Scenario.load(tmp_path)
    (tmp_path / "bytes.toml").write_bytes(b"keys = '\xff'")
    with pytest.raises(ParameterError, match="not text in UTF-8"):
        Scenario.load(tmp_path / "bytes.toml")


def test_very_many_sets_are_told(caplog):
    with caplog.at_level(logging.WARNING, "understudy"):
        Scenario([f"k{n}" for n in range(30)], "s", known=15)
    assert "155,117,520 sets" in caplog.text


@pytest.mark.parametrize("keys", [None, 3])
def test_keys_of_another_kind(keys):
    with pytest.raises(ParameterError, match="keys must be a column or a list of columns"):
        Scenario(keys, "s")


def test_baselines_by_hand():
    found = Baseline.of(np.array([5, 0, 3, 2]))
    assert found.zero_rule == 0.5
    assert found.proportional == pytest.approx(0.25 + 0.09 + 0.04)
    assert found.uniform == pytest.approx(1 / 3)
    assert math.isnan(found.release_rule)
    assert Baseline.of(np.array([7]), np.array([2])) == Baseline(1.0, 1.0, 1.0, 1.0)
    # The release says the third value, which 3 of 10 have; then one that nobody has.
    assert Baseline.of(np.array([5, 0, 3, 2]), np.array([1, 1, 4, 4])).release_rule == 0.3
    assert Baseline.of(np.array([5, 0, 3, 2]), np.array([0, 1, 0, 0])).release_rule == 0.0
    assert Baseline.of(np.array([5]), np.array([0, 1])).release_rule == 0.0


def test_the_zero_rule_of_the_paper():
    counts = load("cmc")["method"].value_counts()["count"].to_numpy()
    assert Baseline.of(counts).zero_rule == pytest.approx(0.427, abs=5e-4)


def test_no_values_have_no_baseline():
    for counts in ([], [0, 0]):
        found = Baseline.of(np.array(counts, np.int64))
        assert math.isnan(found.zero_rule)
        assert math.isnan(found.proportional)


def test_counts_beyond_small_integers():
    # Squares of these do not fit 64 bits.
    assert Baseline.of(np.array([2**40, 2**40])) == Baseline(0.5, 0.5, uniform=0.5)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=6).filter(any))
def test_a_guess_in_proportion_is_between_one_level_and_the_zero_rule(counts):
    found = Baseline.of(np.array(counts))
    levels = sum(count > 0 for count in counts)
    assert 1 / levels - 1e-12 <= found.proportional <= found.zero_rule + 1e-12
