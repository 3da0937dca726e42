"""Linkability: by hand, against a plain twin, in trivial worlds and with odd input."""

from __future__ import annotations

import json
from functools import partial
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy import load, risk
from understudy.data.joint_coding import encode
from understudy.errors import DataError, ParameterError
from understudy.learning.mixed_distance import UNIT, place_together
from understudy.risk.linkability import link_chances
from understudy.synthesis import Independent

linkability = partial(risk.linkability, random_state=0)
ORIGINAL = {"age": [20, 40, 60], "pay": [1, 2, 3]}
RELEASE = {"age": [21, 41, 59], "pay": [1, 3, 2]}


def test_by_hand(as_frame):
    found = linkability(as_frame(ORIGINAL), as_frame(RELEASE), "age", "pay")
    # By age the first, second and third record are nearest; by pay the first, third and second.
    assert found.per_record(backend="polars")["linked"].to_list() == [1.0, 0.0, 0.0]
    assert found.attack.value == pytest.approx(1 / 3)
    assert found.baseline.value == pytest.approx(1 / 3)
    assert found.tied == 0
    assert found.reasons == {"control": "There are no control records."}
    assert type(found.to_frame()) is type(as_frame(ORIGINAL))


def test_ties_are_broken_at_random_and_the_rate_is_exact():
    original = pl.DataFrame({"job": ["a"], "sex": ["f"]})
    release = pl.DataFrame({"job": ["a", "a", "b"], "sex": ["f", "m", "f"]})
    # By job the first two, by sex the first and the last: both take the first in 1 of 4 cases.
    found = linkability(original, release, "job", "sex")
    assert found.attack.value == pytest.approx(0.25)
    assert found.tied == 1


def test_two_of_several_neighbours():
    original = pl.DataFrame({"job": ["a"], "sex": ["f"]})
    release = pl.DataFrame({"job": ["a", "a", "b"], "sex": ["f", "m", "f"]})
    # Records 0 and 1 by job, 0 and 2 by sex: they share record 0.
    assert linkability(original, release, "job", "sex", neighbours=2).attack.value == 1
    assert linkability(original, release, "job", "sex", neighbours=2).baseline.value == 1


def plain_chance(first, second, neighbours):
    """Return how likely two draws of the nearest records meet, by all ways to break ties."""

    def draws(distances):
        last = np.sort(distances)[neighbours - 1]
        surely = np.flatnonzero(distances < last).tolist()
        tied = np.flatnonzero(distances == last).tolist()
        return [{*surely, *more} for more in combinations(tied, neighbours - len(surely))]

    return np.mean([bool(one & other) for one, other in product(draws(first), draws(second))])


@given(st.integers(0, 2**32), st.integers(1, 3))
def test_chances_against_a_plain_twin(seed, neighbours):
    rng = np.random.default_rng(seed)

    def table(rows):
        return pl.DataFrame(
            {
                "x": rng.integers(0, 4, rows),
                "job": rng.choice(list("ab"), rows),
                "y": [[0.5, 2.0, None][at] for at in rng.integers(0, 3, rows)],
                "sex": rng.choice(["f", "m"], rows),
            }
        )

    people, release = table(5), table(7)
    sides = ("x", "job"), ("y", "sex")
    found, tied = link_chances({"people": encode(people)}, [encode(release)], sides, neighbours)
    placed = place_together({"": encode(release), "people": encode(people)}, [*sides[0], *sides[1]])
    for person in range(5):
        distances = []
        for columns in sides:
            one, other = placed["people"].select(columns), placed[""].select(columns)
            apart = np.abs(other.values.astype(int) - one.values[:, [person]])
            apart = np.minimum(apart, UNIT)
            apart[one.numeric :] = np.where(apart[one.numeric :] > 0, UNIT, 0)
            distances.append(apart.sum(axis=0))
        assert found["people"][person] == pytest.approx(plain_chance(*distances, neighbours))
    assert 0 <= tied <= 1


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    level = rng.normal(size=1_200)
    return pl.DataFrame(
        {f"x{place}": (level + rng.normal(size=1_200)).round(3) for place in range(6)}
    )


