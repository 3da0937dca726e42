"""The attack that looks for synthetic records closer to a person than the next person is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import as_names, check_whole, is_number, read_seed
from understudy.data.frames import Frame, to_narwhals
from understudy.data.joint_coding import EncodedTable, encode
from understudy.data.units import units_of
from understudy.errors import DataError, ParameterError
from understudy.learning.mixed_distance import Kind, PlacedTable, nearest_records, place_together
from understudy.risk.compared_tables import (
    drawn_rows,
    listed_releases,
    named_tables,
    shared_columns,
    without_others,
)
from understudy.risk.lookalikes.control import ControlLookalikes, compare_with_control
from understudy.risk.lookalikes.exchanged_names import exchanged_names
from understudy.risk.lookalikes.kept_pairs import KeptPair, kept_pair
from understudy.risk.lookalikes.linked import linked_groups
from understudy.risk.lookalikes.looks import (
    LEVEL,
    Family,
    nested,
    overall,
    smallest_share_seen,
)
from understudy.risk.lookalikes.near import Near
from understudy.risk.lookalikes.neighbours import (
    MOST_PEOPLE,
    SAMPLED_PEOPLE,
    Comparison,
    near_to,
    rank_step,
    sampled_records,
)
from understudy.risk.lookalikes.result import Closeness, Look, Lookalikes
from understudy.risk.lookalikes.whole_units import NearUnits, UnitsOf, drawn_units
from understudy.risk.renamed import ranked, recoded, renamed_columns, unlike_columns
from understudy.wording import quoted

FEWER_DIFFERENT, FEWEST_RECORDS = 0.8, 100
"""If a release of so many records has fewer than this share of as many different ones as the
original has among as many, they repeat each other."""
FEWEST_HALVED = 4
"""With fewer columns, half of them tell hardly anybody from others."""
NEARLY_ALL = 0.8
"""A value that more people share tells nothing: columns with one are no part of the better half,
which strangers would fill with them."""
MOST_HALVED, FEWEST_PEOPLE = 3 * 10**7, 300
"""So many pairs of a person and a record are compared by half of their columns, but so many people
at least."""
PROVING = 0.8
"""The part of the chance of a false alarm that goes to the reading that proves something."""
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
    looked_at = _without_surplus(original, synthetic, rng)
    released, synthetic = synthetic.rows, synthetic.take(looked_at)
    others = None
    if "control" in placed:
        others, units = _outside(placed["control"], people, rng, units)
    units = None if units is None else units.looked_at(looked_at)
    readings = _readings(original, synthetic, people=units is None)
    if not readings:
        raise DataError(
            "The values of the release are none of the original's in any column; nothing can be "
            "compared."
        )
    # By half of the columns, the search is slower.
    few = max(FEWEST_PEOPLE, MOST_HALVED // (original.rows + synthetic.rows))
    halved = _some(rows, few, rng, units)
    ways = [
        _Way.of(reading, original, others, halved if reading.half else rows, ratio, units)
        for reading in readings
    ]
    # What was read in another way proves nothing where nothing is found.
    plain = [way for way in ways if way.reading.proves]
    p_values = _shared(ways, [way.p_value for way in ways])
    told = ways[int(np.argmin(p_values))]
    if min(p_values) >= LEVEL and plain:
        told = plain[0]
    comparison, looks, everybody = told.comparison, told.looks, told.everybody
    power = plain[0].power if plain else math.nan
    whole = (plain or [way for way in ways if not way.reading.half])[0]
    closeness = {
        "synthetic": _closeness(whole.comparison.synthetic, whole.comparison.original, rng),
        "original": _spread(whole.comparison.near),
    }
    beside, of_control = told.control, {}
    if beside is not None and told.outside is not None:
        against = [way.control for way in ways if way.control]
        shared = _shared(ways, [one.p_value for one in against])
        beside = replace(
            beside,
            p_value=min(shared),
            worst=against[int(np.argmin(shared))].worst,
            power=plain[0].control.power if plain and plain[0].control else math.nan,
        )
        of_control = _distances(told.outside, looked_at)
        if units is not None and units.control is not None:
            of_control["unit"] = units.control
        if whole.outside is not None:
            closeness["control"] = _spread(whole.outside)
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
        notes=tuple(_notes(held["original"].names, told, released)),
        unit_records=None if units is None else original.rows,
        _of_people=_of_people(comparison, looked_at),
        _of_control=of_control,
        _backend=held["original"].backend,
    )


@dataclass(frozen=True, eq=False)
class _Reading:
    """One way to read a release.

    Parameters
    ----------
    synthetic : PlacedTable
        Its records, and the columns that are compared.
    proves : bool
        Whether it means something that nothing is found.
    recoded : tuple of str
        Columns that are read as a code.
    half : bool
        Whether the better half of the columns counts, for each person and record.
    linked : bool
        Whether only columns count that hang together as in the original.
    exchanged : bool
        Whether its numbers are taken to stand under each other's names.
    pair : KeptPair or None
        The two numbers that count, if only they do, for people in whom both are telling.
    """

    synthetic: PlacedTable
    proves: bool = False
    recoded: tuple[str, ...] = ()
    half: bool = False
    linked: bool = False
    exchanged: bool = False
    pair: KeptPair | None = None


def _readings(
    original: PlacedTable, synthetic: PlacedTable, *, people: bool = True
) -> list[_Reading]:
    """Return the ways to read a release; just one if its columns hold what the original's do.

    A copy does not look alike in a column whose values have other names or another scale, so that
    such columns would hide it. They are left out, and also read as a code. So would columns that
    were cut loose from the others: there may be a copy in the rest, if only in two exact numbers.
    And numbers may stand under each other's names. Pairs are looked at if each record is a person.
    """
    renamed = renamed_columns(original, synthetic)
    unlike = [name for name in unlike_columns(original, synthetic) if name not in renamed]
    names = [name for name in original.columns if name not in renamed]
    known = [name for name in names if name not in unlike]
    found = []
    if known:
        found.append(_Reading(synthetic.select(known), proves=True))
    if len(telling := _telling(original.select(names))) >= FEWEST_HALVED:
        found.append(_Reading(synthetic.select(telling), half=True))
    groups = linked_groups(original.select(known), synthetic.select(known))
    found += [_Reading(synthetic.select(group), linked=True) for group in groups]
    if unlike:
        found.append(_Reading(synthetic.select(names)))
    numbers = original.columns[: original.numeric]
    # If one number has another scale, others may have one that is less plain.
    scaled = [name for name in numbers if name in names] if set(unlike) & set(numbers) else []
    codes = tuple(
        dict.fromkeys([*unlike, *scaled, *(name for name in renamed if name not in numbers)])
    )
    if codes and len({*names, *codes}) >= FEWEST_HALVED:
        whole = synthetic.select([*names, *codes])
        base = original.select(whole.columns)
        flips = (False, True) if set(codes) & set(numbers) else (False,)
        found += [_Reading(recoded(base, whole, codes, flip=flip), recoded=codes) for flip in flips]
    if (order := exchanged_names(original, synthetic)) is not None:
        base, whole = original.select(numbers), synthetic.select(numbers)
        moved = replace(whole, values=whole.values[list(order)])
        found.append(_Reading(recoded(base, moved, numbers), recoded=numbers, exchanged=True))
    pair = kept_pair(original.select(known), synthetic.select(known)) if people else None
    if pair is not None:
        found.append(_Reading(synthetic.select(pair.columns), pair=pair))
    return found


def _telling(original: PlacedTable) -> list[str]:
    """Return the columns of which no value is shared by nearly all; see `NEARLY_ALL`."""
    most = [np.unique(values, return_counts=True)[1].max() for values in original.values]
    shares = zip(original.columns, most, strict=True)
    return [name for name, people in shares if people <= NEARLY_ALL * original.rows]


@dataclass(frozen=True, eq=False)
class _Way:
    """What one reading of a release shows."""

    reading: _Reading
    comparison: Comparison
    families: tuple[Family, ...]
    control: ControlLookalikes | None
    outside: Mapping[Kind, Near] | None

    @classmethod
    def of(
        cls,
        reading: _Reading,
        original: PlacedTable,
        others: PlacedTable | None,
        rows: NDArray[np.int64],
        ratio: float,
        units: UnitsOf | None = None,
    ) -> _Way:
        half, columns = reading.half, reading.synthetic.columns
        if reading.pair is not None:
            rows = rows[reading.pair.telling(original, original)[rows]]
            if others is not None:
                others = others.take(np.flatnonzero(reading.pair.telling(others, original)))
        base = ranked(original.select(columns), original.select(columns), reading.recoded)
        step = rank_step(base, reading.recoded)
        comparison = Comparison.of(
            base, reading.synthetic, rows, ratio, half=half, step=step, units=units
        )
        families = tuple(comparison.families())
        way = cls(reading, comparison, families, None, None)
        if others is None:
            return way
        outside = ranked(others.select(columns), original.select(columns), reading.recoded)
        codes = None if units is None else units.original
        near = near_to(outside, base, reading.synthetic, half=half, step=step, units=codes)
        full = {family.name: family for family in families if family.rate == comparison.rate}
        of_people = near
        if units is not None and units.control is not None:
            own = units.control
            of_people = {kind: NearUnits.gathered(one, own, ratio) for kind, one in near.items()}
        beside = compare_with_control(
            full, of_people, ratio, way.everybody.distance, power=reading.proves
        )
        return replace(way, control=beside, outside=near)

    @cached_property
    def looks(self) -> list[Look]:
        """All looks, by distance and by how isolated people are."""
        return [look for family in self.families for look in _looks(family, self.comparison)]

    @property
    def everybody(self) -> Look:
        """The look at everybody by the distance that tells more."""
        near = self.comparison.near
        whole = (look for look in self.looks if look.isolated == 1 and look.distance in near)
        return min(whole, key=lambda look: look.p_value)

    @property
    def p_value(self) -> float:
        """Of as much as this reading shows, if the release were fresh people."""
        return overall(self.families)

    @cached_property
    def power(self) -> float:
        """The smallest share of copies that would have been seen."""
        return smallest_share_seen(self.families)


def _shared(ways: Sequence[_Way], p_values: Sequence[float]) -> list[float]:
    """Return p-values for having read the release in several ways; see `PROVING`.

    Two numbers were chosen out of several pairs.
    """
    others = sum(not way.reading.proves for way in ways)
    if len(ways) == 1 or others == len(ways):
        parts = [1 / len(ways)] * len(ways)
    else:
        parts = [PROVING if way.reading.proves else (1 - PROVING) / others for way in ways]
    tried = [way.reading.pair.tried if way.reading.pair else 1 for way in ways]
    looks = [pairs / part for pairs, part in zip(tried, parts, strict=True)]
    return [min(1.0, p_value * many) for p_value, many in zip(p_values, looks, strict=True)]


def _spread(near: Mapping[Kind, Near]) -> Closeness:
    return Closeness.of(near["whole"].person, near["whole"].second)


def _without_surplus(
    original: PlacedTable, synthetic: PlacedTable, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the rows of the releases that are looked at: all, unless many repeat each other.

    Ten people in 500 rows each are no more fresh people than ten. So if there are clearly fewer
    different records than the original has among as many, so many of the repetitions are left out
    that the share of different ones is the original's.
    """
    if synthetic.rows < FEWEST_RECORDS:
        return np.arange(synthetic.rows)
    ours, theirs = _marks(original), _marks(synthetic)
    compared = min(original.rows, synthetic.rows)
    different = len(np.unique(rng.permutation(ours)[:compared])) / compared
    _, first = np.unique(theirs, return_index=True)
    if len(first) >= FEWER_DIFFERENT * different * compared:
        return np.arange(synthetic.rows)
    kept = min(synthetic.rows, math.ceil(len(first) / different))
    others = np.setdiff1d(np.arange(synthetic.rows), first)
    return np.sort(np.concatenate([first, rng.permutation(others)[: kept - len(first)]]))


