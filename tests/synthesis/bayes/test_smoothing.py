"""Smoothed networks as a whole: density, streams, files, settings; and networks without it."""

from __future__ import annotations

import hashlib
import itertools
import json
import zipfile

import numpy as np
import polars as pl
import pytest

from understudy import BayesNet, Coded, Schema, Synthesizer, load, scan, write
from understudy.counting import joint_counts
from understudy.errors import ModelFileError, ParameterError
from understudy.synthesis.bayes.halves import SteppedTable
from understudy.synthesis.settings import Settings

SEARCHES = ("greedy", "predictive", "genetic", "optimal")


@pytest.fixture(scope="module")
def survey():
    return load("cmc")


@pytest.fixture(scope="module")
def small():
    """Three columns with few levels, so that all combinations can be listed."""
    return load("cmc").select("education", "living_standard", "method")


def all_records(model):
    names, sizes = model.codec_.names, model.codec_.cardinalities
    grid = np.array(list(itertools.product(*map(range, sizes))))
    return Coded.from_arrays(
        {name: grid[:, place] for place, name in enumerate(names)},
        dict(zip(names, sizes, strict=True)),
    )


def digest(arrays):
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def former_arrays(model):
    """What was learnt as it was written when tables held a code for each record."""
    state = model._state()
    for key in [key for key in state if key.endswith("_times")]:
        values = key.removesuffix("times") + "values"
        state[values] = np.repeat(state[values], state.pop(key))
    return state.values()


class TestWithoutSmoothing:
    @pytest.mark.parametrize(
        ("structure", "drawn", "density", "state"),
        [
            ("greedy", "2fde016811c97158", "06197a3ac6e88122", "35411144d58be343"),
            ("genetic", "80bf0daf4cb88745", "300af32ba9f409dc", "72aea78c97df0f56"),
            ("optimal", "0ee6a96fe8efb770", "7a38c07d4b104347", "a96744b563b39df6"),
        ],
    )
    def test_networks_are_those_of_before_to_the_bit(
        self, survey, structure, drawn, density, state
    ):
        # Recorded with the version before smoothing was there, where 25 was special.
        schema = Schema.infer(survey).edit("age", special=(25,))
        model = BayesNet(3, structure, smoothing=0, random_state=5).fit(survey, schema)
        assert digest(model.sample_coded(5000).columns) == drawn
        assert digest([model.log_likelihood(survey)]) == density
        assert digest(former_arrays(model)) == state

    def test_many_combinations_are_those_of_before_to_the_bit(self):
        levels = np.random.default_rng(0).integers(0, 100, (4, 4000)).astype(str)
        frame = pl.DataFrame(
            {name: "L" + own.astype(object) for name, own in zip("abcd", levels, strict=True)}
        )
        edges = [("a", "d"), ("b", "d"), ("c", "d")]
        model = BayesNet(structure=edges, smoothing=0, random_state=5).fit(frame)
        assert digest(model.sample_coded(5000).columns) == "a5299dbc09735a68"
        assert digest([model.log_likelihood(frame)]) == "4276488858ad2296"
        assert digest(former_arrays(model)) == "d765028b682ea7a5"

    def test_nothing_is_smoothed(self, survey):
        model = BayesNet(2, smoothing=0, random_state=1).fit(survey)
        assert all(table.shrinkage is None for table in model.tables_.values())
        assert all(table.shrinkage is None for table in model.sampling_tables())
        assert {name: own.tolist() for name, own in model.smoothing_.items()} == {
            name: [0.0] * (len(parents) + 1) for name, parents in model.network_.parents.items()
        }

    def test_a_file_that_is_older_than_smoothing(self, survey, tmp_path):
        model = BayesNet(2, smoothing=0, random_state=1).fit(survey)
        saved, old = model.save(tmp_path / "new.us"), tmp_path / "old.us"
        with zipfile.ZipFile(saved) as source, zipfile.ZipFile(old, "w") as target:
            for name in source.namelist():
                content = source.read(name)
                if name == "model.json":
                    header = json.loads(content)
                    del header["params"]["smoothing"], header["params"]["min_count"]
                    content = json.dumps(header).encode()
                target.writestr(name, content)
        loaded = Synthesizer.load(old)
        assert (loaded.smoothing, loaded.min_count) == (0, 1)
        assert loaded.sample().equals(model.sample())
        again = loaded.refit(loaded.codec_.encode(survey))
        assert again.tables_["age"].shrinkage is None


