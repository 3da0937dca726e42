"""Finding how each column of a CSV file is written, from all of its texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import polars as pl

from understudy.data.date_format import DateFormat, DayOrder
from understudy.data.date_search import find_dates, looks_like_dates
from understudy.data.duration_format import DurationFormat
from understudy.data.duration_search import find_durations, looks_like_duration
from understudy.data.few_numbers import MOST_ROWS, find_few_numbers
from understudy.data.formats import BooleanFormat, ColumnFormat, TextFormat, ValueFormat
from understudy.data.missing_words import ALWAYS, BESIDE_VALUES
from understudy.data.number_format import NumberFormat
from understudy.data.number_search import (
    LEADING_ZERO,
    FoundNumbers,
    find_numbers,
    looks_like_numbers,
    unlike,
)
from understudy.wording import quoted

SAMPLE_TEXTS = 200
"""Texts that are looked at before all are."""
_ROUNDS, _OTHERS = 3, 20

_TRUTH = (("true", "false"), ("TRUE", "FALSE"), ("True", "False"))
_LONG = r"^[-+]?\d{17,}$"

Doubt = Literal["order", "years", "mixed numbers", "mixed dates", "padding", "long", "missing"]
"""What a person should know about how a column was read."""


@dataclass(frozen=True)
class Found:
    """A column as it was read.

    Parameters
    ----------
    format : ColumnFormat
        How it is written.
    values : Series
        What it holds.
    doubts : tuple of str
        What a person should know.
    """

    format: ColumnFormat
    values: pl.Series
    doubts: tuple[Doubt, ...] = ()


@dataclass(frozen=True)
class Search:
    """What is known of a file before its columns are looked at.

    Parameters
    ----------
    decimal : {".", ","}
        The decimal sign that is usual in the file.
    missing : tuple of str, optional
        The words for missing values, beside the empty field; recognised if not given.
    dates : {"dmy", "mdy"}, optional
        What comes first where day and month cannot be told apart.
    like : mapping
        Formats of another file, which are tried first.
    """

    decimal: str = "."
    missing: tuple[str, ...] | None = None
    dates: DayOrder | None = None
    like: Mapping[str, ColumnFormat] = field(default_factory=dict)

    def column(self, texts: pl.Series) -> Found:
        """Return how a column is written, by all of its texts; empty fields are null."""
        known = self.like.get(texts.name)
        if known is None:
            return self._anew(texts)
        found = self._as_before(texts, known) or self._anew(texts)
        if {*found.format.missing} <= {*known.missing, ""}:
            # That was said of the other file.
            return replace(found, doubts=tuple(one for one in found.doubts if one != "missing"))
        return found

    def _anew(self, texts: pl.Series) -> Found:
        if len(texts) <= MOST_ROWS and self.decimal == "." and not self.missing:
            few = find_few_numbers(texts)
            if few is not None:
                return Found(ColumnFormat(few.format), few.values)
        sample = self._sample(texts)
        if not sample:
            return self._text(texts)
        if _TRUTH_WORDS.issuperset(sample):
            return self._truth(texts) or self._text(texts)
        found = self._numbers(texts, sample) if looks_like_numbers(sample, self.decimal) else None
        if found is None and looks_like_dates(sample[0]):  # 31.12.2023 begins like a number
            found = self._dates(texts)
        if found is None and looks_like_duration(sample[0]):
            found = self._durations(texts)
        return found or self._text(texts, self._mixed(texts, sample))

    @property
    def _words(self) -> tuple[str, ...]:
        """The words that may be missing beside values that are no text."""
        return (*ALWAYS, *BESIDE_VALUES) if self.missing is None else self.missing

    def _sample(self, texts: pl.Series) -> list[str]:
        """Return some different texts that are not words for a missing value."""
        words = ("", *self._words)
        some = texts.head(SAMPLE_TEXTS).drop_nulls()
        some = some.filter(~some.str.strip_chars(" ").is_in(words))
        if not len(some):
            some = texts.drop_nulls()
            some = some.filter(~some.str.strip_chars(" ").is_in(words)).head(SAMPLE_TEXTS)
        return some.unique(maintain_order=True).to_list()

    def as_text(self, texts: pl.Series) -> Found:
        """Return a column as text, whatever is in it, without the words for a missing value."""
        return self._text(texts)

    def _text(
        self, texts: pl.Series, doubts: tuple[Doubt, ...] = (), *, codes: bool = False
    ) -> Found:
        words = ALWAYS if self.missing is None else self.missing
        present, missing, quoted = self._split(texts, words)
        # Beside other words for missing, a text in quotes without a letter means something else.
        empty = quoted and (texts.null_count() > 0 or any(missing))
        if empty:
            present, missing, _ = self._split(texts, words, empty=False)
        if self.missing is None and any(missing):
            doubts += ("missing",)
        form = TextFormat(codes=codes, empty=empty)
        only_quoted = quoted and not empty
        return Found(
            ColumnFormat(form, missing or ("",), missing_quoted=only_quoted), present, doubts
        )

    def _split(
        self, texts: pl.Series, words: Sequence[str], *, empty: bool = True, padded: bool = False
    ) -> tuple[pl.Series, tuple[str, ...], bool]:
        """Return texts with words for missing as null, these words, and if quotes are empty.

        The commonest word is the first. Words may be `padded` with spaces.
        """
        gaps = texts.null_count()
        bare = texts.str.strip_chars(" ") if padded else texts
        odd = bare.is_in([*words, ""] if empty else [word for word in words if word])
        if not odd.any():
            return texts, ("",) if gaps else (), False
        held = dict(texts.filter(odd).alias("word").value_counts(name="rows").rows())
        quoted = held.get("", 0) > 0
        if gaps:
            held[""] = held.get("", 0) + gaps
        present = texts.zip_with(~odd.fill_null(value=False), pl.Series([None], dtype=pl.String))
        ordered = sorted(held, key=lambda word: (-held[word], word))
        return present, tuple(ordered), quoted

    def _typed(
        self, texts: pl.Series, form: ValueFormat, values: pl.Series, doubts: tuple[Doubt, ...]
    ) -> Found:
        """Return a column of values that are no text, with its words for missing."""
        gaps = texts.null_count()
        if values.null_count() == gaps:
            return Found(ColumnFormat(form), values, doubts)
        _, missing, _ = self._split(texts, self._words, padded=True)
        quotes = int((texts == "").sum())
        if self.missing is None and any(missing):
            doubts += ("missing",)
        return Found(ColumnFormat(form, missing, missing_quoted=quotes > gaps), values, doubts)

    def _numbers(self, texts: pl.Series, sample: list[str]) -> Found | None:
        present = texts
        padded = any(text[:1] == " " or text[-1:] == " " for text in sample)
        if self.missing:  # some may look like numbers
            present, *_ = self._split(texts, self._words, padded=padded)
        found = self._find_numbers(present, sample)
        if found is None and not self.missing:
            present, *_ = self._split(texts, self._words, padded=padded)
            found = None if present is texts else self._find_numbers(present, sample)
        if found is None:
            return None
        if not found.exact and present.str.contains(LEADING_ZERO).any():
            clock = self._dates(texts) if looks_like_dates(sample[0]) else None
            return clock or self._text(texts, codes=True)
        if not found.exact and present.str.contains(_LONG).any():
            return self._text(texts, ("long",))
        return self._typed(
            texts, found.format, found.values, () if found.exact else ("mixed numbers",)
        )

    def _find_numbers(self, texts: pl.Series, sample: list[str]) -> FoundNumbers | None:
        """Return the numbers of a column; texts unlike the sample are added to it."""
        for _ in range(_ROUNDS):
            found = find_numbers(texts, sample, self.decimal)
            if found is not None:
                return found
            others = unlike(texts, sample, self.decimal).head(_OTHERS).to_list()
            if not others or not looks_like_numbers(others, self.decimal):
                return None
            sample = [*sample, *others]
        return None

    def _dates(self, texts: pl.Series) -> Found | None:
        present, *_ = self._split(texts, self._words)
        different = present.drop_nulls().unique(maintain_order=True)
        found = find_dates(different, self.dates)
        if found is None:
            return None
        doubts: tuple[Doubt, ...] = () if found.exact else ("padding",)
        if found.ambiguous and self.dates is None:
            doubts += ("order",)
        if found.format.first_year:
            doubts += ("years",)
        values = _by_different(ColumnFormat(found.format), present)
        return self._typed(texts, found.format, values, doubts)

    def _mixed(self, texts: pl.Series, sample: list[str]) -> tuple[Doubt, ...]:
        """Return a doubt if all texts look like dates, though not of one form."""
        if find_dates(pl.Series(sample[:1]), self.dates) is None:
            return ()
        present, *_ = self._split(texts, self._words)
        some = present.drop_nulls().unique(maintain_order=True).head(SAMPLE_TEXTS)
        return ("mixed dates",) if all(map(looks_like_dates, some)) else ()

    def _durations(self, texts: pl.Series) -> Found | None:
        present, *_ = self._split(texts, self._words)
        form = find_durations(present.drop_nulls().unique(maintain_order=True))
        if form is None:
            return None
        return self._typed(texts, form, _by_different(ColumnFormat(form), present), ())

    def _truth(self, texts: pl.Series) -> Found | None:
        present, *_ = self._split(texts, self._words)
        different = set(present.drop_nulls().unique().to_list())
        for true, false in _TRUTH:
            if different <= {true, false}:
                form = BooleanFormat(true, false)
                return self._typed(texts, form, ColumnFormat(form).parse(present), ())
        return None

    def _as_before(self, texts: pl.Series, known: ColumnFormat) -> Found | None:
        """Return a column in a known format, if that reads all of its texts."""
        if isinstance(known.values, TextFormat):
            return None
        present, *_ = self._split(texts, (*known.missing, *self._words))
        if not _may_be(present, known.values):
            return None
        form = ColumnFormat(known.values)
        values = (
            _by_different(form, present)
            if isinstance(known.values, DateFormat | DurationFormat)
            else form.parse(present)
        )
        if values.null_count() != present.null_count():
            return None
        return replace(self._typed(texts, known.values, values, ()), doubts=())


_TRUTH_WORDS = {word for pair in _TRUTH for word in pair}


def _may_be(texts: pl.Series, form: ValueFormat) -> bool:
    """Return whether a format cannot misread texts: 1.5 is no number with points for thousands."""
    if not isinstance(form, NumberFormat) or form.plain:
        return True
    return bool(texts.str.contains(form.pattern()).all())


def _by_different(form: ColumnFormat, texts: pl.Series) -> pl.Series:
    """Return parsed texts, each different one parsed once."""
    different = texts.unique()
    values = pl.DataFrame({"text": different, "value": form.parse(different)})
    joined = texts.to_frame("text").join(
        values, on="text", how="left", maintain_order="left", nulls_equal=True
    )
    return joined["value"].alias(texts.name)


def doubts_in_words(found: Mapping[str, Found]) -> list[str]:
    """Return a sentence for each thing that a person should know about how columns were read."""
    by_doubt: dict[Doubt, list[str]] = {}
    for name, column in found.items():
        for doubt in column.doubts:
            by_doubt.setdefault(doubt, []).append(name)
    told = [
        _SENTENCES[doubt].format(quoted(names))
        for doubt, names in by_doubt.items()
        if doubt in _SENTENCES
    ]
    words: dict[tuple[str, ...], list[str]] = {}
    for name in by_doubt.get("missing", ()):
        words.setdefault(found[name].format.missing, []).append(name)
    if words:
        each = "; ".join(
            f"{quoted(tuple(filter(None, some)))} in {quoted(names)}"
            + (f" (written as {repr(some[0]) if some[0] else 'an empty field'})" * (len(some) > 1))
            for some, names in words.items()
        )
        told.append(
            f"Taken for missing values: {each}. If one of these is a value, name the words for "
            "missing yourself (`missing`), or an empty one to keep them all."
        )
    return told


_SENTENCES: dict[Doubt, str] = {
    "order": "Day and month cannot be told apart in {}: read as day, month, year. If the month "
    "comes first, set `dates` to mdy; if not, set it to dmy.",
    "years": "The years have two digits in {}; they were read as the hundred years up to 2049 in "
    "which they lie closest together.",
    "mixed numbers": "The numbers are not written alike in {}: new ones will have no more decimals "
    "than they need.",
    "mixed dates": "The dates are written in several ways in {}, or some are no days of the "
    "calendar, so it stays text. Write them in one way to have them read as dates.",
    "long": "Whole numbers have more digits than 64 bits hold in {}, which stays text.",
    "padding": "The dates or times are not written alike in {}: new ones will be written in one "
    "way.",
}
