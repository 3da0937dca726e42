"""Messages for people: every problem listed, and near misses suggested."""

from __future__ import annotations

import pytest

from understudy import errors
from understudy.errors import SchemaError, UnderstudyError, did_you_mean, unknown_columns


@pytest.mark.parametrize(
    ("name", "candidates", "hint"),
    [
        ("agee", ["age", "sex"], " Did you mean 'age'?"),
        ("AGE", ["sex", "age"], " Did you mean 'age'?"),
        ("Income", ["INCOME", "income"], " Did you mean 'INCOME'?"),  # the first of equals
        ("zip", ["age", "sex"], ""),
        ("age", [], ""),
        ("", ["age"], ""),
    ],
)
def test_the_nearest_candidate_is_suggested_whatever_its_case(name, candidates, hint):
    assert did_you_mean(name, candidates) == hint


def test_each_unknown_column_gets_a_sentence_and_known_ones_none():
    assert unknown_columns(["age", "sx", "foo"], ["age", "sex"]) == [
        "'sx' is not a column. Did you mean 'sex'?",
        "'foo' is not a column.",
    ]


def test_a_schema_error_lists_its_problems_under_its_heading():
    error = SchemaError("Two things:", ["one.", "two."])
    assert str(error) == "Two things:\n  - one.\n  - two."
    assert error.heading == "Two things:"
    assert error.problems == ("one.", "two.")


@pytest.mark.parametrize(
    ("name", "standard"),
    [
        ("DataError", ValueError),
        ("SchemaError", ValueError),
        ("ModelFileError", ValueError),
        ("ParameterError", ValueError),
        ("NotFittedError", AttributeError),
    ],
)
def test_errors_can_be_caught_as_ours_and_as_the_standard_kind(name, standard):
    assert issubclass(getattr(errors, name), (UnderstudyError, standard))
    assert issubclass(getattr(errors, name), UnderstudyError)
    assert issubclass(getattr(errors, name), standard)
