"""Words that stand for a missing value in files, and when they do."""

from __future__ import annotations

ALWAYS = (
    *("NA", "N/A", "n/a", "N.A.", "n.a.", "#N/A", "#NA", "<NA>", "NaN", "nan", "-nan", "-NaN"),
    *("NaT", "null", "NULL", "Null", "(null)", "<null>", "\\N", "?"),
)
"""Taken for missing in every column."""

BESIDE_VALUES = (
    *(".", "..", "...", "-", "--", "---", "–", "—", "*", "None", "none", "NONE", "na", "Na", "nil"),  # noqa: RUF001
    *("#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NULL!", "1.#QNAN", "1.#IND", "-1.#IND"),
    *(" ", "  "),
)
"""Taken for missing only beside numbers, dates or truth values: elsewhere they may be levels."""
