"""`understudy control`: each step on files, together, and how it fails."""

from __future__ import annotations

import polars as pl
import pytest

from understudy import read, write
from understudy.synthesis.control import remove_replicated_uniques, remove_uniques_in_original

TOWNS = ["Ulm"] * 6 + ["Rom"] * 4 + ["Ems", "Au"]
ORIGINAL = {"age": [20, 30, 40, 50, 60, 70, 80, 90, 25, 35, 45, 99], "home town": TOWNS}
SYNTHETIC = {"age": [95, 99, 10, 30], "home town": ["Ulm", "Au", "Rom", "Ulm"]}


@pytest.fixture
def control(call, folder):
    """Write both tables; return a call of the command, and what it wrote."""
    write(pl.DataFrame(ORIGINAL), folder / "o.csv")
    write(pl.DataFrame(SYNTHETIC), folder / "s.csv")

    def make(*arguments, output="out.csv"):
        code, _, err = call("control", "o.csv", "s.csv", "-o", output, *arguments)
        assert code == 0, err
        return read(folder / output), err

    return make


class TestSteps:
    def test_limits(self, control):
        found, err = control("--top-code", "age=90", "--bottom-code", "age=20")
        assert found["age"].to_list() == [90, 90, 20, 30]
        assert "'age' has 1 set to the bottom 20 and 2 set to the top 90." in err
        assert "Wrote out.csv: 4 rows x 2 columns." in err

    def test_limits_by_share_are_of_the_original(self, control):
        # Without the code 99, eleven values: 20, 25, 30, ..., 90. One is above the tenth.
        found, _ = control(
            "--top-code", "age=90.9%", "--bottom-code", "age=12", "--special", "age=99"
        )
        assert found["age"].to_list() == [80, 99, 12, 30]

    def test_rare_values(self, control):
        found, _ = control("--group-rare", "home town=2", "--other", "elsewhere")
        assert found["home town"].to_list() == ["Ulm", "elsewhere", "Rom", "Ulm"]

    def test_label(self, control):
        found, _ = control("--label", "note")
        assert found.columns == ["note", "age", "home town"]
        assert set(found["note"]) == {"synthetic"}

    @pytest.mark.parametrize(
        ("flag", "remove"),
        [
            ("--remove-replicated", remove_replicated_uniques),
            ("--remove-uniques-in-original", remove_uniques_in_original),
        ],
    )
    def test_removals(self, control, flag, remove):
        for more, keys in (((), None), (("--keys", "age"), ["age"])):
            found, _ = control(flag, *more, "--force")
            expected = remove(pl.DataFrame(ORIGINAL), pl.DataFrame(SYNTHETIC), keys=keys).frame
            assert found.equals(expected)
            assert 0 < len(found) < 4

    def test_records_are_compared_after_values_are_coded_in_both(self, control):
        # With ages up to 90, two people are 90 years old, so a record of 90 is not one person's.
        found, err = control("--top-code", "age=90", "--remove-replicated", "--keys", "age")
        assert found["age"].to_list() == [90, 90, 10]
        assert "Removed 1 of 4 rows" in err


def test_files_are_written_as_the_synthetic_one_is(control, folder):
    table = pl.DataFrame(SYNTHETIC).with_columns(share=pl.Series([0.5, 1.5, None, 2.5]))
    text = table.write_csv(separator=";", decimal_comma=True)
    (folder / "s.csv").write_text(text)
    (folder / "o.csv").write_text(text)
    control("--top-code", "share=2", "--delimiter", ";", "--decimal", ",")
    assert (folder / "out.csv").read_text() == text.replace("2,5", "2,0")
    control("--label", "x", output="out.parquet")
    assert pl.read_parquet(folder / "out.parquet").height == 4
    control("--label", "x", output="out.tsv")
    assert (folder / "out.tsv").read_text().startswith("x\tage\t")


@pytest.mark.usefixtures("control")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "Say what to do: --top-code, --bottom-code, --group-rare, --remove-replicated"),
        (("--keys", "age"), "--keys needs --remove-replicated"),
        (("--special", "age=9"), "--special needs --top-code or --bottom-code."),
        (("--other", "x"), "--other needs --group-rare."),
        (("--top-code", "age"), "--top-code must be COLUMN=VALUE; got 'age'."),
        (("--top-code", "age=9", "--top-code", "age=8"), "--top-code names 'age' twice."),
        (("--top-code", "age=x%"), "A share must be a number and %, such as 99%; got 'x%'."),
        (("--top-code", "age=100%"), "must be between 0 and 1; got 1.0"),
        (
            ("--top-code", "age=0.99"),
            "A limit does not fit column 'age', which holds whole numbers",
        ),
        (("--top-code", "agee=9"), "'agee' is not a column. Did you mean 'age'?"),
        (("--top-code", "home town=9"), "top and bottom coding is for numbers"),
        (("--group-rare", "home town=few"), "--group-rare must be COLUMN=NUMBER"),
        (("--group-rare", "age=3"), "rare values are grouped in columns of text"),
        (("--remove-replicated", "--keys", "agee"), "Did you mean 'age'?"),
        (("--label", "age"), "--label: the table already has a column 'age'. Give another name."),
        (("--label", " "), "--label needs the name of a column."),
        (
            ("--top-code", "age=9", "--special", "agge=9"),
            "--special names 'agge', which neither --top-code nor --bottom-code does. Did you mean",
        ),
        (("--label", "x", "-o", "s.csv"), "s.csv already exists"),
        (("--label", "x", "--force", "-o", "s.csv"), "already an input"),
        (("--label", "x", "-o", "out.txt.zip"), "should end in one of"),
    ],
)
def test_mistakes(refused, arguments, says):
    refused("control", "o.csv", "s.csv", "-o", "out.csv", *arguments, says=says)


def test_no_file_without_records(refused, folder):
    write(pl.DataFrame({"a": [1, 2]}), folder / "o.csv")
    write(pl.DataFrame({"a": [2, 1]}), folder / "s.csv")
    refused(
        *("control", "o.csv", "s.csv", "-o", "out.csv", "--remove-replicated"),
        says="No record is left, so out.csv is not written: all of them look like one person.",
    )
