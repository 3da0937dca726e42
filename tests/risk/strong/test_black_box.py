"""The strong attacker by simulation: by hand, against exact posteriors, and interrupted."""

from __future__ import annotations

import itertools
import json
import logging
import threading
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.errors import DataError, ParameterError
from understudy.progress import reporting
from understudy.risk.strong.black_box import black_box_attacker
from understudy.showing import showing_records

LETTERS = pl.DataFrame({"x": ["a", "a", "a", "b", "b"]})


def same(frame, seed):
    return frame


def resample(frame, seed):
    """Rows of the table by chance: a world shows in what is drawn."""
    rng = np.random.default_rng(seed)
    return frame[rng.integers(len(frame), size=40).tolist()]


def both(size):
    """A table of two columns, with every combination several times."""
    rng = np.random.default_rng(8)
    return pl.DataFrame({"u": rng.integers(2, size=size), "v": rng.integers(3, size=size)})


def figures(attack):
    """All that an attack found, to compare two of them to the last bit."""
    return (
        attack.to_frame().to_dict(as_series=False) | {"mc_error": attack.more["mc_error"].tolist()},
        attack.to_dict(),
        {name: found.tolist() for name, found in attack.marginals.items()},
        attack.labels,
    )


def test_posterior_by_hand():
    released = pl.DataFrame({"x": ["a", "b", "b", "c"]})
    attack = black_box_attacker(same, LETTERS, released, runs=1, smoothing=0.5, records=[0, 3])
    # Cells a, b, c and "other"; the release holds 1, 2, 1 and 0 of them. One run copies the world.
    #   the original: a 3, b 2, c 0 -> (3.5 * 2.5^2 * 0.5) / (5 + 4 * 0.5)^4 = 10.9375 / 7^4
    #   record 0 is b: a 2, b 3, c 0 -> (2.5 * 3.5^2 * 0.5) / 7^4 = 15.3125 / 7^4
    #   record 3 is a: a 4, b 1, c 0 -> (4.5 * 1.5^2 * 0.5) / 7^4 = 5.0625 / 7^4
    expected = [10.9375 / (10.9375 + 15.3125), 10.9375 / (10.9375 + 5.0625)]
    np.testing.assert_allclose(attack.posterior, expected, rtol=1e-12)
    assert attack.prior.tolist() == [0.5, 0.5]
    assert attack.guess == ("b", "b")
    assert attack.right_after.tolist() == [False, True]
    # Before, both candidates are as probable. Of the others 2 have a and 2 have b for record 0,
    # so that the first is taken, which is right; of record 3's others 3 have a, which is wrong.
    assert attack.right_before.tolist() == [True, False]
    assert attack.mode == "black box"
    assert attack.unknown == ("x",)
    assert attack.candidates.tolist() == [2, 2]
    assert attack.labels == {"x": ("a", "b")}
    assert np.isnan(attack.more["mc_error"]).all()
    assert "mc_error" in attack.reasons


def test_mc_error_by_hand():
    # The second run turns everything into a. The world with b for record 0 is told by the first.
    def synthesize(frame, seed):
        calls.append(seed)
        return frame if seed == calls[0] else pl.DataFrame({"x": ["a"] * 5})

    calls = []
    released = pl.DataFrame({"x": ["a", "b"]})
    attack = black_box_attacker(synthesize, LETTERS, released, runs=2, records=[0], smoothing=1)

    # Cells a, b, other; smoothing 1: pooled counts over 10 rows plus 3.
    def posterior(original, changed):
        return np.prod(original) / (np.prod(original) + np.prod(changed))

    assert attack.posterior[0] == pytest.approx(posterior([9, 3], [8, 4]), rel=1e-12)
    left = np.array([posterior([6, 1], [6, 1]), posterior([4, 3], [3, 4])])
    # Jackknife of two values: sqrt(1/2 * sum of squares about their mean).
    error = np.sqrt(0.5 * ((left - left.mean()) ** 2).sum())
    assert attack.more["mc_error"][0] == pytest.approx(error, rel=1e-12)


