"""Bayesian networks: structure search, constraints, conditional tables and sampling."""

from understudy.synthesis.bayes.model import BayesNet, SearchHistory
from understudy.synthesis.bayes.network import Network
from understudy.synthesis.tables import ConditionalTable

__all__ = ["BayesNet", "ConditionalTable", "Network", "SearchHistory"]
