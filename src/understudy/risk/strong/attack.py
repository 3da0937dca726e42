"""The attack on a release of our own models: their density gives the exact answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from numpy.typing import ArrayLike

from understudy.arguments import check_choice, check_whole
from understudy.data.codec import Codec
from understudy.data.coded import Coded
from understudy.data.frames import Frame, Layout
from understudy.errors import DataError, NoDensityError, ParameterError, UnderstudyError
from understudy.risk.strong.beliefs import Listed, Prior, Question, prior_name
from understudy.risk.strong.candidates import WHOLE, Candidates, check_records, read_unknown
from understudy.risk.strong.fixed import FixedLikelihood
from understudy.risk.strong.refit import RefitLikelihood
from understudy.risk.strong.release import Release, read_releases, withheld_notes
from understudy.risk.strong.result import StrongAttack
from understudy.risk.strong.ways import (
    NO_STRUCTURE,
    PUBLISHED,
    by_both,
    by_counts,
    by_new_fits,
)
from understudy.risk.strong.whole_record import by_elimination
from understudy.synthesis import Synthesizer
from understudy.synthesis.sampler import ColumnTable, SamplingTable
from understudy.wording import quoted

AttackMode = Literal["auto", "fixed", "refit"]

MOST_LISTED = 4096
"""Combinations of several unknown attributes up to which all are gone through."""

MOST_REFITS = 500
MOST_REFITTED = 750_000
"""By default, so many fits, and fewer for large tables: these go through so many records in all."""

_OTHER_COLUMNS = "New fits need all columns of all tables as the model knows them, and some differ."


def strong_attacker(  # noqa: C901, PLR0912, PLR0913, PLR0915  # the tables, the attacker's knowledge, and the way
    model: Synthesizer,
    original: Frame | Coded,
    synthetic: Frame | Coded | Sequence[Frame | Coded],
    *,
    unknown: str | Sequence[str] = WHOLE,
    prior: Prior = "informed",
    mode: AttackMode = "auto",
    refits: int | None = None,
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
    original : frame
        The table that it was fitted to, with its rows in the same order.
    synthetic : frame or list of frames
        The release, or several: they may differ in rows and in the columns that they show.
    unknown : str or sequence of str
        The attribute, or attributes, that the attacker does not know; ``"*"`` for the whole record.
    prior : {"informed", "uniform", "marginal"} or array
        What is believed before the release: the model's own prediction from the other records;
        all candidates alike; the product of the attributes' shares among the other records; or
        weights, one for each candidate (in the order of the column's levels), for all records
        or for each.
    mode : {"auto", "fixed", "refit"}
        *Fixed*: the network, or the splits of the trees, and how far either is smoothed, stay as
        published in every world, so that only counts change. *Refit*: the synthesizer is fitted
        anew in every world, which is the reference and takes long. *Auto*: everybody is attacked
        with the structure fixed, and then the most exposed by new fits, as many as `refits` allows.
    refits : int, optional
        For ``mode="auto"``: fits at most. A person takes one for each other candidate, and one
        more for the informed prior. By default 500, and of more than 1,500 records 750,000
        divided by their number.
    records : sequence of int, optional
        Row numbers of the records to attack; all if not given.
    processes : int
        Fits at the same time.

    Returns
    -------
    StrongAttack

    Raises
    ------
    DataError
        If the draws that matter show that the model was not fitted to `original`, or could not
        have made `synthetic`: a value, or a rule that is broken.
    NoDensityError
        If the model does not work by counts: then try ``mode="refit"`` if it has a density, and
        else `black_box_attacker`.

    Notes
    -----
    The posterior is p(y | Z, D_-i), in proportion to p(Z | D_-i + y) p(y), where Z is the release
    and D_-i the other records [1]_. Synthetic records are independent given the fitted model, so
    p(Z | D') is a product over them, and over releases.

    An informed prior rests on the published structure if that is fixed. With new fits it rests on
    a fit to all other records: the published structure may depend on the record, and would tell
    of it before the release.

    A fixed structure can understate: where another value would have given other trees, the release
    may be impossible in that world. So *auto* first fits anew for those who are not certain yet,
    in the order of their posterior, and ``result.fixed`` is what the fixed structure alone says.
    Nobody else is known to be safe. Where the structure cannot depend on the records, as in
    `Independent`, there is nothing to fit anew.

    With several unknown attributes, all combinations of their values are compared, up to 4,096.
    Where there are more, networks are attacked by variable elimination, and trees over the
    combinations that occur in the original or the release; the truth is always among these, which
    favours it if nobody else has it. The result then has the rank of the truth, and the posterior
    of each single attribute.

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
    >>> model = Cart(smoothing_leaves=0, random_state=1).fit(records)
    >>> release = model.sample(random_state=3)
    >>> attack = strong_attacker(model, records, release, unknown="var4", refits=100)
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
    if refits is not None:
        check_whole("refits", refits, 0)
    if not hasattr(model, "codec_"):
        raise ParameterError(f"model: this {type(model).__name__} is not fitted yet.")
    codec = model.codec_
    asked = read_unknown(unknown, codec.names, codec.schema.identifiers, codec.plan.derived)
    names = tuple(name for name in codec.names if name in asked)
    _check_draws(model, names)
    believed = prior_name(prior)
    tables = _tables_of(model, needed=mode != "refit")
    by_fits = mode == "refit" or (mode == "auto" and model.structure_varies and refits != 0)
    notes = _of_dependencies(codec, names)
    notes += (NO_STRUCTURE,) * (mode == "auto" and not model.structure_varies)
    releases: tuple[Release, ...] = ()
    if by_fits:
        try:
            releases = _all_columns(model, tables or (), original, synthetic)
        except UnderstudyError:
            if mode == "refit":
                raise
            by_fits, notes = False, (*notes, f"{_OTHER_COLUMNS} {PUBLISHED}")
    if not by_fits:
        concerned = _concerned(model, tables or (), names)
        releases = read_releases(model, original, synthetic, concerned)
    people = releases[0].original
    rows = check_records(records, len(people))
    if len(people) < 2:
        raise DataError("The original has one record, so there are no others to know.")
    labels = {name: tuple(codec.labels(name)) for name in names}
    layout = codec.layout if isinstance(original, Coded) else Layout.of(original)
    question = Question(names, labels, rows, prior, believed, layout.backend)
    likelihood = FixedLikelihood.of(tables or (), releases, names)
    notes = (*withheld_notes(releases), *notes)
    factors = tables is not None and all(isinstance(table, ColumnTable) for table in tables)
    combinations = math.prod(releases[0].sizes(names))
    if mode != "refit" and factors and combinations > MOST_LISTED:
        if by_fits:
            notes = (*notes, f"{combinations:,} candidates are too many for new fits. {PUBLISHED}")
        return by_elimination(question, likelihood, (*notes, *likelihood.notes()))
    every = len(names) == 1 or combinations <= MOST_LISTED
    listed = _listed(question, releases, every=every)
    if not every:
        notes = (
            *notes,
            f"The attack compared the {len(listed.candidates):,} combinations of {len(names)} "
            "attributes that occur in the original or the release, the true one among them.",
        )
    if not by_fits:
        beliefs = by_counts(listed, likelihood)
        return listed.answer("fixed", beliefs, notes=(*notes, *likelihood.notes()))
    worlds = RefitLikelihood(model, releases, names, processes)
    if mode == "refit":
        return by_new_fits(listed, worlds, notes)
    return by_both(listed, likelihood, worlds, _budget(refits, len(people)), notes)


def _of_dependencies(codec: Codec, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return what the attacker is not told, since it follows from what is asked for."""
    told = [name for name in codec.plan.dropped if set(codec.plan.derived[name]) & set(names)]
    notes: tuple[str, ...] = ()
    if told:
        notes += (
            f"{quoted(sorted(told))} of the record follows from what is asked for, so the attacker "
            "is not given it.",
        )
    apart = [high for high, lows in codec.plan.differences.items() if set(lows) & set(names)]
    if apart:
        notes += (
            f"Of {quoted(apart)}, the attacker is given how far it lies above what is asked for, "
            "which is what the model draws.",
        )
    return notes


