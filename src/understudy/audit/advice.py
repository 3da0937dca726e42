"""What to try next, each with the command."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from understudy.audit.commands import dialect_in, files_in, is_file, shell
from understudy.audit.evidence import Evidence
from understudy.audit.findings import Findings, ReleaseFindings
from understudy.audit.phrases import column, listed, percent
from understudy.audit.recipe import PROTECTING, Recipe
from understudy.audit.tradeoff import is_poor

DEFAULT_PARENTS = 3
DEFAULT_MINBUCKET = 5
DEFAULT_CP = 1e-8
"""What the synthesizers take if nothing else is said."""

MORE_RECORDS = 4
"""Leaves of four times as many records: doubling changes little, as trees split in two anyway."""
LARGER_CP = 1e-3
"""The first value at which trees get visibly smaller; beyond it, ten times as much."""


@dataclass(frozen=True)
class Advice:
    """Something to try.

    Parameters
    ----------
    text : str
        What, and why.
    command : str
        The command that does it.
    """

    text: str
    command: str


@dataclass(frozen=True)
class _Case:
    """A release, and what commands about it have in common."""

    findings: Findings
    release: ReleaseFindings
    recipe: Recipe | None

    @property
    def data(self) -> str:
        return (files_in(self.findings.command) or ["data.csv"])[0]

    @property
    def synthetic(self) -> str:
        if is_file(self.release.name):
            return self.release.name
        given = files_in(self.findings.command)[1:]
        return given[0] if len(given) == 1 == len(self.findings.releases) else "synthetic.csv"

    @property
    def protected(self) -> bool:
        drawn = self.release.network.protected if self.release.network is not None else ()
        named = self.recipe.protects if self.recipe is not None else {}
        return self.findings.sensitive in drawn or self.findings.sensitive in named

    @property
    def protection(self) -> Mapping[str, str | None]:
        sensitive = self.findings.sensitive
        own = {sensitive: self.kept_target} if sensitive else {}
        return {**(self.recipe.protects if self.recipe is not None else {}), **own}

    @property
    def kept_target(self) -> str | None:
        """The target, to which a protected column stays linked, unless the attacker knows it."""
        target = self.findings.target
        known = {self.findings.sensitive, *self.findings.keys}
        return target if target and target not in known else None

    def synth(self, output: str, recipe: Recipe, **changes: object) -> str:
        words = ["understudy", "synth", self.data, "-o", output, *recipe.words(**changes)]
        return shell([*words, *dialect_in(self.findings.command)])

    def audit(self, synthetic: str, *more: str) -> str | None:
        """Return the command that audits a file, None if the names cannot be given so."""
        found = self.findings
        if not found.keys or not found.sensitive or any("," in key for key in found.keys):
            return None
        words = ["understudy", "audit", self.data, synthetic]
        words += ["--keys", ",".join(found.keys), "--sensitive", found.sensitive]
        words += ["--target", found.target] if found.target else []
        words += ["--known", str(found.known)] if found.known is not None else []
        return shell([*words, *more, "-o", "next-report.html", *dialect_in(found.command)])


def give_advice(
    findings: Findings, release: ReleaseFindings, evidence: Evidence
) -> tuple[Advice, ...]:
    """Return what to try next with a release, most promising first.

    Parameters
    ----------
    findings : Findings
        The audit.
    release : ReleaseFindings
        The release.
    evidence : Evidence
        What decided its level.
    """
    case = _Case(findings, release, Recipe.read(release.method, release.name))
    made: list[Advice] = []
    if evidence.level in {"raised", "high"}:
        made += _against_risk(case, evidence)
    elif evidence.level == "low" and is_poor(release.utility):
        made += _for_use(case)
    return (*made, *_then(case, made), *_measure_more(case, evidence))


def _against_risk(case: _Case, evidence: Evidence) -> Iterator[Advice]:
    recipe = case.recipe
    sensitive = column(case.findings.sensitive)
    written = dialect_in(case.findings.command)
    if recipe is not None and recipe.method in PROTECTING:
        if not case.protected and case.findings.sensitive:
            yield _protect(case, recipe, _also(recipe))
        yield from (_network if recipe.method == "bayes" else _trees)(case, recipe)
    elif recipe is not None and recipe.method in {"independent", "random"}:
        yield Advice(
            "No relation between columns is in this release, so what it tells lies in single "
            "values that few people have. Put numbers into fewer groups, and join rare values in "
            "the file that this writes; then synthesize with --schema.",
            shell(
                ["understudy", "schema", case.data, "-o", "schema.toml", "--bins", "10", *written]
            ),
        )
    elif case.findings.sensitive:
        yield _protect(
            case, Recipe("bayes"), " This is another method, which can keep a column apart."
        )
    yield from _remove_uniques(case)
    if recipe is not None and recipe.method in PROTECTING and (case.protected or evidence.certain):
        yield Advice(
            "Take another method: independent keeps the shares of every column and no relation "
            f"between columns, so it tells of {sensitive} what its shares tell. It costs "
            "everything that depends on relations.",
            case.synth("independent.csv", Recipe("independent")),
        )


def _protect(case: _Case, recipe: Recipe, also: str) -> Advice:
    sensitive, target = case.findings.sensitive, case.kept_target
    but = f"all columns but {target}" if target is not None else "all other columns"
    return Advice(
        f"Protect {sensitive}: cut it loose from {but}, so that the keys tell nothing of it "
        f"directly. Relations of {sensitive} with other columns are lost.{also}",
        case.synth("protected.csv", recipe, protect=case.protection),
    )


def _network(case: _Case, recipe: Recipe) -> Iterator[Advice]:
    parents = recipe.number("parents", DEFAULT_PARENTS)
    if parents is not None and parents > 1:
        fewer = int(parents) - 1
        yield Advice(
            f"Let each column depend on fewer others: --parents {fewer} instead of {int(parents)}. "
            "Then more people share each combination, and a single record shows less; weaker "
            f"relations are lost.{_also(recipe)}",
            case.synth("fewer-parents.csv", recipe, parents=fewer),
        )


def _trees(case: _Case, recipe: Recipe) -> Iterator[Advice]:
    minbucket = recipe.number("minbucket", DEFAULT_MINBUCKET)
    if minbucket is not None:
        more = MORE_RECORDS * int(minbucket)
        yield Advice(
            f"Let each leaf of the trees hold more records: --minbucket {more} instead of "
            f"{int(minbucket)}. Values are then drawn from more people at a time; fine detail is "
            f"lost.{_also(recipe)}",
            case.synth("larger-leaves.csv", recipe, minbucket=more),
        )
    cp = recipe.number("cp", DEFAULT_CP)
    if cp is not None:
        larger = LARGER_CP if cp < LARGER_CP else 10 * cp
        yield Advice(
            f"Grow smaller trees: --cp {larger:g} instead of {cp:g} drops splits that explain "
            f"little, which are those about single people.{_also(recipe)}",
            case.synth("smaller-trees.csv", recipe, cp=larger),
        )


def _also(recipe: Recipe) -> str:
    if not recipe.unsaid:
        return ""
    return f" What was set for {listed(recipe.unsaid)} goes into a --settings file as well."


def _remove_uniques(case: _Case) -> Iterator[Advice]:
    told = case.release.disclosure
    if told is None or not told.repu > 0:
        return
    # JSON's texts and lists are Python's too, and its quotes need no escape in the shell's.
    data, synthetic, keys = (
        json.dumps(one, ensure_ascii=False)
        for one in (case.data, case.synthetic, case.findings.keys)
    )
    code = (
        "from understudy import read, write; "
        "from understudy.synthesis.control import remove_replicated_uniques; "
        f"write(remove_replicated_uniques(read({data}), read({synthetic}), keys={keys}).frame, "
        '"without-uniques.csv")'
    )
    yield Advice(
        f"Remove the records that look like one person: {percent(told.repu, 2)} of the people are "
        "the only ones with their keys in the original and find one single record with them in "
        "the release. This takes away a look that alarms; what else the release tells stays.",
        shell(["python", "-c", code]),
    )


def _for_use(case: _Case) -> Iterator[Advice]:
    """Spend some of the distance from the attackers on a more useful release."""
    recipe = case.recipe
    if recipe is None:
        return
    if recipe.method == "bayes":
        parents = recipe.number("parents", DEFAULT_PARENTS)
        if parents is not None:
            more = int(parents) + 1
            yield Advice(
                f"For more use, let each column depend on more others: --parents {more} instead of "
                f"{int(parents)}. The risk may rise with it.{_also(recipe)}",
                case.synth("more-parents.csv", recipe, parents=more),
            )
    elif recipe.method == "cart":
        minbucket = recipe.number("minbucket", DEFAULT_MINBUCKET)
        if minbucket is not None and minbucket > DEFAULT_MINBUCKET:
            fewer = max(DEFAULT_MINBUCKET, int(minbucket) // 2)
            yield Advice(
                f"For more use, let leaves hold fewer records: --minbucket {fewer} instead of "
                f"{int(minbucket)}. The risk may rise with it.{_also(recipe)}",
                case.synth("smaller-leaves.csv", recipe, minbucket=fewer),
            )
    else:
        yield Advice(
            "For more use, take a method that keeps relations between columns, with "
            f"{column(case.findings.sensitive)} cut loose. The risk may rise with it.",
            case.synth("bayes.csv", Recipe("bayes"), protect=case.protection),
        )


def _then(case: _Case, made: list[Advice]) -> Iterator[Advice]:
    """Point out that what was tried must be attacked in its turn."""
    commands = [shlex.split(one.command) for one in made]
    outputs = [words[words.index("-o") + 1] for words in commands if words[1] == "synth"]
    command = case.audit(outputs[0]) if outputs else None
    if command is not None:
        yield Advice("Then audit what came of it in the same way, and compare.", command)


def _measure_more(case: _Case, evidence: Evidence) -> Iterator[Advice]:
    if evidence.level == "unknown":
        command = case.audit(case.synthetic)
        if command is not None:
            yield Advice("Mend what kept the main measures from running, and audit again.", command)
    if case.release.strong is None and not case.release.method:
        command = case.audit(case.synthetic, "--model", "model.us")
        if command is not None:
            yield Advice(
                "Give the model, if the release was made by understudy (synth --save-model "
                "model.us), to learn how many people are certain to be disclosed.",
                command,
            )
