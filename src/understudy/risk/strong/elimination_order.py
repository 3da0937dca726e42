"""In which order variables are eliminated, and how large the tables on the way become."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from understudy.errors import ParameterError

MOST_CELLS = 2**26
"""The largest table that is made unless the caller allows more: half a gigabyte of float64."""

Graph = dict[int, set[int]]
"""The neighbours of each variable: those that share a table with it."""

Rule = Callable[[Sequence[int], Graph, int], tuple[float, float]]
"""What it costs to eliminate a variable next, given the sizes and the graph: the least is taken."""


class Cells(NamedTuple):
    """How many cells the largest table of a plan has, and all its tables together."""

    largest: int
    total: int


@dataclass(frozen=True)
class Step:
    """The elimination of one variable: which tables are added, and where the result goes.

    Parameters
    ----------
    cluster : tuple of int
        The variables of the table that is made: the eliminated one first, then the others, which
        are called its separator, in the order in which they are eliminated later. All tables of a
        plan keep this order, so that one fits into another without a transposition.
    shape : tuple of int
        Their cardinalities.
    factors : tuple of int
        Numbers of the factors that are added here.
    children : tuple of int
        Numbers of the earlier steps whose results are added here.
    """

    cluster: tuple[int, ...]
    shape: tuple[int, ...]
    factors: tuple[int, ...]
    children: tuple[int, ...]

    @property
    def variable(self) -> int:
        """The variable that is eliminated."""
        return self.cluster[0]

    @property
    def separator(self) -> tuple[int, ...]:
        """The variables on which the result depends; without any, the result is a number."""
        return self.cluster[1:]


@dataclass(frozen=True)
class Plan:
    """An order of elimination for given scopes, made once and used for many sets of tables.

    Parameters
    ----------
    sizes : tuple of int
        Cardinality of each variable.
    scopes : tuple of tuple of int
        The variables of each factor.
    axes : tuple of tuple of int
        How the axes of each factor are brought into the order of elimination.
    steps : tuple of Step
        One for each variable. The first step is done first; every child stands before the step
        that takes its result.
    """

    sizes: tuple[int, ...]
    scopes: tuple[tuple[int, ...], ...]
    axes: tuple[tuple[int, ...], ...]
    steps: tuple[Step, ...]

    @property
    def order(self) -> tuple[int, ...]:
        """The variables in the order in which they are eliminated."""
        return tuple(step.variable for step in self.steps)

    @property
    def cells(self) -> Cells:
        """The largest table, and all tables together; 8 bytes for each cell."""
        cells = [math.prod(step.shape) for step in self.steps]
        return Cells(max(cells, default=0), sum(cells))


def plan_elimination(
    sizes: Sequence[int], scopes: Sequence[Sequence[int]], *, most_cells: int = MOST_CELLS
) -> Plan:
    """Choose an order of elimination that keeps the tables small.

    The best order cannot be found quickly, so four greedy rules are tried: the variable comes
    next that adds the fewest links between others (min-fill), has the smallest table (min-weight),
    adds the links with the fewest cells, or leaves the fewest cells for each of its values. Ties go
    to the smaller table (with min-weight, to fewer links), then to the higher variable. The order
    is taken whose tables have the fewest cells together.

    Parameters
    ----------
    sizes : sequence of int
        Cardinality of each variable; the variables are the numbers from 0.
    scopes : sequence of sequences of int
        The variables of each factor, in any order.
    most_cells : int
        How many cells the largest table may have.

    Returns
    -------
    Plan
        The order, and what is added where.

    Raises
    ------
    ParameterError
        If the largest table would have more cells than `most_cells`.
    ValueError
        If a size is not positive, or a scope names a variable twice or one that does not exist.

    Examples
    --------
    >>> plan = plan_elimination((2, 3, 4), [(0, 1), (1, 2)])  # a chain 0 - 1 - 2
    >>> plan.order, [step.cluster for step in plan.steps]
    ((2, 1, 0), [(2, 1), (1, 0), (0,)])
    >>> plan.cells
    Cells(largest=12, total=20)
    """
    sizes = tuple(int(size) for size in sizes)
    plain = tuple(tuple(int(variable) for variable in scope) for scope in scopes)
    _check(sizes, plain)
    plans = [_lay_out(sizes, plain, _greedy_order(sizes, plain, rule)) for rule in _RULES]
    plan = min(plans, key=lambda plan: plan.cells.total)
    if plan.cells.largest > most_cells:
        raise ParameterError(
            f"Exact inference over {len(sizes)} unknown attributes would need a table of "
            f"{plan.cells.largest:,} cells, and at most {most_cells:,} are allowed. Ask for fewer "
            "unknown attributes, or use a network with fewer parents or coarser values."
        )
    return plan


def _check(sizes: Sequence[int], scopes: Sequence[tuple[int, ...]]) -> None:
    if min(sizes, default=1) < 1:
        raise ValueError(f"a variable has at least one value; the sizes are {sizes}")
    for scope in scopes:
        if len(set(scope)) < len(scope):
            raise ValueError(f"the scope {scope} names a variable twice")
        if not all(0 <= variable < len(sizes) for variable in scope):
            raise ValueError(f"the scope {scope} is not within the {len(sizes)} variables")


def _greedy_order(sizes: Sequence[int], scopes: Sequence[tuple[int, ...]], rule: Rule) -> list[int]:
    """Return the variables in the order in which the rule finds them cheapest."""
    graph: Graph = {variable: set() for variable in range(len(sizes))}
    for scope in scopes:
        _link(graph, scope)
    order = []
    while graph:
        # Higher first: codes are traced back from the end, so ties there go by lower variables.
        variable = min(graph, key=lambda variable: (*rule(sizes, graph, variable), -variable))
        neighbours = graph.pop(variable)
        for neighbour in neighbours:
            graph[neighbour].discard(variable)
        _link(graph, neighbours)
        order.append(variable)
    return order


def _link(graph: Graph, variables: Iterable[int]) -> None:
    for one, other in itertools.combinations(variables, 2):
        graph[one].add(other)
        graph[other].add(one)


def _min_fill(sizes: Sequence[int], graph: Graph, variable: int) -> tuple[float, float]:
    return len(_new_links(graph, variable)), _weight(sizes, graph, variable)


def _min_weight(sizes: Sequence[int], graph: Graph, variable: int) -> tuple[float, float]:
    return _weight(sizes, graph, variable), len(_new_links(graph, variable))


def _min_weighted_fill(sizes: Sequence[int], graph: Graph, variable: int) -> tuple[float, float]:
    links = _new_links(graph, variable)
    return sum(sizes[one] * sizes[other] for one, other in links), _weight(sizes, graph, variable)


def _min_left(sizes: Sequence[int], graph: Graph, variable: int) -> tuple[float, float]:
    weight = _weight(sizes, graph, variable)
    return weight / sizes[variable] ** 2, weight


_RULES: tuple[Rule, ...] = (_min_fill, _min_weight, _min_weighted_fill, _min_left)


def _new_links(graph: Graph, variable: int) -> list[tuple[int, int]]:
    """Return the pairs of neighbours that the elimination of a variable would link."""
    pairs = itertools.combinations(graph[variable], 2)
    return [(one, other) for one, other in pairs if other not in graph[one]]


def _weight(sizes: Sequence[int], graph: Graph, variable: int) -> int:
    """Return how many cells the table of a variable and its neighbours has."""
    return sizes[variable] * math.prod(sizes[neighbour] for neighbour in graph[variable])


def _lay_out(
    sizes: tuple[int, ...], scopes: tuple[tuple[int, ...], ...], order: Sequence[int]
) -> Plan:
    """Give every factor and every result to the step that eliminates its first variable."""
    place = {variable: number for number, variable in enumerate(order)}
    factors: list[list[int]] = [[] for _ in order]
    children: list[list[int]] = [[] for _ in order]
    clusters: list[set[int]] = [{variable} for variable in order]
    for number, scope in enumerate(scopes):
        if scope:
            first = min(place[variable] for variable in scope)
            factors[first].append(number)
            clusters[first].update(scope)
    for number, variable in enumerate(order):
        separator = clusters[number] - {variable}
        if separator:
            parent = min(place[other] for other in separator)
            children[parent].append(number)
            clusters[parent].update(separator)
    steps = []
    for number in range(len(order)):
        cluster = tuple(sorted(clusters[number], key=place.__getitem__))
        shape = tuple(sizes[variable] for variable in cluster)
        steps.append(Step(cluster, shape, tuple(factors[number]), tuple(children[number])))
    axes = tuple(
        tuple(sorted(range(len(scope)), key=[place[variable] for variable in scope].__getitem__))
        for scope in scopes
    )
    return Plan(sizes, scopes, axes, tuple(steps))