def test_a_generator_that_ignores_the_record_tells_exactly_nothing():
    def synthesize(frame, seed):
        return both(50)

    for prior in ("uniform", "marginal"):
        attack = black_box_attacker(synthesize, both(30), both(40), runs=3, prior=prior)
        assert attack.gain_bits.tolist() == [0.0] * 30
        assert attack.more["mc_error"].tolist() == [0.0] * 30


def test_agrees_with_the_exact_posterior():
    original, released = both(12), both(9)
    rows = [original["v"].to_list().index(value) for value in range(3)]
    attack = black_box_attacker(
        independent, original, released, unknown="v", runs=50, smoothing=0.01, records=rows
    )
    exact = np.array([exact_posterior(original, released, row) for row in rows])
    # Four standard errors: one in 16,000 estimates without bias is further away. The smoothing of
    # 0.01 rows in the 100,000 of a world is far below them.
    errors = attack.more["mc_error"]
    assert np.all(np.abs(attack.posterior - exact) <= 4 * errors)
    assert 0 < errors.max() < 0.02
    assert np.ptp(exact) > 10 * errors.max()


def shares(frame, name, levels):
    return np.array([(frame[name] == level).mean() for level in range(levels)])


def independent(frame, seed):
    """Columns on their own, with a pinch of every value so that nothing is impossible."""
    rng = np.random.default_rng(seed)
    drawn = {}
    for name, levels in (("u", 2), ("v", 3)):
        positions = np.cumsum(0.9 * shares(frame, name, levels) + 0.1 / levels)
        drawn[name] = np.searchsorted(positions[:-1], rng.random(2000), side="right")
    return pl.DataFrame(drawn)


def exact_posterior(original, released, row):
    logs = []
    for value in range(3):
        world = original.clone()
        world[row, "v"] = value
        log = 0.0
        for name, levels in (("u", 2), ("v", 3)):
            probabilities = 0.9 * shares(world, name, levels) + 0.1 / levels
            log += np.log(probabilities[released[name].to_numpy()]).sum()
        logs.append(log)
    weights = np.exp(np.array(logs) - max(logs))
    return weights[original["v"][row]] / weights.sum()


@settings(max_examples=5)
@given(st.permutations(range(8)))
@pytest.mark.slow
def test_the_order_of_the_records_does_not_matter(order):
    table = both(8)
    whole = black_box_attacker(resample, table, both(9), unknown="v", runs=2)
    some = black_box_attacker(resample, table, both(9), unknown="v", runs=2, records=order[:5])
    assert some.record.tolist() == list(order[:5])
    assert some.posterior.tolist() == whole.posterior[order[:5]].tolist()
    assert some.more["mc_error"].tolist() == whole.more["mc_error"][order[:5]].tolist()


@settings(max_examples=5)
@given(st.permutations(range(8)))
@pytest.mark.slow
def test_the_order_of_the_rows_does_not_matter_to_a_synthesizer_that_ignores_it(order):
    def synthesize(frame, seed):
        return resample(frame.sort("u", "v"), seed)

    table = both(8)
    sorted_rows = black_box_attacker(synthesize, table, both(9), unknown="v", runs=2)
    shuffled = black_box_attacker(synthesize, table[list(order)], both(9), unknown="v", runs=2)
    assert shuffled.posterior.tolist() == sorted_rows.posterior[list(order)].tolist()
    assert shuffled.guess == tuple(sorted_rows.guess[row] for row in order)


def test_records_that_agree_share_their_worlds_and_runs_share_their_seeds():
    calls = []

    def synthesize(frame, seed):
        calls.append((tuple(frame["x"]), seed))
        return frame

    attack = black_box_attacker(synthesize, LETTERS, LETTERS, runs=4)
    worlds = {
        ("a", "a", "a", "b", "b"),
        ("b", "a", "a", "b", "b"),  # the first a stands for all of them
        ("a", "a", "a", "a", "b"),
    }
    seeds = {seed for _, seed in calls}
    assert len(seeds) == 4
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert sorted(calls) == sorted(itertools.product(worlds, seeds))
    assert np.unique(attack.posterior).size == 2


