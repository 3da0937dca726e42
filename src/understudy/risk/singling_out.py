"""Singling out: what is rare in a release, and fits exactly one person of the original."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.arguments import check_whole, read_seed
from understudy.data.frames import Frame
from understudy.data.joint_coding import EncodedTable
from understudy.errors import ParameterError
from understudy.risk.compared_tables import (
    CONTROL,
    ORIGINAL,
    named_tables,
    shared_columns,
    without_others,
)
from understudy.risk.fitting import Fitting, compare
from understudy.risk.predicates import (
    CodedRecords,
    code_records,
    predicates_of_release,
    random_predicates,
)
from understudy.risk.rates import Rate, residual_risk
from understudy.risk.singling_out_result import PredicateAttack, SinglingOut

ATTACKS = 2_000
"""Predicates of each kind, by default."""
KINDS = (1, 3, 5)
"""Columns of a predicate, by default: of more columns, copies of a few people show better."""


def singling_out(  # noqa: PLR0913  # what anonymeter's users know, each with a default
    original: Frame,
    synthetic: Frame | list[Any] | tuple[Any, ...],
    *,
    control: Frame | None = None,
    columns: str | Sequence[str] | None = None,
    attacks: int = ATTACKS,
    columns_per_predicate: int | Sequence[int] = KINDS,
    random_state: int | None = None,
    confidence: float = 0.95,
) -> SinglingOut:
    """Measure how often what is rare in a release points to exactly one person of the original.

    Parameters
    ----------
    original : frame
        The original table, one person a row.
    synthetic : frame, or list of frames
        The release. Of several, each gives its share of the predicates.
    control : frame, optional
        Records like the original's that were not used for the synthesis. They tell what is known of
        a person because they are in the data from what fits anybody.
    columns : str or sequence of str, optional
        What predicates are about; by default all columns that every table has.
    attacks : int
        How many predicates of each kind are made, if there are so many.
    columns_per_predicate : int or sequence of int
        The kinds of predicates, by their number of columns; of a table with fewer, all. 1 stands
        for values that one synthetic record has alone.
    random_state : int, optional
        Seed of what is drawn. One is drawn and recorded if it is not given.
    confidence : float
        The confidence of the intervals.

    Returns
    -------
    SinglingOut
        For each kind, the rates of the attack, of random predicates and of control records, the
        residual risk, and a test; and who is singled out.

    Raises
    ------
    ParameterError
        If an argument has a value that cannot be used, or a table lacks a column.
    DataError
        If a table has no rows.

    Notes
    -----
    Every predicate fits exactly one of the release's different records. One of a single column is
    "equal to v" for a value that one record has; for the smallest and the largest number or date
    "at most" and "at least". One of several columns is made of one record: equal for categories and
    missing values; for numbers and dates at least the record's value if that is above the median,
    else at most. It singles out if exactly one person fits: two people with the same record are not
    singled out.

    Chance gives a predicate of weight w (the share of all people that it fits) one of n people with
    probability ``n w (1 - w)**(n - 1)``; `same_weight` has this for w = 1 / m, with m different
    synthetic records. It is at most 37%.

    Fewer control records than people are singled out less often, or more often, only because they
    are fewer: `control` is the rate for as many as there are people. Of more control records, it is
    what a random part of them gives, which follows exactly from how many of them each predicate
    fits. Of fewer, the weights of predicates are taken to have a gamma distribution, so that
    numbers of people are negative binomial; the two parameters follow from the shares of
    predicates that fit no control record and one.

    The test needs no such model. It compares both at the smaller size, and draws anew, 499 times,
    who is a member and who a control record. Its p-value is right whatever the release is like, as
    long as both are random samples of the same people.

    References
    ----------
    .. [1] Giomi, M., Boenisch, F., Wehmeyer, C., Tasnádi, B. (2023). A unified framework for
       quantifying privacy risk in synthetic data. Proceedings on Privacy Enhancing Technologies
       2023(2), doi:10.56553/popets-2023-0055
    .. [2] Cohen, A., Nissim, K. (2020). Towards formalizing the GDPR's notion of singling out.
       Proceedings of the National Academy of Sciences 117(15), doi:10.1073/pnas.1914598117

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"age": [30, 31, 31, 90], "job": ["a", "b", "b", "c"]})
    >>> release = pl.DataFrame({"age": [31, 31, 85], "job": ["b", "b", "a"]})
    >>> found = singling_out(original, release, columns_per_predicate=1)
    >>> found["1 column"].attack.hits  # age of 85 or more, and job a; job b fits two people
    2.0
    """
    return singling_out_of(
        named_tables(original, synthetic, control),
        columns=columns,
        attacks=attacks,
        columns_per_predicate=columns_per_predicate,
        random_state=random_state,
        confidence=confidence,
    )


def singling_out_of(
    tables: Mapping[str, EncodedTable],
    *,
    columns: str | Sequence[str] | None = None,
    attacks: int = ATTACKS,
    columns_per_predicate: int | Sequence[int] = KINDS,
    random_state: int | None = None,
    confidence: float = 0.95,
) -> SinglingOut:
    """Measure tables that are encoded already, by their names; see `singling_out`.

    "original", releases whose names begin with "synthetic", and "control" if there is one; others
    are left out.
    """
    check_whole("attacks", attacks, 1)
    kinds = _check_kinds(columns_per_predicate)
    held = without_others(tables)
    names = shared_columns(held, columns)
    coded = code_records(held, names)
    original, control = coded.pop(ORIGINAL), coded.pop(CONTROL, None)
    releases = [table.distinct() for table in coded.values()]
    people = original if control is None else original.joined(control)
    seed = read_seed(random_state)
    rng = np.random.default_rng(seed)
    found, singled = [], {}
    for kind in dict.fromkeys(min(kind, len(names)) for kind in kinds):
        attack = _Attack(releases, people, original.rows, kind, confidence)
        result, times = attack.on(attacks, rng)
        found.append(result)
        singled[kind] = times
    return SinglingOut(
        columns=names,
        records=original.rows,
        synthetic_records=tuple(table.rows for table in coded.values()),
        control_records=0 if control is None else control.rows,
        random_state=seed,
        confidence=confidence,
        attacks=tuple(found),
        _singled=singled,
        _backend=held[ORIGINAL].backend,
    )


def _check_kinds(kinds: int | Sequence[int]) -> tuple[int, ...]:
    several = isinstance(kinds, Sequence) and not isinstance(kinds, str)
    found = tuple(kinds) if several else (kinds,)  # type: ignore[arg-type]
    if not found:
        raise ParameterError("columns_per_predicate must name at least one number; got none.")
    return tuple(check_whole("columns_per_predicate", kind, 1) for kind in found)


@dataclass(frozen=True, eq=False)
class _Attack:
    """Predicates of one kind, put to the original's people and to control records after them."""

    releases: Sequence[CodedRecords]
    people: CodedRecords
    members: int
    kind: int
    confidence: float

    def on(
        self, attacks: int, rng: np.random.Generator
    ) -> tuple[PredicateAttack, NDArray[np.int64]]:
        """Return the figures, and how many predicates single out each person."""
        made = [
            predicates_of_release(release, self.kind, share, rng)
            for release, share in self._shares(attacks)
        ]
        predicates = made[0]
        for more in made[1:]:
            predicates = predicates.joined(more)
        fitting = Fitting.of(self.people, self.members, predicates)
        hits = fitting.counts[:, 0] == 1
        attack = Rate.of(float(hits.sum()), len(predicates), self.confidence)
        compared = compare(fitting, attack, self.confidence, rng)
        risk, interval = residual_risk(attack, compared.control)
        singled = fitting.singled
        result = PredicateAttack(
            columns=self.kind,
            asked=attacks,
            attack=attack,
            baseline=self._by_chance(len(predicates), rng),
            same_weight=self._same_weight([len(part) for part in made]),
            control=compared.control,
            difference=compared.difference,
            difference_interval=compared.interval,
            p_value=compared.p_value,
            risk=risk,
            risk_interval=interval,
            people=len(np.unique(singled)),
        )
        return result, np.bincount(singled, minlength=self.members)

    def _shares(self, count: int) -> list[tuple[CodedRecords, int]]:
        """Return each release with its share of so many predicates."""
        ends = np.linspace(0, count, len(self.releases) + 1).astype(int)
        return list(zip(self.releases, np.diff(ends).tolist(), strict=True))

    def _by_chance(self, count: int, rng: np.random.Generator) -> Rate:
        hits = 0
        for release, share in self._shares(count):
            predicates = random_predicates(release, self.kind, share, rng)
            counts, _ = self.people.fitting(predicates, first=self.members, both=False)
            hits += int((counts[:, 0] == 1).sum())
        return Rate.of(float(hits), count, self.confidence)

    def _same_weight(self, made: Sequence[int]) -> float:
        if not sum(made):
            return math.nan
        n = self.members
        chances = [n / table.rows * (1 - 1 / table.rows) ** (n - 1) for table in self.releases]
        return float(np.average(chances, weights=made))
