"""What one who knows the synthesizer and all records but one learns of that one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from numpy.typing import ArrayLike

from understudy.data.coded import Coded
from understudy.data.frames import Frame
from understudy.errors import DataError, NoDensityError, ParameterError
from understudy.risk.posterior.candidates import WHOLE, read_unknown
from understudy.risk.posterior.fixed import FixedLikelihood
from understudy.risk.posterior.listing import (
    MOST_LISTED,
    Setting,
    by_counts,
    by_refitting,
    tables_of,
)
from understudy.risk.posterior.priors import Prior, check_records, prior_name
from understudy.risk.posterior.release import Release
from understudy.risk.posterior.result import StrongAttack
from understudy.risk.posterior.whole_record import by_elimination
from understudy.synthesis import Cart, Synthesizer

AttackMode = Literal["fixed", "refit"]


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
    release. This is no simulation: the synthesizer's density gives the exact answer.

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
            f"model is a fitted synthesizer; got {type(model).__name__}. For any other way to make "
            "a release, use black_box_attacker."
        )
    if mode not in get_args(AttackMode):
        raise ParameterError(f"mode is one of {', '.join(get_args(AttackMode))}; got {mode!r}.")
    if not isinstance(processes, int) or isinstance(processes, bool) or processes < 1:
        raise ParameterError(f"processes is a whole number from 1; got {processes!r}.")
    if not hasattr(model, "codec_"):
        raise ParameterError(f"model: this {type(model).__name__} is not fitted yet.")
    names = read_unknown(unknown, model.codec_)
    _check_trees(model, names)
    concerned = None if mode == "refit" else _concerned(model, names)
    release = Release.of(model, original, synthetic, concerned)
    rows = check_records(records, len(release.original))
    if len(release.original) < 2:
        raise DataError("The original has one record, so there are no others to know.")
    setting = Setting(model, release, names, prior, prior_name(prior), rows)
    if mode == "refit":
        return by_refitting(setting, processes)
    likelihood = FixedLikelihood.of(tables_of(model), release, names)
    if setting.is_network and setting.combinations > MOST_LISTED:
        return by_elimination(setting, likelihood)
    return by_counts(setting, likelihood)


def _concerned(model: Synthesizer, names: tuple[str, ...]) -> set[str]:
    """Return the columns of all draws that depend on what is unknown."""
    tables = [table.columns for table in tables_of(model) if table.columns & set(names)]
    return set(names).union(*tables)


def _check_trees(model: Synthesizer, names: tuple[str, ...]) -> None:
    if not isinstance(model, Cart):
        return
    if model.proper:
        raise NoDensityError(
            "With proper=True trees are grown on random samples of the records, which nobody "
            "knows, so a release has no probability that can be computed exactly. Attack it as a "
            "black box (black_box_attacker)."
        )
    kept = [model.codec_.names[place] for place in model.plan_.kept]
    shown = [name for name in names if name in kept]
    if shown:
        raise ParameterError(
            f"unknown: {', '.join(map(repr, shown))} of all records is kept as it is, so the "
            "release itself shows it. Ask for columns that are drawn."
        )
