"""Parameters from a TOML file, beside those given directly."""

from __future__ import annotations

import pytest

from understudy import BayesNet, Cart, Independent
from understudy.errors import ParameterError
from understudy.synthesis.settings import Settings, settings_of


def test_single_columns_count_more_than_all_and_what_is_given_more_than_the_file(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        "minbucket = 10\ncp = 0.1\n[columns.age]\nminbucket = 50\nsmoothing = 'density'"
    )
    settings = Settings.load(path)
    assert settings.parameters(Cart, {}) == {
        "minbucket": {"*": 10, "age": 50},
        "cp": 0.1,
        "smoothing": {"age": "density"},
    }
    given = settings.parameters(Cart, {"minbucket": 75, "cp": 0.2})
    assert given["minbucket"] == {"*": 75, "age": 50}
    assert given["cp"] == 0.2


def test_both_forms_of_single_columns_may_be_used_together():
    settings = Settings({"minbucket": {"age": 3, "sex": 4}}, {"age": {"minbucket": 9}})
    assert settings.parameters(Cart, {})["minbucket"] == {"age": 9, "sex": 4}


def test_any_method_takes_its_own_parameters():
    settings = Settings({"parents": 2, "order": ["a", "b"]})
    assert settings.parameters(BayesNet, {}) == {"parents": 2, "order": ["a", "b"]}
    with pytest.raises(ParameterError, match=r"Independent has no parameter 'parents'"):
        settings.parameters(Independent, {})


def test_methods_without_parameters_for_single_columns_say_so():
    with pytest.raises(ParameterError, match=r"'decode' cannot be set .* that can: none"):
        Settings({}, {"age": {"decode": "uniform"}}).parameters(Independent, {})


def test_a_folder_or_bytes_are_no_settings(tmp_path):
    with pytest.raises(ParameterError, match="cannot be opened"):
        Settings.load(tmp_path)
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ParameterError, match="is not a TOML file"):
        Settings.load(tmp_path / "b.toml")


def test_settings_for_all_for_some_and_for_the_others():
    assert settings_of(7, "ab", 5, "minbucket") == {"a": 7, "b": 7}
    assert settings_of({"a": 9}, "ab", 5, "minbucket") == {"a": 9, "b": 5}
    assert settings_of({"a": 9, "*": 2}, "ab", 5, "minbucket") == {"a": 9, "b": 2}
    # A column may itself be called "*".
    assert settings_of({"*": 2}, ["a", "*"], 5, "minbucket") == {"a": 2, "*": 2}
    with pytest.raises(ParameterError, match=r"minbucket: 'agee' is not .* Did you mean 'age'"):
        settings_of({"agee": 2}, ["age"], 5, "minbucket")
