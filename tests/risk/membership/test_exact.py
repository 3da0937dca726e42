"""Membership by density: by hand, against a twin that counts in dictionaries, and calibrated."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import polars as pl
import pytest

from understudy import BayesNet, Cart, GaussianCopula, Independent, load
from understudy.data import Coded
from understudy.errors import DataError, NoDensityError, ParameterError
from understudy.risk import membership_exact
from understudy.risk.membership import other_worlds
from understudy.risk.membership.exact_result import Posteriors
from understudy.risk.strong.fixed import columns_of
from understudy.synthesis.sampler import ENDED

SMOOTHED = {"x": (), "y": ("x",), "z": ("x", "y")}
MODELS = {
    "independent": lambda: Independent(random_state=1),
    "network": lambda: BayesNet(2, random_state=1),
    "smoothed": lambda: BayesNet(2, SMOOTHED, smoothing=2, min_count=2, random_state=1),
    "trees": lambda: Cart(random_state=1),
    "smoothed trees": lambda: Cart(smoothing_leaves=1.5, random_state=1),
}


def log(share):
    return math.log(share) if share > 0 else -math.inf


def release_log(tables, original, synthetic):
    """Sum over all draws: the share of the value among the records with the same parents."""
    total = 0.0
    for table in tables:
        both = []
        for coded in (original, synthetic):
            known = dict(zip(coded.names, coded.columns, strict=True))
            entries = table.entries(known, len(coded))
            parents = np.stack([*entries.parents, entries.values], axis=1).tolist()
            both.append([tuple(row) for row in parents if row[-1] >= 0])
        real, drawn = both
        for *wanted, value in drawn:
            donors = real
            if table.shrinkage is not None:
                total += log(shrunk_share(table.shrinkage, real, wanted, value))
                continue
            for level in range(len(wanted)):
                narrower = [row for row in donors if row[level] == wanted[level]]
                if not narrower:
                    break
                donors = narrower
            total += log(Counter(row[-1] for row in donors)[value] / len(donors))
    return total


def shrunk_share(shrinkage, records, wanted, value):
    """Return the probability of a value in rows of ever more parents, each drawn towards the last.

    Small rows are passed over.
    """
    share = shrinkage.base[value]
    for level, strength in enumerate(shrinkage.strengths):
        if ENDED in wanted[:level]:
            break
        row = [record[-1] for record in records if list(record[:level]) == wanted[:level]]
        if len(row) >= shrinkage.min_count:
            share = (row.count(value) + strength * share) / (len(row) + strength)
    return share


def changed(coded, row, other=None):
    """Return the records without one, or with another in its place."""
    kept = coded.take(np.delete(np.arange(len(coded)), row))
    return kept if other is None else Coded.concatenate([kept, other])


def survey(rows, seed=0):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 3, rows), rng.integers(0, 2, rows)
    z = np.where(rng.random(rows) < 0.7, x, rng.integers(0, 3, rows))
    return pl.DataFrame({"x": x, "y": y, "z": z}).cast(pl.String)


def test_by_hand():
    people = pl.DataFrame({"x": ["a", "a", "b"]})
    model = Independent().fit(people)
    found = membership_exact(model, people, pl.DataFrame({"x": ["a", "b"]}))
    # With all three: 2/3 * 1/3 = 2/9. Without an a: 1/2 * 1/2; without the b, no b can be drawn.
    assert found.without.values == pytest.approx([8 / 17, 8 / 17, 1])
    # An a is replaced by a (2/3: 2/9 again) or b (1/3: 1/3 * 2/3, the same); b by b alone (1/3).
    assert found.replaced.values == pytest.approx([1 / 2, 1 / 2, 3 / 4])
    assert found.without.certain == 1
    assert found.without.share_above(0.9) == pytest.approx(1 / 3)
    assert found.replaced.maximum == pytest.approx(0.75)
    other = membership_exact(model, people, pl.DataFrame({"x": ["a", "b"]}), prior=0.1)
    assert other.without.values[0] == pytest.approx(0.1 * 2 / 9 / (0.1 * 2 / 9 + 0.9 / 4))


@pytest.mark.parametrize("name", MODELS)
def test_agrees_with_a_twin_that_counts_anew(name):
    people = survey(60)
    model = MODELS[name]().fit(people)
    drawn = model.sample(random_state=5)
    found = membership_exact(model, people, drawn)
    tables, original = model.sampling_tables(), model.codec_.encode(people)
    synthetic = model.codec_.encode(drawn)
    as_it_is = release_log(tables, original, synthetic)
    grid = [
        Coded.from_arrays(
            {n: [c] for n, c in zip(original.names, cell, strict=True)},
            dict(zip(original.names, original.cardinalities, strict=True)),
        )
        for cell in np.ndindex(*original.cardinalities)
    ]
    shares = [math.exp(model.log_likelihood(cell)[0]) for cell in grid]
    for row in (0, 7, 31):
        out = math.exp(release_log(tables, changed(original, row), synthetic) - as_it_is)
        assert found.without.values[row] == pytest.approx(1 / (1 + out))
        worlds = [changed(original, row, cell) for cell in grid]
        mean = sum(
            share * math.exp(release_log(tables, world, synthetic) - as_it_is)
            for share, world in zip(shares, worlds, strict=True)
        )
        assert found.replaced.values[row] == pytest.approx(1 / (1 + mean))


@pytest.mark.parametrize(
    "how",
    [
        {"structure": [("x", "y"), ("x", "z")], "smoothing": 0},
        {"structure": SMOOTHED, "smoothing": {"x": 1.5, "y": [2, 10], "z": [0.5, 4, 30]}},
        {"structure": SMOOTHED, "smoothing": 3, "min_count": 20},
    ],
    ids=["as they are", "smoothed", "large rows"],
)
def test_agrees_with_fitting_anew_where_the_structure_does_not_change(how):
    people = survey(80)
    model = BayesNet(2, **how, random_state=1).fit(people)
    tables = people, model.sample(random_state=2)
    control = survey(5, seed=9)
    fixed = membership_exact(model, *tables, records=[3, 60], control=control)
    refit = membership_exact(model, *tables, records=[3, 60], control=control, mode="refit")
    assert refit.without.values == pytest.approx(fixed.without.values, rel=1e-9)
    assert refit.replaced.values == pytest.approx(fixed.replaced.values, rel=1e-9)
    assert refit.control.values == pytest.approx(fixed.control.values, rel=1e-9)
    assert refit.record.tolist() == [3, 60]


@pytest.mark.parametrize("name", MODELS)
def test_releases_of_one_model_multiply(name):
    people = survey(60)
    model = MODELS[name]().fit(people)
    drawn = [model.sample(random_state=seed) for seed in range(3)]
    odds = []
    for table in drawn:
        own = membership_exact(model, people, table).without.values
        with np.errstate(divide="ignore"):
            odds.append(np.log(own) - np.log1p(-own))
    together = membership_exact(model, people, drawn)
    assert together.releases == 3
    with np.errstate(divide="ignore"):
        logs = np.log(together.without.values) - np.log1p(-together.without.values)
    assert logs == pytest.approx(np.sum(odds, axis=0))
    # One long release says the same as its parts.
    long = membership_exact(model, people, pl.concat(drawn))
    assert together.replaced.values == pytest.approx(long.replaced.values)


def test_draws_are_near_the_exact_average_and_say_how_near(monkeypatch):
    people = survey(60)
    model = BayesNet(2, random_state=1).fit(people)
    drawn = model.sample(random_state=5)
    exact = membership_exact(model, people, drawn)
    assert exact.draws == 0
    assert not exact.mc_error.any()
    monkeypatch.setattr(other_worlds, "MOST_LISTED", 1)
    found = membership_exact(model, people, drawn, draws=2_000)
    assert found.draws == 2_000
    apart = np.abs(found.replaced.values - exact.replaced.values)
    assert (apart <= 4 * found.mc_error).all()  # 60 errors of a normal kind: 4 sd is once in 16,000
    assert found.mc_error.max() < 0.03


def test_columns_without_parents_are_averaged_exactly():
    people = load("cmc")
    model = Independent(ends=1, random_state=1).fit(people)
    drawn = model.sample(random_state=5)
    exact = membership_exact(model, people, drawn)
    network = BayesNet(0, smoothing=0, random_state=1).fit(people)
    assert exact.draws == 0
    assert membership_exact(network, people, drawn).replaced.values == pytest.approx(
        exact.replaced.values
    )


def test_smoothed_columns_without_parents_are_averaged_exactly():
    people = survey(60)
    model = BayesNet(0, smoothing=5, random_state=1).fit(people)
    drawn = model.sample(random_state=5)
    # Edges that tell nothing, at strengths that leave nothing of them: all combinations are listed.
    rows = {"x": 5, "y": [5, 1e15], "z": [5, 1e15]}
    network = BayesNet(1, [("x", "y"), ("x", "z")], smoothing=rows, random_state=1).fit(people)
    found, listed = (membership_exact(own, people, drawn) for own in (model, network))
    assert found.replaced.values == pytest.approx(listed.replaced.values, rel=1e-9)
    assert found.without.values == pytest.approx(listed.without.values, rel=1e-9)
    assert found.without.certain == found.replaced.certain == 0


def test_nobody_is_certain_in_a_smoothed_network():
    people = load("cmc")
    model = BayesNet(3, smoothing="auto", random_state=1).fit(people)
    found = membership_exact(model, people, model.sample(random_state=2), draws=50)
    assert found.without.certain == found.replaced.certain == 0
    assert np.isfinite(found.without.values).all()
    assert np.isfinite(found.replaced.values).all()
    assert found.without.values.min() > 0


def test_without_anybody_there_would_be_no_release():
    person = pl.DataFrame({"x": ["a"], "y": ["b"]})
    model = BayesNet(1, [("x", "y")], smoothing=5).fit(person)
    release = model.sample(3, random_state=1)
    for mode in ("fixed", "refit"):
        found = membership_exact(model, person, release, mode=mode, draws=0)
        assert found.without.values.tolist() == [1.0]


def drawn_from(model, records, rows, rng):
    """Draw a release with the structure as published and the counts of other records."""
    known = {name: np.zeros(rows, codes.dtype) for name, codes in columns_of(records).items()}
    for table in model.sampling_tables():
        held = table.entries(columns_of(records), len(records))
        asked = table.entries(known, rows)
        if table.shrinkage is not None:
            known[table.name][:] = list(drawn_shrunk(table, held, asked, rng))
            continue
        for row in range(rows):
            donors = np.arange(len(records))
            for own, wanted in zip(held.parents, asked.parents, strict=True):
                narrower = donors[own[donors] == wanted[row]]
                donors = narrower if len(narrower) else donors
                if not len(narrower):
                    break
            known[table.name][row] = held.values[rng.choice(donors)]
    return Coded(records.names, tuple(known.values()), records.cardinalities)


def drawn_shrunk(table, held, asked, rng):
    """Draw a column with the probabilities of `shrunk_share`."""
    records = np.stack([*held.parents, held.values], axis=1).tolist()
    wanted = np.stack([*asked.parents, asked.values], axis=1).tolist()
    for *parents, _ in wanted:
        values = range(table.cardinality)
        shares = [shrunk_share(table.shrinkage, records, parents, value) for value in values]
        yield rng.choice(table.cardinality, p=shares)


def simulate(model, people, replaced, runs, seed):
    """Yield the posterior of a random person, and whether they were in."""
    rng = np.random.default_rng(seed)
    coded = model.codec_.encode(people)
    for _ in range(runs):
        row, inside = int(rng.integers(len(coded))), bool(rng.random() < 0.5)
        actual = coded
        if not inside:
            other = model.sample_coded(1, rng) if replaced else None
            actual = changed(coded, row, other)
        drawn = drawn_from(model, actual, len(coded), rng)
        # What nobody in the whole world has tells for itself, and the attack refuses it.
        try:
            found = membership_exact(model, coded, drawn, records=[row])
        except DataError:
            assert not inside
            yield 0.0, inside
            continue
        yield float((found.replaced if replaced else found.without).values[0]), inside


def check_calibration(pairs):
    """Compare how often it came true with what was said, in five groups, to 4 standard errors."""
    said, true = np.array(list(pairs)).T
    order = np.argsort(said)
    for part in np.array_split(order, 5):
        mean = said[part].mean()
        error = math.sqrt(max((said[part] * (1 - said[part])).sum(), 1.0)) / len(part)
        assert abs(true[part].mean() - mean) <= 4 * error


@pytest.mark.slow
@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        MODELS["network"](),
        MODELS["smoothed"](),
        Cart(minbucket=3, smoothing_leaves=0, random_state=1),
        Cart(minbucket=3, smoothing_leaves="auto", random_state=1),
    ],
    ids=["network", "smoothed", "trees", "smoothed trees"],
)
def test_what_has_probability_p_comes_true_with_frequency_p(model, replaced):
    people = survey(25, seed=3)
    check_calibration(simulate(model.clone().fit(people), people, replaced, 2_000, 11))


def test_calibration_of_a_single_column():
    people = pl.DataFrame({"x": ["a"] * 6 + ["b"] * 3 + ["c"]})
    model = Independent(random_state=1).fit(people)
    check_calibration(simulate(model, people, False, 400, 5))


def test_calibration_of_a_smoothed_network():
    people = survey(15, seed=3)
    check_calibration(simulate(MODELS["smoothed"]().fit(people), people, False, 60, 6))


def test_control_records_seem_to_be_in_less_often():
    people, control = survey(300), survey(300, seed=1)
    model = Cart(minbucket=2, random_state=1).fit(people)
    found = membership_exact(model, people, model.sample(random_state=2), control=control)
    assert len(found.control) == 300
    assert found.control.mean < found.without.mean
    assert "were not in the data" in found.summary()
    assert found.to_dict()["control"]["certain"] == 0


def test_a_person_with_a_value_that_nobody_had_was_not_in():
    people = survey(50)
    model = BayesNet(1, random_state=1).fit(people)
    stranger = people[:1].with_columns(x=pl.lit("9"))
    found = membership_exact(model, people, model.sample(random_state=2), control=stranger)
    assert found.control.values.tolist() == [0.0]


def test_what_the_release_withholds_is_told():
    people = survey(50)
    model = BayesNet(1, [("x", "z")], smoothing=0, random_state=1).fit(people)
    drawn = model.sample(random_state=2)
    found = membership_exact(model, people, drawn.drop("z"))
    assert "does not show 'z'" in found.notes[0]
    alone = Independent(random_state=1).fit(people.select("x", "y"))
    same = membership_exact(alone, people.select("x", "y"), drawn.drop("z"))
    assert found.without.values == pytest.approx(same.without.values)


def test_frames_and_words():
    people = survey(40)
    model = BayesNet(1, random_state=1).fit(people)
    found = membership_exact(model, people, model.sample(random_state=2))
    assert found.per_record().columns == ["record", "without", "replaced", "mc_error"]
    assert found.per_record().height == 40
    assert found.worst(3).height == 3
    assert found.to_frame()["world"].to_list() == ["without", "replaced"]
    assert len(found.lines()) == 4
    assert "<svg" in found._repr_html_()
    pandas = membership_exact(model, people.to_pandas(), model.sample(random_state=2).to_pandas())
    assert list(pandas.per_record().columns) == ["record", "without", "replaced", "mc_error"]
    nothing = membership_exact(model, people, model.sample(random_state=2), draws=0)
    assert np.isnan(nothing.replaced.values).all()
    assert "replaced" in nothing.reasons
    assert set(nothing.to_dict()["replaced"].values()) == {None}


def test_what_cannot_be_attacked_is_refused():
    people = survey(40)
    model = BayesNet(1, random_state=1).fit(people)
    drawn = model.sample(random_state=2)
    with pytest.raises(ParameterError, match="fitted synthesizer"):
        membership_exact("model", people, drawn)
    with pytest.raises(ParameterError, match="not fitted"):
        membership_exact(BayesNet(), people, drawn)
    with pytest.raises(ParameterError, match="prior must lie"):
        membership_exact(model, people, drawn, prior=1.0)
    with pytest.raises(ParameterError, match="got an empty list"):
        membership_exact(model, people, [])
    with pytest.raises(DataError, match="fitted to 40"):
        membership_exact(model, people[:39], drawn)
    with pytest.raises(ParameterError, match="threshold must lie"):
        Posteriors(np.array([0.5])).share_above(2)


@pytest.mark.parametrize(
    ("model", "kind", "message"),
    [
        (Cart(proper=True, random_state=1), NoDensityError, "random sample"),
        (Cart(keep=["x"], random_state=1), ParameterError, "keeps 'x'"),
        (GaussianCopula(random_state=1), NoDensityError, "membership_by_shadows"),
    ],
    ids=["proper", "kept", "copula"],
)
def test_models_without_a_density_are_refused(model, kind, message):
    people = survey(40)
    drawn = model.clone().fit(people)
    with pytest.raises(kind, match=message):
        membership_exact(drawn, people, drawn.sample(random_state=1))
