"""Findings as JSON: the same values come back, in the form that the schema describes."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from understudy import Cart
from understudy.audit import Audit, audit
from understudy.audit.findings import Figure, Findings, ReleaseFindings
from understudy.audit.json_form import PATH, json_schema, to_document
from understudy.errors import DataError


@pytest.fixture(scope="module")
def found(people):
    model = Cart(random_state=1).fit(people)
    return audit(
        people, {"tree": [model.sample(random_state=seed) for seed in (2, 3)], "copy": people},
        keys=["age", "sex"], sensitive="ill", model={"tree": model}, measures="quick",
        random_state=1, show_records=True,
    )  # fmt: skip


def test_what_is_written_comes_back(found, tmp_path):
    path = tmp_path / "audit.json"
    text = found.to_json(path)
    for source in (text, path, str(path)):
        again = Audit.from_json(source)
        assert again == found
        assert again.to_json() == text
    assert type(again.findings.releases[0].subsets[0].keys) is tuple
    assert again.findings.releases[1].strong is None
    assert math.isnan(again.findings.releases[1].figure("repu").baseline)


def test_the_verdict_is_there_for_programs(found):
    document = json.loads(found.to_json())
    told, verdict = document["verdict"], found.verdict
    assert (told["level"], told["headline"]) == (verdict.level, verdict.headline)
    assert [one["name"] for one in told["releases"]] == ["tree", "copy"]
    for plain, judged in zip(told["releases"], verdict.releases, strict=True):
        assert plain["level"] == judged.level
        assert list(plain["answers"]) == ["records", "ordinary", "strongest"]
        for question, answer in judged.answers.items():
            assert plain["answers"][question]["level"] == answer.level
            assert plain["answers"][question]["sentence"] == answer.sentence
        assert [one["action"] for one in plain["advice"]] == [one.action for one in judged.advice]
    assert told["releases"][1]["answers"]["records"]["level"] == "high"
    assert told["releases"][0]["advice"][0]["parameters"]


def test_a_verdict_in_the_document_is_not_believed(found):
    document = json.loads(found.to_json())
    document["verdict"] = {"level": "low"}
    again = Audit.from_json(json.dumps(document))
    assert again == found
    assert again.verdict.level == found.verdict.level != "low"


def test_a_document_of_version_1_is_read_and_written_as_version_2():
    path = Path(__file__).with_name("audit-version-1.json")
    old = json.loads(path.read_text(encoding="utf-8"))
    assert old["format_version"] == 1
    assert "verdict" not in old
    found = Audit.from_json(path)
    assert found.releases == ("networks", "copy")
    assert (found.findings.unit, found.findings.notes) == ("records", ())
    assert found.verdict.releases[1].level == "high"
    assert found.to_html()
    new = json.loads(found.to_json())
    assert new["format_version"] == 2
    assert new["verdict"]["releases"][1]["answers"]["records"]["level"] == "high"
    jsonschema.validate(new, json_schema())
    held = new["findings"]
    assert {name: held[name] for name in old["findings"] if name != "releases"} == {
        name: value for name, value in old["findings"].items() if name != "releases"
    }
    assert Audit.from_json(found.to_json()) == found


def test_another_value_is_another_audit(found):
    other = Audit(replace(found.findings, seed=2))
    assert other != found
    assert found != "audit"


def test_undefined_and_infinite_values_come_back():
    figure = Figure("x", "X", "", baseline=math.nan, synthetic=math.inf, gain=-math.inf)
    findings = Findings(
        "1", "", 0.0, 1, "", "quick", 1, 1, ("k",), None, "s", "",
        (ReleaseFindings("r", "", 1, 1, figures=(figure,), errors={"disclosure": "no"}),),
    )  # fmt: skip
    plain = to_document(findings)["findings"]["releases"][0]["figures"][0]
    assert (plain["baseline"], plain["synthetic"], plain["gain"]) == (None, "infinity", "-infinity")
    again = Audit.from_json(Audit(findings).to_json())
    assert again == Audit(findings)
    back = again.findings.releases[0].figures[0]
    assert math.isnan(back.baseline)
    assert (back.synthetic, back.gain) == (math.inf, -math.inf)
    jsonschema.validate(to_document(findings), json_schema())


def test_the_schema_in_the_package_is_that_of_the_findings(found):
    schema = json.loads(PATH.read_text(encoding="utf-8"))
    assert schema == json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(found.to_json()), schema)


@pytest.mark.parametrize(
    "change",
    [
        {"format": "understudy attack"},
        {"format_version": 1},
        {"more": 1},
        {"findings": {}},
    ],
)
def test_the_schema_refuses_what_is_no_audit(found, change):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(found.to_json()) | change, json_schema())


def test_every_field_is_checked(found):
    document = json.loads(found.to_json())
    document["findings"]["releases"][0]["figures"][0]["gain"] = "much"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, json_schema())
    with pytest.raises(DataError, match=r"findings.releases\[0\].figures\[0\].gain"):
        Audit.from_json(json.dumps(document))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a JSON document"),
        ("[1]", "does not hold an audit"),
        ('{"a": 1}', "does not hold an audit"),
        ('{"format": "understudy attack"}', "It says that it is 'understudy attack'"),
        ('{"format": "understudy audit"}', "format version None"),
        ('{"format": "understudy audit", "format_version": true}', "format version True"),
        ('{"format": "understudy audit", "format_version": 3}', "version 3.*reads 1 and 2"),
        ('{"format": "understudy audit", "format_version": 2}', "findings should have fields"),
        (
            '{"format": "understudy audit", "format_version": 1, "findings": {}}',
            "findings lacks 'version'",
        ),
    ],
)
def test_other_documents_are_refused(text, message, tmp_path):
    with pytest.raises(DataError, match=message):
        Audit.from_json(text)
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(DataError, match=f"other.json: .*{message}"):
        Audit.from_json(path)


def test_unknown_fields_and_wrong_types_are_refused(found):
    document = json.loads(found.to_json())
    for change, message in [
        ({"more": 1}, "unknown field 'more'"),
        ({"rows": True}, "findings.rows"),
        ({"keys": "age"}, "findings.keys"),
        ({"releases": [1]}, r"findings.releases\[0\] should have fields"),
    ]:
        with pytest.raises(DataError, match=message):
            Audit.from_json(json.dumps(document | {"findings": document["findings"] | change}))


def test_files_that_cannot_be_read_are_told(tmp_path):
    with pytest.raises(DataError, match="There is no file"):
        Audit.from_json(tmp_path / "none.json")
    with pytest.raises(DataError, match="cannot be opened"):
        Audit.from_json(tmp_path)
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(DataError, match="not text in UTF-8"):
        Audit.from_json(tmp_path / "bytes.json")


def test_a_file_is_kept_unless_it_may_be_replaced(found, tmp_path):
    path = tmp_path / "audit.json"
    path.write_text("mine")
    with pytest.raises(DataError, match="already exists"):
        found.to_json(path)
    assert path.read_text() == "mine"
    found.to_json(path, overwrite=True)
    assert Audit.from_json(path) == found
    assert [one.name for one in tmp_path.iterdir()] == ["audit.json"]
