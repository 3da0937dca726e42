"""Options that several commands share: their types, and the help that a data steward reads.

The types of choices are spelled out here, since `--help` loads nothing that knows them.
"""

from __future__ import annotations

import csv
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from understudy.cli.option_groups import argument, option, panel, spelled
from understudy.errors import DataError, ParameterError, did_you_mean, unknown_columns
from understudy.progress import doing
from understudy.wording import size_of

if TYPE_CHECKING:
    from understudy.audit.policy import Policy
    from understudy.data.files import Written
    from understudy.data.kinds.database import Address
    from understudy.risk.scenario import Scenario

    Place = Path | Address
    """Where a table is: in a file or a folder, in the standard input, or in a database."""
else:
    Place = Path  # Typer takes no unions: `read_place` makes the rest

ATTACKER = "The attacker"
AUDIT = "The audit"

attacker_option, audit_option = panel(ATTACKER), panel(AUDIT)
_csv = panel("CSV")
_excel = panel("Excel")


def read_place(text: str | Path) -> Place:
    """Return where a table is; nothing is looked at yet."""
    from understudy.data.kinds.database import Address, is_address

    return Address(str(text)) if is_address(str(text)) else Path(text)


PLACE: dict[str, Any] = {"parser": read_place}
"""What makes an argument or option name a table."""

