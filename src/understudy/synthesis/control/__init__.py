"""What is done to a synthetic table before it is handed out: removing, coding, labelling rows."""

from understudy.synthesis.control.coding import top_bottom_code
from understudy.synthesis.control.records import (
    Change,
    label,
    remove_replicated_uniques,
    remove_uniques_in_original,
)

__all__ = [
    "Change",
    "label",
    "remove_replicated_uniques",
    "remove_uniques_in_original",
    "top_bottom_code",
]
