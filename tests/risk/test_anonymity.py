"""k, l and t: by hand, against slow twins, and in trivial worlds."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data import load
from understudy.errors import DataError, ParameterError
from understudy.risk.anonymity import anonymity, anonymity_of
from understudy.risk.prepare import prepare
from understudy.risk.scenario import Scenario

# Classes: (f, 30) with 3 records, (f, missing) with 2, (m, 30) with 1.
TABLE = {
    "sex": ["f", "f", "m", "f", "f", "f"],
    "age": [30, None, 30, 30, None, 30],
    "ill": ["y", "n", "n", "y", "n", "n"],
}


def test_figures_by_hand(as_frame):
    found = anonymity(as_frame(TABLE), keys=["sex", "age"], sensitive="ill")
    assert (found.records, found.classes) == (6, 3)
    assert (found.k, found.l) == (1, 1)
    # Of all, 2/6 are y. In the classes 2/3, 0 and 0: |2/3 - 1/3| = |0 - 1/3| = 1/3.
    assert found.t == pytest.approx(1 / 3)
    assert found.distance == "total variation"
    assert (found.unique, found.pairs, found.below_five) == (1, 2, 6)
    assert found.reasons == {}


def test_the_classes_that_set_them(as_frame):
    found = anonymity(as_frame(TABLE), keys=["sex", "age"], sensitive="ill")
    assert found.worst("k", backend="polars").to_dicts() == [
        {
            "class": 2,
            "sex": "m",
            "age": "30",
            "size": 1,
            "distinct": 1,
            "distance": pytest.approx(1 / 3),
        }
    ]
    diverse = found.worst("l", backend="polars").select("sex", "age", "size").rows()
    assert diverse == [("f", None, 2), ("m", "30", 1)]  # missing is a level
    records = found.per_record(backend="polars")
    assert records.columns == ["record", "class", "size", "distinct", "distance"]
    assert records["class"].to_list() == [0, 1, 2, 0, 1, 0]
    assert records["size"].to_list() == [3, 2, 1, 3, 2, 3]
    assert records["distinct"].to_list() == [2, 1, 1, 2, 1, 2]


def test_without_a_sensitive_attribute_there_is_k_alone():
    found = anonymity(pl.DataFrame(TABLE), keys="age")
    assert (found.k, found.classes) == (2, 2)
    assert math.isnan(found.l)
    assert math.isnan(found.t)
    assert found.distance is None
    assert set(found.reasons) == {"l", "t"}
    assert found.worst("k").rows() == [(1, None, 2)]
    assert found.per_record().columns == ["record", "class", "size"]
    with pytest.raises(ParameterError, match="l needs a sensitive attribute"):
        found.worst("l")
    assert str(found) == (
        "6 records form 2 classes, and the smallest has k = 2. 0.00% of the records (0) are alone "
        "in their class. 6 are in classes of fewer than 5."
    )


def test_the_table_of_li_and_others():
    # Li, Li, Venkatasubramanian (2007), section 4.1: incomes of 3k to 11k; the class 3k, 4k, 5k is
    # at distance 0.375 from all, and the class 6k, 8k, 11k at 0.167.
    incomes = [3, 4, 5, 6, 8, 11, 7, 9, 10]
    table = pl.DataFrame({"class": [1] * 3 + [2] * 3 + [3] * 3, "income": incomes})
    found = anonymity(table, keys="class", sensitive="income")
    assert found.distance == "ordered"
    distances = found.per_record()["distance"].to_list()
    assert distances[0] == pytest.approx(0.375)
    assert distances[3] == pytest.approx(1 / 6)
    assert found.t == pytest.approx(0.375)
    worst = found.worst("t")
    assert worst.columns == ["class_", "class", "size", "distinct", "distance"]
    assert worst.select("class_", "class").rows() == [(0, "1")]


def test_numbers_some_of_which_are_missing_count_as_categories():
    table = pl.DataFrame({"k": [1, 1, 2, 2], "x": [1.5, None, 1.5, 2.5]})
    found = anonymity(table, keys="k", sensitive="x")
    assert found.distance == "total variation"
    assert found.t == pytest.approx(0.25)  # |1/2 - 2/4| + |1/2 - 1/4| + |0 - 1/4|, halved
    assert "are missing" in found.reasons["distance"]
    special = anonymity(
        pl.DataFrame({"k": [1, 1, 2, 2], "x": [-8, 1, 2, 3]}),
        keys="k",
        sensitive="x",
        groups={"x": 2},
        special={"x": [-8]},
    )
    assert special.distance == "total variation"
    assert "are special" in special.reasons["distance"]


def test_groups_make_classes_larger():
    survey = load("cmc")
    exact = anonymity(survey, keys="age", sensitive="method")
    grouped = anonymity(survey, keys="age", sensitive="method", groups={"age": 4})
    assert grouped.classes == 4 < exact.classes
    assert grouped.k > exact.k
    assert " to " in grouped.worst("k")["age"][0]


# Slow twins

rows = st.lists(
    st.tuples(
        st.sampled_from(["f", "m", None]),
        st.integers(0, 2),
        st.sampled_from([1, 2, 5, 10]),
    ),
    min_size=1,
    max_size=20,
)


def classes_of(records):
    classes = defaultdict(list)
    for sex, age, value in records:
        classes[sex, age].append(value)
    return classes


def frame(records):
    kinds = {"sex": pl.String, "age": pl.Int64, "x": pl.Int64}
    return pl.DataFrame(records, schema=kinds, orient="row")


def shares(values, levels):
    counts = Counter(values)
    return [Fraction(counts[level], len(values)) for level in levels]


def earth_mover(values, levels, overall):
    """Return Li's ordered distance, by its formula."""
    if len(levels) < 2:
        return 0
    moved, total = Fraction(0), Fraction(0)
    for own, other in zip(shares(values, levels), overall, strict=True):
        moved += own - other
        total += abs(moved)
    return total / (len(levels) - 1)


