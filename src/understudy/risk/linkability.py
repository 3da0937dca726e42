"""Linkability: which parts of two files belong to the same person, told by a release."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_whole, read_seed
from understudy.data.frames import Frame
from understudy.data.joint_coding import EncodedTable
from understudy.errors import ParameterError
from understudy.learning.mixed_distance import PlacedTable, place_together
from understudy.risk.compared_tables import (
    CONTROL,
    ORIGINAL,
    drawn_rows,
    named_tables,
    shared_columns,
    without_others,
)
from understudy.risk.linkability_result import Linkability
from understudy.risk.rates import (
    EXCHANGES,
    Interval,
    Rate,
    exchange_p_value,
    residual_risk,
)
from understudy.wording import quoted

ATTACKS, FEWEST, PAIRS = 2_000, 200, 100_000_000
"""How many people are attacked if it is not said, at most and at least, and how many pairs of a
person and a synthetic record are compared between these limits."""
_TURNS = 64
_WIDE = 2_000  # columns whose distances still fit in 32 bits

Floats = NDArray[np.float64]


def linkability(  # noqa: PLR0913  # what anonymeter's users know, each with a default
    original: Frame,
    synthetic: Frame | list[Any] | tuple[Any, ...],
    columns_a: str | Sequence[str] | None = None,
    columns_b: str | Sequence[str] | None = None,
    *,
    control: Frame | None = None,
    attacks: int | None = None,
    neighbours: int = 1,
    random_state: int | None = None,
    confidence: float = 0.95,
) -> Linkability:
    """Measure how often a release links what two files hold of the same person.

    Parameters
    ----------
    original : frame
        The original table, one person a row.
    synthetic : frame, or list of frames
        The release. By several, a person is linked if one of them does.
    columns_a, columns_b : str or sequence of str, optional
        What the two files hold: two sets without a column in common. If one is not given, it has
        all other columns that every table has; if neither is, these columns are dealt out in turn.
    control : frame, optional
        Records like the original's that were not used for the synthesis.
    attacks : int, optional
        How many people are attacked, drawn at random, and as many control records. By default all
        of them, or 2,000 if there are more; with more than 50,000 synthetic records fewer, so that
        there are 100 million pairs, but no fewer than 200.
    neighbours : int
        How many nearest records are looked at on each side.
    random_state : int, optional
        Seed of who is attacked. One is drawn and recorded if it is not given.
    confidence : float
        The confidence of the intervals.

    Returns
    -------
    Linkability
        The rates of the attack, of random neighbours and of control records, the residual risk and
        a test; and who is linked.

    Raises
    ------
    ParameterError
        If an argument has a value that cannot be used, or a table lacks a column.
    DataError
        If a table has no rows.

    Notes
    -----
    The distance is a sum over columns: for numbers and dates the difference of their ranks among
    the release's records, for all else 1 unless they are the same. In tables of categories
    many records are equally near. They are taken with the same probability, on each side by itself,
    and the rate is exact for that rule. To take the first ones, as other tools do, would link
    people by the order of the file: two large sets of equally near records begin with the same one.

    The test draws anew, 499 times, who is in the data and who a control record.

    References
    ----------
    .. [1] Giomi, M., Boenisch, F., Wehmeyer, C., Tasnádi, B. (2023). A unified framework for
       quantifying privacy risk in synthetic data. Proceedings on Privacy Enhancing Technologies
       2023(2), doi:10.56553/popets-2023-0055

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"age": [20, 40, 60], "pay": [1, 2, 3]})
    >>> release = pl.DataFrame({"age": [21, 41, 59], "pay": [1, 3, 2]})
    >>> linkability(original, release, "age", "pay").per_record()["linked"].to_list()
    [1.0, 0.0, 0.0]
    """
    return linkability_of(
        named_tables(original, synthetic, control),
        columns_a,
        columns_b,
        attacks=attacks,
        neighbours=neighbours,
        random_state=random_state,
        confidence=confidence,
    )


def linkability_of(
    tables: Mapping[str, EncodedTable],
    columns_a: str | Sequence[str] | None = None,
    columns_b: str | Sequence[str] | None = None,
    *,
    attacks: int | None = None,
    neighbours: int = 1,
    random_state: int | None = None,
    confidence: float = 0.95,
) -> Linkability:
    """Measure tables that are encoded already, by their names; see `linkability`.

    "original", releases whose names begin with "synthetic", and "control" if there is one; others
    are left out.
    """
    held = without_others(tables)
    sides = two_sides(held, columns_a, columns_b)
    seed = read_seed(random_state)
    rng = np.random.default_rng(seed)
    real = {name: held[name] for name in (ORIGINAL, CONTROL) if name in held}
    releases = [table for name, table in held.items() if name not in real]
    records = sum(map(len, releases))
    few = max(FEWEST, min(ATTACKS, PAIRS // records))
    asked = few if attacks is None else check_whole("attacks", attacks, 1)
    check_whole("neighbours", neighbours, 1, min(len(table) for table in releases))
    drawn = {name: drawn_rows(len(table), asked, rng) for name, table in real.items()}
    asked_of = {name: real[name].take(rows) for name, rows in drawn.items()}
    linked, tied = link_chances(asked_of, releases, sides, neighbours)
    chances, other = linked[ORIGINAL], linked.get(CONTROL)
    attack = Rate.of(float(chances.sum()), len(chances), confidence)
    compared = _compared(chances, other, confidence, rng)
    rate = None if other is None else Rate.of(float(other.sum()), len(other), confidence)
    risk, interval = residual_risk(attack, rate)
    by_chance = 1 - math.prod(_apart(len(table), neighbours) for table in releases)
    return Linkability(
        columns_a=sides[0],
        columns_b=sides[1],
        neighbours=neighbours,
        records=len(real[ORIGINAL]),
        synthetic_records=tuple(len(table) for table in releases),
        control_records=len(real.get(CONTROL, ())),
        attack=attack,
        baseline=Rate.of(by_chance * attack.attacks, attack.attacks, confidence),
        control=rate,
        difference=compared[0],
        difference_interval=compared[1],
        p_value=compared[2],
        risk=risk,
        risk_interval=interval,
        tied=tied,
        random_state=seed,
        confidence=confidence,
        reasons={} if other is not None else {"control": "There are no control records."},
        _people=drawn[ORIGINAL],
        _chances=chances,
        _backend=held[ORIGINAL].backend,
    )


def two_sides(
    tables: Mapping[str, EncodedTable],
    columns_a: str | Sequence[str] | None,
    columns_b: str | Sequence[str] | None,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns of the two files; see `linkability` for those that are not given.

    Examples
    --------
    >>> import polars as pl
    >>> from understudy.data.joint_coding import encode
    >>> table = {"original": encode(pl.DataFrame({"a": [1], "b": [1], "c": [1]}))}
    >>> two_sides(table, None, None), two_sides(table, "b", None)
    ((('a', 'c'), ('b',)), (('b',), ('a', 'c')))
    """
    named = [
        None if columns is None else shared_columns(tables, columns)
        for columns in (columns_a, columns_b)
    ]
    every = shared_columns(tables, None)
    first, second = named
    if first is None and second is None:
        first, second = every[::2], every[1::2]
    elif first is None:
        first = tuple(name for name in every if name not in (second or ()))
    elif second is None:
        second = tuple(name for name in every if name not in first)
    first, second = first or (), second or ()
    if not first or not second:
        raise ParameterError(
            "columns_a and columns_b must each name at least one column that all tables have; got "
            f"{list(first)} and {list(second)}."
        )
    if both := [name for name in first if name in second]:
        raise ParameterError(
            f"columns_a and columns_b must have no column in common; both name {quoted(both)}."
        )
    return first, second


