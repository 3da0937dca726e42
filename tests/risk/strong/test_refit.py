"""New fits in every world: the quick way agrees with them wherever the structure stays."""

from __future__ import annotations

import logging
from copy import copy
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from understudy import BayesNet, Cart, Independent, Schema, load, risk
from understudy.data.coded import Coded
from understudy.errors import DataError, ParameterError
from understudy.risk.strong.candidates import Candidates
from understudy.risk.strong.fixed import FixedLikelihood
from understudy.risk.strong.refit import RefitLikelihood
from understudy.risk.strong.release import Release
from understudy.synthesis.cart import binned


def strong_attacker(*tables, **how):
    """Attack with a flat prior and the structure fixed, if nothing else is said."""
    return risk.strong_attacker(*tables, **({"prior": "uniform", "mode": "fixed"} | how))


seeds = st.integers(0, 2**32 - 1)


def letters(seed, rows, names="abcd", levels=3):
    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(0, rng.integers(2, levels + 1), rows) for name in names}
    # The last column goes with the first, so that there is something to learn.
    columns[names[-1]] = (columns[names[0]] + (rng.random(rows) < 0.3)) % levels
    return pl.DataFrame(
        {name: [f"{name}{code}" for code in codes] for name, codes in columns.items()}
    )


def world(coded, row, candidates, number):
    """The original with a candidate in the place of a record."""
    columns = []
    for name, codes in zip(coded.names, coded.columns, strict=True):
        changed = codes.copy()
        if name in candidates.names:
            changed[row] = candidates.codes[name][number]
        columns.append(changed)
    return Coded(coded.names, tuple(columns), coded.cardinalities)


def structure(model):
    """All of a fitted model that is not a count."""
    if isinstance(model, BayesNet):
        strengths = {name: own.tolist() for name, own in model.smoothing_.items()}
        return dict(model.network_.parents), strengths
    if isinstance(model, Cart):
        trees = [
            [
                (
                    part,
                    leaves.tree.feature.tolist(),
                    leaves.tree.threshold.tolist(),
                    leaves.tree.children.tolist(),
                    {place: order.tolist() for place, order in leaves.tree.orders.items()},
                    # Which nodes are drawn towards which depends on their sizes.
                    None if leaves.shrinkage is None else leaves.paths.tolist(),
                )
                for column in sequence.columns
                for part, leaves in column.parts.items()
            ]
            for sequence in model.sequences_
        ]
        return model.plan_.steps, model.strata_.codes.tolist(), trees
    return None


def with_strengths_of(model, fitted):
    """Return trees of the same structure, smoothed as far as those of `model`."""
    if not isinstance(model, Cart):
        return fitted
    held = copy(fitted)
    held.sequences_ = tuple(
        replace(
            new,
            columns=[
                replace(
                    column,
                    **{
                        part: replace(leaves, shrinkage=published.parts[part].shrinkage)
                        for part, leaves in column.parts.items()
                    },
                )
                for published, column in zip(old.columns, new.columns, strict=True)
            ],
        )
        for old, new in zip(model.sequences_, fitted.sequences_, strict=True)
    )
    return held


def compare(model, frame, synthetic, unknown, rows):
    """Hold the quick way against new fits; return how many worlds kept the structure."""
    release = Release.of(model, frame, synthetic)
    coded, drawn = release.original, release.synthetic
    sizes = tuple(coded.cardinality(name) for name in unknown)
    if isinstance(model, Cart) and len(unknown) > 1:
        candidates = Candidates.occurring(tuple(unknown), [coded, drawn])
    else:
        candidates = Candidates.grid(tuple(unknown), sizes)
    likelihood = FixedLikelihood.of(model.sampling_tables(), [release], unknown)
    quick = likelihood.log_likelihoods(coded.take(np.array(rows)), candidates)
    published, before = structure(model), model.release_log_likelihood(drawn)
    kept = 0
    for place, row in enumerate(rows):
        own = candidates.find(coded.take(slice(row, row + 1)))[0]
        assert quick[place, own] == 0
        for number in range(len(candidates)):
            try:
                fitted = model.refit(world(coded, row, candidates, number))
            except ParameterError:  # a stratum of too few records
                continue
            if structure(fitted) == published and number != own:
                after = with_strengths_of(model, fitted).release_log_likelihood(drawn)
                assert quick[place, number] == pytest.approx(after - before, abs=1e-9)
                kept += 1
    return kept


