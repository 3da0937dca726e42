"""The nearest-neighbour attack: guess what the most similar record of the release has."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_seed, check_whole, is_number
from understudy.counting import mutual_information
from understudy.data.coded import Coded
from understudy.data.frames import Backend, Frame
from understudy.data.joint_coding import CodedTables
from understudy.data.levels import Levels
from understudy.errors import DataError, ParameterError
from understudy.intervals import wilson_interval
from understudy.results import Line, Result
from understudy.risk.chance import agreement, gain_error
from understudy.risk.compared_tables import listed_releases
from understudy.risk.kept_back import Compared, People, compare_people, strata_of
from understudy.risk.linking import Linker, Rows, drawn_people
from understudy.risk.prepare import Prepared, prepared_from, tables_of
from understudy.risk.rank_groups import rank_groups
from understudy.risk.scenario import Baseline, Scenario
from understudy.risk.tolerance import FEW_NUMBERS, NumberTarget, Tolerance, sizes_of
from understudy.wording import percent

Weights = Mapping[str, float] | Literal["telling", "equal"]
Codes = NDArray[np.int64]
LEAST_WEIGHT = 0.1
"""A key that tells nothing still tells people apart, and counts for so much of the most telling."""
TIES = 16
"""So many records that are equally near have a say."""
TITLE = ("nearest neighbour", "most similar record")


@dataclass(frozen=True, eq=False)
class NearestNeighbour(Result):
    """What is guessed from the most similar records of a release; `nearest_neighbour` makes it.

    Parameters
    ----------
    scenario : Scenario
        What the attacker knows and wants.
    tolerance : Tolerance or None
        How far off a guess of a number or date may be.
    neighbours : int
        How many of the nearest records have a say.
    weights : dict
        How much each key counts, the most telling one as 1.
    records, control_records : int
        How many people were attacked: those with a value to guess.
    accuracy, interval : float, tuple of float
        Share of correct guesses, and Wilson's 95% interval.
    baseline : Baseline
        What is reached without the release, among all people of the original.
    gain, gain_error : float
        `accuracy` less the zero rule of the baseline, and its standard error.
    excess, p_value : float
        What the accuracy has beyond chance (the same guesses dealt out among people at random), and
        how often chance alone gives as much.
    control : float
        Share of correct guesses of control records; nan without any.
    compared : Compared or None
        People in the data beside people kept back.
    reasons : dict
        Why a figure is undefined, and what was left out.
    """

    scenario: Scenario
    tolerance: Tolerance | None
    neighbours: int
    weights: dict[str, float]
    records: int
    control_records: int
    accuracy: float
    interval: tuple[float, float]
    baseline: Baseline
    gain: float
    gain_error: float
    excess: float
    p_value: float
    control: float
    compared: Compared | None
    reasons: dict[str, str]
    _people: Guessed = field(repr=False)
    _levels: Levels = field(repr=False)

    def per_record(self, *, backend: Backend | None = None) -> Frame:
        """Return `record` (from 0), `distance`, `guess` and `right` for each person attacked."""
        import polars as pl

        held = self._people
        different, places = np.unique(held.guesses, return_inverse=True)
        labels = self._levels.labels_of(different)
        frame = pl.DataFrame(
            {
                "record": held.rows.astype(np.uint32),
                "distance": held.distance,
                "guess": pl.Series(labels, dtype=pl.String).gather(places),
                "right": held.right,
            }
        )
        return self._framed(frame, backend)

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each key with its weight."""
        content = {"key": list(self.weights), "weight": list(self.weights.values())}
        return self._framed(content, backend)

    def summary(self) -> str:
        """Return the result in a few sentences."""
        control = (
            f" For people who are not in the data it is {percent(self.control)}."
            if self.compared
            else ""
        )
        return (
            f"An attacker who takes {self.scenario.sensitive!r} from the most similar record of "
            f"the release guesses it correctly for {percent(self.accuracy)} of {self.records:,} "
            f"people. Without the release it is {percent(self.baseline.zero_rule)}.{control}"
        )

    def lines(self) -> Sequence[Line]:
        """Return the attack beside its references."""
        return [Line(*TITLE, self.baseline, self.accuracy, control=self.control, gain=self.gain)]


@dataclass(frozen=True, eq=False)
class Guessed:
    """What is guessed of some people: codes, and which are right."""

    rows: Rows
    distance: NDArray[np.float64]
    guesses: Codes
    truths: Codes
    right: NDArray[np.bool_]