def test_candidates_of_the_whole_record_are_those_of_both_tables():
    original = pl.DataFrame({"x": ["a", "b"], "y": [1, 2]})
    released = pl.DataFrame({"x": ["a", "a"], "y": [2.0, 1.5]})
    worlds = []

    def synthesize(frame, seed):
        worlds.append(frame.rows())
        return frame

    attack = black_box_attacker(synthesize, original, released, runs=1, records=[0])
    # (a, 1.5) cannot be held by a column of whole numbers.
    assert attack.candidates.tolist() == [3]
    assert sorted(worlds) == [[("a", 1), ("b", 2)], [("a", 2), ("b", 2)], [("b", 2), ("b", 2)]]
    assert attack.labels == {"x": ("a", "b"), "y": ("1", "2")}
    assert any("3 combinations that occur" in note for note in attack.notes)
    assert any("cannot hold are left out: 1." in note for note in attack.notes)
    # Cells (a,1) (a,1.5) (a,2) (b,2) and other; the release has one each of the second and third.
    #   original 0.5 * 0.5; record 0 as (a,2) 0.5 * 1.5; record 0 as (b,2) 0.5 * 0.5
    assert attack.posterior[0] == pytest.approx(0.2, rel=1e-12)
    assert attack.guess == ("a, 2",)
    assert attack.more["rank"].tolist() == [2]
    np.testing.assert_allclose(attack.marginals["x"], [[0.8, 0.2]])
    np.testing.assert_allclose(attack.marginals["y"], [[0.2, 0.8]])


def test_missing_is_a_candidate():
    table = pl.DataFrame({"x": ["a", None, "a"], "y": [1, 1, 2]})
    attack = black_box_attacker(same, table, table, unknown="x", runs=1)
    assert attack.labels == {"x": ("a", "missing")}
    assert attack.guess[1] == "missing"


def test_groups_stand_for_their_middle_number():
    table = pl.DataFrame({"pay": [1, 2, 3, 10, 20, 30, 40, None], "x": list("aabbaabb")})
    worlds = []

    def synthesize(frame, seed):
        worlds.append(frame["pay"].to_list())
        return frame

    attack = black_box_attacker(
        synthesize, table, table, unknown="pay", groups={"pay": 2}, runs=1, records=[0, 7]
    )
    # Groups 1 to 10 and 10 to 40: the original has 1, 2, 3 and 10, 20, 30, 40 in them, whose
    # middle numbers are 2 and (the lower of two) 20. The truth of record 0 is the 2 of its group,
    # that of record 7 (missing) is the original itself.
    assert attack.candidates.tolist() == [3, 3]
    rest = [2, 3, 10, 20, 30, 40]
    first = [[2, *rest, None], [20, *rest, None], [None, *rest, None]]
    assert worlds == [[1, *rest, None], *first, [1, *rest, 2], [1, *rest, 20]]
    assert attack.labels["pay"] == ("1 to 10", "10 to 40", "missing")
    assert attack.right_after.all()


def test_numbers_of_a_simulation_fall_into_the_groups_of_the_original():
    table = pl.DataFrame({"pay": [1, 2, 3, 10, 20, 30]})
    released = pl.DataFrame({"pay": [2.5, 11.5]})

    def synthesize(frame, seed):
        return pl.DataFrame({"pay": [0.5, 4.25, 99.0] if frame["pay"][0] == 2 else [50.0]})

    attack = black_box_attacker(
        synthesize, table, released, unknown="pay", groups={"pay": 2}, records=[0], runs=1
    )
    # Two groups and "other". As 2: 2.5 / 4.5 * 1.5 / 4.5; as candidate 2: 0.5 / 2.5 * 1.5 / 2.5
    original, other = 2.5 * 1.5 / 4.5**2, 0.5 * 1.5 / 2.5**2
    assert attack.posterior[0] == pytest.approx(original / (original + other), rel=1e-12)


