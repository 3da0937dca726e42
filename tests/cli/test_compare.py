"""`understudy compare`: files and methods side by side."""

from __future__ import annotations

import html
import shlex

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import make_people
from understudy import Cart, Independent
from understudy.audit import Audit, audit
from understudy.audit.measures.prediction import SEEN
from understudy.cli.named_releases import read_files, read_methods
from understudy.data import hold_out
from understudy.errors import ParameterError

QUICK = ("--keys", "age,sex", "--sensitive", "ill", "--measures", "quick", "--json", "a.json")


@pytest.fixture
def compare(call, people):
    def run(*arguments):
        code, out, err = call("compare", "people.csv", *arguments, *QUICK)
        found = Audit.from_json(people / "a.json").findings if code < 2 else None
        return code, out, err, found

    return run


class TestFiles:
    def test_each_has_a_row_between_no_release_and_the_original(self, compare):
        code, out, _, found = compare("release.csv", "copy=people.csv")
        assert code == 0
        assert [release.name for release in found.releases] == ["release.csv", "copy"]
        rows = [line.split() for line in out.splitlines()]
        for release in found.releases:
            (row,) = (cells for cells in rows if cells[:1] == [release.name])
            assert row[2] == f"{100 * release.figure('gcap').synthetic:.1f}"
        (copied,) = (cells for cells in rows if cells[:1] == ["copy"])
        (original,) = (cells for cells in rows if cells[:2] == ["the", "original"])
        assert copied[2] == original[2]

    def test_files_of_one_name_are_syntheses_by_one_method(self, compare):
        _, _, _, found = compare("both=release.csv", "both=people.csv", "release.csv")
        assert [(one.name, one.syntheses) for one in found.releases] == [
            ("both", 2),
            ("release.csv", 1),
        ]

    def test_a_file_with_the_sign_in_its_name(self, people):
        (people / "a=b.csv").write_bytes((people / "release.csv").read_bytes())
        assert {name: list(map(str, paths)) for name, paths in read_files(["a=b.csv"]).items()} == {
            "a=b.csv": ["a=b.csv"]
        }

    def test_a_model_by_the_name_of_its_file(self, compare):
        _, _, _, found = compare("r=release.csv", "copy=people.csv", "--model", "r=model.us")
        assert [one.strong is not None for one in found.releases] == [True, False]


class TestPrediction:
    """Whether the release has seen the records that the prediction is tested on."""

    @pytest.fixture
    def tested(self, call, people):
        table = pl.read_csv(people / "people.csv")
        table[:90].write_csv(people / "known.csv")
        table[90:].write_csv(people / "new.csv")

        def run(*options):
            code, _, err = call(
                "compare", "known.csv", "--methods", "cart,copula", "--keys", "age,sex",
                "--sensitive", "ill", "--target", "works", "--classifiers", "none", *options,
                "--json", "a.json", "-o", "a.html",
            )  # fmt: skip
            assert code == 0, err
            return Audit.from_json(people / "a.json"), (people / "a.html").read_text(), err

        return run

    @pytest.mark.slow
    def test_given_records(self, tested):
        found, page, err = tested("--test", "new.csv")
        for release in found.findings.releases:
            assert (
                release.utility.prediction.held_out
                == "30 real records that the synthesis did not use"
            )
            assert not release.utility.prediction.note
        assert found.findings.measures == "standard, with no classifiers"
        assert SEEN not in page
        # That the copula has no strong attacker is told in the report, and is no trouble.
        assert "needs a model that draws from counts" in found.findings.releases[1].errors["strong"]
        assert "was not measured" not in err

    @pytest.mark.slow
    def test_records_of_the_original(self, tested):
        found, page, _ = tested("--holdout", "0")
        for judged in found.verdict.releases:
            assert any(text.endswith(SEEN) for text in judged.sentences)
        assert SEEN in page

    @pytest.mark.slow
    def test_records_that_are_kept_back(self, tested):
        found, page, _ = tested()
        for release in found.findings.releases:
            assert release.utility.prediction.held_out.startswith("18 real records that the")
        assert SEEN not in page


