"""Posteriors are calibrated: what is given the probability p comes true with the frequency p.

The true value of a record is drawn from what the attacker believes before, given the other records;
then a model is fitted and a release drawn. Over many such draws, of all values that the attacker
gives about the probability p, the share p must be true.
"""

from __future__ import annotations

import logging
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from understudy import BayesNet, Cart
from understudy.data.coded import Coded
from understudy.risk import black_box_attacker, strong_attacker
from understudy.risk.strong.beliefs import normalised
from understudy.risk.strong.candidates import Candidates
from understudy.risk.strong.fixed import FixedLikelihood
from understudy.risk.strong.refit import RefitLikelihood
from understudy.risk.strong.release import Release
from understudy.risk.strong.simulated import Likelihood, SimulatedLikelihood
from understudy.risk.strong.simulator import CellCounts
from understudy.synthesis.cart.features import matrix_of
from understudy.synthesis.cart.recipe import TreeSequence
from understudy.synthesis.cart.trees import ColumnModel, LeafModel
from understudy.synthesis.tables import ConditionalTable

LEVEL = 0.001
"""How often a calibrated attack fails a test, at most."""
BINS = 10
SIZES = {"a": 2, "b": 3, "d": 3, "k": 1}
"""Levels of the columns. The last is constant: asked for with another one, it adds no candidate,
and the result has the posterior of all values of the other."""
NAMES = tuple(SIZES)


def p_value(found):
    """Compare posteriors with truths, given as pairs of all probabilities and the true place.

    In each draw and bin, the truth is among the values of the bin with the sum of their
    probabilities: a Bernoulli variable. Bins with a variance below 5 are merged with the next.
    """
    expected, variance, true = np.zeros((3, BINS))
    for probabilities, truth in found:
        bins = np.minimum((probabilities * BINS).astype(int), BINS - 1)
        share = np.minimum(np.bincount(bins, probabilities, BINS), 1)
        expected += share
        variance += share * (1 - share)
        true[bins[truth]] += 1
        assert probabilities[truth] > 0
    chi_square, freedom, sums = 0.0, 0, np.zeros(3)
    for own in zip(expected, variance, true, strict=True):
        sums += own
        if sums[1] >= 5:
            chi_square += (sums[2] - sums[0]) ** 2 / sums[1]
            freedom, sums = freedom + 1, np.zeros(3)
    assert freedom > 1
    return stats.chi2.sf(chi_square, freedom)


def table_of(codes):
    return pl.DataFrame(
        {name: [f"{name}{code}" for code in own] for name, own in zip(NAMES, codes.T, strict=True)}
    )


def draw_records(rng, rows):
    """Draw records in which b goes with a, and d with b; every level occurs."""
    a = rng.integers(0, 2, rows)
    b = (a + rng.integers(0, 2, rows)) % 3
    d = np.where(rng.random(rows) < 0.6, b, rng.integers(0, 3, rows))
    codes = np.stack([a, b, d, np.zeros_like(a)], axis=1)
    codes[:3] = [[0, 0, 0, 0], [1, 1, 1, 0], [0, 2, 2, 0]]
    return codes


def with_record(others, record):
    return table_of(np.vstack([others, record]))


def candidates_of(names):
    return Candidates.grid(names, tuple(SIZES[name] for name in names))


def coded(codes):
    columns = tuple(own.astype(np.uint8) for own in codes.T)
    return Coded(NAMES, columns, tuple(SIZES.values()))


def believed_before(prior, mode, base, others, record, names):
    """Return the prior of all candidates, which must not depend on the record's true values."""
    candidates = candidates_of(names)
    if prior == "uniform":
        return np.full(len(candidates), 1 / len(candidates))
    every = coded(np.vstack([others, record]))
    fitted = base.refit(every)
    release = Release(every, every.take(slice(0)))
    if mode == "fixed":
        likelihood = FixedLikelihood.of(fitted.sampling_tables(), [release], names)
        logs = likelihood.predictions(every.take(slice(len(others), None)), candidates)[0]
    else:
        logs = RefitLikelihood(fitted, (release,), names).without((len(others), candidates))
    return np.exp(normalised(logs[None])[0])


