"""Commands of the shell: what one was given, and how one is written."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from itertools import pairwise

SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", ".csv.gz")
_FLAGS = ("--force", "--stream", "--show-records", "--quiet", "-q", "--verbose", "-v")
_DIALECT = ("--delimiter", "--decimal", "--encoding", "--missing")


def is_file(name: str) -> bool:
    """Tell whether a name is that of a table in a file."""
    return name.casefold().endswith(SUFFIXES)


def files_in(command: str) -> list[str]:
    """Return the tables that a command was given, without those that belong to options.

    Examples
    --------
    >>> files_in("understudy audit 'my data.csv' syn.csv --control new.csv -o report.html")
    ['my data.csv', 'syn.csv']
    """
    words = _split(command)
    found = [
        word
        for before, word in pairwise(words)
        if is_file(word)
        and not word.startswith("-")
        and (not before.startswith("-") or "=" in before or before in _FLAGS)
    ]
    if "compare" in words[:4]:  # after understudy, or python -m understudy, and perhaps a flag
        found[1:] = map(_unnamed, found[1:])
    return found


def _unnamed(word: str) -> str:
    """Return the file of NAME=FILE, as `understudy compare` reads it."""
    name, _, file = word.partition("=")
    return file if name.strip() and file else word


def dialect_in(command: str) -> list[str]:
    """Return the options of a command that say how its files are written."""
    words = _split(command)
    found = []
    for place, word in enumerate(words):
        if word in _DIALECT:
            found += words[place : place + 2]
        elif word.startswith(tuple(f"{option}=" for option in _DIALECT)):
            found.append(word)
    return found


def _split(command: str) -> list[str]:
    if not re.match(r"\S*(understudy|python)", command):
        return []  # a call in Python, which is no shell command
    try:
        return shlex.split(command)
    except ValueError:
        return []


def shell(words: Sequence[str]) -> str:
    """Return words as one command that a shell takes as they are."""
    return " ".join(_quoted(word) for word in words)


def _quoted(word: str) -> str:
    # An option's text with a colon or comma needs no quotes; shlex agrees but for some of them.
    return word if re.fullmatch(r"[\w@%+=:,./-]+", word, re.ASCII) else shlex.quote(word)
