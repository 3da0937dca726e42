"""Whether what is rare in a release points to exactly one person of the original."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.audit.findings import Figure
from understudy.audit.measures.declaration import (
    COUNTED,
    Collected,
    Column,
    Explanation,
    FigureKind,
    Measure,
    Trust,
    mean,
    of_figure,
    spread,
)
from understudy.audit.synthesis import Synthesis
from understudy.risk.singling_out import singling_out_of
from understudy.risk.singling_out_result import PredicateAttack, SinglingOut

RARE = FigureKind(
    "singling_out_rare",
    "Singling out, rare values",
    "Share of the values that one synthetic record has alone, and exactly one person has too",
    guess=False,
)
COMBINED = FigureKind(
    "singling_out",
    "Singling out",
    "Share of combinations of values that fit exactly one synthetic record, and exactly one person",
    chart="Share of combinations that fit one synthetic record, and exactly one person.",
    guess=False,
    question="records",
    tested=True,
    told="{synthetic} of the combinations of values that single out one record of the release "
    "single out exactly one of the {units}; of those who are not in the data, {control}",
)


def _run(synthesis: Synthesis) -> SinglingOut:
    held = synthesis.tables.encoded
    control = held.get("control")
    columns = [name for name in synthesis.columns if control is None or name in control.names]
    return singling_out_of(held, columns=columns, random_state=synthesis.task.seed)


def _of_kind(result: SinglingOut, kind: FigureKind) -> PredicateAttack | None:
    """Return the attack with rare values, or the one with combinations whose gain is larger."""
    held = [one for one in result.attacks if (one.columns == 1) == (kind is RARE)]
    held = [one for one in held if one.attack.attacks]
    return max(held, key=lambda one: one.gain, default=None)


def _collect(_first: Synthesis, found: Sequence[SinglingOut]) -> Collected:
    figures: list[Figure] = []
    numbers: dict[str, float] = {}
    for kind in (COMBINED, RARE):
        told = [one for one in (_of_kind(result, kind) for result in found) if one is not None]
        if not told:
            continue
        figures.append(
            kind.figure(
                baseline=mean(one.without for one in told),
                synthetic=mean(one.attack.value for one in told),
                control=mean(one.control.value for one in told if one.control is not None),
                gain=mean(one.gain for one in told),
                spread=spread([one.attack.value for one in told]),
                note=told[0].summary(),
            )
        )
        numbers |= {
            f"{kind.name}.risk": mean(one.risk for one in told),
            f"{kind.name}.p_value": mean(one.p_value for one in told),
        }
    return Collected(figures, numbers=numbers)


MEASURE = Measure(
    "singling_out",
    "singling people out",
    _run,
    _collect,
    place=66,
    keyless=True,
    figures=(COMBINED, RARE),
    numbers={kind.name: ("risk", "p_value") for kind in (COMBINED, RARE)},
    explanation=Explanation(
        "Singling out",
        "We take conditions from the release that exactly one synthetic record meets: a value that "
        "it has alone, or a combination of its values. A person is singled out if exactly one "
        "person meets them too. Without the release, an attacker would have to draw conditions at "
        "random. Any condition that one person in so many meets fits exactly one person by chance "
        "in up to 37% of the cases.",
        "Giomi and others (2023), doi:10.56553/popets-2023-0055; Cohen, Nissim (2020), "
        "doi:10.1073/pnas.1914598117",
    ),
    trust=(
        Trust("singling out", "record", ("D1", "D5")),
        Trust("singling out", "table", ("D5",)),
    ),
    columns=(
        Column(
            COUNTED,
            COMBINED.title,
            "combinations that fit exactly one person",
            of_figure("singling_out", "synthetic"),
            without=of_figure("singling_out", "baseline"),
            in_terminal=False,
        ),
    ),
)
