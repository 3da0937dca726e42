"""A policy file: the conditions of the gate, and what to audit, in TOML.

All of it is optional, but for the conditions of a gate::

    [gate]
    fail_if = ["verdict >= raised", "gcap.gain > 0.05"]
    missing = "fail"

    [audit]
    keys = ["age", "education"]
    sensitive = "income"
    target = "job"
    known = 2
    measures = "standard"
    unit = "households"
    unit_id = ["household"]

    [limits]
    large_gain = 0.05
    certain = 0.0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

from understudy.arguments import check_choice, is_whole
from understudy.audit.findings import Findings
from understudy.audit.gate import Condition, GateResult, Missing, check
from understudy.audit.limits import NAMES, Limits, problem_with
from understudy.audit.task import LEVELS
from understudy.errors import ParameterError, did_you_mean
from understudy.toml_file import read_toml

_TABLES = ("gate", "audit", "limits")
_GATE = ("fail_if", "missing")


@dataclass(frozen=True)
class Policy:
    """What a release must keep to, and what is audited if nothing else is said.

    Parameters
    ----------
    conditions : tuple of Condition
        When the gate fails; none if there is no gate.
    missing : {"fail", "ignore"}
        What becomes of a condition whose figure was not measured.
    keys : tuple of str
        Columns that an attacker may know; empty if the policy does not say.
    sensitive, target : str
        What the attacker wants, and what the data are used to predict; empty likewise.
    known : int, optional
        How many of the keys are known at a time.
    measures : str
        quick, standard or full; empty if the policy does not say.
    unit : str
        What a record or unit is about; empty likewise.
    unit_id : tuple of str
        Columns that name the unit of a record; empty likewise.
    limits : Limits
        What counts as much in the verdict.
    source : str
        Where it comes from, for messages.
    """

    conditions: tuple[Condition, ...] = ()
    missing: Missing = "fail"
    keys: tuple[str, ...] = ()
    sensitive: str = ""
    target: str = ""
    known: int | None = None
    measures: str = ""
    unit: str = ""
    unit_id: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    source: str = "policy"

    def check(self, findings: Findings) -> GateResult:
        """Hold the releases of an audit against the conditions."""
        return check(findings, self.conditions, missing=self.missing)


def load_policy(path: str | Path) -> Policy:
    """Read a policy from a TOML file.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    Policy

    Raises
    ------
    ParameterError
        If there is no such file, or anything in it cannot be used; all problems are listed.
    """
    return read_policy(read_toml(path), str(path))


def read_policy(content: Mapping[str, Any], source: str = "policy") -> Policy:
    """Return the policy that the content of a TOML file stands for.

    Examples
    --------
    >>> policy = read_policy({"gate": {"fail_if": ["strong.certain > 0", "verdict = high"]}})
    >>> [str(condition) for condition in policy.conditions]
    ['strong.certain > 0', 'verdict = high']
    """
    problems = [
        _unknown("table", name, "a policy", _TABLES) for name in content if name not in _TABLES
    ]
    if not content:
        problems.append(
            "It is empty and would let everything pass. Add a [gate] or an [audit] section."
        )
    tables = {}
    for name in _TABLES:
        table = content.get(name, {})
        if isinstance(table, dict):
            tables[name] = table
        else:
            problems.append(f"{name} must be a table, [{name}]; got {name} = {table!r}.")
            tables[name] = {}
    conditions, missing = _read_gate(tables["gate"], "gate" in content, problems)
    audit = _read_audit(tables["audit"], problems)
    limits = _read_limits(tables["limits"], problems)
    if problems:
        listed = "\n".join(f"  - {problem}" for problem in problems)
        raise ParameterError(f"{source} cannot be used:\n{listed}")
    return Policy(conditions, missing, **audit, limits=limits, source=source)


def _unknown(kind: str, name: str, whole: str, known: tuple[str, ...]) -> str:
    return f"There is no {kind} {name!r} in {whole}; it has {', '.join(known)}." + did_you_mean(
        name, known
    )


def _read_gate(
    table: Mapping[str, Any], given: bool, problems: list[str]
) -> tuple[tuple[Condition, ...], Missing]:
    problems += [_unknown("field", name, "[gate]", _GATE) for name in table if name not in _GATE]
    texts = table.get("fail_if", [])
    if not isinstance(texts, list):
        problems.append(f"fail_if must be a list of conditions; got {texts!r}.")
        texts = []
    elif given and not texts:
        problems.append(
            'The gate has no condition and would let everything pass. Add fail_if = ["gcap.gain > '
            '0.05"], or remove [gate].'
        )
    conditions = []
    for text in texts:
        try:
            conditions.append(Condition.parse(text))
        except ParameterError as error:
            problems.append(f"fail_if: {error}")
    missing = table.get("missing", "fail")
    try:
        check_choice("missing", missing, get_args(Missing))
    except ParameterError as error:
        problems.append(str(error))
    return tuple(conditions), cast("Missing", missing)


def _read_limits(table: Mapping[str, Any], problems: list[str]) -> Limits:
    problems += [_unknown("limit", name, "[limits]", NAMES) for name in table if name not in NAMES]
    known = {name: value for name, value in table.items() if name in NAMES}
    wrong = {name: told for name, value in known.items() if (told := problem_with(name, value))}
    problems += wrong.values()
    return Limits(**{name: value for name, value in known.items() if name not in wrong})


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _is_names(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_name, value))


_AUDIT: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "keys": (_is_names, "a list of columns"),
    "sensitive": (_is_name, "the name of a column"),
    "target": (_is_name, "the name of a column"),
    "known": (lambda value: is_whole(value) and value >= 1, "a whole number from 1"),
    "measures": (lambda value: value in LEVELS, f"one of {', '.join(LEVELS)}"),
    "unit": (_is_name, "what a record is about, such as people"),
    "unit_id": (_is_names, "a list of columns"),
}


def _read_audit(table: Mapping[str, Any], problems: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in table.items():
        if name not in _AUDIT:
            problems.append(_unknown("field", name, "[audit]", tuple(_AUDIT)))
            continue
        good, kind = _AUDIT[name]
        if good(value):
            found[name] = tuple(value) if isinstance(value, list) else value
        else:
            problems.append(f"{name} must be {kind}; got {value!r}.")
    keys = found.get("keys", ())
    repeated = sorted({key for key in keys if keys.count(key) > 1})
    problems += [f"keys: {key!r} is named twice." for key in repeated]
    if found.get("sensitive") in keys:
        problems.append(f"{found['sensitive']!r} is both a key and the sensitive attribute.")
    if keys and found.get("known", 0) > len(keys):
        problems.append(f"known is {found['known']}, but there are {len(keys)} keys.")
    return found
