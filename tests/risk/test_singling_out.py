"""Singling out: by hand, in trivial worlds, with real tables and with odd input."""

from __future__ import annotations

import datetime as dt
import json
import math
from functools import partial

import numpy as np
import polars as pl
import pytest

from understudy import load, risk
from understudy.data.joint_coding import encode
from understudy.errors import DataError, ParameterError
from understudy.risk.singling_out import singling_out_of

singling_out = partial(risk.singling_out, random_state=0)
ORIGINAL = {"age": [30, 31, 31, 90], "job": ["a", "b", "b", "c"]}
RELEASE = {"age": [31, 31, 85], "job": ["b", "b", "a"]}


def test_one_column_by_hand(as_frame):
    found = singling_out(as_frame(ORIGINAL), as_frame(RELEASE), columns_per_predicate=1)
    told = found["1 column"]
    # Two different records: 31, b and 85, a. At most 31 fits three people, at least 85 one, a one,
    # b two.
    assert (told.attack.hits, told.attack.attacks) == (2, 4)
    assert told.same_weight == pytest.approx(4 / 2 * (1 - 1 / 2) ** 3)
    assert told.risk == pytest.approx(0.5)
    assert told.people == 2
    rows = found.per_record(backend="polars")
    assert rows["singled_out"].to_list() == [True, False, False, True]
    assert rows["predicates_1"].to_list() == [1, 0, 0, 1]
    assert type(found.per_record()) is type(as_frame(ORIGINAL))
    assert type(found.to_frame()) is type(as_frame(ORIGINAL))


def test_two_columns_by_hand():
    found = singling_out(pl.DataFrame(ORIGINAL), pl.DataFrame(RELEASE), columns_per_predicate=2)
    told = found["2 columns"]
    # At most 31 and b fits two people; at least 85 and a none.
    assert (told.attack.hits, told.attack.attacks) == (0, 2)


def test_two_people_with_the_same_record_are_not_singled_out():
    table = pl.DataFrame({"age": [30, 30, 50], "job": ["a", "a", "b"]})
    found = singling_out(table, table, columns_per_predicate=1)
    assert found.per_record()["singled_out"].to_list() == [False, False, True]
    assert found["1 column"].attack.value == 0.5


def test_control_records_by_hand():
    control = pl.DataFrame({"age": [30, 91, 30, 30], "job": ["b", "b", "b", "b"]})
    found = singling_out(
        pl.DataFrame(ORIGINAL), pl.DataFrame(RELEASE), control=control, columns_per_predicate=1
    )
    told = found["1 column"]
    # Of the four predicates, at least 85 fits one control record.
    assert told.control.hits == pytest.approx(1)
    assert told.difference == pytest.approx(0.25)
    assert 0.2 < told.p_value <= 1
    assert found.control_records == 4


@pytest.fixture(scope="module")
def cmc():
    return load("cmc")


def thirds(table, seed):
    rows = np.random.default_rng(seed).permutation(len(table))
    size = len(table) // 3
    return [table[rows[place * size : (place + 1) * size]] for place in range(3)]


@pytest.fixture(scope="module")
def measured():
    """Return 1,200 people with six measurements, hardly any of which two have in common."""
    rng = np.random.default_rng(0)
    level = rng.normal(size=1_200)
    return pl.DataFrame(
        {f"x{place}": (level + rng.normal(size=1_200)).round(3) for place in range(6)}
    )


@pytest.mark.parametrize("kind", ["1 column", "3 columns", "5 columns"])
def test_a_copy_is_the_maximum(measured, kind):
    original, _, control = thirds(measured, 0)
    told = singling_out(original, original, control=control)[kind]
    assert told.attack.value == 1
    assert told.risk > 0.99
    assert told.p_value == pytest.approx(1 / 500)
    assert told.difference_interval[0] > 0.4


