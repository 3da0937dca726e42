"""Propensity: how well a model tells which records are synthetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from understudy.arguments import as_names, check_seed, check_whole
from understudy.data.coded import Coded
from understudy.data.frames import Backend, Frame
from understudy.data.joint_coding import CodedTables
from understudy.errors import ParameterError, did_you_mean
from understudy.progress import track
from understudy.results import Line, Result
from understudy.utility.propensity_models import Logistic, Model, Tree, shared_indicators
from understudy.utility.tables import compared, content_order, tables_of
from understudy.wording import percent, times

MODELS = ("cart", "logistic")
IN_WORDS = {"cart": "a decision tree", "logistic": "a logistic regression"}


@dataclass(frozen=True)
class Null:
    """What the pMSE is when there is nothing to tell, and the pMSE measured by it.

    Parameters
    ----------
    mean, std : float
        Mean and standard deviation of the pMSE when there is nothing to tell.
    ratio : float
        The pMSE divided by this mean: about 1 if there is nothing to tell.
    standardised : float
        The pMSE less the mean, in standard deviations: about 0 if there is nothing to tell.
    """

    mean: float
    std: float
    ratio: float
    standardised: float

    @classmethod
    def of(cls, pmse: float, mean: float, std: float) -> Null:
        """Compare a pMSE with the mean and standard deviation that it has by chance."""
        ratio = pmse / mean if mean > 0 else math.nan
        return cls(mean, std, ratio, (pmse - mean) / std if std > 0 else math.nan)

    @classmethod
    def drawn(cls, pmse: float, draws: Sequence[float]) -> Null:
        """Compare a pMSE with those that chance gave; nan where there are too few of them."""
        mean = float(np.mean(draws)) if draws else math.nan
        std = float(np.std(draws, ddof=1)) if len(draws) > 1 else math.nan
        return cls.of(pmse, mean, std)


@dataclass(frozen=True)
class Discrimination:
    """How well one model tells synthetic records from original ones.

    Parameters
    ----------
    pmse : float
        Mean over all records of the squared difference between the predicted probability of being
        synthetic and the share of synthetic records: 0 if nothing can be told, and at most the
        share times one less the share (a quarter, for tables of one size).
    permutation : Null
        The pMSE of the same model when the labels are shuffled: as for two samples of the same
        people.
    analytic : Null or None
        The pMSE to expect of a right synthesis, by the formula for logistic regression; None for
        other models.
    parameters : int
        Coefficients that can be told apart, the intercept among them, or leaves of the tree.
    accuracy, permuted_accuracy : float
        Share of records whose table is guessed right (the mean of the shares in both tables, a
        record of even odds counting half), and its mean when labels are shuffled. The records are
        those that the model learnt from, so both are above one half.
    auc, permuted_auc : float
        Share of pairs of a synthetic and an original record in which the synthetic one has the
        higher probability (even ones count half), and its mean when labels are shuffled.
    """

    pmse: float
    permutation: Null
    analytic: Null | None
    parameters: int
    accuracy: float
    permuted_accuracy: float
    auc: float
    permuted_auc: float


@dataclass(frozen=True, eq=False)
class Propensity(Result):
    """How well synthetic records can be told from original ones; `propensity` makes it.

    Parameters
    ----------
    columns : tuple of str
        What the models see, in order of the names.
    records, synthetic_records : int
        Size of the tables.
    used, synthetic_used : int
        How many of these records the models learn from.
    share : float
        Share of synthetic records among those.
    permutations : int
        How often the labels were shuffled.
    interactions : bool
        Whether the logistic regression has products of pairs of columns too.
    models : dict
        What each model reaches.
    reasons : dict
        Why a value is nan, or what was left out.
    """

    SERIES: ClassVar = {"baseline": "By chance", "synthetic": "This release"}
    AXIS = "Share of pairs told apart"

    columns: tuple[str, ...]
    records: int
    synthetic_records: int
    used: int
    synthetic_used: int
    share: float
    permutations: int
    interactions: bool
    models: dict[str, Discrimination]
    reasons: dict[str, str]

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each model and reference; what is undefined is null.

        The frame is of the kind that went in, or of `backend`.
        """
        rows = []
        for name, model in self.models.items():
            nulls = {"permutation": model.permutation, "analytic": model.analytic}
            rows += [
                {
                    "model": name,
                    "null": kind,
                    "pmse": model.pmse,
                    "null_mean": null.mean,
                    "null_std": null.std,
                    "ratio": null.ratio,
                    "standardised": null.standardised,
                    "accuracy": model.accuracy,
                    "permuted_accuracy": model.permuted_accuracy,
                    "auc": model.auc,
                    "permuted_auc": model.permuted_auc,
                }
                for kind, null in nulls.items()
                if null is not None
            ]
        return self._framed(pl.DataFrame(rows).fill_nan(None), backend)

    def lines(self) -> list[Line]:
        """Return the area under the curve of each model beside what chance gives."""
        return [
            Line(
                _capital(IN_WORDS[name]),
                f"pMSE {times(model.permutation.ratio)} what chance gives",
                model.permuted_auc,
                model.auc,
            )
            for name, model in self.models.items()
        ]

    def summary(self) -> str:
        """Return the result in a sentence or two."""
        return " ".join(_in_words(IN_WORDS[name], model) for name, model in self.models.items())


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _in_words(name: str, model: Discrimination) -> str:
    right = percent(model.accuracy)
    found = f"{_capital(name)} tells which table a record is from in {right} of cases"
    if math.isnan(model.permuted_accuracy):
        return f"{found}; guessing is right in 50%."
    ratio = model.permutation.ratio
    much = "" if math.isnan(ratio) else f" (its pMSE is {ratio:.2f} times that of shuffled records)"
    chance = percent(model.permuted_accuracy)
    return f"{found}. With the records shuffled between the tables, it is right in {chance}{much}."


