"""Releases that hold records of the original, changed so that none is equal to a person's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from understudy.worlds.gallery.setting import Release, Setting, Shelf

SHELF = Shelf(leaks=True)
NEARBY = 0.1
"""How far a mixture lies from a person towards the nearest other one."""
GROUP, NEXT = 3, 0.02
"""People whose numbers are averaged; and how far numbers are swapped, as a share of the ranks."""


def noisy(
    setting: Setting, frame: pl.DataFrame, columns: Sequence[str], share: float
) -> pl.DataFrame:
    """Add normal noise to numbers, in shares of their standard deviation; integers stay whole."""

    def moved(column: pl.Series) -> pl.Series:
        spread = float(setting.original[column.name].cast(pl.Float64).std() or 0)  # type: ignore[arg-type]
        noise = setting.rng.normal(0, share * spread, column.len())
        held = column.cast(pl.Float64) + pl.Series(noise)
        whole = held.round().cast(column.dtype) if column.dtype.is_integer() else held
        return whole.alias(column.name)

    return frame.with_columns(moved(frame[name]) for name in columns)


def replaced(setting: Setting, frame: pl.DataFrame, share: float) -> pl.DataFrame:
    """Replace a share of all values by those of people drawn at random."""
    other = setting.independent(frame.height)
    return frame.with_columns(
        pl.when(pl.Series(setting.rng.random(frame.height) < share))
        .then(other[name])
        .otherwise(frame[name])
        .alias(name)
        for name in frame.columns
    )


@SHELF.add("numbers moved by 0.01", "everybody is in it, with all numbers a little off", "numbers")
def _moved(setting: Setting) -> Release:
    held = setting.original.with_columns(pl.col(setting.numbers).cast(pl.Float64) + 0.01)
    return setting.shuffled(held)


@SHELF.add("noise in one number", "everybody is in it, with noise in one column", "numbers")
def _one_noisy(setting: Setting) -> Release:
    return setting.shuffled(noisy(setting, setting.original, setting.numbers[:1], 0.5))


@SHELF.add("little noise in all numbers", "everybody is in it, with noise of 2%", "numbers")
def _slightly_noisy(setting: Setting) -> Release:
    return setting.shuffled(noisy(setting, setting.original, setting.numbers, 0.02))


@SHELF.add("noise in all numbers", "everybody is in it, with noise of 10%", "numbers")
def _noisy(setting: Setting) -> Release:
    return setting.shuffled(noisy(setting, setting.original, setting.numbers, 0.1))


@SHELF.add(
    "copies of 20% with noise among fresh people",
    "20% of the people are in it, with noise of 2% in all numbers",
    "numbers",
    share=0.2,
)
def _some_noisy(setting: Setting) -> Release:
    planted = noisy(setting, setting.original[setting.some(0.2)], setting.numbers, 0.02)
    return setting.among(planted, setting.fresh)


@SHELF.add("rounded numbers", "everybody is in it, with two significant digits", "numbers")
def _rounded(setting: Setting) -> Release:
    held = setting.original.with_columns(
        pl.col(name).cast(pl.Float64).round_sig_figs(2) for name in setting.numbers
    )
    return setting.shuffled(held)


@SHELF.add("numbers rounded to tens", "everybody is in it, with all numbers grouped", "numbers")
def _tens(setting: Setting) -> Release:
    held = setting.original.with_columns(
        (pl.col(setting.numbers).cast(pl.Float64) / 10).round() * 10
    )
    return setting.shuffled(held)


@SHELF.add("numbers on another scale", "everybody is in it, with numbers times 1,000", "numbers")
def _scaled(setting: Setting) -> Release:
    return setting.shuffled(setting.original.with_columns(pl.col(setting.numbers) * 1000))


@SHELF.add("numbers in ranges", "everybody is in it, with numbers such as '20-29'", "numbers")
def _in_ranges(setting: Setting) -> Release:
    def ends(name: str) -> pl.Expr:
        low, high = np.nanquantile(setting.original[name].to_numpy(), [0.1, 0.9])
        width = max(1.0, float(high - low) / 8)
        start = (pl.col(name).cast(pl.Float64) / width).floor() * width
        return pl.format("{}-{}", start.round(2), (start + width).round(2)).alias(name)

    held = [name for name in setting.numbers if (setting.original[name] >= 0).all()]
    return setting.shuffled(setting.original.with_columns(map(ends, held)))


@SHELF.add("dates a day off", "everybody is in it, with all dates shifted by a day", "dates")
def _a_day_off(setting: Setting) -> Release:
    return setting.shuffled(setting.original.with_columns(pl.col(setting.dates).dt.offset_by("1d")))


@SHELF.add("dates up to a week off", "everybody is in it, with dates moved at random", "dates")
def _a_week_off(setting: Setting) -> Release:
    held = setting.original.with_columns(
        pl.col(name)
        + pl.duration(days=pl.lit(pl.Series(setting.rng.integers(-7, 8, setting.rows))))
        for name in setting.dates
    )
    return setting.shuffled(held)


@SHELF.add("upper case", "everybody is in it, with all text in capitals", "words")
def _upper(setting: Setting) -> Release:
    held = setting.original.with_columns(pl.col(setting.words).str.to_uppercase())
    return setting.shuffled(held)


@SHELF.add("spaces around text", "everybody is in it, with blanks at the ends of text", "words")
def _spaces(setting: Setting) -> Release:
    held = setting.original.with_columns(
        ("  " + pl.col(name) + " ").alias(name) for name in setting.words
    )
    return setting.shuffled(held)


@SHELF.add("a letter added to one column", "everybody is in it, one column misspelt", "words")
def _misspelt(setting: Setting) -> Release:
    held = setting.original.with_columns(pl.col(setting.words[0]) + "x")
    return setting.shuffled(held)


@SHELF.add("numbers as text", "everybody is in it, with numbers stored as text", "numbers")
def _as_text(setting: Setting) -> Release:
    return setting.shuffled(setting.original.with_columns(pl.col(setting.numbers).cast(pl.String)))


@SHELF.add("numbers as text with a unit", "everybody is in it, one number as '12 u'", "numbers")
def _with_unit(setting: Setting) -> Release:
    held = setting.original.with_columns(pl.col(setting.numbers[0]).cast(pl.String) + " u")
    return setting.shuffled(held)


@SHELF.add("dates as text", "everybody is in it, with dates stored as text", "dates")
def _dates_as_text(setting: Setting) -> Release:
    return setting.shuffled(setting.original.with_columns(pl.col(setting.dates).cast(pl.String)))


@SHELF.add("other types", "everybody is in it, with whole numbers as decimals", "others")
def _other_types(setting: Setting) -> Release:
    held = setting.original.with_columns(
        pl.selectors.integer().cast(pl.Float64), pl.selectors.string().cast(pl.Categorical)
    )
    return setting.shuffled(held)


@SHELF.add("dropped columns", "everybody is in it, without half of the other columns", "others")
def _dropped(setting: Setting) -> Release:
    return setting.shuffled(setting.original.drop(setting.others[::2]))


@SHELF.add("added columns", "everybody is in it, with five columns of noise beside")
def _added(setting: Setting) -> Release:
    noise = [
        pl.Series(f"noise {number}", setting.rng.normal(size=setting.rows)) for number in range(5)
    ]
    return setting.shuffled(setting.original.with_columns(noise))


@SHELF.add("all but one column", "everybody is in it, but for one column, which is cut loose")
def _all_but_one(setting: Setting) -> Release:
    name = (*setting.others, *setting.keys)[0]
    return setting.shuffled(setting.permuted(setting.original, name))


@SHELF.add("all but one key", "everybody is in it, but for one key, which is cut loose")
def _all_but_one_key(setting: Setting) -> Release:
    return setting.shuffled(setting.permuted(setting.original, setting.most_telling))


@SHELF.add("all but the sensitive column", "who was in the data, and all else that is known")
def _all_but_secret(setting: Setting) -> Release:
    return setting.shuffled(setting.permuted(setting.original, setting.sensitive))


@SHELF.add("one column renamed", "everybody is in it, with other names for one column's values")
def _renamed(setting: Setting) -> Release:
    name = (*setting.words, *setting.others, *setting.keys)[0]
    return setting.shuffled(setting.original.with_columns(setting.recoded(setting.original[name])))


@SHELF.add("one key renamed", "everybody is in it, with other names for one key's values")
def _key_renamed(setting: Setting) -> Release:
    held = setting.original[setting.keys[0]]
    return setting.shuffled(setting.original.with_columns(setting.recoded(held)))


@SHELF.add("a tenth of the values replaced", "everybody is in it, with a tenth made up")
def _tenth_replaced(setting: Setting) -> Release:
    return setting.shuffled(replaced(setting, setting.original, 0.1))


@SHELF.add("a quarter of the values replaced", "everybody is in it, with a quarter made up")
def _quarter_replaced(setting: Setting) -> Release:
    return setting.shuffled(replaced(setting, setting.original, 0.25))


@SHELF.add("a tenth of the values missing", "everybody is in it, with a tenth blanked")
def _blanked(setting: Setting) -> Release:
    held = setting.original.with_columns(
        pl.when(pl.Series(setting.rng.random(setting.rows) >= 0.1)).then(pl.col(name)).alias(name)
        for name in setting.original.columns
    )
    return setting.shuffled(held)


@SHELF.add(
    "copies of 20% with one value replaced among fresh people",
    "20% of the people are in it, with one value each made up",
    share=0.2,
)
def _one_value_replaced(setting: Setting) -> Release:
    planted = setting.original[setting.some(0.2)]
    which = setting.rng.integers(planted.width, size=planted.height)
    other = setting.independent(planted.height)
    held = planted.with_columns(
        pl.when(pl.Series(which == place)).then(other[name]).otherwise(planted[name]).alias(name)
        for place, name in enumerate(planted.columns)
    )
    return setting.among(held, setting.fresh)


@SHELF.add("mixtures with neighbours", "each record has some values of the most similar person")
def _mixed(setting: Setting) -> Release:
    near = setting.original[setting.neighbours[1]]
    held = setting.original.with_columns(
        pl.when(pl.Series(setting.rng.random(setting.rows) < 0.3))
        .then(near[name])
        .otherwise(setting.original[name])
        .alias(name)
        for name in setting.original.columns
    )
    return setting.shuffled(held)


@SHELF.add(
    "a step towards neighbours",
    "everybody is in it, with numbers a tenth of the way to the most similar person",
    "numbers",
)
def _interpolated(setting: Setting) -> Release:
    near = setting.original[setting.neighbours[1]]
    held = setting.original.with_columns(
        ((1 - NEARBY) * pl.col(name) + NEARBY * near[name]).alias(name) for name in setting.numbers
    )
    return setting.shuffled(held)


@SHELF.add("swapped values", "everybody is in it; 30% have exchanged the sensitive value")
def _swapped(setting: Setting) -> Release:
    people = np.sort(setting.some(0.3))
    source = np.arange(setting.rows)
    source[people] = setting.rng.permutation(people)
    held = setting.original.with_columns(setting.original[setting.sensitive][source])
    return setting.shuffled(held)


@SHELF.add(
    "any way towards neighbours",
    "everybody is in it, with numbers drawn between theirs and the most similar person's",
    "numbers",
)
def _between(setting: Setting) -> Release:
    near = setting.original[setting.neighbours[1]]
    part = pl.Series(setting.rng.random(setting.rows))
    held = setting.original.with_columns(
        (setting.original[name] * (1 - part) + near[name] * part).alias(name)
        for name in setting.numbers
    )
    return setting.shuffled(held)


@SHELF.add("numbers averaged in threes", "everybody is in it, with means of neighbours", "numbers")
def _averaged(setting: Setting) -> Release:
    def means(name: str) -> pl.Expr:
        group = (pl.col(name).rank("ordinal") - 1) // GROUP
        return pl.col(name).cast(pl.Float64).mean().over(group)

    return setting.shuffled(setting.original.with_columns(map(means, setting.numbers)))


@SHELF.add(
    "numbers swapped with those next to them",
    "everybody is in it; all numbers are exchanged within 2% of the ranks",
    "numbers",
)
def _rank_swapped(setting: Setting) -> Release:
    def swapped(name: str) -> pl.Series:
        order = setting.original[name].arg_sort().to_numpy()
        places = np.arange(setting.rows) + setting.rng.uniform(0, NEXT * setting.rows, setting.rows)
        source = np.empty_like(order)
        source[order] = order[np.argsort(places)]
        return setting.original[name][source]

    return setting.shuffled(setting.original.with_columns(map(swapped, setting.numbers)))


@SHELF.add(
    "a fifth of the text replaced, noise in numbers",
    "everybody is in it, disguised twice",
    "numbers",
    "words",
)
def _twice(setting: Setting) -> Release:
    text = replaced(setting, setting.original.select(setting.words), 0.2)
    held = noisy(setting, setting.original.with_columns(text), setting.numbers, 0.05)
    return setting.shuffled(held)
