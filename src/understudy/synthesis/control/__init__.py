"""What is done to a table before synthesis or after it: grouping, coding, removing, labelling."""

from understudy.synthesis.control.coding import limits_by_share, top_bottom_code
from understudy.synthesis.control.grouping import group_rare
from understudy.synthesis.control.rare_levels import Grouped, group_rare_levels
from understudy.synthesis.control.records import (
    Change,
    label,
    remove_replicated_uniques,
    remove_uniques_in_original,
)

__all__ = [
    "Change",
    "Grouped",
    "group_rare",
    "group_rare_levels",
    "label",
    "limits_by_share",
    "remove_replicated_uniques",
    "remove_uniques_in_original",
    "top_bottom_code",
]