class TestHoldout:
    def test_methods_see_the_same_part_and_the_others_are_control_records(self, compare, people):
        code, out, _, found = compare("--methods", "cart,independent", "--seed", "3")
        assert code == 0
        parts = hold_out(pl.read_csv(people / "people.csv"), 0.2, by="ill", random_state=3)
        assert found.rows == len(parts.kept) == 96
        twin = audit(
            parts.kept,
            {
                "cart": Cart(random_state=3).fit(parts.kept).sample(),
                "independent": Independent(random_state=3).fit(parts.kept).sample(),
            },
            keys=["age", "sex"],
            sensitive="ill",
            control=parts.held_out,
            measures="quick",
            random_state=3,
        )
        for release, expected in zip(found.releases, twin.findings.releases, strict=True):
            assert release.figure("gcap") == expected.figure("gcap")
            assert release.figure("gcap").control >= 0
        assert "24 of 120 records (20%) were kept back" in found.notes[0]
        assert found.notes[0] in " ".join(out.split())

    def test_none(self, compare):
        _, _, _, found = compare("--methods", "cart", "--holdout", "0")
        assert (found.rows, found.notes) == (120, ())
        assert np.isnan(found.releases[0].figure("gcap").control)

    def test_a_file_may_be_made_from_all_records(self, compare):
        _, _, _, found = compare("release.csv", "--methods", "cart")
        assert found.rows == 120
        (note,) = found.notes
        assert note.startswith("No records were kept back: 'release.csv' may be made from all of")

    def test_given_control_records(self, compare):
        fresh = make_people().with_columns(pl.col("age") + 1)
        fresh.write_csv("fresh.csv")
        _, _, _, found = compare("release.csv", "--methods", "cart", "--control", "fresh.csv")
        assert (found.rows, found.notes) == (120, ())
        assert found.releases[1].figure("gcap").control >= 0


