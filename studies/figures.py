"""The figures of the paper on CART, drawn again: what becomes of its one disclosive record.

``python -m studies figure 2 -o figure-2.svg`` draws one. The originals are bars,
syntheses are points, and the record's combination has a colour of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np

from studies.buyer_beware import Guesses, guess_last_record, synthesize
from studies.cell_charts import across, guess_panel, panel, times, within
from understudy.arguments import check_choice, check_whole
from understudy.data import load, load_syntheses
from understudy.data.files import check_writable, write_bytes
from understudy.errors import DataError, ParameterError
from understudy.progress import track
from understudy.worlds.releases import CELLS, UNIQUE, VARIABLES, cell_counts

if TYPE_CHECKING:
    import altair as alt

FigureName = Literal["1", "2", "3", "4", "A.1"]
MINBUCKETS = (5, 10, 25, 50, 75, 100)
CPS = (1e-8, 0.001, 0.01, 0.02, 0.03, 0.05)
"""The values of Figure A.1, the defaults first; the paper does not print its own."""

_ACROSS = 4
_HOW_TO_READ = (
    f"Bars: records of the original with each combination. Points: the same in each synthesis. "
    f"Orange: {UNIQUE}, the disclosive record."
)


def figure(
    name: FigureName,
    *,
    copies: int = 10,
    published: bool = False,
    synthesis: int = 1,
    random_state: int = 0,
) -> alt.VConcatChart:
    """Return a figure of the paper as a chart.

    Parameters
    ----------
    name : {"1", "2", "3", "4", "A.1"}
        The figure's number in the paper.
    copies : int
        Syntheses in Figures 2, 4 and A.1, and for each guess in Figure 3; Figure 1 has one.
    published : bool
        Whether to draw Figure 1 or 2 with the ten syntheses that the paper prints, in place of our
        own.
    synthesis : int
        The release of Figure 3: which of the ten syntheses that the paper prints, from 1.
    random_state : int
        Decides the syntheses.
    """
    check_choice("name", name, get_args(FigureName))
    check_whole("copies", copies, 1)
    if published and name not in {"1", "2"}:
        raise ParameterError(
            f"The paper does not print the syntheses of Figure {name}, only those of Figures 1 and "
            "2. Leave `published` out."
        )
    if name == "1":
        return _figure_1(published, random_state)
    if name == "2":
        return _figure_2(copies, published, random_state)
    if name == "3":
        return _figure_3(copies, synthesis, random_state)
    return (_figure_4 if name == "4" else _figure_a1)(copies, random_state)


def draw_figure(
    name: FigureName,
    path: str | Path,
    *,
    overwrite: bool = False,
    **options: Any,  # noqa: ANN401  # see `figure`
) -> Path:
    """Write a figure of the paper to an SVG or PNG file; see `figure`."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in {".svg", ".png"}:
        raise DataError(f"{path} should end in .svg or .png: the ending says what to draw.")
    check_writable(path, overwrite=overwrite)
    import vl_convert as vlc

    chart = figure(name, **options)
    if suffix == ".svg":
        content = shorter(vlc.vegalite_to_svg(chart.to_dict())).encode()
    else:
        content = vlc.vegalite_to_png(chart.to_dict(), scale=2)
    return write_bytes(content, path, overwrite=overwrite)


def shorter(svg: str) -> str:
    """Return an SVG with coordinates to a tenth of a pixel, as half of the file is digits.

    The numbers in words, such as those of a heading, are left as they are.
    """
    svg = re.sub(r' (?:d|transform)="[^"]*"', _to_tenths, svg)
    return svg.replace(' opacity="1"', "")  # is the default


def _to_tenths(attribute: re.Match[str]) -> str:
    return re.sub(r"\d+\.\d{2,}", lambda number: f"{float(number[0]):.1f}", attribute[0])


def _figure_1(published: bool, random_state: int) -> alt.VConcatChart:
    original = cell_counts(load("buyer_beware"))
    if published:
        synthesis = cell_counts(load("buyer_beware", synthesis=1))
    else:
        synthesis = synthesize(1, random_state=random_state)[0]
    often = {0: "not at all", 1: "once", 2: "twice"}.get(synthesis[-1], f"{synthesis[-1]} times")
    return _page(
        "A synthesis is like the original within each variable, and across all four",
        [
            f"(b) shows what (a) hides: the disclosive record {UNIQUE} is once in the original, "
            f"and {often} in the synthesis.",
            _source(1, published),
        ],
        [within(original, synthesis), across(original, synthesis)],
    )


def _figure_2(copies: int, published: bool, random_state: int) -> alt.VConcatChart:
    original = cell_counts(load("buyer_beware"))
    if published:
        syntheses = np.array([cell_counts(table) for table in load_syntheses("buyer_beware")])
    else:
        syntheses = synthesize(copies, random_state=random_state)
    again = np.count_nonzero(syntheses[:, -1])
    return _page(
        f"The one record {UNIQUE} comes back in {again} of {len(syntheses)} syntheses",
        [_HOW_TO_READ, _source(len(syntheses), published)],
        [panel(original, syntheses)],
    )


