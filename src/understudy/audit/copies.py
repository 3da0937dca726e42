"""Whether a release holds the original's records themselves; see `understudy.risk.copies`."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.data.frames import Frame
from understudy.data.joint_coding import CodedTables
from understudy.risk.copies import copied_records_of


def copied_records(original: Frame, synthetic: Frame, columns: Sequence[str]) -> tuple[float, int]:
    """Return the share of the original's one-of-a-kind records that the release holds."""
    return copied_records_of(
        CodedTables.of({"original": original, "synthetic": synthetic}, columns)
    )
