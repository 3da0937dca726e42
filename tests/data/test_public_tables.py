"""Public tables that the user has on disk: found, read in every form, and checked."""

from __future__ import annotations

import json

import pandas as pd
import platformdirs
import polars as pl
import pyarrow as pa
import pytest

from understudy.data.public_tables import fetch
from understudy.errors import DataError

ADULT = ("adult_train.csv", "adult_test.csv")
FERTILITY = (
    "season,age,child_diseases,accident,surgery,fevers,alcohol,smoking,hours_sitting,diagnosis"
)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Keep the user's own files out: no folder is named, and the cache is empty."""
    monkeypatch.delenv("UNDERSTUDY_DATA", raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda name: tmp_path / "cache" / name)
    folder = tmp_path / "cache" / "understudy" / "data"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    monkeypatch.setenv("UNDERSTUDY_DATA", str(chosen))
    return chosen


def fertility_lines(rows=100, first="-0.33,0.69,0,1,1,0,0.8,0,0.88,N"):
    return [first, *["1,0.5,1,0,1,-1,1,1,0.25,O"] * (rows - 1)]


def write(path, lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_real_files_are_first_looked_for_where_the_user_says(folder_with, tmp_path):
    chosen, beside = tmp_path / "chosen", tmp_path / "beside"
    for place, files in ((chosen, ["a.csv"]), (beside, ["a.csv", "b.csv"])):
        place.mkdir()
        for file in files:
            (place / file).touch()
    assert folder_with("a.csv", chosen=str(chosen), beside=beside) == chosen
    assert folder_with("a.csv", "b.csv", chosen=str(chosen), beside=beside) == beside
    for none in (None, ""):
        assert folder_with("a.csv", chosen=none, beside=beside) == beside
    message = r"a\.csv and c\.csv not found in .*chosen or .*beside \(set UNDERSTUDY_DATA\)"
    with pytest.raises(pytest.skip.Exception, match=message):
        folder_with("a.csv", "c.csv", chosen=str(chosen), beside=beside)


@pytest.mark.parametrize(
    ("name", "shape", "missing"),
    [
        # Adult: `?` in workclass, occupation and native_country, 1836 + 1843 + 583 and
        # 963 + 966 + 274 times.
        ("adult_train", (32_561, 15), 4_262),
        ("adult_test", (16_281, 15), 2_203),
        ("adult", (48_842, 15), 6_465),
        ("fertility", (100, 10), 0),
        ("sd2011", (5_000, 35), 22_344),
    ],
)
def test_real_files_have_their_shape_and_missing_values(real_files, name, shape, missing):
    real_files(*(ADULT if name == "adult" else [f"{name}.csv"]))
    table = fetch(name)
    assert table.shape == shape
    assert table.null_count().sum_horizontal().item() == missing


def test_adult_is_its_training_rows_and_then_its_test_rows(real_files):
    real_files(*ADULT)
    adult = fetch("adult")
    assert adult.head(32_561).equals(fetch("adult_train"))
    assert adult.tail(16_281).equals(fetch("adult_test"))
    assert adult["income"].unique().sort().to_list() == ["<=50K", ">50K"]
    numbers = [name for name, dtype in adult.schema.items() if dtype == pl.Int64]
    assert numbers == [
        "age",
        "fnlwgt",
        "education_num",
        "capital_gain",
        "capital_loss",
        "hours_per_week",
    ]


def test_sd2011_keeps_minus_eight_and_reads_numbers_as_numbers(real_files):
    folder = real_files("sd2011.csv", "sd2011.columns.json")
    table = fetch("sd2011")
    assert table.row(0)[:4] == ("FEMALE", 57, "45-59", "URBAN 100,000-200,000")
    assert table["nociga"][0] == -8
    assert table["wkabdur"][0] == -8
    assert table.schema["income"] == pl.Int64
    assert table.schema["bmi"] == pl.Float64
    described = json.loads((folder / "sd2011.columns.json").read_text())
    assert table.null_count().row(0, named=True) == {
        column: description["n_missing"] for column, description in described.items()
    }


def test_raw_adult_files_read_like_the_csv_files(real_files, tmp_path, monkeypatch):
    folder = real_files(*ADULT)
    expected = fetch("adult")
    train, test = (
        (folder / f"adult_{part}.csv").read_text().replace(",", ", ").splitlines()[1:]
        for part in ("train", "test")
    )
    raw = tmp_path / "raw"
    raw.mkdir()
    # As UCI has them: an empty last line; a comment first, and a dot after each test label.
    write(raw / "adult.data", [*train, ""])
    write(raw / "adult.test", ["|1x3 Cross validator", *(f"{line}." for line in test), ""])
    monkeypatch.setenv("UNDERSTUDY_DATA", str(raw))
    assert fetch("adult").equals(expected)


def test_raw_fertility_file_reads_like_the_csv_file(real_files, tmp_path, monkeypatch):
    folder = real_files("fertility.csv")
    expected = fetch("fertility")
    lines = (folder / "fertility.csv").read_text().splitlines()[1:]
    write(tmp_path / "fertility_Diagnosis.txt", [f"{line}\r" for line in lines])
    monkeypatch.setenv("UNDERSTUDY_DATA", str(tmp_path))
    assert fetch("fertility").equals(expected)


def test_numbers_text_and_missing_values_of_a_forged_table(folder):
    lines = fertility_lines(first=' -0.33 ,0.69,?,1,,0,0.8,"", 1e+00,?')
    write(folder / "fertility.csv", [FERTILITY, *lines])
    table = fetch("fertility")
    assert table.row(0) == (-0.33, 0.69, None, 1, None, 0, 0.8, None, 1.0, None)
    assert table.row(99) == (1.0, 0.5, 1, 0, 1, -1, 1.0, 1, 0.25, "O")
    assert table.schema["child_diseases"] == pl.Int64
    assert table.schema["hours_sitting"] == pl.Float64


def test_columns_in_another_order_are_put_in_order(folder):
    write(folder / "fertility.csv", [FERTILITY, *fertility_lines()])
    expected = fetch("fertility")
    expected.select(reversed(expected.columns)).write_csv(folder / "fertility.csv")
    assert fetch("fertility").equals(expected)


@pytest.mark.slow
def test_credit_card_file_with_a_whole_number_written_by_r_as_a_power(folder):
    table = pl.select(
        pl.int_range(284_807).cast(pl.String).replace("100000", "1e+05").alias("Time"),
        *(pl.lit("-0.5").alias(f"V{number}") for number in range(1, 29)),
        pl.lit("1.25").alias("Amount"),
        pl.lit("0").alias("Class"),
    )
    table.write_csv(folder / "creditcard.csv")
    found = fetch("credit_card")
    assert found.shape == (284_807, 31)
    assert found["Time"].equals(pl.Series("Time", range(284_807)))


@pytest.mark.parametrize(
    ("backend", "kind"),
    [("polars", pl.DataFrame), ("pandas", pd.DataFrame), ("pyarrow", pa.Table)],
)
def test_fetch_returns_the_kind_of_frame_that_was_asked_for(folder, backend, kind):
    write(folder / "fertility.csv", [FERTILITY, *fertility_lines()])
    table = fetch("fertility", backend=backend)
    assert isinstance(table, kind)
    as_polars = table if backend == "polars" else pl.DataFrame(table)
    assert as_polars.equals(fetch("fertility"))


def test_the_named_folder_comes_before_the_cache(folder, cache):
    write(cache / "fertility.csv", [FERTILITY, *fertility_lines(first="0,0,0,0,0,0,0,0,0,cache")])
    assert fetch("fertility")["diagnosis"][0] == "cache"
    write(folder / "fertility_Diagnosis.txt", fertility_lines(first="0,0,0,0,0,0,0,0,0,folder"))
    assert fetch("fertility")["diagnosis"][0] == "folder"


@pytest.mark.parametrize("value", [None, ""])
def test_the_cache_is_enough(cache, monkeypatch, value):
    if value is not None:
        monkeypatch.setenv("UNDERSTUDY_DATA", value)
    write(cache / "fertility.csv", [FERTILITY, *fertility_lines()])
    assert fetch("fertility").shape == (100, 10)


def test_a_tilde_in_the_named_folder_is_the_home_folder(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.setenv("USERPROFILE", str(folder.parent))
    monkeypatch.setenv("UNDERSTUDY_DATA", f"~/{folder.name}")
    write(folder / "fertility.csv", [FERTILITY, *fertility_lines()])
    assert fetch("fertility").height == 100


@pytest.mark.parametrize(
    ("name", "file_names", "origin"),
    [
        ("adult_train", "adult_train.csv or adult.data", "https://doi.org/10.24432/C5XW20"),
        ("adult_test", "adult_test.csv or adult.test", "https://doi.org/10.24432/C5XW20"),
        (
            "fertility",
            "fertility.csv or fertility_Diagnosis.txt",
            "https://doi.org/10.24432/C5Z01Z",
        ),
        (
            "sd2011",
            "sd2011.csv",
            'write.csv(synthpop::SD2011, "sd2011.csv", row.names = FALSE, na = "")',
        ),
        ("credit_card", "creditcard.csv or credit_card.csv", "Machine Learning Group of ULB"),
    ],
)
def test_without_a_file_the_error_says_where_it_looked_and_where_to_get_it(
    folder, cache, name, file_names, origin
):
    with pytest.raises(DataError) as caught:
        fetch(name)
    message = str(caught.value)
    assert f"{name!r} ({file_names})" in message
    assert f"  - {folder}\n  - {cache}\n" in message
    assert origin in message
    assert "UNDERSTUDY_DATA" in message


def test_both_absent_parts_of_adult_are_named_at_once(folder):
    with pytest.raises(DataError) as caught:
        fetch("adult")
    assert "'adult_train' (adult_train.csv or adult.data) and 'adult_test'" in str(caught.value)
    assert str(caught.value).count("https://doi.org") == 1
    # Empty on purpose: its absence is no longer reported, and it is not read before the other.
    (folder / "adult.data").touch()
    with pytest.raises(DataError, match=r"^There is no file for 'adult_test' \("):
        fetch("adult")


def test_a_named_folder_that_does_not_exist_is_called_so(tmp_path, monkeypatch):
    monkeypatch.setenv("UNDERSTUDY_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match=r"nowhere \(no such folder\)"):
        fetch("fertility")


def test_other_rows_and_columns_are_told_apart(folder):
    header = FERTILITY.replace("season", "saison") + ",extra"
    write(folder / "fertility.csv", [header, *(f"{line},1" for line in fertility_lines(99))])
    with pytest.raises(DataError) as caught:
        fetch("fertility")
    assert str(caught.value).splitlines()[1:5] == [
        "  - expected 100 rows, found 99",
        "  - expected 10 columns, found 11",
        "  - missing columns: 'season'",
        "  - unexpected columns: 'saison', 'extra'",
    ]
    assert str(folder / "fertility.csv") in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (fertility_lines(101), "expected 100 rows, found 101"),
        ([f"{line},1" for line in fertility_lines()], "expected 10 columns, found 11"),
    ],
)
def test_a_raw_file_of_another_size_is_refused(folder, lines, problem):
    write(folder / "fertility_Diagnosis.txt", lines)
    with pytest.raises(DataError) as caught:
        fetch("fertility")
    assert str(caught.value).splitlines()[1:-1] == [f"  - {problem}"]


@pytest.mark.parametrize("value", ["NA", "nan", "inf", "1,5"])
def test_text_in_a_column_of_numbers_is_refused(folder, value):
    lines = fertility_lines(first=f'0,"{value}",0,0,0,0,0,0,0,N')
    write(folder / "fertility.csv", [FERTILITY, *lines])
    with pytest.raises(DataError, match=rf"'age' .* holds '{value}' \(in 1 of 100 rows\)"):
        fetch("fertility")


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2,3\n", b"a,b\n\xff\xfe,2\n"])
def test_a_file_that_is_no_csv_is_refused(folder, content):
    (folder / "fertility.csv").write_bytes(content)
    with pytest.raises(DataError, match=r"fertility\.csv cannot be read as a CSV file"):
        fetch("fertility")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("adlut", r"fetch\(\) has no table 'adlut'\. Did you mean 'adult'\? It has: 'adult', "),
        ("cmc", r"Use load\('cmc'\)\."),
    ],
)
def test_unknown_table_is_refused_with_a_hint(name, message):
    with pytest.raises(DataError, match=message):
        fetch(name)


def test_a_table_with_other_values_is_read_with_a_warning(folder, caplog):
    folder.mkdir(exist_ok=True)
    line = ",".join(["0"] * 9 + ["N"])
    (folder / "fertility_Diagnosis.txt").write_text(f"{line}\n" * 100)
    assert fetch("fertility").shape == (100, 10)
    assert "holds other values than the table" in caplog.text


def test_where_to_get_a_table_comes_with_its_checksum(folder, cache):
    with pytest.raises(DataError, match="SHA-256 checksum 1678f233"):
        fetch("sd2011")
