"""Parents in groups of neighbouring values: tables, search, density, files, attacks."""

import json

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from understudy import BayesNet, load
from understudy.data import scan
from understudy.data.coded import Coded
from understudy.data.coders import LevelCoder, NumberLevelCoder
from understudy.errors import ModelFileError, ParameterError
from understudy.risk import strong_attacker
from understudy.synthesis import Synthesizer
from understudy.synthesis.bayes.constraints import build_constraints
from understudy.synthesis.bayes.levels import Level, group_codes, parents_of, read_levels
from understudy.synthesis.bayes.predictive import predictive_search


@pytest.fixture(scope="module")
def survey():
    return load("cmc")


@pytest.fixture(scope="module")
def model(survey):
    return BayesNet(random_state=1).fit(survey)


def waves(records=2000):
    """A parent whose four quarters decide the child: of each bin alone there are few records."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 40, records)
    return Coded.from_arrays({"x": x, "y": (x // 10 + (rng.random(records) < 0.4)) % 4})


class TestGroups:
    def test_groups_hold_as_many_neighbours_each(self):
        coder = NumberLevelCoder(np.arange(10), pa.int64(), "n")
        assert group_codes(coder, 10, 4).tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 3, 3]

    def test_special_values_and_gaps_stay_by_themselves(self, survey):
        frame = survey.select("age").with_columns(
            pl.when(pl.int_range(pl.len()) < 9).then(-8).otherwise("age").alias("age")
        )
        frame = pl.concat([frame, pl.DataFrame({"age": [None] * 9})], how="vertical_relaxed")
        fitted = BayesNet().fit(frame)
        coder = fitted.codec_.coders["age"]
        found = group_codes(coder, coder.known + 1, 4)
        specials = len(coder.special)
        assert specials == 1
        inner = found[specials : coder.known]
        assert sorted(set(inner.tolist())) == [0, 1, 2, 3]
        assert found[0] == 4
        assert found[-1] == 5

    def test_few_numbers_and_categories_have_no_groups(self):
        assert group_codes(NumberLevelCoder(np.arange(4), pa.int64(), "n"), 4, 4) is None
        assert group_codes(LevelCoder(("a", "b", "c")), 3, 2) is None


class TestSearch:
    def test_a_parent_comes_in_groups_first(self):
        coded = waves(300)
        rules = build_constraints(coded.names, parents=1, root="x")
        found = predictive_search(
            coded, rules, groups={0: (np.arange(40) // 10).astype(np.uint8)}, children=[1]
        )
        assert found.parents == ((), (0,))
        assert found.levels == ((), ((0, True),))

    def test_with_many_records_value_by_value_follows(self):
        rng = np.random.default_rng(1)
        x = rng.integers(0, 40, 8000)
        coded = Coded.from_arrays({"x": x, "y": (x // 10 + x % 2) % 4})
        rules = build_constraints(coded.names, parents=1, root="x")
        found = predictive_search(
            coded, rules, groups={0: (np.arange(40) // 10).astype(np.uint8)}, children=[1]
        )
        assert found.parents == ((), (0,))
        assert found.levels[1][-1] == (0, False)

    def test_a_child_that_is_not_named_has_parents_as_they_are(self):
        coded = waves()
        rules = build_constraints(coded.names, parents=1, root="x")
        groups = {0: (np.arange(40) // 10).astype(np.uint8)}
        assert predictive_search(coded, rules, groups=groups).levels == ((), ((0, False),))
        assert predictive_search(coded, rules).levels is None

    def test_a_required_parent_is_taken_though_it_tells_nothing(self):
        rng = np.random.default_rng(1)
        coded = Coded.from_arrays({"x": rng.integers(0, 12, 200), "y": rng.integers(0, 2, 200)})
        rules = build_constraints(coded.names, parents=1, required=[("x", "y")])
        groups = {0: (np.arange(12) // 3).astype(np.uint8)}
        found = predictive_search(coded, rules, groups=groups, children=[0, 1])
        assert found.parents == ((), (0,))

    def test_smoothing_of_ones_own_and_one_group_leave_the_search_as_it_was(self, survey):
        former = BayesNet(parent_groups=1, random_state=1).fit(survey)
        assert former.parents_ == former.network_.parents
        given = BayesNet(smoothing=3, random_state=1).fit(survey)
        assert given.parents_ == former.network_.parents
        assert BayesNet(smoothing=0, random_state=1).fit(survey).parents_ == given.parents_

    def test_groups_describe_fresh_people_better(self, survey):
        drawn = survey.sample(len(survey), shuffle=True, seed=1)
        half, fresh = drawn[:736], drawn[736:]
        own = [
            BayesNet(parent_groups=groups, ends=1, random_state=1).fit(half) for groups in (1, 4)
        ]
        known = own[0].codec_.encode_seen(fresh)[1]
        without, grouped = (one.log_likelihood(fresh.filter(pl.Series(known))) for one in own)
        assert grouped.mean() > without.mean() + 0.05


class TestModel:
    def test_some_parent_is_used_in_groups(self, model):
        assert any(isinstance(one, tuple) for own in model.parents_.values() for one in own)
        for name, own in model.parents_.items():
            assert parents_of([Level(*one) if isinstance(one, tuple) else Level(one)
                               for one in own]) == model.network_.parents[name]  # fmt: skip
            assert len(model.smoothing_[name]) == len(own) + 1

    def test_the_density_is_that_of_the_draws(self, survey):
        frame = survey.select("age", "children", "method")
        fitted = BayesNet(random_state=1).fit(frame)
        assert isinstance(fitted.parents_["children"][0], tuple)
        sizes = fitted.codec_.cardinalities
        grid = np.indices(sizes).reshape(len(sizes), -1)
        every = Coded.from_arrays(
            dict(zip(fitted.codec_.names, grid, strict=True)),
            dict(zip(fitted.codec_.names, sizes, strict=True)),
        )
        density = np.exp(fitted.log_likelihood(every))
        assert density.sum() == pytest.approx(1)
        drawn = fitted.sample_coded(200_000, random_state=2)
        counts = np.zeros(sizes)
        np.add.at(counts, drawn.columns, 1)
        distance = np.abs(counts.ravel() / 200_000 - density).sum() / 2
        assert distance < 0.03  # of 1,300 cells, about sqrt(1300 / 200000) / 2.5

    def test_a_file_keeps_it(self, model, survey, tmp_path):
        loaded = Synthesizer.load(model.save(tmp_path / "model.us"))
        assert loaded.parents_ == model.parents_
        assert loaded.sample(random_state=3).equals(model.sample(random_state=3))
        np.testing.assert_array_equal(loaded.log_likelihood(survey), model.log_likelihood(survey))

    def test_a_damaged_file_is_refused(self, model, tmp_path):
        state = model._state()
        copied = BayesNet.load(model.save(tmp_path / "good.us"))
        for damage in (
            {"level_groups": np.full_like(state["level_groups"], 999)},
            {"level_parents": state["level_parents"][:1]},
            {"level_parents": np.full_like(state["level_parents"], 77)},
        ):
            copied._state = lambda damage=damage: state | damage
            path = copied.save(tmp_path / "model.us", overwrite=True)
            with pytest.raises(ModelFileError, match="damaged"):
                Synthesizer.load(path)

    def test_parents_as_structure_give_the_same_model(self, model, survey, tmp_path):
        held = BayesNet(structure=model.parents_, smoothing=model.smoothing_, random_state=1)
        assert held.fit(survey).sample().equals(model.sample())
        plain = json.loads(json.dumps(held._plain_params()["structure"]))
        again = BayesNet(structure=plain, smoothing=model.smoothing_, random_state=1).fit(survey)
        assert again.parents_ == model.parents_
        loaded = Synthesizer.load(held.save(tmp_path / "held.us"))
        assert loaded.refit(loaded.codec_.encode(survey)).sample().equals(model.sample())

    def test_a_stream_counts_the_same_tables(self, model, survey, tmp_path):
        survey.write_parquet(tmp_path / "survey.parquet")
        held = BayesNet(structure=model.parents_, smoothing=model.smoothing_, random_state=1)
        whole = held.fit(survey, model.schema_).sample()
        stream = scan(tmp_path / "survey.parquet", batch_rows=100)
        assert held.clone().fit(stream, model.schema_).sample().equals(whole)

    @pytest.mark.parametrize(
        ("structure", "message"),
        [
            ({"children": [("age", 0)]}, "number of groups from 1"),
            ({"children": [("age", 2, 3)]}, "pair of a column"),
            ({"children": ["age", ("age", 4)]}, "twice"),
            ({"children": [("age", 4), ("age", 4)]}, "twice"),
            ({"children": ["age", "age"]}, "twice"),
            ({"children": [("age", 99)]}, "not have more different numbers"),
            ({"children": [("husband_education", 9)]}, "cannot be used in 9 groups"),
            ({"children": [("agee", 4)]}, "Did you mean 'age'"),
            ({"children": "age"}, "list of columns"),
        ],
    )
    def test_a_structure_that_cannot_be(self, survey, structure, message):
        with pytest.raises(ParameterError, match=message):
            BayesNet(structure=structure).fit(survey)

    def test_groups_must_be_a_number(self, survey):
        with pytest.raises(ParameterError, match="parent_groups"):
            BayesNet(parent_groups=0).fit(survey)


class TestAttack:
    def test_fixed_is_refitting_with_the_structure_held(self, survey):
        people = survey.select("age", "children", "method", "education")[:400]
        free = BayesNet(random_state=1).fit(people)
        assert isinstance(free.parents_["children"][0], tuple)
        held = BayesNet(structure=free.parents_, smoothing=free.smoothing_, random_state=1)
        held.fit(people)
        assert not held.structure_varies
        release = held.sample(random_state=2)
        for unknown in ("method", "age", ["children", "education"]):
            asked = {"unknown": unknown, "records": [0, 5, 200]}
            fixed, refit = (
                strong_attacker(held, people, release, mode=mode, **asked)
                for mode in ("fixed", "refit")
            )
            np.testing.assert_allclose(fixed.posterior, refit.posterior, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(fixed.prior, refit.prior, rtol=1e-9, atol=1e-12)

    def test_elimination_is_listing(self, survey, monkeypatch):
        people = survey.select("age", "method", "education")[:300]
        network = {"age": (), "method": (("age", 2), "age"), "education": ("method", ("age", 3))}
        held = BayesNet(structure=network, smoothing=4, random_state=1).fit(people)
        tables = held, people, held.sample(random_state=3)
        asked = {"mode": "fixed", "records": range(0, 300, 100)}
        listed = strong_attacker(*tables, **asked)
        monkeypatch.setattr("understudy.risk.strong.attack.MOST_LISTED", 0)
        eliminated = strong_attacker(*tables, **asked)
        np.testing.assert_allclose(listed.posterior, eliminated.posterior, rtol=1e-9)


def test_levels_are_read_from_lists_and_pairs():
    found = read_levels({"b": ["a"], "c": [["a", 3], ("b", 2), "b"]})
    assert found["c"] == (Level("a", 3), Level("b", 2), Level("b"))
    assert parents_of(found["c"]) == ("a", "b")
