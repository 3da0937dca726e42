"""Files of SPSS, Stata and SAS: numbers with labels, and codes that a user declared missing.

A column whose values all have labels becomes a column of these labels, in the order of the codes.
A label of a value that counts as missing, such as "refused", is a level like the others. In any
other column numbers stay numbers, and codes for missing ones are special values (see `declared`).
Stata and SAS have letters for them, ``.a`` to ``.z``: each becomes a number far below the others.
"""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import polars as pl
import pyarrow as pa

from understudy.data.declared import declare
from understudy.data.kinds import (
    SAS,
    SAS_TRANSPORT,
    SPSS,
    SPSS_COMPRESSED,
    SPSS_PORTABLE,
    STATA,
    Produce,
    ReadOptions,
)
from understudy.data.kinds.opening import Opened
from understudy.data.typed_dialect import TypedDialect
from understudy.errors import DataError

Code = float | str
"""A value as the file holds it: a number, a text, or the letter of a missing number."""

_READERS = {
    SPSS.name: "read_sav",
    SPSS_COMPRESSED.name: "read_sav",
    SPSS_PORTABLE.name: "read_por",
    STATA.name: "read_dta",
    SAS.name: "read_sas7bdat",
    SAS_TRANSPORT.name: "read_xport",
}
_NAMES = {
    ".dta": (re.compile(r"[A-Za-z_]\w{0,31}", re.ASCII), "Stata", "32"),
    ".sav": (re.compile(r"[^\W\d_@#$][\w.@#$]{0,63}"), "SPSS", "64"),
}
_BOOLEAN: dict[Code, str] = {0: "false", 1: "true"}
"""The labels of a column of booleans, which these files do not have."""

_DECIMALS = re.compile(r"\D+\d*\.(\d+)")


@dataclass(frozen=True)
class ColumnLabels:
    """What a file says about one column.

    Parameters
    ----------
    label : str
        What the column is, in words.
    values : mapping
        The label of each value that has one.
    levels : mapping
        The value of each level, if the column is read as labels.
    missing : sequence
        The values that a user declared missing: for SPSS values and ranges, for Stata letters.
    letters : mapping
        The number that stands for each letter.
    form, measure : str
        How it is shown, and whether it is a scale.
    """

    label: str = ""
    values: Mapping[Code, str] = field(default_factory=dict)
    levels: Mapping[str, Code] = field(default_factory=dict)
    missing: Sequence[Any] = ()
    letters: Mapping[str, float] = field(default_factory=dict)
    form: str = ""
    measure: str = ""


@dataclass(frozen=True)
class Labels:
    """How a file of SPSS, Stata or SAS is written: what it says about each of its columns."""

    columns: Mapping[str, ColumnLabels]
    title: str = ""
    kind: str = ""


def read_table(opened: Opened, options: ReadOptions) -> pl.DataFrame:
    """Return the table, with labels in the place of the values that have them."""
    frame, labels = _read(opened, options)
    special = {}
    for name, about in labels.columns.items():
        if not about.levels and frame[name].dtype.is_numeric():
            found = sorted(_special(frame[name], about))
            if found:
                special[name] = found
    for name, about in labels.columns.items():
        for letter, number in about.letters.items():
            logging.getLogger("understudy").warning(
                "%s: .%s%s in %r was read as %s, a special value.",
                opened.name,
                letter,
                f" ({about.values[letter]!r})" if letter in about.values else "",
                name,
                f"{number:.0f}",
            )
    return cast("pl.DataFrame", declare(frame, special))


def written_as(opened: Opened, options: ReadOptions) -> Labels:
    """Return the labels of a file, for an output that is to be like it."""
    return _read(opened, options)[1]


def _read(opened: Opened, options: ReadOptions) -> tuple[pl.DataFrame, Labels]:
    import pyreadstat

    reader = getattr(pyreadstat, _READERS[opened.kind.name])
    more: dict[str, Any] = {} if opened.kind is SPSS_PORTABLE else {"encoding": options.encoding}
    if opened.kind not in (SAS_TRANSPORT, SPSS_PORTABLE):  # of them only gaps can be had
        more["user_missing"] = True
    if opened.kind is SPSS_COMPRESSED:
        _check_in_a_process(opened)
    catalog = _catalog(opened)
    try:
        columns, about = reader(str(opened.path), output_format="polars", **more)
        if catalog is not None:
            # Given the catalog, the reader would put labels in the place of numbers by itself.
            _, listed = pyreadstat.read_sas7bcat(str(catalog), encoding=options.encoding)
            about.variable_value_labels |= {
                name: listed.value_labels[form]
                for name, form in about.variable_to_label.items()
                if form in listed.value_labels
            }
    except pyreadstat.ReadstatError:
        raise DataError(
            f"{opened.name} is a damaged file of {opened.kind.name}, or its texts are in another "
            "encoding than it says. Give the encoding, if you know it."
        ) from None
    except Exception:  # noqa: BLE001  # the library raises what its parts happen to raise
        raise _damaged(opened) from None
    made, labels = [], {}
    try:
        for given in columns:
            series, labels[given.name] = _column(given, about)
            made.append(series)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        raise _damaged(opened) from None
    return pl.DataFrame(made), Labels(labels, about.file_label or "", opened.kind.name)


