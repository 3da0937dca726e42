"""The synthesizer that the options of `understudy synth` and `run` ask for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.cli import options, values
from understudy.errors import ParameterError

if TYPE_CHECKING:
    from understudy.data import Schema
    from understudy.synthesis import Synthesizer

_NAMED_OTHERWISE = {"visit_sequence": "--visit", "rules": "--rule"}


def own_parameters(
    *,
    parents: int | None,
    structure: options.Structure | None,
    protect: list[str] | None,
    root: str | None,
    generations: int | None,
    threads: int | None,
    minbucket: int | None,
    cp: float | None,
    visit: str | None,
    keep: str | None,
    strata: str | None,
    proper: bool,
    smoothing: options.Smoothing | None,
    rule: list[str] | None,
    max_predictors: int | None,
    decode: options.Decode | None,
) -> dict[str, Any]:
    """Return the parameters that were given as options, by the synthesizers' own names."""
    found = {
        "parents": parents,
        "structure": structure and structure.value,
        "protect": values.read_protection(protect),
        "root": root,
        "generations": generations,
        "threads": threads,
        "minbucket": minbucket,
        "cp": cp,
        "visit_sequence": values.split_names(visit) if visit else None,
        "keep": values.split_names(keep) if keep else None,
        "strata": values.split_names(strata) if strata else None,
        "proper": proper or None,
        "smoothing": smoothing and smoothing.value,
        "rules": rule or None,
        "max_predictors": max_predictors,
        "decode": decode and decode.value,
    }
    return {name: value for name, value in found.items() if value is not None}


def synthesizer(
    method: options.Method, settings: Path | None, seed: int, given: dict[str, Any]
) -> Synthesizer:
    """Return the synthesizer of a method, with those options that were given, and a file's."""
    from understudy.synthesis import METHODS
    from understudy.synthesis.settings import Settings

    cls = METHODS[method.value]
    wrong = [
        _NAMED_OTHERWISE.get(name, f"--{name.replace('_', '-')}")
        for name in given
        if name not in cls.parameter_names()
    ]
    if wrong:
        raise ParameterError(f"{', '.join(wrong)} does not go with --method {method.value}.")
    file = Settings.load(settings) if settings is not None else Settings()
    return cls(**(file.parameters(cls, given) | {"random_state": seed}))


def without(described: Schema | None, drop: str) -> Schema | None:
    """Return a schema without the columns that are not wanted."""
    if described is None:
        return None
    return described.drop(*(name for name in values.split_names(drop) if name in described))


def fresh_seed() -> int:
    """Return a seed that nobody can guess."""
    import secrets

    return secrets.randbelow(2**32)
