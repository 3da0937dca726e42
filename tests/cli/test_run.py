"""`understudy run`: the folder of a release, what may leave of it, and how it fails."""

from __future__ import annotations

import polars as pl
import pytest

from understudy import Schema, Synthesizer, write
from understudy.audit import Audit

QUICK = ("--keys", "age,sex", "--sensitive", "ill", "--measures", "quick", "--seed", "1")
INSIDE = ["audit.json", "model.us", "report.html", "schema.toml"]


@pytest.fixture
def run(call, people):
    def make(*options, data="people.csv"):
        return call("run", data, "-o", "out", *QUICK, *options)

    return make


def files(folder):
    return sorted(path.name for path in folder.iterdir())


class TestFolder:
    def test_the_release_and_apart_from_it_what_is_confidential(self, run, people):
        code, out, err = run("--method", "cart", "--minbucket", "9", "--target", "works")
        assert code == 0
        assert files(people / "out") == ["README.md", "confidential", "synthetic.csv"]
        inside = people / "out" / "confidential"
        assert files(inside) == INSIDE
        assert inside.stat().st_mode & 0o077 == 0
        model = Synthesizer.load(inside / "model.us")
        assert model.minbucket == 9
        assert pl.read_csv(people / "out" / "synthetic.csv").equals(model.sample())
        assert Schema.load(inside / "schema.toml") == model.schema_
        found = Audit.from_json(inside / "audit.json")
        (release,) = found.findings.releases
        assert (release.name, release.method) == ("out/synthetic.csv", "Cart(minbucket=9)")
        assert release.strong is not None
        assert found.findings.target == "works"
        assert found.verdict.headline in out
        assert "Wrote out/synthetic.csv: the synthetic table (cart, seed 1)." in err
        assert "Wrote out/confidential/model.us: the model, as confidential as the data." in err
        assert not list(people.glob(".*"))

    def test_the_readme_may_leave(self, run, people):
        run("--method", "bayes", "--protect", "ill:works", "--seed", "987654321")
        text = (people / "out" / "README.md").read_text()
        assert "| `synthetic.csv` | may leave" in text
        for name in INSIDE:
            assert f"| `confidential/{name}` | **must stay**" in text
        assert "All links of `ill` to other columns were cut, except to `works`" in text
        level = Audit.from_json(people / "out" / "confidential" / "audit.json").verdict.level
        assert f"The risk found by these attacks: **{level}**." in text
        assert "987654321" not in text  # with the seed, the draws could be repeated
        assert "%" not in text  # no figure of the original

    def test_copies_are_several_syntheses(self, run, people):
        code, _, _ = run("--copies", "2", "--rows", "30")
        assert code == 0
        out = people / "out"
        assert files(out) == ["README.md", "confidential", "synthetic-1.csv", "synthetic-2.csv"]
        (release,) = Audit.from_json(out / "confidential" / "audit.json").findings.releases
        assert (release.syntheses, release.rows) == (2, 30)

    def test_the_format_is_that_of_the_data(self, run, people):
        table = pl.read_csv(people / "people.csv")
        write(table, people / "p.parquet")
        assert run(data="p.parquet")[0] == 0
        assert pl.read_parquet(people / "out" / "synthetic.parquet").schema == table.schema
        (people / "p.csv").write_text(table.write_csv(separator=";"))
        assert run("--force", data="p.csv")[0] == 0
        assert files(people / "out") == ["README.md", "confidential", "synthetic.csv"]
        assert (people / "out" / "synthetic.csv").read_text().startswith("age;sex;ill;works\n")

    def test_schema_settings_and_dropped_columns(self, run, people):
        Schema.infer(pl.read_csv(people / "people.csv")).save(people / "s.toml")
        (people / "cart.toml").write_text("minbucket = 20\n")
        code, _, _ = run(
            "--method", "cart", "--schema", "s.toml", "--settings", "cart.toml", "--drop", "works"
        )
        assert code == 0
        assert pl.read_csv(people / "out" / "synthetic.csv").columns == ["age", "sex", "ill"]
        model = Synthesizer.load(people / "out" / "confidential" / "model.us")
        assert model.minbucket == 20

    def test_columns_that_are_kept_are_named(self, run, people):
        run("--method", "cart", "--keep", "sex")
        assert "values of `sex` are those of the original" in (people / "out/README.md").read_text()


