"""Options that several commands share: their types, and the help that a data steward reads.

The types of choices are spelled out here, since `--help` loads nothing that knows them.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.cli.option_groups import option, spelled
from understudy.errors import DataError, unknown_columns

if TYPE_CHECKING:
    from understudy.data import Dialect

ATTACKER = "The attacker"
AUDIT = "The audit"

Data = Annotated[Path, typer.Argument(help="The table: a CSV or Parquet file.", show_default=False)]
Original = Annotated[
    Path, typer.Argument(help="The original table: a CSV or Parquet file.", show_default=False)
]
Force = Annotated[bool, option("Replace files that already exist.", "--force")]
Json = Annotated[Path | None, option("Also write all results to this file, for programs.")]
Seed = Annotated[int, option("Number that decides everything random.", default=True, min=0)]
Keys = Annotated[
    str,
    option(
        "Columns that an attacker may know about a person, separated by commas.", panel=ATTACKER
    ),
]
Sensitive = Annotated[str, option("The column that the attacker wants to learn.", panel=ATTACKER)]
Target = Annotated[str, option("The column that the data will be used to predict.", panel=AUDIT)]
SchemaFile = Annotated[
    Path | None, option("What the columns are, from `understudy schema`.", default="inferred")
]
Copies = Annotated[
    int,
    option(
        "Synthetic tables to make. Several are numbered: synthetic-1.csv, ...",
        default=True,
        min=1,
    ),
]
Drop = Annotated[str, option("Columns to leave out, separated by commas.")]
Stream = Annotated[
    bool, option("Read the data in batches, for a file larger than memory.", "--stream")
]


def output(text: str) -> Any:  # noqa: ANN401  # as Typer gives it
    """Return the option that says where the main result goes."""
    return option(text, "--output", "-o")


def split_names(names: str | None) -> list[str]:
    """Return names that were given with commas between them.

    Examples
    --------
    >>> split_names("age, sex,")
    ['age', 'sex']
    """
    return [name.strip() for name in (names or "").split(",") if name.strip()]


def numbered(path: Path, copies: int) -> list[Path]:
    """Return the files for several copies, numbered from 1 if there are more than one.

    Examples
    --------
    >>> [str(path) for path in numbered(Path("s.csv"), 2)]
    ['s-1.csv', 's-2.csv']
    """
    if copies == 1:
        return [path]
    return [path.with_name(f"{path.stem}-{copy}{path.suffix}") for copy in range(1, copies + 1)]


@dataclass(frozen=True, kw_only=True)
class Csv:
    """How CSV files are written."""

    delimiter: Annotated[
        str | None,
        option("Character between the fields of the CSV file.", panel="CSV", default="detected"),
    ] = None
    decimal: Annotated[
        str | None, option("Decimal sign of its numbers.", panel="CSV", default="detected")
    ] = None
    encoding: Annotated[
        str | None, option("Its text encoding.", panel="CSV", default="detected")
    ] = None
    missing: Annotated[
        list[str] | None,
        option(
            "A text that stands for a missing value, like an empty field, ? and NA.", panel="CSV"
        ),
    ] = None

    def read(self, path: Path, drop: str = "", *, stream: bool = False) -> Any:  # noqa: ANN401
        """Return a table without the columns that are not wanted; a stream is read in batches."""
        from understudy.data import read, scan

        log = logging.getLogger("understudy")
        unwanted, written = split_names(drop), self._written | {"missing": self.missing or ()}
        if stream:
            file = scan(path, drop=unwanted, **written)
            log.info("%s: %s rows in batches", path, f"{file.rows:,}")
            return file
        frame = read(path, **written)
        log.info("%s: %s rows x %s columns", path, f"{frame.height:,}", frame.width)
        problems = unknown_columns(unwanted, frame.columns)
        if problems:
            raise DataError(f"--drop: {' '.join(problems)}")
        return frame.drop(unwanted)

    def dialect(self, path: Path) -> Dialect | None:
        """Return how a file is written, for others that are to be like it."""
        from understudy.data import detect

        return detect(path, **self._written)

    def words(self) -> list[str]:
        """Return these options as they are typed."""
        given = self._written | {"missing": self.missing or []}
        return [
            word
            for name, values in given.items()
            for value in ([values] if isinstance(values, str) else values or [])
            # A value that begins like an option is typed together with its own.
            for word in (
                [f"{spelled(name)}={value}"] if value[:1] == "-" else [spelled(name), value]
            )
        ]

    @property
    def _written(self) -> dict[str, Any]:
        return {
            "delimiter": self.delimiter,
            "decimal": self.decimal,
            "encoding": self.encoding,
        }
