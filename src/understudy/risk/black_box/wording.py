"""What an attack on a black box tells its reader: notes, reasons and warnings."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from understudy.risk.black_box.cells import Cells
from understudy.risk.black_box.likelihood import Likelihood

ROWS_PER_CELL = 5
"""With fewer rows of the release in a cell than this, shares of cells are a coarse estimate."""

_LOG = logging.getLogger("understudy")


def counted(number: int, noun: str) -> str:
    """Return a number of things, in words.

    Examples
    --------
    >>> counted(1, "row"), counted(2_000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def warn_of_thin_cells(cells: Cells) -> None:
    """Warn if the release has few rows in its cells."""
    occupied, rows = len(cells.released.cells), int(cells.released.counts.sum())
    if occupied * ROWS_PER_CELL > rows:
        _LOG.warning(
            "The synthetic table has %s in %s. With so few in each, the estimated likelihood is "
            "coarse; choose fewer columns (cells=), or groups.",
            counted(rows, "row"),
            counted(occupied, "cell"),
        )


def tell_of_interruption(kept: int, path: Path) -> None:
    """Say what an interrupted attack has kept."""
    kept_now = f"{counted(kept, 'simulation')} {'is' if kept == 1 else 'are'} kept"
    _LOG.warning("Interrupted: %s in %s. The same call goes on from there.", kept_now, path)


def reasons_for(runs: int, prior: NDArray[np.float64]) -> dict[str, str]:
    """Return why a figure is undefined."""
    reasons = {}
    if runs < 2:
        reasons["mc_error"] = "a single run does not tell how much runs differ"
    excluded = int(np.count_nonzero(prior == 0))
    if excluded:
        reasons["gain_bits"] = f"the prior excludes the truth of {counted(excluded, 'record')}"
    return reasons


def notes_on(
    likelihood: Likelihood, runs: int, cells: Cells, withheld: Sequence[str]
) -> tuple[str, ...]:
    """Return what a reader of the result should know of its simulations."""
    worlds = len(likelihood.logs)
    each = "one world" if worlds == 1 else f"each of {worlds:,} worlds"
    notes = [
        f"{counted(runs, 'simulation')} of {each}; the likelihood is that of "
        f"{counted(cells.count, 'cell')}."
    ]
    dispersion = likelihood.dispersion
    if math.isfinite(dispersion.concentration):
        notes.append(
            f"Runs of one world differ by {dispersion.factor:.3g} times what chance gives, so the "
            "fit itself is random. The likelihood allows for that by a Dirichlet-multinomial, "
            "which is an approximation."
        )
    elif runs < 2:
        notes.append("A single run does not tell whether the fit is random; it is taken as fixed.")
    short = int(np.count_nonzero(likelihood.unreached))
    if short:
        notes.append(
            f"In {short:,} of {counted(worlds, 'world')} no simulation reached some cell of the "
            "release. Its probability there is the smoothing only, so a certain disclosure can "
            "show far below 1."
        )
    if withheld:
        notes.append(f"Not in the synthetic table: {', '.join(withheld)}.")
    return tuple(notes)