def test_without_a_record_that_is_its_middle_number_the_original_is_not_simulated():
    table = pl.DataFrame({"age": list(range(20, 60)), "y": [0, 1] * 20})
    worlds = []

    def synthesize(frame, seed):
        worlds.append(frame["age"].to_list())
        return frame

    options = {"unknown": "age", "groups": {"age": 4}, "cells": "age", "runs": 1}
    black_box_attacker(synthesize, table, table, **options, records=[0])
    # Groups of ten numbers; the fifth is the lower one of the two in the middle.
    assert worlds == [[middle, *range(21, 60)] for middle in (24, 34, 44, 54)]
    worlds.clear()
    black_box_attacker(synthesize, table, table, **options, records=[4])
    assert [ages[4] for ages in worlds] == [24, 34, 44, 54]
    with pytest.raises(DataError, match="of the world with record 0 as candidate 1: KeyError"):
        black_box_attacker(lambda *_: {}["x"], table, table, **options, records=[0])


def test_a_given_candidate_stands_for_its_whole_group():
    table = pl.DataFrame({"pay": [1, 2, 3, 10, 20, None]})
    worlds = []

    def synthesize(frame, seed):
        worlds.append(frame["pay"][0])
        return frame

    options = {"groups": {"pay": 2}, "candidates": [2, 15], "runs": 1, "records": [0]}
    attack = black_box_attacker(synthesize, table, table, **options)
    assert worlds == [2, 15]
    # Both worlds are copied. The limit is 3, so that the release has 2, 3 and 1 rows in 1 to 3, 3
    # to 20 and missing, and so has the first world; the second has 1, 4 and 1.
    odds = (2.5 / 1.5) ** 2 * (3.5 / 4.5) ** 3
    assert attack.posterior[0] == pytest.approx(odds / (1 + odds), rel=1e-12)


def test_records_are_named_as_for_the_other_modes():
    run = {"runs": 1, "original": LETTERS, "synthetic": LETTERS}
    alone = black_box_attacker(same, **run, records=3)
    assert alone.record.tolist() == [3]
    mask = black_box_attacker(same, **run, records=[True, False, False, True, False])
    assert mask.record.tolist() == [0, 3]
    twice = black_box_attacker(same, **run, records=[3, 0, 3])
    assert twice.record.tolist() == [3, 0, 3]
    assert twice.posterior.tolist() == mask.posterior[[1, 0, 1]].tolist()
    assert alone.posterior.tolist() == mask.posterior[1:].tolist()


def test_a_column_may_be_named_like_the_whole_record():
    table = both(8).rename({"u": "*"})
    assert black_box_attacker(same, table, table, unknown="*", runs=1).unknown == ("*",)


def test_cells_that_no_simulation_reached_are_told():
    # Record 0 alone has c: only the original can draw it.
    table = pl.DataFrame({"x": list("caabb")})
    attack = black_box_attacker(same, table, table, records=[0], runs=2)
    told = [note for note in attack.notes if "far below 1" in note]
    assert len(told) == 1
    assert told[0].startswith("In 2 of 3 worlds no simulation reached some cell of the release.")
    attack = black_box_attacker(same, LETTERS, LETTERS, records=[0], runs=2)
    assert not any("far below 1" in note for note in attack.notes)


def test_one_is_singular(caplog):
    table = pl.DataFrame({"x": ["a"]})
    attack = black_box_attacker(same, table, table, runs=1)
    assert "1 simulation of one world; the likelihood rests on 2 cells." in attack.notes
    assert "The synthetic table has 1 row in 1 cell. With" in caplog.text
    excluded = black_box_attacker(same, LETTERS, LETTERS, prior=[1, 0], runs=1, records=[3])
    assert excluded.reasons["gain_bits"].endswith("the truth of 1 record")
    with pytest.raises(ParameterError, match="values of record 3 are not among them"):
        black_box_attacker(same, LETTERS, LETTERS, candidates=["a"], runs=1, records=[0, 3])


