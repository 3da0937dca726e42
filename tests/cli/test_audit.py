"""`understudy audit`: what it writes and says, its gate, and how it fails."""

from __future__ import annotations

import polars as pl
import pytest
import tomlkit

from understudy.audit import Audit

SCENARIO = ("--keys", "age,sex", "--sensitive", "ill")
QUICK = (*SCENARIO, "--measures", "quick")


@pytest.fixture
def audit(call, people):
    def run(*options, files=("release.csv",)):
        return call("audit", "people.csv", *files, *options)

    return run


@pytest.fixture
def refused_audit(refused, people):
    def check(*options, says):
        refused("audit", "people.csv", "release.csv", *options, says=says)

    return check


class TestNotices:
    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (("--target", "ill"), "The target 'ill' is also the sensitive column"),
            (("--target", "works"), "The target 'works' has no effect: the quick measures predict"),
            (
                ("--target", "works", "--test", "people.csv"),
                "The target 'works' has no effect, and neither have the test records",
            ),
            (("--classifiers", "papers"), "The choice of classifiers has no effect"),
            (("--known", "2"), "To say how many keys are known has no effect"),
        ],
    )
    def test_what_has_no_effect_is_said(self, audit, people, options, says):
        code, out, _ = audit(*QUICK, *options, "--json", "a.json")
        assert (code, says in " ".join(out.split())) == (0, True)
        assert any(says in note for note in Audit.from_json(people / "a.json").findings.notes)

    def test_nothing_is_said_where_nothing_is_amiss(self, audit, people):
        _, _, err = audit(*QUICK, "--classifiers", "none", "--json", "a.json")
        assert "effect" not in err
        assert Audit.from_json(people / "a.json").findings.notes == ()


