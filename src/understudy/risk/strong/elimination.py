"""Exact sums and maxima over all combinations of many variables, without going through them.

A weight that is a product of factors, each over a few variables, is summed one variable at a time:
the factors that hold the variable are multiplied and summed over it, which leaves a smaller factor
over the others. All weights are logarithms; minus infinity is a weight of exactly zero. A plan is
made once for the scopes of the factors (`plan_elimination`), which are given in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy.risk.strong.beliefs import TIED
from understudy.risk.strong.elimination_order import Plan, Step

Table = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Factor:
    """A table of log weights for the combinations of a few variables.

    Parameters
    ----------
    scope : tuple of int
        The variables, in any order; a factor without any is a number.
    log : ndarray of float64
        Natural logarithms, with an axis for each variable; minus infinity for a weight of zero.

    Raises
    ------
    ValueError
        If the axes are not as many as the variables, or a value is nan or plus infinity.
    """

    scope: tuple[int, ...]
    log: Table

    def __post_init__(self) -> None:
        if np.ndim(self.log) != len(self.scope):
            raise ValueError(f"{np.ndim(self.log)} axes for {len(self.scope)} variables")
        if not np.all(np.less(self.log, math.inf)):
            raise ValueError(f"a log weight over the variables {self.scope} is nan or infinite")


class Marginals(NamedTuple):
    """The distribution of each variable, and the log of the sum of all weights."""

    log_total: float
    probabilities: tuple[Table, ...]


def log_weight(factors: Sequence[Factor], assignment: Sequence[int]) -> float:
    """Return the log weight of one assignment: the sum of its entry in every factor.

    Examples
    --------
    >>> log_weight([Factor((0,), np.array([-1.0, -2.0])), Factor((), np.array(-4.0))], [1])
    -6.0
    """
    return math.fsum(
        float(factor.log[tuple(assignment[variable] for variable in factor.scope)])
        for factor in factors
    )


def log_total(plan: Plan, factors: Sequence[Factor]) -> float:
    """Return the log of the sum of all weights; minus infinity if every assignment is impossible.

    Examples
    --------
    >>> from understudy.risk.strong.elimination_order import plan_elimination
    >>> factors = [Factor((0, 1), np.log([[1.0, 2.0], [3.0, 4.0]])), Factor((1,), np.log([5, 6]))]
    >>> plan = plan_elimination((2, 2), [factor.scope for factor in factors])
    >>> round(math.exp(log_total(plan, factors)), 9)  # 1 x 5 + 2 x 6 + 3 x 5 + 4 x 6
    56.0
    """
    logs = _aligned(plan, factors)
    messages: list[Table] = []
    for step in plan.steps:
        messages.append(_sum_out(_step_table(plan, step, logs, messages))[0])
    return _root_total(plan, logs, messages)


def marginals(plan: Plan, factors: Sequence[Factor]) -> Marginals:
    """Return the distribution of every variable when assignments are as probable as their weight.

    One pass inward gives the distribution of each variable given those that are eliminated later;
    one pass outward, over probabilities, multiplies these up. It only multiplies and adds, so that
    a probability is right relative to its own size, down to the smallest float64 (1e-308).

    Returns
    -------
    Marginals
        `probabilities` has an array for each variable that sums to 1; a variable in no factor is
        uniform. If every assignment is impossible, `log_total` is minus infinity and all
        probabilities are nan.

    Examples
    --------
    >>> from understudy.risk.strong.elimination_order import plan_elimination
    >>> factors = [Factor((0, 1), np.log([[1.0, 2.0], [3.0, 4.0]])), Factor((1,), np.log([5, 6]))]
    >>> plan = plan_elimination((2, 2), [factor.scope for factor in factors])
    >>> [(56 * p).round(9).tolist() for p in marginals(plan, factors).probabilities]
    [[17.0, 39.0], [20.0, 36.0]]
    """
    logs = _aligned(plan, factors)
    messages: list[Table] = []
    conditionals: list[Table] = []
    for step in plan.steps:
        message, weights, sums = _sum_out(_step_table(plan, step, logs, messages))
        # Where nothing is possible, the separator has probability zero: any number will do.
        weights /= np.where(sums > 0, sums, 1.0)
        messages.append(message)
        conditionals.append(weights)
    total = _root_total(plan, logs, messages)
    if total == -math.inf:
        return Marginals(total, tuple(np.full(size, math.nan) for size in plan.sizes))
    return Marginals(total, _outward(plan, conditionals))


def _sum_out(table: Table) -> tuple[Table, Table, Table]:
    """Return the log sums over the first axis, the weights over the largest, and their sums.

    The table itself is used up: it holds the weights.
    """
    largest = np.max(table, axis=0)
    largest = np.where(largest == -math.inf, 0.0, largest)
    np.subtract(table, largest, out=table)
    weights = np.exp(table, out=table)
    sums = np.sum(weights, axis=0)
    with np.errstate(divide="ignore"):
        return largest + np.log(sums), weights, sums


def _outward(plan: Plan, conditionals: list[Table]) -> tuple[Table, ...]:
    """Return the marginals, given each variable's distribution for each case of its separator."""
    found: dict[int, Table] = {}
    separators: dict[int, Table] = {}
    for number in reversed(range(len(plan.steps))):
        step = plan.steps[number]
        belief = conditionals.pop()
        belief *= separators.pop(number, np.ones(()))
        marginal = np.sum(belief, axis=tuple(range(1, belief.ndim)))
        found[step.variable] = marginal / np.sum(marginal)
        for child in step.children:
            separator = plan.steps[child].separator
            others = [place for place, v in enumerate(step.cluster) if v not in separator]
            separators[child] = np.sum(belief, axis=tuple(others))
    return tuple(found[variable] for variable in range(len(plan.sizes)))


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
            None if more than `limit` are more probable, which is by more than `TIED` in log
            weight. An impossible assignment comes after all possible ones; if all are
            impossible, every rank is 1.

        Raises
        ------
        ValueError
            If the assignment does not have one valid code for each variable.

        Examples
        --------
        >>> from understudy.risk.strong.elimination_order import plan_elimination
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
        threshold = loss + TIED
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

    Among all assignments whose log weight is within `TIED` of the largest, the one is returned that
    comes first when codes are compared variable by variable, lower codes first, from the variable
    that is eliminated last to the one that is eliminated first (`plan.order` backwards). Variables
    that are alike in the plan are eliminated from the highest number down, so this is the order of
    the variables wherever the sizes of the tables do not ask for another one.

    Returns
    -------
    MostProbable
        The assignment and its log weight; ranks others by `rank_of`. If every assignment is
        impossible, all codes are 0.

    Examples
    --------
    >>> from understudy.risk.strong.elimination_order import plan_elimination
    >>> factors = [Factor((0,), np.array([-2.0, -1.0])), Factor((1,), np.array([-3.0, -3.0]))]
    >>> best = most_probable(plan_elimination((2, 2), [(0,), (1,)]), factors)
    >>> best.assignment, best.log_weight
    ((1, 0), -4.0)
    """
    logs = _aligned(plan, factors)
    messages: list[Table] = []
    losses = []
    for step in plan.steps:
        table = _step_table(plan, step, logs, messages)
        largest = np.max(table, axis=0)
        messages.append(largest)
        # Minus infinity less itself would be nan; in such a case every code stays impossible.
        table -= np.where(largest == -math.inf, 0.0, largest)
        losses.append(table.reshape(step.shape[0], -1))
    assignment = [0] * len(plan.sizes)
    if _root_total(plan, logs, messages) > -math.inf:
        loss = 0.0
        for step, table in reversed(list(zip(plan.steps, losses, strict=True))):
            reached = loss + table[:, _case(step, assignment)]
            code = int(np.argmax(reached >= -TIED))
            assignment[step.variable], loss = code, float(reached[code])
    weight = log_weight(factors, assignment)
    return MostProbable(plan, tuple(assignment), weight, tuple(losses))


def _case(step: Step, codes: Sequence[int] | NDArray[np.intp]) -> int | NDArray[np.intp]:
    """Return which case of a step's separator the codes stand for, as the number of a column."""
    case: int | NDArray[np.intp] = 0
    for variable, size in zip(step.separator, step.shape[1:], strict=True):
        case = case * size + codes[variable]
    return case


