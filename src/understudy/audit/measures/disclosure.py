"""Counting uniques and single answers: repU, DiSCO and their relatives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from understudy.audit.findings import DisclosureFindings, Figure, ReleaseFindings
from understudy.audit.measures.declaration import (
    COUNTED,
    DIFFERENCE,
    Collected,
    Column,
    Explanation,
    FigureKind,
    Measure,
    Part,
    Trust,
    differences,
    mean,
    spread,
)
from understudy.audit.synthesis import Synthesis
from understudy.risk.disclosure import disclosure_of
from understudy.risk.disclosure_result import DISCO as NAMED_DISCO
from understudy.risk.disclosure_result import REPU as NAMED_REPU
from understudy.risk.disclosure_result import Disclosure
from understudy.wording import signed_points

_SOME_GROUP = "a group of numbers"

REPU = FigureKind(
    "repu",
    NAMED_REPU[0],
    "Share of people whose keys are unique in the original and belong to exactly one synthetic "
    "record",
    chart="Share of people whose keys are unique in the original and in the release.",
    guess=False,
)
DISCO = FigureKind(
    "disco",
    NAMED_DISCO[0],
    "Share of people for whom all synthetic records with their keys have the same sensitive value, "
    "and it is theirs",
    "ordinary",
    chart="Share of people whose keys have one sensitive value in the release, and it is theirs.",
    guess=False,
    tested=True,
    beside_control=True,
    told="For {synthetic} of the {units}, all synthetic records with their keys have the same "
    "value, and it is theirs",
)


def figures_of(found: Sequence[Disclosure]) -> list[Figure]:
    """Return repU and DiSCO over the syntheses."""
    controls = [result.control.disco for result in found if result.control is not None]
    flagged = any(result.check_1way is not None and result.check_1way.flagged for result in found)
    return [
        REPU.figure(
            synthetic=mean(result.repu for result in found),
            original=mean(result.uio for result in found),
            spread=spread([result.repu for result in found]),
            note="There is no baseline: being unique in both tables is not a guess.",
        ),
        DISCO.figure(
            baseline=mean(result.disco_baseline for result in found),
            synthetic=mean(result.disco for result in found),
            original=mean(result.dorig for result in found),
            control=mean(controls),
            gain=mean(result.disco_gain for result in found),
            spread=spread([result.disco for result in found]),
            note="One value is most of what is disclosed: nearly every guess would be right "
            "without the release."
            if flagged
            else "",
        ),
    ]


def findings_of(found: Sequence[Disclosure], grouped: Collection[str] = ()) -> DisclosureFindings:
    """Return the figures over the syntheses, and the checks of the first.

    The values that the checks name are in the release, for it discloses them. Not so the limits of
    groups, which are the original's: columns in groups are given no values.
    """
    numbers = {
        name: mean(getattr(result, name) for result in found)
        for name in DISCLOSURE.numbers["disclosure"]
    }
    return DisclosureFindings(**numbers, checks=tuple(_checks(found[0], grouped)))


def _checks(found: Disclosure, grouped: Collection[str]) -> Iterator[str]:
    sensitive = found.scenario.sensitive
    hidden: dict[str, Any] = {"level": _SOME_GROUP} if sensitive in grouped else {}
    if found.check_1way is not None:
        yield str(replace(found.check_1way, **hidden))
    for check in found.check_2way:
        own: dict[str, Any] = {"key_level": _SOME_GROUP} if check.key in grouped else {}
        yield str(replace(check, **hidden, **own))


def _collect(first: Synthesis, found: Sequence[Disclosure]) -> Collected:
    scenario = first.task.scenario
    grouped = first.task.groups_of((*scenario.keys, scenario.sensitive))
    return Collected(
        figures_of(found),
        differences(DISCO.name, [one.control.compared for one in found if one.control]),
        release={"disclosure": findings_of(found, grouped)},
    )


def _field(name: str) -> Callable[[ReleaseFindings], float]:
    return lambda release: getattr(release.disclosure, name, float("nan"))


DISCLOSURE = Measure(
    "disclosure",
    "counting disclosures",
    lambda synthesis: disclosure_of(synthesis.prepared),
    _collect,
    figures=(REPU, DISCO),
    numbers={
        "disclosure": ("uio", "uis", "repu", "dorig", "disco", "disco_baseline", "disco_gain"),
        DISCO.name: DIFFERENCE,
    },
    values=lambda release: [("disclosure", release.disclosure)],
    found=lambda release: release.disclosure,
    explanation=Explanation(
        "repU and DiSCO",
        "repU counts people whose keys are unique in the original and also in the release. DiSCO "
        "counts people whose keys have one sensitive value in the release, and it is theirs. "
        "Beside DiSCO we show the same count for a constant guess, the release's most frequent "
        "value. What that guess gets right was never disclosed.",
        "Raab, Nowok, Dibben (2024). Practical privacy metrics for synthetic data. "
        "doi:10.48550/arXiv.2406.16826",
    ),
    part=Part("disclosure", "repU and DiSCO", 4),
    trust=(
        Trust("repU", "record", silent=("D2", "D3")),
        Trust("DiSCO", "record", silent=("D2", "D3")),
        Trust("DiSCO gain", "record", silent=("D2", "D3")),
        Trust("repU", "table", silent=("D2", "D3")),
        Trust("DiSCO", "table", ("D2",)),
        Trust("DiSCO gain", "table", silent=("D2", "D3")),
    ),
    columns=(
        Column(
            COUNTED,
            "repU",
            "people whose keys are unique in both tables",
            _field("repu"),
            original=_field("uio"),
            in_terminal=False,
        ),
        Column(
            COUNTED,
            "DiSCO",
            "in points above a constant guess",
            _field("disco_gain"),
            signed_points,
            in_terminal=False,
        ),
    ),
    place=50,
)