class TestGate:
    def test_what_fails_is_put_with_what_must_stay(self, run, people):
        code, _, err = run("--fail-if", "gcap.gain < 1")
        assert code == 1
        assert "gcap.gain is" in err
        assert files(people / "out") == ["README.md", "confidential"]
        assert files(people / "out" / "confidential") == sorted([*INSIDE, "synthetic.csv"])
        text = (people / "out" / "README.md").read_text()
        assert "This release failed its gate. Nothing in this folder may leave." in text
        assert "| may leave" not in text
        assert "Wrote out/confidential/synthetic.csv: a synthetic table that failed" in err
        assert run("--force")[0] == 0
        assert files(people / "out" / "confidential") == INSIDE

    def test_what_passes(self, run, people):
        code, _, err = run("--fail-if", "gcap.gain > 1")
        assert (code, "Gate passed: 1 of 1 checks." in err) == (0, True)
        assert "failed" not in (people / "out" / "README.md").read_text()

    @pytest.mark.usefixtures("people")
    def test_a_mistake(self, refused):
        options = ("-o", "out", *QUICK, "--fail-if", "gcap.gan > 1")
        refused("run", "people.csv", *options, says="Did you mean 'gcap.gain'?")


class TestMistakes:
    @pytest.mark.usefixtures("people")
    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (("--keys", "agee"), "'agee' is not a column. Did you mean 'age'?"),
            (("--target", "work"), "'work' is not a column. Did you mean 'works'?"),
            (("--parents", "2"), "--parents cannot be used with --method independent."),
            (("--protect", "ill"), "--protect must be SENSITIVE:TARGET"),
            (("-o", "no/out"), "There is no folder no"),
            (("-o", "people.csv"), "people.csv is in people.csv, which would be replaced"),
            (("-o", "model.us"), "model.us already exists and is not a folder"),
            (("--schema", "s.toml"), "There is no file s.toml"),
        ],
    )
    def test_one_message_and_nothing_written(self, refused, options, says):
        refused("run", "people.csv", "-o", "out", *QUICK, *options, says=says)

    def test_a_folder_that_is_there_stays_unless_forced(self, run, people, content):
        run("--seed", "1")
        before = content(people)
        code, _, err = run("--seed", "2")
        assert (code, "out already exists" in err) == (2, True)
        assert content(people) == before
        assert run("--seed", "2", "--force")[0] == 0
        assert content(people) != before
        assert set(content(people)) == set(before)

    @pytest.mark.parametrize(
        "name",
        [
            "thesis.docx",
            "report.html",
            "synthetic-1-notes.csv",
            "confidential/notes.txt",
            "confidential/README.md",
        ],
    )
    def test_a_folder_with_other_things_is_never_replaced(self, run, people, content, name):
        run()
        (people / "out" / name).write_text("precious")
        before = content(people)
        code, _, err = run("--force")
        assert (code, f"out holds '{name}'" in err) == (2, True)
        assert content(people) == before

    def test_a_folder_that_holds_the_data_is_never_replaced(self, call, run, people, content):
        run()
        before = content(people)
        code, _, err = call("run", "out/synthetic.csv", "-o", "out", *QUICK, "--force")
        assert (code, "out/synthetic.csv is in out, which would be replaced" in err) == (2, True)
        assert content(people) == before

    @pytest.mark.parametrize(
        "place",
        [
            "understudy.synthesis.independent.Independent._fit",
            "understudy.audit.run._assembled",
            "understudy.report.page.render_report",
            "understudy.cli.release_folder.readme",
        ],
    )
    @pytest.mark.parametrize("earlier", [False, True])
    def test_an_interrupt_leaves_all_as_it_was(
        self, run, people, content, monkeypatch, place, earlier
    ):
        if earlier:
            run()
        before = content(people)

        def interrupt(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(place, interrupt)
        assert run("--force")[0] == 130
        assert content(people) == before