def _aligned(plan: Plan, factors: Sequence[Factor]) -> list[Table]:
    """Return the factors' tables with their axes in the plan's order.

    Raises
    ------
    ValueError
        If the factors are not those that the plan was made for.
    """
    if tuple(factor.scope for factor in factors) != plan.scopes:
        scopes = [factor.scope for factor in factors]
        raise ValueError(f"the plan was made for the scopes {plan.scopes}; got {scopes}")
    logs = []
    for factor, axes in zip(factors, plan.axes, strict=True):
        shape = tuple(plan.sizes[variable] for variable in factor.scope)
        if factor.log.shape != shape:
            raise ValueError(f"a table of shape {factor.log.shape}; the plan expects {shape}")
        # Sums keep the layout of what is summed: contiguous here means fast passes later.
        logs.append(np.asarray(factor.log.transpose(axes), dtype=np.float64, order="C"))
    return logs


def _step_table(plan: Plan, step: Step, logs: Sequence[Table], messages: Sequence[Table]) -> Table:
    """Return a new table with the sum of all that is added at a step, in the step's shape.

    `logs` are the factors as `_aligned` returns them, `messages` the results of earlier steps.
    """
    parts = [_spread(logs[number], plan.scopes[number], step) for number in step.factors]
    parts += [
        _spread(messages[number], plan.steps[number].separator, step) for number in step.children
    ]
    # Small tables are added to each other first: then few sums have the size of the whole.
    parts.sort(key=np.size)
    table = np.zeros((step.shape[0],) + (1,) * (len(step.shape) - 1))
    for part in parts:
        table = table + part  # not in place: the sum can be larger than either
    return table


def _spread(table: Table, scope: tuple[int, ...], step: Step) -> Table:
    """Return a view of a table that has an axis for each variable of a step."""
    pairs = zip(step.cluster, step.shape, strict=True)
    return table.reshape([size if variable in scope else 1 for variable, size in pairs])


def _root_total(plan: Plan, logs: Sequence[Table], messages: Sequence[Table]) -> float:
    """Return the sum of the results that no step takes, and of the factors without variables."""
    ends = [messages[n] for n, step in enumerate(plan.steps) if not step.separator]
    ends += [log for log, scope in zip(logs, plan.scopes, strict=True) if not scope]
    return math.fsum(float(end) for end in ends)
