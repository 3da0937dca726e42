"""The gate: conditions under which a release must not pass, for pipelines.

A condition is a figure, a comparison and a limit: ``gcap.gain > 0.05``. It says when the gate
fails. A figure without a value fails too, for what was not measured may be anything. Levels of the
verdict are compared as words: ``verdict >= raised``.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, cast, get_args

from understudy.arguments import check_choice
from understudy.audit.answers import Answer, weigh
from understudy.audit.findings import Findings, ReleaseFindings
from understudy.audit.gate_names import LEVEL_NAMES, check_name, metrics_of, reason_for
from understudy.audit.levels import LEVELS, Level
from understudy.audit.measures import figure_kinds
from understudy.audit.measures.declaration import DIFFERENCE, REFERENCES
from understudy.errors import ParameterError, did_you_mean

Missing = Literal["fail", "ignore"]
"""What becomes of a condition whose figure has no value."""

NOT_MEASURED = "not measured"

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
}
_IN_WORDS = {"=": "called", "!=": "anything but"}
"""Comparisons of levels that are no words of a sentence; the others are understood as they are."""
_OF_LEVELS = ("=", "!=")
"""Comparisons that numbers lack: that two of them are equal is mostly an accident of rounding."""
_FORM = re.compile(
    r"\s*(?:\[(?P<release>.*)\])?"
    r"\s*(?P<measure>[^\s<>=!\[\]]+)"
    r"\s*(?P<comparison>>=|<=|!=|>|<|==?)"
    r"\s*(?:(?P<limit>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"\s*(?P<percent>%?)|(?P<quote>[\"']?)(?P<word>[A-Za-z][A-Za-z ]*)(?P=quote))\s*",
    re.DOTALL,
)


@dataclass(frozen=True)
class Condition:
    """When the gate fails: a figure of a release, or a level of its verdict, against a limit.

    Parameters
    ----------
    measure : str
        The figure, such as gcap.gain; `figure_names` has all of them. Or what has a level: verdict,
        records, ordinary or strongest.
    comparison : {">", ">=", "<", "<=", "=", "!="}
        How it is compared; the last two are for levels.
    limit : float or str
        With what. Levels are, from the least serious: low, not measured, raised, high.
    release : str, optional
        The release that it is about; all if not given.
    """

    measure: str
    comparison: str
    limit: float | str
    release: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a condition such as ``gcap.gain > 5%`` or ``[cart] verdict >= raised``.

        Raises
        ------
        ParameterError
            If the text has another form, or names a figure or a level that does not exist.

        Examples
        --------
        >>> Condition.parse("gcap.gain > 5%")
        Condition(measure='gcap.gain', comparison='>', limit=0.05, release=None)
        >>> Condition.parse("strongest = not measured").limit
        'not measured'
        """
        match = _FORM.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            raise _no_condition(text)
        name, comparison, limit = match["measure"], match["comparison"], math.nan
        comparison = "=" if comparison == "==" else comparison
        if name in LEVEL_NAMES:
            return cls(name, comparison, _read_level(match), match["release"])
        check_name(name)
        if match["limit"] and comparison not in _OF_LEVELS:
            limit = float(match["limit"]) / (100 if match["percent"] else 1)
        if not math.isfinite(limit):
            raise _no_condition(text)
        if abs(limit) > 1 and _is_share(name):
            raise ParameterError(
                f"{text!r}: {name} is a share from 0 to 1, or a difference of two, and never "
                f"beyond {limit:g}. For percent, write it: {name} {comparison} {limit:g}%."
            )
        return cls(name, comparison, limit, match["release"])

    def holds(self, value: float | str) -> bool:
        """Tell whether a value makes the gate fail; nan never does by itself.

        Examples
        --------
        >>> at_least = Condition("verdict", ">=", "raised")
        >>> [at_least.holds(level) for level in ("low", "not measured", "raised", "high")]
        [False, False, True, True]
        """
        return _COMPARISONS[self.comparison](_rank(value), _rank(self.limit))

    def __str__(self) -> str:
        which = f"[{self.release}] " if self.release is not None else ""
        limit = self.limit if isinstance(self.limit, str) else f"{self.limit:g}"
        return f"{which}{self.measure} {self.comparison} {limit}"


def _is_share(name: str) -> bool:
    """Tell whether a figure is a share, or a difference of shares."""
    measure, _, figure = name.rpartition(".")
    kinds = {kind.name for kind in figure_kinds()}
    return measure in kinds and figure in {*REFERENCES, *DIFFERENCE, "p_value", "control_p_value"}


def _no_condition(text: object) -> ParameterError:
    return ParameterError(
        f"{text!r} is not a condition. Write MEASURE.FIGURE > NUMBER (or >=, <, <=), "
        "such as 'gcap.gain > 0.05', 'vote.gain >= 5%' or '[cart] strong.certain > 0' "
        f"for one release. Levels ({', '.join(LEVEL_NAMES)}) are compared as words, also by = and "
        "!=, such as 'verdict >= raised'."
    )


