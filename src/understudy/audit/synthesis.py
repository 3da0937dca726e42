"""One table of a release, made ready to be measured."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from understudy.audit.task import Given, Task
from understudy.data.frames import Frame
from understudy.data.joint_coding import CodedTables, EncodedTable, encode
from understudy.errors import DataError, ParameterError
from understudy.learning.jobs import Remembered
from understudy.risk.prepare import Prepared, prepared_from
from understudy.risk.scenario import Scenario


@dataclass(frozen=True, eq=False)
class Synthesis:
    """One table of a release, made ready.

    Parameters
    ----------
    task : Task
        What the audit is about.
    given : Given
        The release.
    number : int
        Which of its tables this is, from 1.
    table : frame
        The table.
    tables : CodedTables
        "original" and "synthetic", and "control" and "test" if there are such; each column of each
        is coded when it is first used, and once for all measures.
    columns : tuple of str
        What is compared with the original: identifiers are not.
    remembered : Remembered
        What classifiers guessed that learnt from the original, for all syntheses.
    """

    task: Task
    given: Given
    number: int
    table: Frame
    tables: CodedTables
    columns: tuple[str, ...]
    remembered: Remembered

    @cached_property
    def prepared(self) -> Prepared:
        """Keys and sensitive attribute of all tables, coded alike."""
        scenario = self.task.scenario
        groups = self.task.groups_of((*scenario.keys, scenario.sensitive))
        return prepared_from(
            self.tables, scenario, groups=groups or None, tolerance=self.task.tolerance
        )

    def with_fewer_sets(self, most: int) -> tuple[Prepared, str]:
        """Return tables whose attack has at most so many sets of keys, and what was left out."""
        scenario = self.prepared.scenario
        if len(scenario) <= most:
            return self.prepared, ""
        note = (
            f"{most:,} of the {len(scenario):,} sets of keys, drawn at random: all of them would "
            "take too long."
        )
        return replace(self.prepared, scenario=DrawnSets(scenario, most, self.task.seed)), note


@dataclass(frozen=True, init=False)
class DrawnSets(Scenario):
    """A scenario of which only some sets of keys are attacked, drawn at random.

    Parameters
    ----------
    scenario : Scenario
        What the attacker knows and wants.
    count : int
        How many sets are drawn, fewer than there are.
    seed : int
        Decides which.

    Examples
    --------
    >>> drawn = DrawnSets(Scenario(["a", "b", "c", "d"], "s", known=2), 3, seed=1)
    >>> len(drawn), all(len(keys) == 2 for keys in drawn.subsets())
    (3, True)
    """

    chosen: tuple[tuple[str, ...], ...] = field(default=())

    def __init__(self, scenario: Scenario, count: int, seed: int) -> None:
        for name in ("keys", "sensitive", "known"):
            object.__setattr__(self, name, getattr(scenario, name))
        rng = np.random.default_rng(seed)
        places: set[tuple[int, ...]] = set()
        while len(places) < count:
            drawn = rng.choice(len(self.keys), self.known or len(self.keys), replace=False)
            places.add(tuple(sorted(drawn.tolist())))
        chosen = tuple(tuple(self.keys[place] for place in drawn) for drawn in sorted(places))
        object.__setattr__(self, "chosen", chosen)

    def subsets(self) -> Iterator[tuple[str, ...]]:
        """Yield the sets of keys that are attacked, in the order of the keys."""
        return iter(self.chosen)

    def __len__(self) -> int:
        """Return how many sets of keys are attacked."""
        return len(self.chosen)


def encoded(task: Task) -> dict[str, EncodedTable]:
    """Return the original, and the control and test records if there are such, encoded once."""
    tables = {"original": task.original, "control": task.control, "test": task.test}
    return {name: encode(table) for name, table in tables.items() if table is not None}


def made_ready(
    task: Task,
    given: Given,
    real: Mapping[str, EncodedTable],
    left_out: Collection[str],
    remembered: Remembered,
) -> list[Synthesis]:
    """Return the tables of a release, each coded together with the original, once for all measures.

    Parameters
    ----------
    task, given : Task and Given
        What the audit is about, and the release.
    real : mapping
        The tables that are not synthetic, from `encoded`.
    left_out : collection of str
        Columns that are not compared.
    remembered : Remembered
        What classifiers guessed that learnt from the original.
    """
    found = []
    for number, table in enumerate(given.tables, 1):
        compared = tuple(name for name in task.shared_columns(table) if name not in left_out)
        try:
            tables = CodedTables.of({"original": real["original"], "synthetic": table, **real}, ())
            made = Synthesis(task, given, number, table, tables, compared, remembered)
            if not task.scenario.is_empty:
                _ = made.prepared  # what cannot be compared is told here
        except (ParameterError, DataError) as error:
            if len(task.releases) == 1 and len(given.tables) == 1:
                raise
            which = f"{given.name}, table {number}" if len(given.tables) > 1 else given.name
            raise type(error)(f"{which}: {error}") from error
        found.append(made)
    return found
