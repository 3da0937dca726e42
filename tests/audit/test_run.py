"""The audit of one or several releases, from the tables to the findings."""

from __future__ import annotations

import logging
import math
import re
from dataclasses import replace

import polars as pl
import pytest

from understudy import BayesNet, Cart, GaussianCopula, load
from understudy.audit import Audit, audit, measuring
from understudy.audit.failures import failure_text
from understudy.audit.measures import attribution as lookups
from understudy.audit.measures import classifiers as trained
from understudy.audit.measures import prediction as predicted
from understudy.audit.measures import propensity as told_apart
from understudy.audit.measures.prediction import SEEN
from understudy.audit.measures.strong import MOST_REFITS
from understudy.errors import DataError, ParameterError, SchemaError
from understudy.learning.jobs import Job
from understudy.progress import reporting
from understudy.risk import attackers, attribution, disclosure, strong_attacker
from understudy.utility.marginals import marginals

KEYS = ["age", "sex", "region"]
FOR_ALL = {"keys": KEYS, "sensitive": "ill", "random_state": 1}
QUICK = FOR_ALL | {"measures": "quick"}


def instead(monkeypatch, name, run):
    """Let a measure do something else."""
    before = measuring.measures_for
    monkeypatch.setattr(
        measuring,
        "measures_for",
        lambda task, given: [
            replace(measure, run=run) if measure.name == name else measure
            for measure in before(task, given)
        ],
    )


@pytest.fixture
def only(monkeypatch):
    """Take some measures alone, where the others need time and are not asked about."""
    before = measuring.measures_for

    def take(*names):
        monkeypatch.setattr(
            measuring,
            "measures_for",
            lambda task, given: [one for one in before(task, given) if one.name in names],
        )

    return take


def figures(found, release=0):
    return {one.measure: one for one in found.findings.releases[release].figures}


def without_time(found):
    return Audit(replace(found.findings, created="", seconds=0.0))


@pytest.fixture(scope="module")
def model(people):
    return Cart(random_state=1).fit(people)


@pytest.fixture(scope="module")
def release(model):
    return model.sample(random_state=2)


def test_a_copy_tells_all_that_the_original_tells(people):
    found = audit(people, people, **QUICK)
    gcap = figures(found)["gcap"]
    assert gcap.synthetic == gcap.original > 0.9
    assert gcap.gain == pytest.approx(gcap.original - gcap.baseline)
    assert figures(found)["disco"].synthetic == figures(found)["disco"].original
    first = found.findings.releases[0]
    assert first.attribution.synthetic == first.attribution.original
    assert [way.mean for way in first.utility.marginals] == [0, 0]
    assert not first.errors


def test_unrelated_data_tell_nothing(people, unrelated):
    found = audit(people, unrelated, **QUICK)
    # Three standard errors of a share of 200 records.
    assert figures(found)["gcap"].gain < 3 * math.sqrt(0.25 / 200)


def test_the_figures_are_those_of_the_measures(people, release, model):
    found = audit(people, release, model=model, known=2, **QUICK)
    first = found.findings.releases[0]
    alone = attribution(people, release, keys=KEYS, sensitive="ill", known=2)
    gcap = figures(found)["gcap"]
    assert (gcap.synthetic, gcap.baseline) == (alone.accuracy, alone.baseline.zero_rule)
    assert [one.keys for one in first.subsets] == [one.keys for one in alone.subsets]
    assert [one.synthetic for one in first.subsets] == [one.accuracy for one in alone.subsets]
    told = disclosure(people, release, keys=KEYS, sensitive="ill")
    assert (first.disclosure.repu, first.disclosure.disco) == (told.repu, told.disco)
    strong = strong_attacker(model, people, release, unknown="ill", mode="fixed")
    assert figures(found)["strong"].synthetic == strong.accuracy_after
    assert first.strong.certain == strong.certain
    assert sum(first.strong.gains.synthetic) == 200
    two = marginals(people, release, ways=(1, 2))[2]
    assert first.utility.marginals[1].mean == two.mean
    assert first.method == "Cart()"
    assert found.findings.known == 2


