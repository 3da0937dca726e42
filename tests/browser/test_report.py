"""The report as a person sees it: in a browser, wide and narrow, light and dark."""

from __future__ import annotations

import csv
import io
from contextlib import contextmanager
from dataclasses import replace

import pytest

from understudy.audit.verdict import give_verdict
from understudy.report.page import render_report

WIDE, NARROW = 1440, 380
STATES = "boxes => boxes.map(box => box.dataset.state)"
MARKS = """boxes => boxes.filter(box => {
  const shapes = [...box.querySelectorAll("svg .mark-symbol path, svg .mark-rect path")];
  return !shapes.some(shape => {
    const place = shape.getBoundingClientRect();
    return place.width > 0 && place.height > 0;
  });
}).map(box => box.dataset.chart)"""
OUTSIDE = """() => [...document.querySelectorAll("body *")].filter(part => {
  const place = part.getBoundingClientRect();
  return place.width > 0 && place.right > innerWidth + 1
    && !part.closest(".scroll, .skip, #vg-tooltip-element");
}).map(part => `${part.tagName} ${part.getAttribute("class")}`).slice(0, 5)"""


@pytest.fixture(scope="module")
def pages(rich, hostile, minimal, tmp_path_factory):
    """The reports, as files."""
    folder = tmp_path_factory.mktemp("reports")
    for name, findings in (("rich", rich), ("hostile", hostile), ("minimal", minimal)):
        page = render_report(findings, verdict=give_verdict(findings))
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    return folder


