"""Advice as commands: what is typed. That it runs is tested in `test_advice_runs`."""

from __future__ import annotations

import shlex
from pathlib import Path

import polars as pl
import pytest

from understudy.audit.advice import Advice
from understudy.cli.advice_commands import AdviceCommands
from understudy.cli.holdout import Rerun
from understudy.cli.options import Csv
from understudy.cli.synthesis import Source

WHO = ["--keys", "age,education", "--sensitive", "religion"]


def command(*advice, data="survey.csv", csv=None, sources=None, again=(), audit=(), seed=0,
            rerun=None, **more):  # fmt: skip
    commands = AdviceCommands(Path(data), csv or Csv(), sources or {}, again, audit, seed, rerun)
    return commands(Advice("", "", *advice, **more))


def synthesize(method, parameters, **more):
    return command("synthesize", method, parameters, "new", **more)


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


class TestSynthesis:
    def test_with_its_model(self):
        assert synthesize("bayes", {"parents": 2, "structure": "genetic"}) == (
            "understudy synth survey.csv -o new.csv --method bayes --parents 2 --structure genetic "
            "--save-model new.us"
        )

    def test_what_belongs_to_epsilon_goes_with_it(self):
        again = ["--public-schema", "public.toml", "--ledger", "l.json"]
        found = synthesize("bayes", {"epsilon": 1}, again=again)
        assert "--epsilon 1 --public-schema public.toml --ledger l.json" in found
        found = synthesize("cart", {"protect": {"religion": None}}, again=again)
        assert " --schema public.toml --save-model" in found

    def test_paths_and_names_are_quoted(self):
        found = synthesize("cart", {"protect": {"it's ill": 'a "b"'}}, data="-my data.csv")
        assert shlex.split(found)[2:] == [
            "./-my data.csv", "-o", "new.csv", "--method", "cart", "--protect", "it's ill:a \"b\"",
            "--save-model", "new.us",
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("target", "words"),
        [
            (None, "religion:"),
            ("job", "religion:job"),
            ("a:b", "religion:"),
            ("a b", "'religion:a b'"),
        ],
    )
    def test_protection_as_the_command_line_takes_it(self, target, words):
        found = synthesize("cart", {"protect": {"religion": target}})
        assert f" --protect {words} " in found

    def test_every_parameter_that_the_command_line_has(self):
        parameters = {
            "visit_sequence": ["age", "sex"],
            "keep": ["sex"],
            "proper": True,
            "rules": ["if a == 1 then b = 0"],
            "smoothing": "density",
            "max_predictors": 3,
            "strata": None,
        }
        assert (
            "--method cart --visit age,sex --keep sex --proper --rule 'if a == 1 then b = 0' "
            "--smoothing density --max-predictors 3 --save"
        ) in synthesize("cart", parameters)

    def test_what_the_release_was_made_with(self):
        rules = {"rules": ["if a == 1 then b = 0"]}
        source = Source(Path("s.csv"), "cart", rules, Path("my.toml"), drop=["x", "y z"])
        more = {"sources": {"r": source}, "release": "r", "again": ["--schema", "s.toml"]}
        found = synthesize("cart", {"minbucket": {"age": 9}}, unsaid=("rules",), **more)
        assert found == (
            "understudy synth survey.csv -o new.csv --method cart --rule 'if a == 1 then b = 0' "
            "--settings my.toml --schema s.toml --drop 'x,y z' --save-model new.us"
        )
        # The settings are of another method, and another schema is to be used.
        other = synthesize("independent", {}, uses="coarse", **more)
        assert " --method independent --schema coarse.toml --drop " in other

    def test_what_the_command_line_cannot_say_goes_into_a_file(self):
        found = synthesize("cart", {"minbucket": {"age": 9}}, unsaid=("rules",))
        assert found.endswith("new.us  # and --settings FILE with minbucket, rules")


class TestAudit:
    def test_of_a_new_release_with_its_model(self):
        more = {"output": "new-report", "uses": "new", "audit": [*WHO, "--control", "c.csv"]}
        assert command("audit", seed=2, **more) == (
            "understudy audit survey.csv new.csv --keys age,education --sensitive religion "
            "--control c.csv --model new.us --seed 2 -o new-report.html"
        )

    def test_of_the_release_itself(self):
        sources = {"r": Source(Path("out.csv"), model=Path("m.us"), schema=Path("m.us"))}
        found = command("audit", output="again", release="r", sources=sources, audit=WHO)
        assert found.startswith("understudy audit survey.csv out.csv --keys")
        assert found.endswith("--sensitive religion --model m.us -o again.html")

    @pytest.mark.parametrize("model", ["out/s.us", "out/model.us", "out/confidential/model.us"])
    def test_a_model_is_named_if_it_is_there(self, model):
        def found():
            sources = {"r": Source(Path("out/s.csv"))}
            asked = {"model": "model"}
            return command("audit", parameters=asked, output="x", release="r", sources=sources)

        assert found() == ""
        Path(model).parent.mkdir(parents=True)
        Path(model).touch()
        assert f" --model {model} " in found()


