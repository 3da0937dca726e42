"""The policy file: what it holds, and that all its problems are told at once."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path

import pytest

from understudy.audit.findings import Figure, Findings, ReleaseFindings
from understudy.audit.gate import Condition
from understudy.audit.limits import NAMES, Limits
from understudy.audit.policy import Policy, load_policy, read_policy
from understudy.errors import ParameterError

WHOLE = """
[gate]
fail_if = ["gcap.gain > 5%", "[cart] strong.certain > 0"]
missing = "ignore"

[audit]
keys = ["age", "sex"]
sensitive = "income"
target = "job"
known = 1
measures = "quick"
"""


def saved(folder, text):
    path = folder / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_whole_policy(tmp_path):
    path = saved(tmp_path, WHOLE)
    assert load_policy(path) == Policy(
        conditions=(
            Condition("gcap.gain", ">", 0.05),
            Condition("strong.certain", ">", 0.0, "cart"),
        ),
        missing="ignore",
        keys=("age", "sex"),
        sensitive="income",
        target="job",
        known=1,
        measures="quick",
        source=str(path),
    )


def test_either_table_is_optional(tmp_path):
    assert load_policy(saved(tmp_path, '[audit]\nsensitive = "a"')).missing == "fail"
    with pytest.raises(ParameterError, match="empty and would let everything pass"):
        load_policy(str(saved(tmp_path, "")))


@pytest.mark.parametrize(
    ("table", "fields", "message"),
    [
        ("gate", {"fail_if": []}, "has no condition and would let everything pass"),
        ("gate", {"missing": "fail"}, "has no condition"),
        ("gate", {"fail_if": "gcap.gain > 0"}, "fail_if must be a list of conditions"),
        ("gate", {"fail_if": ["gcap.gian > 0"]}, "fail_if: .*Did you mean 'gcap.gain'"),
        ("gate", {"fail_if": [5]}, "fail_if: 5 is not a condition"),
        (
            "gate",
            {"fail_if": ["gcap.gain > 0"], "missing": "pass"},
            "missing must be one of fail, ign",
        ),
        (
            "gate",
            {"fail_if": ["gcap.gain > 0"], "missing": []},
            "missing must be one of fail, ignore",
        ),
        ("gate", {"failif": []}, r"no field 'failif' in \[gate\].*Did you mean 'fail_if'"),
        ("audit", {"keys": "age"}, "keys must be a list of columns; got 'age'"),
        ("audit", {"keys": []}, "keys must be a list of columns"),
        ("audit", {"keys": ["age", 3]}, "keys must be a list of columns"),
        ("audit", {"keys": ["age", "age"]}, "'age' is named twice"),
        ("audit", {"keys": ["age"], "sensitive": "age"}, "both a key and the sensitive"),
        ("audit", {"keys": ["age"], "known": 2}, "known is 2, but there are 1 keys"),
        ("audit", {"known": 0}, "known must be a whole number from 1; got 0"),
        ("audit", {"known": True}, "known must be a whole number from 1; got True"),
        ("audit", {"sensitive": ""}, "sensitive must be the name of a column"),
        ("audit", {"target": ["a"]}, "target must be the name of a column"),
        (
            "audit",
            {"measures": "most"},
            "measures must be one of quick, standard, full; got 'most'",
        ),
        ("audit", {"measures": ["full"]}, "measures must be one of quick, standard, full"),
        ("audit", {"unit": ""}, "unit must be what a record is about"),
        ("audit", {"sensitve": "a"}, r"in \[audit\].*Did you mean 'sensitive'"),
        ("limits", {"powr": 0.1}, "no limit 'powr'.*Did you mean 'power'"),
        ("limits", {"power": "0.1"}, "power must be a number from 0; got '0.1'"),
        ("limits", {"power": True}, "power must be a number from 0; got True"),
        ("limits", {"chance": -0.1}, "chance must be a number from 0; got -0.1"),
        ("limits", {"chance": float("nan")}, "chance must be a number from 0; got nan"),
        ("limits", {"doubled_bits": float("inf")}, "doubled_bits must be a number from 0; got inf"),
        ("limits", {"chance": 0}, "chance must be more than 0: no evidence rules out all chance"),
        ("limits", {"sure": 0.0}, "sure must be more than 0"),
        ("limits", {"enough_to_copy": 2.5}, "enough_to_copy is a number of records; got 2.5"),
        ("limits", {"power": 5}, "power is a share from 0 to 1; got 5. For 5%, write 0.05."),
        (
            "gates",
            {},
            "no table 'gates' in a policy; it has gate, audit, limits. Did you mean 'gate'",
        ),
    ],
)
def test_what_cannot_be_used(table, fields, message):
    with pytest.raises(ParameterError, match=message):
        read_policy({table: fields})


def test_a_table_that_is_none():
    with pytest.raises(ParameterError, match=r"gate must be a table, \[gate\]; got gate = 5"):
        read_policy({"gate": 5})


def test_all_problems_are_told_at_once(tmp_path):
    path = saved(tmp_path, '[gate]\nfail_if = ["x", "gcap > 0"]\n[audit]\nknown = -1\nkeyz = 1')
    with pytest.raises(ParameterError) as caught:
        load_policy(path)
    text = str(caught.value)
    assert text.startswith(f"{path} cannot be used:\n  - ")
    for part in ("'x' is not a condition", "several figures", "known must be", "keyz"):
        assert part in text
    assert text.count("\n") == 4


@pytest.mark.parametrize(
    ("content", "message"), [(b"[gate", "is not a TOML file"), (b"\xff\xfe", "is not a TOML file")]
)
def test_a_file_that_cannot_be_read(tmp_path, content, message):
    path = tmp_path / "policy.toml"
    path.write_bytes(content)
    with pytest.raises(ParameterError, match=message):
        load_policy(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ParameterError, match="There is no file"):
        load_policy(tmp_path / "policy.toml")
    with pytest.raises(ParameterError, match="cannot be opened"):
        load_policy(tmp_path)


def test_a_policy_holds_releases_against_its_conditions():
    release = ReleaseFindings("cart", "", 1, 9, (Figure("gcap", "", "", gain=0.25),))
    audit = Findings("1", "", 1.0, 0, "", "quick", 9, 2, (), None, "", "", (release,))
    gate = {"fail_if": ["gcap.gain > 0.05", "vote.gain > 0.05"]}
    assert len(read_policy({"gate": gate}).check(audit).failed) == 2
    ignoring = read_policy({"gate": gate | {"missing": "ignore"}}).check(audit)
    assert (len(ignoring.failed), ignoring.ignored) == (1, 1)


@pytest.mark.parametrize("name", NAMES)
def test_each_limit_can_be_set_and_none_lets_everything_pass(name):
    value = 30 if name == "enough_to_copy" else 0.5
    assert getattr(read_policy({"limits": {name: value}}).limits, name) == value
    for wrong in (float("nan"), float("inf"), -1):
        with pytest.raises(ParameterError, match=f"{name} must be a number from 0"):
            Limits(**{name: wrong})


def test_the_page_lists_each_limit_with_its_default():
    page = (Path(__file__).parents[2] / "docs/howto/audit.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \| ([0-9.]+) \|", page, re.MULTILINE)
    assert {name: float(value) for name, value in listed} == asdict(Limits())
    assert [name for name, _ in listed] == list(NAMES)
