"""The strong attacker on the syntheses of the paper: the figures that it must show."""

import math

import pytest
from typer.testing import CliRunner

from studies.__main__ import app
from studies.sixteen_worlds import (
    RECORD,
    attacked_markdown,
    protections,
    protections_markdown,
    published_syntheses,
)
from understudy.data import load


@pytest.fixture(scope="module")
def published():
    return published_syntheses()


def test_the_record_is_the_unique_one():
    assert load("buyer_beware").row(RECORD) == (1, 1, 1, 1)


def test_certain_in_the_eight_that_hold_it_and_unlikely_in_the_two_that_do_not(published):
    assert [one.copies for one in published] == [1, 0, 1, 3, 2, 1, 3, 0, 1, 1]
    for one in published:
        (posterior,) = one.refit.posterior
        if one.copies:
            assert math.isclose(posterior, 1, abs_tol=1e-12)
        else:
            assert 0.02 < posterior < 0.03
        assert one.refit.prior[0] == pytest.approx(1 / 16)


def test_all_records_with_the_trees_as_published(published):
    for one in published:
        assert len(one.fixed) == 1000
        assert one.fixed.posterior[RECORD] == pytest.approx(one.refit.posterior[0], abs=1e-9)
        assert one.fixed.certain == (one.copies > 0)


def test_replicated_uniques_and_disco_say_the_opposite(published):
    assert all(one.repu == 0 for one in published)
    assert [one.disco for one in published] == pytest.approx(
        [0.066 if one.copies == 0 else 0 for one in published]
    )


def test_table(published):
    lines = attacked_markdown(published).splitlines()
    assert len(lines) == 12
    assert lines[2].startswith("| synthesis 1 | 1 | 0.00% | 0.00% | 1.0000 | 1.0000 | 1 |")
    assert lines[3].startswith("| synthesis 2 | 0 | 0.00% | 6.60% | 0.0240 | 0.0240 | 0 |")


@pytest.mark.slow
def test_larger_leaves_and_dearer_splits_protect():
    default, leaves, splits = protections(10)
    assert default.certain > 0
    assert leaves.certain == splits.certain == 0
    assert 0.05 < sum(leaves.posteriors) / 10 < 0.08
    assert 0.055 < sum(splits.posteriors) / 10 < 0.07
    assert protections_markdown([leaves]).splitlines()[2].endswith("| 0 of 10 |")


def test_command():
    done = CliRunner().invoke(app, ["sixteen-worlds", "--releases", "2"])
    assert done.exit_code == 0
    assert done.output.count("| synthesis ") == 10
    assert "| 75 | 1e-08 |" in done.output
