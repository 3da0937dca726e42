"""Releases with known answers, by which the measures of risk themselves are tested (D1 to D5)."""
