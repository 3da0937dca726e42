"""The figures of the papers, drawn from the runs and from fits with seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

from studies.figures import FigureName, draw_figure, shorter
from studies.reproduction.found import load_found
from studies.reproduction.network_tables import DROPPED, network
from studies.reproduction.printed import printed_tables
from understudy.data import fetch, load
from understudy.data.files import write_bytes
from understudy.errors import DataError

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True)
class Picture:
    """A figure of a paper: its file, its title, what it shows, and how it is drawn."""

    name: str
    paper: str
    title: str
    sentence: str
    draw: Callable[[Path, Path], None]


def _save(
    chart: alt.Chart | alt.LayerChart | alt.HConcatChart | alt.VConcatChart, path: Path
) -> None:
    import vl_convert as vlc

    svg = shorter(vlc.vegalite_to_svg(chart.to_dict()))
    write_bytes(svg.encode(), path, overwrite=True)


def _runs(folder: Path, work: str) -> Mapping[str, Any]:
    content = load_found(folder / f"{work}.json")
    if content is None:
        raise DataError(f"{work} has not been run, so its figures cannot be drawn.")
    runs: Mapping[str, Any] = content["runs"]
    return runs


_LANES = (-16, 20, -32, 36)
"""Where names stand, in pixels below the line: neighbours in different lanes."""


def number_line(
    scores: Mapping[str, float], spreads: Mapping[str, float], printed: Mapping[str, float]
) -> alt.LayerChart:
    """Return scores on a line, each with its name, its spread, and the printed one as a circle."""
    import altair as alt

    ordered = sorted(scores.items(), key=lambda own: own[1])
    rows = [
        {
            "score": score,
            "name": name,
            "low": score - spreads.get(name, 0.0),
            "high": score + spreads.get(name, 0.0),
            "lane": place % len(_LANES),
        }
        for place, (name, score) in enumerate(ordered)
    ]
    scale = alt.X("score:Q", scale=alt.Scale(zero=False), title="accuracy in percent")
    base = alt.Chart(alt.InlineData(rows)).encode(x=scale)
    band = base.mark_rule(color="#999999", strokeWidth=4).encode(x="low:Q", x2="high:Q")
    dots = base.mark_point(filled=True, size=90, color="#0072B2", opacity=1)
    names = [
        base.transform_filter(f"datum.lane == {lane}").mark_text(dy=below).encode(text="name:N")
        for lane, below in enumerate(_LANES)
    ]
    circles = alt.Chart(
        alt.InlineData([{"score": score, "name": name} for name, score in printed.items()])
    )
    circles = circles.mark_point(size=90, color="#D55E00", strokeWidth=2).encode(x=scale)
    chart = alt.layer(band, dots, circles, *names).properties(width=620, height=110)
    return cast("alt.LayerChart", chart.configure_axis(grid=False))


def _printed(table: str, column: str) -> dict[str, float]:
    cells = printed_tables()[table].cells()
    return {row: cell.mean for (row, own), cell in cells.items() if own == column}


def _ensemble_line(
    work: str, table: str, zero_rule: Callable[[], float]
) -> Callable[[Path, Path], None]:
    def draw(folder: Path, path: Path) -> None:
        own = _runs(folder, work)[table]
        scores = {row: float(np.mean(cells["ENS"])) for row, cells in own.items()}
        spreads = {row: float(np.std(cells["ENS"])) for row, cells in own.items()}
        everything = {**scores, "zero rule": zero_rule()}
        _save(number_line(everything, spreads, _printed(table, "ENS")), path)

    return draw


def _zero_rule(table: Callable[[], Any], column: str) -> Callable[[], float]:
    def found() -> float:
        shares = table()[column].value_counts(normalize=True)["proportion"]
        return 100 * float(shares.max())

    return found


def _shares(folder: Path, path: Path) -> None:
    import altair as alt

    del folder
    survey = load("cmc")
    rows = [
        {"target": name, "value": str(value), "share": 100 * count / len(survey)}
        for name in ("method", "husband_education")
        for value, count in sorted(survey[name].value_counts().iter_rows())
    ]
    chart = (
        alt.Chart(alt.InlineData(rows))
        .mark_bar(color="#56B4E9")
        .encode(
            x=alt.X("value:N", title=None),
            y=alt.Y("share:Q", title="percent of the records"),
            column=alt.Column("target:N", title=None),
        )
        .resolve_scale(x="independent")
        .properties(width=180, height=160)
    )
    _save(chart, path)


def correlation_map(tables: Mapping[str, pl.DataFrame]) -> alt.HConcatChart:
    """Return heat maps of Pearson's coefficients, with labels by their places in order."""
    import altair as alt

    maps = []
    for title, table in tables.items():
        names = table.columns
        codes = [
            table[name].rank("dense").to_numpy()
            if not table[name].dtype.is_numeric()
            else table[name].to_numpy()
            for name in names
        ]
        found = np.corrcoef(np.array(codes, float))
        rows = [
            {"one": one, "other": other, "r": round(float(found[i, j]), 3)}
            for i, one in enumerate(names)
            for j, other in enumerate(names)
        ]
        maps.append(
            alt.Chart(alt.InlineData(rows), title=title)
            .mark_rect()
            .encode(
                x=alt.X("one:N", sort=list(names), title=None),
                y=alt.Y("other:N", sort=list(names), title=None),
                color=alt.Color(
                    "r:Q",
                    scale=alt.Scale(scheme="blueorange", domain=[-1, 1]),
                    legend=alt.Legend(title="r"),
                ),
            )
            .properties(width=210, height=210)
        )
    return alt.hconcat(*maps)