UNKNOWN = [["b"], ["a", "d"], ["a", "b", "c", "d"]]


class TestSameAsFixed:
    @settings(max_examples=15)
    @given(seeds, st.sampled_from(UNKNOWN))
    def test_independent(self, seed, unknown):
        frame = letters(seed, 9)
        assume(any(frame[name].n_unique() > 1 for name in unknown))  # else there is no other world
        model = Independent(random_state=seed).fit(frame)
        synthetic = model.sample(7, random_state=seed)
        assert compare(model, frame, synthetic, unknown, [0, 4]) > 0

    @pytest.mark.parametrize(
        "parents",
        [pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(3, marks=pytest.mark.slow)],
    )
    def test_network_of_given_structure(self, parents):
        edges = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "c"), ("b", "d"), ("a", "d")]
        edges = edges[: {1: 3, 2: 5, 3: 6}[parents]]
        kept = []

        # The same examples every time: what they hold all together is asserted below.
        @settings(max_examples=12, derandomize=True)
        @given(seeds, st.sampled_from(UNKNOWN), st.sampled_from([0, 3]))
        def check(seed, unknown, smoothing):
            frame = letters(seed, 12)
            model = BayesNet(parents, edges, smoothing=smoothing, random_state=seed).fit(frame)
            synthetic = model.sample(10, random_state=seed)
            kept.append(compare(model, frame, synthetic, unknown, [0, 5]))

        check()
        assert sum(kept) > 10

    @settings(max_examples=10)
    @given(seeds)
    def test_network_with_a_protected_column(self, seed):
        frame = letters(seed, 12)
        model = BayesNet(1, "optimal", protect={"b": "a"}, root="a", random_state=1).fit(frame)
        compare(model, frame, model.sample(10, random_state=seed), ["b"], [0, 5, 9])


def numbers(seed, rows=60):
    """A table with gaps and a special value in a number."""
    rng = np.random.default_rng(seed)
    frame = letters(seed, rows, "abd")
    x = rng.integers(1, 8, rows) + 5.0 * (frame["a"] == "a0").to_numpy()
    x[rng.random(rows) < 0.2] = -8
    x = pl.Series(x).set(pl.Series(rng.random(rows) < 0.2), None)
    return frame.insert_column(2, x.alias("x"))


def number_schema(frame):
    return Schema.infer(frame).edit("x", kind="integer", levels=(), special=(-8,), range=None)


VARIANTS = {
    "stumps": {"minbucket": 30},
    "trees": {"minbucket": 4},
    "strata": {"minbucket": 4, "strata": "a"},
    "strata of two columns": {"minbucket": 1, "strata": ["a", "b"], "cp": 0.2},
    "rules": {"minbucket": 8, "rules": ["if a == 'a0' then d = 'd0'", "if b == 'b1' then x = -8"]},
    "protect": {"minbucket": 6, "protect": {"b": "a"}},
    "keep": {"minbucket": 6, "keep": ["a"]},
    "keep strata": {"minbucket": 6, "keep": ["a"], "strata": "a"},
    "few predictors": {"minbucket": 6, "max_predictors": 1},
    "few bins": {"minbucket": 4, "splits": "histogram"},
    "smoothed leaves": {"minbucket": 4, "smoothing_leaves": 3},
    "smoothed by left-out records": {"minbucket": 4, "smoothing_leaves": "auto"},
    "smoothed and kept": {"minbucket": 6, "smoothing_leaves": 1.5, "keep": ["a"], "strata": "a"},
    "smoothed and ruled": {
        "minbucket": 8,
        "smoothing_leaves": "auto",
        "rules": ["if a == 'a0' then d = 'd0'", "if b == 'b1' then x = -8"],
    },
}


def one_in_three(variants):
    """Return all variants, of which two in three are slow; the last is quick."""
    places = enumerate(reversed(list(variants)))
    slow = [
        pytest.param(name, marks=pytest.mark.slow if place % 3 else ()) for place, name in places
    ]
    return slow[::-1]


