"""Means of numbers among the records of each level of another column, against the original's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from understudy.arguments import check_whole
from understudy.data.frames import Backend, Frame
from understudy.data.joint_coding import CodedTables
from understudy.progress import track
from understudy.results import Line, Result
from understudy.utility.raw_numbers import Floats, Special, raw_numbers
from understudy.utility.tables import COMPARED, compared_with_control, drawn_records, tables_of
from understudy.utility.value_groups import ValueGroups, value_groups
from understudy.wording import counted

FEWEST = 30
"""Records of a level, in both tables, below which its means are not compared."""
MOST_LEVELS = 20
"""A column of numbers with more different values has no levels to compare means by."""
WORST = 10
"""How many of the means that are furthest off a result names."""
CHANCE = 0.05
"""How often chance alone may move any mean of a table beyond its limit, at most."""
WORK = 3 * 10**8
"""Records times numbers times columns of levels, at most; of more records, a sample."""


@dataclass(frozen=True)
class ConditionalMean:
    """The mean of a number among the records of one level.

    Parameters
    ----------
    number, by, level : str
        The column of the mean, the column of the level, and the level in words.
    records, synthetic_records : int
        How many records have the level and a number.
    original, synthetic, control : float
        The mean in each table; nan without control records.
    difference : float
        Release less original, in standard deviations of the original's whole column.
    limit : float
        The difference that chance alone exceeds for any mean of the table with a probability of
        5% at most.
    """

    number: str
    by: str
    level: str
    records: int
    synthetic_records: int
    original: float
    synthetic: float
    difference: float
    limit: float
    control: float = math.nan

    def sentence(self) -> str:
        """Return it in a sentence.

        Examples
        --------
        >>> ConditionalMean("delay", "origin", "EWR", 90, 90, 15.1, 9.0, -0.2, 0.1).sentence()
        "Where 'origin' is 'EWR', the mean of 'delay' is 15.1 in the original and 9 in the release."
        """
        return (
            f"Where {self.by!r} is {self.level!r}, the mean of {self.number!r} is "
            f"{self.original:.4g} in the original and {self.synthetic:.4g} in the release."
        )


@dataclass(frozen=True, eq=False)
class ConditionalMeans(Result):
    """Means of numbers by the levels of other columns; `conditional_means` makes it.

    Parameters
    ----------
    records, synthetic_records : int
        Records that were used.
    means : int
        How many means were compared.
    mean, expected : float
        The mean absolute difference in standard deviations of the column, weighted by the records
        of each level; and what chance alone gives. nan if no mean was compared.
    control : float
        The same as `mean` for control records; nan without any.
    largest : float
        The largest absolute difference.
    beyond : int
        Means that are further off than chance explains.
    worst : tuple of ConditionalMean
        The means that are furthest off, by their limits.
    reasons : dict
        Why a value is nan, or what was left out.
    """

    SERIES: ClassVar = {
        "baseline": "Expected by chance",
        "synthetic": "This release",
        "control": "Control records",
    }
    AXIS = "Difference from the original, in standard deviations"

    records: int
    synthetic_records: int
    means: int
    mean: float
    expected: float
    control: float
    largest: float
    beyond: int
    worst: tuple[ConditionalMean, ...]
    reasons: dict[str, str]
    _rows: pl.DataFrame = field(repr=False)

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return one row for each mean, those furthest off first; fields of `ConditionalMean`.

        Dates and times have no means in words: theirs are null. The frame is of the kind that went
        in, or of `backend`.
        """
        return self._framed(self._rows, backend)

    def lines(self) -> list[Line]:
        """Return the mean difference beside what chance gives."""
        about = f"mean difference from the original over {self.means:,} means"
        return [Line("Means by level", about, self.expected, self.mean, control=self.control)]

    def summary(self) -> str:
        """Return the result in a few sentences."""
        if not self.means:
            return f"No mean was compared: {self.reasons['mean']}."
        told = [
            f"{counted(self.means, 'mean')} of a number by the level of another column "
            f"{'differs' if self.means == 1 else 'differ'} from the original's by {self.mean:.3f} "
            f"standard deviations on average; a fresh sample would differ by {self.expected:.3f}. "
            f"Beyond chance: {self.beyond:,}."
        ]
        if self.beyond:
            told.append(self.worst[0].sentence())
        return " ".join(told)


