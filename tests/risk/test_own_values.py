"""Own values: names that are kept, records that stand where their people stand."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from understudy.errors import ParameterError
from understudy.risk import own_values
from understudy.risk.own_values import own_place_p_value

PEOPLE = 200


def letters(rng, count=PEOPLE):
    drawn = rng.choice(list("abcdefghijklmnop"), (count, 8))
    return ["".join(row) for row in drawn]


def table(seed, names):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "name": names,
            "age": rng.integers(20, 80, PEOPLE),
            "ill": rng.choice(["no", "yes"], PEOPLE),
        }
    )


NAMES = letters(np.random.default_rng(0))
ORIGINAL, FRESH = table(1, NAMES), table(2, letters(np.random.default_rng(3)))
NUMBERED = ORIGINAL.with_columns(name=pl.Series(range(PEOPLE)))


def found(original, release, columns="name", **more):
    return {
        mark.column: mark for mark in own_values(original, release, columns=columns, **more).marks
    }


def test_names_that_are_kept():
    mark = found(ORIGINAL, table(2, NAMES))["name"]
    assert (mark.people, mark.kept, mark.expected) == (PEOPLE, PEOPLE, 0)
    assert mark.kept_p_value < 1e-9
    assert mark.aligned_p_value > 0.01


def test_fresh_names():
    mark = found(ORIGINAL, FRESH)["name"]
    assert (mark.kept, mark.kept_p_value) == (0, 1.0)
    assert np.isnan(mark.aligned_p_value)


def test_names_that_people_share_are_found_by_chance():
    # Of 200 people, 100 share a name with one other: fresh people would find as many.
    shared = [*NAMES[:100], *NAMES[100:150], *NAMES[100:150]]
    mark = found(table(1, shared), table(2, [*NAMES[:50], *letters(np.random.default_rng(4), 150)]))
    assert mark["name"].people == 100
    assert mark["name"].kept == 50
    assert mark["name"].expected == 100
    assert mark["name"].kept_p_value > 0.05


@pytest.mark.parametrize("form", ["{}", "P{:05}", "no. {}"])
def test_running_numbers_may_be_made_up(form):
    names = [form.format(number) for number in range(PEOPLE)]
    mark = found(table(1, names), table(2, names))["name"]
    assert mark.kept == PEOPLE
    assert np.isnan(mark.kept_p_value)


def test_long_numbers_are_nobody_elses():
    names = np.random.default_rng(5).integers(10**9, 10**10, PEOPLE)
    assert found(table(1, names), table(2, names))["name"].kept_p_value < 1e-9


@pytest.mark.parametrize("column", ["age", "ill"])
def test_records_that_hold_what_is_true_of_their_owners(column):
    told = table(2, range(PEOPLE)).with_columns(ORIGINAL[column])
    mark = found(NUMBERED, told.sample(fraction=1, shuffle=True, seed=1))["name"]
    assert mark.aligned_p_value < 1e-4
    assert np.isnan(mark.kept_p_value)


TOLD = FRESH.with_columns(ORIGINAL["ill"])


@pytest.mark.parametrize(
    "release",
    [
        TOLD,
        TOLD[:-1],
        TOLD[1:],
        pl.concat([TOLD[:90], TOLD[91:]]),
        pl.concat([TOLD[:130], TOLD[131:]]),
        pl.concat([FRESH[:5], TOLD]),
        pl.concat([TOLD, FRESH]),
        TOLD[::-1],
        TOLD[::-1][3:],
        # All rows moved by some, and the last ones put on top; or as many left out.
        pl.concat([TOLD[-7:], TOLD[:-7]]),
        TOLD[40:],
        TOLD[:100],
        # Three of four people; of 200, half would be seen in about half of the releases only.
        pl.concat([TOLD[:150], FRESH[150:]]),
    ],
)
def test_rows_in_the_original_order(release):
    assert found(ORIGINAL, release)["row number"].aligned_p_value < 1e-3
    shuffled = release.sample(fraction=1, shuffle=True, seed=1)
    assert found(ORIGINAL, shuffled)["row number"].aligned_p_value > 0.05


def test_rows_of_people_who_belong_together():
    # Fifty people, four rows each: what is true of a person is true of neighbours too.
    people = np.repeat(np.arange(PEOPLE // 4), 4)
    told = FRESH.with_columns(ORIGINAL["ill"][people])
    original = ORIGINAL.with_columns(ORIGINAL["ill"][people])
    assert found(original, told)["row number"].aligned_p_value < 1e-3


def test_short_tables_have_no_rows_to_compare():
    assert "row number" in found(ORIGINAL[:20], FRESH[:20])
    assert "row number" not in found(ORIGINAL[:19], FRESH[:19])
    # Of unequal length, each half is looked at by itself.
    assert "row number" in found(ORIGINAL[:40], FRESH[:41])
    assert "row number" not in found(ORIGINAL[:39], FRESH[:41])


def test_constant_columns_tell_nothing():
    same = pl.DataFrame({"a": [1] * PEOPLE, "b": ["x"] * PEOPLE})
    assert found(same, same, columns=())["row number"].aligned_p_value == 1


def ages(rng):
    """Return people by age, with columns that go with it, more or less."""
    age = np.sort(rng.integers(20, 80, PEOPLE))
    likely = age / 100
    return pl.DataFrame(
        {
            "age": age,
            "ill": rng.random(PEOPLE) < likely,
            "sex": rng.choice(["f", "m"], PEOPLE),
            **{
                f"x{number}": (share * likely + rng.normal(0, 0.2, PEOPLE)).round(2)
                for number, share in enumerate((0.2, 0.4, 1.0))
            },
        }
    )


def by_all(rng):
    """Return people by all of their columns, each in the order of the one before."""
    drawn = {name: rng.integers(0, 4, PEOPLE) for name in "abcd"}
    return pl.DataFrame(drawn).sort(list("abcd"))


def visits(rng):
    """Return four visits of each of fifty people, with what differs by person and by visit."""
    person, visit = np.divmod(np.arange(PEOPLE), 4)
    return pl.DataFrame(
        {
            "visit": visit,
            "region": rng.choice(list("abcdefgh"), PEOPLE)[person],
            "pressure": rng.normal(size=PEOPLE)[person] + visit + rng.normal(size=PEOPLE),
        }
    )


def days(rng):
    """Return days in a row, with what differs by weekday and by season."""
    day = np.arange(PEOPLE)
    weekend, season = day % 7 > 4, np.cos(day / 58)
    return pl.DataFrame(
        {"day": day, "weekday": day % 7, "sold": season + weekend + rng.normal(size=PEOPLE)}
    )


def moved(people, shift):
    """Return a file that begins some rows further down."""
    return pl.concat([people[shift:], people[:shift]])


@pytest.mark.parametrize("people", [ages, by_all, visits, days])
def test_files_in_the_same_order_agree_by_themselves(people):
    rng = np.random.default_rng(8)
    values = [
        found(people(rng), moved(people(rng), shift), columns=())["row number"].aligned_p_value
        for shift in (0, 0, 0, 0, 0, 1, 2, 3, 4, 5)
    ]
    # At 5%, no more than two of ten in 99 of 100 cases.
    assert sum(value < 0.05 for value in values) <= 2
    assert min(values) > 0.001


def test_people_numbered_in_the_order_of_the_file():
    rng = np.random.default_rng(9)
    # As text, 10 comes before 2: their rows tell what the order of the numbers does not.
    original, fresh = (ages(rng).with_columns(name=pl.Series(range(PEOPLE))) for _ in range(2))
    assert found(original, fresh)["name"].aligned_p_value > 0.05
    told = fresh.with_columns(original["ill"]).sample(fraction=1, shuffle=True, seed=1)
    assert found(original, told)["name"].aligned_p_value < 1e-3


def test_how_far_the_own_place_stands_out():
    # By definition, without arrays: 6 stretches of 5 people, 10 places, of which 6 is the own.
    rng = np.random.default_rng(10)
    unlike = rng.random((6, 5, 13))
    places = (np.arange(30).reshape(6, 5, 1) + np.arange(-6, 7)) % 30
    unlike[:, :, 6] *= 0.4
    flat = {(i, lag): -unlike[i // 5, i % 5, lag] for i in range(30) for lag in range(13)}
    of_record = {
        j: np.mean([value for (i, lag), value in flat.items() if (i + lag - 6) % 30 == j])
        for j in range(30)
    }
    rest = {(i, lag): value - of_record[(i + lag - 6) % 30] for (i, lag), value in flat.items()}
    of_person = {i: np.mean([rest[i, lag] for lag in range(13)]) for i in range(30)}
    alike = {(i, lag): value - of_person[i] for (i, lag), value in rest.items()}
    scores, errors, stretches = {}, {}, {}
    for lag in range(3, 10):
        beyond = []
        for stretch in range(6):
            mean = {
                near: np.mean([alike[i, near] for i in range(5 * stretch, 5 * stretch + 5)])
                for near in range(lag - 3, lag + 4)
            }
            beyond.append(mean[lag] - np.mean([mean[near] for near in mean if near != lag]))
        scores[lag] = np.mean(beyond)
        stretches[lag] = np.var(beyond, ddof=1) / 6
        errors[lag] = np.var([alike[i, lag] for i in range(30)]) / 30
    least = max(
        np.mean([stretches[lag] for lag in range(3, 10) if lag != 6]),
        np.mean([errors[lag] for lag in range(3, 10)]),
    )
    scores = {lag: scores[lag] / max(errors[lag], least) ** 0.5 for lag in scores}
    others = [score for lag, score in scores.items() if lag != 6]
    gap = (scores[6] - max(others)) / max(1, np.std(others))
    by_chance = 0.5 * math.erfc(gap / 2**0.5)
    assert 1e-9 < by_chance < 0.01
    assert own_place_p_value(unlike, places) == pytest.approx(by_chance)
    # If all may have shifted, the own place has 95% of the chance, and all seven share the rest.
    assert own_place_p_value(unlike, places, may_shift=True) == pytest.approx(by_chance / 0.95)


def test_what_the_value_itself_tells_is_no_sign():
    def flights(seed):
        rng = np.random.default_rng(seed)
        airline = rng.choice(["LH", "BA", "AF", "KL"], 600)
        number = [
            f"{code}{one}" for code, one in zip(airline, rng.integers(1, 900, 600), strict=True)
        ]
        return pl.DataFrame({"number": number, "airline": airline, "delay": rng.normal(size=600)})

    original, fresh = flights(1), flights(2)
    mark = found(original, fresh, columns="number")["number"]
    assert mark.kept >= 20
    assert mark.aligned_p_value > 0.01
    # The delays go with the numbers only where people of the original are in the release.
    told = pl.concat([original[:300], fresh[300:]])
    assert found(original, told, columns="number")["number"].aligned_p_value < 1e-6


def test_control_records():
    other = letters(np.random.default_rng(6))
    release = table(2, [*NAMES[:80], *other[:20], *letters(np.random.default_rng(7), 100)])
    mark = found(ORIGINAL, release, control=table(3, other))["name"]
    assert (mark.kept, mark.control_people, mark.control_kept) == (80, PEOPLE, 20)


def test_the_result():
    result = own_values(ORIGINAL, table(2, NAMES), columns="name")
    assert result.worst.column == "name"
    assert result.p_value == pytest.approx(2 * result.worst.p_value)
    assert "the release holds those of 200; by chance it would hold those of 0." in str(result)
    (line,) = result.lines()
    assert (line.synthetic, line.baseline) == (1.0, 0.0)
    assert result.to_frame().height == 2
    nothing = own_values(ORIGINAL[:5], FRESH[:6], columns=[])
    assert (nothing.marks, nothing.lines()) == ((), [])
    assert np.isnan(nothing.p_value)
    assert nothing.to_frame().height == 0


def test_columns_are_those_of_the_schema():
    assert {mark.column for mark in own_values(ORIGINAL, FRESH).marks} == {"name", "row number"}
    with pytest.raises(ParameterError, match="'nam' is not a column"):
        own_values(ORIGINAL, FRESH, columns="nam")


@pytest.mark.long
def test_alarms_are_as_rare_as_they_are_said_to_be():
    values = [
        own_values(table(seed, letters(np.random.default_rng(seed))),
                   table(seed + 1, letters(np.random.default_rng(seed + 1))),
                   columns="name", random_state=seed).p_value
        for seed in range(0, 400, 2)
    ]  # fmt: skip
    # 200 tests at 5%: ten on average, and no more than 18 in 99 of 100 cases.
    assert sum(value < 0.05 for value in values) <= 18


def test_names_in_capitals_and_addresses_elsewhere():
    capitals = table(2, [name.upper() for name in NAMES])
    assert found(ORIGINAL, capitals)["name"].kept == PEOPLE
    here, there = (
        frame.with_columns(name=pl.Series([f"{name}@{host}" for name in NAMES]))
        for frame, host in ((ORIGINAL, "here.example"), (FRESH, "there.example"))
    )
    assert found(here, there)["name"].kept_p_value < 1e-9


class TestUnits:
    """Names of units are own values, although several records have each."""

    RNG = np.random.default_rng(4)
    NAMES = RNG.choice(10**8, 80, replace=False)
    HOMES = np.repeat(NAMES, 3)

    def people(self, names=None):
        names = self.HOMES if names is None else names
        return pl.DataFrame({"household": names, "age": self.RNG.integers(0, 90, len(names))})

    def test_a_release_with_their_names_is_told(self):
        release = self.people(self.RNG.permutation(self.HOMES))
        found = own_values(self.people(), release)
        assert (found.worst.column, found.worst.people, found.worst.kept) == ("household", 80, 80)
        assert found.p_value < 0.001

    def test_made_up_names_are_not(self):
        others = np.repeat(self.NAMES + 10**8, 3)
        found = own_values(self.people(), self.people(others))
        assert found.marks[0].kept == 0
        assert found.p_value > 0.05
