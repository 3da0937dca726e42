"""Dependencies are kept by the codec, so that every method keeps them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from tests.data.dependencies.planted import planted
from understudy import BayesNet, Cart, GaussianCopula, Independent, Synthesizer
from understudy.data import (
    Codec,
    Composite,
    Determined,
    Formula,
    MissingTogether,
    MissingWhen,
    Ordered,
    Schema,
    scan,
)
from understudy.errors import SchemaError
from understudy.synthesis.model_file import write_model
from understudy.utility import dependencies

METHODS = [Independent, BayesNet, Cart, GaussianCopula]


def broken(original: pl.DataFrame, release: pl.DataFrame, schema: Schema) -> dict[str, float]:
    kept = dependencies(original, release, found=schema.dependencies, schema=schema)
    return {one.dependency.sentence: one.synthetic for one in kept}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_keeps_all_of_them(method, tmp_path):
    table = planted(600)
    schema = Schema.infer(table)
    model = method(random_state=1).fit(table, schema)
    release = model.sample()
    assert release.schema == table.schema
    assert max(broken(table, release, schema).values()) == 0
    loaded = Synthesizer.load(model.save(tmp_path / "model.us"))
    assert_frame_equal(loaded.sample(random_state=1), release)
    assert loaded.schema_.dependencies == schema.dependencies


def test_without_them_a_method_breaks_them():
    table = planted(600)
    schema = Schema.infer(table)
    off = Independent(random_state=1).fit(table, schema.with_dependencies(keep=False)).sample()
    assert min(broken(table, off, schema).values()) > 0.02


def test_codes_come_back_as_the_table_they_were_made_from():
    table = planted(400).select("city", "state", "rent", "heating", "total", "packs", "smokes")
    codec = Codec.fit(table, exact=True)
    assert set(codec.plan.dropped) == {"state", "total"}
    back = codec.decode(codec.encode(table))
    assert_frame_equal(back, table)


@pytest.mark.parametrize("exact", [False, True])
def test_differences_come_back_exactly(exact):
    rng = np.random.default_rng(0)
    low = rng.integers(0, 20, 500)
    table = pl.DataFrame({"low": low, "high": low + rng.integers(0, 9, 500)})
    schema = Schema.infer(table, dependencies=False).with_dependencies(Ordered("low", "high"))
    codec = Codec.fit(table, schema, exact=exact)
    assert_frame_equal(codec.decode(codec.encode(table)), table)


def test_an_upper_column_may_stand_without_its_lower_one():
    rng = np.random.default_rng(1)
    low = rng.integers(10, 60, 800)
    high = low + rng.integers(0, 30, 800)
    table = pl.DataFrame({"low": low, "high": high}).with_columns(
        low=pl.when(pl.Series(rng.random(800) < 0.2)).then(None).otherwise("low"),
        high=pl.when(pl.Series(rng.random(800) < 0.1)).then(None).otherwise("high"),
    )
    schema = Schema.infer(table)
    assert [one.sentence for one in schema.dependencies] == ["'low' <= 'high'"]
    codec = Codec.fit(table, schema, exact=True)
    assert_frame_equal(codec.decode(codec.encode(table)), table)
    release = Independent(random_state=2).fit(table, schema).sample()
    assert (release["low"] <= release["high"]).drop_nulls().all()
    assert release["high"].null_count() == pytest.approx(80, abs=35)


def test_the_highest_of_several_lower_columns_counts():
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 50, 600), rng.integers(0, 50, 600)
    table = pl.DataFrame({"a": a, "b": b, "c": np.maximum(a, b) + rng.integers(0, 20, 600)})
    release = Independent(random_state=1).fit(table).sample()
    assert (release["c"] >= release["a"]).all()
    assert (release["c"] >= release["b"]).all()


@pytest.mark.parametrize("method", [Independent, Cart])
def test_dates_written_as_numbers_keep_their_order(method, tmp_path):
    rng = np.random.default_rng(7)
    start = np.datetime64("2015-01-01") + rng.integers(0, 2000, 500)
    end = start + rng.integers(0, 400, 500)
    table = pl.DataFrame({"start": start, "end": end}).select(
        pl.all().dt.strftime("%Y%m%d").cast(pl.Int64)
    )
    table = table.with_columns(pl.when(pl.int_range(pl.len()) % 9 > 0).then("end").alias("end"))
    schema = Schema.infer(table)
    kinds = [one.sentence for one in schema.dependencies]
    assert kinds[2:] == ["'start' <= 'end'"]
    model = method(random_state=1).fit(table, schema)
    release = Synthesizer.load(model.save(tmp_path / "model.us")).sample(2000)
    assert (release["start"] <= release["end"]).drop_nulls().all()
    days = release.select(pl.all().cast(pl.String).str.to_date("%Y%m%d"))  # each is a date
    stay = (days["end"] - days["start"]).dt.total_days()
    assert stay.max() < 420
    assert stay.mean() == pytest.approx(np.mean(end - start).astype(int), abs=30)
    # A number that is no date has no place in the order.
    table = table.with_columns(start=pl.int_range(pl.len()) % 90)
    other = Schema.infer(table, dependencies=False)
    other = other.with_dependencies(Composite("end", "yyyymmdd"), Ordered("start", "end"))
    with pytest.raises(SchemaError, match="'start' not"):
        method().fit(table, other)


def test_exceptions_are_drawn_with_their_share():
    table = planted(3000)
    rng = np.random.default_rng(3)
    wrong = pl.Series(rng.random(3000) < 0.008)
    table = table.with_columns(
        state=pl.when(wrong).then(pl.lit("??")).otherwise("state"),
        total=pl.when(wrong).then(pl.Series(rng.integers(5000, 9000, 3000))).otherwise("total"),
    )
    schema = Schema.infer(table)
    share = float(wrong.mean())
    for method in (Independent, Cart):
        found = broken(table, method(random_state=1).fit(table, schema).sample(), schema)
        assert found["'state' follows from 'city'"] == pytest.approx(share, abs=0.006)
        assert found["'total' = 'rent' + 'heating'"] == pytest.approx(share, abs=0.006)


def test_models_of_former_versions_draw_exceptions_as_often_as_they_did(tmp_path):
    """They only said whether there are any, and none were left out."""
    table = planted(900).select("rent", "heating", "total", "city", "state")
    wrong = pl.int_range(pl.len()) % 60 == 0
    table = table.with_columns(
        total=pl.when(wrong).then(pl.int_range(pl.len()) + 9000).otherwise("total"),
    )
    formula = Formula("total", "sum", ("rent", "heating"), exceptions=1 / 60)
    schema = Schema.infer(table).with_dependencies(formula)
    model = Independent(random_state=1).fit(table, schema)
    description, arrays = model.contents()
    step = description["codec"]["plan"]["steps"]["total"]
    assert step["exceptions"] == pytest.approx(1 / 60)
    del step["exceptions"], step["gaps"]
    step |= {"broken": True, "blank": False}
    loaded = Synthesizer.load(write_model(description, arrays, tmp_path / "model.us"))
    shares = broken(table, loaded.sample(9000, random_state=2), schema)
    assert shares[formula.sentence] == pytest.approx(1 / 60, abs=0.006)
    assert shares["'state' follows from 'city'"] == 0


@pytest.mark.parametrize("method", [Independent, Cart])
def test_gaps_of_a_derived_column_are_drawn_with_their_share(method):
    rng = np.random.default_rng(4)
    table = planted(3000).select("city", "state", "rent", "heating", "total")
    table = table.with_columns(
        pl.when(pl.Series(rng.random(3000) >= 0.1)).then(pl.col(name)) for name in table.columns
    )
    release = method(random_state=1).fit(table).sample()
    assert (release["total"] == release["rent"] + release["heating"]).drop_nulls().all()
    assert release.drop_nulls().select("city", "state").n_unique() == 6
    for name in table.columns:
        assert release[name].null_count() == pytest.approx(300, abs=75)


@pytest.mark.parametrize("method", [Independent, Cart])
def test_a_derived_column_may_be_missing_because_of_another(method):
    table = planted(900).select("rent", "smokes")
    table = table.with_columns(fee=pl.when(pl.col("smokes") == "yes").then(pl.col("rent") // 10))
    schema = Schema.infer(table)
    assert {one.kind for one in schema.dependencies} == {"formula", "missing when"}
    release = method(random_state=1).fit(table, schema).sample()
    assert (release["fee"] == release["rent"] // 10).drop_nulls().all()
    assert (release["fee"].is_null() == (release["smokes"] == "no")).all()


@pytest.mark.parametrize("method", [Independent, BayesNet, GaussianCopula])
def test_the_number_of_a_single_exception_never_comes_back(method):
    rng = np.random.default_rng(3)
    height, weight = rng.integers(150, 200, 3_000), rng.integers(50, 110, 3_000)
    index = np.round(weight * 10_000.0 / height**2, 6)
    index[17] = 449.979731
    table = pl.DataFrame({"height": height, "weight": weight, "bmi": index})
    formula = Formula(column="bmi", form="ratio to square", of=("weight", "height"), factor=1e4)
    schema = Schema.infer(table).with_dependencies(formula)
    model = method(ends=5, random_state=1).fit(table, schema)
    assert model.sample(30_000)["bmi"].max() < 60
    # Five records are enough to draw about their numbers.
    many = table.with_columns(
        bmi=pl.when(pl.int_range(pl.len()) < 5)
        .then(400.0 + pl.int_range(pl.len()))
        .otherwise("bmi")
    )
    assert method(ends=5, random_state=1).fit(many, schema).sample(30_000)["bmi"].max() > 300


def test_what_follows_from_many_values_is_modelled_too_and_set_right():
    rng = np.random.default_rng(4)
    country = rng.integers(0, 60, 3000)
    table = pl.DataFrame(
        {
            "country": [f"c{n}" for n in country],
            "continent": [f"k{n % 4}" for n in country],
            "income": (country % 4) * 10 + rng.integers(0, 16, 3000),
        }
    )
    codec = Codec.fit(table)
    assert "continent" in codec.names
    for method in METHODS:
        release = method(random_state=1).fit(table).sample()
        assert release.select("country", "continent").n_unique() <= 60
    related = BayesNet(random_state=1).fit(table).sample()
    means = related.group_by("continent").agg(pl.col("income").mean()).sort("continent")
    assert means["income"].to_list() == pytest.approx([7.5, 17.5, 27.5, 37.5], abs=2)


def test_a_number_that_others_follow_from_is_one_that_there_is():
    code = np.random.default_rng(5).choice(
        [101, 207, 355, 401, 577, 902, *range(1000, 1400, 13)], 2000
    )
    table = pl.DataFrame({"code": code, "name": [f"n{c}" for c in code]})
    schema = Schema.infer(table, dependencies=False).with_dependencies(
        Determined("name", ("code",))
    )
    release = Independent(random_state=1).fit(table, schema).sample()
    assert set(release["code"].unique()) <= set(table["code"].unique())
    assert set(release.rows()) <= set(table.rows())


def test_records_that_break_a_dependency_cannot_be_drawn():
    table = planted(300).select("city", "state", "rent", "heating", "total")
    model = BayesNet(random_state=1).fit(table)
    off = table.with_columns(total=pl.col("total") + (pl.int_range(300) < 3).cast(pl.Int64))
    logs = model.log_likelihood(off)
    assert np.isneginf(logs[:3]).all()
    assert np.isfinite(logs[3:]).all()
    assert logs[3:] == pytest.approx(model.log_likelihood(table)[3:])
    with pytest.raises(SchemaError, match="In 3 rows, 'total' breaks a dependency"):
        model.codec_.encode(off)


def test_the_density_of_a_record_does_not_count_what_follows():
    table = pl.DataFrame({"code": [1, 1, 1, 2] * 50, "name": ["a", "a", "a", "b"] * 50})
    schema = Schema.infer(table, dependencies=False).with_dependencies(
        Determined("name", ("code",))
    )
    model = Independent(random_state=1).fit(table, schema)
    assert np.exp(model.log_likelihood(table)[0]) == pytest.approx(3 / 4)
    assert model.expected_copies(table, rows=100)[3] == pytest.approx(25)


def test_a_stream_gives_the_model_of_the_table(tmp_path):
    table = planted(900)
    table.write_parquet(tmp_path / "table.parquet")
    stream = scan(tmp_path / "table.parquet", batch_rows=250)
    schema = Schema.infer(table)
    assert Schema.infer(stream).dependencies == schema.dependencies
    streamed = Independent(random_state=1).fit(stream, schema).sample()
    assert_frame_equal(streamed, Independent(random_state=1).fit(table, schema).sample())


@pytest.mark.parametrize(
    ("between", "message"),
    [
        ([Formula("rent", "sum", ("heating", "age")), Determined("rent", ("city",))], "has two"),
        ([Determined("city", ("state",)), Determined("state", ("city",))], "follow from itself"),
        ([Ordered("city", "rent")], "holds no numbers"),
        ([Formula("total", "sum", ("city", "rent"))], "'city' holds no numbers"),
        ([Formula("total", "sum", ("start", "rent"))], "'start' holds no numbers"),
        ([Formula("age", "gap", ("rent", "start"))], "'rent' holds no dates or times"),
        ([Formula("start", "date", ("age",))], "'age' holds no dates"),
        ([Formula("age", "year", ("city",))], "'city' holds no dates or times"),
        ([Formula("age", "hour", ("start",))], "'start' has no hour"),
        ([Composite("city", "hhmm")], "'city' holds no whole numbers"),
        ([Composite("rent", "hhmm")], "In [0-9]+ rows, 'rent' breaks a dependency"),
        ([Ordered("rent", "heating")], "In [0-9]+ rows, 'heating' breaks a dependency"),
        ([Ordered("age", "start")], "one is int64, the other date32"),
        ([MissingWhen("rent", "age", "no")], "'age' is int64, and has no such value"),
        ([MissingWhen("rent", "smokes", "maybe")], "'smokes' has no such value"),
        ([MissingWhen("rent", "smokes", "noo")], "no such value. Did you mean 'no'?"),
        ([MissingTogether(("rent", "packs"))], "In [0-9]+ rows, 'packs' breaks a dependency"),
    ],
)
def test_what_cannot_be_kept_is_refused(between, message):
    table = planted(100)
    schema = Schema.infer(table, dependencies=False).with_dependencies(*between)
    with pytest.raises(SchemaError, match=message):
        Codec.fit(table, schema).encode(table)


def test_one_that_mostly_does_not_hold_is_told(caplog):
    table = planted(300)
    schema = Schema.infer(table, dependencies=False)
    Codec.fit(table, schema.with_dependencies(Formula("rent", "sum", ("heating", "age"))))
    assert "this is not so in" in caplog.text
    caplog.clear()
    Codec.fit(table, schema.with_dependencies(Determined("state", ("city",))))
    assert caplog.text == ""


def test_one_of_a_column_that_is_made_up_is_told(caplog):
    table = planted(300)
    schema = Schema.infer(table).edit("city", kind="identifier", role="identifier", levels=())
    Codec.fit(table, schema)
    assert "Not kept, since identifiers are made up" in caplog.text
    assert "'state' follows from 'city'" in caplog.text


def test_declared_ones_are_kept_too():
    table = planted(200).drop("state")
    between = [
        MissingTogether(("packs", "brand")),
        MissingWhen("packs", "smokes", "no", exactly=True),
        Composite("clock", "hhmm"),
        Ordered("heating", "rent"),
        Determined("brand", ("age", "city")),
    ]
    schema = Schema.infer(table, dependencies=False).with_dependencies(*between[:4])
    release = Independent(random_state=3).fit(table, schema).sample(400)
    found = broken(table, release, schema)
    assert max(found.values()) == 0


def test_columns_that_settings_name_are_drawn_as_the_settings_say(caplog):
    table = planted(500).select("city", "state", "smokes", "age", "age2")
    model = BayesNet(protect={"state": "smokes"}, random_state=1).fit(table)
    assert "state" in model.codec_.names
    assert "age2" not in model.codec_.names
    assert "'state' follows from 'city'" in caplog.text
    order = ["smokes", "city", "state", "age", "age2"]
    assert BayesNet(order=order, random_state=1).fit(table).codec_.names == (
        "city",
        "smokes",
        "age",
    )


@pytest.mark.parametrize("method", [BayesNet, Cart])
def test_a_protected_column_does_not_come_back_by_what_follows_from_it(method, caplog):
    table = planted(600).select("city", "state", "rent", "heating", "total", "smokes")
    model = method(protect={"city": None, "rent": "smokes"}, random_state=1).fit(table)
    release = model.sample()
    assert "tell of a protected column: " in caplog.text
    true = dict(table.select("city", "state").iter_rows())
    agree = (release["state"] == release["city"].replace_strict(true)).mean()
    chance = table["state"].value_counts(normalize=True)["proportion"].pow(2).sum()
    assert agree == pytest.approx(chance, abs=0.1)
    numbers = release.select("rent", pl.col("total").cast(pl.Float64))
    assert abs(np.corrcoef(numbers["rent"], numbers["total"])[0, 1]) < 0.2
    assert (release["total"] == release["rent"] + release["heating"]).mean() < 0.1


def test_what_is_told_by_kept_columns_is_kept():
    table = planted(300).select("city", "state", "smokes", "age")
    model = Cart(keep=["city"], random_state=1).fit(table)
    assert model.kept_columns == ("city", "state")
    assert model.sample().select("city", "state").equals(table.select("city", "state"))


def test_rules_still_hold():
    table = planted(500).select("smokes", "packs", "brand", "rent", "heating", "total")
    model = Cart(rules=["if smokes = 'no' then packs = missing"], random_state=1).fit(table)
    release = model.sample()
    assert release.filter(pl.col("smokes") == "no")["packs"].null_count() == len(
        release.filter(pl.col("smokes") == "no")
    )
    assert (release["total"] == release["rent"] + release["heating"]).all()


def test_a_computed_column_of_two_values_gets_no_third_one():
    """Of two that exclude each other, independent columns are both 1 at times."""
    race = np.random.default_rng(5).choice(["black", "hispanic", "white"], 900, p=[0.3, 0.2, 0.5])
    table = pl.DataFrame({name: (race == name).astype(int) for name in np.unique(race)})
    model = Independent(random_state=1).fit(table)
    assert len(model.schema_.dependencies) == 1
    made = model.sample(900)
    assert made.filter(pl.sum_horizontal(pl.all()) > 1).height > 0
    assert all(set(made[name]) == {0, 1} for name in made.columns)
    # Counts may be higher than any was: nothing says that they cannot.
    counts = pl.DataFrame({"a": race == "black", "b": race != "white"}).cast(pl.Int64) + 1
    counts = counts.with_columns(total=pl.col("a") + pl.col("b"))
    drawn = Independent(random_state=1).fit(counts).sample(900)
    assert (drawn["total"] == drawn["a"] + drawn["b"]).all()


def test_a_column_without_gaps_gets_none_where_others_tell_nothing():
    """In short releases, no other record has a value of its own to lend."""
    place = np.arange(600) % 12
    item = [None if n % 60 == 0 else f"item {n % 12}" for n in range(600)]
    table = pl.DataFrame({"item": item, "kind": [f"kind {one // 2}" for one in place]})
    model = Independent(random_state=1).fit(table)
    assert [one.sentence for one in model.schema_.dependencies] == ["'kind' follows from 'item'"]
    for seed in range(20):
        made = model.sample(80, random_state=seed)
        assert made["kind"].null_count() == 0
    assert sum(model.sample(80, random_state=seed)["item"].null_count() for seed in range(20)) > 0
