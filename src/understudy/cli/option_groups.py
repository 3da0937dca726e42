"""Groups of options: a dataclass declares them once, and every command that takes it has them.

A command takes whole groups::

    @dataclass(frozen=True, kw_only=True)
    class Csv:
        delimiter: Annotated[str | None, option("Character between fields.")] = None


    @grouped
    def schema(data: Data, csv: Csv) -> None: ...

Typer sees the flat command ``schema(*, data, delimiter)``; the function gets a ``Csv``. Groups may
hold groups. The name of a field is the name of its option.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.models import ParameterInfo

from understudy.showing import showing_records
from understudy.stopping import stopped_by

Command = Callable[..., None]

SHOW_RECORDS = "show_records"
"""The field whose option lets messages show records, in every command that has it."""


def option(
    text: str,
    *names: str,
    panel: str | None = None,
    default: str | bool = False,
    **limits: Any,  # noqa: ANN401  # as Typer takes them
) -> Any:  # noqa: ANN401  # as Typer gives it
    """Return an option of the command line.

    Parameters
    ----------
    text : str
        The help that a data steward reads.
    names : str
        What to type, if it is not the name of the field.
    panel : str, optional
        The part of the help that it is in.
    default : str or bool
        What the help says of its default: a text, the value itself (True) or nothing.
    **limits
        What else Typer takes, such as `min`.
    """
    return typer.Option(*names, help=text, rich_help_panel=panel, show_default=default, **limits)


def argument(text: str, **more: Any) -> Any:  # noqa: ANN401  # as Typer takes and gives it
    """Return an argument of the command line, with its help and no default."""
    return typer.Argument(help=text, show_default=False, **more)


def panel(title: str) -> Callable[..., Any]:
    """Return a function like `option`, for the options of one part of the help."""
    return functools.partial(option, panel=title)


class Reworded:
    """What one command says differently about an option, or about all options of a group.

    Examples
    --------
    >>> Seed = Annotated[int, option("Decides what is random.", min=0)]
    >>> WorldsSeed = Annotated[Seed, Reworded(help="Decides the releases.")]
    """

    def __init__(self, **changes: str | bool | None) -> None:
        if "panel" in changes:
            changes["rich_help_panel"] = changes.pop("panel")
        self._changes = changes

    def apply(self, info: ParameterInfo) -> ParameterInfo:
        """Return the option as the command words it."""
        info = copy(info)
        for name, value in self._changes.items():
            setattr(info, name, value)
        return info


def grouped(command: Command) -> Command:
    """Return a command with the options of its groups, as Typer takes it."""
    hints = get_type_hints(command, include_extras=True)
    own = inspect.signature(command).parameters
    flat = [one for name in own for one in _flat(name, hints[name], own[name].default)]

    @functools.wraps(command)
    def expanded(**given: Any) -> None:  # noqa: ANN401  # the options' values
        with showing_records(bool(given.get(SHOW_RECORDS))):
            try:
                command(**{name: _filled(name, hints[name], given) for name in own})
            except KeyboardInterrupt as interrupt:  # of polars, which hears signals by itself
                raise stopped_by(interrupt) from None

    expanded.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    expanded.__annotations__ = {one.name: one.annotation for one in flat}
    return expanded


def _flat(name: str, hint: Any, default: Any) -> Iterator[inspect.Parameter]:  # noqa: ANN401
    kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if is_dataclass(kind):
        hints = get_type_hints(kind, include_extras=True)
        for field in fields(kind):
            inner = hints[field.name]
            for note in notes:
                inner = Annotated[inner, note]
            missing = field.default is MISSING
            yield from _flat(
                field.name, inner, inspect.Parameter.empty if missing else field.default
            )
        return
    info = next((note for note in notes if isinstance(note, ParameterInfo)), None)
    for note in notes:
        if info is not None and isinstance(note, Reworded):
            info = note.apply(info)
    kind = kind if info is None else Annotated[kind, info]
    yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _filled(name: str, hint: Any, given: Mapping[str, Any]) -> Any:  # noqa: ANN401
    kind = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if not is_dataclass(kind):
        return given[name]
    hints = get_type_hints(kind, include_extras=True)
    return kind(**{one.name: _filled(one.name, hints[one.name], given) for one in fields(kind)})  # type: ignore[operator]


def spelled(field: str) -> str:
    """Return what to type for the option of a field.

    Examples
    --------
    >>> spelled("max_predictors")
    '--max-predictors'
    """
    return f"--{field.replace('_', '-')}"


def repeated(given: Mapping[str, object]) -> list[str]:
    """Return options as they are typed; those of no value are left out.

    Examples
    --------
    >>> from pathlib import Path
    >>> repeated({"schema": Path("s.toml"), "rows": None, "seed": 0})
    ['--schema', 's.toml', '--seed', '0']
    """
    return [
        word
        for name, value in given.items()
        if value is not None
        for word in (spelled(name), str(value))
    ]
