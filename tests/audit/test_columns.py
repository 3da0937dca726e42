"""Which column gives people away: tables where it is known."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest

from understudy import load
from understudy.audit import Audit, audit
from understudy.audit.columns import columns_that_tell
from understudy.data.joint_coding import encode
from understudy.errors import ParameterError

ROWS = 600


def make(seed=1, rows=ROWS):
    """Make people of whom nothing tells anything: a number of their own, and random answers."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "code": rng.permutation(10 * rows)[:rows] / 10,
            "ill": rng.choice(["yes", "no"], rows),
            "colour": rng.choice(["red", "green", "blue"], rows),
            "points": rng.integers(0, 100, rows),
        }
    )


@pytest.fixture(scope="module")
def people():
    return make()


@pytest.fixture(scope="module")
def telling(people):
    """Return a release with the true illness of known people, and all else drawn anew."""
    other = make(seed=2)
    return people.select("code", "ill").with_columns(other["colour"], other["points"])


def ranked(*tables, **options):
    found = audit(*tables, measures="quick", random_state=1, **options)
    return found, {one.column: one for one in found.findings.releases[0].ranking}


@pytest.mark.parametrize("keys", [None, "code"])
@pytest.mark.parametrize("controlled", [True, False])
def test_the_one_column_that_gives_people_away_comes_first(people, telling, keys, controlled):
    control = make(seed=3) if controlled else None
    found, lines = ranked(people, telling, keys=keys, control=control)
    assert found.findings.sensitive == "ill"
    assert next(iter(lines)) == "ill"
    ill = lines.pop("ill")
    # Whoever looks up the code alone finds the record; other keys get in the way.
    assert ill.keys == ("code",)
    assert ill.synthetic == 1.0
    assert ill.gain == pytest.approx(1 - ill.baseline)
    assert {one.level for one in lines.values()} == {"low"}
    others = ("code", "colour", "points") if keys is None else ("code",)
    assert found.findings.keys == others
    if controlled:
        assert (ill.level, ill.tells) == ("high", "people")
        # Of others, half are guessed: four standard errors.
        assert ill.control == pytest.approx(0.5, abs=4 * math.sqrt(0.25 / ROWS))
        assert ill.difference_low < ill.difference < ill.difference_high
        assert ill.p_value < 1e-6
    else:
        assert (ill.level, ill.tells) == ("raised", "either")
        assert math.isnan(ill.difference)


def test_what_is_true_of_everybody_is_a_pattern(people):
    def with_answer(table):
        # Four of five say the same; what is told by another column in any case is left out.
        other = pl.int_range(pl.len()) % 5 == 0
        same = pl.when(other).then(pl.lit("red")).otherwise(pl.col("colour"))
        return table.with_columns(same=same)

    release, control = with_answer(make(seed=2)), with_answer(make(seed=3))
    _, lines = ranked(with_answer(people), release, control=control)
    assert list(lines)[:2] in (["same", "colour"], ["colour", "same"])
    assert (lines["same"].level, lines["same"].tells) == ("raised", "pattern")
    assert lines["ill"].level == "low"


def test_an_unrelated_release_gives_nothing_away(people):
    found, lines = ranked(people, make(seed=2), control=make(seed=3))
    assert {one.level for one in lines.values()} == {"low"}
    assert "No column is given away beyond chance." in found.findings.notes


def test_what_is_not_tried(people):
    table = people.with_columns(
        constant=pl.lit("x"), name=pl.Series([f"person {row}" for row in range(ROWS)])
    )
    _, lines = ranked(table, table.drop("points"))
    assert set(lines) == {"code", "ill", "colour"}


def test_the_notes_and_the_call_say_what_was_done(people, telling):
    found, _ = ranked(people, telling, keys="code")
    assert found.findings.notes[0] == (
        "No sensitive column was named. So each of 3 columns was tried as the secret of an "
        "attacker who knows 'code'. The audit is about 'ill', which comes first."
    )
    assert found.findings.command == (
        "audit(original, synthetic, keys=['code'], measures='quick', random_state=1)"
    )
    every, _ = ranked(people, telling)
    assert "an attacker who knows all other columns." in every.findings.notes[0]
    assert "keys" not in every.findings.command