class TestTreesSameAsFixed:
    # Each variant is compared with brute force among the tests of the fixed mode, too.
    @pytest.mark.parametrize("variant", one_in_three(VARIANTS))
    def test_worlds_with_the_same_trees(self, variant, caplog, monkeypatch):
        caplog.set_level(logging.ERROR)
        monkeypatch.setattr(binned, "MOST_BINS", 4)
        frame = numbers(1)
        model = Cart(**({"smoothing_leaves": 0} | VARIANTS[variant]), random_state=1).fit(
            frame, number_schema(frame)
        )
        synthetic = model.sample(random_state=1)
        drawn = [name for name in frame.columns if name not in (model.keep or ())]
        kept = [
            compare(model, frame, synthetic, unknown, [0, 7])
            for unknown in ([drawn[0]], ["x"], ["d"], drawn[:2])
        ]
        assert sum(kept) > 5

    def test_a_stratum_of_which_a_rule_decides_all(self):
        # No value of d is drawn where a is a0, though a tree was grown there.
        frame = letters(5, 40).with_columns(
            d=pl.when(pl.col("a") == "a0").then(pl.lit("d0")).otherwise("d")
        )
        rule = ["if a == 'a0' then d = 'd0'"]
        model = Cart(minbucket=5, strata="a", rules=rule, cp=0.9, random_state=1).fit(frame)
        synthetic = model.sample(random_state=1)
        for unknown in (["a"], ["d"], ["a", "d"], ["b"]):
            assert compare(model, frame, synthetic, unknown, [0, 1, 2, 3]) > 0

    def test_a_rule_that_is_an_expression(self):
        import narwhals as nw

        frame = letters(5, 40)
        rules = {"d": (nw.col("a") == "a0", "d0")}
        model = Cart(minbucket=20, rules=rules, random_state=1).fit(frame)
        synthetic = model.sample(random_state=1)
        for unknown in (["a"], ["d"], ["b"]):
            assert compare(model, frame, synthetic, unknown, [0, 1, 2]) > 0

    def test_whole_attacks_agree_where_trees_are_stumps(self):
        frame = numbers(4)
        model = Cart(minbucket=30, smoothing_leaves=0, random_state=1).fit(
            frame, number_schema(frame)
        )
        synthetic = model.sample(random_state=2)
        for unknown in ("x", ["a", "x"]):
            for prior in ("uniform", "marginal", "informed"):
                quick, slow = (
                    strong_attacker(
                        model,
                        frame,
                        synthetic,
                        unknown=unknown,
                        prior=prior,
                        mode=mode,
                        records=[3, 50],
                    )
                    for mode in ("fixed", "refit")
                )
                np.testing.assert_allclose(quick.prior, slow.prior, rtol=1e-12)
                np.testing.assert_allclose(quick.posterior, slow.posterior, rtol=1e-9)
                assert quick.guess == slow.guess
                assert slow.mode == "refit"


