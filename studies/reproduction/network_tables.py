"""The tables of the paper of 2022: run times, use and attack of networks, plain and custom."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from studies.networks import CLASSIFIERS, UtilityTable, utility_adult, utility_cmc
from studies.reproduction.classifiers import models_of, scores
from studies.reproduction.found import Found, machine
from studies.reproduction.printed import f2_score
from studies.reproduction.releases import paper_schema
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
    return _times("2022-2", load("cmc"), (1, 2, 3, 4), 400, min(syntheses, 3))


def adult_times(syntheses: int, processes: int) -> Found:  # noqa: ARG001  # times of one thread
    """Return Table III, from files of Adult."""
    return _times("2022-3", fetch("adult").drop(DROPPED), (1, 2, 3, 4), 400, 1)


def card_times(syntheses: int, processes: int) -> Found:  # noqa: ARG001  # times of one thread
    """Return Table IV, from the file of card payments, or from the stand-in."""
    table, note = _payments()
    found = _times("2022-4", table, (1, 2, 3), 2000, 1)
    found.notes += [note] * bool(note)
    return found


def _payments() -> tuple[pl.DataFrame, str]:
    try:
        return fetch("credit_card"), ""
    except DataError as error:
        note = (
            "**Stand-in.** There is no file of the card payments, so a simulated table of the same "
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
            found.add(name, rows[row], classifier, *runs)
    found.add_mean(name, "Avg", CLASSIFIERS)
    return found


_ROWS = {("original", 0): "Original"} | {
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

    There are three syntheses, one of them with SV. The first of these runs has the original.
    """

    def run(syntheses: int, processes: int) -> Found:
        table = utility_adult(
            (parents,),
            seeds=min(syntheses, _ADULT_SYNTHESES),
            svm_seeds=1,
            processes=processes,
            with_original=parents == 1,
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
        svm_seeds=1,
        processes=processes,
        protect={"relationship": "income"},
        with_original=False,
    )
    found = _taken("2022-12", table, {("genetic", 4): "DSc"})
    found.notes.append(_FEWER)
    return found


_ADULT_SYNTHESES = 3
_FEWER = f"{_ADULT_SYNTHESES} syntheses of each row. SV is trained on the first alone: it is slow."


def card_utility(syntheses: int, processes: int) -> Found:  # noqa: ARG001  # one split, as printed
    """Return Table VII: frauds found, by F2 scores."""
    from sklearn.metrics import confusion_matrix
    from sklearn.model_selection import train_test_split

    from studies.networks import features_of

    table, note = _payments()
    found = Found(notes=[note] * bool(note))
    table = table.sample(fraction=0.1, seed=0) if note else table
    if note:
        found.notes.append("A tenth of its records, drawn at random, are used for Table VII.")
    train, test = train_test_split(np.arange(len(table)), test_size=0.2, random_state=0)
    trained, tested = table[train], table[test]
    rows = [("Original", 0, "greedy")]
    rows += [(f"{k}: {name}", k, one) for k in (1, 2, 3) for name, one in SEARCHES.items()]
    models = dict(zip(ATTACKERS, papers_models(TREES).values(), strict=True))
    for row, parents, search in track(rows, "Looking for frauds"):
        made = trained if not parents else network(trained, parents, search, 0).sample()  # type: ignore[arg-type]
        shown, asked = features_of(made, tested, "Class")
        truth, labels = tested["Class"].to_numpy(), made["Class"].to_numpy()
        for name, model in models.items():
            guess = np.zeros_like(truth)
            if len(np.unique(labels)) > 1:
                guess = model.new(0, len(made), ()).fit(shown, labels).predict(asked)
            matrix = confusion_matrix(truth, guess, labels=[0, 1]).ravel()
            found.add("2022-7", row, name, f2_score(*map(float, matrix)))
    found.add_mean("2022-7", "Avg F2", ATTACKERS)
    return found


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
    age_groups: int = 0

    def original(self) -> pl.DataFrame:
        if self.table == "cmc":
            survey: pl.DataFrame = load("cmc")
            return survey
        table: pl.DataFrame = fetch("adult_train").drop(DROPPED)
        if self.age_groups:
            table = table.with_columns(
                pl.col("age").cut(_edges(table["age"], self.age_groups)).cast(pl.String)
            )
        return table

    def scores(self) -> Found:
        original = self.original()
        made = original
        if self.row != "Original":
            protect = {self.sensitive: self.target} if self.row == "DSc" else None
            made = network(original, 4, "genetic", self.seed, protect).sample()
        models = models_of(TREES)
        renamed = dict(zip(ATTACKERS, ("NB", "SVM", "KNN", "RF", "LR"), strict=True))
        renamed["GCAP"] = "FR-NN"
        reached = scores(made, original, self.keys, self.known, self.sensitive, models, self.seed)
        name = {"cmc": "2022-9", "adult": "2022-10"}[self.table]
        found = Found()
        for column, own in renamed.items():
            found.add(name, self.row, column, reached[own])
        return found


def _edges(ages: pl.Series, groups: int) -> list[float]:
    low, high = float(ages.min()), float(ages.max())  # type: ignore[arg-type]  # whole numbers
    return [float(edge) for edge in np.linspace(low, high, groups + 1)[1:-1]]


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


def adult_attack(syntheses: int, processes: int) -> Found:  # noqa: ARG001  # one synthesis, as printed
    """Return Table X, from the training part of Adult, with ages in five groups."""
    first = _Attack("adult", "Original", 0, ADULT_KEYS, 5, "relationship", "income", age_groups=5)
    found = _attacked([replace(first, row=row) for row in ("Original", "DS", "DSc")], processes)
    found.notes.append(
        "One synthesis of the training records, as SV takes minutes. Ages are in five groups of "
        "equal width; without groups, the original's GCAP is far above the printed one."
    )
    return found