def _damaged(opened: Opened) -> DataError:
    return DataError(f"{opened.name} is a damaged file of {opened.kind.name}.")


def _check_in_a_process(opened: Opened) -> None:
    """Raise if a compressed file is damaged so that it ends the process that reads it."""
    # A file without a name is found by the number that it has here.
    path = str(opened.path).replace("/proc/self/", f"/proc/{os.getpid()}/")
    code = "import pyreadstat, sys; pyreadstat.read_sav(sys.argv[1], output_format='dict')"
    done = subprocess.run(  # noqa: S603  # our own words, and the path of the table
        [sys.executable, "-c", code, path], capture_output=True, check=False
    )
    if done.returncode < 0:  # by a signal; anything else, the library says itself
        raise _damaged(opened)


def _catalog(opened: Opened) -> Path | None:
    """Return the catalog beside a SAS file, which has the labels of its values."""
    if opened.kind is not SAS or opened.spool is not None:
        return None
    beside = (opened.path.with_suffix(".sas7bcat"), opened.path.with_name("formats.sas7bcat"))
    return next((path for path in beside if path.is_file()), None)


def _column(given: pl.Series, about: Any) -> tuple[pl.Series, ColumnLabels]:  # noqa: ANN401
    """Return a column as it is to be seen, and what the file says about it."""
    name = given.name
    labels = dict(about.variable_value_labels.get(name, {}))
    form = about.original_variable_types.get(name) or ""
    known = ColumnLabels(
        label=about.column_names_to_labels.get(name) or "",
        values=labels,
        missing=about.missing_ranges.get(name) or about.missing_user_values.get(name) or (),
        form=form if form != "NULL" else "",
        measure=about.variable_measure.get(name) or "",
    )
    if given.dtype.is_temporal():
        return given, known
    letters = None
    if given.dtype == pl.Object:
        # Numbers and letters for missing ones, which only Python's objects can be at once.
        held = given.to_list()
        letters = pl.Series(
            [one if isinstance(one, str) else None for one in held], dtype=pl.String
        )
        held = [None if isinstance(one, str) else one for one in held]
        given = pl.Series(name, held, pl.Float64, strict=False)
    if given.dtype == pl.String:
        # An empty text is the only missing one that these files know.
        series = given.set(given == "", None)
    else:
        series = _numbers(given, about.readstat_variable_types.get(name, ""), form)
    if labels == _BOOLEAN and series.is_in([*_BOOLEAN, None]).all():
        return series.cast(pl.Boolean), known
    if labels and _all_labelled(series, known):
        return _labelled(series, letters, known)
    if letters is not None:
        return _with_letters(series, letters, known)
    return series, known


def _numbers(given: pl.Series, kind: str, form: str) -> pl.Series:
    """Return numbers, whole ones as such unless the file shows them with decimals."""
    series = given.cast(pl.Float64)
    present = series.drop_nulls()
    decimals = _DECIMALS.match(form)
    shown = decimals is not None and int(decimals[1]) > 0 and "%" not in form
    whole = kind.startswith("int") or (
        kind != "float" and not shown and bool(len(present)) and bool((present % 1 == 0).all())
    )
    return series.cast(pl.Int64) if whole and (present.abs() < 2**53).all() else series


def _is_missing(code: Code, ranges: Sequence[Any]) -> bool:
    """Return whether a user declared a value missing."""
    for one in ranges:
        if isinstance(one, Mapping):
            if (
                isinstance(one["lo"], str) == isinstance(code, str)
                and one["lo"] <= code <= one["hi"]
            ):
                return True
        elif one == code:
            return True
    return False


def _all_labelled(series: pl.Series, about: ColumnLabels) -> bool:
    """Return whether each value has a label, but for those that are declared missing."""
    seen = series.drop_nulls().unique().to_list()
    regular = [code for code in seen if not _is_missing(code, about.missing)]
    labelled = [code for code in about.values if not _is_missing(code, about.missing)]
    return bool(labelled) and all(code in about.values for code in regular)


