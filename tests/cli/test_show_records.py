"""No message, log, report, JSON file or traceback shows what a single record holds."""

from __future__ import annotations

import datetime as dt
import shlex
import sys

import numpy as np
import polars as pl
import pytest

from understudy import Schema
from understudy.cli import main

PLANTED = {
    "job": "Zyxwvut-hermit",
    "ill": "Qwzporphyria",
    "income": 987654.37,
    "age": 31177,
    "day": dt.date(1931, 7, 23),
}
TEXTS = ("hermit", "porphyria", "987654", "987,654", "31177", "31,177", "1931-07-23", "23.07.1931")
CONFIDENTIAL = (".us", "schema.toml", ".csv", ".parquet")
"""Endings of files that hold the data, or what is as confidential by nature."""

KEYS = ("--keys", "age,job", "--sensitive", "ill", "--classifiers", "none")


@pytest.fixture
def table(folder):
    rng = np.random.default_rng(1)
    rows = 80
    days = np.arange("2020-01-01", "2020-04-01", dtype="datetime64[D]")
    frame = pl.DataFrame(
        {
            "job": rng.choice(["nurse", "clerk"], rows),
            "ill": rng.choice(["yes", "no"], rows),
            "income": np.round(rng.lognormal(7, 0.5, rows), 2),
            "age": rng.integers(20, 60, rows),
            "day": rng.choice(days, rows),
        }
    )
    plain = frame.to_dicts()
    for row, (name, value) in enumerate(PLANTED.items()):
        plain[7 * row][name] = value
    planted = pl.DataFrame(plain)
    planted.write_csv(folder / "data.csv")
    planted.write_csv(folder / "copy.csv")
    # A schema that knows none of the planted values.
    Schema.infer(frame).save(folder / "without.toml")
    Schema.infer(planted).save(folder / "schema.toml")
    return folder