def nearest_neighbour(  # noqa: PLR0913  # the tables, the attacker, the neighbours and the sample
    original: Frame,
    synthetic: Frame | Sequence[Frame],
    *,
    keys: str | Sequence[str],
    sensitive: str,
    neighbours: int = 1,
    weights: Weights = "telling",
    tolerance: Tolerance | float | dt.timedelta | str | None = None,
    control: Frame | None = None,
    groups: Mapping[str, int] | None = None,
    people: int | None = None,
    random_state: int = 0,
) -> NearestNeighbour:
    """Guess the sensitive attribute from the records of the release that are most similar.

    Keys that are numbers or dates count by how far apart they are, so that a key that is a little
    off still finds its record.

    Parameters
    ----------
    original, synthetic : frame
        The original table and the release; of several releases in a list, the nearest records of
        all of them count.
    keys, sensitive
        What an attacker knows, and wants.
    neighbours : int
        How many of the nearest records have a say; others that are as near have one, too.
    weights : {"telling", "equal"} or mapping
        How much each key counts; see the notes. A mapping has a number from 0 to 1 for each key.
    tolerance, control, groups
        As in `attribution`.
    people : int, optional
        How many people are attacked, drawn at random; all if not given.
    random_state : int
        Decides who is drawn.

    Returns
    -------
    NearestNeighbour

    Raises
    ------
    ParameterError, DataError
        As for `attribution`.

    Notes
    -----
    The distance is that of `understudy.learning.mixed_distance`: the sum over the keys of the
    weight times the difference in the original's ranks (numbers and dates) or times 0 or 1 (all
    else). The weight of a key is the mutual information between it and the sensitive attribute in
    the release, less what chance gives (Miller and Madow), divided by that of the most telling key,
    but at least 0.1: a key that tells nothing about the attribute still tells people apart. Numbers
    are put into 20 groups for this. If no key tells anything, all count the same.

    The guess is the most frequent value among the neighbours, of equally frequent ones that of the
    nearest; of numbers the middle one, of two the lower.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"pay": [100.0, 200.0, 300.0, 400.0], "ill": list("nyny")})
    >>> release = original.with_columns(pl.col("pay") + 3)
    >>> found = nearest_neighbour(original, release, keys="pay", sensitive="ill")
    >>> found.accuracy, found.baseline.zero_rule
    (1.0, 0.5)
    """
    check_whole("neighbours", neighbours, 1)
    check_seed(random_state)
    scenario = Scenario(keys, sensitive)
    tables = tables_of(original, listed_releases(synthetic), control)
    prepared = prepared_from(tables, scenario, groups=groups, tolerance=tolerance)
    return nearest_neighbour_of(
        tables,
        prepared,
        neighbours=neighbours,
        weights=weights,
        people=people,
        random_state=random_state,
    )


def nearest_neighbour_of(
    tables: CodedTables,
    prepared: Prepared,
    *,
    neighbours: int = 1,
    weights: Weights = "telling",
    people: int | None = None,
    random_state: int = 0,
) -> NearestNeighbour:
    """Attack tables that are coded already; see `nearest_neighbour`."""
    scenario = Scenario(prepared.scenario.keys, prepared.scenario.sensitive)
    name, number = scenario.sensitive, prepared.number
    counted = _weights(prepared, weights)
    told = prepared.released[name].astype(np.int64)
    among = None
    if number is not None:
        among = np.flatnonzero(number.known(told))
        if not len(among):
            raise DataError(f"The synthetic table has no number in {name!r} to guess from.")
    linker = Linker.of(tables, scenario.keys, counted)

    def attacked(which: str, table: Coded) -> Guessed:
        rows = drawn_people(len(table), people, random_state)
        truths = table[name][rows].astype(np.int64)
        if number is not None:
            known = number.known(truths)
            rows, truths = rows[known], truths[known]
        distance, found = linker.nearest(which, rows, count=neighbours + TIES - 1, among=among)
        guesses = _voted(told[found], distance, neighbours, numbers=number is not None)
        right = _right(guesses, truths, number)
        return Guessed(rows, distance[:, 0], guesses, truths, right)

    own = attacked("original", prepared.original)
    outside = None if prepared.control is None else attacked("control", prepared.control)
    return _result(prepared, scenario, counted, neighbours, own, outside)


def _voted(told: Codes, distance: NDArray[np.float64], neighbours: int, *, numbers: bool) -> Codes:
    """Return the guess of the nearest records and those as near as the last of them."""
    voices = distance <= distance[:, min(neighbours, told.shape[1]) - 1, None]
    if numbers:
        # Those without a voice come last.
        ordered = np.sort(np.where(voices, told, np.iinfo(np.int64).max), axis=1)
        middle = (voices.sum(axis=1) - 1) // 2
        return np.take_along_axis(ordered, middle[:, None], axis=1)[:, 0]
    votes = np.stack(
        [((told == told[:, [place]]) & voices).sum(axis=1) for place in range(told.shape[1])]
    )
    votes = np.where(voices.T, votes, 0)
    return np.take_along_axis(told, votes.argmax(axis=0)[:, None], axis=1)[:, 0]


