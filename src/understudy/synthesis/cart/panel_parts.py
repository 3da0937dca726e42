"""The parameters of trees for a part of a panel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw

from understudy.errors import ParameterError
from understudy.synthesis.cart.plan import read_names
from understudy.synthesis.cart.rules import Rule, read_rules, rules_to_plain
from understudy.synthesis.panel.outline import Outline
from understudy.synthesis.panel.parts import Part
from understudy.synthesis.panel.settings import protection_for, settings_for
from understudy.wording import quoted

if TYPE_CHECKING:
    from understudy.synthesis.cart.model import Cart


def set_tree_params(own: Cart, model: Cart, part: Part) -> None:
    """Give a copy of `model` the parameters that concern a part of a panel.

    What is given is kept, as in partial synthesis. A column that may be predicted from another may
    be so from that one's value in the record before, too.
    """
    names = model.codec_.names
    own.minbucket = settings_for(model.minbucket, part)
    own.cp = settings_for(model.cp, part)
    own.smoothing_leaves = settings_for(model.smoothing_leaves, part)
    own.smoothing = None  # numbers are moved when the whole table is written
    own.keep = part.given
    visited = read_names(model.visit_sequence, names, "visit_sequence")
    own.visit_sequence = _visited(visited, part)
    own.predictors = _predictors(model, part)
    # Columns that rules set are never drawn by their changes.
    rules = [rule for rule in read_rules(model.rules, names) if rule.column in part.drawn]
    own.rules = [_as_given(rule) for rule in rules] or None
    own.protect = protection_for(model.protect, part)


def _as_given(rule: Rule) -> Any:  # noqa: ANN401  # text, or a column, an expression and a value
    if isinstance(rule.when, nw.Expr):
        return (rule.column, rule.when, rule.value)
    return rules_to_plain([rule])[0]


def _predictors(model: Cart, part: Part) -> dict[str, list[str]] | None:
    if model.predictors is None:
        return None
    names = model.codec_.names
    found = {}
    for step in model.plan_.steps:
        name = names[step.column]
        restricted = not isinstance(model.predictors, Mapping) or name in model.predictors
        drawn = part.drawing(name)
        if drawn is not None and restricted:
            own = [names[place] for place in step.predictors]
            before = [part.before[other] for other in (name, *own) if other in part.before]
            found[drawn] = [*before, *(other for other in own if other in part.names)]
    return found


def _visited(wanted: Sequence[str], part: Part) -> list[str]:
    """Return the columns to visit, each that follows from its changes after these."""
    found: list[str] = []
    for name in wanted:
        drawn = part.drawing(name)
        if drawn is not None:
            found += [drawn, name]
    return list(dict.fromkeys(found))


def check_panel_params(model: Cart, outline: Outline) -> None:
    """Raise if kept columns or strata do not go together with a panel."""
    if len(model.keep):
        raise ParameterError(
            "keep: units are drawn anew, so no column of their records can stay as it is. Set "
            "panel = False to draw each record by itself."
        )
    strata = read_names(model.strata, model.codec_.names, "strata")
    varying = [name for name in strata if name not in outline.constant]
    if varying:
        raise ParameterError(
            f"strata: {quoted(varying)} differs between the records of a unit, and strata of a "
            "panel must not. Leave it out, or set panel = False to draw each record by itself."
        )
