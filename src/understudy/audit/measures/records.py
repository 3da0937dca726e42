"""Single people: how clearly the release points to their value, and whom it exposes most."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.audit.findings import Histogram, WorstRecord
from understudy.audit.measures.attribution import LOOKED_UP
from understudy.audit.measures.declaration import Collected, Measure, Part
from understudy.audit.synthesis import Synthesis
from understudy.learning.packed import Records
from understudy.risk.attribution_result import Attack
from understudy.risk.chance import shares_right
from understudy.risk.prepare import Prepared
from understudy.risk.scenario import Scenario
from understudy.risk.strong import StrongAttack

WORST = 20
"""How many of the records with the highest risk are listed."""
BINS = 20

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RecordScores:
    """The correct attribution probability of each original record: mean over the sets of keys.

    Parameters
    ----------
    synthetic, original : ndarray of float64
        By looking the keys up in the release, and in the original itself.
    expected : ndarray of float64
        By guessing each value as often as it occurs: the share of the record's own value, or of
        numbers near enough.
    """

    synthetic: Floats
    original: Floats
    expected: Floats

    @classmethod
    def of(cls, prepared: Prepared) -> RecordScores:
        """Score all records against the release."""
        asked, number = Records(prepared.original), prepared.number
        own = prepared.original[prepared.scenario.sensitive]
        return cls(
            scores_by_lookup(Attack(prepared.released, asked, number), prepared.scenario),
            scores_by_lookup(Attack(prepared.original, asked, number), prepared.scenario),
            shares_right(own, number),
        )

    @property
    def above(self) -> Floats:
        """What the release adds to the expected score."""
        return self.synthetic - self.expected

    def histogram(self) -> Histogram:
        """Count the records by their scores."""
        edges = np.linspace(0, 1, BINS + 1)
        synthetic, original = (
            counts_between(held, edges) for held in (self.synthetic, self.original)
        )
        return Histogram(tuple(edges.round(10).tolist()), synthetic, original)


def scores_by_lookup(attack: Attack, scenario: Scenario) -> Floats:
    """Return the correct attribution probability of each record: the mean over the sets of keys."""
    total = np.zeros(attack.queries.words.shape[1])
    for keys in scenario.subsets():
        places = [scenario.keys.index(key) for key in keys]
        total += attack.scores(places, "nearest")[0].cap
    mean: Floats = (total / len(scenario))[attack.queries.ids]
    return mean


def counts_between(values: Floats, edges: Floats) -> tuple[int, ...]:
    """Count values between edges; what is beyond the ends counts in the interval there."""
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
    return tuple(counts.tolist())


def worst_records(
    scores: RecordScores | None,
    strong: StrongAttack | None,
    values: Callable[[int], Mapping[str, str]] | None = None,
) -> tuple[WorstRecord, ...]:
    """Return the records that the release exposes most, if it exposes any.

    Parameters
    ----------
    scores : RecordScores or None
        By looking keys up.
    strong : StrongAttack or None
        Decides the order if it is there: the gain in bits.
    values : callable, optional
        Returns what to show of a record, by column.
    """
    if strong is not None:
        gains = np.where(np.isnan(strong.gain_bits), -np.inf, strong.gain_bits)
        order = np.lexsort((strong.record, -strong.posterior, -gains))
    elif scores is not None:
        gains = scores.above
        order = np.lexsort((np.arange(len(gains)), -gains.round(12)))
    else:
        return ()
    found = []
    for place in order[:WORST].tolist():
        if gains[place] <= 1e-9:
            break
        row = place if strong is None else int(strong.record[place])
        found.append(
            WorstRecord(
                record=row,
                attribution=math.nan if scores is None else float(scores.synthetic[row]),
                posterior=math.nan if strong is None else float(strong.posterior[place]),
                gain_bits=math.nan if strong is None else float(strong.gain_bits[place]),
                values={} if values is None else values(row),
            )
        )
    return tuple(found)


def values_to_show(synthesis: Synthesis) -> Callable[[int], Mapping[str, str]]:
    """Return what gives the keys and the sensitive value of a record in words."""
    scenario = synthesis.task.scenario
    names = (*scenario.keys, scenario.sensitive)
    alone = synthesis.tables.select(["original"], names)

    def values(row: int) -> dict[str, str]:
        return {name: alone.levels[name].label(int(alone["original"][name][row])) for name in names}

    return values


def _collect(_first: Synthesis, found: Sequence[RecordScores]) -> Collected:
    return Collected(release={"attribution": found[0].histogram()})


RECORDS = Measure(
    "records",
    "scoring each record",
    lambda synthesis: RecordScores.of(synthesis.with_fewer_sets(LOOKED_UP)[0]),
    _collect,
    first_only=True,
    found=lambda release: release.attribution or release.worst,
    part=Part("people", "Who is exposed", 2),
    of_units="all records",
    place=20,
)