def _marks(table: PlacedTable) -> NDArray[np.uint64]:
    """Return a number for each record, the same for equal ones."""
    weights = np.random.default_rng(0).integers(1, 2**63, len(table.columns), dtype=np.uint64)
    marks = np.zeros(table.rows, np.uint64)
    for weight, values in zip(weights, table.values, strict=True):
        # A product alone would make differences of columns cancel each other.
        marks = (marks ^ (values.astype(np.int64).view(np.uint64) + np.uint64(1))) * (
            weight | np.uint64(1)
        )
    return marks


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


def _looks(family: Family, comparison: Comparison) -> list[Look]:
    """Return the looks of a family, from everybody to the most isolated."""
    counts = np.bincount(family.shell, minlength=len(family.cuts)).astype(float)
    records = round(family.rate * comparison.everybody)
    columns = nested(counts), nested(family.found_by_shell), nested(family.paired_by_shell)
    return [
        Look(
            family.name,
            people / len(family.found),
            records,
            int(people),
            found,
            family.rate * paired,
            p_value,
        )
        for people, found, paired, p_value in zip(
            *(held.tolist() for held in columns), family.p_values.tolist(), strict=True
        )
    ]


def _closeness(
    synthetic: PlacedTable, original: PlacedTable, rng: np.random.Generator
) -> Closeness:
    """Return how close synthetic records are to people, of a sample if they are many."""
    rows = drawn_rows(synthetic.rows, sampled_records(original.rows), rng)
    distances, _ = nearest_records(synthetic.take(rows), original, count=2)
    return Closeness.of(distances[:, 0], distances[:, 1])


