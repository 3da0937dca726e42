"""Where tables are, for every command: files of every kind, pipes, folders and databases."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import subprocess
import sys

import polars as pl
import pytest

from understudy import Schema, read, write
from understudy.cli.options import numbered
from understudy.errors import ParameterError

SCENARIO = ("--keys", "age,sex", "--sensitive", "ill")
QUICK = ("--measures", "quick", "--classifiers", "none")
PASSWORD = "Quetzalcoatl"  # noqa: S105  # of nobody


@pytest.fixture
def pipe(monkeypatch):
    """Return a function that pipes bytes into the next command."""

    def into(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return into


@pytest.fixture
def piped(people, pipe):
    pipe((people / "people.csv").read_bytes())
    return people


def test_synth_from_a_pipe_into_a_pipe(piped, call):
    code, out, messages = call("synth", "-", "-o", "-", "--seed", 1)
    assert code == 0
    assert messages.endswith("Wrote the standard output: 120 rows x 4 columns (bayes, seed 1).")
    call("synth", "people.csv", "-o", "file.csv", "--seed", 1)
    assert out == (piped / "file.csv").read_text()


def test_the_output_of_a_pipe_has_the_dialect_of_its_input(folder, pipe, call):
    pipe(gzip.compress("a;b\n1,5;Köln\n2,5;Bonn\n".encode("cp1252")))
    code, out, _ = call("schema", "-", "--encoding", "cp1252")
    assert code == 0
    assert "Köln" in out
    pipe(b"a;b\n1,5;x\n2,5;y\n")
    assert call("synth", "-", "-o", "-", "--seed", 1)[1].startswith("a;b\n")


def test_schema_from_a_pipe_into_a_pipe(piped, call):
    code, out, messages = call("schema", "-", "-o", "-")
    assert code == 0
    assert messages.startswith("How the columns were read")
    assert out == Schema.infer(read(piped / "people.csv")).to_toml()


def test_run_from_a_pipe(piped, call):
    code, _, _ = call("run", "-", "-o", "made", *SCENARIO, *QUICK, "--seed", 1)
    assert code == 0
    assert read(piped / "made" / "synthetic.csv").height == 96


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("audit", "original"),
        pytest.param("audit", "synthetic", marks=pytest.mark.slow),
        pytest.param("attack", "original", marks=pytest.mark.slow),
        ("attack", "synthetic"),
        ("compare", "original"),
        pytest.param("compare", "synthetic", marks=pytest.mark.slow),
        ("control", "original"),
        ("control", "synthetic"),
    ],
)
def test_either_table_may_come_from_a_pipe(people, pipe, call, command, place):
    more = {
        "audit": (*SCENARIO, *QUICK),
        "attack": (*SCENARIO, "--classifiers", "none"),
        "compare": (*SCENARIO, *QUICK),
        "control": ("-o", "-", "--top-code", "age=50"),
    }[command]
    names = {"original": "people.csv", "synthetic": "release.csv"}
    expected = call(command, *names.values(), *more)
    pipe((people / names[place]).read_bytes())
    names[place] = "-"
    code, out, _ = call(command, *names.values(), *more)
    assert code == expected[0] == 0
    if command == "control":
        assert out == expected[1]
        assert out.startswith("age,sex,ill,works\n")


def test_the_rows_of_the_strong_attack_go_to_a_pipe_alone(people, call):
    code, out, messages = call(
        *("attack", "people.csv", "release.csv", "--model", "model.us", "--strong", "ill"),
        *("--records", "0-4", "--strong-output", "-"),
    )
    assert code == 0
    assert pl.read_csv(io.StringIO(out)).height == 5
    assert "Wrote the standard output: a row for each of 5 records" in messages


def test_only_one_table_is_piped(piped, call):
    once = "Only one table can come from the standard input (-)."
    for arguments in (
        ("audit", "-", "-", *SCENARIO),
        ("attack", "-", "release.csv", "--control", "-", *SCENARIO),
        ("compare", "-", "x=-", *SCENARIO),
        ("run", "-", "-o", "made", "--control", "-", *SCENARIO),
    ):
        code, _, messages = call(*arguments)
        assert code == 2
        assert once in messages
    code, _, messages = call("synth", "people.csv", "-o", "-", "--copies", 2)
    assert code == 2
    assert "One table goes to the standard output (-)" in messages


def test_nothing_in_a_pipe(folder, pipe, call):
    pipe(b"")
    code, out, messages = call("synth", "-", "-o", "-")
    assert (code, out) == (2, "")
    assert messages == "Error: The standard input is empty."


def test_a_pipe_that_is_closed_early_gets_one_sentence(people):
    command = [sys.executable, "-m", "understudy", "synth", "people.csv", "-o", "-"]
    with subprocess.Popen(
        [*command, "--rows", "30000", "--seed", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=people,
    ) as process:
        process.stdout.close()
        messages = process.stderr.read().decode()
        process.wait()
    assert "closed before the whole table was written" in messages
    assert "Traceback" not in messages
    assert "Exception ignored" not in messages


@pytest.mark.parametrize(
    "ending",
    [
        ".sav",
        *(
            pytest.param(ending, marks=pytest.mark.slow)
            for ending in (".xlsx", ".dta", ".csv.gz", ".jsonl", ".arrow", ".parquet")
        ),
    ],
)
def test_a_release_is_of_the_kind_of_its_original(people, call, ending):
    write(read(people / "people.csv"), people / f"people{ending}")
    code, _, messages = call(
        *("run", f"people{ending}", "-o", "made", *SCENARIO, *QUICK, "--seed", 1, "--copies", 2)
    )
    assert code == 0, messages
    tables = [f"synthetic-{copy}{ending}" for copy in (1, 2)]
    assert sorted(path.name for path in (people / "made").iterdir()) == [
        "README.md",
        "confidential",
        *tables,
    ]
    assert read(people / "made" / tables[1]).height == 96
    again = call("run", f"people{ending}", "-o", "made", *SCENARIO, *QUICK, "--force", "--seed", 2)
    assert again[0] == 0


def test_kinds_can_be_mixed(people, call):
    write(read(people / "people.csv"), people / "people.sav")
    write(read(people / "release.csv"), people / "release.xlsx")
    for command in ("audit", "compare"):
        assert call(command, "people.sav", "release.xlsx", *SCENARIO, *QUICK)[0] == 0
    done = call("control", "people.sav", "release.xlsx", "-o", "done.dta", "--label", "source")
    assert done[0] == 0
    assert read(people / "done.dta").columns[0] == "source"


def test_a_sheet_and_a_header_row(people, call):
    import xlsxwriter

    table = read(people / "people.csv")
    with xlsxwriter.Workbook(people / "book.xlsx") as book:
        book.add_worksheet("first").write_column(0, 0, ["a", 1, 2])
        sheet = book.add_worksheet("people")
        sheet.write(0, 0, "Our survey")
        for place, column in enumerate(table):
            sheet.write_column(1, place, [column.name, *column.to_list()])
    words = ("--sheet", "people", "--header-row", 2)
    code, _, messages = call("synth", "book.xlsx", "-o", "out.xlsx", *words, "--seed", 1)
    assert code == 0, messages
    assert read(people / "out.xlsx").shape == table.shape
    # The output has its header in the same row, so that the same options fit both.
    code, _, messages = call("audit", "book.xlsx", "out.xlsx", *words, *SCENARIO, *QUICK)
    assert code == 0, messages


def test_stdin_by_another_name(people):
    command = [sys.executable, "-m", "understudy", "schema", "/dev/stdin"]
    content = (people / "people.csv").read_bytes()
    done = subprocess.run(command, input=content, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"works" in done.stdout


def test_a_table_in_a_database(people, call):
    with sqlite3.connect(people / "survey.db") as connection:
        read(people / "people.csv", backend="pandas").to_sql("people", connection, index=False)
    connection.close()
    address = "sqlite:///survey.db?table=people"
    assert call("synth", address, "-o", "out.csv", "--seed", 1)[0] == 0
    assert call("synth", "people.csv", "-o", "same.csv", "--seed", 1)[0] == 0
    assert (people / "out.csv").read_bytes() == (people / "same.csv").read_bytes()
    code, out, _ = call("run", address, "-o", "made", *SCENARIO, *QUICK, "--seed", 1)
    assert code == 0
    assert f"understudy run '{address}'" in out
    assert (people / "made" / "synthetic.csv").exists()
    found = call("compare", address, address, f"x={address}", *SCENARIO, *QUICK)
    assert found[0] == 0
    assert (
        call(
            "attack", address, "release.csv", *SCENARIO, "--classifiers", "none", "--json", "a.json"
        )[0]
        == 0
    )
    assert json.loads((people / "a.json").read_text())["files"]["original"] == "people"
    refused = call("synth", address, "-o", "survey.db", "--force")
    assert refused[0] == 2


@pytest.mark.slow
def test_no_password_in_any_output(people, call, monkeypatch):
    table = read(people / "people.csv")
    monkeypatch.setattr("understudy.data.files.read_address", lambda _: table)
    address = f"postgresql://ann:{PASSWORD}@host/db?table=people"
    shown = []
    for arguments in (
        ("-v", "synth", address, "-o", "out.csv", "--save-model", "m.us"),
        ("-v", "run", address, "-o", "made", *SCENARIO, *QUICK, f"--control={address}"),
        (
            "-v",
            "audit",
            address,
            "release.csv",
            "-o",
            "r.html",
            "--json",
            "r.json",
            *SCENARIO,
            *QUICK,
        ),
        ("-v", "attack", address, address, "--json", "a.json", *SCENARIO, "--classifiers", "none"),
        ("-v", "compare", address, f"x={address}", address, "-o", "c.html", *SCENARIO, *QUICK),
        ("schema", address, "-o", "s.toml"),
    ):
        code, *texts = call(*arguments)
        assert code == 0, texts
        shown += texts
    monkeypatch.undo()
    shown += [path.read_bytes().decode("latin-1") for path in people.rglob("*") if path.is_file()]
    assert not [text for text in shown if PASSWORD in text]
    assert any("postgresql://ann@host/db?table=people" in text for text in shown)


def test_copies_are_numbered_before_the_whole_ending(tmp_path):
    made = numbered(tmp_path / "a.b.csv.gz", 2)
    assert [path.name for path in made] == ["a.b-1.csv.gz", "a.b-2.csv.gz"]
    with pytest.raises(ParameterError, match="One table goes to the standard output"):
        numbered(type(tmp_path)("-"), 2)