def test_fresh_people_are_not_singled_out_more_than_control_records(cmc):
    original, fresh, control = thirds(cmc, 1)
    found = singling_out(original, fresh, control=control)
    assert found.p_value > 0.05
    for told in found.attacks:
        assert told.difference_interval[0] <= 0
        assert told.risk_interval[0] == 0


def test_an_unrelated_release(cmc):
    original, fresh, control = thirds(cmc, 2)
    rng = np.random.default_rng(0)
    # One column after the other: expressions run on several threads, in any order.
    release = pl.DataFrame([held.gather(rng.permutation(len(held))) for held in fresh])
    found = singling_out(original, release, control=control)
    assert found.p_value > 0.05
    assert found["3 columns"].attack.value < found["3 columns"].same_weight


def test_copies_of_a_tenth_are_seen(measured):
    original, fresh, control = thirds(measured, 3)
    release = pl.concat([original[:40], fresh[40:]])
    found = singling_out(original, release, control=control)
    assert found["1 column"].p_value < 0.05
    assert found["5 columns"].p_value < 0.05
    rows = found.per_record()["predicates_1"]
    assert rows[:40].mean() > 5 * rows[40:].mean()


def alarms(table, seeds, kind, **options):
    found = []
    for seed in range(seeds):
        original, fresh, control = thirds(table, seed)
        told = singling_out(original, fresh, control=control, random_state=seed, **options)
        found.append(told[kind].p_value < 0.05)
    return np.mean(found)


def test_few_false_alarms(cmc):
    assert alarms(cmc, 30, "3 columns", attacks=500, columns_per_predicate=3) <= 0.1


@pytest.mark.long
@pytest.mark.parametrize("kind", [1, 3])
@pytest.mark.parametrize("name", ["cmc", "simulated"])
def test_alarms_at_5_percent_in_at_most_7(cmc, name, kind):
    rng = np.random.default_rng(0)
    tables = {
        "cmc": cmc,
        "simulated": pl.DataFrame(
            {
                "x": rng.lognormal(size=1_500).round(2),
                "y": rng.normal(size=1_500).round(1),
                "z": rng.geometric(0.3, 1_500),
                "job": rng.choice(list("abcdefghij"), 1_500),
            }
        ),
    }
    share = alarms(
        tables[name], 200, f"{kind} column{'s' * (kind > 1)}", columns_per_predicate=kind
    )
    assert share <= 0.07


