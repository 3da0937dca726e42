"""Own copies in an audit: what the model says is an answer if it has just drawn the release."""

from __future__ import annotations

import polars as pl
import pytest

from understudy import BayesNet, GaussianCopula, audit, load
from understudy.errors import ParameterError
from understudy.risk import own_copies

ASKED = {"keys": ["age"], "sensitive": "method", "measures": "quick", "random_state": 1}


@pytest.fixture(scope="module")
def people():
    return load("cmc").sample(fraction=1, shuffle=True, seed=2)


@pytest.fixture(scope="module")
def model(people):
    return BayesNet(random_state=1).fit(people)


def records(found):
    return found.verdict.releases[0].answers["records"]


def test_the_figure_is_that_of_the_function(people, model):
    found = audit(people, model.sample(copies=2, random_state=3), model=model, **ASKED)
    own = own_copies(model, people, rows=2 * len(people))
    (figure,) = [one for one in found.findings.releases[0].figures if one.measure == "own_copies"]
    assert (figure.gain, figure.baseline) == (own.share, own.by_chance)
    assert found.metrics()["own_copies.largest"] == own.largest
    assert not found.findings.releases[0].drawn


def test_it_answers_where_lookalikes_have_no_power(people, model):
    release = model.sample(random_state=3)
    unknown = records(audit(people, release, model=model, **ASKED))
    assert unknown.level == "not measured"
    known = records(audit(people, release, model=model, drawn=True, **ASKED))
    assert (known.level, known.power) == ("low", 0.0)


def test_copies_put_in_are_found_although_the_model_made_none(people, model):
    release = pl.concat([people[:700], model.sample(773, random_state=3)])
    found = records(audit(people, release, model=model, drawn=True, **ASKED))
    assert found.level == "high"


def test_no_figure_of_a_model_without_a_density(people):
    model = GaussianCopula(random_state=1).fit(people)
    found = audit(people, model.sample(), model=model, drawn=True, **ASKED)
    (figure,) = [one for one in found.findings.releases[0].figures if one.measure == "own_copies"]
    assert figure.note.startswith("Not measured")
    assert "own_copies" not in found.findings.releases[0].errors
    assert records(found).power != 0


@pytest.mark.parametrize(
    ("drawn", "told"),
    [(["other"], "no release 'other'"), ("synthetic", "got 'synthetic'"), (3, "got 3")],
)
def test_who_drew_it_must_be_said_of_a_release_with_a_model(people, model, drawn, told):
    with pytest.raises(ParameterError, match=told):
        audit(people, model.sample(), model=model, drawn=drawn, **ASKED)
    with pytest.raises(ParameterError, match="has no model"):
        audit(people, model.sample(), drawn=["synthetic"], **ASKED)
