"""The most probable assignment, and how many are more probable than a given one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from understudy.risk.posterior.elimination import (
    Factor,
    Table,
    aligned,
    log_weight,
    root_total,
    step_table,
)
from understudy.risk.posterior.elimination_order import Plan, Step

TIE = 1e-9
"""Log weights that differ by no more than this count as equal."""


@dataclass(frozen=True, eq=False)
class MostProbable:
    """The assignment with the largest weight, and what it takes to rank others against it.

    Parameters
    ----------
    plan : Plan
        The order of elimination.
    assignment : tuple of int
        A code for each variable.
    log_weight : float
        Its log weight, not normalised; minus infinity if every assignment is impossible.
    losses : tuple of ndarray
        For each step of the plan: by how much the log weight of the best completion falls when
        the step's variable gets a code, a row for each code and a column for each case of the
        variables that are eliminated later; never above 0.
    """

    plan: Plan
    assignment: tuple[int, ...]
    log_weight: float
    losses: tuple[Table, ...] = field(repr=False)

    def rank_of(self, assignment: Sequence[int], *, limit: int = 100_000) -> int | None:
        """Return 1 and the number of assignments that are more probable than the given one.

        Partial assignments are completed variable by variable, from the last eliminated to the
        first, all at once. Each carries the exact log weight of its best completion, and is
        dropped when that does not exceed the given one: so there are never more of them than
        the rank.

        Parameters
        ----------
        assignment : sequence of int
            A code for each variable.
        limit : int
            How many more probable assignments are counted at most.

        Returns
        -------
        int or None
            None if more than `limit` are more probable, which is by more than 1e-9 in log
            weight. An impossible assignment comes after all possible ones; if all are
            impossible, every rank is 1.

        Raises
        ------
        ValueError
            If the assignment does not have one valid code for each variable.

        Examples
        --------
        >>> from understudy.risk.posterior.elimination_order import plan_elimination
        >>> plan = plan_elimination((2, 2), [(0, 1)])
        >>> best = most_probable(plan, [Factor((0, 1), np.log([[1.0, 2.0], [3.0, 4.0]]))])
        >>> best.assignment, best.rank_of([0, 1]), best.rank_of([0, 0], limit=2)
        ((1, 1), 3, None)
        """
        self._check(assignment)
        if self.log_weight == -math.inf:
            return 1
        loss = 0.0
        for step, losses in self._outward():
            loss += float(losses[assignment[step.variable], _case(step, assignment)])
        threshold = loss + TIE
        if threshold >= 0:
            return 1
        codes = np.zeros((len(self.plan.sizes), 1), dtype=np.intp)
        bounds = np.zeros(1)
        for step, losses in self._outward():
            case = np.broadcast_to(_case(step, codes), bounds.shape)
            reached = bounds + losses[:, case]
            above = reached > threshold
            if np.count_nonzero(above) > limit:
                return None
            code, parent = np.nonzero(above)
            codes, bounds = codes[:, parent], reached[code, parent]
            codes[step.variable] = code
        return 1 + len(bounds)

    def _check(self, assignment: Sequence[int]) -> None:
        sizes = self.plan.sizes
        if len(assignment) != len(sizes):
            raise ValueError(f"{len(assignment)} codes for {len(sizes)} variables")
        if not all(0 <= code < size for code, size in zip(assignment, sizes, strict=True)):
            raise ValueError(f"a code of {list(assignment)} is not below its size in {sizes}")

    def _outward(self) -> list[tuple[Step, Table]]:
        return list(zip(self.plan.steps, self.losses, strict=True))[::-1]


def most_probable(plan: Plan, factors: Sequence[Factor]) -> MostProbable:
    """Find the assignment with the largest weight.

    Among all assignments whose log weight is within 1e-9 of the largest, the one is returned that
    comes first when codes are compared variable by variable, lower codes first, from the variable
    that is eliminated last to the one that is eliminated first (`plan.order` backwards). Variables
    that are alike in the plan are eliminated from the highest number down, so this is the order of
    the variables wherever the sizes of the tables do not ask for another one.

    Parameters
    ----------
    plan : Plan
        Made by `plan_elimination` for the scopes of these factors.
    factors : sequence of Factor
        In the order of the plan's scopes.

    Returns
    -------
    MostProbable
        The assignment and its log weight; ranks others by `rank_of`. If every assignment is
        impossible, all codes are 0.

    Examples
    --------
    >>> from understudy.risk.posterior.elimination_order import plan_elimination
    >>> factors = [Factor((0,), np.array([-2.0, -1.0])), Factor((1,), np.array([-3.0, -3.0]))]
    >>> best = most_probable(plan_elimination((2, 2), [(0,), (1,)]), factors)
    >>> best.assignment, best.log_weight
    ((1, 0), -4.0)
    """
    logs = aligned(plan, factors)
    messages: list[Table] = []
    losses = []
    for step in plan.steps:
        table = step_table(plan, step, logs, messages)
        largest = np.max(table, axis=0)
        messages.append(largest)
        # Minus infinity less itself would be nan; in such a case every code stays impossible.
        table -= np.where(largest == -math.inf, 0.0, largest)
        losses.append(table.reshape(step.shape[0], -1))
    assignment = [0] * len(plan.sizes)
    if root_total(plan, logs, messages) > -math.inf:
        loss = 0.0
        for step, table in reversed(list(zip(plan.steps, losses, strict=True))):
            reached = loss + table[:, _case(step, assignment)]
            code = int(np.argmax(reached >= -TIE))
            assignment[step.variable], loss = code, float(reached[code])
    weight = log_weight(factors, assignment)
    return MostProbable(plan, tuple(assignment), weight, tuple(losses))


def _case(step: Step, codes: Sequence[int] | NDArray[np.intp]) -> int | NDArray[np.intp]:
    """Return which case of a step's separator the codes stand for, as the number of a column."""
    case: int | NDArray[np.intp] = 0
    for variable, size in zip(step.separator, step.shape[1:], strict=True):
        case = case * size + codes[variable]
    return case
