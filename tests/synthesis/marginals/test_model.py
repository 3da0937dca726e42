"""`DPMarginals`: the promise, trivial worlds, protection, files, streams and frames."""

from __future__ import annotations

import itertools
import logging
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("opendp")

from understudy import Coded, Column, DPMarginals, Schema, Synthesizer, scan
from understudy.errors import NoDensityError, ParameterError
from understudy.privacy import Accountant, Guarantee
from understudy.privacy.accountant import ROUNDING_OF_SCORES
from understudy.synthesis.marginals.aim import aim
from understudy.synthesis.marginals.budget import can_show_links
from understudy.synthesis.marginals.distribution import Distribution
from understudy.synthesis.marginals.kernels import distances
from understudy.synthesis.marginals.measurement import Measurement
from understudy.synthesis.marginals.mst import mst
from understudy.synthesis.marginals.questions import Questions, total_of
from understudy.synthesis.marginals.workload import (
    Candidates,
    distance,
    read_workload,
    without_protected,
)

SIZES = (2, 2, 3)


def schema_of(sizes, names="abcdefghij", **roles):
    return Schema(
        Column(
            name,
            "integer",
            levels=tuple(range(size)),
            public=True,
            role=roles.get(name, "ordinary"),
        )
        for name, size in zip(names, sizes, strict=False)
    )


def linked_frame(rows=2000, seed=0, sizes=(2, 2, 3, 2)):
    """A chain: each column mostly follows the one before."""
    rng = np.random.default_rng(seed)
    made = [rng.integers(sizes[0], size=rows)]
    for size in sizes[1:]:
        follow = rng.random(rows) < 0.8
        made.append(np.where(follow, made[-1] % size, rng.integers(size, size=rows)))
    return pl.DataFrame(dict(zip("abcdefghij", made, strict=False)))


@pytest.fixture(scope="module")
def chain():
    return linked_frame()


@pytest.fixture(scope="module")
def fitted(chain):
    return DPMarginals(5, random_state=1).fit(chain, schema_of((2, 2, 3, 2)))


def questions_of(codes, sizes, epsilon=1, neighbours="change-one", workload=None):
    promise = Guarantee(Fraction(epsilon), Fraction(1, 10**6), neighbours)
    names = tuple("abcdefghij"[: len(sizes)])
    sets = workload or read_workload(3, names)
    candidates = Candidates.of(sets, sizes, 1e6)
    return Questions(names, candidates, candidates.counts(codes), Accountant(promise))


@pytest.mark.parametrize("method", ["aim", "mst"])
def test_all_is_spent_and_no_more(chain, method):
    model = DPMarginals(1, method=method).fit(chain, schema_of((2, 2, 3, 2)))
    assert model.ledger_.left == 0
    assert model.ledger_.currency == "rho"
    assert sum(entry.least_cost for entry in model.ledger_.entries) <= float(
        model.ledger_.total
    ) * (1 + 1e-9)


@settings(max_examples=12)
@given(
    st.sampled_from([0.01, 0.3, 1, 20]),
    st.sampled_from(["aim", "mst"]),
    st.sampled_from(["change-one", "add-remove"]),
    st.lists(st.integers(1, 4), min_size=1, max_size=4),
    st.integers(1, 60),
)
def test_the_ledger_is_never_over_budget(epsilon, method, neighbours, sizes, rows):
    rng = np.random.default_rng(0)
    names = "abcd"[: len(sizes)]
    frame = pl.DataFrame(
        {name: rng.integers(size, size=rows) for name, size in zip(names, sizes, strict=True)}
    )
    logging.getLogger("understudy").setLevel(logging.ERROR)
    model = DPMarginals(epsilon, 1e-6, method=method, neighbours=neighbours, random_state=0)
    model.fit(frame, schema_of(sizes))
    logging.getLogger("understudy").setLevel(logging.NOTSET)
    ledger = model.ledger_
    assert ledger.spent <= ledger.total
    assert sum(entry.least_cost for entry in ledger.entries) <= float(ledger.total) * (1 + 1e-9)
    assert len(model.sample(5)) == 5