def _labelled(
    series: pl.Series, texts: pl.Series | None, about: ColumnLabels
) -> tuple[pl.Series, ColumnLabels]:
    """Return a column of labels, in the order of their codes; letters come last."""
    seen = series.drop_nulls().unique().to_list()
    letters = [] if texts is None else texts.drop_nulls().unique().to_list()
    codes = {_plain(code) for code in (*about.values, *seen, *letters)}
    numbers = sorted(code for code in codes if not isinstance(code, str))
    ordered: list[Code] = [*numbers, *sorted(code for code in codes if isinstance(code, str))]
    labels = {code: about.values.get(code, "").strip() or str(code) for code in ordered}
    shared = [label for label in labels.values() if list(labels.values()).count(label) > 1]
    levels = {
        f"{label} ({code})" if label in shared else label: code for code, label in labels.items()
    }
    names = {code: level for level, code in levels.items()}
    kind = pl.Enum(list(levels))
    found = series.replace_strict(
        [code for code in names if isinstance(code, str) == (series.dtype == pl.String)],
        [
            level
            for code, level in names.items()
            if isinstance(code, str) == (series.dtype == pl.String)
        ],
        default=None,
        return_dtype=pl.String,
    )
    if texts is not None and letters:
        given = texts.replace_strict(
            list(letters), [names[one] for one in letters], default=None, return_dtype=pl.String
        )
        found = pl.select(pl.coalesce(found, given)).to_series()
    return found.cast(kind).alias(series.name), _with(about, levels=levels)


def _plain(code: Code) -> Code:
    return int(code) if not isinstance(code, str) and code == int(code) else code


def _with_letters(
    series: pl.Series, texts: pl.Series, about: ColumnLabels
) -> tuple[pl.Series, ColumnLabels]:
    """Return numbers in which each letter for a missing one is a number below all others."""
    letters = texts.drop_nulls().unique().sort().to_list()
    largest = float(cast("float", series.abs().max() or 0))
    start = next(power for power in (9, 15, 300) if largest < 10**power)
    # The same letter is the same number in another file, such as a synthetic one.
    numbers = {letter: -float(10**start + ord(letter.lower()) - ord("a") + 1) for letter in letters}
    given = texts.replace_strict(
        list(numbers), list(numbers.values()), default=None, return_dtype=series.dtype
    )
    filled = pl.select(pl.coalesce(series, given)).to_series()
    return filled.alias(series.name), _with(about, letters=numbers)


def _with(about: ColumnLabels, **changes: Any) -> ColumnLabels:  # noqa: ANN401  # its fields
    return replace(about, **changes)


def _special(series: pl.Series, about: ColumnLabels) -> set[float]:
    """Return the numbers of a column that are no amounts: declared missing, or with a label."""
    seen = series.drop_nulls().unique().to_list()
    return {
        code for code in seen if _is_missing(code, about.missing) or code in about.values
    } | set(about.letters.values())


def write_table(produce: Produce, path: Path, like: TypedDialect, ending: str) -> None:
    """Write a table with its labels; levels without any are numbered from 1."""
    import pyreadstat

    tables: list[pa.Table] = []
    produce(tables.append)
    frame = cast("pl.DataFrame", pl.from_arrow(pa.concat_tables(tables).unify_dictionaries()))
    known = like.own if isinstance(like.own, Labels) else Labels({})
    stata = ending == ".dta"
    _check_names(frame.columns, ".dta" if stata else ".sav")
    same = (known.kind == STATA.name) == stata and known.kind not in (SAS.name, SAS_TRANSPORT.name)
    columns, about = [], {}
    for column in frame:
        said = known.columns.get(column.name, ColumnLabels())
        # Each program has forms of its own.
        written, about[column.name] = _for_file(
            column, said if same else _with(said, form=""), stata
        )
        columns.append(written)
    options: dict[str, Any] = {
        "file_label": known.title,
        "column_labels": {name: one.label for name, one in about.items() if one.label},
        "variable_value_labels": {
            name: dict(one.values) for name, one in about.items() if one.values
        },
        "variable_format": {
            name: one.form for name, one in about.items() if _keeps_form(frame, name, one)
        },
    }
    missing = {name: list(one.missing) for name, one in about.items() if one.missing}
    if stata:
        options["missing_user_values"] = missing
        writer: Any = pyreadstat.write_dta
    else:
        options |= {"missing_ranges": missing, "compress": ending == ".zsav"}
        options["variable_measure"] = {
            name: one.measure for name, one in about.items() if one.measure and known.kind
        }
        writer = pyreadstat.write_sav
    try:
        writer(pl.DataFrame(columns), str(path), **options)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, OverflowError):
        raise DataError(
            f"The table cannot be written as a {ending} file: a name, a text or a number in it is "
            "longer or larger than such files can hold. Write a .csv or .parquet file instead."
        ) from None


def _check_names(names: Sequence[str], ending: str) -> None:
    form, program, most = _NAMES[ending]
    wrong = [name for name in names if not form.fullmatch(name)]
    if wrong:
        raise DataError(
            f"{program} does not take {', '.join(map(repr, wrong[:3]))} for the name of a column: "
            f"it begins with a letter, has letters, digits and _, and at most {most} of them. "
            "Rename the column, or write a .csv or .parquet file."
        )


