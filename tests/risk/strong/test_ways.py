"""Everybody with the structure fixed, and the most exposed by new fits: the mode auto."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from understudy import BayesNet, Cart, Independent, Schema, load
from understudy.errors import DataError, NoDensityError, ParameterError
from understudy.risk import strong_attacker
from understudy.risk.strong.result import CERTAIN
from understudy.synthesis.copula import GaussianCopula


@pytest.fixture(scope="module")
def survey():
    return load("cmc").sample(80, seed=1).select("age", "education", "children", "method")


@pytest.fixture(scope="module")
def trees(survey):
    # Ages apart from the others make some people certain by new fits alone.
    schema = Schema.infer(survey).edit("age", special=(25, 26, 28, 34, 35))
    return Cart(smoothing_leaves=0, random_state=1).fit(survey, schema)


@pytest.fixture(scope="module")
def release(trees):
    return trees.sample(random_state=2)


@pytest.fixture(scope="module")
def attacks(trees, survey, release):
    return {
        mode: strong_attacker(trees, survey, release, unknown="method", mode=mode)
        for mode in ("auto", "fixed", "refit")
    }


def is_certain(posterior):
    return posterior >= 1 - CERTAIN


class TestEverybody:
    """80 people with 3 candidates take 1 + 80 * 3 fits, fewer than are allowed."""

    @pytest.mark.slow
    def test_figures_are_those_of_new_fits(self, attacks):
        auto, fixed, refit = (attacks[mode] for mode in ("auto", "fixed", "refit"))
        assert (auto.mode, auto.prior_name, auto.refitted) == ("auto", "informed", 80)
        assert auto.posterior.tolist() == refit.posterior.tolist()
        assert auto.prior.tolist() == refit.prior.tolist()
        assert auto.guess == refit.guess
        assert auto.fixed.posterior.tolist() == fixed.posterior.tolist()
        assert auto.more["fixed_posterior"].tolist() == fixed.posterior.tolist()
        assert auto.more["refitted"].all()

    def test_the_fixed_structure_misses_people_who_are_certain(self, attacks):
        # Another value would have given other trees, which cannot draw this release.
        assert attacks["refit"].certain > 2 * attacks["fixed"].certain
        assert "For everybody, the model was fitted anew" in attacks["auto"].summary()

    def test_both_are_in_frames_and_files(self, attacks):
        plain = attacks["auto"].to_dict()
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain
        assert plain["certain"] == attacks["refit"].certain
        assert plain["fixed"]["certain"] == attacks["fixed"].certain
        assert plain["fixed"]["accuracy_after"] == attacks["fixed"].accuracy_after
        assert attacks["auto"].per_record().columns[-2:] == ["fixed_posterior", "refitted"]


class TestBudget:
    def test_the_most_probable_come_first(self, trees, survey, release, attacks):
        auto = strong_attacker(trees, survey, release, unknown="method", refits=31)
        # The truth takes one fit, and ten people three each.
        chosen = auto.more["refitted"]
        fixed, refit = attacks["fixed"].posterior, attacks["refit"].posterior
        assert auto.refitted == chosen.sum() >= 10
        open_to_doubt = ~is_certain(fixed)
        assert open_to_doubt[chosen].all()
        assert fixed[chosen].min() >= fixed[~chosen & open_to_doubt].max()
        assert auto.posterior.tolist() == np.where(chosen, refit, fixed).tolist()
        assert auto.certain == is_certain(auto.posterior).sum() > attacks["fixed"].certain
        text = auto.summary()
        assert f"For the {chosen.sum()} most exposed, the model was fitted anew" in text
        assert "The others were attacked with that structure alone" in text

    def test_it_is_a_number_of_fits(self, trees, survey, release, monkeypatch):
        fits = []
        own = Cart.refit_changed
        monkeypatch.setattr(Cart, "refit_changed", lambda *given: fits.append(1) or own(*given))
        for prior, each in (("informed", 3), ("uniform", 2)):
            fits.clear()
            auto = strong_attacker(trees, survey, release, unknown="method", prior=prior, refits=25)
            # Beside the one of the truth. People who agree share theirs.
            assert len(fits) == 24 // each * each
            assert auto.refitted >= 24 // each

    def test_people_who_agree_share_their_fits(self):
        frame = pl.DataFrame({"a": ["0", "1"] * 30, "b": ["0", "1"] * 29 + ["1", "0"]})
        model = BayesNet(1, random_state=1).fit(frame)
        auto = strong_attacker(model, frame, model.sample(random_state=1), unknown="b", refits=9)
        assert auto.more["refitted"].all()

    def test_too_little_for_anybody(self, trees, survey, release, attacks):
        for refits in (1, 3):
            found = strong_attacker(trees, survey, release, unknown="method", refits=refits)
            assert (found.mode, found.refitted, found.fixed) == ("fixed", 0, None)
            assert found.posterior.tolist() == attacks["fixed"].posterior.tolist()
            assert f"A person takes 3 fits, and {refits} are allowed" in found.notes[-1]
        none = strong_attacker(trees, survey, release, unknown="method", refits=0)
        assert none.to_frame().equals(attacks["fixed"].to_frame())

    def test_those_who_are_certain_come_last(self, trees, survey, release, attacks):
        certain = is_certain(attacks["fixed"].posterior)
        assert certain.any()
        # People who agree count once.
        doubtful = survey.filter(pl.Series(~certain)).unique().height
        auto = strong_attacker(trees, survey, release, unknown="method", refits=3 * doubtful + 1)
        assert not (auto.more["refitted"] & certain).any()

    @pytest.mark.slow
    def test_it_does_not_depend_on_processes(self, trees, survey, release):
        one, two = (
            strong_attacker(
                trees, survey, release, unknown="method", refits=20, processes=processes
            ).to_frame()
            for processes in (1, 2)
        )
        assert one.equals(two)

    def test_the_default_goes_through_as_many_records_whatever_the_table(self):
        from understudy.risk.strong.attack import _budget

        assert [_budget(None, n) for n in (10, 1500, 15_000, 3_000_000)] == [500, 500, 50, 0]
        assert _budget(7, 3_000_000) == 7

    def test_weights_for_each_record(self, trees, survey, release):
        weights = np.random.default_rng(1).random((80, 3))
        asked = {"unknown": "method", "prior": weights}
        auto = strong_attacker(trees, survey, release, refits=41, **asked)
        refit = strong_attacker(trees, survey, release, mode="refit", **asked)
        chosen = auto.more["refitted"]
        assert chosen.sum() == 20
        np.testing.assert_allclose(auto.posterior[chosen], refit.posterior[chosen], rtol=1e-12)
        np.testing.assert_allclose(auto.prior, refit.prior, rtol=1e-12)

    @pytest.mark.slow
    def test_several_attributes(self, trees, survey, release):
        asked = {"unknown": ["education", "method"], "records": range(12)}
        auto = strong_attacker(trees, survey, release, refits=60, **asked)
        refit = strong_attacker(trees, survey, release, mode="refit", **asked)
        chosen = auto.more["refitted"]
        assert 0 < chosen.sum() < 12
        for name, values in auto.marginals.items():
            np.testing.assert_allclose(values[chosen], refit.marginals[name][chosen], rtol=1e-9)


class TestNothingToFit:
    @pytest.mark.parametrize(
        "model",
        [
            Independent(),
            BayesNet(1, [("education", "method")], smoothing=0),
            Cart(minbucket=40, smoothing_leaves=0),
            Cart(
                predictors={name: [] for name in ("education", "children", "method")},
                smoothing_leaves=0,
            ),
        ],
        ids=["independent", "given network", "stumps", "no predictors"],
    )
    def test_structures_that_do_not_vary(self, survey, model):
        fitted = model.fit(survey)
        assert not fitted.structure_varies
        found = strong_attacker(fitted, survey, fitted.sample(random_state=1), unknown="method")
        assert (found.mode, found.fixed) == ("fixed", None)
        assert "does not depend on the records: no new fit is needed" in found.notes[-1]

    @pytest.mark.parametrize(
        "model",
        [
            BayesNet(2),
            BayesNet(2, [("age", "method"), ("education", "method")], smoothing=0),
            BayesNet(1, [("education", "method")], smoothing="auto"),
            Cart(minbucket=26, smoothing_leaves=0),
            Cart(minbucket=30, strata="method", smoothing_leaves=0),
        ],
        ids=["searched", "order of parents", "smoothing", "trees", "strata"],
    )
    def test_structures_that_do(self, survey, model):
        survey = survey.with_columns(pl.col("method").replace({2: 1, 3: 1}).cast(pl.String))
        assert model.fit(survey).structure_varies

    def test_whole_records_by_elimination(self):
        frame = load("cmc").head(60)
        model = BayesNet(2, random_state=1).fit(frame)
        found = strong_attacker(model, frame, model.sample(random_state=1), records=[0, 1])
        assert found.mode == "fixed"
        assert "candidates are too many for new fits. Everybody was attacked" in found.notes[-1]

    def test_models_without_counts(self, survey):
        model = GaussianCopula(random_state=1).fit(survey)
        with pytest.raises(NoDensityError, match=r"mode='refit'.*black_box_attacker"):
            strong_attacker(model, survey, model.sample(), unknown="method")

    def test_columns_that_do_not_matter_may_be_anything(self, survey):
        smoothed = Cart(
            smoothing={"age": "density"},
            predictors={"method": ["education"]},
            smoothing_leaves=0,
            random_state=1,
        )
        frame = survey.select("age", "education", "method").with_columns(pl.col("age").cast(float))
        fitted = smoothed.fit(frame)
        asked = {"unknown": "method", "records": range(9)}
        release = fitted.sample(random_state=1)
        auto = strong_attacker(fitted, frame, release, **asked)
        fixed = strong_attacker(fitted, frame, release, mode="fixed", **asked)
        assert auto.mode == "fixed"
        assert auto.to_frame().equals(fixed.to_frame())
        assert "New fits need all columns of all tables as the model knows" in auto.notes[-1]
        with pytest.raises(ParameterError, match="smoothed"):
            strong_attacker(fitted, frame, release, mode="refit", **asked)

    def test_withheld_values_that_are_too_many(self, survey, trees, release, monkeypatch):
        monkeypatch.setattr("understudy.risk.strong.refit.MOST_COMPLETIONS", 2)
        found = strong_attacker(trees, survey, release.drop("children"), unknown="method")
        assert found.mode == "fixed"
        assert "withhold too much to sum over in new fits" in found.notes[-1]


class TestOrderOfRecords:
    """Sums depend on it in their last digits, and so do trees of numbers."""

    FRAME = load("cmc")

    def case(self):
        model = Cart(smoothing_leaves=0, random_state=1).fit(self.FRAME)
        return model, self.FRAME, model.sample(random_state=2)

    def test_the_world_of_the_truth_is_the_published_model(self):
        model, frame, release = self.case()
        found = strong_attacker(
            model, frame, release, unknown="method", mode="refit", records=range(5)
        )
        assert np.isfinite(found.posterior).all()
        assert found.notes == ()

    def test_another_order_is_told(self):
        model, frame, release = self.case()
        shuffled = frame.sort("education", "children", "age")
        asked = {"unknown": "method", "records": range(5)}
        auto = strong_attacker(model, shuffled, release, **asked)
        fixed = strong_attacker(model, shuffled, release, mode="fixed", **asked)
        assert auto.mode == "fixed"
        assert auto.posterior.tolist() == fixed.posterior.tolist()
        assert "does not give the published model again" in auto.notes[-1]
        refit = strong_attacker(model, shuffled, release, mode="refit", **asked)
        assert "does not give the published model again" in refit.notes[-1]


def test_a_release_that_no_counts_refuse_is_told():
    # A copula of two columns has a density but no tables: it draws no value that nobody has.
    frame = pl.DataFrame({"x": ["a", "b"] * 20, "y": ["u", "v", "v", "u"] * 10})
    model = GaussianCopula(random_state=1).fit(frame)
    coded = model.codec_.encode(frame)
    without = model.refit(coded.take(np.flatnonzero(coded["y"] == 0)))
    original = frame.filter(pl.col("y") == "u")
    with pytest.raises(DataError, match=r"did not make the release: it cannot draw 20 records"):
        strong_attacker(without, original, frame, unknown="x", mode="refit")
