"""The advice about one release, most promising first."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import replace

from understudy.audit.advice.against_risk import against_risk
from understudy.audit.advice.case import Case, guessed_method
from understudy.audit.advice.measure_more import measure_more
from understudy.audit.advice.piece import Advice
from understudy.audit.answers import Evidence
from understudy.audit.findings import Findings, MadeBy, ReleaseFindings
from understudy.audit.tradeoff import is_poor
from understudy.synthesis import METHODS


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
    case = Case(findings, release, release.made_by or guessed_method(release.name))
    made: list[Advice] = []
    if evidence.level in {"raised", "high"}:
        made += against_risk(case, evidence)
    elif evidence.level == "low" and is_poor(release.utility):
        made += _for_use(case)
    made = [one for one in made if not _is_compared(case, one)]
    found = (*made, *_then(case, made), *measure_more(case, evidence))
    return tuple(replace(one, release=release.name) for one in found)


def _is_compared(case: Case, advice: Advice) -> bool:
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


def _for_use(case: Case) -> Iterator[Advice]:
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


def _then(case: Case, made: list[Advice]) -> Iterator[Advice]:
    """Point out that what was tried must be attacked in its turn."""
    outputs = [one.output for one in made if one.action == "synthesize"]
    if outputs and case.findings.keys and case.findings.sensitive:
        text = "Then audit the new release in the same way, and compare."
        yield case.audit(text, f"{outputs[0]}-report", uses=outputs[0])
