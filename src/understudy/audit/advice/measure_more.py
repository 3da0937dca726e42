"""How to find out what an audit could not tell, or why that cannot be found out."""

from __future__ import annotations

import math
from collections.abc import Iterator

from understudy.audit.advice.case import Case
from understudy.audit.advice.piece import CONTROL, MODEL, Advice
from understudy.audit.answers import Answer, Evidence
from understudy.wording import percent, sentence


def measure_more(case: Case, evidence: Evidence) -> Iterator[Advice]:
    """Say how to find out what is not known, or that it cannot be found out from this table."""
    if not case.findings.keys or not case.findings.sensitive:
        return
    many, answers = case.many, evidence.answers
    unsure = {question for question in answers if answers[question].level == "not measured"}
    unseen = "records" in unsure and any(
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
            f"many copies may be missed{missed}: its limit 'power' is {limit}.",
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


def _about_guesses(case: Case, ordinary: Answer) -> Iterator[Advice]:
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
