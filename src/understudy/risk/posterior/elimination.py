"""Exact sums over all combinations of many variables, without going through them.

A weight that is a product of factors, each over a few variables, is summed one variable at a time:
the factors that hold the variable are multiplied and summed over it, which leaves a smaller factor
over the others. All weights are logarithms; minus infinity is a weight of exactly zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy.risk.posterior.elimination_order import Plan, Step

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
    """Return the log of the sum of the weights of all assignments.

    Parameters
    ----------
    plan : Plan
        Made by `plan_elimination` for the scopes of these factors.
    factors : sequence of Factor
        In the order of the plan's scopes.

    Returns
    -------
    float
        Minus infinity if every assignment is impossible.

    Examples
    --------
    >>> from understudy.risk.posterior.elimination_order import plan_elimination
    >>> factors = [Factor((0, 1), np.log([[1.0, 2.0], [3.0, 4.0]])), Factor((1,), np.log([5, 6]))]
    >>> plan = plan_elimination((2, 2), [factor.scope for factor in factors])
    >>> round(math.exp(log_total(plan, factors)), 9)  # 1 x 5 + 2 x 6 + 3 x 5 + 4 x 6
    56.0
    """
    logs = aligned(plan, factors)
    messages: list[Table] = []
    for step in plan.steps:
        messages.append(_sum_out(step_table(plan, step, logs, messages))[0])
    return root_total(plan, logs, messages)


def marginals(plan: Plan, factors: Sequence[Factor]) -> Marginals:
    """Return the distribution of every variable when assignments are as probable as their weight.

    One pass inward gives the distribution of each variable given those that are eliminated later;
    one pass outward, over probabilities, multiplies these up. It only multiplies and adds, so that
    a probability is right relative to its own size, down to the smallest float64 (1e-308).

    Parameters
    ----------
    plan : Plan
        Made by `plan_elimination` for the scopes of these factors.
    factors : sequence of Factor
        In the order of the plan's scopes.

    Returns
    -------
    Marginals
        `probabilities` has an array for each variable that sums to 1; a variable in no factor is
        uniform. If every assignment is impossible, `log_total` is minus infinity and all
        probabilities are nan.

    Examples
    --------
    >>> from understudy.risk.posterior.elimination_order import plan_elimination
    >>> factors = [Factor((0, 1), np.log([[1.0, 2.0], [3.0, 4.0]])), Factor((1,), np.log([5, 6]))]
    >>> plan = plan_elimination((2, 2), [factor.scope for factor in factors])
    >>> [(56 * p).round(9).tolist() for p in marginals(plan, factors).probabilities]
    [[17.0, 39.0], [20.0, 36.0]]
    """
    logs = aligned(plan, factors)
    messages: list[Table] = []
    conditionals: list[Table] = []
    for step in plan.steps:
        message, weights, sums = _sum_out(step_table(plan, step, logs, messages))
        # Where nothing is possible, the separator has probability zero: any number will do.
        weights /= np.where(sums > 0, sums, 1.0)
        messages.append(message)
        conditionals.append(weights)
    total = root_total(plan, logs, messages)
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


def aligned(plan: Plan, factors: Sequence[Factor]) -> list[Table]:
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


def step_table(plan: Plan, step: Step, logs: Sequence[Table], messages: Sequence[Table]) -> Table:
    """Return a new table with the sum of all that is added at a step, in the step's shape.

    Parameters
    ----------
    plan, step : Plan, Step
        What is added where.
    logs : sequence of ndarray
        The factors, as `aligned` returns them.
    messages : sequence of ndarray
        The results of the steps before this one.
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


def root_total(plan: Plan, logs: Sequence[Table], messages: Sequence[Table]) -> float:
    """Return the sum of the results that no step takes, and of the factors without variables."""
    ends = [messages[n] for n, step in enumerate(plan.steps) if not step.separator]
    ends += [log for log, scope in zip(logs, plan.scopes, strict=True) if not scope]
    return math.fsum(float(end) for end in ends)
