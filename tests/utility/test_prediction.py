"""Learning from a release and predicting real records: by hand, and trivial worlds."""

from __future__ import annotations

import json
import logging
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier

from understudy.data import load
from understudy.data.joint_coding import CodedTables
from understudy.errors import DataError, ParameterError
from understudy.showing import showing_records
from understudy.utility.prediction import chosen_models, prediction
from understudy.utility.prediction_result import ClassScore, Trained, mean_interval, paired_interval

NEAREST = {"nearest": KNeighborsClassifier(1)}
PAPERS = ["naive_bayes", "svm", "k_nearest", "random_forest", "logistic_regression"]


class Failing(ClassifierMixin, BaseEstimator):
    """Fail where it sees many records."""

    def __init__(self, most=0):
        self.most = most

    def fit(self, X, y):  # noqa: N803  # scikit-learn's names
        if len(X) > self.most:
            raise RuntimeError("no luck")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):  # noqa: N803  # scikit-learn's name
        return np.full(len(X), self.classes_[0])


def related(rows, seed, *, shuffled=False):
    """Return records in which job and age tell whether someone is sick, or shuffled ones."""
    rng = np.random.default_rng(seed)
    job = rng.choice(["baker", "nurse", "smith"], rows)
    age = rng.integers(20, 60, rows)
    sick = np.where((job == "nurse") & (age > 30), "yes", "no")
    table = pl.DataFrame({"job": job, "age": age, "sick": sick})
    return table.with_columns(pl.col("sick").shuffle(seed)) if shuffled else table


def by_number(classes):
    """Return a record for each number from 0, of the given classes."""
    return {"x": list(range(len(classes))), "y": list(classes)}


def test_by_hand(as_frame):
    # One nearest neighbour: the class of the training record with the same number.
    original, synthetic, test = (
        as_frame(by_number(classes)) for classes in ("aaabbbbb", "aabbbbba", "aaaaabbb")
    )
    result = prediction(
        original, synthetic, target="y", test=test, classifiers=NEAREST, positive="a"
    )
    one = result.classifiers["nearest"]
    # Trained on synthetic data: aabbbbba for aaaaabbb.
    assert one.synthetic.confusion == ((2, 3), (1, 2))
    assert one.synthetic.accuracy == 4 / 8
    a, b = one.synthetic.classes
    assert (a.label, a.records, a.predicted, a.right) == ("a", 5, 3, 2)
    assert (a.precision, a.recall) == (2 / 3, 2 / 5)
    # Five times 2/3 times 2/5 is 4/3, and four times 2/3 plus 2/5 is 46/15.
    assert a.f2 == pytest.approx((4 / 3) / (46 / 15))
    assert (b.precision, b.recall, b.f2) == (2 / 5, 2 / 3, pytest.approx(5 * 2 / (4 * 3 + 5)))
    # Trained on real data: aaabbbbb.
    assert one.real.confusion == ((3, 2), (0, 3))
    assert one.real.accuracy == 6 / 8
    assert one.difference == -2 / 8
    # Right after synthetic training alone: none. After real training alone: the third and the last.
    assert one.interval == paired_interval(0, 2, 8)
    assert (result.mean.synthetic, result.mean.real) == (0.5, 0.75)
    apart = np.array([0, 0, -1, 0, 0, 0, 0, -1.0])
    assert result.mean.interval == mean_interval(apart)
    # b is the most frequent in both tables to learn from, and right for 3 of 8.
    assert (result.baseline, result.synthetic_baseline) == (3 / 8, 3 / 8)
    assert (result.held_out, result.labels, result.reasons) == ("given", ("a", "b"), {})
    assert (result.records, result.synthetic_records, result.test_records) == (8, 8, 8)


