"""What went wrong is told without values."""

from __future__ import annotations

import pytest

from understudy.audit.failures import failure_text
from understudy.errors import DataError, ParameterError, SchemaError

COLUMNS = ["age", "it's"]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (DataError("Column 'age' holds texts."), "Column 'age' holds texts."),
        (DataError("The model's columns 'age' and 'x'"), "The model's columns 'age' and '…'"),
        (ParameterError('"it\'s" is not "Smith".'), "\"it's\" is not '…'."),
        (DataError("1,473 records, not 1,000."), "1,473 records, not 1,000."),
        (DataError("the largest is 1234.5."), "the largest is …."),
        (
            SchemaError("The table cannot be coded:", ["'Smith' is no level", "42 neither"]),
            "The table cannot be coded (2 problems).",
        ),
        (
            ZeroDivisionError("Smith"),
            "ZeroDivisionError (the text is not shown, for it may hold values of the data)",
        ),
    ],
)  # fmt: skip
def test_what_is_told(error, text):
    assert failure_text(error, COLUMNS) == text
