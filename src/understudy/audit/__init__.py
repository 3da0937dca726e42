"""The audit of a release: all measures of risk and utility, the verdict, and the gate.

The package is itself the function: ``understudy.audit(original, synthetic, keys=..., ...)``.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from understudy.audit.findings import Findings
    from understudy.audit.result import Audit
    from understudy.audit.run import audit

__all__ = ["Audit", "Findings", "audit"]

# Looked up when first used: an audit loads most of the package.
_HOMES = {"Audit": "result", "Findings": "findings", "audit": "run"}


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whatever the name stands for
    if name not in _HOMES:
        raise AttributeError(f"module 'understudy.audit' has no attribute {name!r}")
    return getattr(importlib.import_module(f"understudy.audit.{_HOMES[name]}"), name)


class _Callable(ModuleType):
    """A package that can be called, since a function of its name cannot stand beside it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Audit:  # noqa: ANN401  # as `audit` takes them
        from understudy.audit.run import audit

        return audit(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
