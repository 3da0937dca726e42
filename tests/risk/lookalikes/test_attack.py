"""Lookalikes: by hand, against a slow twin, in trivial worlds, and calibrated by simulation."""

from __future__ import annotations

import json
import math
from statistics import fmean

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy import BayesNet, Independent, load, simulate
from understudy.errors import DataError, ParameterError
from understudy.risk import lookalikes

# Four ages are close to each other, and one is far: their ranks are 0.1, 0.3, 0.5, 0.7, 0.9.
PEOPLE = {"age": [20, 21, 22, 23, 60], "town": ["a", "a", "b", "b", "c"]}


def by_definition(original, synthetic, ratio=0.25):
    """Count people with a lookalike, and those whose nearest is much nearer than the second.

    A table of labels and whole numbers; as the definition says, pair by pair.
    """
    ranks = {}
    for name in original.columns:
        if original[name].dtype.is_numeric():
            values = original[name].to_list()
            ranks[name] = {
                value: (sum(v < value for v in values) + values.count(value) / 2) / len(values)
                for value in values
            }

    def place(name, value):
        known = sorted(ranks[name])
        return np.interp(value, known, [ranks[name][v] for v in known])

    def apart(one, two, trimmed):
        parts = [
            abs(place(name, one[name]) - place(name, two[name]))
            if name in ranks
            else float(one[name] != two[name])
            for name in original.columns
        ]
        return sum(parts) - (max(parts) if trimmed else 0)

    people, records = original.to_dicts(), synthetic.to_dicts()
    found = {}
    for kind in ("whole", "trimmed"):
        alike = pairs = 0
        for number, person in enumerate(people):
            others = sorted(
                apart(person, other, kind == "trimmed")
                for place_of, other in enumerate(people)
                if place_of != number
            )
            nearest = min(apart(person, record, kind == "trimmed") for record in records)
            alike += nearest < ratio * others[0] - 4 / 2**20
            pairs += others[0] < ratio * others[1] - 4 / 2**20
        found[kind] = alike, pairs * len(records) / len(people)
    return found


def everybody(found):
    """Return what was found and expected of everybody in all records, by distance."""
    return {
        look.distance: (look.found, look.expected)
        for look in found.looks
        if look.isolated == 1 and look.synthetic_records == found.synthetic_records
    }


def halves(table, size, seed):
    drawn = table.sample(2 * size, shuffle=True, seed=seed)
    return drawn[:size], drawn[size:]


def with_copies(original, release, count, seed):
    """Return a release in which copies of people take the place of some records."""
    rng = np.random.default_rng(seed)
    who, kept = rng.permutation(len(original))[:count], rng.permutation(len(release))[count:]
    return pl.concat([original[who], release[kept]])


def test_by_hand(as_frame):
    release = as_frame({"age": [60, 21, 40], "town": ["c", "b", "a"]})
    found = lookalikes(as_frame(PEOPLE), release, random_state=1)
    # The one of 60 in town c: 0 to the first record, 1.2 to the next person (23, town b). The
    # others have somebody at 0.2 in the same town, and the next at 1.2 and more: 4 * 3 / 5 are
    # expected.
    assert everybody(found)["whole"] == (1, 2.4)
    rows = found.per_record(backend="polars")
    assert rows["distance"].round(3).to_list() == [0.692, 0.492, 0.2, 0.4, 0.0]
    assert rows["next_person"].round(3).to_list() == [0.2, 0.2, 0.2, 0.2, 1.2]
    assert rows["nearest"].to_list()[-1] == 0
    assert rows["ratio"].to_list()[-1] == 0
    assert (found.records, found.synthetic_records, found.people) == (5, 3, 5)
    # Equal in both columns; and in one of two, with nobody else who is: nobody shares town c or 60.
    assert (found.equal, found.equal_but_one) == (1, 1)


