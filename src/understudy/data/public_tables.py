"""Public tables that the user downloads once: found in a folder, read and checked."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import platformdirs
import polars as pl

from understudy.data.bundled import AVAILABLE, unknown_table
from understudy.data.frames import Backend, Frame, to_backend
from understudy.errors import DataError

_FOLDER_VARIABLE = "UNDERSTUDY_DATA"


@dataclass(frozen=True)
class _Source:
    """What a table looks like, the names its file can have, and where a person gets it."""

    rows: int
    columns: tuple[str, ...]
    with_header: tuple[str, ...]
    origin: str
    text: tuple[str, ...] = ()
    raw: tuple[str, ...] = ()
    missing: tuple[str, ...] = ("", "?")
    checksum: str = ""
    """SHA-256 of the table as it is read, written as a CSV file; empty if that is not known."""

    @property
    def file_names(self) -> tuple[str, ...]:
        return self.with_header + self.raw


def _names(listing: str) -> tuple[str, ...]:
    return tuple(listing.split())


def _adult(rows: int, with_header: str, raw: str, checksum: str) -> _Source:
    return _Source(
        rows=rows,
        checksum=checksum,
        columns=_names(
            "age workclass fnlwgt education education_num marital_status occupation relationship "
            "race sex capital_gain capital_loss hours_per_week native_country income"
        ),
        text=_names(
            "workclass education marital_status occupation relationship race sex native_country "
            "income"
        ),
        with_header=(with_header,),
        raw=(raw,),
        origin=(
            "Get adult.data and adult.test from the UCI Machine Learning Repository, data set "
            "Adult: https://doi.org/10.24432/C5XW20"
        ),
    )


_SOURCES = {
    "adult_train": _adult(
        32_561,
        "adult_train.csv",
        "adult.data",
        "98fbe372dd00d6afcdec811b8bb79925ff35cf6ca47fc83193913554531e8bc9",
    ),
    "adult_test": _adult(
        16_281,
        "adult_test.csv",
        "adult.test",
        "870b80a0b6988151df9d69368e1e5146584a44cb47a77d1463595b8f169eb6c6",
    ),
    "fertility": _Source(
        rows=100,
        checksum="0b3acdb3a5ffbcf0aef71dfdb187f94b6e1a6b93b88447e395d449b560724900",
        columns=_names(
            "season age child_diseases accident surgery fevers alcohol smoking hours_sitting "
            "diagnosis"
        ),
        text=("diagnosis",),
        with_header=("fertility.csv",),
        raw=("fertility_Diagnosis.txt",),
        origin=(
            "Get fertility_Diagnosis.txt from the UCI Machine Learning Repository, data set "
            "Fertility: https://doi.org/10.24432/C5Z01Z"
        ),
    ),
    "sd2011": _Source(
        rows=5_000,
        checksum="1678f233e8a2d0390501de281fb540feda1b691893245127062bc4fee90330a3",
        columns=_names(
            "sex age agegr placesize region edu eduspec socprof unempdur income marital mmarr "
            "ymarr msepdiv ysepdiv ls depress trust trustfam trustneigh sport nofriend smoke "
            "nociga alcabuse alcsol workab wkabdur wkabint wkabintdur emcc englang height weight "
            "bmi"
        ),
        text=_names(
            "sex agegr placesize region edu eduspec socprof marital ls trust trustfam trustneigh "
            "sport smoke alcabuse alcsol workab wkabint wkabintdur emcc englang"
        ),
        with_header=("sd2011.csv",),
        origin=(
            "Write it in R, with the package synthpop installed: "
            'write.csv(synthpop::SD2011, "sd2011.csv", row.names = FALSE, na = "")'
        ),
        missing=("",),
    ),
    "credit_card": _Source(
        rows=284_807,
        columns=("Time", *(f"V{number}" for number in range(1, 29)), "Amount", "Class"),
        with_header=("creditcard.csv", "credit_card.csv"),
        origin=(
            "Get creditcard.csv from Kaggle, data set Credit Card Fraud Detection of the Machine "
            "Learning Group of ULB. Without it, simulate('credit_card') gives a table of the same "
            "shape."
        ),
    ),
}
_PARTS = {"adult": ("adult_train", "adult_test")}


def fetch(name: str, *, backend: Backend = "polars") -> Frame:
    """Return a public table from a file that you have, after checking that it is the right one.

    Nothing is downloaded. The file is looked for in the folder that the environment variable
    ``UNDERSTUDY_DATA`` names, then in the folder ``data`` of the user's cache for understudy.

    Parameters
    ----------
    name : str
        ``"adult"`` (its training rows, then its test rows: 48,842 x 15), ``"adult_train"``
        (32,561), ``"adult_test"`` (16,281), ``"fertility"`` (100 x 10), ``"sd2011"`` (5,000 x 35)
        or ``"credit_card"`` (284,807 x 31).
    backend : {"polars", "pandas", "pyarrow"}, default "polars"
        The kind of frame to return.

    Returns
    -------
    polars.DataFrame, pandas.DataFrame or pyarrow.Table
        The table, with numbers as numbers. An empty field is missing, and so is ``?`` in the
        tables of UCI. The code -8 of SD2011 is kept.

    Raises
    ------
    DataError
        When there is no such table or no file for it (the message says where to get it), or the
        file has other rows or columns than the table.

    Notes
    -----
    The raw files of the UCI repository can be used as they come: ``adult.data``, ``adult.test``
    and ``fertility_Diagnosis.txt``.

    References
    ----------
    .. [1] Becker, B., Kohavi, R. (1996). Adult. UCI Machine Learning Repository.
       doi:10.24432/C5XW20
    .. [2] Gil, D., Girela, J. (2012). Fertility. UCI Machine Learning Repository.
       doi:10.24432/C5Z01Z
    .. [3] Nowok, B., Raab, G. M., Dibben, C. (2016). synthpop: Bespoke Creation of Synthetic Data
       in R. Journal of Statistical Software 74(11). doi:10.18637/jss.v074.i11

    Examples
    --------
    >>> fetch("fertilty")
    Traceback (most recent call last):
        ...
    understudy.errors.DataError: fetch() has no table 'fertilty'. Did you mean 'fertility'? ...
    """
    if name not in AVAILABLE["fetch"]:
        raise unknown_table(name, "fetch")
    sources = {part: _SOURCES[part] for part in _PARTS.get(name, (name,))}
    folders = _folders()
    paths = {part: _find(source, folders) for part, source in sources.items()}
    if absent := [part for part, path in paths.items() if path is None]:
        raise _no_file({part: sources[part] for part in absent}, folders)
    frames = []
    for part, path in paths.items():
        if path is not None:
            frames.append(_read(path, sources[part]))
            _compare(path, frames[-1], sources[part])
    return to_backend(pl.concat(frames, rechunk=True), backend)


def _folders() -> list[Path]:
    chosen = os.environ.get(_FOLDER_VARIABLE)
    cache = platformdirs.user_cache_path("understudy") / "data"
    return [Path(chosen).expanduser(), cache] if chosen else [cache]


def _find(source: _Source, folders: Sequence[Path]) -> Path | None:
    candidates = (folder / file_name for folder in folders for file_name in source.file_names)
    return next((path for path in candidates if path.is_file()), None)


def _no_file(absent: Mapping[str, _Source], folders: Sequence[Path]) -> DataError:
    wanted = " and ".join(
        f"{part!r} ({' or '.join(source.file_names)})" for part, source in absent.items()
    )
    looked_in = (
        f"  - {folder}{'' if folder.is_dir() else ' (no such folder)'}" for folder in folders
    )
    # The two parts of Adult come from one place, which is named once.
    origins = dict.fromkeys(source.origin for source in absent.values())
    sums = [
        f"As it is read, {part!r} written as a CSV file has the SHA-256 checksum {source.checksum}."
        for part, source in absent.items()
        if source.checksum
    ]
    advice = (
        f"Put it in {folders[-1]}, or in a folder of your choice whose path is the value of the "
        f"environment variable {_FOLDER_VARIABLE}."
    )
    said = f"There is no file for {wanted}. Looked in:"
    return DataError("\n".join([said, *looked_in, *origins, *sums, advice]))


def _read(path: Path, source: _Source) -> pl.DataFrame:
    is_raw = path.name in source.raw
    try:
        # As text first: the types are known, and "?" or a space must not decide them.
        frame = pl.read_csv(
            path,
            has_header=not is_raw,
            infer_schema=False,
            comment_prefix="|" if is_raw else None,
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"{path} cannot be read as a CSV file: {error}") from error
    stripped = pl.all().str.strip_chars()
    frame = frame.select(pl.when(~stripped.is_in(source.missing)).then(stripped))
    # UCI's files end in an empty line, which reads as a record without any value.
    frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
    _check(path, frame, source, is_raw=is_raw)
    if is_raw:
        frame.columns = list(source.columns)
        # The format of these files (C4.5) lets a record end in a dot; adult.test does so.
        frame = frame.with_columns(pl.col(source.columns[-1]).str.strip_chars_end("."))
    return frame.select(
        frame[column] if column in source.text else _numbers(path, frame[column], source)
        for column in source.columns
    )


def _check(path: Path, frame: pl.DataFrame, source: _Source, *, is_raw: bool) -> None:
    problems = []
    if frame.height != source.rows:
        problems.append(f"expected {source.rows:,} rows, found {frame.height:,}")
    if frame.width != len(source.columns):
        problems.append(f"expected {len(source.columns)} columns, found {frame.width}")
    # A raw file has no names of its own that could be wrong.
    if not is_raw:
        lacking = [repr(name) for name in source.columns if name not in frame.columns]
        surplus = [repr(name) for name in frame.columns if name not in source.columns]
        problems += [f"missing columns: {', '.join(lacking)}"] if lacking else []
        problems += [f"unexpected columns: {', '.join(surplus)}"] if surplus else []
    if problems:
        listing = "\n".join(f"  - {problem}" for problem in problems)
        raise DataError(f"{path} is not the table it should be:\n{listing}\n{source.origin}")


def _compare(path: Path, frame: pl.DataFrame, source: _Source) -> None:
    """Say so if a table of the right form holds other values than it should."""
    found = hashlib.sha256(frame.write_csv().encode()).hexdigest()
    if source.checksum and found != source.checksum:
        logging.getLogger("understudy").warning(
            "%s holds other values than the table that figures of papers rest on: its checksum is "
            "%s and not %s.",
            path,
            found,
            source.checksum,
        )


def _numbers(path: Path, column: pl.Series, source: _Source) -> pl.Series:
    # By way of floats, because R writes 100000 as 1e+05, also in a column of whole numbers.
    numbers = column.cast(pl.Float64, strict=False)
    wrong = column.filter(~numbers.is_finite().fill_null(value=False) & column.is_not_null())
    if len(wrong):
        raise DataError(
            f"The column {column.name!r} of {path} should hold numbers, but holds {wrong[0]!r} "
            f"(in {len(wrong):,} of {len(column):,} rows).\n{source.origin}"
        )
    is_whole = (numbers.is_null() | (numbers == numbers.round())).all()
    return numbers.cast(pl.Int64) if is_whole else numbers
