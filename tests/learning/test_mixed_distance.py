"""The mixed distance: by hand, and the search against comparing all pairs one by one."""

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from understudy.learning.mixed_distance import (
    UNIT,
    PlacedTable,
    count_nearer,
    nearest_by_both,
    nearest_by_half,
    nearest_records,
    place_together,
)
from understudy.learning.mixed_kernels import BLOCK


def differences(first: PlacedTable, row: int, second: PlacedTable, other: int) -> list[int]:
    """Return how far two records are apart in each column, as the definition says."""
    found = []
    for place, cap in enumerate(first.caps.tolist()):
        one, two = int(first.values[place, row]), int(second.values[place, other])
        apart = abs(one - two) if place < first.numeric else int(one != two) * cap
        found.append(min(apart, cap))
    return found


def nearest_twin(queries, reference, count, own, trimmed):
    """Compare all pairs; of equally near records the first comes first."""
    distances, rows = [], []
    for query in range(queries.rows):
        every = []
        for other in range(reference.rows):
            if own is None or other != own[query]:
                apart = differences(queries, query, reference, other)
                every.append((sum(apart) - (max(apart, default=0) if trimmed else 0), other))
        chosen = sorted(every)[:count] + [(np.inf, -1)] * max(count - len(every), 0)
        distances.append([distance / UNIT for distance, _ in chosen])
        rows.append([other for _, other in chosen])
    return np.array(distances), np.array(rows)


@pytest.mark.parametrize("trimmed", [False, True])
def test_of_each_group_the_nearest_counts_and_none_of_ones_own(trimmed):
    rng = np.random.default_rng(3)
    columns = {"a": rng.integers(0, 9, 40), "b": rng.choice(list("xyz"), 40), "c": rng.random(40)}
    table = place_together({"original": pl.DataFrame(columns)}, [*columns])["original"]
    groups = rng.integers(0, 12, 40)
    distances, rows = nearest_records(
        table, table, count=3, own=groups, groups=groups, trimmed=trimmed
    )
    half, half_rows = nearest_by_half(table, table, count=2, own=groups, groups=groups)
    for query in range(40):
        apart = {
            int(group): nearest_twin(
                table.take(np.array([query])),
                table.take(np.flatnonzero(groups == group)),
                1,
                None,
                trimmed,
            )[0][0, 0]
            for group in np.unique(groups)
            if group != groups[query]
        }
        assert distances[query].tolist() == sorted(apart.values())[:3]
        assert [apart[group] for group in groups[rows[query]]] == distances[query].tolist()
        assert len({*groups[half_rows[query]], groups[query]}) == 3
    assert (half[:, 0] <= half[:, 1]).all()


def one_distance(original: pl.DataFrame, record: dict, other: pl.DataFrame | None = None) -> float:
    """Return how far a record is from the original's first."""
    table = pl.DataFrame(record) if other is None else other
    placed = place_together({"original": original, "other": table}, original.columns)
    first = placed["original"].take(np.array([0]))
    return float(nearest_records(placed["other"], first)[0][0, 0])


@st.composite
def tables(draw):
    """Return two small tables with numbers, gaps and labels."""
    made = []
    for _ in range(2):
        rows = draw(st.integers(1, 12))
        numbers = st.lists(
            st.one_of(st.none(), st.integers(-3, 3).map(float), st.just(0.5)),
            min_size=rows,
            max_size=rows,
        )
        labels = st.lists(st.sampled_from(["a", "b", None]), min_size=rows, max_size=rows)
        columns = {"x": draw(numbers), "y": draw(numbers), "z": draw(labels), "w": draw(labels)}
        made.append(
            pl.DataFrame(
                columns, {"x": pl.Float64, "y": pl.Float64, "z": pl.String, "w": pl.String}
            )
        )
    return made


@given(tables(), st.integers(1, 3), st.booleans(), st.booleans())
def test_nearest_are_those_of_all_pairs(drawn, count, trimmed, themselves):
    original, other = drawn
    placed = place_together({"original": original, "other": other}, ["x", "y", "z", "w"])
    queries = placed["original"]
    reference = queries if themselves else placed["other"]
    own = np.arange(queries.rows) if themselves else None
    found = nearest_records(queries, reference, count=count, own=own, trimmed=trimmed)
    for one, other_one in zip(
        found, nearest_twin(queries, reference, count, own, trimmed), strict=True
    ):
        assert_array_equal(one, other_one)