def test_the_worst_of_several_releases_decides(people, telling):
    found, lines = ranked(people, {"harmless": make(seed=2), "telling": telling})
    assert found.findings.sensitive == "ill"
    assert lines["ill"].level == "low"
    assert found.findings.releases[1].ranking[0].column == "ill"


def test_it_is_in_the_report_and_in_the_document(people, telling):
    found, _ = ranked(people, telling, control=make(seed=3))
    again = Audit.from_json(found.to_json())
    assert again == found
    document = json.loads(found.to_json())
    assert document["findings"]["releases"][0]["ranking"][0]["column"] == "ill"
    page = again.to_html()
    assert "Which column gives records away?" in page
    assert "about records in the data" in page


def test_an_audit_of_a_named_column_has_no_ranking(people, telling):
    found, lines = ranked(people, telling, keys="code", sensitive="ill")
    assert not lines
    assert "Which column gives records away?" not in found.to_html()


@pytest.mark.parametrize(
    ("tables", "options", "message"),
    [
        (("code", "ill"), {"keys": ["cod"]}, "'cod' is not a column.*columns of all tables"),
        (("ill",), {}, "there is no column to try"),
        (("code", "ill"), {"keys": ["code", "ill"]}, "there is no column to try"),
        (("ill",), {"sensitive": "ill"}, "keys are not named, and there is no other column"),
        (("code", "ill"), {"sensitive": "il"}, "'il' is not a column. Did you mean 'ill'"),
    ],
)
def test_what_cannot_be_ranked(people, tables, options, message):
    with pytest.raises(ParameterError, match=message):
        audit(people, people.select(tables), **options)


def test_without_keys_the_attacker_of_a_named_column_knows_all_others(people, telling):
    asked = {"measures": "quick", "random_state": 1}
    found = audit(people, telling, sensitive="ill", **asked).findings
    assert found.sensitive == "ill"
    assert set(found.keys) == set(people.columns) - {"ill"}
    assert not found.releases[0].ranking
    assert found.notes[0].startswith(f"No keys were named. So the attacker knows {len(found.keys)}")
    named = audit(people, telling, keys=list(found.keys), sensitive="ill", **asked).findings
    assert named.releases[0].figure("gcap") == found.releases[0].figure("gcap")


def test_numbers_are_guessed_within_a_tolerance():
    survey = load("cmc")
    _, lines = ranked(survey, survey)
    # A copy tells each woman's age, but within 5% of the ranks a constant is right for some.
    assert lines["age"].synthetic > 0.7
    assert 0.1 < lines["age"].baseline < 0.3


def test_what_tells_a_column_anyway_is_no_key_for_it(people):
    """Whoever knows the points knows whether they are many: no release is needed for that."""

    def with_twins(table):
        points = pl.col("points") // 10
        shade = pl.col("colour").replace({"red": "r", "green": "g", "blue": "b"})
        return table.with_columns(points, many=points > 4, shade=shade)

    made = with_twins(people)
    assert columns_that_tell(encode(made), made.columns) == {
        "code": (), "ill": (), "colour": ("shade",), "points": (), "many": ("points",),
        "shade": ("colour",),
    }  # fmt: skip
    _, lines = ranked(made, with_twins(make(seed=2)))
    assert {lines[name].level for name in ("many", "colour", "shade")} == {"low"}
    # That they are many makes a guess of the points better, but does not tell them.
    assert lines["points"].gain > 0
    found, _ = ranked(made.drop("points", "code"), with_twins(make(seed=2)).drop("points", "code"))
    twins = {"colour": "shade", "shade": "colour"}
    told = [note for note in found.findings.notes if "without any release" in note]
    assert bool(told) == (found.findings.sensitive in twins)
    assert twins.get(found.findings.sensitive) not in found.findings.keys
    # Keys that are named stay.
    found, lines = ranked(made, with_twins(make(seed=2)), keys=["points", "colour"])
    assert lines["many"].gain > 0.4
    assert found.findings.sensitive in {"many", "shade"}
