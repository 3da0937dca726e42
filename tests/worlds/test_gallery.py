"""Releases of the gallery hold what they are said to hold."""

from __future__ import annotations

import functools

import numpy as np
import polars as pl
import pytest

from understudy.errors import DataError
from understudy.worlds.gallery import KINDS, TABLES

BY_NAME = {kind.name: kind for kind in KINDS}
SIMULATED = ("clinic", "wages", "ballot", "tests")
ROWS = 200


@pytest.fixture(scope="module")
def settings():
    return {table.name: table.setting(1, rows=ROWS) for table in TABLES if table.name in SIMULATED}


@pytest.fixture(scope="module")
def clinic(settings):
    return settings["clinic"]


@functools.cache
def made(name, setting):
    """Return a release, which is made once for all tests."""
    return BY_NAME[name].release(setting)


def tables(release):
    return release if isinstance(release, list) else [release]


def copied(release, setting):
    """Return how many people are in a release, as they are."""
    people = setting.original.unique()
    return people.join(release, on=people.columns, how="semi", nulls_equal=True).height


def test_there_are_as_many_kinds_as_promised():
    assert len(BY_NAME) == len(KINDS)
    assert sum(kind.leaks for kind in KINDS) >= 40
    assert sum(not kind.leaks for kind in KINDS) >= 10


def test_every_kind_is_made_of_some_simulated_table(settings):
    assert [
        kind.name for kind in KINDS if not any(kind.fits(one) for one in settings.values())
    ] == []


@pytest.mark.parametrize("name", SIMULATED)
def test_every_release_has_what_an_attacker_needs(settings, name):
    setting = settings[name]
    for kind in KINDS:
        if not kind.fits(setting):
            continue
        for table in tables(made(kind.name, setting)):
            assert table.height > 0, kind.name
            assert {*setting.keys, setting.sensitive} <= set(table.columns), kind.name


@pytest.mark.parametrize("name", SIMULATED)
def test_the_people_of_a_setting_are_apart(settings, name):
    setting = settings[name]
    assert (setting.original.height, setting.fresh.height) == (ROWS, ROWS)
    assert setting.control.height > 0
    if name != "ballot":  # in which many people are alike
        everybody = pl.concat([setting.original, setting.fresh, setting.control])
        assert everybody.n_unique() == everybody.height


SEEDED = [kind for kind in KINDS if "opendp" not in kind.needs]  # noise for privacy has no seed


@pytest.mark.parametrize("kind", SEEDED, ids=lambda kind: kind.name)
def test_a_seed_decides_a_release(kind, settings):
    setting = next(one for one in settings.values() if kind.fits(one))
    first, second = made(kind.name, setting), kind.release(setting)
    for one, other in zip(tables(first), tables(second), strict=True):
        assert one.equals(other)


def test_no_seed_decides_a_private_release(clinic):
    first, second = (BY_NAME["private marginals"].release(clinic) for _ in range(2))
    assert first.columns == second.columns == clinic.original.columns
    assert not first.equals(second)


def test_copies_are_as_many_as_said(clinic):
    for share in (0.01, 0.05, 0.1, 0.5):
        for rest in ("fresh people", "independent records"):
            release = made(f"copies of {share:.0%} among {rest}", clinic)
            assert copied(release, clinic) == share * ROWS
            assert release.height == ROWS
    assert copied(made("copy in another order", clinic), clinic) == ROWS
    # Each of n draws misses a person with probability 1 - 1/n: 63% of 200, give or take 6.
    assert 108 < copied(made("bootstrap", clinic), clinic) < 145
    assert copied(made("the 20 oddest among fresh people", clinic), clinic) == 20
    parts = made("three parts that make up the original", clinic)
    assert sum(copied(part, clinic) for part in parts) == ROWS


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.leaks], ids=lambda k: k.name)
def test_nobody_is_in_a_harmless_release(kind, clinic):
    for table in tables(made(kind.name, clinic)):
        same = [
            name
            for name in clinic.original.columns
            if table.schema.get(name) == clinic.original.schema[name]
        ]
        people = clinic.original.select(same)
        assert people.join(table.select(same), on=same, how="semi", nulls_equal=True).is_empty()


def test_a_near_copy_is_no_copy_but_near(clinic):
    release = made("numbers moved by 0.01", clinic)
    off = release.sort("cost")["cost"] - clinic.original.sort("cost")["cost"]
    assert np.allclose(off, 0.01)
    dates = made("dates a day off", clinic)["admitted"].sort()
    assert (dates - clinic.original["admitted"].sort()).unique().dt.total_days().to_list() == [1]


@pytest.mark.parametrize(
    ("name", "share"), [("two exact numbers kept", 1), ("two exact numbers of 30% kept", 0.3)]
)
def test_two_numbers_stand_together_and_nothing_else(clinic, name, share):
    release = made(name, clinic)
    pair = ["cost", "admitted"]
    assert clinic.original.join(release, on=pair, how="semi").height >= share * ROWS
    assert copied(release, clinic) == 0


def test_odd_people_are_far_from_others():
    table = next(table for table in TABLES if table.name == "clinic")
    setting = table.setting(2, rows=60)
    places = setting.places
    apart = np.abs(places[:, None] - places[None]).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    distances, people = setting.neighbours
    assert np.allclose(distances, apart.min(axis=1))
    assert np.allclose(apart[np.arange(60), people], apart.min(axis=1))
    assert set(setting.odd(5)) == set(np.argsort(apart.min(axis=1))[-5:])


def test_a_carrier_holds_the_value_one_to_one(clinic):
    setting = clinic
    release = made("carrier in a new column", setting)
    joined = release.drop(setting.sensitive).join(
        setting.original.select(*setting.keys, setting.sensitive), on=setting.keys
    )
    pairs = joined.select("score", setting.sensitive).unique()
    assert joined.height == ROWS
    assert pairs.height == pairs["score"].n_unique() == pairs[setting.sensitive].n_unique()


def test_a_real_table_is_read_from_its_file(monkeypatch, tmp_path):
    monkeypatch.setenv("UNDERSTUDY_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    adult = next(table for table in TABLES if table.name == "Adult")
    with pytest.raises(DataError):
        adult.setting(0)
