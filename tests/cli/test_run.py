"""`understudy run`: the folder of a release, what may leave of it, and how it fails."""

from __future__ import annotations

import html
import operator
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import make_people
from understudy import Cart, Schema, Synthesizer, write
from understudy.audit import Audit, audit
from understudy.audit.json_form import to_document
from understudy.audit.limits import Limits
from understudy.cli.release_folder import Release, readme
from understudy.data import hold_out

QUICK = ("--keys", "age,sex", "--sensitive", "ill", "--measures", "quick", "--seed", "1")
INSIDE = ["audit.json", "kept-back.txt", "model.us", "report.html", "schema.toml"]


@pytest.fixture
def run(call, people):
    def make(*options, data="people.csv"):
        return call("run", data, "-o", "out", *QUICK, *options)

    return make


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("kept") / "out"


@pytest.fixture
def released(run, people, kept):
    """Put the release of default settings in its folder, which is made once for all tests."""
    if not kept.exists():
        assert run()[0] == 0
        shutil.copytree(people / "out", kept)
    else:
        shutil.copytree(kept, people / "out")
    return people / "out"


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
        assert found.verdict.headline in " ".join(out.split())
        assert "Wrote out/synthetic.csv: the synthetic table (cart, seed 1)." in err
        assert "Wrote out/confidential/model.us: the model, as confidential as the data." in err
        assert not list(people.glob(".*"))

    def test_the_readme_says_what_the_verdict_says(self, run, people):
        run("--method", "bayes", "--protect", "ill:works", "--seed", "987654321")
        text = (people / "out" / "README.md").read_text()
        for name in INSIDE:
            assert f"| `confidential/{name}` | **must stay**" in text
        assert "All links of `ill` to other columns were cut, except to `works`" in text
        level = Audit.from_json(people / "out" / "confidential" / "audit.json").verdict.level
        assert f"The risk found by these attacks: **{level}**." in text
        assert "987654321" not in text  # with the seed, the draws could be repeated
        assert "%" not in text  # no figure of the original

    @pytest.mark.parametrize(
        ("level", "says"),
        [
            ("low", "may leave, if the person responsible for the original agrees"),
            ("raised", "may leave only if the person responsible for the original accepts"),
            ("high", "**should not leave the building**: the risk is high"),
            ("not measured", "**should not leave before more is measured**"),
        ],
    )
    def test_what_may_leave_depends_on_the_verdict(self, released, level, says):
        inside = released / "confidential"
        found = Audit.from_json(inside / "audit.json")
        verdict = replace(found.verdict, level=level)
        judged = SimpleNamespace(findings=found.findings, verdict=verdict)
        model = Synthesizer.load(inside / "model.us")
        made = Release(model, 30, judged, kept_back=False, final=False, failed=False)
        text = readme(made, ["synthetic.csv"])
        assert f"The risk found by these attacks: **{level}**." in text
        assert f"| `synthetic.csv` | {says}" in text
        assert f"| `README.md` | {says}" in text
        assert "| What does it tell the strongest attacker? | **" in text
        top = text.split("## ", maxsplit=1)[0]
        assert ("This release should not leave the building" in top) == (level == "high")
        assert ("that you pass on" in text) == (level != "high")

    @pytest.mark.parametrize(
        ("level", "says"),
        [
            ("low", "confidential table, not taken from it."),
            ("raised", "Some may be records of that table"),
            ("high", "Records of that table, or nearly the same ones, are among them."),
            ("not measured", "Whether records of that table are among them could not be told."),
        ],
    )
    def test_where_the_records_come_from_depends_on_the_answer(self, released, level, says):
        inside = released / "confidential"
        found = Audit.from_json(inside / "audit.json")
        (own,) = found.verdict.releases
        answers = {**own.answers, "records": replace(own.answers["records"], level=level)}
        verdict = replace(found.verdict, releases=(replace(own, answers=answers),))
        findings = replace(found.findings, limits=Limits(power=0.5))
        judged = SimpleNamespace(findings=findings, verdict=verdict)
        model = Synthesizer.load(inside / "model.us")
        made = Release(model, 30, judged, kept_back=False, final=False, failed=False)
        text = readme(made, ["synthetic.csv"])
        assert says in text
        assert ("not taken from it" in text) == (level == "low")
        assert "limits of your own: power is 0.5" in text
        if level == "not measured":
            assert "What was not measured does not count as passed." in text

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


