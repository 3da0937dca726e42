"""The two baselines that keep no association between columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_whole
from understudy.counting import Source, marginal_counts
from understudy.data import Coded
from understudy.data.bins import Decoding
from understudy.data.coded import code_dtype
from understudy.data.ends import FEWEST_AT_ENDS
from understudy.synthesis.base import Synthesizer
from understudy.synthesis.blocks import Block, RandomState
from understudy.synthesis.private import PrivateSynthesizer
from understudy.synthesis.sampler import ColumnTable, SamplingTable

if TYPE_CHECKING:
    from understudy.privacy import Accountant, Neighbours


class Independent(PrivateSynthesizer):
    """Draws every column on its own, as often as its values occur in the original.

    The shares of each column are kept and every association between columns is lost: what an
    attacker learns from such a file is what the published shares tell.

    Parameters
    ----------
    ends : int
        The lowest and the highest number of a column rest on at least so many records each: the
        few beyond become one, about their mean. With 1 they are drawn as they are, up to the
        largest, which is a person's. A column with fewer numbers stays as it is.
    epsilon : float, optional
        Learn under differential privacy: nothing becomes more than exp(epsilon) times as likely by
        one record. Discrete Laplace noise covers the counts. The schema must be public.
    delta : float, optional
        Only for levels that are read from the records with noise.
    neighbours : {"change-one", "add-remove"}
        What epsilon compares: one record is another, or is absent.
    spend_on_domain : float
        The share of epsilon with which levels and ranges that are not public are read from the
        records. With 0, they must be public.
    decode : {"interpolate", "uniform"}
        How a number is drawn inside its bin; with epsilon, evenly.
    random_state : int or numpy Generator, optional
        Decides the draws; never the noise.

    Attributes
    ----------
    counts_ : tuple of ndarray
        Records with each code, column by column; with epsilon, noisy ones that are not negative.
    ledger_ : Ledger or None
        What was asked of the records, and what it cost; None without epsilon.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"sex": ["f", "m", "f", "f"], "smokes": [True, False, True, True]})
    >>> model = Independent(random_state=1).fit(frame)
    >>> model.sample(2).columns
    ['sex', 'smokes']
    >>> float(np.exp(model.log_likelihood(frame)[0]))  # 3/4 of f, 3/4 of true
    0.5625
    """

    method: ClassVar[str] = "independent"
    former_params: ClassVar[Mapping[str, Any]] = {"ends": 1}

    counts_: tuple[NDArray[np.int64], ...]

    def __init__(
        self,
        *,
        ends: int = FEWEST_AT_ENDS,
        epsilon: float | None = None,
        delta: float | None = None,
        neighbours: Neighbours = "change-one",
        spend_on_domain: float = 0,
        decode: Decoding = "interpolate",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(decode=decode, random_state=random_state)
        self.ends = ends
        self._set_privacy(epsilon, delta, neighbours, spend_on_domain)

    def _check_params(self) -> None:
        super()._check_params()
        check_whole("ends", self.ends, 1)

    def _fit(self, source: Source, rng: np.random.Generator) -> None:  # noqa: ARG002  # nothing is drawn
        self.counts_ = marginal_counts(source)

    def _fit_private(
        self,
        coded: Coded,
        accountant: Accountant,
        rng: np.random.Generator,  # noqa: ARG002  # nothing is drawn
    ) -> None:
        costs = accountant.split(accountant.left, coded.cardinalities)
        scales = [accountant.scale_of(cost) for cost in costs]
        self._tell_of_noise(dict(zip(coded.names, coded.cardinalities, strict=True)), scales)
        noisy = [
            accountant.counts(f"values of {name!r}", counts, cost)
            for name, counts, cost in zip(coded.names, marginal_counts(coded), costs, strict=True)
        ]
        self._take_rows(noisy, scales, accountant)
        self.counts_ = tuple(map(possible_counts, noisy))

    def _draw(self, block: Block, rng: np.random.Generator) -> Coded:
        columns = []
        for counts in self.counts_:
            # A random record of the original, found by its position when sorted: exact shares.
            ends = np.cumsum(counts)
            positions = rng.integers(0, ends[-1], size=block.rows)
            codes = np.searchsorted(ends, positions, side="right")
            columns.append(codes.astype(code_dtype(len(counts))))
        return Coded(self.codec_.names, tuple(columns), self.codec_.cardinalities)

    def _log_likelihood(self, coded: Coded) -> NDArray[np.float64]:
        total = np.zeros(len(coded))
        with np.errstate(divide="ignore"):
            for codes, counts in zip(coded.columns, self.counts_, strict=True):
                total += np.log(counts / counts.sum())[codes]
        return total

    @property
    def structure_varies(self) -> bool:
        """Whether other records may give another structure: there is none."""
        return False

    def sampling_tables(self) -> list[SamplingTable]:
        """Return one table for each column, without parents."""
        self.require_no_noise()
        return [
            ColumnTable(name, len(counts), (), (), np.repeat(np.arange(len(counts)), counts))
            for name, counts in zip(self.codec_.names, self.counts_, strict=True)
        ]

    def _state(self) -> dict[str, NDArray[Any]]:
        return {"counts": np.concatenate(self.counts_)}

    def _restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.counts_ = self._counts_by_column(arrays["counts"])

    def _cells(self) -> list[NDArray[np.int64]]:
        return list(self.counts_)


def possible_counts(noisy: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return noisy counts of a distribution: none is negative, and one is positive.

    If there are none that are positive, all values are equally likely.

    Examples
    --------
    >>> possible_counts(np.array([3, -2, 1])), possible_counts(np.array([-1, 0]))
    (array([3, 0, 1]), array([1, 1]))
    """
    counts = np.maximum(noisy, 0)
    return counts if counts.any() else np.ones_like(counts)


class Uniform(Synthesizer):
    """Draws every code of every column with the same probability: the domain, and nothing else.

    All that such a file tells is which values can occur. Missing counts as one of a column's
    values where it occurs.

    Parameters
    ----------
    decode, random_state
        As for `Independent`.

    Examples
    --------
    >>> import polars as pl
    >>> model = Uniform().fit(pl.DataFrame({"sex": ["f", "f", "m", "f"]}))
    >>> float(np.exp(model.log_likelihood(pl.DataFrame({"sex": ["m"]}))[0]))
    0.5
    """

    method: ClassVar[str] = "random"
    why_not_private: ClassVar[str] = "It learns nothing that noise could cover."

    def _fit(self, source: Source, rng: np.random.Generator) -> None:
        """Learn nothing: the codec knows the domain."""

    def _draw(self, block: Block, rng: np.random.Generator) -> Coded:
        sizes = self.codec_.cardinalities
        columns = tuple(
            rng.integers(0, size, size=block.rows, dtype=code_dtype(size)) for size in sizes
        )
        return Coded(self.codec_.names, columns, sizes)

    def _log_likelihood(self, coded: Coded) -> NDArray[np.float64]:
        return np.full(len(coded), -np.log(coded.cardinalities).sum())

    @property
    def structure_varies(self) -> bool:
        """Whether other records may give another structure: there is none."""
        return False

    def sampling_tables(self) -> list[SamplingTable]:
        """Return no tables: nothing is drawn from records."""
        self._require_fit()
        return []

    def _state(self) -> dict[str, NDArray[Any]]:
        return {}

    def _restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        if arrays:
            raise ValueError("arrays in a model that has none")

    def _cells(self) -> list[NDArray[np.int64]]:
        return []
