"""Propensity: how well a model tells which records are synthetic."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.counting.groups import as_names
from understudy.data import Coded
from understudy.data.frames import Frame, to_narwhals
from understudy.data.joint_coding import CodedTables, code_together
from understudy.errors import DataError, ParameterError, did_you_mean, unknown_columns
from understudy.progress import track
from understudy.utility.arguments import check_whole
from understudy.utility.draws import check_seed, content_order
from understudy.utility.propensity_models import Logistic, Model, Tree, shared_indicators
from understudy.utility.propensity_result import Discrimination, Null, Propensity

MODELS = ("cart", "logistic")


def propensity(  # noqa: PLR0913  # the tables, the models, and how chance is measured
    original: Frame,
    synthetic: Frame,
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
        The original table and the release.
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
    known = to_narwhals(original).columns
    names = tuple(known) if columns is None else as_names(columns)
    unknown = unknown_columns(names, known)
    if unknown:
        raise ParameterError(f"columns: {' '.join(unknown)}")
    names = tuple(sorted(names))
    if not names:
        raise ParameterError("There is no column to compare; name at least one.")
    together = code_together({"original": original, "synthetic": synthetic}, names)
    for table, coded in together.tables.items():
        if not len(coded):
            raise DataError(f"The {table} table has no rows.")
    codes, labels = _records(together, most_records, seed)
    reasons = _reasons(together, len(labels), interactions=interactions, models=chosen)
    levels = [together.levels[name] for name in names]
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
        columns=names,
        records=len(together["original"]),
        synthetic_records=len(together["synthetic"]),
        used=int((~labels).sum()),
        synthetic_used=int(labels.sum()),
        share=float(labels.mean()),
        permutations=int(permutations),
        interactions=bool(interactions),
        models=found,
        reasons=reasons,
    )


def _chosen(models: str | Sequence[str]) -> tuple[str, ...]:
    chosen = as_names(models)
    unknown = [name for name in chosen if name not in MODELS]
    if unknown or not chosen:
        hint = did_you_mean(str(unknown[0]), MODELS) if unknown else ""
        raise ParameterError(f"models are among {', '.join(MODELS)}; got {models!r}.{hint}")
    return tuple(dict.fromkeys(chosen))


def _records(
    together: CodedTables, most: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the records of both tables as rows of codes, and which of them are synthetic."""
    tables = [together["original"], together["synthetic"]]
    total = sum(map(len, tables))
    if total > most:
        rng = np.random.default_rng([seed, len(MODELS)])
        # At least one of each, however much larger the other table is.
        first = min(max(round(most * len(tables[0]) / total), 1), most - 1)
        tables = [
            _sample(table, size, rng)
            for table, size in zip(tables, (first, most - first), strict=True)
        ]
    both = Coded.concatenate(tables)
    labels = np.arange(len(both)) >= len(tables[0])
    order = content_order(both)
    # Among equal records the original ones come first, so the order of the tables has no part.
    codes = np.column_stack([column[order].astype(np.int64) for column in both.columns])
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
    together: CodedTables, used: int, *, interactions: bool, models: Sequence[str]
) -> dict[str, str]:
    reasons = {}
    total = sum(map(len, together.tables.values()))
    if used < total:
        reasons["records"] = f"A random sample of {used:,} of the {total:,} records was compared."
    if "logistic" in models:
        indicators = shared_indicators(list(together.levels.values()))
        for (name, levels), most in zip(together.levels.items(), indicators, strict=True):
            if levels.numbers is None and most < len(levels):
                reasons[f"column {name}"] = (
                    f"It has {len(levels):,} levels: for the logistic regression, all but the "
                    f"{most - 1} most frequent are one."
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