class TestMethods:
    def test_methods_are_made_here_and_their_models_are_known(self, compare, people, content):
        before = set(content(people))
        code, _, _, found = compare(
            "release.csv", "--methods", "independent,cart", "--method",
            "big=bayes:parents=2,structure=genetic,generations=3", "--protect", "ill:works",
            "--copies", "2", "--seed", "3",
        )  # fmt: skip
        assert code == 0
        assert {one.name: one.method for one in found.releases} == {
            "release.csv": "",
            "independent": "Independent()",
            "cart": "Cart()",
            "cart (protected)": "Cart(protect={'ill': 'works'})",
            "big": "BayesNet(parents=2, structure='genetic', generations=3)",
            "big (protected)": "BayesNet(parents=2, structure='genetic', "
            "protect={'ill': 'works'}, generations=3)",
        }
        for one in found.releases[1:]:
            assert (one.syntheses, one.strong is not None) == (2, True)
        assert set(content(people)) - before == {"a.json"}

    def test_the_gate_knows_them_by_name(self, compare):
        code, _, err, _ = compare(
            "--methods",
            "cart",
            "--protect",
            "ill:",
            "--fail-if",
            "[cart (protected)] gcap.gain < 1",
        )
        assert (code, "cart (protected): gcap.gain is" in err) == (1, True)

    @pytest.mark.parametrize(
        ("text", "name", "expected"),
        [
            ("cart", "cart", {}),
            ("strict = cart : minbucket = 50", "strict", {"minbucket": 50}),
            ("cart:cp=1e-3,proper=true", "cart:cp=1e-3,proper=true", {"cp": 1e-3, "proper": True}),
            ('a=cart:keep=["x", "y,z"],strata=\'s\'', "a", {"keep": ["x", "y,z"], "strata": "s"}),
            ("a=cart:protect=ill:works", "a", {"protect": {"ill": "works"}}),
            ("a=cart:protect=ill:", "a", {"protect": {"ill": None}}),
            (
                'a=bayes:protect=["ill:works", "b:"]',
                "a",
                {"protect": {"ill": "works", "b": None}},
            ),
            ('a=cart:protect={"ill" = "works"}', "a", {"protect": {"ill": "works"}}),
            ("a=cart:minbucket={age=9}", "a", {"minbucket": {"age": 9}}),
            ("a=bayes:root=age", "a", {"root": "age"}),
        ],
    )
    def test_parameters_are_typed_as_in_toml(self, text, name, expected):
        ((found, model),) = read_methods([text], [], seed=7).items()
        assert found == name
        given = model.get_params()
        assert {key: given[key] for key in expected} == expected
        assert given == type(model)(**expected, random_state=7).get_params()

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("", "is not a method. A method is NAME=METHOD:PARAMETER=VALUE"),
            ("=cart", "is not a method"),
            ("crt", "there is no method 'crt'; there are bayes, cart, .* Did you mean 'cart'"),
            ("cart:minbuckt=3", "has no parameter 'minbuckt'.*Did you mean 'minbucket'"),
            ("cart:random_state=3", "random_state is given with --seed"),
            ("cart:minbucket", "'minbucket' is not PARAMETER=VALUE"),
            ("cart:minbucket=", "'minbucket=' is not PARAMETER=VALUE"),
            ("cart:cp=1,cp=2", "cp is given twice"),
            ("cart:cp=1,,proper=true", "'' is not PARAMETER=VALUE"),
            ("cart:keep=[1", r"'\[1' is not a value. Write it as in TOML"),
            ("cart:keep=two words", "'two words' is not a value"),
            ("cart:cp=1\nproper=true", "is not a value"),
            ("cart:protect=ill", "--protect must be SENSITIVE:TARGET"),
        ],
    )
    def test_a_method_that_cannot_be_read(self, text, says):
        with pytest.raises(ParameterError, match=f"(?s){says}"):
            read_methods([text], [], seed=0)

    def test_nothing_in_a_value_is_run(self, tmp_path):
        with pytest.raises(ParameterError):
            read_methods([f"cart:keep=open('{tmp_path}/x','w')"], [], seed=0)
        assert not list(tmp_path.iterdir())

    def test_one_that_protects_already_is_made_once(self):
        found = read_methods(["a=cart:protect=ill:age", "b=cart"], ["ill:works"], seed=0)
        assert list(found) == ["a", "b", "b (protected)"]
        assert found["a"].protect == {"ill": "age"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "Give synthetic tables, --methods or --method"),
        (("x=release.csv", "--method", "x=cart"), "'x' is both a file and a method"),
        (("release.csv", "--holdout", "0.2"), "--holdout needs methods only: 'release.csv' is a"),
        (("--methods", "cart,cart"), "Two methods are called 'cart'"),
        (("--methods", "cart", "--protect", "il:works"), "cart (protected): protect: 'il' is not"),
        (("--methods", "independent", "--protect", "ill:"), "--protect needs the method"),
        (("release.csv", "--schema", "s.toml"), "--schema needs --methods or --method."),
        (("release.csv", "--model", "model.us"), "--model must be NAME=MODEL"),
        (("r=release.csv", "--model", "s=model.us"), "there is no table 's'; there is r."),
        (("--methods", "cart", "--model", "cart=model.us"), "there is no table 'cart'."),
        (("relese.csv",), "There is no file relese.csv. Did you mean 'release.csv'?"),
        (("--methods", "cart", "--fail-if", "[crt] gcap.gain > 0"), "Did you mean 'cart'?"),
        (("release.csv", "-o", "release.csv", "--force"), "release.csv should end in .html"),
        (("r=release.csv", "--json", "release.csv", "--force"), "is already an input"),
    ],
)
def test_mistakes(refused, people, arguments, says):
    refused("compare", "people.csv", *QUICK, *arguments, says=says)


def test_the_release_to_choose_can_be_kept(compare, call, people):
    _, out, _, found = compare("--methods", "independent,cart", "-o", "a.html")
    (told,) = (line for line in out.splitlines() if "Make this release again, and keep it." in line)
    (chosen,) = (one for one in found.releases if told.startswith(f"- {one.name}: "))
    command = out[out.index(told) :].splitlines()[1].strip()
    page = (people / "a.html").read_text().replace("<span>", "").replace("</span>", "")
    assert html.escape(command) in page
    words = shlex.split(command)
    folder = f"{chosen.name}-release"
    assert words[:5] == ["understudy", "run", "people.csv", "-o", folder]
    assert call(*words[1:])[0] == 0
    again = Audit.from_json(people / folder / "confidential" / "audit.json").findings
    assert again.releases[0].figures == chosen.figures
    assert (people / folder / "synthetic.csv").is_file()