def test_forms_of_the_result():
    tables = [pl.DataFrame(by_number(classes)) for classes in ("aaabbbbb", "aabbbbba", "aaaaabbb")]
    result = prediction(
        tables[0], tables[1], target="y", test=tables[2], classifiers=NEAREST, positive="a"
    )
    first, mean = result.to_frame().to_dicts()
    assert (first["classifier"], mean["classifier"]) == ("nearest", "mean")
    assert (first["synthetic"], first["real"], first["baseline"]) == (0.5, 0.75, 0.375)
    assert first["synthetic_recall"] == 0.4
    assert mean["synthetic_recall"] is None
    assert result.confusion("nearest").to_dict(as_series=False) == {
        "class": ["a", "b"],
        "predicted a": [2, 1],
        "predicted b": [3, 2],
    }
    assert result.confusion("nearest", "real")["predicted a"].to_list() == [3, 0]
    assert result.per_class().select("training", "class", "right").rows() == [
        ("real", "a", 3),
        ("real", "b", 3),
        ("synthetic", "a", 2),
        ("synthetic", "b", 2),
    ]
    content = json.loads(json.dumps(result.to_dict()))
    assert content["classifiers"]["nearest"]["synthetic"]["confusion"] == [[2, 3], [1, 2]]
    assert str(result) == (
        "Classifiers trained on the synthetic data predict 'y' correctly for 50.0% of 8 given "
        "test records on average. Trained on real data, they do so for 75.0%, a difference of "
        "-25.0 points (95% interval -57.1 to +7.1). Always predicting the most frequent class is "
        "correct for 37.5%."
    )
    with pytest.raises(ParameterError, match=r"got 'nearst'\. Did you mean"):
        result.confusion("nearst")
    with pytest.raises(ParameterError, match="training must be 'synthetic' or 'real'; got 'test'"):
        result.confusion("nearest", "test")


def test_frames_are_of_the_kind_that_went_in(as_frame):
    table = as_frame(by_number("aaabbbbb"))
    found = prediction(table, table, target="y", test=table, classifiers=NEAREST)
    for frame in (found.to_frame(), found.per_class(), found.confusion("nearest")):
        assert type(frame) is type(as_frame({}))
    assert isinstance(found.per_class(backend="polars"), pl.DataFrame)
    shown = found._repr_html_()
    for words in (*found.SERIES.values(), found.AXIS, "nearest"):
        assert f">{words}<" in shown


def test_coded_tables_give_the_same():
    frames = {"original": related(60, 1), "synthetic": related(50, 2), "test": related(40, 3)}
    options = {"target": "sick", "classifiers": NEAREST, "groups": {"age": 4}}
    direct = prediction(frames["original"], frames["synthetic"], test=frames["test"], **options)
    tables = CodedTables.of(frames)
    assert prediction(tables, **options).to_dict() == direct.to_dict()
    split = prediction(tables.select(["original", "synthetic"]), **options)
    assert split.held_out == "split"


def test_paired_interval_of_other_software():
    # Example of ci.prop.ps in the R package statpsych.
    assert paired_interval(26, 4, 48) == pytest.approx((0.2548067, 0.6251933), abs=1e-7)
    assert paired_interval(4, 26, 48) == pytest.approx((-0.6251933, -0.2548067), abs=1e-7)
    assert paired_interval(3, 0, 3)[1] == 1.0


@given(
    pairs=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40),
)
def test_scores_agree_with_a_plain_twin(pairs):
    truth, guesses = np.array(pairs).T
    trained = Trained.of(truth, guesses, "abcd")
    assert trained.accuracy == pytest.approx(sum(one == other for one, other in pairs) / len(pairs))
    for code, score in enumerate(trained.classes):
        hits = pairs.count((code, code))
        found = [one for one, other in pairs if other == code]
        there = [other for one, other in pairs if one == code]
        assert sum(trained.confusion[code]) == score.records == len(there)
        precision = hits / len(found) if found else math.nan
        recall = hits / len(there) if there else math.nan
        assert score.precision == pytest.approx(precision, nan_ok=True)
        assert score.recall == pytest.approx(recall, nan_ok=True)
        if hits:
            f2 = 5 * precision * recall / (4 * precision + recall)
            assert score.f2 == pytest.approx(f2)
        else:
            assert math.isnan(score.f2) if not there else score.f2 == 0


