"""Differential privacy on the command line: public or refused, accounted for, and told."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import make_people
from understudy import Schema, Synthesizer, write

PUBLIC = """
understudy_schema = 1
public = true

[[column]]
name = "age"
kind = "integer"
levels = [20, 30, 40, 50, 60, 70]

[[column]]
name = "sex"
kind = "categorical"
levels = ["f", "m"]

[[column]]
name = "ill"
kind = "categorical"
levels = ["no", "yes"]

[[column]]
name = "works"
kind = "categorical"
levels = ["no", "yes"]
"""
SYNTH = ("synth", "people.csv", "-o", "out.csv", "--seed", "1")
PRIVATE = ("--method", "independent", "--epsilon", "1", "--public-schema", "public.toml")
QUICK = ("--keys", "age,sex", "--sensitive", "ill", "--measures", "quick", "--seed", "1")


@pytest.fixture(autouse=True)
def private(people):
    (people / "public.toml").write_text(PUBLIC)


def spent(path):
    (table,) = json.loads(path.read_text())["tables"].values()
    return [(one["what"], one["epsilon"]) for one in table["releases"]]


class TestWhatIsPublic:
    def test_columns_that_are_not_are_named_with_what_to_do(self, refused):
        says = (
            "declare it public: public = true in its file, or --public-schema FILE. Or pay for "
            "reading them from the records with noise: set --spend-on-domain to a share of the "
            "budget, such as 0.1. - not declared public: 'age', 'sex', 'ill' and 'works'."
        )
        refused(*SYNTH, "--epsilon", "1", says=says)

    def test_a_schema_file_says_it_for_all_columns_or_for_some(self, call, refused, people):
        assert call(*SYNTH, "--epsilon", "1", "--schema", "public.toml")[0] == 0
        text = PUBLIC.replace("public = true", "").replace('"sex"', '"sex"\npublic = true')
        (people / "some.toml").write_text(text)
        says = "not declared public: 'age', 'ill' and 'works'."
        refused(*SYNTH, "--force", "--epsilon", "1", "--schema", "some.toml", says=says)

    def test_public_survives_the_file(self, people):
        schema = Schema.load(people / "public.toml").edit("age", outside="drop")
        schema.save(people / "again.toml")
        assert Schema.load(people / "again.toml") == schema
        assert all(column.public for column in schema)

    def test_it_can_be_paid_for(self, call, people):
        code, out, err = call(*SYNTH, "--epsilon", "40", "--spend-on-domain", "0.5")
        assert code == 0
        # Nothing is said of how the columns look.
        assert "How the columns were read" not in out + err
        assert set(pl.read_csv(people / "out.csv")["sex"]) <= {"f", "m", "other"}

    def test_it_is_given_once(self, refused):
        both = ("--schema", "public.toml", "--public-schema", "public.toml")
        refused(*SYNTH, "--epsilon", "1", *both, says="give it in place of --schema")

    def test_what_would_look_at_the_records_is_refused(self, refused):
        more = {
            ("--group-rare", "5"): "--group-rare cannot be used with --epsilon",
            ("--kind", "age=categorical"): "--kind: with --epsilon, a column cannot be read anew",
            ("--unit-id", "sex"): "epsilon holds for one record",
        }
        for options, says in more.items():
            refused(*SYNTH, *PRIVATE, *options, says=says)


class TestWithoutEpsilon:
    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (("--delta", "0.01"), "--delta has no effect without --epsilon."),
            (("--spend-on-domain", "0.1"), "--spend-on-domain has no effect without --epsilon."),
            (("--neighbours", "add-remove"), "--neighbours has no effect without --epsilon."),
            (("--ledger", "l.json"), "--ledger has no effect without --epsilon."),
            (("--public-schema", "public.toml"), "--public-schema has no effect without"),
            (("--epsilon", "0"), "--epsilon must be a positive number; got 0.0."),
        ],
    )
    def test_what_belongs_to_it_is_refused(self, refused, options, says):
        refused(*SYNTH, *options, says=says)

    @pytest.mark.parametrize(
        ("method", "says"),
        [
            (
                "cart",
                "Its trees are cut where single records lie, and its leaves hold their values.",
            ),
            ("copula", "Its margins are the values of the records themselves."),
            ("random", "It learns nothing that noise could cover."),
        ],
    )
    def test_methods_that_cannot_be_private_say_why(self, refused, method, says):
        says = f"--epsilon cannot be used with --method {method}. {says} Choose --method marginals"
        refused(*SYNTH, "--method", method, "--epsilon", "1", says=says)

    @pytest.mark.parametrize("structure", ["genetic", "optimal"])
    def test_searches_that_cannot_be_private_say_why(self, refused, structure):
        private = ("--epsilon", "1", "--public-schema", "public.toml", "--structure", structure)
        refused(*SYNTH, *private, says=f"structure='{structure}' cannot be private")


class TestLedger:
    def test_releases_add_up_and_the_cap_holds(self, call, people):
        said = [call(*SYNTH, *PRIVATE, "--ledger", "l.json", "--force")[2] for _ in range(4)]
        assert "l.json: First release of this table: 1 of 3 spent (epsilon)." in said[0]
        assert "Third release of this table: 3 of 3 spent" in said[2]
        assert "3 releases of this table cost 3, and all together may cost 3" in said[3]
        assert spent(people / "l.json") == [("independent", "1")] * 3

    def test_dropped_columns_do_not_make_it_another_table(self, call):
        call(*SYNTH, *PRIVATE, "--ledger", "l.json")
        _, _, err = call(*SYNTH, *PRIVATE, "--ledger", "l.json", "--force", "--drop", "works")
        assert "Second release of this table: 2 of 3" in err

    def test_a_stream_is_the_same_table(self, call):
        call(*SYNTH, *PRIVATE, "--ledger", "l.json")
        _, _, err = call(*SYNTH, *PRIVATE, "--ledger", "l.json", "--force", "--stream")
        assert "Second release" in err

    def test_a_damaged_file_is_a_plain_message(self, refused, people):
        (people / "l.json").write_text("{}")
        refused(
            *SYNTH, *PRIVATE, "--ledger", "l.json", says="is no ledger of tables, or is damaged"
        )

    def test_it_is_no_output(self, refused):
        refused(*SYNTH[:3], "l.csv", *PRIVATE, "--ledger", "l.csv", says="l.csv")

    def test_a_final_release_is_paid_for_twice_or_not_begun(self, call, people):
        run = ("run", "people.csv", "-o", "out", *QUICK, *PRIVATE, "--ledger", "l.json")
        code, _, err = call(*run, "--final", "--holdout", "0.2")
        assert code == 0, err
        assert spent(people / "l.json") == [("independent", "1")] * 2
        text = (people / "out" / "README.md").read_text()
        assert "Differentially private with epsilon 1" in text
        assert "confidential; the model, which keeps its epsilon, with its ledger |" in text
        assert "**Two releases were paid for**" in text
        assert "| `values of 'sex'` | discrete Laplace | 2 |" in text
        # One more is possible, two are not: nothing is spent, then.
        code, _, err = call(*run, "--final", "--force")
        assert code == 2
        assert "The 2 that are asked for now would cost 2, and 1 is left" in err
        assert len(spent(people / "l.json")) == 2

    @pytest.mark.slow
    def test_compared_methods_all_count(self, call, people):
        compared = ("compare", "people.csv", "--methods", "independent,bayes,random", *QUICK)
        private = ("--epsilon", "1", "--public-schema", "public.toml", "--ledger", "l.json")
        code, _, err = call(*compared, *private, "--copies", "2")
        assert code == 0, err
        assert spent(people / "l.json") == [("independent", "1"), ("bayes", "1")]
        code, _, err = call(*compared, *private)
        assert code == 2
        assert "The 2 that are asked for now would cost 2" in err

    def test_compare_needs_a_method_that_can_be_private(self, call):
        compared = ("compare", "people.csv", "--methods", "cart", *QUICK)
        _, _, err = call(*compared, "--epsilon", "1")
        assert "--epsilon cannot be used with --method cart" in err


class TestHoldout:
    @pytest.mark.slow
    def test_who_is_kept_back_does_not_depend_on_values(self, call, people):
        kept = []
        for turn in range(2):
            table = make_people()
            if turn:
                table = table.with_columns(
                    ill=pl.when(pl.arange(0, 120) == 3).then(pl.lit("no")).otherwise("ill")
                )
                write(table, people / "people.csv", overwrite=True)
            call("run", "people.csv", "-o", f"out{turn}", *QUICK, *PRIVATE)
            kept.append((people / f"out{turn}" / "confidential" / "kept-back.txt").read_text())
        assert kept[0] == kept[1]

    def test_nobody_is_if_a_record_may_be_absent(self, call, people, refused):
        absent = (*PRIVATE, "--neighbours", "add-remove")
        call("run", "people.csv", "-o", "out", *QUICK, *absent)
        assert not (people / "out" / "confidential" / "kept-back.txt").exists()
        says = "one record more would change which of the others are kept back"
        refused("run", "people.csv", "-o", "new", *QUICK, *absent, "--holdout", "0.3", says=says)


def test_show_has_the_ledger(call, people):
    code, out, err = call(*SYNTH, *PRIVATE, "--save-model", "m.us")
    assert code == 0
    assert "Wrote m.us: the model, which keeps its epsilon, with its ledger." in err
    _, out, _ = call("show", "m.us")
    assert "Differentially private with epsilon 1: whatever anybody sees in it" in out
    for text in (
        "discrete Laplace",
        "values of 'sex'",
        "1 of 1 spent",
        "OpenDP",
        "Taken for public",
    ):
        assert text in out
    assert Synthesizer.load(people / "m.us").ledger_.guarantee.epsilon == 1


def test_noise_has_no_seed_and_drawing_has(call, people):
    tables = []
    for _ in range(2):
        call(*SYNTH, *PRIVATE, "--force")
        tables.append((people / "out.csv").read_bytes())
    assert tables[0] != tables[1]


def test_a_single_record_is_nowhere_in_the_output(call, people):
    odd = pl.DataFrame({"age": [7654321], "sex": ["Hildegardis"], "ill": ["no"], "works": ["no"]})
    many = pl.concat([make_people()] * 5 + [odd])
    write(many, people / "people.csv", overwrite=True)
    for how in (PRIVATE, ("--method", "independent", "--epsilon", "5", "--spend-on-domain", "0.4")):
        code, out, err = call(
            "-v", *SYNTH, *how, "--force", "--save-model", "m.us", "--ledger", "l.json"
        )
        shown = call("show", "m.us")[1] if code == 0 else ""
        texts = [out, err, shown, (people / "out.csv").read_text() if code == 0 else ""]
        assert code == 0 or "cap" in err
        assert not any(secret in text for text in texts for secret in ("Hildegardis", "7654321"))


def test_dates_and_decimals_are_written_as_in_the_original(call, people):
    rng = np.random.default_rng(1)
    rows = "".join(
        f"{a:.2f};{d:02d}.03.2020\n"
        for a, d in zip(rng.random(300) * 10, rng.integers(1, 29, 300), strict=True)
    )
    (people / "d.csv").write_text("amount;day\n" + rows.replace(".", ",", 0))
    (people / "d.toml").write_text(
        'understudy_schema = 1\n[[column]]\nname = "amount"\nkind = "real"\nrange = [0, 10]\n'
        'bins = 4\ndecimals = 2\n[[column]]\nname = "day"\nkind = "datetime"\nbins = 4\n'
        'range = ["2020-03-01", "2020-03-31"]\n'
    )
    code, _, err = call(
        "synth",
        "d.csv",
        "-o",
        "o.csv",
        "--method",
        "independent",
        "--epsilon",
        "20",
        "--public-schema",
        "d.toml",
        "--seed",
        "1",
    )
    assert code == 0, err
    first, *lines = (people / "o.csv").read_text().splitlines()
    assert first == "amount;day"
    assert all(re.fullmatch(r"\d+\.\d\d;\d\d\.03\.2020", line) for line in lines)
