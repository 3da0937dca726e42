"""Formats of the original in what the commands write, and in how they read releases."""

from __future__ import annotations

import re

import numpy as np
import pytest

from understudy import Synthesizer

PATTERNS = {
    "paid": r"-?\$\d{1,3}(,\d{3})*\.\d\d|N/A",
    "when": r"\d\d/\d\d/20\d\d",
    "member": r"TRUE|FALSE",
    "score": r"\d\.\d0",
    "town": r"Graz|Linz",
}


@pytest.fixture
def payments(folder):
    """Write a table with formats of every kind, in quotes, with line ends of Windows."""
    rng = np.random.default_rng(3)
    lines = ['"paid","when","member","score","town"']
    for row in range(300):
        cents, day = int(rng.integers(-(10**5), 10**7)), int(rng.integers(1, 13))
        paid = "N/A" if row % 7 == 0 else f"{'-' * (cents < 0)}${abs(cents) / 100:,.2f}"
        when = "12/31/2020" if row == 0 else f"{day:02}/{day % 12 + 1:02}/2021"
        member = "TRUE" if rng.random() < 0.5 else "FALSE"
        fields = [paid, when, member, f"{rng.integers(10, 90) / 10:.2f}"]
        town = rng.choice(["Graz", "Linz"])
        lines.append(",".join(f'"{one}"' for one in (*fields, town)))
    (folder / "payments.csv").write_bytes("\r\n".join(lines).encode("utf-8-sig"))
    return folder / "payments.csv"


def check(path):
    """Tell whether a file is written as the payments are."""
    text = path.read_bytes().decode("utf-8-sig")
    header, *records = text.split("\r\n")
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    assert header == '"paid","when","member","score","town"'
    for record in records:
        fields = re.fullmatch(r'"(.*?)","(.*?)","(.*?)","(.*?)","(.*?)"', record).groups()
        for field, pattern in zip(fields, PATTERNS.values(), strict=True):
            assert re.fullmatch(pattern, field), field
    return len(records)


@pytest.mark.parametrize("more", [(), ("--stream",)])
def test_a_synthetic_file_is_written_like_its_original(payments, call, more, monkeypatch):
    code, _, said = call("synth", payments, "-o", "out.csv", "--save-model", "m.us", *more)
    assert code == 0
    assert "Taken for missing values: 'N/A' in 'paid'" in said
    assert check(payments.with_name("out.csv")) == 300
    model = Synthesizer.load("m.us")
    assert model.schema_["paid"].kind == "real"
    assert model.schema_["paid"].decimals == 2
    # A model that was saved still knows.
    assert check(model.sample_to("again.csv", 50)) == 50
    lines = model.sample_to("again.tsv", 5).read_text("utf-8-sig").splitlines()
    assert lines[0].split("\t") == [f'"{name}"' for name in PATTERNS]


def test_a_release_is_read_like_its_original(payments, call):
    # In the release, no day is above 12: alone, it would be read with the day first.
    text = payments.read_text("utf-8-sig").replace("12/31/2020", "01/02/2021")
    release = payments.with_name("release.csv")
    release.write_text(text, "utf-8")
    code, _, said = call("control", payments, release, "-o", "out.csv", "--top-code", "score=99%")
    assert code == 0
    assert "cannot be told apart" not in said
    assert payments.with_name("out.csv").read_text().splitlines()[1].split('","')[1] == "01/02/2021"


def test_money_and_plain_numbers_are_compared_as_numbers(payments, call):
    table = payments.read_text("utf-8-sig").replace("N/A", "").replace("$", "")
    plain = re.sub(r"(\d),(\d)", r"\1\2", table)  # another tool wrote no thousands
    payments.with_name("release.csv").write_text(plain, "utf-8")
    arguments = ("--keys", "town,member", "--sensitive", "paid", "--classifiers", "none")
    code, shown, said = call("attack", payments, "release.csv", *arguments)
    assert code == 0, said
    assert "GCAP" in shown
    assert "compared as text" not in said


def test_the_order_of_dates_can_be_given(folder, call):
    (folder / "d.csv").write_text("day,n\n" + "01/02/2020,1\n03/04/2020,2\n" * 20)
    said = call("schema", "d.csv")[2]
    assert "Day and month cannot be told apart in 'day'" in said
    _, shown, said = call("schema", "d.csv", "--dates", "mdy")
    assert "told apart" not in said
    assert "2020-01-02" in shown
    assert call("schema", "d.csv", "--dates", "ymd")[0] == 2


def test_words_for_missing_can_be_values(folder, call):
    (folder / "d.csv").write_text("country,n\n" + "NA,1\nDE,2\n" * 20)
    shown, said = call("schema", "d.csv")[1:]
    assert "Taken for missing values: 'NA' in 'country'" in said
    assert '"NA"' not in shown
    shown, said = call("schema", "d.csv", "--missing", "")[1:]
    assert "missing values" not in said
    assert '"NA"' in shown