def _heat_maps(folder: Path, path: Path) -> None:
    del folder
    people: pl.DataFrame = fetch("adult_train").drop(DROPPED).drop_nulls()
    plain = network(people, 4, "genetic", 0).sample()
    custom = network(people, 4, "genetic", 0, {"relationship": "income"}).sample()
    tables = {"(a) original": people, "(b) network": plain, "(c) custom network": custom}
    _save(correlation_map(tables), path)


def _network(protect: Mapping[str, str | None] | None) -> Callable[[Path, Path], None]:
    def draw(folder: Path, path: Path) -> None:
        from understudy.report.network import draw_network

        del folder
        survey = load("cmc")
        draw_network(network(survey, 2, "genetic", 0, protect), path, overwrite=True)

    return draw


def _times(work: str, table: str) -> Callable[[Path, Path], None]:
    def draw(folder: Path, path: Path) -> None:
        import altair as alt

        rows = [
            {"search": row.split(",")[0], "part": row.split(", ")[1], "k": column,
             "seconds": float(np.mean(runs))}
            for row, cells in _runs(folder, work)[table].items()
            for column, runs in cells.items()
        ]  # fmt: skip
        chart = (
            alt.Chart(alt.InlineData(rows))
            .mark_bar()
            .encode(
                x=alt.X("search:N", title=None),
                y=alt.Y("seconds:Q", title="seconds"),
                color=alt.Color("part:N", title=None),
                column=alt.Column("k:N", title=None),
            )
            .properties(width=80, height=160)
        )
        _save(chart, path)

    return draw


def _averages(table: str, *works: str) -> Callable[[Path, Path], None]:
    def draw(folder: Path, path: Path) -> None:
        own: dict[str, Any] = {}
        for work in works:
            own |= _runs(folder, work)[table]
        scores = {row: float(np.mean(cells["Avg"])) for row, cells in own.items()}
        spreads = {row: float(np.std(cells["Avg"])) for row, cells in own.items()}
        _save(number_line(scores, spreads, _printed(table, "Avg")), path)

    return draw


def _cart_figure(number: FigureName) -> Callable[[Path, Path], None]:
    def draw(folder: Path, path: Path) -> None:
        del folder
        draw_figure(number, path, overwrite=True)

    return draw


_CART: Sequence[tuple[FigureName, str]] = (
    ("1", "The original and one synthesis, within each variable and across all four."),
    ("2", "Records with each combination in the original and in ten syntheses."),
    (
        "3",
        "The sixteen worlds: what a release would look like under each guess at the last record.",
    ),
    ("4", "The same as Figure 2 with large leaves, and with a high complexity parameter."),
    ("A.1", "The sweep over both parameters."),
)
_LINE = "Mean accuracies: ours with the standard deviation of our runs, and the printed as circles."
_PAPER_2020 = (
    Picture(
        "2020-figure-1",
        "2020",
        "Figure 1",
        "How often each value of the two targets occurs.",
        _shares,
    ),
    Picture(
        "2020-figure-2",
        "2020",
        "Figure 2",
        "The vote of Table 8 on a number line: our means and standard deviations over ten "
        "syntheses, and the printed figures as circles.",
        _ensemble_line(
            "classifiers", "2020-8", _zero_rule(lambda: load("cmc"), "husband_education")
        ),
    ),
    Picture(
        "2020-figure-3",
        "2020",
        "Figure 3",
        "The vote of Table 11 on a number line: our means and standard deviations over ten "
        "syntheses, and the printed figures as circles.",
        _ensemble_line("fertility", "2020-11", _zero_rule(lambda: fetch("fertility"), "surgery")),
    ),
)
_PAPER_2022 = (
    Picture(
        "2022-figure-1",
        "2022",
        "Figure 1",
        "Correlations on Adult: in the original, after a network, and after a custom network in "
        "which 'relationship' depends on 'income' alone.",
        _heat_maps,
    ),
    Picture(
        "2022-network", "2022", "A plain network", "Two parents, genetic search.", _network(None)
    ),
    Picture(
        "2022-figure-2",
        "2022",
        "Figure 2",
        "A custom network: the target first, the sensitive column with it as its only parent.",
        _network({"husband_education": "method"}),
    ),
    *(
        Picture(f"2022-table-{number}", "2022", f"Bars of Table {roman}", "Our times.", draw)
        for number, roman, draw in (
            (2, "II", _times("cmc-times", "2022-2")),
            (3, "III", _times("adult-times", "2022-3")),
            (4, "IV", _times("card-times", "2022-4")),
        )
    ),
    *(
        Picture(f"2022-table-{number}", "2022", f"Line of Table {roman}", _LINE, draw)
        for number, roman, draw in (
            (5, "V", _averages("2022-5", "cmc-utility")),
            (6, "VI", _averages("2022-6", *(f"adult-utility-{k}" for k in (1, 2, 3, 4)))),
            (9, "IX", _averages("2022-9", "cmc-attack")),
            (10, "X", _averages("2022-10", "adult-attack")),
        )
    ),
)
_PAPER_CART = tuple(
    Picture(
        f"cart-figure-{number.lower().replace('.', '')}",
        "CART",
        f"Figure {number}",
        said,
        _cart_figure(number),
    )
    for number, said in _CART
)
PICTURES = (*_PAPER_2020, *_PAPER_2022, *_PAPER_CART)
"""All figures, by paper."""


def draw_all(runs: Path, pictures: Path) -> Iterator[tuple[str, str]]:
    """Draw all figures whose data are there, and say of each what became of it."""
    pictures.mkdir(parents=True, exist_ok=True)
    for one in PICTURES:
        path = pictures / f"{one.name}.svg"
        try:
            one.draw(runs, path)
        except DataError as error:
            yield one.name, f"is left out. {error}"
        else:
            yield one.name, "drawn."
