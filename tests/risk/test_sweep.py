"""Measures over sets of keys: they are those of each set, and the summary is of them."""

from __future__ import annotations

import json
import math
from contextlib import contextmanager
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from understudy.data import load
from understudy.errors import DataError, ParameterError
from understudy.progress import reporting
from understudy.risk.disclosure import disclosure
from understudy.risk.sweep import KeySet, SweepSummary, sweep
from understudy.synthesis import Independent

KEYS = ["age", "education", "children", "religion", "working"]


@pytest.fixture(scope="module")
def survey():
    return load("cmc")


@pytest.fixture(scope="module")
def synthetic(survey):
    return Independent(random_state=0).fit(survey).sample(random_state=1)


def test_each_set_has_the_measures_of_disclosure(survey, synthetic):
    measures = ["repu", "disco", "tcap_is"]
    found = sweep(survey, synthetic, keys=KEYS, sensitive="method", sizes=(1, 3), measures=measures)
    names = [*combinations(KEYS, 1), *combinations(KEYS, 3)]
    assert [held.keys for held in found.sets] == names
    for held in found.sets:
        single = disclosure(survey, synthetic, keys=held.keys, sensitive="method")
        assert held.values == {name: getattr(single, name) for name in measures}
        assert held.distinct == survey.select(held.keys).n_unique()
    table = found.to_frame()
    assert table.columns == ["keys", "size", "distinct", *measures]
    assert table["keys"].to_list() == [list(held) for held in names]
    assert table["size"].to_list() == [1] * 5 + [3] * 10


def test_the_summary_is_of_the_sets(survey, synthetic):
    found = sweep(survey, synthetic, keys=KEYS, sensitive="method")
    assert len(found.sets) == 5 + 10 + 10 + 5
    assert list(found.summaries) == ["repu", "disco"]
    table = found.to_frame()
    for name in ("repu", "disco"):
        held, values = found[name], table[name].to_numpy()
        assert (held.minimum, held.maximum) == (values.min(), values.max())
        assert held.mean == pytest.approx(values.mean())
        low, high = int(values.argmin()), int(values.argmax())
        assert (held.minimum_keys, held.maximum_keys) == (
            found.sets[low].keys,
            found.sets[high].keys,
        )
        distinct = table["distinct"].to_numpy()
        assert held.pearson == pytest.approx(stats.pearsonr(values, distinct).statistic)
        assert held.spearman == pytest.approx(stats.spearmanr(values, distinct).statistic)
        assert held.pearson > 0.8  # they mostly follow the number of keys
        assert held.reasons == {}


def test_a_summary_by_hand():
    sets = [
        KeySet(("a",), 2, {"disco": 0.25}),
        KeySet(("b",), 3, {"disco": 0.5}),
        KeySet(("a", "b"), 7, {"disco": math.nan}),
        KeySet(("b", "c"), 4, {"disco": 0.75}),
    ]
    found = SweepSummary.of("disco", sets)
    assert found == SweepSummary(
        "disco",
        minimum=0.25,
        minimum_keys=("a",),
        maximum=0.75,
        maximum_keys=("b", "c"),
        mean=0.5,
        pearson=pytest.approx(1),  # 2, 3, 4 against 0.25, 0.5, 0.75
        spearman=pytest.approx(1),
        reasons={},
    )
    assert str(found) == (
        "disco: from 25.00% ('a') to 75.00% ('b' and 'c'), on average 50.00%. The correlation with "
        "the number of distinct keys is 1.00."
    )


def test_what_is_constant_has_no_correlation():
    table = pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 3, 4], "t": [0, 1, 0, 1]})
    found = sweep(table, table, keys=["a", "b"], sensitive="t", measures=["is_"])["is_"]
    assert (found.minimum, found.maximum, found.mean) == (1, 1, 1)
    assert math.isnan(found.pearson)
    assert math.isnan(found.spearman)
    assert found.reasons["pearson"] == "is_ is the same for every set of keys."
    assert "no correlation" in str(found)
    found = sweep(table, table, keys=["a", "b"], sensitive="t", sizes=[1], measures=["repu"])
    assert found["repu"].pearson == pytest.approx(1)
    one = sweep(table, table, keys=["a"], sensitive="t")["disco"]  # one set only
    assert math.isnan(one.pearson)


