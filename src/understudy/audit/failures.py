"""What went wrong with a measure, in words that hold no value of the data."""

from __future__ import annotations

import re
from collections.abc import Collection

from understudy.errors import SchemaError, UnderstudyError

# A quote after a letter is an apostrophe.
_QUOTED = re.compile(r"(?<!\w)'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*\.\d+")


def failure_text(error: Exception, columns: Collection[str]) -> str:
    """Return what went wrong, without values.

    Our own errors keep their text, in which all that is quoted and is no column is left out, and
    so are numbers that count nothing. Of others there is the class alone: their texts may show
    records.

    Parameters
    ----------
    error : Exception
        What was raised.
    columns : collection of str
        Names of columns, which may be shown.

    Examples
    --------
    >>> from understudy.errors import DataError
    >>> failure_text(DataError("Column 'age' holds 'Smith'."), ["age"])
    "Column 'age' holds '…'."
    >>> failure_text(KeyError("Smith"), ["age"])
    'KeyError (the text is not shown, for it may hold values of the data)'
    """
    if not isinstance(error, UnderstudyError):
        return f"{type(error).__name__} (the text is not shown, for it may hold values of the data)"
    if isinstance(error, SchemaError):
        # Its problems name values; its heading is ours.
        return f"{error.heading.rstrip(':')} ({len(error.problems)} problems)."
    shown = _QUOTED.sub(
        lambda match: match.group() if match.group()[1:-1] in columns else "'…'", str(error)
    )
    return _NUMBER.sub("…", shown)