class TestResults:
    def test_a_verdict_a_report_and_a_file_for_programs(self, audit, people):
        code, out, err = audit(*QUICK, "--model", "model.us", "-o", "r.html", "--json", "a.json")
        assert code == 0
        found = Audit.from_json(people / "a.json")
        (release,) = found.findings.releases
        assert release.name == "release.csv"
        assert release.method == "BayesNet()"
        assert found.verdict.headline in " ".join(out.split())
        row = next(line for line in out.splitlines() if line.startswith("│ GCAP "))
        gcap = release.figure("gcap")
        for share in (gcap.baseline, gcap.synthetic, gcap.original):
            assert f"{100 * share:.2f}%" in row
        for advice in found.verdict.releases[0].advice:
            assert f"- {advice.sentences}" in out
        assert "\n    understudy audit " in out
        assert "Wrote r.html: the report" in err
        assert "Wrote a.json: all findings" in err
        assert found.verdict.headline.split(":")[0] in (people / "r.html").read_text()

    def test_what_was_typed_is_on_record(self, audit, people):
        audit(*QUICK, "--json", "my audit.json")
        assert Audit.from_json(people / "my audit.json").findings.command == (
            "understudy audit people.csv release.csv --keys age,sex --sensitive ill "
            "--measures quick --json 'my audit.json'"
        )

    def test_the_options_reach_the_audit(self, audit, monkeypatch):
        seen = {}

        def record(original, synthetic, **options):
            seen.update(options, rows=len(original), releases=synthetic)
            raise KeyboardInterrupt

        monkeypatch.setattr("understudy.audit.run.audit", record)
        audit(
            *SCENARIO, "--target", "works", "--known", "1", "--control", "release.csv", "--test",
            "people.csv", "--groups", "age=3", "--seed", "7", "--show-records",
            files=("release.csv", "people.csv"),
        )  # fmt: skip
        assert (seen["target"], seen["known"], seen["groups"]) == ("works", 1, {"age": 3})
        assert (seen["random_state"], seen["show_records"]) == (7, True)
        assert seen["measures"] == "standard"
        assert seen["classifiers"] == "strong"
        assert seen["control"].equals(seen["releases"]["synthetic"][0])
        assert seen["test"].equals(seen["releases"]["synthetic"][1])

    @pytest.mark.parametrize("command", ["audit", "compare", "run"])
    @pytest.mark.parametrize(("word", "preset"), [("papers", "papers"), ("none", None)])
    @pytest.mark.usefixtures("people")
    def test_which_classifiers_attack(self, call, monkeypatch, command, word, preset):
        seen = {}

        def record(*_, **options):
            seen.update(options)
            raise KeyboardInterrupt

        monkeypatch.setattr("understudy.audit.run.audit", record)
        more = ["-o", "out"] if command == "run" else ["release.csv"]
        call(command, "people.csv", *more, *SCENARIO, "--classifiers", word)
        assert seen["classifiers"] == preset

    def test_several_files_are_syntheses_by_one_method(self, audit, people):
        code, _, _ = audit(*QUICK, "--json", "a.json", files=("release.csv", "people.csv"))
        assert code == 0
        (release,) = Audit.from_json(people / "a.json").findings.releases
        assert (release.name, release.syntheses) == ("synthetic", 2)

    def test_a_scenario_file(self, audit, people):
        (people / "s.toml").write_text('keys = ["age", "sex"]\nsensitive = "ill"\nknown = 1\n')
        code, out, _ = audit("--scenario", "s.toml", "--measures", "quick")
        assert code == 0
        assert "knows 1 of the 2 keys 'age' and 'sex'" in out

    def test_values_of_records_only_if_asked_for(self, audit, people):
        _, _, hidden = audit(*QUICK, "--json", "a.json")
        _, _, shown = audit(*QUICK, "--json", "b.json", "--show-records")
        assert not Audit.from_json(people / "a.json").shows_records
        assert Audit.from_json(people / "b.json").shows_records
        assert "values of original records" not in hidden
        assert "It shows values of original records." in shown

    def test_pictures(self, audit, people):
        code, _, err = audit(*QUICK, "--png", "charts")
        assert code == 0
        made = list((people / "charts").iterdir())
        assert f"Wrote charts: {len(made)} pictures." in err
        assert all(path.read_bytes().startswith(b"\x89PNG") for path in made)
        assert made

    def test_quiet_says_nothing_but_writes(self, call, people):
        found = call("-q", "audit", "people.csv", "release.csv", *QUICK, "--json", "a.json")
        assert found == (0, "", "")
        assert (people / "a.json").exists()


class TestGate:
    def test_it_passes(self, audit):
        code, _, err = audit(*QUICK, "--fail-if", "gcap.gain > 1", "--fail-if", "icap.gain > 100%")
        assert (code, "Gate passed: 2 of 2 checks." in err) == (0, True)

    def test_it_fails_with_measure_value_and_limit(self, audit, people):
        code, _, err = audit(
            *QUICK, "--fail-if", "gcap.gain > 1", "--fail-if", "gcap.synthetic >= 0.25", "--json",
            "a.json", "-o", "r.html",
        )  # fmt: skip
        value = Audit.from_json(people / "a.json").findings.releases[0].figure("gcap").synthetic
        assert code == 1
        assert "Gate failed: 1 of 2 checks." in err
        assert f"gcap.synthetic is {value:.6g}; the gate fails if it is >= 0.25" in err
        assert (people / "r.html").exists()

    @pytest.mark.usefixtures("people")
    def test_it_fails_aloud_even_if_quiet(self, call):
        code, out, err = call(
            "-q", "audit", "people.csv", "release.csv", *QUICK, "--fail-if", "gcap.gain < 1"
        )
        assert (code, out) == (1, "")
        assert "Gate failed: 1 of 1 checks." in err

    def test_what_was_not_measured_fails(self, audit):
        code, _, err = audit(*QUICK, "--fail-if", "strong.certain > 0")
        assert (code, "strong.certain was not measured" in err) == (1, True)

    def test_one_release_by_its_name(self, audit):
        assert audit(*QUICK, "--fail-if", "[release.csv] gcap.gain < 1")[0] == 1

    @pytest.mark.parametrize(
        ("condition", "says"),
        [
            ("gcap.gan > 0.05", "There is no figure 'gcap.gan'. Did you mean 'gcap.gain'?"),
            ("gcap.gain", "is not a condition"),
            ("gcap.gain > __import__('os')", "is not a condition"),
            ("gcap.gain > 0.05 or 1", "is not a condition"),
            ("", "is not a condition"),
            ("[relese.csv] gcap.gain > 0", "there is no release 'relese.csv'; there is release."),
        ],
    )
    def test_a_mistake_is_no_failure_of_the_gate(self, refused_audit, condition, says):
        refused_audit(*QUICK, "-o", "r.html", "--fail-if", condition, says=says)

    def test_a_mistake_is_told_before_any_work(self, refused_audit, monkeypatch):
        monkeypatch.setattr("understudy.cli.options.Csv.read", pytest.fail)
        refused_audit(*QUICK, "--fail-if", "[x] gcap.gain > 0", says="there is no release 'x'")


