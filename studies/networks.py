"""The utility experiments of the paper on networks: train on synthetic, test on real records.

``python -m studies utility-cmc`` and ``... utility-adult`` print their tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars import selectors

from studies.reproduction.printed import Printed as Published
from studies.reproduction.printed import printed_tables
from studies.reproduction.training import guessed, plainly
from understudy.arguments import check_whole
from understudy.data import Schema, fetch, load
from understudy.data.joint_coding import code_together
from understudy.errors import ParameterError
from understudy.learning.classifiers import encode
from understudy.learning.jobs import mapped
from understudy.progress import track
from understudy.synthesis import BayesNet
from understudy.utility.prediction import papers_models
from understudy.wording import markdown_table

Coding = Literal["paper", "understudy"]
Structure = Literal["genetic", "greedy"]
ADULT_DROPPED = ("fnlwgt", "education")
"""Columns of Adult that are left out: a weight, and what `education_num` repeats."""
Row = tuple[str, int]
"""A row of a table: where the training data comes from, and k (0 for the original)."""

CLASSIFIERS = ("NB", "SV", "KN", "RF", "LR")
ORIGINAL: Row = ("original", 0)
_TOOLS: dict[str, Structure] = {"DS": "greedy", "DS GA": "genetic"}
"""The searches by the paper's names."""


def published(table: str) -> dict[tuple[Row, str], Published]:
    """Return the cells of a table of the paper, such as "2022-5", by row and classifier.

    Examples
    --------
    >>> published("2022-5")[("genetic", 3), "NB"]
    Printed(mean=47.1, std=2.5)
    """
    cells = {}
    for (row, classifier), printed in printed_tables()[table].cells().items():
        if classifier in CLASSIFIERS:
            parents, _, tool = row.partition(": ")
            own = ORIGINAL if not tool else (_TOOLS[tool], int(parents))
            cells[own, classifier] = printed
    return cells


@dataclass(frozen=True)
class UtilityTable:
    """Accuracies of classifiers on real test data, by what they were trained on.

    Attributes
    ----------
    scores : mapping from (row, classifier) to tuple of float
        Accuracies in percent, one for each run.
    paper : mapping from (row, classifier) to Published
        The paper's figures.
    paper_runs : int
        Over how many runs the paper's figures are means.
    """

    scores: Mapping[tuple[Row, str], tuple[float, ...]]
    paper: Mapping[tuple[Row, str], Published]
    paper_runs: int

    def to_frame(self) -> pl.DataFrame:
        """Return one line for each row of the table and classifier, beside the paper's figure.

        Standard deviations are those of the population (ddof 0). `z` is the difference of the two
        means divided by its standard error; a single run of the paper is taken to vary as ours do.
        It is null where nothing varies, or was run once.
        """
        lines = [self._line(row, classifier) for row, classifier in self.scores]
        return pl.DataFrame(lines, infer_schema_length=None)

    def _line(self, row: Row, classifier: str) -> dict[str, Any]:
        runs = self.scores[row, classifier]
        mean, std = float(np.mean(runs)), float(np.std(runs))
        paper = self.paper[row, classifier]
        paper_std = std if np.isnan(paper.std) else paper.std
        error = float(np.sqrt(std**2 / len(runs) + paper_std**2 / self.paper_runs))
        return {
            "training": row[0],
            "parents": row[1],
            "classifier": classifier,
            "runs": len(runs),
            "mean": mean,
            "std": std,
            "paper": paper.mean,
            "difference": mean - paper.mean,
            "z": (mean - paper.mean) / error if len(runs) > 1 and std > 0 else None,
        }

    def averages(self) -> pl.DataFrame:
        """Return the mean over the classifiers for each row, the last column of the paper."""
        return (
            self.to_frame()
            .group_by("training", "parents", maintain_order=True)
            .agg(pl.col("mean", "paper", "difference").mean())
        )

    def to_markdown(self) -> str:
        """Return the table as in the paper, with the paper's figure behind each of ours."""
        lines = []
        frame = self.to_frame()
        for source, parents, mean, paper, _ in self.averages().iter_rows():
            cells = frame.filter(training=source, parents=parents).iter_rows(named=True)
            name = f"{source}, k = {parents}" if parents else source
            lines.append([name, *map(_cell, cells), f"{mean:.1f} ({paper:.1f})"])
        return markdown_table(["", *CLASSIFIERS, "Avg"], lines)


