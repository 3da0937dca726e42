"""What a private model claims, what proves it, and what was demonstrated: never one for another."""

from __future__ import annotations

import math
from dataclasses import dataclass

NAN = math.nan


@dataclass(frozen=True)
class LedgerLine:
    """One question that was asked of the records: see `Entry` of the ledger.

    `total` is what all questions up to this one cost.
    """

    what: str
    mechanism: str
    sensitivity: float
    scale: float
    cost: float
    total: float


@dataclass(frozen=True)
class PrivacyFindings:
    """What is known of the differential privacy of the model that made a release.

    Parameters
    ----------
    epsilon, delta : float
        What is claimed.
    neighbours : str
        Which tables epsilon compares: change-one or add-remove.
    problems : tuple of str
        Why the ledger does not prove it; empty if it does.
    currency : str
        In what questions were paid: rho or epsilon.
    budget : float
        All that may be spent, in this currency; nan without a ledger.
    ledger : tuple of LedgerLine
        What was asked, in order.
    public : tuple of str
        What was taken for public, a sentence each.
    opendp : str
        The version of OpenDP that drew the noise.
    demonstrated : float
        The largest epsilon that the exact audit found: a lower bound of the true one; nan if that
        was not measured.
    not_demonstrated : str
        Why it was not measured; empty if it was.
    """

    epsilon: float
    delta: float
    neighbours: str
    problems: tuple[str, ...] = ()
    currency: str = ""
    budget: float = NAN
    ledger: tuple[LedgerLine, ...] = ()
    public: tuple[str, ...] = ()
    opendp: str = ""
    demonstrated: float = NAN
    not_demonstrated: str = ""

    @property
    def claim(self) -> str:
        """What is claimed, in a few words."""
        delta = f", delta {self.delta:.3g}" if self.delta else ""
        return f"{self.epsilon:g}{delta} ({self.neighbours})"

    @property
    def is_disproved(self) -> bool:
        """Whether more was demonstrated than is claimed."""
        return self.demonstrated > self.epsilon * (1 + 1e-9)

    def lines(self) -> tuple[tuple[str, str], ...]:
        """Return what is claimed, demonstrated and found by attacks, which are three things."""
        proved = f"proved by the ledger, with {len(self.ledger):,} questions to the records."
        if self.problems:
            proved = f"not proved: {' '.join(self.problems)}"
        shown = f"not measured: {self.not_demonstrated}"
        if not math.isnan(self.demonstrated):
            shown = (
                "no epsilon holds"
                if math.isinf(self.demonstrated)
                else f"at least {self.demonstrated:.3g}"
            )
            shown += ", which is more than is claimed" if self.is_disproved else ""
            shown += ", by exact ratios on made-up tables."
        return (
            ("Epsilon claimed", f"{self.claim}, {proved}"),
            ("Epsilon demonstrated", shown),
            (
                "Empirical risk",
                "what the attacks on this release found. A small epsilon does not stand in for it, "
                "nor it for epsilon.",
            ),
        )


INSIDE = (
    "Figures of use and of attacks are computed from the original, and epsilon does not cover "
    "them. So this report stays inside."
)
