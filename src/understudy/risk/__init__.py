"""Risk: what an attacker learns from a release, beyond what is known without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from understudy.intervals import wilson_interval
from understudy.risk.anonymity import Anonymity, anonymity
from understudy.risk.attacker_votes import Attackers
from understudy.risk.attackers import attackers
from understudy.risk.attribution import attribution, gcap, icap, zero_cap
from understudy.risk.attribution_result import Attribution
from understudy.risk.disclosure import disclosure
from understudy.risk.disclosure_result import Disclosure, Disclosures
from understudy.risk.membership import (
    ControlMembership,
    ExactMembership,
    Membership,
    ShadowMembership,
    membership,
    membership_by_control,
    membership_by_shadows,
    membership_exact,
)
from understudy.risk.overview import Overview, overview
from understudy.risk.scenario import Baseline, Scenario
from understudy.risk.strong import Command, StrongAttack, black_box_attacker, strong_attacker
from understudy.risk.sweep import Sweep, sweep

if TYPE_CHECKING:
    from understudy.learning.fixed_radius import FixedRadiusClassifier

__all__ = [
    "Anonymity",
    "Attackers",
    "Attribution",
    "Baseline",
    "Command",
    "ControlMembership",
    "Disclosure",
    "Disclosures",
    "ExactMembership",
    "FixedRadiusClassifier",
    "Membership",
    "Overview",
    "Scenario",
    "ShadowMembership",
    "StrongAttack",
    "Sweep",
    "anonymity",
    "attackers",
    "attribution",
    "black_box_attacker",
    "disclosure",
    "gcap",
    "icap",
    "membership",
    "membership_by_control",
    "membership_by_shadows",
    "membership_exact",
    "overview",
    "strong_attacker",
    "sweep",
    "wilson_interval",
    "zero_cap",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whatever the name stands for
    if name != "FixedRadiusClassifier":
        raise AttributeError(f"module 'understudy.risk' has no attribute {name!r}")
    # A class of scikit-learn's kind, whose import takes a second or two.
    from understudy.learning.fixed_radius import FixedRadiusClassifier

    return FixedRadiusClassifier