def _check_draws(model: Synthesizer, names: tuple[str, ...]) -> None:
    """Raise if the release has no known probability, or shows what is asked for."""
    model.require_single()
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


def _all_columns(
    model: Synthesizer,
    tables: Iterable[SamplingTable],
    original: Frame | Coded,
    synthetic: Frame | Coded | Sequence[Frame | Coded],
) -> tuple[Release, ...]:
    """Return the releases with all columns, which new fits need.

    Counts show if the model saw another original, or did not make the release.
    """
    releases = read_releases(model, original, synthetic)
    FixedLikelihood.of(tables, releases, model.codec_.names)
    return releases


def _concerned(
    model: Synthesizer, tables: Iterable[SamplingTable], names: tuple[str, ...]
) -> set[str]:
    """Return the columns that matter if the structure is fixed, and those of rules."""
    drawn = [table.columns for table in tables if table.columns & set(names)]
    return set(names).union(*drawn, model.columns_of_rules)


def _tables_of(model: Synthesizer, *, needed: bool) -> list[SamplingTable] | None:
    """Return the draws of a model as counts; None, or an error, if it does not work by counts."""
    try:
        return model.sampling_tables()
    except NoDensityError as error:
        if not needed:
            return None
        error.add_note("Use mode='refit' if the model has a density, or black_box_attacker.")
        raise


def _budget(refits: int | None, records: int) -> int:
    """Return how many fits an attack may make."""
    return min(MOST_REFITS, MOST_REFITTED // records) if refits is None else refits


def _listed(question: Question, releases: Sequence[Release], *, every: bool) -> Listed:
    """List the candidates: all combinations, or those that occur."""
    original = releases[0].original
    if every:
        candidates = Candidates.grid(question.unknown, releases[0].sizes(question.unknown))
    else:
        shown = [r.synthetic for r in releases if not set(question.unknown) & set(r.withheld)]
        candidates = Candidates.occurring(question.unknown, [original, *shown])
    return Listed(question, candidates, candidates.find(original))
