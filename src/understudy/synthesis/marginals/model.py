"""The synthesizer `DPMarginals`: noisy tables of some columns, and the model that fits them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_choice, is_number
from understudy.counting import Source
from understudy.data import Coded
from understudy.data.bins import Decoding
from understudy.data.coded import code_dtype
from understudy.errors import ParameterError
from understudy.synthesis.bayes.constraints import read_protect
from understudy.synthesis.blocks import Block, RandomState
from understudy.synthesis.marginals.aim import LAST_STEPS, aim
from understudy.synthesis.marginals.budget import FOR_COLUMNS, can_show_links
from understudy.synthesis.marginals.distribution import Distribution
from understudy.synthesis.marginals.measurement import Measurement, Wanted
from understudy.synthesis.marginals.mst import mst
from understudy.synthesis.marginals.questions import Questions, total_of
from understudy.synthesis.marginals.tree import Columns, cells_of
from understudy.synthesis.marginals.workload import (
    MOST_CELLS,
    Candidates,
    Workload,
    read_workload,
    without_protected,
)
from understudy.synthesis.private import PrivateSynthesizer, tell_of_hidden_links

if TYPE_CHECKING:
    from understudy.privacy import Accountant, Neighbours

Selection: TypeAlias = Literal["aim", "mst"]

_CELLS_IN_A_MB = 2**20 // 8


class DPMarginals(PrivateSynthesizer):
    """Learns under differential privacy, from noisy tables of the columns that matter most.

    It measures tables of a few columns with noise, finds the distribution that fits them best,
    and draws from that. This is the most accurate of the private synthesizers.

    Parameters
    ----------
    epsilon : float
        Nothing becomes more than exp(epsilon) times as likely by one record. The schema must be
        public.
    delta : float, optional
        The small probability of telling more than that; 1 in the square of the records if not
        given.
    method : {"aim", "mst"}
        Which tables to measure. "aim" measures, round by round, what the model so far gets most
        wrong; "mst" a tree of pairs of columns, which is quicker.
    workload : int or sequence
        Which tables the release shall get right, for "aim". A number stands for all tables of so
        many columns; those with a column of the role target count a quarter more. Or the sets of
        columns themselves, each as a sequence of names, or as a pair of that and a weight.
    max_model_mb : float
        How large the tables of the model may be together, in MB.
    protect : mapping of str to str or None, optional
        For a sensitive column, the one column that its link is kept to, or None. Its links to all
        others are not measured.
    neighbours : {"change-one", "add-remove"}
        What epsilon compares: one record is another, or is absent.
    spend_on_domain : float
        The share of the budget with which levels and ranges that are not public are read from the
        records. With 0, they must be public.
    decode : {"interpolate", "uniform"}
        How a number is drawn inside its bin: evenly, whichever is chosen.
    random_state : int or numpy Generator, optional
        Decides the draws; never the noise.

    Attributes
    ----------
    measurements_ : tuple of Measurement
        All noisy tables: columns by their places, counts, and the scale of the noise.
    distribution_ : Distribution
        The model.
    ledger_ : Ledger
        What was asked of the records, and what it cost.

    Notes
    -----
    The rows of a release are drawn together, so that each combination of values comes nearly as
    often as the model expects. Each row by itself has the probability that `log_likelihood` gives.

    References
    ----------
    McKenna, Mullins, Sheldon, Miklau (2022), doi:10.14778/3551793.3551817 (AIM); McKenna, Miklau,
    Sheldon (2021), doi:10.29012/jpc.778 (MST).

    Examples
    --------
    >>> import polars as pl
    >>> from understudy import Schema
    >>> table = pl.DataFrame({"sex": ["f", "m"] * 500, "smokes": [True, False] * 500})
    >>> schema = Schema.infer(table).as_public()
    >>> model = DPMarginals(epsilon=1, random_state=1).fit(table, schema)
    >>> model.sample().shape, [one.columns for one in model.measurements_][:2]
    ((1000, 2), [(0,), (1,)])
    """

    method: ClassVar[str] = "marginals"
    adds_laplace: ClassVar[bool] = False

    measurements_: tuple[Measurement, ...]
    distribution_: Distribution

    def __init__(  # noqa: PLR0913  # as other synthesizers take theirs
        self,
        epsilon: float | None = None,
        delta: float | None = None,
        *,
        method: Selection = "aim",
        workload: Workload = 3,
        max_model_mb: float = 2,
        protect: Mapping[str, str | None] | None = None,
        neighbours: Neighbours = "change-one",
        spend_on_domain: float = 0,
        decode: Decoding = "interpolate",
        random_state: RandomState = None,
    ) -> None:
        super().__init__(decode=decode, random_state=random_state)
        # `method` itself is the name of the synthesizer.
        self.selection = method
        self.workload = workload
        self.max_model_mb = max_model_mb
        self.protect = protect
        self._set_privacy(epsilon, delta, neighbours, spend_on_domain)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters that the synthesizer was made with."""
        return super().get_params(deep) | {"method": self.selection}

    def set_params(self, **params: Any) -> Self:  # noqa: ANN401  # any parameter
        """Change parameters; they count from the next `fit` on."""
        super().set_params(**{name: one for name, one in params.items() if name != "method"})
        self.selection = params.get("method", self.selection)
        return self

    def _check_params(self) -> None:
        super()._check_params()
        check_choice("method", self.selection, get_args(Selection))
        if not is_number(self.max_model_mb) or not 0 < self.max_model_mb < np.inf:
            raise ParameterError(
                f"max_model_mb must be a positive number; got {self.max_model_mb!r}."
            )

    def _check_privacy(self) -> None:
        if not self.has_noise:
            raise ParameterError(
                "`DPMarginals` learns under differential privacy alone: give `epsilon`, such as 1. "
                "Without, choose `BayesNet` or `Cart`."
            )
        super()._check_privacy()

    def _fit(self, source: Source, rng: np.random.Generator) -> NoReturn:  # noqa: ARG002
        raise AssertionError("it learns through an accountant alone")  # pragma: no cover

    def _fit_private(self, coded: Coded, accountant: Accountant, rng: np.random.Generator) -> None:
        names, sizes = coded.names, coded.cardinalities
        protect = read_protect(self.protect or {}, names)
        workload = read_workload(self.workload, names, self.schema_.targets)
        workload = without_protected(workload, names, protect)
        most_cells = self.max_model_mb * _CELLS_IN_A_MB
        candidates = Candidates.of(workload, sizes, most_cells)
        counts = candidates.counts(np.array(coded.columns))
        questions = Questions(names, candidates, counts, accountant)
        columns: list[Columns] = [(place,) for place in range(len(names))]
        share = FOR_COLUMNS
        if not can_show_links(candidates, accountant, self.n_rows_):
            share = Fraction(1)
            if len(names) > 1:
                tell_of_hidden_links()
        for_columns = accountant.left * share
        measured = questions.measure_all(columns, for_columns)
        scales = [one.scale for one in measured]
        self._tell_of_noise(dict(zip(names, sizes, strict=True)), scales)
        self._take_rows([one.counts for one in measured], scales, accountant)
        public = accountant.guarantee.neighbours == "change-one"
        total = total_of(measured, self.n_rows_, public=public)
        model = Distribution(sizes, {})
        if accountant.left and self.selection == "aim":
            measured, model = aim(questions, measured, total, most_cells, rng)
        elif accountant.left:
            measured = mst(questions, measured, total, most_cells)
        self.measurements_ = tuple(measured)
        self.distribution_ = model.fitted(Wanted.of(measured), total, LAST_STEPS)

    def _draw(self, block: Block, rng: np.random.Generator) -> Coded:
        names, sizes = self.codec_.names, self.codec_.cardinalities
        codes = self.distribution_.draw(block.rows, rng)
        columns = tuple(
            own.astype(code_dtype(size)) for own, size in zip(codes, sizes, strict=True)
        )
        return Coded(names, columns, sizes)

    def _log_likelihood(self, coded: Coded) -> NDArray[np.float64]:
        return self.distribution_.log_density(list(coded.columns))

    def _cells(self) -> list[NDArray[np.int64]]:
        return []  # they are noisy: see `cells`

    def _plain_params(self) -> dict[str, Any]:
        return super()._plain_params() | {"max_model_mb": float(self.max_model_mb)}

    def _state(self) -> dict[str, NDArray[Any]]:
        measured, factors = self.measurements_, self.distribution_.factors
        return {
            **_packed("measured", [one.columns for one in measured]),
            "measured_counts": np.concatenate([one.counts.ravel() for one in measured]),
            "measured_scales": np.array([one.scale for one in measured]),
            **_packed("factor", list(factors)),
            "factor_logs": np.concatenate(list(factors.values())),
        }

    def _restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        sizes = self.codec_.cardinalities
        tables = _unpacked("measured", arrays, "measured_counts", sizes)
        scales = arrays["measured_scales"].astype(np.float64, casting="safe")
        if len(scales) != len(tables) or not (scales > 0).all():
            raise ValueError("scales of noise that do not fit")
        self.measurements_ = tuple(
            Measurement(
                columns,
                counts.astype(np.int64, casting="safe").reshape([sizes[one] for one in columns]),
                float(scale),
            )
            for (columns, counts), scale in zip(tables, scales, strict=True)
        )
        factors = dict(_unpacked("factor", arrays, "factor_logs", sizes))
        if not all(np.isfinite(logs).all() for logs in factors.values()):
            raise ValueError("factors that are not finite")
        self.distribution_ = Distribution(sizes, factors)
        cliques = self.distribution_.tree.cliques
        most = max(MOST_CELLS, len(sizes) * self.max_model_mb * _CELLS_IN_A_MB)
        if sum(cells_of(own, sizes) for own in cliques) > most + sum(sizes):
            raise ValueError("tables that are too large")


