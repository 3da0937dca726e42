"""Releases that tell people's sensitive value, though they hold nobody's record."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from understudy.worlds.gallery.changed import noisy
from understudy.worlds.gallery.setting import Release, Setting, Shelf

SHELF = Shelf(leaks=True)
FIVE = 5
SHIFT = 7
CARRIER = "score"


def _kept(setting: Setting, columns: Sequence[str]) -> pl.DataFrame:
    """Return everybody's values of some columns together; all others are drawn by themselves."""
    return setting.independent().with_columns(setting.original.select(columns))


def _codes(column: pl.Series) -> np.ndarray:
    return column.rank("dense").fill_null(0).to_numpy().astype(float)


@SHELF.add(
    "keys and sensitive value only", "everybody's keys with the value; all else made up", "others"
)
def _keys_and_secret(setting: Setting) -> Release:
    return setting.shuffled(_kept(setting, [*setting.keys, setting.sensitive]))


@SHELF.add(
    "keys and sensitive value of 20% only",
    "the keys of 20% of the people with the value; all else made up",
    share=0.2,
)
def _some_keys_and_secret(setting: Setting) -> Release:
    held = _kept(setting, [*setting.keys, setting.sensitive])
    return setting.among(held[setting.some(0.2)], setting.independent())


@SHELF.add("noise in keys", "everybody's keys with noise of 2%, and the value", "numbers")
def _noisy_keys(setting: Setting) -> Release:
    held = _kept(setting, [*setting.keys, setting.sensitive])
    numeric = [name for name in setting.keys if name in setting.numbers]
    return setting.shuffled(noisy(setting, held, numeric, 0.02))


@SHELF.add(
    "one telling key of many",
    "one key, in which nearly everybody has a value of their own, with the value",
    "many keys",
    "telling key",
)
def _one_key(setting: Setting) -> Release:
    return setting.shuffled(_kept(setting, [setting.most_telling, setting.sensitive]))


@SHELF.add(
    "one telling key with noise",
    "one key, in which nearly everybody has a value of their own, a little off, with the value",
    "many keys",
    "telling key",
)
def _one_noisy_key(setting: Setting) -> Release:
    held = _kept(setting, [setting.most_telling, setting.sensitive])
    name = setting.most_telling
    if name in setting.dates:
        days = pl.duration(days=pl.lit(pl.Series(setting.rng.integers(0, 2, setting.rows))))
        return setting.shuffled(held.with_columns(pl.col(name) + days))
    return setting.shuffled(noisy(setting, held, [name], 0.0005))


@SHELF.add(
    "two telling keys of many",
    "two keys, which together tell people apart, with the value",
    "many keys",
)
def _two_keys(setting: Setting) -> Release:
    by_values = sorted(setting.keys, key=lambda name: -setting.original[name].n_unique())
    return setting.shuffled(_kept(setting, [*by_values[1:3], setting.sensitive]))


@SHELF.add(
    "keys of people with a rare value",
    "keys and value of everybody with one rare value; all else made up",
    "rare",
)
def _rare(setting: Setting) -> Release:
    held = _kept(setting, [*setting.keys, setting.sensitive])
    # Nobody else is said to have it.
    value = setting.original[setting.sensitive][int(setting.rare[0])]
    rest = setting.independent(2 * setting.rows)
    rest = rest.filter(pl.col(setting.sensitive).ne_missing(value)).head(setting.rows)
    return setting.among(held[setting.rare], rest)


@SHELF.add(
    "keys of five people with a rare value",
    "keys and value of five people with one rare value; all else made up",
    "rare",
    people=FIVE,
)
def _few_rare(setting: Setting) -> Release:
    held = _kept(setting, [*setting.keys, setting.sensitive])
    return setting.among(held[setting.rare[:FIVE]], setting.independent())


@SHELF.add(
    "sensitive values renamed",
    "everybody's keys with the value, under another name",
    "coarse secret",
)
def _renamed(setting: Setting) -> Release:
    held = _kept(setting, [*setting.keys, setting.sensitive])
    return setting.shuffled(held.with_columns(setting.recoded(held[setting.sensitive])))


@SHELF.add("carrier in a new column", "a new column holds the value as codes", "coarse secret")
def _new_column(setting: Setting) -> Release:
    held = _kept(setting, setting.keys)
    code = setting.recoded(setting.original[setting.sensitive]).alias(CARRIER)
    return setting.shuffled(held.with_columns(code))