class TestPolicy:
    @pytest.fixture
    def policy(self, people):
        def save(**tables):
            (people / "policy.toml").write_text(tomlkit.dumps(tables))
            return ("--policy", "policy.toml")

        return save

    def test_it_says_what_to_audit_and_when_to_fail(self, audit, policy, people):
        options = policy(
            gate={"fail_if": ["gcap.gain < 1"]},
            audit={
                "keys": ["age", "sex"],
                "sensitive": "ill",
                "known": 1,
                "target": "works",
                "measures": "quick",
            },
        )
        code, _, err = audit(*options, "--json", "a.json")
        assert (code, "gcap.gain is" in err) == (1, True)
        found = Audit.from_json(people / "a.json").findings
        assert (found.keys, found.sensitive, found.known) == (("age", "sex"), "ill", 1)
        assert (found.target, found.measures) == ("works", "quick")

    def test_options_count_more_and_conditions_add_up(self, audit, policy, people):
        options = policy(
            gate={"fail_if": ["gcap.gain > 1", "strong.certain > 0"], "missing": "ignore"},
            audit={"keys": ["age", "sex", "works"], "sensitive": "ill", "known": 3},
        )
        code, _, err = audit(
            *options, "--keys", "age", "--measures", "quick", "--fail-if", "icap.gain > 1",
            "--json", "a.json",
        )  # fmt: skip
        assert (code, "2 of 3 checks; 1 not measured and ignored" in err) == (0, True)
        found = Audit.from_json(people / "a.json").findings
        assert (found.keys, found.known) == (("age",), None)

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            ("gate = [", "policy.toml is not a TOML file"),
            ("[gat]", "There is no table 'gat' in a policy"),
            ("[gate]\nfail_if = []", "The gate has no condition"),
            ('[gate]\nfail_if = ["gcap.gan > 0"]', "Did you mean 'gcap.gain'?"),
        ],
    )
    def test_a_policy_that_cannot_be_used(self, refused_audit, people, content, says):
        (people / "policy.toml").write_text(content)
        refused_audit(*QUICK, "--policy", "policy.toml", says=says)

    def test_a_policy_that_is_not_there(self, refused_audit):
        refused_audit(*QUICK, "--policy", "policy.toml", says="There is no file policy.toml.")


