"""Priors, Bayes' rule by hand, ties, worlds of probability zero, and what has a reason."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.coded import Coded
from understudy.errors import ParameterError
from understudy.risk.strong.beliefs import (
    TIED,
    Beliefs,
    Listed,
    Question,
    attribute_logs,
    marginal_logs,
    popularity,
    prior_name,
    read_weights,
)
from understudy.risk.strong.candidates import Candidates

TABLE = Coded.from_arrays({"a": [0, 0, 0, 1], "b": [2, 0, 2, 1]})
ONE = Candidates.grid(("y",), (3,))


def believed(prior, likelihood, truth, popularity=None, candidates=ONE):
    likelihood = np.atleast_2d(likelihood)
    with np.errstate(divide="ignore"):
        log_prior, logs = np.log(np.atleast_2d(prior)), np.log(likelihood)
    if popularity is None:
        popularity = np.zeros(likelihood.shape, np.int64)
    return Beliefs.of(log_prior, logs, np.atleast_1d(truth), np.atleast_2d(popularity), candidates)


def test_bayes_rule():
    # 0.5 * 0.1, 0.3 * 0.2, 0.2 * 0.5: of 0.21, 0.05, 0.06 and 0.10.
    found = believed([0.5, 0.3, 0.2], [0.1, 0.2, 0.5], 1)
    assert found.prior.tolist() == pytest.approx([0.3])
    assert found.posterior.tolist() == pytest.approx([6 / 21])
    assert found.guess.tolist() == [2]
    assert found.rank.tolist() == [2]
    assert not found.right_before[0]
    assert not found.right_after[0]
    assert found.marginals == ()


def test_weights_need_not_sum_to_one_and_one_row_serves_all_records():
    found = believed([5, 3, 2], [[0.1, 0.2, 0.5], [1, 1, 1]], [1, 0])
    assert found.prior.tolist() == pytest.approx([0.3, 0.5])
    assert found.posterior.tolist() == pytest.approx([6 / 21, 0.5])
    assert found.right_before.tolist() == [False, True]


@given(st.lists(st.floats(1e-6, 1), min_size=3, max_size=3), st.floats(-800, 800))
def test_a_release_that_tells_nothing_changes_no_digit(prior, level):
    log_prior = np.log([prior])
    zeros, popularity = np.zeros((1, 3)), np.zeros((1, 3), np.int64)
    found = Beliefs.of(log_prior, zeros, np.array([1]), popularity, ONE)
    assert found.posterior.tolist() == found.prior.tolist()
    # Log weights may be far from 0: only their differences count.
    moved = Beliefs.of(log_prior + level, zeros, np.array([1]), popularity, ONE)
    assert moved.posterior[0] == pytest.approx(found.prior[0], rel=1e-9)


def test_likelihoods_far_below_the_smallest_float():
    logs = np.array([[-5000.0, -5001.0, -np.inf]])
    found = Beliefs.of(np.zeros((1, 3)), logs, np.array([0]), np.zeros((1, 3), np.int64), ONE)
    assert found.posterior[0] == pytest.approx(1 / (1 + np.exp(-1)))


def test_impossible_worlds():
    found = believed([1, 1, 1], [[0, 0.2, 0], [0, 0.3, 0.1]], [1, 0])
    assert found.posterior.tolist() == [1, 0]
    assert found.rank.tolist() == [1, 3]
    assert found.right_after.tolist() == [True, False]
    none = believed([1, 1, 0], [[0, 0, 0.5]], [0])
    assert np.isnan(none.posterior[0])
    assert np.isnan(none.rank[0])
    assert not none.right_after[0]
    assert none.prior[0] == pytest.approx(0.5)


def test_ties_go_to_the_most_frequent_and_then_to_the_first():
    tied = believed([1, 1, 1], [0.2, 0.2, 0.2], 2, [1, 5, 5])
    assert tied.guess.tolist() == [1]
    assert tied.rank.tolist() == [1]
    assert not tied.right_before[0]
    assert believed([1, 1, 1], [0.2, 0.2, 0.2], 0).guess.tolist() == [0]
    # Rounding is no difference, but more than that is: popularity decides only ties.
    near = np.exp(np.array([0.0, TIED / 2, 0.0]))
    assert believed([1, 1, 1], near, 2, [0, 0, 9]).guess.tolist() == [2]
    assert believed([1, 1, 1], near, 2, [0, 0, 9]).rank.tolist() == [1]
    apart = np.exp(np.array([0.0, 3 * TIED, 0.0]))
    assert believed([1, 1, 1], apart, 2, [0, 0, 9]).guess.tolist() == [1]
    assert believed([1, 1, 1], apart, 2, [0, 0, 9]).rank.tolist() == [2]


def test_marginals():
    grid = Candidates.grid(("x", "y"), (2, 2))
    # Weights 1, 2, 3, 4 of x0y0, x0y1, x1y0, x1y1.
    found = believed([1, 1, 1, 1], [0.1, 0.2, 0.3, 0.4], 3, candidates=grid)
    assert found.marginals[0].tolist() == [pytest.approx([0.3, 0.7])]
    assert found.marginals[1].tolist() == [pytest.approx([0.4, 0.6])]


def test_records_in_parts():
    grid = Candidates.grid(("x", "y"), (2, 2))
    likelihood = np.array([[1, 2, 3, 4], [4, 3, 2, 1], [1, 1, 5, 1]]) / 10
    whole = believed([1, 2, 1, 1], likelihood, [3, 0, 1], candidates=grid)
    parts = [
        believed([1, 2, 1, 1], likelihood[:1], [3], candidates=grid),
        believed([1, 2, 1, 1], likelihood[1:], [0, 1], candidates=grid),
    ]
    joined = Beliefs.concatenate(parts).take(np.array([2, 0, 0]))
    for name in ("prior", "posterior", "guess", "right_before", "right_after", "rank"):
        assert getattr(joined, name).tolist() == getattr(whole, name)[[2, 0, 0]].tolist()
    for mine, other in zip(joined.marginals, whole.marginals, strict=True):
        assert mine.tolist() == other[[2, 0, 0]].tolist()


def test_names():
    assert [prior_name(name) for name in ("uniform", "marginal", "informed")] == [
        "uniform",
        "marginal",
        "informed",
    ]
    assert prior_name(np.ones(3)) == "given"
    with pytest.raises(ParameterError, match=r"uniform, marginal, informed.*got 'given'"):
        prior_name("given")
    with pytest.raises(ParameterError, match="hold numbers"):
        prior_name([[1], [1, 2]])


def test_shares_without_the_record():
    # Of 4 records 3, 1, 0 have the values; without one of the first, 2, 1, 0 of 3, and half a
    # record is spread over the three.
    sixth = 0.5 / 3
    found = np.exp(attribute_logs(np.array([3, 1, 0]), np.array([0, 1])))
    assert found[0].tolist() == pytest.approx([(2 + sixth) / 3.5, (1 + sixth) / 3.5, sixth / 3.5])
    assert found[1].tolist() == pytest.approx([(3 + sixth) / 3.5, sixth / 3.5, sixth / 3.5])


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(lambda c: sum(c) > 1))
def test_shares_sum_to_one(counts):
    own = np.flatnonzero(np.array(counts) > 0)
    found = np.exp(attribute_logs(np.array(counts), own))
    assert (found > 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_product_of_shares():
    candidates = Candidates.occurring(("a", "b"), [TABLE])
    counts = {"a": np.array([3, 1]), "b": np.array([1, 1, 2])}
    found = marginal_logs(candidates, counts, candidates.find(TABLE))
    for row in range(4):
        for number in range(len(candidates)):
            expected = sum(
                attribute_logs(counts[name], TABLE[name][[row]])[0, candidates.codes[name][number]]
                for name in ("a", "b")
            )
            assert found[row, number] == pytest.approx(expected)


def test_popularity_leaves_the_record_out():
    found = popularity(np.array([1, 1, 2]), np.array([2, 1]))
    assert found.tolist() == [[1, 1, 1], [1, 0, 2]]


def test_weights():
    assert np.exp(read_weights([1, 3], 2, 5)).tolist() == [[0.25, 0.75]]
    each = np.exp(read_weights([[1, 3], [0, 2]], 2, 2))
    assert each.tolist() == [[0.25, 0.75], [0, 1]]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2, 3], r"2 candidates and 3 records.*\(2,\) or \(3, 2\); got \(3,\)"),
        (1, r"got \(\)"),
        ([[1, 2]], r"got \(1, 2\)"),
        ([1, -2], "at least 0"),
        ([[1, 2], [0, 0], [1, 1]], "not all weights"),
        ([np.nan, 1], "finite"),
        ("ab", "hold numbers"),
    ],
)
def test_wrong_weights(weights, message):
    with pytest.raises(ParameterError, match=message):
        read_weights(weights, 2, 3)


RECORDS = Coded.from_arrays({"a": [0, 1, 0, 1], "y": [0, 1, 0, 2]})
LABELS = {"y": ("low", "middle", "high")}


def listed(prior="uniform", rows=(0, 1, 3), truth=None):
    name = prior if isinstance(prior, str) else "given"
    question = Question(("y",), LABELS, np.array(rows), prior, name, "polars")
    candidates = Candidates.grid(("y",), (3,))
    return Listed(question, candidates, candidates.find(RECORDS) if truth is None else truth)


def before(found):
    rows = found.question.rows
    return found.beliefs(rows, found.log_prior(rows, slice(None)), np.zeros((len(rows), 3))).prior


def test_priors_by_hand():
    assert before(listed()).tolist() == pytest.approx([1 / 3] * 3)
    # Of the 3 others of record 0, one is low, and half a record is spread over three values.
    sixth = 0.5 / 3
    shares = [(1 + sixth) / 3.5, sixth / 3.5, sixth / 3.5]
    assert before(listed("marginal")).tolist() == pytest.approx(shares)
    assert before(listed([2, 1, 1])).tolist() == pytest.approx([0.5, 0.25, 0.25])
    each = [[1, 1, 2], [0, 1, 1], [1, 1, 2]]
    assert before(listed(each)).tolist() == pytest.approx([0.25, 0.5, 0.5])
    with pytest.raises(ParameterError, match="3 candidates and 3 records"):
        before(listed([1, 2]))


def test_records_that_are_no_candidate_do_not_count():
    # Record 3 is none of the candidates, so that of the others of record 0 one of two is low.
    truth = np.array([0, 1, 0, -1])
    sixth = 0.5 / 3
    found = before(listed("marginal", rows=(0,), truth=truth))
    assert found.tolist() == pytest.approx([(1 + sixth) / 2.5])


def test_records_that_agree_are_looked_at_once():
    question = listed(rows=(2, 3, 0)).question
    first, number = question.distinct(RECORDS, ["y"])
    own = RECORDS["y"][question.rows]
    assert own[first[number]].tolist() == own.tolist() == RECORDS["y"][[2, 3, 0]].tolist()
    assert len(first) == 2
    # Of some of them, by their places.
    some, number = question.distinct(RECORDS, ["y"], np.array([1, 2]))
    assert some[number].tolist() == [1, 2]
    # With weights for each record, none stands for another.
    each = listed(np.ones((3, 3)), rows=(2, 3, 0)).question
    assert each.distinct(RECORDS, ["y"])[0].tolist() == [0, 1, 2]


def test_what_is_undefined_has_a_reason():
    found = listed([1, 0, 0], rows=(0, 1))
    rows = found.question.rows
    logs = np.array([[0.0, 0, 0], [-np.inf, 0, 0]])
    beliefs = found.beliefs(rows, found.log_prior(rows, slice(None)), logs)
    told = found.answer("fixed", beliefs, reasons={"mc_error": "why"}, notes=["note"])
    assert told.guess[0] == "low"
    assert told.candidates.tolist() == [3, 3]
    assert told.reasons == {
        "mc_error": "why",
        "posterior": "the release has probability 0 in every world that the prior allows",
        "gain_bits": "the prior excludes the truth of 1 record",
    }
    assert told.notes == ("note",)
