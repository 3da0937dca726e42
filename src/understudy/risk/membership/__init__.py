"""Was a person in the data? By the density of our models, by control records, by shadows."""

from __future__ import annotations

from understudy.risk.membership.attack import Membership, membership
from understudy.risk.membership.control import membership_by_control
from understudy.risk.membership.control_result import ControlMembership
from understudy.risk.membership.exact import membership_exact
from understudy.risk.membership.exact_result import ExactMembership
from understudy.risk.membership.own_copies import OwnCopies, own_copies
from understudy.risk.membership.shadow_result import ShadowMembership
from understudy.risk.membership.shadows import membership_by_shadows

__all__ = [
    "ControlMembership",
    "ExactMembership",
    "Membership",
    "OwnCopies",
    "ShadowMembership",
    "membership",
    "membership_by_control",
    "membership_by_shadows",
    "membership_exact",
    "own_copies",
]
