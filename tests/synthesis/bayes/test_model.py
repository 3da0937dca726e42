"""BayesNet as a whole: density, protection, streams, threads, files and errors."""

from __future__ import annotations

import functools
import itertools

import networkx as nx
import numpy as np
import polars as pl
import pytest

from understudy import BayesNet, Coded, Schema, Synthesizer, load, scan, write
from understudy.counting import joint_counts, mutual_information
from understudy.counting import tables as counting_tables
from understudy.errors import ParameterError

SEARCHES = ("greedy", "predictive", "genetic", "optimal")
KEYS = ("age", "education", "children", "religion", "working")


@pytest.fixture(scope="module")
def survey():
    return load("cmc")


@pytest.fixture(scope="module")
def small():
    """Three columns with few levels, so that all combinations can be listed."""
    return load("cmc").select("education", "living_standard", "method")


def all_records(model):
    names, sizes = model.codec_.names, model.codec_.cardinalities
    grid = np.array(list(itertools.product(*map(range, sizes))))
    return Coded.from_arrays(
        {name: grid[:, place] for place, name in enumerate(names)},
        dict(zip(names, sizes, strict=True)),
    )


@pytest.mark.parametrize("structure", SEARCHES)
@pytest.mark.parametrize("parents", [0, 1, 2, 4])
def test_probabilities_of_all_records_sum_to_one(small, structure, parents):
    model = BayesNet(parents, structure, random_state=1).fit(small)
    # The predictive search takes as many as tell something.
    degrees = range(min(parents, 2) + 1) if structure == "predictive" else [min(parents, 2)]
    assert model.network_.degree in degrees
    total = np.exp(model.log_likelihood(all_records(model))).sum()
    assert total == pytest.approx(1, abs=1e-12)


def test_a_full_network_has_the_density_of_the_table(small):
    model = BayesNet(2, "optimal", smoothing=0).fit(small)
    coded = model.codec_.encode(small)
    shares = joint_counts(coded, coded.names).counts.reshape(-1) / len(coded)
    found = np.exp(model.log_likelihood(all_records(model)))
    seen = shares > 0
    np.testing.assert_allclose(found[seen], shares[seen], rtol=1e-12)


def test_sampled_frequencies_match_the_density_with_back_off():
    # c has both parents, and the combination a = 1, b = 1 does not occur: it falls back on one.
    frame = pl.DataFrame(
        {"a": [0, 0, 0, 1, 1, 0], "b": [0, 1, 1, 0, 0, 0], "c": [0, 1, 1, 0, 1, 0]}
    )
    model = BayesNet(structure=[("a", "c"), ("b", "c")], smoothing=0, random_state=2).fit(frame)
    drawn = model.sample_coded(200_000)
    probabilities = np.exp(model.log_likelihood(all_records(model)))
    assert probabilities.sum() == pytest.approx(1, abs=1e-12)
    seen = joint_counts(drawn, drawn.names).counts.reshape(-1) / len(drawn)
    assert probabilities[6] + probabilities[7] == pytest.approx(1 / 3 * 1 / 3)  # a = 1 and b = 1
    # Five standard errors: a right sampler fails for one seed in about 200,000.
    bound = 5 * np.sqrt(probabilities * (1 - probabilities) / len(drawn))
    assert np.all(np.abs(seen - probabilities) <= bound)


@pytest.mark.parametrize("structure", SEARCHES)
def test_the_best_link_of_the_survey_is_kept(survey, structure):
    model = BayesNet(2, structure, smoothing=0, random_state=1).fit(survey)
    assert {("age", "children"), ("children", "age")} & set(model.network_.edges)
    drawn = model.sample_coded(100_000)
    before = model.information_[0, 3]
    # Mutual information of a sample this large is within a few thousandths of the model's.
    assert mutual_information(drawn, "age", "children") == pytest.approx(before, abs=0.02)


def conditional_information(coded, one, other, given):
    """I(one; other | given) = I(one; other, given) - I(one; given), in bits."""
    return mutual_information(coded, one, [other, given]) - mutual_information(coded, one, given)


PROTECTIONS = [
    {"husband_education": "method"},
    {"husband_education": "method", "religion": "method"},
    {"husband_education": "method", "religion": "education", "working": None},
]
OWN_EDGES = [("method", "age"), ("age", "children"), ("method", "education")]


@pytest.fixture(scope="module")
def protected(survey):
    """Return a function that fits each protected network once, for all tests of it."""

    @functools.cache
    def fit(structure, protect):
        own = OWN_EDGES + [(target, name) for name, target in protect if target]
        chosen = own if structure == "own" else structure
        return BayesNet(3, chosen, protect=dict(protect), random_state=3).fit(survey)

    return fit


