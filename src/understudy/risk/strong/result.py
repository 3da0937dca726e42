"""What the strong attacker learns about each record, and about all together."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_whole
from understudy.data.frames import Backend, Frame
from understudy.errors import ParameterError
from understudy.results import Line, Result, draw_number_line, html_table, to_plain
from understudy.wording import counted, percent, quoted, sentence

CERTAIN = 1e-12
"""A posterior this close to 1 counts as certain: all other worlds together are a rounding error."""

Mode = Literal["auto", "fixed", "refit", "black box"]


@dataclass(frozen=True, eq=False)
class StrongAttack(Result):
    """What an attacker who knows all records but one learns of that one; see `strong_attacker`.

    Parameters
    ----------
    unknown : tuple of str
        The attributes that the attacker does not know of the record.
    mode : {"auto", "fixed", "refit", "black box"}
        How the likelihood of the release in each candidate world was found; *auto* by new fits for
        the records that are `refitted`, and with the structure fixed for all others.
    prior_name : str
        What the attacker believes before the release: uniform, marginal, informed or given.
    record : ndarray of int64
        Row numbers in the original, from 0.
    prior, posterior : ndarray of float64
        Probability of the record's true values, before and after the release; nan where the
        release is impossible in every world.
    guess : tuple of str
        The most probable candidate after the release, in words.
    right_before, right_after : ndarray of bool
        Whether the most probable candidate is the truth.
    candidates : ndarray of int64
        How many worlds were compared for each record.
    more : mapping from str to ndarray
        Further columns: `rank` of the truth among all candidates, `mc_error` of a simulation, and
        of the mode *auto* `fixed_posterior` and whether the record was `refitted`.
    marginals : mapping from str to ndarray
        If several attributes are unknown: the posterior of each one's values, a row for each
        record; the values are those of `labels`.
    labels : mapping from str to tuple of str
        What the values of each unknown attribute are called.
    reasons : mapping from str to str
        Why a figure is undefined.
    notes : tuple of str
        What a reader should know: columns that were withheld, which candidates were compared.
    fixed : StrongAttack or None
        Of the mode *auto*: what the attack says of everybody with the structure fixed.

    Examples
    --------
    >>> attack = StrongAttack(("method",), "fixed", "uniform", np.array([0, 1]),
    ...     np.array([0.5, 0.5]), np.array([1.0, 0.25]), ("yes", "no"),
    ...     np.array([True, False]), np.array([True, False]), np.array([2, 2]))
    >>> attack.certain, attack.gain_bits.tolist(), attack.share_above(0.9)
    (1, [1.0, -1.0], 0.5)
    """

    unknown: tuple[str, ...]
    mode: Mode
    prior_name: str
    record: NDArray[np.int64]
    prior: NDArray[np.float64]
    posterior: NDArray[np.float64]
    guess: tuple[str, ...]
    right_before: NDArray[np.bool_]
    right_after: NDArray[np.bool_]
    candidates: NDArray[np.int64]
    more: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    marginals: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    fixed: StrongAttack | None = None

    def __len__(self) -> int:
        return len(self.record)

    @cached_property
    def gain_bits(self) -> NDArray[np.float64]:
        """Bits that the release reveals about each record's true values; below 0 if it misleads."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log2(self.posterior) - np.log2(self.prior)

    @property
    def comparable(self) -> bool:
        """Whether guesses before and after the release can be compared.

        With any other prior than an informed one, a guess after the release forgets what the other
        records tell.
        """
        return self.prior_name == "informed"

    @property
    def refitted(self) -> int | None:
        """Records for which the model was fitted anew; None for a black box."""
        if self.mode == "black box":
            return None
        if self.mode == "refit":
            return len(self)
        return int(np.count_nonzero(self.more.get("refitted", ())))

    @property
    def certain(self) -> int:
        """Records whose true values are certain after the release, and were not before."""
        return int(np.count_nonzero(self._certain))

    @property
    def certain_share(self) -> float:
        """The same as a share of the attacked records."""
        return self.certain / len(self) if len(self) else math.nan

    @property
    def _certain(self) -> NDArray[np.bool_]:
        return (self.posterior >= 1 - CERTAIN) & (self.prior < 1 - CERTAIN)

    def share_above(self, threshold: float) -> float:
        """Return the share of records whose true values have a posterior of more than this."""
        return self._mean(self.posterior > _checked_share("threshold", threshold))

    @property
    def accuracy_before(self) -> float:
        """Share of records guessed correctly without the release."""
        return self._mean(self.right_before)

    @property
    def accuracy_after(self) -> float:
        """Share of records guessed correctly with the release."""
        return self._mean(self.right_after)

    @property
    def mean_gain(self) -> float:
        """Mean of `gain_bits` over the records; nan if it is undefined for any."""
        return self._mean(self.gain_bits)

    @property
    def max_gain(self) -> float:
        """The largest of `gain_bits`."""
        return self.quantile_gain(1.0)

    def quantile_gain(self, share: float = 0.99) -> float:
        """Return the gain in bits that this share of the records does not exceed."""
        _checked_share("share", share)
        gains = self.gain_bits[~np.isnan(self.gain_bits)]
        # The gain of one of the records: between two of them, one may be minus infinity.
        return float(np.quantile(gains, share, method="higher")) if len(gains) else math.nan

    @staticmethod
    def _mean(values: NDArray[Any]) -> float:
        return float(np.mean(values)) if len(values) else math.nan

    def to_frame(
        self, *, worst_first: bool = False, values: bool = True, backend: Backend | None = None
    ) -> Frame:
        """Return a row for each record.

        Parameters
        ----------
        worst_first : bool
            Whether the records come by gain, the largest first, or in the original's order.
        values : bool
            Whether to include what may tell a record's values: the guess, whether the guess before
            was right, and, unless the prior is uniform, the prior and the gain. The share of a
            value often says which it is.
        backend : {"polars", "pandas", "pyarrow"}, optional
            The kind of frame; that of the original if not given.
        """
        import polars as pl

        frame = pl.DataFrame(
            {
                "record": self.record,
                "prior": self.prior,
                "posterior": self.posterior,
                "gain_bits": self.gain_bits,
                "guess": pl.Series(self.guess, dtype=pl.String),
                "right_before": self.right_before,
                "right_after": self.right_after,
                **self.more,
            }
        )
        if not values:
            telling: tuple[str, ...] = ("guess", "right_before")
            if self.prior_name != "uniform":
                telling = (*telling, "prior", "gain_bits")
            frame = frame.drop(telling)
        return self._framed(frame[self._worst_first()] if worst_first else frame, backend)

    def per_record(self, *, backend: Backend | None = None) -> Frame:
        """Return the same as `to_frame`, as all measures have it."""
        return self.to_frame(backend=backend)

    def take(self, places: NDArray[np.integer]) -> StrongAttack:
        """Return the attack on some of the records, by their places among those attacked."""
        return replace(
            self,
            record=self.record[places],
            prior=self.prior[places],
            posterior=self.posterior[places],
            guess=tuple(self.guess[place] for place in places.tolist()),
            right_before=self.right_before[places],
            right_after=self.right_after[places],
            candidates=self.candidates[places],
            more={name: held[places] for name, held in self.more.items()},
            marginals={name: held[places] for name, held in self.marginals.items()},
            fixed=None if self.fixed is None else self.fixed.take(places),
        )

    def worst(self, count: int = 10, *, backend: Backend | None = None) -> Frame:
        """Return the records most exposed by the release."""
        most = check_whole("count", count, 0)
        return self._framed(self.to_frame(worst_first=True, backend="polars").head(most), backend)

    def _worst_first(self) -> NDArray[np.int64]:
        gains = np.where(np.isnan(self.gain_bits), -np.inf, self.gain_bits)
        return np.lexsort((self.record, -self.posterior, -gains))

    def to_dict(self) -> dict[str, Any]:
        """Return the figures over all records as plain values, with None for what is undefined."""
        figures = {
            "unknown": list(self.unknown),
            "mode": self.mode,
            "prior": self.prior_name,
            "records": len(self),
            "candidates": int(self.candidates.max(initial=0)),
            **self._figures(),
            "refitted": self.refitted,
            "fixed": None if self.fixed is None else self.fixed._figures(),  # noqa: SLF001  # of this class
            "max_mc_error": self._largest_error,
            "reasons": dict(self.reasons),
            "notes": list(self.notes),
        }
        plain: dict[str, Any] = to_plain(figures)
        return plain

    def _figures(self) -> dict[str, Any]:
        return {
            "certain": self.certain,
            "certain_share": self.certain_share,
            "share_above_half": self.share_above(0.5),
            "share_above_90_percent": self.share_above(0.9),
            "accuracy_before": self.accuracy_before,
            "accuracy_after": self.accuracy_after,
            "mean_gain_bits": self.mean_gain,
            "gain_bits_99_percent": self.quantile_gain(0.99),
            "max_gain_bits": self.max_gain,
        }

    @property
    def _largest_error(self) -> float:
        errors = np.asarray(self.more.get("mc_error", ()), np.float64)
        return float(np.nanmax(errors)) if np.isfinite(errors).any() else math.nan

    def summary(self) -> str:
        """Return the result in a few plain sentences."""
        of_whom = counted(len(self), "record") if len(self) != 1 else "one record"
        certain = f"{self.certain:,} are" if self.certain != 1 else "1 is"
        if self.comparable:
            first = (
                f"An attacker who knows all other records guesses {named(self.unknown)} correctly "
                f"for {percent(self.accuracy_before)} of {of_whom} without the release, and for "
                f"{percent(self.accuracy_after)} with it. {certain} certain to be disclosed."
            )
        else:
            first = (
                f"An attacker who knows all other records asks what the release reveals about "
                f"{named(self.unknown)} of {of_whom}. {certain} certain to be disclosed."
            )
        parts = (first, self.refitted_in_words(), self._gain_in_words())
        return " ".join(part for part in parts if part)

    def refitted_in_words(self) -> str:
        """Return for how many the model was fitted anew, and what changed; empty if for none."""
        if self.fixed is None or not self.refitted:
            return ""
        chosen = np.asarray(self.more["refitted"], bool)
        after = int(np.count_nonzero(self._certain[chosen]))
        before = int(np.count_nonzero(self.fixed._certain[chosen]))  # noqa: SLF001  # of this class
        who = "everybody" if chosen.all() else f"the {self.refitted:,} most exposed"
        found = (
            f"For {who}, the model was fitted anew for each candidate: {after:,} of them are "
            f"certain, and {before:,} with the structure of the model as published."
        )
        if chosen.all():
            return found
        return f"{found} The others were attacked with that structure alone, which can understate."

    def _gain_in_words(self) -> str:
        if math.isnan(self.mean_gain):
            reasons = "; ".join(self.reasons.values())
            return f"How much the release reveals is undefined: {sentence(reasons)}"
        return (
            f"The release reveals {self.mean_gain:.3f} bits about a record on average, and "
            f"{self.max_gain:.2f} at most."
        )

    def lines(self) -> list[Line]:
        """Return the share of right guesses, without the release and with it.

        Guesses that cannot be compared are left out: what is certain remains.
        """
        if self.comparable:
            about = f"Share of records whose {named(self.unknown)} the attacker guesses"
            return [Line("Guessed correctly", about, self.accuracy_before, self.accuracy_after)]
        about = f"Share of records whose {named(self.unknown)} is certain"
        return [Line("Certain", about, synthetic=self.certain_share)]

    def _repr_html_(self) -> str:
        """Return the number line and the most exposed records, without what tells their values."""
        drawn = draw_number_line("Strong attacker", self.lines())
        table = html_table(self.to_frame(worst_first=True, values=False, backend="polars"))
        return f"<div><p>{html.escape(self.summary())}</p>{drawn}{table}</div>"


def named(unknown: Sequence[str], most: int = 4) -> str:
    """Return the unknown attributes for a sentence.

    Examples
    --------
    >>> named(("method",)), named(("age", "sex")), named(tuple("abcde"))
    ("'method'", "'age' and 'sex'", 'all 5 unknown attributes')
    """
    return quoted(unknown) if len(unknown) <= most else f"all {len(unknown)} unknown attributes"


def _checked_share(name: str, value: float) -> float:
    if not isinstance(value, int | float | np.number) or not 0 <= value <= 1:
        raise ParameterError(f"{name} must lie between 0 and 1; got {value!r}.")
    return value
