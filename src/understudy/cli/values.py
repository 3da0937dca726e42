"""What the texts that a user gives as options stand for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from understudy.cli import attack_options as options
from understudy.errors import ParameterError, unknown_columns

if TYPE_CHECKING:
    import polars as pl

    from understudy.risk.scenario import Scenario


def split_names(names: str) -> list[str]:
    """Return names that were given with commas between them."""
    return [name.strip() for name in names.split(",") if name.strip()]


def numbered(path: Path, copies: int) -> list[Path]:
    """Return the files for several copies, numbered from 1 if there are more than one."""
    if copies == 1:
        return [path]
    return [path.with_name(f"{path.stem}-{copy}{path.suffix}") for copy in range(1, copies + 1)]


def read_scenario(keys: str, sensitive: str, known: int | None, file: Path | None) -> Scenario:
    """Return what the attacker knows and wants, from options or from a file."""
    from understudy.risk.scenario import Scenario

    if file is not None:
        if keys or sensitive or known is not None:
            raise ParameterError("--scenario stands in place of --keys, --sensitive and --known.")
        return Scenario.load(file)
    if not keys or not sensitive:
        raise ParameterError("Give --keys and --sensitive, or a --scenario file.")
    return Scenario(split_names(keys), sensitive.strip(), known)


def check_columns(original: pl.DataFrame, scenario: Scenario, target: str | None) -> None:
    """Raise if the original lacks a column that an audit is about, before any work."""
    named = [*scenario.keys, scenario.sensitive, *([target] if target else [])]
    problems = unknown_columns(named, original.columns)
    if problems:
        raise ParameterError(f"The original table: {' '.join(problems)}")


def preset_of(classifiers: options.Classifiers) -> Literal["strong", "papers"] | None:
    """Return the preset of classifiers, None for no classifiers."""
    if classifiers is options.Classifiers.none:
        return None
    return "strong" if classifiers is options.Classifiers.strong else "papers"


def read_groups(text: str) -> dict[str, int] | None:
    """Return the numbers of groups that were given as COLUMN=NUMBER."""
    pairs = [part.rpartition("=") for part in split_names(text)]
    bad = [f"{name}{sign}{number}" for name, sign, number in pairs if not number.isdecimal()]
    if bad or any(not name for name, _, _ in pairs):
        raise ParameterError(f"--groups is COLUMN=NUMBER, separated by commas; got {text!r}.")
    return {name: int(number) for name, _, number in pairs} or None


def read_protection(texts: list[str] | None) -> dict[str, str | None] | None:
    """Return the targets of sensitive columns that were given as SENSITIVE:TARGET."""
    if not texts:
        return None
    pairs = [text.rpartition(":") for text in texts]
    bad = [text for text, (sensitive, _, _) in zip(texts, pairs, strict=True) if not sensitive]
    if bad:
        raise ParameterError(f"--protect is SENSITIVE:TARGET or SENSITIVE:; got {bad[0]!r}.")
    names = [sensitive for sensitive, _, _ in pairs]
    if len(set(names)) < len(names):
        raise ParameterError("--protect: a sensitive column is given once, with one target.")
    return {sensitive: target or None for sensitive, _, target in pairs}


def read_rows(text: str) -> list[range]:
    """Return row numbers that were given as single ones and as ranges, last row included.

    Examples
    --------
    >>> read_rows("0-99, 999")
    [range(0, 100), range(999, 1000)]
    """
    found = []
    for part in split_names(text):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        last = last if dash else first
        plain = first.isascii() and first.isdecimal() and last.isascii() and last.isdecimal()
        if not plain or int(last) < int(first):
            raise ParameterError(
                f"--records is row numbers from 0 and ranges of them, such as 0-99,999; got "
                f"{part!r}."
            )
        found.append(range(int(first), int(last) + 1))
    if not found:
        raise ParameterError("--records names at least one row, such as 0-99,999.")
    return found


def rows_in(ranges: list[range], height: int) -> list[int]:
    """Return the rows of ranges in a table of so many rows, each once and in order.

    Examples
    --------
    >>> rows_in([range(5, 7), range(0, 2), range(6, 7)], 10)
    [0, 1, 5, 6]
    """
    beyond = [rows[-1] for rows in ranges if rows[-1] >= height]
    if beyond:
        raise ParameterError(
            f"--records: there is no row {beyond[0]}; the original has the rows 0 to {height - 1}."
        )
    return sorted(set().union(*ranges))
