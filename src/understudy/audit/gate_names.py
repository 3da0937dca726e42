"""The figures that the gate knows, by name, and why one has no value."""

from __future__ import annotations

import math
from collections.abc import Mapping

from understudy.audit.answers import QUESTIONS
from understudy.audit.findings import Findings, ReleaseFindings
from understudy.audit.measures import MEASURES, figure_kinds
from understudy.audit.measures.declaration import DIFFERENCE, REFERENCES
from understudy.audit.task import LEVELS as MEASURE_SETS
from understudy.errors import ParameterError, did_you_mean

LEVEL_NAMES = ("verdict", *QUESTIONS)
"""What has a level instead of a number: the verdict on a release, and its three answers."""
_OF_CONTROL = ("control", "control_p_value", *DIFFERENCE)


def figure_names() -> dict[str, tuple[str, ...]]:
    """Return all measures that the gate knows, and the names of the figures of each.

    Examples
    --------
    >>> figure_names()["repu"]
    ('baseline', 'synthetic', 'original', 'control', 'gain', 'spread')
    """
    names: dict[str, tuple[str, ...]] = {kind.name: REFERENCES for kind in figure_kinds()}
    for measure in MEASURES:
        for group, figures in measure.numbers.items():
            names[group] = tuple(dict.fromkeys((*names.get(group, ()), *figures)))
    return names


def check_name(name: str) -> None:
    """Raise unless there is a figure of this name."""
    known = figure_names()
    group, _, figure = name.rpartition(".")
    if figure in known.get(group, ()):
        return
    if name in known:
        raise ParameterError(
            f"{name!r} has several figures; name one: "
            f"{', '.join(f'{name}.{figure}' for figure in known[name])}."
        )
    if group in known:
        hint = did_you_mean(name, [f"{group}.{figure}" for figure in known[group]])
        raise ParameterError(
            f"There is no figure {name!r}.{hint} {group} has {', '.join(known[group])}."
        )
    full = [f"{group}.{figure}" for group, figures in known.items() for figure in figures]
    full += LEVEL_NAMES
    raise ParameterError(
        f"There is no figure {name!r}.{did_you_mean(name, full)} A name is a measure, a dot, "
        f"and a figure, such as gcap.gain. Measures: {', '.join(known)}. "
        f"Levels: {', '.join(LEVEL_NAMES)}."
    )


def metrics_of(release: ReleaseFindings) -> dict[str, float]:
    """Return all figures of a release that were measured, by name; nan if undefined.

    Parameters
    ----------
    release : ReleaseFindings
        What was found about the release.

    Returns
    -------
    dict
        Numbers by names such as gcap.gain, strong.certain and marginals.2.ratio; see
        `figure_names`.

    Examples
    --------
    >>> from understudy.audit.findings import Figure
    >>> gcap = Figure("gcap", "GCAP", "", baseline=0.5, synthetic=0.75, gain=0.25)
    >>> metrics_of(ReleaseFindings("cart", "", 1, 8, figures=(gcap,)))["gcap.gain"]
    0.25
    """
    found = {
        f"{figure.measure}.{name}": float(getattr(figure, name))
        for figure in release.figures
        for name in REFERENCES
    }
    for measure in MEASURES:
        for group, held in measure.values(release):
            if held is not None:
                values = held if isinstance(held, Mapping) else vars(held)
                found |= {f"{group}.{name}": float(values[name]) for name in measure.numbers[group]}
    return found | dict(release.numbers)


def reason_for(findings: Findings, release: ReleaseFindings, name: str) -> str:
    """Return why a figure of a release has no value, as far as is known; empty if it is not."""
    group, _, part = name.rpartition(".")
    measure = next(
        one for one in MEASURES if group in {*one.numbers, *(kind.name for kind in one.figures)}
    )
    if measure.name in release.errors:
        return release.errors[measure.name]
    figure = release.figure(group)
    if figure is not None:
        if part in _OF_CONTROL and math.isnan(figure.control):
            return "it needs control records"
        if part == "spread" and release.syntheses == 1:
            return "it needs several syntheses"
        return figure.note
    if measure.has_findings(release):
        return ""
    asked = findings.measures.partition(",")[0]
    if asked in MEASURE_SETS[: MEASURE_SETS.index(measure.level)]:
        return f"it needs the {measure.level} measures, and these are {asked}"
    return f"it needs {measure.needs}" if measure.needs else ""
