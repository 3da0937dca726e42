"""The page: complete, small, safe, and silent about records."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from understudy.audit.findings import Findings, ReleaseFindings, WorstRecord
from understudy.audit.verdict import give_verdict
from understudy.errors import DataError
from understudy.report.page import (
    LEVELS,
    _template,
    drawing_library,
    render_report,
    write_pictures,
    write_report,
)
from understudy.report.trust import trust_table
from understudy.worlds.desiderata import DESIDERATA

HEADINGS = {f"h{level}": level for level in range(1, 7)}


class Page(HTMLParser):
    """The page as a browser takes it apart: elements, texts, and the levels of headings."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.levels, self.texts = [], [], []
        self.scripts, self.styles = [], []
        self._in = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._in = tag
        if tag in HEADINGS:
            self.levels.append(HEADINGS[tag])
        if tag == "script":
            self.scripts.append("")
        if tag == "style":
            self.styles.append("")

    def handle_endtag(self, _tag):
        self._in = ""

    def handle_data(self, data):
        if self._in == "script":
            self.scripts[-1] += data
        elif self._in == "style":
            self.styles[-1] += data
        else:
            self.texts.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", "".join(self.texts))

    def all(self, tag):
        return [attrs for found, attrs in self.elements if found == tag]

    @property
    def charts(self):
        """The table of each chart."""
        data = json.loads(self.scripts[0])
        return {key: data["tables"][chart["table"]] for key, chart in data["charts"].items()}


@pytest.fixture(scope="module")
def rich_page(rich):
    return Page(render_report(rich, verdict=give_verdict(rich)))


@pytest.fixture(scope="module")
def single_page(single):
    return Page(render_report(single))


def test_the_verdict_comes_first(rich_page, rich):
    verdict = give_verdict(rich)
    assert verdict.headline.partition(". ")[0] in rich_page.text
    first_chart = next(p for p, (_, a) in enumerate(rich_page.elements) if "data-chart" in a)
    first_badge = next(
        p for p, (_, a) in enumerate(rich_page.elements) if "badge" in (a.get("class") or "")
    )
    assert first_badge < first_chart
    for release in verdict.releases:
        assert release.headline in rich_page.text
        for advice in release.advice:
            assert re.sub(r"\s+", " ", advice.code) in rich_page.text


def test_a_badge_has_room_for_a_few_words():
    assert LEVELS == {
        "high": "High risk",
        "raised": "Raised risk",
        "not measured": "Low as far as measured",
        "low": "Low risk",
    }


def test_the_comparison_stands_before_the_releases(rich_page):
    places = [attrs.get("data-chart") for _, attrs in rich_page.elements if "data-chart" in attrs]
    assert next(place for place in places if not place.startswith("answer-")) == "tradeoff"
    assert places.index("compare-gcap") < places.index("release-1-figures")
    assert places.index("release-1-figures") < places.index("release-2-figures")


def test_one_release_needs_no_comparison(single):
    page = Page(render_report(single, verdict=give_verdict(single)))
    assert not {"tradeoff", "compare-gcap"} & set(page.charts)
    assert "side by side" not in page.text


def test_every_part_has_its_chart(single_page):
    charts = {key.removeprefix("release-1-") for key in single_page.charts}
    assert charts == {
        "lookalikes",
        "membership",
        "rare-values",
        "telling-keys",
        "figures",
        "subsets",
        "attribution",
        "strong-guesses",
        "gains",
        "disclosure",
        "correlations",
        "association-original",
        "association-release",
        "association-change",
        "distances",
        "propensity",
        "prediction",
        "network",
        *(f"column-{place}" for place in range(1, 11)),
    }


def test_every_chart_has_a_place_an_alternative_text_and_a_download(rich_page):
    boxes = [attrs for _, attrs in rich_page.elements if "data-chart" in attrs]
    assert [box["data-chart"] for box in boxes] == list(
        dict.fromkeys(b["data-chart"] for b in boxes)
    )
    assert {box["data-chart"] for box in boxes} == set(rich_page.charts)
    assert all(box["role"] == "img" and len(box["aria-label"]) > 20 for box in boxes)
    links = [attrs for attrs in rich_page.all("a") if "data-download" in attrs]
    assert [link["data-download"] for link in links] == [box["data-chart"] for box in boxes]


