from __future__ import annotations

import math
import tracemalloc
from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.counting import Information, LocalEngine, joint_counts
from understudy.data.coded import Coded
from understudy.errors import ParameterError
from understudy.progress import reporting
from understudy.synthesis.bayes import greedy
from understudy.synthesis.bayes.constraints import Constraints, build_constraints
from understudy.synthesis.bayes.greedy import greedy_search
from understudy.synthesis.bayes.kernels import group_rows, grouped_total, score_families


def search(coded, constraints, *, seed=0, threads=1):
    rng = np.random.default_rng(seed)
    return greedy_search(coded, constraints, rng, engine=LocalEngine(threads))


class Twin:
    """The obvious way: at each step, score every attribute with every set of parents."""

    def __init__(self, coded):
        self.coded = coded
        self.powers = {}

    def power(self, places):
        """The product of c to the power of c over the cells of some columns, exactly."""
        key = tuple(sorted(places))
        if key not in self.powers:
            counts = joint_counts(self.coded, [self.coded.names[place] for place in key]).counts
            cells = [int(count) for count in np.ravel(counts) if count > 1]
            self.powers[key] = math.prod(count**count for count in cells)
        return self.powers[key]

    def score(self, child, parents):
        """Grows with the mutual information: 2 to the power of n I, over n to the power of n."""
        joint, alone, single = (self.power(key) for key in [(child, *parents), parents, (child,)])
        return Fraction(joint, alone * single)

    def search(self, rules, root):
        """Return the order, and each attribute's parents."""
        order, chosen = [root], {root: ()}
        while len(order) < len(rules):
            pairs = []
            for child in range(len(rules)):
                if child in order or not set(rules.required[child]) <= set(order):
                    continue
                if len(order) < len(rules.first) and child != rules.first[len(order)]:
                    continue
                usable = sorted(place for place in order if rules.allowed[child, place])
                pairs += [
                    (-self.score(child, parents), child, parents)
                    for parents in combinations(usable, min(rules.most[child], len(usable)))
                    if set(rules.required[child]) <= set(parents)
                ]
            _, child, parents = min(pairs)
            order.append(child)
            chosen[child] = parents
        return tuple(order), tuple(chosen[place] for place in range(len(rules)))


def assert_as_twin(coded, rules, **options):
    found = search(coded, rules, **options).structure
    assert (found.order, found.parents) == Twin(coded).search(rules, found.order[0])