class TestWorlds:
    def test_by_hand(self):
        # With 2 of a and 1 of b, the release a a b has (2/3)^2 (1/3) = 4/27; if the first record
        # were b, (1/3)^2 (2/3) = 2/27: so a has 2/3. The third as a leaves no b: it is certain.
        frame = pl.DataFrame({"y": ["a", "a", "b"]})
        model = Independent().fit(frame)
        attack = strong_attacker(model, frame, pl.DataFrame({"y": ["a", "b", "a"]}), mode="refit")
        assert attack.posterior.tolist() == pytest.approx([2 / 3, 2 / 3, 1])
        assert attack.certain == 1

    def test_a_world_that_the_model_refuses_has_no_release(self):
        # With one record less, the stratum b has fewer than minbucket records.
        frame = pl.DataFrame({"s": ["a"] * 9 + ["b"] * 5, "y": ["u", "v"] * 7})
        model = Cart(strata="s", random_state=1).fit(frame)
        attack = strong_attacker(
            model, frame, model.sample(), unknown="s", mode="refit", records=[0, 13]
        )
        assert attack.posterior[1] == 1
        assert 0 < attack.posterior[0] < 1

    def test_a_true_world_that_the_model_refuses_is_an_error(self, monkeypatch):
        frame = letters(1, 20)
        model = Independent().fit(frame)

        def refuse(self, coded):
            raise ParameterError("no such world")

        monkeypatch.setattr(Independent, "refit", refuse)
        with pytest.raises(ParameterError, match="no such world"):
            strong_attacker(model, frame, frame, unknown="a", mode="refit")

    def test_withheld_columns_are_summed_over(self):
        # The twin sums the density over the withheld column's values, record by record.
        frame = letters(3, 30)
        model = BayesNet(1, [("a", "b"), ("b", "c"), ("c", "d")], random_state=1).fit(frame)
        synthetic = model.sample(40, random_state=2).drop("b")
        release = Release.of(model, frame, synthetic)
        assert release.withheld == ("b",)
        candidates = Candidates.grid(("b",), (release.original.cardinality("b"),))
        found = RefitLikelihood(model, (release,), ("b",)).log_likelihoods(
            np.array([4]), candidates
        )
        for number in range(len(candidates)):
            fitted = model.refit(world(release.original, 4, candidates, number))
            expected = 0.0
            for row in synthetic.iter_rows(named=True):
                ways = [row | {"b": level} for level in model.codec_.labels("b")]
                full = pl.DataFrame(ways).select(frame.columns)
                expected += np.log(np.exp(fitted.log_likelihood(full)).sum())
            assert found[0, number] == pytest.approx(expected, abs=1e-9)

    def test_too_many_withheld_values(self):
        rng = np.random.default_rng(1)
        frame = pl.DataFrame(
            {n: rng.integers(0, 70, 300).astype(str) for n in "pq"} | {"y": ["u", "v"] * 150}
        )
        model = Independent().fit(frame)
        with pytest.raises(
            ParameterError, match=r"combinations of the withheld columns 'p' and 'q'.*mode='fixed'"
        ):
            strong_attacker(
                model, frame, model.sample().select("y"), unknown="y", mode="refit", records=[0]
            )

    def test_other_tables_are_found_out(self):
        frame = letters(3, 30)
        model = BayesNet(1, [("a", "b"), ("b", "c"), ("c", "d")], random_state=1).fit(frame)
        other = frame.with_columns(pl.col("d").reverse())
        with pytest.raises(DataError, match="not fitted to this original"):
            strong_attacker(model, other, model.sample(), unknown="a", mode="refit")

    def test_a_release_of_another_model_is_found_out(self):
        frame = pl.DataFrame({"a": ["0"] * 9 + ["1"] * 9, "b": ["0"] * 9 + ["1"] * 9})
        model = BayesNet(1, [("a", "b")], smoothing=0).fit(frame)
        swapped = pl.DataFrame({"a": ["0", "1"] * 5, "b": ["1", "0"] * 5})
        with pytest.raises(DataError, match="in 10 records of it, 'b' has a value"):
            strong_attacker(model, frame, swapped, unknown="a", mode="refit")

    @pytest.mark.slow
    def test_processes_change_nothing(self):
        frame = letters(2, 12, "ad")
        model = Independent(random_state=1).fit(frame)
        synthetic = model.sample(random_state=1)
        one, two = (
            strong_attacker(model, frame, synthetic, mode="refit", processes=n) for n in (1, 2)
        )
        assert one.to_frame().equals(two.to_frame())


class TestSearchesOfWhichTheSeedIsNotKnown:
    """A search draws its root at random: in the world of the truth it must be the published one."""

    SURVEY = load("cmc").select("age", "education", "children", "religion", "working", "method")

    @pytest.mark.parametrize("attempt", range(3))
    def test_a_model_in_memory(self, attempt):
        model = BayesNet(2).fit(self.SURVEY)
        again = model.refit(model.codec_.encode(self.SURVEY))
        assert again.network_ == model.network_
        release = model.sample(random_state=attempt)
        attack = strong_attacker(
            model, self.SURVEY, release, unknown="method", mode="refit", records=[0, 1]
        )
        assert np.isfinite(attack.posterior).all()
        assert attack.notes == ()

    @pytest.mark.parametrize("attempt", range(3))
    def test_a_model_from_a_file(self, attempt, tmp_path):
        model = BayesNet(2).fit(self.SURVEY)
        loaded = BayesNet.load(model.save(tmp_path / f"{attempt}.us"))
        assert not loaded.fit_is_known
        assert loaded.refit(loaded.codec_.encode(self.SURVEY)).network_ == model.network_

    def test_it_is_said_where_it_cannot_be_known(self, tmp_path):
        model = BayesNet(2, "genetic", generations=5).fit(self.SURVEY)
        loaded = BayesNet.load(model.save(tmp_path / "model.us"))
        release = model.sample(random_state=1)
        attack = strong_attacker(
            loaded, self.SURVEY, release, unknown="method", mode="refit", records=[0]
        )
        assert "random_state is not known" in attack.notes[0]


