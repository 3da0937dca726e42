"""Identity and attribute disclosure by matching: repU, DiSCO and their relatives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Required, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Coded
from understudy.data.frames import Frame
from understudy.errors import ParameterError
from understudy.intervals import wilson_interval
from understudy.risk.compared_tables import listed_releases
from understudy.risk.disclosure_result import (
    ControlDisclosure,
    Disclosure,
    Disclosures,
    OneWayCheck,
    TwoWayCheck,
)
from understudy.risk.exclusions import Rules
from understudy.risk.kept_back import People, compare_people, newcombe_interval
from understudy.risk.key_tally import KeyCells, Tally
from understudy.risk.prepare import Prepared, prepare
from understudy.risk.scenario import Scenario

Pairs = Sequence[tuple[str, object, object]]
Threshold = tuple[int, float]
"""A number of records and a share, both to be exceeded."""

ONE_WAY: Threshold = (50, 0.9)
TWO_WAY: Threshold = (4, 0.8)


class Options(TypedDict, total=False):
    """What `disclosure` takes besides the tables."""

    keys: Required[str | Sequence[str]]
    sensitive: Required[str]
    groups: Mapping[str, int] | None
    special: Mapping[str, Sequence[float]] | None
    missing_target: bool
    missing_keys: bool | Mapping[str, bool]
    exclude_levels: Sequence[object]
    exclude: Pairs
    largest_cell: int | None
    one_way: Threshold
    two_way: Threshold
    control: Frame | None
    confidence: float


@overload
def disclosure(
    original: Frame, synthetic: list[Any] | tuple[Any, ...], **options: Unpack[Options]
) -> Disclosures: ...


@overload
def disclosure(original: Frame, synthetic: Frame, **options: Unpack[Options]) -> Disclosure: ...


def disclosure(  # noqa: PLR0913  # the options of the measure that it is compared with
    original: Frame,
    synthetic: Frame | list[Any] | tuple[Any, ...],
    *,
    keys: str | Sequence[str],
    sensitive: str,
    groups: Mapping[str, int] | None = None,
    special: Mapping[str, Sequence[float]] | None = None,
    missing_target: bool = True,
    missing_keys: bool | Mapping[str, bool] = True,
    exclude_levels: Sequence[object] = (),
    exclude: Pairs = (),
    largest_cell: int | None = None,
    one_way: Threshold = ONE_WAY,
    two_way: Threshold = TWO_WAY,
    control: Frame | None = None,
    confidence: float = 0.95,
) -> Disclosure | Disclosures:
    """Measure whom a release shows again, and whose sensitive value it tells.

    Every value of keys and sensitive attribute counts as it is: numbers by their exact value,
    missing as a value like any other, unless an option says otherwise.

    Parameters
    ----------
    original : frame, FileStream or DataFrame of Spark
        The original table.
    synthetic : the same, or a list
        The synthetic table; several are measured one by one, and all of them together.
    keys : sequence of str
        What an attacker knows of a person.
    sensitive : str
        What the attacker wants to learn.
    groups : mapping, optional
        Numeric columns to put into so many groups, by quantiles of the original alone. (synthpop
        takes the limits from all tables together, so that its figures for the original depend on
        the syntheses.)
    special : mapping, optional
        Numbers of a grouped column that stay as they are, such as -8.
    missing_target : bool
        False leaves out records whose sensitive value is missing.
    missing_keys : bool or mapping of str to bool
        False leaves out records that miss a key; a mapping says so for some of the keys.
    exclude_levels : sequence
        Sensitive values to leave out; None stands for missing.
    exclude : sequence of (str, level, level)
        A key, its level, and the sensitive value of records to leave out.
    largest_cell : int, optional
        In each count, a cell (key and sensitive value) with more records than this is left out.
    one_way, two_way : (int, float)
        A number of records and a share, beyond which `check_1way` and `check_2way` point out a
        value.
    control : frame, optional
        Records like the original's that were not used for the synthesis.
    confidence : float
        The confidence of the intervals.

    Returns
    -------
    Disclosure or Disclosures
        One result; for a list of syntheses, all of them with their means.

    Raises
    ------
    ParameterError
        If a table lacks a column, the sensitive attribute is among the keys, or an option names
        what is not there.
    DataError
        If a table has no rows, or tables hold values that cannot be compared.

    Notes
    -----
    Records that are left out leave each count, and never a denominator. What is disclosive is
    decided before, on the whole tables; what is unique, and the shares behind `cap_d`, `cap_s` and
    `dcap`, on what is left. `base_cap` and the constant guess are always those of whole tables.

    References
    ----------
    .. [1] Raab, G. M., Nowok, B., Dibben, C. (2024). Practical privacy metrics for synthetic data.
       arXiv:2406.16826.
    .. [2] Latner, J., Neunhoeffer, M., Drechsler, J. Buyer Beware: Understanding the trade-off
       between utility and risk in CART based models using simulation data.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"age": [30, 31, 31, 32], "ill": ["y", "n", "y", "n"]})
    >>> synthetic = pl.DataFrame({"age": [30, 31, 32, 32], "ill": ["y", "n", "n", "y"]})
    >>> found = disclosure(original, synthetic, keys=["age"], sensitive="ill")
    >>> found.repu, found.disco  # only 30; one of ages 30 and 31, and the other 31 is wrong
    (0.25, 0.5)
    """
    scenario = Scenario(keys, sensitive)
    _check_threshold("one_way", one_way)
    _check_threshold("two_way", two_way)
    several = isinstance(synthetic, list | tuple)
    ready = prepare(
        original,
        listed_releases(synthetic),
        scenario,
        control=control,
        groups=groups,
        special=special,
    )
    rules = Rules.of(
        scenario,
        ready.levels,
        missing_target=missing_target,
        missing_keys=missing_keys,
        exclude_levels=exclude_levels,
        exclude=exclude,
        largest_cell=largest_cell,
    )
    attack = _Attack(ready, rules, one_way, two_way, confidence)
    found = tuple(attack.on(table) for table in ready.syntheses)
    if not several:
        return found[0]
    pooled = attack.on(ready.released) if len(found) > 1 else found[0]
    return Disclosures(found, pooled, _backend=ready.backend)


def disclosure_of(ready: Prepared) -> Disclosure:
    """Measure tables that are coded already, with the standard options, for all keys.

    Several synthetic tables are measured together.
    """
    every = replace(ready, scenario=Scenario(ready.scenario.keys, ready.scenario.sensitive))
    return _Attack(every, Rules(), ONE_WAY, TWO_WAY, 0.95).on(every.released)


@dataclass(frozen=True, eq=False)
class _Attack:
    """What is the same for all syntheses."""

    ready: Prepared
    rules: Rules
    one_way: Threshold
    two_way: Threshold
    confidence: float

    def on(self, synthetic: Coded) -> Disclosure:
        """Measure one synthesis."""
        ready, scenario = self.ready, self.ready.scenario
        tables = [ready.original, synthetic]
        if ready.control is not None:
            tables.append(ready.control)
        cells = KeyCells.of(tables, scenario.keys, scenario.sensitive)
        tally = Tally.of(cells, self.rules)
        rates, reasons = tally.rates()
        told = tally["disco"]
        sizes = told[told > 0]
        if not len(sizes):
            reasons["mean_cell"] = "No record is disclosed."
        interval = self._interval(rates["disco"], tally.rows)
        return Disclosure(
            scenario=scenario,
            n_original=tally.rows,
            n_synthetic=tally.synthetic_rows,
            **rates,
            max_cell=int(sizes.max(initial=0)),
            mean_cell=float(sizes.mean()) if len(sizes) else math.nan,
            constant=ready.levels[scenario.sensitive].value(tally.constant),
            repu_interval=self._interval(rates["repu"], tally.rows),
            disco_interval=interval,
            check_1way=self._one_way(tally),
            check_2way=self._two_way(tally),
            exclusions=replace(tally.exclusions, _backend=ready.backend),
            control=None if ready.control is None else self._control(tally, rates, interval),
            reasons=reasons,
            _tally=tally,
            _backend=ready.backend,
        )

    def _interval(self, share: float, rows: int) -> tuple[float, float]:
        return wilson_interval(round(share * rows), rows, self.confidence)

    def _control(
        self, own: Tally, members: Mapping[str, float], interval: tuple[float, float]
    ) -> ControlDisclosure:
        tally = Tally.of(own.cells, self.rules, table=2)
        rates, _ = tally.rates()
        low, high = self._interval(rates["disco"], tally.rows)
        disco = rates["disco"]
        difference = members["disco"] - disco
        return ControlDisclosure(
            records=tally.rows,
            disco=disco,
            dcap=rates["dcap"],
            disco_gain=rates["disco_gain"],
            disco_interval=(low, high),
            disco_difference=difference,
            dcap_difference=members["dcap"] - rates["dcap"],
            difference_interval=newcombe_interval(
                (members["disco"], interval), (disco, (low, high))
            ),
            compared=compare_people(_people(own), _people(tally)),
        )

    def _one_way(self, tally: Tally) -> OneWayCheck | None:
        """Return the sensitive value that is disclosed most often, None if nothing is disclosed."""
        original, value = tally["original"], tally.cells.value
        by_level = _sums(value, tally["disco"])
        total = int(by_level.sum())
        if not total:
            return None
        code = int(by_level.argmax())  # of equals, the first in the order of levels
        found = int(by_level[code])
        return OneWayCheck(
            self.ready.levels[self.ready.scenario.sensitive].value(code),
            int(original.sum()),
            int(original[value == code].sum()),
            total,
            found,
            flagged=found > self.one_way[0] and found / total > self.one_way[1],
        )

    def _two_way(self, tally: Tally) -> tuple[TwoWayCheck, ...]:
        """Return the levels of keys that tell the sensitive value by themselves.

        Those that tell it of the most records come first. No original record is left out here.
        """
        cells, disclosed, decode = tally.cells, tally["disco"], self.ready.levels
        original, target = cells.counts[0], self.ready.scenario.sensitive
        large = disclosed > self.two_way[0]
        if not large.any():
            return ()
        found = []
        values = len(decode[target])
        for name in self.ready.scenario.keys:
            codes = cells.examples[name].astype(np.int64)
            key_records = _sums(codes, original)
            joint = codes * values + cells.value
            pairs, place = np.unique(joint[large], return_inverse=True)
            told = _sums(place, disclosed[large])
            wanted = np.searchsorted(pairs, joint)
            wanted[wanted == len(pairs)] = 0
            ours = pairs[wanted] == joint
            both = _sums(wanted[ours], original[ours])
            found += [
                TwoWayCheck(
                    name,
                    decode[name].value(pair // values),
                    decode[target].value(pair % values),
                    *(int(told[at]), int(both[at]), int(key_records[pair // values])),
                )
                for at, pair in sorted(enumerate(pairs.tolist()), key=lambda item: item[1] % values)
                if both[at] / key_records[pair // values] > self.two_way[1]
            ]
        # The sort is stable: of equals, the earlier key and the earlier value come first.
        return tuple(sorted(found, key=lambda check: -check.disclosed))


def _people(tally: Tally) -> People:
    """Return who is disclosed, and whose sensitive values are the same."""
    told = tally.flags()["correct"].astype(np.float64)
    values = tally.cells.value[tally.cells.cell_of[tally.table]]
    times = tally.cells.weights[tally.table]
    if times is not None:
        told, values = np.repeat(told, times), np.repeat(values, times)
    return People(told, values)


def _check_threshold(name: str, threshold: Threshold) -> None:
    try:
        records, share = threshold
        good = records >= 0 and 0 <= share <= 1
    except (TypeError, ValueError):
        good = False
    if not good:
        raise ParameterError(
            f"{name} must be a number of records and a share between 0 and 1, such as {ONE_WAY}; "
            f"got {threshold!r}."
        )


def _sums(codes: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    # Sums of counts below 2**53 are exact in the floats that bincount adds.
    return np.bincount(codes, counts).astype(np.int64)