def _read_level(match: re.Match[str]) -> str:
    """Return the level with which a condition compares, or say which there are."""
    given = match["word"] or f"{match['limit']}{match['percent']}"
    level = " ".join(given.lower().split())
    if level not in LEVELS:
        raise ParameterError(
            f"{match['measure']!r} is compared with a level, one of "
            f"{', '.join(reversed(LEVELS))} (the most serious last); got {given.strip()!r}."
            f"{did_you_mean(level, list(LEVELS))}"
        )
    return level


def _rank(value: float | str) -> float:
    """Return what is compared: the number itself, or how serious a level is."""
    return -LEVELS.index(cast("Level", value)) if isinstance(value, str) else value


@dataclass(frozen=True)
class Failure:
    """A condition that made the gate fail.

    Parameters
    ----------
    condition : Condition
        The condition.
    release, measure : str
        The release and the figure.
    value, limit : float or str
        The figure's value, nan if it was not measured, and the limit; or two levels.
    reason : str
        Empty if the value is beyond the limit; else "not measured", and why.
    decided : str
        What decided a level, in a sentence; empty for figures.
    """

    condition: Condition
    release: str
    measure: str
    value: float | str
    limit: float | str
    reason: str = ""
    decided: str = ""

    def __str__(self) -> str:
        if self.reason:
            return f"{self.release}: {self.measure} was {self.reason} (limit: {self.condition})"
        compared = self.condition.comparison
        if isinstance(self.value, str) or isinstance(self.limit, str):
            fails = f"the gate fails if it is {_IN_WORDS.get(compared, compared)} {self.limit}"
            return f"{self.release}: {self.measure} is {self.value}; {fails}. {self.decided}"
        value, limit = f"{self.value:.6g}", f"{self.limit:.6g}"
        if value == limit != repr(self.value):
            value = repr(self.value)  # so near that rounding would hide the difference
        beyond = f"{compared} {limit}"
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
    notes : tuple of str
        What passed although it was not measured: levels that a condition allows.
    """

    failed: tuple[Failure, ...]
    passed: int
    ignored: int = 0
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 if the gate passed, 1 if it failed."""
        return 1 if self.failed else 0

    def summary(self) -> str:
        """Return the result in a few lines: each failure with its measure, value and limit."""
        checks = len(self.failed) + self.passed + self.ignored
        beside = f"; {self.ignored} not measured and ignored" if self.ignored else ""
        head = f"Gate passed: {self.passed} of {checks} checks{beside}."
        if self.failed:
            head = f"Gate failed: {len(self.failed)} of {checks} checks{beside}."
        return "\n".join([head, *(f"  - {told}" for told in (*self.failed, *self.notes))])

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
                    "value": _plain(failure.value),
                    "limit": failure.limit,
                    "reason": failure.reason,
                    "decided": failure.decided,
                }
                for failure in self.failed
            ],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return self.summary()


def _plain(value: float | str) -> float | str | None:
    return value if isinstance(value, str) or math.isfinite(value) else None


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
        unless told otherwise: what is not known may be anything. A level always has a value, which
        may be "not measured".

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
    failed: list[Failure] = []
    notes: list[str] = []
    passed = ignored = 0
    for release in findings.releases:
        values: dict[str, float | str] = {**metrics_of(release)}
        levels, decided = _levels(findings, release)
        for condition in read:
            if condition.release not in {None, release.name}:
                continue
            name = condition.measure
            value = levels.get(name) or values.get(name, math.nan)
            absent = isinstance(value, float) and math.isnan(value)
            if absent and missing == "ignore":
                ignored += 1
            elif absent or condition.holds(value):
                reason = _not_measured(findings, release, name) if absent else ""
                told = decided.get(name, "")
                failed.append(
                    Failure(condition, release.name, name, value, condition.limit, reason, told)
                )
            else:
                passed += 1
                if value == NOT_MEASURED:
                    allowed = f"{name} is {value}, which '{condition}' allows"
                    notes.append(f"{release.name}: {allowed}. {decided[name]}")
    return GateResult(tuple(failed), passed, ignored, tuple(notes))


def _levels(
    findings: Findings, release: ReleaseFindings
) -> tuple[dict[str, Level], dict[str, str]]:
    """Return the levels of the verdict on a release by name, and what decided each."""
    evidence = weigh(findings, release)
    worst = next(one for one in evidence.answers.values() if one.level == evidence.level)
    named: dict[str, Answer] = {"verdict": worst, **evidence.answers}  # type: ignore[dict-item]
    return (
        {name: answer.level for name, answer in named.items()},
        {name: answer.sentence for name, answer in named.items()},
    )


def _not_measured(findings: Findings, release: ReleaseFindings, name: str) -> str:
    why = reason_for(findings, release, name).rstrip(".")
    return f"{NOT_MEASURED}: {why}" if why else NOT_MEASURED


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
