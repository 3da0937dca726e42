"""The strong attacker: figures of the paper, worlds by hand, what must not matter, wrong input."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from understudy import BayesNet, Cart, Independent, Uniform, load, risk
from understudy.data import load_syntheses
from understudy.data.public_tables import fetch
from understudy.errors import DataError, NoDensityError, ParameterError, SchemaError
from understudy.synthesis.copula import GaussianCopula


def strong_attacker(*tables, **how):
    """Attack with a flat prior and the structure fixed, if nothing else is said."""
    return risk.strong_attacker(*tables, **({"prior": "uniform", "mode": "fixed"} | how))


COLUMNS = ["record", "prior", "posterior", "gain_bits", "guess", "right_before", "right_after"]
UNIQUE = 999
HOLD_IT = [True, False, True, True, True, True, True, False, True, True]


@pytest.fixture(scope="module")
def simulated():
    return load("buyer_beware")


@pytest.fixture(scope="module")
def syntheses():
    return load_syntheses("buyer_beware")


@pytest.fixture(scope="module")
def cart(simulated):
    return Cart(smoothing_leaves=0, random_state=1).fit(simulated)


def letters(seed, rows, names="abcd"):
    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(0, 3, rows) for name in names}
    columns[names[-1]] = (columns[names[0]] + (rng.random(rows) < 0.3)) % 3
    return pl.DataFrame(
        {name: [f"{name}{code}" for code in codes] for name, codes in columns.items()}
    )


class TestSimulatedData:
    def test_which_syntheses_hold_the_record(self, simulated, syntheses):
        assert simulated.row(UNIQUE) == (1, 1, 1, 1)
        assert [simulated.row(UNIQUE) in table.rows() for table in syntheses] == HOLD_IT

    @pytest.mark.slow
    def test_with_new_fits(self, simulated, syntheses, cart):
        for table, holds in zip(syntheses, HOLD_IT, strict=True):
            attack = strong_attacker(cart, simulated, table, mode="refit", records=[UNIQUE])
            assert attack.candidates.tolist() == [16]
            assert attack.prior[0] == pytest.approx(1 / 16, abs=1e-15)
            if holds:
                assert attack.posterior[0] == pytest.approx(1, abs=1e-12)
                assert attack.certain == 1
                assert attack.gain_bits[0] == pytest.approx(4)
                assert attack.guess == ("1, 1, 1, 1",)
            else:
                assert 0.02 < attack.posterior[0] < 0.03
                assert attack.certain == 0

    def test_all_records_with_fixed_trees(self, simulated, syntheses, cart):
        for table, holds in zip(syntheses, HOLD_IT, strict=True):
            attack = strong_attacker(cart, simulated, table)
            assert len(attack) == 1000
            # All other combinations occur many times.
            assert attack.certain == int(holds)
            others = np.delete(attack.posterior, UNIQUE)
            assert others.max() < 0.5
            if holds:
                assert attack.posterior[UNIQUE] == pytest.approx(1, abs=1e-12)
                assert attack.worst(1)["record"].to_list() == [UNIQUE]
            else:
                assert 0.02 < attack.posterior[UNIQUE] < 0.03

    @pytest.mark.parametrize(
        ("limits", "low", "high"), [({"minbucket": 75}, 0.05, 0.08), ({"cp": 0.05}, 0.06, 0.07)]
    )
    @pytest.mark.slow
    def test_larger_leaves_hide_the_record(self, simulated, limits, low, high):
        # One release tells a little more or less by chance: from 0.0499 to 0.0859 with minbucket
        # 75, from 0.0585 to 0.0751 with cp 0.05. On average nothing is learnt of the 1/16.
        model = Cart(**limits, random_state=1).fit(simulated)
        found = [
            strong_attacker(
                model, simulated, model.sample(random_state=seed), mode="refit", records=[UNIQUE]
            ).posterior[0]
            for seed in range(8)
        ]
        assert low < np.mean(found) < high
        assert max(found) < 0.1


class TestByHand:
    def test_one_attribute(self):
        # Of the other records 2 are a, 1 is b. The release a a b has (3/4)^2 (1/4) = 9/64 if the
        # record is a, and (2/4)^2 (2/4) = 8/64 if it is b.
        frame = pl.DataFrame({"y": ["a", "a", "a", "b"]})
        model = Independent().fit(frame)
        synthetic = pl.DataFrame({"y": ["a", "a", "b"]})
        attack = strong_attacker(model, frame, synthetic, records=[0])
        assert attack.posterior[0] == pytest.approx(9 / 17)
        assert attack.gain_bits[0] == pytest.approx(np.log2(18 / 17))
        assert attack.to_frame().columns == COLUMNS
        assert attack.to_frame().row(0)[4:] == ("a", True, True)
        # Half a record is spread over both values: 2.25 and 1.25 of 3.5 before the release.
        informed = strong_attacker(model, frame, synthetic, records=[0], prior="marginal")
        assert informed.prior[0] == pytest.approx(2.25 / 3.5)
        assert informed.posterior[0] == pytest.approx(2.25 * 9 / (2.25 * 9 + 1.25 * 8))

    def test_a_value_that_only_one_record_can_give(self):
        frame = pl.DataFrame({"y": ["a", "a", "a", "b"]})
        model = Independent().fit(frame)
        attack = strong_attacker(model, frame, pl.DataFrame({"y": ["b", "a"]}), records=[3])
        assert attack.posterior[0] == 1
        # A prior that leaves the truth out is never corrected.
        blind = strong_attacker(
            model, frame, pl.DataFrame({"y": ["b", "a"]}), records=[3], prior=[1, 0]
        )
        assert np.isnan(blind.posterior[0])
        assert "probability 0 in every world" in blind.reasons["posterior"]
        assert not blind.right_after[0]
        assert blind.to_dict()["mean_gain_bits"] is None

    def test_a_network_of_two(self):
        # b goes with a in 3 records of each, but for the last: a1, b0. The release is a1 b0.
        frame = pl.DataFrame({"a": ["0"] * 3 + ["1"] * 4, "b": ["0"] * 3 + ["1"] * 3 + ["0"]})
        model = BayesNet(1, [("a", "b")], smoothing=0).fit(frame)
        synthetic = pl.DataFrame({"a": ["1"], "b": ["0"]})
        # As it is, b0 has 1/4 under a1; as b1, it has none. Of the others, no b can be seen.
        attack = strong_attacker(model, frame, synthetic, unknown="b")
        assert attack.posterior[6] == 1
        # If record 3 were b0 in place of b1, b0 would have 2/4 in place of 1/4.
        assert attack.posterior[3] == pytest.approx(1 / 3)
        assert attack.posterior[0] == 0.5
        assert attack.guess[3] == "0"
        # a of the last record: 4/7 1/4 as it is; in a0, 3/7 times b0 under a1, which is 0.
        assert strong_attacker(model, frame, synthetic, unknown="a").posterior[6] == 1

    def test_two_unknown(self):
        # Nothing but the one record of x1 y1 can give x1 y1: 9 worlds, one is possible.
        frame = pl.DataFrame({"x": ["0"] * 4 + ["1"], "y": ["0", "0", "1", "1", "2"]})
        model = Independent().fit(frame)
        synthetic = pl.DataFrame({"x": ["1", "0"], "y": ["2", "0"]})
        attack = strong_attacker(model, frame, synthetic, records=[4])
        assert attack.posterior[0] == pytest.approx(1, abs=1e-12)
        assert attack.more["rank"].tolist() == [1]
        assert attack.to_frame().columns == [*COLUMNS, "rank"]
        assert attack.guess == ("1, 2",)
        assert attack.marginals["y"][0].tolist() == pytest.approx([0, 0, 1])
        # With x alone unknown to the release, y stays certain and x is as before.
        hidden = strong_attacker(model, frame, synthetic.drop("x"), records=[4])
        assert hidden.marginals["x"][0].tolist() == pytest.approx([0.5, 0.5])
        assert hidden.marginals["y"][0].tolist() == pytest.approx([0, 0, 1])
        assert hidden.more["rank"].tolist() == [1]


def models():
    return [
        Independent(random_state=1),
        BayesNet(2, random_state=1),
        Cart(minbucket=3, random_state=1),
        Cart(minbucket=3, strata="b", protect={"c": "b"}, random_state=1),
    ]


class TestWhatMustNotMatter:
    @pytest.mark.parametrize("place", range(4))
    @pytest.mark.parametrize("unknown", ["d", ["a", "d"], "*"])
    def test_probabilities(self, place, unknown):
        frame = letters(2, 40)
        model = models()[place].fit(frame)
        for prior in ("uniform", "marginal", "informed"):
            found = strong_attacker(
                model, frame, model.sample(random_state=1), unknown=unknown, prior=prior
            )
            for values in (found.prior, found.posterior):
                assert (values >= 0).all()
                assert (values <= 1).all()
            for name, values in found.marginals.items():
                np.testing.assert_allclose(values.sum(axis=1), 1, rtol=1e-12)
                own = model.codec_.encode(frame)[name]
                # What is believed of all attributes is not more than of one of them.
                assert (values[np.arange(40), own] >= found.posterior - 1e-12).all()

    @pytest.mark.parametrize("place", range(4))
    def test_posteriors_of_all_values_sum_to_one(self, place):
        # The truth of a record is one candidate; to see the others, each is the truth of a world
        # in turn: a prior that leaves two candidates gives their odds.
        frame = letters(2, 40)
        model = models()[place].fit(frame)
        synthetic = model.sample(random_state=1)
        truth = int(frame["d"][0][1])
        whole = strong_attacker(model, frame, synthetic, unknown="d", records=[0]).posterior[0]
        odds = 1.0
        for other in {0, 1, 2} - {truth}:
            two = [float(code in (truth, other)) for code in range(3)]
            found = strong_attacker(
                model, frame, synthetic, unknown="d", records=[0], prior=two
            ).posterior[0]
            odds += (1 - found) / found
        assert whole == pytest.approx(1 / odds, rel=1e-12)

    @pytest.mark.parametrize("place", range(4))
    @pytest.mark.parametrize("unknown", ["d", "*"])
    def test_order_of_rows_and_columns_and_names_of_levels(self, place, unknown):
        frame = letters(2, 40)
        model = models()[place].fit(frame)
        synthetic = model.sample(30, random_state=1)
        plain = strong_attacker(model, frame, synthetic, unknown=unknown)
        order = np.random.default_rng(1).permutation(40)
        shuffled = frame[order]
        again = strong_attacker(
            models()[place].fit(shuffled), shuffled, synthetic[::-1], unknown=unknown
        )
        np.testing.assert_allclose(again.posterior, plain.posterior[order], rtol=1e-9)
        assert again.guess == tuple(plain.guess[row] for row in order)

        def renamed(table):
            return table.rename(str.upper).with_columns(
                pl.all().str.replace("[abcd]", "level ") + "!"
            )

        named = models()[place]
        if isinstance(named, Cart) and named.strata:
            named.set_params(strata="B", protect={"C": "B"})
        asked = unknown.upper()
        found = strong_attacker(
            named.fit(renamed(frame)), renamed(frame), renamed(synthetic), unknown=asked
        )
        np.testing.assert_allclose(found.posterior, plain.posterior, rtol=1e-9)

    def test_levels_in_another_order(self):
        frame = letters(2, 40)
        swap = {"a0": "z", "a1": "y", "a2": "x"}
        edges = [("a", "b"), ("a", "d"), ("d", "c")]
        synthetic = BayesNet(1, edges, random_state=1).fit(frame).sample(random_state=1)
        found = [
            strong_attacker(BayesNet(1, edges).fit(table), table, release, unknown=unknown)
            for unknown in ("a", "*")
            for table, release in (
                (frame, synthetic),
                tuple(t.with_columns(pl.col("a").replace(swap)) for t in (frame, synthetic)),
            )
        ]
        np.testing.assert_allclose(found[0].posterior, found[1].posterior, rtol=1e-9)
        np.testing.assert_allclose(found[2].posterior, found[3].posterior, rtol=1e-9)
        assert found[1].guess == tuple(swap[guess] for guess in found[0].guess)

    def test_columns_in_another_order(self):
        frame = letters(2, 40)
        edges = [("a", "b"), ("a", "d"), ("d", "c")]
        model = BayesNet(1, edges, random_state=1).fit(frame)
        synthetic = model.sample(random_state=1)
        turned = frame.select("d", "c", "b", "a")
        for unknown in ("d", "*"):
            plain = strong_attacker(model, frame, synthetic, unknown=unknown)
            moved = strong_attacker(
                model, turned, synthetic.select("c", "a", "d", "b"), unknown=unknown
            )
            assert moved.posterior.tolist() == plain.posterior.tolist()
            other = BayesNet(1, edges).fit(turned)
            fitted = strong_attacker(other, turned, synthetic, unknown=unknown)
            np.testing.assert_allclose(fitted.posterior, plain.posterior, rtol=1e-9)

    @pytest.mark.parametrize("place", range(4))
    def test_the_release_twice_squares_the_likelihood(self, place):
        frame = letters(2, 40)
        model = models()[place].fit(frame)
        synthetic = model.sample(20, random_state=1)
        weights = np.zeros(3)
        weights[:2] = 1
        rows = np.flatnonzero(frame["d"].is_in(["d0", "d1"]).to_numpy())
        once, twice = (
            strong_attacker(model, frame, table, unknown="d", prior=weights, records=rows).posterior
            for table in (synthetic, pl.concat([synthetic, synthetic]))
        )
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(
                (1 - twice) / twice, ((1 - once) / once) ** 2, rtol=1e-9, atol=1e-300
            )
        assert ((once > 0.5) & (once < 1)).any()

    def test_libraries_and_codes(self, as_frame):
        frame = {name: values.to_list() for name, values in letters(2, 40).to_dict().items()}
        table = as_frame(frame)
        model = BayesNet(1, random_state=1).fit(table)
        synthetic = model.sample(random_state=2)
        found = strong_attacker(model, table, synthetic, unknown="d").to_frame()
        assert type(found) is type(table)
        coded = (model.codec_.encode(table), model.codec_.encode(synthetic))
        assert found.equals(strong_attacker(model, *coded, unknown="d").to_frame())
        assert found.equals(
            strong_attacker(
                model, table, model.sample_coded(random_state=2), unknown="d"
            ).to_frame()
        )

    def test_numbers_in_bins(self):
        frame = load("cmc")
        model = BayesNet(2, random_state=1).fit(frame)
        found = [
            strong_attacker(model, frame, drawn, unknown="method", records=range(50)).to_frame()
            for drawn in (model.sample(random_state=3), model.sample_coded(random_state=3))
        ]
        assert found[0].equals(found[1])


class TestWithheld:
    @pytest.mark.parametrize("prior", ["uniform", "marginal", "informed"])
    @pytest.mark.parametrize("how", ["absent", "constant", "word", "missing", "number"])
    @pytest.mark.parametrize("place", range(3))
    def test_nothing_is_learnt_of_a_column_that_nothing_is_drawn_from(self, prior, how, place):
        frame = letters(2, 60)
        model = [
            Independent(random_state=1),
            BayesNet(1, [("a", "d"), ("a", "b")], random_state=1),
            Cart(minbucket=5, random_state=1),
        ][place].fit(frame)
        synthetic = model.sample(random_state=1)
        values = {"constant": "d1", "word": "withheld", "missing": None, "number": 0}
        hidden = (
            synthetic.drop("d")
            if how == "absent"
            else synthetic.with_columns(pl.lit(values[how]).alias("d"))
        )
        attack = strong_attacker(model, frame, hidden, unknown="d", prior=prior)
        assert (attack.gain_bits == 0).all()
        assert "does not show 'd'" in attack.notes[0]
        assert len(attack.notes) == 1
        # What is believed before the release does not depend on it.
        shown = strong_attacker(model, frame, synthetic, unknown="d", prior=prior)
        assert attack.prior.tolist() == shown.prior.tolist()
        assert attack.right_before.tolist() == shown.right_before.tolist()
        assert (shown.gain_bits != 0).any()
        assert shown.notes == ()

    def test_what_is_drawn_from_it_is_said_not_to_count(self, caplog):
        frame = letters(2, 60)
        model = BayesNet(1, [("a", "d"), ("d", "b")], random_state=1).fit(frame)
        hidden = model.sample(random_state=1).drop("d")
        quick = strong_attacker(model, frame, hidden, unknown="d")
        assert (quick.gain_bits == 0).all()
        assert "The draws of 'b' do not count" in quick.notes[1]
        assert "mode='refit' counts them" in quick.notes[1]
        assert "'d'" in caplog.text
        slow = strong_attacker(model, frame, hidden, unknown="d", mode="refit", records=range(9))
        assert (slow.gain_bits != 0).any()
        assert len(slow.notes) == 1
        # Nothing is lost for what does not touch it.
        assert strong_attacker(model, frame, hidden, unknown="c").notes == ()

    def test_several_unknown_with_one_withheld(self, monkeypatch):
        frame = letters(2, 60)
        model = BayesNet(1, [("a", "b"), ("b", "c")], random_state=1).fit(frame)
        hidden = model.sample(random_state=1).drop("d")
        attack = strong_attacker(model, frame, hidden, prior="marginal")
        alone = strong_attacker(model, frame, hidden, unknown="d", prior="marginal")
        own = model.codec_.encode(frame)["d"]
        np.testing.assert_allclose(
            attack.marginals["d"][np.arange(60), own], alone.posterior, rtol=1e-12
        )
        cart = Cart(minbucket=5, random_state=1).fit(frame)
        found = strong_attacker(cart, frame, cart.sample(random_state=1).drop("d"))
        assert found.candidates[0] == 81
        with monkeypatch.context() as patch:
            patch.setattr("understudy.risk.strong.attack.MOST_LISTED", 80)
            found = strong_attacker(cart, frame, cart.sample(random_state=1).drop("d"))
        # The release has no whole records, so the candidates are those of the original.
        assert found.candidates[0] == len(frame.unique())
        assert any("combinations of 4 attributes that occur" in note for note in found.notes)

    def test_a_constant_by_chance_is_a_draw(self):
        # b is 1 in 30; a release of 20 is all a with a probability of 0.5.
        frame = pl.DataFrame({"y": ["a"] * 29 + ["b"], "x": ["u", "v"] * 15})
        model = Independent().fit(frame)
        synthetic = pl.DataFrame({"y": ["a"] * 20, "x": ["u", "v"] * 10})
        attack = strong_attacker(model, frame, synthetic, unknown="y")
        assert attack.notes == ()
        # As it is (29/30)^20; if the record with b were a, 1.
        assert attack.posterior[29] == pytest.approx(1 / (1 + (30 / 29) ** 20))
        # 900 in a row are none.
        longer = pl.concat([synthetic] * 45)
        assert (strong_attacker(model, frame, longer, unknown="y").gain_bits == 0).all()

    def test_a_column_that_is_constant_in_the_original(self):
        frame = letters(2, 60).with_columns(pl.lit("same").alias("k"))
        model = BayesNet(1, random_state=1).fit(frame)
        attack = strong_attacker(model, frame, model.sample(500), unknown="k")
        assert attack.notes == ()
        assert attack.posterior.tolist() == attack.prior.tolist() == [1.0] * 60
        assert attack.certain == 0

    def test_a_release_with_none_of_the_columns(self):
        frame = letters(2, 60)
        model = Independent().fit(frame)
        with pytest.raises(DataError, match="none of the model's columns 'a', 'b', 'c' and 'd'"):
            strong_attacker(model, frame, frame.rename(str.upper), unknown="d")


class TestProtection:
    def gains(self, frame, column, target, **kwargs):
        found = []
        for protect in (None, {column: target}):
            gain = 0.0
            for seed in range(3):
                model = BayesNet(3, protect=protect, smoothing=0, random_state=1).fit(frame)
                synthetic = model.sample(random_state=seed)
                gain += strong_attacker(model, frame, synthetic, unknown=column, **kwargs).mean_gain
            found.append(gain / 3)
        return found

    def test_cmc(self):
        without, protected = self.gains(load("cmc"), "husband_education", "method")
        assert protected < without / 2
        alone = self.gains(load("cmc"), "husband_education", None)[1]
        assert alone < protected

    def test_cmc_with_trees(self):
        frame = load("cmc")
        gains = []
        for protect in (None, {"method": "age"}):
            model = Cart(protect=protect, smoothing_leaves=0, random_state=1).fit(frame)
            attack = strong_attacker(model, frame, model.sample(random_state=2), unknown="method")
            gains.append(attack.mean_gain)
        assert gains[1] < gains[0] / 2

    def test_adult(self, real_files):
        real_files("adult_train.csv")
        frame = fetch("adult_train").head(4000)
        without, protected = self.gains(frame, "relationship", "income")
        assert protected < without / 2


class TestRealTables:
    def test_sd2011(self, sd2011):
        frame = pl.DataFrame(sd2011).select("sex", "age", "region", "placesize", "depress")
        model = Cart(smoothing_leaves=0, random_state=1).fit(frame)
        attack = strong_attacker(model, frame, model.sample(random_state=1), unknown="depress")
        assert len(attack) == 5000
        assert attack.candidates.tolist() == [frame["depress"].n_unique()] * 5000
        assert attack.accuracy_after > attack.accuracy_before
        assert 0 < attack.mean_gain < attack.max_gain
        assert not np.isnan(attack.posterior).any()


@pytest.fixture(scope="module")
def small():
    frame = letters(2, 40)
    edges = [("a", "d"), ("a", "b"), ("d", "c")]
    model = BayesNet(1, edges, smoothing=0, random_state=1).fit(frame)
    return model, frame, model.sample(random_state=1)


class TestForms:
    @pytest.mark.parametrize(
        "records",
        [
            [7, 3],
            (7, 3),
            np.array([7, 3], np.uint8),
            pl.Series([7, 3]),
            pd.Series([7, 3]),
            pa.array([7, 3]),
            iter([7, 3]),
        ],
        ids=["list", "tuple", "array", "polars", "pandas", "pyarrow", "iterator"],
    )
    def test_records(self, small, records):
        if not hasattr(records, "__len__"):
            with pytest.raises(ParameterError, match="records must be row numbers"):
                strong_attacker(*small, unknown="d", records=records)
            return
        found = strong_attacker(*small, unknown="d", records=records)
        every = strong_attacker(*small, unknown="d")
        assert found.record.tolist() == [7, 3]
        assert found.posterior.tolist() == every.posterior[[7, 3]].tolist()

    def test_one_record_a_mask_and_the_same_one_twice(self, small):
        every = strong_attacker(*small, unknown="d")
        assert strong_attacker(*small, unknown="d", records=5).record.tolist() == [5]
        mask = np.arange(40) % 7 == 0
        masked = strong_attacker(*small, unknown="d", records=mask)
        assert masked.record.tolist() == [0, 7, 14, 21, 28, 35]
        assert masked.posterior.tolist() == every.posterior[mask].tolist()
        twice = strong_attacker(*small, unknown="d", records=[4, 4], prior=[[1, 1, 1], [1, 2, 3]])
        assert twice.posterior[0] == every.posterior[4]
        assert twice.posterior[1] != twice.posterior[0]

    def test_unknown(self, small):
        plain = strong_attacker(*small, unknown=["d", "a", "d"])
        assert plain.unknown == ("a", "d")
        turned = strong_attacker(*small, unknown=("a", "d"))
        assert plain.to_frame().equals(turned.to_frame())
        assert strong_attacker(*small, unknown=["d"]).to_frame().columns == COLUMNS
        assert strong_attacker(*small).unknown == tuple("abcd")
        assert strong_attacker(*small, unknown=pl.Series(["d"])).unknown == ("d",)

    def test_priors_for_all_and_for_each(self, small):
        uniform = strong_attacker(*small, unknown="d")
        given_all = strong_attacker(*small, unknown="d", prior=[2, 2, 2])
        np.testing.assert_allclose(given_all.posterior, uniform.posterior, rtol=1e-14)
        assert given_all.prior_name == "given"
        assert given_all.to_dict()["prior"] == "given"
        weights = np.random.default_rng(1).random((40, 3))
        for mode in ("fixed", "refit"):
            each = strong_attacker(*small, unknown="d", prior=weights, mode=mode)
            for row in (0, 17, 39):
                alone = strong_attacker(
                    *small, unknown="d", prior=weights[row], records=[row], mode=mode
                )
                assert alone.prior[0] == pytest.approx(each.prior[row], rel=1e-12)
                assert alone.posterior[0] == pytest.approx(each.posterior[row], rel=1e-12)
        own = small[1]["d"].str.tail(1).cast(int).to_numpy()
        shares = weights / weights.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(each.prior, shares[np.arange(40), own])

    def test_informed_prior_is_the_models_prediction(self, small):
        # d of record 0 from a alone, and c from d: shares among the other 39, with half a record
        # spread over three values.
        model, frame, synthetic = small
        attack = strong_attacker(model, frame, synthetic, unknown="d", prior="informed")
        others, own = frame[1:].rows(named=True), frame.row(0, named=True)
        weights = []
        for value in ("d0", "d1", "d2"):
            near = [r for r in others if r["a"] == own["a"]]
            right = sum(r["d"] == value for r in near)
            weight = (right + 0.5 / 3) / (len(near) + 0.5)
            near = [r for r in others if r["d"] == value]
            right = sum(r["c"] == own["c"] for r in near)
            weights.append(weight * (right + 0.5 / 3) / (len(near) + 0.5))
        expected = weights[int(own["d"][1])] / sum(weights)
        assert attack.prior[0] == pytest.approx(expected, rel=1e-12)
        assert attack.prior_name == "informed"

    def test_informed_prior_excludes_strata_that_no_record_has(self):
        # a goes with p alone, so the published trees have no place for a record of a and q.
        frame = pl.DataFrame({"s": ["a"] * 10 + ["b"] * 20, "t": ["p"] * 20 + ["q"] * 10})
        frame = frame.with_columns(y=pl.Series(["u", "v"] * 15))
        model = Cart(strata=["s", "t"], random_state=1).fit(frame)
        synthetic = model.sample(random_state=1)
        informed = strong_attacker(model, frame, synthetic, unknown="t", prior="informed")
        assert informed.prior[:10].tolist() == [1] * 10
        assert (informed.prior[10:] < 1).all()
        assert strong_attacker(model, frame, synthetic, unknown="t").prior[0] == 0.5

    def test_uniform_prior_without_tables(self):
        frame = letters(2, 40)
        model = Uniform(random_state=1).fit(frame)
        for unknown in ("d", "*"):
            attack = strong_attacker(model, frame, model.sample(), unknown=unknown)
            assert (attack.gain_bits == 0).all()
            # The guess is the most frequent combination among the other records.
            plain = Independent().fit(frame)
            other = strong_attacker(plain, frame, plain.sample(), unknown=unknown)
            assert attack.right_before.tolist() == other.right_before.tolist()
            assert len(set(attack.right_before.tolist())) == 2

    def test_identifiers_are_not_asked_for(self):
        frame = letters(2, 40).with_columns(name=pl.Series([f"person {i}" for i in range(40)]))
        model = Independent(random_state=1).fit(frame)
        attack = strong_attacker(model, frame, model.sample())
        assert attack.unknown == tuple("abcd")
        with pytest.raises(
            ParameterError, match=r"'name' is an identifier\. The release makes up new"
        ):
            strong_attacker(model, frame, model.sample(), unknown="name")
        # Neither table needs it.
        assert (
            strong_attacker(
                model, frame.drop("name"), model.sample(random_state=2).drop("name"), unknown="d"
            ).notes
            == ()
        )

    def test_a_saved_model_attacks_alike(self, small, tmp_path):
        model, frame, synthetic = small
        loaded = BayesNet.load(model.save(tmp_path / "model.us"))
        for mode in ("fixed", "refit"):
            found = strong_attacker(
                loaded, frame, synthetic, unknown="d", mode=mode, records=range(5)
            )
            own = strong_attacker(model, frame, synthetic, unknown="d", mode=mode, records=range(5))
            assert found.to_frame().equals(own.to_frame())

    def test_pieces_change_nothing(self, small, monkeypatch):
        weights = np.random.default_rng(1).random((40, 3))
        for prior in ("uniform", "marginal", "informed", weights):
            whole = strong_attacker(*small, unknown="d", prior=prior)
            with monkeypatch.context() as patch:
                patch.setattr("understudy.risk.strong.ways._PAIRS_AT_ONCE", 7)
                pieces = strong_attacker(*small, unknown="d", prior=prior)
            assert pieces.to_frame().equals(whole.to_frame())

    def test_plain_dictionary(self, small):
        found = strong_attacker(*small, unknown="d")
        assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["unknown"] == ["d"]


class TestWrongInput:
    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"unknown": "e"}, r"unknown: .*'e'"),
            ({"unknown": ["a", "dd"]}, r"unknown: .*'dd'.*mean 'd'"),
            ({"unknown": []}, "name at least one column"),
            ({"unknown": 3}, r'a list of columns, or "\*" for the whole record; got 3'),
            ({"prior": "flat"}, "uniform, marginal, informed, or an array of weights; got 'flat'"),
            ({"prior": [1, 2]}, r"3 candidates and 40 records.*\(3,\) or \(40, 3\); got \(2,\)"),
            ({"prior": np.ones((4, 3))}, r"got \(4, 3\)"),
            ({"prior": [1, -1, 1]}, "at least 0"),
            ({"prior": [0, 0, 0]}, "not all weights"),
            ({"prior": [1, np.nan, 1]}, "finite"),
            ({"prior": [1, np.inf, 1]}, "finite"),
            ({"prior": ["a", "b", "c"]}, "an array must hold numbers"),
            ({"prior": [[1, 2, 3], [1]]}, "an array must hold numbers"),
            ({"prior": None}, "shape|numbers"),
            ({"mode": "quick"}, "mode must be one of auto, fixed, refit; got 'quick'"),
            ({"records": [40]}, r"no row 40; the original has rows 0 to 39"),
            ({"records": [-1]}, "no row -1"),
            ({"records": []}, "name at least one row"),
            ({"records": [1.5]}, r"row numbers from 0; got \[1.5\]"),
            ({"records": ["a"]}, "row numbers from 0"),
            ({"records": [True, False]}, "row numbers from 0"),
            ({"records": [[1, 2]]}, "row numbers from 0"),
            ({"records": [[1, 2], [3]]}, "row numbers from 0"),
            ({"refits": -1}, "refits must be a whole number from 0; got -1"),
            ({"processes": 0}, "processes must be a whole number from 1; got 0"),
            ({"processes": True}, "processes must be a whole number from 1; got True"),
        ],
    )
    def test_parameters(self, small, wrong, message):
        with pytest.raises(ParameterError, match=message):
            strong_attacker(*small, **({"unknown": "d"} | wrong))

    def test_models(self, small):
        _, frame, synthetic = small
        with pytest.raises(ParameterError, match=r"got str.*black_box_attacker"):
            strong_attacker("cart", frame, synthetic)
        with pytest.raises(ParameterError, match="BayesNet is not fitted"):
            strong_attacker(BayesNet(), frame, synthetic)

    def test_another_original(self, small):
        model, frame, synthetic = small
        with pytest.raises(DataError, match=r"fitted to 40 records, and the original has 39"):
            strong_attacker(model, frame[1:], synthetic, unknown="d")
        with pytest.raises(DataError, match=r"not fitted to this original.*'d' differ"):
            strong_attacker(model, frame.with_columns(d=pl.col("d").reverse()), synthetic)
        with pytest.raises(SchemaError, match="d"):
            strong_attacker(model, frame.drop("d"), synthetic, unknown="d")
        with pytest.raises(SchemaError, match="d9"):
            strong_attacker(model, frame.with_columns(d=pl.lit("d9")), synthetic, unknown="d")

    def test_another_release(self, small):
        model, frame, synthetic = small
        other = synthetic.with_columns(pl.Series("d", ["d9", *synthetic["d"][1:]]))
        with pytest.raises(DataError, match=r"1 row with .* cannot draw; the first is row 0"):
            strong_attacker(model, frame, other, unknown="d")
        with pytest.raises(DataError, match="no rows, so there is nothing to learn"):
            strong_attacker(model, frame, synthetic[:0], unknown="d")
        codes = BayesNet(1).fit(frame.select("a", "d")).sample_coded(9)
        with pytest.raises(ParameterError, match="synthetic: these codes are not this model's"):
            strong_attacker(model, frame, codes, unknown="d")
        with pytest.raises(ParameterError, match="original: these codes are not this model's"):
            strong_attacker(model, codes, synthetic, unknown="d")

    def test_a_release_that_the_model_could_not_draw(self):
        frame = pl.DataFrame({"a": ["0"] * 9 + ["1"] * 9, "b": ["0"] * 9 + ["1"] * 9})
        model = BayesNet(1, [("a", "b")], smoothing=0).fit(frame)
        swapped = pl.DataFrame({"a": ["0", "1"] * 5, "b": ["1", "0"] * 5})
        with pytest.raises(DataError, match=r"in 10 records of it, 'b' has a value.*black box"):
            strong_attacker(model, frame, swapped, unknown="b")

    def test_one_record(self):
        frame = pl.DataFrame({"a": ["x"], "b": ["y"]})
        model = Independent().fit(frame)
        with pytest.raises(DataError, match="one record, so there are no others to know"):
            strong_attacker(model, frame, frame)

    def test_kept_columns(self):
        frame = letters(2, 40)
        model = Cart(keep=["b"], random_state=1).fit(frame)
        synthetic = model.sample(random_state=1)
        for unknown in ("b", "*"):
            with pytest.raises(ParameterError, match="'b' of all records is kept as it is"):
                strong_attacker(model, frame, synthetic, unknown=unknown)
        assert len(strong_attacker(model, frame, synthetic, unknown=["a", "c", "d"])) == 40

    def test_smoothed_numbers(self):
        frame = letters(2, 60).with_columns(
            pl.Series("x", np.random.default_rng(1).normal(size=60)),
            pl.Series("z", np.random.default_rng(2).normal(size=60)),
        )
        model = Cart(
            smoothing={"x": "interpolate"}, predictors={"x": ["a"], "z": ["b"]}, random_state=1
        ).fit(frame)
        synthetic = model.sample(random_state=1)
        for unknown in ("x", "a"):
            with pytest.raises(
                ParameterError, match=r"'x': numbers .* smoothed.*black_box_attacker"
            ):
                strong_attacker(model, frame, synthetic, unknown=unknown)
        # What does not touch the smoothed column can be attacked.
        assert len(strong_attacker(model, frame, synthetic, unknown="z")) == 60

    def test_no_counts(self):
        frame = letters(2, 40)
        proper = Cart(proper=True, random_state=1).fit(frame)
        for mode in ("fixed", "refit"):
            with pytest.raises(NoDensityError, match=r"proper=True.*black_box_attacker"):
                strong_attacker(proper, frame, proper.sample(), unknown="d", mode=mode)
        copula = GaussianCopula(random_state=1).fit(frame)
        with pytest.raises(NoDensityError, match=r"mode='refit'.*black_box_attacker"):
            strong_attacker(copula, frame, copula.sample(), unknown="d")
        with pytest.raises(NoDensityError, match=r"three or more linked columns"):
            strong_attacker(copula, frame, copula.sample(), unknown="d", mode="refit")

    def test_a_copula_of_two_columns_by_new_fits(self):
        frame = letters(2, 40).select("a", "d")
        model = GaussianCopula(random_state=1).fit(frame)
        attack = strong_attacker(
            model, frame, model.sample(random_state=1), unknown="d", mode="refit", records=[0, 1]
        )
        assert ((attack.posterior > 0) & (attack.posterior < 1)).all()
        assert attack.posterior.tolist() != attack.prior.tolist()


def test_what_the_model_derives_is_not_asked_for():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 5, 200)
    table = pl.DataFrame(
        {"code": code, "name": [f"n{c}" for c in code], "ill": rng.choice(["yes", "no"], 200)}
    )
    model = BayesNet(random_state=1).fit(table)
    release = model.sample()
    with pytest.raises(ParameterError, match="derives it from 'code'"):
        risk.strong_attacker(model, table, release, unknown="name", mode="fixed")
    found = risk.strong_attacker(model, table, release, unknown="code", mode="fixed")
    assert any("'name' of the record follows" in note for note in found.notes)
    broken = release.with_columns(name=pl.lit("n0"))
    with pytest.raises(DataError, match="break a dependency which the model keeps"):
        risk.strong_attacker(model, table, broken, unknown="ill", mode="fixed")
