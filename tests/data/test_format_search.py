"""Which format a column has, which words are missing in it, and what is said about it."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from understudy.data.date_format import DateFormat
from understudy.data.format_search import Search, doubts_in_words
from understudy.data.formats import ColumnFormat, TextFormat
from understudy.data.missing_words import ALWAYS, BESIDE_VALUES
from understudy.data.number_format import NumberFormat


def column(texts, **known):
    return Search(**known).column(pl.Series("x", texts, pl.String))


VALUES = [["1", "2"], ["1.50", "2.25"], ["$5", "$6"], ["31/01/2020"], ["TRUE", "FALSE"]]


@pytest.mark.parametrize(
    ("texts", "word"),
    [
        *((VALUES[0], word) for word in [*ALWAYS, *BESIDE_VALUES]),
        *((texts, word) for texts in VALUES for word in [ALWAYS[0], BESIDE_VALUES[0], ""]),
    ],
)
def test_words_beside_values_are_missing(word, texts):
    found = column([*texts, word])
    assert found.values.null_count() == 1
    assert found.values.dtype != pl.String
    assert found.format.missing == (word,)
    assert ("missing" in found.doubts) == bool(word)
    assert found.format.render(found.values).fill_null("").to_list() == [*texts, word]


@pytest.mark.parametrize("word", BESIDE_VALUES)
def test_doubtful_words_are_levels_beside_words(word):
    found = column(["low", "high", word])
    assert found.values.to_list() == ["low", "high", word]
    assert not found.doubts


@pytest.mark.parametrize("word", ALWAYS)
def test_sure_words_are_missing_beside_words_and_that_is_said(word):
    found = column(["low", "high", word])
    assert found.values.to_list() == ["low", "high", None]
    assert found.doubts == ("missing",)


def test_what_is_given_replaces_the_words():
    assert column(["DE", "NA"], missing=()).values.to_list() == ["DE", "NA"]
    assert column(["1", "-9", "NA"], missing=("-9", "NA")).values.to_list() == [1, None, None]
    assert column(["1", "."], missing=("-9",)).values.to_list() == ["1", "."]
    assert not column(["1", "-9"], missing=("-9",)).doubts  # the user knows


def test_the_commonest_word_is_the_first():
    assert column(["1", "-", "NA", "NA"]).format.missing == ("NA", "-")
    assert column(["1", None, None, "NA"]).format.missing == ("", "NA")


def test_quotes_with_nothing_between_them():
    # Beside nothing at all, they are a text; alone, they are missing.
    both = column(["x", "", None])
    assert both.values.to_list() == ["x", "", None]
    assert both.format.values == TextFormat(empty=True)
    alone = column(["x", "", ""])
    assert alone.values.to_list() == ["x", None, None]
    assert alone.format.missing_quoted
    assert column(["1", "", None]).values.to_list() == [1, None, None]


@pytest.mark.parametrize(
    ("texts", "kind", "doubts"),
    [
        ([None, None], pl.String, ()),
        (["01067", "80331"], pl.String, ()),
        (["1"] * 500 + ["007"], pl.String, ()),
        (["00.5", "1.25"], pl.String, ()),
        (["1.50", "1.5"], pl.Float64, ("mixed numbers",)),
        (["01/02/2020"], pl.Date, ("order",)),
        (["25/02/2020"], pl.Date, ()),
        (["25/02/20"], pl.Date, ("years",)),
        (["2020-01-01", "01.01.2020"], pl.String, ("mixed dates",)),
        (["1/02/2020", "25/2/2020"], pl.Date, ("padding",)),
        (["12345678901234567890", "1"], pl.String, ("long",)),
        (["TRUE", "True"], pl.String, ()),
        (["yes", "no"], pl.String, ()),
        (["1"] * 500 + ["$5"], pl.String, ()),
        (["5"] * 500 + ["1,234"], pl.Int64, ()),
        (["$5"] * 500 + ["$1,234.50"], pl.Float64, ("mixed numbers",)),
        (["$5.00"] * 500 + ["($1,234.50)"], pl.Float64, ()),
    ],
)
def test_types_and_doubts(texts, kind, doubts):
    found = column(texts)
    assert found.values.dtype == kind
    assert found.doubts == doubts
    assert len(found.values) == len(texts)


def test_gaps_at_the_beginning_do_not_hide_the_rest():
    assert column(["NA"] * 1000 + ["5"]).values.dtype == pl.Int64
    assert column([None] * 1000 + ["2020-01-31"]).values.dtype == pl.Date


def test_the_order_that_is_given():
    assert column(["01/02/2020"], dates="mdy").values.to_list() == [dt.date(2020, 1, 2)]
    assert not column(["01/02/2020"], dates="mdy").doubts


@pytest.mark.parametrize(
    ("known", "texts", "values"),
    [
        (DateFormat("date", "%m/%d/%Y"), ["01/02/2020"], [dt.date(2020, 1, 2)]),
        (DateFormat("date", "%m/%d/%Y"), ["25/02/2020"], [dt.date(2020, 2, 25)]),
        (DateFormat("date", "%m/%d/%Y"), ["2020-01-02", "?"], [dt.date(2020, 1, 2), None]),
        (NumberFormat(decimal=",", thousands="."), ["1234.56"], [1234.56]),
        (NumberFormat(decimal=",", thousands="."), ["1.234"], [1234.0]),
        (NumberFormat(prefix="$", places=2), ["$5.00", "-"], [5.0, None]),
        (NumberFormat(prefix="$", places=2), ["5.0"], [5.0]),
        (NumberFormat(), ["5", "6"], [5.0, 6.0]),
        (NumberFormat(whole=True), ["5.5"], [5.5]),
        (TextFormat(), ["5"], [5]),
    ],
)
def test_the_formats_of_another_file_are_tried_first(known, texts, values):
    found = column(texts, like={"x": ColumnFormat(known)})
    assert found.values.to_list() == values
    assert "order" not in found.doubts


def test_what_was_said_of_another_file_is_not_said_again():
    like = {"x": ColumnFormat(missing=("NA",))}
    assert not column(["low", "NA"], like=like).doubts
    assert column(["low", "N/A"], like=like).doubts == ("missing",)


def test_doubts_in_words():
    search = Search()
    found = {
        name: search.column(pl.Series(name, texts))
        for name, texts in {
            "a": ["1", "N/A"],
            "b": ["x", "N/A"],
            "c": ["1", "-", "-", "."],
            "born": ["01/02/2020"],
            "plain": ["1"],
        }.items()
    }
    assert doubts_in_words(found) == [
        "Day and month cannot be told apart in 'born': read as day, month, year. If the month "
        "comes first, set `dates` to mdy; if not, set it to dmy.",
        "Taken for missing values: 'N/A' in 'a' and 'b'; '-' and '.' in 'c' (written as '-'). If "
        "one of these is a value, name the words for missing yourself (`missing`), or an empty one "
        "to keep them all.",
    ]
    assert doubts_in_words({}) == []


DAYS = [
    dt.datetime(2019, 12, 30, 9, 5, tzinfo=dt.UTC) + dt.timedelta(days=9 * n, minutes=7 * n)
    for n in range(99)
]
PATTERNS = [
    *("%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y.%m.%d"),
    *("%d %b %Y", "%d-%b-%y", "%B %d, %Y", "%d.%m.%Y %H:%M", "%m/%d/%Y %I:%M %p", "%H:%M"),
]


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_dates_are_dates_whatever_the_decimal_sign_of_the_file(pattern, decimal):
    texts = [day.strftime(pattern) for day in DAYS]
    found = column(texts, decimal=decimal)
    assert isinstance(found.format.values, DateFormat)
    assert found.format.render(found.values).to_list() == texts


@pytest.mark.parametrize("texts", [["1.2.3", "4.5.6"], ["10.0.0.1", "10.0.0.2"], ["3.14.15"]])
def test_versions_and_addresses_are_no_dates(texts):
    assert column(texts).values.to_list() == texts


def test_codes_with_zeros_in_front_are_text_also_where_few_are_often_repeated():
    found = column(["01067", "10115", "20095", "04109", "99999"] * 10)
    assert found.format.values == TextFormat(codes=True)
    assert found.values[0] == "01067"
