"""Releases that give nobody away who is in the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from understudy.data import Schema
from understudy.progress import quietly
from understudy.synthesis import DPMarginals, GaussianCopula, Independent, Synthesizer
from understudy.worlds.gallery.disguised import exchanged, joined, rescaled, under_other_names
from understudy.worlds.gallery.setting import FINE, Release, Setting, Shelf

SHELF = Shelf(leaks=False)
EPSILON = 1.0
BINS = 10
PARTS = 3


@SHELF.add("fresh people", "nobody in the data is in it")
def _fresh(setting: Setting) -> Release:
    return setting.fresh


def _sampled(setting: Setting, model: Synthesizer, schema: Schema | None = None) -> pl.DataFrame:
    """Fit a model and draw a release; unlike `Setting.independent` it repeats no exact number."""
    seed = int(setting.rng.integers(2**31))
    with quietly():
        return cast("pl.DataFrame", model.fit(setting.original, schema).sample(random_state=seed))


@SHELF.add("independent records", "each column is drawn by itself")
def _independent(setting: Setting) -> Release:
    return _sampled(setting, Independent())


@SHELF.add("copula", "a Gaussian copula knows pairs of columns only", "wide")
def _copula(setting: Setting) -> Release:
    return _sampled(setting, GaussianCopula())


def _by_shares(
    setting: Setting, noised: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> pl.DataFrame:
    """Draw each column by itself from counts that were changed.

    Numbers and dates are counted in ten bins of equal width, and drawn evenly inside a bin. Which
    values and which range a column has is known of the population, not learnt from the original.
    """
    known = setting.population

    def drawn(name: str) -> pl.Series:
        column = setting.original[name]
        whole = column.dtype.is_integer() or column.dtype.is_temporal()
        if not (column.dtype.is_temporal() or _is_fine(column)):
            values = known[name].drop_nulls().unique().sort()
            people = np.array([column.eq_missing(value).sum() for value in values], dtype=float)
            return values[_places(setting, noised(people))]
        everything = known[name].drop_nulls().to_physical().to_numpy()
        edges = np.linspace(everything.min(), everything.max(), BINS + 1)
        counts = np.histogram(column.drop_nulls().to_physical().to_numpy(), edges)[0]
        which = _places(setting, noised(counts.astype(float)))
        held = pl.Series(name, setting.rng.uniform(edges[which], edges[which + 1]))
        if not whole:
            return held.cast(column.dtype)
        return held.round().cast(column.to_physical().dtype).cast(column.dtype)

    return pl.DataFrame([drawn(name) for name in setting.original.columns])


def _is_fine(column: pl.Series) -> bool:
    return column.dtype.is_numeric() and column.n_unique() >= FINE


def _places(setting: Setting, weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Draw a place for each record, by weights that may all be 0."""
    held = weights if weights.any() else np.ones_like(weights)
    return setting.rng.choice(held.size, setting.rows, p=held / held.sum())


@SHELF.add("uniform", "every value, or every number in the range, is as likely as any other")
def _uniform(setting: Setting) -> Release:
    return _by_shares(setting, np.ones_like)


