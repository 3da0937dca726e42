"""What to try next with a release: data that the command line turns into commands."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, Literal

from understudy.audit.answers import Answer, Evidence
from understudy.audit.findings import Findings, MadeBy, ReleaseFindings
from understudy.audit.tradeoff import is_poor
from understudy.synthesis import METHODS
from understudy.synthesis.bayes.smoothing import AUTO, is_smoothed
from understudy.utility.shares import MOST_LABELS, NOT_SHOWN
from understudy.wording import listed, percent, quoted, sentence

Action = Literal["synthesize", "audit", "describe", "remove uniques", "coarsen", "decide"]
"""What is to be done: synthesize anew, audit a table, describe the columns, take records out, join
rare values and cut off extremes, or decide: there is nothing to run."""

MODEL, CONTROL = "model", "control"
"""Parameters of an audit that stand for the model of the release, and for control records, whatever
they are called."""

MORE_RECORDS = 4
"""Leaves of four times as many records: doubling changes little, as trees split in two anyway."""
LARGER_CP = 1e-3
"""The first value at which trees get visibly smaller; beyond it, ten times as much."""
FEWER_BINS = 10
SCHEMA = "schema"
EXTREMES, FEW_PEOPLE = 0.99, 5
"""Numbers above those of 99% of the people are cut off, and texts of fewer than five joined."""
ABOUT_THE_RARE = ("lookalikes", "singling_out", "rare_values", "telling_keys")
"""Measures that see most of what is rare."""
SMOOTHED_BY = {"bayes": "smoothing", "cart": "smoothing_leaves"}
"""The parameter of each method that can be smoothed."""
MOST_REMOVED = 0.5
"""Where this share of the records looks like one person, a release without them is no release."""
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


@dataclass(frozen=True)
class Advice:
    """Something to try.

    Parameters
    ----------
    text : str
        What to do.
    effect : str
        What can be expected of it, and what it costs.
    action : {"synthesize", "audit", "describe", "remove uniques", "coarsen", "decide"}
        What is to be done.
    method : str
        For a synthesis: the method.
    parameters : mapping
        For a synthesis, its parameters, where they are not the defaults; for an audit, what it
        needs beside the tables; for a description, its arguments; for coarser values, the share
        from which on numbers are cut off, and the least people of a text, by column.
    output : str
        What the result can be called.
    uses : str
        The `output` of the advice whose result it takes: the table to audit, or the description
        to synthesize with. Empty for an audit of the release itself.
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
    uses: str = ""
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
        values = {name: repr(value) for name, value in self.parameters.items()}
        values |= {name: name for name in (MODEL, CONTROL) if name in values}
        given = ", ".join(f"{name}={value}" for name, value in values.items())
        if self.action == "synthesize":
            tables = f"original, {self.uses}" if self.uses else "original"
            return f"{METHODS[self.method].__name__}({given}).fit({tables}).sample()"
        if self.action == "describe":
            return f"Schema.infer(original, {given})"
        if self.action == "remove uniques":
            return f"remove_replicated_uniques(original, synthetic, {given}).frame"
        if self.action == "coarsen":
            return self._coarsened()
        if self.action == "decide":
            return ""
        synthetic = self.uses.replace("-", "_") or "synthetic"
        return f"understudy.audit(original, {synthetic}, {given})"

    def _coarsened(self) -> str:
        shares, least = (self.parameters.get(name, {}) for name in ("top_code", "group_rare"))
        lines = []
        if isinstance(shares, Mapping) and shares:
            asked = {name: (None, share) for name, share in shares.items()}
            limits = f"limits_by_share(original, {asked!r})"
            lines.append(f"synthetic = top_bottom_code(synthetic, {limits}).frame")
        if least:
            lines.append(f"synthetic = group_rare(original, synthetic, {least!r}).frame")
        return "\n".join(lines)


