"""What a private release promises: epsilon, delta, and which tables count as neighbours."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from understudy.arguments import check_choice, is_number
from understudy.errors import ParameterError, UnderstudyError

Neighbours = Literal["change-one", "add-remove"]

SMALLEST_DELTA = Fraction(1, 10**12)
"""The delta of a table whose size is not public, if none is given."""

LEAST_EPSILON, MOST_EPSILON = Fraction(1, 10**6), 1000
"""With less, noise hides a million records; with more, not even the sums can be done."""

PROTECTS_NOBODY = 20
"""Above this, one record may make something more than a million times as likely, and far more."""

LARGE_DELTA = Fraction(1, 10**5)
"""Above this, delta is said to be large, if how many records there are is not public."""


class BudgetError(UnderstudyError, ValueError):
    """More privacy budget is asked for than there is."""


@dataclass(frozen=True)
class Guarantee:
    """What holds for every person, whatever an attacker knows of the others.

    Parameters
    ----------
    epsilon : Fraction
        Nothing that can be seen becomes more than exp(epsilon) times as likely by one record.
    delta : Fraction
        But for events of at most this probability.
    neighbours : {"change-one", "add-remove"}
        Whether one record may be another, with the number of records public; or may be absent.
    """

    epsilon: Fraction
    delta: Fraction
    neighbours: Neighbours = "change-one"

    def __str__(self) -> str:
        delta = f", delta {float(self.delta):.3g}" if self.delta else ""
        return f"epsilon {float(self.epsilon):.6g}{delta} ({self.neighbours})"

    def to_plain(self) -> dict[str, str]:
        """Return the guarantee in texts that hold it exactly."""
        return {
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "neighbours": self.neighbours,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Guarantee:
        """Return the guarantee that `to_plain` wrote, or raise ValueError."""
        neighbours = plain["neighbours"]
        if neighbours not in get_args(Neighbours):
            raise ValueError("neighbours that are not known")
        found = cls(Fraction(plain["epsilon"]), Fraction(plain["delta"]), neighbours)
        if found.epsilon <= 0 or not 0 <= found.delta < 1:
            raise ValueError("a guarantee that cannot be")
        return found


def check_epsilon(value: object, name: str = "epsilon") -> Fraction:
    """Return a positive number as the decimal that was written, exactly.

    Examples
    --------
    >>> check_epsilon(0.1)
    Fraction(1, 10)
    """
    known = isinstance(value, Fraction) or (is_number(value) and math.isfinite(value))  # type: ignore[arg-type]
    found = Fraction(str(value)) if known else Fraction(0)
    if found <= 0:
        raise ParameterError(f"{name} must be a positive number; got {value!r}.")
    if found < LEAST_EPSILON:
        raise ParameterError(
            f"{name} must be at least {float(LEAST_EPSILON):f}; got {value!r}. With less, noise "
            "hides everything."
        )
    if found > MOST_EPSILON:
        raise ParameterError(
            f"{name} must be at most {MOST_EPSILON:,}; got {value!r}. With so much, nobody is "
            "protected: 1 is common, and more than 10 is weak."
        )
    return found


def check_delta(value: object) -> Fraction:
    """Return a probability below 1 as the decimal that was written, exactly."""
    known = isinstance(value, Fraction) or (is_number(value) and math.isfinite(value))  # type: ignore[arg-type]
    found = Fraction(str(value)) if known else Fraction(-1)
    if not 0 <= found < 1:
        raise ParameterError(f"delta must be a probability from 0 to below 1; got {value!r}.")
    return found


def read_guarantee(
    epsilon: object, delta: object, neighbours: object, rows: int, *, pure: bool
) -> Guarantee:
    """Return the guarantee that parameters ask for.

    Parameters
    ----------
    epsilon, delta, neighbours
        As given. Without a delta, it is 0 if the mechanism needs none, and else 1 in the square
        of the number of records; if that is not public, one in a million millions.
    rows : int
        Records of the table.
    pure : bool
        Whether the mechanism needs no delta.
    """
    check_choice("neighbours", neighbours, get_args(Neighbours))
    relation: Neighbours = "add-remove" if neighbours == "add-remove" else "change-one"
    if delta is not None:
        found = check_delta(delta)
    elif pure:
        found = Fraction(0)
    elif relation == "add-remove":
        found = SMALLEST_DELTA
    else:
        found = Fraction(1, max(rows, 2) ** 2)
    if not pure and not found:
        raise ParameterError(
            "delta must be above 0: Gaussian noise, or levels that are read from the records, need "
            "a small probability of telling more. Leave it out, and one is chosen."
        )
    if relation == "change-one" and rows > 1 and found >= Fraction(1, rows):
        raise ParameterError(
            f"delta must be below 1 in the number of records, {1 / rows:.3g}; got "
            f"{float(found):.3g}. Otherwise a mechanism may publish a whole record and still keep "
            "its promise."
        )
    return Guarantee(check_epsilon(epsilon), found, relation)


def tell_of_weakness(guarantee: Guarantee) -> None:
    """Say so if a promise protects nobody, though it can be kept."""
    if guarantee.epsilon > PROTECTS_NOBODY:
        logging.getLogger("understudy").warning(
            "An epsilon of %g protects nobody: a single record may make something more than a "
            "million times as likely. Choose less: 1 is common, and more than 10 is weak.",
            guarantee.epsilon,
        )
    if guarantee.neighbours == "add-remove" and guarantee.delta > LARGE_DELTA:
        logging.getLogger("understudy").warning(
            "A delta of %g is large: it should be far below 1 in the number of records. Leave it "
            "out, and one is chosen.",
            guarantee.delta,
        )