@SHELF.add("carrier with noise in a new column", "a new column holds the value as noisy numbers")
def _noisy_column(setting: Setting) -> Release:
    held = _kept(setting, setting.keys)
    codes = _codes(setting.original[setting.sensitive])
    spread = codes.std() or 1.0
    # Each value within a tenth of a step; of a number, within a tenth of its spread.
    width = 0.1 if np.unique(codes).size < 50 else 0.1 * spread
    score = codes + setting.rng.normal(0, width, len(codes))
    return setting.shuffled(held.with_columns(pl.Series(CARRIER, 10 * score)))


@SHELF.add(
    "carrier in another column",
    "another column holds the value as codes",
    "others",
    "coarse secret",
)
def _other_column(setting: Setting) -> Release:
    held = _kept(setting, setting.keys)
    code = setting.recoded(setting.original[setting.sensitive]).alias(setting.others[0])
    return setting.shuffled(held.with_columns(code))


@SHELF.add(
    "carrier for 30% of the people",
    "a new column holds the value of 30% of the people as codes",
    "coarse secret",
    share=0.3,
)
def _some_carried(setting: Setting) -> Release:
    held = _kept(setting, setting.keys)
    code = setting.recoded(setting.original[setting.sensitive]).alias(CARRIER)
    people = setting.some(0.3)
    rest = setting.independent().with_columns(setting.shuffled(code.to_frame()))
    return setting.among(held.with_columns(code)[people], rest)


@SHELF.add(
    "sensitive number a little off", "everybody's keys with the value, off by 1%", "numeric secret"
)
def _off(setting: Setting) -> Release:
    held = _kept(setting, [*setting.keys, setting.sensitive])
    return setting.shuffled(noisy(setting, held, [setting.sensitive], 0.01))


@SHELF.add(
    "sensitive numbers exchanged by rank",
    "everybody's keys with the value that is half of the ranks away",
    "numeric secret",
)
def _exchanged(setting: Setting) -> Release:
    held = _kept(setting, [*setting.keys, setting.sensitive])
    values = held[setting.sensitive]
    ranks = values.rank("ordinal").to_numpy() - 1
    moved = values.sort()[(ranks + setting.rows // 2) % setting.rows]
    return setting.shuffled(held.with_columns(moved.alias(setting.sensitive)))


def _in_order(setting: Setting) -> pl.DataFrame:
    """Return records that were made up, with the sensitive values in the original's order."""
    return setting.independent().with_columns(setting.original[setting.sensitive])


@SHELF.add("sensitive values in their rows", "rows stand in the original's order; all else made up")
def _in_their_rows(setting: Setting) -> Release:
    return _in_order(setting)


@SHELF.add(
    "sensitive values in their rows, one row dropped",
    "rows stand in the original's order, but for one in the middle; all else made up",
)
def _row_dropped(setting: Setting) -> Release:
    held, place = _in_order(setting), setting.rows // 2
    return pl.concat([held.head(place), held.slice(place + 1)])


@SHELF.add(
    "sensitive values in their rows, others on top",
    "rows stand in the original's order below ten that are made up; all else made up",
)
def _rows_on_top(setting: Setting) -> Release:
    return pl.concat([setting.independent(10), _in_order(setting)])


@SHELF.add(
    "sensitive values in their rows, upside down",
    "rows stand in the original's order from the end to the top; all else made up",
)
def _upside_down(setting: Setting) -> Release:
    return _in_order(setting).reverse()


@SHELF.add(
    "sensitive values in their rows, seven rows further down",
    "rows stand in the original's order, the last seven on top; all else made up",
)
def _further_down(setting: Setting) -> Release:
    held = _in_order(setting)
    return pl.concat([held.tail(SHIFT), held.head(-SHIFT)])


def _date_and_words(setting: Setting) -> list[str]:
    words = sorted(setting.words, key=lambda name: -setting.original[name].n_unique())
    return [setting.dates[0], *words[:2]]


@SHELF.add(
    "a date and text kept",
    "everybody's date stands beside one or two words of theirs; all else made up",
    "dates",
    "words",
)
def _date_and_text(setting: Setting) -> Release:
    return setting.shuffled(_kept(setting, _date_and_words(setting)))


@SHELF.add(
    "a date and text of 30% kept",
    "the date of 30% of the people stands beside two words of theirs; all else made up",
    "dates",
    "words",
    "wide",
    share=0.3,
)
def _date_and_text_of_some(setting: Setting) -> Release:
    held = _kept(setting, _date_and_words(setting))
    return setting.among(held[setting.some(0.3)], setting.independent())


@SHELF.add(
    "sensitive values in the order of a key",
    "sorted by a key, the values stand in the order of the sorted original; all else made up",
    "telling key",
)
def _in_order_of_a_key(setting: Setting) -> Release:
    key = setting.most_telling
    told = setting.original.sort(key)[setting.sensitive]
    return setting.independent().sort(key).with_columns(told)
