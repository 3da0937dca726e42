"""The study of private releases: what is attacked, and that it says so."""

from __future__ import annotations

import pytest

pytest.importorskip("opendp")

from studies import private_risk as study
from understudy import Independent, load
from understudy.errors import ParameterError, UnderstudyError


@pytest.fixture
def small(monkeypatch):
    """Let a small table and two quick synthesizers do, beside a table that is not at hand."""
    scenes = (
        study.Scene("cmc", lambda: load("cmc"), 150, ("age", "education"), "method"),
        study.Scene("absent", lambda: study.fetch("nowhere"), 10, (), ""),
    )
    monkeypatch.setattr(study, "SCENES", scenes)
    made = {
        "plain": (Independent(random_state=1), False),
        "private": (Independent(epsilon=1, random_state=1), True),
    }
    monkeypatch.setattr(study, "models", lambda _: made)


@pytest.mark.usefixtures("small")
def test_every_release_is_attacked():
    lines = study.private_risk_markdown(releases=2).splitlines()
    assert lines[0].startswith("cmc: 150 records, 150 control records; age, education known")
    assert lines[0].endswith("2 releases.")
    rows = lines[4:6]
    assert [line.split(" | ")[0].strip("| ") for line in rows] == ["plain", "private"]
    assert all(line.count("%") == line.count("±") == 3 and " of 2" in line for line in rows)
    # A table that is not at hand is named, with where to get it.
    assert lines[7].startswith("absent is left out: ")


@pytest.mark.usefixtures("small")
def test_a_table_can_be_chosen():
    with pytest.raises(ParameterError, match="table must be one of"):
        study.private_risk_markdown("adult")
    with pytest.raises(UnderstudyError, match="nowhere"):
        study.private_risk_markdown("absent")


def test_a_public_schema_leaves_nothing_to_the_records():
    from understudy.privacy.domain import check_public

    check_public(study.public_schema(load("cmc")))


def test_private_releases_stand_beside_the_others():
    names = list(study.models(1))
    assert {"CART", "network", "AIM, epsilon 1", "PrivBayes, epsilon 0.1"} <= set(names)
