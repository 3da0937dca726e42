"""Texts of files that have types: read as what they are, and written back as they were."""

import datetime as dt
import json
import sqlite3
import zipfile

import polars as pl
import pytest

from understudy import BayesNet, Independent
from understudy.data import detect, read, scan, write
from understudy.data.files import read_with_dialect
from understudy.data.typed_dialect import dialect_from_plain
from understudy.synthesis import Synthesizer

ROWS = 60
TEXTS = pl.DataFrame(
    {
        "paid": ["N/A" if row % 9 == 4 else f"${1000.5 + 37 * row:,.2f}" for row in range(ROWS)],
        "share": [f"{row / 4:.2f} %" for row in range(ROWS)],
        "euro": [f"1.{row:03},50 €" for row in range(ROWS)],
        "day": [f"{row % 28 + 1:02}/{row % 12 + 1:02}/2021" for row in range(ROWS)],
        "flag": [("TRUE", "FALSE")[row % 2] for row in range(ROWS)],
        "answer": [("Ja", "Nein", "null")[row % 3] for row in range(ROWS)],
        "weight": [f"{50 + row} kg" for row in range(ROWS)],
        "price": [f"{row * 0.35:.2f}" for row in range(ROWS)],
        "zip": [str(10115 + row % 7) for row in range(ROWS)],
        "age": [20 + row for row in range(ROWS)],
    }
)
READ = {
    "paid": pl.Float64,
    "share": pl.Float64,
    "euro": pl.Float64,
    "day": pl.Date,
    "flag": pl.Boolean,
    "answer": pl.String,
    "weight": pl.Int64,
    "price": pl.Float64,
    "zip": pl.String,  # whole numbers that somebody stored as text beside numbers
}
ENDINGS = [".parquet", ".arrow", ".jsonl", ".json", ".xlsx", ".sav", ".dta"]


@pytest.fixture(params=ENDINGS)
def original(request, tmp_path):
    return write(TEXTS, tmp_path / f"original{request.param}")


def test_texts_are_read_as_what_they_are(original):
    found = read(original)
    assert {name: found.schema[name] for name in READ} == READ
    assert found["paid"].null_count() == 7
    assert found["paid"][0] == 1000.5
    assert found["euro"][3] == 1003.5
    assert found["day"][27] == dt.date(2021, 4, 28)
    assert found["answer"].null_count() == ROWS // 3
    assert found["age"].to_list() == TEXTS["age"].to_list()


def test_a_table_is_written_with_the_texts_it_had(original):
    found, written = read_with_dialect(original)
    copy = write(found, original.with_name("copy" + original.suffix), dialect=written)
    stored = pl.DataFrame(_stored(copy))
    assert stored.select(list(READ)).equals(TEXTS.select(list(READ)))


def _stored(path):
    """Return a table as polars, pyreadstat or json have it: the texts themselves."""
    if path.suffix == ".parquet":
        return pl.read_parquet(path)
    if path.suffix == ".arrow":
        return pl.read_ipc(path)
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    if path.suffix == ".json":
        return json.loads(path.read_text("utf-8"))
    if path.suffix == ".xlsx":
        import fastexcel

        book = fastexcel.read_excel(path)
        return book.load_sheet(0, dtypes="string").to_polars()
    import pyreadstat

    reader = {".sav": pyreadstat.read_sav, ".dta": pyreadstat.read_dta}[path.suffix]
    return reader(str(path), output_format="polars")[0]


def test_a_synthetic_table_has_texts_of_the_same_form(original):
    found, written = read_with_dialect(original)
    model = Independent(random_state=1).fit(found, dialect=written)
    model.save(original.with_name("model.npz"))
    anew = Synthesizer.load(original.with_name("model.npz"))
    made = pl.DataFrame(_stored(anew.sample_to(original.with_name("made" + original.suffix), 40)))
    forms = {
        "paid": r"^(\$\d,\d{3}\.\d\d|N/A)$",
        "share": r"^\d+\.\d\d %$",
        "euro": r"^1\.0\d\d,\d\d €$",
        "day": r"^\d\d/\d\d/2021$",
        "flag": "^(TRUE|FALSE)$",
        "answer": "^(Ja|Nein|null)$",
        "weight": r"^\d+ kg$",
        "price": r"^\d+\.\d\d$",
        "zip": r"^101\d\d$",
    }
    for name, form in forms.items():
        assert made[name].str.contains(form).all(), name
    assert made["paid"].str.starts_with("$").any()


def test_a_csv_file_made_from_it_has_the_same_texts(original):
    found, written = read_with_dialect(original)
    lines = write(found, original.with_name("o.csv"), dialect=written).read_text("utf-8")
    assert lines.splitlines()[1].startswith('"$1,000.50",0.00 %,"1.000,50 €",01/01/2021,TRUE,Ja,')
    assert lines.splitlines()[5].startswith("N/A,")


