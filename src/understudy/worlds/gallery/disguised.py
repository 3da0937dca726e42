"""Releases that hold records of the original, all of whose values were given another form."""

from __future__ import annotations

import polars as pl

from understudy.worlds.gallery.setting import Release, Setting, Shelf

SHELF = Shelf(leaks=True)


def rescaled(setting: Setting, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table with all numbers in other units: more than twice as large, and moved."""
    return frame.with_columns(pl.col(setting.numbers).cast(pl.Float64) * 2.2046 + 32)


def exchanged(setting: Setting, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table with the values of each column of text exchanged among themselves."""

    def other(name: str) -> pl.Series:
        values = setting.original[name].unique().sort()
        turned = pl.Series([*values[1:], *values[:1]], dtype=values.dtype)
        return frame[name].replace_strict(values, turned, default=frame[name])

    return frame.with_columns(other(name) for name in setting.words)


def joined(setting: Setting, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table with the columns that are neither keys nor sensitive in one."""
    parts = [pl.col(name).cast(pl.String).fill_null("") for name in setting.others]
    return frame.with_columns(pl.concat_str(parts, separator="|").alias("joined")).drop(
        setting.others
    )


def partly_loose(setting: Setting) -> pl.DataFrame:
    """Return the people with keys and sensitive column cut loose, but not more than half of all."""
    columns = [*setting.keys, setting.sensitive][: setting.original.width // 2]
    return setting.permuted(setting.original, columns)


def with_commas(setting: Setting, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table with numbers as text that has a comma before the decimals."""
    text = pl.col(setting.numbers).cast(pl.Float64).cast(pl.String)
    return frame.with_columns(text.str.replace(".", ",", literal=True))


@SHELF.add(
    "numbers in other units", "everybody is in it, with numbers times 2.2 and moved", "numbers"
)
def _units(setting: Setting) -> Release:
    return setting.shuffled(rescaled(setting, setting.original))


@SHELF.add(
    "numbers turned round", "everybody is in it, with the sign of all numbers changed", "numbers"
)
def _turned(setting: Setting) -> Release:
    return setting.shuffled(
        setting.original.with_columns(-pl.col(setting.numbers).cast(pl.Float64))
    )


@SHELF.add(
    "values exchanged", "everybody is in it, with one value of a column for another", "words"
)
def _exchanged(setting: Setting) -> Release:
    return setting.shuffled(exchanged(setting, setting.original))


@SHELF.add(
    "values exchanged, numbers in other units",
    "everybody is in it, in another form",
    "words",
    "numbers",
)
def _both(setting: Setting) -> Release:
    return setting.shuffled(exchanged(setting, rescaled(setting, setting.original)))


@SHELF.add("numbers with commas", "everybody is in it, with numbers such as '1,5'", "numbers")
def _commas(setting: Setting) -> Release:
    return setting.shuffled(with_commas(setting, setting.original))


@SHELF.add(
    "columns under other names", "everybody's other columns are in it, called otherwise", "others"
)
def _other_names(setting: Setting) -> Release:
    names = {name: f"v{place}" for place, name in enumerate(setting.others)}
    return setting.shuffled(partly_loose(setting).rename(names))


@SHELF.add(
    "columns joined in one", "everybody's other columns are in it, in one column", "others", "wide"
)
def _joined(setting: Setting) -> Release:
    return setting.shuffled(joined(setting, partly_loose(setting)))


def under_other_names(setting: Setting, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table with each number under the name of another one."""
    names = setting.numbers
    return frame.rename(dict(zip(names, [*names[1:], names[0]], strict=True)))


@SHELF.add(
    "numbers under each other's names",
    "everybody is in it, with each number in the column of another",
    "related numbers",
)
def _under_other_names(setting: Setting) -> Release:
    return setting.shuffled(under_other_names(setting, setting.original))


@SHELF.add(
    "a third of the columns cut loose", "everybody is in it, but for a third of the columns", "wide"
)
def _third(setting: Setting) -> Release:
    columns = setting.original.columns[::3]
    return setting.shuffled(setting.permuted(setting.original, columns))


@SHELF.add(
    "all numbers cut loose",
    "everybody is in it, but for the numbers",
    "numbers",
    "words",
    "wide",
)
def _loose_numbers(setting: Setting) -> Release:
    return setting.shuffled(setting.permuted(setting.original, setting.numbers))


@SHELF.add("all text cut loose", "everybody is in it, but for text", "numbers", "words", "wide")
def _loose_words(setting: Setting) -> Release:
    return setting.shuffled(setting.permuted(setting.original, setting.words))


@SHELF.add(
    "sensitive value in columns of zeros and ones",
    "everybody's keys with a column for each sensitive value; all else made up",
    "coarse secret",
)
def _ones(setting: Setting) -> Release:
    made_up = setting.independent().with_columns(setting.original.select(setting.keys))
    codes = setting.original[setting.sensitive].cast(pl.String).rename("is").to_dummies()
    return setting.shuffled(made_up.hstack(codes))


@SHELF.add("records beside made-up ones", "everybody is in it, in columns such as 'age_true'")
def _beside(setting: Setting) -> Release:
    true = setting.original.rename(lambda name: f"{name}_true")
    return setting.shuffled(setting.independent().hstack(true))


@SHELF.add(
    "records under other names beside made-up ones", "everybody is in it, in columns such as 'v1'"
)
def _beside_renamed(setting: Setting) -> Release:
    names = {name: f"v{place}" for place, name in enumerate(setting.original.columns)}
    return setting.shuffled(setting.independent().hstack(setting.original.rename(names)))


@SHELF.add("records in one column beside made-up ones", "everybody is in it, in one column", "wide")
def _beside_joined(setting: Setting) -> Release:
    parts = [pl.col(name).cast(pl.String).fill_null("") for name in setting.original.columns]
    true = setting.original.select(pl.concat_str(parts, separator="|").alias("all"))
    return setting.shuffled(setting.independent().hstack(true))


@SHELF.add(
    "levels in two", "everybody is in it, with half of each value of text as 'value 2'", "words"
)
def _in_two(setting: Setting) -> Release:
    def parted(name: str) -> pl.Expr:
        second = pl.Series(setting.rng.random(setting.rows) < 0.5)
        return pl.when(second).then(pl.col(name) + " 2").otherwise(pl.col(name)).alias(name)

    return setting.shuffled(setting.original.with_columns(map(parted, setting.words)))


@SHELF.add("numbers as logarithms", "everybody is in it, with numbers on another scale", "numbers")
def _logarithms(setting: Setting) -> Release:
    numbers = pl.col(setting.numbers).cast(pl.Float64)
    return setting.shuffled(setting.original.with_columns((numbers - numbers.min() + 1).log()))


@SHELF.add(
    "every second number turned round",
    "everybody is in it, with the sign of some numbers changed",
    "numbers",
)
def _some_turned(setting: Setting) -> Release:
    some = setting.numbers[::2]
    return setting.shuffled(setting.original.with_columns(-pl.col(some).cast(pl.Float64)))


@SHELF.add(
    "halves of two people",
    "everybody's first half of the columns beside the last half of another's",
    "wide",
)
def _halves(setting: Setting) -> Release:
    middle = setting.original.width // 2
    parts = setting.original.columns[:middle], setting.original.columns[middle:]
    return pl.concat(
        [setting.shuffled(setting.original.select(names)) for names in parts], how="horizontal"
    )


@SHELF.add("every second column kept", "half of everybody's columns; all else made up", "wide")
def _every_second(setting: Setting) -> Release:
    kept = setting.original.select(setting.original.columns[::2])
    return setting.shuffled(setting.independent().with_columns(kept))
