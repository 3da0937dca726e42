"""Which dependencies of the original a release breaks."""

from __future__ import annotations

import math

import polars as pl

import understudy
from tests.data.dependencies.planted import SENTENCES, planted
from understudy.utility import dependencies


def test_a_copy_breaks_none_and_shuffled_columns_break_all():
    table = planted(500)
    assert not dependencies(table, table).broken
    mixed = pl.DataFrame(
        [table[name].sample(500, shuffle=True, seed=n) for n, name in enumerate(table.columns)]
    )
    found = dependencies(table, mixed)
    kept = {one.dependency.sentence for one in found if not one.broken}
    # A single column of clock times holds clock times in any order.
    assert kept == {"'clock' holds clock times as hhmm"}
    assert {one.dependency.sentence for one in found} == SENTENCES
    assert found.to_frame()["broken"].sum() == len(SENTENCES) - 1


def test_shares_are_of_the_records_that_break_it():
    table = planted(400)
    off = table.with_columns(
        total=pl.col("total") + (pl.int_range(400) < 100).cast(pl.Int64),
        state=pl.when(pl.int_range(400) < 40).then(pl.lit("nowhere")).otherwise("state"),
        clock=pl.when(pl.int_range(400) < 60).then(1378).otherwise("clock"),
    ).drop("age2")
    shares = {one.dependency.sentence: one.synthetic for one in dependencies(table, off)}
    assert shares["'total' = 'rent' + 'heating'"] == 0.25
    assert shares["'state' follows from 'city'"] == 0.1
    assert shares["'clock' holds clock times as hhmm"] == 0.15
    assert math.isnan(shares["'age2' = 'age' squared"])


def test_values_that_the_original_does_not_have_are_judged_by_most_of_the_release():
    table = planted(400)
    new = table.with_columns(city=pl.lit("Kiel"), state=pl.lit("SH"))
    off = new.with_columns(
        state=pl.when(pl.int_range(400) < 20).then(pl.lit("BW")).otherwise("state")
    )
    sentence = "'state' follows from 'city'"
    for release, share in ((new, 0), (off, 0.05)):
        found = dependencies(table, release)
        assert {o.dependency.sentence: o.synthetic for o in found}[sentence] == share


def test_text_and_other_types_are_read_as_the_original_is():
    table = planted(300)
    texts = table.with_columns(pl.col("rent", "total").cast(pl.String))
    assert not dependencies(table, texts).broken


def test_the_audit_lists_them_and_the_gate_knows_them():
    table = planted(300)
    off = table.with_columns(total=pl.col("total") + 1)
    found = understudy.audit(
        table, off, keys=["city", "age"], sensitive="smokes", measures="quick", random_state=1
    )
    listed = {one.sentence: one for one in found.findings.releases[0].utility.dependencies}
    assert listed["'total' = 'rent' + 'heating'"].synthetic == 1
    metrics = found.metrics()
    assert metrics["dependencies.broken"] == 1
    assert metrics["dependencies.largest"] == 1
    assert any("It breaks 1 of" in text for text in found.verdict.releases[0].sentences)
    assert "Does it keep what holds between columns?" in found.to_html()


def test_a_derived_sensitive_column_is_never_called_safe():
    table = planted(300).select("city", "state", "age", "smokes")
    model = understudy.BayesNet(random_state=1).fit(table)
    found = understudy.audit(
        table,
        model.sample(),
        keys=["age", "smokes"],
        sensitive="state",
        measures="quick",
        model=model,
        random_state=1,
    )
    release = found.findings.releases[0]
    assert release.strong is None
    assert "derives it from 'city'" in release.errors["strong"]
    assert found.verdict.releases[0].answers["strongest"].level == "not measured"
