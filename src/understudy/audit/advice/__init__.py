"""What to try next with a release: data that the command line turns into commands."""

from understudy.audit.advice.given import give_advice
from understudy.audit.advice.piece import CONTROL, KEEP, MODEL, Action, Advice

__all__ = ["CONTROL", "KEEP", "MODEL", "Action", "Advice", "give_advice"]
