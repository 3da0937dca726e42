"""How much an audit of privacy tries: here, so that the command line loads nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass

from understudy.errors import ParameterError

COLUMNS, LEVELS, ROWS = 3, 2, 20
"""The size of made-up tables, if nothing says it."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How long an audit may take.

    Parameters
    ----------
    worlds : int
        Pairs of neighbouring tables for exact ratios. With a delta there are three, which share
        all releases.
    releases : int
        Releases that are drawn in each.
    pairs : int
        Pairs for simulated runs.
    runs : int
        Runs in each of their worlds; 0 simulates nothing.
    confidence : float
        With which all simulated bounds hold together.
    processes : int
        Runs of a command at the same time.
    """

    worlds: int = 30
    releases: int = 4
    pairs: int = 2
    runs: int = 400
    confidence: float = 0.95
    processes: int = 1

    def __post_init__(self) -> None:
        """Raise if a number cannot be used."""
        from understudy.arguments import check_whole, is_number

        check_whole("worlds", self.worlds, 1)
        check_whole("releases", self.releases, 2)
        check_whole("pairs", self.pairs, 1)
        check_whole("runs", self.runs, 0)
        check_whole("processes", self.processes, 1)
        if not is_number(self.confidence) or not 0.5 <= self.confidence < 1:
            raise ParameterError(
                f"confidence must lie from 0.5 to below 1; got {self.confidence!r}."
            )