@dataclass(frozen=True)
class _Case:
    """A release, how it was made as far as is known, and what advice about it has in common."""

    findings: Findings
    release: ReleaseFindings
    made: MadeBy | None

    @property
    def many(self) -> str:
        """What the records are about."""
        return self.findings.units.many

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
        self,
        text: str,
        effect: str,
        output: str,
        made: MadeBy | None = None,
        *,
        uses: str = "",
        **changes: object,
    ) -> Advice:
        """Return the advice to synthesize as before, or by another method, with some changes."""
        made = made or self.made
        assert made is not None  # noqa: S101  # the callers looked
        parameters = dict(made.parameters) | changes
        return Advice(
            text, effect, "synthesize", made.method, parameters, output, uses, unsaid=made.unsaid
        )

    def audit(self, text: str, output: str, *, uses: str = "", **more: object) -> Advice:
        """Return the advice to audit the release, or what another advice made, in the same way."""
        found = self.findings
        given = {"keys": list(found.keys), "sensitive": found.sensitive}
        also = {"target": found.target or None, "known": found.known}
        parameters = given | {name: value for name, value in also.items() if value is not None}
        return Advice(text, "", "audit", "", parameters | more, output, uses)


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
    made = [one for one in made if not _is_compared(case, one)]
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


def _is_compared(case: _Case, advice: Advice) -> bool:
    """Tell whether what is to be synthesized is one of the releases already."""
    if advice.action != "synthesize" or advice.uses:
        return False
    wanted = _settings(MadeBy(advice.method, advice.parameters, advice.unsaid))
    return any(
        release.made_by is not None and _settings(release.made_by) == wanted
        for release in case.findings.releases
    )


def _settings(made: MadeBy) -> tuple[str, Mapping[str, object], frozenset[str]]:
    """Return how a release is made, without parameters that are as they are by default."""
    defaults = inspect.signature(METHODS[made.method]).parameters
    changed = {
        name: value for name, value in made.parameters.items() if value != defaults[name].default
    }
    return made.method, changed, frozenset(made.unsaid)


def _can_protect(made: MadeBy | None) -> bool:
    return made is not None and "protect" in METHODS[made.method].parameter_names()


def _against_risk(case: _Case, evidence: Evidence) -> Iterator[Advice]:
    made, findings = case.made, case.findings
    if made is not None and _can_protect(made):
        yield from _smooth(case, made)
        if not case.protected and findings.sensitive:
            yield _protect(case, made)
        yield from (_network if made.method == "bayes" else _trees)(case)
    elif made is not None and made.method in {"independent", "random"}:
        yield Advice(
            "Put numbers into fewer groups, and join rare values in the schema.",
            "This release keeps no relations between columns. What it gives away lies in single "
            f"values that few {case.many} have.",
            "describe",
            parameters={"bins": FEWER_BINS},
            output=SCHEMA,
        )
        yield case.synthesize("Then synthesize with this schema.", "", "coarser", uses=SCHEMA)
    elif findings.sensitive:
        yield _protect(
            case, MadeBy("bayes"), " This needs another method, which can protect a column."
        )
    if not evidence.copy:  # finishing touches make no release of the original
        yield from _coarsen(case, evidence)
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


