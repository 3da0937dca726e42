"""A gallery of releases of which it is known whether they give people away.

Verdicts are tested by it: a leak that is called low, and a harmless release that is called high,
is a mistake of the verdict.
"""

from understudy.worlds.gallery import changed, copied, disguised, harmless, told
from understudy.worlds.gallery.setting import Kind, Release, Setting
from understudy.worlds.gallery.tables import TABLES, GalleryTable

KINDS: tuple[Kind, ...] = tuple(
    kind for module in (copied, changed, disguised, told, harmless) for kind in module.SHELF.kinds
)
"""All kinds of release: those that leak, then those that do not."""

__all__ = ["KINDS", "TABLES", "GalleryTable", "Kind", "Release", "Setting"]