@pytest.mark.parametrize("numbers", [0, 3, 4, 9])
def test_the_coarse_pass_loses_nothing(numbers):
    rng = np.random.default_rng(numbers)
    rows, people = 2 * BLOCK + 70, np.arange(0, 2 * BLOCK, 200)
    # Half of the records are near one of the people, so that some come just after one as near.
    spread = np.where(np.arange(rows) % 2, 0.05, 1.0)[:, None] * rng.normal(size=(rows, numbers))
    values = rng.normal(size=(rows, numbers))[people[np.arange(rows) % len(people)]] + spread
    labels = rng.choice(["a", "b", "c"], (rows, 5))
    frame = pl.DataFrame(
        {f"n{place}": values[:, place].round(3) for place in range(numbers)}
        | {f"c{place}": labels[:, place] for place in range(5)}
    )
    held = place_together({"original": frame}, frame.columns)["original"]
    held = held.weighted({"n0": 0.3, "n2": 0.01, "c1": 0.5})
    some = held.take(people)
    apart = np.abs(some.values[:, :, None].astype(np.int64) - held.values[:, None, :])
    caps = held.caps[:, None, None]
    apart = np.where((np.arange(numbers + 5) < numbers)[:, None, None] | (apart == 0), apart, caps)
    apart = np.minimum(apart, caps)
    apart[:, np.arange(len(people)), people] = 100 * UNIT  # not oneself
    whole, sums = apart.sum(axis=0), np.sort(apart, axis=0)
    twins = {"whole": whole, "trimmed": whole - sums[-1]}
    found = nearest_by_both(some, held, counts={"whole": 3, "trimmed": 2}, own=people)
    found["half"] = nearest_by_half(some, held, count=2, own=people)
    twins["half"] = sums[: (numbers + 6) // 2].sum(axis=0)
    for kind, twin in twins.items():
        order = np.argsort(twin, axis=1, kind="stable")[:, : found[kind][1].shape[1]]
        assert_array_equal(found[kind][1], order)
        assert_array_equal(found[kind][0], np.take_along_axis(twin, order, axis=1) / UNIT)
    nearer = count_nearer(some, held, limits={"whole": np.full(len(people), 1.2)})["whole"]
    assert_array_equal(nearer, 1 + (whole < 1.2 * UNIT).sum(axis=1))  # and themselves
    assert nearer.max() > 1


ages = pl.DataFrame({"age": [20, 30, 40, 50]})


@pytest.mark.parametrize(
    ("value", "distance"),
    [
        (20, 0.0),
        (30, 0.25),  # one quarter of the records further
        (25, 0.125),
        (20.001, 0.000025),
        (60, 0.75 + 1 / 3),  # beyond all: relative to the range
        (10**9, 1.0),  # at most 1
        (None, 1.0),
    ],
)
def test_numbers_differ_by_their_places(value, distance):
    other = pl.DataFrame({"age": [value]}, {"age": pl.Float64}, strict=False)
    assert one_distance(ages, {}, other) == pytest.approx(min(distance, 1.0), abs=2 / UNIT)


def test_text_is_compared_without_case_and_spaces():
    original = pl.DataFrame({"town": ["Graz", "Wien", "Linz"]})
    assert one_distance(original, {"town": [" GRAZ "]}) == 0
    assert one_distance(original, {"town": ["Wien"]}) == 1


@pytest.mark.parametrize("text", ["20", " 20.0 ", "2e1"])
def test_numbers_stored_as_text_are_numbers(text):
    assert one_distance(ages, {"age": [text]}) == 0
    as_text = ages.cast(pl.String)
    assert one_distance(as_text, {"age": [20]}) == 0
    assert one_distance(as_text, {"age": ["30"]}) == pytest.approx(0.25)


def test_a_date_off_by_a_day_is_near_however_it_is_stored():
    days = pl.DataFrame({"born": [dt.date(1980, 1, 1), dt.date(1990, 1, 1), dt.date(2000, 1, 1)]})
    near = pytest.approx(1 / 3653 / 3, abs=1e-5)
    assert one_distance(days, {"born": [dt.date(1980, 1, 2)]}) == near
    assert one_distance(days, {"born": [dt.datetime(1980, 1, 2)]}) == near  # noqa: DTZ001
    assert one_distance(days, {"born": ["1980-01-02"]}) == near
    assert one_distance(days.cast(pl.String), {"born": [dt.date(1980, 1, 2)]}) == near
    assert one_distance(days, {"born": [7]}) == 1


def test_missing_is_a_value_and_so_are_marks_among_numbers():
    original = pl.DataFrame({"x": [None, *map(str, range(40)), "?"]})
    assert one_distance(original, {"x": [None]}, None) == 0
    assert one_distance(original, {"x": [""]}) == 0
    marks = pl.DataFrame({"x": ["?", *map(str, range(40)), None]})
    assert one_distance(marks, {"x": [" ? "]}) == 0
    assert one_distance(marks, {"x": [None]}) == 1
    assert one_distance(marks, {"x": ["7"]}) == 1


def test_booleans_are_the_same_as_0_and_1():
    original = pl.DataFrame({"ill": [True, False]})
    for same in (True, 1, 1.0, "true", "TRUE", "1"):
        assert one_distance(original, {"ill": [same]}) == 0
    assert one_distance(original, {"ill": [0]}) == 1


def test_categories_of_whole_numbers_are_labels():
    original = pl.DataFrame({"code": ["1", "2", "x"]})
    assert one_distance(original, {"code": [1.0]}) == 0
    assert one_distance(original, {"code": [2]}) == 1


def test_weights_and_columns_are_chosen():
    frame = pl.DataFrame({"age": [20, 30, 40, 50], "sex": ["f", "m", "f", "m"]})
    placed = place_together({"original": frame}, frame.columns)["original"]
    light = placed.weighted({"age": 0.5, "sex": 0.25})
    first, second = light.take(np.array([0])), light.take(np.array([1]))
    assert nearest_records(first, second)[0][0, 0] == pytest.approx(0.125 + 0.25)
    only = placed.select(["sex"])
    assert only.columns == ("sex",)
    assert only.numeric == 0
    distances, rows = nearest_records(only, only, own=np.arange(4))
    assert distances[:, 0].tolist() == [0] * 4
    assert rows[:, 0].tolist() == [2, 3, 0, 1]


def test_a_table_of_one_record_has_no_other():
    placed = place_together({"original": ages[:1]}, ["age"])["original"]
    distances, rows = nearest_records(placed, placed, own=np.array([0]))
    assert (distances[0, 0], rows[0, 0]) == (np.inf, -1)


def test_numbers_at_the_end_of_floats_do_no_harm():
    original = pl.DataFrame({"x": [-1.7e308, 0.0, 1.7e308]})
    assert one_distance(original, {"x": [-1.7e308]}) == 0
    assert one_distance(original, {"x": [1.7e308]}) == pytest.approx(2 / 3, abs=1e-5)
    assert one_distance(original, {"x": [float("inf")]}) == 1


@pytest.mark.parametrize("columns", [1, 4, 7])
def test_by_the_better_half(columns):
    rng = np.random.default_rng(columns)
    frame = pl.DataFrame(
        {f"n{place}": rng.integers(0, 30, 80) for place in range(columns)}
        | {f"c{place}": rng.choice(["a", "b", "c"], 80) for place in range(columns // 2)}
    )
    placed = place_together({"original": frame}, frame.columns)["original"]
    found, rows = nearest_by_half(placed, placed, count=2, own=np.arange(80))
    values = placed.values.astype(np.int64)
    apart = np.abs(values[:, :, None] - values[:, None, :])
    apart[: placed.numeric] = np.minimum(apart[: placed.numeric], UNIT)
    apart[placed.numeric :] = (apart[placed.numeric :] > 0) * UNIT
    half = np.sort(apart, axis=0)[: (len(placed.columns) + 1) // 2].sum(axis=0)
    np.fill_diagonal(half, 100 * UNIT)
    order = np.argsort(half, axis=1, kind="stable")[:, :2]
    assert_array_equal(rows, order)
    assert_array_equal(found, np.take_along_axis(half, order, axis=1) / UNIT)


def test_what_is_taken_whole_is_not_copied():
    frame = pl.DataFrame({"a": [3, 1, 2], "b": ["x", "y", "x"]})
    placed = place_together({"original": frame}, frame.columns)["original"]
    assert placed.take(np.arange(3)) is placed
    assert placed.select(["b", "a"]) is placed
    assert PlacedTable.stack([placed]) is placed
    assert_array_equal(placed.take(np.array([1, 0, 2])).values, placed.values[:, [1, 0, 2]])
    assert placed.select(["b"]).columns == ("b",)