def _right(guesses: Codes, truths: Codes, number: NumberTarget | None) -> NDArray[np.bool_]:
    if number is None:
        equal: NDArray[np.bool_] = guesses == truths
        return equal
    first, last = number.code_limits
    return (first[truths] <= guesses) & (guesses <= last[truths])


def _weights(prepared: Prepared, wanted: Weights) -> dict[str, float]:
    keys = prepared.scenario.keys
    if isinstance(wanted, str):
        if wanted not in ("telling", "equal"):
            raise ParameterError(
                f"weights must be 'telling', 'equal' or a mapping of keys to numbers; "
                f"got {wanted!r}."
            )
        return telling_weights(prepared) if wanted == "telling" else dict.fromkeys(keys, 1.0)
    unknown = [name for name in wanted if name not in keys]
    if unknown:
        raise ParameterError(f"weights: {unknown[0]!r} is not among the keys {', '.join(keys)}.")
    for value in wanted.values():
        if not (is_number(value) and 0 <= value <= 1):
            raise ParameterError(f"weights must be numbers from 0 to 1; got {value!r}.")
    return {name: float(wanted.get(name, 1.0)) for name in keys}


def telling_weights(prepared: Prepared) -> dict[str, float]:
    """Return how much each key tells about the sensitive attribute in the release, at most 1.

    See the notes of `nearest_neighbour`.
    """
    scenario = prepared.scenario
    released = prepared.released
    names = (*scenario.keys, scenario.sensitive)
    arrays = {name: _coarse(released[name], prepared.levels[name]) for name in names}
    coarse = Coded.from_arrays(arrays)
    secret = scenario.sensitive
    different = {name: int(np.count_nonzero(np.bincount(coarse[name]))) for name in names}
    told = {}
    for name in scenario.keys:
        chance = (different[name] - 1) * (different[secret] - 1) / (2 * len(coarse) * math.log(2))
        told[name] = max(mutual_information(coarse, name, secret) - chance, 0.0)
    most = max(told.values())
    if most <= 0:
        return dict.fromkeys(scenario.keys, 1.0)
    return {name: max(value / most, LEAST_WEIGHT) for name, value in told.items()}


def _coarse(codes: NDArray[np.integer], levels: Levels) -> Codes:
    """Return codes, those of many numbers or dates in groups of about the same size."""
    numbers = sizes_of(levels)
    if numbers is None or len(levels) <= FEW_NUMBERS:
        return codes.astype(np.int64)
    return rank_groups(codes, np.isnan(numbers[codes]), FEW_NUMBERS)


def _result(
    prepared: Prepared,
    scenario: Scenario,
    weights: dict[str, float],
    neighbours: int,
    own: Guessed,
    outside: Guessed | None,
) -> NearestNeighbour:
    number, name = prepared.number, scenario.sensitive
    beyond = agreement(own.guesses, own.truths, number)
    baseline = _baseline(prepared)
    hits, total = int(own.right.sum()), len(own.right)
    accuracy = hits / total if total else math.nan
    error = gain_error(own.right, own.truths, baseline.zero_rule, number=number)
    compared, reasons = None, {}
    if outside is not None:
        strata = strata_of(own.truths, outside.truths, numbers=number is not None)
        compared = compare_people(
            People(own.right.astype(np.float64), strata[0]),
            People(outside.right.astype(np.float64), strata[1]),
        )
    if total < len(prepared.original):
        # The baseline is that of all people.
        error = math.sqrt(accuracy * (1 - accuracy) / total) if total else math.nan
        reasons["records"] = (
            f"{total:,} of {len(prepared.original):,} people were attacked: drawn at random, with "
            "a value to guess"
        )
    return NearestNeighbour(
        scenario=scenario,
        tolerance=None if number is None else number.closeness.tolerance,
        neighbours=neighbours,
        weights=weights,
        records=total,
        control_records=0 if outside is None else len(outside.right),
        accuracy=accuracy,
        interval=wilson_interval(hits, total),
        baseline=baseline,
        gain=accuracy - baseline.zero_rule,
        gain_error=error,
        excess=beyond.excess,
        p_value=beyond.p_value,
        control=math.nan if compared is None else compared.control,
        compared=compared,
        reasons=reasons,
        _people=own,
        _levels=prepared.levels[name],
        _backend=prepared.backend,
    )


def _baseline(prepared: Prepared) -> Baseline:
    """Return what is reached without the release, among all people of the original.

    The best constant of a sample would be right more often there than among all.
    """
    name, number = prepared.scenario.sensitive, prepared.number
    truths, told = prepared.original[name], prepared.released[name]
    if number is None:
        size = prepared.original.cardinality(name)
        return Baseline.of(np.bincount(truths, minlength=size), np.bincount(told, minlength=size))
    numbers = number.numbers
    known = truths[number.known(truths)]
    return number.closeness.baseline(numbers[known], numbers[told[number.known(told)]])