@pytest.mark.parametrize("neighbours", ["change-one", "add-remove"])
def test_scores_move_no_more_than_their_sensitivity(neighbours):
    # All tables of two records of two columns, and all their neighbours.
    sizes = (2, 2)
    records = list(itertools.product(range(2), range(2)))
    # A model that knows two of the four records: a move between the others counts in full.
    model = Distribution(sizes, {(0, 1): np.array([0.0, 1.0, -80.0, -80.0])})
    drawn = model.draw(500, np.random.default_rng(0))

    def scores(rows):
        codes = np.array(rows, np.uint8).T.reshape(2, -1)
        asked = questions_of(codes, sizes, neighbours=neighbours)
        own = asked.candidates.distances(drawn, asked.counts, 2.0)
        return asked.candidates.weights * own, asked.score_sensitivity

    largest = 0.0
    for rows in itertools.product(records, repeat=2):
        found, bound = scores(rows)
        others = (
            [(rows[0], other) for other in records] if neighbours == "change-one" else [rows[:1]]
        )
        for other in others:
            moved = np.abs(found - scores(other)[0]).max()
            largest = max(largest, moved)
            assert moved <= bound
    # And it is not larger than it must be.
    assert largest == bound - ROUNDING_OF_SCORES


def test_scores_of_many_cells_are_exact():
    # 2**31 records in 50,000 cells: the sensitivity must not rest on how floats are rounded.
    rng = np.random.default_rng(0)
    counts = rng.multinomial(2**31 - 1, np.full(50_000, 1 / 50_000)).astype(np.int32)
    drawn = rng.multinomial(2**18, np.full(50_000, 1 / 50_000)).astype(np.int32)
    starts = np.array([0, len(counts)])
    scale = (2**31 - 1) / 2**18

    def both(counts):
        found = np.empty(1)
        distances(counts, drawn, scale, starts, found)
        return [found[0], distance(counts.astype(np.int64), drawn * scale)]

    before = both(counts)
    places = [Fraction(round(own * scale * 2**20), 2**20) for own in drawn.tolist()]
    exact = sum(abs(own - place) for own, place in zip(counts.tolist(), places, strict=True))
    assert before == [exact, exact]
    for one, other in rng.integers(len(counts), size=(20, 2)):
        neighbour = counts.copy()
        neighbour[one] -= 1
        neighbour[other] += 1
        assert max(abs(a - b) for a, b in zip(before, both(neighbour), strict=True)) <= 2


@pytest.mark.parametrize("neighbours", ["change-one", "add-remove"])
def test_counts_move_no_more_than_their_sensitivity(neighbours):
    records = list(itertools.product(range(2), range(2), range(3)))
    bound = questions_of(np.zeros((3, 1), np.uint8), SIZES, neighbours=neighbours).accountant.l2

    def tables(rows):
        asked = questions_of(np.array(rows, np.uint8).T.reshape(3, -1), SIZES)
        return [asked.candidates.table(place, asked.counts) for place in range(7)]

    moved = []
    for one, other in itertools.product(records, repeat=2):
        rest = [records[5]]
        pair = ([one, *rest], [other, *rest] if neighbours == "change-one" else rest)
        moved += [np.linalg.norm(a - b) for a, b in zip(*map(tables, pair), strict=True)]
    assert max(moved) <= bound
    assert max(moved) == pytest.approx(bound)


def test_candidates_count_like_numpy():
    rng = np.random.default_rng(0)
    codes = np.array([rng.integers(size, size=50) for size in (2, 3, 4, 2)], np.uint8)
    candidates = Candidates.of({(0, 1, 2, 3): 1.0}, (2, 3, 4, 2), 1e6)
    counts = candidates.counts(codes)
    for place, columns in enumerate(candidates.sets.columns):
        shape = tuple((2, 3, 4, 2)[column] for column in columns)
        cells = np.ravel_multi_index([codes[column] for column in columns], shape)
        expected = np.bincount(cells, minlength=np.prod(shape)).reshape(shape)
        assert (candidates.table(place, counts) == expected).all()
        np.testing.assert_allclose(candidates.shares(place, codes) * 50, expected)
    found = candidates.distances(codes[:, :25], counts, 50.0)
    half = candidates.counts(codes[:, :25])
    starts = candidates.cell_starts[:-1]
    np.testing.assert_allclose(found, np.add.reduceat(np.abs(counts - 2.0 * half), starts))


