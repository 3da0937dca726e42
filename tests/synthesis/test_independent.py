"""The two baselines: shares by hand, trivial worlds, and statistical bounds."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

from understudy import Coded, Independent, Uniform, load
from understudy.counting import marginal_counts, pairwise_information

SMALL = pl.DataFrame({"sex": ["f", "f", "f", "m"], "smokes": [True, False, None, True]})


def all_records(model):
    """Every combination of codes that the model's table can hold."""
    sizes = model.codec_.cardinalities
    grid = np.array(list(itertools.product(*map(range, sizes))))
    names = model.codec_.names
    arrays = {name: grid[:, place] for place, name in enumerate(names)}
    return Coded.from_arrays(arrays, dict(zip(names, sizes, strict=True)))


def test_counts_by_hand():
    model = Independent().fit(SMALL)
    # sex: f, m; smokes: no, yes, missing
    assert [counts.tolist() for counts in model.counts_] == [[3, 1], [1, 2, 1]]


def test_log_likelihood_by_hand():
    found = Independent().fit(SMALL).log_likelihood(SMALL)
    expected = np.log([3 / 4 * 2 / 4, 3 / 4 * 1 / 4, 3 / 4 * 1 / 4, 1 / 4 * 2 / 4])
    np.testing.assert_allclose(found, expected, rtol=1e-15)


@pytest.mark.parametrize("synthesizer", [Independent(), Uniform()])
def test_probabilities_of_all_records_sum_to_one(synthesizer):
    model = synthesizer.fit(load("cmc").select("education", "religion", "children"))
    total = np.exp(model.log_likelihood(all_records(model))).sum()
    assert total == pytest.approx(1, abs=1e-12)


def test_a_level_without_records_cannot_be_drawn():
    frame = pl.DataFrame({"grade": pl.Series(["a", "a", "b"], dtype=pl.Enum(["a", "b", "c"]))})
    model = Independent(random_state=0).fit(frame)
    assert set(model.sample(10_000)["grade"]) == {"a", "b"}
    unseen = pl.DataFrame({"grade": pl.Series(["c"], dtype=pl.Enum(["a", "b", "c"]))})
    assert model.log_likelihood(unseen).tolist() == [-np.inf]


def test_a_constant_table_is_copied():
    frame = pl.DataFrame({"a": [7] * 30, "b": ["x"] * 30})
    assert Independent(random_state=0).fit(frame).sample().equals(frame)


def test_one_row_is_copied():
    frame = pl.DataFrame({"a": [7], "b": [None]}, schema={"a": pl.Int8, "b": pl.String})
    assert Independent(random_state=0).fit(frame).sample(3).equals(pl.concat([frame] * 3))


def test_sampled_frequencies_match_the_density():
    model = Independent(random_state=5).fit(SMALL)
    drawn = model.sample_coded(100_000)
    grid = all_records(model)
    probabilities = np.exp(model.log_likelihood(grid))
    places = drawn["sex"].astype(int) * 3 + drawn["smokes"]
    seen = np.bincount(places, minlength=6) / len(drawn)
    # Five standard errors: a right sampler fails for one seed in about 300,000 cells.
    bound = 5 * np.sqrt(probabilities * (1 - probabilities) / len(drawn))
    assert np.all(np.abs(seen - probabilities) <= bound)


def test_marginals_of_cmc_are_kept_and_associations_are_lost():
    survey = load("cmc")
    model = Independent(random_state=2).fit(survey)
    original, drawn = model.codec_.encode(survey), model.sample_coded(200_000)
    for before, after in zip(marginal_counts(original), marginal_counts(drawn), strict=True):
        shares, seen = before / before.sum(), after / after.sum()
        # Five standard errors of a share over 200,000 draws.
        assert np.all(np.abs(seen - shares) <= 5 * np.sqrt(shares * (1 - shares) / 200_000))
    sizes = np.array(model.codec_.cardinalities)
    cells = np.outer(sizes - 1, sizes - 1)
    # 2 n ln 2 times the information is chi-squared with this many degrees of freedom under
    # independence; mean plus six standard deviations bounds all 45 pairs.
    bound = (cells + 6 * np.sqrt(2 * cells)) / (2 * len(drawn) * np.log(2))
    information = pairwise_information(drawn)
    off_diagonal = ~np.eye(len(sizes), dtype=bool)
    assert np.all(information[off_diagonal] <= bound[off_diagonal])


def test_uniform_draws_every_code_equally_often():
    model = Uniform(random_state=3).fit(SMALL)
    for counts, size in zip(
        marginal_counts(model.sample_coded(60_000)), model.codec_.cardinalities, strict=True
    ):
        expected = 60_000 / size
        assert np.all(np.abs(counts - expected) <= 5 * np.sqrt(expected))


def test_numbers_of_uniform_stay_in_range():
    drawn = Uniform(random_state=3, decode="uniform").fit(load("cmc")).sample(5_000)
    assert (drawn["age"].min(), drawn["age"].max()) == (16, 49)
