"""How anonymous the records of one table are: k-anonymity, l-diversity and t-closeness."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Coded
from understudy.data.frames import Backend, Frame, Layout
from understudy.data.joint_coding import Levels, code_together
from understudy.errors import DataError, ParameterError
from understudy.results import Result
from understudy.risk.key_tally import KeyCells
from understudy.risk.prepare import Prepared
from understudy.risk.scenario import Scenario
from understudy.wording import percent

if TYPE_CHECKING:
    import polars as pl

Distance = Literal["total variation", "ordered"]
_NUMBERS = ("records", "classes", "k", "l", "t", "unique", "pairs", "below_five")
_ALL = "(all records)"
_ROUNDING = 1e-12
"""Of distances from 0 to 1, which are sums: what is nearer to each other is equal."""


@dataclass(frozen=True, eq=False)
class Anonymity(Result):
    """The smallest, the least diverse and the most peculiar class of a table.

    A class is made of the records that have the same values in all keys.

    Attributes
    ----------
    keys : tuple of str
        The keys.
    sensitive : str or None
        The sensitive attribute.
    records, classes : int
        How many there are.
    k : int
        Records of the smallest class.
    l : float
        The fewest different sensitive values in a class; nan without a sensitive attribute.
    t : float
        The largest distance between the sensitive values of a class and those of all records;
        nan without a sensitive attribute.
    distance : str or None
        How `t` is measured. "total variation": half the sum of the differences of shares.
        "ordered": the earth mover's distance of Li et al. between ranks, from 0 to 1; for numbers
        none of which is missing.
    unique, pairs, below_five : int
        Records in classes of 1, of 2, and of fewer than 5.
    reasons : dict
        Why a field is nan, or why numbers are not compared as numbers.
    """

    keys: tuple[str, ...]
    sensitive: str | None
    records: int
    classes: int
    k: int
    l: float  # noqa: E741  # the literature's name
    t: float
    distance: Distance | None
    unique: int
    pairs: int
    below_five: int
    reasons: dict[str, str]
    _table: _Classes = field(repr=False)

    def worst(self, measure: Literal["k", "l", "t"], *, backend: Backend | None = None) -> Frame:
        """Return the classes that set `k`, `l` or `t`: their keys' values and their figures.

        Keys' values appear as labels, and figures come after them; a figure gets an underscore if
        a key has its name. The records of a class are those with its number in `per_record`.
        """
        table = self._table
        figures = {"k": table.sizes, "l": table.distinct, "t": table.distances}
        if measure not in figures:
            raise ParameterError(f"measure must be 'k', 'l' or 't'; got {measure!r}.")
        held = figures[measure]
        if held is None:
            raise ParameterError(f"{measure} needs a sensitive attribute.")
        chosen = held >= self.t - _ROUNDING if measure == "t" else held == held.min()
        return self._framed(table.to_frame(self.keys, np.flatnonzero(chosen)), backend)

    def per_record(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each record: its class, and the class's figures.

        Rows and classes are numbered from 0.
        """
        import polars as pl

        place = self._table.class_of
        figures = {name: held[place] for name, held in self._table.figures().items()}
        frame = pl.DataFrame({"class": place, **figures}).with_row_index("record")
        return self._framed(frame, backend)

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return all figures as a table of one row."""
        return self._framed([{name: getattr(self, name) for name in _NUMBERS}], backend)

    def summary(self) -> str:
        """Say the figures in a sentence."""
        text = (
            f"{self.records:,} records form {self.classes:,} classes, and the smallest has "
            f"k = {self.k}. {percent(self.unique / self.records, 2)} of the records "
            f"({self.unique:,}) are alone in their class. {self.below_five:,} are in classes of "
            "fewer than 5."
        )
        if self.sensitive is not None:
            text += f" For {self.sensitive!r}: l = {self.l}, t = {self.t:.3f} ({self.distance})."
        return text


@dataclass(frozen=True, eq=False)
class _Classes:
    """The classes of a table."""

    examples: Coded
    levels: Mapping[str, Levels]
    class_of: NDArray[np.int64]
    sizes: NDArray[np.int64]
    distinct: NDArray[np.int64] | None
    distances: NDArray[np.float64] | None

    def figures(self) -> dict[str, NDArray[Any]]:
        named = {"size": self.sizes, "distinct": self.distinct, "distance": self.distances}
        return {name: held for name, held in named.items() if held is not None}

    def to_frame(self, keys: Sequence[str], chosen: NDArray[np.int64]) -> pl.DataFrame:
        import polars as pl

        columns: dict[str, Any] = {_beside("class", keys): chosen}
        for name in keys:
            codes, levels = self.examples[name][chosen], self.levels[name]
            labels = zip(codes, levels.labels_of(codes), strict=True)
            columns[name] = [None if code == levels.missing else label for code, label in labels]
        figures = {_beside(name, keys): held[chosen] for name, held in self.figures().items()}
        return pl.DataFrame(columns | figures, schema_overrides=dict.fromkeys(keys, pl.String))


def _beside(name: str, keys: Sequence[object]) -> str:
    """Return a column's name, with underscores if a key has it already."""
    while name in keys:
        name += "_"
    return name


