"""Draw the pictures of the documentation that come out of the program itself.

Run with ``python docs/pictures.py``: it writes ``demo.svg``, ``network.svg`` and ``risk.svg`` in
``docs/images`` anew, and the same files as long as the program shows the same.
"""

from __future__ import annotations

import io
import math
import re
import tempfile
from pathlib import Path

import altair as alt
import vl_convert as vlc
from rich.console import Console

from understudy import BayesNet, Cart, load
from understudy.demonstration import run_demo
from understudy.report.network import draw_network
from understudy.risk import overview

IMAGES = Path(__file__).parent / "images"

# Rich's own template loads a font from the network. This one takes whatever monospace font the
# reader has; see `drawn` for what keeps its characters in their places.
TEMPLATE = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font-family: "DejaVu Sans Mono", Menlo, "Cascadia Mono", Consolas, "Liberation Mono", monospace;
  font-size: {char_height}px;
  line-height: {line_height}px;
}}
.{unique_id}-title {{ font: bold 18px sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""

CHARACTER_WIDTH, CHARACTER_HEIGHT = 20 * 0.602, 20  # Rich draws at a size of 20
EIGHTHS = "▏▎▍▌▋▊▉█"
BAR = re.compile(
    rf'<text class="(?P<style>[^"]+)" x="(?P<x>[^"]+)" y="(?P<y>[^"]+)"[^>]*>'
    rf"(?P<blocks>[{EIGHTHS}]+)(?:&#160;)*</text>"
)


def as_rectangle(bar: re.Match[str]) -> str:
    """Return a bar of block characters as one shape: characters leave seams between them."""
    eighths = sum(EIGHTHS.index(block) + 1 for block in bar["blocks"])
    return (
        f'<rect class="{bar["style"]}" x="{bar["x"]}" y="{float(bar["y"]) - 17:g}" '
        f'width="{eighths * CHARACTER_WIDTH / 8:g}" height="{CHARACTER_HEIGHT}"/>'
    )


def drawn(console: Console, title: str, name: str) -> str:
    """Return what a recording console showed, as SVG."""
    svg = console.export_svg(
        title=title, code_format=TEMPLATE, unique_id=name, font_aspect_ratio=0.602
    )
    svg = BAR.sub(as_rectangle, svg)
    # Fonts differ in width: stretching characters, not the gaps between them, keeps lines whole.
    return svg.replace(" textLength=", ' lengthAdjust="spacingAndGlyphs" textLength=')


def demo() -> str:
    """Return the picture of ``understudy demo``."""
    console = Console(record=True, width=110, file=io.StringIO(), force_terminal=True)
    with tempfile.TemporaryDirectory() as folder:
        console.print(run_demo(Path(folder) / "demo", seed=1, overwrite=False).picture())
    return drawn(console, "understudy demo", "demo")


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
    synthetic = Cart(random_state=1).fit(survey).sample()
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


if __name__ == "__main__":
    (IMAGES / "risk.svg").write_text(risk(), encoding="utf-8")
    network()
    (IMAGES / "demo.svg").write_text(demo(), encoding="utf-8")