def test_the_worst_records_are_those_of_the_strong_attacker(people, release, model):
    found = audit(people, release, model=model, **QUICK).findings.releases[0]
    strong = strong_attacker(model, people, release, unknown="ill", mode="fixed")
    expected = strong.worst(20).filter(pl.col("gain_bits") > 1e-9)
    assert [one.record for one in found.worst] == expected["record"].to_list()
    assert [one.gain_bits for one in found.worst] == expected["gain_bits"].to_list()
    scores = attribution(people, release, keys=KEYS, sensitive="ill").per_record()["cap"]
    for one in found.worst:
        assert one.attribution == pytest.approx(scores[one.record])


@pytest.mark.slow
def test_a_longer_audit_fits_anew_for_the_most_exposed(people, release, model):
    asked = {name: value for name, value in QUICK.items() if name != "measures"}
    found = audit(
        people, release, model=model, measures="standard", **asked | {"classifiers": None}
    )
    strong = strong_attacker(model, people, release, unknown="ill", refits=MOST_REFITS)
    first = found.findings.releases[0].strong
    assert (first.mode, first.certain) == ("auto", strong.certain)
    assert 0 < strong.refitted < 200
    assert strong.refitted_in_words() in first.notes
    assert (
        f"For {strong.refitted} of 200, the model was fitted anew." in figures(found)["strong"].note
    )


def test_without_a_model_the_worst_records_are_those_whose_rare_value_is_told():
    # Looking "b" up tells "rare" rightly, which 1 in 4 has: 1 - 1/4. "a" tells "plain": 1 - 3/4.
    people = pl.DataFrame({"k": ["a", "a", "a", "b"], "s": ["plain", "plain", "plain", "rare"]})
    found = audit(people, people, keys="k", sensitive="s", measures="quick", random_state=1)
    assert [one.record for one in found.findings.releases[0].worst] == [3, 0, 1, 2]
    assert found.findings.releases[0].attribution.synthetic[-1] == 4


def test_a_standard_audit_has_all_its_parts(people, fresh, release, model):
    whole = audit(people, release, model=model, target="ill", control=fresh[:50], **FOR_ALL)
    assert whole.utility_frame()["measure"].to_list() == [
        "correlation", "rank_correlation", "conditional_means", "impossible_combinations",
        "marginals_1", "marginals_2", "marginals_3", "association", "propensity_cart_ratio",
        "propensity_cart_auc", "propensity_logistic_ratio", "propensity_logistic_auc", "prediction",
    ]  # fmt: skip
    found = whole.findings.releases[0]
    assert [one.measure for one in found.figures] == [
        "gcap", "icap", "zero_cap", "telling_keys", "nearest_neighbour", "vote", "mean_attacker",
        "best_attacker", "repu", "disco", "rare_values", "carriers", "own_values", "lookalikes",
        "singling_out", "singling_out_rare", "linkability", "membership_control", "membership",
        "own_copies", "strong",
    ]  # fmt: skip
    assert not found.errors
    assert all(0 <= one.control <= 1 for one in found.figures if one.measure == "vote")
    assert found.anonymity.k_original == 1
    assert [way.way for way in found.utility.marginals] == [1, 2, 3]
    assert found.utility.association.columns == tuple(people.columns)
    assert [one.model for one in found.utility.propensity] == ["cart", "logistic"]
    prediction = found.utility.prediction
    assert (prediction.target, prediction.classes) == ("ill", ("no", "yes"))
    # The control records, which have all columns.
    assert prediction.held_out == "50 real records that the synthesis did not use"
    assert not prediction.note
    assert len(prediction.classifiers) == 5
    for one in prediction.classifiers:
        assert sum(map(sum, one.synthetic_confusion)) == 50


@pytest.mark.slow
def test_a_full_audit_adds_the_papers_and_whole_records(people, release, model, monkeypatch):
    monkeypatch.setattr("understudy.audit.measures.strong.ATTACKED", 40)
    part = FOR_ALL | {"keys": ["age"], "measures": "full"}
    found = audit(people, release, model=model, **part).findings.releases[0]
    names = [one.measure for one in found.figures]
    assert {"papers_vote", "papers_mean_attacker", "papers_best_attacker"} < set(names)
    whole = found.figure("strong_record")
    assert whole.synthetic >= whole.baseline
    assert whole.note.startswith("40 records were attacked")
    assert found.utility.propensity[-1].model == "logistic with interactions"
    assert not found.errors


