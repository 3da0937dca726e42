"""The arguments of an attack on a black box, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from understudy.errors import DataError, ParameterError, unknown_columns
from understudy.risk.black_box.candidates import Candidates
from understudy.risk.black_box.command import Command
from understudy.risk.black_box.simulator import Synthesize
from understudy.risk.black_box.wording import counted
from understudy.risk.posterior.priors import check_records
from understudy.synthesis.blocks import RandomState, seed_of


@dataclass(frozen=True)
class Settings:
    """How worlds are simulated, checked."""

    synthesize: Synthesize | Command
    runs: int
    smoothing: float
    processes: int
    seeds: tuple[int, ...]

    def __post_init__(self) -> None:
        if not callable(self.synthesize):
            raise ParameterError(
                "synthesize is a function of a frame and a seed, or a command line; got "
                f"{self.synthesize!r}."
            )
        whole_number("processes", self.processes)
        number = isinstance(self.smoothing, int | float | np.number)
        if not number or isinstance(self.smoothing, bool) or not 0 < self.smoothing < math.inf:
            raise ParameterError(
                f"smoothing is a number above 0; got {self.smoothing!r}. Without it, a cell that "
                "the simulations happen to miss would be impossible."
            )


def column_names(argument: str, names: object) -> tuple[str, ...]:
    """Return one column or several as a tuple of names."""
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, Sequence) or not names:
        raise ParameterError(f"{argument} is a column or a list of columns; got {names!r}.")
    return tuple(names)


def refuse_others(argument: str, names: Sequence[str], columns: Sequence[str]) -> None:
    """Raise unless `names` are columns, each named once."""
    problems = unknown_columns(names, columns)
    if problems:
        raise ParameterError(f"{argument}: {' '.join(problems)}")
    if len(set(names)) < len(names):
        raise ParameterError(f"{argument} names a column twice: {', '.join(names)}.")


def checked_groups(groups: object, columns: Sequence[str]) -> dict[str, int]:
    """Return which columns are put in how many groups."""
    if groups is None:
        return {}
    if not isinstance(groups, Mapping):
        raise ParameterError(f"groups is a mapping, such as {{'age': 5}}; got {groups!r}.")
    refuse_others("groups", list(groups), columns)
    return dict(groups)


def cell_columns(
    cells: str | Sequence[str] | None, columns: Sequence[str], released: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns that make up a cell, and those that the release lacks."""
    withheld = tuple(name for name in columns if name not in released)
    if cells is not None:
        chosen = column_names("cells", cells)
        refuse_others("cells", chosen, columns)
        return chosen, withheld
    shared = tuple(name for name in columns if name in released)
    if not shared:
        raise DataError("The original and the synthetic table have no column in common.")
    return shared, withheld


def whole_number(argument: str, value: object) -> int:
    """Return a whole number from 1, or raise."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < 1:  # type: ignore[operator]
        raise ParameterError(f"{argument} is a whole number from 1; got {value!r}.")
    return int(value)  # type: ignore[call-overload, no-any-return]


def run_seeds(random_state: RandomState, runs: int) -> tuple[int, ...]:
    """Return a seed for each run, all different, that any program can take.

    More runs begin with the same seeds.
    """
    rng = np.random.default_rng(seed_of(random_state))
    seeds: dict[int, None] = {}
    while len(seeds) < runs:
        seeds[int(rng.integers(2**31))] = None
    return tuple(seeds)


def attacked_records(
    records: Sequence[int] | ArrayLike | None, rows: int, candidates: Candidates
) -> NDArray[np.int64]:
    """Return the attacked row numbers, after making sure that their truth is a candidate."""
    chosen = check_records(records, rows)
    lost = chosen[candidates.truth[chosen] < 0]
    if len(lost):
        others = counted(len(lost) - 1, "other")
        more = f" (and {others})" if len(lost) > 1 else ""
        raise ParameterError(
            f"candidates: the true values of record {lost[0]}{more} are not among them. Add them, "
            "or leave such records out (records=)."
        )
    return chosen
