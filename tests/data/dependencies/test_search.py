"""What holds between columns is found, and what only seems to hold is not."""

from __future__ import annotations

import datetime as dt
import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.dependencies.planted import SENTENCES, planted
from understudy import Independent
from understudy.data import Schema, find_dependencies, scan
from understudy.data.dependencies.of_two_numbers import _TWO_FORMS, _agreeing_steps
from understudy.data.dependencies.search import derivation_order


def sentences(frame: pl.DataFrame) -> set[str]:
    return {one.sentence for one in find_dependencies(frame)}


def test_all_that_was_planted_is_found_and_nothing_else():
    assert sentences(planted()) == SENTENCES


def test_rows_in_another_order_give_the_same_findings():
    assert sentences(planted(700).sample(fraction=1, shuffle=True, seed=3)) == sentences(
        planted(700)
    )


@pytest.mark.parametrize("rows", [40, 150, 600])
def test_unrelated_columns_have_no_dependencies(rows):
    """The limit is 1% of the columns, and these are 96; studies/dependencies.py looks at more."""
    false = 0
    for seed in range(8):
        rng = np.random.default_rng([rows, seed])
        skewed = rng.random(rows) ** 6
        table = pl.DataFrame(
            {
                "even": rng.integers(0, 2, rows),
                "rare": (rng.random(rows) < 0.02).astype(int),
                "few": rng.integers(0, 4, rows),
                "some": rng.integers(0, 25, rows),
                "many": rng.integers(0, rows // 2, rows),
                "skewed": (skewed * 9).astype(int),
                "real": rng.normal(size=rows).round(3),
                "text": rng.choice(["a", "b", "c"], rows, p=[0.9, 0.08, 0.02]),
                "word": rng.choice([f"w{n}" for n in range(30)], rows),
                "gaps": [None if gap else 1.5 * n for n, gap in enumerate(rng.random(rows) < 0.3)],
                "more gaps": [None if gap else "x" for gap in rng.random(rows) < 0.1],
                "flag": rng.random(rows) < 0.5,
            }
        )
        false += len(find_dependencies(table))
    assert false == 0


@settings(max_examples=20, deadline=None)
@given(
    rows=st.integers(5, 300),
    sizes=st.lists(st.integers(1, 12), min_size=2, max_size=6),
    seed=st.integers(0, 10**6),
)
def test_columns_of_chance_do_not_depend_on_each_other(rows, sizes, seed):
    rng = np.random.default_rng(seed)
    table = pl.DataFrame(
        {f"c{n}": rng.integers(0, size, rows) ** 2 % 7 for n, size in enumerate(sizes)}
    )
    made = {name for one in find_dependencies(table) for name in one.names}
    # A column that is a function of a few levels of another may turn up; chance does not do it.
    assert not made


@settings(max_examples=15, deadline=None)
@given(
    a=st.integers(2, 40),
    factor=st.sampled_from([1, 2, 0.5, 2.54, 1000]),
    constant=st.sampled_from([0, 7, -32]),
    seed=st.integers(0, 10**6),
)
def test_lines_are_found_whatever_their_slope(a, factor, constant, seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 30 * a, 200)
    table = pl.DataFrame({"x": x, "y": np.round(factor * x + constant, 3), "z": rng.random(200)})
    (found,) = find_dependencies(table)
    assert found.kind == "formula"
    assert set(found.names) == {"x", "y"}


def test_exceptions_are_tolerated_up_to_one_percent():
    table = planted(2000)
    for share, found in ((0.005, True), (0.03, False)):
        rng = np.random.default_rng(1)
        wrong = rng.random(2000) < share
        off = table.with_columns(
            state=pl.when(pl.Series(wrong)).then(pl.lit("AT")).otherwise("state"),
            total=pl.when(pl.Series(wrong)).then(pl.lit(1)).otherwise("total"),
        )
        assert ("'state' follows from 'city'" in sentences(off)) is found
        assert ("'total' = 'rent' + 'heating'" in sentences(off)) is found


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_gaps_of_their_own_do_not_hide_dependencies(share):
    rng = np.random.default_rng(1)
    table = planted().drop("packs", "brand", "smokes")  # whose gaps are dependencies themselves
    gappy = table.with_columns(
        pl.when(pl.Series(rng.random(len(table)) >= share)).then(pl.col(name))
        for name in table.columns
    )
    assert sentences(gappy) == {one for one in SENTENCES if "missing" not in one}


@pytest.mark.parametrize(("rows", "slips"), [(50, 0), (400, 3)])
def test_rounded_lines_are_found_in_spite_of_slips(rows, slips):
    rng = np.random.default_rng(9)
    warm = rng.normal(60, 15, rows).round(1)
    cold = ((warm - 32) * 5 / 9).round(1)
    cold[:slips] = 99.9
    (found,) = find_dependencies(pl.DataFrame({"warm": warm, "cold": cold}))
    assert found.factor == pytest.approx(5 / 9, rel=1e-5)
    assert found.constant == pytest.approx(-160 / 9, abs=1e-2)


def test_a_year_that_hardly_varies_is_not_the_sum_of_births_and_ages():
    rng = np.random.default_rng(10)
    asked, born = rng.integers(2010, 2014, 300), rng.integers(1930, 2000, 300)
    table = pl.DataFrame({"asked": asked, "born": born, "age": asked - born})
    (found,) = find_dependencies(table)
    assert found.column != "asked"


def test_two_columns_together_determine_a_third():
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 5, 2000), rng.integers(0, 6, 2000)
    names = rng.permutation([f"d{n}" for n in range(12)] * 3)[:30].reshape(5, 6)
    table = pl.DataFrame({"a": a.astype(str), "b": b.astype(str), "d": names[a, b]})
    assert sentences(table) == {"'d' follows from 'a' and 'b'"}


