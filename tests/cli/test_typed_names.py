"""Arguments of the library become options in the messages of the command line."""

from __future__ import annotations

import logging

import pytest

from understudy.cli.typed_names import AsTyped, as_typed, option_names


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        ("Set `dates` to mdy.", "Set --dates to mdy."),
        ("known must be a whole number.", "--known must be a whole number."),
        ("keys: 'agee' is not a column.", "--keys: 'agee' is not a column."),
        ("Give its `encoding`.", "Give its --encoding."),
        ("visit_sequence: 'agee' is not a column.", "--visit: 'agee' is not a column."),
        ("random_state must be a whole number.", "random_state must be a whole number."),
        ("Choose `DPMarginals` or `Cart`.", "Choose --method marginals or --method cart."),
        ("A `Schema` stays.",) * 2,
        ("The `nothing` stays; so does missing: it is in a sentence.",) * 2,
        ("Column 'keys: a' must differ.",) * 2,
    ],
)
def test_what_is_an_option_is_written_as_one(said, typed):
    assert as_typed(said) == typed


def test_all_options_are_known():
    assert {"keys", "missing", "safe_cells", "drop_text", "group_rare"} <= option_names().keys()


def test_records_of_others_are_left_alone():
    for name, typed in (("understudy", "x: --missing"), ("polars", "x: `missing`")):
        record = logging.LogRecord(name, 30, "", 0, "%s: `missing`", ("x",), None)
        assert AsTyped().filter(record)
        assert record.getMessage() == typed
