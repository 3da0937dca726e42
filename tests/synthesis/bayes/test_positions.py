"""Where in their bins numbers lie: what is kept, and what nobody must notice."""

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtri

from understudy import BayesNet, Independent, load
from understudy.data import scan
from understudy.data.coded import Coded
from understudy.errors import ModelFileError, ParameterError
from understudy.synthesis import Synthesizer
from understudy.synthesis.bayes.normal_scores import Scale
from understudy.synthesis.bayes.position_links import Link, Others, learn_link
from understudy.synthesis.bayes.positions import _inside


def delays(records=20_000, seed=1):
    """Two delays with long tails, in minutes, of which the second mostly repeats the first."""
    rng = np.random.default_rng(seed)
    first = rng.pareto(2.2, records) * 20
    second = first + rng.normal(0, 8, records)
    carrier = rng.choice(["a", "b", "c"], records)
    return pl.DataFrame({"carrier": carrier, "departure": first, "arrival": second}).with_columns(
        pl.col("departure", "arrival").round(1)
    )


@pytest.fixture(scope="module")
def table():
    return delays()


@pytest.fixture(scope="module")
def model(table):
    return BayesNet(random_state=1).fit(table)


def correlation(frame, first="departure", second="arrival"):
    both = frame.select(first, second).drop_nulls()
    return both.select(pl.corr(first, second)).item()


class TestKept:
    def test_a_correlation_in_long_tails_is_kept(self, table, model):
        before = correlation(table)
        former = BayesNet(decode="interpolate", random_state=1).fit(table).sample()
        assert before > 0.9
        assert correlation(former) < before - 0.2
        assert abs(correlation(model.sample()) - before) < 0.05

    def test_ranks_and_shares_are_kept(self, table, model):
        drawn = model.sample()
        ranks = [
            frame.select(pl.corr("departure", "arrival", method="spearman")).item()
            for frame in (table, drawn)
        ]
        assert abs(ranks[0] - ranks[1]) < 0.02
        for name in ("departure", "arrival"):
            shares = np.array([0.05, 0.25, 0.5, 0.75, 0.95, 0.99])
            after = np.quantile(drawn[name], shares)
            # A share of 20,000 has a standard error of 0.0035 at most.
            errors = 4 * np.sqrt(shares * (1 - shares) / len(table))
            low, high = (np.quantile(table[name], shares + d) for d in (-errors, errors))
            assert ((after >= low) & (after <= high)).all()

    def test_a_falling_relation_falls(self):
        x = np.random.default_rng(2).normal(size=3000)
        frame = pl.DataFrame({"x": x, "y": -x + np.random.default_rng(3).normal(0, 0.1, 3000)})
        drawn = BayesNet(random_state=1).fit(frame).sample()
        assert correlation(drawn, "x", "y") == pytest.approx(correlation(frame, "x", "y"), abs=0.02)

    def test_positions_within_one_bin_are_related(self, model):
        drawn = model.sample(40_000, random_state=5)
        coded = model.codec_.encode(drawn)
        last = (coded["departure"] == 19) & (coded["arrival"] == 19)
        assert correlation(drawn.filter(pl.Series(last))) > 0.8

    def test_whole_numbers_special_values_gaps_and_times(self):
        rng = np.random.default_rng(4)
        hours = rng.integers(0, 24 * 300, 2000)
        seconds = pl.Series(hours * 3600, dtype=pl.Int64)
        income = np.where(rng.random(2000) < 0.1, -8, hours * 10 + rng.integers(0, 5, 2000))
        frame = pl.DataFrame(
            {
                "when": pl.from_epoch(seconds),
                "income": pl.Series(income).set(pl.Series(rng.random(2000) < 0.1), None),
                "hours": pl.Series(hours).cast(pl.Int32),
            }
        )
        drawn = BayesNet(random_state=1).fit(frame).sample()
        assert drawn.schema == frame.schema
        income = drawn["income"].drop_nulls()
        share = (income == -8).mean()
        assert 0.05 < share < 0.15
        assert income.filter(income != -8).min() >= 0
        assert drawn["when"].dt.minute().max() == 0
        assert drawn["when"].max() <= frame["when"].max()
        number = drawn.filter(pl.col("income") >= 0)
        assert number.select(pl.corr("income", "hours")).item() > 0.97


