"""What the texts that a user gives as options stand for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from understudy import cli_options as options
from understudy.errors import ParameterError

if TYPE_CHECKING:
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
