"""Tables in databases: read by address, only read, with nothing of a password in any message."""

from __future__ import annotations

import datetime as dt
import os
import pwd
import shutil
import socket
import sqlite3
import subprocess
from decimal import Decimal
from pathlib import Path

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy import Independent, Schema
from understudy.data import read, scan
from understudy.data.files import suffix_like
from understudy.data.kinds.database import Address, is_address, quoted, without_passwords
from understudy.errors import DataError
from understudy.showing import showing_records

PASSWORD = "Quetzalcoatl"  # noqa: S105  # of nobody
STRANGE = 'odd "name"; DROP TABLE people; --'


@pytest.fixture
def survey(tmp_path, monkeypatch):
    """Make a database of SQLite with two tables, in the working folder."""
    monkeypatch.chdir(tmp_path)
    with sqlite3.connect("survey.db") as connection:
        connection.execute("CREATE TABLE people (age INTEGER, town TEXT, day TEXT, x REAL)")
        rows = [(None if row < 2000 else row, "Bonn", "2020-01-31", row / 2) for row in range(3000)]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
        connection.execute(f"CREATE TABLE {quoted(STRANGE)} (a INTEGER)")
        connection.execute(f"INSERT INTO {quoted(STRANGE)} VALUES (1)")  # noqa: S608
    connection.close()
    return tmp_path / "survey.db"


@pytest.fixture
def duck(tmp_path, monkeypatch):
    """Make a database of DuckDB, with a table in a schema of its own."""
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("survey.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT range AS age FROM range(5)")
        connection.execute(
            "CREATE SCHEMA other; CREATE TABLE other.sizes AS SELECT 8.80::DECIMAL(10, 2) AS price,"
            " DATE '2020-01-31' AS day, 'M'::ENUM ('S', 'M', 'L') AS size"
        )
    return tmp_path / "survey.duckdb"


def test_a_table_of_sqlite(survey):
    table = read("sqlite:///survey.db?table=people")
    assert table.height == 3000
    assert table.schema == {"age": pl.Int64, "town": pl.String, "day": pl.Date, "x": pl.Float64}
    assert table["age"].null_count() == 2000
    assert read(f"sqlite:///{survey}?table=people").equals(table)


def test_a_question_in_sql(survey):
    table = read("sqlite:///survey.db?query=SELECT age %2B 1 AS next FROM people WHERE x > 1400")
    assert table["next"].max() == 3000
    assert scan("sqlite:///survey.db?query=SELECT x FROM people LIMIT 7").rows == 7


def test_a_name_is_only_ever_a_name(survey):
    assert read(f"sqlite:///survey.db?table={STRANGE}").rows() == [(1,)]
    assert read("sqlite:///survey.db?table=people").height == 3000


def test_a_table_of_duckdb(duck):
    assert read("duckdb:///survey.duckdb").height == 5
    table = read("duckdb:///survey.duckdb?table=other.sizes")
    assert table.rows() == [(Decimal("8.80"), dt.date(2020, 1, 31), "M")]
    assert table["size"].dtype == pl.Enum(["S", "M", "L"])