class TestUntouched:
    def test_the_codes_are_those_of_other_ways_to_decode(self, table, model):
        other = BayesNet(decode="interpolate", random_state=1).fit(table)
        assert model.sample_coded(500) == other.sample_coded(500)
        np.testing.assert_array_equal(model.log_likelihood(table), other.log_likelihood(table))
        assert model.codec_.encode(model.sample(500)) == model.sample_coded(500)

    def test_without_smoothing_numbers_are_drawn_as_ever(self, table):
        former = BayesNet(smoothing=0, decode="interpolate", random_state=1).fit(table)
        found = BayesNet(smoothing=0, random_state=1).fit(table)
        assert found.positions_ is None
        assert found.sample(300).equals(former.sample(300))

    def test_a_model_without_positions_says_so(self, table):
        former = BayesNet(decode="interpolate").fit(table.head(300))
        former.decode = "dependent"
        with pytest.raises(ParameterError, match="fitted without positions"):
            former.sample(5)

    def test_a_model_with_positions_can_do_without(self, table):
        other = BayesNet(decode="interpolate", random_state=1).fit(table)
        clone = BayesNet(random_state=1).fit(table)
        clone.decode = "interpolate"
        assert clone.sample(300).equals(other.sample(300))

    def test_only_networks_follow_numbers(self, table):
        with pytest.raises(ParameterError, match="decode"):
            Independent(decode="dependent").fit(table)
        with pytest.raises(ParameterError, match="decode"):
            BayesNet(decode="never").fit(table)

    def test_no_number_of_a_person_comes_back_more_than_by_chance(self):
        rng = np.random.default_rng(6)
        x = rng.lognormal(10, 1, 4000)
        frame = pl.DataFrame({"x": x.round(2), "y": (x * rng.lognormal(0, 0.1, 4000)).round(2)})
        own = {
            decode: BayesNet(decode=decode, random_state=1).fit(frame).sample(random_state=2)
            for decode in ("interpolate", "dependent")
        }
        same = {
            decode: sum(drawn[name].is_in(frame[name].implode()).sum() for name in frame.columns)
            for decode, drawn in own.items()
        }
        assert same["dependent"] <= 1.3 * same["interpolate"] + 10

    def test_the_ends_rest_on_five_records(self, table, model):
        drawn = model.sample(50_000, random_state=8)
        highest = model.codec_.coders["departure"].bins.edges[-1]
        assert drawn["departure"].max() <= highest < table["departure"].max()


class TestProtection:
    def test_nothing_follows_a_protected_column(self):
        frame = delays(3000).with_columns(taxi=pl.col("arrival") * 0.5 + 3)
        model = BayesNet(protect={"taxi": "arrival"}, random_state=1).fit(frame)
        links = model.positions_.links
        assert set(links["taxi"].others) == {"arrival"}
        assert all("taxi" not in link.others for name, link in links.items() if name != "taxi")

    def test_a_column_without_edges_follows_nothing(self, table):
        model = BayesNet(parents=0, random_state=1).fit(table.head(2000))
        assert not model.positions_.links
        assert abs(correlation(model.sample())) < 0.1

    def test_a_given_network_says_what_follows_what(self, table):
        frame = table.head(2000).with_columns(other=pl.col("departure") * 2)
        edges = [("departure", "arrival")]
        model = BayesNet(structure=edges, random_state=1).fit(frame)
        assert set(model.positions_.links) == {"departure", "arrival"}
        assert model.positions_.links["arrival"].parents == ("departure",)
        assert model.positions_.links["departure"].children == ("arrival",)


class TestFiles:
    def test_a_file_keeps_positions(self, model, tmp_path):
        loaded = Synthesizer.load(model.save(tmp_path / "model.us"))
        assert loaded.sample(2000).equals(model.sample(2000))

    def test_a_stream_in_batches_and_threads_give_the_same_rows(self, table, model, tmp_path):
        table.write_parquet(tmp_path / "table.parquet")
        edges = list(model.network_.edges)
        whole = BayesNet(structure=edges, random_state=1).fit(table, model.schema_)
        for rows, threads in ((999, 1), (7000, 2)):
            stream = scan(tmp_path / "table.parquet", batch_rows=rows)
            found = BayesNet(structure=edges, threads=threads, random_state=1)
            assert found.fit(stream, model.schema_).sample(3000).equals(whole.sample(3000))
        held = scan(tmp_path / "table.parquet", codes_in_memory=True, batch_rows=3000)
        assert BayesNet(random_state=1).fit(held).sample(300).equals(model.sample(300))

    def test_new_records_keep_the_positions_learnt(self, table, model):
        again = model.refit(model.codec_.encode(table))
        assert again.sample(1000).equals(model.sample(1000))

    @pytest.mark.parametrize("part", ["means", "slopes", "own", "left", "parents", "leading"])
    def test_a_damaged_file_is_refused(self, model, tmp_path, part):
        state = model._state()
        name = next(one for one in state if one.endswith(f"_{part}") and "position" in one)
        copied = BayesNet.load(model.save(tmp_path / "good.us"))
        places = [np.array([0, 0], np.int32), np.array([0], np.int32)]
        floats = [state[name][:1], state[name] * np.nan]
        for damage in floats if state[name].dtype == np.float64 else places:
            copied._state = lambda damage=damage: state | {name: damage}
            path = copied.save(tmp_path / "model.us", overwrite=True)
            with pytest.raises(ModelFileError, match="damaged: positions"):
                Synthesizer.load(path)