def test_of_codes_and_names_one_stays():
    code = np.random.default_rng(3).integers(10, 16, 600)
    table = pl.DataFrame({"name": [f"n{c}" for c in code], "code": code})
    assert sentences(table) == {"'name' follows from 'code'"}


def test_a_name_follows_from_a_number_that_is_computed():
    rng = np.random.default_rng(3)
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=int(day)) for day in rng.integers(0, 900, 600)]
    table = pl.DataFrame({"day": days}).with_columns(
        name=pl.col("day").dt.strftime("%A"), number=pl.col("day").dt.weekday()
    )
    assert sentences(table) == {
        "'number' = the weekday of 'day'",
        "'name' follows from 'number'",
    }


def test_codes_of_dates_and_times_are_those_of_others():
    rng = np.random.default_rng(4)
    minutes = rng.integers(0, 10**6, 600)
    seen = pl.Series(minutes * 60_000_000 + 1_577_836_800_000_000).cast(pl.Datetime("us"))  # 2020
    table = pl.DataFrame({"seen": seen}).with_columns(
        code=pl.col("seen").dt.strftime("%Y%m%d").cast(pl.Int64),
        month=pl.col("seen").dt.strftime("%Y%m").cast(pl.Int64),
        clock=pl.col("seen").dt.strftime("%H%M").cast(pl.Int64),
        other=pl.Series([dt.date(2021, 1, 1) + dt.timedelta(days=n % 397) for n in range(600)]),
    )
    assert sentences(table) == {
        "'code' = 'seen' as yyyymmdd",
        "'month' = 'seen' as yyyymm",
        "'clock' = 'seen' as hhmm",
    }
    made = Independent(random_state=1).fit(table).sample(300)
    assert made["code"].to_list() == [int(f"{one:%Y%m%d}") for one in made["seen"]]
    assert made["clock"].to_list() == [int(f"{one:%H%M}") for one in made["seen"]]
    alone = table.select("other", "code")
    assert sentences(alone) == {"'code' holds dates as yyyymmdd"}


def test_ages_are_the_whole_years_between_two_dates():
    rng = np.random.default_rng(6)
    first = np.datetime64("1930-01-01")
    born = first + rng.integers(0, 25_000, 700).astype("m8[D]")
    seen = np.datetime64("2019-01-01") + rng.integers(0, 900, 700).astype("m8[D]")
    table = pl.DataFrame({"born": born, "seen": seen})
    ages = [
        after.year - before.year - ((after.month, after.day) < (before.month, before.day))
        for before, after in table.rows()
    ]
    table = table.with_columns(age=pl.Series(ages), noise=pl.Series(rng.integers(18, 90, 700)))
    assert sentences(table) == {"'age' = the whole years from 'born' to 'seen'"}
    made = Independent(random_state=1).fit(table).sample(200)
    assert [
        after.year - before.year - ((after.month, after.day) < (before.month, before.day))
        for before, after in made.select("born", "seen").rows()
    ] == made["age"].to_list()


def test_a_sorted_table_gives_the_same_findings():
    """Neighbours in a sorted table agree in much, whatever follows from what."""
    assert sentences(planted(900).sort("city", "year", "smokes")) == sentences(planted(900))


def _slow_triples(values, room):
    """Say which columns mostly are the sum of two others, by looking at each step."""
    steps = np.diff(values, axis=1)
    found = set()
    for a, b, place in itertools.permutations(range(len(values)), 3):
        if a > b:
            continue
        agree = asked = 0
        for own, one, other in zip(steps[place], steps[a], steps[b], strict=True):
            if np.isnan(own) or np.isnan(one) or np.isnan(other):
                continue
            if abs(own) <= room and abs(one + other) <= room:
                continue
            asked += 1
            agree += abs(own - one - other) <= room + 1e-9
        if agree >= 0.75 * max(asked, 6):
            found.add((a, b, place))
    return found