def test_pairs_of_people_are_what_is_expected():
    # Two who are equal but for nothing, and others far apart: both have b1 = 0 < b2.
    original = pl.DataFrame({"x": ["a", "a", "b", "c"], "y": ["p", "p", "q", "r"]})
    release = pl.DataFrame({"x": ["b", "d"], "y": ["q", "s"]})
    found = lookalikes(original, release)
    assert everybody(found)["whole"] == (1, 1.0)  # 2 people with such a neighbour, times 2 / 4
    # A copy of one of the two is no lookalike: the other person is as close.
    assert everybody(lookalikes(original, original[:1]))["whole"][0] == 0


@given(st.data())
def test_as_the_definition_says(data):
    def table(rows):
        columns = {
            "n": data.draw(st.lists(st.integers(0, 9), min_size=rows, max_size=rows)),
            "m": data.draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows)),
            "c": data.draw(st.lists(st.sampled_from("xyz"), min_size=rows, max_size=rows)),
            "d": data.draw(st.lists(st.sampled_from("uv"), min_size=rows, max_size=rows)),
        }
        return pl.DataFrame(columns)

    original = table(data.draw(st.integers(3, 12)))
    low, high = (original.select(pl.col("n", "m").min()), original.select(pl.col("n", "m").max()))
    release = table(data.draw(st.integers(1, 12))).with_columns(
        pl.col(name).clip(low[name][0], high[name][0]) for name in ("n", "m")
    )
    found = everybody(lookalikes(original, release))
    for kind, counts in by_definition(original, release).items():
        assert found[kind] == pytest.approx(counts)


def test_a_copy_is_seen_and_so_is_one_that_was_disguised():
    table = load("cmc").head(400)
    disguised = {
        "the same": table,
        "in another order": table.sample(fraction=1, shuffle=True, seed=1),
        "numbers as text": table.cast(pl.String),
        "noise": table.with_columns(pl.col("age") + 0.01, pl.col("children") + 0.001),
        "a column renamed one to one": table.with_columns(pl.col("religion") * -7 + 3),
        "a column made up": table.with_columns(pl.col("age").shuffle(seed=2)),
        "fewer columns": table.drop("method", "media_exposure"),
        "a new column": table.with_columns(new=pl.lit(1)),
    }
    for what, release in disguised.items():
        found = lookalikes(table, release, random_state=0)
        assert found.p_value < 1e-6, what
        assert found.alarm, what
        assert found.excess > 100, what


def test_spelling_and_dates_are_no_disguise():
    days = pl.date_range(pl.date(1950, 1, 1), pl.date(2000, 1, 1), "1mo", eager=True)
    rng = np.random.default_rng(0)
    rows = 200
    original = pl.DataFrame(
        {
            "born": days.gather(rng.integers(0, len(days), rows)),
            "town": rng.choice(["Graz", "Wien", "Linz", "Wels"], rows),
            "income": rng.lognormal(7, 1, rows).round(2),
            "job": rng.choice(["cook", "nurse", "clerk"], rows),
        }
    )
    disguised = original.with_columns(
        (pl.col("born") + pl.duration(days=1)).cast(pl.String),
        pl.col("town").str.to_uppercase() + " ",
        pl.col("income").round(0).cast(pl.String),
    )
    found = lookalikes(original, disguised)
    assert found.found > 150
    assert found.p_value < 1e-6


def test_independent_and_fresh_people_are_no_alarm(sd2011):
    for table in (load("cmc"), sd2011):
        original, fresh = halves(table, 700, seed=3)
        independent = Independent(random_state=1).fit(original).sample(random_state=2)
        for release in (fresh, independent):
            found = lookalikes(original, release)
            assert not found.alarm
            assert 0 < found.power < 0.2


def test_copies_of_the_oddest_people_are_seen_among_fresh_ones():
    original, fresh = halves(load("cmc"), 700, seed=4)
    isolated = lookalikes(original, fresh).per_record().sort("next_person", descending=True)
    release = pl.concat([original[isolated["record"][:25]], fresh[25:]])
    found = lookalikes(original, release)
    assert found.alarm
    assert found.worst.isolated < 0.3
    assert found.worst.excess > 10
    assert "most isolated" in found.summary()


