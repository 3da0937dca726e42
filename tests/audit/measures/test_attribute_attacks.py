"""The attribute attacks in an audit: figures, differences to people kept back, and no values."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from understudy import audit
from understudy.audit.gate_names import figure_names
from understudy.audit.measures.declaration import DIFFERENCE

KEYS = ["age", "job", "town"]
NEW = ("telling_keys", "nearest_neighbour", "rare_values", "carriers")
QUICK = {"keys": KEYS, "measures": "quick", "random_state": 1}


def people(seed, rows=400):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "job": rng.choice(list("abcdef"), rows),
            "town": rng.choice([f"t{town}" for town in range(12)], rows),
            "ill": rng.choice(["no", "flu", "gout"], rows, p=[0.75, 0.2, 0.05]),
            "pay": rng.lognormal(10, 1, rows),
            "day": pl.date_range(pl.date(1970, 1, 1), pl.date(1980, 1, 1), eager=True).sample(
                rows, seed=seed
            ),
            "shoes": rng.normal(42, 2, rows).round(),
        }
    )


def first(found):
    assert not found.findings.releases[0].errors
    return found.findings.releases[0]


@pytest.mark.parametrize("sensitive", ["ill", "pay", "day"])
def test_a_copy_is_seen_by_all_of_them(sensitive):
    original, control = people(1), people(2)
    found = first(audit(original, original, sensitive=sensitive, control=control, **QUICK))
    for name in ("telling_keys", "nearest_neighbour", "rare_values"):
        figure = found.figure(name)
        assert figure.gain > 0.15
        assert figure.control < figure.synthetic - 0.1
        assert found.numbers[f"{name}.p_value"] < 1e-3
        assert found.numbers[f"{name}.difference_p_value"] < 1e-3
    for name in ("gcap", "icap", "zero_cap", "telling_keys", "nearest_neighbour"):
        low, high = (found.numbers[f"{name}.difference_{end}"] for end in ("low", "high"))
        assert 0 < low < found.numbers[f"{name}.difference"] < high


def test_a_hidden_column_is_seen():
    original, control = people(3), people(4)
    release = original.with_columns(
        pl.col("ill").shuffle(1),
        code=original["ill"].replace_strict({"no": 1, "flu": 2, "gout": 3}),
    )
    found = first(audit(original, release, sensitive="ill", control=control, **QUICK))
    assert found.figure("carriers").gain > 0.15
    assert "'code'" in found.figure("carriers").note
    assert found.numbers["carriers.p_value"] < 1e-6
    assert found.numbers["carriers.difference_p_value"] < 1e-6


def test_the_gate_knows_their_names():
    names = figure_names()
    for name in NEW:
        assert "p_value" in names[name]
    for name in ("gcap", "vote", "papers_vote", "disco", "telling_keys", "carriers"):
        assert set(DIFFERENCE) <= set(names[name])


def test_several_releases_and_no_control():
    original = people(5)
    found = first(audit(original, [original, people(6)], sensitive="ill", **QUICK))
    assert found.figure("telling_keys").spread > 0
    assert not any("difference" in name for name in found.numbers)


def test_a_tolerance_is_told():
    original = people(7)
    found = first(audit(original, original, sensitive="pay", **QUICK))
    assert "fewer than 5% of the original's records" in found.figure("gcap").note
    exact = first(audit(original, original, sensitive="ill", **QUICK))
    assert not exact.figure("gcap").note


def test_no_value_of_the_original_is_told():
    original = people(8).with_columns(
        ill=pl.when(pl.int_range(400) < 9).then(pl.lit("unspeakable")).otherwise(pl.col("ill"))
    )
    release = original.filter(pl.col("ill") != "unspeakable")
    text = audit(original, release, sensitive="ill", **QUICK).to_json()
    assert "unspeakable" not in text
    grouped = audit(original, original, sensitive="pay", groups={"pay": 4}, **QUICK)
    note = first(grouped).figure("rare_values").note
    assert note.startswith("A group of numbers: told for")
