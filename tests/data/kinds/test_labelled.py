"""Files of SPSS and Stata: labels become levels, codes for missing values stay, all comes back."""

from __future__ import annotations

import datetime as dt
import gzip
from pathlib import Path

import polars as pl
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy import BayesNet
from understudy.data import Schema, detect, hold_out, read, write
from understudy.data.declared import declared
from understudy.errors import DataError

AGES = [*range(18, 78), 98, 99] * 2
ABOUT = {
    "variable_value_labels": {
        "age": {98: "don't know", 99: "refused"},
        "sex": {2: "female", 1: "male", 9: "refused"},
        "mood": {1: "sad", 2: "fine", 3: "other", 4: "other", 5: "never said"},
        "town": {"b": "Bonn", "a": "Aachen"},
    },
    "missing_ranges": {"age": [98, 99], "sex": [{"lo": 8, "hi": 9}]},
    "column_labels": {"age": "Age in years"},
    "variable_measure": {"sex": "nominal", "mood": "ordinal"},
    "variable_format": {"age": "F3.0"},
    "file_label": "A survey",
}


@pytest.fixture
def survey(tmp_path):
    """Write a survey as SPSS would."""
    rows = len(AGES)
    table = pl.DataFrame(
        {
            "age": [float(age) for age in AGES],
            "sex": [float([1, 2, 9, 8][row % 4]) for row in range(rows)],
            "mood": [float(1 + row % 4) if row % 7 else None for row in range(rows)],
            "town": ["ab"[row % 2] for row in range(rows)],
            "income": [1000.5 + row for row in range(rows)],
            "born": [dt.date(1950, 1, 1) + dt.timedelta(days=row % 9) for row in range(rows)],
        }
    )
    pyreadstat.write_sav(table, tmp_path / "survey.sav", **ABOUT)
    return tmp_path / "survey.sav"


def raw(path):
    """Return what pyreadstat finds in a file, with the codes for missing values."""
    reader = pyreadstat.read_dta if path.suffix == ".dta" else pyreadstat.read_sav
    values, about = reader(path, user_missing=True, output_format="dict")
    return dict(values), about


def test_labels_become_levels_in_the_order_of_their_codes(survey):
    table = read(survey)
    assert table["sex"].dtype == pl.Enum(["male", "female", "8", "refused"])
    assert table["mood"].dtype == pl.Enum(["sad", "fine", "other (3)", "other (4)", "never said"])
    assert table["town"].dtype == pl.Enum(["Aachen", "Bonn"])
    assert table["sex"][:4].to_list() == ["male", "female", "refused", "8"]
    assert table["mood"].null_count() == 18
    assert table["born"].dtype == pl.Date
    assert table["age"].dtype == pl.Int64


def test_codes_for_missing_numbers_are_special_values_of_the_schema(survey):
    table = read(survey)
    assert declared(table) == {"age": [98, 99]}
    column = Schema.infer(table)["age"]
    assert column.special == (98, 99)
    assert column.range == (18, 77)
    assert Schema.infer(table)["sex"].levels == ("male", "female", "8", "refused")


@pytest.mark.parametrize("backend", ["polars", "pandas", "pyarrow"])
def test_special_values_are_known_in_every_library_and_in_parts(survey, backend):
    table = read(survey, backend=backend)
    assert Schema.infer(table)["age"].special == (98, 99)
    assert declared(hold_out(table, 0.4, random_state=1).kept) == {"age": [98, 99]}


def test_a_file_is_written_back_as_it_was(survey, tmp_path):
    copy = write(read(survey), tmp_path / "copy.sav", dialect=detect(survey))
    (values, about), (others, again) = raw(survey), raw(copy)
    assert others == values
    for what in (
        "variable_value_labels",
        "missing_ranges",
        "column_names_to_labels",
        "original_variable_types",
        "variable_measure",
        "file_label",
    ):
        assert getattr(again, what) == getattr(about, what), what


@pytest.mark.parametrize("ending", [".sav", ".zsav", ".dta"])
def test_a_synthetic_file_has_the_labels(survey, tmp_path, ending):
    model = BayesNet(1, random_state=1).fit(read(survey))
    path = model.sample_to(tmp_path / f"synthetic{ending}", 500, dialect=detect(survey))
    about = raw(path)[1]
    assert about.variable_value_labels["sex"][9] == "refused"
    assert about.variable_value_labels["age"] == {98: "don't know", 99: "refused"}
    assert about.column_names_to_labels["age"] == "Age in years"
    assert read(path)["town"].cast(pl.String).is_in(["Aachen", "Bonn"]).all()
    assert set(read(path)["age"]) <= set(AGES)


@pytest.fixture
def letters(tmp_path):
    """Write a survey as Stata would, with letters for missing numbers."""
    table = pl.DataFrame(
        {
            "age": pl.Series([*range(18, 60), "a", "c", None], dtype=pl.Object),
            "sex": pl.Series([1, 2, "r"] * 15, dtype=pl.Object),
        }
    )
    labels = {"age": {"a": "refused"}, "sex": {1: "male", 2: "female", "r": "refused"}}
    pyreadstat.write_dta(
        table,
        tmp_path / "survey.dta",
        missing_user_values={"age": ["a", "c"], "sex": ["r"]},
        variable_value_labels=labels,
    )
    return tmp_path / "survey.dta"