def _cell(line: Mapping[str, Any]) -> str:
    spread = f" ± {line['std']:.1f}" if line["runs"] > 1 else ""
    return f"{line['mean']:.1f}{spread} ({line['paper']:.1f})"


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
    protect: Mapping[str, str | None] | None = None

    def scores(self) -> dict[tuple[Row, str], float]:
        train = self.train if self.row == ORIGINAL else self._synthesize()
        features, test_features = features_of(train, self.test, self.target)
        truth = self.test[self.target].to_numpy()
        found = {}
        models = dict(zip(CLASSIFIERS, papers_models(self.trees).values(), strict=True))
        for name in self.classifiers:
            labels = train[self.target].to_numpy()
            with plainly():
                guesses = guessed(models[name], features, labels, test_features, self.seed)
            found[self.row, name] = 100 * float(np.mean(guesses == truth))
        return found

    def _synthesize(self) -> pl.DataFrame:
        structure, parents = self.row
        like_paper = self.coding == "paper"
        coding: dict[str, Any] = {"binning": "width", "special_share": 1} if like_paper else {}
        # The paper's networks know of no dependencies between columns.
        schema = Schema.infer(self.train, dependencies=False, **coding)
        model = BayesNet(
            parents=parents,
            structure=structure,  # type: ignore[arg-type]  # checked when it is fitted
            smoothing=0,  # the paper's networks draw from the records as they are
            protect=self.protect,
            decode="uniform" if like_paper else "interpolate",
            random_state=self.seed,
        )
        table: pl.DataFrame = model.fit(self.train, schema).sample()
        return table


def features_of(
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
    protect: Mapping[str, str | None] | None = None,
) -> UtilityTable:
    """Return Table V: who uses which contraception, learnt from synthetic data.

    Parameters
    ----------
    parents : sequence of int
        The values of k, from 1 to 4.
    structures : sequence of {"genetic", "greedy"}
        How the networks are found.
    seeds : int
        Random splits, 80% for training and 20% for testing, each with its own synthesis.
    coding : {"paper", "understudy"}
        How numbers become bins and bins numbers: 20 of equal width and an even draw inside them,
        as in DataSynthesizer, or our own defaults.
    trees : int
        Of the random forest: scikit-learn's standard is 100, and was 10 until version 0.22.
    processes : int
        Runs at the same time; the result does not depend on it.
    protect : mapping, optional
        Sensitive columns and their targets, for the custom networks of Table XI.

    References
    ----------
    .. [1] Hittmeir, Mayer, Ekelhart (2022). Efficient Bayesian network construction for increased
       privacy on synthetic data. IEEE Big Data, doi:10.1109/BigData55660.2022.10020936
    """
    from sklearn.model_selection import train_test_split

    rows = _rows(parents, structures)
    survey = load("cmc")
    runs = []
    for seed in range(check_whole("seeds", seeds, 1)):
        train, test = train_test_split(np.arange(len(survey)), test_size=0.2, random_state=seed)
        first = _Run(
            ORIGINAL, seed, survey[train], survey[test], "method", coding, trees, protect=protect
        )
        # Nothing is protected in the original, which has its row in another table.
        runs += [replace(first, row=row) for row in rows if not protect or row != ORIGINAL]
    return UtilityTable(_collect(runs, processes), published("2022-5"), paper_runs=10)


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
    protect: Mapping[str, str | None] | None = None,
    original_seeds: int = 1,
) -> UtilityTable:
    """Return Table VI: who earns more than 50,000 dollars, learnt from synthetic data.

    Parameters
    ----------
    parents, structures, coding, trees, processes, protect
        As for `utility_cmc`.
    seeds : int
        Syntheses of the training part of the predefined split.
    svm_seeds : int
        In how many of them the support vector machine takes part; it takes most of the time.
    drop : sequence of str
        Columns that are left out; the paper does not name them.
    original_seeds : int
        How often to train the random forest on the original; the others leave nothing to chance,
        and are trained once. 0 leaves the original out.

    Raises
    ------
    DataError
        When there is no file of Adult; see `fetch`.
    """
    rows = _rows(parents, structures)
    train, test = (fetch(part).drop(drop) for part in ("adult_train", "adult_test"))
    original = _Run(ORIGINAL, 0, train, test, "income", coding, trees, protect=protect)
    check_whole("seeds", seeds, 1)
    runs = _on_one_split(original, rows, seeds, svm_seeds, original_seeds)
    return UtilityTable(_collect(runs, processes), published("2022-6"), paper_runs=1)


def _on_one_split(
    original: _Run, rows: Sequence[Row], seeds: int, svm_seeds: int, original_seeds: int
) -> list[_Run]:
    """Return the runs on the original, and as many as there are seeds for each other row."""
    runs = [original][:original_seeds]
    runs += [replace(original, seed=seed, classifiers=("RF",)) for seed in range(1, original_seeds)]
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
    known = {row for row, _ in published("2022-5")}
    if unknown := [row for row in rows if row not in known]:
        structure, k = unknown[0]
        raise ParameterError(
            f"The paper has no row for structure {structure!r} with k = {k!r}; "
            "it has genetic and greedy, for k from 1 to 4."
        )
    return rows


def _collect(runs: Sequence[_Run], processes: int) -> dict[tuple[Row, str], tuple[float, ...]]:
    # In the order of the paper's columns, whichever run had which classifiers.
    rows = dict.fromkeys(run.row for run in runs)
    scores: dict[tuple[Row, str], tuple[float, ...]] = {
        (row, name): () for row in rows for name in CLASSIFIERS
    }
    check_whole("processes", processes, 1)
    with mapped(_Run.scores, runs, processes, must_travel=None) as results:
        for found in track(results, "Training classifiers", len(runs)):
            for cell, score in found.items():
                scores[cell] += (score,)
    return scores
