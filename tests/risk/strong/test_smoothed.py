"""Attacks on smoothed networks: by counts, by new fits, and by elimination."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy import BayesNet, Schema, load
from understudy.risk import strong_attacker
from understudy.risk.strong.candidates import Candidates
from understudy.risk.strong.fixed import FixedLikelihood
from understudy.risk.strong.refit import RefitLikelihood
from understudy.risk.strong.release import Release, read_releases

COLUMNS = ["age", "education", "religion", "working", "children", "method"]
PARENTS = {
    "age": (),
    "education": ("age",),
    "children": ("age", "education"),
    "method": ("children", "education", "age"),
    "religion": ("education", "method"),
    "working": ("religion",),
}
STRENGTHS = {
    "age": 3,
    "education": [0.5, 20],
    "children": [2, 7.5, 30],
    "method": [1, 10, 50, 500],
    "religion": [0.5, 0, 40],
    "working": 5,
}


def held(**how):
    """Return a network whose structure and strengths no record changes."""
    given = {"structure": PARENTS, "smoothing": STRENGTHS, "random_state": 1} | how
    return BayesNet(3, **given)


@pytest.fixture(scope="module")
def survey():
    # The table is sorted by method: its first records would all have the same.
    return load("cmc").select(COLUMNS).sample(fraction=1, shuffle=True, seed=1)


@pytest.fixture(scope="module")
def fitted(survey):
    model = held().fit(survey)
    return model, survey, model.sample(random_state=2)


def both(model, original, synthetic, unknown, rows):
    """Return the log likelihoods by counts and by new fits, less those of the truth."""
    releases = read_releases(model, original, synthetic)
    people = releases[0].original
    candidates = Candidates.grid(tuple(unknown), tuple(people.cardinality(n) for n in unknown))
    fixed = FixedLikelihood.of(model.sampling_tables(), releases, unknown)
    refit = RefitLikelihood(model, releases, tuple(unknown))
    rows = np.array(rows)
    logs = refit.log_likelihoods(rows, candidates) - refit.of_truth
    priors = fixed.predictions(people.take(rows), candidates), refit.predictions(rows, candidates)
    return fixed.log_likelihoods(people.take(rows), candidates), logs, priors


class TestSameAsNewFits:
    @pytest.mark.parametrize("unknown", [["method"], ["education"], ["age"], ["religion", "age"]])
    def test_structure_and_strengths_held(self, fitted, unknown):
        assert not fitted[0].structure_varies
        found, expected, priors = both(*fitted, unknown, [0, 5, 700])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
        np.testing.assert_allclose(*priors, rtol=0, atol=1e-9)
        assert np.isfinite(found).all()
        assert np.abs(found).max() > 0.01

    @pytest.mark.parametrize("how", [{"min_count": 4}, {"smoothing": 0, "min_count": 3}])
    def test_small_rows_are_passed_over(self, survey, how):
        people = survey[:120]
        model = held(**how).fit(people)
        tables = model, people, model.sample(random_state=2)
        impossible = []
        for unknown in (["method"], ["age"], ["education", "religion"]):
            found, expected, priors = both(*tables, unknown, [0, 3, 77])
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
            np.testing.assert_allclose(*priors, rtol=0, atol=1e-9)
            impossible.append(np.isneginf(found).any())
        assert any(impossible) == ("smoothing" in how)

    def test_several_releases_and_a_withheld_column(self, survey):
        model = held().fit(survey)
        releases = [model.sample(n, random_state=n) for n in (300, 80)]
        found, expected, _ = both(model, survey, releases, ["education"], [0, 9])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
        # Nothing is drawn from working: new fits that sum over it see what counts see.
        hidden = releases[0].drop("working")
        found, expected, _ = both(model, survey, hidden, ["method"], [0, 9])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)

    def test_posteriors(self, fitted):
        asked = {"unknown": "method", "records": [0, 5, 700]}
        fixed, refit = (strong_attacker(*fitted, mode=mode, **asked) for mode in ("fixed", "refit"))
        np.testing.assert_allclose(fixed.posterior, refit.posterior, rtol=1e-9)
        np.testing.assert_allclose(fixed.prior, refit.prior, rtol=1e-9)

    @settings(max_examples=10)
    @given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.sampled_from([0.1, 3.0]))
    def test_small_tables(self, seed, least, strength):
        rng = np.random.default_rng(seed)
        frame = pl.DataFrame({name: rng.integers(0, 3, 9).astype(str) for name in "abcd"})
        network = {"a": (), "b": ("a",), "c": ("b", "a"), "d": ("c", "a", "b")}
        model = BayesNet(3, network, smoothing=strength, min_count=least).fit(frame)
        for unknown in (["a"], ["d"], ["b", "c"]):
            tables = model, frame, model.sample(7, random_state=seed)
            found, expected, _ = both(*tables, unknown, [0, 4])
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


class TestWholeRecords:
    @pytest.mark.parametrize("prior", ["uniform", "marginal", "informed"])
    def test_elimination_is_listing(self, survey, monkeypatch, prior):
        people = survey.select("education", "religion", "method", "working")
        network = {"education": (), "method": ("education",)}
        network |= {"religion": ("method", "education"), "working": ("religion", "method")}
        model = BayesNet(2, network, smoothing=4, random_state=1).fit(people)
        tables = model, people, model.sample(random_state=3)
        asked = {"prior": prior, "mode": "fixed", "records": range(0, 1473, 200)}
        listed = strong_attacker(*tables, **asked)
        monkeypatch.setattr("understudy.risk.strong.attack.MOST_LISTED", 0)
        found = strong_attacker(*tables, **asked)
        np.testing.assert_allclose(found.prior, listed.prior, rtol=1e-9)
        np.testing.assert_allclose(found.posterior, listed.posterior, rtol=1e-9)
        assert found.more["rank"].tolist() == listed.more["rank"].tolist()
        for name, values in listed.marginals.items():
            np.testing.assert_allclose(found.marginals[name], values, atol=1e-9)

    def test_elimination_is_fitting_all_worlds_anew(self, survey, monkeypatch):
        people = survey[:60].select("religion", "working", "method")
        network = {"method": (), "religion": ("method",), "working": ("method", "religion")}
        model = BayesNet(2, network, smoothing=4, random_state=1).fit(people)
        release = Release.of(model, people, model.sample(random_state=3))
        refit = RefitLikelihood(model, (release,), model.codec_.names)
        candidates = Candidates.grid(model.codec_.names, model.codec_.cardinalities)
        rows = np.array([0, 7])
        logs = refit.log_likelihoods(rows, candidates)
        truth = candidates.find(release.original.take(rows))
        expected = np.exp(logs - np.logaddexp.reduce(logs, axis=1)[:, None])
        monkeypatch.setattr("understudy.risk.strong.attack.MOST_LISTED", 0)
        tables = model, release.original, release.synthetic
        found = strong_attacker(*tables, prior="uniform", mode="fixed", records=rows)
        np.testing.assert_allclose(found.posterior, expected[[0, 1], truth], rtol=1e-9)


class TestNobodyIsCertain:
    @pytest.mark.parametrize("smoothing", ["auto", 5])
    def test_survey(self, survey, smoothing):
        # With 25 apart from the other ages: weak smoothing is no guarantee for every coding.
        schema = Schema.infer(survey).edit("age", special=(25,))
        model = BayesNet(3, smoothing=smoothing, random_state=1).fit(survey, schema)
        plain = BayesNet(3, smoothing=0, random_state=1).fit(survey, schema)
        release = model.sample(random_state=2)
        for unknown in ("method", "children"):
            asked = {"unknown": unknown, "mode": "fixed"}
            found = strong_attacker(model, survey, release, **asked)
            assert found.certain == 0
            assert np.isfinite(found.gain_bits).all()
            before = strong_attacker(plain, survey, plain.sample(random_state=2), **asked)
            assert before.certain > 100
            assert found.share_above(0.99) < before.share_above(0.99)

    def test_no_world_is_impossible_however_weak_the_smoothing(self, survey):
        model = BayesNet(3, smoothing=1e-3, random_state=1).fit(survey)
        release = Release.of(model, survey, model.sample(random_state=2))
        likelihood = FixedLikelihood.of(model.sampling_tables(), [release], ["children"])
        candidates = Candidates.grid(("children",), (release.original.cardinality("children"),))
        found = likelihood.log_likelihoods(release.original, candidates)
        assert np.isfinite(found).all()
        # But worlds can be so improbable that they count for nothing.
        assert found.min() < -30

    def test_a_copy_as_the_release(self, survey):
        model = BayesNet(3, smoothing="auto", random_state=1).fit(survey)
        found = strong_attacker(model, survey, survey, unknown="method", mode="fixed")
        assert found.certain == 0
        assert 0 < found.mean_gain < 1


class TestModes:
    def test_auto_needs_no_new_fits_if_all_is_given(self, fitted):
        found = strong_attacker(*fitted, unknown="method", records=range(5))
        assert found.mode == "fixed"
        assert "no new fit is needed" in " ".join(found.notes)

    def test_auto_finds_strengths_anew(self, survey):
        people = survey[:40].select("education", "method")
        network = {"education": (), "method": ("education",)}
        model = BayesNet(1, network, smoothing="auto", random_state=1).fit(people)
        release = model.sample(random_state=2)
        found = strong_attacker(model, people, release, unknown="method")
        refit = strong_attacker(model, people, release, unknown="method", mode="refit")
        assert found.mode == "auto"
        assert found.posterior.tolist() == refit.posterior.tolist()
        # Another record can change the strengths, which are held otherwise.
        assert (np.abs(found.posterior - found.fixed.posterior) > 1e-3).any()

    def test_a_withheld_column_leaves_the_others_alone(self, survey):
        people = survey.select("education", "method")
        model = BayesNet(1, {"education": (), "method": ("education",)}, smoothing=5).fit(people)
        release = model.sample(random_state=2).drop("method")
        alone = BayesNet(0, smoothing=5).fit(people.select("education"))
        asked = {"unknown": "education", "mode": "fixed", "prior": "uniform"}
        found = strong_attacker(model, people, release, **asked)
        expected = strong_attacker(alone, people.select("education"), release, **asked)
        np.testing.assert_allclose(found.posterior, expected.posterior, rtol=1e-12)


def test_by_hand():
    # y is 0, 0, 1, with two records' worth of (1/2, 1/2): p = 3/5, 2/5. The release holds one 1. If
    # the last record were 0: p(1) = 1/5. So its value 1 is twice as likely as 0 (uniform prior).
    people = pl.DataFrame({"y": ["a", "a", "b"]})
    model = BayesNet(0, smoothing=2).fit(people)
    release = pl.DataFrame({"y": ["b", "a"]})
    found = strong_attacker(model, people, release, prior="uniform", mode="fixed", records=[2])
    # The a of the release has 3/5 in one world, and 4/5 in the other.
    assert found.posterior[0] == pytest.approx(2 * 3 / (2 * 3 + 1 * 4))
    informed = strong_attacker(model, people, release, mode="fixed", records=[2])
    # From the other two: p(1) = (0 + 1) / 4.
    assert informed.prior[0] == pytest.approx(1 / 4)
