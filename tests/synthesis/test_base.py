"""The contract of every synthesizer."""

from __future__ import annotations

import functools
import json
import zipfile

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from understudy import (
    BayesNet,
    Cart,
    GaussianCopula,
    Independent,
    Schema,
    Synthesizer,
    Uniform,
    load,
    scan,
    write,
)
from understudy.errors import (
    DataError,
    ModelFileError,
    NotFittedError,
    ParameterError,
    SchemaError,
)
from understudy.synthesis import METHODS
from understudy.synthesis.blocks import BLOCK_ROWS

# What learns under differential privacy alone needs a public schema: see tests/synthesis/marginals.
ALL = [pytest.param(cls, id=name) for name, cls in METHODS.items() if name != "marginals"]


@pytest.fixture(scope="module")
def survey():
    return load("cmc")


@pytest.fixture(scope="module")
def fitted(survey):
    """Return a function that fits each method once; nobody changes what it returns."""
    return functools.cache(lambda cls: cls(random_state=9).fit(survey))


def with_density(cls, survey):
    """Return as many columns as the method can compute a density of."""
    return survey.select("age", "method") if cls.method == "copula" else survey


@pytest.mark.parametrize("cls", ALL)
class TestContract:
    def test_parameters_round_trip(self, cls):
        # What draws the numbers themselves has no bins to draw in.
        given, shown = ({}, "") if cls.exact else ({"decode": "uniform"}, "decode='uniform', ")
        assert ("decode" in cls.parameter_names()) is not cls.exact
        model = cls(**given, random_state=4)
        assert model.get_params().items() >= (given | {"random_state": 4}).items()
        assert model.set_params(random_state=5).random_state == 5
        assert repr(model) == f"{cls.__name__}({shown}random_state=5)"

    def test_clones_are_unfitted_and_equal_in_parameters(self, cls, fitted):
        model = fitted(cls)
        for copy in (model.clone(), clone(model)):
            assert copy.get_params() == model.get_params()
            with pytest.raises(NotFittedError, match="call fit first"):
                copy.sample()

    def test_the_same_kind_of_frame_comes_out(self, cls):
        for backend in ("pandas", "polars", "pyarrow"):
            frame = load("cmc", backend=backend)
            drawn = cls(random_state=0).fit(frame).sample(7)
            assert type(drawn) is type(frame)
            assert list(drawn.columns) == list(frame.columns) or backend == "pyarrow"
            types = {"pandas": "dtypes", "polars": "dtypes", "pyarrow": "schema"}[backend]
            assert str(getattr(drawn, types)) == str(getattr(frame, types))
            assert len(drawn) == 7

    def test_same_seed_same_table(self, cls, fitted):
        model = fitted(cls)
        assert model.sample().equals(model.sample())
        assert model.sample(random_state=1).equals(model.sample(random_state=1))
        assert not model.sample(random_state=1).equals(model.sample(random_state=2))

    def test_without_a_seed_tables_differ(self, cls, survey):
        model = cls().fit(survey)
        assert not model.sample().equals(model.sample())

    def test_a_generator_moves_on(self, cls, survey):
        generator = np.random.default_rng(1)
        model = cls().fit(survey)
        first, second = (model.sample(random_state=generator) for _ in range(2))
        assert not first.equals(second)
        assert first.equals(model.sample(random_state=np.random.default_rng(1)))

    def test_copies_are_a_list_and_the_first_is_the_single_one(self, cls, fitted):
        model = fitted(cls)
        copies = model.sample(50, copies=3)
        assert len(copies) == 3
        assert copies[0].equals(model.sample(50))
        assert not copies[0].equals(copies[1])

    def test_a_longer_table_begins_with_the_whole_blocks_of_a_shorter_one(self, cls, survey):
        model = cls(random_state=9).fit(survey.select("age", "method"))
        longer = model.sample(2 * BLOCK_ROWS + 10)
        assert len(longer) == 2 * BLOCK_ROWS + 10
        assert longer[:BLOCK_ROWS].equals(model.sample(BLOCK_ROWS))

    @pytest.mark.parametrize("name", ["table.csv", "table.parquet"])
    def test_sampling_to_a_file_writes_the_rows_of_sample(self, cls, survey, tmp_path, name):
        model = cls(random_state=9).fit(survey.select("age", "method"))
        rows = BLOCK_ROWS + 5
        streamed = model.sample_to(tmp_path / name, rows)
        whole = write(model.sample(rows), tmp_path / f"whole-{name}")
        if name.endswith(".csv"):
            assert streamed.read_bytes() == whole.read_bytes()
        else:
            assert pl.read_parquet(streamed).equals(pl.read_parquet(whole))

    def test_a_saved_model_draws_the_same(self, cls, tmp_path):
        for backend in ("pandas", "polars", "pyarrow"):
            frame = load("cmc", backend=backend)
            model = cls(random_state=9).fit(frame)
            path = model.save(tmp_path / f"{backend}.us")
            for loaded in (Synthesizer.load(path), cls.load(path)):
                assert type(loaded) is cls
                assert loaded.get_params() == model.get_params()
                assert loaded.sample().equals(model.sample())

    def test_a_saved_model_has_the_same_density(self, cls, survey, tmp_path):
        frame = with_density(cls, survey)
        model = cls(random_state=9).fit(frame)
        loaded = Synthesizer.load(model.save(tmp_path / "m.us"))
        found = model.log_likelihood(frame)
        assert np.isfinite(found).all()
        np.testing.assert_array_equal(loaded.log_likelihood(frame), found)

    def test_a_stream_gives_the_same_model(self, cls, survey, tmp_path):
        path = write(survey, tmp_path / "cmc.parquet")
        synthesizer = cls(random_state=1)
        if cls is BayesNet:
            synthesizer.set_params(structure="genetic")  # the greedy search takes no stream
        streamed = synthesizer.clone().fit(scan(path, batch_rows=100))
        assert streamed.n_rows_ == 1473
        assert streamed.sample().equals(synthesizer.fit(survey).sample())

    def test_the_schema_is_honoured(self, cls, survey):
        schema = Schema.infer(survey).edit("age", binning="edges", edges=(16, 30, 49), special=())
        model = (cls(ends=1) if "ends" in cls.parameter_names() else cls()).fit(survey, schema)
        assert model.schema_ == schema
        if cls.exact:
            distinct = [survey[name].n_unique() for name in survey.columns]
            assert list(model.codec_.cardinalities) == distinct
        else:
            assert model.codec_.cardinalities[0] == 2

    def test_a_number_that_the_model_does_not_know(self, cls, survey):
        # 30 lies in a bin of ages; as a number of its own it is unknown to the model.
        survey = with_density(cls, survey)
        others = survey.filter(pl.col("age") != 30)
        model = cls(random_state=0).fit(others)
        unseen = survey.filter(pl.col("age") == 30)
        found = model.log_likelihood(pl.concat([unseen, others]))
        if cls.exact:
            assert (found[: len(unseen)] == -np.inf).all()
        else:
            assert np.isfinite(found[: len(unseen)]).any()
        assert np.isfinite(found[len(unseen) :]).all()

    @pytest.mark.parametrize("n", [0, -1, 1.5, True, "3"])
    def test_rows_are_a_whole_number_from_one(self, cls, fitted, n):
        model = fitted(cls)
        with pytest.raises(ParameterError, match=r"n must be a whole number from 1; got "):
            model.sample(n)
        with pytest.raises(ParameterError, match="copies"):
            model.sample(copies=n)

    def test_codes_of_another_table_are_refused(self, cls, survey, fitted):
        model = fitted(cls)
        other = cls().fit(survey.select("age", "method"))
        with pytest.raises(ParameterError, match="not this model's"):
            model.log_likelihood(other.sample_coded(3))


