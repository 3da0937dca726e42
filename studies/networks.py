"""The utility experiments of the paper on networks: train on synthetic, test on real records.

``python -m studies utility-cmc`` and ``... utility-adult`` print their tables.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars import selectors

from studies.utility_tables import (
    CLASSIFIERS,
    ORIGINAL,
    TABLE_V,
    TABLE_VI,
    Row,
    UtilityTable,
    published,
)
from understudy.data import Schema, fetch, load
from understudy.data.joint_coding import code_together
from understudy.errors import ParameterError
from understudy.learning.classifiers import encode
from understudy.progress import track
from understudy.synthesis import BayesNet
from understudy.utility.prediction import papers_models

Coding = Literal["paper", "understudy"]
Structure = Literal["genetic", "greedy"]
ADULT_DROPPED = ("fnlwgt", "education")
"""The columns of Adult that are not in the file that the paper's authors publish."""


@dataclass(frozen=True)
class _Run:
    """One training set, what is made of it, and the records that the classifiers are tested on."""

    row: Row
    seed: int
    train: pl.DataFrame
    test: pl.DataFrame
    target: str
    coding: Coding
    trees: int
    classifiers: tuple[str, ...] = CLASSIFIERS

    def scores(self) -> dict[tuple[Row, str], float]:
        train = self.train if self.row == ORIGINAL else self._synthesize()
        features, test_features = _features(train, self.test, self.target)
        truth = self.test[self.target].to_numpy()
        found = {}
        models = dict(zip(CLASSIFIERS, papers_models(self.trees).values(), strict=True))
        for name in self.classifiers:
            model = models[name].new(self.seed, len(train), ())
            model.fit(features, train[self.target].to_numpy())
            found[self.row, name] = 100 * float(np.mean(model.predict(test_features) == truth))
        return found

    def _synthesize(self) -> pl.DataFrame:
        structure, parents = self.row
        like_paper = self.coding == "paper"
        schema = Schema.infer(self.train, binning="width", special_share=1) if like_paper else None
        model = BayesNet(
            parents=parents,
            structure=structure,  # type: ignore[arg-type]  # checked when it is fitted
            decode="uniform" if like_paper else "interpolate",
            random_state=self.seed,
        )
        table: pl.DataFrame = model.fit(self.train, schema).sample()
        return table


