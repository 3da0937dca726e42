"""What was asked for and has no effect, or not the one that may be expected, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from understudy.audit.findings import Findings
from understudy.audit.task import Task, columns_of, columns_of_own_values
from understudy.data.frames import to_narwhals
from understudy.data.joint_coding import CodedTables, EncodedTable, encode
from understudy.errors import UnderstudyError
from understudy.risk.chance import Agreement
from understudy.risk.tails import hypergeometric_tail
from understudy.wording import counted, percent, quoted

MORE_OF_CONTROL = 0.05
"""A release that holds so many more of the control records than of the original's, as a share, is
made of them."""
CHANCE = 0.001
"""Control records are like original ones by chance, too; it is told if chance does so more rarely
than this."""


def notices(task: Task, real: dict[str, EncodedTable]) -> Iterator[str]:
    """Yield what can be said before anything is measured.

    Parameters
    ----------
    task : Task
        What the audit is about.
    real : dict
        "original", and "control" and "test" if there are such, encoded.
    """
    yield from _about_the_target(task)
    scenario, original = task.scenario, real["original"]
    if scenario.known == len(scenario.keys):
        yield f"To say how many keys are known has no effect: {scenario.known} is all of them."
    constant = [name for name in scenario.keys if _values(original, name) < 2]
    if constant:
        have = "has" if len(constant) == 1 else "have"
        keys = "key" if len(constant) == 1 else "keys"
        yield (
            f"The {keys} {quoted(constant)} {have} no effect: all original records have the same "
            "value, which tells nobody apart."
        )
    alone = [name for name, count in task.groups.items() if _known(original, name) <= count]
    if alone:
        yield (
            f"Groups of {quoted(alone)} have no effect: there are no more different values than "
            "groups, so that each is a group of its own."
        )
    if scenario.sensitive and _values(original, scenario.sensitive) < 2:
        yield (
            f"All original records have the same value of {scenario.sensitive!r}. There is nothing "
            "to learn about it, and no attack on it can succeed. Name another sensitive column."
        )
    if scenario.sensitive and columns_of_own_values(
        columns_of(to_narwhals(task.original).select(scenario.sensitive).to_native())
    ):
        yield (
            f"Nearly every original record has its own value of {scenario.sensitive!r}. Guesses of "
            "it tell little: name a sensitive column whose values several records share."
        )
    if task.measures == "quick" and task.classifiers == "papers":
        yield "The choice of classifiers has no effect: the quick measures train none."
    for name in ("control", "test"):
        if name in real:
            yield from _about_columns(task, name, original, real[name])
            yield from _about_rows(name, original, real[name])


def _about_the_target(task: Task) -> Iterator[str]:
    target = task.target
    if target is None:
        if task.test is not None:
            yield "The test records have no effect: there is no target to predict."
        return
    if target == task.scenario.sensitive:
        yield (
            f"The target {target!r} is also the sensitive column: the better a release predicts "
            "it, the more it tells an attacker. Name another target, or none."
        )
    if task.measures == "quick":
        also = ", and neither have the test records" if task.test is not None else ""
        yield (
            f"The target {target!r} has no effect{also}: the quick measures predict nothing. The "
            "standard measures say how well it is predicted."
        )


def _known(table: EncodedTable, name: str) -> int:
    return len(table.column(name).values)


def _values(table: EncodedTable, name: str) -> int:
    return _known(table, name) + table.column(name).gaps


def _about_columns(
    task: Task, name: str, original: EncodedTable, table: EncodedTable
) -> Iterator[str]:
    """Yield what a control or test table lacks, and what it has that nothing is compared with."""
    lacking = [one for one in original.names if one not in table.names]
    more = [one for one in table.names if one not in original.names]
    if lacking:
        without = "Attacks on whole records leave them out"
        if name == "test":
            without = "Predictions do without them"
        elif task.target is not None and task.test is None:
            without += ", and predictions are not tested on the control records"
        yield f"The {name} records lack {quoted(lacking)}. {without}."
    if more:
        yield (
            f"The {name} records have {quoted(more)}, which the original lacks. That has no effect."
        )


def _about_rows(name: str, original: EncodedTable, table: EncodedTable) -> Iterator[str]:
    """Yield how many records are in the original, too, if chance does not explain it."""
    found, rows = in_common(name, original, table), len(table)
    if found:
        what = "predictions are better on records that the synthesis has seen"
        if name == "control":
            what = "they would not tell what is true of others, so they were not used"
        yield (
            f"{found:,} of the {counted(rows, f'{name} record')} ({percent(found / rows)}) are in "
            f"the original too, more than chance explains: {what}. Give records that no synthesis "
            "used."
        )


def in_common(name: str, original: EncodedTable, table: EncodedTable) -> int:
    """Return how many records of a table are in the original; 0 if chance explains it."""
    shared = [one for one in original.names if one in table.names]
    if len(shared) < 2 or not len(original) or not len(table):
        return 0
    try:
        coded = CodedTables.of({"original": original, name: table}, shared).tables
    except UnderstudyError:
        return 0
    frames = [
        pl.DataFrame({str(at): coded[which][one] for at, one in enumerate(shared)})
        for which in ("original", name)
    ]
    counts = (
        pl.concat([frames[0].with_columns(inside=1), frames[1].with_columns(inside=0)])
        .group_by(frames[0].columns)
        .agg(inside=pl.col("inside").sum(), alike=pl.len())
    )
    both = counts.filter(pl.col("inside") > 0)
    found = int((both["alike"] - both["inside"]).sum())
    # If the control records were drawn from all of these people at random, it is as likely to be
    # any others of them.
    by_chance = drawn_in_common(counts["alike"].to_numpy(), len(table), found)
    # They come in whole records, however little they vary.
    careful = replace(by_chance, variance=max(by_chance.variance, 1.0))
    return found if careful.p_value < CHANCE else 0


def unfit_control(task: Task, real: Mapping[str, EncodedTable]) -> tuple[bool, tuple[str, ...]]:
    """Return whether the control records are none, and what is to be told of a release then.

    That they are in the original, `notices` tells.
    """
    if "control" not in real:
        return False, ()
    original, control = real["original"], real["control"]
    if made := release_of_control(task, original, control):
        told = (
            f"The release {made!r} holds more of the control records than of the original's. They "
            "would not tell what is true of others, so they were not used. Give records like the "
            "original's that no synthesis used."
        )
        return True, (told,)
    return bool(in_common("control", original, control)), ()


def release_of_control(task: Task, original: EncodedTable, control: EncodedTable) -> str:
    """Return the name of a release that is made of the control records; empty if none is.

    If it made no difference to a release who is in the original and who is in the control, it would
    hold as many records of both. If it holds more of the control records, they are no others.
    """
    for given in task.releases:
        for table in map(encode, given.tables):
            held = {"original": original, "control": control, "release": table}
            shared = [
                name for name in original.names if name in control.names and name in table.names
            ]
            if len(shared) < 2 or not all(len(one) for one in held.values()):
                continue
            try:
                coded = CodedTables.of(held, shared).tables
            except UnderstudyError:
                continue
            rows = {
                which: pl.DataFrame({str(at): codes[name] for at, name in enumerate(shared)})
                for which, codes in coded.items()
            }
            inside, outside = (
                rows[which].join(rows["release"], on=rows[which].columns, how="semi").height
                for which in ("original", "control")
            )
            people, others = len(original), len(control)
            more = outside / others - inside / people > MORE_OF_CONTROL
            by_chance = hypergeometric_tail(outside, people + others, inside + outside, others)
            if more and float(by_chance) < CHANCE:
                return given.name
    return ""


def drawn_in_common(alike: NDArray[np.integer], drawn: int, found: int) -> Agreement:
    """Return how many of some people are like one of the rest, beside what chance would give.

    Parameters
    ----------
    alike : ndarray of int
        The sizes of the groups of people who are alike.
    drawn : int
        How many of all people are drawn at random; the others are the rest.
    found : int
        How many of those drawn are like one of the rest.

    Notes
    -----
    Those drawn who are like none of the rest are the groups of which everybody is drawn. For a
    group of c out of N people, of whom m are drawn, the probability is
    p(c) = m (m - 1) .. (m - c + 1) / (N (N - 1) .. (N - c + 1)), and for two groups it is p(c + d).
    The mean and the variance follow.

    Examples
    --------
    >>> found = drawn_in_common(np.array([2, 2]), 2, 2)  # of 6 ways to draw 2, 4 split both pairs
    >>> round(found.expected, 3), round(found.variance, 3)
    (1.333, 0.889)
    """
    sizes, times = np.unique(alike, return_counts=True)
    sizes, times = sizes.astype(np.int64), times.astype(np.float64)
    total = int(sizes @ times)
    steps = np.arange(min(2 * int(sizes.max()), drawn), dtype=np.float64)
    # Logarithms, since differences of the products would be lost in rounding.
    logs = np.concatenate([[0.0], np.cumsum(np.log(drawn - steps) - np.log(total - steps))])

    def log_chance(group: NDArray[np.int64]) -> NDArray[np.float64]:
        known = logs[np.minimum(group, len(logs) - 1)]
        return np.where(group <= drawn, known, -np.inf)

    chances = np.exp(log_chance(sizes))
    possible = sizes <= drawn
    sizes, times, chances = sizes[possible], times[possible], chances[possible]
    single = log_chance(sizes)
    together = log_chance(sizes[:, None] + sizes) - single[:, None] - single
    beyond = np.multiply.outer(sizes * chances, sizes * chances) * np.expm1(together)
    pairs = np.multiply.outer(times, times) - np.diag(times)
    own = float(times @ (sizes**2 * chances * (1 - chances)))
    alone = float(times @ (sizes * chances))
    return Agreement(drawn, found, drawn - alone, max(own + float((beyond * pairs).sum()), 0.0))


def late_notices(findings: Findings) -> Iterator[str]:
    """Yield what can be said after the measures: a target that nothing predicted."""
    for release in findings.releases:
        found = release.utility.prediction
        if found is None or not found.classifiers:
            continue
        best = float(np.nanmax([one.real_accuracy for one in found.classifiers]))
        if best <= found.baseline:
            yield (
                f"No classifier predicted the target {found.target!r} better than its most "
                f"frequent value ({percent(found.baseline)}), not even one that learnt from real "
                f"records ({percent(best)} at best). So the predictions do not tell how useful a "
                "release is."
            )
        return