@pytest.mark.parametrize("cls", ALL)
class TestOtherRecords:
    def test_the_same_records_give_the_same_model(self, cls, survey):
        survey = with_density(cls, survey)
        model = cls(random_state=4).fit(survey)
        again = model.refit(model.codec_.encode(survey))
        assert again is not model
        assert again.get_params() == model.get_params()
        assert again.sample(50).equals(model.sample(50))
        found, expected = (m.log_likelihood(survey[:50]) for m in (again, model))
        np.testing.assert_array_equal(found, expected)

    def test_other_records_in_the_same_codes(self, cls, survey):
        survey = with_density(cls, survey)
        model = cls(random_state=4).fit(survey)
        before = model.sample(50)
        half = model.codec_.encode(survey[:700])
        other = model.refit(half)
        assert other.n_rows_ == 700
        # Only Cart changes its coding (by its smoothing), and not without being asked to.
        assert other.codec_.names == model.codec_.names
        assert other.codec_.cardinalities == model.codec_.cardinalities
        assert model.n_rows_ == 1473
        assert model.sample(50).equals(before)
        if cls.method != "random":
            found, expected = (m.log_likelihood(survey[:50]) for m in (other, model))
            assert not np.array_equal(found, expected)

    def test_wrong_codes_and_no_records(self, cls, survey):
        model = cls().fit(survey)
        with pytest.raises(ParameterError, match="not this model's"):
            model.refit(cls().fit(survey.select("age", "method")).sample_coded(3))
        with pytest.raises(DataError, match="no records"):
            model.refit(model.sample_coded(3).take(slice(0)))
        with pytest.raises(NotFittedError, match="call fit first"):
            cls().refit(model.sample_coded(3))

    def test_probability_of_a_whole_table(self, cls, survey):
        survey = with_density(cls, survey)
        model = cls(random_state=4).fit(survey)
        drawn = model.sample_coded(30, random_state=1)
        each = model.log_likelihood(drawn)
        assert model.release_log_likelihood(drawn) == pytest.approx(each.sum(), rel=1e-12)
        times = np.arange(30) % 4
        assert model.release_log_likelihood(drawn, times) == pytest.approx(times @ each, rel=1e-12)
        assert model.release_log_likelihood(drawn.take(slice(0))) == 0
        with pytest.raises(NotFittedError, match="call fit first"):
            cls().release_log_likelihood(drawn)


