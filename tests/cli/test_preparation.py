"""How the columns are read, and rare levels, from the command line: shown, changed, recorded."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import make_people
from understudy import Schema, Synthesizer, write
from understudy.audit import Audit
from understudy.cli.preparation import Preparation, option_for, read_kinds
from understudy.data.column_remarks import Remark
from understudy.errors import ParameterError

pytestmark = pytest.mark.usefixtures("table")

TITLE = "How the columns were read"
TOWNS = ["Ulm"] * 60 + ["Bonn"] * 50 + ["Ems", "Rom", "Kiel", "Linz", "Graz", "Metz"] + ["Pau"] * 4


@pytest.fixture
def table(folder):
    """Write people with a town that few share, a number for each, and times that all differ."""
    rng = np.random.default_rng(5)
    made = make_people().with_columns(
        town=pl.Series(rng.permutation(TOWNS)),
        person=pl.Series([f"K-{n:05}" for n in rng.choice(10**5, 120, replace=False)]),
        survival=pl.Series(rng.permutation(np.cumsum(np.arange(1, 121)))),
    )
    write(made, folder / "people.csv")
    return made


class TestDecisions:
    def test_schema_shows_what_columns_were_taken_for_and_the_option_that_changes_it(self, call):
        code, out, err = call("schema", "people.csv", "-o", "s.toml")
        assert code == 0
        assert TITLE in err
        assert out == ""
        assert "values replaced: all 120 differ, and they look like codes" in err
        assert "--kind person=categorical" in err
        assert "--kind survival=identifier" in err
        assert "6 of 9 levels occur once" in err
        assert err.index("person") < err.index("survival") < err.index("town") < err.index("works")
        assert not [town for town in set(TOWNS) if town in err]

    def test_on_standard_output_is_the_schema_alone(self, call, table):
        _, out, err = call("schema", "people.csv")
        assert Schema.from_toml(out).names == tuple(table.columns)
        assert TITLE in err

    def test_synth_shows_it_before_text_is_refused(self, call, table, folder):
        write(
            table.with_columns(note=pl.Series([f"it was day {n} of it" for n in range(120)])),
            folder / "people.csv",
            overwrite=True,
        )
        code, _, err = call("synth", "people.csv", "-o", "out.csv")
        assert code == 2
        assert err.index("--drop note") < err.index("looks like free text")

    def test_run_shows_it_and_the_report_has_it(self, call, folder):
        code, _, err = call(
            "run", "people.csv", "-o", "out", "--keys", "age,sex", "--sensitive", "ill",
            "--measures", "quick", "--seed", "1",
        )  # fmt: skip
        assert code == 0
        assert TITLE in err
        report = (folder / "out" / "confidential" / "report.html").read_text()
        assert TITLE in report
        assert "kind = &#34;categorical&#34;" in report
        readings = Audit.from_json(folder / "out" / "confidential" / "audit.json").findings.readings
        assert readings[0].columns == ("person",)

    @pytest.mark.parametrize(
        "command",
        [("schema", "people.csv", "-o", "s.toml"), ("synth", "people.csv", "-o", "o.csv")],
    )
    def test_quiet_shows_nothing(self, call, command):
        assert call("-q", *command) == (0, "", "")


class TestKind:
    def test_it_decides_without_a_schema(self, call, table, folder):
        call("synth", "people.csv", "-o", "out.csv", "--kind", "survival=identifier",
             "--kind", "age=categorical", "--save-model", "m.us")  # fmt: skip
        schema = Synthesizer.load(folder / "m.us").schema_
        assert (schema["survival"].kind, schema["age"].kind) == ("identifier", "categorical")
        made = pl.read_csv(folder / "out.csv")["survival"]
        assert not set(made) & set(table["survival"])

    def test_it_decides_over_a_schema_and_keeps_roles(self, call, folder):
        call("schema", "people.csv", "-o", "s.toml", "--keys", "age,town")
        code, _, _ = call(
            "synth", "people.csv", "-o", "out.csv", "--schema", "s.toml", "--kind", "age=real",
            "--kind", "person=text", "--save-model", "m.us", "--drop", "person",
        )  # fmt: skip
        assert code == 2  # it is dropped and described
        code, _, _ = call(
            "synth", "people.csv", "-o", "out.csv", "--schema", "s.toml", "--kind", "age=real",
            "--save-model", "m.us",
        )  # fmt: skip
        schema = Synthesizer.load(folder / "m.us").schema_
        assert (code, schema["age"].kind, schema["age"].role) == (0, "real", "key")

    def test_it_is_written_to_the_schema(self, call, folder):
        call("schema", "people.csv", "-o", "s.toml", "--kind", "survival=identifier")
        assert Schema.load(folder / "s.toml")["survival"].kind == "identifier"

    @pytest.mark.parametrize(
        ("given", "says"),
        [
            (["age"], "--kind must be COLUMN=KIND, such as survival=real; got 'age'"),
            (["age="], "--kind must be COLUMN=KIND"),
            (["age=real", "age=integer"], "--kind names 'age' twice"),
            (["aeg=real"], "'aeg' is not a column. Did you mean 'age'?"),
            (["age=reel"], "got 'reel'. Did you mean 'real'?"),
            (["sex=real"], "Column 'sex' holds text, which cannot be read as real"),
        ],
    )
    def test_mistakes_are_one_message(self, refused, given, says):
        options = [word for text in given for word in ("--kind", text)]
        refused("synth", "people.csv", "-o", "out.csv", *options, says=says)
        refused("schema", "people.csv", "-o", "out.toml", *options, says=says)

    def test_what_to_type_is_quoted(self):
        drop = Remark("refused", "", "", "drop")
        assert option_for(drop, ["a,b c"]) == "--drop '\"a,b c\"'"
        assert option_for(drop, ["a", "b"]) == "--drop a,b"
        kind = Remark("codes", "", "", "kind", "categorical")
        assert option_for(kind, ["a", "b"]) == "--kind COLUMN=categorical"
        word = Remark("words", "", "", "missing", "k. A.")
        assert option_for(word, ["a"]) == "--missing 'k. A.'"
        assert option_for(Remark("special", "", "special = []"), ["a"]) == "special = []"

    def test_a_name_may_hold_the_sign(self):
        assert read_kinds(["a=b=real"]) == {"a=b": "real"}
        with pytest.raises(ParameterError, match="COLUMN=KIND"):
            read_kinds(["=real"])


class TestGroupRare:
    def test_rare_levels_become_one(self, call, folder):
        code, _, err = call(
            "synth", "people.csv", "-o", "out.csv", "--group-rare", "5", "--seed", "1"
        )
        assert code == 0
        assert "Grouped levels of fewer than 5 records: 7 levels of 'town' as 'other'." in err
        assert set(pl.read_csv(folder / "out.csv")["town"]) == {"Ulm", "Bonn", "other"}

    def test_with_a_schema_that_lists_the_levels(self, call, folder):
        call("schema", "people.csv", "-o", "s.toml")
        code, _, _ = call(
            "synth", "people.csv", "-o", "out.csv", "--schema", "s.toml", "--group-rare", "5"
        )
        assert code == 0
        assert set(pl.read_csv(folder / "out.csv")["town"]) <= {"Ulm", "Bonn", "other"}

    def test_none_is_said(self, call):
        _, _, err = call(
            "synth", "people.csv", "-o", "o.csv", "--group-rare", "2", "--drop", "town"
        )
        assert "No level has fewer than 2 records" in err

    def test_a_stream_is_grouped_batch_by_batch(self, call, folder):
        asked = ("--method", "independent", "--seed", "1", "--group-rare", "5")
        assert call("synth", "people.csv", "-o", "whole.csv", *asked)[0] == 0
        code, _, err = call("synth", "people.csv", "-o", "out.csv", "--stream", *asked)
        assert code == 0
        assert "7 levels of 'town' as 'other'." in err
        assert (folder / "out.csv").read_bytes() == (folder / "whole.csv").read_bytes()

    def test_run_records_it_and_advice_repeats_it(self, call, folder):
        code, out, _ = call(
            "run", "people.csv", "-o", "out", "--keys", "age,town", "--sensitive", "ill",
            "--measures", "quick", "--seed", "1", "--group-rare", "5", "--kind", "age=real",
            "--method", "cart", "--final",
        )  # fmt: skip
        assert code == 0
        readme = (folder / "out" / "README.md").read_text()
        assert "Grouped levels of fewer than 5 records: 'town' as 'other'." in readme
        found = Audit.from_json(folder / "out" / "confidential" / "audit.json").findings
        assert any("compares with the original grouped alike" in note for note in found.notes)
        assert "--group-rare 5" in found.command
        advised = [line for line in out.splitlines() if "understudy run" in line]
        assert advised
        assert all("--kind age=real --group-rare 5" in line for line in advised)
        assert set(pl.read_csv(folder / "out" / "synthetic.csv")["town"]) <= {
            "Ulm",
            "Bonn",
            "other",
        }

    def test_the_plain_original_can_still_be_compared(self, call):
        call("synth", "people.csv", "-o", "o.csv", "--group-rare", "5", "--save-model", "m.us")
        code, _, _ = call(
            "audit", "people.csv", "o.csv", "--keys", "age,town", "--sensitive", "ill",
            "--measures", "quick",
        )  # fmt: skip
        assert code == 0

    def test_compare_synthesizes_with_it(self, call, table, folder):
        write(table.head(100), folder / "other.csv")
        scenario = ("--keys", "age,town", "--sensitive", "ill", "--measures", "quick")
        code, out, _ = call(
            "compare", "people.csv", "x=other.csv", "--methods", "independent", "--group-rare", "5",
            *scenario,
        )  # fmt: skip
        assert code == 0
        assert "understudy run" not in out or "--group-rare 5" in out
        code, _, err = call("compare", "people.csv", "other.csv", "--group-rare", "5", *scenario)
        assert code == 2
        assert "--group-rare needs --methods or --method." in err

    def test_free_text_is_explained_and_can_be_left_out(self, call, folder, table):
        letters = "abcdefghij"
        notes = [
            "moved" if row % 3 == 0 else "".join(letters[int(one)] for one in str(row * 7919))
            for row in range(table.height)
        ]
        write(table.with_columns(note=pl.Series(notes)), folder / "notes.csv")
        code, _, err = call("synth", "notes.csv", "-o", "o.csv", "--method", "independent")
        assert code == 2
        assert "--drop-text" in err
        assert "--kind COLUMN=identifier" in " ".join(err.split())
        for more in ((), ("--stream",)):
            code, _, err = call(
                "synth", "notes.csv", "-o", f"o{len(more)}.csv", "--method", "independent",
                "--drop-text", *more,
            )  # fmt: skip
            assert code == 0
            assert "Left out, because free text is refused: 'note'." in err
            assert "note" not in pl.read_csv(folder / f"o{len(more)}.csv").columns

    def test_words(self):
        given = Preparation(kind=["a=real"], group_rare=5, drop_text=True)
        assert given.words() == ["--kind", "a=real", "--group-rare", "5", "--drop-text"]
        assert Preparation().words() == []


class TestDependencies:
    @pytest.fixture
    def homes(self, folder):
        """Write a table in which one column is the sum of two others."""
        rng = np.random.default_rng(1)
        made = pl.DataFrame({"rent": rng.integers(300, 900, 200), "heat": rng.integers(9, 90, 200)})
        write(made.with_columns(total=pl.col("rent") + pl.col("heat")), folder / "homes.csv")

    @pytest.mark.usefixtures("homes")
    def test_they_are_shown_and_written_unless_switched_off(self, call, folder):
        _, _, err = call("schema", "homes.csv", "-o", "s.toml")
        assert "is 'rent' + 'heat'" in " ".join(err.split())
        assert len(Schema.load(folder / "s.toml").dependencies) == 1
        _, _, err = call("schema", "homes.csv", "-o", "t.toml", "--no-dependencies")
        assert "is 'rent'" not in err
        assert Schema.load(folder / "t.toml").dependencies == ()

    @pytest.mark.usefixtures("homes")
    def test_a_synthesis_keeps_them_unless_switched_off(self, call, folder):
        def kept(*words):
            call("synth", "homes.csv", "-o", "z.csv", "--seed", "1", "--force", *words)
            drawn = pl.read_csv(folder / "z.csv")
            return float((drawn["total"] == drawn["rent"] + drawn["heat"]).mean())

        call("schema", "homes.csv", "-o", "s.toml")
        assert kept() == kept("--schema", "s.toml") == 1
        assert kept("--no-dependencies") == kept("--schema", "s.toml", "--no-dependencies") < 0.5
        text = (folder / "s.toml").read_text("utf-8")
        (folder / "s.toml").write_text(text.replace("keep = true", "keep = false"), "utf-8")
        assert kept("--schema", "s.toml") < 0.5
        assert Preparation(dependencies=False).words() == ["--no-dependencies"]
