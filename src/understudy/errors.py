"""Errors that a user can cause and mend; their text is written for that user."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path


class UnderstudyError(Exception):
    """Something the user gave cannot be used; the message says what, and what to do."""


class DataError(UnderstudyError, ValueError):
    """A file or frame cannot be read, written or coded."""


class AlreadyThereError(DataError):
    """A file or folder would be replaced, and nobody said that it may be.

    Parameters
    ----------
    path : Path
        What exists already.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(
            f"{path} already exists. Choose another name, or allow it to be replaced "
            "(overwrite=True)."
        )


class SchemaError(UnderstudyError, ValueError):
    """A schema is wrong, or a table does not fit it; all problems are listed at once.

    Parameters
    ----------
    heading : str
        What was being checked.
    problems : sequence of str
        One sentence per problem.
    """

    def __init__(self, heading: str, problems: Sequence[str]) -> None:
        self.heading = heading
        self.problems = tuple(problems)
        super().__init__("\n".join([heading, *(f"  - {problem}" for problem in self.problems)]))


class PublicDomainError(SchemaError):
    """What columns can hold is not public, so a private model must not use it."""

    in_python = "or schema.as_public()"
    """How a schema is declared public in Python, in the message."""


class ModelFileError(UnderstudyError, ValueError):
    """A model file is damaged, of another kind, or of a newer format."""


class NotFittedError(UnderstudyError, AttributeError):
    """A synthesizer was asked for something before `fit`."""


class NoDensityError(UnderstudyError, NotImplementedError):
    """A synthesizer was asked for a log likelihood that cannot be computed exactly."""


class ParameterError(UnderstudyError, ValueError):
    """An argument has a value that cannot be used."""


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Return a hint that names the candidate nearest to `name`, or nothing.

    Examples
    --------
    >>> did_you_mean("agee", ["age", "sex"])
    " Did you mean 'age'?"
    >>> did_you_mean("income", ["age", "sex"])
    ''
    """
    options = list(candidates)
    by_folded = {option.casefold(): option for option in reversed(options)}
    near = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return f" Did you mean {by_folded[near[0]]!r}?" if near else ""


def unknown_columns(names: Iterable[str], columns: Sequence[str]) -> list[str]:
    """Return one sentence for each of `names` that is not among `columns`."""
    return [
        f"{name!r} is not a column.{did_you_mean(name, columns) if isinstance(name, str) else ''}"
        for name in names
        if not isinstance(name, str) or name not in columns
    ]
