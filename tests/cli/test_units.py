"""Units on the command line: `--unit-id` and `--unit-name` of every command that has them."""

import json

import numpy as np
import polars as pl
import pytest

from understudy import Schema, Synthesizer, write
from understudy.audit import Audit

QUICK = ("--keys", "sex,age", "--sensitive", "ill", "--measures", "quick", "--seed", "1")
ID = ("--unit-id", "household")


def make_homes(units=80, seed=1):
    """Make households with one to four people."""
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(units), rng.integers(1, 5, units))
    size = len(home)
    return pl.DataFrame(
        {
            "household": 1000 + 3 * home,
            "rooms": rng.integers(1, 9, units)[home],
            "sex": rng.choice(["f", "m"], size),
            "age": rng.integers(1, 9, size) * 10,
            "ill": rng.choice(["no", "yes"], size),
        }
    )


@pytest.fixture
def homes(folder):
    table = make_homes()
    write(table, folder / "homes.csv")
    return table


def test_a_schema_asks_and_takes_the_answer(homes, folder, call):
    code, _, err = call("schema", "homes.csv", "-o", "s.toml")
    assert code == 0
    assert "looks like the name of a unit with several records: 80 values" in err
    assert "--unit-id household; --kind household=integer if it is none" in err
    assert Schema.load(folder / "s.toml")["household"].role == "identifier"
    code, _, err = call("schema", "homes.csv", "-o", "t.toml", *ID)
    assert code == 0
    assert "names the units: 80 in" in err
    assert "looks like" not in err
    assert Schema.load(folder / "t.toml").units == ("household",)
    assert 'role = "unit"' in (folder / "t.toml").read_text()


def test_synth_releases_no_name_of_a_unit(homes, folder, call):
    for more in ((), ID):
        code, _, _ = call(
            "synth", "homes.csv", "-o", "s.csv", "--force", "--seed", "1",
            "--save-model", "m.us", *more,
        )  # fmt: skip
        assert code == 0
        released = pl.read_csv(folder / "s.csv")["household"]
        assert set(released).isdisjoint(homes["household"])
        assert Synthesizer.load(folder / "m.us").schema_.units == (("household",) if more else ())


def test_run_keeps_whole_units_back(homes, folder, call):
    code, out, err = call(
        "run", "homes.csv", "-o", "out", *QUICK, *ID, "--unit-name", "household",
        "--method", "independent",
    )  # fmt: skip
    assert code == 0, err
    inside = folder / "out" / "confidential"
    rows = [int(line) for line in (inside / "kept-back.txt").read_text().split()]
    back = set(homes["household"][rows])
    assert len(back) == 16
    kept = homes.filter(~pl.Series(range(len(homes))).is_in(rows))
    assert back.isdisjoint(kept["household"])
    findings = Audit.from_json(inside / "audit.json").findings
    assert (findings.unit_count, findings.units.many) == (64, "households")
    assert any("16 of 80 units, with" in note for note in findings.notes)
    assert f"64 households ({len(kept)} records)" in " ".join(out.split())
    assert "--unit-id household" in out  # the advice repeats it
    # The rows that were kept back are the control units of a later audit.
    code, out, _ = call(
        "audit", "homes.csv", "out/synthetic.csv", *QUICK,
        "--kept-back", "out/confidential/kept-back.txt",
        "--model", "out/confidential/model.us", "--json", "again.json",
    )  # fmt: skip
    assert code == 0
    again = json.loads((folder / "again.json").read_text())["findings"]
    assert (again["unit_count"], again["unit_id"]) == (64, ["household"])  # from the model


def test_compare_counts_units_by_the_schema(homes, folder, call):
    call("schema", "homes.csv", "-o", "s.toml", *ID)
    code, _, err = call(
        "compare", "homes.csv", "--methods", "independent,random", "--schema", "s.toml",
        *QUICK, "--json", "c.json",
    )  # fmt: skip
    assert code == 0, err
    findings = json.loads((folder / "c.json").read_text())["findings"]
    assert (findings["unit_count"], findings["unit"]) == (64, "households")


