"""The attack on a release of our own models: their density gives the exact answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from understudy.arguments import check_choice, check_whole
from understudy.data.coded import Coded
from understudy.data.frames import Frame, Layout
from understudy.errors import DataError, NoDensityError, ParameterError
from understudy.progress import track
from understudy.risk.strong.beliefs import Beliefs, Listed, Prior, Question, prior_name
from understudy.risk.strong.candidates import WHOLE, Candidates, check_records, read_unknown
from understudy.risk.strong.fixed import FixedLikelihood
from understudy.risk.strong.refit import RefitLikelihood
from understudy.risk.strong.release import Release
from understudy.risk.strong.result import StrongAttack
from understudy.risk.strong.whole_record import by_elimination
from understudy.synthesis import Synthesizer
from understudy.synthesis.sampler import ColumnTable, SamplingTable
from understudy.wording import quoted

AttackMode = Literal["fixed", "refit"]

MOST_LISTED = 4096
"""Combinations of several unknown attributes up to which all are gone through."""

_PAIRS_AT_ONCE = 2**20
"""Pairs of a record and a candidate that are held in memory at the same time."""


def strong_attacker(  # noqa: PLR0913  # the tables, the attacker's knowledge, and the way
    model: Synthesizer,
    original: Frame | Coded,
    synthetic: Frame | Coded,
    *,
    unknown: str | Sequence[str] = WHOLE,
    prior: Prior = "uniform",
    mode: AttackMode = "fixed",
    records: Sequence[int] | ArrayLike | None = None,
    processes: int = 1,
) -> StrongAttack:
    """Attack a release with all there is to know, but for what is unknown of one record.

    For each record the attacker knows the synthesizer, all other records, and the record's other
    attributes, and asks how probable each candidate for its unknown attributes is after the
    release. This is not a simulation: the synthesizer's density gives the exact answer.

    Parameters
    ----------
    model : Independent, BayesNet or Cart
        The fitted model that made the release.
    original, synthetic : frame
        The table that it was fitted to, and the release.
    unknown : str or sequence of str
        The attribute, or attributes, that the attacker does not know; ``"*"`` for the whole record.
    prior : {"uniform", "marginal", "informed"} or array
        What is believed before the release: all candidates alike; the product of the attributes'
        shares among the other records; the model's own prediction from the other records (with
        the structure as published, in either mode); or
        weights, one for each candidate (in the order of the column's levels), for all records
        or for each.
    mode : {"fixed", "refit"}
        Whether the network, or the splits of the trees, stay as published in every world, so that
        only counts change; or the synthesizer is fitted anew in every world, which is the
        reference and takes long.
    records : sequence of int, optional
        Row numbers of the records to attack; all if not given.
    processes : int
        For ``mode="refit"``: fits at the same time.

    Returns
    -------
    StrongAttack

    Raises
    ------
    DataError
        If the draws that matter show that the model was not fitted to `original`, or could not
        have made `synthetic`.
    NoDensityError
        If the model does not work by counts: then try ``mode="refit"`` if it has a density, and
        else `black_box_attacker`.

    Notes
    -----
    The posterior is p(y | Z, D_-i), in proportion to p(Z | D_-i + y) p(y), where Z is the release
    and D_-i the other records [1]_. Synthetic records are independent given the fitted model, so
    p(Z | D') is a product over them.

    With several unknown attributes, networks are attacked over all combinations of their values;
    where these are many, by variable elimination along the network. Trees are attacked over the
    combinations that occur in the original or the release. The result then has the rank of the
    truth, and the posterior of each single attribute.

    Of equally probable candidates, the guess is the one that most other records have; by variable
    elimination, it is the first one.

    A column that the release does not show, or that is constant there though the model does not
    draw it so, counts as withheld: see the notes of the result.

    References
    ----------
    .. [1] Reiter, Wang, Zhang (2014). Bayesian estimation of disclosure risks for multiply imputed,
       synthetic data. Journal of Privacy and Confidentiality 6(1), doi:10.29012/jpc.v6i1.635

    Examples
    --------
    >>> from understudy import Cart, load
    >>> records = load("buyer_beware")
    >>> model = Cart(random_state=1).fit(records)
    >>> attack = strong_attacker(model, records, model.sample(random_state=3), unknown="var4")
    >>> attack.certain, attack.worst(1)["record"].item()
    (1, 999)
    """
    if not isinstance(model, Synthesizer):
        raise ParameterError(
            f"model must be a fitted synthesizer; got {type(model).__name__}. For any other way to "
            "make a release, use black_box_attacker."
        )
    check_choice("mode", mode, get_args(AttackMode))
    check_whole("processes", processes, 1)
    if not hasattr(model, "codec_"):
        raise ParameterError(f"model: this {type(model).__name__} is not fitted yet.")
    codec = model.codec_
    asked = read_unknown(unknown, codec.names, codec.schema.identifiers)
    names = tuple(name for name in codec.names if name in asked)
    _check_draws(model, names)
    believed = prior_name(prior)
    tables = _tables_of(model, needed=mode == "fixed" or believed == "informed")
    concerned = None
    if mode == "fixed":
        drawn = [table.columns for table in tables or () if table.columns & set(names)]
        concerned = set(names).union(*drawn)
    release = Release.of(model, original, synthetic, concerned)
    rows = check_records(records, len(release.original))
    if len(release.original) < 2:
        raise DataError("The original has one record, so there are no others to know.")
    labels = {name: tuple(codec.labels(name)) for name in names}
    layout = codec.layout if isinstance(original, Coded) else Layout.of(original)
    question = Question(names, labels, rows, prior, believed, layout.backend)
    factors = tables is not None and all(isinstance(table, ColumnTable) for table in tables)
    combinations = math.prod(release.sizes(names))
    likelihood = FixedLikelihood.of(tables or (), release, names)
    if mode == "fixed" and factors and combinations > MOST_LISTED:
        return by_elimination(question, likelihood)
    every = len(names) == 1 or (factors and combinations <= MOST_LISTED)
    listed = _listed(question, release, every=every)
    if mode == "fixed":
        beliefs, notes = _by_counts(listed, likelihood), likelihood.notes()
    else:
        if tables is not None:
            # Counts show if the model saw another original, or did not make the release.
            FixedLikelihood.of(tables, release, release.original.names)
        worlds = RefitLikelihood(model, release)
        beliefs, notes = _by_refitting(listed, worlds, likelihood, processes), _seed_notes(model)
    if not every:
        notes = (
            *notes,
            f"The attack compared the {len(listed.candidates):,} combinations of {len(names)} "
            "attributes that occur in the original or the release, the true one among them.",
        )
    return listed.answer(mode, beliefs, notes=(*release.notes(), *notes))


def _check_draws(model: Synthesizer, names: tuple[str, ...]) -> None:
    """Raise if the release has no known probability, or shows what is asked for."""
    if model.random_fit == "records":
        raise NoDensityError(
            "This model was fitted to a random sample of the records (proper=True), and nobody "
            "knows which. So the probability of a release cannot be computed. Attack it as a black "
            "box (black_box_attacker)."
        )
    shown = [name for name in names if name in model.kept_columns]
    if shown:
        raise ParameterError(
            f"unknown: {quoted(shown)} of all records is kept as it is, so the release itself "
            "shows it. Ask for columns that are drawn."
        )


def _tables_of(model: Synthesizer, *, needed: bool) -> list[SamplingTable] | None:
    """Return the draws of a model as counts; None, or an error, if it does not work by counts."""
    try:
        return model.sampling_tables()
    except NoDensityError as error:
        if not needed:
            return None
        raise NoDensityError(
            f"{error} Use mode='refit' if the model has a density, or black_box_attacker."
        ) from None


def _listed(question: Question, release: Release, *, every: bool) -> Listed:
    """List the candidates: all combinations, or those that occur."""
    if every:
        candidates = Candidates.grid(question.unknown, release.sizes(question.unknown))
    else:
        tables = [release.original]
        if not set(question.unknown) & set(release.withheld):
            tables.append(release.synthetic)
        candidates = Candidates.occurring(question.unknown, tables)
    return Listed(question, candidates, candidates.find(release.original))


def _by_counts(listed: Listed, likelihood: FixedLikelihood) -> Beliefs:
    """Attack with the structure as published."""
    original, candidates = likelihood.release.original, listed.candidates
    first, number = listed.question.distinct(original, {*likelihood.columns, *candidates.names})
    size = max(1, _PAIRS_AT_ONCE // len(candidates))
    parts = []
    pieces = [slice(start, start + size) for start in range(0, len(first), size)]
    for piece in track(pieces, "Attacking records"):
        rows = first[piece]
        log_prior = _log_prior(listed, likelihood, rows, piece)
        logs = likelihood.log_likelihoods(original.take(rows), candidates)
        parts.append(listed.beliefs(rows, log_prior, logs))
    return Beliefs.concatenate(parts).take(number)


def _by_refitting(
    listed: Listed, worlds: RefitLikelihood, published: FixedLikelihood, processes: int
) -> Beliefs:
    """Attack with the synthesizer fitted anew in each world."""
    original = worlds.release.original
    first, number = listed.question.distinct(original, original.names)
    # The attacker's own prediction needs one model, and the published one is at hand.
    log_prior = _log_prior(listed, published, first, slice(None))
    logs = worlds.log_likelihoods(first, listed.candidates, processes)
    return listed.beliefs(first, log_prior, logs).take(number)


def _log_prior(
    listed: Listed, likelihood: FixedLikelihood, rows: NDArray[np.int64], piece: slice
) -> NDArray[np.float64]:
    if listed.question.prior_name != "informed":
        return listed.log_prior(rows, piece)
    return likelihood.predictions(likelihood.release.original.take(rows), listed.candidates)


def _seed_notes(model: Synthesizer) -> tuple[str, ...]:
    """Return what to say of a search that drew something at random, it is not known what."""
    if model.fit_is_known or model.random_fit != "search":
        return ()
    return (
        "The model's random_state is not known, so its search drew from the seed 0 in all worlds. "
        "The networks may differ from the published one for that reason alone.",
    )
