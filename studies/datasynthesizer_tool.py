"""What single releases of DataSynthesizer 0.1.13 itself prove about its epsilon, exactly."""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import logsumexp

from understudy.data import write
from understudy.data.coded import Coded
from understudy.risk.privacy_audit.domain import Domain
from understudy.risk.privacy_audit.laws import Laplace
from understudy.risk.privacy_audit.preset import release_log_ratio
from understudy.risk.privacy_audit.worlds import Pair, coded
from understudy.synthesis.bayes.network import Network

SCRIPT = Path(__file__).with_name("datasynthesizer_release.py")
COLUMNS, PARENTS, EPSILON, ROWS = 3, 2, 1.0, 200
_NODES = 16


def two_worlds() -> Pair:
    """Return two tables of four records of three columns; in both, every level occurs."""
    others = np.array([[0, 0, 0], [1, 1, 1], [1, 1, 1]])
    record, instead = np.array([0, 0, 0]), np.array([1, 1, 1])
    names, sizes = "abc", (2, 2, 2)
    return Pair(
        coded(np.vstack([others, record]), names, sizes),
        coded(np.vstack([others, instead]), names, sizes),
        "others at random",
        tuple(record.tolist()),
        tuple(instead.tolist()),
    )


def log_density_of_shares(
    shares: NDArray[np.float64], worlds: NDArray[np.int64], scale: float
) -> NDArray[np.float64]:
    """Return how probable published shares of a column are in each world, as log densities.

    They are noisy counts t_v = max(0, N_v + noise) over their sum S. The density of the shares is
    the integral of S^(m-1) prod_v f(S p_v - N_v) over S, for the m shares that are positive, times
    the probability that the others are 0. All shares are the same if all counts are 0.
    """
    law = Laplace(scale)
    zeros = np.array([[law.log_zero(int(one)) for one in own] for own in worlds])
    if np.ptp(shares) == 0:
        return np.asarray(zeros.sum(axis=1))
    held = shares > 0
    end = float(worlds.sum(axis=1).max() + 60 * scale)
    kinks = (worlds[:, held] / shares[held]).ravel()
    edges = np.unique(np.concatenate([np.linspace(0, end, 400), kinks[kinks < end]]))
    points, weights = np.polynomial.legendre.leggauss(_NODES)
    half = np.diff(edges)[:, None] / 2
    sums = (edges[:-1, None] + half + half * points).ravel()
    logs = (np.log(half) + np.log(weights)).ravel() + (held.sum() - 1) * np.log(sums)
    found = [
        logsumexp(logs + law.log_mass(np.outer(sums, shares[held]) - own[held]).sum(axis=1))
        for own in worlds
    ]
    return np.asarray(np.array(found) + np.where(held, 0, zeros).sum(axis=1))


@dataclass(frozen=True, eq=False)
class Release:
    """A release of the tool: its description file, and rows."""

    network: Network
    shares: dict[str, NDArray[np.float64]]
    rows: Coded

    @classmethod
    def read(cls, folder: Path, number: int, domain: Domain) -> Release:
        """Return a release that `datasynthesizer_release.py` wrote."""
        told = json.loads((folder / f"{number}.json").read_text())
        placed = told["bayesian_network"]
        root = placed[0][1][0]
        parents = {root: (), **{child: tuple(own) for child, own in placed}}
        table = pl.read_csv(folder / f"{number}.csv", infer_schema=False)
        return cls(
            Network(parents),
            {
                name: np.array(own["distribution_probabilities"])
                for name, own in told["attribute_description"].items()
            },
            domain.codes(table),
        )

    def log_ratios(self, pair: Pair) -> tuple[float, float]:
        """Return the log ratios of rows with the structure, and with the whole description."""
        rows = release_log_ratio(self.network, self.rows, pair, parents=PARENTS, epsilon=EPSILON)
        shares = []
        for name, own in self.shares.items():
            both = (pair.one[name], pair.other[name])
            worlds = np.array([np.bincount(one, minlength=2) for one in both])
            first, second = log_density_of_shares(own, worlds, 2 * COLUMNS / EPSILON)
            shares.append(first - second)
        return rows, rows + math.fsum(shares)


def releases_of_the_tool(python: str, releases: int) -> NDArray[np.float64]:
    """Run the tool in a world, and return the log ratios of its releases, a row each."""
    pair, domain = two_worlds(), Domain.small(COLUMNS, 2)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "table.csv"
        write(domain.frame(pair.one, 0), table)
        arguments = [str(table), name, EPSILON, PARENTS, ROWS, releases]
        subprocess.run([python, "-P", str(SCRIPT), *map(str, arguments)], check=True)  # noqa: S603
        found = [Release.read(folder, number, domain) for number in range(releases)]
    return np.array([one.log_ratios(pair) for one in found])
