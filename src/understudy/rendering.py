"""What draws the report of an audit: set where all packages meet, in `understudy/__init__.py`.

So an audit can be asked for its report without knowing the package that draws it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

report: Callable[[], ModuleType]
"""Returns the module with `render_report` and `write_report`."""