class TestHoldout:
    """Records that are kept back: who, what they are for, and the release from everybody."""

    @pytest.fixture
    def made(self, run, people):
        def make(*options):
            code, out, err = run("--method", "cart", *options)
            assert code == 0, err
            inside = people / "out" / "confidential"
            found = Audit.from_json(inside / "audit.json")
            return found, Synthesizer.load(inside / "model.us"), out, err

        return make

    @pytest.fixture
    def parts(self, people):
        return hold_out(pl.read_csv(people / "people.csv"), 0.2, by="ill", random_state=1)

    def same(self, model, table, people):
        """Tell whether the model, and the table that was written, are of these records."""
        twin = Cart(random_state=1).fit(table)
        written = pl.read_csv(people / "out" / "synthetic.csv")
        return model.n_rows_ == len(table) and written.equals(twin.sample())

    def told(self, findings):
        """Return what is said of the releases, but for how long models took, and who drew them."""
        not_alike = ("description_seconds", "generation_seconds", "drawn")
        releases = to_document(findings)["findings"]["releases"]
        return [{k: v for k, v in one.items() if k not in not_alike} for one in releases]

    def test_a_fifth_is_kept_back_as_control_and_for_the_prediction(self, made, parts, people):
        found, model, out, _ = made("--target", "works", "--measures", "standard")
        assert self.same(model, parts.kept, people)
        assert found.findings.rows == 96
        (release,) = found.findings.releases
        twin = audit(
            parts.kept,
            model.sample(),
            keys=["age", "sex"],
            sensitive="ill",
            control=parts.held_out,
            measures="quick",
            random_state=0,
        )
        expected = twin.findings.releases[0].figure("gcap")
        assert release.figure("gcap").control == expected.control
        assert release.figure("gcap").synthetic == expected.synthetic
        predicted = release.utility.prediction
        assert predicted.held_out == "24 real records that the synthesis did not use"
        assert not predicted.note
        (note,) = found.findings.notes
        assert note == (
            "24 of 120 records (20%) were kept back, drawn at random with 'ill' spread alike. They "
            "are the control records of every attack, and predictions are tested on them. The "
            "synthesis saw only the other 96."
        )
        assert note in " ".join(out.split())
        page = (people / "out" / "confidential" / "report.html").read_text()
        assert note in html.unescape(page)
        readme = (people / "out" / "README.md").read_text()
        assert "96 rows" in readme
        assert "Some of the original's records were kept back" in readme
        assert "The release was made from the others." in readme

    def test_the_release_is_audited_again_with_the_same_records(self, made, call, people):
        found, _, _, _ = made()
        inside = "out/confidential"
        code, told, err = call(
            *("audit", "people.csv", "out/synthetic.csv", *QUICK[:-2], "--json", "again.json"),
            *("--kept-back", f"{inside}/kept-back.txt", "--model", f"{inside}/model.us"),
        )
        assert code == 0, err
        again = Audit.from_json(people / "again.json").findings
        assert operator.eq(*map(self.told, (found.findings, again)))
        assert again.notes[0].startswith("24 of 120 records (20%) were kept back")
        # A new release must not be made from records that are to be its control.
        assert "understudy run people.csv" in told
        assert "understudy synth" not in told

    @pytest.mark.parametrize(
        ("content", "more", "says"),
        [
            ("120\n", (), "does not fit the original, which has 120 rows"),
            ("", (), "does not fit the original"),
            ("one\n", (), "should name a row of the original in each line"),
            ("1\n", ("--control", "release.csv"), "--control and --kept-back exclude each other"),
        ],
    )
    def test_other_records_cannot_be_kept_back(self, refused, people, content, more, says):
        (people / "back.txt").write_text(content)
        options = (*QUICK, "--kept-back", "back.txt", *more)
        refused("audit", "people.csv", "release.csv", *options, says=says)

    def test_none(self, made, people):
        found, model, out, _ = made("--holdout", "0")
        assert self.same(model, pl.read_csv(people / "people.csv"), people)
        assert (found.findings.rows, found.findings.notes) == (120, ())
        assert np.isnan(found.findings.releases[0].figure("gcap").control)
        assert "kept back" not in out + (people / "out" / "README.md").read_text()
        assert not (people / "out" / "confidential" / "kept-back.txt").exists()

    def test_the_share_is_chosen(self, made):
        found, model, _, _ = made("--holdout", "0.5")
        assert (found.findings.rows, model.n_rows_) == (60, 60)

    def test_final_is_made_from_everybody_with_the_same_settings(self, made, parts, people):
        part, _, _, _ = made()
        (people / "part").mkdir()
        (people / "out").rename(people / "part" / "out")
        found, model, out, err = made("--final")
        everybody = pl.read_csv(people / "people.csv")
        assert self.same(model, everybody, people)
        saved = Schema.load(people / "out" / "confidential" / "schema.toml")
        assert saved == Schema.infer(everybody)
        # The audit is that of the release from a part of the records.
        assert found.findings.rows == len(parts.kept)
        assert operator.eq(*map(self.told, (part.findings, found.findings)))
        assert found.findings.notes[:1] == part.findings.notes
        note = found.findings.notes[1]
        assert note == (
            "The final release was made afterwards from all 120 records, with the same settings "
            "and seed. This audit is of the release from 96 of them, which was not kept. The final "
            "release was not audited itself."
        )
        assert note in " ".join(out.split())
        again = [line for line in out.splitlines() if line.startswith("    understudy run ")]
        assert again
        assert all(" --final " in line for line in again)
        assert note in (people / "out/confidential/report.html").read_text()
        readme = (people / "out" / "README.md").read_text()
        assert "120 rows" in readme
        assert "understudy attacked **another release, made with the same settings" in readme
        assert "was made afterwards, from all records." in readme
        assert "the synthetic table, made from all records (cart, seed 1)." in err

    def test_final_copies_rows_schema_and_dropped_columns(self, made, people):
        Schema.infer(pl.read_csv(people / "people.csv")).save(people / "s.toml")
        _, model, _, _ = made(
            "--final", "--copies", "2", "--rows", "30", "--schema", "s.toml", "--drop", "works"
        )
        twin = Cart(random_state=1).fit(pl.read_csv(people / "people.csv").drop("works"))
        for copy, table in enumerate(twin.sample(30, copies=2), 1):
            assert pl.read_csv(people / "out" / f"synthetic-{copy}.csv").equals(table)
        assert model.n_rows_ == 120

    def test_final_is_not_made_if_the_gate_fails(self, run, people, parts):
        code, _, err = run("--final", "--fail-if", "gcap.gain < 1")
        assert (code, "The release was not made anew: it failed its gate." in err) == (1, True)
        model = Synthesizer.load(people / "out" / "confidential" / "model.us")
        assert model.n_rows_ == len(parts.kept)
        found = Audit.from_json(people / "out" / "confidential" / "audit.json")
        assert len(found.findings.notes) == 1

    def test_final_without_records_kept_back_is_told(self, made):
        _, model, _, err = made("--final", "--holdout", "0")
        assert "The release was not made anew: no records were kept back." in err
        assert model.n_rows_ == 120

    def test_control_records_that_are_given_take_their_place(self, made, people):
        fresh = make_people().with_columns(pl.col("age") + 1)
        fresh.write_csv(people / "new.csv")
        found, model, _, _ = made("--control", "new.csv")
        assert model.n_rows_ == 120
        assert found.findings.notes == ()
        assert not np.isnan(found.findings.releases[0].figure("gcap").control)

    @pytest.mark.slow
    def test_test_records_that_are_given_stay_those_of_the_prediction(self, made, people):
        make_people()[:50].write_csv(people / "new.csv")
        found, _, _, _ = made("--test", "new.csv", "--target", "works", "--measures", "standard")
        (release,) = found.findings.releases
        assert release.utility.prediction.held_out.startswith("50 real records")
        assert "predictions" not in found.findings.notes[0]
        assert not np.isnan(release.figure("gcap").control)

    def test_too_few_records(self, call, people):
        make_people()[:40].write_csv(people / "few.csv")
        code, out, _ = call("run", "few.csv", "-o", "out", *QUICK)
        found = Audit.from_json(people / "out" / "confidential" / "audit.json")
        note = (
            "No records were kept back: 20% of 40 records are 8, and fewer than 10 say too little."
        )
        assert (code, found.findings.notes) == (0, (note,))
        assert note in out

    def test_rows_are_those_of_the_file(self, made, people):
        found, _, _, _ = made("--show-records")
        everybody = pl.read_csv(people / "people.csv")
        worst = found.findings.releases[0].worst
        assert worst
        assert max(record.record for record in worst) >= 96  # else this could not fail
        for record in worst:
            row = everybody.row(record.record, named=True)
            assert record.values == {name: str(row[name]) for name in ("age", "sex", "ill")}

    def test_a_policy_names_the_column(self, call, people):
        (people / "policy.toml").write_text(
            '[audit]\nkeys = ["age", "sex"]\nsensitive = "ill"\nmeasures = "quick"\n'
            '[gate]\nfail_if = ["gcap.control > 1"]\n'
        )
        code, _, err = call("run", "people.csv", "-o", "out", "--policy", "policy.toml")
        assert (code, "Gate passed: 1 of 1 checks." in err) == (0, True)


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
            (("--keys", "agee"), "has no column 'agee'. Did you mean 'age'?"),
            (("--target", "work"), "has no column 'work'. Did you mean 'works'?"),
            (
                ("--method", "independent", "--parents", "2"),
                "--parents cannot be used with --method independent.",
            ),
            (("--protect", "ill"), "--protect must be SENSITIVE:TARGET"),
            (("-o", "no/out"), "There is no folder no"),
            (("-o", "people.csv"), "people.csv is in people.csv, which would be replaced"),
            (("-o", "model.us"), "model.us already exists and is not a folder"),
            (("--schema", "s.toml"), "There is no file s.toml"),
            (("--holdout", "0.6"), "less than or equal to 0.5"),
            (("--holdout", "-0.1"), "greater than or equal to 0"),
            (
                ("--holdout", "0.1", "--control", "release.csv"),
                "--control and --holdout exclude each other",
            ),
        ],
    )
    def test_one_message_and_nothing_written(self, refused, options, says):
        refused("run", "people.csv", "-o", "out", *QUICK, *options, says=says)

    @pytest.mark.usefixtures("released")
    def test_a_folder_that_is_there_stays_unless_forced(self, run, people, content):
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
    def test_a_folder_with_other_things_is_never_replaced(
        self, run, people, released, content, name
    ):
        (released / name).write_text("precious")
        before = content(people)
        code, _, err = run("--force")
        assert (code, f"out holds '{name}'" in err) == (2, True)
        assert content(people) == before

    @pytest.mark.usefixtures("released")
    def test_a_folder_that_holds_the_data_is_never_replaced(self, call, people, content):
        before = content(people)
        code, _, err = call("run", "out/synthetic.csv", "-o", "out", *QUICK, "--force")
        assert (code, "out/synthetic.csv is in out, which would be replaced" in err) == (2, True)
        assert content(people) == before

    @pytest.mark.parametrize(
        "place",
        [
            "understudy.synthesis.bayes.model.BayesNet._fit",
            "understudy.audit.measuring._assembled",
            "understudy.report.page.render_report",
            "understudy.cli.release_folder.readme",
        ],
    )
    @pytest.mark.parametrize("earlier", [False, True])
    def test_an_interrupt_leaves_all_as_it_was(
        self, request, run, people, content, monkeypatch, place, earlier
    ):
        if earlier:
            request.getfixturevalue("released")
        before = content(people)

        def interrupt(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(place, interrupt)
        assert run("--force")[0] == 130
        assert content(people) == before
