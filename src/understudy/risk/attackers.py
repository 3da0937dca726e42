"""Attacks by classifiers: train on the release, and guess the sensitive attribute of everybody."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_choice, check_seed, check_whole
from understudy.counting import group_ids
from understudy.data import Coded
from understudy.data.frames import Frame
from understudy.errors import ParameterError
from understudy.learning.classifiers import CLASSIFIERS, REGRESSORS, Codes, Model
from understudy.learning.jobs import Guesses, Job, Remembered, mapped
from understudy.progress import track
from understudy.risk.attacker_votes import Attackers, Target, Truth, VoteCount
from understudy.risk.compared_tables import listed_releases
from understudy.risk.prepare import Prepared, prepare
from understudy.risk.scenario import Scenario
from understudy.risk.tolerance import Tolerance

RESERVED = ("ensemble", "mean", "maximum")
"""What is made of all models, and so no name for one."""


def attackers(  # noqa: PLR0913  # the attack, who attacks, and what counts as right
    original: Frame,
    synthetic: Frame | Sequence[Frame],
    *,
    keys: str | Sequence[str],
    sensitive: str,
    known: int | None = None,
    preset: Literal["papers", "strong"] = "strong",
    models: Mapping[str, Any] | None = None,
    tolerance: Tolerance | float | dt.timedelta | str | None = None,
    control: Frame | None = None,
    groups: Mapping[str, int] | None = None,
    special: Mapping[str, Sequence[float]] | None = None,
    processes: int = 1,
    random_state: int = 0,
) -> Attackers:
    """Train classifiers on a release and guess the sensitive attribute of the original records.

    For every set of `known` keys, each model is trained on these columns of the synthetic table,
    and guesses the sensitive attribute of each original record from its keys. Beside it stands
    what the same models reach when they are trained on the original itself.

    Parameters
    ----------
    original, synthetic : frame
        The original table and the release. Models learn from the records of several releases in a
        list together.
    keys, sensitive, known
        What the attacker may know, wants, and knows; see `understudy.risk.Scenario`.
    preset : {"strong", "papers"}
        Which models are trained; see the notes.
    models : mapping, optional
        Your own estimators of scikit-learn's kind by name, in place of the preset's. They are
        shown numbers by value and other labels by their place in the order of levels, not scaled,
        and the sensitive attribute as whole numbers, the codes of its levels. Parameters named
        `random_state` that are None are set to `random_state`, and the order of the records is
        drawn from it.
    tolerance : Tolerance, float, timedelta, str, optional
        How far off a guess of a number or a date may be, and still be right; see `attribution`.
        Models are then regressors, and the ensemble is the median of their guesses. Records without
        a number are left out. If it is not given, numbers with more than 20 different values and
        dates are guessed within 5% of ranks, unless `models` are classifiers. With ``"exact"``,
        numbers are levels like any others.
    control : frame, optional
        Records like the original's that were not used for the synthesis. What is guessed correctly
        about them is learnt about everybody, not about the people in the data.
    groups, special : mapping, optional
        Numeric columns to put in groups, and their numbers that are not grouped.
    processes : int
        Models that are trained at the same time, each in one thread. The result does not depend on
        it. With more than one, a script must do its work under ``if __name__ == "__main__":``.
    random_state : int
        The seed of all models that use chance, and of the order in which records are learnt from.

    Returns
    -------
    Attackers
        Scores of the models, of their vote, mean and maximum, with the references.

    Raises
    ------
    ParameterError
        If an argument cannot be used, such as a tolerance for labels, or if the processes end
        before their work is done.
    DataError
        If a table has no rows, or tables hold values that cannot be compared.

    Notes
    -----
    Preset ``"papers"`` is that of [1]_ and [2]_: labels as numbers in the order of levels,
    standardised; Gaussian naive Bayes, a support vector machine, 5 nearest neighbours, a random
    forest of 10 trees and logistic regression, with scikit-learn's standard settings otherwise, and
    the fixed-radius classifier. The support vector machine takes time in proportion to the square
    of the records: each training takes half a minute for the 32,561 records of Adult.

    Preset ``"strong"`` is what we would use: gradient boosting with categories as such, a random
    forest of 200 trees, logistic regression and naive Bayes on categories, and the fixed-radius
    classifier. Its time is in proportion to the records and to the levels of the sensitive
    attribute. With a tolerance: gradient boosting for the median, a random forest, ridge regression
    on categories, 5 nearest neighbours, and the median at the smallest Hamming distance.

    The ensemble guesses the level that most models guess; of several, the one that is most frequent
    in the training data, then the first in order. Where the training data have one level, or one
    combination of keys, every model guesses the most frequent level, for there is nothing to learn.
    A model that fails has the score nan, with the error in `reasons`, and has no vote.

    Nearest neighbours and random forests depend on the order of the records they learn from. The
    order is drawn from `random_state`, whatever the order of the tables, so that tables with the
    same records have the same result.

    Trained on the original of the survey cmc, preset ``"papers"`` has the percentages printed in
    [1]_, Tables 6 and 9, with these exceptions (printed in brackets). In Table 9, the support
    vector machine has 65.0 ± 1.57, or 1.56 with other seeds (65.0 ± 1.5), and the random forest
    77.1 ± 6.8 (77.0 ± 6.6; seeds 0 to 7 give means from 77.07 to 77.31). Nearest neighbours have
    49.3 ± 6.9 (48.5 ± 7.0) and 69.4 ± 4.0 (69.4 ± 3.5): five shuffles of the table, learnt from in
    that order, give means from 48.4 to 50.0 and from 68.8 to 69.4. The ensemble has 52.3 ± 5.7
    (51.7 ± 5.1) and 68.6 ± 3.3 (67.0 ± 1.9); we do not know why: that the first level wins
    a tie does not explain it.

    References
    ----------
    .. [1] Hittmeir, Mayer, Ekelhart (2020). A baseline for attribute disclosure risk in synthetic
       data. CODASPY, doi:10.1145/3374664.3375722
    .. [2] Hittmeir, Mayer, Ekelhart (2022). Efficient Bayesian network construction for increased
       privacy on synthetic data. IEEE Big Data, doi:10.1109/BigData55660.2022.10020936

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"age": [20, 20, 60, 60] * 9, "ill": ["no", "no", "yes", "no"] * 9})
    >>> result = attackers(table, table, keys="age", sensitive="ill", preset="papers")
    >>> result.ensemble.accuracy, result.baseline.zero_rule
    (0.75, 0.75)
    """
    scenario = Scenario(keys, sensitive, known)
    check_whole("processes", processes, 1, 10**4)
    check_seed(random_state)
    wanted = Tolerance.of(tolerance)
    if wanted is None and models is not None and _any_classifier(models):
        wanted = "exact"
    if isinstance(wanted, Tolerance):
        _chosen(preset, models, numbers=True)  # refused before the tables are read
    prepared = prepare(
        original,
        listed_releases(synthetic),
        scenario,
        control=control,
        groups=groups,
        special=special,
        tolerance=wanted,
    )
    chosen = _chosen(preset, models, numbers=prepared.number is not None)
    votes = _attack(prepared, chosen, processes=processes, random_state=random_state)
    return votes.result(scenario, None if models is not None else preset, prepared.backend)


def attackers_on(
    prepared: Prepared,
    preset: Literal["papers", "strong"],
    *,
    processes: int = 1,
    random_state: int = 0,
    remembered: Remembered | None = None,
) -> Attackers:
    """Attack tables that are coded already; see `attackers`.

    With `remembered`, models that learn from the same original are trained once for all attacks
    that it is given to. The result is the same. All of it is then done in this process.
    """
    chosen = _chosen(preset, None, numbers=prepared.number is not None)
    check_whole("processes", processes, 1, 10**4)
    check_seed(random_state)
    votes = _attack(
        prepared,
        chosen,
        processes=processes if remembered is None else 1,
        random_state=random_state,
        trained=Job.guesses if remembered is None else remembered.guesses,
    )
    return votes.result(prepared.scenario, preset, prepared.backend)


def _attack(
    prepared: Prepared,
    chosen: Mapping[str, Model],
    *,
    processes: int,
    random_state: int,
    trained: Callable[[Job], Guesses] = Job.guesses,
) -> VoteCount:
    """Train all models for all sets of keys, and count what they guess."""
    scenario = prepared.scenario
    target = Target.of(prepared)
    votes = VoteCount(target, tuple(chosen))
    tables = [prepared.original, *([] if prepared.control is None else [prepared.control])]
    asked = Coded.concatenate(tables)
    jobs = _jobs(prepared, asked, target, chosen, int(random_state))
    total = 2 * len(scenario) * len(chosen)
    with mapped(trained, jobs, int(processes), must_travel=dict(chosen)) as results:
        guesses = iter(track(results, "Attacking", total))
        for subset in scenario.subsets():
            which = group_ids(asked, subset).ids
            for side in ("synthetic", "original"):
                votes.add(subset, side, list(islice(guesses, len(chosen))), which)
    return votes


def _any_classifier(models: object) -> bool:
    """Tell whether a user's models are for levels; what is no model is refused later."""
    from sklearn.base import is_classifier

    return isinstance(models, Mapping) and any(
        hasattr(model, "fit") and is_classifier(model) for model in models.values()
    )


