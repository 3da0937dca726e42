"""The gate: conditions under which a release must not pass, for pipelines.

A condition is a figure, a comparison and a limit: ``gcap.gain > 0.05``. It says when the gate
fails. A figure without a value fails too, for what was not measured may be anything.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

from understudy.arguments import check_choice
from understudy.audit.findings import Findings, ReleaseFindings
from understudy.audit.measures import MEASURES, figure_kinds
from understudy.audit.measures.declaration import REFERENCES
from understudy.errors import ParameterError, did_you_mean

Missing = Literal["fail", "ignore"]
"""What becomes of a condition whose figure has no value."""

NOT_MEASURED = "not measured"

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_FORM = re.compile(
    r"\s*(?:\[(?P<release>.*)\])?"
    r"\s*(?P<measure>[^\s<>=\[\]]+)"
    r"\s*(?P<comparison>>=|<=|>|<)"
    r"\s*(?P<limit>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"\s*(?P<percent>%?)\s*",
    re.DOTALL,
)


@dataclass(frozen=True)
class Condition:
    """When the gate fails: a figure of a release compared with a limit.

    Parameters
    ----------
    measure : str
        The figure, such as gcap.gain; `figure_names` has all of them.
    comparison : {">", ">=", "<", "<="}
        How it is compared.
    limit : float
        With what.
    release : str, optional
        The release that it is about; all if not given.
    """

    measure: str
    comparison: str
    limit: float
    release: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a condition such as ``gcap.gain > 5%`` or ``[cart] strong.certain > 0``.

        Raises
        ------
        ParameterError
            If the text has another form, or names a figure that does not exist.

        Examples
        --------
        >>> Condition.parse("gcap.gain > 5%")
        Condition(measure='gcap.gain', comparison='>', limit=0.05, release=None)
        """
        match = _FORM.fullmatch(text) if isinstance(text, str) else None
        limit = float(match["limit"]) if match else math.nan
        if match is None or not math.isfinite(limit):
            raise ParameterError(
                f"{text!r} is not a condition. Write MEASURE.FIGURE > NUMBER (or >=, <, <=), "
                "such as 'gcap.gain > 0.05', 'vote.gain >= 5%' or '[cart] strong.certain > 0' "
                "for one release."
            )
        check_name(match["measure"])
        if match["percent"]:
            limit /= 100
        return cls(match["measure"], match["comparison"], limit, match["release"])

    def holds(self, value: float) -> bool:
        """Tell whether a value makes the gate fail; nan never does by itself."""
        return _COMPARISONS[self.comparison](value, self.limit)

    def __str__(self) -> str:
        which = f"[{self.release}] " if self.release is not None else ""
        return f"{which}{self.measure} {self.comparison} {self.limit:g}"


@dataclass(frozen=True)
class Failure:
    """A condition that made the gate fail.

    Parameters
    ----------
    condition : Condition
        The condition.
    release, measure : str
        The release and the figure.
    value, limit : float
        The figure's value, nan if it was not measured, and the limit.
    reason : str
        Empty if the value is beyond the limit; else "not measured", and why.
    """

    condition: Condition
    release: str
    measure: str
    value: float
    limit: float
    reason: str = ""

    def __str__(self) -> str:
        if self.reason:
            return f"{self.release}: {self.measure} was {self.reason} (limit: {self.condition})"
        value, limit = f"{self.value:.6g}", f"{self.limit:.6g}"
        if value == limit != repr(self.value):
            value = repr(self.value)  # so near that rounding would hide the difference
        beyond = f"{self.condition.comparison} {limit}"
        return f"{self.release}: {self.measure} is {value}; the gate fails if it is {beyond}"


