"""Advice is executed as it is printed, on three tables: each command ends well and writes its file.

The last table has what real ones have: text, numbers, dates, gaps, names with spaces and quotes.
"""

from __future__ import annotations

import datetime as dt
import html
import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from understudy import Schema, load, read, write
from understudy.audit import Audit

ROWS = 300


def simulated():
    """Make people with a name of each awkward kind, and gaps in every column but the first."""
    rng = np.random.default_rng(1)
    age = rng.integers(18, 90, ROWS)
    income = np.round(rng.lognormal(7, 1, ROWS) * (1 + age / 50), 2)
    ill = np.where(rng.random(ROWS) < 0.1 + 0.8 * (age > 60), "yes, badly", "no")
    day = [dt.date(2020, 1, 1) + dt.timedelta(days=int(days)) for days in rng.integers(0, 60, ROWS)]
    names = [f"street {number}" for number in rng.permutation(ROWS)]
    table = pl.DataFrame(
        {
            "age": age,
            "home town": rng.choice(
                ["Ulm", "Rom", "Bad Ems", "Au"], ROWS, p=[0.6, 0.3, 0.09, 0.01]
            ),
            "partner's income": income,
            "admitted": day,
            'the "ill"': ill,
            "street": names,
        }
    )
    gaps = rng.random((ROWS, 6)) < 0.05
    return table.with_columns(
        pl.when(pl.Series(gaps[:, place])).then(None).otherwise(pl.col(name)).alias(name)
        for place, name in enumerate(table.columns)
        if place
    )


TABLES = {
    "cmc": (
        lambda: load("cmc").head(ROWS),
        ("--keys", "age,education,children", "--sensitive", "husband_education",
         "--target", "method"),
    ),
    "buyer_beware": (
        lambda: load("buyer_beware"),
        ("--keys", "var1,var2,var3", "--sensitive", "var4"),
    ),
    "simulated": (
        simulated,
        ("--keys", "age,home town,partner's income", "--sensitive", 'the "ill"'),
    ),
}  # fmt: skip


@pytest.fixture
def table(request, folder):
    """Write a table into a folder with a space in its name; return its path and what is asked."""
    make, asked = TABLES[request.param]
    path = folder / "my data" / f"{request.param} table.csv"
    path.parent.mkdir()
    write(make(), path)
    return path.relative_to(folder), asked


def printed(out):
    """Return the commands of a terminal."""
    return [line.strip() for line in out.splitlines() if line.startswith("    understudy ")]


def in_report(path):
    """Return the commands of a report's advice."""
    found = re.findall(r"<ul class=\"advice\">.*?</ul>", path.read_text(), re.DOTALL)
    lines = [one for part in found for one in re.findall(r"<pre>(.*?)</pre>", part)]
    return [html.unescape(re.sub(r"</?span>", "", one)) for one in lines]


@pytest.fixture
def execute(call):
    """Run commands as a shell would; return the kinds that ran."""

    def run(commands):
        kinds = set()
        for line in commands:
            for part in line.split(" && "):
                program, *words = shlex.split(part, comments=True)
                assert program == "understudy"
                output = Path(words[words.index("-o") + 1])
                assert not output.exists()
                code, _, err = call("-q", *words)
                assert code == 0, f"{part}\n{err}"
                assert output.exists()
                kinds.add(words[0])
        return kinds

    return run


CHEAP = ("--measures", "quick", "--classifiers", "none")


RULE = "if age < 20 then admitted = '2020-01-01'"


@pytest.mark.parametrize("table", ["simulated"], indirect=True)
def test_advice_of_a_run_on_awkward_data(table, call, execute, folder):
    path, asked = table
    (folder / "c.toml").write_text("[columns.age]\nminbucket = 7\n")
    code, out, err = call(
        *("run", path, "-o", "the release", "--method", "cart", *asked, *CHEAP, "--seed", "3"),
        *("--smoothing-leaves", "0", "--drop", "street", "--settings", "c.toml", "--rule", RULE),
    )
    assert code == 0, err
    commands = printed(out)
    assert commands == in_report(folder / "the release" / "confidential" / "report.html")
    assert execute(commands) == {"control", "run"}
    assert "Then audit the new release" not in out
    assert "street" not in pl.read_csv("protected/synthetic.csv").columns
    (synthesis,) = [one for one in commands if "-o protected " in one]
    for words in ("--seed 3", "--drop street", "--settings c.toml", f"--rule {shlex.quote(RULE)}"):
        assert words in synthesis
    # As many records are kept back, and the same ones: the audit is of the same kind.
    first, second = (
        Audit.from_json(folder / made / "confidential" / "audit.json").findings
        for made in ("the release", "protected")
    )
    assert first.notes == second.notes
    assert (first.keys, first.sensitive, first.rows) == (second.keys, second.sensitive, second.rows)
    assert first.measures == second.measures