def test_given_candidates():
    worlds = []

    def synthesize(frame, seed):
        worlds.append(frame["x"][0])
        return frame

    attack = black_box_attacker(
        synthesize, LETTERS, LETTERS, candidates=["z", "a", None], runs=1, records=[0]
    )
    assert worlds == ["a", "z", None]
    assert attack.labels == {"x": ("z", "a", "missing")}
    pair = black_box_attacker(
        same, both(9), both(9), candidates=[(0, 0), (0, 1), (1, 1)], runs=1, records=both_rows()
    )
    assert set(pair.candidates.tolist()) == {3}


def both_rows():
    table = both(9)
    known = [(0, 0), (0, 1), (1, 1)]
    return [row for row, values in enumerate(table.rows()) if values in known]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "list of values"),
        ("ab", "list of values"),
        (["a", "a", "b"], "the same"),
        (["a"], r"true values of record 3 \(and 1 other\)"),
        ([1, 2], "cannot be compared"),
        (["a", 1], "not of one type"),
    ],
)
def test_candidates_that_cannot_be_used(given, message):
    with pytest.raises((ParameterError, DataError), match=message):
        black_box_attacker(same, LETTERS, LETTERS, candidates=given, runs=1)


def test_candidates_that_the_column_cannot_hold():
    table = pl.DataFrame({"x": pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"]))})
    with pytest.raises(ParameterError, match="number 3 has a value"):
        black_box_attacker(same, table, table, candidates=["a", "b", "c"], runs=1)
    with pytest.raises(ParameterError, match="tuple of 2 values"):
        black_box_attacker(same, both(5), both(5), candidates=[(1, 2, 3)], runs=1)


@pytest.mark.slow
def test_too_many_candidates():
    table = pl.DataFrame({"x": np.arange(257)})
    with pytest.raises(ParameterError, match=r"257 candidates.*groups=.*candidates="):
        black_box_attacker(same, table, table, unknown="x", runs=1)
    found = black_box_attacker(
        same, table, table, unknown="x", runs=1, candidates=list(range(257)), records=[0]
    )
    assert found.candidates.tolist() == [257]


def test_marginal_prior_by_hand():
    attack = black_box_attacker(
        lambda *_: LETTERS, LETTERS, LETTERS, prior="marginal", runs=1, records=[0, 3]
    )
    # Of the 4 others of record 0, 2 have a: (2 + 0.25) / 4.5; of record 3's, 1 has b.
    np.testing.assert_allclose(attack.prior, [2.25 / 4.5, 1.25 / 4.5])
    np.testing.assert_array_equal(attack.posterior, attack.prior)
    assert attack.prior_name == "marginal"


def test_weights_as_prior():
    run = {"runs": 1, "records": [0, 3]}
    attack = black_box_attacker(same, LETTERS, LETTERS, prior=[3, 1], **run)
    np.testing.assert_allclose(attack.prior, [0.75, 0.25])
    assert attack.prior_name == "given"
    assert attack.right_before.tolist() == [True, False]
    rows = black_box_attacker(same, LETTERS, LETTERS, prior=[[3, 1], [3, 1]], **run)
    np.testing.assert_array_equal(rows.posterior, attack.posterior)
    # Odds are multiplied by the likelihood ratio, which is that of equal weights.
    plain = black_box_attacker(same, LETTERS, LETTERS, **run)
    odds = plain.posterior / (1 - plain.posterior) * np.array([3, 1 / 3])
    np.testing.assert_allclose(attack.posterior, odds / (1 + odds))
    excluded = black_box_attacker(same, LETTERS, LETTERS, prior=[1, 0], **run)
    assert excluded.posterior.tolist() == [1, 0]
    assert "excludes the truth of 1" in excluded.reasons["gain_bits"]


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ("informed", "array"),
        ("unifrom", "Did you mean 'uniform'"),
        ([1, 2, 3], r"2 candidates and 5 records.*got \(3,\)"),
        ([[1, 2]], r"got \(1, 2\)"),
        ([1, -1], "at least 0"),
        ([1, np.nan], "finite"),
        ([0, 0], "not all weights"),
        ([[1, 2], [1]], "an array must hold numbers"),
        (["a", "b"], "an array must hold numbers"),
    ],
)
def test_priors_that_cannot_be_used(prior, message):
    with pytest.raises(ParameterError, match=message):
        black_box_attacker(same, LETTERS, LETTERS, prior=prior, runs=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"unknown": "z"}, "unknown: 'z' is not a column"),
        ({"unknown": ["x", "x"]}, "twice"),
        ({"unknown": []}, "unknown: name at least one column"),
        ({"cells": ["z"]}, "cells: 'z' is not a column"),
        ({"groups": {"z": 2}}, "groups: 'z' is not a column"),
        ({"groups": {"x": 2}}, "holds no numbers"),
        ({"groups": 3}, "groups must be a mapping"),
        ({"runs": 0}, "runs must be a whole number from 1"),
        ({"runs": True}, "runs must be a whole number from 1"),
        ({"processes": 1.5}, "processes must be a whole number"),
        ({"smoothing": 0}, "smoothing must be a number above 0"),
        ({"smoothing": np.nan}, "smoothing must be a number above 0"),
        ({"records": [5]}, "there is no row 5; the original has rows 0 to 4"),
        ({"records": [-1]}, "there is no row -1"),
        ({"records": []}, "name at least one row"),
        ({"records": [True, False]}, "records must be row numbers"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_arguments_that_cannot_be_used(arguments, message):
    with pytest.raises(ParameterError, match=message):
        black_box_attacker(same, LETTERS, LETTERS, **({"runs": 1} | arguments))


def test_tables_that_cannot_be_used():
    with pytest.raises(DataError, match="no column in common"):
        black_box_attacker(same, LETTERS, pl.DataFrame({"y": [1]}))
    with pytest.raises(DataError, match="synthetic table has no rows"):
        black_box_attacker(same, LETTERS, LETTERS.head(0))
    with pytest.raises(ParameterError, match="function of a frame and a seed"):
        black_box_attacker(7, LETTERS, LETTERS)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (pl.DataFrame({"y": [1]}), "lacks x; it adds y"),
        (LETTERS.head(0), "simulated table has no rows"),
        (None, "A table is a pandas"),
        (pl.DataFrame({"x": [1]}), "cannot be compared"),
    ],
)
def test_what_a_synthesizer_must_not_return(answer, message):
    with pytest.raises(DataError, match=r"run 1 \(seed \d+\).*the original itself.*" + message):
        black_box_attacker(lambda *_: answer, LETTERS, LETTERS)


