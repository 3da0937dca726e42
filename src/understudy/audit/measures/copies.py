"""Whether a release holds the original's records themselves."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.audit.findings import NAN
from understudy.audit.measures.declaration import Collected, Measure
from understudy.audit.synthesis import Synthesis
from understudy.risk.key_tally import CopiedRecords, copied_records_of


def _collect(_first: Synthesis, found: Sequence[CopiedRecords]) -> Collected:
    nothing = CopiedRecords(NAN, 0, NAN)
    worst = max(found, key=lambda one: one.share if one.one_of_a_kind else -1, default=nothing)
    return Collected(
        release={
            "copied": worst.share,
            "one_of_a_kind": worst.one_of_a_kind,
            "new_records": worst.new,
        }
    )


COPIES = Measure(
    "copies",
    "looking for copies",
    lambda synthesis: copied_records_of(synthesis.tables, synthesis.columns),
    _collect,
    place=60,
)
