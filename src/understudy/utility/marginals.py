"""How far the shares of values, pairs and triples of values are from those of the original."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

import numpy as np

from understudy.data.frames import Frame
from understudy.errors import ParameterError
from understudy.progress import track
from understudy.utility.arguments import check_whole
from understudy.utility.distances import expected_distance, paired_counts, total_variation
from understudy.utility.grouped import Grouped, Groups, code_in_groups
from understudy.utility.marginals_result import Marginals, TableDistance, WayDistances

MOST_TABLES = 2_000
"""All tables of three of up to 23 columns."""
MOST_WAYS = 4
"""Beyond, nearly every record is alone in its cell."""


def marginals(  # noqa: PLR0913  # all but the tables have defaults
    original: Frame,
    synthetic: Frame,
    *,
    ways: int | Collection[int] = (1, 2, 3),
    columns: str | Sequence[str] | None = None,
    groups: Groups = None,
    special: Mapping[str, Sequence[float]] | None = None,
    most_tables: int = MOST_TABLES,
    random_state: int = 0,
) -> Marginals:
    """Compare the shares of all values, pairs and triples of values with the original's.

    Parameters
    ----------
    original, synthetic : frame
        The tables, of pandas, polars or pyarrow; they may differ in their number of rows.
    ways : int or collection of int
        Of how many columns tables are made: 1 for each column by itself, 2 for pairs, and so on.
    columns : str or sequence of str, optional
        The columns to compare; all those of the original by default.
    groups : int or mapping, optional
        Into how many groups of about the same number of original records numbers are put, for all
        columns or by column; 10 by default. A number that makes up more than a group's share is a
        group of its own, and up to as many different numbers are all kept apart. Dates and times
        are put into groups like numbers.
    special : mapping, optional
        Numbers of a column that are levels of their own, such as -8.
    most_tables : int
        The largest number of tables of three or more columns; of more, so many are drawn at
        random. Tables of one and two columns are all compared.
    random_state : int
        Seed of that choice.

    Returns
    -------
    Marginals
        The distances of all tables beside those that sampling alone would give, and the shares of
        each column.

    Raises
    ------
    ParameterError
        If an argument has a value that cannot be used, or a table lacks a column.
    DataError
        If a table has no rows, or the tables hold values that cannot be compared.

    Notes
    -----
    The distance of two tables of shares is their total variation distance, half the sum of the
    absolute differences. Beside it stands the mean distance of a sample of as many records as the
    synthetic table has, drawn with replacement from the original; `expected_distance` in
    `understudy.utility.distances` has the formula. What is no number is compared level by level,
    and missing is a level of every column.

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": [0, 1, 0, 1]})
    >>> synthetic = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": [1, 1, 0, 1]})
    >>> result = marginals(original, synthetic)
    >>> result[2].mean, result[2].expected
    (0.25, 0.31640625)
    """
    chosen = _checked_ways(ways)
    check_whole("most_tables", most_tables, 1)
    check_whole("random_state", random_state, 0)
    both = code_in_groups(original, synthetic, columns, groups=groups, special=special)
    names = both.original.names
    rng = np.random.default_rng(random_state)
    reasons = {}
    found: list[WayDistances] = []
    tables: list[TableDistance] = []
    for way in chosen:
        possible = math.comb(len(names), way)
        if way > 2 and possible > most_tables:
            sets = _drawn(names, way, most_tables, rng)
            reasons[f"{way}-way"] = (
                f"{most_tables:,} of {possible:,} tables of {way} columns, drawn at random with "
                f"random_state {random_state}"
            )
        else:
            sets = list(combinations(names, way))
        if not possible:
            reasons[f"{way}-way"] = (
                f"there is no table of {way} columns, for there are {len(names)}"
            )
        compared = _compare(both, sets)
        tables += compared
        found.append(WayDistances.of(way, possible, compared))
        if compared and not found[-1].expected:
            reasons[f"{way}-way ratio"] = "chance moves nothing, for every table has one cell"
    return Marginals(
        names,
        len(both.original),
        len(both.synthetic),
        both.groups,
        tuple(found),
        reasons,
        tuple(tables),
        both,
    )


def _compare(both: Grouped, sets: Sequence[tuple[str, ...]]) -> list[TableDistance]:
    """Compare the tables of some sets of columns."""
    size = len(both.synthetic)
    counts = paired_counts(both.original, both.synthetic, sets)
    return [
        TableDistance(
            names,
            int(np.count_nonzero(first + second)),
            total_variation(first, second),
            expected_distance(first, size),
        )
        for names, (first, second) in track(
            zip(sets, counts, strict=True), "comparing tables of shares", len(sets)
        )
    ]


def _drawn(
    names: Sequence[str], way: int, count: int, rng: np.random.Generator
) -> list[tuple[str, ...]]:
    """Draw `count` different sets of `way` columns, and return them in order.

    A set is found from its number in the combinatorial number system: with a > b > c, the set
    {a, b, c} has the number C(a, 3) + C(b, 2) + C(c, 1).
    """
    numbers = rng.choice(math.comb(len(names), way), count, replace=False, shuffle=False)
    places = np.empty((count, way), np.int64)
    for size in range(way, 0, -1):
        below = np.array([math.comb(place, size) for place in range(len(names))])
        places[:, size - 1] = np.searchsorted(below, numbers, side="right") - 1
        numbers = numbers - below[places[:, size - 1]]
    return [tuple(names[place] for place in row) for row in sorted(places.tolist())]


def _checked_ways(ways: int | Collection[int]) -> list[int]:
    several = [ways] if isinstance(ways, int | np.integer) else ways
    whole = isinstance(several, Collection) and all(
        isinstance(way, int | np.integer) and not isinstance(way, bool) and 1 <= way <= MOST_WAYS
        for way in several
    )
    if not whole or not several:
        raise ParameterError(
            f"ways are whole numbers from 1 to {MOST_WAYS}, such as (1, 2, 3); got {ways!r}."
        )
    return sorted({int(way) for way in several})
