"""The attack on a unit's records together, against twins that count anew in every world."""

import math

import numpy as np
import polars as pl
import pytest

from tests.risk.strong.test_fixed import letters, network_log_likelihood, tree_log_likelihood
from understudy import BayesNet, Cart, Independent, Schema, risk
from understudy.data import Coded
from understudy.errors import DataError, NoDensityError, ParameterError
from understudy.risk.membership import membership_exact
from understudy.risk.strong.release import Release
from understudy.risk.strong.whole_units import (
    UnitLikelihood,
    strong_attacker_on_units,
    unit_membership_logs,
)


def with_units(frame, units, constant):
    """Return a table in which a column is the same in all records of a unit."""
    first = frame.with_columns(unit=pl.Series(units)).group_by("unit").first()
    of_unit = dict(zip(first["unit"], first[constant], strict=True))
    return frame.with_columns(
        pl.Series(constant, [of_unit[unit] for unit in units]), unit=pl.Series(units)
    )


def fitted(model, frame):
    # An identifier, not a unit: each record is drawn by itself.
    return model.fit(frame, Schema.infer(frame, kinds={"unit": "identifier"}))


def twin(model, original, synthetic):
    if isinstance(model, Cart):
        return tree_log_likelihood(model, original, synthetic)
    parents = dict.fromkeys(original.names, ())
    if isinstance(model, BayesNet):
        parents = model.network_.parents
    return network_log_likelihood(parents, original.names, original, synthetic)


UNITS = [0, 0, 1, 2, 2, 2, 3, 4, 4, 0]
MODELS = {
    "independent": lambda seed: Independent(random_state=seed),
    "network": lambda seed: BayesNet(2, smoothing=0, random_state=seed),
    "tree": lambda seed: Cart(smoothing_leaves=0, minbucket=2, random_state=seed),
    "smoothed tree": lambda seed: Cart(minbucket=2, random_state=seed),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "smoothed tree" else ())
        for name in MODELS
    ],
)
def test_all_worlds_are_those_of_the_twin(name):
    impossible = 0
    for seed in range(3):
        frame = with_units(letters(seed, 10), UNITS, "b")
        model = fitted(MODELS[name](seed), frame)
        release = Release.of(model, frame, model.sample(7, random_state=seed))
        original, units = release.original, np.array(UNITS)
        everything = UnitLikelihood.of(model, [release], units, original.names)
        of_value = UnitLikelihood.of(model, [release], units, ["b"])
        values = original.cardinality("b")
        before = twin(model, original, release.synthetic)
        gone = everything.without(np.arange(5))
        changed = of_value.with_value(np.arange(5), "b", values)
        for unit in range(5):
            rest = original.take(np.flatnonzero(units != unit))
            expected = twin(model, rest, release.synthetic) - before
            assert gone[unit] == pytest.approx(expected, abs=1e-9)
            impossible += expected == -math.inf
            for value in range(values):
                column = np.where(units == unit, value, original["b"]).astype(original["b"].dtype)
                columns = tuple(column if one == "b" else original[one] for one in original.names)
                world = Coded(original.names, columns, original.cardinalities)
                expected = twin(model, world, release.synthetic) - before
                assert changed[unit, value] == pytest.approx(expected, abs=1e-9)
    assert impossible or "smoothed" in name


@pytest.mark.parametrize("smoothing", [0, "auto"])
def test_smoothed_networks_are_those_that_are_counted_anew(smoothing):
    frame = with_units(letters(3, 10), UNITS, "b")
    model = fitted(BayesNet(2, random_state=1, **({} if smoothing else {"smoothing": 0})), frame)
    synthetic = model.sample(7, random_state=1)
    # Units of one record are what the attack on single records looks at.
    frame = frame.with_columns(unit=pl.int_range(pl.len()))
    by_unit = strong_attacker_on_units(
        model, frame, synthetic, unknown="b", unit_id="unit", prior=[0.5, 0.3, 0.2][: levels(frame)]
    )
    alone = risk.strong_attacker(
        model, frame, synthetic, unknown="b", mode="fixed", prior=[0.5, 0.3, 0.2][: levels(frame)]
    )
    np.testing.assert_allclose(by_unit.posterior, alone.posterior, atol=1e-9)
    np.testing.assert_allclose(by_unit.prior, alone.prior)
    assert by_unit.guess == alone.guess
    _, logs = unit_membership_logs(model, frame, synthetic, "unit")
    exact = membership_exact(model, frame, synthetic, draws=0)
    np.testing.assert_allclose(1 / (1 + np.exp(logs)), exact.without.values, atol=1e-9)


def levels(frame):
    return frame["b"].n_unique()


def test_two_records_are_worth_more_than_one():
    # 20 households with two records each: one of them is the only one that is ill.
    table = pl.DataFrame({"unit": np.repeat(np.arange(20), 2), "ill": ["yes"] * 2 + ["no"] * 38})
    model = fitted(Independent(random_state=1), table)
    release = pl.DataFrame({"unit": [100, 101], "ill": ["yes", "no"]})
    alone = risk.strong_attacker(model, table, release, unknown="ill", mode="fixed")
    together = strong_attacker_on_units(model, table, release, unknown="ill", unit_id="unit")
    assert alone.certain == 0  # the other record of the household is ill as well
    assert together.certain == 1
    assert together.worst(1)["record"].item() == 0
    found = membership_exact(model, table, release, draws=0, unit_id="unit")
    assert (found.without.certain, len(found)) == (1, 20)
    assert membership_exact(model, table, release, draws=0).without.certain == 0


def test_units_whose_records_differ():
    table = pl.DataFrame({"unit": np.arange(40) // 2, "x": list("ab") * 20})
    model = fitted(Independent(random_state=1), table)
    with pytest.raises(DataError, match="records of no unit have the same value of 'x'"):
        strong_attacker_on_units(model, table, model.sample(5), unknown="x", unit_id="unit")
    one = table.with_columns(x=pl.Series([*"ab", *("a" * 18), *("b" * 20)]))
    model = fitted(Independent(random_state=1), one)
    found = strong_attacker_on_units(model, one, model.sample(5), unknown="x", unit_id="unit")
    assert len(found) == 19
    assert "1 unit whose records do not agree on 'x' were left out" in found.notes[0]


def test_what_cannot_be_attacked_is_told():
    table = pl.DataFrame({"unit": np.arange(40) // 2, "x": ["a", "a", "b", "b"] * 10})
    model = fitted(Independent(random_state=1), table)
    with pytest.raises(ParameterError, match="unit_id"):
        strong_attacker_on_units(model, table, model.sample(5), unknown="x", unit_id="uni")
    with pytest.raises(ParameterError, match="fitted synthesizer"):
        strong_attacker_on_units("model", table, table, unknown="x", unit_id="unit")
    with pytest.raises(ParameterError, match="not fitted"):
        strong_attacker_on_units(Independent(), table, table, unknown="x", unit_id="unit")
    proper = fitted(Cart(proper=True, random_state=1), table)
    with pytest.raises(NoDensityError, match="random sample"):
        strong_attacker_on_units(proper, table, table, unknown="x", unit_id="unit")
