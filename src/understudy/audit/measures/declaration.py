"""What is declared of a measure, once: whatever shows, checks or explains it reads this.

A measure is one module of this package. It says how the measure is run on one synthesis, how the
results become findings, and all that is said of it: titles, meanings, sources, names for the gate,
columns of the comparison, which of D1 to D5 it meets, and which question of the verdict it answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from understudy.audit.findings import NAN, Figure, ReleaseFindings
from understudy.risk.kept_back import Compared
from understudy.wording import percent_number

if TYPE_CHECKING:
    from understudy.audit.synthesis import Synthesis
    from understudy.audit.task import Given, MeasureSet, Task

Question = Literal["records", "ordinary", "strongest"]
"""What the verdict asks: does the release hold people's records, and what do an ordinary attacker
and the strongest one learn?"""

Value = Callable[[ReleaseFindings], float]
Use = Iterable[tuple[str, float, float]]
"""Figures of use: a name, the value, and what it would be if nothing were lost."""
REFERENCES = ("baseline", "synthetic", "original", "control", "gain", "spread")
"""What stands beside each other for every figure of risk: the fields of `Figure`."""
GUESSED, STRONGEST, COUNTED, USE = "Guessed correctly, %", "Strong attacker", "Counted, %", "Use"
GROUPS = (GUESSED, STRONGEST, COUNTED, USE)
"""The headings over the columns of releases side by side, in their order."""


@dataclass(frozen=True)
class FigureKind:
    """A figure of risk that stands beside a baseline.

    Parameters
    ----------
    name : str
        By which the gate, the JSON file and frames know it.
    title, meaning : str
        Its name for people, and what is counted, in words.
    question : {"records", "ordinary", "strongest"}, optional
        The question of the verdict that it answers; none if it only illustrates.
    chart : str
        The sentence at the chart that compares releases; there is no such chart if it is empty.
    guess : bool
        Whether it counts guesses, and belongs on the chart of all guesses.
    tested : bool
        Whether it answers its question by a test, with a p-value among the numbers of its name,
        and not by the size of its gain.
    beside_control : bool
        Whether it answers its question only if it is larger than for control records.
    told : str
        What it found, for the verdict: the first part of a sentence, in which {synthetic},
        {baseline} and {control} are shares and {units} the people, or whatever the records are
        about; the note of the figure if it is empty.
    """

    name: str
    title: str
    meaning: str
    question: Question | None = None
    chart: str = ""
    guess: bool = True
    tested: bool = False
    beside_control: bool = False
    told: str = ""

    def figure(self, **values: Any) -> Figure:  # noqa: ANN401  # fields of `Figure`
        """Return a figure of this kind."""
        return Figure(self.name, self.title, values.pop("meaning", self.meaning), **values)


@dataclass(frozen=True)
class Explanation:
    """How a measure is computed: its name, a short text, and the source."""

    title: str
    text: str
    source: str = ""


@dataclass(frozen=True)
class Part:
    """A part of the report: its key, what the contents call it, and its place among the parts."""

    key: str
    title: str
    place: int


@dataclass(frozen=True)
class Trust:
    """Which of D1 to D5 a measure meets in the worlds of `understudy.worlds`.

    `silent` are those that it meets only because its score never changes; `about` says whether the
    score is that of one person ("record") or of all people ("table").
    """

    measure: str
    about: Literal["record", "table"]
    meets: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()


@dataclass(frozen=True)
class Column:
    """A column of the table of releases side by side; the references may be missing.

    Parameters
    ----------
    group, title, about : str
        The heading over several columns, its own heading, and what is in it, in words.
    value, without, original : callable
        Take the figure from a release: with it, without it, and with the original.
    write : callable
        Puts the figure into words.
    in_terminal : bool
        Whether there is room for it in the terminal.
    """

    group: str
    title: str
    about: str
    value: Value
    write: Callable[[float], str] = percent_number
    without: Value | None = None
    original: Value | None = None
    in_terminal: bool = True


@dataclass(frozen=True)
class Collected:
    """What became of the results of a measure over all syntheses of a release.

    Parameters
    ----------
    figures : sequence of Figure
        Figures of risk, of the declared kinds.
    numbers : mapping
        Further numbers by the names that the gate knows, of measures without findings of their own.
    release, utility : mapping
        Fields of `ReleaseFindings` and `UtilityFindings`; tuples of one field are joined.
    notes : sequence of str
        What must be known about the use.
    """

    figures: Sequence[Figure] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)
    release: Mapping[str, Any] = field(default_factory=dict)
    utility: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Measure:
    """One measure: how it is run, what comes of it, and all that is said of it.

    Parameters
    ----------
    name : str
        Its name in `errors`.
    doing : str
        What is said while it runs.
    run : callable
        Measures one synthesis.
    collect : callable
        Turns the first synthesis and the results of all into findings.
    place : int
        Decides the order in which measures are shown; the last if not given.
    level : {"quick", "standard", "full"}
        The smallest set of measures that it belongs to.
    needed : callable
        Tells whether it is run, given what is audited: a model, a target.
    needs : str
        The same in words; empty if it is always run.
    first_only : bool
        Whether it is run once for all syntheses, or is about the first alone.
    keyless : bool
        Whether it needs neither keys nor a sensitive attribute.
    of_units : {"one record", "all records"}
        What it is given of units that have several records: one of each, drawn at random, so that
        its tests may take records for independent; or all of them, for measures that test nothing
        or look at whole units by themselves.
    figures : tuple of FigureKind
        Its figures of risk.
    numbers : mapping
        Names of its further figures for the gate, by group.
    values : callable
        Takes these from a release, as (group, object with such fields or mapping).
    use : callable
        Takes its figures of use from a release.
    found : callable
        Tells whether a release has anything of it.
    """

    name: str
    doing: str
    run: Callable[[Synthesis], Any]
    collect: Callable[[Synthesis, Sequence[Any]], Collected]
    place: int = 1_000
    level: MeasureSet = "quick"
    needed: Callable[[Task, Given], bool] = lambda _task, _given: True
    needs: str = ""
    first_only: bool = False
    keyless: bool = False
    of_units: Literal["one record", "all records"] = "one record"
    figures: tuple[FigureKind, ...] = ()
    numbers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    values: Callable[[ReleaseFindings], Iterable[tuple[str, object]]] = lambda _release: ()
    use: Callable[[ReleaseFindings], Use] = lambda _release: ()
    found: Callable[[ReleaseFindings], object] = lambda _release: None
    explanation: Explanation | None = None
    part: Part | None = None
    trust: tuple[Trust, ...] = ()
    columns: tuple[Column, ...] = ()

    def has_findings(self, release: ReleaseFindings) -> bool:
        """Tell whether a release has any of its figures, or findings of its own."""
        return bool(self.found(release)) or any(
            release.figure(kind.name) is not None for kind in self.figures
        )


def of_figure(measure: str, field_name: str) -> Value:
    """Return what takes one field of a figure of risk from a release; nan if it is not there."""

    def value(release: ReleaseFindings) -> float:
        found = release.figure(measure)
        return math.nan if found is None else float(getattr(found, field_name))

    return value


def guessed(measure: str, title: str, about: str, *, in_terminal: bool = True) -> Column:
    """Return the column of an attacker who guesses, between no release and the original."""
    return Column(
        GUESSED,
        title,
        about,
        of_figure(measure, "synthetic"),
        without=of_figure(measure, "baseline"),
        original=of_figure(measure, "original"),
        in_terminal=in_terminal,
    )


def mean(values: Iterable[float]) -> float:
    """Return the mean of what is defined; nan if nothing is.

    Examples
    --------
    >>> mean([0.5, float("nan"), 1.0])
    0.75
    """
    defined = [float(value) for value in values if not math.isnan(value)]
    return math.fsum(defined) / len(defined) if defined else NAN


def spread(values: Sequence[float]) -> float:
    """Return the standard deviation over syntheses; nan if there is one.

    Examples
    --------
    >>> spread([1.0, 3.0]), spread([1.0])
    (1.4142135623730951, nan)
    """
    defined = [float(value) for value in values if not math.isnan(value)]
    return float(np.std(defined, ddof=1)) if len(defined) > 1 else NAN


DIFFERENCE = ("difference", "difference_low", "difference_high", "difference_p_value")
"""What stands beside a figure for people in the data against people kept back."""


def differences(name: str, found: Sequence[Compared | None]) -> dict[str, float]:
    """Return the numbers of `DIFFERENCE` for a figure; none without control records.

    They are those among people with the same sensitive value: means over the syntheses, and the
    smallest p-value times their number.
    """
    held = [one for one in found if one is not None]
    if not held:
        return {}
    values = (
        mean(one.matched for one in held),
        mean(one.matched_interval[0] for one in held),
        mean(one.matched_interval[1] for one in held),
        smallest_p_value([one.matched_p_value for one in held]),
    )
    return {f"{name}.{what}": value for what, value in zip(DIFFERENCE, values, strict=True)}


def smallest_p_value(p_values: Sequence[float]) -> float:
    """Return the smallest p-value over syntheses, for having looked at all of them.

    Examples
    --------
    >>> smallest_p_value([0.01, 0.5, float("nan")])
    0.02
    """
    defined = [value for value in p_values if not math.isnan(value)]
    return min(1.0, min(defined) * len(defined)) if defined else NAN


def sentences(parts: Iterable[str]) -> str:
    """Join notes, each as a sentence."""
    told = [part.strip() for part in parts if part.strip()]
    return " ".join(
        f"{part[0].upper()}{part[1:]}{'' if part.endswith('.') else '.'}" for part in told
    )


CODASPY = (
    "Hittmeir, Mayer, Ekelhart (2020). A baseline for attribute disclosure risk in synthetic data. "
    "CODASPY. doi:10.1145/3374664.3375722"
)
BIG_DATA = (
    "Hittmeir, Mayer, Ekelhart (2022). Efficient Bayesian network construction for increased "
    "privacy on synthetic data. IEEE Big Data. doi:10.1109/BigData55660.2022.10020936"
)
REITER = (
    "Reiter, Wang, Zhang (2014). Bayesian estimation of disclosure risks for multiply imputed, "
    "synthetic data. Journal of Privacy and Confidentiality 6(1). doi:10.29012/jpc.v6i1.635"
)
