"""The model of one column: for numbers, first which kind of value, and then the number itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from understudy.data.coded import Codes, code_dtype
from understudy.synthesis.cart.features import Feature, Places
from understudy.synthesis.cart.plan import Step
from understudy.synthesis.cart.trees import LeafModel, Outcome, grow


@dataclass(frozen=True, eq=False)
class ColumnModel:
    """How the codes of one column are drawn, given the columns before it.

    Parameters
    ----------
    feature : Feature
        The column.
    kind : LeafModel or None
        Draws whether a number is missing, a special value or an ordinary one; None for categories
        and for columns that hold ordinary numbers alone.
    value : LeafModel or None
        Draws the code, of an ordinary number if there are other kinds; None if no record has one.
    """

    feature: Feature
    kind: LeafModel | None
    value: LeafModel | None

    @property
    def parts(self) -> dict[str, LeafModel]:
        """The models of this column by name: kind, value, or both."""
        both = {"kind": self.kind, "value": self.value}
        return {name: model for name, model in both.items() if model is not None}

    def draw(self, places: Places, rng: np.random.Generator) -> Codes:
        """Draw a code for each record."""
        if self.kind is None:
            return self._values.draw(places, rng)
        kinds = self.kind.draw(places, rng)
        codes = self.feature.code_of_kind()[kinds]
        ordinary = np.flatnonzero(codes < 0)
        if len(ordinary):
            codes[ordinary] = self._values.draw(places[ordinary], rng)
        return codes.astype(code_dtype(self.feature.cardinality))

    def probability(self, places: Places, codes: Codes) -> NDArray[np.float64]:
        """Return the probability with which `draw` gives each record's code."""
        if self.kind is None:
            return self._values.probability(places, codes)
        kinds = self.feature.kind_of(codes)
        found = self.kind.probability(places, kinds)
        ordinary = np.flatnonzero((kinds == self.feature.special) & (found > 0))
        if len(ordinary):
            found[ordinary] *= self._values.probability(places[ordinary], codes[ordinary])
        return found

    @property
    def _values(self) -> LeafModel:
        if self.value is None:
            raise ValueError(f"a model of {self.feature.name!r} without a tree for its values")
        return self.value


def fit_column(
    step: Step,
    features: Sequence[Feature],
    places: Places,
    codes: Codes,
) -> ColumnModel:
    """Grow the trees of one column.

    Parameters
    ----------
    step : Step
        Which column, from which others, with which settings.
    features : sequence of Feature
        All columns.
    places : ndarray of int32, shape (records, columns)
        The records, as `matrix_of` gives them.
    codes : ndarray
        The column's codes, of the same records.
    """
    feature = features[step.column]

    def tree(rows: NDArray[np.int64] | None, outcome: Outcome) -> LeafModel:
        return grow(
            places if rows is None else places[rows],
            features,
            step.predictors,
            outcome,
            minbucket=step.minbucket,
            cp=step.cp,
        )

    whole = Outcome(codes, feature.cardinality)
    if feature.numbers is None:
        return ColumnModel(feature, None, tree(None, whole))
    if feature.kinds == 1:
        return ColumnModel(
            feature, None, tree(None, replace(whole, numbers=feature.numbers[codes]))
        )
    kinds = feature.kind_of(codes)
    kind = tree(None, Outcome(kinds, feature.kinds))
    ordinary = np.flatnonzero(kinds == feature.special)
    if not len(ordinary):
        return ColumnModel(feature, kind, None)
    own = codes[ordinary]
    value = tree(ordinary, Outcome(own, feature.cardinality, feature.numbers[own]))
    return ColumnModel(feature, kind, value)