@contextmanager
def opened(browser, path, *, width=WIDE, scheme="light"):
    """The page, unfolded and drawn; it must have complained of nothing and asked for nothing."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
    )
    page = context.new_page()
    problems = []
    page.on("console", lambda message: problems.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith(("file:", "blob:")) else problems.append(request.url)
        ),
    )
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]", timeout=60_000)
    page.click("#open-all")
    # Not wait_for_function: it makes code of text in the page, which the policy forbids.
    pending = "[data-chart]:not([data-state=drawn], [data-state=failed])"
    page.wait_for_selector(pending, state="detached", timeout=120_000)
    try:
        yield page
    finally:
        context.close()
    assert problems == []


@pytest.mark.parametrize("name", ["rich", "hostile", "minimal"])
@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_all_is_drawn_and_nothing_overflows(browser, pages, name, width, scheme):
    with opened(browser, pages / f"{name}.html", width=width, scheme=scheme) as page:
        states = page.eval_on_selector_all("[data-chart]", STATES)
        assert set(states) <= {"drawn"}
        assert bool(states) == (name != "minimal")
        assert page.eval_on_selector_all("[data-chart]", MARKS) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(OUTSIDE) == []


def test_a_tooltip_appears_at_a_dot(browser, pages):
    with opened(browser, pages / "rich.html") as page:
        dot = page.locator("[data-chart=compare-gcap] svg .mark-symbol.role-mark path").first
        dot.scroll_into_view_if_needed()
        dot.hover()
        tooltip = page.locator("#vg-tooltip-element.visible")
        tooltip.wait_for(timeout=60_000)
        text = tooltip.inner_text()
        assert "protected.csv" in text
        assert "%" in text


def test_tooltips_show_names_as_text(browser, pages):
    with opened(browser, pages / "hostile.html", width=NARROW) as page:
        squares = page.locator("[data-chart=release-1-association-original] .layer_1_marks path")
        first = squares.first
        first.scroll_into_view_if_needed()
        first.hover()
        tooltip = page.locator("#vg-tooltip-element.visible")
        tooltip.wait_for(timeout=60_000)
        assert "<script>alert(1)</script>" in tooltip.inner_text()
        assert tooltip.locator("script").count() == 0
        assert page.evaluate(OUTSIDE) == []


def test_the_data_of_a_chart_can_be_downloaded(browser, pages, hostile):
    with opened(browser, pages / "hostile.html") as page:
        with page.expect_download() as waiting:
            page.locator("a[data-download=release-1-association-original]").click()
        download = waiting.value
        assert download.suggested_filename == "release-1-association-original.csv"
        text = download.path().read_text("utf-8-sig")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    columns = hostile.releases[0].utility.association.columns
    assert rows[0] == ["Column", "Other column", "Value"]
    # A spreadsheet would compute a name that starts with "=", so that one is marked as text.
    names = [f"'{name}" if name.startswith("=") else name for name in columns]
    assert [row[1] for row in rows[1 : len(columns) + 1]] == names
    assert rows[1][2] == "1"
    assert rows[2][2] == ""  # undefined


def test_links_open_the_release_they_lead_to(browser, pages):
    with opened(browser, pages / "rich.html") as page:
        page.evaluate("document.querySelectorAll('details').forEach(part => part.open = false)")
        page.locator("nav a[href='#release-2']").click()
        page.wait_for_selector("#release-2[open]")
        assert not page.evaluate("document.getElementById('release-1').open")


@pytest.mark.slow
def test_charts_follow_the_colours_of_the_screen(browser, pages):
    colours = {}
    for scheme in ("light", "dark"):
        with opened(browser, pages / "rich.html", scheme=scheme) as page:
            colours[scheme] = page.evaluate(
                "[getComputedStyle(document.querySelector('svg.marks .role-axis-label text')).fill,"
                " getComputedStyle(document.body).backgroundColor]"
            )
            page.emulate_media(media="print")
            printed = page.evaluate(
                "getComputedStyle(document.querySelector('svg.marks .role-axis-label text')).fill"
            )
            colours[f"{scheme} print"] = printed
    assert colours["light"][0] != colours["dark"][0]
    assert colours["light"][1] != colours["dark"][1]
    assert colours["dark print"] == colours["light print"] == colours["light"][0]


def test_the_page_is_printed_within_its_margins(browser, pages):
    with opened(browser, pages / "rich.html") as page:
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 700, "height": 1000})  # paper of 210 mm less its margins
        assert page.locator("nav").is_hidden()
        assert page.evaluate("document.documentElement.scrollWidth") <= 700


FOLDED = "document.querySelectorAll('details:not([open])').length"
INSIDE = "[...document.querySelectorAll('%s')].filter(one => !one.closest('.release:not([open])'))"
FOLDED_INSIDE = f"{INSIDE % 'details:not([open])'}.length"
"""Those that are folded although no release around them is closed."""


@pytest.mark.slow
def test_folded_parts_are_printed(browser, pages, tmp_path):
    with opened(browser, pages / "rich.html") as page:
        page.reload()
        page.wait_for_selector("html[data-ready]", timeout=60_000)
        page.evaluate("document.getElementById('release-1').open = true")
        folded = page.evaluate(FOLDED)
        pending = f"{INSIDE % '[data-chart]:not([data-state=drawn])'}.length"
        assert page.evaluate(FOLDED_INSIDE) > 0
        # What the browser finds when it lays out the paper, right after the event.
        seen = page.evaluate(
            f"new Promise(told => {{ addEventListener('beforeprint', () => told(0));"
            f" dispatchEvent(new Event('beforeprint')); }}).then(() => {FOLDED_INSIDE})"
        )
        assert seen == 0
        # Seven releases would be more than a hundred pages: the reader chooses.
        assert not page.evaluate("document.getElementById('release-2').open")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.evaluate(FOLDED) == folded

        page.reload()
        page.wait_for_selector("html[data-ready]", timeout=60_000)
        page.evaluate("document.getElementById('release-1').open = true")
        page.pdf(path=tmp_path / "report.pdf")
        assert page.evaluate(pending) == 0
        assert page.evaluate(FOLDED) == folded


def test_folded_parts_are_printed_without_scripts(browser, pages):
    context = browser.new_context(java_script_enabled=False, viewport={"width": 700, "height": 900})
    page = context.new_page()
    page.goto((pages / "rich.html").as_uri())
    page.locator("#release-1 > summary").click()
    parts = [page.locator(f"#release-{number} details.more > :not(summary)") for number in (1, 2)]
    folded = parts[0].first.is_visible()
    page.emulate_media(media="print")
    printed = [part.first.is_visible() for part in parts]
    context.close()
    assert (folded, printed) == (False, [True, False])


@pytest.mark.slow
def test_wide_tables_show_that_they_scroll(browser, pages):
    with opened(browser, pages / "rich.html", width=1280) as page:
        box = page.locator("#comparison .scroll")
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth")  # all columns are seen
        page.set_viewport_size({"width": NARROW, "height": 900})
        assert box.evaluate("box => box.scrollWidth > box.clientWidth")
        assert box.evaluate("box => getComputedStyle(box).overflowX") == "auto"
        assert "gradient" in box.evaluate("box => getComputedStyle(box).backgroundImage")
        # The name of the release stays where it is, while the figures move.
        name = page.locator("#comparison tbody tr:nth-child(2) th")
        before = name.bounding_box()["x"]
        box.evaluate("box => { box.scrollLeft = 200; }")
        assert name.bounding_box()["x"] == pytest.approx(before, abs=12)


OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll("[data-chart=tradeoff] .mark-text.role-mark text")]
    .filter(text => getComputedStyle(text).opacity > 0)
    .map(text => [text.textContent, text.getBoundingClientRect()]);
  const pairs = boxes.flatMap((one, at) => boxes.slice(at + 1).map(other => [one, other]));
  return [boxes.length, pairs.filter(([[, a], [, b]]) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1
  ).map(([[a], [b]]) => `${a} and ${b}`)];
}"""


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.slow
def test_names_at_dots_do_not_overlap(browser, rich, tmp_path, width):
    near = [
        replace(release, name=f"{release.name} {place}")
        for release in rich.releases
        for place in range(3)
    ]
    page = render_report(replace(rich, releases=tuple(near)))
    (tmp_path / "near.html").write_text(page, encoding="utf-8")
    with opened(browser, tmp_path / "near.html", width=width) as page:
        written, overlapping = page.evaluate(OVERLAPS)
        assert written >= 4
        assert overlapping == []


def test_a_keyboard_reaches_the_verdict_first(browser, pages):
    with opened(browser, pages / "rich.html") as page:
        page.reload()
        page.keyboard.press("Tab")
        focused = page.evaluate("document.activeElement.getAttribute('href')")
        assert focused == "#verdict"
        assert page.locator(".skip").bounding_box()["x"] >= 0
