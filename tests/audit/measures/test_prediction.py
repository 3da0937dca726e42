"""Results on what a release keeps, as plain values."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from understudy.audit.measures import prediction as module
from understudy.audit.measures.association import ASSOCIATION
from understudy.audit.measures.marginals import MARGINALS
from understudy.audit.measures.prediction import (
    prediction_findings,
    prediction_tables,
    sample,
    shown_classes,
)
from understudy.audit.measures.propensity import findings_of
from understudy.data.joint_coding import CodedTables, encode
from understudy.utility.association import association
from understudy.utility.marginals import marginals
from understudy.utility.prediction import prediction
from understudy.utility.propensity import propensity


def tables(**columns):
    return CodedTables.of({"synthetic": pl.DataFrame(columns)})


def test_distances_are_means_and_the_worst_tables_are_the_firsts(people, unrelated):
    both = [marginals(people, table, ways=(1, 2)) for table in (unrelated, people)]
    one, two = MARGINALS.collect(None, both).utility["marginals"]
    assert (one.way, one.tables, two.tables) == (1, 5, 10)
    assert two.mean == pytest.approx(both[0][2].mean / 2)  # the other is 0
    assert two.expected == pytest.approx(both[0][2].expected)
    assert two.worst[0] == (
        both[0][2].worst[0].columns,
        both[0][2].worst[0].distance,
        both[0][2].worst[0].expected,
    )


def test_associations_are_without_signs(people):
    falling = people.with_columns(income=-pl.col("age"))
    rising = people.with_columns(income=pl.col("age"))
    found = ASSOCIATION.collect(None, [association(falling, rising, bootstraps=2)])
    found = found.utility["association"]
    at = found.columns.index("age"), found.columns.index("income")
    assert found.original[at[0]][at[1]] == found.synthetic[at[0]][at[1]] == pytest.approx(1)
    assert np.array(found.original).min() >= 0


def test_propensity_is_beside_shuffled_records(people, unrelated):
    both = [propensity(people, table, permutations=3) for table in (unrelated, people)]
    found = findings_of(both, {"logistic": "another name"})
    assert [one.model for one in found] == ["cart", "another name"]
    models = [one.models["cart"] for one in both]
    assert found[0].pmse == pytest.approx((models[0].pmse + models[1].pmse) / 2)
    assert found[0].auc_by_chance == pytest.approx(np.mean([one.permuted_auc for one in models]))


@pytest.mark.parametrize(
    ("labels", "held", "shown"),
    [
        (("a", "b"), ["a", "b"], ("a", "b")),
        (("a", "b", "c"), ["b"], ("not in the release (1)", "b", "not in the release (2)")),
        (("1", "2.5"), [1.0, 2.5], ("1", "2.5")),
        (("a", "missing"), ["a", None], ("a", "missing")),
        (("missing", "missing value"), ["missing", None], ("missing", "missing value")),
        (("a", "missing"), ["a"], ("a", "not in the release")),
    ],
)
def test_classes_that_the_release_lacks_are_not_named(labels, held, shown):
    assert shown_classes(labels, tables(x=held), "x", grouped=False) == shown


def test_precision_is_that_of_the_positive_class_or_a_mean(people):
    two = prediction(people, people, target="ill", test=people, classifiers="papers")
    found = prediction_findings([two], ("no", "yes"))
    assert found.positive == two.positive
    first = two.classifiers[found.classifiers[0].classifier]
    scores = {score.label: score for score in first.synthetic.classes}
    assert found.classifiers[0].synthetic_recall == scores[two.positive].recall
    assert found.classifiers[0].real_confusion == first.real.confusion

    four = prediction(people, people, target="region", test=people)
    found = prediction_findings([four], tuple(four.labels))
    assert found.positive == ""
    name = "random_forest" if "random_forest" in four.classifiers else next(iter(four.classifiers))
    (one,) = (one for one in found.classifiers if one.classifier == name)
    recalls = [score.recall for score in four.classifiers[name].real.classes]
    assert one.real_recall == pytest.approx(np.mean(recalls))


def test_a_positive_class_that_the_release_lacks_is_not_named(people):
    rare = people.with_columns(
        ill=pl.when(pl.int_range(200) < 3).then(pl.lit("qqzz")).otherwise(pl.lit("no"))
    )
    release = people.with_columns(ill=pl.lit("no"))
    result = prediction(rare, release, target="ill", test=rare)
    coded = CodedTables.of({"synthetic": release})
    classes = shown_classes(result.labels, coded, "ill", grouped=False)
    found = prediction_findings([result], classes)
    assert (result.positive, found.positive) == ("qqzz", "not in the release")
    assert "qqzz" not in repr(found)


TABLE = encode(pl.DataFrame({"x": range(100)}))


def values(table):
    column = table.column("x")
    return column.values.to_numpy()[column.codes].tolist()


def test_records_are_drawn_once_and_keep_their_order():
    drawn = values(sample(TABLE, 40, seed=1))
    assert len(drawn) == len(set(drawn)) == 40
    assert drawn == sorted(drawn)


def test_the_seed_and_the_stream_decide():
    first = values(sample(TABLE, 40, seed=1))
    assert first == values(sample(TABLE, 40, seed=1))
    assert first != values(sample(TABLE, 40, seed=2))
    assert first != values(sample(TABLE, 40, seed=1, stream=1))


def test_tables_of_the_size_are_left_as_they_are(monkeypatch):
    monkeypatch.setattr(module, "LEARNT_FROM", 70)

    def given(**held):
        frames = {"original": TABLE} | held
        coded = CodedTables.of(frames, ())
        return SimpleNamespace(tables=coded, task=SimpleNamespace(seed=1, units=None))

    # Of 100 records 30 are held out, so that 70 are left to learn from.
    found = prediction_tables(given(synthetic=TABLE.take(np.arange(70))), test=False).encoded
    assert found["original"] is TABLE
    assert [len(table) for table in found.values()] == [100, 70]
    # With test records, none are held out.
    found = prediction_tables(given(synthetic=TABLE, control=TABLE), test=True).encoded
    assert len(found["original"]) == 70
    assert found["test"] is TABLE
