"""Fits that are random themselves, and the file that keeps finished simulations."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from understudy import Cart
from understudy.errors import DataError
from understudy.risk.strong.black_box import black_box_attacker
from understudy.risk.strong.simulated import RunCounts, SimulationStore, find_dispersion
from understudy.risk.strong.simulator import CellCounts

HALVES = pl.DataFrame({"x": [0] * 50 + [1] * 50})


def runs_of(rows, totals=None):
    rows = np.array(rows)
    return RunCounts(rows, rows.sum(axis=1) if totals is None else np.array(totals))


def test_small_cells_and_those_that_the_release_lacks_are_merged():
    # Runs of 100 rows; 100 - 60 - 31 - 4 = 5 and 100 - 80 - 13 - 2 = 5 are in other cells. On
    # average 70, 22, 3 and 5: the third is below 5 and joins the others, which makes 9 and 7.
    found = find_dispersion([runs_of([[60, 31, 4], [80, 13, 2]], [100, 100])])
    # Expected are 70, 22, 8: chi-square 2 * (100 / 70 + 81 / 22 + 1 / 8) with 2 degrees of freedom.
    assert found.factor == pytest.approx(100 / 70 + 81 / 22 + 1 / 8, rel=1e-12)
    # Others of 1 are too few by themselves: the smallest cell joins them. Two cells are left.
    found = find_dispersion([runs_of([[60, 39], [80, 19]], [100, 100])])
    assert found.factor == pytest.approx(2 * (100 / 70 + 100 / 30), rel=1e-12)


def test_runs_of_different_size_are_compared_by_their_shares():
    assert find_dispersion([runs_of([[50, 50], [500, 500], [20, 20]])]).factor == 0


@pytest.mark.parametrize("rows", [[[40, 60]], [[100, 0], [100, 0]], [[3, 4], [1, 0]]])
def test_what_cannot_tell_how_runs_differ(rows):
    # A single run; a single cell; expected counts below 5, of which all are merged.
    found = find_dispersion([runs_of(rows)])
    assert math.isnan(found.factor)
    assert found.concentration == math.inf


def test_chance_rarely_counts_as_a_random_fit():
    rng = np.random.default_rng(3)
    shares = [0.5, 0.3, 0.15, 0.04, 0.01]
    found = [find_dispersion([runs_of(rng.multinomial(200, shares, 10))]) for _ in range(1000)]
    assert np.mean([one.factor for one in found]) == pytest.approx(1, abs=0.03)
    # One in 1,000 is expected; more than 6 come once in 10,000 times (Poisson).
    assert sum(one.concentration < math.inf for one in found) <= 6


def test_more_worlds_with_the_same_seeds_are_no_more_evidence():
    # Twice 10 from 50 expected: 8 times what chance gives, but two runs tell little.
    for worlds in (1, 50):
        found = find_dispersion([runs_of([[40, 60], [60, 40]])] * worlds)
        assert found.factor == pytest.approx(8)
        assert found.concentration == math.inf


@pytest.mark.parametrize("concentration", [2.0, 30.0, 400.0])
def test_the_concentration_is_found_again(concentration):
    rng = np.random.default_rng(4)
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    fits = rng.dirichlet(concentration * shares, 1500)
    found = find_dispersion([runs_of([rng.multinomial(1000, fit) for fit in fits])])
    # 4,500 degrees of freedom: a standard error of at least 2 percent, more with heavy tails.
    assert found.concentration == pytest.approx(concentration, rel=0.15)


def test_runs_that_differ_as_much_as_they_can():
    found = find_dispersion([runs_of([[100, 0], [0, 100], [100, 0], [0, 100]])])
    # Chi-square is 4 * 2 * 50**2 / 50 = 400 with 3 degrees of freedom, above the 100 rows.
    assert found.factor == pytest.approx(400 / 3)
    assert 0 < found.concentration < 1e-3


def test_posterior_and_error_of_a_random_fit_by_hand():
    """The slow twin: the probability of each row given those before it, in Polya's urn."""
    ones = {"true": [10, 50, 90, 40], "false": [9, 48, 88, 39]}
    calls = []

    def synthesize(frame, seed):
        calls.append(seed)
        run = list(dict.fromkeys(calls)).index(seed)
        number = ones["true" if frame["x"].sum() == 50 else "false"][run]
        return pl.DataFrame({"x": [1] * number + [0] * (100 - number)})

    released = pl.DataFrame({"x": [1, 0, 1, 1, 0, 1]})
    attack = black_box_attacker(synthesize, HALVES, released, records=[99], runs=4, smoothing=0.5)

    def chi_square(counts):
        mean = np.mean(counts)
        return sum((n - mean) ** 2 / mean + (n - mean) ** 2 / (100 - mean) for n in counts)

    factor = (chi_square(ones["true"]) + chi_square(ones["false"])) / 6
    concentration = (100 - factor) / (factor - 1)

    def likelihood(counts):
        rows = 100 * len(counts)
        share = {1: sum(counts) + 0.5, 0: rows - sum(counts) + 0.5}  # and 0.5 for other values
        urn = {value: concentration * weight / (rows + 1.5) for value, weight in share.items()}
        product = 1.0
        for drawn, value in enumerate(released["x"]):
            product *= urn[value] / (concentration + drawn)
            urn[value] += 1
        return product

    def posterior(runs):
        true, false = (likelihood([ones[world][run] for run in runs]) for world in ones)
        return true / (true + false)

    assert attack.posterior[0] == pytest.approx(posterior(range(4)), rel=1e-12)
    left = np.array([posterior([run for run in range(4) if run != out]) for out in range(4)])
    error = np.sqrt(3 / 4 * ((left - left.mean()) ** 2).sum())
    assert attack.more["mc_error"][0] == pytest.approx(error, rel=1e-9)
    told = f"Runs of one world differ {factor:.3g} times as much as by chance"
    assert any(note.startswith(told) for note in attack.notes)


