"""The ledger: every question that was asked of the records, and what it cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any, Literal, get_args

from understudy.privacy.guarantee import Guarantee

Currency = Literal["rho", "epsilon"]
Mechanism = Literal["discrete Gaussian", "discrete Laplace", "exponential", "permute and flip"]

_LARGE = 1e6
"""From here on, a factor is left as a power of e."""

_SLACK = 1 + 1e-9
"""Scales are floats: what they cost is compared up to this factor."""


@dataclass(frozen=True)
class Entry:
    """One question that was asked of the records.

    Parameters
    ----------
    what : str
        What was asked.
    mechanism : str
        How noise was added.
    sensitivity : float
        How much the answer changes with one record: in the metric of the mechanism.
    scale : float
        The scale of the noise.
    cost : Fraction
        What was paid, in the ledger's currency.
    delta : Fraction
        The probability with which the answer may tell more than it costs.
    answers : int
        Numbers that were published, or candidates that were chosen from.
    """

    what: str
    mechanism: Mechanism
    sensitivity: float
    scale: float
    cost: Fraction
    delta: Fraction = Fraction(0)
    answers: int = 1

    @property
    def least_cost(self) -> float:
        """What noise of this scale costs, by the formula of the mechanism."""
        ratio = self.sensitivity / self.scale
        return {
            "discrete Gaussian": ratio**2 / 2,
            "discrete Laplace": ratio,
            "exponential": (2 * ratio) ** 2 / 8,
            "permute and flip": 2 * ratio,
        }[self.mechanism]

    def to_plain(self) -> dict[str, Any]:
        """Return the entry in values that JSON holds exactly."""
        return vars(self) | {"cost": str(self.cost), "delta": str(self.delta)}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Entry:
        """Return the entry that `to_plain` wrote, or raise ValueError or KeyError."""
        entry = cls(
            str(plain["what"]),
            plain["mechanism"],
            float(plain["sensitivity"]),
            float(plain["scale"]),
            Fraction(plain["cost"]),
            Fraction(plain["delta"]),
            int(plain["answers"]),
        )
        known = entry.mechanism in get_args(Mechanism)
        sizes = entry.scale > 0 and entry.sensitivity > 0 and entry.answers >= 0
        if not known or not sizes or entry.cost < 0 or not 0 <= entry.delta < 1:
            raise ValueError("an entry that cannot be")
        return entry


@dataclass(frozen=True)
class Ledger:
    """What a private model asked of the records, what that cost, and the promise that it keeps.

    Parameters
    ----------
    guarantee : Guarantee
        The promise.
    currency : {"rho", "epsilon"}
        In what questions are paid: rho of zero-concentrated differential privacy, or epsilon.
    total : Fraction
        The whole budget, in this currency.
    entries : tuple of Entry
        The questions, in order.
    public : tuple of str
        What was taken for public, a sentence each.
    opendp : str
        The version of OpenDP that drew the noise.

    Examples
    --------
    >>> promise = Guarantee(Fraction(1), Fraction(0))
    >>> ledger = Ledger(promise, "epsilon", Fraction(1))
    >>> entry = Entry("counts of 'sex'", "discrete Laplace", 2, 4.0, Fraction(1, 2), answers=2)
    >>> ledger.with_entry(entry).left
    Fraction(1, 2)
    """

    guarantee: Guarantee
    currency: Currency
    total: Fraction
    entries: tuple[Entry, ...] = ()
    public: tuple[str, ...] = ()
    opendp: str = ""

    @property
    def spent(self) -> Fraction:
        """What was paid so far."""
        return sum((entry.cost for entry in self.entries), Fraction(0))

    @property
    def left(self) -> Fraction:
        """What can still be paid."""
        return self.total - self.spent

    @property
    def delta_spent(self) -> Fraction:
        """The part of delta that questions took for themselves."""
        return sum((entry.delta for entry in self.entries), Fraction(0))

    def with_entry(self, entry: Entry) -> Ledger:
        """Return the ledger with one more question."""
        return replace(self, entries=(*self.entries, entry))

    def in_words(self) -> str:
        """Return the promise in a sentence for those who get the release.

        Examples
        --------
        >>> Ledger(Guarantee(Fraction(1), Fraction(0)), "epsilon", Fraction(1)).in_words()[:54]
        'Differentially private with epsilon 1: whatever anybod'
        """
        own = self.guarantee
        delta = f" and delta {float(own.delta):.3g}" if own.delta else ""
        other = "were another" if own.neighbours == "change-one" else "were not there"
        but = f", except with a probability of {float(own.delta):.3g}" if own.delta else ""
        most = math.exp(min(float(own.epsilon), 700.0))
        times = f"{most:,.2f}" if most < _LARGE else f"exp({float(own.epsilon):.6g})"
        return (
            f"Differentially private with epsilon {float(own.epsilon):.6g}{delta}: whatever "
            f"anybody sees in it is at most {times} times as likely as if any one record {other}"
            f"{but}."
        )

    @property
    def headings(self) -> tuple[str, ...]:
        """What the columns of `lines` are called."""
        return ("question", "noise", "sensitivity", "scale", self.currency, "running total")

    def lines(self) -> list[tuple[str, ...]]:
        """Return the questions as texts for a table, which has `headings`."""
        return [
            (
                row["what"],
                row["mechanism"],
                *(f"{row[name]:.4g}" for name in ("sensitivity", "scale", self.currency, "total")),
            )
            for row in self.rows()
        ]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each question, with the running total, for tables and frames."""
        running = accumulate(entry.cost for entry in self.entries)
        return [
            {
                "what": entry.what,
                "mechanism": entry.mechanism,
                "sensitivity": entry.sensitivity,
                "scale": entry.scale,
                self.currency: float(entry.cost),
                "total": float(total),
            }
            for entry, total in zip(self.entries, running, strict=True)
        ]

    def problems(self) -> Iterator[str]:
        """Yield a sentence for everything that makes the ledger no proof of its guarantee."""
        if self.spent > self.total:
            yield (
                f"it spends {float(self.spent):.6g} of {float(self.total):.6g} ({self.currency})."
            )
        for place, entry in enumerate(self.entries, 1):
            if entry.least_cost > float(entry.cost) * _SLACK:
                yield (
                    f"question {place} ({entry.what}) costs {entry.least_cost:.6g}, but "
                    f"{float(entry.cost):.6g} was paid."
                )
        yield from self._budget_problems()

    def _budget_problems(self) -> Iterator[str]:
        left = self.guarantee.delta - self.delta_spent
        if left < 0:
            yield "its questions need more delta than there is."
        elif self.currency == "epsilon" and self.total > self.guarantee.epsilon:
            yield "its budget is more than epsilon."
        elif self.currency == "rho":
            from understudy.privacy.noise import epsilon_of

            if not left:
                yield "its delta is 0, which Gaussian noise cannot keep."
            elif (
                epsilon_of(float(self.total), float(left)) > float(self.guarantee.epsilon) * _SLACK
            ):
                yield f"a budget of rho {float(self.total):.6g} has a larger epsilon."

    def to_plain(self) -> dict[str, Any]:
        """Return the ledger in values that JSON holds exactly."""
        return {
            "guarantee": self.guarantee.to_plain(),
            "currency": self.currency,
            "total": str(self.total),
            "entries": [entry.to_plain() for entry in self.entries],
            "public": list(self.public),
            "opendp": self.opendp,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Ledger:
        """Return the ledger that `to_plain` wrote, or raise ValueError or KeyError."""
        if plain["currency"] not in get_args(Currency):
            raise ValueError("a currency that is not known")
        return cls(
            Guarantee.from_plain(plain["guarantee"]),
            plain["currency"],
            Fraction(plain["total"]),
            tuple(Entry.from_plain(entry) for entry in plain["entries"]),
            tuple(map(str, plain["public"])),
            str(plain["opendp"]),
        )
