"""What may be told of the model that made a release."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping

from understudy.audit.findings import NetworkFindings
from understudy.synthesis import BayesNet, Synthesizer

_UNSAID = ("random_state", "threads")


def method_of(model: Synthesizer | None) -> str:
    """Return the synthesizer and the parameters that were changed, of a fitted model.

    What may hold values of the data, such as rules, is named only. The seed is left out: who knows
    it can draw again what the model drew.

    Examples
    --------
    >>> from understudy import BayesNet, load
    >>> survey = load("cmc").select("age", "children", "method")
    >>> method_of(BayesNet(parents=2, protect={"method": "age"}, random_state=1).fit(survey))
    "BayesNet(parents=2, protect={'method': 'age'})"
    """
    if model is None:
        return ""
    columns = model.codec_.schema.names
    defaults = inspect.signature(type(model)).parameters
    changed = [
        f"{name}={_shown(value, columns)}"
        for name, value in model.get_params().items()
        if name not in _UNSAID
        and value is not defaults[name].default
        and value != defaults[name].default
    ]
    return f"{type(model).__name__}({', '.join(changed)})"


def _shown(value: object, columns: Collection[str]) -> str:
    if isinstance(value, bool | int | float) or value is None or _is_name(value):
        return repr(value)
    if isinstance(value, Mapping) and all(_is_column(key, columns) for key in value):
        held = value.values()
        if all(item is None or _is_column(item, columns) or _is_number(item) for item in held):
            return repr(dict(value))
    if isinstance(value, list | tuple) and all(_is_column(item, columns) for item in value):
        return repr(list(value))
    return "…"


def _is_name(value: object) -> bool:
    """Tell whether a text is a choice of ours, such as a way to search: one plain word."""
    return isinstance(value, str) and value.isidentifier()


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _is_column(value: object, columns: Collection[str]) -> bool:
    if isinstance(value, tuple | list):
        return all(_is_column(item, columns) for item in value)
    return isinstance(value, str) and value in columns


def network_of(model: Synthesizer | None) -> NetworkFindings | None:
    """Return the network of a model that has one."""
    if not isinstance(model, BayesNet):
        return None
    return NetworkFindings(
        order=tuple(model.network_.names),
        edges=tuple(
            (parent, child, float(bits)) for parent, child, bits in model.edge_information()
        ),
        protected=tuple(model.protect or ()),
    )
