"""Raw numbers in an audit: what is found, said first, gated, written and read back."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from understudy.audit import audit
from understudy.audit.gate import check
from understudy.audit.json_form import from_text, to_text
from understudy.audit.measures.correlations import MOST_SHOWN
from understudy.audit.tradeoff import is_poor


def flights(rows, seed):
    rng = np.random.default_rng(seed)
    out = rng.normal(10, 30, rows).round()
    return pl.DataFrame(
        {
            "out": out,
            "back": (out + rng.normal(0, 13, rows)).round(),
            "origin": rng.choice(["EWR", "JFK", "LGA"], rows),
            "late": np.where(out > 40, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def lost():
    original = flights(600, 1)
    release = flights(600, 2).with_columns(pl.col("back", "late").shuffle(seed=1))
    return audit(
        original, release, keys="origin", sensitive="late", control=flights(200, 3),
        measures="quick", random_state=1,
    )  # fmt: skip


def test_the_lost_correlation_is_the_first_thing_said_of_the_use(lost):
    (verdict,) = lost.verdict.releases
    found = lost.findings.releases[0].utility.correlations
    (loss,) = found.losses
    told = f"fell from {loss.original:.3f} to {loss.synthetic:.3f}"
    assert loss.columns == ("out", "back")
    assert loss.control == pytest.approx(loss.original, abs=0.05)
    assert verdict.lost.startswith(f"The correlation of 'out' and 'back' {told}.")
    about_use = [one for one in verdict.sentences if "Tables of" in one or told in one]
    assert told in about_use[0]
    assert is_poor(lost.findings.releases[0].utility)


def test_means_and_combinations_are_told(lost):
    use = lost.findings.releases[0].utility
    assert use.conditional_means.beyond >= 2  # the mean of 'out' among those who are late
    assert use.impossible.share > 5 * use.impossible.expected
    told = " ".join(lost.verdict.releases[0].sentences)
    assert "further off than chance explains" in told
    assert "have a pair of values that no original record has" in told


def test_a_fresh_sample_raises_no_alarm():
    found = audit(
        flights(600, 1), flights(600, 2), keys="origin", sensitive="late", measures="quick",
        random_state=1,
    )  # fmt: skip
    use = found.findings.releases[0].utility
    assert (use.correlations.lost, use.correlations.losses) == (0, ())
    assert use.correlations.strong == 1
    assert use.conditional_means.beyond == use.impossible.combinations == 0
    assert found.verdict.releases[0].lost == ""
    assert not is_poor(use)


def test_gates_and_json_know_the_figures(lost):
    metrics = lost.metrics()
    assert metrics["correlation.lost"] == 1
    assert metrics["correlation.largest_loss"] > 0.5
    assert metrics["conditional_means.beyond"] > 0
    assert metrics["impossible.share"] > 0.05
    assert check(lost.findings, ["correlation.lost > 0"]).exit_code == 1
    assert check(lost.findings, ["correlation.strong > 9"]).exit_code == 0
    read = from_text(to_text(lost.findings)).releases[0].utility
    assert repr(read) == repr(lost.findings.releases[0].utility)


def test_a_table_without_numbers_has_nothing_of_them():
    table = pl.DataFrame({"a": ["x", "y"] * 30, "b": ["p", "q", "p"] * 20})
    found = audit(table, table, keys="a", sensitive="b", measures="quick", random_state=1)
    use = found.findings.releases[0].utility
    assert use.correlations is None
    assert use.conditional_means is None
    assert not found.findings.releases[0].errors
    assert math.isfinite(use.impossible.share)


def test_of_many_pairs_the_strong_and_changed_ones_are_shown():
    rng = np.random.default_rng(1)
    wide = pl.DataFrame({f"x{place}": rng.normal(size=80) for place in range(50)})
    wide = wide.with_columns(a=rng.choice(["p", "q"], 80), twin=pl.col("x3") * 2)
    release = wide.with_columns(pl.col("twin").shuffle(seed=1))
    found = audit(wide, release, keys="x1", sensitive="a", measures="quick", random_state=1)
    shown = found.findings.releases[0].utility.correlations.shown
    assert len(shown) == MOST_SHOWN
    assert ("x3", "twin") in {one.columns for one in shown}