class TestMistakes:
    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (("--sensitive", "il"), "has no column 'il'. Did you mean 'ill'?"),
            (("--keys", "agee"), "keys: 'agee' is not a column. Did you mean 'age'?"),
            (("--keys", "agee", "--sensitive", "ill"), "has no column 'agee'. Did you mean 'age'?"),
            (("--keys", "ill", "--sensitive", "ill"), "both a key and the sensitive attribute"),
            ((*QUICK, "--known", "3"), "known must be a whole number from 1 to 2"),
            ((*QUICK, "--known", "0"), "Invalid value for"),
            ((*QUICK, "--target", "work"), "has no column 'work'. Did you mean 'works'?"),
            ((*QUICK, "--test", "people.csv"), "--test needs --target"),
            ((*QUICK, "--groups", "age"), "--groups must be COLUMN=NUMBER"),
            ((*SCENARIO, "--measures", "quik"), "Invalid value for"),
            ((*QUICK, "--scenario", "s.toml"), "--scenario replaces --keys"),
            ((*QUICK, "--model", "people.csv"), "not a model of understudy"),
            ((*QUICK, "--control", "nobody.csv"), "There is no file nobody.csv"),
        ],
    )
    def test_one_message_and_nothing_written(self, refused_audit, options, says):
        refused_audit(*options, "-o", "r.html", "--json", "a.json", says=says)

    @pytest.mark.parametrize(
        ("option", "says"),
        [
            (("-o", "old.html"), "old.html already exists"),
            (("--json", "old.html"), "old.html already exists"),
            (("-o", "report.txt"), "report.txt should end in .html"),
            (("-o", "no/r.html"), "There is no folder no"),
            (("--json", "people.csv", "--force"), "people.csv is already an input"),
            (("--json", "r.html", "-o", "r.html"), "r.html is already an input or output"),
            (("--png", "old"), "old already exists"),
            (("--png", "old", "--force"), "old holds 'letter.txt', which does not belong there"),
            (("--png", "."), "people.csv is in ., which would be replaced"),
            (("--png", "old.html"), "is not a folder"),
            (("--png", "no/charts"), "There is no folder no"),
        ],
    )
    def test_outputs_are_checked_before_any_work(
        self, refused_audit, people, monkeypatch, option, says
    ):
        (people / "old.html").write_text("precious")
        (people / "old").mkdir()
        (people / "old" / "letter.txt").write_text("precious")
        monkeypatch.setattr("understudy.cli.options.Csv.read", pytest.fail)
        refused_audit(*QUICK, *option, says=says)

    def test_force_replaces_what_is_ours(self, audit, people):
        (people / "old.html").write_text("old")
        (people / "old").mkdir()
        (people / "old" / "chart.png").write_text("old")
        code, _, _ = audit(*QUICK, "-o", "old.html", "--png", "old", "--force")
        assert code == 0
        assert (people / "old.html").read_text().lstrip().startswith("<!doctype")
        assert not (people / "old" / "chart.png").exists()
        assert not list(people.glob(".*"))

    @pytest.mark.parametrize(
        ("place", "outputs"),
        [
            ("understudy.audit.measuring._assembled", ("-o", "r.html", "--json", "a.json")),
            ("understudy.report.page.render_report", ("-o", "r.html", "--json", "a.json")),
            ("vl_convert.vegalite_to_png", ("--png", "charts")),
        ],
    )
    def test_an_interrupt_leaves_nothing(self, audit, people, content, monkeypatch, place, outputs):
        def interrupt(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(place, interrupt)
        before = content(people)
        code, _, _ = audit(*QUICK, *outputs)
        assert code == 130
        assert content(people) == before

    def test_inputs_are_never_written(self, audit, people, content):
        before = content(people)
        audit(*QUICK, "--control", "people.csv", "--model", "model.us", "-o", "r.html")
        after = content(people)
        assert after.pop("r.html")
        assert after == before


class TestEveryColumn:
    """Without a sensitive column, every column is tried."""

    def test_in_the_terminal_the_report_and_the_document(self, audit, people):
        _, out, _ = audit("--measures", "quick", "-o", "r.html", "--json", "a.json")
        assert "Which column gives records away?" in out
        assert "No sensitive column was named" in " ".join(out.split())
        found = Audit.from_json(people / "a.json").findings
        assert {one.column for one in found.releases[0].ranking} == {"age", "sex", "ill", "works"}
        assert {*found.keys, found.sensitive} == {"age", "sex", "ill", "works"}
        assert "Which column gives records away?" in (people / "r.html").read_text()

    def test_with_keys(self, audit, people):
        audit("--keys", "age,sex", "--measures", "quick", "--json", "a.json")
        found = Audit.from_json(people / "a.json").findings
        assert found.keys == ("age", "sex")
        assert {one.column for one in found.releases[0].ranking} == {"ill", "works"}

    def test_run_and_compare(self, call, people):
        code, *_ = call("run", "people.csv", "-o", "out", "--measures", "quick", "--method", "cart")
        assert code == 0
        found = Audit.from_json(people / "out" / "confidential" / "audit.json").findings
        assert found.releases[0].ranking
        assert any("were kept back, drawn at random. " in note for note in found.notes)
        code, *_ = call(
            "compare", "people.csv", "--methods", "independent,cart", "--measures", "quick",
            "--json", "c.json",
        )  # fmt: skip
        assert code == 0
        several = Audit.from_json(people / "c.json").findings.releases
        assert all(release.ranking for release in several)


class TestUnit:
    """What a record is about has a name."""

    def test_records_unless_something_is_said(self, audit):
        out = " ".join(audit(*QUICK)[1].split())
        assert "Are original records in it?" in out
        assert "people" not in out.replace("people.csv", "")

    def test_the_name_is_used_and_kept(self, audit, people):
        _, out, _ = audit(*QUICK, "--unit", "flights", "--json", "a.json", "-o", "r.html")
        assert "Are the original's flights in it?" in " ".join(out.split())
        assert "--unit-name flights" in out  # the advice repeats it
        assert Audit.from_json(people / "a.json").findings.unit == "flights"
        assert "flights in it?" in (people / "r.html").read_text()

    def test_in_a_policy(self, audit, people):
        (people / "p.toml").write_text('[audit]\nunit = "people"\n')
        out = " ".join(audit(*QUICK, "--policy", "p.toml")[1].split())
        assert "Are people's records in it?" in out

    def test_what_is_no_unit(self, refused_audit):
        refused_audit(*QUICK, "--unit", "child/", says="unit must say what a record is about")


class TestLevels:
    """The gate compares levels of the verdict as words."""

    def test_they_fail_and_say_what_decided(self, audit):
        code, _, err = audit(*QUICK, "--fail-if", "strongest = not measured")
        assert code == 1
        assert "strongest is not measured; the gate fails if it is called not measured." in err

    def test_in_a_policy(self, audit, people):
        (people / "p.toml").write_text('[gate]\nfail_if = ["verdict > low"]\n')
        code, _, err = audit(*QUICK, "--policy", "p.toml")
        assert (code, "the gate fails if it is > low" in err) == (1, True)

    def test_an_unknown_level_names_the_four(self, refused_audit):
        says = "one of low, not measured, raised, high (the most serious last); got 'medium'"
        refused_audit(*QUICK, "--fail-if", "verdict >= medium", says=says)


def test_no_warning_about_keys_that_nobody_named(call, people):
    table = pl.read_csv(people / "people.csv").with_columns(
        weight=pl.int_range(pl.len()).cast(pl.Float64) / 7 + 50
    )
    table.write_csv(people / "wide.csv")
    code, _, err = call("audit", "wide.csv", "wide.csv", "--measures", "quick")
    assert code == 0
    assert "different values" not in err
    # Whoever names it is warned.
    code, _, err = call("audit", "wide.csv", "wide.csv", "--measures", "quick", "--keys", "weight")
    assert "The key 'weight' has 120 different values" in err


@pytest.mark.usefixtures("people")
def test_the_unit_is_in_the_ranking(call):
    code, out, _ = call(
        *("run", "people.csv", "-o", "out", "--method", "cart", "--measures", "quick"),
        *("--unit", "flights", "--seed", "1"),
    )
    assert code == 0
    assert "Which column gives flights away?" in out
    words = out.partition("Which column")[2].partition("Share of")[0]
    assert "people" not in words
