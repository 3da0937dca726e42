"""Membership in a release of any tool, learnt from releases that it makes with and without."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from understudy.arguments import check_choice, check_whole
from understudy.data.frames import Frame, Layout, to_arrow
from understudy.data.joint_coding import EncodedTable, encode
from understudy.errors import DataError, ParameterError, UnderstudyError
from understudy.intervals import wilson_interval
from understudy.learning.mixed_distance import nearest_records, place_together
from understudy.progress import track
from understudy.risk.membership.features import FeatureMaker
from understudy.risk.membership.roc import area_interval, area_under_curve, chance_of_area
from understudy.risk.membership.shadow_result import Others, ShadowMembership
from understudy.risk.strong.candidates import check_records, plain_values, read_columns
from understudy.risk.strong.command import Command
from understudy.risk.strong.simulator import Synthesize, run_in_threads
from understudy.synthesis.blocks import RandomState, seed_of

ShadowClassifier = Literal["logistic", "forest"]

FOLDS = 5
"""Parts of the shadow releases, each of which is told apart by what the others taught."""
FEWEST_SHADOWS = 20


def membership_by_shadows(  # noqa: PLR0913  # the tool, the attack, and its resources
    tool: Synthesize | Command | str,
    original: Frame,
    synthetic: Frame | None = None,
    *,
    records: Sequence[int] | ArrayLike | None = None,
    targets: int = 10,
    shadows: int = 200,
    others: Others = "sample",
    columns: Sequence[str] | None = None,
    queries: int = 100,
    classifier: ShadowClassifier = "logistic",
    random_state: RandomState = 0,
    processes: int = 1,
) -> ShadowMembership:
    """Learn from shadow releases of a tool whether a person was in the data.

    The tool is run many times with and without a person, and a classifier learns to tell the
    releases apart. So it works for any tool, and shows what an attacker can do in practice.

    Parameters
    ----------
    tool : callable, Command or str
        A function of a frame, like `original`, and a seed, that returns a synthetic frame; or a
        command line, such as ``"Rscript synth.R {original} {synthetic} {seed}"`` (see `Command`).
    original : frame
        The confidential table.
    synthetic : frame, optional
        A release: with ``others="all"``, each person gets the probability that it was made with
        them.
    records : sequence of int, optional
        Row numbers of the people to attack. If not given, the `targets` people who are farthest
        from anybody else.
    targets : int
        How many people are attacked, if `records` does not say.
    shadows : int
        Shadow releases for each person, half of them with the person.
    others : {"sample", "all"}
        Whether a shadow release is made from a random half of the people, so that all targets
        share the same shadow releases, or from all but one: as the strongest attacker would, and
        with runs of its own for every target.
    columns : sequence of str, optional
        What is looked at; all columns of the original if not given.
    queries : int
        Random sets of columns: counted are the synthetic records that agree with the person on
        them.
    classifier : {"logistic", "forest"}
        What tells the shadow releases apart: a logistic regression or a random forest.
    random_state : int, numpy Generator or None
        Decides the shadow releases and all else.
    processes : int
        Runs of the tool at the same time, in threads.

    Returns
    -------
    ShadowMembership

    Raises
    ------
    DataError
        If the tool fails, or returns what is no table like the original.

    Notes
    -----
    A release is described by the histogram of each column, the correlations of all pairs, and the
    shares of records that agree with the person on random sets of columns. Scores are those of
    releases that the classifier has not seen (five parts). The probability for the given release is
    that of the classifier of all shadows, calibrated on these scores.

    With ``others="all"``, a release with the person lacks somebody else, so that the number of
    records says nothing.

    References
    ----------
    .. [1] Stadler, Oprisanu, Troncoso (2022). Synthetic data: anonymisation groundhog day. USENIX
       Security Symposium, https://www.usenix.org/conference/usenixsecurity22/presentation/stadler
    .. [2] Houssiau, Jordon, Cohen, Daniel, Elliott, Geddes, Mole, Rangel-Smith, Szpruch (2022).
       TAPAS: a toolbox for adversarial privacy auditing of synthetic data. arXiv:2211.06550

    Examples
    --------
    >>> from understudy import load
    >>> people = load("buyer_beware")[-200:]
    >>> found = membership_by_shadows(lambda table, seed: table, people, records=[199], shadows=40)
    >>> bool(found.auc[0] > 0.9)  # the tool hands out what it is given
    True
    """
    attacker = _Attacker.checked(tool, classifier, others, shadows, processes)
    check_whole("queries", queries, 0)
    encoded = encode(original)
    names = encoded.names if columns is None else read_columns("columns", columns, encoded.names)
    rows, exposure = _chosen(encoded, names, records, targets)
    rng = np.random.default_rng(seed_of(random_state))
    maker = FeatureMaker(encoded, tuple(names), rows, queries, int(rng.integers(2**32)))
    plan = _plan(others, len(encoded), rows, shadows, rng)
    every = attacker.features(plan, original, maker, rng)
    seed = int(rng.integers(2**32))
    reason = _no_probability(synthetic, others)
    given: list[NDArray[np.float64] | None] = [None] * len(rows)
    if synthetic is not None and not reason:
        given = list(maker.of(synthetic))
    found = [
        attacker.told_apart(every[own, place], inside, given[place], seed)
        for place, (own, inside) in enumerate(plan.of_targets)
    ]
    figures = {name: np.array([one[name] for one in found]) for name in found[0]}
    return ShadowMembership(
        rows,
        exposure,
        **figures,
        shadows=shadows,
        runs=len(plan.tables),
        others=others,
        classifier=classifier,
        reasons={"probability": reason} if reason else {},
        _backend=encoded.backend,
    )


def _no_probability(synthetic: Frame | None, others: Others) -> str:
    """Return why there is no probability for a release; empty if there is one."""
    if synthetic is None:
        return "no release was given"
    if others == "sample":
        return (
            "shadow releases of half of the records do not compare with a release of all of them; "
            "use others='all'"
        )
    return ""


def _chosen(
    original: EncodedTable,
    names: Sequence[str],
    records: Sequence[int] | ArrayLike | None,
    targets: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the people to attack, the most exposed first, and how far the next person is."""
    if len(original) < 4:
        raise DataError(f"original must have at least 4 records; got {len(original)}.")
    most = check_whole("targets", targets, 1, len(original) // 4)
    placed = place_together({"original": original}, names)["original"]
    rows = np.arange(len(original)) if records is None else check_records(records, len(original))
    apart = nearest_records(placed.take(rows), placed, own=rows)[0][:, 0]
    if records is not None:
        if len(set(rows.tolist())) < len(rows) or len(rows) > len(original) // 4:
            raise ParameterError(
                "records must name each person once, and at most a quarter of all; got "
                f"{len(rows):,} rows."
            )
        return rows, apart
    exposed = np.lexsort((rows, -apart))[:most]
    return rows[exposed], apart[exposed]


@dataclass(frozen=True, eq=False)
class _Plan:
    """Which rows each shadow release is made from, and which of them are about each target.

    `of_targets` holds for each target the numbers of its shadow releases, and whether it is in.
    """

    tables: list[NDArray[np.int64]]
    of_targets: list[tuple[NDArray[np.int64], NDArray[np.bool_]]]


def _plan(
    others: Others,
    people: int,
    targets: NDArray[np.int64],
    shadows: int,
    rng: np.random.Generator,
) -> _Plan:
    """Return the shadow releases; all of them are made from equally many records."""
    rest = np.setdiff1d(np.arange(people), targets)
    half = shadows // 2
    inside = np.arange(2 * half) < half
    if others == "all":
        # Releases with a person serve all targets, each of whom is in.
        left_out = [*rng.choice(rest, half, replace=half > len(rest)), *np.repeat(targets, half)]
        tables = [np.delete(np.arange(people), row) for row in left_out]
        own = np.arange(half)
        return _Plan(
            tables,
            [
                (np.concatenate([own, half * (1 + place) + own]), inside)
                for place in range(len(targets))
            ],
        )
    chosen = np.stack([rng.permutation(inside) for _ in targets])
    tables = []
    for shadow in range(2 * half):
        wanted = targets[chosen[:, shadow]]
        filling = rng.choice(rest, people // 2 - len(wanted), replace=False)
        tables.append(np.sort(np.concatenate([wanted, filling])))
    return _Plan(tables, [(np.arange(2 * half), own) for own in chosen])


@dataclass(frozen=True, eq=False)
class _Attacker:
    """Runs the tool, and tells its releases apart."""

    tool: Synthesize
    classifier: ShadowClassifier
    threads: int

    @classmethod
    def checked(
        cls,
        tool: Any,  # noqa: ANN401  # whatever was given
        classifier: Any,  # noqa: ANN401
        others: object,
        shadows: object,
        processes: int,
    ) -> _Attacker:
        """Return the attacker, or raise if an argument cannot be used."""
        ready = Command(tool) if isinstance(tool, str) else tool
        if not callable(ready):
            raise ParameterError(
                f"tool must be a function of a frame and a seed, or a command line; got {tool!r}."
            )
        check_choice("classifier", classifier, get_args(ShadowClassifier))
        check_choice("others", others, get_args(Others))
        check_whole("shadows", shadows, FEWEST_SHADOWS)
        return cls(ready, classifier, check_whole("processes", processes, 1))

    def features(
        self, plan: _Plan, original: Frame, maker: FeatureMaker, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Return the features of all shadow releases: shadows by targets by features."""
        table, layout = to_arrow(original), Layout.of(original)
        columns = {name: plain_values(table[name]) for name in table.column_names}
        seeds = rng.choice(2**31, len(plan.tables), replace=False).tolist()

        def run(shadow: int) -> tuple[int, NDArray[np.float64]]:
            rows = pa.array(plan.tables[shadow])
            made = layout.restore({name: array.take(rows) for name, array in columns.items()})
            try:
                return shadow, maker.of(self.tool(made, seeds[shadow]))
            except Exception as error:
                name = "" if isinstance(error, UnderstudyError) else f"{type(error).__name__}: "
                raise DataError(
                    f"The tool failed in shadow release {shadow + 1} (seed {seeds[shadow]}): "
                    f"{name}{error}"
                ) from error

        jobs = range(len(plan.tables))
        # Closed explicitly, so that an interruption ends what is running at once.
        with closing(run_in_threads(run, jobs, self.threads, self.tool)) as results:
            found = dict(track(results, "Making shadow releases", len(plan.tables)))
        return np.stack([found[shadow] for shadow in jobs])

    def told_apart(
        self,
        features: NDArray[np.float64],
        inside: NDArray[np.bool_],
        given: NDArray[np.float64] | None,
        seed: int,
    ) -> dict[str, float]:
        """Return how well the releases with a target are told from those without."""
        scores, probability = self._scores(features, inside, given, seed)
        within, without = scores[inside], scores[~inside]
        auc = area_under_curve(within, without)
        low, high = area_interval(auc, len(within), len(without))
        hits, alarms = int((within > 0.5).sum()), int((without > 0.5).sum())
        advantage, least, most = _difference(hits, len(within), alarms, len(without))
        return {
            "auc": auc,
            "auc_low": low,
            "auc_high": high,
            "p_value": chance_of_area(within, without),
            "advantage": advantage,
            "advantage_low": least,
            "advantage_high": most,
            "probability": probability,
        }

    def _scores(
        self,
        features: NDArray[np.float64],
        inside: NDArray[np.bool_],
        given: NDArray[np.float64] | None,
        seed: int,
    ) -> tuple[NDArray[np.float64], float]:
        """Return the score of each release by what the others teach, and that of the given one."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.model_selection import StratifiedKFold, cross_val_predict
        from threadpoolctl import threadpool_limits

        telling = np.ptp(features, axis=0) > 0
        nothing = np.nan if given is None else 0.5
        if not telling.any():
            return np.full(len(inside), 0.5), nothing
        shown = features[:, telling]
        model = _model(self.classifier, seed)
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        with threadpool_limits(1), warnings.catch_warnings():
            # A fit that could be a little better is an attacker like any other.
            warnings.simplefilter("ignore", ConvergenceWarning)
            scores = cross_val_predict(model, shown, inside, cv=folds, method="predict_proba")[:, 1]
            if given is None:
                return scores, nothing
            own = model.fit(shown, inside).predict_proba(given[telling][None])[:, 1]
            return scores, _calibrated(scores, inside, own)


def _model(classifier: ShadowClassifier, seed: int) -> Any:  # noqa: ANN401  # of scikit-learn
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if classifier == "forest":
        return RandomForestClassifier(100, min_samples_leaf=2, random_state=seed)
    return make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=1_000))


def _calibrated(
    scores: NDArray[np.float64], inside: NDArray[np.bool_], own: NDArray[np.float64]
) -> float:
    """Return the probability that a score stands for, learnt from those of known releases."""
    from sklearn.linear_model import LogisticRegression

    spread = float(scores.std())
    if spread == 0:
        return 0.5
    scaled = ((scores - 0.5) / spread)[:, None]
    found = LogisticRegression().fit(scaled, inside)
    return float(found.predict_proba(((own - 0.5) / spread)[:, None])[0, 1])


def _difference(hits: int, total: int, alarms: int, others: int) -> tuple[float, float, float]:
    """Return the difference of two shares, and its 95% interval by Newcombe's hybrid score.

    References
    ----------
    .. [1] Newcombe (1998). Interval estimation for the difference between independent proportions:
       comparison of eleven methods. Statistics in Medicine 17(8),
       doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I (method 10)

    Examples
    --------
    >>> [round(one, 4) for one in _difference(56, 70, 48, 80)]  # the paper's first example
    [0.2, 0.0524, 0.3339]
    """
    first, second = hits / total, alarms / others
    low, high = wilson_interval(hits, total)
    low_other, high_other = wilson_interval(alarms, others)
    apart = first - second
    return (
        apart,
        apart - float(np.hypot(first - low, high_other - second)),
        apart + float(np.hypot(high - first, second - low_other)),
    )