@pytest.mark.parametrize("which", ["rich", "single", "minimal", "hostile"])
def test_headings_go_down_one_level_at_a_time(which, request):
    findings = request.getfixturevalue(which)
    levels = Page(render_report(findings, verdict=give_verdict(findings))).levels
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_a_release_without_findings_says_so(minimal):
    page = Page(render_report(minimal))
    assert not page.charts
    assert "Nothing was measured" in page.text
    assert Page(render_report(replace(minimal, releases=()))).charts == {}


def test_undefined_is_a_dash_and_never_nan(single):
    release = single.releases[0]
    figures = tuple(replace(found, synthetic=math.nan, gain=math.nan) for found in release.figures)
    page = render_report(replace(single, releases=(replace(release, figures=figures),)))
    assert not re.search(r"\bnan\b", Page(page).text, flags=re.IGNORECASE)
    assert "NaN" not in Page(page).scripts[0]


@pytest.mark.parametrize("which", ["rich", "minimal"])
def test_the_page_begins_at_once(which, request):
    assert render_report(request.getfixturevalue(which)).startswith("<!doctype html>\n<html")


def test_classifiers_have_names_for_people(rich_page):
    assert not re.search(r"naive_bayes|k_nearest|\bsvm\b", rich_page.text)
    for words in ("Naive Bayes", "Support vector machine", "vote (naive Bayes, support vector"):
        assert words in rich_page.text
    assert "naive_bayes" not in rich_page.scripts[0]


def test_commands_in_notes_are_set_as_code(single):
    page = render_report(single)
    assert "Best: support vector machine. <code>understudy audit</code> trains others." in page


def test_advice_is_code_or_what_the_caller_makes_of_it(single):
    verdict = give_verdict(single)
    (judged,) = verdict.releases
    assert judged.advice
    text = Page(render_report(single, verdict=verdict)).text
    for advice in judged.advice:
        assert advice.sentences in text
        assert " ".join(advice.code.split()) in text
    named = render_report(single, verdict=verdict, commands=lambda advice: f"do {advice.output}!")
    assert f"do {judged.advice[0].output}!" in Page(named).text


def test_options_of_a_command_are_not_broken_into_lines(single):
    verdict = give_verdict(single)
    page = render_report(single, verdict=verdict, commands=lambda _advice: "do it --now\nor --not")
    words = ("do", "it", "--now", "or", "--not")
    a, b, c, d, e = (f"<span>{word}</span>" for word in words)
    assert f"<pre>{a} {b} {c}\n{d} {e}</pre>" in page


def test_what_was_not_compared_is_told(rich_page, single):
    assert "What was not compared" in rich_page.text
    assert "The release has no column 'wave'." in rich_page.text
    utility = replace(single.releases[0].utility, notes=())
    page = Page(render_report(with_utility(single, utility)))
    assert "What was not compared" not in page.text


def test_on_what_predictions_were_tested_is_told(single, single_page):
    text = single_page.text
    assert "Tested on: 295 of 1,473 real records, drawn at random." in text
    assert "The release was made from the test records, too." in text
    assert "are for the class long-term ;" in text.replace("term;", "term ;")
    utility = single.releases[0].utility
    utility = replace(utility, prediction=replace(utility.prediction, positive=""))
    assert "are means over all classes;" in Page(render_report(with_utility(single, utility))).text


def with_utility(findings, utility):
    return replace(findings, releases=(replace(findings.releases[0], utility=utility),))


def test_without_the_strong_attacker_its_columns_are_not_there(single, single_page):
    title = "Probability of the truth, strong attacker"
    assert title in single_page.text
    worst = tuple(replace(found, posterior=math.nan) for found in single.releases[0].worst)
    release = replace(single.releases[0], worst=worst)
    assert title not in Page(render_report(replace(single, releases=(release,)))).text