def test_letters_for_missing_numbers_become_special_values(letters, caplog):
    table = read(letters)
    assert table["age"][-3:].to_list() == [-1_000_000_001, -1_000_000_003, None]
    assert Schema.infer(table)["age"].special == (-1_000_000_003, -1_000_000_001)
    assert table["sex"].dtype == pl.Enum(["male", "female", "refused"])
    assert ".a ('refused') in 'age' was read as -1000000001, a special value" in caplog.text


def test_letters_are_written_back(letters, tmp_path):
    copy = write(read(letters), tmp_path / "copy.dta", dialect=detect(letters))
    assert raw(copy)[0] == raw(letters)[0]
    assert raw(copy)[1].variable_value_labels == raw(letters)[1].variable_value_labels


def test_spss_gets_numbers_for_letters(letters, tmp_path):
    path = write(read(letters), tmp_path / "copy.sav", dialect=detect(letters))
    assert declared(read(path)) == {"age": [-1_000_000_003, -1_000_000_001]}
    assert read(path)["sex"].to_list() == read(letters)["sex"].to_list()


def test_a_file_that_came_as_another_kind_gets_labels_of_its_own(tmp_path):
    table = pl.DataFrame({"size": pl.Series(["M", "S", None], dtype=pl.Enum(["S", "M", "L"]))})
    for ending in (".dta", ".sav"):
        path = write(table, tmp_path / f"t{ending}")
        assert raw(path)[1].variable_value_labels == {"size": {1: "S", 2: "M", 3: "L"}}
        assert raw(path)[0]["size"] == [2, 1, None]


@pytest.mark.parametrize("ending", [".dta", ".sav"])
def test_names_that_a_program_does_not_take_are_told(tmp_path, ending):
    with pytest.raises(DataError, match="does not take 'net income' for the name of a column"):
        write(pl.DataFrame({"net income": [1]}), tmp_path / f"t{ending}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("ending", "writer"), [(".xpt", "write_xport"), (".por", "write_por")])
def test_transport_files_are_read(tmp_path, ending, writer):
    table = pl.DataFrame({"A": [1.0, 2.0, None], "B": ["x", "", "y"], "C": [0.5, 1.0, 2.0]})
    getattr(pyreadstat, writer)(table, tmp_path / f"t{ending}")
    found = read(tmp_path / f"t{ending}")
    assert found["A"].to_list() == [1, 2, None]
    assert found["B"].to_list() == ["x", None, "y"]
    assert found["C"].to_list() == [0.5, 1.0, 2.0]


@given(
    st.lists(st.one_of(st.none(), st.integers(-5, 5)), min_size=1, max_size=20),
    st.dictionaries(st.integers(-5, 5), st.sampled_from(["a", "b", " ", "c d"]), max_size=6),
    st.sets(st.integers(-5, 5), max_size=3),
)
def test_whatever_is_labelled_and_missing_comes_back(tmp_path_factory, values, labels, missing):
    folder = tmp_path_factory.mktemp("labels")
    table = pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64), "y": [1.0] * len(values)})
    pyreadstat.write_sav(
        table,
        folder / "a.sav",
        variable_value_labels={"x": labels} if labels else None,
        missing_ranges={"x": sorted(missing)} if missing else None,
    )
    found = read(folder / "a.sav")
    assert found["x"].null_count() == values.count(None)
    copy = write(found, folder / "b.sav", dialect=detect(folder / "a.sav"))
    assert raw(copy)[0]["x"] == raw(folder / "a.sav")[0]["x"]
    assert read(copy).equals(found)


def test_a_file_of_sas_has_the_labels_of_the_catalog_beside_it(tmp_path, caplog):
    # Made-up people, written with the library behind pyreadstat, which has a writer for these.
    for ending in ("sas7bdat", "sas7bcat"):
        packed = Path(__file__).with_name(f"people.{ending}.gz").read_bytes()
        (tmp_path / f"people.{ending}").write_bytes(gzip.decompress(packed))
    table = read(tmp_path / "people.sas7bdat")
    assert table["SEX"].to_list() == ["man", "woman"] * 30
    assert table["TOWN"][:2].to_list() == ["Köln", "Bonn"]
    assert table["DAY"][0] == dt.date(2014, 10, 4)
    assert table["AGE"][:5].to_list() == [20.0, 27.5, 34.0, None, -1000000002.0]
    assert ".B in 'AGE' was read as -1000000002, a special value" in caplog.text
    assert Schema.infer(table)["AGE"].special == (-1000000002.0,)
    (tmp_path / "people.sas7bcat").unlink()
    assert read(tmp_path / "people.sas7bdat")["SEX"].to_list() == [1, 2] * 30