def test_measurements_are_unbiased():
    # 400 measurements of a scale of 2.2 at most: the mean is within 5 standard errors, 0.55.
    codes = np.array([[0] * 70 + [1] * 30], np.uint8)
    asked = questions_of(codes, (2,), epsilon=200)
    cost = asked.accountant.total / 400
    found = [asked.measure(0, cost) for _ in range(400)]
    error = 5 * found[0].scale / 20
    assert np.abs(np.mean([one.counts for one in found], axis=0) - [70, 30]).max() <= error


def test_weights_are_the_columns_in_common():
    # Of three sets of two columns each column stands in two: a pair has 4 in common, one column 2.
    candidates = Candidates.of(read_workload(2, "abc"), (2, 2, 2), 100)
    assert candidates.sets.columns[0] == (0,)
    assert candidates.weights.tolist() == [0.5] * 3 + [1.0] * 3


def test_tables_that_are_too_large_are_no_candidates():
    candidates = Candidates.of(read_workload(2, "abc"), (2, 10, 200), 100)
    assert candidates.sets.columns == ((0,), (1,), (2,), (0, 1))


def test_a_workload_names_its_columns():
    with pytest.raises(ParameterError, match=r"workload: .*'bb'.*Did you mean 'b'"):
        read_workload([["a", "bb"]], ["a", "b"])
    for wrong in ("ab", 0, [], [[]], [["a"], 3], [(["a"], -1)], 2.5):
        with pytest.raises(ParameterError, match="workload"):
            read_workload(wrong, ["a", "b"])


def test_targets_count_more():
    weights = read_workload(3, "abcd", ["d"])
    assert weights[0, 1, 2] == 1
    assert weights[0, 1, 3] == 1.25


def test_a_workload_of_its_own_is_measured(chain):
    model = DPMarginals(20, workload=[["a", "d"]], random_state=0)
    model.fit(chain, schema_of((2, 2, 3, 2)))
    sets = {one.columns for one in model.measurements_}
    assert (0, 3) in sets
    assert all(own == (0, 3) or len(own) == 1 for own in sets)


def test_links_are_kept(chain, fitted):
    drawn = fitted.sample(random_state=1)
    for pair in itertools.pairwise("abcd"):
        real = chain.group_by(pair).len().sort(pair)["len"].to_numpy().astype(int)
        found = drawn.group_by(pair).len().sort(pair)["len"].to_numpy().astype(int)
        # Independent columns would be more than 500 records away, noise is about 20 a cell.
        assert len(real) == len(found)
        assert np.abs(real - found).sum() < 250


def test_mst_measures_a_tree(chain):
    model = DPMarginals(20, method="mst").fit(chain, schema_of((2, 2, 3, 2)))
    pairs = [one.columns for one in model.measurements_ if len(one.columns) == 2]
    assert len(pairs) == 3
    assert {column for own in pairs for column in own} == {0, 1, 2, 3}
    # A column follows the one before; at this epsilon noise hides no such link.
    assert (0, 1) in pairs


@pytest.mark.parametrize("method", ["aim", "mst"])
@pytest.mark.parametrize("target", ["b", None])
def test_a_protected_column_is_linked_to_its_target_alone(chain, method, target):
    model = DPMarginals(20, method=method, protect={"a": target}, random_state=0)
    model.fit(chain, schema_of((2, 2, 3, 2)))
    allowed = [(0,)] if target is None else [(0,), (0, 1)]
    assert all(own.columns in allowed for own in model.measurements_ if 0 in own.columns)
    codes = np.array(list(itertools.product(range(2), range(2), range(3), range(2))))
    density = np.exp(model.distribution_.log_density(list(codes.T))).reshape(2, 2, 3, 2)
    # Given b, a says nothing of c and d; without a target, nothing of anything.
    given_b = density / density.sum(axis=(0, 2, 3), keepdims=True)
    product = given_b.sum(axis=(2, 3), keepdims=True) * given_b.sum(axis=0, keepdims=True)
    np.testing.assert_allclose(given_b, product, atol=1e-10)
    if target is None:
        alone = density.sum(axis=(1, 2, 3), keepdims=True) * density.sum(axis=0, keepdims=True)
        np.testing.assert_allclose(density, alone, atol=1e-10)


