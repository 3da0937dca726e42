"""All attributes of a network at once: elimination against going through every combination."""

from __future__ import annotations

import itertools
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy import BayesNet, Independent, risk
from understudy.data.public_tables import fetch
from understudy.errors import ParameterError
from understudy.risk.strong.beliefs import marginal_logs
from understudy.risk.strong.candidates import Candidates
from understudy.risk.strong.fixed import FixedLikelihood
from understudy.risk.strong.release import Release


def strong_attacker(*tables, **how):
    """Attack with a flat prior and the structure fixed, if nothing else is said."""
    return risk.strong_attacker(*tables, **({"prior": "uniform", "mode": "fixed"} | how))


PRIORS = ["uniform", "marginal", "informed"]
seeds = st.integers(0, 2**32 - 1)


def letters(seed, rows, columns, levels=3):
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, rng.integers(2, levels + 1), rows) for _ in range(columns)]
    for place in range(1, columns):
        follow = rng.random(rows) < 0.5
        codes[place] = np.where(follow, codes[place - 1] % (codes[place].max() + 1), codes[place])
    return pl.DataFrame(
        {
            name: [f"{name}{code}" for code in own]
            for name, own in zip("abcdefghijkl", codes, strict=False)
        }
    )


def by_elimination(monkeypatch, *args, **kwargs):
    with monkeypatch.context() as patch:
        patch.setattr("understudy.risk.strong.attack.MOST_LISTED", 0)
        return strong_attacker(*args, **kwargs)


def weights_of(model, frame, synthetic, prior, row):
    """Log weights of all combinations, before and after the release."""
    release = Release.of(model, frame, synthetic)
    original = release.original
    grid = Candidates.grid(original.names, original.cardinalities)
    record = original.take(slice(row, row + 1))
    likelihood = FixedLikelihood.of(model.sampling_tables(), [release], original.names)
    before = np.zeros(len(grid))
    if prior == "marginal":
        counts = {
            name: np.bincount(codes, minlength=size)
            for name, codes, size in zip(
                original.names, original.columns, original.cardinalities, strict=True
            )
        }
        before = marginal_logs(grid, counts, grid.find(record))[0]
    if prior == "informed":
        before = likelihood.predictions(record, grid)[0]
    return before, before + likelihood.log_likelihoods(record, grid)[0], grid.find(record)[0]


class TestSameAsGoingThroughAll:
    @settings(max_examples=25)
    @given(seeds, st.integers(2, 6), st.integers(0, 3), st.sampled_from(PRIORS))
    def test_whole_record(self, seed, columns, parents, prior):
        with pytest.MonkeyPatch.context() as monkeypatch:
            frame = letters(seed, 10, columns)
            model = BayesNet(parents, random_state=seed).fit(frame)
            synthetic = model.sample(8, random_state=seed)
            rows = [0, 4]
            listed = strong_attacker(model, frame, synthetic, prior=prior, records=rows)
            found = by_elimination(monkeypatch, model, frame, synthetic, prior=prior, records=rows)
            np.testing.assert_allclose(found.prior, listed.prior, rtol=1e-9)
            np.testing.assert_allclose(found.posterior, listed.posterior, rtol=1e-9)
            assert found.more["rank"].tolist() == listed.more["rank"].tolist()
            assert found.candidates.tolist() == listed.candidates.tolist()
            for name, values in listed.marginals.items():
                np.testing.assert_allclose(found.marginals[name], values, atol=1e-9)
            for place, row in enumerate(rows):
                before, after, truth = weights_of(model, frame, synthetic, prior, row)
                total = np.logaddexp.reduce(after)
                assert found.posterior[place] == pytest.approx(np.exp(after[truth] - total))
                best = np.flatnonzero(after >= after.max() - 1e-9)
                # Of several that are equally probable, either may be guessed.
                labels = [model.codec_.labels(name) for name in frame.columns]
                words = [", ".join(levels) for levels in itertools.product(*labels)]
                assert found.guess[place] in {words[number] for number in best}
                if len(best) == 1:
                    assert found.guess[place] == listed.guess[place]
                    assert (
                        found.right_after[place] == listed.right_after[place] == (best[0] == truth)
                    )
                if prior == "uniform" or np.sum(before >= before.max() - 1e-9) == 1:
                    assert found.right_before[place] == listed.right_before[place]

    @settings(max_examples=12)
    @given(seeds, st.sampled_from(PRIORS), st.sampled_from([["a", "c"], ["b", "c", "e"]]))
    def test_part_of_a_record(self, seed, prior, unknown):
        with pytest.MonkeyPatch.context() as monkeypatch:
            frame = letters(seed, 12, 5)
            model = BayesNet(2, random_state=seed).fit(frame)
            synthetic = model.sample(9, random_state=seed)
            asked = {"unknown": unknown, "prior": prior, "records": [0, 5, 7]}
            listed = strong_attacker(model, frame, synthetic, **asked)
            found = by_elimination(monkeypatch, model, frame, synthetic, **asked)
            np.testing.assert_allclose(found.prior, listed.prior, rtol=1e-9)
            np.testing.assert_allclose(found.posterior, listed.posterior, rtol=1e-9)
            assert found.more["rank"].tolist() == listed.more["rank"].tolist()
            for name, values in listed.marginals.items():
                np.testing.assert_allclose(found.marginals[name], values, atol=1e-9)

    @pytest.mark.parametrize("prior", PRIORS)
    @pytest.mark.parametrize("hidden", ["a", "c"])
    def test_withheld_columns(self, monkeypatch, prior, hidden):
        frame = letters(3, 30, 4)
        edges = [("a", "b"), ("b", "c"), ("b", "d")]
        model = BayesNet(1, edges, random_state=1).fit(frame)
        synthetic = model.sample(random_state=1).drop(hidden)
        listed = strong_attacker(model, frame, synthetic, prior=prior)
        found = by_elimination(monkeypatch, model, frame, synthetic, prior=prior)
        np.testing.assert_allclose(found.prior, listed.prior, rtol=1e-9)
        np.testing.assert_allclose(found.posterior, listed.posterior, rtol=1e-9)
        assert found.notes == listed.notes != ()
        for name, values in listed.marginals.items():
            np.testing.assert_allclose(found.marginals[name], values, atol=1e-9)
        whole = by_elimination(monkeypatch, model, frame, model.sample(random_state=1), prior=prior)
        np.testing.assert_allclose(found.prior, whole.prior, rtol=1e-12)

    def test_probabilities_are_not_above_one(self, monkeypatch):
        for seed in range(30):
            rng = np.random.default_rng(seed)
            rows = int(rng.integers(3, 15))
            frame = pl.DataFrame({name: rng.integers(0, 3, rows).astype(str) for name in "abcd"})
            model = BayesNet(2, random_state=seed).fit(frame)
            synthetic = model.sample(100, random_state=seed)
            for prior in PRIORS:
                found = by_elimination(monkeypatch, model, frame, synthetic, prior=prior)
                assert (found.posterior <= 1).all()
                assert (found.prior <= 1).all()

    def test_records_that_are_alike_and_order(self, monkeypatch):
        frame = letters(1, 8, 3)
        frame = pl.concat([frame, frame[:3]])
        model = BayesNet(1, random_state=1).fit(frame)
        synthetic = model.sample(random_state=1)
        found = by_elimination(monkeypatch, model, frame, synthetic, records=[9, 4, 1])
        every = by_elimination(monkeypatch, model, frame, synthetic)
        assert found.record.tolist() == [9, 4, 1]
        assert found.posterior.tolist() == every.posterior[[9, 4, 1]].tolist()
        assert found.guess[0] == found.guess[2]
        assert found.to_frame()["rank"].to_list() == every.more["rank"][[9, 4, 1]].tolist()


