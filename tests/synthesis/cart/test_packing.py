"""Trees in model files: there and back, and files that do not fit together."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from understudy import Schema, Synthesizer
from understudy.errors import ModelFileError
from understudy.synthesis.cart import Cart
from understudy.synthesis.cart.features import read_features
from understudy.synthesis.cart.packing import pack, unpack

ROWS = 150


def make_table():
    rng = np.random.default_rng(0)
    region = rng.integers(0, 4, ROWS)
    income = np.round(100 * region + rng.gamma(2, 50, ROWS), 1)
    income[rng.random(ROWS) < 0.2] = -8.0
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], ROWS),
            "region": np.array(list("abcd"))[region],
            "age": rng.integers(18, 60, ROWS) + 5 * region,
            "income": pl.Series(income).set(pl.Series(rng.random(ROWS) < 0.2), None),
        }
    )


TABLE = make_table()
# The fingerprints below were noted when a number was special for being frequent.
SCHEMA = Schema.infer(TABLE).edit("age", special=(38,))
BASE = {"minbucket": 4, "smoothing_leaves": 0}
SETTINGS = {
    "plain": {},
    "strata": {"strata": ["sex"]},
    "keep": {"keep": ["region"]},
    "kept strata": {"keep": ["region", "sex"], "strata": ["region"]},
    "proper": {"proper": True},
    "smoothing": {"smoothing": {"income": "density", "age": "interpolate"}},
    "rules": {"rules": ["if region == 'a' then income = missing"]},
    "protect": {"protect": {"sex": "region"}, "max_predictors": 1},
    "leaves": {"smoothing_leaves": "auto"},
    "bins": {"splits": "histogram"},
    "leaves by column": {"smoothing_leaves": {"income": 2.5, "age": 0}, "strata": ["sex"]},
    "matrix": {"predictors": np.tri(4, k=-1), "minbucket": {"age": 20, "*": np.int64(4)}},
}


def read(path):
    """Return the header and the arrays of a model file."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members.pop("model.json"))
    return header, {
        name.removesuffix(".npy"): np.load(io.BytesIO(data), allow_pickle=False)
        for name, data in members.items()
    }


