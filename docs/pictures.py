"""Draw the pictures of the documentation that come out of the program itself.

Run with ``PYTHONPATH=. python docs/pictures.py``: it writes ``network.svg``, ``risk.svg``,
``worlds.svg`` and ``report.png`` in ``docs/images`` anew; the first three change only if the
program shows others. ``report.png`` is the beginning of the demo's report in Chromium, by
playwright.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from pathlib import Path

import altair as alt
import vl_convert as vlc
from playwright.sync_api import sync_playwright

from studies.figures import draw_figure
from understudy import BayesNet, Cart, load
from understudy.cli.demonstration import run_demo
from understudy.report.network import draw_network
from understudy.risk import overview

IMAGES = Path(__file__).parent / "images"


def network() -> None:
    """Draw the protected network that the how-to on networks shows."""
    protect = {"husband_education": "method"}
    model = BayesNet(2, "genetic", protect=protect, random_state=1).fit(load("cmc"))
    draw_network(model, IMAGES / "network.svg", overwrite=True)


# Colours that people with any kind of colour vision tell apart (Okabe and Ito 2008).
REFERENCES = {
    "without the release": "#666666",
    "with the release": "#D55E00",
    "with the original": "#0072B2",
}


def risk() -> str:
    """Return the number lines of the page on measures: what each attack reaches, and its gain."""
    survey = load("cmc")
    keys = ["age", "education", "children"]
    synthetic = Cart(smoothing_leaves=0, random_state=1).fit(survey).sample()
    lines = list(overview(survey, synthetic, keys=keys, sensitive="method").lines())
    points = [
        {"measure": line.measure, "share": 100 * share, "who": who}
        for line in lines
        for who, share in zip(
            REFERENCES, (line.baseline, line.synthetic, line.original), strict=True
        )
        if not math.isnan(share)
    ]
    ways = [
        {"measure": line.measure, "from": 100 * line.baseline, "to": 100 * line.synthetic}
        for line in lines
        if not math.isnan(line.gain)
    ]
    names, colours = list(REFERENCES), list(REFERENCES.values())
    shapes = ["circle", "circle", "square"]
    order = [line.measure for line in lines]
    measure = alt.Y("measure:N", sort=order, title=None, axis=alt.Axis(grid=True, ticks=False))
    legend = alt.Legend(title=None, orient="top", symbolSize=110)
    scale = alt.Scale(domain=[0, 80])
    gains = (
        alt.Chart(alt.Data(values=ways))
        .mark_rule(color="#D55E00", strokeWidth=3)
        .encode(y=measure, x=alt.X("from:Q", scale=scale), x2="to:Q")
    )
    marks = (
        alt.Chart(alt.Data(values=points))
        .mark_point(size=110, strokeWidth=2, opacity=1)
        .encode(
            y=measure,
            x=alt.X("share:Q", scale=scale, title="percent of the original records"),
            color=alt.Color("who:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
            fill=alt.Fill(
                "who:N",
                scale=alt.Scale(domain=names, range=["white", *colours[1:]]),
                legend=legend,
            ),
            shape=alt.Shape("who:N", scale=alt.Scale(domain=names, range=shapes), legend=legend),
        )
    )
    chart = (gains + marks).properties(width=560, height=260, background="white")
    return vlc.vegalite_to_svg(chart.to_dict())


def report() -> None:
    """Take a picture of the beginning of the demo's report."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        run_demo(Path(folder) / "demo", seed=1, overwrite=False)
        chromium = play.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1240, "height": 1400})
        page.goto((Path(folder) / "demo" / "report.html").as_uri())
        page.wait_for_selector("svg.marks")
        page.screenshot(path=IMAGES / "report.png")
        chromium.close()


if __name__ == "__main__":
    (IMAGES / "risk.svg").write_text(risk(), encoding="utf-8")
    network()
    draw_figure("3", IMAGES / "worlds.svg", overwrite=True)
    report()
