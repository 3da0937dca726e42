"""What an attacker knows and wants: the keys, how many of them, and the sensitive attribute."""

from __future__ import annotations

import logging
import math
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from understudy.errors import ParameterError, did_you_mean

_FIELDS = ("keys", "sensitive", "known")

MANY_SETS = 10_000
"""More sets of keys than this take long, which is said before it is tried."""


@dataclass(frozen=True)
class Scenario:
    """An attacker who knows some of the keys of a person, and wants the sensitive attribute.

    Parameters
    ----------
    keys : sequence of str
        Columns that may be known of a person (quasi-identifiers).
    sensitive : str
        The column that the attacker wants to learn.
    known : int, optional
        How many of the keys are known: all sets of so many keys are attacked. All keys if not
        given.

    Examples
    --------
    >>> scenario = Scenario(["age", "sex", "job"], "income", known=2)
    >>> list(scenario.subsets())
    [('age', 'sex'), ('age', 'job'), ('sex', 'job')]
    """

    keys: tuple[str, ...]
    sensitive: str
    known: int | None = None

    def __init__(self, keys: str | Sequence[str], sensitive: str, known: int | None = None) -> None:
        if not isinstance(keys, str) and not isinstance(keys, Iterable):
            raise ParameterError(f"keys is a column or a list of columns; got {keys!r}.")
        names = (keys,) if isinstance(keys, str) else tuple(keys)
        object.__setattr__(self, "keys", names)
        object.__setattr__(self, "sensitive", sensitive)
        object.__setattr__(self, "known", known)
        if not names:
            raise ParameterError("keys names no column; an attacker who knows nothing needs none.")
        wrong = [name for name in (*names, sensitive) if not isinstance(name, str)]
        if wrong:
            raise ParameterError(f"keys and sensitive are names of columns; got {wrong[0]!r}.")
        if len(set(names)) < len(names):
            repeated = next(name for name in names if names.count(name) > 1)
            raise ParameterError(f"keys: {repeated!r} is named twice.")
        if sensitive in names:
            raise ParameterError(
                f"{sensitive!r} is both a key and the sensitive attribute; an attacker who knows "
                "it has nothing to learn. Take it out of keys."
            )
        whole = isinstance(known, int | np.integer) and not isinstance(known, bool)
        if known is not None and not (whole and 1 <= known <= len(names)):
            raise ParameterError(
                f"known is a whole number from 1 to {len(names)}, the number of keys; "
                f"got {known!r}."
            )
        if len(self) > MANY_SETS:
            logging.getLogger("understudy").warning(
                "%s of %d keys are %s sets, each of which is attacked. Take fewer keys, or know "
                "fewer or more of them.",
                known,
                len(names),
                f"{len(self):,}",
            )

    def subsets(self) -> Iterator[tuple[str, ...]]:
        """Yield the sets of keys that are attacked, in the order of the keys."""
        return combinations(self.keys, self.known or len(self.keys))

    def __len__(self) -> int:
        """Return how many sets of keys are attacked."""
        return math.comb(len(self.keys), self.known or len(self.keys))

    @classmethod
    def from_toml(cls, text: str) -> Scenario:
        r"""Read a scenario from TOML with the fields keys, sensitive and, if wanted, known.

        Examples
        --------
        >>> Scenario.from_toml('keys = ["age", "sex"]\nsensitive = "income"')
        Scenario(keys=('age', 'sex'), sensitive='income', known=None)
        """
        try:
            content = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ParameterError(f"The scenario is no TOML: {error}.") from error
        unknown = [name for name in content if name not in _FIELDS]
        if unknown:
            raise ParameterError(
                f"A scenario has no field {unknown[0]!r}; it has {', '.join(_FIELDS)}."
                f"{did_you_mean(unknown[0], _FIELDS)}"
            )
        absent = [name for name in _FIELDS[:2] if name not in content]
        if absent:
            raise ParameterError(f"The scenario lacks the field {absent[0]!r}.")
        if not isinstance(content["keys"], str | list):
            raise ParameterError(f"keys is a list of columns; got {content['keys']!r}.")
        return cls(content["keys"], content["sensitive"], content.get("known"))

    @classmethod
    def load(cls, path: str | Path) -> Scenario:
        """Read a scenario from a TOML file."""
        path = Path(path)
        try:
            return cls.from_toml(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ParameterError(f"There is no file {path}.") from None
        except UnicodeDecodeError as error:
            raise ParameterError(f"{path} is no text in UTF-8: {error}.") from error
        except OSError as error:
            raise ParameterError(f"{path} cannot be opened: {error.strerror}.") from error