def test_a_class_that_is_never_predicted_has_no_precision_and_f2_of_0():
    score = ClassScore.of("ill", records=3, predicted=0, right=0)
    assert math.isnan(score.precision)
    assert (score.recall, score.f2) == (0.0, 0.0)


@pytest.mark.parametrize("classifiers", ["papers", pytest.param("modern", marks=pytest.mark.slow)])
def test_a_copy_is_as_good_as_the_original(classifiers):
    survey = load("cmc").sample(fraction=1, shuffle=True, seed=1)
    train, test = survey[:900], survey[900:]
    copy = train.sample(fraction=1, shuffle=True, seed=2)
    result = prediction(train, copy, target="method", test=test, classifiers=classifiers)
    for one in result.classifiers.values():
        assert one.synthetic == one.real
        assert one.difference == 0.0
        low, high = one.interval
        assert low < 0 < high < 0.01
        assert one.real.accuracy > result.baseline - 0.02
    assert (result.mean.difference, result.mean.interval) == (0.0, (0.0, 0.0))
    assert result.positive is None
    assert (list(result.classifiers) == PAPERS) == (classifiers == "papers")


@pytest.mark.parametrize("classifiers", ["papers", pytest.param("modern", marks=pytest.mark.slow)])
def test_unrelated_and_related_worlds(classifiers):
    original, test = related(400, 1), related(400, 2)
    arguments = {"target": "sick", "test": test, "classifiers": classifiers}
    near = prediction(original, related(400, 3), **arguments)
    assert near.mean.synthetic > near.baseline + 0.1
    assert near.mean.difference == pytest.approx(0, abs=0.05)
    far = prediction(original, related(400, 4, shuffled=True), **arguments)
    # Guessing blindly is at best as good as the most frequent class: three standard errors of a
    # share of 400 records are 0.07.
    assert far.mean.synthetic < far.baseline + 0.07
    assert far.mean.interval[1] < 0
    assert far.mean.real == near.mean.real


@pytest.mark.slow
def test_order_of_rows_and_columns_does_not_count():
    original, synthetic = related(200, 1), related(150, 2)
    first = prediction(original, synthetic, target="sick")
    other = prediction(
        original.sample(fraction=1, shuffle=True, seed=1).select("sick", "age", "job"),
        synthetic.sample(fraction=1, shuffle=True, seed=2),
        target="sick",
    )
    assert first.to_dict() == other.to_dict()

    def renamed(table):
        return table.with_columns(job="a " + pl.col("job"), sick="it is " + pl.col("sick"))

    again = prediction(renamed(original), renamed(synthetic), target="sick")
    for name, one in again.classifiers.items():
        assert one.synthetic.confusion == first.classifiers[name].synthetic.confusion
    assert again.labels == ("it is no", "it is yes")


def test_a_share_of_each_class_of_the_original_is_held_out():
    original = pl.DataFrame({"x": range(200), "y": ["a"] * 150 + ["b"] * 40 + ["c"] * 10})
    arguments = {"target": "y", "classifiers": NEAREST, "test_share": 0.2}
    result = prediction(original, original, **arguments)
    assert (result.held_out, result.test_records, result.records) == ("split", 40, 160)
    classes = result.classifiers["nearest"].synthetic.classes
    assert [score.records for score in classes] == [30, 8, 2]
    # The copy holds the test records themselves, and the nearest one is the record itself.
    assert result.mean.synthetic == 1.0
    assert "it has seen them, which favours it" in result.summary()
    assert "200" not in result.summary()
    other = prediction(original, original, **arguments, random_state=1)
    assert other.classifiers["nearest"].real != result.classifiers["nearest"].real


def test_the_rarer_of_two_classes_is_the_positive_one():
    original = related(200, 1)
    assert prediction(original, original, target="sick", classifiers=NEAREST).positive == "yes"
    even = pl.DataFrame({"x": [1, 2, 3, 4], "y": [False, True, False, True]})
    arguments = {"target": "y", "test": even, "classifiers": NEAREST}
    assert prediction(even, even, **arguments).positive == "True"
    assert prediction(even, even, **arguments, positive=False).positive == "False"
    numbers = even.with_columns(pl.col("y").cast(pl.Int8))
    arguments["test"] = numbers
    for positive in (0, "0", np.int64(0), 0.0):
        assert prediction(numbers, numbers, **arguments, positive=positive).positive == "0"
    with pytest.raises(ParameterError, match="positive is a class of 'y'; True is none"):
        prediction(numbers, numbers, **arguments, positive=True)


