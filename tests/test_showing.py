"""What messages may show of a confidential table."""

from __future__ import annotations

import pytest

from understudy.data.values import text_to_time
from understudy.errors import DataError
from understudy.showing import SHARED_BY, may_name, reason, records_are_shown, showing_records, told


def test_nothing_is_shown_unless_it_is_asked_for_and_only_there():
    assert not records_are_shown()
    with showing_records():
        assert records_are_shown()
        with showing_records(False):
            assert not records_are_shown()
        assert records_are_shown()
    assert not records_are_shown()


def test_an_error_inside_does_not_leave_it_on():
    with pytest.raises(ValueError, match="Smith"), showing_records():
        raise ValueError("Smith")
    assert not records_are_shown()


def test_values_of_many_may_be_named():
    assert [may_name(records) for records in (0, SHARED_BY - 1, SHARED_BY)] == [False, False, True]
    with showing_records():
        assert may_name(1)


def test_texts_of_others_are_left_out():
    assert "Smith" not in reason(ValueError("Smith"))
    assert reason(ValueError("Smith")).startswith("ValueError")
    with showing_records():
        assert reason(ValueError("Smith.")) == "Smith"
        assert reason(ValueError()).startswith("ValueError")  # it has no text to show


def test_our_own_texts_are_told():
    assert told(DataError("Column 'a' is empty.")) == "Column 'a' is empty."


def caught(function, *arguments):
    with pytest.raises(Exception) as error:  # any will do
        function(*arguments)
    return error.value


def test_of_value_errors_only_those_of_this_package_that_quote_nothing():
    import pyarrow as pa

    assert "Smith" not in told(caught(float, "Smith"))
    assert "Smith" not in told(caught(text_to_time, "Smith", pa.date32()))
