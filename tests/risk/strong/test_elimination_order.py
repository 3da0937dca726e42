"""Orders of elimination: chains, loops and stars by hand, limits, and what every plan must hold."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import ParameterError
from understudy.risk.strong.elimination_order import Cells, plan_elimination


@st.composite
def problems(draw):
    sizes = draw(st.lists(st.integers(1, 5), max_size=8))
    scope = st.permutations(range(len(sizes))).flatmap(
        lambda order: st.integers(0, min(4, len(order))).map(lambda n: tuple(order[:n]))
    )
    return tuple(sizes), draw(st.lists(scope, max_size=8))


def test_a_chain_needs_no_table_of_three():
    plan = plan_elimination([2] * 5, [(0, 1), (1, 2), (2, 3), (3, 4)])
    assert plan.order == (4, 3, 2, 1, 0)
    assert [step.cluster for step in plan.steps] == [(4, 3), (3, 2), (2, 1), (1, 0), (0,)]
    assert plan.cells == Cells(4, 4 * 4 + 2)
    assert [step.children for step in plan.steps] == [(), (0,), (1,), (2,), (3,)]
    assert [step.factors for step in plan.steps] == [(3,), (2,), (1,), (0,), ()]


def test_the_leaves_of_a_star_come_before_its_centre():
    # The centre first would make one table of 3 x 2^6 cells; leaf by leaf, none has more than 6.
    plan = plan_elimination([3, 2, 2, 2, 2, 2, 2], [(0, leaf) for leaf in range(1, 7)])
    assert plan.cells.largest == 6


def test_a_loop_needs_tables_of_three():
    # Whichever comes first links its two neighbours: 8 + 8 + 4 + 2.
    plan = plan_elimination([2] * 4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    assert plan.cells == Cells(8, 22)


def test_links_that_are_added_on_the_way_count():
    # A grid of 3 x 6 swept from one end needs a front of three and one more, whatever its length.
    along = [(6 * row + place, 6 * row + place + 1) for row in range(3) for place in range(5)]
    across = [(place, place + 6) for place in range(12)]
    assert plan_elimination([2] * 18, along + across).cells.largest == 2**4


def test_sizes_decide_where_links_do_not():
    # A loop: eliminating 0 or 2 links the large 1 and 3; eliminating these links 0 and 2.
    plan = plan_elimination([2, 50, 2, 50], [(0, 1), (1, 2), (2, 3), (3, 0)])
    # 50 x 2 x 2 twice, then 2 x 2 and 2; the other way has a table of 2 x 50 x 50.
    assert plan.cells == Cells(200, 406)


def test_a_factor_is_transposed_into_the_order_of_elimination():
    plan = plan_elimination([2, 3, 4], [(0, 2, 1)])
    (axes,) = plan.axes
    scope = plan.scopes[0]
    assert [scope[axis] for axis in axes] == list(plan.order)


def test_unlinked_variables_go_from_the_highest_down():
    assert plan_elimination([2, 2, 2], []).order == (2, 1, 0)


def test_nothing_to_eliminate():
    plan = plan_elimination([], [()])
    assert plan.order == ()
    assert plan.cells == Cells(0, 0)


def test_a_table_that_is_too_large_is_refused_with_its_size():
    scopes = [tuple(range(10))]
    assert plan_elimination([5] * 10, scopes, most_cells=5**10).cells.largest == 5**10
    with pytest.raises(ParameterError, match=r"10 unknown.*9,765,625 cells.*9,765,624.*fewer"):
        plan_elimination([5] * 10, scopes, most_cells=5**10 - 1)
    with pytest.raises(ParameterError, match=r"at most 67,108,864 are allowed"):
        plan_elimination([100] * 40, [tuple(range(40))])


@pytest.mark.parametrize(
    ("sizes", "scopes", "message"),
    [
        ([2, 0], [], "at least one value"),
        ([2, 2], [(0, 0)], "names a variable twice"),
        ([2, 2], [(0, 2)], "not within the 2 variables"),
        ([2, 2], [(-1,)], "not within the 2 variables"),
    ],
)
def test_problems_that_make_no_sense_are_refused(sizes, scopes, message):
    with pytest.raises(ValueError, match=message):
        plan_elimination(sizes, scopes)


@given(problems())
def test_every_plan_holds_together(problem):
    sizes, scopes = problem
    plan = plan_elimination(sizes, scopes)
    place = {variable: number for number, variable in enumerate(plan.order)}
    assert sorted(plan.order) == list(range(len(sizes)))
    given_away = [number for step in plan.steps for number in step.factors]
    assert sorted(given_away) == [number for number, scope in enumerate(scopes) if scope]
    passed_on = [number for step in plan.steps for number in step.children]
    assert sorted(passed_on) == [n for n, step in enumerate(plan.steps) if step.separator]
    for number, step in enumerate(plan.steps):
        assert [place[v] for v in step.cluster] == sorted(place[v] for v in step.cluster)
        assert place[step.variable] == number
        assert step.shape == tuple(sizes[v] for v in step.cluster)
        held = {step.variable}.union(
            *(scopes[n] for n in step.factors),
            *(plan.steps[n].separator for n in step.children),
        )
        assert set(step.cluster) == held
        assert all(child < number for child in step.children)
        # Each child's separator starts with the variable that takes its result.
        assert all(plan.steps[n].separator[0] == step.variable for n in step.children)
    assert plan.cells.total == sum(math.prod(step.shape) for step in plan.steps)


@given(problems())
def test_the_plan_is_near_the_best_of_all_orders(problem):
    sizes, scopes = problem[0][:5], [s for s in problem[1] if all(v < 5 for v in s)]
    best = min(
        slow_total(sizes, scopes, order) for order in itertools.permutations(range(len(sizes)))
    )
    # Greedy rules are not perfect; over five small variables they have never been far off.
    assert best <= plan_elimination(sizes, scopes).cells.total <= 1.5 * best


def slow_total(sizes, scopes, order):
    """The cells of all tables, by joining plain sets."""
    tables, total = [set(scope) for scope in scopes], 0
    for variable in order:
        joined = {variable}.union(*(table for table in tables if variable in table))
        tables = [table for table in tables if variable not in table] + [joined - {variable}]
        total += math.prod(sizes[v] for v in joined)
    return total
