"""Copies owed to a person's own record: by hand, against fits without them, and against draws."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from tests.risk.membership.test_exact import MODELS, changed, release_log, survey
from understudy import BayesNet, Cart, GaussianCopula, Independent, load
from understudy.errors import DataError, NoDensityError, ParameterError
from understudy.risk import own_copies


def test_by_hand():
    people = pl.DataFrame({"x": ["a", "a", "b"], "y": ["p", "q", "q"]})
    found = own_copies(Independent().fit(people), people, rows=2)
    # (a, p) has 2/3 * 1/3; without the first person 1/2 * 0. (a, q): 2/3 * 2/3, and 1/2 * 1/2.
    inside, outside = np.array([2 / 9, 4 / 9, 2 / 9]), np.array([0, 1 / 4, 0])
    assert found.inside == pytest.approx(1 - (1 - inside) ** 2)
    assert found.outside == pytest.approx(1 - (1 - outside) ** 2)
    assert found.share == pytest.approx(np.mean(found.inside - found.outside))
    assert found.largest == pytest.approx(1 - (1 - 2 / 9) ** 2)
    assert found.per_record()["record"].to_list() == [0, 1, 2]


@pytest.mark.parametrize("name", MODELS)
def test_agrees_with_a_twin_that_counts_anew(name):
    people = survey(60)
    model = MODELS[name]().fit(people)
    found = own_copies(model, people, rows=1)
    tables, original = model.sampling_tables(), model.codec_.encode(people)
    for row in (0, 7, 31, 59):
        record = original.take(np.array([row]))
        others = release_log(tables, changed(original, row), record)
        assert found.outside[row] == pytest.approx(math.exp(others), rel=1e-9)
        everybody = release_log(tables, original, record)
        assert found.inside[row] == pytest.approx(math.exp(everybody), rel=1e-9)


def test_as_often_as_in_many_releases():
    people = load("buyer_beware")
    model = Cart(smoothing_leaves=0, random_state=1).fit(people)
    found = own_copies(model, people)
    releases = [model.sample(random_state=seed) for seed in range(200)]
    last = people.row(-1)
    seen = np.mean([(release.rows().count(last)) > 0 for release in releases])
    # The paper's record: a copy in 63% of the releases; four standard errors of 200 of them.
    assert found.inside[-1] == pytest.approx(1 - 1 / math.e, abs=0.001)
    assert abs(seen - found.inside[-1]) < 4 * math.sqrt(0.25 / 200)
    assert found.outside[-1] == 0
    assert found.largest == found.gains[-1]


def test_memorising_shows():
    people = load("cmc")
    shares = {
        "by heart": BayesNet(3, "greedy", smoothing=0, random_state=1),
        "smoothed": BayesNet(random_state=1),
        "no links": Independent(random_state=1),
    }
    found = {name: own_copies(model.fit(people), people).share for name, model in shares.items()}
    assert found["by heart"] > 0.15
    assert 0 < found["no links"] < found["smoothed"] < 0.03


def test_more_rows_more_copies_and_one_record_alone():
    people = survey(40)
    model = Independent().fit(people)
    few, many = (own_copies(model, people, rows=rows) for rows in (5, 500))
    assert (many.inside > few.inside).all()
    assert own_copies(model, people).rows == 40
    alone = people[:1]
    found = own_copies(Independent().fit(alone), alone)
    assert (found.inside.tolist(), found.outside.tolist()) == ([1.0], [0.0])


def test_a_column_that_only_one_record_takes_part_in():
    people = pl.DataFrame({"x": ["a", "a", "b"], "y": ["p", "p", "q"]})
    model = Cart(minbucket=1, smoothing_leaves=0, random_state=1).fit(people)
    assert np.isfinite(own_copies(model, people).outside).all()


def test_same_kind_out_and_plain_values():
    people = survey(30).to_pandas()
    found = own_copies(Independent().fit(people), people)
    assert type(found.per_record()).__module__.startswith("pandas")
    assert set(found.to_dict()) == {"records", "rows", "share", "by_chance", "largest"}
    assert "because they are in the data" in found.summary()


def test_what_cannot_be_told():
    people = survey(30)
    with pytest.raises(DataError, match="fitted to 30 records"):
        own_copies(Independent().fit(people), people[:20])
    with pytest.raises(NoDensityError):
        own_copies(GaussianCopula().fit(people), people)
    with pytest.raises(ParameterError, match="not fitted"):
        own_copies(Independent(), people)
    with pytest.raises(ParameterError, match="rows"):
        own_copies(Independent().fit(people), people, rows=0)
