"""The tables of the paper of 2022: run times, use and attack of networks, plain and custom."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from studies.networks import (
    CLASSIFIERS,
    ORIGINAL,
    UtilityTable,
    features_of,
    utility_adult,
    utility_cmc,
)
from studies.reproduction.classifiers import Labels, models_of, scores
from studies.reproduction.found import STAND_IN, Found, machine
from studies.reproduction.printed import f2_score
from studies.reproduction.releases import paper_schema
from studies.reproduction.training import guessed, plainly
from understudy.data import fetch, load, simulate
from understudy.errors import DataError
from understudy.learning.jobs import mapped
from understudy.progress import quietly, track
from understudy.synthesis import BayesNet
from understudy.utility.prediction import papers_models

Search = Literal["greedy", "genetic"]
SEARCHES: dict[str, Search] = {"DS": "greedy", "DS GA": "genetic"}
ATTACKERS = ("NB", "SV", "KN", "RF", "LR")
TREES = 100
"""Of a random forest in scikit-learn since version 0.22."""
CMC_KEYS = ("age", "education", "children", "religion", "working")
ADULT_KEYS = ("age", "workclass", "occupation", "race", "sex")
DROPPED = ("fnlwgt", "education")


def network(
    table: pl.DataFrame,
    parents: int,
    structure: Search,
    seed: int,
    protect: Mapping[str, str | None] | None = None,
    generations: int = 400,
) -> BayesNet:
    """Return a network as the paper fits it."""
    with quietly():
        return BayesNet(
            parents,
            structure,
            smoothing=0,
            decode="uniform",
            protect=protect,
            generations=generations,
            random_state=seed,
        ).fit(table, paper_schema(table))


def _times(
    name: str, table: pl.DataFrame, degrees: Sequence[int], generations: int, repeats: int
) -> Found:
    """Return the times of description and generation, in CPU seconds of one thread."""
    found = Found(notes=[f"Times are CPU seconds of one thread on {machine()}."])
    jobs = [(row, k, seed) for k in degrees for row in SEARCHES for seed in range(repeats)]
    network(table.head(200), 1, "greedy", 0).sample(10)  # compiles the kernels
    for row, parents, seed in track(jobs, "Timing searches"):
        start = time.process_time()
        model = network(table, parents, SEARCHES[row], seed, generations=generations)
        fitted = time.process_time()
        model.sample()
        drawn = time.process_time()
        found.add(name, f"{row}, description", f"k={parents}", fitted - start)
        found.add(name, f"{row}, generation", f"k={parents}", drawn - fitted)
    return found


def cmc_times(syntheses: int, processes: int) -> Found:  # noqa: ARG001  # times of one thread
    """Return Table II."""
    return _times("2022-2", load("cmc"), (1, 2, 3, 4), 400, syntheses)


def adult_times(syntheses: int, processes: int) -> Found:  # noqa: ARG001  # times of one thread
    """Return Table III, from files of Adult."""
    return _times("2022-3", fetch("adult").drop(DROPPED), (1, 2, 3, 4), 400, syntheses)


def card_times(syntheses: int, processes: int) -> Found:  # noqa: ARG001  # times of one thread
    """Return Table IV, from the file of card payments, or from the stand-in."""
    table, note = _payments()
    times = min(syntheses, _CARD_SYNTHESES)
    found = _times("2022-4", table, (1, 2, 3), 2000, times)
    found.notes += [f"Each search ran {times} times.", *[note] * bool(note)]
    return found


def _payments() -> tuple[pl.DataFrame, str]:
    try:
        return fetch("credit_card"), ""
    except DataError as error:
        note = (
            f"{STAND_IN} There is no file of the card payments, so a simulated table of the same "
            f"shape stands in for it. {_origin(error)}"
        )
        return simulate("credit_card"), note


def _origin(error: DataError) -> str:
    """Return where to get a table, of the message that there is no file of it."""
    return next((line for line in str(error).splitlines() if line.startswith("Get ")), "")


def _taken(name: str, table: UtilityTable, rows: Mapping[tuple[str, int], str]) -> Found:
    found = Found()
    for (row, classifier), runs in table.scores.items():
        if row in rows:
            # What leaves nothing to chance ran once, and would be the same again.
            times = len(table.scores[row, "RF"]) if row == ORIGINAL and len(runs) == 1 else 1
            found.add(name, rows[row], classifier, *runs * times)
    found.add_mean(name, "Avg", CLASSIFIERS)
    return found


_ROWS = {ORIGINAL: "Original"} | {
    (search, k): f"{k}: {name}" for k in (1, 2, 3, 4) for name, search in SEARCHES.items()
}


def cmc_utility(syntheses: int, processes: int) -> Found:
    """Return Tables V and XI: what classifiers learn of the contraceptive method."""
    found = _taken("2022-5", utility_cmc(seeds=syntheses, processes=processes), _ROWS)
    custom = utility_cmc(
        (4,), ("genetic",), seeds=syntheses, processes=processes,
        protect={"husband_education": "method"},
    )  # fmt: skip
    found.take(_taken("2022-11", custom, {("genetic", 4): "DSc"}))
    _same(found, "2022-5", "4: DS GA", "2022-11", "DS")
    return found


def _same(found: Found, table: str, row: str, other: str, name: str) -> None:
    """Take over a row that two tables share."""
    for column, runs in found.runs[table].get(row, {}).items():
        found.add(other, name, column, *runs)


def adult_utility(parents: int) -> Callable[[int, int], Found]:
    """Return what makes the rows of Tables VI and XII with so many parents, from files of Adult.

    There are three syntheses, two of them with SV. The first of these runs has the original.
    """

    def run(syntheses: int, processes: int) -> Found:
        table = utility_adult(
            (parents,),
            seeds=min(syntheses, _ADULT_SYNTHESES),
            svm_seeds=_SVM_SYNTHESES,
            processes=processes,
            original_seeds=min(syntheses, _ADULT_SYNTHESES) if parents == 1 else 0,
        )
        found = _taken("2022-6", table, _ROWS)
        if parents == 4:
            _same(found, "2022-6", "4: DS GA", "2022-12", "DS")
        found.notes.append(_FEWER)
        return found

    return run


def adult_custom(syntheses: int, processes: int) -> Found:
    """Return the custom row of Table XII, from files of Adult."""
    table = utility_adult(
        (4,),
        ("genetic",),
        seeds=min(syntheses, _ADULT_SYNTHESES),
        svm_seeds=_SVM_SYNTHESES,
        processes=processes,
        protect={"relationship": "income"},
        original_seeds=0,
    )
    found = _taken("2022-12", table, {("genetic", 4): "DSc"})
    found.notes.append(_FEWER)
    return found


_ADULT_SYNTHESES = 3
_SVM_SYNTHESES = 2
_FEWER = (
    f"{_ADULT_SYNTHESES} syntheses of each row, {_SVM_SYNTHESES} of them with SV and so with an "
    "average, because SV takes most of the time."
)
_CARD_SYNTHESES = 2


@dataclass(frozen=True)
class _Frauds:
    """One training table of card payments, or what a network makes of it, and the test records."""

    row: str
    parents: int
    search: Search
    seed: int
    train: pl.DataFrame
    test: pl.DataFrame

    def scores(self) -> Found:
        made = self.train
        if self.parents:
            made = network(self.train, self.parents, self.search, self.seed).sample()
        shown, asked = features_of(made, self.test, "Class")
        truth, labels = self.test["Class"].to_numpy(), made["Class"].to_numpy()
        found = Found()
        for name, model in zip(ATTACKERS, papers_models(TREES).values(), strict=True):
            guess = np.zeros_like(truth)
            if len(np.unique(labels)) > 1:
                with plainly():
                    guess = guessed(model, shown, labels, asked, self.seed)
            matrix = confusion_counts(truth, guess)
            found.add("2022-7", self.row, name, f2_score(*matrix))
        return found


def confusion_counts(truth: Labels, guess: Labels) -> tuple[float, float, float, float]:
    """Return how many are true negatives, false positives, false negatives and true positives.

    Examples
    --------
    >>> confusion_counts(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]))
    (1.0, 1.0, 0.0, 2.0)
    """
    cells = np.bincount(2 * truth.astype(np.int64) + guess.astype(np.int64), minlength=4)
    return float(cells[0]), float(cells[1]), float(cells[2]), float(cells[3])


def card_utility(syntheses: int, processes: int) -> Found:
    """Return Table VII: frauds found, by F2 scores, on one split of the records as printed."""
    from sklearn.model_selection import train_test_split

    table, note = _payments()
    times = min(syntheses, _CARD_SYNTHESES)
    total = Found(notes=[*[note] * bool(note), f"{times} syntheses of each row."])
    table = table.sample(fraction=0.1, seed=0) if note else table
    if note:
        total.notes.append("A tenth of its records, drawn at random, are used for Table VII.")
    train, test = train_test_split(np.arange(len(table)), test_size=0.2, random_state=0)
    first = _Frauds("Original", 0, "greedy", 0, table[train], table[test])
    rows = [first] + [
        replace(first, row=f"{k}: {name}", parents=k, search=one)
        for k in (1, 2, 3)
        for name, one in SEARCHES.items()
    ]
    jobs = [replace(row, seed=seed) for seed in range(times) for row in rows]
    work: Callable[[_Frauds], Found] = _Frauds.scores
    with mapped(work, jobs, processes, must_travel=None) as results:
        for found in track(results, "Looking for frauds", len(jobs)):
            total.take(found)
    total.add_mean("2022-7", "Avg F2", ATTACKERS)
    return total


@dataclass(frozen=True)
class _Attack:
    """One release of a plain or custom network, or the original, and who attacks it."""

    table: str
    row: str
    seed: int
    keys: tuple[str, ...]
    known: int
    sensitive: str
    target: str
    ages: str = ""

    def original(self) -> pl.DataFrame:
        if self.table == "cmc":
            survey: pl.DataFrame = load("cmc")
            return survey
        table: pl.DataFrame = fetch("adult_train").drop(DROPPED)
        return table.with_columns(AGES[self.ages](table["age"])) if self.ages else table

    def scores(self) -> Found:
        original = self.original()
        made = original
        if self.row != "Original":
            protect = {self.sensitive: self.target} if self.row == "DSc" else None
            made = network(original, 4, "genetic", self.seed, protect).sample()
        models = models_of(TREES)
        if self.ages == AS_THEY_ARE:
            del models["SVM"]  # it takes minutes, and the other columns tell enough
        renamed = dict(zip(ATTACKERS, ("NB", "SVM", "KNN", "RF", "LR"), strict=True))
        renamed["GCAP"] = "FR-NN"
        reached = scores(made, original, self.keys, self.known, self.sensitive, models, self.seed)
        name = {"cmc": "2022-9", "adult": "2022-10"}[self.table]
        found = Found()
        row = self.row if self.ages in {"", CHOSEN_AGES} else f"{self.row}, {self.ages}"
        for column, own in renamed.items():
            if own in reached:
                found.add(name, row, column, reached[own])
        return found


def _by_width(groups: int) -> Callable[[pl.Series], pl.Series]:
    def grouped(ages: pl.Series) -> pl.Series:
        low, high = float(ages.min()), float(ages.max())  # type: ignore[arg-type]  # whole numbers
        return _cut(ages, np.linspace(low, high, groups + 1)[1:-1])

    return grouped


def _by_count(groups: int) -> Callable[[pl.Series], pl.Series]:
    def grouped(ages: pl.Series) -> pl.Series:
        return _cut(ages, np.quantile(ages.to_numpy(), np.linspace(0, 1, groups + 1)[1:-1]))

    return grouped


def _cut(ages: pl.Series, edges: NDArray[np.float64]) -> pl.Series:
    """Return ages in groups, which are categories in their order."""
    return pl.Series(ages.name, np.searchsorted(edges, ages.to_numpy())).cast(pl.String)


AS_THEY_ARE = "ages as they are"
CHOSEN_AGES = "5 groups of ages, equally wide"
AGES: dict[str, Callable[[pl.Series], pl.Series]] = {
    CHOSEN_AGES: _by_width(5),
    "4 groups of ages, equally wide": _by_width(4),
    "8 groups of ages, equally wide": _by_width(8),
    "10 groups of ages, equally wide": _by_width(10),
    "4 groups of ages, equally many": _by_count(4),
    "5 groups of ages, equally many": _by_count(5),
    AS_THEY_ARE: lambda ages: ages,
}
"""How ages may have been prepared for Table X; the first is the one that is taken."""


def _attacked(jobs: Sequence[_Attack], processes: int) -> Found:
    total = Found()
    work: Callable[[_Attack], Found] = _Attack.scores
    with mapped(work, jobs, processes, must_travel=None) as results:
        for found in track(results, "Attacking", len(jobs)):
            total.take(found)
    for name in total.runs:
        total.add_mean(name, "Avg", ("GCAP", *ATTACKERS))
    return total


def cmc_attack(syntheses: int, processes: int) -> Found:
    """Return Table IX, and the zero rules."""
    first = _Attack("cmc", "Original", 0, CMC_KEYS, 4, "husband_education", "method")
    rows = ("Original", "DS", "DSc")
    jobs = [replace(first, row=row, seed=seed) for seed in range(syntheses) for row in rows]
    found = _attacked(jobs, processes)
    shares = load("cmc")["husband_education"].value_counts(normalize=True)["proportion"]
    found.add("2022-baselines", "zero rule", "cmc", 100 * float(shares.max()))
    try:
        people = fetch("adult_train")["relationship"].value_counts(normalize=True)["proportion"]
        found.add("2022-baselines", "zero rule", "Adult", 100 * float(people.max()))
    except DataError:
        found.notes.append("There is no file of Adult, so its zero rule is left out.")
    return found


def adult_attack(syntheses: int, processes: int) -> Found:
    """Return Table X, from the training part of Adult."""
    first = _Attack("adult", "Original", 0, ADULT_KEYS, 5, "relationship", "income", CHOSEN_AGES)
    rows = ("Original", "DS", "DSc")
    jobs = [replace(first, row=row, seed=seed) for seed in range(syntheses) for row in rows]
    return _attacked(jobs, processes)


def adult_ages(syntheses: int, processes: int) -> Found:  # noqa: ARG001  # the original alone
    """Return the original's row of Table X by other groups of ages, which are not printed."""
    first = _Attack("adult", "Original", 0, ADULT_KEYS, 5, "relationship", "income")
    jobs = [replace(first, ages=ages) for ages in AGES if ages != CHOSEN_AGES]
    return _attacked(jobs, processes)
