"""The attack that looks for synthetic records closer to a person than the next person is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import as_names, check_whole, is_number, read_seed
from understudy.data.frames import Frame, to_narwhals
from understudy.data.joint_coding import EncodedTable, encode
from understudy.data.units import units_of
from understudy.errors import DataError, ParameterError
from understudy.learning.mixed_distance import PlacedTable, place_together
from understudy.risk.compared_tables import (
    drawn_rows,
    listed_releases,
    named_tables,
    shared_columns,
    without_others,
)
from understudy.risk.lookalikes.account import (
    closeness_of,
    columns_of_people,
    distances_of,
    notes_of,
    spread_of,
)
from understudy.risk.lookalikes.looks import LEVEL
from understudy.risk.lookalikes.neighbours import MOST_PEOPLE, SAMPLED_PEOPLE
from understudy.risk.lookalikes.readings import readings_of
from understudy.risk.lookalikes.repetitions import without_surplus
from understudy.risk.lookalikes.result import Lookalikes
from understudy.risk.lookalikes.ways import Way, shared_p_values
from understudy.risk.lookalikes.whole_units import UnitsOf, drawn_units
from understudy.threads import one_thread

MOST_HALVED, FEWEST_PEOPLE = 3 * 10**7, 300
"""So many pairs of a person and a record are compared by half of their columns, but so many people
at least."""
NO_POWER = (
    "Not even copies of everybody would have been seen: the people resemble each other too much, "
    "or are too few."
)

ALL_UNLIKE = (
    "Not even copies of everybody would have been seen: the release holds other values than the "
    "original, or quite other shares of them, in all columns."
)


def lookalikes(  # noqa: PLR0913  # the tables, and how they are compared
    original: Frame,
    synthetic: Frame | Sequence[Frame],
    *,
    control: Frame | None = None,
    columns: Sequence[str] | None = None,
    ratio: float = 0.25,
    people: int | None = None,
    random_state: int | None = None,
    unit_id: str | Sequence[str] = (),
) -> Lookalikes:
    """Look for synthetic records that are much closer to a person than the next person is.

    It needs neither keys nor a sensitive attribute, and no model: the original itself tells how
    many lookalikes a release of fresh people would have.

    Parameters
    ----------
    original : frame
        The original table, a record for each person.
    synthetic : frame or sequence of frames
        The release, or several releases of the same table: then the union counts.
    control : frame, optional
        Records like the original's that were not used for the synthesis, to be compared as well.
    columns : sequence of str, optional
        What is compared; all columns that all tables have if not given.
    ratio : float
        A lookalike is closer than this share of the distance to the next person.
    people : int, optional
        How many people are compared with all records, drawn at random. If not given, everybody
        where there are at most 20,000 people, and else 10,000.
    random_state : int, optional
        Decides who is drawn. A seed is drawn and recorded if it is not given.
    unit_id : str or sequence of str
        Columns that together name the person, household or firm that several records belong to.
        Then units are compared in place of records; see the notes.

    Returns
    -------
    Lookalikes

    Raises
    ------
    ParameterError
        If an argument cannot be used, or a table lacks a column.
    DataError
        If a table has no rows, or there are fewer than three people.

    Notes
    -----
    The distance is the sum over columns of the difference in the original's ranks for numbers and
    dates, and of 0 or 1 for all else; text is compared without case and outer spaces, a number
    stored as text is a number, and missing is a value. By the *trimmed* distance, the largest of
    these differences does not count; it takes three columns. Of fresh people, as many as the
    release has records (m), at most m/n times as many would be lookalikes as there are people whose
    nearest other person is closer than `ratio` times the second nearest; the proof is in the
    documentation. The same holds among the most isolated people. If the release has more records
    than there are people, as many records as people are looked at as well: the mean over all ways
    to draw them.

    Of a large table, everybody is compared by equality: in all columns, and in all but one. A
    release is read in several ways, of which the documentation tells: also by the better half of
    the columns, and by those that hang together as in the original if others do no longer.

    With `unit_id`, a unit has a lookalike if any of its records has, and the next person is the
    nearest record of another unit. Of m fresh units, at most m/n times as many would be lookalikes
    as there are pairs of units of which one would be a lookalike of the other, were it not in the
    data. Records of the release with the same name are one unit; each is a unit if it has no such
    column. Control records of units that are in the original must be left out.

    Examples
    --------
    >>> from understudy import load
    >>> survey = load("cmc")
    >>> halves = survey[:736], survey[736:]
    >>> found = lookalikes(*halves)
    >>> found.p_value > 0.05
    True
    >>> import polars as pl
    >>> copies = pl.concat([halves[0][:200], halves[1][200:]])
    >>> lookalikes(halves[0], copies).p_value < 0.001
    True
    """
    tables = named_tables(original, synthetic, control)
    units = None
    if names := as_names(unit_id):
        units = units_of_tables(original, listed_releases(synthetic), control, names)
        if columns is None:
            columns = [name for name in shared_columns(tables, None) if name not in names]
    return lookalikes_of(
        tables, columns=columns, ratio=ratio, people=people, random_state=random_state, units=units
    )


def units_of_tables(
    original: Frame, releases: Sequence[Frame], control: Frame | None, names: Sequence[str]
) -> UnitsOf:
    """Return the units of the tables of the attack, by the columns that name them together."""
    released = None
    if all(set(names) <= set(to_narwhals(table).columns) for table in releases):
        codes = [units_of(table, names) for table in releases]
        starts = np.cumsum([0, *(int(one.max(initial=-1)) + 1 for one in codes)])
        joined = np.concatenate([one + start for one, start in zip(codes, starts, strict=False)])
        released = joined if len(np.unique(joined)) < len(joined) else None
    return UnitsOf(
        units_of(original, names),
        None if control is None else units_of(control, names),
        released,
    )


@one_thread()
def lookalikes_of(
    tables: Mapping[str, Frame | EncodedTable],
    *,
    columns: Sequence[str] | None = None,
    ratio: float = 0.25,
    people: int | None = None,
    random_state: int | None = None,
    units: UnitsOf | None = None,
) -> Lookalikes:
    """Look for lookalikes in tables by name; see `lookalikes`.

    The first is the original; "control" are control records, and names that begin with "synthetic"
    are releases. Others are left out. `units` says which of their records belong together.
    """
    if not is_number(ratio) or not 0 < ratio < 1:
        raise ParameterError(f"ratio must lie between 0 and 1; got {ratio!r}.")
    if people is not None:
        check_whole("people", people, 1)
    held = without_others({name: encode(table) for name, table in tables.items()})
    names = shared_columns(held, columns)
    count = len(held["original"]) if units is None else units.count
    if count < 3:
        raise DataError(
            f"Lookalikes need three {'records' if units is None else 'units'}: a person's, and two "
            f"others. The original has {count}."
        )
    placed = place_together(held, names)
    original, synthetic = (
        placed["original"],
        PlacedTable.stack([one for name, one in placed.items() if name.startswith("synthetic")]),
    )
    seed = read_seed(random_state)
    rng = np.random.default_rng(seed)
    rows = _drawn(original.rows, people, rng, None if units is None else units.original)
    looked_at = without_surplus(original, synthetic, rng)
    released, synthetic = synthetic.rows, synthetic.take(looked_at)
    others = None
    if "control" in placed:
        others, units = _outside(placed["control"], people, rng, units)
    units = None if units is None else units.looked_at(looked_at)
    readings = readings_of(original, synthetic, people=units is None)
    if not readings:
        raise DataError(
            "In each column, fewer than half of the release's records have a value that the "
            "original has; nothing can be compared."
        )
    # By half of the columns, the search is slower.
    few = max(FEWEST_PEOPLE, MOST_HALVED // (original.rows + synthetic.rows))
    halved = _some(rows, few, rng, units)
    ways = [
        Way.of(reading, original, others, halved if reading.half else rows, ratio, units)
        for reading in readings
    ]
    # What was read in another way proves nothing where nothing is found.
    plain = [way for way in ways if way.reading.proves]
    p_values = shared_p_values(ways, [way.p_value for way in ways])
    told = _told(ways, p_values)
    comparison, looks, everybody = told.comparison, told.looks, told.everybody
    power = plain[0].power if plain else math.nan
    whole = (plain or [way for way in ways if not way.reading.half])[0]
    closeness = {
        "synthetic": closeness_of(whole.comparison.synthetic, whole.comparison.original, rng),
        "original": spread_of(whole.comparison.near),
    }
    beside, of_control = told.control, {}
    if beside is not None and told.outside is not None:
        against = [way.control for way in ways if way.control]
        shared = shared_p_values(ways, [one.p_value for one in against])
        beside = replace(
            beside,
            p_value=min(shared),
            worst=against[int(np.argmin(shared))].worst,
            power=plain[0].control.power if plain and plain[0].control else math.nan,
        )
        of_control = distances_of(told.outside, looked_at)
        if units is not None and units.control is not None:
            of_control["unit"] = units.control
        if whole.outside is not None:
            closeness["control"] = spread_of(whole.outside)
    equal, equal_but_one = comparison.alone_and_equalled()
    return Lookalikes(
        columns=comparison.original.columns,
        records=comparison.everybody,
        synthetic_records=released,
        people=comparison.compared,
        ratio=float(ratio),
        found=everybody.found,
        expected=everybody.expected,
        excess=everybody.excess,
        p_value=min(p_values),
        power=power,
        worst=min(looks, key=lambda look: look.p_value),
        looks=tuple(looks),
        control=beside,
        equal=equal,
        equal_but_one=equal_but_one,
        closeness=closeness,
        seed=seed,
        reasons={"power": NO_POWER if plain else ALL_UNLIKE} if math.isnan(power) else {},
        notes=tuple(notes_of(held["original"].names, told, released)),
        unit_records=None if units is None else original.rows,
        _of_people=columns_of_people(comparison, looked_at),
        _of_control=of_control,
        _backend=held["original"].backend,
    )


def _told(ways: Sequence[Way], p_values: Sequence[float]) -> Way:
    """Return the way whose figures are told: that which shows most, or the plain one."""
    told = ways[int(np.argmin(p_values))]
    if min(p_values) >= LEVEL:
        return next((way for way in ways if way.reading.proves), told)
    # Two numbers of some people are told if nothing wider is found.
    wider = [math.inf if way.reading.pair else p for way, p in zip(ways, p_values, strict=True)]
    return ways[int(np.argmin(wider))] if min(wider) < LEVEL else told


def _drawn(
    rows: int,
    people: int | None,
    rng: np.random.Generator,
    units: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Return the rows that are compared with all records, in order; as many of each unit."""
    if people is None:
        people = rows if rows <= MOST_PEOPLE else SAMPLED_PEOPLE
    return drawn_rows(rows, people, rng) if units is None else drawn_units(units, people, rng)


def _some(
    rows: NDArray[np.int64], most: int, rng: np.random.Generator, units: UnitsOf | None
) -> NDArray[np.int64]:
    """Return some of the rows, or those of some units."""
    if units is None:
        return rows[drawn_rows(len(rows), most, rng)]
    return rows[drawn_units(units.original[rows], most, rng)]


def _outside(
    control: PlacedTable, people: int | None, rng: np.random.Generator, units: UnitsOf | None
) -> tuple[PlacedTable, UnitsOf | None]:
    """Return the control records that are compared, and the units with theirs."""
    if units is None:
        return control.take(_drawn(control.rows, people, rng)), None
    codes = np.arange(control.rows) if units.control is None else units.control
    rows = _drawn(control.rows, people, rng, codes)
    return control.take(rows), replace(units, control=codes[rows])
