"""The form of a private CSV file: like the original's, without what single values tell."""

from __future__ import annotations

from understudy import Schema
from understudy.data import detect, read
from understudy.data.schema import Column
from understudy.privacy.public_dialect import public_dialect

TEXT = 'price;day;note\n1,50;31.12.2020;"a"\n22,75;01.01.2021;"b"\nNA;02.01.2021;"c"\n'


def written(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text)
    read(path)
    return detect(path)


def schema(**price):
    return Schema(
        [Column("price", "real", **price), Column("day", "datetime"), Column("note", "categorical")]
    )


def test_the_form_of_the_file_stays(tmp_path):
    found = public_dialect(written(tmp_path, TEXT), schema(decimals=2, missing=0.1))
    assert (found.delimiter, found.decimal) == (";", ",")
    assert found.formats["price"].values.places == 2
    assert found.formats["price"].missing == ("NA",)
    assert found.formats["day"].values.pattern == "%d.%m.%Y"
    assert found.formats["note"].quoted


def test_decimals_and_gaps_of_single_records_do_not(tmp_path):
    one = public_dialect(written(tmp_path, TEXT), schema())
    assert one.formats["price"].values.places is None
    assert one.formats["price"].missing == ("",)
    # Other numbers give the same form.
    other = TEXT.replace("1,50", "1,5123456").replace("NA", "7,5")
    assert public_dialect(written(tmp_path, other), schema()) == one


def test_the_size_of_the_largest_number_does_not(tmp_path):
    sizes = ["850", *(f"{number}.5k" for number in range(1, 40))]
    tables = ["price\n" + "\n".join([*sizes, last]) + "\n" for last in ("7.5k", "3.4M")]
    found = [written(tmp_path, text) for text in tables]
    assert [own.formats["price"].values.magnitudes for own in found] == [("k",), ("k", "M")]
    column = Schema([Column("price", "real")])
    one, other = (public_dialect(own, column) for own in found)
    assert one == other