def test_the_number_of_keys_may_be_constant():
    table = pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "t": [0, 0, 1, 1]})
    found = sweep(table, table, keys=["a", "b"], sensitive="t", sizes=[1])["disco"]
    assert (found.minimum, found.maximum) == (0, 1)
    assert found.reasons["spearman"] == (
        "the number of distinct keys is the same for every set of keys."
    )


def test_what_is_undefined_everywhere_has_a_reason():
    one = pl.DataFrame({"a": [1, 2], "t": [0, 1]})
    other = pl.DataFrame({"a": [3], "t": [0]})
    found = sweep(one, other, keys=["a"], sensitive="t", measures=["tcap_is"])
    held = found["tcap_is"]
    assert math.isnan(held.mean)
    assert held.minimum_keys == ()
    assert set(held.reasons) == {"minimum", "maximum", "mean", "pearson", "spearman"}
    assert "undefined for every set" in str(found)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["sets"] == [{"keys": ["a"], "distinct": 2, "values": {"tcap_is": None}}]
    assert plain["summaries"]["tcap_is"]["mean"] is None


def test_groups_are_used():
    table = pl.DataFrame({"a": np.arange(20), "t": [0, 1] * 10})
    found = sweep(table, table, keys=["a"], sensitive="t", groups={"a": 4})
    assert found.sets[0].distinct == 4
    assert str(found).startswith("1 set of keys for 't'.\nrepu: from 0.00% ('a')")


class Counter:
    def __init__(self):
        self.seen = []

    def track(self, items, description, total):
        self.seen.append((description, total, len(list(items))))
        return items


@contextmanager
def counting():
    counter = Counter()
    with reporting(counter):
        yield counter.seen


def test_progress_is_reported():
    table = pl.DataFrame({"a": [1, 2], "b": [1, 2], "t": [0, 1]})
    with counting() as seen:
        sweep(table, table, keys=["a", "b"], sensitive="t")
    assert seen == [("Counting sets of keys", 3, 3)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": [0]}, "sizes must be whole numbers from 1; got 0"),
        ({"sizes": [True]}, "sizes must be whole numbers from 1; got True"),
        ({"sizes": [1.0]}, "sizes must be whole numbers from 1; got 1.0"),
        ({"sizes": [3]}, r"there are 2 keys, so there is no set of \[3\] keys"),
        ({"sizes": []}, "there are 2 keys, so there is no set of"),
        ({"measures": ["discoo"]}, r"no measure 'discoo'. Did you mean 'disco'\?"),
        ({"sizes": 2.5}, "sizes must be whole numbers from 1; got 2.5"),
        ({"sizes": "2"}, "sizes must be whole numbers from 1; got '2'"),
        ({"sizes": 3}, r"there are 2 keys, so there is no set of \[3\] keys"),
        ({"measures": "discoo"}, r"no measure 'discoo'. Did you mean 'disco'\?"),
        ({"measures": 3}, "no measure 3"),
        ({"groups": ["a"]}, "groups must be a mapping"),
        ({"keys": ["a", "x"]}, "no column 'x'"),
    ],
)
def test_options_that_cannot_be_used(options, message):
    table = pl.DataFrame({"a": [1], "b": [1], "t": [1]})
    with pytest.raises(ParameterError, match=message):
        sweep(table, table, **({"keys": ["a", "b"], "sensitive": "t"} | options))


def test_one_size_and_one_measure():
    table = pl.DataFrame({"a": [1, 2], "b": [1, 1], "t": [1, 2]})
    found = sweep(table, table, keys=["a", "b"], sensitive="t", sizes=1, measures="disco")
    assert [(held.keys, held.values) for held in found.sets] == [
        (("a",), {"disco": 1.0}),
        (("b",), {"disco": 0.0}),
    ]
    with pytest.raises(ParameterError, match=r"'disc' was not measured.*mean 'disco'\?"):
        found["disc"]


def test_no_rows():
    table = pl.DataFrame({"a": [1], "t": [1]})
    with pytest.raises(DataError, match="The synthetic table has no rows"):
        sweep(table, table.clear(), keys=["a"], sensitive="t")