def test_a_network_that_memorises_is_seen_and_a_simple_one_is_not():
    original, _ = halves(load("cmc"), 700, seed=5)
    dense = BayesNet(4, "greedy", smoothing=0, random_state=1).fit(original).sample(random_state=2)
    simple = BayesNet(1, "greedy", smoothing=0, random_state=1).fit(original).sample(random_state=2)
    assert lookalikes(original, dense).p_value < 1e-6
    assert lookalikes(original, simple).p_value > 0.05


def test_several_releases_count_together():
    original, fresh = halves(load("cmc"), 700, seed=6)
    first, second = original[:60], original[60:120]
    both = lookalikes(
        original, [pl.concat([first, fresh[:280]]), pl.concat([second, fresh[280:560]])]
    )
    one = lookalikes(original, pl.concat([first, second, fresh[:560]]))
    assert both.synthetic_records == 680
    assert both.per_record()["lookalike"].sum() == one.per_record()["lookalike"].sum()
    assert both.p_value == one.p_value
    with pytest.raises(ParameterError, match="got an empty list"):
        lookalikes(original, [])


def test_more_records_than_people_do_not_raise_an_alarm_by_themselves():
    table = load("cmc")
    drawn = table.sample(fraction=1, shuffle=True, seed=7)
    original, fresh = drawn[:200], drawn[200:]
    found = lookalikes(original, fresh)
    assert found.synthetic_records > 6 * found.records
    assert {look.synthetic_records for look in found.looks} == {200, len(fresh)}
    assert not found.alarm


@pytest.mark.slow
def test_the_mean_over_all_draws_is_that_of_many_draws():
    drawn = load("cmc").sample(fraction=1, shuffle=True, seed=8)
    original, release = drawn[:150], drawn[150:]
    found = lookalikes(original, release)
    exact = {
        look.distance: look.found
        for look in found.looks
        if look.isolated == 1 and look.synthetic_records == 150
    }
    counts = {kind: [] for kind in exact}
    for seed in range(30):
        few = release.sample(150, seed=seed)
        for kind, (alike, _) in everybody(lookalikes(original, few)).items():
            counts[kind].append(alike)
    for kind, every in counts.items():
        assert exact[kind] == pytest.approx(fmean(every), abs=4 * np.std(every) / math.sqrt(30))


def test_control_records_are_compared():
    table = load("cmc").sample(fraction=1, shuffle=True, seed=9)
    original, control, fresh = table[:500], table[500:900], table[900:1400]
    found = lookalikes(original, fresh, control=control)
    assert found.control.people == 400
    assert found.control.p_value > 0.05
    assert abs(found.control.difference) < 0.1
    release = with_copies(original, fresh, 75, seed=1)
    leaking = lookalikes(original, release, control=control)
    assert leaking.control.p_value < 0.01
    assert leaking.control.difference > 0.05
    assert "not in the data" in leaking.summary()
    assert set(leaking.closeness) == {"synthetic", "original", "control"}


def test_large_tables_are_sampled_and_everybody_is_compared_by_equality():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"x{k}": rng.normal(size=3000) for k in range(6)})
    release = pl.concat(
        [frame[:300], pl.DataFrame({n: rng.normal(size=2700) for n in frame.columns})]
    )
    found = lookalikes(frame, release, people=500, random_state=1)
    assert found.people == 500
    assert found.equal == 300
    assert found.alarm
    assert {look.distance for look in found.looks} == {"whole", "trimmed", "equal", "all but one"}
    assert any("500 of 3,000" in note for note in found.notes)
    again = lookalikes(frame, release, people=500, random_state=1)
    assert found.per_record().equals(again.per_record())
    other = lookalikes(frame, release, people=500, random_state=2)
    assert not found.per_record().equals(other.per_record())