class TestTreesThatStay:
    """Trees that never saw the unknown columns are not grown again, and nothing else changes."""

    @pytest.mark.parametrize("variant", VARIANTS)
    def test_the_same_as_a_whole_fit(self, variant, caplog):
        caplog.set_level(logging.ERROR)
        frame = numbers(2)
        model = Cart(**({"smoothing_leaves": 0} | VARIANTS[variant]), random_state=1).fit(
            frame, number_schema(frame)
        )
        coded = model.codec_.encode(frame)
        drawn = [name for name in frame.columns if name not in (model.keep or ())]
        for unknown in ([drawn[0]], ["x"], ["d"], drawn[:2]):
            candidates = Candidates.grid(
                tuple(unknown), tuple(coded.cardinality(name) for name in unknown)
            )
            other = world(coded, 3, candidates, len(candidates) - 1)
            try:
                whole = model.refit(other)
            except ParameterError:  # a stratum of too few records
                continue
            part = model.refit_changed(other, unknown)
            assert structure(part) == structure(whole)
            assert part.violations_ == whole.violations_
            np.testing.assert_array_equal(part.log_likelihood(coded), whole.log_likelihood(coded))

    def test_a_tree_that_stays_is_the_same_one(self):
        frame = letters(1, 60)
        model = Cart(minbucket=5, random_state=1).fit(frame)
        coded = model.codec_.encode(frame)
        other = world(coded, 3, Candidates.grid(("c",), (coded.cardinality("c"),)), 0)
        part = model.refit_changed(other, ["c"])
        pairs = zip(model.sequences_[0].columns, part.sequences_[0].columns, strict=True)
        assert [own is new for own, new in pairs] == [True, True, False, False]

    def test_a_record_fewer_for_what_is_asked(self):
        frame = letters(1, 60)
        model = Cart(minbucket=5, random_state=1).fit(frame)
        others = model.codec_.encode(frame[1:])
        part, whole = model.refit_changed(others, ["d"]), model.refit(others)
        assert part.n_rows_ == 59
        tables = [model.sampling_tables()[-1] for model in (part, whole)]
        assert tables[0].donors.tolist() == tables[1].donors.tolist()


def test_an_informed_prior_by_new_fits_does_not_depend_on_the_truth():
    # The published trees do, and would tell of the record before the release.
    frame = letters(4, 40)
    model = Cart(minbucket=3, random_state=1).fit(frame)
    coded = model.codec_.encode(frame)
    candidates = Candidates.grid(("b",), (coded.cardinality("b"),))
    priors = []
    for number in range(len(candidates)):
        original = world(coded, 5, candidates, number)
        fitted = model.refit(original)
        found = strong_attacker(
            fitted, original, fitted.sample_coded(random_state=1), unknown="b", prior="informed",
            mode="refit", records=[5],
        )  # fmt: skip
        priors.append(found.prior[0])
    # Each is the prior of another value, from the same other records.
    assert sum(priors) == pytest.approx(1, rel=1e-9)


def test_an_informed_prior_where_the_model_refuses_to_work_without_the_record():
    # Without a record, the stratum b has fewer than minbucket: the shares of values stand in.
    frame = pl.DataFrame({"s": ["a"] * 9 + ["b"] * 5, "y": ["u", "v"] * 7})
    model = Cart(strata="s", random_state=1).fit(frame)
    asked = {"unknown": "s", "mode": "refit", "records": [13]}
    release = model.sample(random_state=1)
    found = [
        strong_attacker(model, frame, release, prior=prior, **asked).prior[0]
        for prior in ("informed", "marginal")
    ]
    assert found[0] == found[1]