def draws(model, *, unknown, draws, seed, prior="informed", mode="fixed", records=30, rows=40):
    """Yield for one unknown attribute of each draw the posterior of its values, and the truth."""
    rng = np.random.default_rng(seed)
    names = tuple(name for name in NAMES if name in unknown)
    candidates = candidates_of(names)
    base = model.fit(table_of(draw_records(rng, records)))
    for _ in range(draws):
        others = draw_records(rng, records - 1)
        record = others[rng.integers(len(others))].copy()
        before = believed_before(prior, mode, base, others, record, names)
        chosen = rng.choice(len(candidates), p=before)
        for name in names:
            record[NAMES.index(name)] = candidates.codes[name][chosen]
        original = coded(np.vstack([others, record]))
        fitted = base.refit(original)
        attack = strong_attacker(
            fitted,
            original,
            fitted.sample_coded(rows, random_state=rng),
            unknown=names,
            prior=prior,
            mode=mode,
            records=[len(others)],
        )
        # The prior of the attack is that from which the truth was drawn.
        assert attack.prior[0] == pytest.approx(before[chosen], rel=1e-9)
        # One of them: those of one draw depend on each other.
        asked = rng.choice([name for name in names if SIZES[name] > 1])
        yield attack.marginals[asked][0], record[NAMES.index(asked)]


def held(template):
    """Return a kind of trees that keeps the splits of a fitted model, whatever the records."""

    class HeldTrees(Cart):
        def _fit(self, source, rng):
            super()._fit(source, rng)
            matrix = matrix_of(self._recipe.features, source)
            columns = []
            for model in template.sequences_[0].columns:
                tree = model.value.tree
                own = source[model.feature.name]
                leaves = Coded(
                    ("leaf", "outcome"),
                    (tree.find(matrix), own),
                    (tree.leaves, model.feature.cardinality),
                )
                table = ConditionalTable.of(leaves, "outcome", ["leaf"])
                columns.append(ColumnModel(model.feature, None, LeafModel(tree, table)))
            sequence = template.sequences_[0]
            self.sequences_ = (TreeSequence(sequence.features, sequence.steps, columns),)

    return HeldTrees(minbucket=3, smoothing_leaves=0, random_state=1)


@pytest.fixture(scope="module")
def trees():
    template = Cart(minbucket=3, smoothing_leaves=0, random_state=1)
    return template.fit(table_of(draw_records(np.random.default_rng(5), 60)))


def test_one_who_is_too_sure_is_found_out():
    # Odds to the power of 1.5 are those of an attacker who takes the release for one and a half.
    found = list(draws(GIVEN, unknown=ONE, draws=150, seed=10))
    sharper = [(own**1.5 / (own**1.5).sum(), truth) for own, truth in found]
    assert p_value(sharper) < LEVEL < p_value(found)


QUICK, THOROUGH = 60, 2000

GIVEN = BayesNet(1, [("a", "b"), ("b", "d")], smoothing=0, random_state=1)
SMOOTHED = BayesNet(2, {"a": (), "b": ("a",), "d": ("b", "a")}, smoothing=2, random_state=1)
SEARCHED = {
    "greedy": BayesNet(2, random_state=1),
    "optimal": BayesNet(1, "optimal", random_state=1),
    "trees": Cart(minbucket=3, smoothing_leaves=0, random_state=1),
    "smoothed trees": Cart(minbucket=3, smoothing_leaves="auto", random_state=1),
}
ONE = ("b", "k")


def cases(*quick, slow=()):
    """Give each case few draws, and as a slow test thousands; further cases are slow alone."""
    few = [pytest.param(*own, QUICK) for own in quick]
    many = [pytest.param(*own, THOROUGH, marks=pytest.mark.slow) for own in (*quick, *slow)]
    return few + many


@pytest.fixture(autouse=True)
def quiet(caplog):
    caplog.set_level(logging.ERROR)


class TestFixedStructure:
    @pytest.mark.parametrize(("prior", "count"), cases(["informed"], slow=[["uniform"]]))
    def test_one_attribute_of_a_network(self, prior, count):
        assert p_value(draws(GIVEN, unknown=ONE, prior=prior, draws=count, seed=11)) > LEVEL

    @pytest.mark.parametrize(
        ("unknown", "prior", "count"),
        cases([ONE, "informed"], slow=[[ONE, "uniform"], [NAMES, "informed"]]),
    )
    def test_smoothed_networks(self, unknown, prior, count):
        found = draws(SMOOTHED, unknown=unknown, prior=prior, draws=count, seed=18)
        assert p_value(found) > LEVEL

    @pytest.mark.parametrize(
        ("unknown", "prior", "count"),
        cases([ONE, "informed"], slow=[[ONE, "uniform"], [NAMES, "informed"]]),
    )
    def test_trees_that_are_held(self, trees, unknown, prior, count):
        found = draws(held(trees), unknown=unknown, prior=prior, draws=count, seed=12)
        assert p_value(found) > LEVEL

    @pytest.mark.parametrize(("most", "count"), cases([1], slow=[[4096]]))
    def test_whole_records_of_a_network_by_elimination_and_listed(self, most, count, monkeypatch):
        monkeypatch.setattr("understudy.risk.strong.attack.MOST_LISTED", most)
        assert p_value(draws(GIVEN, unknown=NAMES, draws=count, seed=13)) > LEVEL