@pytest.mark.parametrize("processes", [1, 3])
def test_a_synthesizer_that_fails(processes):
    def synthesize(frame, seed):
        if frame["x"][0] == "b":
            raise KeyError("lost")
        return frame

    message = r"run \d \(seed \d+\) of the world with record 0 as candidate 2: 'lost'"
    with showing_records(), pytest.raises(DataError, match=message):
        black_box_attacker(synthesize, LETTERS, LETTERS, runs=3, processes=processes)
    with pytest.raises(DataError, match="KeyError; its text is not shown"):
        black_box_attacker(synthesize, LETTERS, LETTERS, runs=3, processes=processes)


@pytest.mark.slow
def test_threads_do_not_change_the_result():
    one = black_box_attacker(resample, both(8), both(9), runs=6)
    three = black_box_attacker(resample, both(8), both(9), runs=6, processes=3)
    assert figures(one) == figures(three)


class Interrupt:
    """A synthesizer that is interrupted in its turn `at`."""

    def __init__(self, at):
        self.at = at
        self.calls = 0

    def __call__(self, frame, seed):
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt
        return resample(frame, seed)


@pytest.mark.parametrize(
    ("at", "tail"),
    [
        (2, b""),
        (11, b"[3,"),
        (1, b"[3,1,[0],[1]]"),
        (2, b"\x00\x00\x00\n"),
        *(pytest.param(at, tail, marks=pytest.mark.slow) for at, tail in ((1, b""), (11, b""))),
        *(pytest.param(at, b"[3,", marks=pytest.mark.slow) for at in (1, 2)),
        *(pytest.param(at, b"[3,1,[0],[1]]", marks=pytest.mark.slow) for at in (2, 11)),
        *(pytest.param(at, b"\x00\x00\x00\n", marks=pytest.mark.slow) for at in (1, 11)),
    ],
)
def test_an_interrupted_attack_goes_on_to_the_same_result(tmp_path, caplog, at, tail):
    path = tmp_path / "simulations"
    whole = black_box_attacker(resample, both(8), both(9), unknown="v", runs=4)
    with pytest.raises(KeyboardInterrupt):
        black_box_attacker(
            Interrupt(at), both(8), both(9), unknown="v", runs=4, resume=path, processes=1
        )
    kept = "1 simulation is" if at == 2 else f"{at - 1} simulations are"
    assert f"Interrupted: {kept} kept in {path}. The same call goes on" in caplog.text
    with path.open("ab") as file:
        file.write(tail)
    rest = Interrupt(0)
    resumed = black_box_attacker(rest, both(8), both(9), unknown="v", runs=4, resume=path)
    assert figures(resumed) == figures(whole)
    lines = path.read_bytes().splitlines()
    assert rest.calls == len(lines) - 1 - (at - 1)
    again = black_box_attacker(fail, both(8), both(9), unknown="v", runs=4, resume=path)
    assert figures(again) == figures(whole)
    assert path.read_bytes().splitlines() == lines


