"""Utility: what a release keeps of the original, beside what chance alone would change."""

from __future__ import annotations

from understudy.utility.association import Association, association
from understudy.utility.conditional_means import ConditionalMeans, conditional_means
from understudy.utility.correlations import Correlations, correlations
from understudy.utility.dependencies import KeptDependencies, dependencies
from understudy.utility.impossible_combinations import (
    ImpossibleCombinations,
    impossible_combinations,
)
from understudy.utility.marginals import Marginals, marginals
from understudy.utility.prediction import prediction
from understudy.utility.prediction_result import Prediction
from understudy.utility.propensity import Propensity, propensity

__all__ = [
    "Association",
    "ConditionalMeans",
    "Correlations",
    "ImpossibleCombinations",
    "KeptDependencies",
    "Marginals",
    "Prediction",
    "Propensity",
    "association",
    "conditional_means",
    "correlations",
    "dependencies",
    "impossible_combinations",
    "marginals",
    "prediction",
    "propensity",
]