def _listed(keys: object) -> tuple[object, ...]:
    """Return the keys that a user names; whether they are names is checked later."""
    if isinstance(keys, str):
        return (keys,)
    return tuple(keys) if isinstance(keys, Collection) else ()


def anonymity(
    frame: Frame,
    *,
    keys: str | Sequence[str],
    sensitive: str | None = None,
    groups: Mapping[str, int] | None = None,
    special: Mapping[str, Sequence[float]] | None = None,
) -> Anonymity:
    """Measure k-anonymity, distinct l-diversity and t-closeness of a table.

    Missing is a value like any other.

    Parameters
    ----------
    frame : frame
        The table, original or synthetic.
    keys : sequence of str
        What an attacker knows of a person.
    sensitive : str, optional
        What the attacker wants to learn; without it there is only k.
    groups : mapping, optional
        Numeric columns to put into so many groups, by quantiles.
    special : mapping, optional
        Numbers of a grouped column that stay as they are.

    Raises
    ------
    ParameterError
        If the table lacks a column, or the sensitive attribute is among the keys.
    DataError
        If the table has no rows.

    References
    ----------
    .. [1] Sweeney (2002). k-anonymity: a model for protecting privacy. International Journal of
       Uncertainty, Fuzziness and Knowledge-Based Systems 10, doi:10.1142/S0218488502001648
    .. [2] Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam (2007). l-diversity: privacy beyond
       k-anonymity. ACM Transactions on Knowledge Discovery from Data 1,
       doi:10.1145/1217299.1217302
    .. [3] Li, Li, Venkatasubramanian (2007). t-closeness: privacy beyond k-anonymity and
       l-diversity. ICDE, doi:10.1109/ICDE.2007.367856

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"age": [30, 30, 31, 31], "ill": ["y", "y", "y", "n"]})
    >>> found = anonymity(table, keys=["age"], sensitive="ill")
    >>> found.k, found.l, found.t  # ages 30: both ill, where 3 of 4 are
    (2, 1, 0.25)
    """
    # Without a sensitive attribute, every record has the same value of none.
    target = _beside(_ALL, _listed(keys)) if sensitive is None else sensitive
    names = Scenario(keys, target).keys
    columns = names if sensitive is None else (*names, sensitive)
    together = code_together({"given": frame}, columns, groups=groups, special=special)
    coded = together["given"]
    if not len(coded):
        raise DataError("The given table has no rows.")
    if sensitive is None:
        nothing = np.zeros(len(coded), np.uint8)
        coded = Coded((*names, target), (*coded.columns, nothing), (*coded.cardinalities, 1))
    return _measured(coded, together.levels, names, target, Layout.of(frame).backend)


def anonymity_of(prepared: Prepared) -> tuple[Anonymity, Anonymity]:
    """Measure the original and the first synthetic table, which are coded already."""
    keys, sensitive = prepared.scenario.keys, prepared.scenario.sensitive
    original, synthetic = (
        _measured(table, prepared.levels, keys, sensitive, prepared.backend)
        for table in (prepared.original, prepared.syntheses[0])
    )
    return original, synthetic