@pytest.mark.parametrize("structure", SEARCHES)
@pytest.mark.parametrize("setting", [{}, {"min_count": 5}, {"smoothing": 3}])
def test_probabilities_of_all_records_sum_to_one(small, structure, setting):
    model = BayesNet(2, structure, **({"smoothing": "auto", "random_state": 1} | setting))
    probabilities = np.exp(model.fit(small).log_likelihood(all_records(model)))
    assert probabilities.sum() == pytest.approx(1, abs=1e-12)
    assert (probabilities > 0).all()
    drawn = model.sample_coded(200_000)
    seen = joint_counts(drawn, drawn.names).counts.reshape(-1) / len(drawn)
    # Five standard errors of 64 shares: a right sampler fails for one seed in about 27,000.
    bound = 5 * np.sqrt(probabilities * (1 - probabilities) / len(drawn))
    assert np.all(np.abs(seen - probabilities) <= bound)


def test_by_hand():
    frame = pl.DataFrame({"sex": ["f", "f", "f", "m"], "smokes": ["n", "n", "y", "y"]})
    model = BayesNet(structure=[("sex", "smokes")], smoothing={"sex": 4, "smokes": [2, 3]})
    found = np.exp(model.fit(frame).log_likelihood(frame))
    # sex: f (3 + 4 * 1/2) / (4 + 4) = 5/8; smokes: of all (2 + 2 * 1/2) / (4 + 2) = 1/2 do,
    # of f (1 + 3 * 1/2) / (3 + 3) = 5/12, of m (1 + 3 * 1/2) / (1 + 3) = 5/8
    np.testing.assert_allclose(
        found, [5 / 8 * 7 / 12, 5 / 8 * 7 / 12, 5 / 8 * 5 / 12, 3 / 8 * 5 / 8]
    )
    copies = model.expected_copies(frame, rows=16)
    np.testing.assert_allclose(copies, 16 * found)


@pytest.mark.parametrize("structure", SEARCHES)
def test_the_other_half_of_the_survey_is_described_better(survey, structure):
    whole = BayesNet(3, structure, smoothing=0, random_state=1).fit(survey)
    coded = whole.codec_.encode(survey)
    ours, others = (coded.take(np.arange(start, len(coded), 2)) for start in (0, 1))
    plain = whole.refit(ours)
    smooth = whole.set_params(smoothing="auto").refit(ours)
    log_smooth = smooth.log_likelihood(others)
    # The network as it is finds most of the others impossible.
    assert np.isfinite(log_smooth).all()
    log_plain = np.maximum(plain.log_likelihood(others), -25)
    assert log_smooth.mean() > log_plain.mean() + 3
    fixed = whole.set_params(smoothing=5).refit(ours)
    assert log_smooth.mean() > fixed.log_likelihood(others).mean()


def test_fewer_records_than_asked_for_are_not_used(survey):
    model = BayesNet(3, smoothing=0, min_count=10, random_state=1).fit(survey)
    for table in model.tables_.values():
        assert table.shrinkage.min_count == 10
        assert not table.shrinkage.strengths.any()
    model = BayesNet(structure=[("age", "method")], smoothing=0, min_count=2000).fit(survey)
    # There are fewer records than that, so every code is as likely as any other.
    sizes = np.array(model.codec_.cardinalities)
    np.testing.assert_allclose(model.log_likelihood(survey), -np.log(sizes).sum())


@pytest.mark.parametrize("structure", ["genetic", "optimal"])
@pytest.mark.parametrize("rows", [100, 5_000])
def test_batches_give_the_same_model(survey, tmp_path, structure, rows):
    path = write(survey, tmp_path / "survey.parquet")
    whole = BayesNet(3, structure, smoothing="auto", random_state=5).fit(survey)
    streamed = BayesNet(3, structure, smoothing="auto", random_state=5).fit(
        scan(path, batch_rows=rows)
    )
    for name, own in whole.smoothing_.items():
        assert own.tobytes() == streamed.smoothing_[name].tobytes()
    assert streamed.sample().equals(whole.sample())
    assert streamed.log_likelihood(survey).tobytes() == whole.log_likelihood(survey).tobytes()


