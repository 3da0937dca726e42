"""Panels as a whole: what `fit` and `sample` of networks and trees do with units."""

from __future__ import annotations

import logging
from datetime import date
from itertools import product

import numpy as np
import polars as pl
import pytest

from understudy import BayesNet, Cart, GaussianCopula, Independent, Schema, Synthesizer
from understudy.data.files import read
from understudy.data.frames import to_arrow
from understudy.errors import ModelFileError, NoDensityError, ParameterError, SchemaError
from understudy.synthesis.panel import drawing

METHODS = (BayesNet, Cart)


def in_units(table, units=("id",), time=None):
    schema = Schema.infer(table, kinds=dict.fromkeys(units, "identifier")).edit(*units, role="unit")
    return schema if time is None else schema.edit(time, role="time")


def people(units=150, times=6, factor=0.8, seed=1):
    """Return a panel of people over years: constants, an age, a number, and a category."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(units, times))
    for t in range(1, times):
        x[:, t] = factor * x[:, t - 1] + np.sqrt(1 - factor**2) * x[:, t]
    number = np.tile(np.arange(times), units)
    return pl.DataFrame(
        {
            "id": [f"P{n}" for n in np.repeat(rng.permutation(9000)[:units] + 1000, times)],
            "year": 2000 + number,
            "sex": np.repeat(rng.choice(["f", "m"], units), times),
            "born": np.repeat(rng.integers(1940, 1990, units), times),
            "age": np.repeat(rng.integers(20, 60, units), times) + number,
            "x": x.ravel().round(3),
            "job": np.where(x.ravel() > 0, "clerk", "cook"),
        }
    )


@pytest.fixture(scope="module", params=METHODS)
def drawn(request):
    """Return a panel, and a model of it with a sample."""
    table = people()
    model = request.param(random_state=1).fit(table, in_units(table, time="year"))
    return table, model, model.sample()


def correlation(table, times):
    x = table["x"].to_numpy().reshape(-1, times)
    return np.corrcoef(x[:, :-1].ravel(), x[:, 1:].ravel())[0, 1]


def test_units_are_whole_ordered_and_not_original(drawn):
    table, _, sample = drawn
    assert sample.shape == table.shape
    assert sample.schema == table.schema
    # Unit by unit: an identifier that ended does not come back.
    assert sample["id"].rle_id().n_unique() == sample["id"].n_unique() == 150
    assert not set(sample["id"]) & set(table["id"])
    assert sample["id"].str.contains(r"^P\d{4}$").all()


def test_constants_stay_constant_and_counters_count(drawn):
    table, _, sample = drawn
    within = sample.group_by("id").agg(pl.col("sex", "born").n_unique(), pl.len())
    assert within["sex"].max() == within["born"].max() == 1
    assert within["len"].unique().to_list() == [6]
    steps = sample.group_by("id", maintain_order=True).agg(
        pl.col("year", "age").diff().drop_nulls()
    )
    assert steps.explode("year")["year"].unique().to_list() == [1]
    assert sample["age"].max() <= table["age"].max()
    assert sample["year"].to_list() == [2000, 2001, 2002, 2003, 2004, 2005] * 150
    assert steps.explode("age")["age"].unique().to_list() == [1]


def test_what_follows_from_the_number_of_the_same_record_still_does(drawn):
    """All clerks have a number above 0: the category is drawn given the number of its record."""
    _, _, sample = drawn
    agree = ((sample["x"] > 0) == (sample["job"] == "clerk")).mean()
    assert agree > 0.85


def test_the_outline_says_what_is_drawn_how(drawn):
    _, model, _ = drawn
    outline = model.panel_.outline
    assert outline.constant == ("sex", "born")
    assert [(one.name, one.step) for one in outline.counters] == [("year", 1), ("age", 1)]
    assert outline.varying == ("x", "job")
    assert model.panel_.n_units == 150
    assert set(model.panel_.models) == {"unit", "start", "following"}
    assert "'sex' and 'born'" in " ".join(model.panel_.in_words())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("factor", [0.3, 0.9])
def test_autocorrelation_is_kept(method, factor):
    # The standard error of a correlation of 1,250 pairs is below 0.03: three of them fit in 0.1.
    table = people(250, 6, factor, seed=3).select("id", "year", "x")
    schema = in_units(table, time="year")
    sample = method(random_state=1).fit(table, schema).sample()
    assert abs(correlation(sample, 6) - correlation(table, 6)) < 0.1
    alone = method(random_state=1, panel=False).fit(table, schema).sample()
    assert abs(correlation(alone, 6)) < 0.1


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_rows_in_memory_and_in_a_file(method, tmp_path):
    table = people(30)
    model = method(random_state=7).fit(table, in_units(table, time="year"))
    sample = model.sample(100)
    assert sample.equals(model.sample(100))
    assert not sample.equals(model.sample(100, random_state=8))
    assert model.rows_to_draw(100) == len(sample) == 102
    path = model.sample_to(tmp_path / "drawn.csv", 100)
    assert read(path).equals(sample)
    two = model.sample(60, copies=2)
    assert two[0].equals(model.sample(60))
    assert not two[1].equals(two[0])
    assert len(model.sample_coded(60)) == 60


@pytest.mark.parametrize("method", METHODS)
def test_units_are_never_cut_between_blocks(method, monkeypatch):
    monkeypatch.setattr(drawing, "BLOCK_ROWS", 20)
    table = people(30)
    sample = method(random_state=7).fit(table, in_units(table, time="year")).sample()
    assert sample["id"].n_unique() == 30
    assert sample["id"].rle().struct.field("len").to_list() == [6] * 30


@pytest.mark.parametrize("method", METHODS)
def test_a_model_file_gives_the_same_rows_again(method, tmp_path):
    table = people(40).with_columns(
        income=pl.when(pl.col("age") > 40).then(pl.col("x").abs() * 100).otherwise(None).round(1),
        seen=pl.date(2000, 1, 1) + pl.duration(days=pl.col("year") * 9 + pl.col("age") % 3),
    )
    model = method(random_state=2).fit(table, in_units(table, time="year"))
    path = model.save(tmp_path / "model.us")
    again = Synthesizer.load(path)
    assert again.sample().equals(model.sample())
    assert again.panel_.outline == model.panel_.outline
    if method is BayesNet:
        np.testing.assert_array_equal(again.log_likelihood(table), model.log_likelihood(table))
    assert again.save(tmp_path / "again.us").read_bytes() == path.read_bytes()
    assert again.cells() == model.cells()


def test_a_model_file_with_another_array_is_refused(tmp_path, monkeypatch):
    table = people(20)
    model = BayesNet(random_state=2).fit(table, in_units(table, time="year"))
    honest = model._learnt()
    for wrong in (
        honest | {"panel_more": np.arange(3)},
        {name: own for name, own in honest.items() if name != "panel_start_order"},
        {name: own[:-1] if "ranks" in name else own for name, own in honest.items()},
    ):
        monkeypatch.setattr(model, "_learnt", lambda wrong=wrong: wrong)
        path = model.save(tmp_path / "wrong.us", overwrite=True)
        with pytest.raises(ModelFileError, match="damaged"):
            Synthesizer.load(path)


def two_people():
    """Return two people: one is cold and then warm, the other warm, warm and then cold."""
    return pl.DataFrame(
        {"id": ["p", "p", "q", "q", "q"], "c": list("aabbb"), "x": ["0", "1", "1", "1", "0"]}
    )


def test_the_density_of_two_people_by_hand():
    """Without smoothing, and with a network without edges but to the record before.

    A unit is a or b, and has 2 or 3 records: a half each. Of five records two have x = 0. What
    follows 0 is always 1, and what follows 1 is 0 or 1, a half each.
    """
    table = two_people()
    model = BayesNet(structure=[], smoothing=0, random_state=1).fit(table, in_units(table))
    found = np.exp(model.log_likelihood(table))
    np.testing.assert_allclose(found, [0.25 * 2 / 5, 1, 0.25 * 3 / 5, 0.5, 0.5])
    # In any order of the units, and none can be as long as four.
    turned = table[[2, 3, 4, 0, 1]]
    np.testing.assert_allclose(np.exp(model.log_likelihood(turned)), found[[2, 3, 4, 0, 1]])
    longer = pl.DataFrame({"id": list("pppp"), "c": list("aaaa"), "x": list("0111")})
    assert model.log_likelihood(longer)[0] == -np.inf
    moved = pl.DataFrame({"id": ["p", "p"], "c": ["a", "b"], "x": ["0", "1"]})
    assert model.log_likelihood(moved)[1] == -np.inf


@pytest.mark.parametrize(
    "model",
    [BayesNet(ends=1), Cart(minbucket=1), BayesNet(structure=[("c", "x")], ends=1)],
)
def test_the_probabilities_of_all_units_sum_to_one_and_are_those_of_the_sample(model):
    table = pl.concat([two_people().with_columns(pl.col("id") + str(n)) for n in range(4)])
    model = model.clone().set_params(random_state=3).fit(table, in_units(table))
    every = [(c, xs) for size in (2, 3) for c in "ab" for xs in product("01", repeat=size)]
    frame = pl.concat(
        pl.DataFrame({"id": [str(n)] * len(xs), "c": [c] * len(xs), "x": list(xs)})
        for n, (c, xs) in enumerate(every)
    )
    logs = frame.select("id").with_columns(p=model.log_likelihood(frame))
    chances = logs.group_by("id", maintain_order=True).agg(pl.col("p").sum().exp())["p"].to_numpy()
    assert chances.sum() == pytest.approx(1)
    units = model.sample(20_000).group_by("id", maintain_order=True).agg("c", "x")
    seen = [(c[0], tuple(x)) for c, x in zip(units["c"], units["x"], strict=True)]
    shares = np.array([seen.count(one) for one in every]) / len(seen)
    # Of 8,000 units, four standard errors of a share are at most 0.023.
    np.testing.assert_allclose(shares, chances, atol=0.023)


def test_a_network_can_draw_what_it_drew_and_what_it_saw(drawn):
    table, model, sample = drawn
    if isinstance(model, Cart):
        with pytest.raises(NoDensityError, match="Cart draws 'x' by changes"):
            model.log_likelihood(table)
        return
    assert np.isfinite(model.log_likelihood(table)).all()
    # A number is rounded when it is written, so that a change may come to lie in the next bin.
    assert np.isfinite(model.log_likelihood(sample)).mean() > 0.99


@pytest.mark.parametrize("method", METHODS)
def test_irregular_dates_keep_their_order_and_monthly_ones_their_day(method):
    rng = np.random.default_rng(4)
    sizes = rng.integers(1, 9, 60)
    steps = rng.choice([10, 20, 45], sizes.sum())
    frame = pl.DataFrame({"id": np.repeat(np.arange(60), sizes), "step": steps})
    table = frame.with_columns(
        visit=date(2015, 1, 1) + pl.duration(days=pl.col("step").cum_sum().over("id")),
        month=pl.date(
            2015 + (pl.int_range(pl.len()).over("id") + pl.col("id") % 7) // 12,
            1 + (pl.int_range(pl.len()).over("id") + pl.col("id") % 7) % 12,
            1,
        ),
        x=rng.normal(size=len(frame)).round(2),
    ).drop("step")
    shuffled = table.sample(fraction=1, shuffle=True, seed=1)
    sample = method(random_state=1).fit(shuffled, in_units(table, time="visit")).sample()
    assert abs(len(sample) - len(table)) <= 4
    gaps = sample.with_columns(gap=pl.col("visit").diff().over("id").dt.total_days())["gap"]
    assert set(gaps.drop_nulls()) <= {10, 20, 45}
    assert sample["visit"].max() <= table["visit"].max()
    assert sample["month"].dt.day().unique().to_list() == [1]
    months = sample.with_columns(gap=pl.col("month").diff().over("id").dt.total_days())["gap"]
    assert set(months.drop_nulls()) <= {28, 30, 31}
    assert set(sample.group_by("id").len()["len"]) <= set(sizes.tolist())


def test_time_is_found_and_told(caplog):
    table = people(30)
    with caplog.at_level(logging.WARNING):
        model = BayesNet(random_state=1).fit(table, in_units(table))
    assert model.panel_.outline.time == "year"
    assert "in the order of 'year'" in caplog.text


def test_categories_can_tell_the_time():
    table = people(40).with_columns(year="wave " + (pl.col("year") - 1999).cast(pl.String))
    sample = Cart(random_state=1).fit(table, in_units(table, time="year")).sample()
    assert sample["age"].max() <= table["age"].max()
    assert sample["year"].to_list() == [f"wave {n}" for n in range(1, 7)] * 40


@pytest.mark.parametrize("method", METHODS)
def test_without_a_time_records_stay_in_the_order_of_the_file(method):
    homes = pl.DataFrame(
        {"home": np.repeat(np.arange(80), 3), "who": ["head", "spouse", "child"] * 80}
    )
    sample = method(random_state=1).fit(homes, in_units(homes, ("home",))).sample()
    firsts = sample.group_by("home", maintain_order=True).agg(pl.col("who").str.join(","))["who"]
    assert (firsts == "head,spouse,child").mean() > 0.9


@pytest.mark.parametrize("method", METHODS)
def test_small_worlds(method):
    alone = people(40).group_by("id", maintain_order=True).first()
    model = method(random_state=1).fit(alone, in_units(alone, time="year"))
    assert set(model.panel_.models) == {"unit"}
    assert model.sample(7)["id"].n_unique() == 7
    one = people(1, times=12)
    sample = method(random_state=1).fit(one, in_units(one, time="year")).sample()
    assert sample["sex"].n_unique() == 1
    assert len(sample) == 12


def test_records_without_a_unit_are_units_of_their_own():
    table = people(30).with_columns(
        id=pl.when(pl.col("year") == 2003).then(None).otherwise(pl.col("id"))
    )
    model = BayesNet(random_state=1).fit(table, in_units(table, time="year"))
    assert model.panel_.n_units == 60
    assert model.sample()["id"].null_count() == 0


def test_two_columns_name_a_unit_together():
    table = people(40).with_columns(home=pl.col("id").rank("dense") // 2)
    schema = in_units(table, ("home", "id"), "year")
    sample = Cart(random_state=1).fit(table, schema).sample()
    assert sample.select("home", "id").n_unique() == 40
    assert not set(sample["home"]) & set(table["home"])


def test_identifiers_that_belong_to_a_unit_stay_with_it():
    table = people(30).with_columns(
        card="C" + pl.col("id").str.slice(1) + "0", row=pl.int_range(1000, 1180)
    )
    schema = Schema.infer(table, kinds=dict.fromkeys(("id", "card", "row"), "identifier"))
    sample = BayesNet(random_state=1).fit(table, schema.edit("id", role="unit")).sample()
    assert sample.select("id", "card").n_unique() == 30
    assert sample["row"].n_unique() == len(sample)


@pytest.mark.parametrize("method", METHODS)
def test_frames_of_any_kind(method, as_frame):
    table = people(20)
    frame = as_frame(table.to_dict(as_series=False))
    model = method(random_state=1).fit(frame, in_units(table, time="year"))
    sample = model.sample()
    assert type(sample) is type(frame)
    assert to_arrow(sample).column_names == table.columns
    expected = method(random_state=1).fit(table, in_units(table, time="year")).sample()
    assert to_arrow(sample).to_pylist() == expected.to_dicts()


def test_without_a_panel_each_record_is_drawn_by_itself():
    table = people(40)
    model = Cart(random_state=1, panel=False).fit(table, in_units(table, time="year"))
    assert model.panel_ is None
    assert model.sample()["id"].n_unique() == 240
    with pytest.raises(ParameterError, match="panel must be true or false"):
        Cart(panel="yes").fit(table)


def test_a_model_can_be_fitted_anew_with_and_without_units():
    table = people(30)
    schema = in_units(table, time="year")
    model = BayesNet(random_state=1).fit(table, schema)
    model.fit(table, schema.edit("id", role="identifier"))
    assert model.panel_ is None
    assert len(model.network_.names) == 6
    model.fit(table, schema)
    assert not hasattr(model, "network_")


def test_rules_hold_in_every_record():
    table = people(60).with_columns(
        job=pl.when(pl.col("age") >= 50).then(pl.lit("retired")).otherwise(pl.col("job"))
    )
    rule = "if age >= 50 then job = 'retired'"
    model = Cart(rules=[rule], random_state=1).fit(table, in_units(table, time="year"))
    sample = model.sample()
    assert (sample.filter(pl.col("age") >= 50)["job"] == "retired").all()
    assert model.violations_ == {rule: 0}


def test_strata_must_be_constant_and_nothing_can_be_kept():
    table = people(60)
    schema = in_units(table, time="year")
    model = Cart(strata="sex", random_state=1).fit(table, schema)
    assert model.sample().group_by("id").agg(pl.col("sex").n_unique())["sex"].max() == 1
    with pytest.raises(ParameterError, match="'job' differs between the records of a unit"):
        Cart(strata="job").fit(table, schema)
    with pytest.raises(ParameterError, match="keep: units are drawn anew"):
        Cart(keep="sex").fit(table, schema)


def test_settings_by_column_predictors_and_smoothing_of_trees(tmp_path):
    table = people(60)
    model = Cart(
        minbucket={"x": 20, "sex": 9},
        predictors={"job": ["x"]},
        visit_sequence=["job", "x"][::-1],
        smoothing={"x": "interpolate"},
        proper=True,
        max_predictors=3,
        random_state=1,
    ).fit(table, in_units(table, time="year"))
    first, second = model.sample(copies=2)
    assert not first.equals(second)
    again = Synthesizer.load(model.save(tmp_path / "model.us"))
    assert again.sample(copies=2)[1].equals(second)
    looked_at = {name for tree in model.trees() if tree.column == "job" for name in tree.uses}
    assert looked_at <= {"x", "x (before)", "job (before)"}
    matrix = np.tril(np.ones((6, 6), int), -1)
    assert len(Cart(predictors=matrix, random_state=1).fit(table, in_units(table)).sample()) == 360


def test_networks_keep_to_their_rules_in_a_panel():
    table = people(60)
    schema = in_units(table, time="year")
    model = BayesNet(
        forbidden=[("x", "job")], required=[("sex", "x")], root="born", random_state=1
    ).fit(table, schema)
    parents = model.panel_.following.network_.parents
    assert not {"x", "x (change)", "x (before)"} & set(parents["job"])
    assert "sex" in parents["x (change)"]
    assert model.panel_.unit.network_.names[0] == "born"
    given = BayesNet(structure={"job": ["x"], "x": ["sex"]}, random_state=1).fit(table, schema)
    parents = given.panel_.following.network_.parents
    assert parents["job"] == ("job (before)", "x")
    assert parents["x (change)"] == ("x (before)", "sex")
    ordered = ["job", "x", "age", "year", "born", "sex"]
    model = BayesNet(order=ordered, smoothing={"x": 5}, random_state=1).fit(table, schema)
    names = model.panel_.following.network_.names
    assert names.index("job") < names.index("x (change)") < names.index("x")
    with pytest.raises(ParameterError, match="agee"):
        BayesNet(root="agee").fit(table, schema)


@pytest.mark.parametrize("structure", ["greedy", "genetic", "optimal"])
def test_any_search_finds_the_networks_of_a_panel(structure):
    table = people(40)
    model = BayesNet(2, structure, generations=20, population=20, random_state=1)
    sample = model.fit(table, in_units(table, time="year")).sample()
    assert sample.group_by("id").agg(pl.col("sex").n_unique())["sex"].max() == 1
    assert correlation(sample, 6) > 0.6


@pytest.mark.parametrize("method", METHODS)
def test_nothing_depends_on_a_protected_column(method):
    table = people(150)
    model = method(protect={"job": "sex", "born": "x"}, random_state=1)
    model.fit(table, in_units(table, time="year"))
    sample = model.sample()
    assert sample.group_by("id").agg(pl.col("born").n_unique())["born"].max() == 1
    agree = ((sample["x"] > 0) == (sample["job"] == "clerk")).mean()
    assert abs(agree - 0.5) < 0.1


def test_what_computes_with_single_records_says_that_it_does_not_know():
    table = people(30)
    model = BayesNet(random_state=1).fit(table, in_units(table, time="year"))
    coded = model.sample_coded()
    for call in (
        lambda: model.refit(coded),
        lambda: model.refit_changed(coded, ["x"]),
        model.sampling_tables,
        lambda: model.expected_copies(table),
        lambda: model.release_log_likelihood(coded),
        lambda: model.structure_varies,
        model.edge_information,
    ):
        with pytest.raises(NoDensityError, match="records of a unit together"):
            call()
    with pytest.raises(NoDensityError, match="Codes do not tell"):
        model.log_likelihood(coded)
    with pytest.raises(SchemaError, match="'id' is not there"):
        model.log_likelihood(table.drop("id"))


def test_no_identifier_of_the_whole_table_is_made_up():
    table = people(60)
    part = table.head(180)
    model = BayesNet(random_state=1).fit(part, in_units(part, time="year"))
    sample = model.avoid_identifiers(table).sample(600)
    assert not set(sample["id"]) & set(table["id"])


@pytest.mark.parametrize("method", [GaussianCopula, Independent])
def test_other_methods_say_what_is_lost(method, caplog):
    table = people(30)
    with caplog.at_level(logging.WARNING):
        method(random_state=1).fit(table, in_units(table, time="year"))
    assert "'sex' and 'born' no longer stay the same within a unit" in caplog.text
    assert "`BayesNet` or `Cart` draws units as a whole" in caplog.text


def test_a_table_that_looks_like_a_panel_is_told_and_one_unit_dominates(caplog):
    table = people(30)
    with caplog.at_level(logging.WARNING):
        BayesNet(random_state=1).fit(table, Schema.infer(table, kinds={"id": "identifier"}))
    assert "give 'id' the role `unit` and 'year' the role `time`" in caplog.text
    caplog.clear()
    long = people(1, times=200).with_columns(id=pl.lit("P0001"), year=pl.col("year") - 100)
    both = pl.concat([table, long])
    with caplog.at_level(logging.WARNING):
        BayesNet(random_state=1).fit(both, in_units(both, time="year"))
    assert "One unit has 53% of all records" in caplog.text