@pytest.mark.parametrize(
    ("given", "held_out"),
    [
        # Tested on what it shares with the others.
        ({"test": ["age", "sex", "ill"]}, "given"),
        # Made for the attacks alone.
        ({"control": ["age", "sex", "ill"]}, "split"),
        ({"control": ["age", "sex", "ill", "region", "income"]}, "given"),
        ({}, "split"),
    ],
)
def test_what_the_prediction_is_tested_on(people, fresh, release, given, held_out, only):
    only("prediction")
    tables = {name: fresh.select(columns) for name, columns in given.items()}
    arguments = FOR_ALL | {"keys": ["age"], "target": "ill"} | tables
    found = audit(people, release, **arguments).findings.releases[0]
    seen = held_out == "split"
    assert ("not from the synthesis" in found.utility.prediction.held_out) == seen
    assert (found.utility.prediction.note == SEEN) == seen


def of_classifiers(found):
    return {
        name: one
        for name, one in figures(found).items()
        if name.endswith(("vote", "mean_attacker", "best_attacker"))
    }


@pytest.fixture
def only_classifiers(only):
    only("classifiers", "classifiers_papers")


@pytest.mark.parametrize("size", ["standard", "full"])
def test_the_papers_classifiers_in_place_of_ours(people, release, size, only_classifiers):
    part = FOR_ALL | {"keys": ["age", "sex"], "measures": size}
    found = audit(people, release, classifiers="papers", **part)
    alone = attackers(
        people, release, keys=["age", "sex"], sensitive="ill", preset="papers", random_state=1
    )
    trained = of_classifiers(found)
    assert list(trained) == ["vote", "mean_attacker", "best_attacker"]
    assert trained["vote"].synthetic == alone.ensemble.accuracy
    assert trained["mean_attacker"].original == alone.mean.original
    assert trained["vote"].note.startswith("These are the papers' classifiers")
    assert found.findings.measures == f"{size}, with the papers' classifiers"
    assert "classifiers='papers'" in found.findings.command


@pytest.mark.parametrize("size", ["standard", "full"])
def test_no_classifiers(people, release, size, only_classifiers):
    part = FOR_ALL | {"keys": ["age"], "measures": size}
    found = audit(people, release, classifiers=None, **part)
    assert not of_classifiers(found)
    assert found.findings.measures == f"{size}, with no classifiers"
    assert "classifiers=None" in found.findings.command
    assert "classifiers" not in found.findings.releases[0].errors


def test_quick_measures_have_no_classifiers_to_tell_of(people):
    assert audit(people, people, classifiers=None, **QUICK).findings.measures == "quick"


def test_which_classifiers_there_are(people):
    with pytest.raises(ParameterError, match=r"strong, papers, or None.*'paper'.*Did you mean"):
        audit(people, people, classifiers="paper", **QUICK)


@pytest.mark.slow
def test_what_is_learnt_from_the_original_is_learnt_once(
    people, release, unrelated, monkeypatch, only_classifiers
):
    learnt = []

    def noted(job):
        learnt.append(job.may_recur)
        return trained(job)

    trained = Job.guesses
    monkeypatch.setattr(Job, "guesses", noted)
    part = FOR_ALL | {"known": 2, "classifiers": "papers"}
    together = audit(people, {"a": release, "b": [unrelated, release]}, **part)
    # Three sets of two keys and six classifiers: once on the original, and on each of three tables.
    assert (learnt.count(True), learnt.count(False)) == (3 * 6, 3 * 6 * 3)
    assert of_classifiers(together) == of_classifiers(audit(people, release, **part))


@pytest.mark.parametrize(
    ("size", "records", "sets"), [("standard", 599, 2), ("standard", 99, 1), ("full", 99, 3)]
)
def test_classifiers_learn_for_fewer_sets_of_keys_in_large_tables(
    people, release, monkeypatch, only_classifiers, size, records, sets
):
    monkeypatch.setattr(trained, "RECORDS_TRAINED", records)  # 200 people: 599 is not thrice
    part = FOR_ALL | {"known": 2, "measures": size, "classifiers": "papers"}
    note = figures(audit(people, release, **part))["vote"].note
    assert (f"{sets} of the 3 sets of keys, drawn at random" in note) == (sets < 3)