def test_equality_in_all_but_one_column_is_that_of_a_twin():
    rng = np.random.default_rng(3)
    draw = lambda rows: pl.DataFrame(  # noqa: E731  # one line says it
        {f"c{k}": rng.choice(["a", "b", "c", "d"], rows) for k in range(4)}
    )
    original, release = draw(60), draw(40)
    equal = but_one = 0
    people, records = original.rows(), release.rows()
    for number, person in enumerate(people):
        others = people[:number] + people[number + 1 :]
        differ = lambda other: sum(a != b for a, b in zip(person, other, strict=True))  # noqa: B023, E731
        if all(differ(other) > 0 for other in others):
            equal += any(differ(record) == 0 for record in records)
        if all(differ(other) > 1 for other in others):
            but_one += any(differ(record) <= 1 for record in records)
    found = lookalikes(original, release)
    assert (found.equal, found.equal_but_one) == (equal, but_one)


def test_the_usual_distances_stand_beside_it():
    original = pl.DataFrame({"x": [0, 1, 2, 3], "c": ["a", "b", "a", "b"]})
    found = lookalikes(original, pl.DataFrame({"x": [0, 3], "c": ["a", "b"]}))
    near = found.closeness["synthetic"]
    assert near.records == 2
    assert near.dcr == (0.0, 0.0)
    # People: 0.5 to the one with the same label, 1.25 or 1.75 to others.
    assert found.closeness["original"].dcr == pytest.approx((0.5, 0.5), abs=1e-5)


def test_where_people_are_all_alike_nothing_would_be_seen_and_this_is_said():
    original = pl.DataFrame({"x": ["a", "b"] * 50, "y": ["p", "p", "q", "q"] * 25})
    found = lookalikes(original, original)
    assert found.p_value == 1
    assert math.isnan(found.power)
    assert "Not even copies of everybody" in found.summary()
    assert json.loads(json.dumps(found.to_dict()))["power"] is None


def test_results_for_programs(as_frame):
    original = as_frame(PEOPLE)
    found = lookalikes(original, original, random_state=5)
    assert type(found.per_record()) is type(original)
    assert found.seed == 5
    plain = found.to_dict()
    assert "_of_people" not in plain
    assert plain["found"] == found.found
    assert plain["looks"][0]["distance"] == "whole"
    assert "<table>" in found._repr_html_()
    (line,) = found.lines()
    assert line.synthetic == found.found / 5
    assert isinstance(lookalikes(original, original).seed, int)


def test_one_column_is_enough():
    table = pl.DataFrame({"x": np.arange(50) ** 1.5})
    found = lookalikes(table, table)
    assert {look.distance for look in found.looks} == {"whole"}
    assert found.alarm


def of_columns(kind, columns, rows, rng):
    """Return people with a few columns that share a cause."""
    common = rng.normal(size=rows)
    held = {}
    for place in range(columns):
        size = 0.6 * common + 0.8 * rng.normal(size=rows)
        labels = np.array(list("abcdefgh"))[np.clip(1.5 * np.exp(size), 0, 7).astype(int)]
        is_number = kind == "numbers" or (kind == "mixed" and place % 2 == 0)
        held[f"x{place}"] = np.exp(size + 3) if is_number else labels
    return pl.DataFrame(held)


FORMS = {
    "as they are": pl.all(),
    "logs": pl.selectors.numeric().log(),
    "ranks": pl.selectors.numeric().rank(),
    "thousands": pl.selectors.numeric() * 1000,
}


def alarms_of_few_columns(kind, columns, rows, seeds, form):
    found = 0
    for seed in range(seeds):
        rng = np.random.default_rng([seed, columns])
        original, fresh = (of_columns(kind, columns, rows, rng) for _ in range(2))
        found += lookalikes(original, fresh.with_columns(FORMS[form]), random_state=0).alarm
    return found


@pytest.mark.parametrize("form", FORMS)
def test_fresh_people_of_two_columns_are_no_alarm(form):
    # With a level of 5%, more than one of four has a chance of 1.4%.
    assert alarms_of_few_columns("numbers", 2, 150, 4, form) <= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "form"),
    [("labels", "as they are"), *((kind, form) for kind in ("numbers", "mixed") for form in FORMS)],
)
def test_fresh_people_of_few_columns_seldom_raise_an_alarm(kind, form):
    for columns in range(1, 7):
        # With a level of 5%, more than 6 of 40 have a chance of 0.3%.
        assert alarms_of_few_columns(kind, columns, 200, 40, form) <= 6, columns