@pytest.mark.parametrize("structure", ["predictive", "greedy"])
def test_a_stream_may_hold_codes_in_memory(survey, tmp_path, structure):
    path = tmp_path / "survey.parquet"
    write(survey, path)
    streamed = BayesNet(2, structure, random_state=5).fit(
        scan(path, batch_rows=200, codes_in_memory=True)
    )
    assert streamed.sample().equals(BayesNet(2, structure, random_state=5).fit(survey).sample())


def test_threads_change_nothing(survey):
    models = [
        BayesNet(3, "predictive", smoothing="auto", threads=threads, random_state=5).fit(survey)
        for threads in (1, 2)
    ]
    assert models[0].network_ == models[1].network_
    assert models[0].sample(150_000).equals(models[1].sample(150_000))


class TestFiles:
    @pytest.mark.parametrize(
        "setting",
        [
            {"smoothing": "auto"},
            {"smoothing": "auto", "structure": "predictive", "min_count": 4},
            {"smoothing": 0, "min_count": 3},
            {"smoothing": {"age": 2.5, "*": 0}},
        ],
    )
    def test_everything_comes_back(self, survey, tmp_path, setting):
        model = BayesNet(3, random_state=5, **setting).fit(survey)
        loaded = Synthesizer.load(model.save(tmp_path / "model.us"))
        assert loaded.get_params() == model.get_params()
        assert loaded.network_ == model.network_
        assert loaded.sample().equals(model.sample())
        np.testing.assert_array_equal(loaded.log_likelihood(survey), model.log_likelihood(survey))
        for name, own in model.smoothing_.items():
            np.testing.assert_array_equal(own, loaded.smoothing_[name])

    def test_held_networks_and_strengths_come_back(self, survey, tmp_path):
        model = BayesNet(2, smoothing="auto", random_state=5).fit(survey)
        held = BayesNet(2, model.parents_, smoothing=model.smoothing_, random_state=5).fit(survey)
        loaded = Synthesizer.load(held.save(tmp_path / "model.us"))
        assert loaded.network_.parents == model.network_.parents
        assert loaded.parents_ == model.parents_
        again = loaded.refit(loaded.codec_.encode(survey))
        assert again.sample().equals(model.sample())

    def test_strengths_that_do_not_fit_are_refused(self, survey, tmp_path):
        model = BayesNet(2, smoothing="auto", random_state=5).fit(survey)
        state = model._state()
        for damage in (np.zeros(9), np.full(1, -1.0), np.full(1, np.nan)):
            model._state = lambda damage=damage: state | {"table_0_strengths": damage}
            path = model.save(tmp_path / "model.us", overwrite=True)
            with pytest.raises(ModelFileError, match="damaged: strengths of smoothing"):
                Synthesizer.load(path)


class TestHeld:
    """Structure and strengths that do not depend on the records, as one who knows them has."""

    def test_a_mapping_keeps_the_order_of_parents(self, survey):
        parents = {"age": [], "religion": [], "method": ["religion", "age"]}
        model = BayesNet(structure=parents, smoothing=1).fit(survey)
        assert model.network_.parents["method"] == ("religion", "age")
        edges = [("religion", "method"), ("age", "method")]
        assert BayesNet(structure=edges).fit(survey).network_.parents["method"] == (
            "age",
            "religion",
        )

    def test_only_what_is_held_does_not_vary(self, survey):
        edges, parents = (
            [("age", "method"), ("religion", "method")],
            {"method": ["age", "religion"]},
        )
        cases = [
            (edges, 0, True),
            (parents, 0, False),
            (parents, 5, False),
            (parents, {"method": [1, 2, 3], "*": 0}, False),
            (parents, {"method": [1, 2, 3]}, True),
            (parents, "auto", True),
            ([("age", "method")], 0, False),
            ([("age", "method")], "auto", True),
            ("predictive", 0, True),
        ]
        for structure, smoothing, expected in cases:
            model = BayesNet(structure=structure, smoothing=smoothing, random_state=1).fit(survey)
            assert model.structure_varies is expected, (structure, smoothing)

    def test_a_refit_finds_its_own_strengths(self, survey):
        model = BayesNet(2, smoothing="auto", random_state=5).fit(survey)
        coded = model.codec_.encode(survey)
        again = model.refit(coded)
        for name, own in model.smoothing_.items():
            np.testing.assert_array_equal(own, again.smoothing_[name])
        other = model.refit(coded.take(slice(100)))
        assert any(
            own.shape != other.smoothing_[name].shape or (own != other.smoothing_[name]).any()
            for name, own in model.smoothing_.items()
        )

    @pytest.mark.parametrize("structure", ["greedy", "predictive"])
    def test_a_refit_begins_at_the_same_root(self, survey, structure):
        model = BayesNet(2, structure, smoothing="auto").fit(survey)
        model._fit_seed = None  # as of a model that was loaded from a file
        again = model.refit(model.codec_.encode(survey))
        assert again.network_.names[0] == model.network_.names[0]