def _smooth(case: _Case, made: MadeBy) -> Iterator[Advice]:
    """Propose to smooth a network or trees that are known to be drawn from as they are."""
    name = SMOOTHED_BY[made.method]
    if name in made.unsaid or is_smoothed(made.parameters.get(name, AUTO)):
        return
    changes: dict[str, Any] = {name: AUTO}
    text = "Smooth the trees: each leaf borrows from the node above it."
    if made.method == "bayes":
        text = "Smooth the network: small groups borrow from larger ones."
        if isinstance(made.parameters.get("structure"), str):
            # The parents that the other searches choose tell little once tables are smoothed.
            changes["structure"] = "predictive"
            text = f"{text} Let records that are left out choose the parents."
    yield case.synthesize(
        text,
        f"Then the release describes {case.many} like those in the data, and hardly any one of "
        "them. It costs little of what a classifier learns.",
        "smoothed",
        made,
        **changes,
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
            f"Then more {case.many} share each combination, and a single one shows less. Weaker "
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
            f"Values are then drawn from more {case.many} at a time. Fine detail is lost.",
            "larger-leaves",
            minbucket=more,
        )
    if cp is not None:
        larger = LARGER_CP if cp < LARGER_CP else 10 * cp
        yield case.synthesize(
            f"Grow smaller trees: raise cp from {_decimal(cp)} to {_decimal(larger)}.",
            f"This drops splits that explain little, such as those about single {case.many}.",
            "smaller-trees",
            cp=larger,
        )


def _decimal(value: float) -> str:
    """Return a small number without an exponent.

    Examples
    --------
    >>> _decimal(1e-8), _decimal(0.001), _decimal(10)
    ('0.00000001', '0.001', '10')
    """
    return f"{value:.12f}".rstrip("0").rstrip(".")


def _coarsen(case: _Case, evidence: Evidence) -> Iterator[Advice]:
    """Propose coarser values if what is rare gives people away, and the release has such values."""
    numbers = [name for name in case.findings.numbers if _may_have_extremes(case, name)]
    texts = [name for name in case.findings.texts if _may_have_rare_values(case, name)]
    told = [*evidence.answers["records"].clues, *evidence.answers["ordinary"].clues]
    rare = any(clue.measure in ABOUT_THE_RARE and clue.level in {"raised", "high"} for clue in told)
    if not rare or not (numbers or texts):
        return
    parts = [f"cut off the extremes of {quoted(numbers)}"] if numbers else []
    parts += [f"join the rare values of {quoted(texts)}"] if texts else []
    text = listed(parts)
    yield Advice(
        f"{text[0].upper()}{text[1:]} in the release.",
        "This takes away single extreme values and rare groups. "
        f"{case.many[0].upper()}{case.many[1:]} may still stand out by combinations of keys.",
        "coarsen",
        parameters={
            **({"top_code": dict.fromkeys(numbers, EXTREMES)} if numbers else {}),
            **({"group_rare": dict.fromkeys(texts, FEW_PEOPLE)} if texts else {}),
        },
        output="coarser-values",
    )


def _shares(case: _Case, column: str) -> list[tuple[str, float]]:
    """Return the values of a column in the release, or groups of them, and the original's share."""
    found = next((one for one in case.release.utility.shares if one.column == column), None)
    if found is None:
        return []
    pairs = zip(found.labels, found.original, strict=True)
    return [(label, share) for label, share in pairs if label != NOT_SHOWN]


def _may_have_extremes(case: _Case, column: str) -> bool:
    """Tell whether the release may have numbers above those that are the limit.

    That is not so if its largest number is so frequent in the original that it is the limit itself.
    """
    shares = _shares(case, column)
    numbers = {float(label): share for label, share in shares if _NUMBER.fullmatch(label)}
    if not numbers or len(numbers) < len(shares) - 1:  # groups; one label may be what is missing
        return True
    return numbers[max(numbers)] <= 1 - EXTREMES


def _may_have_rare_values(case: _Case, column: str) -> bool:
    """Tell whether the release may have texts that few have; many texts are counted together."""
    shares, rows = _shares(case, column), case.findings.rows
    return (
        not shares
        or len(shares) >= MOST_LABELS
        or any(share * rows < FEW_PEOPLE - 0.5 for _, share in shares)
    )


