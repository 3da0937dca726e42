"""understudy: synthetic stand-ins for confidential tables, attacked before anyone else can."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from understudy._version import __version__

if TYPE_CHECKING:
    from understudy.audit import Audit
    from understudy.data import (
        Codec,
        Coded,
        Column,
        Schema,
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
        GaussianCopula,
        Independent,
        Synthesizer,
        Uniform,
    )

# Names are looked up when they are first used: `import understudy` itself loads nothing heavy.
_HOMES = {
    "understudy.audit": ("Audit",),
    "understudy.data": (
        "Codec",
        "Coded",
        "Column",
        "Schema",
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
        "GaussianCopula",
        "Independent",
        "Synthesizer",
        "Uniform",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Audit",
    "BayesNet",
    "Cart",
    "Codec",
    "Coded",
    "Column",
    "GaussianCopula",
    "Independent",
    "Schema",
    "Synthesizer",
    "UnderstudyError",
    "Uniform",
    "__version__",
    "fetch",
    "load",
    "load_syntheses",
    "read",
    "scan",
    "simulate",
    "write",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whatever the name stands for
    if name not in _HOME_OF:
        raise AttributeError(f"module 'understudy' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
