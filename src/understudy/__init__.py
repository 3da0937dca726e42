"""understudy: synthetic stand-ins for confidential tables, attacked before anyone else can."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from understudy import rendering
from understudy._version import __version__

if TYPE_CHECKING:
    from understudy import audit, data, risk, synthesis, utility
    from understudy.audit import Audit
    from understudy.data import (
        Codec,
        Coded,
        Column,
        Schema,
        detect,
        fetch,
        load,
        load_syntheses,
        read,
        scan,
        simulate,
        write,
    )
    from understudy.errors import UnderstudyError
    from understudy.synthesis import (
        BayesNet,
        Cart,
        DPMarginals,
        GaussianCopula,
        Independent,
        Synthesizer,
        Uniform,
    )

rendering.report = lambda: importlib.import_module("understudy.report.page")

# Names are looked up when they are first used: `import understudy` itself loads nothing heavy.
_HOMES = {
    "understudy.audit": ("Audit",),
    "understudy.data": (
        "Codec",
        "Coded",
        "Column",
        "Schema",
        "detect",
        "fetch",
        "load",
        "load_syntheses",
        "read",
        "scan",
        "simulate",
        "write",
    ),
    "understudy.errors": ("UnderstudyError",),
    "understudy.synthesis": (
        "BayesNet",
        "Cart",
        "DPMarginals",
        "GaussianCopula",
        "Independent",
        "Synthesizer",
        "Uniform",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_PACKAGES = ("audit", "data", "risk", "synthesis", "utility")

__all__ = [
    "Audit",
    "BayesNet",
    "Cart",
    "Codec",
    "Coded",
    "Column",
    "DPMarginals",
    "GaussianCopula",
    "Independent",
    "Schema",
    "Synthesizer",
    "UnderstudyError",
    "Uniform",
    "__version__",
    "audit",
    "data",
    "detect",
    "fetch",
    "load",
    "load_syntheses",
    "read",
    "risk",
    "scan",
    "simulate",
    "synthesis",
    "utility",
    "write",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whatever the name stands for
    if name in _PACKAGES:
        return importlib.import_module(f"understudy.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'understudy' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
