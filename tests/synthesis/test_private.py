"""Private models: nothing of a record in them, noise that no seed repeats, and what they refuse."""

from __future__ import annotations

import json
import logging
import zipfile
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from understudy import BayesNet, Cart, GaussianCopula, Independent, Schema, Synthesizer, Uniform
from understudy.data import detect, read, scan, write
from understudy.data.schema import Column
from understudy.errors import (
    DataError,
    ModelFileError,
    NoDensityError,
    ParameterError,
    PublicDomainError,
    SchemaError,
)
from understudy.privacy import BudgetError, MissingPrivacyError, noise

METHODS = [Independent, BayesNet]
ROWS = 600
SECRET_NAME, SECRET_NUMBER = "Hildegardis", 8_765_432
COLUMNS = {
    "town": Column("town", "categorical", levels=("a", "b", "c")),
    "age": Column("age", "integer", range=(0, 99), binning="width", bins=5, missing=0.1),
    "score": Column("score", "real", range=(0.0, 1.0), binning="width", bins=4, decimals=2),
    "ill": Column("ill", "boolean"),
    "id": Column("id", "identifier"),
}
SCHEMA = Schema(COLUMNS.values()).as_public()


def people(secret=False):
    """Make a table; with a secret, one of its records has values that no other has."""
    rng = np.random.default_rng(1)
    table = pl.DataFrame(
        {
            "town": rng.choice(["a", "b", "c"], ROWS),
            "age": rng.integers(0, 100, ROWS),
            "score": rng.random(ROWS).round(2),
            "ill": rng.random(ROWS) < 0.3,
            "id": [f"person {place}" for place in range(ROWS)],
        }
    )
    if not secret:
        return table
    odd = pl.DataFrame(
        {
            "town": [SECRET_NAME],
            "age": [SECRET_NUMBER],
            "score": [0.123456789],
            "ill": [True],
            "id": [f"{SECRET_NAME} 7"],
        }
    )
    return pl.concat([table.tail(ROWS - 1), odd])


def contents(path):
    """Return all bytes of a model file, unpacked."""
    with zipfile.ZipFile(path) as file:
        return b"".join(file.read(name) for name in file.namelist())