def _packed(name: str, sets: Sequence[Columns]) -> dict[str, NDArray[np.int64]]:
    """Return sets of columns as two arrays: all columns, and how many each set has."""
    return {
        f"{name}_columns": np.array([column for own in sets for column in own], np.int64),
        f"{name}_widths": np.array([len(own) for own in sets], np.int64),
    }


def _unpacked(
    name: str, arrays: Mapping[str, NDArray[Any]], values: str, sizes: Sequence[int]
) -> list[tuple[Columns, NDArray[Any]]]:
    """Return the sets of columns that `_packed` wrote, each with its table of values, or raise."""
    widths = arrays[f"{name}_widths"].tolist()
    columns = iter(arrays[f"{name}_columns"].tolist())
    sets = [tuple(islice(columns, width)) for width in widths]
    for own, width in zip(sets, widths, strict=True):
        sorted_once = len(own) == width > 0 and list(own) == sorted(set(own))
        if not sorted_once or not 0 <= own[0] <= own[-1] < len(sizes):
            raise ValueError("columns of tables that do not fit")
    cells = [cells_of(own, sizes) for own in sets]
    if next(columns, None) is not None or sum(cells) != len(arrays[values]):
        raise ValueError("tables that do not fit their columns")
    return list(zip(sets, np.split(arrays[values], np.cumsum(cells)[:-1]), strict=True))
