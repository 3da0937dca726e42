"""What becomes of the correlations of numbers: networks before and now, trees, and the copula.

``python -m studies numbers`` prints a table for each original: how far the correlations of its
numbers are off in releases, on the numbers as they are and on their ranks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, cast

import numpy as np
import polars as pl
from scipy.stats import rankdata

from studies.packaged_tables import cached_file, chosen_tables
from understudy.data import Schema, fetch, read, simulate
from understudy.data.schema import NUMERIC
from understudy.errors import DataError, ParameterError
from understudy.progress import quietly, track
from understudy.risk import lookalikes
from understudy.synthesis import BayesNet, Cart, GaussianCopula, Synthesizer
from understudy.wording import counted, markdown_table, quoted

STRONG = 0.5
"""The size from which a correlation must be kept."""
FEWEST = 30
"""Records that have two numbers, at least, for their correlation to count."""


def _packaged(name: str) -> pl.DataFrame:
    (table,) = chosen_tables([name])
    return cast("pl.DataFrame", read(cached_file(table)))


TABLES: dict[str, Callable[[], pl.DataFrame]] = {
    "flights": lambda: _packaged("flights"),
    "penguins": lambda: _packaged("penguins"),
    "Adult": lambda: fetch("adult_train"),
    "SD2011": lambda: fetch("sd2011"),
    "credit card": lambda: cast("pl.DataFrame", simulate("credit_card", 10_000)),
}

BEFORE = "network, as it was"
"""The network that numbers do not follow, beside which times are given."""

MODELS: dict[str, Callable[[int], Synthesizer]] = {
    BEFORE: lambda seed: BayesNet(
        parent_groups=1, halves=False, decode="interpolate", random_state=seed
    ),
    "network, numbers follow": lambda seed: BayesNet(
        parent_groups=1, halves=False, random_state=seed
    ),
    "network, parents in groups too": lambda seed: BayesNet(halves=False, random_state=seed),
    "network, in halves too": lambda seed: BayesNet(random_state=seed),
    "CART": lambda seed: Cart(random_state=seed),
    "copula": lambda seed: GaussianCopula(random_state=seed),
}
AGAIN = "drawn again, with replacement"
"""Records of the original itself, drawn at random: what chance alone does."""

FIGURES = {
    "Pearson, largest loss": "{:.3f}",
    "Pearson, mean loss": "{:.3f}",
    "ranks, largest loss": "{:.3f}",
    "ranks, mean loss": "{:.3f}",
    "lookalikes": "{:.0f}",
    "time": "{:.2f}",
}
"""The columns of the table, and how their numbers are written."""

Pair = tuple[str, str]
Figures = dict[str, float]


@dataclass(frozen=True)
class Correlations:
    """The correlations of all pairs of columns of numbers: on the numbers, and on their ranks."""

    pearson: Mapping[Pair, float]
    ranks: Mapping[Pair, float]

    @classmethod
    def of(cls, frame: pl.DataFrame, schema: Schema) -> Correlations:
        """Return the correlations of the records that have both numbers, special values aside."""
        pearson, ranks = {}, {}
        columns = {column.name: column for column in schema if column.kind in NUMERIC}
        numbers = {
            name: _numbers(frame[name], column.special)
            for name, column in columns.items()
            if frame[name].dtype.is_numeric() or frame[name].dtype.is_temporal()
        }
        for pair in combinations(numbers, 2):
            one, other = (numbers[name] for name in pair)
            both = np.isfinite(one) & np.isfinite(other)
            x, y = one[both], other[both]
            if len(x) < FEWEST or x.min() == x.max() or y.min() == y.max():
                continue
            pearson[pair] = float(np.corrcoef(x, y)[0, 1])
            ranks[pair] = float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])
        return cls(pearson, ranks)

    def strong(self) -> set[Pair]:
        """Return the pairs that are strongly correlated, in either way."""
        return {
            pair
            for found in (self.pearson, self.ranks)
            for pair, size in found.items()
            if abs(size) > STRONG
        }

    def losses(self, release: Correlations) -> Figures:
        """Return how far the strong correlations are off in a release; those that are none, too."""
        found = {}
        for title, mine, theirs in (
            ("Pearson", self.pearson, release.pearson),
            ("ranks", self.ranks, release.ranks),
        ):
            off = [
                abs(size - theirs.get(pair, 0.0))
                for pair, size in mine.items()
                if abs(size) > STRONG
            ]
            found[f"{title}, largest loss"] = max(off, default=np.nan)
            found[f"{title}, mean loss"] = float(np.mean(off)) if off else np.nan
        return found


def _numbers(column: pl.Series, special: Sequence[Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return a column's numbers, NaN where there is none."""
    found = column.to_physical().cast(pl.Float64).fill_null(float("nan")).to_numpy().copy()
    if column.dtype.is_numeric():
        found[np.isin(found, special)] = np.nan
    return found


