"""Synthesizers: each learns from a table and draws synthetic ones."""

from understudy.synthesis.base import METHODS, Synthesizer
from understudy.synthesis.bayes import BayesNet
from understudy.synthesis.cart import Cart
from understudy.synthesis.copula import GaussianCopula
from understudy.synthesis.independent import Independent, Uniform
from understudy.synthesis.marginals import DPMarginals

__all__ = [
    "METHODS",
    "BayesNet",
    "Cart",
    "DPMarginals",
    "GaussianCopula",
    "Independent",
    "Synthesizer",
    "Uniform",
]