SPREAD = 20.0


def noisy(frame, seed):
    """Release a share after noise for privacy: the fit differs between runs."""
    rng = np.random.default_rng(seed)
    share = np.clip((frame["x"].sum() + rng.laplace(0, SPREAD)) / len(frame), 0.01, 0.99)
    return pl.DataFrame({"x": (rng.random(1000) < share).astype(int)})


@pytest.mark.slow
def test_noise_on_a_count_agrees_with_the_closed_form():
    from scipy.stats import binom

    fits = np.linspace(-400, 500, 200_001)

    def likelihood(count, ones):
        density = np.exp(-np.abs(fits - count) / SPREAD)
        return (density * binom.pmf(ones, 1000, np.clip(fits / 100, 0.01, 0.99))).sum()

    for seed in range(6):
        released = noisy(HALVES, 1000 + seed)
        ones = released["x"].sum()
        exact = likelihood(50, ones) / (likelihood(50, ones) + likelihood(49, ones))
        attack = black_box_attacker(
            noisy, HALVES, released, records=[99], runs=100, random_state=seed
        )
        # Laplace noise has no Dirichlet's spread, so only near. One multinomial for all runs is off
        # by 0.2 and more: its odds are (0.5 / 0.49)**ones * (0.5 / 0.51)**(1000 - ones).
        assert attack.posterior[0] == pytest.approx(exact, abs=0.03)


@pytest.mark.slow
def test_cart_on_bootstrap_samples_agrees_with_the_closed_form():
    from scipy.stats import binom

    table = HALVES.select(pl.col("x").replace_strict({0: "a", 1: "b"}))

    def synthesize(frame, seed):
        return Cart(proper=True, random_state=seed).fit(frame).sample(1000)

    def likelihood(count, drawn):
        sampled = np.arange(101)
        return binom.pmf(sampled, 100, count / 100) @ binom.pmf(drawn, 1000, sampled / 100)

    for seed in range(3):
        released = synthesize(table, 900 + seed)
        drawn = (released["x"] == "b").sum()
        exact = likelihood(50, drawn) / (likelihood(50, drawn) + likelihood(49, drawn))
        attack = black_box_attacker(
            synthesize, table, released, records=[99], runs=60, random_state=seed
        )
        error = attack.more["mc_error"][0]
        assert abs(attack.posterior[0] - exact) <= 3 * error
        assert error < 0.02
        # The bootstrap of 100 records varies 1 + 999 * 99 / 100 / 100 times for 1,000 rows.
        note = next(note for note in attack.notes if "times as much as by chance" in note)
        assert float(note.split(" differ ")[1].split()[0]) == pytest.approx(10.9, rel=0.5)