def _notes(columns: Sequence[str], told: _Way, released: int) -> list[str]:
    """Return what was not compared, or read as a code, and what was sampled."""
    notes, comparison = [], told.comparison
    if told.reading.exchanged:
        notes.append(
            "The numbers of the release were read as if they stood under each other's names: only "
            "then are they related as in the original. They were compared by their ranks."
        )
    elif codes := told.reading.recoded:
        notes.append(
            f"The release holds other values than the original, or quite other shares of them, in "
            f"{quoted(codes)}: numbers were compared by their ranks, and texts by how frequent "
            "they are."
        )
    if told.reading.pair:
        notes.append(
            f"Only {quoted(comparison.original.columns)} were compared, of {comparison.compared:,} "
            "people in whom both are rare: the release holds many pairs of them that one person "
            "alone has."
        )
    elif told.reading.linked:
        notes.append(
            "Only columns were compared that hang together in the release as they do in the "
            "original; others were cut loose."
        )
    if absent := [name for name in columns if name not in comparison.original.columns]:
        notes.append(f"Not compared: {quoted(absent)}.")
    if comparison.synthetic.rows < released:
        notes.append(
            f"Many of the {released:,} synthetic records repeat each other. They count as "
            f"{comparison.synthetic.rows:,}."
        )
    people, every = comparison.compared, comparison.everybody
    if people < every and not told.reading.pair:
        equality = "; everybody was compared by equality" if comparison.units is None else ""
        notes.append(
            f"{people:,} of {every:,} people, drawn at random, were compared with all records"
            f"{equality}."
        )
    elif len(comparison.rows) < comparison.original.rows and not told.reading.pair:
        notes.append(
            f"{len(comparison.rows):,} of the {comparison.original.rows:,} records, as many of "
            "each person as there can be, were compared with all records."
        )
    looked_up = sampled_records(comparison.original.rows)
    if comparison.synthetic.rows > looked_up:
        notes.append(f"DCR and NNDR are those of {looked_up:,} synthetic records, drawn at random.")
    return notes


def _distances(
    near: Mapping[Kind, Near], looked_at: NDArray[np.int64]
) -> dict[str, NDArray[np.generic]]:
    """Return the distances to the nearest record and to the next person, by each distance.

    `looked_at` are the rows of the releases that the nearest records stand for.
    """
    found: dict[str, NDArray[np.generic]] = {}
    for kind, own in near.items():
        prefix = "trimmed_" if kind == "trimmed" else ""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(own.person > 0, own.record / own.person, np.nan)
        found |= {
            f"{prefix}distance": own.record,
            f"{prefix}nearest": looked_at[own.row],
            f"{prefix}next_person": own.person,
            f"{prefix}ratio": ratio,
        }
    return found


def _of_people(
    comparison: Comparison, looked_at: NDArray[np.int64]
) -> dict[str, NDArray[np.generic]]:
    """Return the columns of `per_record`."""
    alike = np.zeros(len(comparison.rows), bool)
    for near in comparison.near.values():
        alike |= near.found(comparison.ratio)
    distances = _distances(comparison.near, looked_at)
    found = {"record": comparison.rows, **distances, "lookalike": alike}
    if comparison.units is not None:
        found["unit"] = comparison.units.original[comparison.rows]
    return found