def test_a_database_is_not_written(survey, duck):
    before = survey.read_bytes(), duck.read_bytes()
    for address in ("sqlite:///survey.db", "duckdb:///survey.duckdb"):
        for query in ("DELETE FROM people", "DROP TABLE people", "CREATE TABLE x AS SELECT 1"):
            with pytest.raises(DataError):
                read(f"{address}?query={query}")
    assert (survey.read_bytes(), duck.read_bytes()) == before


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("sqlite:///survey.db", "holds 'odd .*', 'people'. Say which one to read: .*table=NAME"),
        ("sqlite:///survey.db?table=poeple", "there is no such table"),
        (
            "sqlite:///servey.db?table=people",
            "There is no file servey.db. Did you mean 'survey.db'",
        ),
        ("sqlite://survey.db?table=people", "three slashes before its path"),
        ("sqlite:///survey.db?table=a&query=b", "table= or query=, not both"),
        ("sqlite:///survey.db?table=", "nothing after table="),
        ("sqlite:///survey.db?tabel=people", "got 'tabel'"),
        ("sqlite:///survey.db?query=SELEKT x", "is not SQL"),
        ("sqlite:///survey.db?query=SELECT age FROM people WHERE 0", "has a header but no rows"),
        ("sqlite:///survey.db?query=SELECT x'00ff' AS bytes", "'bytes' holds bytes"),
        ("sqlite:///other.db?table=x", "no database of SQLite, or it is damaged"),
        ("duckdb:///other.db?table=x", "no database of DuckDB, or it is damaged"),
    ],
)
def test_what_is_not_there_is_told(survey, address, message):
    Path("other.db").write_text("a,b\n1,2\n" * 100)
    with pytest.raises(DataError, match=message):
        read(address)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT town::INT FROM (SELECT 'Zyxwvut' AS town)", "cannot be done, such as to read"),
        ("SELECT towm FROM people", "names a column or a function that is not there"),
        ("SELECT error('Zyxwvut')", "its text is not shown"),
    ],
)
def test_what_a_question_fails_on_is_told_without_values(duck, query, message):
    with pytest.raises(DataError, match=message) as error:
        read(f"duckdb:///survey.duckdb?query={query}")
    assert "Zyxwvut" not in str(error.value).replace(query, "")


def test_the_words_of_a_database_are_shown_where_records_may_be(duck):
    with showing_records(), pytest.raises(DataError, match=r"cannot be read \(.*Zyxwvut"):
        read("duckdb:///survey.duckdb?query=SELECT error('Zyx' || 'wvut')")


def test_the_extra_is_named_where_it_is_missing(survey, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(DataError, match=r"SQLite needs .* pip install 'understudy\[sql\]'"):
        read("sqlite:///survey.db?table=people")


def test_an_address_is_no_file():
    assert is_address("postgres://host/db")
    assert is_address("SQLite:///x.db")
    assert not is_address("data/sqlite.csv")
    assert suffix_like("sqlite:///survey.db?table=people") == ".csv"
    assert Address("postgresql://ann@host/db?table=public.people").name == "public.people"


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ann:{PASSWORD}@host:5432/db?table=people",
        f"postgres://ann:{PASSWORD}@host/db?query=SELECT '@'",
        f"postgresql://ann:{PASSWORD}@more@host/db",
        f"postgresql://ann:12/{PASSWORD}@host/db",
        f"postgresql://ann:a?{PASSWORD}@host/db",
        f"postgresql://:{PASSWORD}@host/db",
        f"postgresql://ann:{PASSWORD}",
        f"postgresql://host/db?user=ann&password={PASSWORD}&table=x",
        f"postgresql://host/db?sslpassword={PASSWORD}",
    ],
)
def test_no_password_is_shown(address):
    for text in (str(Address(address)), repr(Address(address)), without_passwords(f"x={address}")):
        assert PASSWORD not in text
        assert "postgres" in text


@pytest.mark.parametrize(
    "plain", ["postgresql://host:5432/db?query=SELECT '@'", "postgresql://ann@host/db", "a:b@c"]
)
def test_what_is_no_password_is_left(plain):
    assert without_passwords(plain) == plain


@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=8).filter(
        lambda x: "@" not in x
    )
)
def test_no_password_of_any_signs_is_shown(password):
    shown = str(Address(f"postgresql://ann:{password}@host/db?table=people"))
    assert shown == "postgresql://ann@host/db?table=people" or password not in shown


