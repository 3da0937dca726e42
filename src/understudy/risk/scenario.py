"""What an attacker knows and wants, and reaches without a release."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import as_names, is_whole
from understudy.errors import ParameterError, did_you_mean
from understudy.toml_file import parse_toml, read_toml

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
            raise ParameterError(f"keys must be a column or a list of columns; got {keys!r}.")
        names = as_names(keys)
        object.__setattr__(self, "keys", names)
        object.__setattr__(self, "sensitive", sensitive)
        object.__setattr__(self, "known", known)
        if not names:
            raise ParameterError(
                "keys is empty. Name at least one column that an attacker may know."
            )
        wrong = [name for name in (*names, sensitive) if not isinstance(name, str)]
        if wrong:
            raise ParameterError(f"keys and sensitive must be names of columns; got {wrong[0]!r}.")
        if len(set(names)) < len(names):
            repeated = next(name for name in names if names.count(name) > 1)
            raise ParameterError(f"keys: {repeated!r} is named twice.")
        if sensitive in names:
            raise ParameterError(
                f"{sensitive!r} is both a key and the sensitive attribute. An attacker who knows "
                "it has nothing to learn: remove it from keys."
            )
        if known is not None and not (is_whole(known) and 1 <= known <= len(names)):
            raise ParameterError(
                f"known must be a whole number from 1 to {len(names)}, the number of keys; "
                f"got {known!r}."
            )
        if len(self) > MANY_SETS:
            logging.getLogger("understudy").warning(
                "%s of %d keys make %s sets, and each set is attacked. Use fewer keys, or change "
                "how many are known.",
                known,
                len(names),
                f"{len(self):,}",
            )

    @classmethod
    def without_keys(cls) -> Scenario:
        """Return what those attacks are given that need neither keys nor a sensitive attribute.

        Examples
        --------
        >>> Scenario.without_keys().is_empty
        True
        """
        made = object.__new__(cls)
        for name, value in {"keys": (), "sensitive": "", "known": None}.items():
            object.__setattr__(made, name, value)
        return made

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known, and nothing wanted."""
        return not self.keys

    def subsets(self) -> Iterator[tuple[str, ...]]:
        """Yield the sets of keys that are attacked, in the order of the keys."""
        return combinations(self.keys, self.known or len(self.keys))

    def __len__(self) -> int:
        """Return how many sets of keys are attacked."""
        return math.comb(len(self.keys), self.known or len(self.keys))

    @property
    def known_keys(self) -> str:
        """How many of the keys are known, in words.

        Examples
        --------
        >>> Scenario(["age", "sex"], "income").known_keys
        'both keys'
        >>> Scenario(["age", "sex", "job"], "income", known=2).known_keys
        '2 of 3 keys'
        """
        total = len(self.keys)
        if self.known is not None and self.known < total:
            return f"{self.known} of {total} keys"
        return {1: "the key", 2: "both keys"}.get(total, f"all {total} keys")

    @classmethod
    def from_toml(cls, text: str) -> Scenario:
        r"""Read a scenario from TOML with the fields keys, sensitive and, if wanted, known.

        Examples
        --------
        >>> Scenario.from_toml('keys = ["age", "sex"]\nsensitive = "income"')
        Scenario(keys=('age', 'sex'), sensitive='income', known=None)
        """
        return cls._from_fields(parse_toml(text, "The scenario"))

    @classmethod
    def load(cls, path: str | Path) -> Scenario:
        """Read a scenario from a TOML file."""
        return cls._from_fields(read_toml(path))

    @classmethod
    def _from_fields(cls, content: dict[str, Any]) -> Scenario:
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
            raise ParameterError(f"keys must be a list of columns; got {content['keys']!r}.")
        return cls(content["keys"], content["sensitive"], content.get("known"))


class Baseline(float):
    """Guessing the sensitive attribute from its shares alone: as a number, by the zero rule.

    Parameters
    ----------
    zero_rule : float
        Share of correct guesses by somebody who always says the value that is right most often.
    proportional : float
        The same for guessing each value as often as it occurs: the sum of squared shares.
    release_rule : float
        The same for always saying the release's most frequent value; nan without a release.
    uniform : float
        The same for guessing each value that occurs equally often.

    Examples
    --------
    >>> baseline = Baseline.of(np.array([3, 1]), np.array([2, 9]))
    >>> baseline
    Baseline(zero_rule=0.75, proportional=0.625, release_rule=0.25, uniform=0.5)
    >>> baseline + 0.125
    0.875
    """

    proportional: float
    release_rule: float
    uniform: float

    def __new__(
        cls,
        zero_rule: float,
        proportional: float,
        release_rule: float = math.nan,
        uniform: float = math.nan,
    ) -> Self:
        """Make the number, with the other references beside it."""
        made = super().__new__(cls, zero_rule)
        made.proportional = proportional
        made.release_rule = release_rule
        made.uniform = uniform
        return made

    @classmethod
    def of(cls, counts: NDArray[np.int64], released: NDArray[np.int64] | None = None) -> Self:
        """Return the baseline for the counts of a column's values; nan if there are none.

        `released` are those of the release. Of values that are equally frequent there, the first
        is said.
        """
        total = int(counts.sum())
        if not total:
            return cls(math.nan, math.nan)
        squares = int((counts.astype(object) ** 2).sum())
        own = math.nan
        if released is not None and released.any():
            said = int(released.argmax())
            own = int(counts[said]) / total if said < len(counts) else 0.0
        return cls(
            int(counts.max()) / total, squares / total**2, own, 1 / int(np.count_nonzero(counts))
        )

    @classmethod
    def mean(cls, baselines: Sequence[Baseline]) -> Self:
        """Return the mean of several baselines; those that are undefined are left out."""
        defined = [one for one in baselines if not math.isnan(one)]
        if not defined:
            return cls(math.nan, math.nan)
        rows = zip(*(one.references for one in defined), strict=True)
        return cls(*(math.fsum(row) / len(defined) for row in rows))

    @property
    def zero_rule(self) -> float:
        """Share of correct guesses by somebody who always says the most frequent value."""
        return float(self)

    @property
    def references(self) -> tuple[float, float, float, float]:
        """The four references, in their order."""
        return self.zero_rule, self.proportional, self.release_rule, self.uniform

    def to_dict(self) -> dict[str, float | None]:
        """Return all references as plain values, with None for nan."""
        named = zip(_REFERENCES, self.references, strict=True)
        return {name: None if math.isnan(value) else value for name, value in named}

    def __repr__(self) -> str:
        named = zip(_REFERENCES, self.references, strict=True)
        return f"Baseline({', '.join(f'{name}={value!r}' for name, value in named)})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Baseline) and not all(map(_same, self.references, other.references)):
            return False
        return float(self) == other

    def __hash__(self) -> int:
        return super().__hash__()

    def __reduce__(self) -> tuple[type[Self], tuple[float, ...]]:
        return type(self), self.references


_REFERENCES = ("zero_rule", "proportional", "release_rule", "uniform")


def _same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))