def test_the_size_of_the_control_table_does_not_change_its_rate(folder_with):
    adult = pl.read_csv(folder_with("adult_train.csv") / "adult_train.csv")
    original, fresh, control = thirds(adult, 0)
    rates = [
        singling_out(original, fresh, control=control[:rows], columns_per_predicate=3)
        .attacks[0]
        .control.value
        for rows in (len(control), len(control) // 4)
    ]
    # A standard error of the smaller is about 2 points.
    assert rates[1] == pytest.approx(rates[0], abs=0.05)
    large = singling_out(original[:3_000], fresh, control=control, columns_per_predicate=3).attacks[
        0
    ]
    same = singling_out(original[:3_000], fresh, control=control[:3_000], columns_per_predicate=3)
    assert large.control.value == pytest.approx(same.attacks[0].control.value, abs=0.04)


def test_rows_columns_and_names_do_not_matter(cmc):
    original, fresh, control = thirds(cmc, 4)
    first = singling_out(original, fresh, control=control, columns_per_predicate=1).attacks[0]
    rows = np.random.default_rng(0).permutation(len(original))
    again = singling_out(original[rows], fresh, control=control[::-1], columns_per_predicate=1)
    assert again.attacks[0].attack == first.attack
    assert again.attacks[0].control == first.control
    spelled = original.with_columns(pl.all().cast(pl.String))
    told = singling_out(spelled, fresh, control=control, columns_per_predicate=1).attacks[0]
    assert told.attack == first.attack


def test_dates_count_by_size():
    days = [dt.date(2020, 1, day) for day in (1, 2, 2, 30)]
    release = [dt.date(2020, 1, 2), dt.date(2020, 1, 25)]
    found = singling_out(pl.DataFrame({"day": days}), pl.DataFrame({"day": release}))
    # Both are extremes: at most the 2nd fits three people, at least the 25th one.
    assert found["1 column"].attack.hits == 1


def test_several_releases_share_the_predicates(cmc):
    original, fresh, _ = thirds(cmc, 5)
    found = singling_out(original, [fresh, original], columns_per_predicate=3, attacks=400)
    assert found.synthetic_records == (len(fresh), len(original))
    one, other = (
        singling_out(original, table, columns_per_predicate=3, attacks=400).attacks[0].attack.value
        for table in (fresh, original)
    )
    assert found.attacks[0].attack.value == pytest.approx((one + other) / 2, abs=0.1)


def test_a_table_in_which_nothing_is_rare():
    table = pl.DataFrame({"x": [1, 1, 2, 2], "y": ["a", "b", "a", "b"]})
    found = singling_out(table, table, control=table, columns_per_predicate=1)
    told = found.attacks[0]
    assert told.attack.attacks == 0
    assert math.isnan(told.risk)
    assert "No predicate of 1 column" in found.summary()
    assert "No predicate of 1 column" in found.reasons["1 column"]
    assert found.to_frame()["attack"].to_list() == [None]


def test_fewer_columns_than_asked_for():
    table = pl.DataFrame({"x": [1, 2, 3]})
    found = singling_out(table, table)
    assert [told.columns for told in found.attacks] == [1]


def test_only_columns_that_all_tables_have():
    original = pl.DataFrame({"x": [1, 2, 3], "y": [1, 2, 3]})
    assert singling_out(original, original.drop("y")).columns == ("x",)


def test_what_is_said(cmc):
    original, fresh, control = thirds(cmc, 6)
    found = singling_out(original, fresh, control=control, random_state=3)
    text = str(found)
    assert "predicates of 3 columns, each of which fits exactly one synthetic record" in text
    assert "Residual risk: " in text
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["attacks"][1]["attack"]["attacks"] == found["3 columns"].attack.attacks
    assert plain["random_state"] == 3
    assert "_singled" not in plain
    assert "<svg" in found._repr_html_()
    assert found.worst in found.attacks
    again = singling_out(original, fresh, control=control, random_state=3)
    assert again.to_dict() == found.to_dict()


def test_it_says_what_is_wrong():
    table = pl.DataFrame(ORIGINAL)
    with pytest.raises(ParameterError, match=r"no column 'agee'\. Did you mean 'age'\?"):
        singling_out(table, table, columns=["agee"])
    with pytest.raises(ParameterError, match="attacks must be a whole number from 1; got 0"):
        singling_out(table, table, attacks=0)
    with pytest.raises(ParameterError, match="columns_per_predicate must be a whole number"):
        singling_out(table, table, columns_per_predicate=2.5)
    with pytest.raises(ParameterError, match="columns_per_predicate must name at least one"):
        singling_out(table, table, columns_per_predicate=[])
    with pytest.raises(ParameterError, match="no column in common"):
        singling_out(table, pl.DataFrame({"z": [1]}))
    with pytest.raises(ParameterError, match="columns must name at least one column"):
        singling_out(table, table, columns=[])
    with pytest.raises(ParameterError, match="got an empty list"):
        singling_out(table, [])
    with pytest.raises(DataError, match="The synthetic table has no rows"):
        singling_out(table, table.clear())
    with pytest.raises(ParameterError, match=r"'1 column', '2 columns'; got '3 columns'"):
        singling_out(table, table)["3 columns"]


def test_tables_that_are_encoded_already():
    tables = {
        "original": encode(pl.DataFrame(ORIGINAL)),
        "synthetic": encode(pl.DataFrame(RELEASE)),
    }
    found = singling_out_of(tables, columns_per_predicate=1, random_state=0)
    again = singling_out(pl.DataFrame(ORIGINAL), pl.DataFrame(RELEASE), columns_per_predicate=1)
    assert found.to_dict() == again.to_dict()
