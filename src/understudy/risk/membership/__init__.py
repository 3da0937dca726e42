"""Was a person in the data? By the density of our models, by control records, by shadows."""

from __future__ import annotations

from understudy.risk.membership.exact import membership_exact
from understudy.risk.membership.exact_result import ExactMembership, Posteriors

__all__ = ["ExactMembership", "Posteriors", "membership_exact"]
