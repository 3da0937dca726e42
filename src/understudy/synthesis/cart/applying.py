"""Rules on coded records: which code a rule sets, for which records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from understudy.data import Codec
from understudy.data.coded import Codes
from understudy.data.coders import as_numbers
from understudy.data.value_coder import ValueCoder
from understudy.errors import ParameterError, did_you_mean
from understudy.synthesis.cart.plan import Step
from understudy.synthesis.cart.rules import Rule, covered_rows


@dataclass(frozen=True, eq=False)
class RuleBook:
    """Applies rules to codes.

    Parameters
    ----------
    codec : Codec
        Gives the values that codes stand for, which conditions are about.
    codes : mapping
        The codes that the rules of each column set.
    """

    codec: Codec
    codes: Mapping[str, tuple[int, ...]]

    @classmethod
    def of(cls, codec: Codec, rules: Sequence[Rule]) -> RuleBook:
        """Return the book of the given rules, or say which of them sets an impossible value."""
        codes: dict[str, tuple[int, ...]] = {}
        for rule in rules:
            codes[rule.column] = (*codes.get(rule.column, ()), _code_of(rule, codec))
        return cls(codec, codes)

    def which(self, step: Step, known: Mapping[int, Codes]) -> NDArray[np.int64]:
        """Return the number of the first rule of a step that covers each record, or -1."""
        used: set[str] | None = set()
        for rule in step.rules:
            used = None if used is None or rule.columns is None else used | rule.columns
        names = self.codec.names
        columns = {
            names[place]: self._values(names[place], codes)
            for place, codes in known.items()
            if used is None or names[place] in used
        }
        return covered_rows(step.rules, pl.DataFrame(columns))

    def covered(self, step: Step, known: Mapping[int, Codes]) -> NDArray[np.int64] | None:
        """Return the code that a rule sets for each record, -1 where none does."""
        if not step.rules:
            return None
        set_to = np.array([*self.codes[step.rules[0].column], -1])
        return set_to[self.which(step, known)]

    def _values(self, name: str, codes: Codes) -> pl.Series:
        coder = self.codec.coders[name]
        if isinstance(coder, ValueCoder):
            coder = replace(coder, smoothing=None)
        array = coder.build(codes.astype(np.int64), "interpolate", np.random.default_rng(0))
        plain = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
        return pl.Series(name, pl.from_arrow(plain))


def _code_of(rule: Rule, codec: Codec) -> int:
    """Return the code of the value that a rule sets."""
    column, coder = codec.schema[rule.column], codec.coders[rule.column]
    if rule.value is None:
        if column.missing == 0:
            raise ParameterError(
                f"rules: no value of {rule.column!r} is missing in the original, so a rule cannot "
                f"set it to missing: {rule.text}"
            )
        return coder.known
    try:
        if isinstance(coder, ValueCoder):
            # NumPy would read the text '1' and true as the number 1.
            of_kind = isinstance(rule.value, str if column.kind == "datetime" else int | float)
            wanted = as_numbers((rule.value,), column, coder.kind)
            own = of_kind and not isinstance(rule.value, bool)
            found = np.flatnonzero((coder.numbers == wanted[0]) & own)
        else:
            levels = (False, True) if column.kind == "boolean" else column.levels
            found = np.array([place for place, level in enumerate(levels) if level == rule.value])
    except (TypeError, ValueError, OverflowError):
        found = np.empty(0, np.int64)
    if len(found):
        return int(found[0])
    known = [str(level) for level in column.levels]
    place = "special values" if column.binned else "levels"
    raise ParameterError(
        f"rules: {rule.column!r} has no value {rule.value!r} in the original."
        f"{did_you_mean(str(rule.value), known)} Name it among the column's {place} in the schema "
        f"to use it: {rule.text}"
    )