def thirds(table, seed):
    rows = np.random.default_rng(seed).permutation(len(table))
    size = len(table) // 3
    return [table[rows[place * size : (place + 1) * size]] for place in range(3)]


def test_a_copy_links_everybody(people):
    original, _, control = thirds(people, 0)
    found = linkability(original, original, control=control)
    assert found.attack.value == 1
    assert found.risk > 0.95
    assert found.p_value == pytest.approx(1 / 500)
    assert (found.columns_a, found.columns_b) == (("x0", "x2", "x4"), ("x1", "x3", "x5"))


def test_fresh_people_link_no_more_than_control_records(people):
    original, fresh, control = thirds(people, 1)
    found = linkability(original, fresh, control=control)
    assert found.p_value > 0.05
    assert found.risk_interval[0] == 0
    assert found.difference_interval[0] <= 0 <= found.difference_interval[1]


def test_an_independent_release_links_as_chance_does(people):
    original, _, control = thirds(people, 2)
    release = Independent(random_state=1).fit(original).sample(random_state=1)
    found = linkability(original, release, control=control)
    assert found.attack.value < 0.03
    assert found.baseline.value == pytest.approx(1 / len(release))


def alarms(table, seeds, neighbours):
    found = []
    for seed in range(seeds):
        original, fresh, control = thirds(table, seed)
        told = linkability(
            original, fresh, control=control, neighbours=neighbours, random_state=seed
        )
        found.append(told.p_value < 0.05)
    return np.mean(found)


def test_few_false_alarms(people):
    assert alarms(people, 30, 1) <= 0.1


@pytest.mark.long
@pytest.mark.parametrize("neighbours", [1, 5])
def test_alarms_at_5_percent_in_at_most_7(people, neighbours):
    assert alarms(people, 200, neighbours) <= 0.07
    assert alarms(load("cmc"), 200, neighbours) <= 0.07


def test_several_releases_link_if_one_does():
    original, release = pl.DataFrame(ORIGINAL), pl.DataFrame(RELEASE)
    found = linkability(original, [release, original], "age", "pay")
    assert found.attack.value == 1
    assert found.baseline.value == pytest.approx(1 - (2 / 3) ** 2)


def test_a_sample_of_people_is_attacked(people):
    found = linkability(people, people[:50], attacks=100, random_state=1)
    rows = found.per_record()["record"].to_list()
    assert len(rows) == found.attack.attacks == 100
    assert rows == sorted(set(rows))
    assert (
        rows
        != linkability(people, people[:50], attacks=100, random_state=2)
        .per_record()["record"]
        .to_list()
    )


def test_the_columns_that_are_not_named():
    table = pl.DataFrame({"a": [1, 2], "b": [1, 2], "c": [1, 2]})
    found = linkability(table, table, columns_b="a")
    assert (found.columns_a, found.columns_b) == (("b", "c"), ("a",))


def test_what_is_said(people):
    original, fresh, control = thirds(people, 3)
    found = linkability(original, fresh, ["x0", "x1"], control=control, random_state=3)
    text = str(found)
    assert text.startswith("Of 400 people, ")
    assert "by 'x0' and 'x1' and by 4 columns are the same" in text
    assert "Residual risk: " in text
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["control"]["attacks"] == 400
    assert "_chances" not in plain
    assert "<svg" in found._repr_html_()
    assert found.to_frame()["attacks"].to_list() == [400]


def test_it_says_what_is_wrong():
    table = pl.DataFrame(ORIGINAL)
    with pytest.raises(ParameterError, match=r"no column 'agee'\. Did you mean 'age'\?"):
        linkability(table, table, "agee")
    with pytest.raises(ParameterError, match="no column in common; both name 'age'"):
        linkability(table, table, "age", ["age", "pay"])
    with pytest.raises(ParameterError, match=r"must each name .* got \['age', 'pay'\] and \[\]"):
        linkability(table, table, ["age", "pay"])
    with pytest.raises(
        ParameterError, match="neighbours must be a whole number from 1 to 3; got 4"
    ):
        linkability(table, table, neighbours=4)
    with pytest.raises(ParameterError, match="attacks must be a whole number from 1; got 0"):
        linkability(table, table, attacks=0)
    with pytest.raises(DataError, match="The control table has no rows"):
        linkability(table, table, control=table.clear())
