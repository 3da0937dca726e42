"""What to try with a release that gives too much away: another synthesis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from understudy.audit.advice.case import Case
from understudy.audit.advice.coarser_values import coarsen, remove_uniques
from understudy.audit.advice.piece import Advice
from understudy.audit.answers import Evidence
from understudy.audit.findings import MadeBy
from understudy.synthesis import METHODS
from understudy.synthesis.bayes.smoothing import AUTO, is_smoothed
from understudy.wording import quoted

MORE_RECORDS = 4
"""Leaves of four times as many records: doubling changes little, as trees split in two anyway."""
LARGER_CP = 1e-3
"""The first value at which trees get visibly smaller; beyond it, ten times as much."""
FEWER_BINS = 10
SCHEMA = "schema"
SMOOTHED_BY = {"bayes": "smoothing", "cart": "smoothing_leaves"}
"""The parameter of each method that can be smoothed."""


def _can_protect(made: MadeBy | None) -> bool:
    return made is not None and "protect" in METHODS[made.method].parameter_names()


def against_risk(case: Case, evidence: Evidence) -> Iterator[Advice]:
    """Propose what lowers the risk, most promising first."""
    made, findings = case.made, case.findings
    if made is not None and _can_protect(made):
        yield from _smooth(case, made)
        yield from _less_epsilon(case, made)
        if not case.protected and findings.sensitive:
            yield _protect(case, made)
        yield from _network(case)
        yield from _trees(case)
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
        yield from coarsen(case, evidence)
        yield from remove_uniques(case)
    if _can_protect(made) and (case.protected or evidence.certain):
        yield case.synthesize(
            "Use another method: independent.",
            "It keeps the shares of every column and no relation between columns, so it reveals "
            f"no more about {case.sensitive} than its shares. You lose everything that depends on "
            "relations.",
            "independent",
            MadeBy("independent"),
        )


def _smooth(case: Case, made: MadeBy) -> Iterator[Advice]:
    """Propose to smooth a network or trees that are known to be drawn from as they are."""
    name = SMOOTHED_BY.get(made.method)
    if name is None or name in made.unsaid or is_smoothed(made.parameters.get(name, AUTO)):
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


def _less_epsilon(case: Case, made: MadeBy) -> Iterator[Advice]:
    """Propose more noise for a method that learnt with noise."""
    epsilon = case.number("epsilon")
    if epsilon is not None:
        yield case.synthesize(
            f"Learn with more noise: epsilon {epsilon / 2:g} instead of {epsilon:g}.",
            "Then one record can change less. Relations that rest on few records are lost.",
            "smaller-epsilon",
            made,
            epsilon=epsilon / 2,
        )


def _protect(case: Case, made: MadeBy, also: str = "") -> Advice:
    target = case.kept_target
    but = f"all columns but {quoted([target])}" if target is not None else "all other columns"
    return case.synthesize(
        f"Protect {case.sensitive}: cut it loose from {but}.{also}",
        "Then the keys say nothing about it directly. Its relations with other columns are lost.",
        "protected",
        made,
        protect=case.protection,
    )


def _network(case: Case) -> Iterator[Advice]:
    parents = case.number("parents")
    if parents is not None and parents > 1:
        yield case.synthesize(
            f"Let each column depend on fewer others: at most {parents - 1} instead of {parents}.",
            f"Then more {case.many} share each combination, and a single one shows less. Weaker "
            "relations are lost.",
            "fewer-parents",
            parents=parents - 1,
        )


def _trees(case: Case) -> Iterator[Advice]:
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