def judge(
    original: pl.DataFrame, releases: int, seed: int = 0, models: Sequence[str] | None = None
) -> tuple[int, dict[str, Figures]]:
    """Return how many pairs are strongly correlated, and the figures of each model."""
    chosen = {name: make for name, make in MODELS.items() if models is None or name in models}
    schema = Schema.infer(original)
    texts = [column.name for column in schema if column.kind == "text"]
    original, schema = original.drop(texts), schema.drop(*texts)
    before = Correlations.of(original, schema)
    seeds = range(seed, seed + releases)
    again = [original.sample(len(original), with_replacement=True, seed=one) for one in seeds]
    found = {AGAIN: _means([before.losses(Correlations.of(one, schema)) for one in again])}
    with quietly():
        for name, make in chosen.items():
            rows = []
            for one in track(seeds, name):
                begun = time.process_time()
                model = make(one).fit(original, schema)
                release = cast("pl.DataFrame", model.sample(random_state=one))
                seconds = time.process_time() - begun
                same = lookalikes(original, release, random_state=0).found
                losses = before.losses(Correlations.of(release, schema))
                rows.append(losses | {"lookalikes": same, "seconds": seconds})
            found[name] = _means(rows)
            # The first fit may have to load what it needs.
            found[name]["seconds"] = min(row["seconds"] for row in rows)
    if BEFORE in chosen:
        for name in chosen:
            found[name]["time"] = found[name]["seconds"] / found[BEFORE]["seconds"]
    return len(before.strong()), found


def _means(rows: Sequence[Figures]) -> Figures:
    return {figure: float(np.mean([row[figure] for row in rows])) for figure in rows[0]}


def numbers_markdown(
    tables: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    *,
    rows: int = 5_000,
    releases: int = 2,
    seed: int = 0,
) -> str:
    """Return a table for each original, and the reason for each that is not at hand."""
    for what, names, known in (("tables", tables, TABLES), ("models", models, MODELS)):
        if unknown := [name for name in names or () if name not in known]:
            raise ParameterError(
                f"{what} must be names out of {quoted(list(known))}; got {quoted(unknown)}."
            )
    parts = []
    for title in tables or TABLES:
        try:
            original = TABLES[title]()
        except DataError as error:
            reason, *_ = str(error).split(". ")
            parts.append(f"**{title}** is left out. {reason.rstrip('.')}.")
            continue
        if len(original) > rows:
            original = original.sample(rows, shuffle=True, seed=seed)
        count, judged = judge(original, releases, seed, models)
        pairs = f"{counted(count, 'pair')} of numbers with a correlation above {STRONG}"
        parts.append(
            f"**{title}**, {len(original):,} records, {pairs}, {counted(releases, 'release')}:"
        )
        parts.append(_table_of(judged))
    return "\n\n".join(parts)


def _table_of(judged: Mapping[str, Figures]) -> str:
    lines = []
    for name, figures in judged.items():
        values = [figures.get(figure, np.nan) for figure in FIGURES]
        cells = [
            "" if np.isnan(value) else form.format(value)
            for value, form in zip(values, FIGURES.values(), strict=True)
        ]
        lines.append([name, *cells])
    return markdown_table(["model", *FIGURES], lines)