def random_table(seed, columns, rows=120):
    """A table with skewed, flat, constant, repeated and relabelled columns: ties everywhere."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(columns):
        levels = int(rng.integers(2, 6))
        kind = rng.choice(["flat", "skewed", "constant", "copy", "relabelled", "noisy"])
        column = rng.integers(0, levels, rows)
        if kind == "skewed":
            column = (rng.random(rows) ** 6 * levels).astype(int)
        elif kind == "constant":
            column = np.full(rows, levels - 1)
        elif made and kind in {"copy", "relabelled", "noisy"}:
            column = made[int(rng.integers(len(made)))].copy()
            if kind == "relabelled":
                column = rng.permutation(6)[column]
            elif kind == "noisy":
                column = np.where(rng.random(rows) < 0.8, column, rng.integers(0, 3, rows))
        made.append(column)
    return Coded.from_arrays({f"x{place}": column for place, column in enumerate(made)})


def test_equal_information_from_different_counts_is_a_tie():
    # A balanced design, three times: c and e are told equally much by x and y, by other counts.
    rows = list(product(range(2), range(3), range(2))) * 3
    columns = {
        "c": [b for _, b, _ in rows],
        "e": [3 * a + b for a, b, _ in rows],
        "x": [(a + c) % 2 for a, _, c in rows],
        "y": [(a + c) % 2 for a, _, c in rows],
    }
    for times in (1, 2):
        coded = Coded.from_arrays({name: values * times for name, values in columns.items()})
        rules = build_constraints(coded.names, parents=2, root="x")
        assert search(coded, rules).structure.order == (2, 3, 0, 1)
        assert_as_twin(coded, rules)


@pytest.mark.parametrize("parents", range(8))
@pytest.mark.parametrize("columns", range(1, 9))
def test_is_the_slow_twin(columns, parents):
    for seed in range(3):
        coded = random_table([seed, columns], columns)
        assert_as_twin(coded, build_constraints(coded.names, parents=parents), seed=seed)


def random_rules(seed, names, parents):
    """Constraints that can be met: whatever is required follows one hidden order."""
    rng = np.random.default_rng(seed)
    hidden = list(rng.permutation(names))
    edges = [(a, b) for a, b in combinations(hidden, 2) if rng.random() < 0.15]
    fewest = {name: [edge for edge in edges if edge[1] == name][:parents] for name in names}
    required = [edge for kept in fewest.values() for edge in kept]
    forbidden = [
        (str(a), str(b))
        for a in names
        for b in names
        if a != b and rng.random() < 0.2 and (a, b) not in required
    ]
    options = {"required": [(str(a), str(b)) for a, b in required], "forbidden": forbidden}
    if rng.random() < 0.3:
        options["order"] = list(map(str, hidden))
    elif rng.random() < 0.5:
        options["root"] = str(hidden[0])
    return build_constraints(names, parents=parents, **options)


@pytest.mark.parametrize("seed", range(40))
def test_is_the_slow_twin_under_constraints(seed):
    coded = random_table(seed, 7)
    assert_as_twin(coded, random_rules(seed, coded.names, parents=1 + seed % 4), seed=seed)


@pytest.mark.parametrize("parents", range(1, 5))
@pytest.mark.parametrize(
    "protect",
    [{"x1": "x0"}, {"x1": None}, {"x5": "x2", "x3": "x2"}, {"x0": "x4", "x1": "x2", "x6": None}],
)
def test_is_the_slow_twin_with_protected_attributes(protect, parents):
    coded = random_table(11, 7)
    rules = build_constraints(coded.names, parents=parents, protect=protect)
    assert_as_twin(coded, rules)
    found = search(coded, rules).structure
    for sensitive, target in protect.items():
        place = coded.position(sensitive)
        assert found.parents[place] == (() if target is None else (coded.position(target),))
        assert not any(place in parents for parents in found.parents)


# Levels beyond which rows are grouped instead of counted in a histogram: nearly all columns, some.
@pytest.mark.parametrize("narrow", [1, 3])
@pytest.mark.parametrize("parents", range(5))
def test_columns_of_many_levels_are_scored_the_same(monkeypatch, narrow, parents):
    coded = random_table(5, 7)
    rules = build_constraints(coded.names, parents=parents)
    expected = search(coded, rules)
    monkeypatch.setattr(greedy, "_NARROW", narrow)
    assert search(coded, rules) == expected


@pytest.mark.parametrize("parents", range(1, 5))
def test_products_of_levels_beyond_a_histogram(parents):
    # 200 levels each: a pair has 40,000 cells, three have more than a histogram.
    rng = np.random.default_rng(parents)
    base = rng.integers(0, 200, 2000)
    noisy = [np.where(rng.random(2000) < 0.3, base, rng.integers(0, 200, 2000)) for _ in range(4)]
    coded = Coded.from_arrays(dict(zip("abcdef", [base, *noisy, base % 2], strict=True)))
    assert_as_twin(coded, build_constraints(coded.names, parents=parents))


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("narrow", [3, 256])
@pytest.mark.parametrize("call_work", [1, 2**27])
def test_threads_and_pieces_change_nothing(monkeypatch, threads, narrow, call_work):
    coded = random_table(21, 8, rows=3000)
    rules = build_constraints(coded.names, parents=3)
    expected = search(coded, rules)
    monkeypatch.setattr(greedy, "_THREADS_PAY", 0)
    monkeypatch.setattr(greedy, "_NARROW", narrow)
    monkeypatch.setattr(greedy, "_CALL_WORK", call_work)
    assert search(coded, rules, threads=threads) == expected


@pytest.fixture
def scored(monkeypatch):
    """Every (child, parents) that is scored while a test runs, and how often."""
    pairs = Counter()
    scores = greedy._Scorer.scores

    def recorded(self, newest, families):
        for parents, child, score in scores(self, newest, families):
            pairs[child, parents] += 1
            yield parents, child, score

    monkeypatch.setattr(greedy._Scorer, "scores", recorded)
    return pairs


@pytest.mark.parametrize("parents", range(9))
def test_each_child_and_parents_are_scored_once(scored, parents):
    columns = 8
    coded = random_table(3, columns)
    found = search(coded, build_constraints(coded.names, parents=parents))
    assert set(scored.values()) <= {1}
    assert found.scorings == len(scored)
    # The j-th attribute placed leaves d - j children. It makes one set of j parents as long as
    # j <= k, and C(j - 1, k - 1) sets of k parents afterwards. The sum of (d - j) C(j - 1, k - 1)
    # over j = k .. d - 1 is C(d, k + 1): a set of k + 1 attributes is scored once, when all but
    # its last one are placed. What remains are the steps before k attributes are placed.
    early = sum(columns - j for j in range(1, min(parents, columns)))
    assert found.scorings == (comb(columns, parents + 1) + early if parents else 0)


@pytest.mark.parametrize("seed", range(10))
def test_each_child_and_parents_are_scored_once_under_constraints(scored, seed):
    coded = random_table(seed, 7)
    rules = random_rules(seed, coded.names, parents=2)
    found = search(coded, rules)
    assert set(scored.values()) <= {1}
    assert found.scorings == len(scored)
    for child, parents in scored:
        assert rules.allowed[child, list(parents)].all()
        assert set(rules.required[child]) <= set(parents)


def test_exclusive_or_needs_two_parents():
    # c = a xor b: neither a nor b tells anything about c, both together tell all of it. After the
    # root a, b and c score 0 and b stands first; then I(c; a, b) = 1 bit.
    coded = Coded.from_arrays({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "c": [0, 1, 1, 0]})
    rules = build_constraints(coded.names, parents=2, root="a")
    found = search(coded, rules).structure
    assert found.order == (0, 1, 2)
    assert found.parents == ((), (0,), (0, 1))


def test_ties_go_to_the_first_child_and_then_to_the_first_parents():
    same = [0, 1, 2, 0, 1, 2]
    relabelled = [2, 0, 1, 2, 0, 1]
    coded = Coded.from_arrays({"a": same, "b": relabelled, "c": same, "d": relabelled})
    found = search(coded, build_constraints(coded.names, parents=1, root="c")).structure
    assert found.order == (2, 0, 1, 3)
    assert found.parents == ((2,), (0,), (), (0,))


def test_no_parents_keeps_the_order_of_the_table():
    coded = random_table(1, 5)
    found = search(coded, build_constraints(coded.names, parents=0, root="x2"))
    assert found.scorings == 0
    assert found.structure.order == (2, 0, 1, 3, 4)
    assert found.structure.parents == ((),) * 5


@pytest.mark.parametrize("rows", [0, 1])
def test_tables_without_information(rows):
    levels = {"a": 300, "b": 300, "c": 2}
    coded = Coded.from_arrays({name: np.zeros(rows, int) for name in levels}, levels)
    found = search(coded, build_constraints(coded.names, parents=2, root="b")).structure
    assert found.order == (1, 0, 2)
    assert found.parents == ((1,), (), (0, 1))


def test_the_root_is_drawn_among_those_that_may_be_a_parent():
    coded = random_table(2, 4)
    # x1 has a required parent, x3 may be nobody's parent: x0 and x2 remain.
    rules = build_constraints(coded.names, parents=1, required=[("x0", "x1")], protect={"x3": None})
    roots = Counter(search(coded, rules, seed=seed).structure.order[0] for seed in range(60))
    assert set(roots) == {0, 2}
    # 60 fair draws: fewer than 15 of one kind have a chance below 0.0001.
    assert min(roots.values()) >= 15


def test_the_root_is_any_if_none_may_be_a_parent():
    coded = random_table(2, 3)
    rules = Constraints(coded.names, np.ones(3, int), np.zeros((3, 3), bool), ((), (), ()))
    found = search(coded, rules)
    assert found.scorings == 0
    assert found.structure.parents == ((), (), ())


def test_a_long_search_is_announced_with_its_time(caplog):
    rules = build_constraints([f"c{number}" for number in range(300)], parents=3)
    greedy._warn_of_time(rules, 1000)
    # 300 choose 4 is 330,791,175, at 30 microseconds each: 9,924 s
    assert "up to 330,791,175 sets of parents" in caplog.text
    assert "about 166 minutes" in caplog.text
    caplog.clear()
    greedy._warn_of_time(build_constraints("abcdefghijklmnopqrst", parents=3), 100_000)
    assert not caplog.text


def test_constraints_must_be_for_the_same_columns():
    coded = random_table(2, 3)
    with pytest.raises(ParameterError, match=r"for the columns \['a', 'b'\].*has \['x0'"):
        search(coded, build_constraints(["a", "b"], parents=1))


def test_progress_counts_the_attributes_placed():
    seen = []

    class Reporter:
        def track(self, items, description, total):
            seen.append((description, total))
            return items

    coded = random_table(2, 4)
    with reporting(Reporter()):
        search(coded, build_constraints(coded.names, parents=2))
    assert seen == [("Placing attributes", 4)]


def test_ten_thousand_levels_take_memory_in_proportion_to_the_rows():
    rng = np.random.default_rng(8)
    rows = 20_000
    base = rng.integers(0, 10_000, rows)
    coded = Coded.from_arrays(
        {
            "id": base,
            "shuffled": rng.permutation(10_000)[base],
            "huge": rng.integers(0, 2**40, rows),
            "free": rng.integers(0, 10_000, rows),
            "small": base % 7,
            "other": rng.integers(0, 250, rows),
        }
    )
    rules = build_constraints(coded.names, parents=3, root="small")
    search(coded.take(slice(50)), rules)  # compiled before memory is measured
    tracemalloc.start()
    found = search(coded, rules).structure
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found.order, found.parents) == Twin(coded).search(rules, 4)
    # Two parents of 10,000 levels have 10^8 cells; 1,000 bytes a row are 20 MB.
    assert peak < 1000 * rows


@given(seed=st.integers(0, 2**32), parents=st.integers(1, 4))
def test_neither_rows_nor_labels_matter(seed, parents):
    coded = random_table(seed, 6)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(coded))
    renamed = Coded.from_arrays(
        {name: rng.permutation(coded.cardinality(name))[coded[name]][order] for name in coded.names}
    )
    rules = build_constraints(coded.names, parents=parents)
    assert search(renamed, rules) == search(coded, rules)


def total_of(information, stack, places):
    rows = np.ascontiguousarray(stack[list(places)].T)
    return information.total(np.unique(rows, axis=0, return_counts=True)[1])


def totals(stack, bounds, sizes, families, terms):
    """Return what `score_families` makes of parents and children, as lists."""
    children = [child for _, family in families for child in family]
    alone, joint = np.zeros(len(families), np.int64), np.zeros(len(children), np.int64)
    numbered = (
        np.array([others for others, _ in families]),
        np.cumsum([len(family) for _, family in families]),
        np.array(children),
    )
    score_families(stack, bounds, np.array(sizes), numbered, terms, alone, joint)
    return alone.tolist(), joint.tolist()


# Few cells; more cells than rows; all 2^16 cells; large blocks; a single block.
@pytest.mark.parametrize(
    ("sizes", "rows"),
    [
        ([3, 4, 5, 6, 2, 1], 0),
        ([3, 4, 5, 6, 2, 1], 1),
        ([3, 4, 5, 6, 2, 1], 500),
        ([2, 20, 20, 20, 150, 1], 700),
        ([2, 16, 16, 256, 3, 1], 4000),
        ([2, 3, 4, 20, 7, 1], 9001),
        ([1, 3, 4, 20, 7, 1], 9001),
    ],
)
@pytest.mark.parametrize("power", [1, 8])
@pytest.mark.parametrize("known_terms", [None, 4])
# Rows with rare values are listed only for children of many parent sets.
@pytest.mark.parametrize("repeats", [1, 8])
def test_score_families_is_its_numpy_twin(sizes, rows, power, known_terms, repeats):
    rng = np.random.default_rng(rows)
    stack = np.stack([(rng.random(rows) ** power * size).astype(np.uint8) for size in sizes])
    stack = stack.take(np.argsort(stack[0], kind="stable"), axis=1)
    bounds = np.append(np.flatnonzero(np.diff(stack[0], prepend=255)), rows)
    information = Information(rows)
    families = [((1, 2), [3, 4]), ((1, 5), [2, 3, 4]), ((5, 5), [4]), ((2, 3), [])]
    alone, joint = totals(
        stack,
        bounds,
        sizes,
        families * repeats,
        (information.table[:known_terms].copy(), information.shift),
    )
    expected = [total_of(information, stack, (0, *others)) for others, _ in families]
    assert alone == expected * repeats
    expected = [
        total_of(information, stack, (0, *others, child))
        for others, children in families
        for child in children
    ]
    assert joint == expected * repeats


@pytest.mark.parametrize("repeats", [1, 8])
def test_score_families_takes_counts_beyond_the_table_of_terms(repeats):
    rows = 200_001
    stack = np.zeros((4, rows), np.uint8)
    stack[2, :70_000] = 1  # two cells of more than 2^16 rows
    stack[3, :3] = 1
    information = Information(rows)
    alone, joint = totals(
        stack,
        np.array([0, rows]),
        [1, 1, 2, 2],
        [((1, 1), [2, 3]), ((2, 1), [3])] * repeats,
        (information.table.copy(), information.shift),
    )
    split = information.total(np.array([70_000, rows - 70_000]))
    assert alone == [information.whole, split] * repeats
    expected = [
        split,
        information.total(np.array([3, rows - 3])),
        information.total(np.array([3, 69_997, rows - 70_000])),
    ]
    assert joint == expected * repeats


@pytest.mark.parametrize("rows", [0, 1, 50, 3000])
def test_grouped_totals_are_their_numpy_twins(rows):
    rng = np.random.default_rng(rows)
    ids = rng.integers(0, 40, rows).astype(np.uint32)
    column = rng.integers(0, 1000, rows).astype(np.uint32)
    members = np.bincount(ids, minlength=41).astype(np.uint32)  # the last group has no rows
    order, ends = np.empty(rows, np.uint32), np.empty(41, np.int64)
    ends = ends[: group_rows(ids, members, order, ends)]
    assert [group.tolist() for group in np.split(order, ends)[:-1]] == [
        np.flatnonzero(ids == group).tolist() for group in np.flatnonzero(members > 1)
    ]

    information = Information(rows)
    counts = np.zeros(1000, np.uint32)
    terms = (information.table.copy(), information.shift)
    total = grouped_total(order, ends, column, counts, terms)
    assert total == total_of(information, np.stack([ids, column]), [0, 1])
    assert not counts.any()