@pytest.mark.slow
def test_large_tables_are_compared_by_samples(people, release, monkeypatch, only):
    only("prediction", "propensity")
    monkeypatch.setattr(predicted, "LEARNT_FROM", 70)
    monkeypatch.setattr(predicted, "TESTED_ON", 30)
    monkeypatch.setattr(told_apart, "TOLD_APART", 90)
    part = FOR_ALL | {"keys": ["age"], "target": "ill", "classifiers": None}
    found = audit(people, release, **part).findings.releases[0].utility
    # 70 is 70% of 100, of which 30 are held out.
    assert found.prediction.held_out.startswith("30 records of the original")
    assert found.notes == (
        "Only a part of the tables was told apart. A random sample of 90 of the 400 records was "
        "compared.",
        "The target was predicted from random samples, since all records would take too long: 70 "
        "of 200 real records and 70 of 200 synthetic ones.",
    )
    told = audit(people, release, test=people, **part)
    prediction = told.findings.releases[0].utility.prediction
    assert prediction.held_out == "30 real records that the synthesis did not use"
    assert all(note in told.summary() for note in found.notes)


def test_small_tables_are_compared_whole(people, release, only):
    only("prediction", "propensity")
    part = FOR_ALL | {"keys": ["age"], "target": "ill", "classifiers": None}
    found = audit(people, release, **part).findings.releases[0].utility
    assert not found.notes
    assert found.prediction.held_out.startswith("60 records of the original")


def test_a_method_without_probabilities_is_no_trouble(people, caplog):
    copula = GaussianCopula(random_state=1).fit(people)
    with caplog.at_level(logging.INFO, "understudy"):
        found = audit(people, copula.sample(), model=copula, **QUICK).findings.releases[0]
    assert "needs a model that draws from counts" in found.errors["strong"]
    (told,) = (one for one in caplog.records if "strong was not measured" in one.getMessage())
    assert told.levelno == logging.INFO


@pytest.mark.slow
def test_whole_records_of_a_large_table_are_not_attacked(people, release, model, monkeypatch):
    monkeypatch.setattr("understudy.audit.measures.strong.MOST_ROWS", 100)
    instead(monkeypatch, "classifiers_papers", lambda _: 1 / 0)
    instead(monkeypatch, "classifiers", lambda _: 1 / 0)
    part = FOR_ALL | {"keys": ["age"], "measures": "full"}
    found = audit(people, release, model=model, **part).findings.releases[0]
    figure = found.figure("strong_record")
    assert math.isnan(figure.synthetic)
    assert figure.note.startswith("Not run: the original has 200 records")


@pytest.mark.slow
def test_several_syntheses_give_the_means_of_single_audits(people):
    model = Cart(smoothing_leaves=0, random_state=1).fit(people)
    tables = [model.sample(random_state=seed) for seed in (2, 3, 4)]
    together = audit(people, tables, model=model, **QUICK)
    single = [audit(people, table, model=model, **QUICK) for table in tables]
    assert together.findings.releases[0].syntheses == 3
    for measure, figure in figures(together).items():
        if measure == "lookalikes":
            continue  # of all tables together
        alone = [figures(one)[measure] for one in single]
        if measure == "membership":
            # Who was in is asked of all syntheses at once, which tell more than one.
            assert figure.synthetic > max(one.synthetic for one in alone)
            continue
        for name in ("baseline", "synthetic", "original", "gain"):
            values = [getattr(one, name) for one in alone]
            mean = math.nan if any(map(math.isnan, values)) else sum(values) / 3
            assert getattr(figure, name) == pytest.approx(mean, nan_ok=True)
        values = pl.Series([one.synthetic for one in alone])
        assert figure.spread == pytest.approx(values.std())
    first = together.findings.releases[0]
    assert first.strong.certain == max(one.findings.releases[0].strong.certain for one in single)
    assert first.utility.marginals[0].mean == pytest.approx(
        sum(one.findings.releases[0].utility.marginals[0].mean for one in single) / 3
    )
    # Charts and single records are about the first.
    for name in ("attribution", "worst"):
        assert getattr(first, name) == getattr(single[0].findings.releases[0], name)


def test_several_methods_stand_side_by_side(people, unrelated, release, model):
    named = {"tree": [release], "shuffled": unrelated}
    found = audit(people, named, model={"tree": model}, **QUICK)
    assert found.releases == ("tree", "shuffled")
    single = [
        audit(people, {"tree": release}, model=model, **QUICK).findings,
        audit(people, {"shuffled": unrelated}, **QUICK).findings,
    ]
    same = replace(found.findings, releases=tuple(one.releases[0] for one in single))
    assert Audit(same) == found
    assert found.findings.releases[1].strong is None


