"""Whether a release holds the original's records themselves."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from understudy.audit.findings import NAN
from understudy.audit.measures.declaration import Collected, Measure
from understudy.audit.synthesis import Synthesis
from understudy.counting import group_ids
from understudy.data.coded import Coded
from understudy.data.frames import Frame
from understudy.data.joint_coding import code_together


def copied_records(original: Frame, synthetic: Frame, columns: Sequence[str]) -> tuple[float, int]:
    """Return the share of the original's one-of-a-kind records that the release holds.

    Parameters
    ----------
    original, synthetic : frame
        The original table and the release.
    columns : sequence of str
        The columns that are compared; all of them must agree.

    Returns
    -------
    share : float
        nan if every original record is like another one.
    records : int
        Original records that no other one is like.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"age": [30, 30, 40, 50], "job": ["a", "a", "b", "c"]})
    >>> copied_records(original, original[2:3], ["age", "job"])  # of (40, b) and (50, c), one
    (0.5, 2)
    """
    tables = code_together({"original": original, "synthetic": synthetic}, list(columns))
    both = Coded.concatenate([tables["original"], tables["synthetic"]])
    groups = group_ids(both, both.names)
    own = np.bincount(groups.ids[: len(tables["original"])], minlength=groups.count)
    released = np.bincount(groups.ids[len(tables["original"]) :], minlength=groups.count)
    alone = own == 1
    if not alone.any():
        return math.nan, 0
    return float(np.mean(released[alone] > 0)), int(np.count_nonzero(alone))


def _run(synthesis: Synthesis) -> tuple[float, int]:
    return copied_records(synthesis.task.original, synthesis.table, synthesis.columns)


def _collect(_first: Synthesis, found: Sequence[tuple[float, int]]) -> Collected:
    shares, counts = zip(*found, strict=True)
    return Collected(
        release={"copied": max(shares, default=NAN), "one_of_a_kind": max(counts, default=0)}
    )


COPIES = Measure("copies", "looking for copies", _run, _collect)