@SHELF.add("noised shares", "each column is drawn by itself from shares with noise, at epsilon 1")
def _noised(setting: Setting) -> Release:
    scale = 2 * setting.original.width / EPSILON  # a replaced record changes two counts by one

    def noised(counts: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.maximum(counts + setting.rng.laplace(0, scale, counts.size), 0)

    return _by_shares(setting, noised)


@SHELF.add("private marginals", "tables of columns with noise, at epsilon 1", "opendp")
def _private(setting: Setting) -> Release:
    public = Schema.infer(setting.population).as_public()
    return _sampled(setting, DPMarginals(epsilon=EPSILON), public)


@SHELF.add("fresh people, columns in another order", "nobody in the data is in it")
def _other_order(setting: Setting) -> Release:
    return setting.fresh.select(sorted(setting.fresh.columns, reverse=True))


@SHELF.add("fresh people, numbers as text", "nobody in the data is in it", "numbers")
def _as_text(setting: Setting) -> Release:
    return setting.fresh.with_columns(pl.col(setting.numbers).cast(pl.String))


@SHELF.add("fresh people, rounded numbers", "nobody in the data is in it", "numbers")
def _rounded(setting: Setting) -> Release:
    return setting.fresh.with_columns(
        pl.col(name).cast(pl.Float64).round_sig_figs(2) for name in setting.numbers
    )


@SHELF.add("fresh people, one column renamed", "nobody in the data is in it", "others")
def _renamed(setting: Setting) -> Release:
    return setting.fresh.with_columns(setting.recoded(setting.fresh[setting.others[0]]))


@SHELF.add("fresh people, numbers in other units", "nobody in the data is in it", "numbers")
def _units(setting: Setting) -> Release:
    return rescaled(setting, setting.fresh)


@SHELF.add("fresh people, numbers as ranks", "nobody in the data is in it", "numbers")
def _ranks(setting: Setting) -> Release:
    return setting.fresh.with_columns(pl.col(setting.numbers).rank())


@SHELF.add(
    "fresh people, all numbers cut loose", "nobody in the data is in it", "numbers", "words", "wide"
)
def _loose_numbers(setting: Setting) -> Release:
    return setting.permuted(setting.fresh, setting.numbers)


@SHELF.add("fresh people, values exchanged", "nobody in the data is in it", "words")
def _exchanged(setting: Setting) -> Release:
    return exchanged(setting, setting.fresh)


@SHELF.add(
    "fresh people, numbers under each other's names",
    "nobody in the data is in it",
    "related numbers",
)
def _under_other_names(setting: Setting) -> Release:
    return under_other_names(setting, setting.fresh)


@SHELF.add("fresh people, columns joined in one", "nobody in the data is in it", "others", "wide")
def _joined(setting: Setting) -> Release:
    return joined(setting, setting.fresh)


@SHELF.add("fresh people beside others", "nobody in the data is in it, under two sets of names")
def _beside(setting: Setting) -> Release:
    others = setting.shuffled(setting.fresh).rename(lambda name: f"{name}_2")
    return setting.fresh.hstack(others)


@SHELF.add("a third of the fresh people", "nobody in the data is in a short release")
def _fewer(setting: Setting) -> Release:
    return setting.fresh.head(setting.rows // PARTS)


@SHELF.add("fresh people, three times each", "nobody in the data is in a long release")
def _repeated(setting: Setting) -> Release:
    return setting.shuffled(pl.concat([setting.fresh] * PARTS))


@SHELF.add("fresh people in three parts", "nobody in the data is in any of the tables")
def _parts(setting: Setting) -> Release:
    return [setting.fresh[part::PARTS] for part in range(PARTS)]


@SHELF.add("fresh people, sensitive values shuffled", "nobody is in it, and no value is told")
def _shuffled(setting: Setting) -> Release:
    return setting.permuted(setting.fresh, setting.sensitive)


@SHELF.add(
    "independent within strata",
    "the sensitive column is drawn for each value of one coarse key: a pattern",
    "coarse secret",
)
def _strata(setting: Setting) -> Release:
    coarse = min(setting.keys, key=lambda name: setting.original[name].n_unique())
    held = _sampled(setting, Independent())
    place = pl.int_range(pl.len())
    ours = setting.original.select(coarse, setting.sensitive)
    drawn = held.select(coarse, row=place).group_by(coarse, maintain_order=True).agg("row")
    values = ours.group_by(coarse).agg(setting.sensitive)
    joined = drawn.join(values, on=coarse, how="left", nulls_equal=True, maintain_order="left")
    picked = pl.concat(
        pl.DataFrame(
            {
                "row": rows,
                setting.sensitive: among[setting.rng.integers(among.len(), size=rows.len())],
            }
        )
        for rows, among in zip(joined["row"], joined[setting.sensitive], strict=True)
    ).sort("row")
    return held.with_columns(picked[setting.sensitive])


@SHELF.add("fresh people, sorted", "nobody in the data is in it, whatever order the file is in")
def _sorted(setting: Setting) -> Release:
    return setting.fresh.sort(setting.most_telling)


@SHELF.add("values drawn again", "single values are in it, but nobody's stand together")
def _drawn_again(setting: Setting) -> Release:
    return setting.independent()


@SHELF.add("everybody the same", "every record holds the most frequent value of each column")
def _constant(setting: Setting) -> Release:
    most = setting.original.select(pl.all().mode(maintain_order=True).first())
    return most[np.zeros(setting.rows, dtype=np.int64)]
