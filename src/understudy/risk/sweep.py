"""Measures of disclosure over many sets of keys, and whether they just follow the keys' number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from understudy.arguments import is_whole
from understudy.data.frames import Backend, Frame
from understudy.errors import ParameterError, did_you_mean
from understudy.progress import track
from understudy.results import Result
from understudy.risk.key_tally import RATES, KeyCells, Tally
from understudy.risk.prepare import prepare
from understudy.risk.scenario import Scenario
from understudy.wording import percent, quoted


@dataclass(frozen=True)
class KeySet:
    """The measures for one set of keys.

    Parameters
    ----------
    keys : tuple of str
        The keys.
    distinct : int
        How many different combinations of their values the original holds.
    values : dict
        Each measure, as a fraction of 1; nan where it is undefined.
    """

    keys: tuple[str, ...]
    distinct: int
    values: dict[str, float]


@dataclass(frozen=True)
class SweepSummary:
    """How one measure varies over the sets of keys.

    Parameters
    ----------
    measure : str
        Its name.
    minimum, maximum, mean : float
        Over the sets of keys for which it is defined.
    minimum_keys, maximum_keys : tuple of str
        The first set of keys with that value; empty if it is defined for none.
    pearson, spearman : float
        Its correlation with the number of distinct combinations of the keys, and that of the
        ranks. Near 1 or -1, the measure says little more than how finely the keys cut.
    reasons : dict
        Why a field is nan.
    """

    measure: str
    minimum: float
    minimum_keys: tuple[str, ...]
    maximum: float
    maximum_keys: tuple[str, ...]
    mean: float
    pearson: float
    spearman: float
    reasons: dict[str, str]

    @classmethod
    def of(cls, measure: str, sets: Sequence[KeySet]) -> SweepSummary:
        """Summarize a measure over sets of keys."""
        defined = [held for held in sets if not math.isnan(held.values[measure])]
        values = np.array([held.values[measure] for held in defined])
        nan = math.nan
        if not len(values):
            fields = "minimum", "maximum", "mean", "pearson", "spearman"
            reasons = dict.fromkeys(fields, f"{measure} is undefined for every set of keys.")
            return cls(measure, nan, (), nan, (), nan, nan, nan, reasons)
        low, high = int(values.argmin()), int(values.argmax())
        distinct = np.array([held.distinct for held in defined], np.float64)
        pearson, spearman, reasons = nan, nan, {}
        constant = [
            name
            for name, held in ((measure, values), ("the number of distinct keys", distinct))
            if held.min() == held.max()
        ]
        if constant:
            reason = f"{constant[0]} is the same for every set of keys."
            reasons = {"pearson": reason, "spearman": reason}
        else:
            from scipy.stats import rankdata

            pearson = float(np.corrcoef(values, distinct)[0, 1])
            spearman = float(np.corrcoef(rankdata(values), rankdata(distinct))[0, 1])
        return cls(
            measure,
            float(values[low]),
            defined[low].keys,
            float(values[high]),
            defined[high].keys,
            math.fsum(values.tolist()) / len(values),
            pearson,
            spearman,
            reasons,
        )

    def __str__(self) -> str:
        if not self.minimum_keys:
            return f"{self.measure}: undefined for every set of keys."
        follows = (
            "There is no correlation with the number of distinct keys, as one of the two is "
            "constant."
            if math.isnan(self.pearson)
            else f"The correlation with the number of distinct keys is {self.pearson:.2f}."
        )
        return (
            f"{self.measure}: from {percent(self.minimum, 2)} ({quoted(self.minimum_keys)}) to "
            f"{percent(self.maximum, 2)} ({quoted(self.maximum_keys)}), on average "
            f"{percent(self.mean, 2)}. {follows}"
        )


@dataclass(frozen=True, eq=False)
class Sweep(Result):
    """Measures of disclosure for many sets of keys.

    Parameters
    ----------
    sensitive : str
        The sensitive attribute.
    sets : tuple of KeySet
        The measures for each set of keys, small sets first.
    summaries : dict of str to SweepSummary
        How each measure varies.
    """

    sensitive: str
    sets: tuple[KeySet, ...]
    summaries: dict[str, SweepSummary]

    def __getitem__(self, measure: str) -> SweepSummary:
        if measure not in self.summaries:
            hint = did_you_mean(str(measure), self.summaries)
            raise ParameterError(
                f"{measure!r} was not measured. The measures are {', '.join(self.summaries)}."
                f"{hint} Name others in `measures` of `sweep`."
            )
        return self.summaries[measure]

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return a table with a row for each set of keys."""
        rows = [
            {"keys": list(one.keys), "size": len(one.keys), "distinct": one.distinct, **one.values}
            for one in self.sets
        ]
        return self._framed(rows, backend)

    def summary(self) -> str:
        """Say how each measure varies, a line for each."""
        sets = "1 set" if len(self.sets) == 1 else f"{len(self.sets):,} sets"
        lines = [f"{sets} of keys for {self.sensitive!r}."]
        return "\n".join([*lines, *map(str, self.summaries.values())])


