"""How a release was made: the synthesizer and its parameters, in words and as plain values."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from typing import Any

from understudy.audit.findings import MadeBy
from understudy.synthesis import Synthesizer

_UNSAID = ("random_state", "threads")


def made_by(model: Synthesizer | None) -> MadeBy | None:
    """Return the method and the parameters that were changed, of a fitted model.

    What may hold values of the data, such as rules, is named only. The seed is left out: anyone who
    knows it can draw again what the model drew.

    Examples
    --------
    >>> from understudy import BayesNet, load
    >>> survey = load("cmc").select("age", "children", "method")
    >>> made_by(BayesNet(parents=2, protect={"method": "age"}, random_state=1).fit(survey))
    MadeBy(method='bayes', parameters={'parents': 2, 'protect': {'method': 'age'}}, unsaid=())
    """
    if model is None:
        return None
    columns = model.codec_.schema.names
    defaults = inspect.signature(type(model)).parameters
    parameters: dict[str, object] = {}
    unsaid = []
    for name, value in model.get_params().items():
        default = defaults[name].default
        if name in _UNSAID or value is default or value == default:
            continue
        if _can_be_said(value, columns):
            parameters[name] = _plain(value)
        else:
            unsaid.append(name)
    return MadeBy(model.method, parameters, tuple(unsaid))


def method_in_words(model: Synthesizer | None) -> str:
    """Return the synthesizer and the parameters that were changed; empty without a model."""
    made = made_by(model)
    if model is None or made is None:
        return ""
    said = {
        name: _in_words(value) if name in made.parameters else "…"
        for name, value in model.get_params().items()
        if name in made.parameters or name in made.unsaid
    }
    return f"{type(model).__name__}({', '.join(f'{name}={text}' for name, text in said.items())})"


def _in_words(value: Any) -> str:  # noqa: ANN401  # whatever a parameter holds
    if isinstance(value, Mapping):
        return repr(dict(value))
    return repr(list(value) if isinstance(value, tuple) else value)


def _plain(value: Any) -> Any:  # noqa: ANN401  # whatever a parameter holds
    """Return a value as JSON gives it back."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _can_be_said(value: object, columns: Collection[str]) -> bool:
    """Tell whether a value holds nothing but numbers, choices of ours, and names of columns."""
    if isinstance(value, bool | int | float) or value is None:
        return True
    if isinstance(value, str):
        return value.isidentifier()  # a choice such as a way to search: one plain word
    if isinstance(value, Mapping):
        return all(_is_column(key, columns) for key in value) and all(
            item is None or _is_column(item, columns) or isinstance(item, int | float)
            for item in value.values()
        )
    return isinstance(value, list | tuple) and all(_is_column(item, columns) for item in value)


def _is_column(value: object, columns: Collection[str]) -> bool:
    if isinstance(value, tuple | list):
        return all(_is_column(item, columns) for item in value)
    return isinstance(value, str) and value in columns
