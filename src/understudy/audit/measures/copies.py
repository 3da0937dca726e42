"""Whether a release holds the original's records themselves."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.audit.findings import NAN
from understudy.audit.measures.declaration import Collected, Measure
from understudy.audit.synthesis import Synthesis
from understudy.risk.key_tally import copied_records_of


def _collect(_first: Synthesis, found: Sequence[tuple[float, int]]) -> Collected:
    shares, counts = zip(*found, strict=True)
    return Collected(
        release={"copied": max(shares, default=NAN), "one_of_a_kind": max(counts, default=0)}
    )


COPIES = Measure(
    "copies",
    "looking for copies",
    lambda synthesis: copied_records_of(synthesis.tables, synthesis.columns),
    _collect,
    place=60,
)