def _measured(
    coded: Coded, levels: Mapping[str, Levels], keys: tuple[str, ...], target: str, backend: Backend
) -> Anonymity:
    """Measure a coded table; a target without levels stands for no sensitive attribute."""
    cells = KeyCells.of([coded], keys, target)
    (counts,) = cells.counts
    sizes = cells.per_key(counts)
    distinct = distances = None
    distance: Distance | None = None
    reasons = dict.fromkeys(("l", "t"), "There is no sensitive attribute.")
    if target in levels:
        distinct = cells.per_key(np.ones(len(counts), np.int64))
        distance, reasons = _choose_distance(target, levels[target], coded[target])
        distances = (_ordered if distance == "ordered" else _total_variation)(cells, sizes)
    return Anonymity(
        keys=keys,
        sensitive=target if target in levels else None,
        records=len(coded),
        classes=cells.keys,
        k=int(sizes.min()),
        l=math.nan if distinct is None else int(distinct.min()),
        t=math.nan if distances is None else float(distances.max()),
        distance=distance,
        unique=int(sizes[sizes == 1].sum()),
        pairs=int(sizes[sizes == 2].sum()),
        below_five=int(sizes[sizes < 5].sum()),
        reasons=reasons,
        _table=_Classes(
            cells.examples.take(cells.starts),
            levels,
            cells.key[cells.cell_of[0]],
            sizes,
            distinct,
            distances,
        ),
        _backend=backend,
    )


def _choose_distance(
    name: str, levels: Levels, codes: NDArray[np.unsignedinteger]
) -> tuple[Distance, dict[str, str]]:
    if levels.numbers is None:
        return "total variation", {}
    # Tables that are coded together share their levels: missing may be in the other one alone.
    missing = levels.missing is not None and bool((codes == levels.missing).any())
    if not missing and np.all(np.diff(levels.numbers[: levels.missing]) >= 0):
        return "ordered", {}
    reason = (
        f"Some values of {name!r} are {'missing' if missing else 'special'}, and no number is "
        "close to them. So all numbers count as categories, which never makes t smaller."
    )
    return "total variation", {"distance": reason}


def _total_variation(cells: KeyCells, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return half the sum of |share in the class - share in all|, for each class.

    It is also the sum of what is more frequent in the class, and these values the class holds.
    """
    (counts,) = cells.counts
    shares = np.bincount(cells.value, counts) / counts.sum()
    more = np.maximum(counts / sizes[cells.key] - shares[cells.value], 0)
    return np.add.reduceat(more, cells.starts)


def _ordered(cells: KeyCells, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the earth mover's distance between ranks, for each class, over m - 1 steps.

    It is the sum over the ranks of the difference of cumulative shares. The class's cumulative
    share c is constant from each value that it holds to the next, while that of all records rises
    past c at some rank: so each such stretch is two differences of prefix sums.
    """
    (counts,) = cells.counts
    values = np.bincount(cells.value, counts)
    held = np.flatnonzero(values)
    if len(held) < 2:
        return np.zeros(cells.keys)
    rank = (np.cumsum(values > 0) - 1)[cells.value]
    total = np.cumsum(values[held]) / counts.sum()
    prefix = np.concatenate([[0.0], np.cumsum(total)])
    upto = np.cumsum(counts)
    before = upto[cells.starts] - counts[cells.starts]
    share = (upto - before[cells.key]) / sizes[cells.key]
    last = np.append(cells.starts[1:], len(counts)) - 1
    stop = np.append(rank[1:], len(held))
    stop[last] = len(held)
    middle = np.clip(np.searchsorted(total, share), rank, stop)
    below = share * (middle - rank) - (prefix[middle] - prefix[rank])
    above = (prefix[stop] - prefix[middle]) - share * (stop - middle)
    stretches = np.add.reduceat(below + above, cells.starts)
    first = prefix[rank[cells.starts]]  # before its first value, the class's share is 0
    distances: NDArray[np.float64] = (stretches + first) / (len(held) - 1)
    return distances