class TestMany:
    def test_ten_attributes_with_five_levels(self):
        rng = np.random.default_rng(1)
        codes = {f"x{n}": rng.integers(0, 5, 300) for n in range(10)}
        for n in range(1, 10):
            copy = rng.random(300) < 0.6
            codes[f"x{n}"] = np.where(copy, codes[f"x{n - 1}"], codes[f"x{n}"])
        frame = pl.DataFrame({name: own.astype(str) for name, own in codes.items()})
        model = BayesNet(2, random_state=1).fit(frame)
        attack = strong_attacker(model, frame, model.sample(random_state=1), records=range(5))
        assert attack.candidates.tolist() == [5**10] * 5
        assert attack.prior.tolist() == pytest.approx([5.0**-10] * 5)
        assert (attack.gain_bits > 1).any()
        assert (attack.posterior <= 1).all()
        for values in attack.marginals.values():
            np.testing.assert_allclose(values.sum(axis=1), 1, rtol=1e-9)
        # Independent of each other and of the network: the product over single attributes.
        plain = Independent(random_state=1).fit(frame)
        synthetic = plain.sample(random_state=1)
        found = strong_attacker(plain, frame, synthetic, records=[3])
        single = [
            strong_attacker(plain, frame, synthetic, unknown=name, records=[3]).posterior[0]
            for name in frame.columns
        ]
        assert found.posterior[0] == pytest.approx(math.prod(single), rel=1e-9)

    def test_a_rank_beyond_the_count_is_undefined(self, monkeypatch):
        monkeypatch.setattr("understudy.risk.strong.whole_record.MOST_RANKED", 3)
        frame = letters(1, 30, 6)
        model = Independent(random_state=1).fit(frame)
        found = by_elimination(monkeypatch, model, frame, model.sample(random_state=1))
        ranks = found.more["rank"]
        assert np.isnan(ranks).any()
        assert found.reasons["rank"] == "more than 3 combinations are more probable"
        monkeypatch.undo()
        exact = by_elimination(monkeypatch, model, frame, model.sample(random_state=1)).more["rank"]
        assert (exact[np.isnan(ranks)] > 4).all()
        assert ranks[~np.isnan(ranks)].tolist() == exact[~np.isnan(ranks)].tolist()

    def test_weights_are_refused(self, monkeypatch):
        frame = letters(1, 30, 4)
        model = BayesNet(1).fit(frame)
        with pytest.raises(ParameterError, match=r"too many for an array of weights"):
            by_elimination(monkeypatch, model, frame, model.sample(), prior=[1, 2])

    def test_adult(self, real_files):
        real_files("adult_train.csv")
        frame = fetch("adult_train").head(2000)
        model = BayesNet(2, smoothing=0, random_state=1).fit(frame)
        synthetic = model.sample(random_state=1)
        attack = strong_attacker(model, frame, synthetic, records=[0, 1])
        assert len(attack.unknown) == 14  # all but the education, which its number tells
        assert attack.candidates[0] > 10**12
        assert (attack.gain_bits > 1).all()
        own = model.codec_.encode(frame)
        for name, values in attack.marginals.items():
            np.testing.assert_allclose(values.sum(axis=1), 1, rtol=1e-9)
            assert (values[[0, 1], own[name][:2]] >= attack.posterior).all()


def test_more_combinations_than_fit_into_64_bits():
    frame = pl.DataFrame({f"x{n}": [str((n + i) % 8) for i in range(16)] for n in range(22)})
    model = Independent(random_state=1).fit(frame)
    attack = strong_attacker(model, frame, model.sample(), records=[0])
    assert attack.candidates[0] == np.iinfo(np.int64).max
    assert attack.prior[0] == pytest.approx(8.0**-22, rel=1e-9)