def _chosen(preset: str, models: Mapping[str, Any] | None, *, numbers: bool) -> Mapping[str, Model]:
    """Return the models of a preset, or the user's own after a check."""
    presets = REGRESSORS if numbers else CLASSIFIERS
    if models is None:
        return presets[check_choice("preset", preset, presets)]
    if not isinstance(models, Mapping) or not models:
        raise ParameterError(f"models must be a mapping of names to estimators; got {models!r}.")
    return {name: _own(name, model, numbers=numbers) for name, model in models.items()}


def _own(name: str, estimator: Any, *, numbers: bool) -> Model:  # noqa: ANN401  # no types
    from sklearn.base import clone, is_classifier, is_regressor

    if not isinstance(name, str) or name in RESERVED:
        raise ParameterError(f"A model cannot be called {name!r}. Give it another name.")
    try:
        copied = clone(estimator)
        regressor, classifier = is_regressor(copied), is_classifier(copied)
    except (TypeError, RuntimeError, AttributeError) as error:
        raise ParameterError(
            f"models: {name!r} is not an estimator that can be copied: {error}"
        ) from error
    if regressor and not numbers:
        raise ParameterError(
            f"models: {name!r} is a regressor. Give a tolerance, or use a classifier."
        )
    if classifier and numbers:
        raise ParameterError(
            f"models: {name!r} is a classifier, and a tolerance needs a regressor."
        )
    return Model("places", copied)