class TestScale:
    def test_scores_by_hand(self):
        frame = pl.DataFrame({"x": [1, 2, 3, 4] * 25, "sex": ["f"] * 50 + ["m"] * 50})
        codec = BayesNet().fit(frame).codec_
        scale = Scale.of(codec.coders["x"], np.array([25, 25, 25, 25]))
        middles = ndtri([1 / 8, 3 / 8, 5 / 8, 7 / 8])
        assert scale.scores(np.arange(4)) == pytest.approx(middles, abs=1e-3)
        assert Scale.of(codec.coders["sex"], np.array([50, 50])) is None

    def test_a_special_value_has_no_score(self):
        frame = pl.DataFrame({"x": [-8] * 20 + list(range(100))})
        fitted = BayesNet().fit(frame)
        coder = fitted.codec_.coders["x"]
        assert coder.special.tolist() == [-8]
        scale = Scale.of(coder, fitted.tables_["x"].code_counts())
        assert scale.known(np.arange(coder.known)).tolist() == [False] + [True] * len(coder.bins)
        assert scale.records == 100


def test_long_tails_stay_together():
    # Far out, both are nearly the same number; elsewhere they have little to do with each other.
    rng = np.random.default_rng(5)
    late = rng.random(6_000) < 0.06
    common = np.where(late, 60 * rng.exponential(1.5, 6_000) + 60, 0)
    frame = pl.DataFrame(
        {"left": common + rng.normal(0, 12, 6_000), "right": common + rng.normal(0, 12, 6_000)}
    ).with_columns(pl.all().round(0).cast(pl.Int64))
    drawn = BayesNet(random_state=1).fit(frame).sample()
    before, after = (
        one.filter(pl.all_horizontal(pl.all() > 80)).select(pl.corr("left", "right")).item()
        for one in (frame, drawn)
    )
    assert before > 0.97
    assert after > 0.9  # 0.78 with a regression for each group of the leading column alone


class TestRegression:
    ONE = Others(("a",), (), "a")

    def sums(self, other, known, own):
        rows = np.stack([np.where(known, other, 0), known, own, np.ones(len(own))], axis=1)
        return rows.T @ rows

    def test_it_is_least_squares(self):
        rng = np.random.default_rng(1)
        other = rng.normal(2, 1, 400)
        own = 0.8 * (other - 2) + rng.normal(0, 0.6, 400)
        link = learn_link(self.ONE, self.sums(other, np.ones(400, bool), own)[None])
        slope = np.cov(other, own, ddof=0)[0, 1] / other.var()
        rest = own.var() * (1 - np.corrcoef(other, own)[0, 1] ** 2)
        assert link.slopes[0, 0] == pytest.approx(slope, rel=1e-5)
        assert link.means[0, 0] == pytest.approx(other.mean())
        assert link.own[0] == pytest.approx(own.mean())
        assert link.left[0] == pytest.approx(np.sqrt(rest), rel=1e-5)

    def test_a_code_is_drawn_to_all_codes(self):
        # In one code of 100 records the slope is 1, in another of 100 it is 0: 20 lent at 1/2.
        other = np.tile([-1.0, 1.0], 50)
        known = np.ones(100, bool)
        link = learn_link(
            self.ONE, np.stack([self.sums(other, known, other), self.sums(other, known, 0 * other)])
        )
        assert link.slopes[:, 0] == pytest.approx([110 / 120, 10 / 120], rel=1e-4)

    def test_what_is_not_known_is_taken_for_the_mean(self):
        rng = np.random.default_rng(1)
        other, known = rng.normal(2, 1, 4000), rng.random(4000) < 0.5
        own = np.where(known, other - 2, rng.normal(0, 1, 4000))
        link = learn_link(self.ONE, self.sums(other, known, own)[None])
        assert link.means[0, 0] == pytest.approx(2, abs=0.1)
        assert link.slopes[0, 0] == pytest.approx(1, abs=0.05)

    def test_a_code_of_four_records_has_the_regression_of_all(self):
        other = np.linspace(-1, 1, 100)
        known = np.ones(100, bool)
        few = self.sums(np.arange(4.0), known[:4], -np.arange(4.0))
        link = learn_link(self.ONE, np.stack([self.sums(other, known, other), few]))
        every = learn_link(self.ONE, (self.sums(other, known, other) + few)[None])
        assert link.slopes[1] == pytest.approx(every.slopes[0], rel=1e-4)
        assert link.own[1] == pytest.approx(every.own[0])

    def test_a_corner_has_a_regression_of_its_own_and_lends_it_to_its_code(self):
        # The code's other 100 records have slope 0 and leave 1; its corner of 50 has slope 1.
        other, noise = np.tile([-1.0, 1.0], 50), np.repeat([-1.0, 1.0], 50)
        known = np.ones(100, bool)
        rest, corner = self.sums(other, known, noise), self.sums(other[:50], known[:50], other[:50])
        link = learn_link(self.ONE, np.stack([rest, corner]), np.array([0]))
        alone = learn_link(self.ONE, (rest + corner)[None])
        assert link.slopes[0] == pytest.approx(alone.slopes[0])
        # 5 records of the code's slope, 1/3, beside 50 of slope 1.
        assert link.slopes[1, 0] == pytest.approx((50 + 5 / 3) / 55, rel=1e-4)
        assert link.left[1] < 0.2
        assert link.left[0] > 0.7

    def test_a_corner_of_few_records_is_as_its_code(self):
        other, known = np.tile([-1.0, 1.0], 50), np.ones(100, bool)
        corner = self.sums(other[:12], known[:12], -other[:12])
        link = learn_link(
            self.ONE, np.stack([self.sums(other, known, other), corner]), np.array([0])
        )
        assert link.slopes[1] == link.slopes[0]
        assert link.left[1] == link.left[0]

    def test_columns_that_repeat_one_another_share(self):
        rng = np.random.default_rng(1)
        other = rng.normal(size=300)
        own = other + rng.normal(0, 0.3, 300)
        ones = np.ones(300)
        rows = np.stack([other, other, ones, ones, own, ones], axis=1)
        link = learn_link(Others(("a", "b"), (), "b"), (rows.T @ rows)[None])
        assert link.slopes[0, 0] == pytest.approx(link.slopes[0, 1])
        assert np.isfinite(link.slopes).all()

    def test_parts_that_do_not_fit_are_refused(self):
        two, one = np.zeros((2, 1)), np.ones(2)
        with pytest.raises(ValueError, match="fit together"):
            Link(("a",), (), "a", two, np.zeros((2, 2)), one, one)
        with pytest.raises(ValueError, match="fit together"):
            Link(("a",), (), "b", two, two, one, one)
        with pytest.raises(ValueError, match="cannot be"):
            Link(("a",), (), "a", two, two, one, np.array([1, -1.0]))


