"""What is done to a synthetic table before it is handed out: removing, coding, labelling rows."""

from understudy.synthesis.control.coding import limits_by_share, top_bottom_code
from understudy.synthesis.control.grouping import group_rare
from understudy.synthesis.control.records import (
    Change,
    label,
    remove_replicated_uniques,
    remove_uniques_in_original,
)

__all__ = [
    "Change",
    "group_rare",
    "label",
    "limits_by_share",
    "remove_replicated_uniques",
    "remove_uniques_in_original",
    "top_bottom_code",
]
