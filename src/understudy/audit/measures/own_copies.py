"""Who is expected to have a copy in the release because they are in the data, by its model."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.audit.measures.declaration import Collected, Explanation, FigureKind, Measure
from understudy.audit.synthesis import Synthesis
from understudy.data.frames import to_narwhals
from understudy.errors import NoDensityError, ParameterError
from understudy.risk.membership import OwnCopies
from understudy.risk.membership import own_copies as own_copies_of
from understudy.risk.membership.own_copies import MEANING, TITLE
from understudy.wording import sentence

OWN_COPIES = FigureKind(
    "own_copies",
    TITLE,
    f"Share of people {MEANING}",
    guess=False,
    question="records",
)


def _run(synthesis: Synthesis) -> OwnCopies | str:
    task, given = synthesis.task, synthesis.given
    assert given.model is not None  # noqa: S101  # there is no such job without one
    rows = sum(len(to_narwhals(table)) for table in given.tables)
    try:
        return own_copies_of(given.model, task.original, rows=rows)
    except (NoDensityError, ParameterError) as error:
        return sentence(str(error))


def _collect(first: Synthesis, found: Sequence[OwnCopies | str]) -> Collected:
    (own,) = found
    if isinstance(own, str):
        return Collected([OWN_COPIES.figure(note=f"Not measured: {own}")])
    figure = OWN_COPIES.figure(
        baseline=own.by_chance,
        synthetic=own.by_chance + own.share,
        gain=own.share,
        note=own.summary(),
    )
    return Collected(
        [figure],
        numbers={"own_copies.largest": own.largest},
        release={"drawn": first.given.drawn},
    )


MEASURE = Measure(
    "own_copies",
    "asking whose copies the model makes",
    _run,
    _collect,
    needed=lambda task, given: given.model is not None and task.units is None,
    needs="the model that made the release",
    first_only=True,
    keyless=True,
    figures=(OWN_COPIES,),
    numbers={"own_copies": ("largest",)},
    explanation=Explanation(
        TITLE,
        "The model tells how probable a copy of each person's whole record is in a release of this "
        "size, and how probable it would be if the model had learnt from everybody else alone. The "
        "difference is owed to the person's own record. It answers whether original records are in "
        "the release only if understudy itself drew it from the model: a file may have been "
        "changed since.",
    ),
    place=70,
)
