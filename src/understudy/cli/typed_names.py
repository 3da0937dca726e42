"""Arguments of the library in its messages, as they are typed on the command line."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from functools import cache

from understudy.cli.option_groups import spelled

_QUOTED = re.compile(r"`([a-z][a-z_]*)`")
_FIRST = re.compile(r"([a-z][a-z_]*)(?= must |: )")
_CLASS = re.compile(r"`([A-Z][A-Za-z]+)`")
_ROLE = re.compile(r"""('[^']*'|"[^"]*") the role `(unit|time)`""")
_OPTION_OF_ROLE = {"unit": "unit_id", "time": "time"}


def as_typed(message: str, names: Mapping[str, str] | None = None) -> str:
    """Return a message of the library with its arguments as options.

    They stand in backquotes, or at the beginning before "must" or a colon. What is no option of any
    command is left as it is. A class in backquotes becomes its method, and the role of a column in
    a panel its option.

    Examples
    --------
    >>> as_typed("Set `dates` to mdy.", {"dates": "dates"})
    'Set --dates to mdy.'
    >>> as_typed("max_depth must be 1.", {"max_depth": "depth"})
    '--depth must be 1.'
    >>> as_typed("Give 'id' the role `unit`, or use `Cart`.", {})
    "Give --unit-id 'id', or use --method cart."
    """
    known = option_names() if names is None else names

    def option(match: re.Match[str]) -> str:
        return spelled(known[match[1]]) if match[1] in known else match[0]

    message = _ROLE.sub(lambda match: f"{spelled(_OPTION_OF_ROLE[match[2]])} {match[1]}", message)
    message = _CLASS.sub(_method, message)
    return _QUOTED.sub(
        option, _FIRST.sub(option, message, count=1) if _starts(message) else message
    )


def _method(match: re.Match[str]) -> str:
    from understudy.synthesis import METHODS

    named = (name for name, one in METHODS.items() if one.__name__ == match[1])
    return next((f"{spelled('method')} {name}" for name in named), match[0])


def _starts(message: str) -> bool:
    return _FIRST.match(message) is not None


@cache
def option_names() -> dict[str, str]:
    """Return the options of all commands, as Python writes them, by what the library calls them."""
    import typer

    from understudy.cli.commands import app
    from understudy.cli.synthesis import names_of_parameters

    group = typer.main.get_command(app)
    typed_names = (
        typed.removeprefix("--").replace("-", "_")
        for command in getattr(group, "commands", {}).values()
        for parameter in command.params
        for typed in (*parameter.opts, *parameter.secondary_opts)
        if typed.startswith("--")
    )
    return {name: name for name in typed_names} | names_of_parameters()


class AsTyped(logging.Filter):
    """Lets all records through, with the arguments of the library as options."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the text of a record of ours."""
        if record.name.startswith("understudy"):
            text = record.getMessage()
            if "`" in text:
                record.msg, record.args = as_typed(text), None
        return True