@dataclass(frozen=True)
class GateResult:
    """The result of the gate.

    Parameters
    ----------
    failed : tuple of Failure
        The conditions that failed, a release each.
    passed : int
        How many did not.
    ignored : int
        How many had no value, where that is to be ignored.
    """

    failed: tuple[Failure, ...]
    passed: int
    ignored: int = 0

    @property
    def exit_code(self) -> int:
        """0 if the gate passed, 1 if it failed."""
        return 1 if self.failed else 0

    def summary(self) -> str:
        """Return the result in a few lines: each failure with its measure, value and limit."""
        checks = len(self.failed) + self.passed + self.ignored
        beside = f"; {self.ignored} not measured and ignored" if self.ignored else ""
        if not self.failed:
            return f"Gate passed: {self.passed} of {checks} checks{beside}."
        head = f"Gate failed: {len(self.failed)} of {checks} checks{beside}."
        return "\n".join([head, *(f"  - {failure}" for failure in self.failed)])

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values, with None for nan."""
        return {
            "exit_code": self.exit_code,
            "passed": self.passed,
            "ignored": self.ignored,
            "failed": [
                {
                    "condition": str(failure.condition),
                    "release": failure.release,
                    "measure": failure.measure,
                    "value": failure.value if math.isfinite(failure.value) else None,
                    "limit": failure.limit,
                    "reason": failure.reason,
                }
                for failure in self.failed
            ],
        }

    def __str__(self) -> str:
        return self.summary()


def check(
    findings: Findings,
    conditions: Sequence[Condition | str],
    *,
    missing: Missing = "fail",
) -> GateResult:
    """Hold the releases of an audit against conditions under which they must not pass.

    Parameters
    ----------
    findings : Findings
        What the audit found.
    conditions : sequence of Condition or str
        When the gate fails. One without the name of a release counts for each release.
    missing : {"fail", "ignore"}
        What becomes of a condition whose figure was not measured or is undefined. The gate fails
        unless told otherwise: what is not known may be anything.

    Returns
    -------
    GateResult

    Raises
    ------
    ParameterError
        If a condition cannot be read, or names a release that is not there, or there is none.

    Examples
    --------
    >>> from understudy.audit.findings import Figure
    >>> release = ReleaseFindings("cart", "", 1, 8, figures=(Figure("gcap", "", "", gain=0.25),))
    >>> audit = Findings("", "", 0, 0, "", "quick", 8, 2, (), None, "", "", (release,))
    >>> print(check(audit, ["gcap.gain > 0.05"]))
    Gate failed: 1 of 1 checks.
      - cart: gcap.gain is 0.25; the gate fails if it is > 0.05
    """
    check_choice("missing", missing, get_args(Missing))
    if isinstance(conditions, str):
        raise ParameterError(f"conditions must be a list of conditions; got {conditions!r}.")
    read = [one if isinstance(one, Condition) else Condition.parse(one) for one in conditions]
    _check_releases(findings, read)
    values = [(release, metrics_of(release)) for release in findings.releases]
    failed: list[Failure] = []
    passed = ignored = 0
    for condition in read:
        for release, figures in values:
            if condition.release not in {None, release.name}:
                continue
            value = figures.get(condition.measure, math.nan)
            absent = math.isnan(value)
            if absent and missing == "ignore":
                ignored += 1
            elif absent or condition.holds(value):
                failed.append(_failure(condition, release, value))
            else:
                passed += 1
    return GateResult(tuple(failed), passed, ignored)


def _failure(condition: Condition, release: ReleaseFindings, value: float) -> Failure:
    reason = ""
    if math.isnan(value):
        why = reason_for(release, condition.measure).rstrip(".")
        reason = f"{NOT_MEASURED}: {why}" if why else NOT_MEASURED
    return Failure(condition, release.name, condition.measure, value, condition.limit, reason)


def _check_releases(findings: Findings, conditions: Sequence[Condition]) -> None:
    names = [release.name for release in findings.releases]
    if conditions and not names:
        raise ParameterError("The audit holds no release, so there is nothing for the gate to see.")
    for condition in conditions:
        if condition.release is not None and condition.release not in names:
            raise ParameterError(
                f"'{condition}': there is no release {condition.release!r}; there is "
                f"{', '.join(names)}.{did_you_mean(condition.release, names)}"
            )


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
    raise ParameterError(
        f"There is no figure {name!r}.{did_you_mean(name, full)} A name is a measure, a dot, "
        f"and a figure, such as gcap.gain. Measures: {', '.join(known)}."
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


def reason_for(release: ReleaseFindings, name: str) -> str:
    """Return why a figure of a release has no value, as far as is known; empty if it is not."""
    measured = name.partition(".")[0]
    figure = release.figure(measured)
    if figure is not None:
        return figure.note
    run_as = {kind.name: measure.name for measure in MEASURES for kind in measure.figures}
    return release.errors.get(run_as.get(measured, measured), "")