def test_records_that_are_not_there_may_be_impossible():
    # Level c has no record any more: what is drawn never has no probability to weigh.
    frame = pl.DataFrame({"y": ["a", "b", "c"]})
    model = Independent().fit(frame)
    coded = model.codec_.encode(frame)
    other = model.refit(coded.take(np.array([0, 0, 1])))
    assert other.release_log_likelihood(coded) == -np.inf
    # a twice and b once have (2/3)^2 (1/3) = 4/27.
    found = other.release_log_likelihood(coded, np.array([2, 1, 0]))
    assert found == pytest.approx(np.log(4 / 27))


def test_a_search_by_chance_is_repeated_with_the_same_seed(survey):
    model = BayesNet(1, random_state=8).fit(survey)
    coded = model.codec_.encode(survey)
    assert model.refit(coded).network_.parents == model.network_.parents
    # Without a number as seed, the one that was drawn is remembered.
    for state in (None, np.random.default_rng(3)):
        free = BayesNet(1, random_state=state).fit(survey)
        assert free.refit(coded).network_.parents == free.network_.parents


def test_a_fit_that_fails_leaves_the_model_as_it_was(survey):
    model = BayesNet(1, root="age", random_state=1).fit(survey)
    before = model.sample(50)
    with pytest.raises(ParameterError):
        model.set_params(root="nobody").fit(survey.select("method", "religion"))
    assert model.sample(50).equals(before)
    with pytest.raises(ParameterError):
        (fresh := BayesNet(root="nobody")).fit(survey)
    with pytest.raises(NotFittedError):
        fresh.sample()


def test_parameters_of_numpy_can_be_saved(survey, tmp_path):
    model = BayesNet(np.int64(1), "optimal", order=np.array(survey.columns)).fit(survey)
    assert Synthesizer.load(model.save(tmp_path / "m.us")).parents == 1


def test_a_wrong_parameter_is_named(survey):
    with pytest.raises(ParameterError, match=r"no parameter 'random_sate'.*mean 'random_state'"):
        Independent().set_params(random_sate=1)
    with pytest.raises(ParameterError, match=r"interpolate, uniform; got 'quantile'"):
        Independent(decode="quantile").fit(survey)
    with pytest.raises(ParameterError, match=r"random_state .* got -1"):
        Independent(random_state=-1).fit(survey)