def _keeps_form(frame: pl.DataFrame, name: str, about: ColumnLabels) -> bool:
    """Return whether a column can be shown as in the input: dates need a form of their own."""
    return bool(about.form) and not frame[name].dtype.is_temporal()


def _for_file(
    column: pl.Series, about: ColumnLabels, stata: bool
) -> tuple[pl.Series, ColumnLabels]:
    """Return a column as the file holds it, and what the file is to say about it."""
    kind, name = column.dtype, column.name
    about = _understood(about, stata)
    if kind == pl.Boolean:
        return column.cast(pl.Int8), _with(about, values=_BOOLEAN, form="")
    if kind in (pl.Enum, pl.Categorical) or (kind == pl.String and about.levels):
        return _codes(column.cast(pl.String), column, about, stata)
    if isinstance(kind, pl.Datetime) and kind.time_zone is not None:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    if isinstance(column.dtype, pl.Datetime):
        return column.cast(pl.Datetime("us")).alias(name), about
    if kind in (pl.Duration, pl.Null):
        return column.cast(pl.String).alias(name), about
    if isinstance(kind, pl.Decimal) or kind.is_integer() or kind.is_float():
        return _as_numbers(column, about, stata)
    return column, _with(about, form="") if kind == pl.String else about


def _understood(about: ColumnLabels, stata: bool) -> ColumnLabels:
    """Return what the other program also understands: letters are Stata's, ranges are SPSS's."""
    letters = all(isinstance(one, str) and len(one) == 1 for one in about.missing)
    if about.missing and letters != stata and not about.levels:
        return _with(about, missing=())
    return about


def _as_numbers(
    column: pl.Series, about: ColumnLabels, stata: bool
) -> tuple[pl.Series, ColumnLabels]:
    if stata and about.letters:
        # Numbers and letters in one column: only Python's objects can be both.
        back = {number: letter for letter, number in about.letters.items()}
        mixed = [back.get(value, value) for value in column.to_list()]
        return pl.Series(column.name, mixed, pl.Object), about
    if about.letters:
        values = {
            about.letters.get(cast("str", code), code): label
            for code, label in about.values.items()
        }
        about = _with(about, values=values, missing=list(about.letters.values())[:3])
    if column.dtype.is_integer():
        form = about.form if stata or about.form else "F11.0"  # else shown with decimals
        return column.cast(pl.Int64), _with(about, form=form)
    return column.cast(pl.Float64), about


def _codes(
    texts: pl.Series, column: pl.Series, about: ColumnLabels, stata: bool
) -> tuple[pl.Series, ColumnLabels]:
    """Return the codes of labels, those of the input where it has them."""
    declared = column.dtype.categories.to_list() if isinstance(column.dtype, pl.Enum) else []
    levels = dict(about.levels)
    seen = [*declared, *texts.drop_nulls().unique(maintain_order=True).to_list()]
    if not levels and not declared:
        return texts, _with(about, values={}, missing=(), form="")
    if stata and (_fractions(levels) or all(isinstance(one, str) for one in levels.values())):
        # Stata labels whole numbers only.
        levels = {level: place for place, level in enumerate(levels, 1)}
        about = _with(about, values={}, missing=())
    numbers = [code for code in levels.values() if not isinstance(code, str)]
    following = int(max(numbers, default=0)) + 1
    text_codes = bool(levels) and not numbers
    for level in dict.fromkeys(seen):
        if level not in levels:
            levels[level] = level if text_codes else following
            following += 1
    if not text_codes and not stata:  # letters have no place among the numbers of SPSS
        for level, code in levels.items():
            if isinstance(code, str):
                levels[level] = following
                following += 1
    bare = set(about.levels.values()) - set(about.values)
    values = {
        code: about.values.get(code, level) for level, code in levels.items() if code not in bare
    }
    letters = {level: code for level, code in levels.items() if isinstance(code, str)}
    if letters and not text_codes:
        mixed = texts.to_list()
        objects = [None if text is None else levels[text] for text in mixed]
        return pl.Series(column.name, objects, pl.Object), _with(
            about, values=values, missing=sorted(letters.values())
        )
    kind = pl.String if text_codes else pl.Float64 if _fractions(levels) else pl.Int64
    coded = texts.replace_strict(
        list(levels), list(levels.values()), default=None, return_dtype=kind
    )
    missing = about.missing if not stata else ()
    if missing and all(isinstance(one, str) and len(one) == 1 for one in missing):
        missing = () if not text_codes else missing
    return coded.alias(column.name), _with(about, values=values, missing=missing)


def _fractions(levels: Mapping[str, Code]) -> bool:
    return any(not isinstance(code, str) and code != int(code) for code in levels.values())