@pytest.mark.parametrize("table", ["cmc"], indirect=True)
def test_advice_repeats_control_records_policy_and_seed(table, call, execute):
    path, asked = table
    data = read(path)
    write(data.tail(60), "control.csv")
    write(data.head(240), "kept.csv")
    Path("policy.toml").write_text("[limits]\npower = 0.2\n")
    code, _, err = call(
        *("synth", "kept.csv", "-o", "s.csv", "--method", "cart", "--seed", "7"),
        *("--save-model", "s.us"),
    )
    assert code == 0, err
    code, out, err = call(
        *("audit", "kept.csv", "s.csv", "--model", "s.us", *asked, *CHEAP),
        *("--control", "control.csv", "--policy", "policy.toml", "--fail-if", "gcap.gain > 100%"),
    )
    assert code == 0, err
    assert "limits of your own: power is 0.2" in " ".join(out.split())
    commands = printed(out)
    audits = [one for one in commands if "understudy audit" in one]
    assert audits
    for words in ("--control control.csv", "--policy policy.toml", "--fail-if 'gcap.gain > 100%'"):
        assert all(words in one for one in audits)
    assert all("--seed 7" in one for one in commands if "understudy synth" in one)
    assert execute(commands) >= {"synth", "audit"}


@pytest.mark.parametrize("table", ["cmc"], indirect=True)
def test_a_schema_that_does_not_fit_all_records_is_not_taken(table, call, execute):
    path, asked = table
    data = read(path).sort("children")
    write(data.head(-20), "part.csv")
    synth = ("-o", "s.csv", "--method", "cart", "--smoothing-leaves", "0", "--seed", "7")
    assert call("synth", "part.csv", *synth, "--save-model", "s.us")[0] == 0
    code, out, err = call("audit", path, "s.csv", "--model", "s.us", *asked, *CHEAP)
    assert code == 0, err
    (first, *_) = [one for one in printed(out) if "understudy synth" in one]
    assert "--schema" not in first
    assert execute([first]) == {"synth"}


@pytest.mark.parametrize("table", ["cmc"], indirect=True)
def test_advice_about_a_private_release_takes_its_schema_from_the_model(table, call, execute):
    path, asked = table
    Schema.infer(read(path)).save("public.toml")
    code, _, err = call(
        *("synth", path, "-o", "s.csv", "--method", "marginals", "--epsilon", "4"),
        *("--public-schema", "public.toml", "--save-model", "s.us"),
    )
    assert code == 0, err
    code, out, err = call("audit", path, "s.csv", "--model", "s.us", *asked, *CHEAP)
    assert code == 0, err
    assert "mode=" not in out  # the command line does not speak of arguments
    (more_noise,) = [one for one in printed(out) if "-o smaller-epsilon.csv" in one]
    assert "--epsilon 2 --public-schema s.us" in more_noise
    assert execute([more_noise]) == {"synth"}


@pytest.mark.parametrize("table", ["cmc"], indirect=True)
def test_advice_of_an_audit_without_the_model(table, call, execute):
    path, asked = table
    # Copies of people: some once, so that they look like one person, and most twice.
    data = read(path).drop("religion")
    write(pl.concat([data.head(60), data.tail(120), data.tail(120)]), "a copy.csv")
    code, out, err = call("audit", path, "a copy.csv", *asked, *CHEAP, "--seed", "2")
    assert code == 0, err
    commands = printed(out)
    assert execute(commands) == {"synth", "audit", "control"}
    assert all("--drop religion" in one for one in commands if "understudy synth" in one)
    assert all("--seed 2" in one for one in commands if "understudy audit" in one)