def test_a_rare_class_that_the_release_lacks():
    rng = np.random.default_rng(0)
    x = rng.random(300)
    table = pl.DataFrame({"x": x, "ill": np.where(x > 0.95, "yes", "no")})
    release = table.filter(ill="no")
    result = prediction(table, release, target="ill", test=table)
    assert result.positive == "yes"
    for one in result.classifiers.values():
        score = one.synthetic.classes[1]
        assert (score.recall, score.f2, score.predicted) == (0.0, 0.0, 0)
        assert math.isnan(score.precision)
        assert one.synthetic.accuracy == result.synthetic_baseline
    assert result.classifiers["random_forest"].real.classes[1].f2 == 1.0
    assert result.reasons == {
        "class yes": "No synthetic record has it, so classifiers that learn from these never "
        "predict it."
    }


@pytest.mark.parametrize("classifiers", ["papers", "modern"])
def test_classes_of_one_table_alone(classifiers):
    original = pl.DataFrame({"x": [1, 2, 3, 4] * 5, "y": ["a", "b", "b", "a"] * 5})
    synthetic = pl.DataFrame({"x": [1, 2, 3, 4] * 5, "y": ["a", "b", "s", "a"] * 5})
    test = pl.DataFrame({"x": [1, 2, 3, 9], "y": ["a", "b", "t", None]})
    result = prediction(original, synthetic, target="y", test=test, classifiers=classifiers)
    assert result.labels == ("a", "b", "s", "t", "missing")
    assert set(result.reasons) == {"class s", "class t", "class missing"}
    assert "no test record has it" in result.reasons["class s"]
    assert "no real training record has it" in result.reasons["class t"]
    for one in result.classifiers.values():
        assert one.real.accuracy <= 0.5
        assert math.isnan(one.synthetic.classes[2].recall)
        assert one.real.classes[3].f2 == 0.0


@pytest.mark.parametrize("classifiers", ["papers", "modern"])
def test_a_constant_target_has_nothing_to_predict(classifiers):
    table = pl.DataFrame({"x": range(20), "y": ["a"] * 20})
    result = prediction(table, table, target="y", classifiers=classifiers)
    assert {one.synthetic.accuracy for one in result.classifiers.values()} == {1.0}
    assert (result.mean.difference, result.baseline, result.positive) == (0.0, 1.0, None)
    assert result.reasons == {"target": "'y' has one class, so there is nothing to predict."}


def test_a_gap_and_a_class_of_that_name_are_two_classes():
    table = pl.DataFrame({"x": [1, 2, 3], "y": ["a", "missing", None]})
    result = prediction(table, table, target="y", test=table, classifiers=NEAREST)
    assert result.labels == ("a", "missing", "missing value")
    assert result.confusion("nearest").width == 4


def test_a_target_of_many_numbers_is_put_in_groups():
    table = pl.DataFrame({"x": range(60), "pay": [float(value) for value in range(60)]})
    with pytest.raises(ParameterError, match=r"60 different numbers.*groups=\{'pay': 5\}"):
        prediction(table, table, target="pay")
    result = prediction(
        table, table, target="pay", test=table, groups={"pay": 3}, classifiers=NEAREST
    )
    assert len(result.labels) == 3
    assert result.mean.real == 1.0
    assert result.baseline == pytest.approx(1 / 3)


def test_many_labels_are_warned_of(caplog):
    table = pl.DataFrame({"x": range(101), "y": [f"{value:03}" for value in range(101)]})
    with caplog.at_level(logging.WARNING, "understudy"):
        prediction(table, table, target="y", test=table, classifiers=NEAREST)
    assert "'y' has 101 classes" in caplog.text