@pytest.mark.parametrize("which", ["rich", "minimal"])
def test_which_measures_can_be_trusted_is_in_every_report(which, request):
    page = Page(render_report(request.getfixturevalue(which)))
    assert "Which measures can be trusted" in page.text
    for demand in DESIDERATA.values():
        assert demand in page.text
    for line in trust_table():
        assert ", ".join(line.measures) in page.text
    assert "understudy worlds" in page.text


def test_failed_measures_are_named(single_page):
    assert "What could not be measured" in single_page.text
    assert "black box : The command" in single_page.text.replace("box:", "box :")


def test_how_it_was_made_is_told(single, single_page):
    for text in (single.command, f"understudy {single.version}", "21.4 s", "doi:10.1145/3374664"):
        assert text in single_page.text
    assert ("time", {"datetime": single.created}) in single_page.elements


def with_values(findings: Findings, value: str) -> Findings:
    worst = (WorstRecord(5, 1.0, 0.9, 2.0, {"age": value}),)
    return replace(findings, releases=(replace(findings.releases[0], worst=worst),))


def test_values_of_records_are_shown_only_if_asked_for(single):
    findings = with_values(single, "only-in-the-original")
    assert "only-in-the-original" not in render_report(findings)
    page = render_report(findings, show_records=True)
    assert "only-in-the-original" in page
    assert "Confidential." in Page(page).text
    assert "No original record is shown." in Page(render_report(findings)).text


def test_names_are_text_and_never_markup(hostile):
    text = render_report(hostile, verdict=give_verdict(hostile))
    page = Page(text)
    assert len(page.scripts) == 3  # the data, the library, and our own script
    assert not page.all("img")
    assert all(not name.startswith("on") for _, attrs in page.elements for name in attrs)
    assert not re.search(r"[<>&\u2028\u2029]", page.scripts[0])
    for name in hostile.keys:
        assert name[:50] in page.text
    association = page.charts["release-1-association-original"]
    assert {row[0] for row in association} == set(hostile.releases[0].utility.association.columns)
    assert "49" not in page.texts  # {{ 7 * 7 }} is not computed


def test_the_policy_allows_our_scripts_and_nothing_else(rich_page):
    policy = next(attrs["content"] for attrs in rich_page.all("meta") if "http-equiv" in attrs)

    def digest(text):
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    allowed = {f"'sha256-{digest(script)}'" for script in rich_page.scripts[1:]}
    assert set(rules["script-src"].split()) == allowed
    assert rules["style-src"] == f"'sha256-{digest(rich_page.styles[0])}'"
    assert "unsafe" not in policy


def test_nothing_is_loaded_from_elsewhere(rich_page):
    own = (*rich_page.styles, rich_page.scripts[0], rich_page.scripts[2])
    assert not any(re.search(r"https?://|url\(|@import", text) for text in own)
    for _, attrs in rich_page.elements:
        assert "src" not in attrs
        assert (attrs.get("href") or "#").startswith("#")


def test_links_within_the_page_lead_somewhere(rich_page):
    ids = [attrs["id"] for _, attrs in rich_page.elements if attrs.get("id")]
    assert len(ids) == len(set(ids))
    targets = {a["href"][1:] for a in rich_page.all("a") if len(a.get("href") or "") > 1}
    assert targets <= set(ids)


@pytest.mark.slow
def test_the_page_stays_small_with_many_columns_and_releases(single):
    wide = single.releases[0].utility.shares[0]
    shares = tuple(replace(wide, column=f"column {place}") for place in range(300))
    size = 120
    row = tuple(0.5 for _ in range(size))
    association = replace(
        single.releases[0].utility.association,
        columns=tuple(f"column {place}" for place in range(size)),
        original=(row,) * size,
        synthetic=(row,) * size,
    )
    utility = replace(single.releases[0].utility, shares=shares, association=association)
    release = replace(single.releases[0], utility=utility)
    page = render_report(replace(single, releases=(release,) * 6))
    assert len(page.encode()) < 3_000_000
    assert "280 columns that differ less are not drawn" in Page(page).text


