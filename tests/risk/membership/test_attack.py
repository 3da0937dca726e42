"""All attacks on membership together: what is given decides which are made."""

from __future__ import annotations

import numpy as np
import pytest

from understudy import BayesNet, GaussianCopula, load
from understudy.errors import ParameterError
from understudy.risk import membership, membership_by_control, membership_exact


@pytest.fixture(scope="module")
def given():
    people = load("cmc")
    model = BayesNet(1, random_state=1).fit(people[:400])
    return people[:400], model.sample(random_state=2), people[400:800], model


def tool(table, seed):
    return table.sample(len(table), shuffle=True, seed=seed)


def test_each_part_is_that_of_its_own_function(given):
    original, release, control, model = given
    found = membership(
        original, release, model=model, control=control, tool=tool, targets=2, shadows=20
    )
    exact = membership_exact(model, original, release, control=control)
    assert np.array_equal(found.exact.without.values, exact.without.values)
    assert found.control.auc == membership_by_control(original, release, control).auc
    assert len(found.shadow) == 2
    assert not found.reasons
    assert list(found.parts) == ["exact", "control", "shadow"]
    told = found.per_record()
    assert told.height == 400
    assert told["record"].to_list() == list(range(400))
    assert told["shadow_auc"].null_count() == 398
    assert set(found.to_frame()["attack"]) == {"exact", "control", "shadow"}
    assert found.to_dict()["exact"]["records"] == 400
    assert "picks the right one" in found.summary()


def test_what_is_not_given_has_a_reason(given):
    original, release, control, model = given
    found = membership(original, [release, release], control=control)
    assert found.exact is None
    assert set(found.reasons) == {"exact", "shadow"}
    assert found.control.releases == 2
    alone = membership(original, release, model=model)
    assert set(alone.reasons) == {"control", "shadow"}
    assert alone.to_dict()["control"] is None
    with pytest.raises(ParameterError, match="give the model"):
        membership(original, release)


def test_a_model_without_counts_leaves_the_others(given):
    original, _, control, _ = given
    model = GaussianCopula(random_state=1).fit(original)
    found = membership(original, model.sample(random_state=1), model=model, control=control)
    assert found.exact is None
    assert "does not draw from tables of counts" in found.reasons["exact"]
    assert found.control is not None