@pytest.fixture
def shown(table, monkeypatch, capfd):
    """Run a command with -v; return its exit code and all that it shows and writes."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["understudy", "-v", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        at_all = [*capfd.readouterr()]
        at_all += [
            path.read_text(encoding="utf-8")
            for path in table.rglob("*")
            if path.is_file() and not path.name.endswith(CONFIDENTIAL) and path.suffix != ".toml"
        ]
        return end.value.code, "\n".join(at_all)

    return run


def assert_silent(text):
    assert [planted for planted in TEXTS if planted in text] == []


@pytest.mark.parametrize(
    ("code", "command"),
    [
        (0, "schema data.csv -o new.toml"),
        (0, "synth data.csv -o out.csv --seed 1 --method cart"),
        (2, "synth data.csv -o out.csv --schema without.toml"),
        (2, "synth data.csv -o out.csv --schema without.toml --method copula"),
        (2, "synth data.csv -o out.csv --method cart --strata job"),
        (2, "synth data.csv -o out.csv --method cart --rule \"if job == 'Zyxwvut' then age = 1\""),
        (2, "synth data.csv -o out.csv --method cart --rule \"if age > 1 then job = 'hermi'\""),
        (2, "synth data.csv -o out.csv --decimal , --delimiter ;"),
        (0, "control data.csv copy.csv -o out.csv --top-code income=99% --bottom-code day=1%"),
        (
            0,
            "control data.csv copy.csv -o o.csv --remove-replicated --keys ill --group-rare job=5",
        ),
        (2, "audit data.csv copy.csv --keys age,job --sensitive Ill"),
    ],
)
def test_commands_that_end_well_or_in_an_error(shown, code, command):
    found, text = shown(*shlex.split(command))
    assert found == code, text
    assert "Traceback" not in text
    assert_silent(text.replace("'hermi'", "").replace("'Zyxwvut'", ""))


def test_an_audit_of_a_copy_which_shows_everything(shown):
    report = ("-o", "report.html", "--json", "audit.json", "--measures", "quick")
    code, text = shown("audit", "data.csv", "copy.csv", *KEYS, "--target", "job", *report)
    assert code == 0
    assert "nurse" in text
    assert_silent(text)
    code, text = shown("audit", "data.csv", "copy.csv", *KEYS, *report, "--show-records", "--force")
    assert "porphyria" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("audit", "data.csv", "copy.csv", *KEYS[:4], "-o", "r.html", "--json", "a.json"),
        ("run", "data.csv", "-o", "release", *KEYS[:4], "--method", "cart", "--target", "job"),
        ("attack", "data.csv", "copy.csv", *KEYS[:4], "--json", "a.json"),
        ("attack", "data.csv", "copy.csv", "--keys", "ill", "--sensitive", "age"),
        (
            *("compare", "data.csv", "copy.csv", "--methods", "bayes", *KEYS[:4]),
            *("-o", "r.html", "--json", "a.json", "--target", "ill"),
        ),
    ],
)
def test_long_commands(shown, command):
    code, text = shown(*command)
    assert code in (0, 1)
    assert_silent(text)


def test_values_of_the_data_in_a_schema_that_is_wrong(shown, table):
    text = (table / "schema.toml").read_text()
    for before, after in (
        ('"Zyxwvut-hermit"', '"Zyxwvut-hermit", "Zyxwvut-hermit"'),
        ('"Zyxwvut-hermit"', '"Zyxwvut-hermit", 987654'),
        ('["Zyxwvut-hermit"', '"Zyxwvut-hermit" # ["'),
        ('"1931-07-23"', '"1931-07-230"'),
        ('"1931-07-23"', "987654"),
        ("987654.37]", "987654.37, 987654.38]"),
        ("987654.37]", '"987654.37"]'),
        ("31177]", "-31177]"),
        ("31177]", "31177"),
    ):
        assert before in text
        (table / "wrong.toml").write_text(text.replace(before, after, 1))
        code, said = shown("synth", "data.csv", "-o", "out.csv", "--schema", "wrong.toml")
        assert code == 2, (after, said)
        assert_silent(said)


@pytest.mark.parametrize("error", [KeyError, ValueError, OSError, AssertionError])
def test_a_fault_of_our_own_says_where_and_not_what(shown, monkeypatch, error):
    def fail(*_, **__):
        raise error(PLANTED["job"])

    monkeypatch.setattr("understudy.data.codec.Codec.encode", fail)
    code, text = shown("synth", "data.csv", "-o", "out.csv")
    assert code == (2 if error is OSError else 3)
    assert_silent(text)
    if error is not OSError:
        assert "test_show_records.py, line" in text  # the place, since -v was given
    code, text = shown("synth", "data.csv", "-o", "out.csv", "--show-records")
    assert ("hermit" in text) == (error is not OSError)


def test_memory_that_runs_out_is_one_message(shown, monkeypatch):
    def fail(*_, **__):
        raise MemoryError(PLANTED["job"])

    monkeypatch.setattr("understudy.data.codec.Codec.encode", fail)
    code, text = shown("synth", "data.csv", "-o", "out.csv")
    assert code == 2
    assert "is not enough" in text
    assert "Traceback" not in text
    assert_silent(text)


@pytest.mark.parametrize(
    "content",
    [
        '[{"job": "Zyxwvut-hermit", "job2": "Zyxwvut-hermit"}, {"job": "Zyxwvut-hermit"}]',
        '{"job": "Zyxwvut-hermit",\n"income": [987654.37, 987654.37]}\n',
        'a,b\n1,2\n"Zyxwvut-hermit,3\n4,5\n',
        "a,b\n1,2\n987654.37,31177,1931-07-23,Qwzporphyria\n",
        "a,b\n1,\0Zyxwvut-hermit\n",
        'job\n"Zyxwvut-hermit"x"31177"\n',
    ],
)
def test_files_that_are_no_tables(shown, table, content):
    (table / "odd.csv").write_text(content)
    code, text = shown("synth", "odd.csv", "-o", "out.csv")
    assert code in (0, 2)
    assert_silent(text)


def test_with_the_option_values_are_shown(shown):
    command = ("synth", "data.csv", "-o", "out.csv", "--schema", "without.toml")
    _, text = shown(*command, "--show-records")
    assert "Zyxwvut-hermit" in text
    assert "31177" in text
    _, text = shown(*command)
    assert_silent(text)