def test_an_attack_that_is_interrupted_again_keeps_what_it_had(tmp_path, caplog):
    path = tmp_path / "simulations"
    for at in (3, 4):
        with pytest.raises(KeyboardInterrupt):
            black_box_attacker(Interrupt(at), both(8), both(9), runs=4, resume=path)
    assert "Interrupted: 5 simulations are kept" in caplog.text
    caplog.clear()
    with pytest.raises(KeyboardInterrupt):
        black_box_attacker(Interrupt(2), both(8), both(9), runs=4)
    assert "Interrupted" not in caplog.text


def fail(frame, seed):
    raise AssertionError("all already exists")


def test_more_runs_and_other_priors_go_on_with_the_same_file(tmp_path):
    path = tmp_path / "simulations"
    table = {"original": both(8), "synthetic": both(9), "unknown": "u"}
    black_box_attacker(resample, **table, runs=3, resume=path)
    rest = Interrupt(0)
    more = black_box_attacker(
        rest, **table, runs=5, resume=path, prior="marginal", smoothing=2, processes=2
    )
    fresh = black_box_attacker(resample, **table, runs=5, prior="marginal", smoothing=2)
    assert figures(more) == figures(fresh)
    assert rest.calls == 2 * (len(path.read_bytes().splitlines()) - 1) / 5
    fewer = black_box_attacker(fail, **table, runs=3, resume=path)
    assert figures(fewer) == figures(black_box_attacker(resample, **table, runs=3))


@pytest.mark.parametrize(
    "change",
    [
        {"original": both(10)},
        {"synthetic": both(10)},
        {"records": [2]},
        {"random_state": 1},
        {"cells": ["u"]},
        {"unknown": ["u", "v"]},
        {"groups": {"v": 2}},
        {"candidates": [1, 0]},
    ],
)
def test_a_file_of_another_attack_is_refused_and_kept(tmp_path, change):
    path = tmp_path / "simulations"
    table = {"original": both(8), "synthetic": both(9), "unknown": "u", "runs": 2}
    black_box_attacker(resample, **table, resume=path)
    before = path.read_bytes()
    with pytest.raises(DataError, match="simulations of another attack"):
        black_box_attacker(resample, **(table | change), resume=path)
    assert path.read_bytes() == before


def test_the_file_holds_no_values(tmp_path):
    path = tmp_path / "simulations"
    table = pl.DataFrame({"name": ["Anna", "Anna", "Bert"]})
    black_box_attacker(same, table, table, runs=1, resume=path)
    text = path.read_text()
    assert "Anna" not in text
    assert "name" not in text
    # The original: two of cell 0, one of cell 1; then the worlds of the first and third record.
    assert [json.loads(line) for line in text.splitlines()[1:]] == [
        [0, 0, [0, 1], [2, 1]],
        [1, 0, [0, 1], [1, 2]],
        [2, 0, [0], [3]],
    ]


