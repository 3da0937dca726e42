"""Names in lists on the command line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.cli.options import joined_names, split_names
from understudy.errors import ParameterError

NAMES = st.text(st.sampled_from("ab,\"' =\n-é"), min_size=1).filter(
    lambda name: name == name.strip()
)


@given(st.lists(NAMES))
def test_names_are_read_as_they_are_joined(names):
    assert split_names(joined_names(names)) == names


def test_plain_names_need_no_quotes():
    assert joined_names(["age", "home town", 'the "ill"']) == 'age,home town,the "ill"'
    assert split_names(None) == split_names(" , ") == []


def test_a_line_break_outside_of_quotes_is_refused():
    with pytest.raises(ParameterError, match="is no list of names"):
        split_names("a\rb")