def _jobs(
    prepared: Prepared, asked: Coded, target: Target, models: Mapping[str, Model], seed: int
) -> Iterator[Job]:
    for subset in prepared.scenario.subsets():
        # Records with the same keys get the same guess.
        different = asked.take(group_ids(asked, subset).representatives)
        levels = tuple(prepared.levels[name] for name in subset)
        for table, truth in (
            (prepared.released, target.synthetic),
            (prepared.original, target.original),
        ):
            rows = _training_rows(table, subset, truth, seed)
            keys = _matrix(table, subset)[rows]
            for model in models.values():
                yield Job(
                    model,
                    keys,
                    truth[0][rows],
                    _matrix(different, subset),
                    levels,
                    seed,
                    may_recur=table is prepared.original,
                )


def _training_rows(table: Coded, names: Sequence[str], truth: Truth, seed: int) -> NDArray[np.intp]:
    """Return the records to learn from, in an order that does not depend on that of the table."""
    values, usable = truth
    rows = np.flatnonzero(usable)
    keys = [table[name][rows] for name in sorted(names, reverse=True)]
    order = np.lexsort([values[rows], *keys])
    # In sorted order, the neighbours that come first at one distance would be those of one value.
    drawn: NDArray[np.intp] = rows[np.random.default_rng(seed).permutation(order)]
    return drawn


def _matrix(table: Coded, names: Sequence[str]) -> Codes:
    return np.column_stack([table[name].astype(np.int64) for name in names])