def _features(
    train: pl.DataFrame, test: pl.DataFrame, target: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the predictors of both tables, as the labels' places in order, standardised."""
    names = [name for name in train.columns if name != target]
    tables = {"training": _labelled(train), "test": _labelled(test)}
    # A level that only one of the tables has must not shift the others.
    together = code_together(tables, names)
    codes, test_codes = (
        np.column_stack([together[table][name].astype(np.int64) for name in names])
        for table in tables
    )
    return encode("standardised", codes, test_codes, [together.levels[name] for name in names])


def _labelled(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with text for all that is no number, in the order of the alphabet.

    Missing is a level of its own, the first, as the "?" of the raw file of Adult.
    """
    return table.with_columns((~selectors.numeric()).cast(pl.String).fill_null(""))


def utility_cmc(
    parents: Sequence[int] = (1, 2, 3, 4),
    structures: Sequence[Structure] = ("genetic", "greedy"),
    *,
    seeds: int = 10,
    coding: Coding = "paper",
    trees: int = 100,
    processes: int = 1,
) -> UtilityTable:
    """Return Table V: who uses which contraception, learnt from synthetic data.

    Parameters
    ----------
    parents : sequence of int
        The values of k, from 1 to 4.
    structures : sequence of {"genetic", "greedy"}
        How the networks are found.
    seeds : int
        Random splits into 80 % for training and 20 % for the test, each with its own synthesis.
    coding : {"paper", "understudy"}
        How numbers become bins and bins numbers: 20 of equal width and an even draw inside them,
        as in DataSynthesizer, or our own defaults.
    trees : int
        Of the random forest: scikit-learn's standard is 100, and was 10 until version 0.22.
    processes : int
        Runs at the same time; the result does not depend on it.

    References
    ----------
    .. [1] Hittmeir, Mayer, Ekelhart (2022). Efficient Bayesian network construction for increased
       privacy on synthetic data. IEEE Big Data, doi:10.1109/BigData55660.2022.10020936
    """
    from sklearn.model_selection import train_test_split

    rows = _rows(parents, structures)
    survey = load("cmc")
    runs = []
    for seed in range(_at_least_one("seeds", seeds)):
        train, test = train_test_split(np.arange(len(survey)), test_size=0.2, random_state=seed)
        first = _Run(ORIGINAL, seed, survey[train], survey[test], "method", coding, trees)
        runs += [replace(first, row=row) for row in rows]
    return UtilityTable(_collect(runs, processes), published(TABLE_V), paper_runs=10)


def utility_adult(  # noqa: PLR0913  # what the paper leaves open, and what is slow
    parents: Sequence[int] = (1, 2, 3, 4),
    structures: Sequence[Structure] = ("genetic", "greedy"),
    *,
    seeds: int = 10,
    svm_seeds: int = 3,
    coding: Coding = "paper",
    trees: int = 100,
    drop: Sequence[str] = ADULT_DROPPED,
    processes: int = 1,
) -> UtilityTable:
    """Return Table VI: who earns more than 50,000 dollars, learnt from synthetic data.

    Parameters
    ----------
    parents, structures, coding, trees, processes
        As for `utility_cmc`.
    seeds : int
        Syntheses of the training part of the predefined split. The original needs one run.
    svm_seeds : int
        In how many of them the support vector machine takes part; it takes most of the time.
    drop : sequence of str
        Columns that are left out; the paper does not name them.

    Raises
    ------
    DataError
        When there is no file of Adult; see `fetch`.
    """
    rows = _rows(parents, structures)
    train, test = (fetch(part).drop(drop) for part in ("adult_train", "adult_test"))
    original = _Run(ORIGINAL, 0, train, test, "income", coding, trees)
    runs = _on_one_split(original, rows, _at_least_one("seeds", seeds), svm_seeds)
    return UtilityTable(_collect(runs, processes), published(TABLE_VI), paper_runs=1)


def _on_one_split(original: _Run, rows: Sequence[Row], seeds: int, svm_seeds: int) -> list[_Run]:
    """Return a run on the original, and as many as there are seeds for each other row."""
    runs = [original]
    without_svm = tuple(name for name in original.classifiers if name != "SV")
    for seed in range(seeds):
        classifiers = original.classifiers if seed < max(svm_seeds, 1) else without_svm
        runs += [
            replace(original, row=row, seed=seed, classifiers=classifiers)
            for row in rows
            if row != ORIGINAL
        ]
    return runs


def _rows(parents: Sequence[int], structures: Sequence[str]) -> list[Row]:
    rows = [ORIGINAL, *((structure, k) for k in parents for structure in structures)]
    known = {row for row, _ in published(TABLE_V)}
    if unknown := [row for row in rows if row not in known]:
        structure, k = unknown[0]
        raise ParameterError(
            f"The paper has no row for structure {structure!r} with k = {k!r}; "
            "it has genetic and greedy, for k from 1 to 4."
        )
    return rows


def _at_least_one(name: str, value: int) -> int:
    if value < 1:
        raise ParameterError(f"{name} is a whole number from 1; got {value!r}.")
    return value


def _collect(runs: Sequence[_Run], processes: int) -> dict[tuple[Row, str], tuple[float, ...]]:
    # In the order of the paper's columns, whichever run had which classifiers.
    rows = dict.fromkeys(run.row for run in runs)
    scores: dict[tuple[Row, str], tuple[float, ...]] = {
        (row, name): () for row in rows for name in CLASSIFIERS
    }
    with _mapped(runs, _at_least_one("processes", processes)) as results:
        for found in track(results, "Training classifiers", len(runs)):
            for cell, score in found.items():
                scores[cell] += (score,)
    return scores


@contextmanager
def _mapped(
    runs: Sequence[_Run], processes: int
) -> Iterator[Iterable[dict[tuple[Row, str], float]]]:
    if processes == 1:
        yield map(_Run.scores, runs)
        return
    # A forked process would inherit the locks of polars' threads.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        yield pool.map(_Run.scores, runs)
