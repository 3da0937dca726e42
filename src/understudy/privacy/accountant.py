"""The accountant: asks questions of the records with noise, and pays before it draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from understudy.privacy import noise
from understudy.privacy.guarantee import BudgetError, Guarantee
from understudy.privacy.ledger import Currency, Entry, Ledger, Mechanism

_PARTS = 1000
"""So finely is a budget divided among tables, for each root of a cell."""

_SHARE_FOR_DOMAIN = Fraction(1, 2)
"""The part of delta that levels may use which are read from the records, if noise needs some."""

ROUNDING_OF_SCORES = 2.0**-18
"""More than the rounding of two scores of up to 2**32 records: part of their sensitivity.

This holds for exact sums that are rounded twice after, at most.
"""


class Accountant:
    """Adds noise to answers, and keeps the ledger.

    Every question is paid for before its noise is drawn. None can be seeded.

    Parameters
    ----------
    guarantee : Guarantee
        What is promised.
    pure : bool
        Whether the budget is epsilon itself, and noise is discrete Laplace. If not, it is rho of
        zero-concentrated differential privacy, and noise is discrete Gaussian.
    open_domain : bool
        Whether levels are to be read from the records, which needs a part of delta.

    Attributes
    ----------
    ledger : Ledger
        What was asked, and what it cost.

    Examples
    --------
    >>> accountant = Accountant(Guarantee(Fraction(1), Fraction(0)), pure=True)
    >>> found = accountant.counts("counts of 'sex'", np.array([40, 60]), Fraction(1, 4))
    >>> found.shape, accountant.left
    ((2,), Fraction(3, 4))
    """

    def __init__(
        self, guarantee: Guarantee, *, pure: bool = False, open_domain: bool = False
    ) -> None:
        noise.require_opendp()
        self.guarantee = guarantee
        self.pure = pure
        share = Fraction(0) if not open_domain else Fraction(1) if pure else _SHARE_FOR_DOMAIN
        self.delta_for_domain = guarantee.delta * share
        currency: Currency = "epsilon" if pure else "rho"
        delta = guarantee.delta - self.delta_for_domain
        total = guarantee.epsilon if pure else noise.rho_of(guarantee.epsilon, delta)
        self.ledger = Ledger(guarantee, currency, total, opendp=noise.opendp_version())

    @property
    def total(self) -> Fraction:
        """The whole budget."""
        return self.ledger.total

    @property
    def left(self) -> Fraction:
        """What is left of it."""
        return self.ledger.left

    @property
    def l1(self) -> int:
        """How much one record changes a table of counts, as the sum of all changes."""
        return 2 if self.guarantee.neighbours == "change-one" else 1

    @property
    def l2(self) -> float:
        """How much one record changes a table of counts, as a Euclidean distance, rounded up."""
        return self._l2_of(1)

    def scale_of(self, cost: Fraction, *, tables: int = 1) -> float:
        """Return the scale of noise that `counts` adds for this cost."""
        if cost <= 0:
            raise BudgetError(f"A question must cost something; got {float(cost):.6g}.")
        if self.pure:
            return noise.laplace_scale(self.l1 * tables, cost)
        return noise.gaussian_scale(self._l2_of(tables), cost)

    def split(self, budget: Fraction, cells: Sequence[int]) -> list[Fraction]:
        """Divide a budget among tables, so that noise moves as few records as can be.

        Parameters
        ----------
        budget : Fraction
            What all of them may cost.
        cells : sequence of int
            How many counts each has.

        Notes
        -----
        Noise moves about as many records of a table as it has cells, times the scale. The scale
        falls with the cost, or with its root if noise is Gaussian. So the sum over all tables is
        smallest if costs grow like the cells to the power of 1/2, or of 2/3.

        Examples
        --------
        >>> accountant = Accountant(Guarantee(Fraction(1), Fraction(0)), pure=True)
        >>> accountant.split(Fraction(1), [4, 16])
        [Fraction(1, 3), Fraction(2, 3)]
        """
        power = 1 / 2 if self.pure else 2 / 3
        parts = [round(_PARTS * count**power) for count in cells]
        return [budget * part / sum(parts) for part in parts]

    def reach(self, cost: Fraction, chance: float) -> int:
        """Return a whole number that the noise of `counts` reaches with at most this chance."""
        return noise.reach(self.scale_of(cost), chance, gaussian=not self.pure)

    def _l2_of(self, tables: int) -> float:
        # As many counts change by one as `l1` says.
        square = self.l1 * tables
        root = math.sqrt(square)
        return root if root.is_integer() else math.nextafter(root, math.inf)

    def counts(
        self,
        what: str,
        counts: NDArray[np.int64],
        cost: Fraction,
        *,
        tables: int = 1,
        delta: Fraction = Fraction(0),
        answers: int | None = None,
    ) -> NDArray[np.int64]:
        """Return counts with integer noise.

        Parameters
        ----------
        what : str
            What is counted, for the ledger.
        counts : ndarray of int64
            Records in each cell of one or several tables.
        cost : Fraction
            What it may cost.
        tables : int
            How many tables there are: a record is counted once in each.
        delta : Fraction
            What the caller uses of the delta for domains.
        answers : int, optional
            How many answers the ledger speaks of, if their number is not public.

        Raises
        ------
        BudgetError
            If there is not so much left. Nothing is drawn then.
        """
        scale = self.scale_of(cost, tables=tables)
        told = counts.size if answers is None else answers
        if self.pure:
            self._pay(Entry(what, "discrete Laplace", self.l1 * tables, scale, cost, delta, told))
            return noise.with_laplace(counts, scale)
        l2 = self._l2_of(tables)
        self._pay(Entry(what, "discrete Gaussian", l2, scale, cost, delta, told))
        return noise.with_gaussian(counts, scale)

    def choose(
        self, what: str, scores: NDArray[np.float64], sensitivity: float, cost: Fraction
    ) -> int:
        """Return the place of a score that is likely to be among the largest.

        Parameters
        ----------
        what : str
            What is chosen, for the ledger.
        scores : ndarray of float64
            How good each candidate is.
        sensitivity : float
            How much any score changes at most between neighbouring tables.
        cost : Fraction
            What it may cost.
        """
        if cost <= 0:
            raise BudgetError(f"A question must cost something; got {float(cost):.6g}.")
        scale = noise.choice_scale(sensitivity, cost, pure=self.pure)
        name: Mechanism = "permute and flip" if self.pure else "exponential"
        self._pay(Entry(what, name, sensitivity, scale, cost, answers=len(scores)))
        return noise.choose(np.asarray(scores, np.float64), scale, pure=self.pure)

    def take_for_public(self, *sentences: str) -> None:
        """Note what is taken for public."""
        self.ledger = replace(self.ledger, public=(*self.ledger.public, *sentences))

    def _pay(self, entry: Entry) -> None:
        if entry.cost > self.left:
            raise BudgetError(
                f"{entry.what[:1].upper()}{entry.what[1:]} would cost {float(entry.cost):.6g}, but "
                f"{float(self.left):.6g} of {float(self.total):.6g} is left "
                f"({self.ledger.currency})."
            )
        if self.ledger.delta_spent + entry.delta > self.delta_for_domain:
            raise BudgetError("There is no delta left for levels that are read from the records.")
        self.ledger = self.ledger.with_entry(entry)