def test_a_classifier_that_fails_leaves_the_others():
    table = pl.DataFrame(by_number("aabbab"))
    models = {"failing": Failing(2), **NEAREST}
    result = prediction(table, table.head(2), target="y", test=table, classifiers=models)
    # With one class to learn nothing is trained, so the first table does no harm.
    one = result.classifiers["failing"]
    assert math.isnan(one.real.accuracy)
    assert math.isnan(one.difference)
    assert one.synthetic.accuracy == 0.5
    assert (one.real.confusion, one.real.classes) == ((), ())
    assert result.reasons["failing"].startswith("It failed on the real records: RuntimeError; ")
    assert "no luck" not in result.reasons["failing"]
    assert result.reasons["mean"] == "It leaves out classifiers that failed: failing."
    assert result.mean.real == 1.0
    alone = prediction(
        table, table, target="y", test=table, classifiers={"failing": Failing()}, positive="a"
    )
    assert math.isnan(alone.mean.difference)
    assert "correctly for an unknown share of" in alone.summary()
    assert alone.to_frame()["synthetic_f2"].to_list() == [None, None]
    assert alone.confusion("failing").height == 0


@pytest.mark.slow
def test_two_processes_give_the_same_result():
    original, synthetic = related(100, 1), related(100, 2)
    one = prediction(original, synthetic, target="sick")
    two = prediction(original, synthetic, target="sick", processes=2)
    assert one.to_dict() == two.to_dict()


def test_features_may_be_chosen():
    original = related(200, 1)
    result = prediction(original, original, target="sick", features="age", classifiers=NEAREST)
    assert result.features == ("age",)
    assert prediction(original, original, target="sick", classifiers=NEAREST).features == (
        "age",
        "job",
    )


def test_the_papers_five_classifiers():
    models = chosen_models("papers")
    assert list(models) == PAPERS
    assert models["random_forest"].settings == {"n_estimators": 100}
    assert {model.encoding for model in models.values()} == {"standardised"}
    assert "gradient_boosting" in chosen_models("modern")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target": "sik"}, "must be a column of the original; got 'sik'. Did you mean 'sick'"),
        ({"target": 3}, "target must be a column of the original; got 3"),
        ({"features": ["jobb"]}, "'jobb' is not a column. Did you mean 'job'"),
        ({"features": ["sick"]}, "'sick' is the target"),
        ({"features": []}, "no feature to predict 'sick' from"),
        ({"test_share": 0.0}, "test_share must lie between 0 and 1"),
        ({"test_share": 1}, "test_share must lie between 0 and 1"),
        ({"test_share": 0.001}, "leave records on both sides; got 0.001 of 20 records"),
        ({"classifiers": "paper"}, "got 'paper'. Did you mean 'papers'"),
        ({"classifiers": {}}, "classifiers must be 'papers' or 'modern'"),
        ({"classifiers": {"line": LinearRegression()}}, "scikit-learn's classifiers by name"),
        ({"classifiers": {"mean": KNeighborsClassifier()}}, "none of them called 'mean'"),
        ({"classifiers": {"text": "svm"}}, "'text' cannot be copied"),
        ({"positive": "yess"}, "positive is a class of 'sick'; 'yess' is none. Did you mean 'yes'"),
        ({"groups": {"agee": 2}}, "'agee' is none of them. Did you mean 'age'"),
        ({"groups": {"job": 2}}, "'job' holds no numbers"),
        ({"processes": 0}, "processes must be a whole number from 1"),
        ({"random_state": -1}, "random_state must be a whole number"),
    ],
)
@showing_records()
def test_wrong_arguments(arguments, message):
    table = related(20, 1)
    with pytest.raises(ParameterError, match=message):
        prediction(table, table, **{"target": "sick"} | arguments)


def test_tables_that_cannot_be_used():
    table = related(20, 1)
    with pytest.raises(DataError, match="test table has no rows"):
        prediction(table, table, target="sick", test=table.head(0))
    with pytest.raises(ParameterError, match="synthetic table has no column 'job'"):
        prediction(table, table.drop("job"), target="sick")