def write(path, header, arrays):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.json", json.dumps(header))
        for name, array in arrays.items():
            member = io.BytesIO()
            np.save(member, array, allow_pickle=False)
            archive.writestr(f"{name}.npy", member.getvalue())


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return the header and the arrays of a model with each of the settings."""
    folder = tmp_path_factory.mktemp("models")
    found = {}
    for name, given_settings in SETTINGS.items():
        model = Cart(**(BASE | given_settings), random_state=1).fit(TABLE, SCHEMA)
        found[name] = read(model.save(folder / f"{name}.us"))
    return found


@pytest.mark.parametrize("name", SETTINGS)
def test_a_saved_model_is_the_same(name, tmp_path):
    model = Cart(**(BASE | SETTINGS[name]), random_state=1).fit(TABLE)
    loaded = Synthesizer.load(model.save(tmp_path / "m.us"))
    assert loaded.trees() == model.trees()
    assert loaded.plan_ == model.plan_
    assert loaded.cells() == model.cells()
    assert loaded.violations_ == model.violations_
    for one, other in zip(model.sample(copies=3), loaded.sample(copies=3), strict=True):
        assert one.equals(other)
    np.testing.assert_array_equal(model.log_likelihood(TABLE), loaded.log_likelihood(TABLE))
    again = loaded.save(tmp_path / "again.us")
    assert again.read_bytes() == (tmp_path / "m.us").read_bytes()


def test_arrays_by_hand():
    # One split: age up to 20, 21 or more. Leaves: five times 0, five times 1.
    table = pl.DataFrame({"age": [20] * 10 + [30] * 10, "job": ["no"] * 10 + ["yes"] * 10})
    model = Cart(minbucket=5, smoothing_leaves=0).fit(table)
    arrays = pack(model.sequences_)
    # Sequence, step, part (1: value), nodes, ordered columns, leaves.
    assert arrays["trees"].tolist() == [[0, 0, 1, 1, 0, 1], [0, 1, 1, 3, 0, 2]]
    assert arrays["feature"].tolist() == [-1, 0, -1, -1]
    assert arrays["threshold"].tolist() == [0, 1, 0, 0]  # ranks 1 and 2
    assert arrays["children"].tolist() == [0, 0, 1, 2, 0, 0, 0, 0]
    assert arrays["leaf_sizes"].tolist() == [20, 10, 10]
    assert arrays["donors"].tolist() == ([0] * 10 + [1] * 10) * 2
    assert arrays["donors"].dtype == np.uint8
    back = unpack(arrays, read_features(model.codec_), model.plan_.steps, 1)
    for one, other in zip(back[0].columns, model.sequences_[0].columns, strict=True):
        for name, array in vars(one.value.tree).items():
            if name != "_numbered":
                assert np.array_equal(array, vars(other.value.tree)[name])


def refused(tmp_path, header, arrays):
    write(tmp_path / "damaged.us", header, arrays)
    with pytest.raises(ModelFileError, match="is damaged"):
        Synthesizer.load(tmp_path / "damaged.us")


ARRAYS = ["trees", "feature", "threshold", "children", "ordered", "orders", "leaf_sizes", "donors"]


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("how", ["cut", "longer", "empty", "floats", "absent"])
def test_an_array_of_trees_that_is_not_whole(saved, tmp_path, array, how):
    header, arrays = saved["plain"]
    own = arrays[array]
    damaged = {
        "cut": own[:-1],
        "longer": np.concatenate([own, own[-1:]]),
        "empty": own[:0],
        "floats": own.astype(np.float64),
        "absent": None,
    }[how]
    changed = {**arrays, array: damaged}
    refused(tmp_path, header, {name: a for name, a in changed.items() if a is not None})


@pytest.mark.parametrize("name", ["seed", "predictors", "strata", "strata_counts", "violations"])
def test_an_absent_array(saved, tmp_path, name):
    header, arrays = saved["plain"]
    refused(tmp_path, header, {key: array for key, array in arrays.items() if key != name})


def changed(array, place, value):
    """Return the array with one element changed."""
    copy = array.copy()
    copy.reshape(-1)[place] = value
    return copy


def first_split(arrays):
    return int(np.flatnonzero(arrays["feature"] >= 0)[0])


@pytest.mark.parametrize("value", [-1, 0, 2**31 - 1, 10_000])
@pytest.mark.parametrize("side", [0, 1])
def test_children_that_are_not_there_or_point_back(saved, tmp_path, side, value):
    header, arrays = saved["plain"]
    place = 2 * first_split(arrays) + side
    refused(tmp_path, header, arrays | {"children": changed(arrays["children"], place, value)})


def test_a_node_that_is_its_own_child(saved, tmp_path):
    header, arrays = saved["plain"]
    nodes = arrays["trees"][:, 3]
    largest = int(np.argmax(nodes))
    start = int(nodes[:largest].sum())
    splits = np.flatnonzero(arrays["feature"][start : start + nodes[largest]] >= 0)
    assert len(splits) > 3
    for split in splits.tolist():
        own = changed(arrays["children"], 2 * (start + split) + 1, split)
        refused(tmp_path, header, arrays | {"children": own})


@pytest.mark.parametrize("value", [4, 100, -1, 2**31 - 1])
def test_a_split_by_a_column_that_is_not_a_predictor(saved, tmp_path, value):
    header, arrays = saved["plain"]
    place = first_split(arrays)
    refused(tmp_path, header, arrays | {"feature": changed(arrays["feature"], place, value)})


def test_a_split_by_a_column_that_is_drawn_later(saved, tmp_path):
    header, arrays = saved["plain"]
    place = first_split(arrays)  # a tree for region, age or income
    later = changed(arrays["feature"], place, 3)
    refused(tmp_path, header, arrays | {"feature": later})
    refused(tmp_path, header, arrays | {"ordered": changed(arrays["ordered"], 0, 3)})


def test_donors_beyond_the_codes_of_the_column(saved, tmp_path):
    header, arrays = saved["plain"]
    donors = arrays["donors"].astype(np.uint32)
    for place in (0, len(donors) // 2, len(donors) - 1):
        refused(tmp_path, header, arrays | {"donors": changed(donors, place, 10_000)})
    # The first tree is of sex, with two codes.
    refused(tmp_path, header, arrays | {"donors": changed(donors, 5, 2)})
    refused(tmp_path, header, arrays | {"donors": changed(donors.astype(np.int64), 5, -1)})


@pytest.mark.parametrize("value", [0, -5, 2**40, 1])
def test_leaves_that_do_not_add_up(saved, tmp_path, value):
    header, arrays = saved["plain"]
    refused(tmp_path, header, arrays | {"leaf_sizes": changed(arrays["leaf_sizes"], 1, value)})


@pytest.mark.parametrize("column", range(6))
@pytest.mark.parametrize("value", [-1, 99])
def test_trees_of_columns_that_are_not_there(saved, tmp_path, column, value):
    header, arrays = saved["plain"]
    refused(tmp_path, header, arrays | {"trees": changed(arrays["trees"], column, value)})


def test_a_column_without_a_tree(saved, tmp_path):
    header, arrays = saved["plain"]
    # The first tree is a stump of all records, so that it can be taken out of each array.
    assert arrays["trees"][0].tolist() == [0, 0, 1, 1, 0, 1]
    rest = {
        "trees": arrays["trees"][1:],
        "feature": arrays["feature"][1:],
        "threshold": arrays["threshold"][1:],
        "children": arrays["children"][2:],
        "leaf_sizes": arrays["leaf_sizes"][1:],
        "donors": arrays["donors"][ROWS:],
    }
    refused(tmp_path, header, arrays | rest)


@pytest.mark.parametrize(
    ("name", "array", "damage"),
    [
        ("plain", "predictors", lambda a: changed(a, 1, 3)),  # a later column
        ("plain", "predictors", lambda a: changed(a, 0, 99)),
        ("plain", "predictors", lambda a: a[:, :1]),
        ("plain", "strata_counts", lambda a: a - 1),
        ("plain", "violations", lambda _: np.array([3])),
        ("rules", "violations", lambda a: a[:0]),
        ("strata", "strata", lambda a: a + 1),
        ("strata", "strata", lambda a: a[:1]),
        ("strata", "strata", lambda a: -a - 1),
        ("strata", "strata_counts", lambda a: a * 2),
        ("strata", "strata_counts", lambda a: np.array([0, a.sum()])),
        ("strata", "strata_counts", lambda a: a[:1]),
        ("keep", "kept_1", lambda a: a[:-1]),
        ("keep", "kept_1", lambda a: changed(a, 7, 4)),
        ("keep", "kept_1", lambda a: changed(a.astype(np.int64), 7, -1)),
        ("proper", "record_0", lambda a: a[:-1]),
        ("proper", "record_2", lambda a: changed(a, 3, 255)),
        ("proper", "seed", lambda a: a[:0]),
        ("plain", "codec_2", lambda a: a[::-1]),
        ("plain", "codec_2", lambda a: changed(a, 3, a[2])),
        ("plain", "codec_2", lambda a: a[:-1]),
        ("plain", "codec_2", lambda a: a.astype(float)),
        ("plain", "codec_2", lambda a: a[None]),
        ("plain", "codec_3", lambda a: changed(a, 3, np.nan)),
        ("plain", "codec_3", lambda a: a[:-5]),
    ],
)
def test_other_arrays_that_do_not_fit(saved, tmp_path, name, array, damage):
    header, arrays = saved[name]
    refused(tmp_path, header, arrays | {array: damage(arrays[array])})


@pytest.mark.parametrize("array", ["kept_1", "record_0", "codec_2"])
def test_absent_records_and_numbers(saved, tmp_path, array):
    name = {"kept_1": "keep", "record_0": "proper", "codec_2": "plain"}[array]
    header, arrays = saved[name]
    refused(tmp_path, header, {key: own for key, own in arrays.items() if key != array})


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("params", {"minbucket": 0}),
        ("params", {"cp": "much"}),
        ("params", {"smoothing": "spline"}),
        ("params", {"keep": ["age"]}),
        ("params", {"strata": "sex"}),
        ("params", {"proper": True}),
        ("params", {"visit_sequence": ["income", "age"]}),
        ("params", {"visit_sequence": ["nobody"]}),
        ("params", {"protect": {"sex": "age"}}),
        ("params", {"rules": ["if sex == 'f' then age = 20"]}),
        ("params", {"rules": ["if sex then"]}),
        ("params", {"rules": "import os"}),
        ("codec", {"exact": {}}),
        ("codec", {"exact": []}),
        ("exact", {"smoothing": "spline"}),
        ("exact", {"smoothing": ["density"]}),
        ("exact", {"bandwidth": "wide"}),
        ("exact", {"whole": {"stride": 2}}),
        ("exact", {"whole": None}),
    ],
)
def test_a_header_that_does_not_fit_the_trees(saved, tmp_path, part, change):
    header, arrays = saved["plain"]
    header = json.loads(json.dumps(header))
    place = header["codec"]["exact"]["age"] if part == "exact" else header[part]
    place.update(change)
    refused(tmp_path, header, arrays)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(sorted(SETTINGS)),
    array=st.sampled_from(["feature", "threshold", "children", "ordered", "orders", "donors"]),
    seed=st.integers(0, 2**32 - 1),
    value=st.sampled_from([-1, 0, 1, 2, 3, 5, 200, 2**31 - 1]),
)
def test_one_wrong_number_is_refused_or_does_no_harm(saved, tmp_path, name, array, seed, value):
    header, arrays = saved[name]
    own = arrays[array]
    if value < np.iinfo(own.dtype).min or value > np.iinfo(own.dtype).max or not len(own):
        return
    damaged = changed(own, np.random.default_rng(seed).integers(own.size), value)
    path = tmp_path / "damaged.us"
    write(path, header, arrays | {array: damaged})
    try:
        model = Synthesizer.load(path)
    except ModelFileError as error:
        assert "is damaged" in str(error)  # noqa: PT017  # either outcome is right
        return
    assert model.sample(random_state=0).shape == TABLE.shape
    assert not np.isnan(model.log_likelihood(TABLE)).any()
    assert model.trees()


def test_sizes_of_leaves_that_add_up_only_beyond_64_bits(saved, tmp_path):
    header, arrays = saved["plain"]
    sizes = arrays["leaf_sizes"].copy()
    nodes, leaves = arrays["trees"][:, 3], arrays["trees"][:, 5]
    tree = int(np.flatnonzero(leaves >= 3)[0])
    first = int(leaves[:tree].sum())
    total = int(sizes[first : first + 3].sum())
    sizes[first : first + 3] = [2**63 - 1, 2**63 - 1, total + 2]
    assert nodes[tree] > 3
    with np.errstate(over="ignore"):
        assert sizes[first : first + 3].sum() == total
    refused(tmp_path, header, arrays | {"leaf_sizes": sizes})


def test_a_column_of_numbers_without_the_tree_of_its_values(saved, tmp_path):
    header, arrays = saved["plain"]
    trees = arrays["trees"].copy()
    kind = int(np.flatnonzero(trees[:, 2] == 0)[0])  # the tree of its values follows
    trees[kind + 1, :3] = trees[0, :3]
    refused(tmp_path, header, arrays | {"trees": trees})


def test_a_number_that_was_cut_off_does_not_become_missing(saved, tmp_path):
    header, arrays = saved["plain"]
    refused(tmp_path, header, arrays | {"codec_3": arrays["codec_3"][:-1]})


def test_a_negative_seed(saved, tmp_path):
    header, arrays = saved["proper"]
    refused(tmp_path, header, arrays | {"seed": np.array([-3])})


@pytest.mark.parametrize(
    ("column", "change"),
    [
        ("income", {"real": {"decimals": "x"}}),
        ("income", {"real": {"decimals": 400}}),
        ("income", {"real": {"decimals": 1, "precision": "float99"}}),
        ("income", {"bandwidth": float("1e999")}),
        ("income", {"bandwidth": -1.0}),
        ("age", {"whole": {"step": 0}}),
        ("age", {"whole": {"step": "a"}}),
    ],
)
def test_a_smoothing_that_cannot_be(saved, tmp_path, column, change):
    header, arrays = saved["smoothing"]
    header = json.loads(json.dumps(header))
    header["codec"]["exact"][column] |= change
    refused(tmp_path, header, arrays)


def test_one_rule_in_two_spellings(tmp_path):
    rules = ["if region == 'a' then income = missing", "if region=='a' then income = missing"]
    model = Cart(rules=rules, random_state=0).fit(TABLE)
    loaded = Synthesizer.load(model.save(tmp_path / "m.us"))
    assert loaded.sample().equals(model.sample())


def fingerprint(arrays):
    """Return a short hash of arrays by name: of their types, shapes and bytes."""
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:12]


# Noted before leaves could be drawn towards the nodes above them.
UNSMOOTHED = {
    "plain": ("7476e64be7b3", "03d9ce3eb600"),
    "strata": ("8a5368d7bcb5", "bb4406cea7f7"),
    "keep": ("f88a402524bf", "60d96028d7f8"),
    "kept strata": ("5cb586239944", "fe50c7ff1288"),
    "proper": ("71fe868355df", "6ba77300e44d"),
    "smoothing": ("7476e64be7b3", "03d9ce3eb600"),
    "rules": ("33fafe8de6e1", "602aaa775dbd"),
    "protect": ("c83a7ac5690f", "7917739d00e1"),
    "matrix": ("18c609dce298", "e8999642c3c0"),
}


@pytest.mark.parametrize("name", UNSMOOTHED)
def test_leaves_as_they_are_give_the_same_trees_and_draws_as_ever(saved, name):
    _, arrays = saved[name]
    model = Cart(**(BASE | SETTINGS[name]), random_state=1).fit(TABLE, SCHEMA)
    drawn = model.sample_coded(None if name.startswith("k") else 500, 2)
    found = fingerprint(arrays), fingerprint(dict(zip(drawn.names, drawn.columns, strict=True)))
    assert found == UNSMOOTHED[name]


def test_files_without_a_word_of_smoothing_leaves_are_older_ones(saved, tmp_path):
    for name in UNSMOOTHED:
        assert "smoothing_leaves" not in saved[name][0]["params"]
        assert "strengths" not in saved[name][1]
    write(tmp_path / "old.us", *saved["plain"])
    model = Synthesizer.load(tmp_path / "old.us")
    assert model.smoothing_leaves == 0
    assert not any(tree.strengths for tree in model.trees())


@pytest.mark.parametrize(
    "damage",
    [
        lambda a: a[:-1],
        lambda a: np.append(a, 1.0),
        lambda a: a.astype(np.float32),
        lambda a: changed(a, 3, 0.0),
        lambda a: changed(a, 3, -1.0),
        lambda a: changed(a, 0, np.nan),
        lambda a: changed(a, 0, np.inf),
    ],
)
def test_strengths_that_do_not_fit(saved, tmp_path, damage):
    for name in ("leaves", "leaves by column"):
        header, arrays = saved[name]
        refused(tmp_path, header, arrays | {"strengths": damage(arrays["strengths"])})


def test_strengths_where_leaves_are_not_smoothed_and_the_other_way_round(saved, tmp_path):
    header, arrays = saved["leaves"]
    bare = {name: array for name, array in arrays.items() if name != "strengths"}
    refused(tmp_path, header, bare)
    refused(tmp_path, saved["plain"][0], arrays)
    strengths = {"strengths": arrays["strengths"][:0]}
    write(tmp_path / "fine.us", saved["plain"][0], bare | strengths)
    assert Synthesizer.load(tmp_path / "fine.us").trees()


def test_smoothed_nodes_are_in_the_order_of_the_tree(saved, tmp_path):
    # A smoothed node draws from a range of records, so children cannot stand in any other order.
    header, arrays = saved["leaves"]
    place = 2 * first_split(arrays)
    own = arrays["children"].copy()
    own[place : place + 2] = own[place : place + 2][::-1]
    write(tmp_path / "plain.us", saved["plain"][0], saved["plain"][1] | {"children": own})
    assert Synthesizer.load(tmp_path / "plain.us").sample().shape == TABLE.shape
    refused(tmp_path, header, arrays | {"children": own})


def test_no_record_in_a_leaf(saved, tmp_path):
    header, arrays = saved["leaves"]
    sizes = arrays["leaf_sizes"].copy()
    sizes[2], sizes[1] = 0, sizes[1] + sizes[2]
    refused(tmp_path, header, arrays | {"leaf_sizes": sizes})


def test_a_tree_of_no_records(tmp_path):
    # In the second stratum no income is known, but some may be drawn.
    table = pl.DataFrame(
        {
            "sex": ["f"] * 20 + ["m"] * 20,
            "income": [float(number % 7) for number in range(20)] + [None] * 20,
        }
    )
    settings = {"strata": "sex", "random_state": 1}
    bare = Cart(smoothing_leaves=0, **settings).fit(table)
    assert [tree.part for tree in bare.trees()] == ["kind", "value", "kind"]
    model = Cart(smoothing_leaves=3, **settings).fit(table)
    *_, kind, value = model.trees()
    assert (kind.part, value.part, value.smallest_leaf, value.own_share) == ("kind", "value", 0, 0)
    # (20 * 1 + 3 * 1/2) / 23 are missing; the others have the seven numbers alike.
    people = pl.DataFrame({"sex": ["m", "m"], "income": [None, 4.0]})
    wanted = [21.5 / 23 / 2, 1.5 / 23 / 7 / 2]
    np.testing.assert_allclose(np.exp(model.log_likelihood(people)), wanted)
    loaded = Synthesizer.load(model.save(tmp_path / "m.us"))
    assert loaded.sample(500).equals(model.sample(500))
    assert loaded.cells() == model.cells()
    drawn = model.sample(5000).filter(sex="m")["income"].drop_nulls()
    assert sorted(drawn.unique()) == [0, 1, 2, 3, 4, 5, 6]