def link_chances(
    people: Mapping[str, EncodedTable],
    releases: Sequence[EncodedTable],
    sides: tuple[Sequence[str], Sequence[str]],
    neighbours: int,
) -> tuple[dict[str, Floats], float]:
    """Return how likely each person is linked by one of the releases, by table.

    The second value is the share of the first table's people with ties.
    """
    apart = {name: np.ones(len(table)) for name, table in people.items()}
    first = next(iter(people))
    tied = np.zeros(len(people[first]), bool)
    for release in releases:
        # Ranks are those of the release: the attacker has no others, and they treat people who are
        # in the data and who are not alike.
        placed = place_together({"": release, **people}, [*sides[0], *sides[1]])
        for name in people:
            counts = _counts(placed[name], placed[""], sides, neighbours)
            apart[name] *= 1 - _chance_in_common(counts, neighbours)
            if name == first:
                tied |= (counts[:, [0, 2]] + counts[:, [1, 3]] > neighbours).any(axis=1)
    return {name: 1 - held for name, held in apart.items()}, float(tied.mean())


def _counts(
    targets: PlacedTable,
    release: PlacedTable,
    sides: tuple[Sequence[str], Sequence[str]],
    neighbours: int,
) -> NDArray[np.int64]:
    from understudy.risk.linking_kernels import count_links

    found = np.zeros((targets.rows, 8), np.int64)
    pairs = []
    for columns in sides:
        people, records = targets.select(columns), release.select(columns)
        values = np.ascontiguousarray(people.values.T)
        pairs.append((values, records.values, records.numeric, records.caps))
    kind = np.dtype(np.int32 if max(map(len, sides)) <= _WIDE else np.int64)
    sizes = release.rows, release.rows, neighbours
    buffers: tuple[NDArray[np.signedinteger], ...] = tuple(np.empty(size, kind) for size in sizes)
    count_links(pairs[0], pairs[1], buffers, found)
    return found


