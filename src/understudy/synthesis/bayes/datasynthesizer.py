"""The noise of DataSynthesizer 0.1.13, to compare with: it does not keep the epsilon it names.

Half of epsilon is for the structure and half for the tables, but one changed record moves two
counts of each table where the noise allows for one, the levels are read from the records, and the
noise is that of floats with a seed. What such a release proves is on the page of the privacy audit.

References
----------
.. [1] Ping, Stoyanovich, Howe (2017). DataSynthesizer: privacy-preserving synthetic datasets.
   SSDBM '17, doi:10.1145/3085504.3091117
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.counting import Source
from understudy.data.coded import Coded
from understudy.errors import ParameterError
from understudy.synthesis.bayes.constraints import Constraints
from understudy.synthesis.bayes.network import Network, Structure
from understudy.synthesis.bayes.private import MOST_CELLS, dense_counts

Parents = tuple[int, ...]


def fit_as_datasynthesizer(
    source: Source, constraints: Constraints, epsilon: float, rng: np.random.Generator
) -> tuple[Network, Mapping[str, NDArray[Any]]]:
    """Return a network and noisy counts of its tables, as DataSynthesizer would draw them.

    Parameters
    ----------
    source : Coded
        The records.
    constraints : Constraints
        Of these, only the number of parents and the root are known to that tool.
    epsilon : float
        What it is told.
    rng : numpy.random.Generator
        Draws everything: the root, the choices and the noise.
    """
    if not isinstance(source, Coded):
        raise ParameterError("preset='datasynthesizer' needs the codes of all records in memory.")
    logging.getLogger("understudy").warning(
        "preset='datasynthesizer' adds that tool's noise, which does not keep the epsilon that it "
        "names. Use it to compare, not to release."
    )
    structure = _noisy_structure(source, constraints, epsilon / 2, rng)
    network = structure.to_network(constraints.names)
    return network, _noisy_counts(source, network, epsilon, rng)


def _noisy_structure(
    coded: Coded, constraints: Constraints, epsilon: float, rng: np.random.Generator
) -> Structure:
    columns = range(len(constraints))
    placed = [constraints.first[0] if constraints.first else int(rng.integers(len(columns)))]
    parents: dict[int, Parents] = {placed[0]: ()}
    while len(placed) < len(columns):
        candidates, shares = _chances(coded, constraints, placed, epsilon)
        child, own = candidates[int(rng.choice(len(candidates), p=shares))]
        placed.append(child)
        parents[child] = own
    return Structure(tuple(placed), tuple(parents[place] for place in columns))


def _chances(
    coded: Coded, constraints: Constraints, placed: Sequence[int], epsilon: float
) -> tuple[list[tuple[int, Parents]], NDArray[np.float64]]:
    """Return what may be placed next, with its parents, and how probable each is."""
    columns = range(len(constraints))
    size = min(len(placed), int(constraints.most.max(initial=0)))
    candidates = [
        (child, own)
        for child in columns
        if child not in placed
        for own in combinations(sorted(placed), size)
    ]
    steps = np.array([_sensitivity(coded, child, own) for child, own in candidates])
    steps *= len(columns) - 1
    told = np.array([_information(coded, *one) for one in candidates])
    weights = told * epsilon / (2 * steps)
    shares = np.exp(weights - weights.max())
    return candidates, shares / shares.sum()


def log_chance_of(
    network: Network, coded: Coded, constraints: Constraints, epsilon: float
) -> float:
    """Return the log probability of a network, given its first column.

    Parameters
    ----------
    network : Network
        What was found.
    coded : Coded
        The records.
    constraints : Constraints
        As for `fit_as_datasynthesizer`.
    epsilon : float
        What the tool was told.
    """
    places = {name: place for place, name in enumerate(coded.names)}
    order = [places[name] for name in network.names]
    found = 0.0
    for number, (child, name) in enumerate(zip(order, network.names, strict=True)):
        if not number:
            continue
        candidates, shares = _chances(coded, constraints, order[:number], epsilon / 2)
        own = tuple(sorted(places[parent] for parent in network.parents[name]))
        found += math.log(shares[candidates.index((child, own))])
    return found


def counted_tables(network: Network) -> list[tuple[tuple[str, ...], int]]:
    """Return the columns of each table that is counted, and how many of them are drawn from it.

    The first table holds several columns, which are drawn one after the other.
    """
    names = network.names
    degree = len(network.parents[names[-1]])
    first = (tuple(names[: degree + 1]), degree + 1)
    return [first, *(((*network.parents[name], name), 1) for name in names[degree + 1 :])]


def noise_scale(columns: int, of_table: int, epsilon: float) -> float:
    """Return the scale of the noise on a table of some of the columns."""
    return (columns - (of_table - 1)) / (epsilon / 2)


def _information(coded: Coded, child: int, parents: Parents) -> float:
    """Return the mutual information of a column and its parents, in nats."""
    if not parents:
        return 0.0
    names = [coded.names[place] for place in (*parents, child)]
    counts = dense_counts(coded, names).reshape(-1, coded.cardinalities[child])
    return _entropy(counts.sum(axis=0)) + _entropy(counts.sum(axis=1)) - _entropy(counts)


def _entropy(counts: NDArray[np.int64]) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def _sensitivity(coded: Coded, child: int, parents: Parents) -> float:
    """Return the sensitivity of mutual information that it reckons with (PrivBayes, lemma 1)."""
    rows = len(coded)
    sizes = coded.cardinalities
    if sizes[child] <= 2 or (len(parents) == 1 and sizes[parents[0]] <= 2):
        kept = (rows - 1) / rows
        return math.log(rows) / rows - kept * math.log(kept)
    first = 2 / rows * math.log((rows + 1) / 2)
    return first + (1 - 1 / rows) * math.log(1 + 2 / (rows - 1))


def _noisy_counts(
    coded: Coded, network: Network, epsilon: float, rng: np.random.Generator
) -> dict[str, NDArray[np.float64]]:
    """Return noisy counts of each table; those of the first columns are sums over one table."""
    first, degree = counted_tables(network)[0][0], len(network.parents[network.names[-1]])
    joint = _noisy(coded, first, epsilon, rng)
    found = {}
    for place, (child, parents) in enumerate(network.parents.items()):
        own = (*parents, child)
        if place <= degree:
            others = tuple(axis for axis, name in enumerate(first) if name not in own)
            kept = [name for name in first if name in own]
            summed = joint.sum(axis=others)
            found[child] = summed.transpose([kept.index(name) for name in own])
        else:
            found[child] = _noisy(coded, own, epsilon, rng)
    return found


def _noisy(
    coded: Coded, names: Sequence[str], epsilon: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    cells = math.prod(coded.cardinality(name) for name in names)
    if cells > MOST_CELLS:
        raise ParameterError(
            f"parents: a table of {len(names)} columns has {cells:,} cells, and noise is drawn for "
            f"each. At most {MOST_CELLS:,} can be used; allow fewer parents."
        )
    counts = dense_counts(coded, names).astype(np.float64)
    scale = noise_scale(len(coded.names), len(names), epsilon)
    return np.maximum(counts + rng.laplace(0, scale, counts.shape), 0)