def test_the_synthesizer_gets_frames_of_the_kind_that_was_given(as_frame):
    table = as_frame(
        {
            "text": ["a", "b", None, "a"],
            "number": [1.5, None, 2.5, 1.5],
            "whole": [1, 2, 2, 1],
            "truth": [True, False, True, True],
        }
    )
    seen = []

    def synthesize(frame, seed):
        assert type(frame) is type(table)
        seen.append(types_of(frame))
        if not isinstance(frame, pd.DataFrame):
            return frame
        assert 7 not in frame["whole"].tolist()
        kept = frame.copy()
        frame.loc[0, "whole"] = 7  # must not reach the next run
        return kept

    attack = black_box_attacker(synthesize, table, table, runs=2)
    assert type(attack.to_frame()) is type(table)
    assert len(seen) == 2 * (1 + 3 * 2)  # the original; three distinct records, two others each
    assert all(types == types_of(table) for types in seen)
    assert attack.guess[1] == "b, missing, 2, False"


def types_of(frame):
    return frame.dtypes.to_dict() if isinstance(frame, pd.DataFrame) else frame.schema


def test_categories_stay_what_they_are():
    table = pd.DataFrame({"x": pd.Categorical(["a", "b", "a"], ["b", "a", "c"])})

    def synthesize(frame, seed):
        assert frame["x"].cat.categories.tolist() == ["b", "a", "c"]
        return frame

    assert len(black_box_attacker(synthesize, table, table, runs=1)) == 3


def test_columns_that_are_not_released_are_told():
    table = both(8)
    attack = black_box_attacker(
        lambda frame, _: frame.select("u"), table, table.select("u"), unknown="v", runs=1
    )
    assert attack.gain_bits.tolist() == [0.0] * 8
    assert "Not in the synthetic table: 'v'." in attack.notes
    pair = black_box_attacker(lambda frame, _: frame.select("u"), table, table.select("u"), runs=1)
    assert any("occur in the original," in note for note in pair.notes)


def test_thin_cells_are_warned_of(caplog):
    with caplog.at_level(logging.WARNING, "understudy"):
        black_box_attacker(same, both(8), both(9), unknown="v", runs=1)
    assert "The synthetic table has 9 rows in 5 cells." in caplog.text
    caplog.clear()
    with caplog.at_level(logging.WARNING, "understudy"):
        black_box_attacker(same, both(40), both(40), unknown="v", cells="v", runs=1)
    assert not caplog.text


def test_progress_counts_what_is_left(tmp_path):
    class Recorder:
        def track(self, items, description, total):
            counted.append([description, total, 0])
            for item in items:
                counted[-1][2] += 1
                yield item

    counted = []
    table = {"original": LETTERS, "synthetic": LETTERS, "resume": tmp_path / "simulations"}
    with reporting(Recorder()):
        black_box_attacker(same, **table, runs=2)
        black_box_attacker(same, **table, runs=3)
    assert counted == [["Simulating 3 worlds", 6, 6], ["Simulating 3 worlds", 3, 3]]


@pytest.mark.slow
def test_an_interruption_ends_the_threads(tmp_path):
    """The main thread is interrupted while others work: what they began is the last."""

    class Impatient:
        def track(self, items, *_):
            for place, item in enumerate(items):
                if place == 3:
                    raise KeyboardInterrupt
                yield item

    calls = []

    def synthesize(frame, seed):
        calls.append(seed)
        time.sleep(0.01)
        return resample(frame, seed)

    path = tmp_path / "simulations"
    before = threading.active_count()
    with reporting(Impatient()), pytest.raises(KeyboardInterrupt):
        black_box_attacker(synthesize, both(8), both(9), runs=9, processes=2, resume=path)
    assert threading.active_count() == before
    assert len(calls) <= 3 + 1 + 2
    assert len(path.read_bytes().splitlines()) == 1 + 3
    resumed = black_box_attacker(resample, both(8), both(9), runs=9, processes=2, resume=path)
    assert figures(resumed) == figures(black_box_attacker(resample, both(8), both(9), runs=9))
