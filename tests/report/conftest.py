"""Findings made by hand: a rich audit of two releases, and one with next to nothing in it."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from understudy.audit.attack_findings import (
    KeySetFindings,
    LookalikeFindings,
    MembershipCurve,
    RareValueFindings,
)
from understudy.audit.findings import (
    AnonymityFindings,
    AssociationFindings,
    ClassifierFindings,
    ColumnShares,
    DisclosureFindings,
    Figure,
    Findings,
    Histogram,
    NetworkFindings,
    PredictionFindings,
    PropensityFindings,
    ReleaseFindings,
    StrongFindings,
    SubsetRisk,
    UtilityFindings,
    WayFindings,
    WorstRecord,
)
from understudy.audit.number_findings import (
    CombinationFindings,
    ConditionalMeanFindings,
    CorrelationFindings,
    ImpossibleFindings,
    LostFindings,
    MeanFindings,
    PairFindings,
)

COLUMNS = (
    "age",
    "education",
    "husband_education",
    "children",
    "religion",
    "working",
    "husband_occupation",
    "living_standard",
    "media_exposure",
    "method",
)
KEYS = ("age", "education", "children", "religion", "working")
RARE = "a rare illness"
ONLY_ORIGINAL = "a value that only the original has"


def figures(gain, *, control=math.nan):
    def one(measure, title, meaning, baseline, added, original, **more):
        return Figure(
            measure,
            title,
            meaning,
            baseline,
            baseline + added,
            original,
            control,
            added,
            0.004,
            **more,
        )

    return (
        one("gcap", "GCAP", "Guess by the nearest records", 0.61, gain, 0.778),
        one("icap", "ICAP", "Guess by records with the same keys", 0.612, gain * 1.2, 0.778),
        one("zero_cap", "0CAP", "The same, no match is wrong", 0.61, gain - 0.12, 0.778),
        one("vote", "Vote of classifiers", "Guess by a vote (naive_bayes, svm)", 0.61, gain, 0.72),
        one("mean_attacker", "Mean of classifiers", "One model", 0.61, gain * 0.8, 0.7),
        one(
            "best_attacker",
            "Best classifier",
            "The best",
            0.61,
            gain * 1.3,
            0.77,
            note="Best: svm. `understudy audit` trains others.",
        ),
        Figure("repu", "repU", "Unique in both tables", synthetic=0.031, original=0.21),
        one("disco", "DiSCO", "One value, and it is theirs", 0.09, 0.02, 0.55),
        Figure("strong", "Strong attacker", "Knows all but one value", 0.61, 0.61 + gain),
    )


def shares(columns, rng, noise):
    found = []
    for place, column in enumerate(columns):
        labels = tuple(
            [f"{16 + 3 * n} to {18 + 3 * n}" for n in range(11)]
            if place == 0
            else [f"{n}" for n in range(3 + place % 5)]
            if place % 2
            else [f"{word} level" for word in ("lowest", "low", "higher", "highest")]
        )
        before = rng.dirichlet(np.full(len(labels), 4.0))
        after = np.abs(before + rng.normal(0, noise, len(labels)))
        found.append(
            ColumnShares(
                column,
                (*labels, "not in the release"),
                (*(before * 0.99), 0.01),
                (*(after / after.sum()), 0.0),
            )
        )
    return tuple(found)


def association(columns, rng, noise):
    size = len(columns)
    half = np.triu(rng.beta(1.2, 3.5, (size, size)), 1)
    before = half + half.T + np.eye(size)
    change = np.triu(rng.normal(0, noise, (size, size)), 1)
    after = np.clip(before + change + change.T, 0, 1)
    before[0, 1] = before[1, 0] = math.nan
    return AssociationFindings(
        columns,
        tuple(map(tuple, before.tolist())),
        tuple(map(tuple, after.tolist())),
        0.041,
        0.212,
        0.018,
    )


def prediction(loss):
    names = ("naive_bayes", "svm", "k_nearest", "random_forest", "logistic_regression")
    classifiers = tuple(
        ClassifierFindings(
            name,
            0.52 + place / 100,
            0.52 + place / 100 - loss,
            -loss,
            -loss - 0.02,
            -loss + 0.02,
            ((90, 20, 15), (22, 40, 11), (30, 19, 48)),
            ((85, 22, 18), (25, 36, 12), (33, 21, 43)),
            0.61,
            0.55,
            0.56,
            0.6,
            0.53,
            0.54,
        )
        for place, name in enumerate(names)
    )
    return PredictionFindings(
        "method",
        ("none", "long-term", "short-term"),
        "long-term",
        "295 of 1,473 real records, drawn at random",
        0.427,
        0.54,
        0.54 - loss,
        -loss,
        classifiers,
        "The release was made from the test records, too.",
    )


def release(name, gain, loss, *, certain, columns=COLUMNS, seed=0, control=math.nan):
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(1473, rng.dirichlet(np.arange(1, 11)))
    bits = rng.multinomial(1470 - certain, np.exp(-np.abs(np.arange(-6, 10)) / 1.4) / 5.5)
    edges = tuple(np.linspace(-1.5, 2.5, 17).round(2).tolist())
    keys = tuple(column for column in KEYS if column in columns) or columns[:3]
    return ReleaseFindings(
        name,
        "Bayesian network (parents=2, search=greedy)",
        3,
        1473,
        figures=figures(gain, control=control),
        subsets=tuple(
            SubsetRisk(found, 0.61, 0.61 + gain * place / 4, 0.7 + place / 60)
            for place, found in enumerate(combinations(keys, max(1, len(keys) - 1)))
        ),
        attribution=Histogram(
            tuple((np.arange(11) / 10).tolist()),
            tuple(counts.tolist()),
            tuple(counts[::-1].tolist()),
        ),
        worst=tuple(
            WorstRecord(
                17 + 31 * place,
                1 - place / 50,
                0.99 - place / 40,
                4.2 - place / 3,
                {"age": ONLY_ORIGINAL},
            )
            for place in range(6)
        ),
        strong=StrongFindings(
            "informed by a forest",
            "exact counts",
            1473,
            certain,
            0.64,
            0.12,
            0.61,
            0.61 + gain,
            0.084,
            1.31,
            5.97,
            Histogram(edges, tuple(bits.tolist())),
            ("Two columns are not in the model, and count as known.",),
        ),
        disclosure=DisclosureFindings(
            0.21,
            0.19,
            0.031,
            0.55,
            0.11,
            0.09,
            0.02,
            ("One value, 4, makes up 92% of what DiSCO counts.",),
        ),
        anonymity=AnonymityFindings(1, 1, 1, 1, 0.61, 0.64),
        utility=UtilityFindings(
            marginals=(
                WayFindings(1, 10, 0.021, 0.017, 1.24, (((columns[0],), 0.05, 0.03),)),
                WayFindings(2, 45, 0.062, 0.047, 1.32, ((columns[:2], 0.11, 0.06),)),
                WayFindings(3, 120, 0.14, 0.1, 1.4, ((columns[:3], 0.21, 0.12),)),
            ),
            shares=shares(columns, rng, 0.03),
            association=association(columns, rng, 0.06),
            propensity=(
                PropensityFindings("decision tree", 0.011, 1.8, 3.4, 0.58, 0.52),
                PropensityFindings("logistic regression", 0.004, 1.1, 0.4, 0.53, 0.51),
            ),
            prediction=prediction(loss),
            notes=("The release has no column 'wave'.",),
            correlations=correlation_findings(columns[:2]),
            conditional_means=ConditionalMeanFindings(
                20,
                2,
                0.03,
                0.02,
                0.02,
                0.4,
                (MeanFindings(columns[0], columns[1], "often", 3.2, 2.1, -0.4, 0.2),),
            ),
            impossible=ImpossibleFindings(
                90,
                0.031,
                0.002,
                0.003,
                1,
                (CombinationFindings(columns[:2], ("16 to 20", "none"), 12.5, 31, 0.021),),
            ),
        ),
        network=NetworkFindings(
            columns,
            tuple(
                (columns[place // 2], columns[place], 0.5 / place)
                for place in range(1, len(columns))
            ),
            (columns[2],),
        ),
        errors={"black box": "The command ended with code 1."} if certain else {},
        lookalikes=LookalikeFindings(
            0.25,
            "whole",
            1473,
            ((1.0, 0.1, 2), (1.0, 0.9, 40), (0.0, 0.0, 3)),
            300,
            ((1.0, 1.2, 9),),
        ),
        membership_curve=MembershipCurve(
            "Closeness", 1000, 300, 0.6, ((0.0, 0.01), (0.01, 0.05), (0.1, 0.2), (1.0, 1.0))
        ),
        rare_values=(
            RareValueFindings(RARE, 7, 3, 0.1, 2, 1),
            RareValueFindings("common", 700, 300, 290.0),
        ),
        telling_keys=(
            KeySetFindings(keys[:2], 0.05, 0.02, 0.01),
            KeySetFindings(keys[:1], -0.01, 0.02),
        ),
    )


def correlation_findings(columns):
    """One pair of strongly correlated columns that fell, and what else is said of it."""
    return CorrelationFindings(
        2, 1, 0.486, 0.004, 0.006, 0.486, 0.4, 0.005, 0.4, 1, 1, 0.486,
        (LostFindings(columns, "correlation", 0.915, 0.429, 0.912),),
        (PairFindings(columns, 0.915, 0.429, 0.905, 0.924, 0.912, 0.9, 0.5, 0.89, 0.91),),
    )  # fmt: skip


def audit_of(*releases, columns=COLUMNS, keys=KEYS, sensitive="husband_education"):
    return Findings(
        version="0.1.0",
        created="2026-03-04T05:06:07+00:00",
        seconds=21.4,
        seed=7,
        command="understudy audit survey.csv greedy.csv --keys age,education --seed 7",
        measures="standard",
        rows=1473,
        columns=len(columns),
        keys=keys,
        known=4,
        sensitive=sensitive,
        target="method",
        releases=releases,
    )


HOSTILE = (
    "<script>alert(1)</script>",
    "\"quoted\" 'name'",
    "</script><img src=x onerror=alert(2)>",
    "emoji 🎭 and 한국어",
    "اسم العمود",
    "dots.and[brackets]['x']",
    "long " + "x" * 295,
    "{{ 7 * 7 }} ${alert(3)} \u2028",
    "=1+1",
)


@pytest.fixture(scope="session")
def rich():
    """Two releases, every part of the findings filled."""
    return audit_of(
        release("greedy.csv", 0.043, 0.008, certain=3, control=0.63),
        release("protected.csv", 0.004, 0.013, certain=0, seed=1),
    )


@pytest.fixture(scope="session")
def single():
    """One release, every part of the findings filled."""
    return audit_of(release("greedy.csv", 0.043, 0.008, certain=3))


@pytest.fixture(scope="session")
def minimal():
    """A release about which nothing was found."""
    return audit_of(ReleaseFindings("empty.csv", "", 1, 10), keys=(), sensitive="")


@pytest.fixture(scope="session")
def hostile():
    """Names and values that would do harm if they were taken for anything but text."""
    return audit_of(
        release(HOSTILE[0], 0.043, 0.008, certain=3, columns=HOSTILE),
        release(HOSTILE[6], 0.02, 0.018, certain=0, columns=HOSTILE),
        columns=HOSTILE,
        keys=HOSTILE[:5],
        sensitive=HOSTILE[0],
    )