def sweep(  # noqa: PLR0913  # two tables, the sets of keys, and how values are coded
    original: Frame,
    synthetic: Frame,
    *,
    keys: Sequence[str],
    sensitive: str,
    sizes: int | Sequence[int] = (1, 2, 3, 4),
    measures: str | Sequence[str] = ("repu", "disco"),
    groups: Mapping[str, int] | None = None,
    special: Mapping[str, Sequence[float]] | None = None,
) -> Sweep:
    """Measure disclosure for every set of keys of some sizes.

    The choice of keys is a guess of what an attacker knows. A sweep shows how much hangs on it,
    and whether a measure does more than follow the number of different keys.

    Parameters
    ----------
    original, synthetic : frame
        The two tables.
    keys : sequence of str
        The columns to choose keys from.
    sensitive : str
        What the attacker wants to learn.
    sizes : int or sequence of int
        How many keys a set holds; sizes beyond the number of keys have no set.
    measures : str or sequence of str
        Measures by their names in `Disclosure`.
    groups, special : mapping, optional
        As for `disclosure`.

    Raises
    ------
    ParameterError
        If a size or a measure is not one, or a table lacks a column.
    DataError
        If a table has no rows, or tables hold values that cannot be compared.

    Examples
    --------
    >>> from understudy import load
    >>> survey = load("cmc")
    >>> found = sweep(survey, survey, keys=["age", "education"], sensitive="method")
    >>> found["repu"].maximum_keys, len(found.sets)
    (('age', 'education'), 3)
    """
    scenario = Scenario(keys, sensitive)
    sizes, measures = _sizes(sizes, scenario), _measures(measures)
    ready = prepare(original, [synthetic], scenario, groups=groups, special=special)
    tables = [ready.original, ready.syntheses[0]]
    chosen = [names for size in sorted(set(sizes)) for names in combinations(scenario.keys, size)]
    found = []
    for names in track(chosen, "Counting sets of keys"):
        cells = KeyCells.of(tables, names, sensitive)
        rates, _ = Tally.of(cells).rates()
        distinct = int(np.count_nonzero(cells.per_key(cells.counts[0])))
        found.append(KeySet(names, distinct, {name: rates[name] for name in measures}))
    summaries = {name: SweepSummary.of(name, found) for name in measures}
    return Sweep(sensitive, tuple(found), summaries, _backend=ready.backend)


def _sizes(sizes: int | Sequence[int], scenario: Scenario) -> list[int]:
    listed = _listed(sizes)
    wrong = [size for size in listed if not is_whole(size) or size < 1]
    if wrong:
        raise ParameterError(f"sizes must be whole numbers from 1; got {wrong[0]!r}.")
    if not any(size <= len(scenario.keys) for size in listed):
        raise ParameterError(
            f"sizes: there are {len(scenario.keys)} keys, so there is no set of {listed} keys."
        )
    return [int(size) for size in listed]


def _listed(given: object) -> list[Any]:
    """Return what a user gives as a list: one thing, or several."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        return [given]
    return list(given)


def _measures(measures: str | Sequence[str]) -> list[str]:
    listed = _listed(measures)
    unknown = [name for name in listed if name not in RATES]
    if unknown:
        raise ParameterError(
            f"There is no measure {unknown[0]!r}.{did_you_mean(str(unknown[0]), RATES)}"
        )
    return listed
