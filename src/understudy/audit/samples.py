"""Random samples of tables, where all their records would take too long to learn from."""

from __future__ import annotations

import math

import numpy as np

from understudy.data.frames import Frame, to_narwhals
from understudy.utility.prediction_result import Prediction

LEARNT_FROM = 10_000
"""Records of a table that classifiers learn to predict the target from, at most.

The papers' support vector machine takes time in proportion to the square of the records: with all
of Adult's 48,842 the prediction takes fourteen times as long (102 s), and the mean accuracies of
both trainings are within half a point of those with samples.
"""
TESTED_ON = 10_000
"""Given test records that are predicted, at most: two standard errors are then within 1 point."""
TOLD_APART = 20_000
"""Records of both tables together that models learn to tell apart, at most."""
TEST_SHARE = 0.3
"""What is held out of the original where no test records are given."""


def prediction_tables(
    original: Frame, synthetic: Frame, test: Frame | None, seed: int
) -> tuple[Frame, Frame, Frame | None]:
    """Return the tables to predict with, or random samples of those that are too large.

    Parameters
    ----------
    original, synthetic, test
        The tables; without test records, some are to be held out of the original's.
    seed : int
        Decides the samples.
    """
    most = LEARNT_FROM if test is not None else math.ceil(LEARNT_FROM / (1 - TEST_SHARE))
    return (
        sample(original, most, seed, 0),
        sample(synthetic, LEARNT_FROM, seed, 1),
        None if test is None else sample(test, TESTED_ON, seed, 2),
    )


def sample(table: Frame, most: int, seed: int, stream: int = 0) -> Frame:
    """Return a table, or so many of its records in their order.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"x": range(9)})
    >>> sample(table, 4, seed=1).height, sample(table, 9, seed=1) is table
    (4, True)
    """
    frame = to_narwhals(table)
    if len(frame) <= most:
        return table
    drawn = np.random.default_rng([seed, stream]).choice(len(frame), most, replace=False)
    found: Frame = frame[np.sort(drawn).tolist()].to_native()
    return found


def prediction_note(found: Prediction, original: Frame, synthetic: Frame) -> str:
    """Say that the prediction is of samples, if it is."""
    rows, made = (len(to_narwhals(table)) for table in (original, synthetic))
    held_out = found.test_records if found.held_out == "split" else 0
    if found.records + held_out == rows and found.synthetic_records == made:
        return ""
    return (
        f"The target was predicted from random samples, for all records would take too long: "
        f"{found.records:,} of {rows:,} real records and {found.synthetic_records:,} of {made:,} "
        "synthetic ones."
    )
