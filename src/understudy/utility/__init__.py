"""Utility: what a release keeps of the original, beside what chance alone would change."""

from __future__ import annotations

from understudy.utility.association import association
from understudy.utility.association_result import Association
from understudy.utility.marginals import marginals
from understudy.utility.marginals_result import Marginals
from understudy.utility.prediction import prediction
from understudy.utility.prediction_result import Prediction
from understudy.utility.propensity import propensity
from understudy.utility.propensity_result import Propensity

__all__ = [
    "Association",
    "Marginals",
    "Prediction",
    "Propensity",
    "association",
    "marginals",
    "prediction",
    "propensity",
]