@given(rows)
def test_figures_are_those_of_the_formulas(records):
    classes = classes_of(records)
    everything = [value for _, _, value in records]
    levels = sorted(set(everything))
    overall = shares(everything, levels)
    table = frame(records)
    found = anonymity(table, keys=["sex", "age"], sensitive="x")
    assert found.k == min(map(len, classes.values()))
    assert found.l == min(len(set(values)) for values in classes.values())
    ordered = {key: earth_mover(values, levels, overall) for key, values in classes.items()}
    assert found.t == pytest.approx(float(max(ordered.values())), abs=1e-12)
    per_record = [float(ordered[record[:2]]) for record in records]
    assert found.per_record()["distance"].to_list() == pytest.approx(per_record, abs=1e-12)
    as_text = anonymity(
        table.with_columns(pl.col("x").cast(pl.String)), keys=["sex", "age"], sensitive="x"
    )
    varied = max(
        sum(abs(own - other) for own, other in zip(shares(values, levels), overall, strict=True))
        / 2
        for values in classes.values()
    )
    assert as_text.t == pytest.approx(float(varied), abs=1e-12)
    assert found.t <= as_text.t + 1e-12
    assert found.unique == sum(len(values) for values in classes.values() if len(values) == 1)
    assert found.pairs == sum(len(values) for values in classes.values() if len(values) == 2)
    assert found.below_five == sum(len(v) for v in classes.values() if len(v) < 5)


@given(rows, st.randoms(use_true_random=False))
def test_orders_and_copies(records, random):
    found = anonymity(frame(records), keys=["sex", "age"], sensitive="x")
    shuffled = frame(random.sample(records, len(records))).select("x", "age", "sex")
    again = anonymity(shuffled, keys=["age", "sex"], sensitive="x")
    assert (again.k, again.l, again.classes) == (found.k, found.l, found.classes)
    assert again.t == pytest.approx(found.t, abs=1e-12)
    twice = anonymity(frame(records * 2), keys=["sex", "age"], sensitive="x")
    assert (twice.k, twice.l, twice.unique) == (2 * found.k, found.l, 0)
    assert twice.t == pytest.approx(found.t, abs=1e-12)


# Trivial worlds


def test_one_class_is_like_all():
    table = pl.DataFrame({"a": [1] * 4, "t": ["x", "y", "x", "z"]})
    found = anonymity(table, keys="a", sensitive="t")
    assert (found.k, found.l, found.t) == (4, 3, 0)


def test_everybody_alone():
    table = pl.DataFrame({"a": np.arange(10), "t": ["x"] * 9 + ["y"]})
    found = anonymity(table, keys="a", sensitive="t")
    assert (found.k, found.l, found.unique) == (1, 1, 10)
    assert found.t == pytest.approx(0.9)  # the class of y
    assert found.worst("t")["class"].to_list() == [9]
    assert len(found.worst("k")) == 10


