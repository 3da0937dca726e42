"""The attackers of the papers on one set of keys: what each guesses, and how they vote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from studies.reproduction.training import guessed, plainly
from understudy.data.joint_coding import CodedTables, code_together
from understudy.learning.classifiers import CLASSIFIERS, Model, encode
from understudy.utility.prediction import papers_models

Labels = NDArray[np.int64]
NAMES = {
    "NB": "naive_bayes",
    "SVM": "svm",
    "KNN": "k_nearest",
    "RF": "random_forest",
    "LR": "logistic_regression",
    "FR-NN": "fixed_radius",
}
RULES = {
    "six, tie: most frequent": (tuple(NAMES), "frequent"),
    "six, tie: first label": (tuple(NAMES), "first"),
    "six, tie: last label": (tuple(NAMES), "last"),
    "without FR-NN, tie: most frequent": (tuple(NAMES)[:-1], "frequent"),
    "without FR-NN, tie: first label": (tuple(NAMES)[:-1], "first"),
    "six and FR-NN again, tie: most frequent": ((*NAMES, "FR-NN"), "frequent"),
}
"""Rules of the vote that were tried: who votes, and what is guessed if several labels are even."""


def models_of(trees: int) -> dict[str, Model]:
    """Return the papers' six attackers by their short names."""
    own = {**papers_models(trees), "fixed_radius": CLASSIFIERS["papers"]["fixed_radius"]}
    return {short: own[name] for short, name in NAMES.items()}


def guesses(
    together: CodedTables,
    keys: Sequence[str],
    sensitive: str,
    models: Mapping[str, Model],
    seed: int,
) -> tuple[dict[str, Labels], Labels, Labels]:
    """Return each model's guesses for the original records, the truth, and the training labels.

    `together` has two tables: ``"train"``, and ``"original"``.
    """
    rows = len(together["train"][sensitive])
    shuffled = np.random.default_rng(seed).permutation(rows)
    learnt = np.column_stack([together["train"][name].astype(np.int64) for name in keys])[shuffled]
    known = np.column_stack([together["original"][name].astype(np.int64) for name in keys])
    labels = together["train"][sensitive].astype(np.int64)[shuffled]
    different, which = np.unique(known, axis=0, return_inverse=True)
    levels = [together.levels[name] for name in keys]
    found = {}
    encodings = dict.fromkeys(model.encoding for model in models.values())
    encoded = {own: encode(own, learnt, different, levels) for own in encodings}
    for name, model in models.items():
        shown, asked = encoded[model.encoding]
        if len(np.unique(labels)) == 1:
            found[name] = np.full(len(known), labels[0])
            continue
        own = guessed(model, shown, labels, asked, seed, levels)
        found[name] = np.asarray(own, np.int64)[which.reshape(-1)]
    return found, together["original"][sensitive].astype(np.int64), labels


def vote(votes: Sequence[Labels], tie: str, training: Labels) -> Labels:
    """Return what most say.

    Examples
    --------
    >>> votes = [np.array([0, 1]), np.array([1, 1])]
    >>> [vote(votes, tie, np.array([1])).tolist() for tie in ("first", "frequent")]
    [[0, 1], [1, 1]]
    """
    size = int(max(*(own.max() for own in votes), training.max())) + 1
    tally = np.zeros((len(votes[0]), size))
    for own in votes:
        tally[np.arange(len(own)), own] += 1
    if tie == "frequent":
        tally += np.bincount(training, minlength=size) / (2 * len(training))
    if tie == "last":
        tally, labels = tally[:, ::-1], np.arange(size)[::-1]
    else:
        labels = np.arange(size)
    return np.asarray(labels[np.argmax(tally, axis=1)], np.int64)


def scores(  # two tables, what is known and wanted, and who guesses
    train: pl.DataFrame,
    original: pl.DataFrame,
    keys: Sequence[str],
    known: int,
    sensitive: str,
    models: Mapping[str, Model],
    seed: int,
) -> dict[str, float]:
    """Return how many percent each model and each vote guess correctly, over all sets of keys."""
    found: dict[str, list[float]] = {}
    # Coded once for all sets of keys.
    together = code_together({"train": train, "original": original}, [*keys, sensitive])
    for subset in combinations(keys, known):
        with plainly():
            told, truth, labels = guesses(together, subset, sensitive, models, seed)
        for rule, (members, tie) in RULES.items():
            if set(members) <= set(told):
                told[rule] = vote([told[one] for one in members], tie, labels)
        for name, own in told.items():
            found.setdefault(name, []).append(100 * float(np.mean(own == truth)))
    return {name: float(np.mean(own)) for name, own in found.items()}
