"""Draw the pictures of the documentation that come out of the program itself.

Run with ``python docs/pictures.py``: it writes ``demo.svg`` and ``network.svg`` in ``docs/images``
anew, and the same files as long as the program shows the same.
"""

from __future__ import annotations

import io
import re
import tempfile
from pathlib import Path

from rich.console import Console

from understudy import BayesNet, load
from understudy.demonstration import run_demo
from understudy.report.network import draw_network

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


if __name__ == "__main__":
    network()
    (IMAGES / "demo.svg").write_text(demo(), encoding="utf-8")
