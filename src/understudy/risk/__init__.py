"""Risk: what an attacker learns from a release, beyond what is known without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from understudy.intervals import wilson_interval
from understudy.risk.anonymity import Anonymity, anonymity
from understudy.risk.attacker_votes import Attackers
from understudy.risk.attackers import attackers
from understudy.risk.attribution import attribution, gcap, icap, zero_cap
from understudy.risk.attribution_result import Attribution
from understudy.risk.carriers import Carriers, carriers
from understudy.risk.disclosure import disclosure
from understudy.risk.disclosure_result import Disclosure, Disclosures
from understudy.risk.kept_back import Compared
from understudy.risk.linkability import linkability
from understudy.risk.linkability_result import Linkability
from understudy.risk.lookalikes import Lookalikes, lookalikes
from understudy.risk.membership import (
    ControlMembership,
    ExactMembership,
    Membership,
    OwnCopies,
    ShadowMembership,
    membership,
    membership_by_control,
    membership_by_shadows,
    membership_exact,
    own_copies,
)
from understudy.risk.nearest_neighbour import NearestNeighbour, nearest_neighbour
from understudy.risk.overview import Overview, overview
from understudy.risk.own_values import OwnValues, own_values
from understudy.risk.rare_values import RareValues, rare_values
from understudy.risk.scenario import Baseline, Scenario
from understudy.risk.singling_out import singling_out
from understudy.risk.singling_out_result import PredicateAttack, SinglingOut
from understudy.risk.strong import (
    Command,
    StrongAttack,
    black_box_attacker,
    strong_attacker,
    strong_attacker_on_units,
)
from understudy.risk.sweep import Sweep, sweep
from understudy.risk.telling_keys import TellingKeys, telling_keys
from understudy.risk.tolerance import Tolerance

if TYPE_CHECKING:
    from understudy.learning.fixed_radius import FixedRadiusClassifier

__all__ = [
    "Anonymity",
    "Attackers",
    "Attribution",
    "Baseline",
    "Carriers",
    "Command",
    "Compared",
    "ControlMembership",
    "Disclosure",
    "Disclosures",
    "ExactMembership",
    "FixedRadiusClassifier",
    "Linkability",
    "Lookalikes",
    "Membership",
    "NearestNeighbour",
    "Overview",
    "OwnCopies",
    "OwnValues",
    "PredicateAttack",
    "RareValues",
    "Scenario",
    "ShadowMembership",
    "SinglingOut",
    "StrongAttack",
    "Sweep",
    "TellingKeys",
    "Tolerance",
    "anonymity",
    "attackers",
    "attribution",
    "black_box_attacker",
    "carriers",
    "disclosure",
    "gcap",
    "icap",
    "linkability",
    "lookalikes",
    "membership",
    "membership_by_control",
    "membership_by_shadows",
    "membership_exact",
    "nearest_neighbour",
    "overview",
    "own_copies",
    "own_values",
    "rare_values",
    "singling_out",
    "strong_attacker",
    "strong_attacker_on_units",
    "sweep",
    "telling_keys",
    "wilson_interval",
    "zero_cap",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whatever the name stands for
    if name != "FixedRadiusClassifier":
        raise AttributeError(f"module 'understudy.risk' has no attribute {name!r}")
    # A class of scikit-learn's kind, whose import takes a second or two.
    from understudy.learning.fixed_radius import FixedRadiusClassifier

    return FixedRadiusClassifier
