"""The values that codes stand for: exactly, and as the first table holds them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import polars as pl
import pytest

from understudy.data.joint_coding import code_together


def column(values, kind=None):
    return pl.DataFrame({"x": pl.Series(values, dtype=kind, strict=False)})


def code(*tables, **options):
    """Return the codes of column x in each table, and its levels."""
    frames = {f"table {place}": table for place, table in enumerate(tables)}
    together = code_together(frames, ["x"], **options)
    return [together[name]["x"].tolist() for name in frames], together.levels["x"]


def test_values_are_those_of_the_first_table_that_has_them():
    day, noon = dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 12)  # noqa: DTZ001
    midnight = dt.datetime(2020, 1, 1)  # noqa: DTZ001
    codes, levels = code(column([None, day]), column([midnight, noon, noon]))
    assert codes == [[2, 0], [0, 1, 1]]
    assert levels.values == (day, noon, None)
    assert type(levels.values[0]) is dt.date
    assert levels.labels == ("2020-01-01", "2020-01-01 12:00:00", "missing")
    _, levels = code(column([noon, midnight]), column([day]))
    assert levels.values == (midnight, noon)


def test_times_and_durations_in_other_units():
    times = [dt.datetime(2020, 1, 1), dt.datetime(2021, 5, 5)]  # noqa: DTZ001
    spans = [dt.timedelta(1), dt.timedelta(2)]
    for values, kind in ((times, pl.Datetime), (spans, pl.Duration)):
        codes, levels = code(column(values[:1], kind("ms")), column(values, kind("ns")))
        assert codes == [[0], [0, 1]]
        assert levels.values == tuple(values)
        assert levels.numbers is None


def test_times_that_python_would_round_are_text():
    ticks = pl.Series([1_000_001, 1_000_002, 2_000_000]).cast(pl.Datetime("ns"))
    _, levels = code(pl.DataFrame({"x": ticks}))
    assert levels.values == (
        "1970-01-01 00:00:00.001000001",
        "1970-01-01 00:00:00.001000002",
        dt.datetime(1970, 1, 1, 0, 0, 0, 2000),  # noqa: DTZ001
    )
    assert len(set(levels.labels)) == 3


def test_a_type_says_nothing_where_nothing_is_known():
    codes, levels = code(column([3, 5], pl.Int64), column([None], pl.Date))
    assert codes == [[0, 1], [2]]
    assert levels.values == (3, 5, None)
    assert levels.numbers[:2].tolist() == [3, 5]


@pytest.mark.parametrize(
    ("values", "kind", "told"),
    [
        ([1234567.25, 1234567.5], pl.Float64, ("1234567.25", "1234567.5")),
        ([2**62, 2**62 + 1], pl.Int64, (str(2**62), str(2**62 + 1))),
        ([0.1, 0.1 + 2**-54], pl.Float64, ("0.1", repr(0.1 + 2**-54))),
        ([0.1, 1e30], pl.Float32, ("0.1", "1e+30")),
        ([-0.5, 3.0], pl.Float64, ("-0.5", "3")),
    ],
)
def test_labels_tell_numbers_apart(values, kind, told):
    _, levels = code(column(values, kind))
    assert levels.labels == told
    assert levels.values == tuple(values)


def test_large_whole_numbers_beside_floats_keep_their_values():
    large = 2**62
    _, levels = code(column([large, large + 1, 3]), column([float(large), 0.5, 3.0, None]))
    assert levels.values == (0.5, 3, large, large + 1, None)
    assert levels.labels == ("0.5", "3", str(large), str(large + 1), "missing")


def test_decimals_are_numbers_unless_these_would_round_them():
    digits = Decimal("0.12345678901234567891")
    kind = pl.Decimal(30, 20)
    _, levels = code(column([Decimal("1.5"), digits, Decimal(2)], kind))
    assert levels.values == (digits, 1.5, 2)
    assert [type(value) for value in levels.values] == [Decimal, float, int]
