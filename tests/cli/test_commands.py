"""The command line as a user meets it: what it writes, what it says, and how it fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import get_args

import polars as pl
import pytest

from understudy import Independent, Schema, Synthesizer, __version__, load, write
from understudy.cli import main
from understudy.cli.demonstration import SENSITIVE
from understudy.cli.synthesis import Method
from understudy.data import hold_out
from understudy.synthesis import METHODS

SCRIPT = Path(sys.executable).with_name("understudy")


@pytest.fixture
def survey(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Rich cuts lines at the terminal's width; the tests look for whole sentences.
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    return write(load("cmc"), tmp_path / "survey.csv")


@pytest.fixture
def run(survey, monkeypatch, capsys):
    """Run the command line with the given arguments; return its exit code, output and messages."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["understudy", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return end.value.code, captured.out, captured.err

    return call


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_every_method_has_its_name_on_the_command_line():
    assert set(get_args(Method)) == set(METHODS)


def test_version(run):
    assert run("--version")[:2] == (0, f"understudy {__version__}\n")


COMMANDS = ("schema", "synth", "show", "attack", "audit", "run", "compare", "worlds", "demo")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command_has_an_example(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"Example: understudy {command}" in out


def test_help_lists_the_commands_and_completion(run):
    code, out, _ = run("--help")
    assert code == 0
    for word in (*COMMANDS, "--install-completion", "--quiet"):
        assert word in out


def test_help_and_import_load_nothing_heavy():
    code = (
        "import sys, understudy, understudy.cli.commands\n"
        "from typer.testing import CliRunner\n"
        "heavy = {'numba', 'sklearn', 'altair', 'pandas', 'polars', 'scipy', 'pyarrow'}\n"
        f"for command in {list(COMMANDS)!r}:\n"
        "    CliRunner().invoke(understudy.cli.commands.app, [command, '--help'])\n"
        "    print(command, sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"{command} []" for command in COMMANDS]


def test_a_mistyped_column_is_told_before_the_attacks_are_loaded(survey, tmp_path):
    names = ["--keys", "agee", "--sensitive", "method"]
    asked = [
        ["audit", str(survey), str(survey)],
        ["attack", str(survey), str(survey)],
        ["run", str(survey), "-o", str(tmp_path / "out")],
        ["compare", str(survey), "--methods", "cart,bayes"],
    ]
    code = (
        "import sys, understudy.cli\n"
        f"for words in {asked!r}:\n"
        f"    sys.argv = ['understudy', *words, *{names!r}]\n"
        "    try:\n"
        "        understudy.cli.main()\n"
        "    except SystemExit as end:\n"
        "        print(end.code, sorted({'understudy.risk', 'understudy.audit.task', 'numba',\n"
        "            'understudy.synthesis', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    told = " ".join(done.stderr.split())
    assert told.count("no column 'agee'. Did you mean 'age'?") == len(asked)
    assert done.stdout.splitlines() == ["2 []"] * len(asked)


def test_a_run_imports_no_library_that_it_does_not_use(survey):
    code = (
        "import sys, understudy as u; "
        f"table = u.read({str(survey)!r}); "
        "[model.fit(table).sample() for model in (u.Independent(), u.BayesNet())]; "
        "print(sorted({'pandas', 'sklearn', 'altair', 'networkx'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_completion_is_offered():
    done = subprocess.run(
        [SCRIPT],
        env={
            "_UNDERSTUDY_COMPLETE": "complete_bash",
            "COMP_WORDS": "understudy s",
            "COMP_CWORD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["schema", "synth", "show"]


class TestSchema:
    def test_it_is_written_and_can_be_read_again(self, run, tmp_path):
        code, _, err = run(
            "schema", "survey.csv", "-o", "survey.toml", "--keys", "age, education",
            "--sensitive", "husband_education", "--target", "method",
        )  # fmt: skip
        assert code == 0
        assert "Wrote survey.toml: 10 columns" in err
        found = Schema.load(tmp_path / "survey.toml")
        assert found.keys == ("age", "education")
        assert (found.sensitive, found.targets) == (("husband_education",), ("method",))

    def test_without_output_it_is_printed(self, run, tmp_path):
        code, out, _ = run("schema", "survey.csv", "--bins", "5", "--binning", "width")
        assert code == 0
        columns = tomllib.loads(out)["column"]
        assert (columns[0]["binning"], columns[0]["bins"]) == ("width", 5)
        assert files(tmp_path) == ["survey.csv"]

    def test_a_stream_has_the_same_schema(self, run):
        whole, streamed = (run("schema", "survey.csv", *extra) for extra in ([], ["--stream"]))
        assert whole == streamed

    def test_a_mistyped_column_gets_a_suggestion(self, run, tmp_path):
        code, _, err = run("schema", "survey.csv", "-o", "x.toml", "--keys", "agee,sexx")
        assert code == 2
        assert "'agee' is not a column. Did you mean 'age'?" in err
        assert "'sexx' is not a column." in err
        assert files(tmp_path) == ["survey.csv"]


class TestSynth:
    def test_a_synthetic_file_of_the_same_form(self, run, tmp_path):
        code, out, err = run("synth", "survey.csv", "-o", "synthetic.csv", "--seed", "1")
        assert (code, out) == (0, "")
        assert "Wrote synthetic.csv: 1,473 rows x 10 columns (bayes, seed 1)." in err
        drawn, original = (
            pl.read_csv(tmp_path / f"{name}.csv") for name in ("synthetic", "survey")
        )
        assert (drawn.schema, drawn.shape) == (original.schema, original.shape)
        assert not drawn.equals(original)

    def test_the_seed_that_is_shown_gives_the_same_file(self, run, tmp_path):
        _, _, err = run("synth", "survey.csv", "-o", "a.csv")
        seed = err.split("seed ")[1].split(")")[0]
        run("synth", "survey.csv", "-o", "b.csv", "--seed", seed)
        assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()

    def test_rows_copies_model_and_parquet(self, run, tmp_path):
        code, _, _ = run(
            "synth", "survey.csv", "-o", "s.parquet", "--rows", "20", "--copies", "2",
            "--seed", "3", "--save-model", "m.us", "--method", "random",
        )  # fmt: skip
        assert code == 0
        assert files(tmp_path) == ["m.us", "s-1.parquet", "s-2.parquet", "survey.csv"]
        expected = Synthesizer.load(tmp_path / "m.us").sample(20, copies=2)
        for number, frame in enumerate(expected, 1):
            assert pl.read_parquet(tmp_path / f"s-{number}.parquet").equals(frame)

    def test_the_schema_decides(self, run, tmp_path):
        schema = Schema.infer(load("cmc")).edit("age", kind="identifier")
        schema.save(tmp_path / "s.toml")
        code, _, _ = run("synth", "survey.csv", "-o", "out.csv", "--schema", "s.toml")
        assert code == 0
        made = pl.read_csv(tmp_path / "out.csv")["age"]
        assert made.n_unique() == len(made)
        assert not set(made) & set(load("cmc")["age"])

    def test_columns_can_be_dropped_with_and_without_schema(self, run, tmp_path):
        Schema.infer(load("cmc")).save(tmp_path / "s.toml")
        for extra in ([], ["--schema", "s.toml"]):
            code, _, _ = run(
                "synth", "survey.csv", "-o", "out.csv", "--drop", "age,method", "--force", *extra
            )
            assert code == 0
            assert pl.read_csv(tmp_path / "out.csv").width == 8

    def test_a_stream_gives_the_same_file(self, run, tmp_path):
        common = ("synth", "survey.csv", "--seed", "1", "--drop", "age")
        assert run(*common, "-o", "a.csv")[0] == run(*common, "-o", "b.csv", "--stream")[0] == 0
        assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()

    def test_the_dialect_is_kept(self, run, tmp_path):
        text = "höhe;ort\n" + "1,5;Łódź\n2,5;Gdańsk\n" * 5
        (tmp_path / "d.csv").write_text(text, encoding="iso8859-2")
        code, _, _ = run("synth", "d.csv", "-o", "out.csv", "--encoding", "iso8859-2")
        assert code == 0
        lines = (tmp_path / "out.csv").read_text(encoding="iso8859-2").splitlines()
        assert lines[0] == "höhe;ort"
        assert set(lines[1:]) <= {"1,5;Łódź", "2,5;Gdańsk", "1,5;Gdańsk", "2,5;Łódź"}

    def test_quiet_says_nothing_and_verbose_says_more(self, run):
        assert run("--quiet", "synth", "survey.csv", "-o", "a.csv") == (0, "", "")
        _, _, err = run("-v", "synth", "survey.csv", "-o", "b.csv")
        assert "survey.csv: 1,473 rows x 10 columns" in err


class TestShow:
    def test_a_model(self, run):
        words = ("--method", "independent", "--ends", "1", "--save-model", "m.us")
        run("synth", "survey.csv", "-o", "s.csv", *words)
        code, out, _ = run("show", "m.us")
        assert code == 0
        assert "Independent, fitted to 1,473 records" in out
        assert "of its 60 cells rest on fewer than 5 records" in out
        assert "husband_occupation" in out

    def test_a_file_that_is_no_model(self, run):
        code, _, err = run("show", "survey.csv")
        assert (code, "not a model of understudy" in err) == (2, True)


class TestBayes:
    def test_a_protected_network_from_start_to_picture(self, run, tmp_path):
        code, _, err = run(
            "synth", "survey.csv", "-o", "s.csv", "--method", "bayes", "--structure", "genetic",
            "--parents", "3", "--generations", "30", "--protect", "husband_education:method",
            "--protect", "religion:", "--threads", "2", "--seed", "1", "--save-model", "m.us",
        )  # fmt: skip
        assert code == 0
        assert "Wrote s.csv: 1,473 rows x 10 columns (bayes, seed 1)." in err
        model = Synthesizer.load(tmp_path / "m.us")
        assert model.protect == {"husband_education": "method", "religion": None}
        assert pl.read_csv(tmp_path / "s.csv").equals(model.sample())
        code, out, err = run("show", "m.us", "--draw", "n.svg")
        assert code == 0
        shown = " ".join(out.split())
        assert "Network:" in shown
        assert "'husband_education' is protected: given 'method', it is independent" in shown
        assert "'religion' is protected: it is independent of every other column." in shown
        assert "after 30 generations" in shown
        for parent, child, bits in model.edge_information():
            assert f"{parent} ({bits:.3f})" in shown, child
        assert "<svg" in (tmp_path / "n.svg").read_text()

    def test_smoothing_is_asked_for(self, run, tmp_path):
        run(
            "synth", "survey.csv", "-o", "s.csv", "--method", "bayes", "--structure", "predictive",
            "--smoothing", "2.5", "--min-count", "3", "--save-model", "m.us",
        )  # fmt: skip
        model = Synthesizer.load(tmp_path / "m.us")
        assert (model.structure, model.smoothing, model.min_count) == ("predictive", 2.5, 3)
        assert "smoothed by (records)" in run("show", "m.us")[1]
        code, _, err = run(
            "synth", "survey.csv", "-o", "t.csv", "--method", "bayes", "--smoothing", "density"
        )
        assert (code, "smoothing must be 'auto', or a number" in err) == (2, True)

    def test_the_bound_of_an_optimal_network_is_shown(self, run):
        run(
            "synth", "survey.csv", "-o", "s.csv", "--method", "bayes", "--structure", "optimal",
            "--root", "method", "--save-model", "m.us",
        )  # fmt: skip
        assert "no network has more than" in run("show", "m.us")[1]

    def test_a_model_without_network_cannot_be_drawn(self, run, tmp_path):
        run("synth", "survey.csv", "-o", "s.csv", "--method", "independent", "--save-model", "m.us")
        code, _, err = run("show", "m.us", "--draw", "n.svg")
        assert (code, "has no network to draw: its method is independent" in err) == (2, True)
        assert "n.svg" not in files(tmp_path)


class TestCart:
    def test_trees_from_options_and_a_settings_file_to_the_summary(self, run, tmp_path):
        (tmp_path / "cart.toml").write_text(
            'minbucket = 10\nrules = ["if children == 0 then method = 1"]\n'
            '[columns.age]\nsmoothing = "density"\n[columns.method]\nminbucket = 40\n'
            '[protect]\nhusband_education = "education"\n'
        )
        code, _, err = run(
            "synth", "survey.csv", "-o", "s.csv", "--method", "cart", "--minbucket", "75", "--cp",
            "0.001", "--visit", "education,children", "--keep", "working", "--max-predictors", "4",
            "--splits", "histogram", "--settings", "cart.toml", "--seed", "1",
            "--save-model", "m.us",
        )  # fmt: skip
        assert code == 0
        assert "2 of the 97 original records that this rule covers have another value" in err
        model = Synthesizer.load(tmp_path / "m.us")
        assert model.minbucket == {"*": 75, "method": 40}
        assert model.cp == 0.001
        assert model.protect == {"husband_education": "education"}
        assert model.splits_ == "histogram"
        drawn = pl.read_csv(tmp_path / "s.csv")
        assert drawn.equals(model.sample())
        assert drawn["working"].equals(load("cmc")["working"])
        assert drawn.filter(children=0)["method"].unique().to_list() == [1]
        out = run("show", "m.us")[1]
        shown = " ".join(out.split())
        assert "Splits: between at most 256 bins of each column, not between" in shown
        for tree in model.trees():
            row = next(
                line.replace("│", " ").split()
                for line in out.splitlines()
                if line.startswith(f"│ {tree.column} ") and f"│ {tree.part} " in line
            )
            assert row[2:5] == [f"{tree.leaves:,}", str(tree.depth), f"{tree.smallest_leaf:,}"]
            assert all(f"{name} ({n})" in shown for name, n in list(tree.uses.items())[:4])
        assert "Kept as in the original: 'working'." in shown
        assert "'husband_education' is protected: it is drawn only from 'education'" in shown
        assert "Rule: if children == 0 then method = 1 (2 original records break it)" in shown

    def test_strata_copies_and_rules_on_the_command_line(self, run, tmp_path):
        code, _, _ = run(
            "synth", "survey.csv", "-o", "s.csv", "--method", "cart", "--strata", "working",
            "--proper", "--copies", "2", "--smoothing", "interpolate", "--rule",
            "if age < 20 then education = 4", "--seed", "3", "--save-model", "m.us",
        )  # fmt: skip
        assert code == 0
        model = Synthesizer.load(tmp_path / "m.us")
        assert (model.proper, model.smoothing, model.strata) == (True, "interpolate", ["working"])
        first, second = (pl.read_csv(tmp_path / f"s-{copy}.csv") for copy in (1, 2))
        assert all(
            table.equals(own)
            for table, own in zip([first, second], model.sample(copies=2), strict=True)
        )
        assert not first.equals(second)
        assert first.filter(pl.col("age") < 20)["education"].unique().to_list() == [4]
        assert "working = 1" in run("show", "m.us")[1]


def test_a_copula_from_start_to_summary(run, tmp_path):
    code, _, _ = run(
        "synth", "survey.csv", "-o", "s.csv", "--method", "copula", "--seed", "1",
        "--save-model", "m.us",
    )  # fmt: skip
    assert code == 0
    model = Synthesizer.load(tmp_path / "m.us")
    assert pl.read_csv(tmp_path / "s.csv").equals(model.sample())
    out = run("show", "m.us")[1]
    assert "Strongest of 45 correlations behind the columns" in out
    strongest = model.correlation_[
        model.codec_.names.index("education"), model.codec_.names.index("husband_education")
    ]
    assert f"{strongest:+.3f}" in out


class TestAttack:
    @pytest.fixture
    def release(self, run):
        run("synth", "survey.csv", "-o", "s.csv", "--method", "cart", "--seed", "1")
        return "s.csv"

    def test_a_table_and_a_file_for_programs(self, run, release, tmp_path):
        code, out, err = run(
            "attack", "survey.csv", release, "--keys", "age,education,children", "--sensitive",
            "method", "--known", "2", "--classifiers", "none", "--json", "a.json",
        )  # fmt: skip
        assert code == 0
        assert "knows 2 of 3 keys (3 possible sets): 'age', 'education' and 'children'." in out
        content = json.loads((tmp_path / "a.json").read_text())
        assert (content["format"], content["version"]) == ("understudy attack", 1)
        assert content["files"] == {
            "original": "survey.csv",
            "synthetic": "s.csv",
            "control": None,
            "model": None,
        }
        assert content["settings"] == {
            "groups": None,
            "unit_id": None,
            "unit": "records",
            "seed": 0,
            "tolerance": None,
            "strong": None,
        }
        assert content["strong"] is None
        row = next(line for line in out.splitlines() if "GCAP" in line)
        accuracy = content["attribution"]["nearest"]["accuracy"]
        for share in (629 / 1473, accuracy):
            assert f"{100 * share:.2f}%" in row
        assert f"{100 * (accuracy - 629 / 1473):+.2f}" in row
        assert "Wrote a.json: all results." in err

    def test_a_scenario_file_control_and_groups(self, run, release, tmp_path):
        (tmp_path / "scenario.toml").write_text(
            'keys = ["age", "education"]\nsensitive = "method"\nknown = 1\n'
        )
        options = ("--classifiers", "none", "--control", "survey.csv", "--groups", "age=4")
        code, out, _ = run("attack", "survey.csv", release, "--scenario", "scenario.toml", *options)
        assert code == 0
        assert "control" in out
        assert "knows 1 of 2 keys (2 possible sets)" in out

    def test_classifiers_take_part(self, run, release):
        options = ("--keys", "education", "--sensitive", "method", "--classifiers", "papers")
        code, out, _ = run("attack", "survey.csv", release, *options)
        assert code == 0
        for name in ("vote", "mean", "best"):
            assert f"│ {name} " in out


class TestDemo:
    @pytest.fixture
    def short(self, monkeypatch):
        """Let one method do for all of them."""
        monkeypatch.setattr(
            "understudy.cli.demonstration.methods",
            lambda seed: {"independent": Independent(random_state=seed)},
        )

    @pytest.mark.slow
    @pytest.mark.usefixtures("short")
    def test_it_shows_the_verdict_and_says_where_its_files_are(self, run, tmp_path):
        code, out, err = run("demo")
        assert code == 0
        folder = tmp_path / "understudy-demo"
        assert files(folder) == [
            "audit.json", "original.csv", "report.html", "synthetic-independent.csv",
        ]  # fmt: skip
        keys = "'age', 'education', 'children', 'religion' and 'working'"
        assert f"knows 4 of the 5 keys {keys}" in out
        kept = hold_out(load("cmc"), 0.2, by=SENSITIVE, random_state=1).kept
        most = kept[SENSITIVE].value_counts()["count"].max()
        assert f"{most / kept.height:.2%}" in out
        assert "Wrote understudy-demo/report.html: the report, to open in a browser." in err

    @pytest.mark.usefixtures("short")
    @pytest.mark.slow
    def test_a_second_run_keeps_the_first_unless_forced(self, run, tmp_path):
        run("demo", "--seed", "1")
        path = tmp_path / "understudy-demo" / "synthetic-independent.csv"
        before = path.read_bytes()
        code, _, err = run("demo", "--seed", "2")
        assert (code, "already exists" in err) == (2, True)
        assert path.read_bytes() == before
        assert run("demo", "--seed", "2", "--force")[0] == 0
        assert path.read_bytes() != before


BINARY = bytes(range(256)) * 40


def test_a_demo_into_a_file_is_refused(run, tmp_path):
    code, _, err = run("demo", "-o", "survey.csv")
    assert (code, "survey.csv already exists and is not a folder" in err) == (2, True)


class TestBadInput:
    """One message each, exit code 2, no traceback, nothing written."""

    @pytest.fixture
    def fails(self, run, tmp_path):
        def check(*arguments, says):
            before = files(tmp_path)
            code, out, err = run(*arguments)
            assert code == 2
            assert says in " ".join(err.split())
            assert "Traceback" not in out + err
            assert files(tmp_path) == before

        return check

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            (b"", "d.csv is empty."),
            (b"\n\n", "d.csv is empty."),
            (b"age,sex\n", "d.csv has a header but no rows."),
            (b"age,sex,age\n1,2,3\n", "Column names must differ; repeated: 'age'"),
            (b"age,\n1,2\n", "Column 2 has no name"),
            (BINARY, "d.csv is a binary file"),
            (b"PAR1" + BINARY, "d.csv is a damaged Parquet file"),
            (b"a,b\n1,2\n1,2,3,4\n", "d.csv cannot be read as a table"),
        ],
    )
    def test_files_that_hold_no_table(self, fails, tmp_path, content, says):
        (tmp_path / "d.csv").write_bytes(content)
        fails("synth", "d.csv", "-o", "out.csv", says=says)
        fails("schema", "d.csv", "-o", "out.toml", says=says)

    def test_a_missing_file_with_a_near_miss(self, fails):
        says = "There is no file survy.csv. Did you mean 'survey.csv'?"
        fails("synth", "survy.csv", "-o", "out.csv", says=says)

    def test_a_folder(self, fails, tmp_path):
        fails("synth", tmp_path, "-o", "out.csv", says="which is read as one table")
        (tmp_path / "none").mkdir()
        fails("synth", "none", "-o", "out.csv", says="is a folder without Parquet or CSV files")

    @pytest.mark.parametrize("rows", ["0", "-5", "many"])
    def test_rows(self, fails, rows):
        fails("synth", "survey.csv", "-o", "out.csv", "--rows", rows, says="Invalid value for")

    def test_an_existing_output(self, fails, tmp_path):
        (tmp_path / "out.csv").write_text("precious")
        fails(
            "synth",
            "survey.csv",
            "-o",
            "out.csv",
            says="out.csv already exists. Choose another name, or add --force.",
        )
        assert (tmp_path / "out.csv").read_text() == "precious"

    def test_the_input_as_output_even_with_force(self, fails, tmp_path):
        before = (tmp_path / "survey.csv").read_bytes()
        fails("synth", "survey.csv", "-o", "survey.csv", "--force", says="already an input")
        assert (tmp_path / "survey.csv").read_bytes() == before

    def test_two_outputs_of_one_name(self, fails):
        fails(
            "synth",
            "survey.csv",
            "-o",
            "o.csv",
            "--save-model",
            "o.csv",
            says="already an input",
        )

    def test_a_folder_that_is_not_there(self, fails):
        fails("synth", "survey.csv", "-o", "no/out.csv", says="There is no folder no")

    def test_an_output_without_a_known_ending(self, fails):
        fails("synth", "survey.csv", "-o", "out.docx", says="should end in one of .csv")

    def test_an_unwritable_folder(self, fails, monkeypatch):
        # Root may write anywhere, so the answer of the system is replaced.
        access = os.access
        monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK and access(path, mode))
        fails("synth", "survey.csv", "-o", "out.csv", says="cannot be written to")

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            (b"[[column", "is not a TOML file"),
            (b"\xff\xfe\x00", "not text in UTF-8"),
            (b"x = 1", "it has no [[column]] section"),
            (b"understudy_schema = 99", "newer than 1: update understudy"),
        ],
    )
    def test_an_unreadable_schema(self, fails, tmp_path, content, says):
        (tmp_path / "s.toml").write_bytes(content)
        fails("synth", "survey.csv", "-o", "out.csv", "--schema", "s.toml", says=says)

    def test_a_schema_that_is_not_there(self, fails):
        says = "There is no file s.toml"
        fails("synth", "survey.csv", "-o", "out.csv", "--schema", "s.toml", says=says)

    def test_a_schema_of_another_table(self, fails, tmp_path):
        schema = Schema.infer(load("cmc")).edit("method", levels=(1, 2)).edit("age", range=(16, 40))
        text = schema.to_toml().replace('name = "children"', 'name = "childrn"')
        (tmp_path / "s.toml").write_text(text)
        for says in (
            "the table has no column 'childrn'. Did you mean 'children'?",
            "'method' has 511 rows with a value that is not among its 2 levels: 3.",
            "'age' has 306 rows outside its range: ",
        ):
            fails("synth", "survey.csv", "-o", "out.csv", "--schema", "s.toml", says=says)

    def test_options_of_another_method(self, fails):
        says = "--parents, --root cannot be used with --method independent."
        words = ("--method", "independent", "--parents", "2", "--root", "age")
        fails("synth", "survey.csv", "-o", "o.csv", *words, says=says)

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            ("minbuckt = 3", "has no parameter 'minbuckt'; it has minbucket"),
            ("random_state = 3", "s.toml: random_state is given with --seed."),
            ("[columns.age]\nkeep = 1", "'keep' cannot be set for the column 'age' alone"),
            ("[columns.agee]\ncp = 1", "cp: 'agee' is not a column. Did you mean 'age'?"),
            ("columns = 3", "settings of a column must be a table, such as [columns.age]"),
            ("minbucket = ", "s.toml is not a TOML file"),
            ('minbucket = "x"', "minbucket must be a whole number from 1; got 'x'."),
        ],
    )
    def test_settings(self, fails, tmp_path, content, says):
        (tmp_path / "s.toml").write_text(content)
        options = ("--method", "cart", "--settings", "s.toml")
        fails("synth", "survey.csv", "-o", "o.csv", *options, says=says)

    def test_settings_that_are_not_there(self, fails):
        options = ("--method", "cart", "--settings", "s.toml")
        fails("synth", "survey.csv", "-o", "o.csv", *options, says="There is no file s.toml.")

    def test_a_rule_that_cannot_be_read(self, fails):
        options = ("--method", "cart", "--rule", "if age > then method = 1")
        fails("synth", "survey.csv", "-o", "o.csv", *options, says="if age > then method = 1")

    @pytest.mark.parametrize(
        ("protect", "says"),
        [
            ("method", "--protect must be SENSITIVE:TARGET or SENSITIVE:; got 'method'"),
            ("methd:age", "protect: 'methd' is not a column. Did you mean 'method'?"),
        ],
    )
    def test_protection(self, fails, protect, says):
        fails(
            "synth",
            "survey.csv",
            "-o",
            "o.csv",
            "--method",
            "bayes",
            "--protect",
            protect,
            says=says,
        )

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (("--keys", "age"), "Give --keys and --sensitive, or a --scenario file."),
            (
                ("--keys", "agee", "--sensitive", "method"),
                "The original table has no column 'agee'. Did you mean 'age'?",
            ),
            (("--keys", "age", "--sensitive", "age"), "both a key and the sensitive attribute"),
            (
                ("--keys", "age", "--sensitive", "method", "--known", "2"),
                "known must be a whole number from 1 to 1, the number of keys; got 2.",
            ),
            (
                ("--keys", "age", "--sensitive", "method", "--groups", "age"),
                "--groups must be COLUMN=NUMBER, separated by commas; got 'age'.",
            ),
            (
                ("--scenario", "s.toml", "--keys", "age"),
                "--scenario replaces --keys, --sensitive and --known.",
            ),
            (("--scenario", "s.toml"), "There is no file s.toml."),
            (
                ("--keys", "age", "--sensitive", "method", "--json", "survey.csv", "--force"),
                "survey.csv is already an input or output of this command",
            ),
        ],
    )
    def test_an_attack(self, fails, options, says):
        fails("attack", "survey.csv", "survey.csv", *options, says=says)

    def test_a_cluster_without_its_engine(self, fails):
        words = ("--master", "spark://host:7077")
        fails("synth", "survey.csv", "-o", "o.csv", *words, says="--master is for --engine spark")

    def test_an_unknown_method_or_command(self, fails):
        fails("synth", "survey.csv", "-o", "o.csv", "--method", "magic", says="Invalid value for")
        fails("synthesize", says="No such command")

    def test_markup_in_names_is_shown_as_it_is(self, fails, tmp_path):
        (tmp_path / "d.csv").write_text("[red]a[/red],[red]a[/red]\n1,2\n")
        fails("synth", "d.csv", "-o", "out.csv", says="repeated: '[red]a[/red]'")