def propensity(  # noqa: PLR0913  # the tables, the models, and how chance is measured
    original: Frame | CodedTables,
    synthetic: Frame | None = None,
    *,
    models: str | Sequence[str] = MODELS,
    columns: str | Sequence[str] | None = None,
    interactions: bool = False,
    permutations: int = 25,
    most_records: int = 50_000,
    random_state: int = 0,
) -> Propensity:
    """Measure how well models tell synthetic records from original ones.

    Both tables are put together, and each model learns which records are synthetic. The better the
    synthesis, the nearer is the predicted probability to the share of synthetic records; the mean
    squared difference is the pMSE. Beside it stands what it is when there is nothing to tell.

    Parameters
    ----------
    original, synthetic : frame
        The original table and the release. Tables that are coded already stand for both, as
        `CodedTables` in place of the original.
    models : sequence of {"cart", "logistic"}
        A decision tree, which finds differences of any kind, and a logistic regression, which
        finds differences of means and shares.
    columns : sequence of str, optional
        The columns to compare; all columns of the original if not given.
    interactions : bool
        Whether the logistic regression has the products of all pairs of columns too, and so finds
        differences of associations.
    permutations : int
        How often the labels are shuffled to see what there is to tell by chance.
    most_records : int
        Larger tables are compared by a random sample of so many records of both together.
    random_state : int
        The seed of the shuffles, of the sample, and of the tree where splits are equally good.

    Returns
    -------
    Propensity
        The pMSE of each model with its references.

    Raises
    ------
    ParameterError
        If an argument cannot be used, or a table lacks a column.
    DataError
        If a table has no rows, or tables hold values that cannot be compared.

    Notes
    -----
    With N records together, a share c of them synthetic, and the probabilities p of a model, the
    pMSE is the mean of (p - c)² [1]_. Its two references answer different questions.

    *Permutation*: the labels are shuffled among all records, and the model is fitted again. This
    is what two samples of the same people would give, and so the reference for data that might be
    such a sample. It is there for all models.

    *Analytic*, for logistic regression with k parameters: mean (k - 1)(1 - c)² c / N and standard
    deviation sqrt(2 (k - 1)) (1 - c)² c / N [2]_. This is what a synthesis from the right model,
    fitted to this very original, would give. It is 1 - c times the former, one half for tables of
    one size, because only the synthetic records vary by chance: what is about 1 as a ratio to the
    permutation is about 2 here. k counts the coefficients that can be told apart.

    A copy has a pMSE of 0, less than chance gives: a low pMSE says that a release is useful, not
    that it is safe.

    The tree has at most 100 leaves with at least 20 records each (a twentieth of the records if
    that is less), and is shown numbers by size and other levels by their place in order. The
    logistic regression is shown standardised numbers, with an indicator for missing ones, and an
    indicator for each other level; rare levels beyond 50 of a column, or fewer if there are many
    columns, share one, which `reasons` says. It has next to no penalty.

    References
    ----------
    .. [1] Woo, Reiter, Oganian, Karr (2009). Global measures of data utility for microdata masked
       for disclosure limitation. Journal of Privacy and Confidentiality 1,
       doi:10.29012/jpc.v1i1.568
    .. [2] Snoke, Raab, Nowok, Dibben, Slavkovic (2018). General and specific utility measures for
       synthetic data. Journal of the Royal Statistical Society A 181, doi:10.1111/rssa.12358

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"sex": ["f", "m", "f", "m"], "age": [20, 30, 40, 50]})
    >>> other = table.with_columns(age=pl.col("age") + 100)
    >>> result = propensity(table, other, models="logistic", permutations=5)
    >>> round(result.models["logistic"].pmse, 3)
    0.25
    """
    chosen = _chosen(models)
    check_whole("permutations", permutations, 0)
    check_whole("most_records", most_records, 2)
    seed = check_seed(random_state)
    both = compared(tables_of(original, synthetic), columns)
    both = both.select(columns=sorted(both.columns))
    codes, labels = _records(both, most_records, seed)
    reasons = _reasons(both, len(labels), interactions=interactions, models=chosen)
    levels = list(both.levels.values())
    found = {}
    for name in chosen:
        model: Model = (
            Tree.of(codes, levels, seed)
            if name == "cart"
            else Logistic.of(codes, levels, interactions=interactions)
        )
        rng = np.random.default_rng([seed, MODELS.index(name)])
        found[name] = _measured(name, model, labels, permutations, rng)
        _explain(name, found[name], permutations, reasons)
    return Propensity(
        columns=both.columns,
        records=len(both["original"]),
        synthetic_records=len(both["synthetic"]),
        used=int((~labels).sum()),
        synthetic_used=int(labels.sum()),
        share=float(labels.mean()),
        permutations=int(permutations),
        interactions=bool(interactions),
        models=found,
        reasons=reasons,
        _backend=both.backend,
    )


