"""Tables 1 to 11 of the paper of 2020: attacks on four releases of two tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from studies.reproduction.classifiers import NAMES, RULES, models_of, scores
from studies.reproduction.found import Found
from studies.reproduction.releases import TOOLS, TRIED, release
from understudy import risk
from understudy.data import fetch, load
from understudy.learning.classifiers import Model
from understudy.learning.jobs import mapped
from understudy.progress import track
from understudy.risk.scenario import Baseline

ORIGINAL = "Original"
METHOD = ("age", "education", "husband_education", "children", "religion", "working",
          "husband_occupation")  # fmt: skip
HUSBAND = ("age", "education", "children", "religion", "working")
FERTILITY = ("age", "alcohol", "smoking")


@dataclass(frozen=True)
class Scenario:
    """Whose table it is, what is known of whom, and what is wanted."""

    table: str
    keys: tuple[str, ...]
    known: int
    sensitive: str


SCENARIOS = {
    "1": Scenario("cmc", METHOD, 3, "method"),
    "2": Scenario("cmc", METHOD, 6, "method"),
    "3": Scenario("cmc", HUSBAND, 2, "husband_education"),
    "4": Scenario("cmc", HUSBAND, 4, "husband_education"),
}
FERTILITY_SCENARIOS = {
    "10": Scenario("fertility", FERTILITY, 2, "accident"),
    "11": Scenario("fertility", FERTILITY, 2, "surgery"),
}
TREES = 10
"""Of a random forest in scikit-learn 0.20, which the paper names."""


def _table(name: str) -> pl.DataFrame:
    table: pl.DataFrame = load("cmc") if name == "cmc" else fetch(name)
    return table


@dataclass(frozen=True)
class _Synthesis:
    """One synthesis by one tool, or the original itself."""

    row: str
    seed: int
    table: str

    def made(self) -> pl.DataFrame:
        original = _table(self.table)
        return original if self.row == ORIGINAL else release(self.row, original, self.seed)


def _attributed(job: _Synthesis) -> Found:
    original, made = _table(job.table), job.made()
    found = Found()
    for number, own in SCENARIOS.items():
        for name, rule in (("0CAP", "zero"), ("ICAP", "ignore"), ("GCAP", "nearest")):
            told = risk.attribution(
                original,
                made,
                keys=own.keys,
                sensitive=own.sensitive,
                known=own.known,
                unmatched=rule,  # type: ignore[arg-type]  # one of its choices
            )
            found.add(f"2020-{number}", job.row, name, 100 * told.accuracy)
            if rule == "ignore" and job.row != ORIGINAL:
                share = told.unmatched
                found.add("2020-5", job.row, f"Table {number}", share * len(original))
    return found


def _classified(job: _Synthesis) -> Found:
    original, made = _table(job.table), job.made()
    found = Found()
    chosen = FERTILITY_SCENARIOS if job.table == "fertility" else SCENARIOS
    for number, own in chosen.items():
        name = number if job.table == "fertility" else str(int(number) + 5)
        reached = scores(
            made, original, own.keys, own.known, own.sensitive, models_of(TREES), job.seed
        )
        for column in NAMES:
            found.add(f"2020-{name}", job.row, column, reached[column])
        found.add(f"2020-{name}", job.row, "ENS", reached["six, tie: most frequent"])
        for rule in RULES:
            found.add(f"votes-{name}", job.row, rule, reached[rule])
        if job.table == "fertility":
            if job.row == ORIGINAL and job.seed == 0:
                for preparation, reached_so in prepared(original, own).items():
                    found.add(f"svm-{name}", ORIGINAL, preparation, reached_so)
            counts = original[own.sensitive].value_counts(sort=True)
            top = made[own.sensitive].value_counts(sort=True)[own.sensitive][0]
            said = (
                original[own.sensitive].eq(top).mean()
                if job.row != ORIGINAL
                else (counts["count"][0] / len(original))
            )
            found.add("2020-baselines", job.row, own.sensitive, 100 * float(said or 0))
    return found


PREPARATIONS = {
    "standardised, gamma = 'scale'": ("standardised", "scale"),
    "standardised, gamma = 'auto'": ("standardised", "auto"),
    "as in the file, gamma = 'scale'": ("places", "scale"),
    "as in the file, gamma = 'auto'": ("places", "auto"),
    "places in order, gamma = 'scale'": ("codes", "scale"),
    "places in order, gamma = 'auto'": ("codes", "auto"),
}
"""What a support vector machine may be shown of Fertility, and its width of the kernel."""


def prepared(original: pl.DataFrame, scenario: Scenario) -> dict[str, float]:
    """Return how many percent SVM guesses correctly in the original, by its preparation."""
    found = {}
    for name, (encoding, gamma) in PREPARATIONS.items():
        model = Model(encoding, "sklearn.svm.SVC", {"gamma": gamma})  # type: ignore[arg-type]
        reached = scores(
            original, original, scenario.keys, scenario.known, scenario.sensitive, {"SVM": model}, 0
        )
        found[name] = reached["SVM"]
    return found


def _run(
    work: Callable[[_Synthesis], Found],
    table: str,
    syntheses: int,
    processes: int,
    rows: Sequence[str] = (ORIGINAL, *TOOLS),
) -> Found:
    jobs = [_Synthesis(row, seed, table) for seed in range(syntheses) for row in rows]
    total = Found()
    with mapped(work, jobs, processes, must_travel=None) as results:
        for found in track(results, "Attacking", len(jobs)):
            total.take(found)
    return total


def attribution_tables(syntheses: int, processes: int) -> Found:
    """Return Figure 1 and Tables 1 to 5: 0CAP, ICAP and GCAP, and records without a match."""
    total = _run(_attributed, "cmc", syntheses, processes)
    survey = load("cmc")
    for name in ("method", "husband_education"):
        counts = survey[name].value_counts()["count"].to_numpy()
        total.add("2020-fig1", "zero rule", name, 100 * Baseline.of(counts).zero_rule)
        for value, count in sorted(survey[name].value_counts().iter_rows()):
            total.add(f"shares-{name}", "share", str(value), 100 * count / len(survey))
    return total


def tried_tables(syntheses: int, processes: int) -> Found:
    """Return Tables 1 to 5 for other settings of DS and DV, which are not printed."""
    return _run(_attributed, "cmc", syntheses, processes, TRIED)


def classifier_tables(syntheses: int, processes: int) -> Found:
    """Return Tables 6 to 9: six classifiers and their vote, on the survey."""
    return _run(_classified, "cmc", syntheses, processes)


def fertility_tables(syntheses: int, processes: int) -> Found:
    """Return Tables 10 and 11: the same on Fertility, from a file of it."""
    return _run(_classified, "fertility", syntheses, processes)
