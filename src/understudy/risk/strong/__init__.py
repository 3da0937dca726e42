"""The strong attacker, who knows the synthesizer and every record but one.

What is asked (`candidates`), what is believed (`beliefs`) and what comes out (`result`)
are the same for all attacks. Likelihoods differ: that of our own models is exact (`fixed`, `refit`,
`whole_record`), that of any other tool is simulated (`simulated`).
"""

from __future__ import annotations

from understudy.risk.strong.attack import strong_attacker
from understudy.risk.strong.black_box import black_box_attacker
from understudy.risk.strong.command import Command
from understudy.risk.strong.result import StrongAttack
from understudy.risk.strong.whole_units import strong_attacker_on_units

__all__ = [
    "Command",
    "StrongAttack",
    "black_box_attacker",
    "strong_attacker",
    "strong_attacker_on_units",
]