def test_a_policy_names_the_unit(homes, folder, call):
    (folder / "p.toml").write_text('[audit]\nunit_id = ["household"]\nunit = "home"\n')
    write(make_homes(seed=2).drop("household"), folder / "s.csv")
    code, _, err = call(
        "audit", "homes.csv", "s.csv", *QUICK, "--policy", "p.toml", "--json", "a.json"
    )
    assert code == 0, err
    findings = json.loads((folder / "a.json").read_text())["findings"]
    assert (findings["unit_id"], findings["unit_count"]) == (["household"], 80)
    assert findings["unit"] == "home"


def test_control_units_that_the_synthesis_saw_are_told(homes, folder, call):
    write(make_homes(seed=2).drop("household"), folder / "s.csv")
    write(homes[:60], folder / "c.csv")
    code, _, _ = call(
        "audit", "homes.csv", "s.csv", *QUICK, *ID, "--control", "c.csv", "--json", "a.json"
    )
    assert code == 0
    notes = json.loads((folder / "a.json").read_text())["findings"]["notes"]
    assert any("are in the original too, by 'household'" in note for note in notes)


def test_mistakes(homes, refused):
    for command in (
        ("schema", "homes.csv", "-o", "s.toml"),
        ("synth", "homes.csv", "-o", "s.csv"),
        ("run", "homes.csv", "-o", "out", *QUICK),
        ("compare", "homes.csv", "--methods", "independent", *QUICK),
    ):
        refused(*command, "--unit-id", "houshold", says="Did you mean 'household'?")
    refused(
        "run", "homes.csv", "-o", "out", *QUICK, "--unit-id", "sex",
        says="cannot be a key, the sensitive column or the target",
    )  # fmt: skip


class TestAttack:
    ATTACK = ("attack", "homes.csv", "s.csv", "--seed", "1")

    @pytest.fixture(autouse=True)
    def release(self, homes, call):
        self.homes = homes
        code, _, _ = call(
            "synth", "homes.csv", "-o", "s.csv", "--save-model", "m.us", "--seed", "1",
            "--method", "independent", *ID,
        )  # fmt: skip
        assert code == 0

    def test_units_count_once(self, folder, call):
        code, out, err = call(
            *self.ATTACK, "--keys", "sex,age", "--sensitive", "ill", "--classifiers", "none",
            "--attacks", "overview,lookalikes", "--json", "a.json", *ID,
        )  # fmt: skip
        assert code == 0, err
        words = " ".join(out.split())
        assert f"80 households with {len(self.homes):,} records, 1 to 4 each" in words
        found = json.loads((folder / "a.json").read_text())
        assert found["settings"]["unit_id"] == ["household"]
        plain = json.dumps(found)
        assert '"n": 80' in plain or '"records": 80' in plain

    def test_all_records_of_a_unit_are_unknown_at_once(self, folder, call):
        strong = ("--strong", "rooms", "--strong-output", "w.csv")
        code, _, err = call(*self.ATTACK, "--model", "m.us", *strong, *ID)
        assert code == 0, err
        assert len(pl.read_csv(folder / "w.csv")) == 80
        make = ("synth", "homes.csv", "-o", "p.csv", "--save-model", "p.us", "--seed", "1", *ID)
        assert call(*make)[0] == 0
        panel = ("attack", "homes.csv", "p.csv", "--model", "p.us", "--strong", "rooms", *ID)
        code, _, err = call(*panel)
        assert code == 2
        assert "draws the records of a unit together" in err

    @pytest.mark.parametrize(
        ("more", "message"),
        [
            (("--strong", "rooms", "--model", "m.us", "--refits", "3"), "--refits"),
            (("--strong", "rooms,sex", "--model", "m.us"), "one column"),
            (("--attacks", "lookalikes", "--unit-id", "home"), "home"),
        ],
    )
    def test_what_does_not_go_together_is_said(self, call, more, message):
        named = () if "--unit-id" in more else ID
        code, _, err = call(*self.ATTACK, *more, *named)
        assert code == 2
        assert message in err
