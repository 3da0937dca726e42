"""What is said when a measure fails: what went wrong, without values of the data."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from understudy.audit.measures import Measure
from understudy.audit.synthesis import Synthesis
from understudy.errors import NoDensityError, SchemaError, UnderstudyError

# A quote after a letter is an apostrophe.
_QUOTED = re.compile(r"(?<!\w)'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*\.\d+")


def failure_text(error: Exception, columns: Collection[str]) -> str:
    """Return what went wrong, without values of the data.

    Our own errors keep their text, in which all that is quoted and is no column is left out, and
    so are numbers that count nothing. Of others there is the class alone: their texts may show
    records.

    Examples
    --------
    >>> from understudy.errors import DataError
    >>> failure_text(DataError("Column 'age' holds 'Smith'."), ["age"])
    "Column 'age' holds '…'."
    >>> failure_text(KeyError("Smith"), ["age"])
    'KeyError (its text is not shown, since it may hold values of the data)'
    """
    if not isinstance(error, UnderstudyError):
        name = type(error).__name__
        return f"{name} (its text is not shown, since it may hold values of the data)"
    if isinstance(error, SchemaError):
        # Its problems name values; its heading is ours.
        return f"{error.heading.rstrip(':')} ({len(error.problems)} problems)."
    shown = _QUOTED.sub(
        lambda match: match.group() if match.group()[1:-1] in columns else "'…'", str(error)
    )
    return _NUMBER.sub("…", shown)


def log_failure(error: Exception, text: str, synthesis: Synthesis, measure: Measure) -> None:
    """Log that a measure failed; that a method has no density is told to those who ask."""
    log = logging.getLogger("understudy")
    # That a method has no probabilities to compute is no trouble: it is so whenever it is audited.
    level = logging.INFO if isinstance(error, NoDensityError) else logging.WARNING
    log.log(level, "%s: %s was not measured. %s", synthesis.given.name, measure.name, text)
    # The whole of it only if details are asked for: it may hold values.
    log.debug("%s failed on %s", measure.name, synthesis.given.name, exc_info=error)


@contextmanager
def each_warning_once() -> Iterator[None]:
    """Let the same warning through once: many measures look at the same columns."""
    log = logging.getLogger("understudy")
    seen: set[str] = set()

    def is_new(record: logging.LogRecord) -> bool:
        text = record.getMessage()
        if text in seen:
            return False
        seen.add(text)
        return True

    log.addFilter(is_new)
    try:
        yield
    finally:
        log.removeFilter(is_new)