def test_tables_without_anything_to_learn_are_refused():
    with pytest.raises(DataError, match="no rows"):
        Independent().fit(pl.DataFrame({"a": pl.Series([], dtype=pl.Int64)}))
    with pytest.raises(DataError, match="all are identifiers"):
        Independent().fit(pl.DataFrame({"id": range(30)}))


def test_free_text_is_refused_with_advice():
    notes = [f"patient {i} came in with a cough and {i % 7} other complaints" for i in range(40)]
    frame = pl.DataFrame({"note": notes, "age": [30, 40] * 20})
    with pytest.raises(SchemaError, match=r"'note' looks like free text.*Drop it"):
        Independent().fit(frame)


def test_identifiers_are_made_up_and_not_kept_in_the_model(tmp_path):
    frame = pl.DataFrame({"name": [f"person {i}" for i in range(30)], "age": [30, 40] * 15})
    model = Independent(random_state=0).fit(frame)
    drawn = model.sample(3)
    assert drawn["name"].str.contains(r"^person \d+$").all()
    assert not set(drawn["name"]) & set(frame["name"])
    with zipfile.ZipFile(model.save(tmp_path / "m.us")) as archive:
        assert all(b"person 1" not in archive.read(name) for name in archive.namelist())


def test_the_model_file_is_open_and_says_how_confidential_it_is(survey, tmp_path):
    path = Independent().fit(survey).save(tmp_path / "model.us")
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("model.json"))
        assert set(archive.namelist()) == {"model.json", "counts.npy"}
    counts = np.load(path, allow_pickle=False)["counts"]
    assert counts.sum() == 10 * 1473
    rare = int(((counts > 0) & (counts < 5)).sum())
    assert header["rare_cells"] == {"below": 5, "cells": rare, "of": int((counts > 0).sum())}
    assert header["version"] == 1
    assert header["method"] == "independent"


def test_the_same_model_gives_the_same_bytes(survey, tmp_path):
    model = Independent(random_state=1).fit(survey)
    first, second = (model.save(tmp_path / f"{name}.us") for name in "ab")
    assert first.read_bytes() == second.read_bytes()


class TestDamagedFiles:
    @pytest.fixture
    def path(self, survey, tmp_path):
        return Independent(random_state=1).fit(survey).save(tmp_path / "model.us")

    def rewrite(self, path, change):
        """Write the archive again with its header changed by `change`."""
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        header = json.loads(members["model.json"])
        change(header, members)
        members.setdefault("model.json", b"")
        if members["model.json"]:
            members["model.json"] = json.dumps(header).encode()
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in members.items():
                if data:
                    archive.writestr(name, data)

    def test_a_newer_format(self, path):
        self.rewrite(path, lambda header, _: header.update(version=2, understudy="9.9"))
        with pytest.raises(ModelFileError, match=r"newer understudy \(9.9\).*Update understudy"):
            Synthesizer.load(path)

    @pytest.mark.parametrize(
        "change",
        [
            lambda header, _: header.update(version="one"),
            lambda header, _: header.pop("rows"),
            lambda header, _: header.update(rows=7),
            lambda header, _: header.update(params={"depth": 3}),
            lambda header, _: header["codec"].pop("columns"),
            lambda header, _: header["codec"]["columns"][0].update(kind="colour"),
            lambda _, members: members.pop("counts.npy"),
            lambda _, members: members.update({"counts.npy": b"not an array"}),
            lambda _, members: members.update({"counts.npy": members["counts.npy"][:-8]}),
        ],
    )
    def test_a_damaged_header_or_array(self, path, change):
        self.rewrite(path, change)
        with pytest.raises(ModelFileError, match="is damaged"):
            Synthesizer.load(path)

    def test_an_array_with_a_pickle_is_not_run(self, path, tmp_path):
        bomb = tmp_path / "bomb.npy"
        np.save(bomb, np.array([print], dtype=object), allow_pickle=True)
        self.rewrite(path, lambda _, members: members.update({"counts.npy": bomb.read_bytes()}))
        with pytest.raises(ModelFileError, match="is damaged"):
            Synthesizer.load(path)

    def test_an_unknown_method(self, path):
        self.rewrite(path, lambda header, _: header.update(method="magic"))
        with pytest.raises(ModelFileError, match="'magic', which is not known"):
            Synthesizer.load(path)

    def test_another_class(self, path):
        with pytest.raises(ModelFileError, match="of Independent, not of Uniform"):
            Uniform.load(path)

    def test_another_archive(self, path):
        self.rewrite(path, lambda header, _: header.update(format="something else"))
        with pytest.raises(ModelFileError, match="is not a model of understudy"):
            Synthesizer.load(path)

    def test_an_archive_without_header(self, path):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("readme.txt", "hello")
        with pytest.raises(ModelFileError, match="is not a model of understudy"):
            Synthesizer.load(path)

    def test_a_cut_file(self, path):
        path.write_bytes(path.read_bytes()[:200])
        with pytest.raises(ModelFileError, match="not a model of understudy, or it is damaged"):
            Synthesizer.load(path)

    def test_a_flipped_byte(self, path):
        content = bytearray(path.read_bytes())
        content[150] ^= 0xFF
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match="damaged"):
            Synthesizer.load(path)

    def test_no_file(self, tmp_path):
        with pytest.raises(ModelFileError, match="There is no file"):
            Synthesizer.load(tmp_path / "absent.us")

    def test_an_existing_file_is_kept(self, path, survey):
        before = path.read_bytes()
        with pytest.raises(DataError, match="already exists"):
            Uniform().fit(survey).save(path)
        assert path.read_bytes() == before


