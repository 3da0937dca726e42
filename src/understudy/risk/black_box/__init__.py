"""The strong attacker on a release of any tool, by simulation."""

from __future__ import annotations

from understudy.risk.black_box.attack import black_box_attacker
from understudy.risk.black_box.command import Command

__all__ = ["Command", "black_box_attacker"]
