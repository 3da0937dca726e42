"""`understudy worlds`: the measures of risk, tested."""

from __future__ import annotations

import json

import pytest

from understudy.errors import ParameterError
from understudy.worlds.table import run_worlds


@pytest.mark.slow
def test_a_table_and_a_file_for_programs(call, folder):
    options = ("--seed", "1", "--releases", "2", "--no-classifiers", "--json", "w.json")
    code, out, err = call("-v", "worlds", *options)
    assert code == 0
    expected = run_worlds(1, releases=2, classifiers=False)
    content = json.loads((folder / "w.json").read_text())
    assert (content["format"], content["version"]) == ("understudy worlds", 1)
    assert content["settings"] == {"seed": 1, "releases": 2}
    found = {(one["measure"], one["about"]): one for one in content["measures"]}
    for measure, scores in expected.by_world.items():
        own = found[measure.name, measure.about]
        assert own["scores"] == {world: values.tolist() for world, values in scores.items()}
        passed = [name for name, verdict in own["verdicts"].items() if verdict["passed"]]
        assert tuple(passed) == expected.passed(measure.name, measure.about)
    assert "All five are met by: membership, record; strong attacker, record." in " ".join(
        out.split()
    )
    assert expected.failures()[0] in " ".join(err.split())


def test_an_existing_file_is_kept(call, folder):
    (folder / "w.json").write_text("precious")
    code, _, err = call("worlds", "--json", "w.json")
    assert (code, "w.json already exists" in err) == (2, True)
    assert (folder / "w.json").read_text() == "precious"


def test_one_release_is_too_few(call):
    assert call("worlds", "--releases", "1")[0] == 2
    with pytest.raises(ParameterError, match="whole number from 2"):
        run_worlds(releases=1)