class TestInside:
    scale = Scale(np.array([0.0, 0.5]), np.array([0.5, 0.5]), 1000)

    def test_without_news_positions_are_even(self):
        chances = np.linspace(0.001, 0.999, 50)
        codes = np.zeros(50, np.uint8)
        found = _inside(self.scale, codes, np.zeros(50), np.ones(50), chances)
        assert found == pytest.approx(chances)

    @pytest.mark.parametrize(("code", "expected"), [(0, 4.0), (1, -4.0), (0, -4.0), (1, 4.0)])
    def test_a_score_draws_positions_to_its_side(self, code, expected):
        codes, chances = np.full(99, code), np.linspace(0.01, 0.99, 99)
        found = _inside(self.scale, codes, np.full(99, expected), np.full(99, 0.5), chances)
        assert (np.diff(found) > 0).all()
        assert ((found > 0) & (found < 1)).all()
        assert (found.mean() > 0.5) == (expected > 0)

    def test_an_empty_bin_is_left_to_chance(self):
        scale = Scale(np.array([0.0, 0.5, 0.5]), np.array([0.5, 0.0, 0.5]), 1000)
        found = _inside(scale, np.array([1]), np.array([2.0]), np.array([0.1]), np.array([0.3]))
        assert found.tolist() == [0.3]


@pytest.mark.parametrize("rows", [1, 2, 6, 30])
def test_few_records(rows):
    frame = pl.DataFrame({"x": np.arange(rows) * 1.5, "y": np.arange(rows) * 3 + 0.5})
    drawn = BayesNet(random_state=1).fit(frame).sample(20)
    assert drawn["x"].is_between(0, 1.5 * rows).all()


def test_a_survey_is_drawn_within_its_limits():
    survey = load("cmc")
    drawn = BayesNet(random_state=1).fit(survey).sample()
    assert drawn["age"].is_between(survey["age"].min(), survey["age"].max()).all()


def test_codes_of_no_rows():
    model = BayesNet(random_state=1).fit(delays(200))
    names, sizes = model.codec_.names, model.codec_.cardinalities
    none = Coded(names, tuple(np.empty(0, np.uint8) for _ in names), sizes)
    assert all(
        len(own) == 0 for own in model.positions_.draw(none, np.random.default_rng()).values()
    )