def test_a_stream_reads_the_same_values(tmp_path):
    path = write(TEXTS, tmp_path / "t.parquet")
    stream, whole = scan(path, batch_rows=7), read(path)
    assert pl.DataFrame(pl.from_arrow(stream.table())).equals(whole)
    assert stream.dialect == detect(path)
    one = BayesNet(random_state=1).fit(stream).sample(50, random_state=2)
    assert one.equals(BayesNet(random_state=1).fit(whole).sample(50, random_state=2))


def test_texts_of_a_database_are_read_too(tmp_path):
    with sqlite3.connect(tmp_path / "t.db") as base:
        TEXTS.to_pandas().to_sql("people", base, index=False)
    found, written = read_with_dialect(f"sqlite:///{tmp_path}/t.db?table=people")
    assert {name: found.schema[name] for name in READ} == READ
    assert written.in_words["euro"].startswith("money: '€' after, point for thousands")


def test_whole_numbers_are_numbers_where_all_is_text(tmp_path):
    texts = pl.DataFrame({"age": ["31", "N/A", "45"], "zip": ["01067", "10115", "10117"]})
    path = write(texts, tmp_path / "t.jsonl")
    found, written = read_with_dialect(path)
    assert found.rows() == [(31, "01067"), (None, "10115"), (45, "10117")]
    assert write(found, tmp_path / "u.jsonl", dialect=written).read_text() == path.read_text()


def test_numbers_beside_words_stay_numbers_in_json(tmp_path):
    text = '{"age":31,"sex":"f"}\n{"age":"n/a","sex":"m"}\n{"age":4,"sex":"f"}\n'
    (tmp_path / "t.jsonl").write_text(text)
    found, written = read_with_dialect(tmp_path / "t.jsonl")
    assert found["age"].to_list() == [31, None, 4]
    assert written.in_words == {"age": "missing is 'n/a'"}
    assert write(found, tmp_path / "u.jsonl", dialect=written).read_text() == text
    other = write(found, tmp_path / "u.parquet", dialect=written)
    assert pl.read_parquet(other)["age"].to_list() == [31, None, 4]


def test_numbers_and_dates_beside_words_stay_cells_in_excel(tmp_path):
    import fastexcel
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        sheet, form = book.add_worksheet(), book.add_format({"num_format": "yyyy-mm-dd"})
        sheet.write_row(0, 0, ["n", "day", "code"])
        for row in range(1, 9):
            sheet.write(row, 0, "N/A" if row == 3 else row * 1.5)
            if row == 4:
                sheet.write(row, 1, "-")
            else:
                sheet.write_datetime(row, 1, dt.date(2021, 1, row), form)
            sheet.write_string(row, 2, str(row))
    found, written = read_with_dialect(tmp_path / "t.xlsx")
    assert found.dtypes == [pl.Float64, pl.Date, pl.String]
    assert found["n"].to_list()[:3] == [1.5, 3.0, None]
    copy = write(found, tmp_path / "copy.xlsx", dialect=written)
    assert read(copy).equals(found)
    cells = fastexcel.read_excel(copy).load_sheet(0, dtypes="string").to_polars()
    assert cells["n"].to_list()[:3] == ["1.5", "3", "N/A"]
    assert cells["day"][3] == "-"
    with zipfile.ZipFile(copy) as archive:
        assert b"<v>1.5</v>" in archive.read("xl/worksheets/sheet1.xml")


def test_words_for_missing_are_the_users_own(tmp_path):
    path = write(TEXTS, tmp_path / "t.parquet")
    assert read(path, missing=[])["paid"].dtype == pl.String
    assert read(path, missing=["Ja"])["answer"].null_count() == ROWS // 3


def test_what_was_taken_for_missing_is_told(tmp_path, caplog):
    read(write(TEXTS, tmp_path / "t.parquet"))
    assert "Taken for missing values: 'N/A' in 'paid'; 'null' in 'answer'." in caplog.text


def test_the_formats_of_the_original_are_tried_first(tmp_path):
    texts = pl.DataFrame({"day": ["25/12/2020", "01/02/2020"], "n": [1, 2]})
    original = write(texts, tmp_path / "o.parquet")
    other = write(texts.with_columns(day=pl.lit("03/04/2020")), tmp_path / "s.parquet")
    found = read(other, like=detect(original))
    assert found["day"].to_list() == [dt.date(2020, 4, 3)] * 2


def test_an_empty_text_is_missing_and_written_again(tmp_path):
    texts = pl.DataFrame({"town": ["Bonn", "", "Bonn"], "paid": ["$5", "", "$7"], "n": [1, 2, 3]})
    path = write(texts, tmp_path / "t.parquet")
    found, written = read_with_dialect(path)
    assert found.rows() == [("Bonn", 5, 1), (None, None, 2), ("Bonn", 7, 3)]
    assert pl.read_parquet(write(found, tmp_path / "u.parquet", dialect=written)).equals(texts)


@pytest.mark.parametrize(
    "plain", [{"typed": True, **more} for more in ({}, {"formats": {"a": 3}}, {"mixed": ["x"]})]
)
def test_a_damaged_description_is_refused(plain):
    with pytest.raises(ValueError, match=r"no dialect|no format"):
        dialect_from_plain(plain)