def test_of_two_columns_a_single_one_makes_no_lookalike():
    rng = np.random.default_rng(1)
    original = pl.DataFrame(rng.lognormal(size=(200, 2)), schema=["x", "y"])
    cut = original.with_columns(original["x"][rng.permutation(200)])
    found = lookalikes(original, cut, random_state=0)
    assert {look.distance for look in found.looks} == {"whole"}
    # By the better of the two columns, it would be everybody.
    assert found.found < 0.2 * 200
    # By equality, too: of many people, some are compared with all records.
    sampled = lookalikes(original, cut, people=50, random_state=0)
    assert {look.distance for look in sampled.looks} == {"whole", "equal"}
    assert not sampled.alarm


def wide(rng, rows=400):
    """Return people with ten labels that share a cause, six numbers, and eight hardly any tell."""
    common = rng.normal(size=rows)
    labels, sizes = (common[:, None] + rng.normal(size=(rows, width)) for width in (10, 6))
    rare = rng.random((rows, 8)) < 0.05
    return pl.DataFrame(
        {f"c{k}": np.floor(labels[:, k]).astype(int).astype(str) for k in range(10)}
        | {f"n{k}": sizes[:, k] for k in range(6)}
        | {f"r{k}": np.where(rare[:, k], "yes", "no") for k in range(8)}
    )


def test_copies_without_the_numbers_are_found_though_strangers_agree_in_half_of_the_columns():
    rng = np.random.default_rng(2)
    original, fresh = wide(rng), wide(rng)
    numbers = [f"n{k}" for k in range(6)]

    def cut(frame):
        return frame.with_columns(frame[name][rng.permutation(400)] for name in numbers)

    found = lookalikes(original, cut(original), random_state=0)
    assert found.p_value < 1e-6
    assert any("cut loose" in note for note in found.notes)
    assert not set(found.columns) & set(numbers)
    assert not lookalikes(original, cut(fresh), random_state=0).alarm
    assert not lookalikes(original, fresh, random_state=0).alarm


def test_columns_that_tell_nothing_do_not_fill_the_better_half():
    # All are independent, so that no relation tells what was cut loose.
    rng = np.random.default_rng(3)
    rows = 300
    telling = {f"n{k}": rng.normal(size=rows) for k in range(6)}
    hardly = {f"r{k}": np.where(rng.random(rows) < 0.02, "yes", "no") for k in range(8)}
    original = pl.DataFrame(telling | hardly)
    loose = original.with_columns(original[f"n{k}"][rng.permutation(rows)] for k in range(3))
    found = lookalikes(original, loose, random_state=0)
    assert (found.distance, found.p_value < 1e-6) == ("half", True)
    assert set(found.columns) == set(telling)


def test_the_most_telling_look_beside_control_records_is_told():
    table = load("cmc").sample(fraction=1, shuffle=True, seed=9)
    original, control, fresh = table[:500], table[500:900], table[900:1400]
    isolated = lookalikes(original, fresh).per_record().sort("next_person", descending=True)
    release = pl.concat([original[isolated["record"][:20]], fresh[20:]])
    found = lookalikes(original, release, control=control, random_state=0)
    worst = found.control.worst
    assert worst.isolated < 0.3
    assert worst.people == round(worst.isolated * 500)
    assert worst.found / worst.people > worst.control_found / worst.control_people
    assert worst.p_value <= found.control.p_value < 0.05
    assert f"{worst.found} of the {worst.people} most isolated people in the data" in str(found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ratio": 0}, "ratio must lie between 0 and 1; got 0."),
        ({"ratio": "x"}, "ratio must"),
        ({"people": 0}, "people must be"),
        ({"columns": ["agee"]}, "Did you mean 'age'"),
        ({"columns": []}, "at least one column"),
        ({"random_state": -1}, "random_state must be"),
    ],
)
def test_mistakes_are_told(change, message):
    table = pl.DataFrame(PEOPLE)
    with pytest.raises(ParameterError, match=message):
        lookalikes(table, table, **change)


