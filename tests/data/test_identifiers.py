"""Made-up identifiers: fresh, artificial at a glance, in the column's own type."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from understudy.data.identifiers import make_identifiers
from understudy.errors import DataError


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.string(), ["synthetic-1", "synthetic-2"]),
        (pa.large_string(), ["synthetic-1", "synthetic-2"]),
        (pa.dictionary(pa.int8(), pa.string()), ["synthetic-1", "synthetic-2"]),
        (pa.int64(), [-1, -2]),
        (pa.uint8(), [255, 254]),
        (pa.float32(), [-1.0, -2.0]),
        (pa.decimal128(5, 2), [Decimal("-1.00"), Decimal("-2.00")]),
    ],
)
def test_numbers_are_negative_and_texts_say_what_they_are(kind, expected):
    assert make_identifiers("id", kind, 2).to_pylist() == expected


def test_a_later_batch_goes_on_where_the_one_before_ended():
    first, second = (make_identifiers("id", pa.string(), 2, start) for start in (0, 2))
    assert second.to_pylist() == ["synthetic-3", "synthetic-4"]
    assert not set(first.to_pylist()) & set(second.to_pylist())


@pytest.mark.parametrize(("kind", "most"), [(pa.int8(), 127), (pa.uint8(), 255)])
def test_a_type_that_holds_too_few_numbers_is_named(kind, most):
    assert len(set(make_identifiers("id", kind, most).to_pylist())) == most
    with pytest.raises(DataError, match=rf"'id' is stored as {kind}, which holds no {most + 1}"):
        make_identifiers("id", kind, most + 1)


def test_no_rows_need_no_identifiers():
    assert len(make_identifiers("id", pa.int64(), 0)) == 0