def test_a_constant_attribute_and_one_row():
    for values in ([5, 5, 5], ["x", "x", "x"]):
        found = anonymity(pl.DataFrame({"a": [1, 1, 2], "t": values}), keys="a", sensitive="t")
        assert (found.k, found.l, found.t) == (1, 1, 0)
    one = anonymity(pl.DataFrame({"a": [1], "t": [None]}), keys="a", sensitive="t")
    assert (one.k, one.l, one.t) == (1, 1, 0)


def test_a_result_as_text_and_plain_values():
    found = anonymity(pl.DataFrame(TABLE), keys=["sex", "age"], sensitive="ill")
    assert str(found).endswith("For 'ill': l = 1, t = 0.333 (total variation).")
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["keys"] == ["sex", "age"]
    assert (plain["k"], plain["l"], plain["unique"]) == (1, 1, 1)
    plain = anonymity(pl.DataFrame(TABLE), keys="age").to_dict()
    assert plain["l"] is None
    assert plain["t"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keys": "agee"}, r"The given table has no column 'agee'. Did you mean 'age'\?"),
        ({"keys": ["age", "ill"]}, "'ill' is both a key and the sensitive attribute"),
        ({"sensitive": "x"}, "no column 'x'"),
        ({"groups": {"ill": 3}}, "'ill' holds no numbers"),
        ({"groups": {"sex": 3}}, "groups and special are for keys .* got 'sex'"),
        ({"groups": 3}, "groups must be a mapping, .* got 3"),
        ({"groups": ["age"]}, "groups must be a mapping, .* got"),
        ({"special": {"age": [3]}}, "special: 'age' is not among groups"),
        ({"special": {"sex": [3]}}, "groups and special are for keys .* got 'sex'"),
    ],
)
def test_options_that_cannot_be_used(options, message):
    with pytest.raises(ParameterError, match=message):
        anonymity(pl.DataFrame(TABLE), **({"keys": "age", "sensitive": "ill"} | options))


def test_classes_whose_distances_differ_by_rounding_are_equal():
    # As above: 2/3 - 1/3 and 1/3 - 0 are the same, though not in floats.
    found = anonymity(pl.DataFrame(TABLE), keys=["sex", "age"], sensitive="ill")
    assert len(set(found.per_record()["distance"])) > 1
    assert found.worst("t").height == found.classes == 3


def test_any_name_can_be_a_key():
    table = pl.DataFrame({"(all records)": [1, 1, 2], "(all records)_": [1, 1, 2]})
    for keys in ("(all records)", table.columns, table.to_pandas().columns):
        found = anonymity(table, keys=keys)
        assert (found.k, found.classes, found.sensitive) == (1, 2, None)


def test_the_worst_class_is_named_exactly():
    table = pl.DataFrame({"x": [1234567.25, 1234567.5, 1234567.5]})
    assert anonymity(table, keys="x").worst("k")["x"].to_list() == ["1234567.25"]


def test_other_mistakes():
    found = anonymity(pl.DataFrame(TABLE), keys="age", sensitive="ill")
    with pytest.raises(ParameterError, match="measure must be 'k', 'l' or 't'; got 'm'"):
        found.worst("m")
    with pytest.raises(DataError, match="The given table has no rows"):
        anonymity(pl.DataFrame(TABLE).clear(), keys="age")


@pytest.mark.parametrize("target", ["method", "children"])
@pytest.mark.parametrize("gaps", [(), ("original",), ("synthetic",)])
def test_coded_tables_have_the_figures_of_the_tables(target, gaps):
    survey = load("cmc")
    numbered = pl.int_range(pl.len()) % 7 == 0
    tables = {"original": survey[:900], "synthetic": survey[900:]}
    for name in gaps:
        emptied = pl.when(~numbered).then(pl.col(target)).alias(target)
        tables[name] = tables[name].with_columns(emptied)
    keys = ["age", "education"]
    prepared = prepare(tables["original"], [tables["synthetic"]], Scenario(keys, target))
    for found, table in zip(anonymity_of(prepared), tables.values(), strict=True):
        expected = anonymity(table, keys=keys, sensitive=target)
        assert found.to_dict() == expected.to_dict()
        for measure in ("k", "l", "t"):
            assert found.worst(measure).equals(expected.worst(measure))
        assert found.per_record().equals(expected.per_record())


def test_a_label_is_none_for_missing_and_not_for_its_word():
    table = pl.DataFrame({"key": ["missing", None, "a"]})
    assert anonymity(table, keys="key").worst("k")["key"].to_list() == ["a", "missing", None]
