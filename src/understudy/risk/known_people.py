"""What people whose values are known tell about others, by a column of a release or without it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from understudy.data.joint_coding import CodedTables, Levels
from understudy.errors import DataError
from understudy.learning.mixed_distance import nearest_records
from understudy.risk.chance import Agreement, agreement
from understudy.risk.kept_back import Compared, People, compare_people, strata_of
from understudy.risk.linking import Linker, Rows, drawn_people
from understudy.risk.rank_groups import rank_groups, rank_limits
from understudy.risk.scenario import Scenario
from understudy.risk.tails import even_tail, hypergeometric_tail
from understudy.risk.tolerance import FEW_NUMBERS, NumberTarget, number_target, sizes_of

Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]
GROUPS = 50
"""Into so many groups at most the numbers of a column are put, to learn what each stands for."""
PEOPLE_A_GROUP = 10
"""So many known people there are for each group on average, at least."""
PARTS = (3, 10)
"""Into so many groups numbers are put to see whether they stand for others."""
FEWEST = 20
"""So many people must be known, and so many tested, to learn anything."""


@dataclass(frozen=True)
class Carrier:
    """What one column of the release tells about the sensitive attribute.

    Parameters
    ----------
    column : str
        The column.
    exact : bool
        Whether only people are meant for whom a record of the release has the same keys.
    known, tested : int
        People from whom it was learnt what the column stands for, and people it was tried on.
    accuracy : float
        Share of the tested people who are guessed correctly; nan if there are too few.
    reference : float
        The same without the release, by the best of what the known people tell: a constant guess,
        each key by itself, the most similar known person.
    gain : float
        The first less the second.
    p_value : float
        How often chance alone gives such a gain for any column.
    control : float
        Share of the control records that are guessed correctly; nan without any.
    compared : Compared or None
        The tested people beside those kept back.
    """

    column: str
    exact: bool
    known: int
    tested: int
    accuracy: float
    reference: float
    gain: float
    p_value: float
    control: float
    compared: Compared | None


@dataclass(frozen=True, eq=False)
class Secret:
    """The sensitive attribute of the people, as codes, and when a guess is right."""

    codes: Mapping[str, Codes]
    size: int
    number: NumberTarget | None

    @classmethod
    def of(
        cls,
        tables: CodedTables,
        scenario: Scenario,
        groups: Mapping[str, int] | None,
        tolerance: object,
    ) -> Secret:
        """Code the sensitive attribute of the original and of the control records alike."""
        name = scenario.sensitive
        used = [one for one in ("original", "control") if one in tables.encoded]
        own = {name: groups[name]} if groups and name in groups else None
        coded = tables.select(used, [name]).grouped(own)
        levels = coded.levels[name]
        number = number_target(
            name, levels, coded["original"][name], tolerance, grouped=own is not None
        )
        codes = {table: coded[table][name].astype(np.int64) for table in used}
        return cls(codes, len(levels), number)

    def known(self, table: str, rows: Rows) -> Rows:
        """Return those of the rows that have a value to guess."""
        if self.number is None:
            return rows
        return rows[self.number.known(self.codes[table][rows])]

    def right(self, guesses: Codes, truths: Codes) -> Flags:
        """Tell which guesses are right."""
        if self.number is None:
            equal: Flags = guesses == truths
            return equal
        first, last = self.number.code_limits
        return (first[truths] <= guesses) & (guesses <= last[truths])

    def best_constant(self, truths: Codes) -> int:
        """Return the code that is right for most."""
        if self.number is None:
            return int(np.bincount(truths, minlength=self.size).argmax())
        numbers = self.number.numbers
        best = self.number.closeness.best_constant(numbers[truths])
        return int(np.searchsorted(numbers[~np.isnan(numbers)], best))

    def learnt(self, seen: Codes, truths: Codes, asked: Codes) -> Codes:
        """Return what is guessed for `asked`, given what goes with the values `seen`.

        For each value it is the most frequent code, or the middle number; for others the constant.
        """
        guess = np.full(int(max(seen.max(), asked.max())) + 1, self.best_constant(truths))
        if self.number is None:
            often = np.bincount(truths, minlength=self.size)
            pairs, times = np.unique(seen * self.size + truths, return_counts=True)
            values, codes = pairs // self.size, pairs % self.size
            # The last of each value stays: the most frequent, then the one frequent in all.
            order = np.lexsort((-codes, often[codes], times, values))
            guess[values[order]] = codes[order]
        else:
            order = np.lexsort((truths, seen))
            values, starts, counts = np.unique(seen[order], return_index=True, return_counts=True)
            guess[values] = truths[order][starts + (counts - 1) // 2]
        return guess[asked]


@dataclass(frozen=True, eq=False)
class Group:
    """Some people: their rows and values, the records they are linked with, and how far off."""

    rows: Rows
    truths: Codes
    linked: Rows
    distance: NDArray[np.float64]

    def where(self, chosen: Flags) -> Group:
        """Return some of these people."""
        return Group(
            self.rows[chosen], self.truths[chosen], self.linked[chosen], self.distance[chosen]
        )


@dataclass(frozen=True, eq=False)
class KnownPeople:
    """The people who are known and those who are tested, linked with the release."""

    secret: Secret
    known: Group
    tested: Group
    control: Group | None
    reference: Mapping[str, Flags]
    total: int
    exact: bool = False

    @classmethod
    def of(
        cls,
        tables: CodedTables,
        scenario: Scenario,
        secret: Secret,
        people: int | None,
        seed: int,
    ) -> KnownPeople:
        """Draw the people, of whom half are known, and link them with the release."""
        total = len(tables.encoded["original"])
        rows = secret.known("original", drawn_people(total, people, seed))
        if len(rows) < 2:
            raise DataError(f"{scenario.sensitive!r} is known of fewer than two people.")
        mixed = np.random.default_rng([seed, 1]).permutation(rows)
        known, tested = np.sort(mixed[: len(rows) // 2]), np.sort(mixed[len(rows) // 2 :])
        linker = Linker.of(tables, scenario.keys)

        def linked(table: str, chosen: Rows) -> Group:
            distance, found = linker.nearest(table, chosen)
            return Group(chosen, secret.codes[table][chosen], found[:, 0], distance[:, 0])

        control = None
        if "control" in tables.encoded:
            others = drawn_people(len(tables.encoded["control"]), people, seed)
            control = linked("control", secret.known("control", others))
        return cls(
            secret,
            linked("original", known),
            linked("original", tested),
            control,
            _references(tables, scenario, secret, linker, (known, tested)),
            total,
        )

    def tried(self, column: str, tables: CodedTables) -> list[Carrier]:
        """Try one column, for everybody and for those who are linked exactly."""
        values = _values(column, tables, len(self.known.truths))
        return [self.on(column, values), self.linked_exactly.on(column, values)]

    def tried_together(self, columns: Sequence[str], tables: CodedTables) -> list[Carrier]:
        """Try what several columns hold together, as one; nothing if that is too much to learn."""
        few = [name for name in columns if len(tables.column(name)[1]) <= FEW_NUMBERS]
        if len(few) < 2:
            return []
        held = np.stack([_values(name, tables, len(self.known.truths)) for name in few])
        values, codes = np.unique(held, axis=1, return_inverse=True)
        if values.shape[1] * PEOPLE_A_GROUP > len(self.known.truths):
            return []
        codes = codes.reshape(-1).astype(np.int64)
        name = " + ".join(few)
        return [self.on(name, codes), self.linked_exactly.on(name, codes)]

    @cached_property
    def linked_exactly(self) -> KnownPeople:
        """The same attack on those for whom the release has a record with the same keys."""
        kept = self.tested.distance == 0
        return replace(
            self,
            known=self.known.where(self.known.distance == 0),
            tested=self.tested.where(kept),
            control=self.control and self.control.where(self.control.distance == 0),
            reference={name: flags[kept] for name, flags in self.reference.items()},
            exact=True,
        )

    def least_agreement(self, sensitive: str, tables: CodedTables) -> float:
        """Return how often chance alone makes people have the values of their records so rarely.

        It is the smallest p-value for everybody and for those who are linked exactly, corrected for
        having looked so often. The tables are the original and the releases.
        """
        codes, levels = tables.column(sensitive)
        original = codes["original"].astype(np.int64)
        made = [held for name, held in codes.items() if name != "original"]
        p_values = []
        for ours, theirs in _coarse(original, np.concatenate(made).astype(np.int64), levels):
            for people in (self, self.linked_exactly):
                rows, linked = (
                    np.concatenate([getattr(half, name) for half in (people.known, people.tested)])
                    for name in ("rows", "linked")
                )
                p_values.append(_rarely_right(theirs[linked], ours[rows]))
        return min(1.0, len(p_values) * min(p_values, default=1.0))

    def on(self, column: str, values: Codes) -> Carrier:
        """Try a column, given its value in each record of the release."""
        known, tested, control, exact = self.known, self.tested, self.control, self.exact
        sizes = len(known.truths), len(tested.truths)
        if min(sizes) < FEWEST:
            nothing = (math.nan,) * 5
            return Carrier(column, exact, *sizes, *nothing, None)
        right = self._right(values, known, tested)
        best = max(self.reference.values(), key=lambda one: int(one.sum()))
        p_value = _sign_test(int((right & ~best).sum()), int((best & ~right).sum()))
        compared = None
        if control is not None and len(control.truths):
            outside = self._right(values, known, control)
            strata = strata_of(
                tested.truths, control.truths, numbers=self.secret.number is not None
            )
            compared = compare_people(
                People(right.astype(np.float64), strata[0]),
                People(outside.astype(np.float64), strata[1]),
            )
        accuracy, reference = float(right.mean()), float(best.mean())
        return Carrier(
            column,
            exact,
            *sizes,
            accuracy,
            reference,
            accuracy - reference,
            p_value,
            math.nan if compared is None else compared.control,
            compared,
        )

    def _right(self, values: Codes, known: Group, asked: Group) -> Flags:
        guesses = self.secret.learnt(values[known.linked], known.truths, values[asked.linked])
        return self.secret.right(guesses, asked.truths)


def _values(column: str, tables: CodedTables, known: int) -> Codes:
    """Return what each record of the releases has in a column; many numbers are put into groups."""
    codes, levels = tables.column(column)
    stacked = np.concatenate(list(codes.values())).astype(np.int64)
    numbers = sizes_of(levels)
    if numbers is None or len(levels) <= FEW_NUMBERS:
        return stacked
    groups = min(max(known // PEOPLE_A_GROUP, 2), GROUPS)
    return rank_groups(stacked, np.isnan(numbers[stacked]), groups)


def _references(
    tables: CodedTables,
    scenario: Scenario,
    secret: Secret,
    linker: Linker,
    halves: tuple[Rows, Rows],
) -> dict[str, Flags]:
    """Return whom the known people tell without the release, by each way to use them."""
    known, tested = halves
    own = secret.codes["original"]
    truths, wanted = own[known], own[tested]
    constant = np.full(len(tested), secret.best_constant(truths))
    found = {"constant": secret.right(constant, wanted)}
    coded = tables.select(["original"], scenario.keys)
    for name in scenario.keys:
        values = _values(name, coded, len(known))
        guesses = secret.learnt(values[known], truths, values[tested])
        found[name] = secret.right(guesses, wanted)
    people = linker.people["original"]
    _, nearest = nearest_records(people.take(tested), people.take(known))
    found["most similar person"] = secret.right(truths[nearest[:, 0]], wanted)
    return found


def _coarse(ours: Codes, theirs: Codes, levels: Levels) -> Iterator[tuple[Codes, Codes]]:
    """Yield values as they are; numbers in groups of the original's, those missing by themselves.

    Few groups tell best that numbers run the other way, and more that they are moved. Their number
    is even once, so that no group in the middle stays where it is.
    """
    numbers = sizes_of(levels)
    if numbers is None or len(levels) <= FEW_NUMBERS:
        yield ours, theirs
        return
    without = np.isnan(numbers)
    if without[ours].all():
        return
    for groups in PARTS:
        limits = rank_limits(ours[~without[ours]], groups)
        one, other = (
            np.where(without[held], groups, np.searchsorted(limits, held, side="left"))
            for held in (ours, theirs)
        )
        yield one, other


def _rarely_right(guesses: Codes, truths: Codes) -> float:
    """Return how often guesses that are dealt out at random are right so rarely, or more rarely.

    They are looked at all together, and those of each value by themselves.

    Examples
    --------
    >>> round(_rarely_right(np.array([0] * 4 + [1] * 4), np.array([1] * 4 + [0] * 4)), 3)
    0.042
    """
    if not len(truths):
        return 1.0
    hits = agreement(guesses, truths)
    # Misses are as many more as hits are fewer. They come in steps, however little they vary.
    misses = Agreement(
        hits.people, hits.people - hits.hits, hits.people - hits.expected, max(hits.variance, 1.0)
    )
    size = int(max(guesses.max(), truths.max())) + 1
    said, true = (np.bincount(held, minlength=size) for held in (guesses, truths))
    right = np.bincount(truths[guesses == truths], minlength=size)
    tried = (said > 0) & (true > 0)
    # So few are right if so many are wrong: said, but of those whose value is another.
    wrong, others = said[tried] - right[tried], len(truths) - true[tried]
    each = hypergeometric_tail(wrong, len(truths), others, said[tried])
    return min(1.0, 2 * misses.p_value, 2 * max(len(each), 1) * float(each.min(initial=1.0)))


def _sign_test(one: int, other: int) -> float:
    """Return how often at least so many of both are on one side, if each is with 1 in 2."""
    return even_tail(one, one + other)
