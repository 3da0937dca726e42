"""The Gaussian copula: shares, correlations, density, special columns, files."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import zipfile

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr, ndtr
from scipy.stats import chi2, multivariate_normal

from understudy import Coded, Schema, Synthesizer, load, scan, write
from understudy.counting import marginal_counts
from understudy.errors import DataError, ModelFileError, NoDensityError, ParameterError
from understudy.synthesis.copula import GaussianCopula
from understudy.synthesis.copula.model import log_interval, log_rectangle


def fitted(frame, **params):
    return GaussianCopula(random_state=1, **params).fit(frame)


def all_records(model):
    """Every combination of codes that the model's table can hold."""
    sizes = model.codec_.cardinalities
    grid = np.array(list(itertools.product(*map(range, sizes))))
    names = model.codec_.names
    arrays = {name: grid[:, place] for place, name in enumerate(names)}
    return Coded.from_arrays(arrays, dict(zip(names, sizes, strict=True)))


def table_of(cells):
    """A frame of two columns with the given counts of (a, b)."""
    rows = [cell for cell, count in cells.items() for _ in range(count)]
    return pl.DataFrame(rows, schema=["a", "b"], orient="row")


def scores_of(model, coded):
    """The scores of coded records, column by column: what the model keeps the correlations of."""
    parts = zip(
        (one.margin for one in model._latents), coded.cardinalities, coded.columns, strict=True
    )
    return np.array([margin.score_table(size)[codes] for margin, size, codes in parts])


def assert_shares(seen, shares, rows):
    # Five standard errors: a right sampler fails for one seed in about two million cells.
    assert np.all(np.abs(seen - shares) <= 5 * np.sqrt(shares * (1 - shares) / rows) + 1e-12)


class TestShares:
    def test_shares_of_every_column_are_exact(self):
        survey, rows = load("cmc"), 200_000
        model = fitted(survey)
        before = marginal_counts(model.codec_.encode(survey))
        after = marginal_counts(model.sample_coded(rows))
        for counts, drawn in zip(before, after, strict=True):
            expected = counts / counts.sum() * rows
            assert np.all(drawn[counts == 0] == 0)
            kept = counts > 0
            statistic = np.sum((drawn[kept] - expected[kept]) ** 2 / expected[kept])
            # One right sampler in ten thousand would fail, for each of ten columns.
            assert statistic <= chi2.ppf(1 - 1e-4, max(kept.sum() - 1, 1))

    def test_only_numbers_of_the_original_are_drawn(self):
        frame = pl.DataFrame({"income": np.random.default_rng(0).lognormal(size=6000)})
        model = fitted(frame, ends=1)
        assert set(model.sample()["income"]) <= set(frame["income"])
        # So many numbers are looked up in increasing order, and found where they are.
        codes = model.codec_.encode(frame)["income"]
        np.testing.assert_array_equal(codes, frame["income"].to_numpy().argsort().argsort())

    @pytest.mark.parametrize("smoothing", ["interpolate", "density"])
    def test_smoothed_numbers_are_new_and_in_range(self, smoothing, tmp_path):
        values = np.random.default_rng(0).lognormal(size=500)
        frame = pl.DataFrame({"income": values, "other": values**2})
        model = fitted(frame, smoothing=smoothing)
        drawn = model.sample()
        assert not set(drawn["income"]) & set(values)
        assert drawn["income"].min() >= values.min()
        assert drawn["income"].max() <= values.max()
        loaded = Synthesizer.load(model.save(tmp_path / "m.us"))
        assert loaded.sample().equals(drawn)

    def test_special_values_take_their_place_among_the_numbers(self):
        rng = np.random.default_rng(3)
        wealth = np.round(rng.normal(0, 40, 4000))
        wealth[rng.random(4000) < 0.4] = 0
        frame = pl.DataFrame({"wealth": wealth, "rank": wealth + rng.normal(0, 20, 4000)})
        schema = Schema.infer(frame).edit("wealth", special=(0,))
        model = GaussianCopula(random_state=1).fit(frame, schema)
        assert model.codec_.coders["wealth"].special.tolist() == [0]
        drawn = model.sample(50_000)
        assert_shares((drawn["wealth"] == 0).mean(), np.mean(wealth == 0), 50_000)
        rank = {
            sign: drawn.filter(pl.col("wealth").sign() == sign)["rank"].mean()
            for sign in (-1, 0, 1)
        }
        # Zero's interval lies between the negative and the positive numbers.
        assert rank[-1] < -10 < rank[0] < 10 < rank[1]


