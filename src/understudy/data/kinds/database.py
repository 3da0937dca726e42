"""A table in a database, by its address: SQLite, DuckDB and PostgreSQL, which are only read.

An address is ``sqlite:///survey.db?table=people``, ``duckdb:///survey.duckdb?table=people`` or
``postgresql://user@host/database?table=people``. In the place of ``table=`` there may be ``query=``
with a question in SQL. A password in an address is used, and never shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, unquote

import polars as pl
import pyarrow as pa

from understudy.data.kinds import require
from understudy.errors import DataError, did_you_mean
from understudy.showing import reason

_SCHEME = re.compile(r"(sqlite|duckdb|postgresql|postgres)://", re.IGNORECASE)
_USER = re.compile(r"\bpostgres(?:ql)?://[^:/@?]*:", re.IGNORECASE)
_PORT = re.compile(r"\d+(?:[/?]|$)")
_SECRET = re.compile(r"([?&](?:ssl)?password=)[^&\s]*", re.IGNORECASE)
_PART = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')
_NEEDS = {
    "sqlite": ("SQLite", ("adbc_driver_sqlite",)),
    "duckdb": ("DuckDB", ("duckdb",)),
    "postgresql": ("PostgreSQL", ("adbc_driver_postgresql",)),
}
_TEXTS = ("text", "varchar", "bpchar", "name", "char", "numeric", "uuid", "json", "jsonb")
"""Types of PostgreSQL that are no enums."""

_REASONS = {
    "not a database|malformed|corrupt|not a valid duckdb|disk image|in-memory": "the file is no "
    "database of {program}, or it is damaged",
    "no such table|does not exist|Table with name": "there is no such table, column, database or "
    "user",
    "connection refused|could not connect|failed to connect|not translate|time(d )?out": "the "
    "server does not answer, or does not let this user in",
    "authentication|password": "the server does not let this user in",
    "permission denied": "this user may not read it",
    "read.?only": "the question would change the database, which is only read",
    "syntax error|parser error": "the question is not SQL that this database knows",
    "no such (column|function)|binder error|catalog error": "the question names a column or a "
    "function that is not there",
    "conversion error|invalid input syntax|out of range|division by zero": "the question asks "
    "something of some values that cannot be done, such as to read a text as a number",
    "lock": "another program is writing to it",
}
"""What databases say, and what is said of it: their own words may hold values of records."""

_ALL_ROWS = str(2**31 - 2)
_TABLES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
    "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    "duckdb": "SELECT table_name FROM information_schema.tables "
    "WHERE table_schema = 'main' ORDER BY table_name",
    "postgresql": "SELECT table_name::text FROM information_schema.tables "
    "WHERE table_schema = ANY (current_schemas(false)) ORDER BY table_name",
}


def without_passwords(text: str) -> str:
    """Return a text in which the passwords of addresses are left out.

    Examples
    --------
    >>> without_passwords("understudy schema postgresql://ann:secret@host/db?table=people")
    'understudy schema postgresql://ann@host/db?table=people'
    """
    text = _SECRET.sub(r"\1...", text)
    user = _USER.search(text)
    if user is None:
        return text
    start, after = user.end(), text.partition("?")[0].rfind("@")
    if after < start:
        if _PORT.match(text, start):
            return text
        # A question mark in the password, or nothing behind it: rather too little is shown.
        after = text.rfind("@")
        after = after if after >= start else len(text)
    return text[: start - 1] + text[after:]


def is_address(text: object) -> bool:
    """Return whether a text is the address of a table in a database.

    Examples
    --------
    >>> is_address("sqlite:///survey.db?table=people"), is_address("survey.db")
    (True, False)
    """
    return isinstance(text, Address) or (isinstance(text, str) and bool(_SCHEME.match(text)))


@dataclass(frozen=True)
class Address:
    """Where a table in a database is; as text it has no password."""

    typed: str

    def __str__(self) -> str:
        return without_passwords(self.typed)

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"

    @property
    def name(self) -> str:
        """What the table is called, without where it is."""
        return self.table or (self.file.name if self.file is not None else self.program)

    @cached_property
    def _parts(self) -> tuple[str, list[str], dict[str, str]]:
        """The address without what says which table, its other settings, and what says it."""
        base, _, settings = self.typed.partition("?")
        others, ours = [], {}
        for setting in filter(None, settings.split("&")):
            name, _, value = setting.partition("=")
            if name in ("table", "query") and name not in ours:
                ours[name] = unquote(value)
            else:
                others.append(setting)
        return base, others, ours

    @property
    def program(self) -> str:
        """The program of the database."""
        scheme = self.typed.partition(":")[0].lower()
        return "postgresql" if scheme == "postgres" else scheme

    @property
    def file(self) -> Path | None:
        """The file of a database that is one."""
        if self.program == "postgresql":
            return None
        base = self._parts[0]
        path = unquote(base.partition("://")[2])
        if not path.startswith("/"):
            raise DataError(
                f"{self}: a database in a file has three slashes before its path, as in "
                f"{self.program}:///{path or 'survey.db'}?table=NAME."
            )
        return Path(path[1:])

    def database_uri(self) -> str:
        """Return the address of the database itself, with the password."""
        base, others, _ = self._parts
        return base + ("?" + "&".join(others) if others else "")

    def check(self) -> None:
        """Raise if the address cannot be one."""
        ours = self._parts[2]
        if len(ours) > 1:
            raise DataError(f"{self}: give table= or query=, not both.")
        empty = [name for name, value in ours.items() if not value.strip()]
        if empty:
            raise DataError(f"{self}: there is nothing after {empty[0]}=.")
        file = self.file
        if file is not None and self._parts[1]:
            raise DataError(
                f"{self}: only table= and query= can stand after the question mark; got "
                f"{self._parts[1][0].partition('=')[0]!r}."
            )
        if file is not None and not file.is_file():
            near = [item.name for item in file.parent.glob("*")]
            raise DataError(f"There is no file {file}.{did_you_mean(file.name, near)}")

    def question(self, run: Any) -> str:  # noqa: ANN401  # asks the database
        """Return the table as a question in SQL; if there is only one, it need not be named."""
        ours = self._parts[2]
        if "query" in ours:
            return ours["query"].strip().rstrip(";")
        if "table" in ours:
            parts = [ours["table"]] if self.program == "sqlite" else _name_parts(ours["table"])
            return f"SELECT * FROM {'.'.join(map(quoted, parts))}"  # noqa: S608  # quoted
        found = run(_TABLES[self.program])
        if len(found) == 1:
            return f"SELECT * FROM {quoted(found[0])}"  # noqa: S608  # quoted
        listed = ", ".join(map(repr, found)) or "no table"
        joined = "&" if self._parts[1] else "?"
        raise DataError(f"{self} holds {listed}. Say which one to read: {self}{joined}table=NAME.")

    @property
    def table(self) -> str:
        """The table that is named; empty if none is."""
        return self._parts[2].get("table", "")


def _name_parts(name: str) -> list[str]:
    """Return the parts of a name such as ``public.people``; one with a dot is in double quotes.

    Examples
    --------
    >>> _name_parts("public.people"), _name_parts('"a.b"')
    (['public', 'people'], ['a.b'])
    """
    found = [quoted_.replace('""', '"') or plain for quoted_, plain in _PART.findall(name)]
    return found if found and name.count('"') % 2 == 0 else [name]


def quoted(name: str) -> str:
    r"""Return the name of a table or column as SQL takes it, whatever is in it.

    Examples
    --------
    >>> quoted('people"; DROP TABLE x')
    '"people""; DROP TABLE x"'
    """
    return '"{}"'.format(name.replace('"', '""'))


def read_address(address: Address) -> pl.DataFrame:
    """Return a table of a database."""
    address.check()
    name, packages = _NEEDS[address.program]
    require(f"Reading from {name}", packages, "sql")
    frame = _READERS[address.program](address)
    frame.columns = [str(column) for column in frame.columns]
    return frame


def mixes_in(address: Address) -> Callable[[str], bool]:
    """Return what says whether a column of text may hold numbers: in SQLite, any may."""
    return lambda _: address.program == "sqlite"


@contextmanager
def _asking(address: Address, kinds: tuple[type[BaseException], ...]) -> Iterator[None]:
    """Say in one sentence why a database does not answer, without passwords and values."""
    try:
        yield
    except kinds as error:
        raise DataError(f"{address} cannot be read{_reason(error, address)}.") from None


def _reason(error: BaseException, address: Address) -> str:
    """Return what a database says about a question, as far as that holds no values."""
    text = str(error)
    for pattern, said in _REASONS.items():
        if re.search(pattern, text, re.IGNORECASE):
            return f": {said.format(program=_NEEDS[address.program][0])}"
    return f" ({without_passwords(reason(error))})"


def _read_sqlite(address: Address) -> pl.DataFrame:
    import adbc_driver_manager
    import adbc_driver_sqlite.dbapi as sqlite

    uri = f"file:{quote(str(cast('Path', address.file)))}?mode=ro"
    with (
        _asking(address, (adbc_driver_manager.Error, pa.ArrowException)),
        sqlite.connect(uri) as connection,
        connection.cursor() as cursor,
    ):
        # All rows decide the type of a column, as in CSV files.
        cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": _ALL_ROWS})

        def run(question: str) -> pa.Table:
            cursor.execute(question)
            return cursor.fetch_arrow_table()

        question = address.question(lambda text: run(text)[0].to_pylist())
        table = run(question)
    return _without_bytes(cast("pl.DataFrame", pl.from_arrow(table)), address)


def _read_duckdb(address: Address) -> pl.DataFrame:
    import duckdb

    with (
        _asking(address, (duckdb.Error,)),
        duckdb.connect(str(address.file), read_only=True) as connection,
    ):
        question = address.question(
            lambda text: [name for (name,) in connection.execute(text).fetchall()]
        )
        asked = connection.sql(question)
        if asked is None:  # it was no question but an order
            raise DataError(f"{address}: query= must be a SELECT.")
        table = asked.to_arrow_table().unify_dictionaries()
    frame = cast("pl.DataFrame", pl.from_arrow(table))
    levels = {
        field.name: pl.Enum(column.chunk(0).dictionary.to_pylist())
        for field, column in zip(table.schema, table.columns, strict=True)
        if pa.types.is_dictionary(field.type) and column.num_chunks
    }
    return _without_bytes(frame.cast(levels), address)


def _read_postgresql(address: Address) -> pl.DataFrame:
    import adbc_driver_manager
    import adbc_driver_postgresql.dbapi as postgresql

    with (
        _asking(address, (adbc_driver_manager.Error, pa.ArrowException)),
        postgresql.connect(address.database_uri()) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
        connection.commit()

        def run(question: str) -> pa.Table:
            cursor.execute(question)
            return cursor.fetch_arrow_table()

        question = address.question(lambda text: run(text)[0].to_pylist())
        form = run(f"SELECT * FROM ({question}\n) AS asked LIMIT 0").schema  # noqa: S608  # the user's
        table = run(_as_plain_types(question, form))
        levels = {
            field.name: run(_levels_of(field.name, question))[0].to_pylist()
            for field in form
            if _type_name(field) not in _TEXTS and not _type_name(field).startswith("_")
            if not _is_plain(field) or pa.types.is_string(field.type)
        }
    return _from_postgresql(table, form, levels)


def _as_plain_types(question: str, form: pa.Schema) -> str:
    """Return a question for the same columns, those of types that we do not know as text."""
    columns = [
        f"{quoted(field.name)}{'' if _is_plain(field) else '::text'} AS {quoted(field.name)}"
        for field in form
    ]
    return f"SELECT {', '.join(columns)} FROM ({question}\n) AS asked"  # noqa: S608  # quoted


def _type_name(field: pa.Field) -> str:
    found: bytes = (field.metadata or {}).get(b"POSTGRESQL:type", b"")
    return found.decode()


def _is_plain(field: pa.Field) -> bool:
    if _type_name(field) == "numeric":
        return True
    kind = field.type
    return not (
        isinstance(kind, pa.BaseExtensionType)
        or pa.types.is_nested(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_interval(kind)
    )


def _levels_of(name: str, question: str) -> str:
    """Return a question for the levels of a column, in order; if it is no enum, it has none."""
    kind = f"SELECT pg_typeof({quoted(name)})::oid FROM ({question}\n) AS asked LIMIT 1"  # noqa: S608
    return (
        f"SELECT enumlabel::text FROM pg_catalog.pg_enum WHERE enumtypid = ({kind}) "  # noqa: S608
        "ORDER BY enumsortorder"
    )


def _from_postgresql(
    table: pa.Table, form: pa.Schema, levels: dict[str, Sequence[str]]
) -> pl.DataFrame:
    """Return a table with the types of PostgreSQL as ours."""
    columns = []
    for field, column in zip(form, table.columns, strict=True):
        series = cast("pl.Series", pl.from_arrow(_stored(column))).alias(field.name)
        if _type_name(field) == "numeric":
            series = _decimals(series, field)
        elif _type_name(field) == "bpchar":
            series = series.str.strip_chars_end(" ")
        elif levels.get(field.name):
            series = series.cast(pl.Enum(list(levels[field.name])))
        columns.append(series)
    return pl.DataFrame(columns)


def _stored(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return what stands behind a column of a type of the driver's own."""
    if not isinstance(column.type, pa.BaseExtensionType):
        return column
    return pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)


def _decimals(series: pl.Series, field: pa.Field) -> pl.Series:
    """Return numbers that the driver gives as text, with their decimals where they are declared."""
    declared = int((field.metadata or {}).get(b"POSTGRESQL:typmod", b"-1"))
    if declared >= 4 and not (series == "NaN").any():
        precision, scale = (declared - 4) >> 16, (declared - 4) & 0x7FF
        if precision <= 38 and scale <= precision:
            return series.cast(pl.Decimal(precision, scale))
    numbers = series.cast(pl.Float64)
    present = numbers.drop_nulls()
    whole = len(present) and present.is_finite().all() and (present % 1 == 0).all()
    return (
        series.cast(pl.Int64, strict=False) if whole and (present.abs() < 2**53).all() else numbers
    )


def _without_bytes(frame: pl.DataFrame, address: Address) -> pl.DataFrame:
    for name, kind in frame.schema.items():
        if kind == pl.Binary:
            raise DataError(
                f"{address}: the column {name!r} holds bytes. Leave it out with query=SELECT ..."
            )
    return frame


_READERS = {
    "sqlite": _read_sqlite,
    "duckdb": _read_duckdb,
    "postgresql": _read_postgresql,
}