def test_settings_of_single_columns(survey, tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text(
        'parents = 1\nsmoothing = 7\n[columns.age]\nsmoothing = "auto"\n'
        "[columns.method]\nsmoothing = 0\n"
    )
    parameters = Settings.load(path).parameters(BayesNet, {})
    assert parameters == {"parents": 1, "smoothing": {"*": 7, "age": "auto", "method": 0}}
    model = BayesNet(**parameters, random_state=1).fit(survey)
    assert model.tables_["method"].shrinkage is None
    assert set(model.smoothing_["religion"].tolist()) == {7.0}
    assert (model.smoothing_["age"] != 7.0).any()


def test_sampling_tables_have_the_shrinkage(survey):
    model = BayesNet(2, smoothing="auto", random_state=1).fit(survey)
    for table in model.sampling_tables():
        own = model.tables_[table.name]
        rows = [one.rows for one in own.steps] if isinstance(own, SteppedTable) else [own]
        assert table.shrinkage in [one.shrinkage for one in rows]
        np.testing.assert_allclose(table.shrinkage.base, 1 / table.cardinality)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"smoothing": "much"}, "smoothing must be 'auto', or a number .* got 'much'"),
        ({"smoothing": -1}, "smoothing must be 'auto'"),
        ({"smoothing": float("inf")}, "smoothing must be 'auto'"),
        ({"smoothing": True}, "smoothing must be 'auto'"),
        ({"smoothing": None}, "smoothing must be 'auto'"),
        ({"smoothing": {"age": []}}, "smoothing must be 'auto'"),
        ({"smoothing": {"age": [1, "x"]}}, "smoothing must be 'auto'"),
        ({"smoothing": {"agee": 1}}, "smoothing: 'agee' is not a column. Did you mean 'age'"),
        (
            {"structure": [("age", "method")], "smoothing": {"method": [1, 2, 3]}},
            "smoothing: 'method' has 1 parents, so it needs 2 strengths, .* got 3",
        ),
        ({"min_count": 0}, "min_count must be a whole number from 1; got 0"),
        ({"structure": {"age": "method"}}, "parents of 'age' must be a list of columns"),
        ({"structure": {"age": ["method"], "method": ["age"]}}, "a cycle"),
        ({"structure": {"age": ["methd"]}}, "Did you mean 'method'"),
    ],
)
def test_wrong_arguments_are_explained(survey, arguments, message):
    with pytest.raises(ParameterError, match=message):
        BayesNet(**arguments).fit(survey)


@pytest.mark.parametrize("structure", SEARCHES)
@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"a": [1, 2, 2]}),
        pl.DataFrame({"a": [1, 1], "b": ["x", "x"]}),
        pl.DataFrame({"a": [None, None], "b": ["x", "y"]}, schema={"a": pl.Int8, "b": pl.String}),
        pl.DataFrame({"a": [3], "b": [True]}),
    ],
    ids=["one column", "constant", "all missing", "one row"],
)
def test_trivial_tables(frame, structure):
    model = BayesNet(3, structure, smoothing="auto", random_state=1).fit(frame)
    drawn = model.sample(20)
    assert drawn.schema == frame.schema
    # Of a truth value the other one is possible, too.
    known = {
        name: {*frame[name], *((True, False) * (frame[name].dtype == pl.Boolean))}
        for name in drawn.columns
    }
    assert all(set(drawn[name]) <= known[name] for name in frame.columns)