def _chance_in_common(counts: NDArray[np.int64], neighbours: int) -> Floats:
    """Return how likely two draws have a record in common.

    On each side all nearer records are taken, and as many of the equally near ones as are missing:
    any with the same probability. The two draws are disjoint if the first has j of the records that
    are equally near on both sides (for all j), none of those that the second surely has, and the
    second has none of the first's.
    """
    surely, tied, surely_too, tied_too, both, first, second, either = counts.T
    drawn, drawn_too = neighbours - surely, neighbours - surely_too
    apart = np.zeros(len(counts))
    for shared in range(neighbours + 1):
        chosen = _log_choose(either, shared) + _log_choose(tied - second - either, drawn - shared)
        left = _log_choose(tied_too - first - shared, drawn_too)
        every = _log_choose(tied, drawn) + _log_choose(tied_too, drawn_too)
        apart += np.exp(chosen + left - every)
    chance: Floats = np.where(both > 0, 1.0, np.clip(1 - apart, 0.0, 1.0))
    return chance


def _log_choose(total: Any, chosen: Any) -> Floats:  # noqa: ANN401  # arrays or numbers
    """Return the logarithm of the number of ways to choose; minus infinity if there is none."""
    from scipy.special import gammaln

    total, chosen = np.broadcast_arrays(np.asarray(total, float), np.asarray(chosen, float))
    possible = (chosen >= 0) & (chosen <= total)
    most, of_these = np.where(possible, total, 0), np.where(possible, chosen, 0)
    ways = gammaln(most + 1) - gammaln(of_these + 1) - gammaln(most - of_these + 1)
    return np.where(possible, ways, -np.inf)


def _apart(records: int, neighbours: int) -> float:
    """Return how likely two random draws of records have none in common."""
    if 2 * neighbours > records:
        return 0.0
    steps = range(neighbours)
    return math.prod((records - neighbours - step) / (records - step) for step in steps)


def _compared(
    chances: Floats, control: Floats | None, confidence: float, rng: np.random.Generator
) -> tuple[float, Interval, float]:
    """Return the difference to control records, its interval and its p-value."""
    if control is None:
        return math.nan, (math.nan, math.nan), math.nan
    difference = float(chances.mean() - control.mean())
    own, other = (float(held.var() / len(held)) for held in (chances, control))
    reach = NormalDist().inv_cdf(0.5 + confidence / 2) * math.sqrt(own + other)
    interval = max(difference - reach, -1.0), min(difference + reach, 1.0)
    return difference, interval, _p_value(chances, control, rng)


def _p_value(chances: Floats, control: Floats, rng: np.random.Generator) -> float:
    """Return how often people and control records who change places differ as much."""
    from understudy.risk.linking_kernels import exchange_sums

    every = np.concatenate([chances, control])
    linked = every[every > 0]
    groups = len(chances), len(every)
    exchanged = [
        exchange_sums(linked, groups, rng.random((turns, len(linked)), np.float32))
        for turns in np.diff([*range(0, EXCHANGES, _TURNS), EXCHANGES]).tolist()
    ]
    return exchange_p_value(float(chances.sum()), np.concatenate(exchanged))
