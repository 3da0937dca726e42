"""Copies: told from releases that hold nearly all of few different records by chance."""

from __future__ import annotations

import numpy as np
import polars as pl

from understudy import audit

PEOPLE = 600


def answers(seed):
    """Return who has which of 243 records, some far more often than others."""
    rng = np.random.default_rng(seed)
    mood = rng.integers(0, 3, PEOPLE)
    return pl.DataFrame(
        {
            name: np.where(rng.random(PEOPLE) < 0.5, mood, rng.integers(0, 3, PEOPLE))
            for name in "abcde"
        }
    )


def found(original, release):
    held = audit(
        original, release, keys=["a", "b", "c"], sensitive="e", measures="quick", random_state=1
    )
    (findings,), (verdict,) = held.findings.releases, held.verdict.releases
    return findings, verdict.answers["records"].level


def test_made_up_records_that_repeat_what_is_there_are_no_copy():
    original = answers(1)
    rng = np.random.default_rng(2)
    loose = pl.DataFrame([one[rng.permutation(PEOPLE)] for one in original])
    several = pl.concat([answers(seed) for seed in range(3, 7)])
    for release in (loose, several):
        findings, level = found(original, release)
        assert findings.one_of_a_kind >= 20
        assert findings.copied > 0.85
        assert findings.new_records > 0.6
        assert level == "not measured"


def test_a_copy_is_one_among_few_different_records_too():
    original = answers(1)
    copy = original.sample(PEOPLE, shuffle=True, seed=1)
    for release in (copy, pl.concat([copy, answers(2)])):
        findings, level = found(original, release)
        assert findings.copied == 1
        assert level == "high"
    assert found(original, copy)[0].new_records == 0
