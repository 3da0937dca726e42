"""Releases with known answers, by which the measures of risk themselves are tested (D1 to D5)."""

from understudy.worlds.desiderata import DESIDERATA, Verdict
from understudy.worlds.measures import MEASURES, Measure
from understudy.worlds.releases import WORLDS, Release, draw_releases
from understudy.worlds.table import WorldsTable, run_worlds

__all__ = [
    "DESIDERATA",
    "MEASURES",
    "WORLDS",
    "Measure",
    "Release",
    "Verdict",
    "WorldsTable",
    "draw_releases",
    "run_worlds",
]
