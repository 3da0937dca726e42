"""The strong attacker on the command line."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import get_args, get_type_hints

import polars as pl
import pytest

from understudy import Cart, load, read, write
from understudy.audit.attacks import attack_names
from understudy.cli import main
from understudy.cli.attack import OtherOptions
from understudy.cli.strong_options import Mode, Prior
from understudy.risk import black_box_attacker, lookalikes, strong_attacker
from understudy.wording import Unit

SCRIPT = Path(sys.executable).with_name("understudy")
BOOTSTRAP = """
import random, sys, time
original, synthetic, seed = sys.argv[1:4]
time.sleep(float(sys.argv[4]) if len(sys.argv) > 4 else 0)
random.seed(int(seed))
head, *rows = open(original).read().splitlines()
drawn = [random.choice(rows) for _ in rows]
open(synthetic, "w").write("\\n".join([head, *drawn]) + "\\n")
"""
COMMAND = shlex.join([sys.executable, "bootstrap.py"]) + " {original} {synthetic} {seed}"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder, to be copied, with the simulated data, a release and its model."""
    made = tmp_path_factory.mktemp("made")
    records = load("buyer_beware")
    model = Cart(smoothing_leaves=0, random_state=3).fit(records)
    model.save(made / "m.us")
    write(records, made / "o.csv")
    write(model.sample(), made / "s.csv")
    (made / "bootstrap.py").write_text(BOOTSTRAP)
    return made


@pytest.fixture
def folder(folder, made):
    """Return a folder with the simulated data, a release, its model, and a program."""
    shutil.copytree(made, folder, dirs_exist_ok=True)
    return folder