def _figure_3(copies: int, synthesis: int, random_state: int) -> alt.VConcatChart:
    import altair as alt

    found = guess_last_record(synthesis, copies=copies, random_state=random_state)
    top = max(found.released.max(), found.syntheses.max())
    panels = [
        guess_panel(
            guess,
            found.released,
            found.syntheses[number],
            float(found.posterior[number]),
            top=top,
            labelled=(number >= len(CELLS) - _ACROSS, number % _ACROSS == 0),
        )
        for number, guess in enumerate(CELLS)
    ]
    rows = [
        alt.hconcat(*panels[start : start + _ACROSS], spacing=14)
        for start in range(0, len(CELLS), _ACROSS)
    ]
    return _page(
        _verdict(found),
        [
            "An attacker knows all records but the last, and guesses it: a panel for each guess.",
            f"Bars: the release, synthesis {synthesis} of the paper. Points: {copies} "
            f"{'syntheses' if copies > 1 else 'synthesis'} by CART, had the guess been true. "
            f"Orange: {UNIQUE}.",
            "Above each: the probability of the guess after the release; before it, it was 1/16. "
            "Counts are on a root scale.",
        ],
        rows,
    )


def _verdict(found: Guesses) -> str:
    """Return in words what the release tells of the last record."""
    if found.posterior[-1] == 1:
        return f"Only if the last record is {UNIQUE} can the release be as it is"
    if found.released[-1]:
        return f"A release that holds {UNIQUE} says that the last record is this one"
    return f"A release without {UNIQUE} does not say what the last record is"


def _figure_4(copies: int, random_state: int) -> alt.VConcatChart:
    original = cell_counts(load("buyer_beware"))
    by_leaf = synthesize(copies, minbucket=75, random_state=random_state)
    by_cp = synthesize(copies, cp=0.05, random_state=random_state)
    top = max(original.max(), by_leaf.max(), by_cp.max())
    return _page(
        f"With large leaves, or a high cp, {UNIQUE} is no longer a rare combination",
        [
            _HOW_TO_READ,
            "The price: the counts of other combinations move away from those of the original.",
        ],
        [
            panel(original, by_leaf, title="(a) minbucket = 75 (default 5)", top=top),
            panel(original, by_cp, title="(b) cp = 0.05 (default 1e-08)", top=top),
        ],
    )


def _figure_a1(copies: int, random_state: int) -> alt.VConcatChart:
    import altair as alt

    original = cell_counts(load("buyer_beware"))
    settings: list[dict[str, Any]] = [{"minbucket": value} for value in MINBUCKETS]
    settings += [{"cp": value} for value in CPS]
    found = [
        synthesize(copies, random_state=random_state, **setting)
        for setting in track(settings, "Synthesizing")
    ]
    top = max(original.max(), *(counts.max() for counts in found))
    panels = [
        panel(
            original,
            counts,
            title=f"{_setting(setting)}: {times(counts)} times",
            top=top,
            size=(230, 110),
        )
        for setting, counts in zip(settings, found, strict=True)
    ]
    rows = [alt.hconcat(*panels[start : start + 3], spacing=18) for start in range(0, 12, 3)]
    return _page(
        f"Small leaves and a small cp keep the one record {UNIQUE} as rare as it was",
        [
            _HOW_TO_READ,
            f"Across: the values of {', '.join(VARIABLES)}. The headings say how often {UNIQUE} is "
            "in a synthesis.",
        ],
        rows,
    )


def _setting(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value:g}" for name, value in parameters.items())


def _source(copies: int, published: bool) -> str:
    if published:
        which = "the first synthesis" if copies == 1 else f"the {copies} syntheses"
        return f"Synthetic data: {which} in Table A.1 of the paper."
    which = "one synthesis" if copies == 1 else f"{copies} syntheses"
    return f"Synthetic data: {which} by CART with minbucket 5 and cp 1e-08, the defaults."


def _page(title: str, lines: Sequence[str], parts: Sequence[Any]) -> alt.VConcatChart:
    import altair as alt

    heading = alt.TitleParams(
        title,
        subtitle=list(lines),
        anchor="start",
        fontSize=16,
        subtitleFontSize=12,
        subtitleColor="#444444",
        offset=14,
    )
    chart = alt.vconcat(*parts, title=heading, background="white", spacing=16, padding=12)
    # Descriptions of every point for screen readers would double the size of the file.
    chart = chart.configure(aria=False).configure_view(stroke=None)
    chart = chart.configure_axis(gridColor="#EEEEEE", domainColor="#888888", tickColor="#888888")
    return cast("alt.VConcatChart", chart)