def test_tables_that_cannot_be_compared_are_told():
    table = pl.DataFrame(PEOPLE)
    with pytest.raises(DataError, match="The synthetic table has no rows"):
        lookalikes(table, table[:0])
    with pytest.raises(DataError, match="Lookalikes need three"):
        lookalikes(table[:2], table)
    with pytest.raises(ParameterError, match="no column in common"):
        lookalikes(table, pl.DataFrame({"z": [1]}))


def simulated(kind, size, rng):
    """Return people of a made-up population."""
    if kind == "numbers":
        common = rng.normal(size=(size, 1))
        return pl.DataFrame(
            {f"x{k}": (common + rng.normal(size=(size, 1))).ravel() for k in range(6)}
        )
    return pl.DataFrame(
        {f"c{k}": rng.geometric(0.4, size).clip(max=9).astype(str) for k in range(7)}
    )


def alarms(draw, seeds):
    """Return how often fresh people raise an alarm: by the bound, and beside control records."""
    found = []
    for seed in range(seeds):
        original, fresh, control = draw(seed)
        result = lookalikes(original, fresh, control=control, random_state=seed)
        found.append((result.p_value < 0.05, result.control.p_value < 0.05))
    return np.mean(found, axis=0)


def draws(source, size, request):
    """Return a function that draws three disjoint samples of people."""
    if source in ("numbers", "labels"):

        def draw(seed):
            rng = np.random.default_rng(seed)
            return [simulated(source, size, rng) for _ in range(3)]

        return draw
    if source == "cmc":
        table = load("cmc")
    elif source == "sd2011":
        table = request.getfixturevalue("sd2011")
    else:
        folder = request.getfixturevalue("folder_with")("adult_train.csv")
        table = pl.read_csv(folder / "adult_train.csv")

    def draw(seed):
        drawn = table.sample(3 * size, shuffle=True, seed=seed)
        return drawn[:size], drawn[size : 2 * size], drawn[2 * size :]

    return draw


@pytest.mark.slow
@pytest.mark.parametrize("source", ["numbers", "labels"])
def test_fresh_people_seldom_raise_an_alarm(source, request):
    assert alarms(draws(source, 200, request), 40).max() <= 0.125  # 5 of 40; level 5%


@pytest.mark.long
@pytest.mark.parametrize(
    ("source", "size"),
    [("cmc", 490), ("adult", 1000), ("sd2011", 1000), ("numbers", 500), ("labels", 500)],
)
def test_fresh_people_raise_an_alarm_in_at_most_7_of_100(source, size, request):
    assert alarms(draws(source, size, request), 200).max() <= 0.07


@pytest.mark.long
@pytest.mark.parametrize(
    ("source", "size"), [("cmc", 490), ("adult", 1000), ("sd2011", 1000), ("labels", 500)]
)
def test_copies_that_it_says_it_would_see_are_seen(source, size, request):
    draw = draws(source, size, request)
    seen = []
    for seed in range(60):
        original, fresh, _ = draw(seed)
        power = lookalikes(original, fresh, random_state=seed).power
        release = with_copies(original, fresh, math.ceil(power * size), seed)
        seen.append(lookalikes(original, release, random_state=seed).alarm)
    assert np.mean(seen) >= 0.9


def test_a_copy_on_another_scale_is_seen():
    survey = load("cmc")
    half, other = survey[:736], survey[736:]
    grams = {name: pl.col(name) * 1000 for name in ("age", "children")}
    assert lookalikes(half, half.with_columns(**grams)).p_value < 0.001
    assert lookalikes(half, other.with_columns(**grams)).p_value > 0.05