def test_drawings_that_are_alike_are_in_the_page_once(single, single_page):
    data = json.loads(single_page.scripts[0])
    both = replace(single, releases=(single.releases[0], replace(single.releases[0], name="b")))
    twice = json.loads(Page(render_report(both)).scripts[0])
    for part, parts in (("drawing", "drawings"), ("table", "tables")):
        used = {chart[part] for chart in data["charts"].values()}
        assert used == set(range(len(data[parts])))
    # More charts of releases, and no drawings but those of the comparison.
    compared = [chart for key, chart in twice["charts"].items() if not key.startswith("release")]
    assert len(twice["charts"]) == 2 * len(data["charts"]) + len(compared)
    assert len(twice["drawings"]) <= len(data["drawings"]) + len(compared)
    assert len(twice["tables"]) <= len(data["tables"]) + len(compared)
    one, other = (twice["charts"][f"release-{place}-figures"] for place in (1, 2))
    assert one == other


@pytest.mark.slow
def test_the_page_of_many_releases_stays_small(single):
    many = tuple(replace(single.releases[0], name=f"release {place}") for place in range(40))
    assert len(render_report(replace(single, releases=many)).encode()) < 3_000_000


def test_a_report_is_written_whole_and_replaces_nothing(single, tmp_path):
    path = write_report(single, tmp_path / "report.html")
    assert path.read_text("utf-8").rstrip().endswith("</html>")
    with pytest.raises(DataError, match="already exists"):
        write_report(single, path)
    write_report(single, path, overwrite=True)
    with pytest.raises(DataError, match=r"should end in \.html"):
        write_report(single, tmp_path / "report.pdf")
    assert [found.name for found in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.slow
def test_pictures_are_written_for_every_chart(rich, tmp_path):
    few = replace(rich, releases=tuple(map(small, rich.releases)))
    paths = write_pictures(few, tmp_path / "pictures")
    assert {path.stem for path in paths} == set(Page(render_report(few)).charts)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
    with pytest.raises(DataError, match="already exists"):
        write_pictures(few, tmp_path / "pictures")
    with pytest.raises(DataError, match="cannot be made"):
        write_pictures(few, tmp_path / "no" / "such")


def small(release: ReleaseFindings) -> ReleaseFindings:
    utility = replace(release.utility, shares=release.utility.shares[:1], association=None)
    return replace(release, utility=utility, network=None)


def test_the_library_can_stand_in_a_page():
    library = drawing_library()
    assert "vegaEmbed" in library
    assert "</script" not in library.lower()


def test_the_library_is_kept_for_the_next_report(tmp_path, monkeypatch):
    monkeypatch.setattr("platformdirs.user_cache_path", lambda _: tmp_path / "cache")
    made = drawing_library.__wrapped__()
    (kept,) = (tmp_path / "cache").iterdir()
    assert kept.read_text() == made
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda: "anew")
    assert drawing_library.__wrapped__() == made
    # A cache that cannot be written, or read, costs time and nothing else.
    (tmp_path / "file").touch()
    monkeypatch.setattr("platformdirs.user_cache_path", lambda _: tmp_path / "file")
    assert drawing_library.__wrapped__() == "anew"


def test_compiled_templates_are_kept_where_they_can_be(tmp_path, monkeypatch):
    monkeypatch.setattr("platformdirs.user_cache_path", lambda _: tmp_path / "cache")
    made = _template.__wrapped__()
    assert made.name == "report.html"
    kept = sorted((tmp_path / "cache").glob("template-*.cache"))
    assert kept
    monkeypatch.setattr("jinja2.compiler.generate", None)  # nothing is compiled again
    again = _template.__wrapped__()
    assert again.root_render_func.__code__ == made.root_render_func.__code__


def test_templates_do_without_a_cache(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr("platformdirs.user_cache_path", lambda _: tmp_path / "file")
    assert _template.__wrapped__().name == "report.html"
    monkeypatch.setattr("platformdirs.user_cache_path", lambda _: tmp_path / "cache")
    monkeypatch.setattr("tempfile.NamedTemporaryFile", _full)
    assert _template.__wrapped__().name == "report.html"


def _full(*_args, **_kwargs):
    raise OSError("No space left on device")
