"""Dependencies between columns: found in a table, kept by synthesizers, checked in a release."""

from understudy.data.dependencies.families import (
    Composite,
    Dependency,
    Determined,
    Formula,
    MissingTogether,
    MissingWhen,
    Ordered,
)

__all__ = [
    "Composite",
    "Dependency",
    "Determined",
    "Formula",
    "MissingTogether",
    "MissingWhen",
    "Ordered",
]