class TestNewFits:
    @pytest.mark.parametrize(
        ("model", "prior", "count"),
        cases(
            ["trees", "informed"],
            slow=[
                ["smoothed trees", "informed"],
                ["trees", "uniform"],
                ["greedy", "informed"],
                ["optimal", "informed"],
            ],
        ),
    )
    def test_one_attribute(self, model, prior, count):
        asked = {"unknown": ONE, "prior": prior, "draws": count, "seed": 14}
        assert p_value(draws(SEARCHED[model], mode="refit", **asked)) > LEVEL

    @pytest.mark.slow
    @pytest.mark.parametrize("model", ["greedy", "trees"])
    def test_whole_records(self, model):
        found = draws(SEARCHED[model], mode="refit", unknown=NAMES, draws=400, seed=15)
        assert p_value(found) > LEVEL


def simulated(rng, draws, *, concentration=None, runs=100, rows=60, cells=4, worlds=3):
    """Yield posteriors by simulated counts of releases, whose shares are known, and the truth.

    With a concentration, each fit has shares of its own, as with noise or a bootstrap.
    """

    def table(shares):
        own = shares if concentration is None else rng.dirichlet(concentration * shares)
        counts = rng.multinomial(rows, own)
        return CellCounts(np.flatnonzero(counts), counts[counts > 0])

    for _ in range(draws):
        # Worlds differ by one record of 30.
        others = rng.dirichlet(np.ones(cells)) * 29
        shares = [(others + np.eye(cells)[world]) / 30 for world in range(worlds)]
        truth = rng.integers(worlds)
        released = [table(shares[truth]) for _ in range(2)]
        parts = []
        for own in released:
            found = SimulatedLikelihood(
                SimpleNamespace(released=own, count=cells), worlds, runs, 0.5
            )
            parts.append(found)
        for world in range(worlds):
            for run in range(runs):
                counts = table(shares[world])
                for found in parts:
                    found.add(world, run, counts)
        logs = Likelihood.product([found.result() for found in parts]).logs
        yield np.exp(normalised(logs[None])[0]), truth


class TestBlackBox:
    @pytest.mark.parametrize(("concentration", "count"), cases([None], [40]))
    def test_two_releases_by_counts_of_one_fit_and_of_random_ones(self, concentration, count):
        rng = np.random.default_rng(16)
        assert p_value(simulated(rng, count, concentration=concentration)) > LEVEL

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", ["rows", "networks", "trees on samples"])
    def test_tools(self, kind):
        def synthesize(frame, seed):
            if kind == "rows":
                return frame.sample(40, with_replacement=True, seed=seed)
            model = BayesNet(1, random_state=seed)
            if kind != "networks":
                model = Cart(minbucket=5, proper=True, random_state=seed)
            return model.fit(frame).sample(40)

        rng = np.random.default_rng(17)
        found = []
        for _ in range(300 if kind == "rows" else 60):
            others = draw_records(rng, 29)
            record = others[rng.integers(len(others))].copy()
            record[1] = rng.integers(3)
            frame = with_record(others, record).select("a", "b")
            found.append((self.posterior(synthesize, frame, rng), record[1]))
        assert p_value(found) > LEVEL

    @staticmethod
    def posterior(synthesize, frame, rng):
        """Return the posterior of all values of b of the last record."""
        frame = frame.with_columns(k=pl.lit("k0"))
        attack = black_box_attacker(
            synthesize,
            frame,
            synthesize(frame, int(rng.integers(2**31))),
            unknown=["b", "k"],
            candidates=[(f"b{code}", "k0") for code in range(3)],
            records=[29],
            runs=40,
            random_state=rng,
        )
        return attack.marginals["b"][0]