def _chosen(models: str | Sequence[str]) -> tuple[str, ...]:
    chosen = as_names(models)
    unknown = [name for name in chosen if name not in MODELS]
    if unknown or not chosen:
        hint = did_you_mean(str(unknown[0]), MODELS) if unknown else ""
        raise ParameterError(f"models are among {', '.join(MODELS)}; got {models!r}.{hint}")
    return tuple(dict.fromkeys(chosen))


def _records(
    both: CodedTables, most: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the records of both tables as rows of codes, and which of them are synthetic."""
    tables = [both["original"], both["synthetic"]]
    total = sum(map(len, tables))
    if total > most:
        rng = np.random.default_rng([seed, len(MODELS)])
        # At least one of each, however much larger the other table is.
        first = min(max(round(most * len(tables[0]) / total), 1), most - 1)
        tables = [
            _sample(table, size, rng)
            for table, size in zip(tables, (first, most - first), strict=True)
        ]
    stacked = Coded.concatenate(tables)
    labels = np.arange(len(stacked)) >= len(tables[0])
    order = content_order(stacked)
    # Among equal records the original ones come first, so the order of the tables has no part.
    codes = np.column_stack([column[order].astype(np.int64) for column in stacked.columns])
    return codes, labels[order]


def _sample(table: Coded, size: int, rng: np.random.Generator) -> Coded:
    rows = content_order(table)
    return table.take(rng.choice(rows, min(size, len(rows)), replace=False))


def _measured(
    name: str,
    model: Model,
    labels: NDArray[np.bool_],
    permutations: int,
    rng: np.random.Generator,
) -> Discrimination:
    probabilities, parameters = model.fit(labels)
    pmse, accuracy, auc = _scores(probabilities, labels)
    drawn = []
    for _ in track(range(permutations), f"Shuffling records ({name})"):
        shuffled = rng.permutation(labels)
        drawn.append(_scores(model.fit(shuffled)[0], shuffled))
    pmses, accuracies, aucs = zip(*drawn, strict=True) if drawn else ((), (), ())
    analytic = _analytic(pmse, parameters, labels) if name == "logistic" else None
    return Discrimination(
        pmse=pmse,
        permutation=Null.drawn(pmse, pmses),
        analytic=analytic,
        parameters=parameters,
        accuracy=accuracy,
        permuted_accuracy=float(np.mean(accuracies)) if drawn else math.nan,
        auc=auc,
        permuted_auc=float(np.mean(aucs)) if drawn else math.nan,
    )


def _scores(
    probabilities: NDArray[np.float64], labels: NDArray[np.bool_]
) -> tuple[float, float, float]:
    """Return pMSE, accuracy and the area under the curve."""
    from scipy.stats import rankdata

    share = labels.mean()
    apart = probabilities - share
    # Probabilities that are even but for rounding must not count as a guess.
    guess = np.where(np.abs(apart) < 1e-9, 0.5, apart > 0)
    accuracy = (guess[labels].mean() + (1 - guess[~labels]).mean()) / 2
    synthetic = int(labels.sum())
    ranks = rankdata(np.round(probabilities, 9))[labels].sum()
    pairs = synthetic * (len(labels) - synthetic)
    auc = (ranks - synthetic * (synthetic + 1) / 2) / pairs
    return float(np.mean(apart**2)), float(accuracy), float(auc)


def _analytic(pmse: float, parameters: int, labels: NDArray[np.bool_]) -> Null:
    share, total = float(labels.mean()), len(labels)
    unit = (1 - share) ** 2 * share / total
    return Null.of(pmse, (parameters - 1) * unit, math.sqrt(2 * (parameters - 1)) * unit)


def _reasons(
    both: CodedTables, used: int, *, interactions: bool, models: Sequence[str]
) -> dict[str, str]:
    reasons = {}
    total = sum(map(len, both.tables.values()))
    if used < total:
        reasons["records"] = f"A random sample of {used:,} of the {total:,} records was compared."
    if "logistic" in models:
        indicators = shared_indicators(list(both.levels.values()))
        for (name, levels), most in zip(both.levels.items(), indicators, strict=True):
            if levels.numbers is None and most < len(levels):
                reasons[f"column {name}"] = (
                    f"It has {len(levels):,} levels. The logistic regression takes all but the "
                    f"{most - 1} most frequent for one."
                )
    if interactions and "logistic" not in models:
        reasons["interactions"] = "Interactions are for the logistic regression alone."
    return reasons


def _explain(name: str, model: Discrimination, permutations: int, reasons: dict[str, str]) -> None:
    """Say why a reference is undefined."""
    if permutations < 2:
        reasons[f"{name}.permutation"] = (
            "The labels were not shuffled, so there is nothing to compare with."
            if permutations == 0
            else "The labels were shuffled once, so there is no standard deviation."
        )
    elif math.isnan(model.permutation.ratio) or math.isnan(model.permutation.standardised):
        reasons[f"{name}.permutation"] = (
            "Shuffled labels give the same pMSE each time: the columns do not vary, or there are "
            "too few records."
        )
    if model.analytic is not None and math.isnan(model.analytic.ratio):
        reasons[f"{name}.analytic"] = "No column varies, so there is nothing to tell."