class TestRun:
    """What `run` and `compare` made is made again by `run`, which audits it in the same way."""

    MADE = Source(Path("r/synthetic.csv"), "cart", {"minbucket": 9}, Path("c.toml"), drop=["x"])

    def again(self, *advice, rerun, **more):
        sources = {"r": self.MADE}
        how = {"again": ["--seed", "3"], "audit": WHO, "sources": sources, "release": "r"}
        return command(*advice, rerun=rerun, **how, **more)

    def test_it_keeps_back_and_audits_in_the_same_way(self):
        found = self.again("synthesize", "cart", {"cp": 0.1}, "new", rerun=Rerun(0.2))
        assert found == (
            "understudy run survey.csv -o new --method cart --cp 0.1 --settings c.toml --seed 3 "
            "--drop x --keys age,education --sensitive religion"
        )
        assert self.again("audit", uses="new", rerun=Rerun(0.2)) is None

    @pytest.mark.parametrize(
        ("rerun", "words", "more"),
        [
            (Rerun(0.2), "", "--holdout 0.4 "),
            (Rerun(0.3, copies=2), "--holdout 0.3 --copies 2 ", "--holdout 0.5 --copies 2 "),
            (Rerun(0), "--holdout 0 ", ""),
            (Rerun(0.5), "--holdout 0.5 ", None),
            (Rerun(0.2, control=True), "", None),
            (Rerun(0.2, final=True), "--final ", "--holdout 0.4 --final "),
        ],
    )
    def test_how_much_is_kept_back(self, rerun, words, more):
        same = self.again("audit", output="again", rerun=rerun)
        start = "understudy run survey.csv -o again --method cart --minbucket 9 --settings c.toml "
        end = "--keys age,education --sensitive religion"
        assert same == f"{start}--seed 3 --drop x {words}{end}"
        control = {"parameters": {"control": "control"}, "output": "again"}
        found = self.again("audit", rerun=rerun, **control)
        assert found == ("" if more is None else f"{start}--seed 3 --drop x {more}{end}")

    def test_a_folder_that_is_there_is_not_in_the_way(self):
        Path("new").mkdir()
        found = self.again("synthesize", "cart", {}, "new", rerun=Rerun(0.2))
        assert " -o new-2 " in found


def test_records_are_removed():
    found = command("remove uniques", parameters={"keys": ["age", "it's"]}, output="without")
    assert shlex.split(found) == [
        "understudy", "control", "survey.csv", "synthetic.csv", "-o", "without.csv",
        "--remove-replicated", "--keys", "age,it's",
    ]  # fmt: skip


def test_values_are_made_coarser():
    parameters = {"top_code": {"age": 0.99, "it's": 0.99}, "group_rare": {"town": 5}}
    found = command("coarsen", parameters=parameters, output="coarser")
    assert shlex.split(found) == [
        "understudy", "control", "survey.csv", "synthetic.csv", "-o", "coarser.csv",
        "--top-code", "age=99%", "--top-code", "it's=99%", "--group-rare", "town=5",
    ]  # fmt: skip
    found = command("coarsen", parameters={"top_code": {"a=b": 0.99}}, output="coarser")
    assert found.endswith("--top-code a=b=99%")


def test_a_release_that_was_not_kept_is_made_first():
    sources = {"cart (protected)": Source(None, "cart", {"protect": {"a": None}}), "b": Source()}
    found = command(
        "remove uniques", parameters={"keys": ["age"]}, output="without",
        release="cart (protected)", sources=sources, again=["--seed", "3"], audit=WHO,
        rerun=Rerun(0.2),
    )  # fmt: skip
    assert found == (
        "understudy run survey.csv -o cart-protected-before-without --method cart --protect a: "
        "--seed 3 --keys age,education --sensitive religion && understudy control survey.csv "
        "cart-protected-before-without/synthetic.csv -o cart-protected-without.csv "
        "--remove-replicated --keys age"
    )


def test_names_with_a_comma_are_quoted():
    sources = {"r": Source(Path("s.csv"), drop=["a,b", "c"])}
    found = synthesize("cart", {"keep": ["d, e"]}, release="r", sources=sources)
    words = shlex.split(found)
    assert words[words.index("--drop") + 1] == '"a,b",c'
    assert words[words.index("--keep") + 1] == '"d, e"'
    removed = command("remove uniques", parameters={"keys": ["a,b"]}, output="without")
    assert shlex.split(removed)[-1] == '"a,b"'


def test_there_may_be_nothing_to_type():
    assert command("decide") == ""


def test_files_that_are_there_are_not_in_the_way():
    Path("new.us").touch()
    Path("new-2.csv").touch()
    assert "-o new-3.csv" in synthesize("cart", {})
    assert " new-3.csv " in command("audit", uses="new", output="report")


def test_files_are_of_the_kind_of_the_original():
    pl.DataFrame({"a": [1]}).write_parquet("data.bin")
    assert "-o new.parquet" in synthesize("cart", {}, data="data.bin")
    assert "-o new.tsv" in synthesize("cart", {}, data="data.tsv")


def test_how_files_are_written_is_kept():
    csv = Csv(delimiter=";", missing=["-8", "x"])
    found = command("describe", parameters={"bins": 10}, output="schema", csv=csv)
    assert found == (
        "understudy schema survey.csv -o schema.toml --bins 10 --delimiter ';' --missing=-8 "
        "--missing x"
    )
