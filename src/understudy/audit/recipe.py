"""How a release was made, as far as its description tells, and how another is made like it."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

CLASSES = {
    "BayesNet": "bayes",
    "Cart": "cart",
    "GaussianCopula": "copula",
    "Independent": "independent",
    "Uniform": "random",
}
"""The synthesizers, and what the command line calls them."""
PROTECTING = ("bayes", "cart")
"""Methods that can cut a sensitive column loose."""

_SCALARS = {
    "parents": "--parents",
    "structure": "--structure",
    "root": "--root",
    "generations": "--generations",
    "minbucket": "--minbucket",
    "cp": "--cp",
    "max_predictors": "--max-predictors",
    "smoothing": "--smoothing",
    "decode": "--decode",
}
_LISTS = {"visit_sequence": "--visit", "keep": "--keep", "strata": "--strata"}
_UNNEEDED = ("random_state", "threads")
_METHOD_OF = {name.casefold(): method for name, method in CLASSES.items()} | {
    method: method for method in CLASSES.values()
}


@dataclass(frozen=True)
class Recipe:
    """A method of synthesis with the parameters that were set.

    Parameters
    ----------
    method : str
        As the command line calls it.
    parameters : mapping
        What differs from the defaults, by the synthesizer's own names.

    Examples
    --------
    >>> recipe = Recipe.read("BayesNet(parents=2, random_state=1)", "release.csv")
    >>> " ".join(recipe.words(protect={"income": "job"}))
    '--method bayes --parents 2 --protect income:job'
    """

    method: str
    parameters: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def read(cls, description: str, name: str) -> Recipe | None:
        """Return the recipe that a description or, if that is empty, a release's name tells of."""
        called = _read_call(description)
        if called is not None:
            return called
        for word in re.findall(r"[A-Za-z]+", description):
            if word.casefold() in _METHOD_OF:
                return cls(_METHOD_OF[word.casefold()], _read_numbers(description))
        if name.casefold() in _METHOD_OF:
            return cls(_METHOD_OF[name.casefold()])
        # A file named random-sample.csv was not made by --method random.
        words = re.findall(r"[a-z]+", PurePath(name).stem.casefold())
        told = [_METHOD_OF[word] for word in words if word in _METHOD_OF]
        return cls(told[0]) if told and told[0] != "random" else None

    def number(self, name: str, default: float) -> float | None:
        """Return a parameter that is one number; None if it is set in another form."""
        value = self.parameters.get(name, default)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    @property
    def protects(self) -> Mapping[str, str | None]:
        """The sensitive columns that are cut loose, with their targets."""
        found = self.parameters.get("protect")
        return found if isinstance(found, dict) else {}

    @property
    def unsaid(self) -> tuple[str, ...]:
        """Parameters that were set and that the command line has no words for."""
        return tuple(
            name
            for name, value in self.parameters.items()
            if name not in _UNNEEDED and value is not None and not _words_for(name, value)
        )

    def words(self, **changes: object) -> list[str]:
        """Return the options of the command line, with some parameters changed."""
        found = ["--method", self.method]
        for name, value in (dict(self.parameters) | changes).items():
            found += _words_for(name, value)
        return found


def _words_for(name: str, value: object) -> list[str]:
    """Return the options for one parameter; none if it cannot be said so."""
    if name in _SCALARS and isinstance(value, str | int | float) and not isinstance(value, bool):
        return [_SCALARS[name], f"{value:g}" if isinstance(value, float) else str(value)]
    if name in _LISTS and value:
        names = [value] if isinstance(value, str) else value
        if isinstance(names, list | tuple):
            return [_LISTS[name], ",".join(map(str, names))]
    if name == "proper" and value is True:
        return ["--proper"]
    if name == "rules" and isinstance(value, list | tuple):
        texts = [rule for rule in value if isinstance(rule, str)]
        return [word for rule in texts for word in ("--rule", rule)]
    if name == "protect" and isinstance(value, Mapping):
        return [word for pair in value.items() for word in ("--protect", protection(*pair))]
    return []


def protection(sensitive: str, target: str | None) -> str:
    """Return what --protect takes; a target that it cannot name is left out.

    Examples
    --------
    >>> protection("income", "job"), protection("income", None)
    ('income:job', 'income:')
    """
    return f"{sensitive}:{target if target and ':' not in target else ''}"


def _read_call(description: str) -> Recipe | None:
    """Return the recipe in a text such as Cart(minbucket=10), without running anything."""
    try:
        # The audit shows … for a parameter that may hold values of the data.
        call = ast.parse(description.strip().replace("=…", "=..."), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return None
    method = _METHOD_OF.get(call.func.id.casefold())
    if method is None:
        return None
    parameters: dict[str, object] = {}
    for keyword in call.keywords:
        if keyword.arg is not None:
            try:
                parameters[keyword.arg] = ast.literal_eval(keyword.value)
            except (ValueError, TypeError, RecursionError, MemoryError):
                # Set, but to something that is no plain value.
                parameters[keyword.arg] = ...
    return Recipe(method, parameters)


def _read_numbers(description: str) -> dict[str, object]:
    """Return the numbers that a description in words gives, such as "parents 2"."""
    pattern = r"\b(parents|minbucket|cp)\s*[=:]?\s*([0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)"
    return {
        name: float(text) if set(text) & set(".e") else int(text)
        for name, text in re.findall(pattern, description)
    }
