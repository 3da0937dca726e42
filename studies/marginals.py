"""How far the two-column tables of a synthesis lie from those of the original.

``python -m studies marginals cmc`` prints the figure, next to that of synthpop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np
import polars as pl

from studies.networks import ADULT_DROPPED
from understudy.arguments import check_choice, check_whole
from understudy.data import Coded, Schema, fetch, load
from understudy.data.groups import Grouped, code_in_groups
from understudy.data.joint_coding import CodedTables
from understudy.errors import DataError, unknown_columns
from understudy.progress import track
from understudy.synthesis import Cart
from understudy.utility.distances import paired_counts, total_variation
from understudy.wording import markdown_table

TableName = Literal["cmc", "sd2011", "adult"]
ADULT_ROWS = 6_000
"""Of Adult's training part, drawn at random."""
SD2011_COLUMNS = (
    *("sex", "age", "agegr", "placesize", "region", "edu", "socprof", "unempdur", "income"),
    *("marital", "mmarr", "ymarr", "msepdiv", "ysepdiv", "ls", "depress", "trust", "trustfam"),
    *("trustneigh", "sport", "nofriend", "smoke"),
)
"""The first 22 columns of Social Diagnosis 2011 in the order of the file, without `eduspec`.

synthpop searches all ways to part the 27 levels of `eduspec` in two, and does not come to an end.
Its figure is for 22 columns that we know the number of, not the names.
"""
SYNTHPOP = {"cmc": 1.08, "sd2011": 1.34, "adult": 1.21}
"""The ratio for syntheses of synthpop 1.9-3, at its defaults, by the definition used here."""


def pair_distance(original: pl.DataFrame, synthetic: pl.DataFrame, *, groups: int = 10) -> float:
    """Return the mean total variation distance between the two-column tables of two tables.

    Parameters
    ----------
    original, synthetic : polars.DataFrame
        Tables with the same columns; they may differ in their number of rows.
    groups : int
        Numbers are put into this many groups of about the same number of original records each, or
        fewer where one number is frequent; up to as many distinct numbers are all kept apart. What
        is not a number or a time is compared level by level, and missing is a level of every
        column.

    Returns
    -------
    float
        0 for a copy, 1 if no combination of two values is in both tables.

    Notes
    -----
    The total variation distance of two tables of shares is half the sum of their absolute
    differences: the share of the records that would have to move from one cell to another.
    `understudy.utility.marginals` keeps frequent numbers apart, which is why it has other figures;
    synthpop's are for the groups that are used here.

    Examples
    --------
    >>> original = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": [0, 1, 0, 1]})
    >>> synthetic = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": [1, 1, 0, 1]})
    >>> pair_distance(original, synthetic)
    0.25
    """
    if problems := unknown_columns(original.columns, synthetic.columns):
        raise DataError(" ".join(problems))
    if original.width < 2 or not (original.height and synthetic.height):
        raise DataError(
            "Pairs of columns are compared, so both tables need two columns and a row; got "
            f"{original.width} columns, {original.height} and {synthetic.height} rows."
        )
    both = _coded(original, synthetic, groups)
    return _distance(both.original, both.synthetic)


def _coded(original: pl.DataFrame, synthetic: pl.DataFrame, groups: int) -> Grouped:
    """Return both tables as codes that mean the same in both, as for synthpop's figures."""
    tables = CodedTables.of({"original": original, "synthetic": synthetic})
    return code_in_groups(tables, groups=groups, apart=False)


def _distance(original: Coded, synthetic: Coded) -> float:
    pairs = combinations(original.names, 2)
    counts = paired_counts(original, synthetic, pairs)
    return float(np.mean([total_variation(first, second) for first, second in counts]))