@pytest.mark.parametrize("protect", PROTECTIONS)
@pytest.mark.parametrize("structure", [*SEARCHES, "own"])
class TestProtection:
    @pytest.fixture
    def model(self, protected, protect, structure):
        return protected(structure, tuple(protect.items()))

    def test_in_the_graph(self, model, protect):
        graph = model.network_.to_networkx()
        for sensitive, target in protect.items():
            assert list(graph.predecessors(sensitive)) == [target] * (target is not None)
            assert not list(graph.successors(sensitive))
            given = {target} - {None}
            for other in set(graph) - {sensitive, target}:
                assert nx.is_d_separator(graph, {sensitive}, {other}, given)

    def test_in_the_data(self, model, protect):
        drawn = model.sample_coded(50_000)
        sizes = dict(zip(drawn.names, drawn.cardinalities, strict=True))
        for sensitive, target in protect.items():
            for other in set(drawn.names) - {sensitive, target}:
                if target is None:
                    found, groups = mutual_information(drawn, sensitive, other), 1
                else:
                    found = conditional_information(drawn, sensitive, other, target)
                    groups = sizes[target]
                freedom = (sizes[sensitive] - 1) * (sizes[other] - 1) * groups
                # 2 n ln 2 times the information is chi-squared under independence: mean plus six
                # standard deviations.
                bound = (freedom + 6 * np.sqrt(2 * freedom)) / (2 * len(drawn) * np.log(2))
                assert found <= bound, (sensitive, other)

    def test_what_remains_is_named(self, model, protect):
        paths = model.residual_paths()
        assert list(paths) == list(protect)
        graph = model.network_.to_networkx()
        for sensitive, target in protect.items():
            linked = {path[-1] for path in paths[sensitive]}
            apart = set(graph) - linked - {sensitive}
            assert all(nx.is_d_separator(graph, {sensitive}, {name}, set()) for name in apart)
            assert all(path[1] == target for path in paths[sensitive])


@pytest.mark.parametrize("structure", SEARCHES)
def test_quasi_identifiers_can_be_kept_from_being_parents(survey, structure):
    forbidden = [(key, "husband_occupation") for key in KEYS]
    required = [("method", "living_standard")]
    model = BayesNet(
        2, structure, forbidden=forbidden, required=required, root="method", random_state=1
    ).fit(survey)
    assert not set(forbidden) & set(model.network_.edges)
    assert ("method", "living_standard") in model.network_.edges
    assert model.network_.names[0] == "method"


@pytest.mark.parametrize("structure", SEARCHES)
def test_a_fixed_order_is_kept(survey, structure):
    order = survey.columns[::-1]
    model = BayesNet(2, structure, order=order, random_state=1).fit(survey)
    assert list(model.network_.names) == order


def test_parents_are_ordered_by_what_they_tell(survey):
    model = BayesNet(3, "genetic", random_state=1).fit(survey)
    told = {(p, c): bits for p, c, bits in model.edge_information()}
    for child, parents in model.network_.parents.items():
        bits = [told[parent, child] for parent in parents]
        assert bits == sorted(bits, reverse=True)


@pytest.mark.parametrize("structure", SEARCHES)
def test_threads_change_nothing(survey, structure):
    models = [
        BayesNet(3, structure, threads=threads, random_state=5).fit(survey) for threads in (1, 2)
    ]
    assert models[0].network_ == models[1].network_
    tables = [model.sample(150_000) for model in models]
    assert tables[0].equals(tables[1])


class TestStreams:
    @pytest.fixture
    def path(self, survey, tmp_path):
        return write(survey, tmp_path / "survey.parquet")

    @pytest.mark.parametrize("structure", ["predictive", "greedy", "genetic", "optimal"])
    @pytest.mark.parametrize("rows", [100, 5_000])
    def test_batches_give_the_same_model(self, survey, path, structure, rows):
        whole = BayesNet(3, structure, random_state=5).fit(survey)
        streamed = BayesNet(3, structure, random_state=5).fit(scan(path, batch_rows=rows))
        assert streamed.network_ == whole.network_
        assert streamed.information_.tobytes() == whole.information_.tobytes()
        assert streamed.parents_ == whole.parents_
        arrays, others = whole.contents()[1], streamed.contents()[1]
        assert {k: a.tobytes() for k, a in arrays.items()} == {
            k: a.tobytes() for k, a in others.items()
        }
        assert streamed.sample().equals(whole.sample())

    @pytest.mark.parametrize("structure", ["predictive", "greedy"])
    def test_tables_need_not_fit_one_pass(self, survey, path, structure, monkeypatch):
        monkeypatch.setattr(counting_tables, "_CELLS_IN_A_PASS", 1)
        few = survey.columns[:4]
        settings = {"parents": 2, "structure": structure, "min_count": 3, "random_state": 5}
        whole = BayesNet(**settings).fit(survey.select(few))
        stream = scan(path, batch_rows=700, drop=survey.columns[4:])
        assert BayesNet(**settings).fit(stream).parents_ == whole.parents_


