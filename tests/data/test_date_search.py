"""Dates and times found from their texts, and how they are written."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from understudy.data.date_search import find_dates, first_of_hundred, looks_like_dates

UTC = dt.UTC


def read(form, texts):
    return pl.DataFrame({"t": texts}).select(form.parsed(pl.col("t"))).to_series()


@pytest.mark.parametrize(
    ("texts", "first", "words"),
    [
        (["2020-01-31", "2021-12-01"], dt.date(2020, 1, 31), "dates as yyyy-mm-dd"),
        (["Jan 1 2000", "Mar 31 2001"], dt.date(2000, 1, 1), "dates as Mon d yyyy"),
        (["2020-03", "2021-12"], dt.date(2020, 3, 1), "dates as yyyy-mm"),
        (["03/2020", "12/2021"], dt.date(2020, 3, 1), "dates as mm/yyyy"),
        (["Mar 2020", "Dec 2021"], dt.date(2020, 3, 1), "dates as Mon yyyy"),
        (["May 2021", "March 2020"], dt.date(2021, 5, 1), "dates as Month yyyy"),
        (["March 2020", "May 2021"], dt.date(2020, 3, 1), "dates as Month yyyy"),
        (["2020Q2", "2021Q4"], dt.date(2020, 4, 1), "dates as yyyyQq"),
        (["Q2 2020", "Q4 2021"], dt.date(2020, 4, 1), "dates as Qq yyyy"),
        (["Mar-20", "Dec-21"], dt.date(2020, 3, 1), "dates as Mon-yy, years from 2020"),
        (["2020-W05-2", "2020-W53-7"], dt.date(2020, 1, 28), "dates as yyyy-Www-d"),
        (["Fri, 31 Jan 2020"], dt.date(2020, 1, 31), "dates as Day, dd Mon yyyy"),
        (["Friday 1/31/2020"], dt.date(2020, 1, 31), "dates as Weekday m/d/yyyy"),
        (["Mon, 31 Jan 2020"], None, ""),  # it was a Friday
        (
            ["31/Jan/2020:10:30:15 +0000"],
            dt.datetime(2020, 1, 31, 10, 30, 15, tzinfo=UTC),
            "dates and times as dd/Mon/yyyy:hh:mm:ss +0000",
        ),
        (["2020-W05", "2020-W53"], dt.date(2020, 1, 27), "dates as yyyy-Www"),
        (["2020/1/31", "2021/12/1"], dt.date(2020, 1, 31), "dates as yyyy/m/d"),
        (["31/01/2020", "01/12/2020"], dt.date(2020, 1, 31), "dates as dd/mm/yyyy"),
        (["01/31/2020", "12/01/2020"], dt.date(2020, 1, 31), "dates as mm/dd/yyyy"),
        (["1/31/2020", "12/1/2020"], dt.date(2020, 1, 31), "dates as m/d/yyyy"),
        (["31.01.2020", "01.02.2020"], dt.date(2020, 1, 31), "dates as dd.mm.yyyy"),
        (["31-Jan-2020", "5-Feb-2020"], dt.date(2020, 1, 31), "dates as d-Mon-yyyy"),
        (["05-jan-2020", "31-feb-2020"], None, ""),  # there is no such day
        (["05JAN2020", "17MAY2021"], dt.date(2020, 1, 5), "dates as DDMONYYYY"),
        (["5 May 2020", "15 January 2021"], dt.date(2020, 5, 5), "dates as d Month yyyy"),
        (["Jan 5, 2020", "Dec 15, 2021"], dt.date(2020, 1, 5), "dates as Mon d, yyyy"),
        (["31/12/99", "01/05/03"], dt.date(1999, 12, 31), "dates as dd/mm/yy, years from 1999"),
        (["12/31/99", "05/01/03"], dt.date(1999, 12, 31), "dates as mm/dd/yy, years from 1999"),
        (
            ["12. März 2023", "1. Mai 2020"],
            dt.date(2023, 3, 12),
            "dates as d. Month yyyy, months as Januar",
        ),
        (
            ["03 févr. 2021 10:30", "14 juil. 2020 08:00"],
            dt.datetime(2021, 2, 3, 10, 30),  # noqa: DTZ001
            "dates and times as dd Month yyyy hh:mm, months as janv.",
        ),
        (
            ["12 de marzo de 2023", "1 de enero de 2000"],
            dt.date(2023, 3, 12),
            "dates as d de Month de yyyy, months as enero",
        ),
        (["12 mag 2023"], dt.date(2023, 5, 12), "dates as dd Month yyyy, months as gen"),
        (["31-mei-2022"], dt.date(2022, 5, 31), "dates as dd-Month-yyyy, months as januari"),
        (["3/dez/2020"], dt.date(2020, 12, 3), "dates as d/Month/yyyy, months as jan"),
        (
            ["Okt-23", "Dez-22"],
            dt.date(2023, 10, 1),
            "dates as Month-yy, years from 2022, months as Jan",
        ),
        (["MÄRZ 2023", "MAI 2020"], dt.date(2023, 3, 1), "dates as Month yyyy, months as JANUAR"),
        (["2 mai 2020", "3 may 2020"], None, ""),  # of two languages
        (["10:30", "09:05"], dt.time(10, 30), "times as hh:mm"),
        (["9:30", "10:45"], dt.time(9, 30), "times as h:mm"),
        (["1:47p", "11:05a"], dt.time(13, 47), "times as h:mma"),
        (["1:47 PM", "11:05 AM"], dt.time(13, 47), "times as h:mm AM"),
        (["1:47pm", "11:05am"], dt.time(13, 47), "times as h:mmam"),
        (
            ["7/3/2018 1:47p", "12/31/2018 12:00a"],
            dt.datetime(2018, 7, 3, 13, 47),  # noqa: DTZ001
            "dates and times as m/d/yyyy h:mma",
        ),
        (["9:30:15 PM", "10:45:00 AM"], dt.time(21, 30, 15), "times as h:mm:ss AM"),
        (
            ["2020-01-31 10:30"],
            dt.datetime(2020, 1, 31, 10, 30),  # noqa: DTZ001
            "dates and times as yyyy-mm-dd hh:mm",
        ),
        (
            ["1/31/2020 3:04 pm", "12/1/2020 12:00 am"],
            dt.datetime(2020, 1, 31, 15, 4),  # noqa: DTZ001
            "dates and times as m/d/yyyy h:mm am",
        ),
        (
            ["2020-01-31T10:30:15Z"],
            dt.datetime(2020, 1, 31, 10, 30, 15, tzinfo=UTC),
            "dates and times as yyyy-mm-ddThh:mm:ssZ",
        ),
        (
            ["2020-01-31 10:30:15-0330"],
            dt.datetime(2020, 1, 31, 14, 0, 15, tzinfo=UTC),
            "dates and times as yyyy-mm-dd hh:mm:ss-0330",
        ),
        (
            ["2020-01-31T10:30:00+01:00", "2020-07-31T10:30:00+02:00"],
            dt.datetime(2020, 1, 31, 9, 30, tzinfo=UTC),
            "dates and times of Europe/Berlin as yyyy-mm-ddThh:mm:ss+zz:zz",
        ),
    ],
)
def test_dates_are_read_and_written_as_they_were(texts, first, words):
    got = find_dates(pl.Series(texts))
    if first is None:
        assert got is None
        return
    values = read(got.format, texts)
    assert got.exact
    assert values[0] == first
    assert values.dtype == got.format.dtype
    assert got.format.words == words
    assert got.format.rendered(values).to_list() == texts


@pytest.mark.parametrize(
    "parts",
    [
        [".5", ".25", ""],
        [".500", ".250", ".000"],
        [".123456", "", ".500000"],
        [".123456789", ".000000001"],
        [".1234567", ".0000000"],
    ],
)
@pytest.mark.parametrize("frame", ["2020-01-31 10:30:15{}", "31.01.2020 10:30:15{}Z", "10:30:15{}"])
def test_parts_of_a_second_come_back(parts, frame):
    texts = [frame.format(part) for part in parts]
    got = find_dates(pl.Series(texts))
    assert got.exact
    assert got.format.rendered(read(got.format, texts)).to_list() == texts


def test_day_and_month_that_cannot_be_told_apart():
    texts = pl.Series(["01/02/2020", "03/04/2020"])
    got = find_dates(texts)
    assert got.ambiguous
    assert got.format.pattern == "%d/%m/%Y"
    assert find_dates(texts, "mdy").format.pattern == "%m/%d/%Y"
    # What a date shows counts for more than what was said.
    clear = pl.Series(["01/02/2020", "25/04/2020"])
    assert find_dates(clear, "mdy") == find_dates(clear)
    assert not find_dates(clear).ambiguous
    assert not find_dates(pl.Series(["01.02.2020"])).ambiguous


@pytest.mark.parametrize(
    ("texts", "written"),
    [
        (["1/2/2020", "01/12/2020"], ["01/02/2020", "01/12/2020"]),
        (["2020-1-05", "2020-01-06"], ["2020-01-05", "2020-01-06"]),
    ],
)
def test_zeros_in_front_here_and_there_are_written_everywhere(texts, written):
    got = find_dates(pl.Series(texts))
    assert not got.exact
    assert got.format.rendered(read(got.format, texts)).to_list() == written


@pytest.mark.parametrize(
    "texts",
    [
        ["x"],
        ["2020-01-31", "31/01/2020"],
        ["2020-01-31", "2020-01-31 10:30"],
        ["2020-13-01"],
        ["25:30"],
        ["75:30", "10:00"],
        ["1.2.20", "1.2.21"],
        ["20200131"],
        ["1234-05"],
        ["2020-13"],
        ["2020.01"],
        ["2020Q5"],
        ["2021-W53"],
        ["2020-01", "2020-01-31"],
        ["2020-01-31T10:30:00+01:00", "2020-01-31T10:30:00+05:00"],
    ],
)
def test_other_texts_are_no_dates(texts):
    assert find_dates(pl.Series(texts)) is None


def test_no_text_and_the_look_of_one():
    assert find_dates(pl.Series([], dtype=pl.String)) is None
    assert looks_like_dates("31/01/2020")
    assert not looks_like_dates("<=50K")


@pytest.mark.parametrize(
    ("years", "first"),
    [([], 1950), ([0], 2000), ([49], 2049), ([50], 1950), ([99, 0], 1999), (range(25, 100), 1925)],
)
def test_years_of_two_digits_lie_together_and_end_by_2049(years, first):
    assert first_of_hundred(years) == first


def test_padded_clock_times_without_a_colon_are_times():
    clocks = pl.Series([f"{hour:02}{minute:02}" for hour in range(24) for minute in (5, 20, 45)])
    found = find_dates(clocks)
    assert found is not None
    assert (found.format.pattern, found.format.words) == ("%H%M", "times as hhmm")
    assert found.exact


@pytest.mark.parametrize(
    "codes",
    [
        [f"{number:04}" for number in range(0, 2400, 7)],  # some end in more than 59
        [f"{number:04}" for number in range(59)],  # all in one hour
        ["0105", "1230", "2359"],  # so few may be anything
        [f"{hour:02}{minute:02}" for hour in range(12) for minute in (5, 20, 45)],  # none after 12
    ],
)
def test_other_padded_numbers_are_no_times(codes):
    assert find_dates(pl.Series(codes)) is None


def test_padded_dates_without_signs_are_dates():
    days = [dt.date(2021, 1, 5) + dt.timedelta(days=17 * place) for place in range(30)]
    found = find_dates(pl.Series([f"{day:%d%m%Y}" for day in days]))
    assert found is not None
    assert (found.format.pattern, found.format.words) == ("%d%m%Y", "dates as ddmmyyyy")
    assert (found.exact, found.ambiguous) == (True, False)
    american = find_dates(pl.Series([f"{day:%m%d%Y}" for day in days]))
    assert american is not None
    assert american.format.order == "mdy"
    low = [dt.date(2021, month, day) for month in (1, 2, 3) for day in range(1, 11)]
    either = find_dates(pl.Series([f"{day:%d%m%Y}" for day in low]), "mdy")
    assert either is not None
    assert (either.ambiguous, either.format.pattern) == (True, "%m%d%Y")


@pytest.mark.parametrize(
    "codes",
    [
        [f"010120{number:02}" for number in range(9)],  # so few may be anything
        ["05012021", "5012021", *(f"{day:02}032021" for day in range(1, 20))],
        [f"{number:08}" for number in range(0, 10**8, 10**6 + 7)],
    ],
)
def test_other_codes_of_eight_digits_are_no_dates(codes):
    assert find_dates(pl.Series(codes)) is None