def test_a_fit_that_is_always_the_same_is_no_random_one():
    def synthesize(frame, seed):
        return frame.sample(1000, with_replacement=True, seed=seed)

    attack = black_box_attacker(synthesize, HALVES, HALVES, records=[0], runs=30)
    assert not any("fit" in note for note in attack.notes)
    single = black_box_attacker(synthesize, HALVES, HALVES, records=[0], runs=1)
    assert any("single run does not show whether the fit is random" in n for n in single.notes)


def counts(cells, times):
    return CellCounts(np.array(cells), np.array(times))


def kept(path, **changes):
    store = SimulationStore(path, **({"fingerprint": "f", "worlds": 3, "cells": 5} | changes))
    found = [(w, r, c.cells.tolist(), c.counts.tolist()) for w, r, c in store.finished()]
    return store, found


@pytest.fixture
def path(tmp_path):
    """Return a file with two simulations."""
    path = tmp_path / "a file"
    store, found = kept(path)
    assert found == []
    with store:
        store.add(0, 0, counts([0, 4], [2, 1]))
        store.add(2, 7, counts([3], [9]))
    return path


TWO = [(0, 0, [0, 4], [2, 1]), (2, 7, [3], [9])]


def test_what_is_added_is_kept(path):
    store, found = kept(path)
    assert found == TWO
    with store:
        store.add(1, 1, counts([1], [1]))
    assert kept(path)[1] == [*TWO, (1, 1, [1], [1])]


@pytest.mark.parametrize("cut", range(1, 13))
def test_a_crash_in_the_middle_of_a_line_loses_that_line(path, cut):
    # The last line is `[2,7,[3],[9]]` and a line end.
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    store, found = kept(path)
    assert found == TWO[:1]
    with store:
        store.add(2, 7, counts([3], [9]))
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"[3,0,[0],[1]]",
        b"[0,-1,[0],[1]]",
        b"[0,0,[5],[1]]",
        b"[0,0,[-1],[1]]",
        b"[0,0,[0],[0]]",
        b"[0,0,[0,1],[1]]",
        b"[0,0,[],[]]",
        b"[0,0,[[0]],[[1]]]",
        b"[0,0,0,1]",
        b'["0",0,[0],[1e400]]',
        b"{}",
    ],
)
def test_a_line_that_cannot_be(path, line):
    with path.open("ab") as file:
        file.write(line + b"\n")
    assert kept(path)[1] == TWO  # as the last: a crash
    with path.open("ab") as file:
        file.write(b"[1,0,[0],[1]]\n")
    with pytest.raises(DataError, match="damaged after 2 simulations"):
        kept(path)


def test_a_simulation_counts_once(path):
    with path.open("ab") as file:
        file.write(b"[2,7,[3],[9]]\n")
    assert kept(path)[1] == TWO
    store, found = kept(path)
    assert store.kept == len(found) == 2
    with store:
        store.add(1, 1, counts([1], [1]))
    assert store.kept == 3


@pytest.mark.parametrize("size", [0, 1, 30])
def test_a_crash_in_the_first_line_is_a_new_file(path, size):
    path.write_bytes(path.read_bytes()[:size])
    store, found = kept(path)
    assert found == []
    with store:
        store.add(2, 7, counts([3], [9]))
    assert kept(path)[1] == TWO[1:]


def test_files_of_others_are_refused(path, tmp_path):
    for changes in ({"fingerprint": "g"}, {"worlds": 4}, {"cells": 6}):
        with pytest.raises(DataError, match="another attack"):
            kept(path, **changes)
    for content in (b"x,y\n1,2\n", b"[]\n", b'{"format": 3}\n', b"\xff\x00"):
        other = tmp_path / "other"
        other.write_bytes(content)
        with pytest.raises(DataError, match="not a file of simulations"):
            kept(other)
        assert other.read_bytes() == content
    with pytest.raises(DataError, match="is a folder"):
        kept(tmp_path)
    with pytest.raises(DataError, match="no folder"):
        kept(tmp_path / "nowhere" / "file")


def test_nothing_is_added_to_a_closed_file(path):
    store, _ = kept(path)
    with pytest.raises(DataError, match="is not open"):
        store.add(0, 1, counts([0], [1]))
