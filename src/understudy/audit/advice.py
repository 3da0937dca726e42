"""What to try next with a release: data that the command line turns into commands."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, Literal

from understudy.audit.findings import Findings, MadeBy, ReleaseFindings
from understudy.audit.levels import Evidence
from understudy.audit.tradeoff import is_poor
from understudy.synthesis import METHODS
from understudy.wording import listed, percent, quoted

Action = Literal["synthesize", "audit", "describe", "remove uniques"]
"""What is to be done: synthesize anew, audit a table, describe the columns, or take records out."""

MORE_RECORDS = 4
"""Leaves of four times as many records: doubling changes little, as trees split in two anyway."""
LARGER_CP = 1e-3
"""The first value at which trees get visibly smaller; beyond it, ten times as much."""
FEWER_BINS = 10


@dataclass(frozen=True)
class Advice:
    """Something to try.

    Parameters
    ----------
    text : str
        What to do.
    effect : str
        What can be expected of it, and what it costs.
    action : {"synthesize", "audit", "describe", "remove uniques"}
        What is to be done.
    method : str
        For a synthesis: the method.
    parameters : mapping
        For a synthesis, its parameters, where they are not the defaults; for an audit, what it
        needs beside the tables; for a description, its arguments.
    output : str
        What the result can be called.
    release : str
        The release that it is about.
    unsaid : tuple of str
        Parameters that were set for the release and are not in `parameters`, since they may hold
        values of the data.
    """

    text: str
    effect: str
    action: Action
    method: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)
    output: str = ""
    release: str = ""
    unsaid: tuple[str, ...] = ()

    @property
    def sentences(self) -> str:
        """What to do, and what can be expected of it."""
        unsaid = (
            f" Set {listed(self.unsaid)} again as before: the audit does not keep such values."
            if self.unsaid
            else ""
        )
        return f"{self.text} {self.effect}{unsaid}".strip()

    @property
    def code(self) -> str:
        """The same in Python.

        Examples
        --------
        >>> Advice("", "", "synthesize", "cart", {"minbucket": 20}).code
        'Cart(minbucket=20).fit(original).sample()'
        """
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        if self.action == "synthesize":
            return f"{METHODS[self.method].__name__}({given}).fit(original).sample()"
        if self.action == "describe":
            return f"Schema.infer(original, {given})"
        if self.action == "remove uniques":
            return f"remove_replicated_uniques(original, synthetic, {given}).frame"
        return f"understudy.audit(original, {self.output or 'synthetic'}, {given})"


@dataclass(frozen=True)
class _Case:
    """A release, how it was made as far as is known, and what advice about it has in common."""

    findings: Findings
    release: ReleaseFindings
    made: MadeBy | None

    @property
    def sensitive(self) -> str:
        return quoted([self.findings.sensitive]) if self.findings.sensitive else "the secret column"

    @property
    def protects(self) -> Mapping[str, str | None]:
        found = self.made.parameters.get("protect") if self.made is not None else None
        return found if isinstance(found, Mapping) else {}

    @property
    def protected(self) -> bool:
        drawn = self.release.network.protected if self.release.network is not None else ()
        return self.findings.sensitive in {*drawn, *self.protects}

    @property
    def protection(self) -> Mapping[str, str | None]:
        sensitive = self.findings.sensitive
        own = {sensitive: self.kept_target} if sensitive else {}
        return {**self.protects, **own}

    @property
    def kept_target(self) -> str | None:
        """The target, to which a protected column stays linked, unless the attacker knows it."""
        target = self.findings.target
        known = {self.findings.sensitive, *self.findings.keys}
        return target if target and target not in known else None

    def number(self, name: str) -> Any:  # noqa: ANN401  # a number, or None
        """Return a parameter that is one number; None if it is set in another form."""
        assert self.made is not None  # noqa: S101  # the callers looked
        if name in self.made.unsaid:
            return None
        default = inspect.signature(METHODS[self.made.method]).parameters[name].default
        value = self.made.parameters.get(name, default)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def synthesize(
        self, text: str, effect: str, output: str, made: MadeBy | None = None, **changes: object
    ) -> Advice:
        """Return the advice to synthesize as before, or by another method, with some changes."""
        made = made or self.made
        assert made is not None  # noqa: S101  # the callers looked
        parameters = dict(made.parameters) | changes
        return Advice(
            text, effect, "synthesize", made.method, parameters, output, unsaid=made.unsaid
        )

    def audit(self, text: str, output: str = "", **more: object) -> Advice:
        """Return the advice to audit a table in the same way."""
        found = self.findings
        given = {"keys": list(found.keys), "sensitive": found.sensitive}
        also = {"target": found.target or None, "known": found.known}
        parameters = given | {name: value for name, value in also.items() if value is not None}
        return Advice(text, "", "audit", parameters=parameters | more, output=output)


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
    case = _Case(findings, release, release.made_by or guessed_method(release.name))
    made: list[Advice] = []
    if evidence.level in {"raised", "high"}:
        made += _against_risk(case, evidence)
    elif evidence.level == "low" and is_poor(release.utility):
        made += _for_use(case)
    found = (*made, *_then(case, made), *_measure_more(case, evidence))
    return tuple(replace(one, release=release.name) for one in found)


def guessed_method(name: str) -> MadeBy | None:
    """Return the method that a release is named after, if it is.

    Examples
    --------
    >>> guessed_method("out/cart-1.csv").method
    'cart'
    """
    methods = {cls.__name__.casefold(): method for method, cls in METHODS.items()}
    methods |= {method: method for method in METHODS}
    if name.casefold() in methods:
        return MadeBy(methods[name.casefold()])
    # A file named random-sample.csv was not made by the method random.
    words = re.findall(r"[a-z]+", PurePath(name).stem.casefold())
    told = [methods[word] for word in words if word in methods]
    return MadeBy(told[0]) if told and told[0] != "random" else None


def _can_protect(made: MadeBy | None) -> bool:
    return made is not None and "protect" in METHODS[made.method].parameter_names()


def _against_risk(case: _Case, evidence: Evidence) -> Iterator[Advice]:
    made, findings = case.made, case.findings
    if made is not None and _can_protect(made):
        if not case.protected and findings.sensitive:
            yield _protect(case, made)
        yield from (_network if made.method == "bayes" else _trees)(case)
    elif made is not None and made.method in {"independent", "random"}:
        yield Advice(
            "Put numbers into fewer groups and join rare values in the schema; then synthesize "
            "with it.",
            "This release keeps no relations between columns. What it gives away lies in single "
            "values that few people have.",
            "describe",
            parameters={"bins": FEWER_BINS},
            output="schema",
        )
    elif findings.sensitive:
        yield _protect(case, MadeBy("bayes"), " This is another method: it can protect a column.")
    yield from _remove_uniques(case)
    if _can_protect(made) and (case.protected or evidence.certain):
        yield case.synthesize(
            "Use another method: independent.",
            "It keeps the shares of every column and no relation between columns, so it reveals "
            f"no more about {case.sensitive} than its shares. You lose everything that depends on "
            "relations.",
            "independent",
            MadeBy("independent"),
        )


def _protect(case: _Case, made: MadeBy, also: str = "") -> Advice:
    target = case.kept_target
    but = f"all columns but {quoted([target])}" if target is not None else "all other columns"
    return case.synthesize(
        f"Protect {case.sensitive}: cut it loose from {but}.{also}",
        "Then the keys say nothing about it directly. Its relations with other columns are lost.",
        "protected",
        made,
        protect=case.protection,
    )


def _network(case: _Case) -> Iterator[Advice]:
    parents = case.number("parents")
    if parents is not None and parents > 1:
        yield case.synthesize(
            f"Let each column depend on fewer others: at most {parents - 1} instead of {parents}.",
            "Then more people share each combination, and a single record shows less. Weaker "
            "relations are lost.",
            "fewer-parents",
            parents=parents - 1,
        )


def _trees(case: _Case) -> Iterator[Advice]:
    minbucket, cp = case.number("minbucket"), case.number("cp")
    if minbucket is not None:
        more = MORE_RECORDS * minbucket
        yield case.synthesize(
            f"Let each leaf of the trees hold more records: at least {more} instead of "
            f"{minbucket}.",
            "Values are then drawn from more people at a time. Fine detail is lost.",
            "larger-leaves",
            minbucket=more,
        )
    if cp is not None:
        larger = LARGER_CP if cp < LARGER_CP else 10 * cp
        yield case.synthesize(
            f"Grow smaller trees: raise cp from {cp:g} to {larger:g}.",
            "This drops splits that explain little, such as those about single people.",
            "smaller-trees",
            cp=larger,
        )


def _remove_uniques(case: _Case) -> Iterator[Advice]:
    told = case.release.disclosure
    if told is not None and told.repu > 0:
        yield Advice(
            f"Remove the records that look like one person: {percent(told.repu, 2)} of the people "
            "have unique keys in the original and exactly one record with these keys in the "
            "release.",
            "This removes what looks alarming. It does not change what else the release reveals.",
            "remove uniques",
            parameters={"keys": list(case.findings.keys)},
            output="without-uniques",
        )


def _for_use(case: _Case) -> Iterator[Advice]:
    """Spend some of the distance from the attackers on a more useful release."""
    made, risk = case.made, "The risk may rise."
    if made is None:
        return
    if made.method == "bayes":
        parents = case.number("parents")
        if parents is not None:
            yield case.synthesize(
                "For more use, let each column depend on more others: up to "
                f"{parents + 1} instead of {parents}.",
                risk,
                "more-parents",
                parents=parents + 1,
            )
    elif made.method == "cart":
        minbucket = case.number("minbucket")
        least = inspect.signature(METHODS["cart"]).parameters["minbucket"].default
        if minbucket is not None and minbucket > least:
            fewer = max(least, minbucket // 2)
            yield case.synthesize(
                f"For more use, let leaves hold fewer records: {fewer} instead of {minbucket}.",
                risk,
                "smaller-leaves",
                minbucket=fewer,
            )
    else:
        yield case.synthesize(
            "For more use, choose a method that keeps relations between columns, with "
            f"{case.sensitive} cut loose.",
            risk,
            "bayes",
            MadeBy("bayes"),
            protect=case.protection,
        )


def _then(case: _Case, made: list[Advice]) -> Iterator[Advice]:
    """Point out that what was tried must be attacked in its turn."""
    outputs = [one.output for one in made if one.action == "synthesize"]
    if outputs and case.findings.keys and case.findings.sensitive:
        text = "Then audit the new release in the same way, and compare."
        yield case.audit(text, outputs[0])


def _measure_more(case: _Case, evidence: Evidence) -> Iterator[Advice]:
    if not case.findings.keys or not case.findings.sensitive:
        return
    if evidence.level == "unknown":
        yield case.audit("Fix what kept the main measures from running, and audit again.")
    if case.release.strong is None and not case.release.method:
        yield case.audit(
            "Give the model, if understudy made the release and you saved it. Then the audit says "
            "how many people are certain to be disclosed.",
            model="model.us",
        )
