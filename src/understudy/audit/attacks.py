"""Attacks on one release, each by itself: the declared measures of risk, without a verdict."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from understudy.audit.failures import failure_text
from understudy.audit.findings import Figure
from understudy.audit.measures import MEASURES, Measure, measures_for
from understudy.audit.synthesis import Synthesis, encoded, made_ready
from understudy.audit.task import (
    RELEASE,
    Given,
    Task,
    personal_columns,
    read_groups,
    with_types_matched,
)
from understudy.audit.units import (
    about_units,
    name_of_units,
    one_record_each,
    read_unit_id,
    with_units,
)
from understudy.data.frames import Frame, to_narwhals
from understudy.errors import UnderstudyError
from understudy.learning.jobs import Remembered
from understudy.progress import inside_a_step, track
from understudy.results import Result, to_plain
from understudy.risk.scenario import Scenario
from understudy.synthesis import Synthesizer
from understudy.wording import percent

IN_OVERVIEW = ("attribution", "classifiers", "disclosure", "strong")
"""The declared measures that `risk.overview` and `risk.strong_attacker` make."""


def attack_names() -> list[str]:
    """Return the names of the declared attacks that are made one by one, in their order."""
    held = sorted(MEASURES, key=lambda one: one.place)
    made = [one for one in held if one.figures and one.level != "full"]
    return [one.name for one in made if one.name not in IN_OVERVIEW]


@dataclass(frozen=True, eq=False)
class MadeAttack:
    """A declared measure that was run by itself.

    Parameters
    ----------
    measure : Measure
        What was measured.
    result : object
        What came of it; None if it failed.
    figures : tuple of Figure
        Its figures of risk.
    error : str
        Why it failed.
    """

    measure: Measure
    result: Any
    figures: tuple[Figure, ...] = ()
    error: str = ""

    @property
    def title(self) -> str:
        """What it is called."""
        return self.measure.figures[0].title

    def summary(self) -> str:
        """Return what was found in a few sentences."""
        if self.error:
            return f"Not measured. {self.error}"
        if isinstance(self.result, Result):
            return self.result.summary()
        return " ".join(
            f"{one.meaning}: {percent(one.synthetic)}, without the release "
            f"{percent(one.baseline)}. {one.note}".strip()
            for one in self.figures
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values; its figures if it has no form, or the error."""
        if self.error:
            return {"error": self.error}
        if isinstance(self.result, Result):
            return self.result.to_dict()
        return {"figures": to_plain(self.figures)}


def attack_release(  # noqa: PLR0913  # the tables, the attacker, and which attacks
    original: Frame,
    synthetic: Sequence[Frame],
    scenario: Scenario | None,
    *,
    model: Synthesizer | None = None,
    control: Frame | None = None,
    groups: Mapping[str, int] | None = None,
    tolerance: object = None,
    unit_id: Sequence[str] | None = None,
    seed: int = 0,
    without: Collection[str] = (),
    only: Collection[str] | None = None,
) -> list[MadeAttack]:
    """Run all attacks that are declared and possible with what is given.

    Parameters
    ----------
    original, control : frame
        The tables.
    synthetic : sequence of frame
        The releases of one table.
    scenario : Scenario or None
        What the attacker knows and wants; without it, only attacks without keys are made.
    model, groups, unit_id, seed
        As in `audit`.
    tolerance : object
        How far off a guess of a number or a date may be; see `risk.attribution`.
    without : collection of str
        Measures that are not run: those that the caller has.
    only : collection of str, optional
        Measures that are run; all if not given.
    """
    given = Given(RELEASE, tuple(synthetic), model)
    task = Task(
        original=original,
        releases=(given,),
        scenario=Scenario.without_keys() if scenario is None else scenario,
        target=None,
        control=control,
        test=None,
        groups=read_groups(groups),
        measures="standard",
        classifiers=None,
        seed=seed,
        show_records=False,
        tolerance=tolerance,
    )
    attacks = [
        measure
        for measure in measures_for(task, given)
        if measure.figures
        and measure.name not in without
        and (only is None or measure.name in only)
        and (measure.keyless or scenario is not None)
    ]
    if not attacks:
        return []
    names = read_unit_id(unit_id, task)
    task, _ = with_types_matched(task)
    if names:
        task, _, _ = with_units(task, names)
        # Without control records of other units, there is nothing to compare with.
        attacks = [one for one in attacks if one in measures_for(task, given)]
    left_out = personal_columns(task)
    drawn = one_record_each(task)
    ready, whole = (
        made_ready(one, one.releases[0], encoded(one), left_out, Remembered())
        for one in (drawn, task)
    )
    ordered = sorted(attacks, key=lambda one: one.place)
    return [
        _made(measure, whole if measure.of_units == "all records" else ready)
        for measure in track(ordered, "Attacking")
    ]


class OneOfEach(NamedTuple):
    """One record of each unit, of the original and of the control records, and what to say."""

    original: Frame
    control: Frame | None
    notes: tuple[str, ...]


def one_of_each_unit(
    original: Frame, control: Frame | None, unit_id: Sequence[str], seed: int
) -> OneOfEach:
    """Return one record of each unit, as `attack_release` and `audit` draw them."""
    task = Task(
        original=original,
        releases=(),
        scenario=Scenario.without_keys(),
        target=None,
        control=control,
        test=None,
        groups={},
        measures="standard",
        classifiers=None,
        seed=seed,
        show_records=False,
    )
    task, units, notes = with_units(task, read_unit_id(unit_id, task))
    drawn = one_record_each(task)
    about = about_units(units, name_of_units(units.names), np.bincount(units.original))
    return OneOfEach(drawn.original, drawn.control, (about, *notes))


def _made(measure: Measure, ready: Sequence[Synthesis]) -> MadeAttack:
    """Run one measure, and keep what came of it; the others go on if it fails."""
    try:
        with inside_a_step():
            found = [measure.run(one) for one in (ready[:1] if measure.first_only else ready)]
    except UnderstudyError as error:
        columns = to_narwhals(ready[0].task.original).columns
        return MadeAttack(measure, None, error=failure_text(error, columns))
    return MadeAttack(measure, found[0], tuple(measure.collect(ready[0], found).figures))
