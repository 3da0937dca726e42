"""What to try next with a release: data that the command line turns into commands."""

from understudy.audit.advice.given import give_advice
from understudy.audit.advice.piece import CONTROL, MODEL, Action, Advice

__all__ = ["CONTROL", "MODEL", "Action", "Advice", "give_advice"]