def test_a_table_with_ten_thousand_levels():
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 10_000, 30_000)
    frame = pl.DataFrame(
        {
            "code": [f"c{level}" for level in levels],
            "twin": [f"t{level}" for level in levels],
            "group": (levels % 7).astype(str),
        }
    )
    schema = Schema.infer(frame, kinds=dict.fromkeys(("code", "twin"), "categorical"))
    model = BayesNet(2, smoothing=0, random_state=1).fit(frame, schema)
    drawn = model.sample()
    # One level decides the other, and the group: the records' own combinations come back.
    seen = set(zip(frame["code"], frame["twin"], frame["group"], strict=True))
    assert set(zip(drawn["code"], drawn["twin"], drawn["group"], strict=True)) <= seen


class TestFiles:
    @pytest.mark.parametrize("structure", [*SEARCHES, OWN_EDGES, nx.DiGraph(OWN_EDGES)], ids=str)
    def test_everything_comes_back(self, survey, tmp_path, structure):
        model = BayesNet(3, structure, random_state=5).fit(survey)
        loaded = Synthesizer.load(model.save(tmp_path / "model.us"))
        assert loaded.network_ == model.network_
        assert loaded.sample().equals(model.sample())
        assert loaded.edge_information() == model.edge_information()
        assert loaded.bound_ == model.bound_
        assert (loaded.history_ is None) == (structure != "genetic")
        if model.history_ is not None:
            np.testing.assert_array_equal(loaded.history_.best, model.history_.best)
        np.testing.assert_array_equal(loaded.log_likelihood(survey), model.log_likelihood(survey))

    def test_identical_fits_give_identical_files(self, survey, tmp_path):
        paths = [
            BayesNet(2, random_state=5).fit(survey).save(tmp_path / f"{name}.us") for name in "ab"
        ]
        assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"parents": -1}, "parents must be a whole number from 0; got -1"),
        ({"parents": 1.5}, "parents must be a whole number from 0; got 1.5"),
        (
            {"structure": "magic"},
            "predictive, greedy, genetic, optimal, a list of edges.* got 'magic'",
        ),
        ({"population": 0}, "population must be a whole number from 1"),
        ({"elite": 0}, "elite must be a whole number from 1; got 0"),
        ({"elite": 300}, "elite must be at most the population of 200; got 300"),
        ({"mutation_rate": 2}, r"mutation_rate must lie in \[0, 1\]; got 2"),
        ({"generations": -1}, "generations must be a whole number from 0"),
        ({"threads": 0}, "threads"),
        ({"structure": [("age", "method"), ("method", "age")]}, "a cycle"),
        ({"structure": [("agee", "method")]}, "Did you mean 'age'"),
        (
            {"structure": [("age", "method"), ("children", "method")], "parents": 1},
            "more than the 1",
        ),
        (
            {"structure": [("age", "method")], "protect": {"age": None}},
            "'age' may not be a parent of 'method'",
        ),
        (
            {"protect": {"method": "methd"}},
            "protect: 'methd' is not a column. Did you mean 'method'",
        ),
    ],
)
def test_wrong_arguments_are_explained(survey, arguments, message):
    with pytest.raises(ParameterError, match=message):
        BayesNet(**arguments).fit(survey)


@pytest.mark.parametrize("structure", SEARCHES)
@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"a": [1, 2, 2]}),
        pl.DataFrame({"a": [1, 1], "b": ["x", "x"]}),
        pl.DataFrame({"a": [None, None], "b": ["x", "y"]}, schema={"a": pl.Int8, "b": pl.String}),
        pl.DataFrame({"a": [3], "b": [True]}),
    ],
    ids=["one column", "constant", "all missing", "one row"],
)
def test_trivial_tables(frame, structure):
    drawn = BayesNet(3, structure, smoothing=0, random_state=1).fit(frame).sample(20)
    assert drawn.schema == frame.schema
    assert all(set(drawn[name]) <= set(frame[name]) for name in frame.columns)


def test_which_searches_draw_at_random():
    drawn = {structure: BayesNet(structure=structure).random_fit for structure in SEARCHES}
    random = {"genetic": "search", "optimal": "search"}
    assert drawn == {"greedy": None, "predictive": None} | random
    assert BayesNet(structure=[("age", "method")]).random_fit is None
    assert BayesNet(structure=nx.DiGraph([("age", "method")])).random_fit is None
