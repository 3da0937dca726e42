"""Counting: contingency tables of coded columns, and the information that they hold, in bits."""

from __future__ import annotations

from understudy.counting.engine import (
    BatchSource,
    Engine,
    LocalEngine,
    Source,
    SparkEngine,
    engine_for,
)
from understudy.counting.information import Information, entropy, mutual_information
from understudy.counting.pairs import PairCounts, pair_counts, pairwise_information
from understudy.counting.tables import (
    ContingencyTable,
    Groups,
    TableSet,
    counts_of_sets,
    group_ids,
    joint_counts,
    marginal_counts,
)

__all__ = [
    "BatchSource",
    "ContingencyTable",
    "Engine",
    "Groups",
    "Information",
    "LocalEngine",
    "PairCounts",
    "Source",
    "SparkEngine",
    "TableSet",
    "counts_of_sets",
    "engine_for",
    "entropy",
    "group_ids",
    "joint_counts",
    "marginal_counts",
    "mutual_information",
    "pair_counts",
    "pairwise_information",
]
