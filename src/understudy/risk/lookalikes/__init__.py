"""Lookalikes: synthetic records that are closer to a person than the next person is."""

from understudy.risk.lookalikes.attack import lookalikes, lookalikes_of
from understudy.risk.lookalikes.control import ControlLookalikes
from understudy.risk.lookalikes.result import Closeness, Look, Lookalikes

__all__ = ["Closeness", "ControlLookalikes", "Look", "Lookalikes", "lookalikes", "lookalikes_of"]