def incomes(rows, seed):
    """Skewed incomes, in cents, and how long the people have worked."""
    rng = np.random.default_rng(seed)
    years = rng.integers(0, 45, rows)
    income = np.round(rng.lognormal(9.5 + 0.02 * years, 1), 2)
    return pl.DataFrame({"income": income, "years": years})


class TestEnds:
    def test_the_ends_by_hand(self):
        # The five lowest have a mean of 3, the five highest of 98, and 50 is a common value.
        frame = pl.DataFrame({"x": [1, 2, 3, 4, 5, *[50] * 30, 96, 97, 98, 99, 100]})
        model, rows = fitted(frame), 60_000
        drawn = model.sample(rows)["x"].value_counts().sort("x")
        assert drawn["x"].to_list() == [3, 50, 98]
        assert_shares(drawn["count"].to_numpy() / rows, np.array([5, 30, 5]) / 40, rows)

    def test_with_one_record_the_model_is_that_of_the_original_to_the_bit(self):
        frame = load("cmc")
        drawn = fitted(frame, ends=1).sample(2000)
        # The sums of what was drawn with this seed before there were ends.
        before = (65569, 5891, 6840, 6574, 1702, 1507, 4262, 6297, 172, 3841)
        assert drawn.select(pl.all().sum()).row(0) == before
        assert (drawn["children"].max(), drawn["age"].min()) == (16, 16)

    def test_the_density_is_that_of_what_is_drawn(self):
        frame, rows = load("cmc").select("age", "children"), 300_000
        model = fitted(frame)
        records = all_records(model)
        shares = np.exp(model.log_likelihood(records))
        assert shares.sum() == pytest.approx(1, abs=1e-12)
        drawn = model.sample(rows)
        # Read from the released values, so that an end is what it is drawn as.
        coded = model.codec_.encode(drawn)
        places = coded.columns[0].astype(int) * coded.cardinalities[1] + coded.columns[1]
        # The bound is five standard errors of a count that may be below one: hence the two.
        seen = np.bincount(places, minlength=len(records))
        assert np.all(np.abs(seen - rows * shares) <= 5 * np.sqrt(rows * shares) + 2)

    def test_all_records_of_an_end_are_as_probable(self):
        model = fitted(load("cmc").select("children"))
        # 12, 13 and 16 children: four, two and one of 1,473 women.
        beyond = pl.DataFrame({"children": [12, 13, 16, 19, 11]})
        found = np.exp(model.log_likelihood(beyond)) * 1473
        np.testing.assert_allclose(found, [7, 7, 7, 7, 11], rtol=1e-12)
        np.testing.assert_allclose(model.expected_copies(beyond, rows=1473), found, rtol=1e-12)

    @pytest.mark.parametrize("seed", range(5))
    def test_skewed_incomes_keep_mean_and_spread(self, seed):
        frame = incomes(2000, seed)
        before, after = (fitted(frame, ends=ends).codec_ for ends in (1, 5))
        kept = [codec.decode(codec.encode(frame))["income"] for codec in (before, after)]
        assert kept[0].equals(frame["income"])
        # Of 400 such tables the worst lost 1.5% of the mean and 27% of the deviation, where one
        # income dwarfed the others. On average it is 0.04% and 1.6%; five incomes hold 3.7% of all.
        assert kept[1].mean() == pytest.approx(kept[0].mean(), rel=0.02)
        assert 0.7 * kept[0].std() < kept[1].std() <= kept[0].std()
        # Everything but the ten records at the ends is the same, and so is the order.
        assert (kept[0] == kept[1]).sum() == len(frame) - 10
        assert kept[1].max() < kept[0].max()
        assert kept[1].min() > kept[0].min()

    def test_the_survey_keeps_mean_and_spread(self):
        frame = load("cmc")
        codec = fitted(frame).codec_
        after = codec.decode(codec.encode(frame))
        for name in frame.columns:
            # Three ages are moved by a year, and three numbers of children by six in all, of 1,473.
            assert after[name].mean() == pytest.approx(frame[name].mean(), rel=2e-3)
            assert after[name].std() == pytest.approx(frame[name].std(), rel=1e-2)
            assert after[name].n_unique() >= frame[name].n_unique() - 2
        assert (after["age"].min(), after["children"].max()) == (17, 12)

    @pytest.mark.parametrize("smoothing", [None, "interpolate", "density"])
    def test_no_release_goes_beyond_the_ends(self, smoothing):
        frame = incomes(400, 1)
        model = fitted(frame, smoothing=smoothing)
        drawn = model.sample(20_000)
        ordered = np.sort(frame["income"])
        coder = model.codec_.coders["income"]
        assert (coder.bottom, coder.top) == (ordered[4], ordered[-5])
        assert coder.values[0] <= drawn["income"].min() <= coder.bottom
        assert coder.top <= drawn["income"].max() <= coder.values[-1]
        assert coder.values[0] >= ordered[:5].mean()
        assert coder.values[-1] <= ordered[-5:].mean()

    def test_the_largest_value_has_no_influence_where_it_dwarfs_the_others(self):
        frame = incomes(400, 1)
        top = frame["income"].arg_max()
        rich, richer = (
            frame.with_columns(income=frame["income"].scatter(top, value)) for value in (1e8, 1e9)
        )
        assert fitted(rich).sample(5000).equals(fitted(richer).sample(5000))

    def test_categories_have_no_ends(self):
        frame = pl.DataFrame({"grade": ["a", *["b"] * 30, "c"], "n": [5, 6] * 16})
        assert set(fitted(frame).sample(5000)["grade"]) == {"a", "b", "c"}

    def test_too_few_numbers_are_missing_or_refused(self):
        few = pl.DataFrame({"x": [1.5, 2.5, *[None] * 30], "y": [1, 2] * 16})
        assert fitted(few).sample(5000)["x"].null_count() == 5000
        with pytest.raises(DataError, match=r"Fewer than 5 records .* 'x', 'y', .* ends = 1"):
            fitted(pl.DataFrame({"x": [1.5] * 4, "y": [1, 2, 3, 3]}))

    def test_another_fit_keeps_the_ends_as_they_were_published(self):
        frame = incomes(400, 1)
        model = fitted(frame)
        again = model.refit(model.codec_.encode(frame[:200]))
        assert again.codec_.coders["income"].top == model.codec_.coders["income"].top
        assert again.ends == 5

    def test_a_file_holds_the_ends(self, tmp_path):
        frame = incomes(400, 1)
        model = fitted(frame, ends=8)
        loaded = GaussianCopula.load(model.save(tmp_path / "m.us"))
        assert loaded.ends == 8
        assert loaded.sample(3000).equals(model.sample(3000))
        np.testing.assert_array_equal(loaded.log_likelihood(frame), model.log_likelihood(frame))

    def test_a_file_from_before_has_no_ends(self, tmp_path):
        model = fitted(incomes(400, 1), ends=1)
        with zipfile.ZipFile(model.save(tmp_path / "m.us")) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        header = json.loads(members["model.json"])
        del header["params"]["ends"]
        for coder in header["codec"]["exact"].values():
            for name in ("bottom", "top", "withheld"):
                del coder[name]
        members["model.json"] = json.dumps(header).encode()
        with zipfile.ZipFile(old := tmp_path / "old.us", "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        loaded = Synthesizer.load(old)
        assert loaded.ends == 1
        assert loaded.sample().equals(model.sample())

    @pytest.mark.parametrize("ends", [0, -1, 2.5, "5", None])
    def test_ends_are_a_whole_number_from_one(self, ends):
        with pytest.raises(ParameterError, match="ends must be a whole number from 1"):
            fitted(load("cmc"), ends=ends)


class TestLinks:
    @pytest.mark.parametrize("rho", [-0.9, -0.3, 0.0, 0.6, 0.99])
    def test_the_correlation_of_normal_columns_is_found(self, rho):
        rows = 20_000
        rng = np.random.default_rng(5)
        sample = rng.multivariate_normal([3, -1], [[4, 2 * rho], [2 * rho, 1]], rows)
        model = fitted(pl.DataFrame(sample, schema=["a", "b"]))
        # Fisher's z has a standard error of 1 / sqrt(rows - 3); four of them.
        found = np.arctanh(model.correlation_[0, 1])
        assert abs(found - np.arctanh(rho)) <= 4 / np.sqrt(rows - 3)
        drawn = model.sample(rows).to_numpy()
        again = np.arctanh(np.corrcoef(drawn.T)[0, 1])
        assert abs(again - np.arctanh(rho)) <= 4 * np.sqrt(2 / (rows - 3))

    @pytest.mark.parametrize(
        "counts", [(40, 10, 20, 30), (700, 50, 249, 1), (5, 45, 45, 5), (90, 0, 5, 5)]
    )
    def test_a_table_of_two_by_two_is_kept(self, counts):
        cells = dict(zip(itertools.product(["no", "yes"], repeat=2), counts, strict=True))
        frame, rows = table_of(cells), 300_000
        model = fitted(frame)
        # Two margins and one association: the four probabilities are those of the original.
        shares = np.array(counts) / sum(counts)
        found = np.exp(model.log_likelihood(all_records(model)))
        np.testing.assert_allclose(found, shares, atol=1e-7)
        drawn = model.sample_coded(rows)
        seen = np.bincount(drawn["a"] * 2 + drawn["b"], minlength=4) / rows
        assert_shares(seen, shares, rows)

    def test_a_tetrachoric_correlation_by_hand(self):
        # Halves that agree in 3/4 of the records: 1/4 + arcsin(rho) / (2 pi) = 3/8.
        model = fitted(table_of({(0, 0): 6, (0, 1): 2, (1, 0): 2, (1, 1): 6}))
        assert model.correlation_[0, 1] == pytest.approx(np.sin(np.pi / 4), abs=1e-10)

    def test_missing_values_stay_dependent(self):
        # Missing or not is a column of two values: by itself it is kept like any other.
        frame = table_of({("s", 5.0): 40, ("s", None): 60, ("t", 5.0): 90, ("t", None): 10})
        rows = 100_000
        drawn = fitted(frame).sample(rows)
        for group, share in (("s", 0.6), ("t", 0.1)):
            missing = drawn.filter(pl.col("a") == group)["b"].is_null()
            assert_shares(missing.mean(), share, len(missing))

    def test_missing_values_among_many_numbers_stay_dependent(self):
        rng = np.random.default_rng(7)
        smokes = rng.random(6000) < 0.4
        missing = rng.random(6000) < np.where(smokes, 0.6, 0.2)
        income = pl.Series(np.round(rng.lognormal(3, 1, 6000), 1)).set(pl.Series(missing), None)
        rows = 50_000
        drawn = fitted(pl.DataFrame({"smokes": smokes, "income": income})).sample(rows)
        assert_shares(drawn["income"].is_null().mean(), missing.mean(), rows)
        shares = [
            drawn.filter(pl.col("smokes") == each)["income"].is_null().mean()
            for each in (True, False)
        ]
        for share, each in zip(shares, (True, False), strict=True):
            assert_shares(share, missing[smokes == each].mean(), (drawn["smokes"] == each).sum())

    def test_gaps_do_not_weaken_the_correlation_of_numbers(self):
        rng = np.random.default_rng(7)
        x, noise = rng.normal(size=(2, 6000))
        frame = pl.DataFrame({"x": x, "y": 0.9 * x + np.sqrt(1 - 0.81) * noise})
        gappy = frame.with_columns(
            pl.when(pl.Series(rng.random(6000) > 0.3)).then(pl.all()).name.keep(),
        ).with_columns(pl.when(pl.Series(rng.random(6000) > 0.1)).then("y").alias("y"))
        drawn = fitted(gappy).sample(50_000).drop_nulls()
        before = gappy.drop_nulls().select(pl.corr("x", "y")).item()
        # The standard error is about 0.002.
        assert drawn.select(pl.corr("x", "y")).item() == pytest.approx(before, abs=0.01)

    def test_levels_keep_what_they_tell_of_a_number(self):
        # In the alphabet, cities say nothing of the distance; in its order, nearly everything.
        rng = np.random.default_rng(7)
        names = np.array(["Ulm", "Bonn", "Kiel", "Jena", "Hof", "Trier"])
        city = rng.integers(0, 6, 4000)
        away = np.round(city * 100 + rng.normal(0, 20, 4000), 1)
        frame = pl.DataFrame({"city": names[city], "away": away})
        drawn = fitted(frame).sample(20_000)
        means = dict(drawn.group_by("city").agg(pl.col("away").mean()).iter_rows())
        assert [means[name] for name in names] == pytest.approx(np.arange(6) * 100, abs=15)

    def test_copies_of_a_column_are_drawn_as_copies(self):
        # The example of a singular matrix: correlations of 1 and -1.
        a = np.random.default_rng(1).integers(0, 8, 3000)
        frame = pl.DataFrame({"a": a, "b": 2 * a + 1, "c": 7 - a, "d": a % 2})
        model = fitted(frame)
        np.linalg.cholesky(model.correlation_)
        drawn = model.sample(20_000)
        # The smallest eigenvalue lets them differ once in about 100,000 records.
        assert (drawn["b"] == 2 * drawn["a"] + 1).mean() > 0.999
        assert (drawn["c"] == 7 - drawn["a"]).mean() > 0.999

    def test_rows_and_columns_may_come_in_any_order(self):
        survey = load("cmc").select("age", "education", "children", "method")
        model = fitted(survey)
        shuffled = survey.sample(fraction=1, shuffle=True, seed=3).select(survey.columns[::-1])
        np.testing.assert_allclose(
            fitted(shuffled).correlation_[::-1, ::-1], model.correlation_, atol=1e-14
        )

    def test_twice_the_records_make_the_same_model(self):
        survey = load("cmc").select("education", "religion", "method")
        twice = fitted(pl.concat([survey, survey])).correlation_
        np.testing.assert_allclose(twice, fitted(survey).correlation_, atol=1e-12)


class TestDensity:
    @pytest.mark.parametrize(
        "columns", [["education"], ["education", "method"], ["age", "children"]]
    )
    def test_probabilities_of_all_records_sum_to_one(self, columns):
        model = fitted(load("cmc").select(columns))
        total = np.exp(model.log_likelihood(all_records(model))).sum()
        assert total == pytest.approx(1, abs=1e-12)

    def test_numbers_with_gaps_have_the_density_of_what_is_drawn(self):
        # The number and whether there is one are two variables; the second goes with the group.
        rng = np.random.default_rng(3)
        group, number = rng.integers(0, 2, 900), rng.integers(0, 4, 900).astype(float)
        gone = rng.random(900) < np.where(group, 0.5, 0.1)
        number = pl.Series(number).set(pl.Series(gone), None)
        frame = pl.DataFrame({"group": group.astype(bool), "number": number})
        schema = Schema.infer(frame, kinds={"number": "real"}).edit("number", levels=())
        model, rows = GaussianCopula(random_state=1).fit(frame, schema), 100_000
        model._set_correlation(np.where(np.abs(model.correlation_) < 0.2, 0, model.correlation_))
        assert model.correlation_.shape == (3, 3)
        assert model.correlation_[0, 2] != 0
        records = all_records(model)
        probability = np.exp(model.log_likelihood(records))
        assert probability.sum() == pytest.approx(1, abs=1e-12)
        drawn = model.sample_coded(rows)
        places = drawn.columns[0].astype(int) * drawn.cardinalities[1] + drawn.columns[1]
        assert_shares(np.bincount(places, minlength=len(records)) / rows, probability, rows)

    def test_probabilities_are_rectangles(self):
        frame = table_of({("x", 0): 4, ("x", 1): 3, ("y", 0): 2, ("y", 2): 6, ("z", 1): 5})
        model = fitted(frame)
        rho = model.correlation_[0, 1]
        normal = multivariate_normal([0, 0], [[1, rho], [rho, 1]])
        (x_low, x_high), (y_low, y_high) = (
            np.clip(latent.limits(), -9, 9) for latent in model._latents
        )
        expected = [
            normal.cdf([x_high[i], y_high[j]], lower_limit=[x_low[i], y_low[j]])
            for i, j in itertools.product(range(3), repeat=2)
        ]
        found = np.exp(model.log_likelihood(all_records(model)))
        np.testing.assert_allclose(found, expected, atol=1e-10)

    def test_shares_of_a_sample_are_the_density(self):
        model, rows = fitted(load("cmc").select("education", "living_standard")), 200_000
        records = all_records(model)
        drawn = model.sample_coded(rows)
        places = drawn.columns[0].astype(int) * drawn.cardinalities[1] + drawn.columns[1]
        seen = np.bincount(places, minlength=len(records)) / rows
        assert_shares(seen, np.exp(model.log_likelihood(records)), rows)

    def test_a_level_without_records_cannot_be_drawn(self):
        grades = pl.Series(["a", "a", "b", "b"], dtype=pl.Enum(["a", "b", "c"]))
        frame = pl.DataFrame({"grade": grades, "n": [1, 2, 1, 1]})
        model = fitted(frame, ends=1)
        unseen = pl.DataFrame({"grade": pl.Series(["c"], dtype=grades.dtype), "n": [1]})
        assert model.log_likelihood(unseen).tolist() == [-np.inf]
        assert set(model.sample(5000)["grade"]) == {"a", "b"}

    def test_numbers_that_did_not_occur_cannot_be_drawn(self):
        frame = pl.DataFrame({"n": [2 * n for n in range(100)] * 2})
        schema = Schema.infer(frame, kinds={"n": "integer"})
        model = GaussianCopula(ends=1, random_state=1).fit(frame, schema)
        found = np.exp(model.log_likelihood(pl.DataFrame({"n": [2, 3]})))
        np.testing.assert_allclose(found, [0.01, 0], rtol=1e-14)

    def test_constant_columns_do_not_count(self):
        frame = load("cmc").select("education", "method")
        wide = frame.with_columns(country=pl.lit("ID"))
        np.testing.assert_array_equal(
            fitted(wide).log_likelihood(wide), fitted(frame).log_likelihood(frame)
        )

    def test_three_linked_columns_have_none(self):
        frame = load("cmc").select("age", "education", "method")
        with pytest.raises(NoDensityError, match=r"three or more linked columns.*BayesNet"):
            fitted(frame).log_likelihood(frame)


class TestColumns:
    def test_all_kinds_at_once(self):
        rng = np.random.default_rng(2)
        rows = 400
        day = rng.integers(0, 3000, rows)
        start = dt.date(2015, 1, 1)
        frame = pl.DataFrame(
            {
                "day": [start + dt.timedelta(days=int(d)) for d in day],
                "late": day > 1500,
                "code": [f"c{d // 60:02}" for d in day],  # fifty levels
                "nothing": pl.Series([None] * rows, dtype=pl.Float64),
                "constant": ["x"] * rows,
                "some": [None if d % 3 else d / 4 for d in day.tolist()],
            }
        )
        drawn = fitted(frame).sample(4000)
        assert drawn.schema == frame.schema
        for name in frame.columns:
            # Both ends of the dates and of the numbers are means.
            assert len(set(drawn[name]) - set(frame[name])) <= (2 if name in ("day", "some") else 0)
        assert drawn["nothing"].null_count() == 4000
        # Dates order the flag and the codes, so those that agree do so in the synthetic table.
        late = drawn["day"] > start + dt.timedelta(days=1500)
        assert (late == drawn["late"]).mean() > 0.97

    @pytest.mark.parametrize("rows", [1, 2, 3])
    def test_few_rows(self, rows):
        frame = pl.DataFrame(
            {"a": [1, 5, 9][:rows], "b": ["x", "y", "x"][:rows], "c": [0.5] * rows}
        )
        drawn = fitted(frame, ends=1).sample(200)
        for name in frame.columns:
            assert set(drawn[name]) == set(frame[name])

    def test_one_column(self):
        frame = load("cmc").select("age")
        model = fitted(frame)
        assert model.correlation_.tolist() == [[1]]
        assert set(model.sample()["age"]) <= set(frame["age"])

    @pytest.mark.parametrize(
        ("rows", "columns"), [pytest.param(1500, 1000, marks=pytest.mark.slow), (20, 60)]
    )
    def test_many_columns(self, rows, columns):
        rng = np.random.default_rng(0)
        values = np.round(rng.standard_normal((rows, 1)) + rng.standard_normal((rows, columns)), 1)
        frame = pl.DataFrame(values, schema=[f"c{j}" for j in range(columns)])
        model = fitted(frame)
        before, after = (
            np.corrcoef(scores_of(model, coded))[~np.eye(columns, dtype=bool)].mean()
            for coded in (model.codec_.encode(frame), model.sample_coded(3000))
        )
        # With more columns than rows, the matrix had to be mended. The mean of the correlations
        # varies with the one factor behind them, over 3,000 records by about 0.008; four of these.
        assert after == pytest.approx(before, abs=0.032)


class TestFiles:
    @pytest.fixture
    def model(self):
        return fitted(load("cmc").select("age", "education", "method"))

    def test_a_saved_model_is_the_same(self, model, tmp_path):
        loaded = GaussianCopula.load(model.save(tmp_path / "m.us"))
        np.testing.assert_array_equal(loaded.correlation_, model.correlation_)
        assert loaded.sample().equals(model.sample())
        ages = load("cmc")["age"].n_unique()
        # Four levels of education and three methods, all of them with many records. The three
        # people of 16 are part of those of 17.
        assert loaded.cells() == model.cells() == (ages - 1 + 4 + 3, 0)
        original = fitted(load("cmc").select("age", "education", "method"), ends=1)
        assert original.cells() == (ages + 4 + 3, 1)

    @pytest.mark.parametrize(
        ("name", "change"),
        [
            ("counts", lambda a: a[:-1]),
            ("counts", lambda a: a - 1),
            ("counts", lambda a: a * 1.0),
            ("orders", lambda a: a[::-1] * 0),
            ("orders", lambda a: a[:-1]),
            ("correlation", lambda a: a[:2, :2]),
            ("correlation", lambda a: a * 1.1),
            ("correlation", lambda a: a * np.nan),
            ("correlation", np.triu),
            ("correlation", lambda a: np.sign(a) + 0 * a),
            ("correlation", lambda a: a * 1j),
        ],
    )
    def test_damage_is_found(self, model, tmp_path, monkeypatch, name, change):
        state = model._state()
        monkeypatch.setattr(model, "_state", lambda: state | {name: change(state[name])})
        path = model.save(tmp_path / "m.us")
        with pytest.raises(ModelFileError, match="is damaged"):
            Synthesizer.load(path)

    def test_in_a_file_from_before_gaps_are_the_highest_numbers(self, tmp_path, monkeypatch):
        frame = pl.DataFrame({"a": [1.5, 2.5, 3.5, None] * 25, "b": [1, 2, 3, 4] * 25})
        model = fitted(frame, ends=1)
        state = model._state()
        old = {"counts": state["counts"], "correlation": np.array([[1, 0.999], [0.999, 1]])}
        monkeypatch.setattr(model, "_state", lambda: old)
        drawn = Synthesizer.load(model.save(tmp_path / "m.us")).sample(2_000)
        assert drawn.filter(pl.col("a").is_null())["b"].mean() > 3.9

    def test_a_stream_gives_the_same_model_to_the_bit(self, tmp_path):
        survey = load("cmc")
        path = write(survey, tmp_path / "cmc.parquet")
        streamed = GaussianCopula(random_state=1).fit(scan(path, batch_rows=37))
        model = fitted(survey)
        np.testing.assert_array_equal(streamed.correlation_, model.correlation_)
        assert streamed.sample().equals(model.sample())


def test_a_smoothing_that_is_not_known_is_named():
    with pytest.raises(ParameterError, match=r"interpolate, density, or None; got 'spline'"):
        GaussianCopula(smoothing="spline").fit(load("cmc"))


INF = np.inf


def probability(x, y, rho):
    ends = [np.array([end], float) for end in (*x, *y)]
    return float(np.exp(log_rectangle((ends[0], ends[1]), (ends[2], ends[3]), rho))[0])


@pytest.mark.parametrize("rho", [-0.99999, -0.6, 0.0, 0.3, 0.95, 0.9999999])
def test_a_quadrant_is_an_angle(rho):
    # Sheppard (1899): P(X > 0, Y > 0) = 1/4 + arcsin(rho) / (2 pi)
    expected = 0.25 + np.arcsin(rho) / (2 * np.pi)
    assert probability((0, INF), (0, INF), rho) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("rho", [-0.97, -0.3, 0.2, 0.8, 0.999])
def test_rectangles_are_those_of_scipy(rho):
    rng = np.random.default_rng(4)
    normal = multivariate_normal([0, 0], [[1, rho], [rho, 1]])
    for _ in range(10):
        x, y = np.sort(rng.normal(size=(2, 2)), axis=1)
        expected = normal.cdf([x[1], y[1]], lower_limit=[x[0], y[0]])
        assert probability(x, y, rho) == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize(
    ("x", "y", "rho"),
    [
        ((0, 1), (3, 4), 0.9),
        ((2, INF), (-INF, -2), 0.7),
        ((4.4, INF), (-1, 1), 0.6),
        ((-0.1, -0.0999), (0.3, 0.30001), -0.5),
        ((4, INF), (4, INF), -0.8),
    ],
)
def test_unlikely_rectangles_are_precise_in_proportion(x, y, rho):
    width = np.sqrt(1 - rho**2)

    def density(at, scale):
        ends = np.sort((np.array(y) - rho * at) / width * np.where(y[0] > rho * at, -1, 1))
        return np.exp(log_ndtr(ends[1]) - at**2 / 2 + scale) * -np.expm1(
            log_ndtr(ends[0]) - log_ndtr(ends[1])
        )

    far = 12
    low, high = max(x[0], -far), min(x[1], far)
    ends = np.array([low]), np.array([high]), np.array([y[0]]), np.array([y[1]], float)
    found = log_rectangle(ends[:2], ends[2:], rho)[0]
    # Scaled by the result, so that the adaptive twin's tolerance is one in proportion to it.
    twin = quad(density, low, high, (-found,), epsabs=0, epsrel=1e-10, limit=500)[0]
    assert twin / np.sqrt(2 * np.pi) == pytest.approx(1, rel=1e-9)


def test_independent_rectangles_are_products():
    expected = (ndtr(0.5) - ndtr(-1)) * (1 - ndtr(1))
    assert probability((-1, 0.5), (1, INF), 0.0) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("rho", [-0.9999, 0.1, 0.7])
def test_a_grid_sums_to_one_and_to_the_margins(rho):
    cuts = np.array([-INF, -3.5, -1, -0.99, 0, 2, 4.2, INF])
    i, j = np.divmod(np.arange(49), 7)
    grid = np.exp(log_rectangle((cuts[i], cuts[i + 1]), (cuts[j], cuts[j + 1]), rho)).reshape(7, 7)
    np.testing.assert_allclose(grid.sum(axis=0), np.diff(ndtr(cuts)), rtol=1e-9)
    assert grid.sum() == pytest.approx(1, abs=1e-13)


def test_empty_rectangles_have_no_probability():
    assert probability((0.5, 0.5), (-1, 1), 0.5) == 0
    assert probability((-1, 1), (0.5, 0.5), 0.5) == 0


def test_intervals_in_the_upper_tail():
    found = log_interval(np.array([8.0, 1.0, 1.0]), np.array([INF, 2.0, 1.0]))
    expected = [log_ndtr(-8), np.log(ndtr(2) - ndtr(1)), -INF]
    np.testing.assert_allclose(found, expected, rtol=1e-13)