@pytest.mark.parametrize("table", ["cmc"], indirect=True)
def test_advice_of_a_comparison(table, call, execute, folder):
    path, asked = table
    pl.read_csv(path).drop("working").write_csv("copy.csv")
    code, out, err = call(
        *("compare", path, "copy.csv", "--methods", "cart", *asked, *CHEAP, "-o", "report.html"),
    )
    assert code == 0, err
    reported = in_report(folder / "report.html")
    commands = printed(out)
    keep, *proposed = commands
    assert " -o cart-release --method cart " in keep
    assert len(proposed) == 2
    assert set(commands) < set(reported)
    # All that a comparison proposes is run by the slow tests.
    assert execute(commands[:1]) == {"run"}
    # A file may be made from all records, so that none were kept back.
    assert all("--holdout 0 " in one for one in commands)
    removals = [one for one in reported if "understudy control" in one]
    assert execute(removals[:1]) == {"run", "control"}


@pytest.mark.slow
def test_advice_of_methods_keeps_records_back(call, execute, folder):
    """What is compared already is not proposed, and names with commas can be typed."""
    table = simulated().rename({"home town": "town, home"}).drop("street", "admitted")
    write(table, "data.csv")
    ill = 'the "ill"'
    code, out, err = call(
        *("compare", "data.csv", "--methods", "cart", "--protect", f"{ill}:", *CHEAP),
        *("--keys", 'age,"town, home"', "--sensitive", ill, "--seed", "4", "-o", "report.html"),
    )
    assert code == 0, err
    reported = in_report(folder / "report.html")
    assert set(printed(out)) <= set(reported)
    assert not any(" -o cart-protected " in one for one in reported)
    assert execute(list(dict.fromkeys(reported))) >= {"run"}
    made = sorted(folder.glob("cart*/confidential/audit.json"))
    findings = [Audit.from_json(path).findings for path in made]
    assert all("were kept back" in one.notes[0] for one in findings)
    assert all(one.keys == ("age", "town, home") for one in findings)


METHODS = ("independent", "bayes", "cart", "copula", "random")


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES, indirect=True)
@pytest.mark.parametrize("method", METHODS)
def test_every_advice_of_run_and_audit(table, method, call, execute, folder):
    path, asked = table
    code, out, err = call("run", path, "-o", "made", "--method", method, *asked, *CHEAP)
    assert code == 0, err
    execute(printed(out))
    # As from another tool, with a copy of every record: much to advise.
    (folder / "other").mkdir()
    (folder / "other" / "release 1.csv").write_bytes(path.read_bytes())
    code, out, err = call("audit", path, "other/release 1.csv", *asked, *CHEAP)
    assert code == 0, err
    first = execute(printed(out))
    # With the model, the method is known; names of files are taken by now.
    model = ("--model", "made/confidential/model.us")
    code, out, err = call("audit", path, "other/release 1.csv", *asked, *CHEAP, *model)
    assert code == 0, err
    second = execute(printed(out))
    if path.name != "buyer_beware table.csv":  # where nobody stands out
        assert first >= {"synth", "audit"}
        assert second >= {"audit"}  # without control records


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES, indirect=True)
def test_every_advice_of_compare(table, call, execute, folder):
    path, asked = table
    sensitive = asked[asked.index("--sensitive") + 1]
    (folder / "copy.csv").write_bytes(path.read_bytes())
    code, out, err = call(
        *(
            "compare",
            path,
            "copy.csv",
            "--methods",
            ",".join(METHODS),
            "--protect",
            f"{sensitive}:",
        ),
        *(*asked, *CHEAP, "-o", "report.html", "--seed", "4"),
    )
    assert code == 0, err
    reported = in_report(folder / "report.html")
    assert set(printed(out)) <= set(reported)
    ran = execute(list(dict.fromkeys(reported)))
    assert ran or path.name == "buyer_beware table.csv"


@pytest.mark.slow
@pytest.mark.parametrize("table", ["simulated"], indirect=True)
def test_advice_on_files_of_another_dialect(table, call, execute):
    path, asked = table
    data = read(path)
    for file in ("data;1.txt", "copy.txt"):
        Path(file).write_text(
            data.write_csv(separator=";", decimal_comma=True, null_value="-9"), encoding="latin-1"
        )
    csv = ("--delimiter", ";", "--decimal", ",", "--encoding", "latin-1", "--missing", "-9")
    code, out, err = call("audit", "data;1.txt", "copy.txt", *asked, *CHEAP, *csv)
    assert code == 0, err
    commands = printed(out)
    assert execute(commands) >= {"synth", "audit"}
    assert all("--delimiter ';' --decimal ," in one for one in commands)