def test_columns_with_other_names_are_not_compared():
    survey = load("cmc").select("age", "education", "religion", "method").cast(pl.String)

    def coded(*names):
        return [("code " + pl.col(name)).alias(name) for name in names]

    renamed = survey.with_columns(coded("education", "religion"))
    found = lookalikes(survey, renamed)
    assert found.columns == ("age", "method")
    assert "Not compared: 'education' and 'religion'." in found.notes
    assert lookalikes(survey, survey.with_columns(coded("age"))).columns == (
        "education",
        "religion",
        "method",
    )
    with pytest.raises(DataError, match="fewer than half of the release's records"):
        lookalikes(survey, survey.select(coded(*survey.columns)))


def test_records_that_repeat_each_other_count_once():
    people = simulate("credit_card", 1000, random_state=1).select("V1", "V2", "V3", "Amount")
    few = pl.concat([people[:10]] * 50)
    found = lookalikes(people[:500], few, random_state=1)
    assert found.p_value < 0.001
    assert found.synthetic_records == 500
    assert found.notes == (
        "Many of the 500 synthetic records repeat each other. They count as 10.",
    )
    nearest = found.per_record().filter(pl.col("record") < 10)["nearest"]
    assert [number % 10 for number in nearest] == list(range(10))
    fresh = pl.concat([people[500:510]] * 50)
    assert lookalikes(people[:500], fresh, random_state=1).p_value > 0.05
    # Natural repetitions are left alone.
    survey = load("cmc").select("education", "religion", "working", "method")
    survey = survey.sample(fraction=1, shuffle=True, seed=1)  # the file has an order
    assert lookalikes(survey[:736], survey[736:], random_state=1).notes == ()


CARDS = simulate("credit_card", 1200, random_state=5).select("V1", "V2", "V3", "V4", "Amount")


@pytest.mark.parametrize(
    "disguise",
    [
        pl.all() * 2.2 + 40,
        -pl.all(),
        pl.all().abs().log1p() * pl.all().sign(),
    ],
)
def test_copies_on_another_scale_are_found(disguise):
    original, fresh = CARDS[:600], CARDS[600:]
    found = lookalikes(original, original.select(disguise), random_state=1)
    assert found.p_value < 0.001
    assert lookalikes(original, fresh.select(disguise), random_state=1).p_value > 0.05


def test_copies_with_exchanged_labels_are_found():
    survey = load("cmc").sample(fraction=1, shuffle=True, seed=1).drop("age", "children")
    survey = survey.with_columns(pl.all().cast(pl.String))
    original, fresh = survey[:736], survey[736:]
    labels = {name: original[name].unique().sort() for name in original.columns}
    exchange = [
        pl.col(name).replace_strict(own, [*own[1:], own[0]], default=pl.col(name))
        for name, own in labels.items()
    ]
    found = lookalikes(original, original.select(exchange), random_state=1)
    assert found.p_value < 0.05 or math.isnan(found.power)
    harmless = lookalikes(original, fresh.select(exchange), random_state=1)
    assert harmless.p_value > 0.05
    # What was not compared as it is proves nothing.
    assert not harmless.power < 0.05


def test_copies_of_half_of_the_columns_are_found():
    original, fresh = CARDS[:600], CARDS[600:]
    loose = [original[name].sample(fraction=1, shuffle=True, seed=1) for name in ("V1", "V2")]
    half = lookalikes(original, original.with_columns(loose), random_state=1)
    assert (half.distance, half.p_value < 0.001) == ("half", True)
    assert half.per_record()["lookalike"].mean() > 0.3
    assert half.control is None
    beside = lookalikes(original, original.with_columns(loose), control=fresh, random_state=1)
    assert beside.control.p_value < 0.01
    assert set(beside.distances()) == {"original", "control"}


def test_nothing_is_proven_if_all_columns_are_unlike():
    original = CARDS[:600]
    swapped = CARDS[600:].select(pl.all() * 3 + 7)
    found = lookalikes(original, swapped, random_state=1)
    assert math.isnan(found.power)
    assert "quite other shares" in found.reasons["power"]