def conditional_means(
    original: Frame | CodedTables,
    synthetic: Frame | None = None,
    *,
    control: Frame | None = None,
    columns: str | Sequence[str] | None = None,
    special: Special = None,
    fewest: int = FEWEST,
    random_state: int = 0,
) -> ConditionalMeans:
    r"""Compare the mean of each number among the records of each level of the other columns.

    Parameters
    ----------
    original, synthetic, control, columns, special, random_state
        As for `correlations`.
    fewest : int
        Levels that fewer records have, in either table, are not compared.

    Returns
    -------
    ConditionalMeans
        The differences beside what chance alone gives, and the means that are furthest off.

    Raises
    ------
    ParameterError
        If an argument has a value that cannot be used, or a table lacks a column.
    DataError
        If a table has no rows, or the tables hold values that cannot be compared.

    Notes
    -----
    Levels are those of categories, of booleans, and of numbers with at most 20 different values;
    missing is a level. A mean of n original and m synthetic records of a level differs by chance
    with the standard error :math:`\sqrt{s^2 / n + s^2 / m}`, where :math:`s^2` is the largest of
    three variances: those of the level in either table, and half of that within all levels. Limits
    allow for all means (Bonferroni), by Student's distribution.

    Examples
    --------
    >>> original = pl.DataFrame({"sex": ["f", "m"] * 50, "pay": [10.0, 20.0] * 50})
    >>> synthetic = pl.DataFrame({"sex": ["f", "m"] * 50, "pay": [15.0] * 100})
    >>> found = conditional_means(original, synthetic)
    >>> found.beyond, found.worst[0].difference
    (2, 1.0)
    """
    check_whole("random_state", random_state, 0)
    check_whole("fewest", fewest, 2)
    both = compared_with_control(tables_of(original, synthetic, control=control), columns)
    numbers = raw_numbers(both, special)
    groups = {
        name: group
        for name in both.columns
        if (group := _levels_of(both, name, numbers.get(name), fewest)) is not None
    }
    rng = np.random.default_rng(random_state)
    most = max(WORK // max(len(numbers) * len(groups), 1), 10 * fewest)
    rows, reasons = drawn_records(
        both, most, rng, "means by level rest on", "there are many columns"
    )
    found = _all_means(both, numbers, groups, rows, fewest)
    frame, weights = _frame(found, both)
    original_rows, made_rows = (min(len(both.encoded[table]), most) for table in COMPARED)
    sizes = original_rows, made_rows
    if not len(frame):
        reasons["mean"] = (
            "there is no column of numbers beside one with levels that at least "
            f"{fewest} records of both tables have"
        )
        nan = math.nan
        return ConditionalMeans(
            *sizes, 0, nan, nan, nan, nan, 0, (), reasons, frame, _backend=both.backend
        )
    gaps = frame["difference"].abs().to_numpy()
    beyond = gaps > frame["limit"].to_numpy()
    order = np.argsort(-gaps / np.maximum(frame["limit"].to_numpy(), 1e-300), kind="stable")
    moved = frame["control_difference"].abs().to_numpy()
    known = ~np.isnan(moved)
    ordered = frame[order].drop("control_difference", "expected")
    told = ordered.head(WORST).with_columns(pl.col(pl.Float64).fill_null(math.nan))
    return ConditionalMeans(
        *sizes,
        len(frame),
        float(np.average(gaps, weights=weights)),
        float(np.average(frame["expected"].to_numpy(), weights=weights)),
        float(np.average(moved[known], weights=weights[known])) if known.any() else math.nan,
        float(gaps.max()),
        int(beyond.sum()),
        tuple(ConditionalMean(**row) for row in told.rows(named=True)),
        reasons,
        ordered.fill_nan(None),
        _backend=both.backend,
    )


def _levels_of(
    both: CodedTables, name: str, numbers: Floats | None, fewest: int
) -> ValueGroups | None:
    """Return the levels of a column by which means are compared; None if it has none."""
    codes, levels = both.column(name)
    if numbers is not None:
        held = np.bincount(codes["original"], minlength=len(levels)) > 0
        if np.count_nonzero(held & ~np.isnan(numbers)) > MOST_LEVELS:
            return None
    found = value_groups(
        levels, codes["original"], codes["synthetic"], None, fewest=fewest, fewest_made=fewest
    )
    return found if found.count > 1 else None


@dataclass(frozen=True, eq=False)
class _Sums:
    """Counts, means and variances of all numbers, by the levels of one column."""

    counts: Floats
    means: Floats
    variances: Floats

    @classmethod
    def of(cls, groups: NDArray[np.int64], count: int, values: Floats) -> _Sums:
        """Sum up numbers, a row for each column of them, NaN for unknown; centred about 0."""
        counts, sums, squares = np.zeros((3, len(values), count))
        for place, held in enumerate(values):
            known = ~np.isnan(held)
            own, kept = (groups, held) if known.all() else (groups[known], held[known])
            counts[place] = np.bincount(own, minlength=count + 1)[:count]
            sums[place] = np.bincount(own, kept, minlength=count + 1)[:count]
            squares[place] = np.bincount(own, kept**2, minlength=count + 1)[:count]
        with np.errstate(invalid="ignore", divide="ignore"):
            means = sums / counts
            variances = (squares - counts * means**2) / (counts - 1)
        return cls(counts, means, np.maximum(variances, 0.0))


def _all_means(
    both: CodedTables,
    numbers: dict[str, Floats],
    groups: dict[str, ValueGroups],
    rows: dict[str, NDArray[np.int64] | slice],
    fewest: int,
) -> list[pl.DataFrame]:
    """Return the means of all numbers, a table for each column of levels."""
    centre: dict[str, float] = {}
    scale: dict[str, float] = {}
    values: dict[str, Floats] = {}
    for name, lookup in numbers.items():
        held = lookup[both.column(name)[0]["original"]]
        held = held[~np.isnan(held)]
        centre[name] = float(held.mean()) if len(held) else math.nan
        scale[name] = float(held.std()) if len(held) else 0.0
    used = [name for name in numbers if scale[name] > 0]
    for table in both.encoded:
        coded = [both.column(name)[0][table][rows[table]] for name in used]
        values[table] = np.empty((len(used), len(coded[0]) if used else 0))
        for held, name, codes in zip(values[table], used, coded, strict=True):
            held[:] = ((numbers[name] - centre[name]) / scale[name])[codes]
    found = []
    for by, group in track(groups.items(), "comparing means by level", len(groups)):
        sums = {
            table: _Sums.of(group.place[both.column(by)[0][table][rows[table]]], group.count, held)
            for table, held in values.items()
        }
        real, made = sums["original"], sums["synthetic"]
        enough = (real.counts >= fewest) & (made.counts >= fewest)
        enough[[place for place, name in enumerate(used) if name == by]] = False
        within = _pooled(real)
        variance = np.maximum(np.maximum(real.variances, made.variances), within[:, None] / 2)
        with np.errstate(invalid="ignore", divide="ignore"):
            error = np.sqrt(variance * (1 / real.counts + 1 / made.counts))
        places, levels = np.nonzero(enough)
        if len(places):
            labels = np.array([group.label(level) for level in range(group.count)], dtype=object)
            means = {table: one.means[places, levels] for table, one in sums.items()}
            unknown = np.full(len(places), np.nan)
            moved = means["control"] - means["original"] if "control" in means else unknown
            shift, unit = (
                np.array([held[name] for name in used])[places] for held in (centre, scale)
            )
            columns: dict[str, Any] = {
                "number": np.array(used, dtype=object)[places].tolist(),
                "by": [by] * len(places),
                "level": labels[levels].tolist(),
                "records": real.counts[places, levels].astype(np.int64),
                "synthetic_records": made.counts[places, levels].astype(np.int64),
                "difference": means["synthetic"] - means["original"],
                "error": error[places, levels],
                "control_difference": moved,
            }
            for table in ("original", "synthetic", "control"):
                columns[table] = shift + unit * means.get(table, unknown)
            found.append(pl.DataFrame(columns))
    return found


def _pooled(sums: _Sums) -> Floats:
    """Return the variance of each number within the levels."""
    freedom = np.maximum(sums.counts - 1, 0.0)
    held = np.where(freedom > 0, sums.variances, 0.0)
    pooled: Floats = (freedom * held).sum(axis=1) / np.maximum(freedom.sum(axis=1), 1.0)
    return pooled


def _frame(found: list[pl.DataFrame], both: CodedTables) -> tuple[pl.DataFrame, Floats]:
    """Return the means as a table, with the limits of chance, and the weight of each."""
    from scipy.special import stdtrit  # Student's t, without all of scipy.stats

    texts = ("number", "by", "level")
    schema: dict[str, Any] = dict.fromkeys(texts, pl.String)
    schema |= dict.fromkeys(("records", "synthetic_records"), pl.Int64)
    numbers = ("original", "synthetic", "difference", "error", "control_difference", "control")
    empty = pl.DataFrame(schema=schema | dict.fromkeys(numbers, pl.Float64))
    frame = pl.concat([empty, *found], how="diagonal")
    fewer = np.minimum(frame["records"].to_numpy(), frame["synthetic_records"].to_numpy())
    error = frame["error"].to_numpy()
    limit = stdtrit(np.maximum(fewer - 1.0, 1.0), 1 - CHANCE / (2 * max(len(frame), 1))) * error
    times = [name for name in both.columns if both.levels[name].are_times]
    frame = frame.with_columns(
        limit=limit,
        expected=math.sqrt(2 / math.pi) * error,
        **{
            name: pl.when(pl.col("number").is_in(times)).then(None).otherwise(pl.col(name))
            for name in ("original", "synthetic", "control")
        },
    )
    columns = [*texts, "records", "synthetic_records", "original", "synthetic", "difference"]
    columns += ["limit", "control", "expected", "control_difference"]
    return frame.select(columns), frame["records"].to_numpy().astype(np.float64)
