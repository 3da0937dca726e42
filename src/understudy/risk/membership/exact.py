"""Membership by the density of our own models: the likelihood of a release without a person."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from understudy.arguments import as_names, check_choice, check_whole, is_number
from understudy.data.coded import Coded
from understudy.data.frames import Frame, Layout
from understudy.errors import NoDensityError, ParameterError
from understudy.risk.compared_tables import listed_releases
from understudy.risk.membership.exact_result import ExactMembership, Posteriors
from understudy.risk.membership.other_worlds import CountedWorlds, OtherWorlds, RefittedWorlds
from understudy.risk.strong.candidates import check_records
from understudy.risk.strong.release import read_releases, withheld_notes
from understudy.risk.strong.whole_units import unit_membership_logs
from understudy.synthesis import Synthesizer
from understudy.synthesis.blocks import RandomState
from understudy.wording import quoted

MembershipMode = Literal["fixed", "refit"]


def membership_exact(  # noqa: PLR0913  # the tables, the attacker's knowledge, and the way
    model: Synthesizer,
    original: Frame | Coded,
    synthetic: Frame | Coded | Sequence[Frame | Coded],
    *,
    control: Frame | None = None,
    prior: float = 0.5,
    draws: int = 500,
    mode: MembershipMode = "fixed",
    records: Sequence[int] | ArrayLike | None = None,
    random_state: RandomState = 0,
    unit_id: str | Sequence[str] = (),
) -> ExactMembership:
    """Return how sure an attacker who knows everyone else is that a person was in the data.

    The attacker knows the synthesizer, all other records, and the record of the person. The only
    question is whether the release was made with it. The synthesizer's density gives the exact
    answer.

    Parameters
    ----------
    model : Independent, BayesNet or Cart
        The fitted model that made the release, or all of the releases.
    original, synthetic : frame
        The table that it was fitted to, and the release; a list of releases, which are
        independent draws from the model, is judged as a whole.
    control : frame, optional
        People who were not in the data, for comparison: the same posterior for them.
    prior : float
        Probability that the person was in, before the release.
    draws : int
        Fresh people to average over, where the average cannot be computed exactly.
    mode : {"fixed", "refit"}
        Whether the network, or the splits of the trees, and how far either is smoothed, stay as
        published in the other world; or the synthesizer is fitted anew, which takes a fit for every
        record.
    records : sequence of int, optional
        Row numbers of the people to attack; all if not given.
    random_state : int, numpy Generator or None
        Decides the fresh people.
    unit_id : str or sequence of str
        Columns of the original that together name the person, household or firm that several
        records belong to. Then the question is whether all records of a unit were in the data: a
        row for each unit, of which `record` is the first. There are no fresh units, no control and
        no new fits.

    Returns
    -------
    ExactMembership

    Raises
    ------
    DataError
        If the model was not fitted to `original`, or could not have made `synthetic`.
    NoDensityError
        If the model does not work by counts.

    Notes
    -----
    With Z the release, D the original and pi the prior, the posterior that i was in is
    ``pi p(Z | D) / (pi p(Z | D) + (1 - pi) q)``. For `without`, q = p(Z | D without i), and the
    attacker does not know the number of records. For `replaced`, the number of records is known,
    and q is the mean of p(Z | D without i, with x) over a fresh person x, as the published model
    draws one.

    The mean is exact where no column depends on another, or where there are at most 4,096
    combinations of values. Otherwise it is over `draws` fresh people, the same for all records.

    The number of rows of the release tells nothing here.

    Examples
    --------
    >>> from understudy import Cart, load
    >>> people = load("buyer_beware")
    >>> model = Cart(smoothing_leaves=0, random_state=1).fit(people)
    >>> found = membership_exact(model, people, model.sample(random_state=3))
    >>> found.without.certain, found.worst(1)["record"].item()
    (1, 999)
    """
    check_model(model)
    check_choice("mode", mode, get_args(MembershipMode))
    check_whole("draws", draws, 0)
    if not is_number(prior) or not 0 < prior < 1:
        raise ParameterError(f"prior must lie between 0 and 1; got {prior!r}.")
    if names := as_names(unit_id):
        if (
            mode != "fixed"
            or control is not None
            or records is not None
            or isinstance(original, Coded)
        ):
            raise ParameterError(
                "unit_id takes the original as a table and mode='fixed', without control and "
                "records."
            )
        return _of_units(model, original, synthetic, names, float(prior))
    releases = read_releases(model, original, synthetic)
    rows = check_records(records, len(releases[0].original))
    worlds: OtherWorlds = (
        CountedWorlds.of(model, releases) if mode == "fixed" else RefittedWorlds(model, releases)
    )
    fresh = None if draws == 0 else worlds.fresh(draws, random_state)
    log_odds = math.log(prior / (1 - prior))
    replaced = error = np.full(len(rows), np.nan)
    if fresh is not None:
        mean, relative = worlds.replaced(rows, fresh)
        replaced = probability(log_odds - mean)
        error = replaced * probability(mean - log_odds) * relative
    outside = None
    if control is not None:
        outside = Posteriors(probability(log_odds + worlds.joined(control)))
    layout = model.codec_.layout if isinstance(original, Coded) else Layout.of(original)
    return ExactMembership(
        float(prior),
        mode,
        rows,
        Posteriors(probability(log_odds - worlds.without(rows))),
        Posteriors(replaced),
        error,
        draws=0 if fresh is None else fresh.draws,
        releases=len(releases),
        control=outside,
        reasons={} if fresh is not None else {"replaced": "no fresh people were drawn (draws=0)"},
        notes=withheld_notes(releases),
        _backend=layout.backend,
    )


def _of_units(
    model: Synthesizer,
    original: Frame,
    synthetic: Frame | Coded | Sequence[Frame | Coded],
    names: Sequence[str],
    prior: float,
) -> ExactMembership:
    """Return how sure the attacker is that all records of each unit were in the data."""
    first, logs = unit_membership_logs(model, original, synthetic, names)
    unknown = np.full(len(first), np.nan)
    return ExactMembership(
        prior,
        "fixed",
        first,
        Posteriors(probability(math.log(prior / (1 - prior)) - logs)),
        Posteriors(unknown),
        unknown,
        releases=len(listed_releases(synthetic)),
        reasons={"replaced": "no fresh units are drawn"},
        _backend=Layout.of(original).backend,
    )


def probability(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability with these log odds, to the last digit at both ends.

    Examples
    --------
    >>> probability(np.array([0.0, np.inf, -np.inf])).tolist()
    [0.5, 1.0, 0.0]
    """
    return np.asarray(np.exp(-np.logaddexp(0, -log_odds)))


def check_model(model: object) -> None:
    """Raise unless this is a fitted model whose density of a release can be computed."""
    if not isinstance(model, Synthesizer):
        raise ParameterError(
            f"model must be a fitted synthesizer; got {type(model).__name__}. For any other way to "
            "make a release, use membership_by_shadows."
        )
    if not hasattr(model, "codec_"):
        raise ParameterError(f"model: this {type(model).__name__} is not fitted yet.")
    model.require_single()
    if model.random_fit == "records":
        raise NoDensityError(
            "This model was fitted to a random sample of the records (proper=True), and nobody "
            "knows which. So the probability of a release cannot be computed. Use "
            "membership_by_shadows."
        )
    if model.kept_columns:
        raise ParameterError(
            f"The release keeps {quoted(model.kept_columns)} of all records as they are, so it "
            "shows itself who was in the data. Fit a model that draws all columns."
        )
