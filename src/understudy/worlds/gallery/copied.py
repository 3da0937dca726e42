"""Releases that hold records of the original as they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from understudy.worlds.gallery.setting import Release, Setting, Shelf

SHELF = Shelf(leaks=True)
SHARES = (0.01, 0.02, 0.05, 0.10, 0.20, 0.30, 0.50)
ODD, TEN = 20, 10
PARTS = 3


def _copies(share: float, rest: str) -> Callable[[Setting], Release]:
    def make(setting: Setting) -> Release:
        filling = setting.fresh if rest == "fresh people" else setting.independent()
        return setting.among(setting.original[setting.some(share)], filling)

    return make


for _rest in ("fresh people", "independent records"):
    for _share in SHARES:
        SHELF.add(
            f"copies of {_share:.0%} among {_rest}",
            f"{_share:.0%} of the people are in it, as they are",
            share=_share,
        )(_copies(_share, _rest))


@SHELF.add("copy in another order", "everybody is in it, as they are")
def _copy(setting: Setting) -> Release:
    return setting.shuffled(setting.original)


def _resampled(setting: Setting) -> pl.DataFrame:
    return setting.original[setting.rng.integers(setting.rows, size=setting.rows)]


SHELF.add(
    "bootstrap",
    "records are drawn from the original, so that 63% of the people are in it",
    share=0.63,
)(_resampled)


@SHELF.add(
    "a twentieth of the people, nothing else",
    "the release is short, and all of it copied",
    share=0.05,
)
def _short(setting: Setting) -> Release:
    return setting.original[setting.some(0.05)]


@SHELF.add("everybody, and as many fresh people", "everybody is in a release twice as long")
def _diluted(setting: Setting) -> Release:
    return setting.shuffled(pl.concat([setting.original, setting.fresh], how="vertical_relaxed"))


@SHELF.add(
    "copies of 5%, six times each", "5% of the people are in it, each in six records", share=0.05
)
def _repeated(setting: Setting) -> Release:
    planted = setting.original[np.repeat(setting.some(0.05), 6)]
    return setting.among(planted, setting.fresh)


@SHELF.add("ten people, many times each", "ten people are in it, and nobody else", people=TEN)
def _ten(setting: Setting) -> Release:
    chosen = setting.rng.choice(setting.rows, TEN, replace=False)
    return setting.original[setting.rng.choice(chosen, setting.rows)]


@SHELF.add(
    "the 20 oddest among fresh people",
    "those are in it who are least like anybody else",
    people=ODD,
)
def _odd_among_fresh(setting: Setting) -> Release:
    return setting.among(setting.original[setting.odd(ODD)], setting.fresh)


@SHELF.add(
    "the 20 oddest among independent records",
    "those are in it who are least like anybody else",
    people=ODD,
)
def _odd_among_independent(setting: Setting) -> Release:
    return setting.among(setting.original[setting.odd(ODD)], setting.independent())


@SHELF.add(
    "people with a rare value among fresh people",
    "everybody with one rare value of the sensitive column is in it",
    "rare",
)
def _rare_among_fresh(setting: Setting) -> Release:
    return setting.among(setting.original[setting.rare], setting.fresh)


@SHELF.add(
    "people with a rare value among independent records",
    "everybody with one rare value of the sensitive column is in it",
    "rare",
)
def _rare_among_independent(setting: Setting) -> Release:
    return setting.among(setting.original[setting.rare], setting.independent())


@SHELF.add(
    "three parts with copies of 10% each", "each of three tables holds other people", share=0.3
)
def _parts_with_copies(setting: Setting) -> Release:
    order = setting.rng.permutation(setting.rows)
    size = round(0.1 * setting.rows)
    people = [order[size * part : size * (part + 1)] for part in range(PARTS)]
    return [setting.among(setting.original[held], setting.independent()) for held in people]


@SHELF.add("three parts that make up the original", "everybody is in one of three tables")
def _parts(setting: Setting) -> Release:
    order = np.array_split(setting.rng.permutation(setting.rows), PARTS)
    return [setting.original[people] for people in order]


@SHELF.add(
    "three parts, one of which is a bootstrap", "only the last of three tables leaks", share=0.63
)
def _last_part(setting: Setting) -> Release:
    return [setting.independent(), setting.independent(), _resampled(setting)]


def _loose_but_for(setting: Setting, count: int) -> pl.DataFrame:
    """Return made-up records with everybody's values of the most telling numbers and dates."""
    values = {
        name: setting.original[name].n_unique() for name in (*setting.numbers, *setting.dates)
    }
    kept = sorted(values, key=lambda name: -values[name])[:count]
    return setting.independent().with_columns(setting.original.select(kept))


@SHELF.add(
    "two exact numbers kept",
    "everybody's values of two columns stand together; all else made up",
    "telling pair",
)
def _two_kept(setting: Setting) -> Release:
    return setting.shuffled(_loose_but_for(setting, 2))


@SHELF.add(
    "two exact numbers of 30% kept",
    "the values of two columns of 30% of the people stand together; all else made up",
    "telling pair",
    share=0.3,
)
def _two_of_some_kept(setting: Setting) -> Release:
    return setting.among(_loose_but_for(setting, 2)[setting.some(0.3)], setting.independent())