@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(4))
def test_sums_are_suggested_as_a_slow_search_finds_them(gaps, seed):
    rng = np.random.default_rng([seed, 5])
    parts = np.vstack([rng.integers(0, 900, (4, 32)), rng.integers(0, 2, (3, 32))]).astype(float)
    sums = [parts[0] + parts[1], parts[2] + parts[3], parts[4] + parts[5], parts[0] + parts[6]]
    values = np.vstack([parts, sums])
    values[7, 5] += 3  # a slip of the pen
    values[rng.random(values.shape) < gaps] = np.nan
    steps = np.diff(values, axis=1)
    form = next(one for one in _TWO_FORMS if one.form == "sum" and one.factor == 1)
    no_dummies = np.zeros(len(values), bool)
    found = set(_agreeing_steps(form, steps, np.full(steps.shape, 0.5), no_dummies))
    slow = _slow_triples(values, 0.5)
    assert {(0, 1, 7), (2, 3, 8)} <= slow
    assert found == slow


def test_a_nearly_unique_column_determines_nothing():
    rng = np.random.default_rng(4)
    table = pl.DataFrame({"seat": rng.integers(0, 3000, 1000), "sex": rng.choice(["f", "m"], 1000)})
    assert sentences(table) == set()


def test_weights_below_heights_are_no_ordering():
    rng = np.random.default_rng(5)
    table = pl.DataFrame(
        {"weight": rng.normal(75, 12, 2000).round(), "height": rng.normal(170, 9, 2000).round()}
    )
    assert sentences(table) == set()


def test_of_three_in_a_row_only_neighbours_are_told():
    rng = np.random.default_rng(6)
    a = rng.integers(0, 50, 1000)
    b = a + rng.integers(0, 40, 1000)
    table = pl.DataFrame({"c": b + rng.integers(0, 40, 1000), "a": a, "b": b})
    assert sentences(table) == {"'a' <= 'b'", "'b' <= 'c'"}


def test_months_as_numbers_and_their_years():
    months = np.random.default_rng(11).integers(1995 * 12, 2015 * 12, 600)
    table = pl.DataFrame({"paid": months // 12 * 100 + months % 12 + 1, "year": months // 12})
    assert sentences(table) == {"'paid' holds months as yyyymm", "'year' = the year of 'paid'"}
    release = Independent(random_state=1).fit(table).sample()
    assert (release["paid"] % 100).is_between(1, 12).all()
    assert (release["paid"] // 100 == release["year"]).all()
    codes = table.with_columns(pl.col("paid") + 600_000)  # an area code
    assert "months" not in str(sentences(codes))


def test_clock_times_with_a_delay_and_dates_as_numbers():
    rng = np.random.default_rng(7)
    due, delay = rng.integers(0, 1440, 800), rng.integers(-20, 200, 800)
    left = (due + delay) % 1440
    days = [dt.date(2001, 3, 4) + dt.timedelta(days=int(n)) for n in rng.integers(0, 3000, 800)]
    table = pl.DataFrame(
        {
            "due": due // 60 * 100 + due % 60,
            "delay": delay,
            "left": left // 60 * 100 + left % 60,
            "day": [int(day.strftime("%Y%m%d")) for day in days],
        }
    )
    assert sentences(table) == {
        "'due' holds clock times as hhmm",
        "'day' holds dates as yyyymmdd",
        "'left' = 'due' and 'delay' minutes, on the clock",
    }


def test_special_numbers_do_not_count_against_a_formula():
    rng = np.random.default_rng(8)
    a, b = rng.integers(0, 500, 2000), rng.integers(0, 90, 2000)
    refused = rng.random(2000) < 0.1
    table = pl.DataFrame(
        {"a": np.where(refused, -9, a), "b": b, "total": np.where(refused, -9, a + b)}
    )
    assert "'total' = 'a' + 'b'" in sentences(table)


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"a": [1]}),
        pl.DataFrame({"a": [None, None], "b": [1, 2]}),
        pl.DataFrame({"a": [1.5, float("inf"), float("nan")] * 30, "b": [2**62, 0, 1] * 30}),
        pl.DataFrame({"a": ["x"] * 50, "b": ["y"] * 50}),
    ],
)
def test_degenerate_tables_have_none(frame):
    assert find_dependencies(frame) == () or len(frame) == 90


def test_a_stream_is_sampled_and_checked_on_all_records(tmp_path, monkeypatch):
    from understudy.data.dependencies import finding

    table = planted(3000)
    late = table.with_columns(
        total=pl.col("total") + pl.int_range(3000) * (pl.int_range(3000) % 10 == 7)
    )
    late.write_parquet(tmp_path / "late.parquet")
    monkeypatch.setattr(finding, "SAMPLED", 600)  # every fifth record: the slips are not among them
    stream = scan(tmp_path / "late.parquet", batch_rows=700)
    found = {one.sentence for one in find_dependencies(stream)}
    assert "'total' = 'rent' + 'heating'" not in found
    assert "'state' follows from 'city'" in found
    assert "'start' <= 'end'" in found


def test_the_schema_has_them_unless_it_should_not():
    assert {one.sentence for one in Schema.infer(planted()).dependencies} == SENTENCES
    assert Schema.infer(planted(200), dependencies=False).dependencies == ()


def test_a_circle_has_no_order():
    with pytest.raises(ValueError, match=r"^[abc]$"):
        derivation_order({"a": ["b"], "b": ["c"], "c": ["a"]})