def _remove_uniques(case: _Case) -> Iterator[Advice]:
    told = case.release.disclosure
    if told is None or not case.release.rows:
        return
    removed = told.repu * case.findings.counted / case.release.rows
    if 0 < removed < MOST_REMOVED:
        yield Advice(
            f"Remove the synthetic records that look like one original record: "
            f"{percent(told.repu, 2)} of the {case.many} have unique keys in the original and "
            "exactly one record with these keys in the release.",
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
        yield case.audit(text, f"{outputs[0]}-report", uses=outputs[0])


def _measure_more(case: _Case, evidence: Evidence) -> Iterator[Advice]:
    """Say how to find out what is not known, or that it cannot be found out from this table."""
    if not case.findings.keys or not case.findings.sensitive:
        return
    many, answers = case.many, evidence.answers
    unsure = {question for question in answers if answers[question].level == "not measured"}
    unseen = any(
        clue.measure == "lookalikes" and clue.level == "not measured"
        for clue in answers["records"].clues
    )
    too_few_control = any(clue.open for clue in answers["ordinary"].clues)
    if "ordinary" in unsure and not too_few_control:
        yield from _about_guesses(case, answers["ordinary"])
    no_control = all(math.isnan(figure.control) for figure in case.release.figures)
    may_be_pattern = "raised" in {answers["records"].level, answers["ordinary"].level}
    if no_control and (may_be_pattern or unsure & {"records", "ordinary"}):
        yield case.audit(
            f"Give control records: {many} like the original's that no synthesis used. Then the "
            "audit sees copies of fewer, and tells apart what concerns those in the data and what "
            "is a pattern.",
            "report-with-control",
            control=CONTROL,
        )
    elif evidence.level != "high" and (
        too_few_control or (unseen and not math.isnan(answers["records"].power))
    ):
        yield case.audit(
            f"Give more control records: {many} like the original's that no synthesis used. The "
            "more there are, the fewer copies can be missed, and the clearer it is what is a "
            "pattern.",
            "report-with-more-control",
            control=CONTROL,
        )
    if unseen and "records" in unsure and evidence.level != "high":
        power, limit = answers["records"].power, percent(case.findings.limits.power)
        missed = "" if math.isnan(power) else f" ({percent(power)} could be)"
        yield Advice(
            f"If no more {many} can be had, decide without an answer about copies.",
            f"The {many} of this table are too few, or too much alike, to prove that the release "
            f"holds none of them. More {many} or more columns would help. A policy can say how "
            f"many copies may be missed{missed}; the limit is {limit}.",
            "decide",
        )
    if case.release.strong is None and not case.release.method:
        yield case.audit(
            "Give the model, if understudy made the release and you saved it. Then the audit says "
            f"how many {many} are certain to be disclosed.",
            "report-with-model",
            model=MODEL,
        )
    elif "strongest" in unsure and "strong" in case.release.errors and evidence.level != "high":
        yield Advice(
            "Use a method whose probabilities can be computed, or decide without an answer about "
            "the strongest attacker.",
            f"This attacker failed here: {sentence(case.release.errors['strong'])}",
            "decide",
        )


def _about_guesses(case: _Case, ordinary: Answer) -> Iterator[Advice]:
    """Say what to do if the guesses of an ordinary attacker were not measured."""
    known = case.release.numbers.get("gcap.known_values", 1.0)
    if known < case.findings.limits.known_values:
        yield case.audit(
            "See to it that the keys and the sensitive column have the same values in the release "
            "as in the original, and audit again.",
            "report-again",
        )
    elif any(figure.baseline >= 1 for figure in case.release.figures):
        yield Advice(
            "Name another sensitive column.",
            f"All {case.many} have the same value of {case.sensitive}: there is nothing to guess.",
            "decide",
        )
    elif case.release.errors or not ordinary.clues:
        yield case.audit(
            "Fix what kept the main measures from running, and audit again.", "report-again"
        )
    else:
        yield Advice(
            f"If no more {case.many} can be had, decide without an answer about an ordinary "
            "attacker.",
            f"There are too few {case.many} to tell what an ordinary attacker gains from what "
            "chance gives.",
            "decide",
        )