def test_a_protected_column_that_is_not_there_is_named(chain):
    with pytest.raises(ParameterError, match=r"protect: .*'z'"):
        DPMarginals(1, protect={"z": None}).fit(chain, schema_of((2, 2, 3, 2)))


def test_protection_leaves_other_sets_alone():
    found = without_protected({(0, 1, 2): 1.0, (1, 2, 3): 2.0}, "abcd", {"a": None})
    assert found == {(1, 2): 1.0, (1, 2, 3): 2.0}


def test_probabilities_sum_to_one_and_are_those_of_the_draws(fitted):
    sizes = (2, 2, 3, 2)
    grid = np.array(list(itertools.product(*map(range, sizes)))).T
    names = fitted.codec_.names
    coded = Coded.from_arrays(
        dict(zip(names, grid, strict=True)), dict(zip(names, sizes, strict=True))
    )
    density = np.exp(fitted.log_likelihood(coded))
    assert density.sum() == pytest.approx(1, abs=1e-12)
    drawn = fitted.sample_coded(50_000, random_state=3)
    cells = np.ravel_multi_index([drawn[name].astype(int) for name in names], sizes)
    shares = np.bincount(cells, minlength=len(density)) / 50_000
    assert (np.abs(shares - density) <= 5 * np.sqrt(density / 50_000) + 1e-9).all()


def test_noise_differs_from_run_to_run_and_draws_do_not(chain):
    schema = schema_of((2, 2, 3, 2))
    one, other = (DPMarginals(1, random_state=1).fit(chain, schema) for _ in range(2))
    noisy = [[m.counts.tolist() for m in model.measurements_[:4]] for model in (one, other)]
    assert noisy[0] != noisy[1]
    assert one.sample(random_state=5).equals(one.sample(random_state=5))
    assert not one.sample(random_state=5).equals(one.sample(random_state=6))


def test_a_model_file_gives_the_same_rows(fitted, tmp_path):
    path = fitted.save(tmp_path / "model.us")
    loaded = Synthesizer.load(path)
    assert isinstance(loaded, DPMarginals)
    assert loaded.sample(500, random_state=2).equals(fitted.sample(500, random_state=2))
    assert loaded.ledger_ == fitted.ledger_
    assert loaded.get_params() == fitted.get_params()
    for mine, theirs in zip(loaded.measurements_, fitted.measurements_, strict=True):
        assert (mine.columns, mine.scale) == (theirs.columns, theirs.scale)
        assert (mine.counts == theirs.counts).all()


def test_arrays_that_do_not_fit_are_refused(fitted):
    arrays = fitted._state()
    for name, wrong in {
        "factor_logs": arrays["factor_logs"][:-1],
        "factor_columns": arrays["factor_columns"] + 9,
        "measured_scales": -arrays["measured_scales"],
        "measured_widths": arrays["measured_widths"][:-1],
    }.items():
        with pytest.raises(ValueError, match=r"fit|scales"):
            fitted.clone().__class__._restore(fitted, arrays | {name: wrong})


def test_parameters_are_those_given():
    model = DPMarginals(1, method="mst", workload=2, max_model_mb=1)
    assert model.get_params()["method"] == "mst"
    assert model.method == "marginals"
    assert model.clone().get_params() == model.get_params()
    assert model.set_params(method="aim", workload=3).get_params()["method"] == "aim"
    assert repr(model) == "DPMarginals(epsilon=1, max_model_mb=1)"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "give .epsilon"),
        ({"epsilon": 0}, "epsilon must be"),
        ({"epsilon": 1, "delta": 0}, "delta must be above 0"),
        ({"epsilon": 1, "method": "mts"}, "method must be"),
        ({"epsilon": 1, "max_model_mb": 0}, "max_model_mb must be"),
        ({"epsilon": 1, "workload": "age"}, "workload must be"),
    ],
)
def test_what_cannot_be_used_is_said(chain, parameters, message):
    with pytest.raises(ParameterError, match=message):
        DPMarginals(**parameters).fit(chain, schema_of((2, 2, 3, 2)))


def test_few_records_give_independent_columns_and_a_warning(caplog):
    frame = linked_frame(40)
    model = DPMarginals(0.1, random_state=0).fit(frame, schema_of((2, 2, 3, 2)))
    assert "noise would hide every link" in caplog.text
    assert all(len(one.columns) == 1 for one in model.measurements_)
    assert model.ledger_.left == 0


