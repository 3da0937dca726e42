"""Models of marginals under differential privacy: AIM and MST."""

from understudy.synthesis.marginals.measurement import Measurement
from understudy.synthesis.marginals.model import DPMarginals

__all__ = ["DPMarginals", "Measurement"]