def programs():
    """Return the folder with the programs of a PostgreSQL server; None if there is none."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("initdb")
    folders += [Path(found).parent] if found else []
    return next(
        (one for one in folders if (one / "initdb").exists() and (one / "pg_ctl").exists()), None
    )


def nobody():
    """Return arguments that run a program as somebody who may start a server."""
    if os.name != "posix" or os.geteuid():
        return {}
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    return None


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Start a real PostgreSQL server for these tests; return its address with a password."""
    folder = programs()
    if folder is None:
        pytest.skip("there is no PostgreSQL server here (apt install postgresql)")
    user = nobody()
    if user is None:
        pytest.skip("a server is not started as root, and there is nobody else")
    import tempfile

    with tempfile.TemporaryDirectory(prefix="us-pg-") as place:  # a short path, for its socket
        if user:
            os.chown(place, user["user"], user["group"])
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]

        def run(program, *arguments):
            words = [folder / program, "-D", f"{place}/data", *arguments]
            subprocess.run(words, cwd=place, timeout=120, check=True, capture_output=True, **user)

        (Path(place) / "password").write_text(PASSWORD)
        options = f"-p {port} -k {place} -c listen_addresses=127.0.0.1 -c fsync=off"
        secret = f"--pwfile={place}/password"
        try:
            run("initdb", "-U", "ann", "-A", "scram-sha-256", secret, "-E", "UTF8", "--no-sync")
            run("pg_ctl", "-o", options, "-l", f"{place}/log", "-w", "start")
        except (subprocess.SubprocessError, OSError) as error:
            pytest.skip(f"PostgreSQL cannot be started here: {type(error).__name__}")
        try:
            yield f"postgresql://ann:{PASSWORD}@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "-m", "immediate", "stop")


@pytest.fixture
def people(server):
    """Fill a table with all types that a survey may have."""
    import adbc_driver_postgresql.dbapi as postgresql

    with postgresql.connect(server) as connection, connection.cursor() as cursor:
        for order in (
            'DROP SCHEMA IF EXISTS "My Data" CASCADE',
            'CREATE SCHEMA "My Data"',
            """CREATE TYPE "My Data".mood AS ENUM ('sad', 'fine', 'great')""",
            'CREATE TABLE "My Data"."the.people" (age int, price numeric(10, 2), mood '
            '"My Data".mood, day date, at timestamptz, ok bool, id uuid, tags int[], code char(4), '
            "share numeric)",
            """INSERT INTO "My Data"."the.people" SELECT
            g, g + 0.80, (ARRAY['sad', 'fine'])[1 + g % 2]::"My Data".mood, '2020-01-31',
            '2020-01-31 10:00+02', g > 3, '12345678-1234-1234-1234-123456789abc', '{1,2}', 'ab', 0.5
            FROM generate_series(1, 40) g""",
            'INSERT INTO "My Data"."the.people" DEFAULT VALUES',
        ):
            cursor.execute(order)
        connection.commit()
    return f'{server}?table="My Data"."the.people"'


def test_a_table_of_postgresql(people):
    table = read(people)
    assert table.height == 41
    assert table.row(0) == (
        1,
        Decimal("1.80"),
        "fine",
        dt.date(2020, 1, 31),
        dt.datetime(2020, 1, 31, 8, tzinfo=dt.UTC),
        False,
        "12345678-1234-1234-1234-123456789abc",
        "{1,2}",
        "ab",
        0.5,
    )
    assert table["mood"].dtype == pl.Enum(["sad", "fine", "great"])
    assert table.row(-1) == (None,) * 10
    kept = table.drop("id", "tags")
    assert Schema.infer(kept)["mood"].levels == ("sad", "fine", "great")
    assert Independent(random_state=1).fit(kept).sample(5).schema == kept.schema


def test_a_question_to_postgresql(server, people):
    query = 'SELECT count(*) AS n FROM "My Data"."the.people" -- all of them'
    table = read(f"{server}?query={query}")
    assert table.rows() == [(41,)]


def test_postgresql_is_only_read(server, people):
    for query in ('DELETE FROM "My Data"."the.people"', "CREATE TABLE x AS SELECT 1"):
        with pytest.raises(DataError, match=r"would change the database|is not SQL"):
            read(f"{server}?query={query}")
    assert read(people).height == 41


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("/postgres", "/nowhere"), "there is no such table, column, database or user"),
        ((PASSWORD, f"{PASSWORD}x"), "does not let this user in"),
        (("postgres?", "postgres?connect_timeout=3&"), "there is no such table"),
        (("127.0.0.1:", "127.0.0.1:1"), "the server does not answer|cannot be read"),
    ],
)
def test_a_server_that_does_not_answer_gets_one_sentence(server, change, message):
    with pytest.raises(DataError, match=message) as error:
        read(f"{server}?table=nowhere".replace(*change))
    assert PASSWORD not in str(error.value)
    assert error.value.__cause__ is None


def test_a_database_without_tables_is_told(server, people):
    with pytest.raises(DataError, match="holds no table"):
        read(server)
