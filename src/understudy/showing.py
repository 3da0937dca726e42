"""What messages may show of a confidential table: counts and names of columns, not its records.

A value that many records share is no secret of one of them, and a user may need it to see what is
wrong. A value of a few records is shown only inside `showing_records`.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from understudy.errors import UnderstudyError, did_you_mean

SHARED_BY = 5
"""Records that must share a value before a message may name it."""

NOT_SHOWN = "not shown, since"
"""Words of every message that leaves something out because it may be about single records."""

_SAFE = ("ColumnNotFoundError",)
"""Errors of other libraries whose text names columns, and no values."""

_QUOTING = ("values.py",)
"""Modules of this package whose errors quote the values that they cannot read."""

_shown: ContextVar[bool] = ContextVar("understudy_records_are_shown", default=False)


@contextmanager
def showing_records(shown: bool = True) -> Iterator[None]:
    """Let messages and errors inside the block show values of single records, or forbid it.

    Examples
    --------
    >>> with showing_records():
    ...     records_are_shown()
    True
    >>> records_are_shown()
    False
    """
    token = _shown.set(shown)
    try:
        yield
    finally:
        _shown.reset(token)


def records_are_shown() -> bool:
    """Return whether messages may show values of single records."""
    return _shown.get()


def may_name(records: int) -> bool:
    """Return whether a message may name a value that so many records have.

    Examples
    --------
    >>> may_name(4), may_name(5)
    (False, True)
    """
    return records >= SHARED_BY or records_are_shown()


def hint_of(value: str, candidates: Iterable[str]) -> str:
    """Return a hint that names the value of the data nearest to `value`, if it may be shown.

    Examples
    --------
    >>> hint_of("singel", ["single"])
    ''
    >>> with showing_records():
    ...     hint_of("singel", ["single"])
    " Did you mean 'single'?"
    """
    return did_you_mean(value, candidates) if records_are_shown() else ""


def told(error: BaseException) -> str:
    """Return what an error says if this package raised it, and else what `reason` says.

    Examples
    --------
    >>> from understudy.errors import ParameterError
    >>> told(ParameterError("'age' is named twice."))
    "'age' is named twice."
    """
    if isinstance(error, UnderstudyError):
        return str(error)
    steps = traceback.extract_tb(error.__traceback__)
    # A module of values quotes those that it cannot read.
    ours = bool(steps) and _is_ours(Path(steps[-1].filename))
    return str(error) if ours and type(error) is ValueError else reason(error)


def _is_ours(path: Path) -> bool:
    return path.is_relative_to(Path(__file__).parent) and path.name not in _QUOTING


def reason(error: BaseException) -> str:
    """Return why another library failed: its own text, if that may be shown, else its kind alone.

    Such texts quote what was read, which may be a record.

    Examples
    --------
    >>> reason(ValueError("could not convert string to float: 'Smith'"))
    'ValueError; its text is not shown, since it may quote records'
    >>> with showing_records():
    ...     reason(ValueError("could not convert string to float: 'Smith'"))
    "could not convert string to float: 'Smith'"
    """
    safe = type(error).__name__ in _SAFE or records_are_shown()
    if safe and str(error).strip():
        return str(error).strip().rstrip(".")
    return f"{type(error).__name__}; its text is {NOT_SHOWN} it may quote records"