@pytest.fixture
def run(folder, monkeypatch, capsys):
    """Run the command line with the given arguments; return its exit code, output and messages."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["understudy", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return end.value.code, captured.out, captured.err

    return call


@pytest.fixture
def attack(run):
    """Attack the release with the given options."""
    return lambda *options: run("attack", "o.csv", "s.csv", *options)


@pytest.fixture
def fails(attack, folder):
    """Attack with the given options, which is a mistake that changes nothing."""

    def check(*options, says):
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        code, out, err = attack(*options)
        assert code == 2
        assert says in " ".join(err.split())
        assert "Traceback" not in out + err
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

    return check


def from_python(**arguments):
    model = Cart(smoothing_leaves=0, random_state=3).fit(read("o.csv"))
    return strong_attacker(model, read("o.csv"), read("s.csv"), **arguments)


class TestModel:
    def test_one_column_with_all_files(self, attack, folder):
        code, out, err = attack(
            "--model", "m.us", "--strong", "var4", "--json", "a.json", "--strong-output", "r.csv"
        )
        assert code == 0
        expected = from_python(unknown="var4")
        assert expected.summary() in " ".join(out.split())
        content = json.loads((folder / "a.json").read_text())
        assert content["strong"] == expected.to_dict()
        assert content["files"]["model"] == "m.us"
        for other in ("scenario", "attribution", "attackers", "disclosure"):
            assert content[other] is None
        # Nothing but the strong attack was asked for.
        assert "GCAP" not in out
        assert "Wrote r.csv: a row for each of 1,000 records, as confidential as the data." in err
        written = pl.read_csv(folder / "r.csv")
        columns = ["record", "posterior", "right_after", "fixed_posterior", "refitted"]
        assert written.columns == columns
        assert written.equals(expected.to_frame(values=False))

    def test_a_parquet_file_with_guesses(self, attack, folder):
        options = ("--strong-output", "r.parquet", "--show-records", "--records", "990-999")
        assert attack("--model", "m.us", "--strong", "var3, var4", *options)[0] == 0
        expected = from_python(unknown=["var3", "var4"], records=range(990, 1000))
        assert pl.read_parquet(folder / "r.parquet").equals(expected.to_frame())

    @pytest.mark.parametrize("prior", get_args(Prior))
    def test_priors(self, attack, folder, prior):
        options = ("--prior", prior, "--records", "999,5,0-2,1", "--json", "a.json")
        assert attack("--model", "m.us", "--strong", "var4", *options)[0] == 0
        content = json.loads((folder / "a.json").read_text())
        expected = from_python(unknown="var4", prior=prior, records=[0, 1, 2, 5, 999])
        assert content["strong"] == expected.to_dict()
        assert content["settings"]["strong"]["records"] == "999,5,0-2,1"

    @pytest.mark.parametrize("mode", get_args(Mode))
    def test_modes_and_the_whole_record(self, attack, folder, mode):
        options = ("--mode", mode, "--records", "999", "--json", "a.json")
        assert attack("--model", "m.us", "--strong", "*", *options)[0] == 0
        content = json.loads((folder / "a.json").read_text())["strong"]
        assert content == from_python(mode=mode, records=[999]).to_dict()
        assert (content["unknown"], content["mode"]) == (
            ["var1", "var2", "var3", "var4"],
            mode,
        )

    def test_the_number_of_processes_reaches_the_fits(self, attack, monkeypatch):
        seen = {}
        monkeypatch.setattr(
            "understudy.risk.strong_attacker",
            lambda *_, **options: seen.update(options) or from_python(records=[0]),
        )
        assert attack("--model", "m.us", "--strong", "*", "--processes", "2")[0] == 0
        assert (seen["processes"], seen["mode"], seen["prior"]) == (2, "auto", "informed")
        assert (seen["refits"], seen["records"]) == (None, None)

    def test_the_number_of_new_fits(self, attack, folder):
        assert (
            attack("--model", "m.us", "--strong", "var4", "--refits", "9", "--json", "a.json")[0]
            == 0
        )
        content = json.loads((folder / "a.json").read_text())
        expected = from_python(unknown="var4", refits=9)
        assert content["strong"] == expected.to_dict()
        assert content["settings"]["strong"]["refits"] == 9
        assert 0 < content["strong"]["refitted"] < 1000

    def test_new_fits_need_a_model_and_the_mode_auto(self, fails):
        fails("--model", "m.us", "--strong", "var4", "--mode", "fixed", "--refits", "9",
              says="--refits needs --mode auto")  # fmt: skip
        fails(
            "--command", COMMAND, "--strong", "var4", "--refits", "9", says="--refits needs --model"
        )

    def test_beside_the_other_attacks(self, attack, folder):
        code, out, _ = attack(
            "--keys", "var1,var2", "--sensitive", "var4", "--classifiers", "none",
            "--model", "m.us", "--strong", "var4", "--json", "a.json",
        )  # fmt: skip
        assert code == 0
        assert out.index("GCAP") < out.index("the best guess")
        content = json.loads((folder / "a.json").read_text())
        assert content["scenario"]["sensitive"] == "var4"
        assert content["strong"] == from_python(unknown="var4").to_dict()

    def test_quiet_says_nothing(self, run, folder):
        options = ("--model", "m.us", "--strong", "var4", "--worst", "3", "--json", "a.json")
        assert run("-q", "attack", "o.csv", "s.csv", *options) == (0, "", "")
        assert (folder / "a.json").exists()


class TestRecords:
    @pytest.fixture
    def named(self, folder):
        """Give the values of the data names that stand out."""
        table = pl.read_csv("o.csv").with_columns(
            pl.col("var4").replace_strict({0: "[b]healthy", 1: "[b]ill"}, return_dtype=pl.String)
        )
        table = table.rename({"var4": "[red]state[/red]"})
        model = Cart(smoothing_leaves=0, random_state=3).fit(table)
        model.save(folder / "named.us")
        write(table, folder / "o.csv", overwrite=True)
        write(model.sample(), folder / "s.csv", overwrite=True)
        return ("--model", "named.us", "--strong", "[red]state[/red]")

    def test_no_value_of_a_record_is_shown_unless_asked_for(self, attack, folder, named):
        options = ("--worst", "4", "--json", "a.json", "--strong-output", "r.csv")
        code, out, err = attack(*named, *options, "--prior", "uniform")
        assert code == 0
        written = (folder / "a.json").read_text() + (folder / "r.csv").read_text()
        for text in (out, err, written):
            assert "[b]healthy" not in text
            assert "[b]ill" not in text
        assert "│    999 │ 50.00% │   certain │      +1.000 │" in out

    def test_guesses_on_request(self, attack, named):
        code, out, _ = attack(*named, "--worst", "1", "--show-records", "--prior", "uniform")
        assert code == 0
        assert "│    999 │ 50.00% │   certain │      +1.000 │ [b]ill     │ yes     │" in out

    def test_markup_in_names_is_shown_as_it_is(self, attack, named):
        other = ("--keys", "var1", "--sensitive", "[red]state[/red]", "--classifiers", "none")
        code, out, _ = attack(*named, *other)
        assert code == 0
        assert "Share of records for which an attacker gets '[red]state[/red]' right" in out
        assert "1,000 records whose true '[red]state[/red]' is found" in " ".join(out.split())
        assert "Unknown about that one: '[red]state[/red]'." in " ".join(out.split())

    def test_none_is_shown_by_default(self, attack):
        out = attack("--model", "m.us", "--strong", "var4")[1]
        assert "most exposed records" not in out
        assert "confidential" not in out


class TestCommand:
    def test_the_same_as_in_python(self, attack, folder):
        options = ("--records", "0,999", "--runs", "3", "--cells", "var1,var4", "--seed", "5")
        code, out, _ = attack(
            "--command", COMMAND, "--strong", "var4", *options, "--json", "a.json"
        )
        assert code == 0
        expected = black_box_attacker(
            COMMAND, read("o.csv"), read("s.csv"), unknown="var4", records=[0, 999], runs=3,
            cells=["var1", "var4"], random_state=5,
        )  # fmt: skip
        content = json.loads((folder / "a.json").read_text())
        assert content["strong"] == expected.to_dict()
        assert content["settings"] == {
            "groups": None,
            "unit_id": None,
            "unit": "records",
            "seed": 5,
            "tolerance": None,
            "strong": {
                "command": COMMAND,
                "records": "0,999",
                "refits": None,
                "runs": 3,
                "cells": ["var1", "var4"],
            },
        }
        assert f"a standard error of up to {expected.more['mc_error'].max():.3f}" in out

    def test_finished_runs_are_kept_and_used_again(self, attack, folder):
        options = ("--strong", "var4", "--records", "999", "--runs", "2", "--resume", "runs.txt")
        first = attack("--command", COMMAND, *options)
        kept = (folder / "runs.txt").read_bytes()
        # A header, and two runs of each of two worlds.
        assert kept.count(b"\n") == 5
        (folder / "bootstrap.py").write_text("raise SystemExit('should not run')")
        assert attack("--command", COMMAND, *options) == first
        assert (folder / "runs.txt").read_bytes() == kept

    def test_groups_reach_the_cells(self, attack, folder):
        options = ("--strong", "var4", "--records", "999", "--runs", "1", "--groups", "var1=2")
        assert attack("--command", COMMAND, *options, "--json", "a.json")[0] == 0
        content = json.loads((folder / "a.json").read_text())
        assert content["settings"]["groups"] == {"var1": 2}

    def test_a_program_that_fails(self, fails, folder):
        (folder / "bootstrap.py").write_text("raise SystemExit('no licence')")
        options = ("--strong", "var4", "--records", "999", "--json", "a.json")
        fails("--command", COMMAND, *options, says="status 1. Its messages are not shown")
        fails("--command", COMMAND, *options, "--show-records", says="no licence")

    @pytest.mark.skipif(not hasattr(os, "killpg"), reason="Ctrl-C is a signal")
    def test_an_interruption_leaves_whole_runs_and_no_half_file(self, folder):
        arguments = [
            "--strong",
            "var4",
            "--runs",
            "9999",
            "--resume",
            "runs.txt",
            "--json",
            "a.json",
        ]
        outputs = ["--strong-output", "r.csv", "--command", f"{COMMAND} 0.01"]
        before = set(folder.iterdir())
        running = subprocess.Popen(
            [SCRIPT, "attack", "o.csv", "s.csv", *arguments, *outputs],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        kept = folder / "runs.txt"
        while running.poll() is None and not (kept.exists() and kept.read_bytes().count(b"\n") > 2):
            time.sleep(0.05)
        messages = None
        while messages is None:
            running.send_signal(signal.SIGINT)
            # Python drops what interrupts it in the wrong moment; then people press the keys again.
            with contextlib.suppress(subprocess.TimeoutExpired):
                _, messages = running.communicate(timeout=5)
        assert running.returncode == 130
        assert b"Traceback" not in messages
        assert set(folder.iterdir()) - before == {kept}
        _, *simulations = kept.read_text().splitlines()
        assert all(len(json.loads(line)) == 4 for line in simulations)


class TestMistakes:
    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (("--worst", "3"), "--worst needs --strong, which names what to learn."),
            (("--command", COMMAND), "--command needs --strong, which names what to learn."),
            (("--shadows", "20"), "--shadows needs --command."),
            (("--targets", "2"), "--targets needs --shadows."),
            (("--attacks", "lokalikes"), "Did you mean 'lookalikes'?"),
            (("--tolerance", "exact"), "--tolerance needs --keys and --sensitive."),
            (("--keys", "var1"), "Give --keys and --sensitive, or a --scenario file."),
            (
                ("--shadows", "20", "--model", "m.us", "--command", COMMAND),
                "Give --model or --command, not both.",
            ),
            (
                ("--keys", "var1", "--sensitive", "var4", "--tolerance", "much"),
                "tolerance must be a number, 'exact', or a number and its kind",
            ),
            (
                (
                    "--keys",
                    "var1",
                    "--sensitive",
                    "var4",
                    "--worst",
                    "3",
                    "--strong-output",
                    "r.csv",
                ),
                "--worst, --strong-output need --strong",
            ),
            (("--strong", "var4"), "--strong needs the --model that made the synthetic table"),
            (
                ("--strong", "var4", "--model", "m.us", "--command", COMMAND),
                "Give --model or --command, not both.",
            ),
            (
                ("--strong", "var4", "--model", "m.us", "--runs", "3", "--cells", "var1"),
                "--runs, --cells need --command.",
            ),
            (
                ("--strong", "var4", "--model", "m.us", "--resume", "runs.txt"),
                "--resume needs --command.",
            ),
            (
                ("--strong", "var4", "--command", COMMAND, "--mode", "fixed"),
                "--mode needs --model.",
            ),
            (
                ("--strong", "var4", "--command", COMMAND, "--prior", "informed"),
                "--prior informed needs --model",
            ),
            (
                ("--strong", "var4", "--command", "python3 x.py {original} {synthetic}"),
                "lacks {seed}",
            ),
            (
                ("--strong", "var4", "--model", "m.us", "--show-records"),
                "--show-records needs --worst or --strong-output.",
            ),
            (("--strong", " , ", "--model", "m.us"), "Give --strong a column"),
            (
                ("--strong", "vra4", "--model", "m.us"),
                "--strong: 'vra4' is not a column. Did you mean",
            ),
            (("--strong", "var4", "--model", "no.us"), "There is no file no.us."),
            (("--strong", "var4", "--model", "o.csv"), "not a model of understudy"),
            (("--strong", "var4", "--model", "m.us", "--known", "1"), "--known needs --keys"),
            (
                ("--strong", "var4", "--model", "m.us", "--control", "o.csv"),
                "--control needs --keys and --sensitive, or --attacks",
            ),
            (
                ("--strong", "var4", "--model", "m.us", "--groups", "var1=2"),
                "--groups needs --keys and --sensitive, or --command",
            ),
            (
                ("--strong", "var4", "--model", "m.us", "--keys", "var1"),
                "Give --keys and --sensitive, or a --scenario file.",
            ),
            (("--strong", "var4", "--model", "m.us", "--worst", "-1"), "Invalid value for"),
            (("--strong", "var4", "--model", "m.us", "--prior", "flat"), "Invalid value for"),
        ],
    )
    def test_options_that_do_not_go_together(self, fails, options, says):
        fails(*options, says=says)

    @pytest.mark.parametrize(
        ("records", "says"),
        [
            (
                "5-",
                "--records must be row numbers from 0 and ranges of them, such as 0-99,999; got",
            ),
            ("-5", "got '-5'"),
            ("9-3", "got '9-3'"),
            ("1.5", "got '1.5'"),
            ("1²", "got '1²'"),
            (",", "--records names at least one row"),
            ("1000", "there is no row 1000; the original has the rows 0 to 999."),
            ("0-99999999999999", "there is no row 99999999999999;"),
        ],
    )
    def test_records(self, fails, records, says):
        fails("--strong", "var4", "--model", "m.us", "--records", records, says=says)

    def test_outputs(self, fails, attack, folder):
        strong = ("--strong", "var4", "--model", "m.us")
        (folder / "r.csv").write_text("precious")
        fails(*strong, "--strong-output", "r.csv", says="r.csv already exists")
        fails(*strong, "--strong-output", "r.docx", says="should end in one of .csv")
        fails(*strong, "--strong-output", "s.csv", "--force", says="already an input or output")
        same = ("--strong-output", "a.csv", "--json", "a.csv")
        fails(*strong, *same, says="already an input or output")
        resumed = ("--strong", "var4", "--command", COMMAND, "--resume")
        fails(*resumed, "o.csv", says="already an input or output")
        fails(*resumed, "r.csv", says="r.csv is not a file of simulations")
        assert attack(*strong, "--strong-output", "r.csv", "--force")[0] == 0
        assert pl.read_csv(folder / "r.csv").height == 1000

    def test_a_model_of_another_table(self, fails, folder):
        write(read("o.csv").head(900), folder / "o.csv", overwrite=True)
        fails("--strong", "var4", "--model", "m.us", says="The model was fitted to 1,000 records")


class TestOthers:
    def test_without_keys_attacks_are_made_that_need_none(self, attack, folder):
        code, out, _ = attack("--json", "a.json")
        assert code == 0
        content = json.loads((folder / "a.json").read_text())
        assert list(content["others"]) == [
            "own_values",
            "lookalikes",
            "singling_out",
            "linkability",
        ]
        assert content["attribution"] is None
        for title in ("Lookalikes", "Singling out", "Linkability"):
            assert title in out
        expected = lookalikes(read("o.csv"), read("s.csv"), random_state=0)
        assert content["others"]["lookalikes"] == expected.to_dict()
        found = " ".join(out.replace("│", " ").split())
        assert Unit.of("records").told(expected.summary()).split(".")[0] in found
        _, out, _ = attack("--attacks", "lookalikes", "--unit-name", "flight")
        found = " ".join(out.replace("│", " ").split())
        assert Unit.of("flights").told(expected.summary()).split(".")[0] in found

    def test_a_model_and_control_records_tell_who_was_in_the_data(self, attack, folder):
        code, _, _ = attack("--model", "m.us", "--control", "s.csv", "--json", "a.json")
        assert code == 0
        content = json.loads((folder / "a.json").read_text())
        assert {"membership", "membership_control"} <= set(content["others"])

    def test_one_by_one(self, attack, folder):
        options = ("--keys", "var1,var2", "--sensitive", "var4", "--attacks")
        code, out, _ = attack(*options, "telling-keys, carriers", "--json", "a.json")
        assert code == 0
        content = json.loads((folder / "a.json").read_text())
        assert list(content["others"]) == ["telling_keys", "carriers"]
        assert content["attribution"] is None
        assert "GCAP" not in out
        code, out, _ = attack(*options, "overview", "--classifiers", "none")
        assert code == 0
        assert "GCAP" in out
        assert "Other attacks" not in out

    def test_several_releases_count_together(self, run, folder):
        code, _, _ = run(
            "attack", "o.csv", "s.csv", "o.csv", "--attacks", "lookalikes", "--json", "a.json"
        )
        assert code == 0
        content = json.loads((folder / "a.json").read_text())
        assert content["files"]["synthetic"] == ["s.csv", "o.csv"]
        assert content["others"]["lookalikes"]["synthetic_records"] == 2000

    def test_shadow_releases_of_a_command(self, attack, folder):
        options = ("--shadows", "20", "--targets", "1", "--json", "a.json")
        code, out, err = attack("--command", COMMAND, *options)
        assert code == 0, err
        content = json.loads((folder / "a.json").read_text())
        assert list(content["others"]) == ["membership_shadows"]
        assert out.strip()

    def test_an_attack_that_fails_leaves_the_others(self, run, folder):
        write(read("o.csv").head(2), folder / "two.csv")
        code, out, _ = run("attack", "two.csv", "s.csv")
        assert code == 0
        assert "Not measured." in out
        assert "Singling out" in out


def test_the_help_names_all_attacks():
    (told,) = get_type_hints(OtherOptions, include_extras=True)["attacks"].__metadata__
    named = told.help.partition(": ")[2].rstrip(".").split(", ")
    assert sorted(named) == sorted(["overview", *(one.replace("_", "-") for one in attack_names())])
