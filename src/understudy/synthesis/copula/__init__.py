"""Gaussian copulas: exact shares of every column, and the correlations between them."""

from understudy.synthesis.copula.correlation import nearest_correlation
from understudy.synthesis.copula.model import GaussianCopula

__all__ = ["GaussianCopula", "nearest_correlation"]
