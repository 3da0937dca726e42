"""Keeping records back: how many of each value, who, and when none."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data import hold_out
from understudy.errors import DataError, ParameterError

SECRETS = ["common"] * 60 + ["rare"] * 10 + [None] * 10 + [f"single {n}" for n in range(20)]


def table(values, **columns):
    return pl.DataFrame({"row": range(len(values)), "secret": values, **columns})


def counts(frame):
    return dict(frame["secret"].value_counts().iter_rows())


class TestByHand:
    def test_each_value_gives_its_share(self):
        parts = hold_out(table(SECRETS), 0.2, by="secret", random_state=1)
        held = counts(parts.held_out)
        # 60 and 10 and 10 records give a fifth each, and so do the 20 single ones together.
        assert (held.pop("common"), held.pop("rare"), held.pop(None)) == (12, 2, 2)
        assert len(held) == 4

    def test_rounding_up_and_down(self):
        # A quarter of 42 records is 10.5: 11 are drawn, a rate of 11/42.
        parts = hold_out(table(["a"] * 30 + ["b"] * 12), 0.25, by="secret", random_state=1)
        held = counts(parts.held_out)
        assert sum(held.values()) == 11
        assert held["a"] in (7, 8)  # 30 * 11/42 = 7.86
        assert held["b"] in (3, 4)  # 12 * 11/42 = 3.14

    def test_numbers_by_groups_of_equal_size(self):
        values = np.random.default_rng(1).permutation(np.exp(np.arange(200) / 9))
        parts = hold_out(table(values), 0.2, by="secret", random_state=1)
        group = np.searchsorted(np.sort(values), parts.held_out["secret"].to_numpy()) // 20
        assert np.bincount(group).tolist() == [4] * 10

    def test_a_number_that_most_have_is_one_group(self):
        values = [0] * 150 + list(range(1, 51))
        held = hold_out(table(values), 0.2, by="secret", random_state=1).held_out["secret"]
        assert (held == 0).sum() == 30

    def test_dates_and_gaps(self):
        days = [dt.date(2026, 1, 1) + dt.timedelta(day) for day in range(100)] + [None] * 50
        held = hold_out(table(days), 0.2, by="secret", random_state=1).held_out["secret"]
        assert held.null_count() == 10
        assert np.bincount([day.toordinal() // 7 for day in held.drop_nulls()]).max() <= 3

    def test_what_is_no_number_counts_as_missing(self):
        values = [float(n) for n in range(50)] + [float("nan")] * 25 + [None] * 25
        held = hold_out(table(values), 0.2, by="secret", random_state=1).held_out["secret"]
        assert held.null_count() + held.is_nan().sum() == 10

    def test_categories_with_unused_levels(self):
        secret = pd.Categorical(["a"] * 40 + [None] * 20, categories=["z", "a"])
        held = hold_out(pd.DataFrame({"secret": secret}), by="secret", random_state=1).held_out
        assert (len(held), held["secret"].isna().sum()) == (12, 4)
        assert list(held["secret"].cat.categories) == ["z", "a"]


class TestParts:
    def test_every_record_is_in_one_part_in_its_order(self, as_frame):
        frame = as_frame({"row": list(range(100)), "secret": SECRETS})
        parts = hold_out(frame, 0.2, by="secret", random_state=3)
        assert type(parts.kept) is type(parts.held_out) is type(frame)
        kept, held = (np.asarray(part["row"]).tolist() for part in (parts.kept, parts.held_out))
        assert kept == sorted(kept) == parts.rows.tolist()
        assert held == sorted(held)
        assert sorted(kept + held) == list(range(100))

    def test_all_libraries_keep_back_the_same(self, as_frame):
        frame = as_frame({"secret": SECRETS})
        expected = hold_out(table(SECRETS), by="secret", random_state=3).rows
        assert (hold_out(frame, by="secret", random_state=3).rows == expected).all()

    def test_the_seed_decides(self):
        def rows(seed):
            return hold_out(table(SECRETS), by="secret", random_state=seed).rows.tolist()

        assert rows(1) == rows(1) != rows(2)
        assert hold_out(table(SECRETS), by="secret").held_out.height == 20

    def test_without_a_column(self):
        assert hold_out(table(SECRETS), 0.5, random_state=1).held_out.height == 50

    def test_everybody_has_the_same_chance(self):
        # 400 draws at 1/5: a standard error of 0.02, and the largest of 100 is within four.
        drawn = np.zeros(100)
        for seed in range(400):
            drawn[hold_out(table(SECRETS), by="secret", random_state=seed).held_out["row"]] += 1
        assert np.abs(drawn / 400 - 0.2).max() < 0.08

    def test_records_with_values_of_their_own_are_drawn_at_random(self):
        values = [f"text {n}" for n in range(100)]
        rows = hold_out(table(values), by="secret", random_state=1).held_out["row"]
        assert len(set(rows.diff().drop_nulls())) > 3  # not at equal steps


class TestNothing:
    @pytest.mark.parametrize("rows", [0, 1, 47])
    def test_too_few_records_are_told(self, rows):
        frame = table(["a"] * rows)
        parts = hold_out(frame, 0.2, by="secret")
        assert parts.kept is frame
        assert parts.held_out is None
        assert parts.rows.tolist() == list(range(rows))
        assert parts.reason.startswith(f"20% of {rows} records are {round(rows / 5)}, and fewer")

    def test_the_fewest(self):
        assert hold_out(table(["a"] * 48), 0.2).held_out.height == 10

    def test_none_wanted(self):
        parts = hold_out(table(SECRETS), 0)
        assert (parts.held_out, parts.reason) == (None, "")

    @pytest.mark.parametrize("share", [-0.1, 0.51, 1, "a", None, True, float("nan")])
    def test_a_share_that_cannot_be(self, share):
        with pytest.raises(ParameterError, match=r"share must be a number from 0 to 0.5; got"):
            hold_out(table(SECRETS), share)

    def test_other_mistakes(self):
        with pytest.raises(ParameterError, match=r"'secrt' is not a column.*'secret'"):
            hold_out(table(SECRETS), by="secrt")
        with pytest.raises(ParameterError, match="random_state"):
            hold_out(table(SECRETS), random_state=-1)
        with pytest.raises(
            DataError, match="by must name a column of plain values; 'secret' holds"
        ):
            hold_out(table([[1]] * 60), by="secret")
        with pytest.raises(DataError, match=r"not builtins\.list"):
            hold_out([1, 2])


LEVELS = st.lists(st.sampled_from(["a", "b", "c", "d", None]), min_size=40, max_size=200)
SHARES = st.floats(0.25, 0.5)


class TestInvariants:
    @given(LEVELS, SHARES, st.integers(0, 2**32 - 1))
    def test_each_group_gives_its_share_but_for_rounding(self, values, share, seed):
        parts = hold_out(table(values), share, by="secret", random_state=seed)
        rate = parts.held_out.height / len(values)
        assert abs(parts.held_out.height - share * len(values)) <= 0.5 + 1e-6
        held = counts(parts.held_out)
        for value, count in counts(table(values)).items():
            exact = rate * count
            assert np.floor(exact - 1e-9) <= held.get(value, 0) <= np.ceil(exact + 1e-9)

    @given(LEVELS, SHARES)
    def test_other_names_for_the_values(self, values, share):
        renamed = [{"a": "z", "b": "a"}.get(value, value) for value in values]
        first, second = (
            hold_out(table(held), share, by="secret", random_state=1).rows
            for held in (values, renamed)
        )
        assert (first == second).all()

    @given(st.lists(st.floats(allow_infinity=True), min_size=40, max_size=200), SHARES)
    def test_any_numbers(self, values, share):
        parts = hold_out(table(values), share, by="secret", random_state=1)
        assert parts.kept.height + parts.held_out.height == len(values)
        assert parts.kept.height >= parts.held_out.height - 1

    @given(st.lists(st.integers(-5, 30), min_size=40, max_size=200), SHARES)
    def test_other_units(self, values, share):
        first, second = (
            hold_out(
                table([factor * value for value in values]), share, by="secret", random_state=1
            )
            for factor in (1, 7)
        )
        assert (first.rows == second.rows).all()


class TestUnits:
    UNITS = np.repeat(np.arange(60), np.arange(60) % 4 + 1)

    def test_whole_units_are_kept_back(self):
        frame = pl.DataFrame({"home": self.UNITS, "row": range(len(self.UNITS))})
        parts = hold_out(frame, 0.25, unit_id="home", random_state=1)
        inside, outside = (set(part["home"]) for part in (parts.kept, parts.held_out))
        assert len(outside) == 15
        assert inside.isdisjoint(outside)
        assert parts.rows.tolist() == parts.kept["row"].to_list()

    def test_a_column_is_spread_alike_over_units(self):
        # A unit counts with the value of its first record.
        first = np.array(["a"] * 40 + ["b"] * 20)[self.UNITS]
        frame = pl.DataFrame({"home": self.UNITS, "secret": first})
        held = hold_out(frame, 0.2, by="secret", unit_id="home", random_state=2).held_out
        assert held.unique("home")["secret"].value_counts().sort("secret")["count"].to_list() == [
            8,
            4,
        ]

    def test_two_columns_name_a_unit(self):
        frame = pl.DataFrame({"home": self.UNITS // 2, "member": self.UNITS % 2})
        held = hold_out(frame, 0.25, unit_id=["home", "member"], random_state=1).held_out
        assert held.unique().height == 15

    def test_too_few_units(self):
        frame = pl.DataFrame({"home": np.arange(200) // 10})
        parts = hold_out(frame, 0.2, unit_id="home", random_state=1)
        assert parts.held_out is None
        assert parts.reason == "20% of 20 units are 4, and fewer than 10 say too little."

    def test_an_unknown_column(self):
        with pytest.raises(ParameterError, match=r"unit_id: .*Did you mean 'home'"):
            hold_out(pl.DataFrame({"home": range(100)}), unit_id="hme")