def told(value):
    """Return the ways in which a value may stand in a file."""
    if isinstance(value, str):
        return [value.encode(), value.encode("utf-16-le"), value.encode("utf-32-le")]
    kinds = (np.int64, np.int32, np.float64)
    return [str(value).encode(), f"{value:,}".encode(), *(kind(value).tobytes() for kind in kinds)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("neighbours", ["change-one", "add-remove"])
@pytest.mark.parametrize("spend", [0, 0.3])
def test_nothing_of_a_single_record_is_in_the_model_or_said(
    method, neighbours, spend, tmp_path, caplog
):
    caplog.set_level(logging.DEBUG)
    write(people(secret=True), tmp_path / "data.csv")
    table = read(tmp_path / "data.csv")
    # The inferred schema has all levels and the largest number: where it is not public, it must
    # not be used.
    schema = Schema.infer(table).edit("id", kind="identifier") if spend else SCHEMA
    model = method(epsilon=3, neighbours=neighbours, spend_on_domain=spend, random_state=1)
    model.fit(table, schema, dialect=detect(tmp_path / "data.csv"))
    model.save(tmp_path / "m.us")
    model.sample_to(tmp_path / "drawn.csv", 2000)
    everything = contents(tmp_path / "m.us") + (tmp_path / "drawn.csv").read_bytes()
    everything += caplog.text.encode() + repr(model).encode()
    found = [
        one for value in (SECRET_NAME, SECRET_NUMBER) for one in told(value) if one in everything
    ]
    assert found == []
    assert b"0.123456789" not in everything


def test_the_search_for_secrets_finds_them_without_epsilon(tmp_path):
    Independent(ends=1).fit(people(secret=True)).save(tmp_path / "m.us")
    assert SECRET_NAME.encode() in contents(tmp_path / "m.us")


@pytest.mark.parametrize("method", METHODS)
def test_the_header_is_the_same_whatever_the_records_are(method, tmp_path):
    headers = []
    for secret in (False, True):
        model = method(epsilon=1, random_state=1).fit(people(secret), SCHEMA)
        model.save(tmp_path / "m.us", overwrite=True)
        with zipfile.ZipFile(tmp_path / "m.us") as file:
            header = json.loads(file.read("model.json"))
        header["ledger"]["entries"] = []  # what was asked depends on the noisy choices
        headers.append(
            {key: header[key] for key in ("params", "rows", "codec", "rare_cells", "ledger")}
        )
    assert headers[0] == headers[1]


@pytest.mark.parametrize("method", METHODS)
def test_no_seed_repeats_the_noise(method):
    first, second = (method(epsilon=1, random_state=1).fit(people(), SCHEMA) for _ in range(2))
    assert not first.sample().equals(second.sample())
    # Sampling from one noisy model can be repeated.
    assert first.sample().equals(first.sample())
    assert first.sample(random_state=5).equals(first.sample(random_state=5))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("spend", [0, 0.2])
def test_the_ledger_proves_the_promise(method, spend):
    model = method(epsilon=0.7, spend_on_domain=spend).fit(people().drop("id"), SCHEMA.drop("id"))
    ledger = model.ledger_
    assert ledger.guarantee.epsilon == Fraction(7, 10)
    assert ledger.spent <= ledger.total
    assert list(ledger.problems()) == []
    assert ledger.opendp


@pytest.mark.parametrize("method", METHODS)
def test_saved_and_loaded(method, tmp_path):
    model = method(epsilon=1, delta=None, random_state=1).fit(people(), SCHEMA)
    model.save(tmp_path / "m.us")
    again = Synthesizer.load(tmp_path / "m.us")
    assert again.ledger_ == model.ledger_
    assert again.is_private
    assert again.sample(random_state=2).equals(model.sample(random_state=2))
    some = people().head(5)
    assert again.log_likelihood(some).tolist() == model.log_likelihood(some).tolist()


@pytest.mark.parametrize("method", METHODS)
def test_a_model_without_epsilon_is_written_as_ever(method, tmp_path):
    model = method(random_state=1).fit(people().drop("id"))
    assert model.ledger_ is None
    params = model._plain_params()
    assert not {"epsilon", "delta", "neighbours", "spend_on_domain", "preset"} & set(params)
    model.save(tmp_path / "m.us")
    assert b"ledger" not in contents(tmp_path / "m.us")
    assert Synthesizer.load(tmp_path / "m.us").epsilon is None


def test_how_long_a_private_fit_took_is_not_told():
    told = {
        epsilon: Independent(epsilon=epsilon).fit(people(), SCHEMA).contents(with_times=True)[0]
        for epsilon in (None, 1)
    }
    assert "seconds" in told[None]
    assert "seconds" not in told[1]


def test_a_ledger_that_was_taken_out_of_a_file_is_missed(tmp_path):
    model = Independent(epsilon=1).fit(people(), SCHEMA)
    model.ledger_ = None
    model.save(tmp_path / "m.us")
    with pytest.raises(ModelFileError, match="damaged"):
        Synthesizer.load(tmp_path / "m.us")


def test_every_library_of_frames(as_frame):
    columns = {"town": ["a", "b", None, "a"] * 100, "n": [1, 2, 3, 4] * 100}
    schema = Schema(
        [
            Column("town", "categorical", levels=("a", "b"), missing=0.5),
            Column("n", "integer", levels=(1, 2, 3, 4)),
        ]
    ).as_public()
    drawn = Independent(epsilon=50, random_state=1).fit(as_frame(columns), schema).sample()
    assert type(drawn) is type(as_frame(columns))


def test_a_stream_gives_the_same_questions(tmp_path):
    write(people(), tmp_path / "t.csv")
    stream = scan(tmp_path / "t.csv", batch_rows=100)
    for spend in (0, 0.3):
        model = Independent(epsilon=50, spend_on_domain=spend).fit(stream, SCHEMA)
        assert model.n_rows_ == ROWS
        whole = Independent(epsilon=50, spend_on_domain=spend).fit(people(), SCHEMA)
        asked = [[e.what for e in one.ledger_.entries] for one in (model, whole)]
        assert asked[0] == asked[1]


def test_shares_are_those_of_the_original_if_noise_is_small():
    drawn = Independent(epsilon=1000, random_state=1).fit(people(), SCHEMA).sample(20_000)
    for name in ("town", "ill"):
        own, synthetic = (
            dict(table[name].value_counts(normalize=True).iter_rows())
            for table in (people(), drawn)
        )
        assert synthetic == {level: pytest.approx(share, abs=0.02) for level, share in own.items()}


def test_noisy_counts_are_unbiased_before_they_are_made_possible(monkeypatch):
    seen = []
    own = noise.with_laplace

    def watched(counts, scale):
        noisy = own(counts, scale)
        seen.append(((noisy - counts) / scale).ravel())
        return noisy

    monkeypatch.setattr(noise, "with_laplace", watched)
    for _ in range(40):
        Independent(epsilon=0.5).fit(people(), SCHEMA)
    errors = np.concatenate(seen)
    # A standard error is 1.41 over the root of their number: six of them.
    assert abs(errors.mean()) < 6 * 1.42 / np.sqrt(len(errors))
    assert (errors < -0.5).any()


def test_the_number_of_records_is_public_or_noisy():
    assert Independent(epsilon=1).fit(people(), SCHEMA).n_rows_ == ROWS
    found = {
        Independent(epsilon=1, neighbours="add-remove").fit(people(), SCHEMA).n_rows_
        for _ in range(5)
    }
    assert len(found) > 1
    # The sum of 25 cells with noise of scale 4: a standard deviation of about 15.
    assert all(abs(rows - ROWS) < 200 for rows in found)


def test_an_empty_table_is_no_error_if_a_record_may_be_absent():
    none = people().head(0)
    assert Independent(epsilon=1, neighbours="add-remove").fit(none, SCHEMA).n_rows_ >= 1
    with pytest.raises(DataError, match="no rows"):
        Independent(epsilon=1).fit(none, SCHEMA)


def test_noise_that_hides_columns_is_told_by_what_is_public_alone(caplog):
    Independent(epsilon=0.01).fit(people(), SCHEMA)
    assert (
        "noise is larger than the average count of 'town', 'age', 'score' and 'ill'" in caplog.text
    )
    said = caplog.text
    caplog.clear()
    Independent(epsilon=0.01).fit(people(secret=True), SCHEMA)
    assert caplog.text == said


@pytest.mark.parametrize("method", METHODS)
def test_a_schema_that_is_not_public_is_refused(method):
    with pytest.raises(PublicDomainError, match="not declared public: 'town', 'age'"):
        method(epsilon=1).fit(people())
    with pytest.raises(PublicDomainError, match="'ill'"):
        method(epsilon=1).fit(people(), SCHEMA.edit("ill", public=False))


def test_units_are_refused():
    schema = SCHEMA.edit("id", role="unit")
    with pytest.raises(SchemaError, match=r"epsilon holds for one record.*\n.*'id' names the unit"):
        BayesNet(epsilon=1).fit(people(), schema)


@pytest.mark.parametrize(
    ("method", "reason"),
    [
        (Cart, "Its trees are cut where single records lie"),
        (GaussianCopula, "Its margins are the values of the records"),
        (Uniform, "It learns nothing"),
    ],
)
def test_methods_that_cannot_be_private_say_why(method, reason):
    with pytest.raises(ParameterError, match=f"cannot be private, and takes no epsilon. {reason}"):
        method(epsilon=1)
    assert method(random_state=1).clone().get_params()["random_state"] == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"delta": 0.1}, "`delta` has no effect without `epsilon`"),
        ({"spend_on_domain": 0.1}, "`spend_on_domain` has no effect"),
        ({"neighbours": "add-remove"}, "`neighbours` has no effect"),
        ({"epsilon": 0}, "epsilon must be a positive number; got 0"),
        ({"epsilon": 1, "spend_on_domain": 1}, "spend_on_domain must be a share"),
        ({"epsilon": 1, "delta": 0.5}, "delta must be below 1 in the number of records"),
        ({"epsilon": 1, "neighbours": "remove"}, "neighbours"),
    ],
)
def test_parameters_that_cannot_be_used(parameters, message):
    with pytest.raises(ParameterError, match=message):
        Independent(**parameters).fit(people(), SCHEMA)


def test_a_private_model_cannot_be_fitted_again():
    model = Independent(epsilon=1).fit(people(), SCHEMA)
    coded = model.codec_.encode(people().head(10))
    for ask in (lambda: model.refit(coded), model.sampling_tables):
        with pytest.raises(NoDensityError, match="noise that nobody can draw again"):
            ask()
    assert model.cells() == (0, 0)
    assert model.avoid_identifiers(people()) is model


def test_whoever_keeps_account_may_refuse_before_any_question(monkeypatch):
    monkeypatch.setattr(noise, "_noised", lambda *_: pytest.fail("drawn"))
    model = Independent(epsilon=1)

    def refuse(guarantee):
        raise BudgetError(f"no {guarantee}")

    model.before_noise = refuse
    with pytest.raises(BudgetError, match="no epsilon 1"):
        model.fit(people(), SCHEMA)
    assert not hasattr(model, "codec_")


def test_without_opendp_one_message_says_what_to_install(monkeypatch):
    def missing():
        raise MissingPrivacyError("install it")

    monkeypatch.setattr(noise, "_opendp", missing)
    with pytest.raises(MissingPrivacyError):
        Independent(epsilon=1).fit(people(), SCHEMA)
    Independent().fit(people().drop("id"))  # needs none