def test_arrow_dictionaries_come_back_with_their_levels():
    frame = pa.table({"c": pa.array(["b", "a", "b"]).dictionary_encode()})
    drawn = Independent(random_state=0).fit(frame).sample(5)
    assert drawn.schema == frame.schema
    assert drawn["c"].combine_chunks().dictionary.to_pylist() == ["b", "a"]


def test_expected_copies_are_what_is_drawn_on_average(survey):
    table = survey.select("education", "religion", "method")
    model = BayesNet(random_state=1).fit(table)
    records = table.unique(maintain_order=True)
    expected = model.expected_copies(records, rows=1000)
    drawn = [model.sample(1000, random_state=seed) for seed in range(200)]
    counted = pl.concat(drawn).group_by(table.columns).len()
    means = records.join(counted, on=table.columns, how="left", maintain_order="left")["len"] / 200
    allowed = 5 * np.sqrt(expected / 200) + 0.05
    assert np.all(np.abs(means.fill_null(0).to_numpy() - expected) < allowed)
    # As many rows as the model was fitted to, unless it is said; unseen records have none.
    assert expected * len(table) / 1000 == pytest.approx(model.expected_copies(records))
    assert model.expected_copies(records.head(1).with_columns(method=pl.lit(9))).tolist() == [0.0]
    with pytest.raises(ParameterError, match="rows must be"):
        model.expected_copies(records, rows=-1)
    with pytest.raises(NotFittedError):
        BayesNet().expected_copies(records)


def test_identifiers_of_records_that_were_kept_back_are_not_made_up():
    # All identifiers of two letters and a digit that begin like the original's.
    ids = [f"{a}{b}{n}" for a in "AB" for b in "CDEFGH" for n in range(10)]
    everybody = pl.DataFrame({"id": ids, "x": [1, 2] * (len(ids) // 2)})
    kept = everybody[::2]
    model = Independent(random_state=1).fit(kept)
    assert model.schema_.identifiers == ("id",)
    made = model.avoid_identifiers(everybody).sample(500)["id"]
    assert made.n_unique() == 500
    assert not made.is_in(ids).any()


@pytest.mark.parametrize("method", [BayesNet, Cart, GaussianCopula])
def test_more_columns_than_can_be_compared_get_a_message_at_once(method, monkeypatch):
    monkeypatch.setattr(method, "most_columns", 3)
    table = pl.DataFrame(
        {f"v{place}": [row >> place & 1 for row in range(64)] for place in range(4)}
    )
    with pytest.raises(DataError, match="3 are the most that it can work with; this table has 4"):
        method().fit(table)
    method().fit(table.drop("v0"))