def test_a_network_is_among_the_findings(people):
    network = BayesNet(parents=1, protect={"ill": "age"}, random_state=1).fit(people)
    found = audit(people, network.sample(random_state=2), model=network, **QUICK)
    told = found.findings.releases[0].network
    assert told.order == tuple(network.network_.names)
    assert [edge[:2] for edge in told.edges] == [tuple(e[:2]) for e in network.edge_information()]
    assert told.protected == ("ill",)
    # The seed would let others draw again what the model drew.
    assert found.findings.releases[0].method == "BayesNet(parents=1, protect={'ill': 'age'})"


def test_a_measure_that_fails_leaves_the_others(people, release, monkeypatch, caplog):
    def fail(_):
        raise ValueError("Smith, 42 Main Street")

    every = list(figures(audit(people, release, **QUICK)))
    instead(monkeypatch, "disclosure", fail)
    with caplog.at_level(logging.WARNING, "understudy"):
        found = audit(people, release, **QUICK)
    first = found.findings.releases[0]
    assert list(first.errors) == ["disclosure"]
    assert first.errors["disclosure"].startswith("ValueError")
    assert "Smith" not in found.to_json()
    assert "Smith" not in caplog.text
    assert "disclosure was not measured" in caplog.text
    assert first.disclosure is None
    assert list(figures(found)) == [name for name in every if name not in ("repu", "disco")]


def test_a_synthesis_that_fails_leaves_the_others(people, release, unrelated, model, caplog):
    other = unrelated.with_columns(ill=pl.lit("unheard of"))
    with caplog.at_level(logging.WARNING, "understudy"):
        found = audit(people, [release, other.vstack(unrelated)], model=model, **QUICK)
    alone = audit(people, release, model=model, **QUICK)
    first = found.findings.releases[0]
    assert first.errors["strong"].startswith("Table 2: ")
    assert first.strong == alone.findings.releases[0].strong
    assert "strong was not measured" in caplog.text


