"""The strong attacker: one who knows the synthesizer, and every record but one."""

from __future__ import annotations

from understudy.risk.posterior.attack import strong_attacker
from understudy.risk.posterior.result import StrongAttack

__all__ = ["StrongAttack", "strong_attacker"]
