"""The ways to attack listed candidates: with the structure fixed, by new fits, or by both."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from understudy.progress import track
from understudy.risk.strong.beliefs import Beliefs, Listed
from understudy.risk.strong.fixed import FixedLikelihood
from understudy.risk.strong.refit import RefitLikelihood
from understudy.risk.strong.result import CERTAIN, StrongAttack

PUBLISHED = "Everybody was attacked with the structure as published."
NO_STRUCTURE = "The structure of this model does not depend on the records: no new fit is needed."
_NOT_AGAIN = (
    "A new fit to the original does not give the published model again: its search draws at "
    "random, or the records are in another order than they were, which decides sums and ties."
)

_PAIRS_AT_ONCE = 2**20
"""Pairs of a record and a candidate that are held in memory at the same time."""


def by_counts(listed: Listed, likelihood: FixedLikelihood) -> Beliefs:
    """Attack with the structure as published."""
    original, candidates = likelihood.original, listed.candidates
    first, number = listed.question.distinct(original, {*likelihood.columns, *candidates.names})
    size = max(1, _PAIRS_AT_ONCE // (len(candidates) * likelihood.width))
    parts = []
    pieces = [slice(start, start + size) for start in range(0, len(first), size)]
    for piece in track(pieces, "Attacking records"):
        rows = listed.question.rows[first[piece]]
        if listed.question.prior_name == "informed":
            log_prior = likelihood.predictions(original.take(rows), candidates)
        else:
            log_prior = listed.log_prior(rows, first[piece])
        logs = likelihood.log_likelihoods(original.take(rows), candidates)
        parts.append(listed.beliefs(rows, log_prior, logs))
    return Beliefs.concatenate(parts).take(number)


def by_new_fits(listed: Listed, worlds: RefitLikelihood, notes: tuple[str, ...]) -> StrongAttack:
    """Attack with the synthesizer fitted anew in each world."""
    beliefs = _refitted(listed, worlds, np.arange(len(listed.question.rows)))
    notes = (*notes, *_seed_notes(worlds))
    if not worlds.reproduces:
        notes = (*notes, _NOT_AGAIN)
    return listed.answer("refit", beliefs, notes=notes)


def _refitted(listed: Listed, worlds: RefitLikelihood, chosen: NDArray[np.int64]) -> Beliefs:
    """Return what new fits tell of the records at these places among those that are attacked."""
    question, original = listed.question, worlds.original
    first, number = question.distinct(original, original.names, chosen)
    rows = question.rows[first]
    if question.prior_name == "informed":
        log_prior = worlds.predictions(rows, listed.candidates)
        refused = np.isnan(log_prior[:, 0])
        log_prior[refused] = listed.marginal_prior(rows[refused])
    else:
        log_prior = listed.log_prior(rows, first)
    logs = worlds.log_likelihoods(rows, listed.candidates)
    return listed.beliefs(rows, log_prior, logs).take(number)


def by_both(
    listed: Listed,
    likelihood: FixedLikelihood,
    worlds: RefitLikelihood,
    budget: int,
    notes: tuple[str, ...],
) -> StrongAttack:
    """Attack everybody with the structure as published, and then by new fits as far as they go."""
    question = listed.question
    beliefs = by_counts(listed, likelihood)
    # A fit for each other candidate, and one without the record for its prior.
    each = max(1, len(listed.candidates) - 1 + (question.prior_name == "informed"))
    # One more fit, that of the truth, is the same for all.
    chosen = _most_exposed(listed, beliefs, likelihood, (budget - 1) // each)
    why = None
    if not worlds.possible:
        why = "Releases withhold too much to sum over in new fits."
    elif not len(chosen):
        why = f"A person takes {each:,} fits, and {budget:,} are allowed (refits)."
    elif not worlds.reproduces:
        why = _NOT_AGAIN
    if why is not None:
        notes = (*notes, *likelihood.notes(), f"{why} {PUBLISHED}")
        return listed.answer("fixed", beliefs, notes=notes)
    refitted = np.zeros(len(question.rows), bool)
    refitted[chosen] = True
    if not refitted.all():
        notes = (*notes, *likelihood.notes())
    both = beliefs.put(chosen, _refitted(listed, worlds, chosen))
    return listed.answer(
        "auto",
        both,
        more={"fixed_posterior": beliefs.posterior, "refitted": refitted},
        notes=(*notes, *_seed_notes(worlds)),
        fixed=listed.answer("fixed", beliefs),
    )


def _most_exposed(
    listed: Listed, beliefs: Beliefs, likelihood: FixedLikelihood, people: int
) -> NDArray[np.int64]:
    """Return the places of those whom new fits come first for, as many as can be afforded.

    First those who are not certain yet, the most probable first. People who agree in all columns
    share their fits, and count once.
    """
    original = likelihood.original
    first, number = listed.question.distinct(original, original.names)
    if people >= len(first):
        return np.arange(len(number))
    posterior = beliefs.posterior[first]
    order = np.lexsort((first, -posterior, posterior >= 1 - CERTAIN))
    return np.flatnonzero(np.isin(number, order[: max(people, 0)]))


def _seed_notes(worlds: RefitLikelihood) -> tuple[str, ...]:
    """Return what to say of a search that drew something at random, it is not known what."""
    if worlds.model.fit_is_known or worlds.model.random_fit != "search":
        return ()
    return (
        "The model's random_state is not known, so its search drew from the seed 0 in all worlds. "
        "The networks may differ from the published one for that reason alone.",
    )