def test_an_interruption_passes_through(people, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    instead(monkeypatch, "marginals", interrupt)
    with pytest.raises(KeyboardInterrupt):
        audit(people, people, **QUICK)


def test_the_same_seed_gives_the_same_findings(people, release):
    once, again = (audit(people, release, **QUICK) for _ in range(2))
    assert without_time(once) == without_time(again)
    drawn = audit(people, release, **(QUICK | {"random_state": None}))
    assert f"random_state={drawn.findings.seed}" in drawn.findings.command
    repeated = audit(people, release, **(QUICK | {"random_state": drawn.findings.seed}))
    assert without_time(drawn) == without_time(repeated)


def test_all_libraries_give_the_same(people, release, as_frame):
    found = audit(
        as_frame(people.to_dict(as_series=False)), as_frame(release.to_dict(as_series=False)),
        show_records=True, **QUICK,
    )  # fmt: skip
    assert without_time(found) == without_time(audit(people, release, show_records=True, **QUICK))


class Bars:
    """Notes the progress bars of measures, and what they said.

    What is said before, and what takes long inside a measure, has a text that stays the same.
    """

    def __init__(self):
        self.bars = []

    def track(self, items, description, total):
        if isinstance(description, str):
            yield from items
            return
        said = [description()]
        self.bars.append((total, said))
        for item in items:
            yield item
            said.append(description())


def test_there_is_one_progress_bar_for_all_measures(people, unrelated):
    bars = Bars()
    with reporting(bars):
        audit(people, {"one": unrelated, "two": [people, unrelated]}, **QUICK)
    ((total, said),) = bars.bars
    alone = Bars()
    with reporting(alone):
        audit(people, unrelated, **QUICK)
    ((measured, _),) = alone.bars
    # Of the second release, some measures are taken of the first table alone.
    assert 2 * measured < total < 3 * measured
    assert said[0] == "one: looking keys up"
    assert said[measured] == "two: looking keys up"


def test_a_warning_is_told_once(people, unrelated, caplog):
    numbered = people.with_row_index("number")
    named = {"a": unrelated.with_row_index("number"), "b": numbered}
    with caplog.at_level(logging.WARNING, "understudy"):
        audit(numbered, named, keys=["number", "age"], sensitive="ill", measures="quick")
    assert caplog.text.count("'number' has 200 different values") == 1


def test_many_sets_of_keys_are_drawn(people, release, monkeypatch):
    monkeypatch.setattr(lookups, "LOOKED_UP", 2)
    monkeypatch.setattr("understudy.audit.measures.records.LOOKED_UP", 2)
    found = audit(people, release, known=2, **QUICK)
    assert len(found.findings.releases[0].subsets) == 2
    assert figures(found)["gcap"].note.startswith("2 of the 3 sets of keys, drawn at random")


def test_identifiers_are_not_compared(people, release):
    personal = people.with_columns(name=pl.int_range(200).map_elements(
        lambda number: f"person{number}", return_dtype=pl.String
    ))  # fmt: skip
    other = release.with_columns(name=pl.lit("somebody"))
    found = audit(personal, other, **QUICK).findings.releases[0]
    assert [one.column for one in found.utility.shares] == list(people.columns)
    assert found.utility.notes == (
        "Not compared, since nearly every record has a value of its own: 'name'.",
    )
    found = audit(personal, release, **QUICK).findings.releases[0]
    assert found.utility.notes == ("The release lacks the column 'name'.",)


def test_no_value_of_the_original_alone_is_told(people, fresh, release):
    # One record with values that no other has: keys, sensitive, target and the rest.
    rare = people[:1].with_columns(
        age=pl.lit(8877, pl.Int64), sex=pl.lit("qqzz"), region=pl.lit("wwxx"),
        income=pl.lit(765432.125), ill=pl.lit("vvyy"),
    )  # fmt: skip
    original = people.vstack(rare)
    found = audit(original, release, control=fresh.vstack(rare), target="ill", **FOR_ALL)
    assert not found.findings.releases[0].errors
    text = found.to_json()
    assert re.findall(r"qqzz|wwxx|vvyy|(?<![\d.])(?:8877|765432)", text) == []
    assert found.findings.releases[0].utility.prediction.classes == (
        "no", "not in the release", "yes",
    )  # fmt: skip
    shares = {one.column: one for one in found.findings.releases[0].utility.shares}
    for name in original.columns:
        assert shares[name].labels[-1] == "not in the release"
        assert shares[name].original[-1] >= 1 / 201


def test_groups_are_numbered(people, release, only):
    only("attribution", "prediction")
    # Their limits are quantiles of the original, which are not told.
    found = audit(people, release, groups={"age": 3, "income": 4}, target="income", **FOR_ALL)
    first = found.findings.releases[0]
    assert first.utility.prediction.classes == ("group 1", "group 2", "group 3", "group 4")
    assert not first.errors
    alone = attribution(people, release, keys=KEYS, sensitive="ill", groups={"age": 3})
    assert figures(found)["gcap"].synthetic == alone.accuracy


def test_values_of_the_worst_records_are_told_if_asked_for(people):
    # The release tells nothing of most people, and of this one, without showing a key of hers.
    rare = people[:1].with_columns(region=pl.lit("wwxx"), age=pl.lit(9988, pl.Int64))
    original = pl.concat([rare, people])
    release = pl.concat([rare.with_columns(region=pl.lit("east"), age=pl.lit(21, pl.Int64))] * 3)
    hidden, shown = (
        audit(original, release, show_records=show, **QUICK).to_json() for show in (False, True)
    )
    assert "wwxx" not in hidden
    assert '"9988"' not in hidden
    assert '"region": "wwxx"' in shown
    assert '"age": "9988"' in shown


def test_mistakes_are_told_before_any_work(people, release, model, monkeypatch):
    monkeypatch.setattr("understudy.audit.run.run_measures", None)
    for arguments, message in [
        ({"keys": ["agee"]}, "The original table has no column 'agee'. Did you mean 'age'"),
        ({"sensitive": "age"}, "both a key and the sensitive"),
        ({"target": "il"}, "no column 'il'. Did you mean 'ill'"),
        ({"target": 3}, "target must be the name of a column"),
        ({"measures": "quik"}, "quick, standard, full; got 'quik'. Did you mean 'quick'"),
        ({"known": 9}, "known must be a whole number from 1 to 3"),
        ({"random_state": -1}, "random_state must be a whole number"),
        ({"groups": {"agee": 3}}, "groups: 'agee' is not a column. Did you mean 'age'"),
        ({"groups": 3}, "groups must be a mapping"),
        ({"model": "cart"}, "model must be a fitted synthesizer.*got str"),
        ({"model": Cart()}, "this Cart is not fitted yet"),
        ({"model": {"synthetik": model}}, "no release 'synthetik'.*Did you mean 'synthetic'"),
    ]:
        with pytest.raises(ParameterError, match=message):
            audit(people, release, **(QUICK | arguments))
    with pytest.raises(ParameterError, match=r"synthetic \(b\) 2 table has no column 'ill'"):
        audit(people, {"a": release, "b": [release, release.drop("ill")]}, **QUICK)
    with pytest.raises(ParameterError, match="model is for one release, and there are several"):
        audit(people, {"a": release, "b": release}, model=model, **QUICK)
    with pytest.raises(DataError, match=r"The synthetic \(b\) table has no rows"):
        audit(people, {"a": release, "b": release[:0]}, **QUICK)
    with pytest.raises(DataError, match="The control table has no rows"):
        audit(people, release, control=people[:0], **QUICK)
    for nothing, message in [
        ({}, "no release"),
        ([], "has no table"),
        ({3: release}, "must be text"),
    ]:
        with pytest.raises(ParameterError, match=message):
            audit(people, nothing, **QUICK)
    with pytest.raises(DataError, match="A table is a pandas or polars"):
        audit(people, "release.csv", **QUICK)


@pytest.mark.parametrize("change", [pl.col("age").cast(pl.String), pl.col("age") + 0.25])
def test_a_copy_of_other_types_is_told_as_any_copy(people, change):
    found = audit(people, people.with_columns(change), **QUICK)
    assert found.findings.releases[0].errors == {}
    assert found.verdict.releases[0].answers["records"].level == "high"


def test_what_was_converted_is_noted(people):
    found = audit(people, people.cast({"age": pl.String}), **QUICK)
    assert found.findings.notes == (
        "'age' holds numbers in the original and text in the release: read as numbers.",
    )
    assert found.verdict.level == "high"


def test_a_copy_is_at_high_risk_whatever_the_keys():
    survey = load("cmc")
    found = audit(
        survey, survey.sample(fraction=1, shuffle=True, seed=1),
        keys=["religion", "working"], sensitive="husband_education", measures="quick",
        random_state=1,
    )  # fmt: skip
    assert found.findings.releases[0].copied == 1
    assert found.verdict.level == "high"
    assert "copy of the original" in found.verdict.headline


def test_a_copy_that_tells_a_rare_value_is_no_low_risk():
    survey = load("cmc")
    ill = ["no"] * survey.height
    for row in (100, 500, 900):
        ill[row] = "yes"
    table = survey.select("age", "education", "children").with_columns(ill=pl.Series(ill))
    found = audit(
        table, table, keys=["age", "education", "children"], sensitive="ill", measures="quick",
        random_state=1,
    )  # fmt: skip
    assert found.verdict.level != "low"


def test_a_table_of_few_people_is_never_called_low():
    table = pl.DataFrame({"age": [1, 1, 2, 2, 3, 3, 4, 4], "ill": list("yynnynyn")})
    few = {"keys": ["age"], "sensitive": "ill", "measures": "quick", "random_state": 1}
    assert audit(table, table, **few).verdict.level == "not measured"
    silent = table.with_columns(ill=pl.lit("y"))
    told = audit(table, silent, **few).verdict
    assert told.level == "not measured"
    assert "too few records" in told.headline


COLUMNS = ["age", "it's"]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (DataError("Column 'age' holds texts."), "Column 'age' holds texts."),
        (DataError("The model's columns 'age' and 'x'"), "The model's columns 'age' and '…'"),
        (ParameterError('"it\'s" is not "Smith".'), "\"it's\" is not '…'."),
        (DataError("1,473 records, not 1,000."), "1,473 records, not 1,000."),
        (DataError("the largest is 1234.5."), "the largest is …."),
        (
            SchemaError("The table cannot be coded:", ["'Smith' is no level", "42 neither"]),
            "The table cannot be coded (2 problems).",
        ),
        (
            ZeroDivisionError("Smith"),
            "ZeroDivisionError (its text is not shown, since it may hold values of the data)",
        ),
    ],
)  # fmt: skip
def test_what_is_told(error, text):
    assert failure_text(error, COLUMNS) == text