_KINDS = (
    "a file (CSV, Parquet, Excel, SPSS, Stata, SAS, JSON, Arrow), a folder or pattern of Parquet "
    "or CSV files, - for the standard input, or sqlite:///FILE?table=NAME"
)
Data = Annotated[Place, argument(f"The table: {_KINDS}.", metavar="DATA", **PLACE)]
Original = Annotated[Place, argument(f"The original table: {_KINDS}.", metavar="ORIGINAL", **PLACE)]
OUTPUT_KINDS = ".csv, .parquet, .xlsx, .sav, .dta, .jsonl or .arrow; - for the standard output"
Force = Annotated[bool, option("Replace files that already exist.", "--force")]
Json = Annotated[Path | None, option("Also write all results to this file, for programs.")]
Seed = Annotated[int, option("Number that decides everything random.", default=True, min=0)]
Keys = Annotated[
    str, attacker_option("Columns that an attacker may know about a person, separated by commas.")
]
Sensitive = Annotated[str, attacker_option("The column that the attacker wants to learn.")]
Target = Annotated[str, audit_option("The column that the data will be used to predict.")]
SchemaFile = Annotated[
    Path | None,
    option(
        "What the columns are, from `understudy schema`; or a saved model, for those of its table.",
        default="inferred",
    ),
]
UnitName = Annotated[
    str,
    audit_option(
        "What a record is about, or with --unit-id a unit, for the texts: people, flights, "
        "household, child/children.",
        "--unit-name",
        "--unit",
        default="records; with --unit-id, after the column",
    ),
]
UnitId = Annotated[
    str,
    option(
        "Columns that together name the person, household or firm that several records belong to, "
        "separated by commas."
    ),
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
EngineName = Annotated[
    Literal["local", "spark"],
    option("Where the data is counted: on this machine, or on a Spark cluster (Parquet only)."),
]
Master = Annotated[
    str | None,
    option(
        "The Spark cluster, such as spark://host:7077 or local[4]; that of the job if not given."
    ),
]
SafeCells = Annotated[
    bool,
    option(
        "Put an apostrophe before texts that a spreadsheet would run as formulas, in CSV files.",
        "--safe-cells",
    ),
]
ShowRecords = Annotated[
    bool,
    option(
        "Let messages show values that fewer than 5 records have. They are then as confidential "
        "as the data.",
        "--show-records",
    ),
]

Model = Annotated[
    Path | None,
    attacker_option(
        "The model that made the synthetic table, from `understudy synth --save-model`."
    ),
]


def output(text: str) -> Any:  # noqa: ANN401  # as Typer gives it
    """Return the option that says where the main result goes."""
    return option(text, "--output", "-o")


def split_names(names: str | None) -> list[str]:
    """Return names that were given with commas between them; one with a comma is in double quotes.

    Examples
    --------
    >>> split_names('age, sex,"income, net"')
    ['age', 'sex', 'income, net']
    """
    try:
        fields = next(csv.reader([names or ""], skipinitialspace=True), [])
    except csv.Error as error:
        raise ParameterError(
            f"{names!r} is no list of names. Put names with a comma or a line break into double "
            "quotes."
        ) from error
    return [name.strip() for name in fields if name.strip()]


def joined_names(names: Iterable[str]) -> str:
    """Return names as `split_names` takes them.

    Examples
    --------
    >>> joined_names(["age", "income, net"])
    'age,"income, net"'
    """
    return ",".join(
        '"{}"'.format(name.replace('"', '""')) if name[:1] == '"' or {*name} & {*",\r\n"} else name
        for name in names
    )


def numbered(path: Path, copies: int) -> list[Path]:
    """Return the files for several copies, numbered from 1 if there are more than one.

    Examples
    --------
    >>> [str(path) for path in numbered(Path("s.csv"), 2)]
    ['s-1.csv', 's-2.csv']
    """
    if copies == 1:
        return [path]
    from understudy.data.kinds import stem_of

    if str(path) == "-":
        raise ParameterError("One table goes to the standard output (-); for several, give a file.")
    stem = stem_of(path)
    ending = path.name.removeprefix(stem)
    return [path.with_name(f"{stem}-{copy}{ending}") for copy in range(1, copies + 1)]


@dataclass(frozen=True, kw_only=True)
class Csv:
    """How tables are written: CSV files, and workbooks."""

    delimiter: Annotated[
        str | None, _csv("Character between the fields of the CSV file.", default="detected")
    ] = None
    decimal: Annotated[str | None, _csv("Decimal sign of its numbers.", default="detected")] = None
    encoding: Annotated[str | None, _csv("Its text encoding.", default="detected")] = None
    missing: Annotated[
        list[str] | None,
        _csv(
            'A text that stands for a missing value, like an empty field; "" for no other. '
            "Repeatable.",
            default="NA, N/A, null, ? and the like",
        ),
    ] = None
    dates: Annotated[
        Literal["dmy", "mdy"] | None,
        _csv(
            "Whether the day or the month comes first in dates such as 01/02/2020.",
            default="detected",
        ),
    ] = None

    sheet: Annotated[
        str | None,
        _excel(
            "The sheet to read, by its name or its number from 1.",
            default="the first with something in it",
        ),
    ] = None
    header_row: Annotated[
        int | None,
        _excel(
            "The row of a sheet, or the line of a CSV file, with the names of the columns.",
            default="the first in use",
            min=1,
        ),
    ] = None

    def read(
        self, path: Place, drop: str = "", *, stream: bool = False, like: Written | None = None
    ) -> Any:  # noqa: ANN401
        """Return a table without the columns that are not wanted; a stream is read in batches."""
        return self.open(path, drop, stream=stream, like=like)[0]

    def open(
        self,
        path: Place,
        drop: str = "",
        *,
        stream: bool = False,
        like: Written | None = None,
    ) -> tuple[Any, Written | None]:
        """Return a table as `read` does, and how its file is written, for others like it.

        The formats of a dialect that it should be `like` are tried first.
        """
        from understudy.data import detect, scan
        from understudy.data.declared import declare_like
        from understudy.data.files import read_with_dialect

        log = logging.getLogger("understudy")
        unwanted, written = split_names(drop), {**self._written, "like": like}
        if stream:
            file = scan(path, drop=unwanted, **written)
            log.info("%s: %s rows in batches", path, f"{file.rows:,}")
            return file, file.dialect or detect(path, **written)
        with doing(f"Reading {path}"):
            frame, dialect = read_with_dialect(path, **written)
        log.info("%s: %s", path, size_of(*frame.shape))
        problems = unknown_columns(unwanted, frame.columns)
        if problems:
            raise DataError(f"--drop: {' '.join(problems)}")
        return (declare_like(frame.drop(unwanted), frame) if unwanted else frame), dialect

    def words(self) -> list[str]:
        """Return these options as they are typed."""
        return [
            word
            for name, values in self._written.items()
            for value in ([str(values)] if isinstance(values, str | int) else values or [])
            # A value that begins like an option is typed together with its own.
            for word in (
                [f"{spelled(name)}={value}"] if value[:1] == "-" else [spelled(name), value]
            )
        ]

    @property
    def _written(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, kw_only=True)
class Attacker:
    """What an attacker knows, wants and tries."""

    keys: Keys = ""
    sensitive: Sensitive = ""
    known: Annotated[
        int | None,
        attacker_option(
            "How many of the keys the attacker knows: all sets of that size are attacked.",
            default="all",
            min=1,
        ),
    ] = None
    scenario: Annotated[
        Path | None,
        attacker_option("A TOML file with keys, sensitive and known, in place of these options."),
    ] = None
    control: Annotated[
        Place | None,
        attacker_option("Records like the original ones that the synthesis did not use.", **PLACE),
    ] = None
    classifiers: Annotated[
        Literal["strong", "papers", "none"],
        audit_option(
            "Which classifiers attack: strong (ours), papers (those of the papers) or none, which "
            "is fastest.",
            default=True,
        ),
    ] = "strong"
    groups: Annotated[
        str, audit_option("Numeric columns to put into groups of equal size: age=10,income=5.")
    ] = ""

    @property
    def named(self) -> bool:
        """Whether any of what the attacker knows and wants is given."""
        return bool(self.keys or self.sensitive or self.scenario)

    def read(self, policy: Policy | None = None) -> Scenario:
        """Return what the attacker knows and wants; what the options leave open, a policy says."""
        from understudy.risk.scenario import Scenario

        if self.scenario is not None:
            if self.keys or self.sensitive or self.known is not None:
                raise ParameterError("--scenario replaces --keys, --sensitive and --known.")
            return Scenario.load(self.scenario)
        keys, sensitive, known = self.said(policy)
        if not keys or not sensitive:
            more = "" if policy is None else ", or a --policy file with them"
            without = "" if policy is None else " Without --sensitive, every column is tried."
            raise ParameterError(
                f"Give --keys and --sensitive, or a --scenario file{more}.{without}"
            )
        return Scenario(keys, sensitive, known)

    def said(self, policy: Policy | None = None) -> tuple[list[str], str, int | None]:
        """Return the keys, the sensitive column and how many keys are known; all may be absent."""
        keys, sensitive, known = split_names(self.keys), self.sensitive.strip(), self.known
        if policy is not None:
            if not keys:
                keys, known = list(policy.keys), policy.known if known is None else known
            sensitive = sensitive or policy.sensitive
        return keys, sensitive, known

    def check_typed(self, columns: Sequence[str], target: str = "") -> None:
        """Raise if the original lacks a column whose name was typed; loads nothing to find out.

        All else that is to be checked loads the attacks first, and a slip is answered at once.
        """
        typed = [*split_names(self.keys), self.sensitive.strip(), target]
        unknown = [name for name in typed if name and name not in columns]
        if unknown and not self.sensitive:
            raise ParameterError(f"keys: {' '.join(unknown_columns(unknown, columns))}")
        if unknown:
            raise ParameterError(
                " ".join(
                    f"The original table has no column {name!r}.{did_you_mean(name, columns)}"
                    for name in unknown
                )
            )

    @property
    def preset(self) -> Literal["strong", "papers"] | None:
        """The classifiers that attack, None for none."""
        return None if self.classifiers == "none" else self.classifiers

    def read_groups(self) -> dict[str, int] | None:
        """Return the numbers of groups that were given as COLUMN=NUMBER."""
        pairs = [part.rpartition("=") for part in split_names(self.groups)]
        if any(not name or not number.isdecimal() for name, _, number in pairs):
            raise ParameterError(
                f"--groups must be COLUMN=NUMBER, separated by commas; got {self.groups!r}."
            )
        return {name: int(number) for name, _, number in pairs} or None
