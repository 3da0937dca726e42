"""TOML files that people write: one way to read them, one message for each way it can fail."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from understudy.errors import ParameterError, did_you_mean


def parse_toml(text: str, source: str) -> dict[str, Any]:
    """Return the content of a TOML text.

    Raises
    ------
    ParameterError
        If it is not TOML.

    Examples
    --------
    >>> parse_toml("parents = 2", "settings.toml")
    {'parents': 2}
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ParameterError(f"{source} is not a TOML file: it is nested too deeply.") from None
    except tomllib.TOMLDecodeError as error:
        raise ParameterError(f"{source} is not a TOML file: {error}.") from error


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return the content of a TOML file.

    Raises
    ------
    ParameterError
        If there is no such file, or it cannot be read, or it is not TOML.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors begin with a byte order mark
    except FileNotFoundError:
        near = did_you_mean(path.name, [item.name for item in path.parent.glob("*")])
        raise ParameterError(f"There is no file {path}.{near}") from None
    except UnicodeDecodeError as error:
        raise ParameterError(f"{path} is not a TOML file: it is not text in UTF-8.") from error
    except OSError as error:
        raise ParameterError(f"{path} cannot be opened: {error.strerror}.") from error
    return parse_toml(text, str(path))
