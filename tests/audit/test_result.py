"""The forms in which an audit can be had."""

from __future__ import annotations

import math
from dataclasses import replace

import polars as pl
import pytest

from understudy import Independent
from understudy.audit import Audit, audit
from understudy.audit.findings import Figure, Findings, ReleaseFindings, UtilityFindings
from understudy.errors import DataError, ParameterError


@pytest.fixture(scope="module")
def found(people, unrelated):
    return audit(
        people, {"copy": [people, people], "shuffled": unrelated}, keys=["age", "sex"],
        sensitive="ill", measures="quick", random_state=1,
    )  # fmt: skip


def test_the_frame_has_a_row_for_each_release_and_measure(found):
    frame = found.to_frame()
    assert frame.columns == [
        "release", "measure", "title", "baseline", "synthetic", "original", "control", "gain",
        "spread", "note",
    ]  # fmt: skip
    names = [figure.measure for figure in found.findings.releases[0].figures]
    assert {"gcap", "icap", "zero_cap", "repu", "disco", "lookalikes"} <= set(names)
    assert frame["release"].to_list() == ["copy"] * len(names) + ["shuffled"] * len(names)
    assert frame["measure"].to_list() == names * 2
    gcap = found.findings.releases[1].figure("gcap")
    row = frame.row(by_predicate=(pl.col("release") == "shuffled") & (pl.col("measure") == "gcap"))
    assert row[3:6] == (gcap.baseline, gcap.synthetic, gcap.original)
    assert row[6] is None
    assert frame["spread"][:3].to_list() == [0, 0, 0]  # twice the same table
    assert frame["spread"][len(names) :].null_count() == len(names)


def test_the_frame_of_utility_has_references(found):
    frame = found.utility_frame()
    assert {"correlation", "impossible_combinations"} <= set(frame["measure"])
    frame = frame.filter(pl.col("measure").str.starts_with("marginals"))
    assert frame["measure"].to_list() == ["marginals_1", "marginals_2"] * 2
    assert frame["value"][:2].to_list() == [0, 0]
    way = found.findings.releases[1].utility.marginals[1]
    assert frame.row(3) == ("shuffled", "marginals_2", way.mean, way.expected)


def test_an_audit_without_figures_has_empty_frames():
    empty = Audit(
        Findings("1", "", 0.0, 1, "", "quick", 1, 1, ("k",), None, "s", "",
                 (ReleaseFindings("r", "", 1, 1, utility=UtilityFindings()),))
    )  # fmt: skip
    assert empty.to_frame().shape == (0, 10)
    assert empty.utility_frame().schema["value"] == pl.Float64
    assert empty.summary()


def test_the_summary_has_the_verdict_and_a_table(found):
    text = found.summary()
    assert str(found) == text
    assert text.startswith(found.verdict.headline)
    for judged in found.verdict.releases:
        assert judged.headline in text
    gcap = found.findings.releases[0].figure("gcap")
    line = next(line for line in text.splitlines() if line.startswith("GCAP"))
    assert line.split() == [
        "GCAP", f"{100 * gcap.baseline:.1f}%", f"{100 * gcap.synthetic:.1f}%",
        f"{100 * gcap.original:.1f}%", f"{100 * gcap.gain:+.1f}",
    ]  # fmt: skip
    assert repr(found) == "Audit of copy, shuffled (quick measures)"


def test_the_summary_says_what_must_be_known_about_the_tables(found):
    told = replace(found, findings=replace(found.findings, notes=("A fifth was kept back.",)))
    assert "\nA fifth was kept back.\n" in told.summary()


def test_the_summary_says_what_was_not_measured_and_shows_controls():
    figure = Figure("gcap", "GCAP", "", 0.5, 0.6, 0.7, 0.55, 0.1)
    release = ReleaseFindings("r", "", 1, 9, figures=(figure,), errors={"disclosure": "Too bad."})
    text = Audit(
        Findings("1", "", 0.0, 1, "", "quick", 9, 2, ("k",), None, "s", "", (release,))
    ).summary()
    assert "Not measured: disclosure. Too bad." in text
    assert "55.0%" in text
    assert "control" in text


def test_metrics_are_those_of_one_release(found):
    assert found.metrics("copy")["gcap.gain"] == found.findings.releases[0].figure("gcap").gain
    with pytest.raises(ParameterError, match="2 releases; name one of 'copy', 'shuffled'"):
        found.metrics()
    with pytest.raises(ParameterError, match=r"no release 'copi'.*Did you mean 'copy'"):
        found.metrics("copi")
    only = Audit(Findings(**(vars(found.findings) | {"releases": found.findings.releases[:1]})))
    assert only.metrics() == found.metrics("copy")


def test_the_report_is_a_page(found, tmp_path):
    path = tmp_path / "audit.html"
    text = found.to_html(path)
    assert text == path.read_text(encoding="utf-8")
    assert text.lstrip().lower().startswith("<!doctype html>")
    with pytest.raises(DataError, match="already exists"):
        found.to_html(path)
    assert "<html" in found.to_html()


def test_whether_records_are_shown(people):
    release = Independent(random_state=1).fit(people).sample()
    for show in (False, True):
        found = audit(
            people, release, keys=["age", "sex"], sensitive="ill", measures="quick",
            random_state=1, show_records=show,
        )  # fmt: skip
        assert found.shows_records is show


def test_nothing_is_undefined_by_accident(found):
    for release in found.findings.releases:
        for figure in release.figures:
            assert not math.isnan(figure.synthetic)
            assert math.isnan(figure.baseline) == (figure.measure == "repu")