@dataclass(frozen=True)
class MarginalsLine:
    """The mean distance over all pairs of columns, for one table.

    Attributes
    ----------
    table, rows, columns
        What was synthesized.
    synthetic : tuple of float
        The distance of each synthesis from the original.
    bootstrap : tuple of float
        The distance of each bootstrap sample: as many original records, drawn with replacement.
    synthpop : float or None
        The ratio for synthpop, if it is known.
    """

    table: str
    rows: int
    columns: int
    synthetic: tuple[float, ...]
    bootstrap: tuple[float, ...]
    synthpop: float | None

    @property
    def ratio(self) -> float:
        """How many times as far from the original a synthesis is as a bootstrap sample."""
        return float(np.mean(self.synthetic) / np.mean(self.bootstrap))

    @property
    def error(self) -> float | None:
        """The standard error of the ratio; None if there is a single synthesis or sample."""
        if min(len(self.synthetic), len(self.bootstrap)) < 2:
            return None
        relative = [
            np.std(values, ddof=1) / np.mean(values) / np.sqrt(len(values))
            for values in (self.synthetic, self.bootstrap)
        ]
        return self.ratio * float(np.hypot(*relative))


def marginals(table: TableName, *, seeds: int = 20, bootstraps: int = 100) -> list[MarginalsLine]:
    """Return how far CART syntheses of a table are from it, next to bootstrap samples of it.

    Records that are drawn at random differ from the original by chance alone, whatever they are
    drawn from. A bootstrap sample shows how much: it is drawn from the original itself. So a ratio
    of 1 says that the model adds nothing to chance.

    Parameters
    ----------
    table : {"cmc", "sd2011", "adult"}
        The table. For Social Diagnosis 2011 there are two lines, for the columns that synthpop
        could do and for all.
    seeds : int
        Syntheses. With the default, the ratio for cmc is known to 0.02; with five, only to 0.03.
    bootstraps : int
        Bootstrap samples.

    Raises
    ------
    DataError
        When there is no file of the table; see `fetch`.
    """
    check_whole("seeds", seeds, 1)
    check_whole("bootstraps", bootstraps, 1)
    return [
        _line(table, original, synthpop, seeds, bootstraps)
        for original, synthpop in _originals(table)
    ]


def _originals(table: TableName) -> list[tuple[pl.DataFrame, float | None]]:
    """Return the tables to synthesize, with synthpop's ratio for each."""
    if check_choice("table", table, get_args(TableName)) == "cmc":
        return [(load("cmc"), SYNTHPOP[table])]
    if table == "sd2011":
        survey = fetch("sd2011")
        return [(survey.select(SD2011_COLUMNS), SYNTHPOP[table]), (survey, None)]
    adult = fetch("adult_train").drop(ADULT_DROPPED)
    return [(adult.sample(ADULT_ROWS, seed=0), SYNTHPOP[table])]


def _line(
    name: str, original: pl.DataFrame, synthpop: float | None, seeds: int, bootstraps: int
) -> MarginalsLine:
    model = Cart(smoothing_leaves=0, random_state=0).fit(
        original, Schema.infer(original, dependencies=False)
    )
    synthetic = [
        pair_distance(original, model.sample(random_state=seed))
        for seed in track(range(seeds), f"Synthesizing {name}")
    ]
    coded = _coded(original, original, 10).original
    draws = np.random.default_rng(0).integers(len(coded), size=(bootstraps, len(coded)))
    bootstrap = [_distance(coded, coded.take(rows)) for rows in draws]
    return MarginalsLine(name, *original.shape, tuple(synthetic), tuple(bootstrap), synthpop)


def marginals_markdown(lines: Sequence[MarginalsLine]) -> str:
    """Return the lines as one table."""
    return markdown_table(
        ["table", "rows", "columns", "synthetic", "bootstrap", "ratio", "synthpop"],
        [
            [
                line.table,
                f"{line.rows:,}",
                str(line.columns),
                f"{np.mean(line.synthetic):.4f}",
                f"{np.mean(line.bootstrap):.4f}",
                f"{line.ratio:.3f}" + ("" if line.error is None else f" ± {line.error:.3f}"),
                "" if line.synthpop is None else f"{line.synthpop:.2f}",
            ]
            for line in lines
        ],
    )