def test_whether_links_can_be_seen_is_public():
    candidates = Candidates.of(read_workload(3, "abc"), SIZES, 1e6)
    promise = Guarantee(Fraction(1), Fraction(1, 10**6))
    found = [can_show_links(candidates, Accountant(promise), rows) for rows in (20, 100_000)]
    assert found == [False, True]


def test_only_links_of_the_workload_are_paid_for():
    # Noise of scale 43 moves 8% of 900 records in the pairs of a tree, and of scale 14 2.6% in one.
    sizes = (2,) * 10
    promise = Guarantee(Fraction(1, 2), Fraction(1, 10**6))
    found = [
        can_show_links(Candidates.of(workload, sizes, 1e6), Accountant(promise), 900)
        for workload in (read_workload(2, "abcdefghij"), {(0, 1): 1.0})
    ]
    assert found == [False, True]


@pytest.mark.parametrize("method", ["aim", "mst"])
@pytest.mark.parametrize(("rows", "sizes"), [(1, (2, 3)), (1, (1,)), (30, (1, 1)), (500, (3,))])
def test_trivial_worlds(rows, sizes, method):
    logging.getLogger("understudy").setLevel(logging.ERROR)
    frame = pl.DataFrame({name: [0] * rows for name, _ in zip("abc", sizes, strict=False)})
    model = DPMarginals(3, 1e-5, method=method, random_state=0).fit(frame, schema_of(sizes))
    logging.getLogger("understudy").setLevel(logging.NOTSET)
    drawn = model.sample(7)
    assert drawn.shape == (7, len(sizes))
    assert all(drawn[name].max() < size for name, size in zip(drawn.columns, sizes, strict=True))


def test_the_number_of_records_is_noisy_if_it_is_not_public(chain):
    rows = {
        DPMarginals(1, neighbours="add-remove").fit(chain, schema_of((2, 2, 3, 2))).n_rows_
        for _ in range(4)
    }
    assert len(rows) > 1
    assert all(abs(one - 2000) < 500 for one in rows)


def test_records_that_were_left_out_are_not_made_up():
    noisy = [Measurement((0,), np.array([300, 320]), 2.0)]
    assert total_of(noisy, 625, public=True) == 625
    assert total_of(noisy, 1000, public=True) == 620
    assert total_of(noisy, 625, public=False) == 620


def test_a_stream_is_learnt_like_a_frame(chain, tmp_path):
    path = tmp_path / "chain.csv"
    chain.write_csv(path)
    model = DPMarginals(20, random_state=0).fit(scan(path), schema_of((2, 2, 3, 2)))
    assert model.n_rows_ == 2000
    shares = model.sample(4000)["a"].mean()
    assert shares == pytest.approx(chain["a"].mean(), abs=0.05)


def test_frames_come_back_as_they_went_in(as_frame):
    frame = as_frame({"a": [0, 1] * 100, "b": [1, 0] * 100})
    drawn = DPMarginals(5, random_state=0).fit(frame, schema_of((2, 2))).sample()
    assert type(drawn) is type(frame)


def test_it_cannot_be_fitted_again(fitted, chain):
    with pytest.raises(NoDensityError, match="noise"):
        fitted.refit(fitted.codec_.encode(chain))


@pytest.mark.slow
def test_the_model_stays_small():
    frame = linked_frame(5000, sizes=(4, 4, 4, 4, 4, 4))
    limit = 2e-3  # MB, or 262 cells: no three tables of 64 cells in one clique
    model = DPMarginals(20, max_model_mb=limit, random_state=0)
    model.fit(frame, schema_of((4,) * 6))
    assert model.distribution_.tree.cells <= limit * 2**20 / 8


def test_aim_and_mst_spend_what_is_left():
    rng = np.random.default_rng(0)
    codes = np.array([rng.integers(2, size=3000) for _ in range(3)], np.uint8)
    for select in (lambda *a: aim(*a, rng)[0], mst):
        asked = questions_of(codes, (2, 2, 2))
        known = asked.measure_all([(0,), (1,), (2,)], asked.accountant.left / 5)
        measured = select(asked, known, 3000.0, 1e6)
        assert asked.accountant.left == 0
        assert measured[:3] == known
        assert len(measured) > 3
