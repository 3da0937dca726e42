from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from understudy.synthesis.panel.scales import LAST_DAY, Months, Plain, scale_from_plain, scale_of


def days(*texts):
    return np.array(texts, "datetime64[D]").astype(np.int64)


def test_dates_of_one_day_of_the_month_go_on_by_months():
    found = scale_of(days("2019-12-15", "2020-01-15", "2020-03-15"), pa.date32())
    assert found == Months(15, 0, 1)
    months = found.read(days("2019-12-15", "2020-03-15"))
    assert np.diff(months).tolist() == [3]
    assert found.write(months + 1).tolist() == days("2020-01-15", "2020-04-15").tolist()


def test_the_last_days_of_months_stay_so():
    stored = days("2020-01-31", "2020-02-29", "2020-04-30")
    found = scale_of(stored, pa.date32())
    assert found.day == LAST_DAY
    assert found.write(found.read(stored) + 1).tolist() == (
        days("2020-02-29", "2020-03-31", "2020-05-31").tolist()
    )


def test_times_of_day_are_kept():
    stored = np.array(["2020-01-01T06", "2020-02-01T06", "2020-03-01T06"], "datetime64[us]")
    stored = stored.astype(np.int64)
    found = scale_of(stored, pa.timestamp("us"))
    assert isinstance(found, Months)
    assert (found.write(found.read(stored)) == stored).all()


@pytest.mark.parametrize(
    ("stored", "kind"),
    [
        (days("2020-01-01", "2020-01-08", "2020-02-15"), pa.date32()),
        (days("2020-01-30", "2020-02-29", "2020-03-30"), pa.date32()),
        (np.array([1, 32, 61]), pa.int64()),
    ],
)
def test_anything_else_is_added_as_it_is(stored, kind):
    assert scale_of(stored, kind) == Plain()


def test_a_scale_is_saved_and_a_wrong_one_refused():
    for scale in (Plain(), Months(28, 5, 10)):
        assert scale_from_plain(scale.to_plain()) == scale
    with pytest.raises(ValueError, match="cannot be"):
        scale_from_plain({"day": 31, "rest": 0, "per_day": 1})
