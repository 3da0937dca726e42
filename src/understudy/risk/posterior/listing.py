"""The attack over a list of candidates: all records at once, with counts or with new fits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from understudy.counting import group_ids, marginal_counts
from understudy.data.coded import Coded
from understudy.errors import NoDensityError
from understudy.progress import track
from understudy.risk.posterior.beliefs import Beliefs
from understudy.risk.posterior.candidates import Candidates
from understudy.risk.posterior.fixed import FixedLikelihood
from understudy.risk.posterior.priors import Prior, marginal_logs, popularity, read_weights
from understudy.risk.posterior.refit import RefitLikelihood
from understudy.risk.posterior.release import Release
from understudy.risk.posterior.result import Mode, StrongAttack
from understudy.synthesis import BayesNet, Synthesizer
from understudy.synthesis.sampler import ColumnTable, SamplingTable

MOST_LISTED = 4096
"""Combinations of several unknown attributes up to which all are gone through."""

_PAIRS_AT_ONCE = 2**20
"""Pairs of a record and a candidate that are held in memory at the same time."""

IMPOSSIBLE_RELEASE = "the release has probability 0 in every world that the prior allows"


@dataclass(frozen=True, eq=False)
class Setting:
    """What is attacked, and what is known: the arguments of an attack after their checks.

    Parameters
    ----------
    model : Synthesizer
        The model that made the release.
    release : Release
        The original and the synthetic records.
    unknown : tuple of str
        What is not known of the attacked record.
    prior : str or array
        What is believed before the release.
    prior_name : str
        What that is called.
    rows : ndarray of int64
        The records to attack.
    """

    model: Synthesizer
    release: Release
    unknown: tuple[str, ...]
    prior: Prior
    prior_name: str
    rows: NDArray[np.int64]

    @cached_property
    def is_network(self) -> bool:
        """Whether the model draws columns given columns, and nothing else."""
        try:
            tables = self.model.sampling_tables()
        except NoDensityError:
            return False
        return all(isinstance(table, ColumnTable) for table in tables)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of values of each unknown attribute."""
        return tuple(self.release.original.cardinality(name) for name in self.unknown)

    @property
    def combinations(self) -> int:
        """The number of combinations of the unknown attributes' values."""
        return math.prod(self.sizes)

    @cached_property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """What the values of each unknown attribute are called."""
        return {name: tuple(self.model.codec_.labels(name)) for name in self.unknown}

    @cached_property
    def shares(self) -> dict[str, NDArray[np.int64]]:
        """How many records have each value of each unknown attribute."""
        own = self.release.original.select(self.unknown)
        return dict(zip(self.unknown, marginal_counts(own), strict=True))

    @cached_property
    def candidates(self) -> Candidates:
        """What an attacked record may be."""
        if self.lists_all:
            return Candidates.grid(self.unknown, self.sizes)
        tables = [self.release.original]
        if not set(self.unknown) & set(self.release.withheld):
            tables.append(self.release.synthetic)
        return Candidates.occurring(self.unknown, tables)

    @cached_property
    def frequency(self) -> NDArray[np.int64]:
        """How many records each candidate is."""
        number = self.candidates.find(self.release.original)
        return np.bincount(number, minlength=len(self.candidates))

    @property
    def lists_all(self) -> bool:
        """Whether all combinations are candidates, or only those that occur."""
        if len(self.unknown) == 1:
            return True
        return self.is_network and self.combinations <= MOST_LISTED

    def distinct(self, columns: Iterable[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return rows that stand for all attacked ones, and which of them stands for each.

        Records that agree on the given columns have the same posterior.
        """
        if self.prior_name == "given" and np.ndim(self.prior) > 1:
            return self.rows, np.arange(len(self.rows))
        names = [name for name in self.release.original.names if name in set(columns)]
        groups = group_ids(self.release.original.take(self.rows), names)
        return self.rows[groups.representatives], groups.ids.astype(np.int64)

    def notes(self, more: Sequence[str] = ()) -> tuple[str, ...]:
        """Return what a reader of the result should know."""
        found = []
        if self.release.withheld:
            found.append(
                f"The release shows nothing of {', '.join(self.release.withheld)}: no such column, "
                "or a constant that the model would not draw. What was drawn there counts as "
                "unknown."
            )
        return (*found, *more)


def tables_of(model: Synthesizer) -> list[SamplingTable]:
    """Return the draws of a model, or say what to do if it does not work by counts."""
    try:
        return model.sampling_tables()
    except NoDensityError as error:
        raise NoDensityError(
            f"{error} Use mode='refit' if the model has a density, or black_box_attacker."
        ) from None


def by_counts(setting: Setting, likelihood: FixedLikelihood) -> StrongAttack:
    """Attack with the structure as published."""
    candidates = setting.candidates
    first, number = setting.distinct({*likelihood.columns, *setting.unknown})
    size = max(1, _PAIRS_AT_ONCE // len(candidates))
    parts = []
    pieces = [slice(start, start + size) for start in range(0, len(first), size)]
    for piece in track(pieces, "Attacking records"):
        records = setting.release.original.take(first[piece])
        log_prior = _log_prior(setting, records, likelihood, piece)
        logs = likelihood.log_likelihoods(records, candidates)
        parts.append(_beliefs(setting, log_prior, logs, records))
    beliefs = Beliefs.concatenate(parts).take(number)
    return _result(setting, "fixed", beliefs, left_out_notes(likelihood))


def by_refitting(setting: Setting, processes: int) -> StrongAttack:
    """Attack with the synthesizer fitted anew in each world."""
    _check_origin(setting)
    first, number = setting.distinct(setting.release.original.names)
    likelihood = None
    if setting.prior_name == "informed":
        # The attacker's own prediction needs one model, and the published one is at hand.
        likelihood = FixedLikelihood.of(tables_of(setting.model), setting.release, setting.unknown)
    records = setting.release.original.take(first)
    log_prior = _log_prior(setting, records, likelihood, slice(None))
    worlds = RefitLikelihood(setting.model, setting.release)
    logs = worlds.log_likelihoods(first, setting.candidates, processes)
    beliefs = _beliefs(setting, log_prior, logs, records).take(number)
    return _result(setting, "refit", beliefs, _seed_notes(setting.model))


def _seed_notes(model: Synthesizer) -> list[str]:
    """Return what to say of a search that drew something at random, it is not known what."""
    searched = isinstance(model, BayesNet) and model.structure in ("genetic", "optimal")
    if model.fit_is_known or not searched:
        return []
    return [
        "The model's random_state is not known, so in all worlds its search drew from the seed 0: "
        "the networks may differ from the published one for that reason alone."
    ]


def _check_origin(setting: Setting) -> None:
    """Raise if counts show that the model saw another original, or did not make the release."""
    try:
        tables = setting.model.sampling_tables()
    except NoDensityError:
        return
    FixedLikelihood.of(tables, setting.release, setting.release.original.names)


def left_out_notes(likelihood: FixedLikelihood) -> list[str]:
    """Return what to say of columns whose tables could not be used."""
    if not likelihood.left_out:
        return []
    return [
        f"What {', '.join(likelihood.left_out)} tells is not counted, since it was drawn from "
        "columns that the release does not show: the gain may be larger. mode='refit' counts it."
    ]


def _log_prior(
    setting: Setting, records: Coded, likelihood: FixedLikelihood | None, piece: slice
) -> NDArray[np.float64]:
    """Return the log prior, records by candidates or one row for all; not normalised."""
    candidates = setting.candidates
    if setting.prior_name == "given":
        weights = read_weights(setting.prior, len(candidates), len(setting.rows))
        return weights[piece] if len(weights) > 1 else weights
    if setting.prior_name == "marginal":
        return marginal_logs(candidates, setting.shares, records)
    if setting.prior_name == "informed" and likelihood is not None:
        return likelihood.predictions(records, candidates)
    return np.zeros((1, len(candidates)))


def _beliefs(
    setting: Setting, log_prior: NDArray[np.float64], logs: NDArray[np.float64], records: Coded
) -> Beliefs:
    candidates = setting.candidates
    truth = candidates.find(records)
    others = popularity(setting.frequency, truth)
    return Beliefs.of(log_prior, logs, truth, others, candidates)


def _result(setting: Setting, mode: Mode, beliefs: Beliefs, more: Sequence[str]) -> StrongAttack:
    candidates = setting.candidates
    several = len(setting.unknown) > 1
    told = list(more)
    if not setting.lists_all:
        told.append(
            f"Compared are the {len(candidates):,} combinations of {len(setting.unknown)} "
            "attributes that occur in the original or the release, the true one among them."
        )
    reasons = {}
    if np.isnan(beliefs.posterior).any():
        reasons["posterior"] = IMPOSSIBLE_RELEASE
    excluded = np.count_nonzero(beliefs.prior == 0)
    if excluded:
        reasons["gain_bits"] = f"the prior excludes the truth of {excluded:,} records"
    return StrongAttack(
        setting.unknown,
        mode,
        setting.prior_name,
        setting.rows,
        beliefs.prior,
        beliefs.posterior,
        tuple(candidates.labels(setting.labels, beliefs.guess)),
        beliefs.right_before,
        beliefs.right_after,
        np.full(len(setting.rows), len(candidates)),
        {"rank": beliefs.rank} if several else {},
        dict(zip(setting.unknown, beliefs.marginals, strict=True)) if several else {},
        setting.labels,
        reasons,
        setting.notes(told),
    )
