"""The exact audit of networks with the noise of DataSynthesizer."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from understudy.data.coded import Coded
from understudy.progress import quietly
from understudy.risk.privacy_audit.domain import Domain
from understudy.risk.privacy_audit.fitted import Loss, copies
from understudy.risk.privacy_audit.laws import Laplace
from understudy.risk.privacy_audit.tables import DrawnTable, count, log_ratio_of_rows
from understudy.risk.privacy_audit.worlds import Pair
from understudy.synthesis.bayes.constraints import build_constraints
from understudy.synthesis.bayes.datasynthesizer import (
    counted_tables,
    log_chance_of,
    noise_scale,
)
from understudy.synthesis.bayes.model import BayesNet
from understudy.synthesis.bayes.network import Network


@dataclass(frozen=True, eq=False)
class Preset:
    """A network with `preset="datasynthesizer"`, to be fitted to made-up tables.

    Its rows are audited with its structure, which that tool publishes.

    Parameters
    ----------
    synthesizer : BayesNet
        Its parameters alone are used.
    domain : Domain
        What the tables hold.
    released : int, optional
        Rows of a release; as many as the table has if not given.
    """

    synthesizer: BayesNet
    domain: Domain
    released: int | None = None

    def loss(self, pair: Pair, seed: int) -> Loss:
        """Fit to the first table of a pair, and say what rows and structure tell."""
        own = self.synthesizer
        model = type(own)(**(own.get_params() | {"random_state": seed}))
        with quietly():
            model.fit(self.domain.frame(pair.one, seed), self.domain.schema)
        rows = self.domain.codes(model.sample(self.released or len(pair.one), random_state=seed))

        def ratio(rows: Coded) -> float:
            parents = own.parents if isinstance(own.parents, int) else 1
            epsilon = float(own.epsilon or 0)
            return release_log_ratio(model.network_, rows, pair, parents=parents, epsilon=epsilon)

        return Loss(math.nan, ratio(rows), ratio(copies(rows, pair.record)))


def release_log_ratio(
    network: Network, rows: Coded, pair: Pair, *, parents: int, epsilon: float
) -> float:
    """Return the log of how much more probable a release of DataSynthesizer is in the first world.

    Parameters
    ----------
    network : Network
        Its structure, which is published.
    rows : Coded
        Its rows.
    pair : Pair
        The two tables.
    parents : int
        How many parents the tool was told to use.
    epsilon : float
        The epsilon that it was told.
    """
    limits = build_constraints(pair.one.names, parents=parents)
    structure = [log_chance_of(network, one, limits, epsilon) for one in (pair.one, pair.other)]
    drawn = log_ratio_of_rows(_tables(network, rows, pair, epsilon))
    return structure[0] - structure[1] + drawn


def _tables(network: Network, rows: Coded, pair: Pair, epsilon: float) -> Iterator[DrawnTable]:
    for names, together in counted_tables(network):
        values = int(np.prod([rows.cardinality(name) for name in names[-together:]]))
        combinations = int(np.prod([rows.cardinality(name) for name in names[:-together]]))
        scale = noise_scale(len(rows.names), len(names), epsilon)
        released, one, other = (
            count(table, names, (combinations, values)) for table in (rows, pair.one, pair.other)
        )
        yield DrawnTable(released, one, other, Laplace(scale))
