"""The attack that looks for synthetic records closer to a person than the next person is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_whole, is_number, read_seed
from understudy.data.frames import Frame
from understudy.data.joint_coding import EncodedTable, encode
from understudy.errors import DataError, ParameterError
from understudy.learning.mixed_distance import PlacedTable, nearest_records, place_together
from understudy.risk.compared_tables import (
    drawn_rows,
    named_tables,
    shared_columns,
    without_others,
)
from understudy.risk.lookalikes.control import compare_with_control
from understudy.risk.lookalikes.looks import Family, nested, overall, smallest_share_seen
from understudy.risk.lookalikes.neighbours import (
    MOST_PEOPLE,
    SAMPLED_PEOPLE,
    SAMPLED_RECORDS,
    Comparison,
    near_to,
)
from understudy.risk.lookalikes.result import Closeness, Look, Lookalikes
from understudy.wording import quoted

NO_POWER = (
    "Not even copies of everybody would have been seen: the people resemble each other too much, "
    "or are too few."
)


def lookalikes(
    original: Frame,
    synthetic: Frame | Sequence[Frame],
    *,
    control: Frame | None = None,
    columns: Sequence[str] | None = None,
    ratio: float = 0.25,
    people: int | None = None,
    random_state: int | None = None,
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
    these differences does not count. Of fresh people, as many as the release has records (m), at
    most m/n times as many would be lookalikes as there are people whose nearest other person is
    closer than `ratio` times the second nearest; the proof is in the documentation. The same holds
    among the most isolated people. If the release has more records than there are people, as many
    records as people are looked at as well: the mean over all ways to draw them.

    Of a large table, everybody is compared by equality: in all columns, and in all but one.

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
    return lookalikes_of(
        tables, columns=columns, ratio=ratio, people=people, random_state=random_state
    )


def lookalikes_of(
    tables: Mapping[str, Frame | EncodedTable],
    *,
    columns: Sequence[str] | None = None,
    ratio: float = 0.25,
    people: int | None = None,
    random_state: int | None = None,
) -> Lookalikes:
    """Look for lookalikes in tables by name; see `lookalikes`.

    The first is the original; "control" are control records, and names that begin with "synthetic"
    are releases. Others are left out.
    """
    if not is_number(ratio) or not 0 < ratio < 1:
        raise ParameterError(f"ratio must lie between 0 and 1; got {ratio!r}.")
    if people is not None:
        check_whole("people", people, 1)
    held = without_others({name: encode(table) for name, table in tables.items()})
    names = shared_columns(held, columns)
    if len(held["original"]) < 3:
        raise DataError(
            f"The original has {len(held['original'])} records. Lookalikes need three: a person, "
            "and two others."
        )
    placed = place_together(held, names)
    original = placed["original"]
    synthetic = PlacedTable.stack(
        [one for name, one in placed.items() if name.startswith("synthetic")]
    )
    seed = read_seed(random_state)
    rng = np.random.default_rng(seed)
    rows = _drawn(original.rows, people, rng)
    comparison = Comparison.of(original, synthetic, rows, ratio)
    families = comparison.families()
    looks = [look for family in families for look in _looks(family, comparison)]
    everybody = min(
        (look for look in looks if look.isolated == 1 and look.distance in comparison.near),
        key=lambda look: look.p_value,
    )
    power = smallest_share_seen(families)
    closeness = {
        "synthetic": _closeness(synthetic, original, rng),
        "original": Closeness.of(comparison.near["whole"].person, comparison.near["whole"].second),
    }
    beside = None
    if "control" in placed:
        others = placed["control"].take(_drawn(placed["control"].rows, people, rng))
        near = near_to(others, original, synthetic)
        full = {family.name: family for family in families if family.rate == comparison.rate}
        beside = compare_with_control(full, near, ratio, everybody.distance)
        closeness["control"] = Closeness.of(near["whole"].person, near["whole"].second)
    return Lookalikes(
        columns=names,
        records=original.rows,
        synthetic_records=synthetic.rows,
        people=len(rows),
        ratio=float(ratio),
        found=everybody.found,
        expected=everybody.expected,
        excess=everybody.excess,
        p_value=overall(families),
        power=power,
        worst=min(looks, key=lambda look: look.p_value),
        looks=tuple(looks),
        control=beside,
        equal=comparison.alone_and_equalled("entirely"),
        equal_but_one=comparison.alone_and_equalled("but_one"),
        closeness=closeness,
        seed=seed,
        reasons={"power": NO_POWER} if math.isnan(power) else {},
        notes=tuple(_notes(held["original"].names, comparison)),
        _of_people=_of_people(comparison),
        _backend=held["original"].backend,
    )


def _drawn(rows: int, people: int | None, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the rows that are compared with all records, in order."""
    if people is None:
        people = rows if rows <= MOST_PEOPLE else SAMPLED_PEOPLE
    return drawn_rows(rows, people, rng)


def _looks(family: Family, comparison: Comparison) -> list[Look]:
    """Return the looks of a family, from everybody to the most isolated."""
    counts = np.bincount(family.shell, minlength=len(family.cuts)).astype(float)
    records = round(family.rate * comparison.original.rows)
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
    rows = drawn_rows(synthetic.rows, SAMPLED_RECORDS, rng)
    distances, _ = nearest_records(synthetic.take(rows), original, count=2)
    return Closeness.of(distances[:, 0], distances[:, 1])


def _notes(columns: Sequence[str], comparison: Comparison) -> list[str]:
    """Return what was not compared, and what was sampled."""
    notes = []
    if absent := [name for name in columns if name not in comparison.original.columns]:
        notes.append(f"Not compared: {quoted(absent)}.")
    people, every = len(comparison.rows), comparison.original.rows
    if people < every:
        notes.append(
            f"{people:,} of {every:,} people, drawn at random, were compared with all records; "
            "everybody was compared by equality."
        )
    if comparison.synthetic.rows > SAMPLED_RECORDS:
        notes.append(
            f"DCR and NNDR are those of {SAMPLED_RECORDS:,} synthetic records, drawn at random."
        )
    return notes


def _of_people(comparison: Comparison) -> dict[str, NDArray[np.generic]]:
    """Return the columns of `per_record`."""
    found: dict[str, NDArray[np.generic]] = {"record": comparison.rows}
    alike = np.zeros(len(comparison.rows), bool)
    for kind, near in comparison.near.items():
        prefix = "" if kind == "whole" else f"{kind}_"
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(near.person > 0, near.record / near.person, np.nan)
        found |= {
            f"{prefix}distance": near.record,
            f"{prefix}nearest": near.row,
            f"{prefix}next_person": near.person,
            f"{prefix}ratio": ratio,
        }
        alike |= near.found(comparison.ratio)
    return found | {"lookalike": alike}
