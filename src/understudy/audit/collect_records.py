"""Single records: how their risk is distributed, and which have the highest."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.audit.findings import Histogram, WorstRecord
from understudy.data.coded import Coded
from understudy.data.frames import Frame
from understudy.data.together import code_together
from understudy.risk.attribution_scores import Attack
from understudy.risk.packed import Records
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
        By one who looks the keys up in the release, and in the original itself.
    expected : ndarray of float64
        By one who guesses each value as often as it occurs: the share of the record's own value.
    """

    synthetic: Floats
    original: Floats
    expected: Floats

    @classmethod
    def of(cls, prepared: Prepared) -> RecordScores:
        """Score all records against the first synthetic table."""
        asked = Records(prepared.original)
        release = Records(prepared.syntheses[0])
        own = prepared.original[prepared.scenario.sensitive]
        shares = np.bincount(own) / len(own)
        return cls(
            _scores(Attack(release, asked), prepared.scenario),
            _scores(Attack(asked, asked), prepared.scenario),
            shares[own],
        )

    @property
    def above(self) -> Floats:
        """What the release adds to the expected score."""
        return self.synthetic - self.expected

    def histogram(self) -> Histogram:
        """Count the records by their scores."""
        edges = np.linspace(0, 1, BINS + 1)
        synthetic, original = (_counts(held, edges) for held in (self.synthetic, self.original))
        return Histogram(tuple(edges.round(10).tolist()), synthetic, original)


def _scores(attack: Attack, scenario: Scenario) -> Floats:
    total = np.zeros(attack.queries.words.shape[1])
    for keys in scenario.subsets():
        places = [scenario.keys.index(key) for key in keys]
        total += attack.scores(places, "nearest")[0].cap
    mean: Floats = (total / len(scenario))[attack.queries.ids]
    return mean


def gain_histogram(attack: StrongAttack) -> Histogram:
    """Count the records by what the release tells of them, in bits.

    What is beyond the first or last edge, such as minus infinity, counts in the interval there.
    """
    gains = attack.gain_bits[~np.isnan(attack.gain_bits)]
    finite = gains[np.isfinite(gains)]
    if not len(finite):
        return Histogram((0.0, 1.0), (0,))
    low, high = float(finite.min()), float(finite.max())
    step = _round_step((high - low) / BINS)
    first, last = math.floor(low / step), math.ceil(high / step)
    edges: Floats = np.arange(first, max(last, first + 1) + 1, dtype=np.float64) * step
    return Histogram(tuple(edges.round(10).tolist()), _counts(gains, edges))


def _round_step(least: float) -> float:
    """Return the next of 1, 2 and 5 times a power of ten."""
    if least < 1e-6:
        return 1e-6
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * unit for unit in (1, 2, 5, 10) if power * unit >= least * (1 - 1e-9))


def _counts(values: Floats, edges: Floats) -> tuple[int, ...]:
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
    return tuple(counts.tolist())


def worst_records(
    scores: RecordScores | None, strong: StrongAttack | None, values: Mapping[str, list[str]]
) -> tuple[WorstRecord, ...]:
    """Return the records of which the release tells most, if it tells anything of them.

    Parameters
    ----------
    scores : RecordScores or None
        By looking keys up.
    strong : StrongAttack or None
        Decides the order if it is there: the gain in bits.
    values : mapping
        What to show of each record, by column; nothing if it is empty.
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
                values={name: held[row] for name, held in values.items()},
            )
        )
    return tuple(found)


def values_to_show(original: Frame, scenario: Scenario) -> dict[str, list[str]]:
    """Return the keys and the sensitive value of each record in words."""
    names = (*scenario.keys, scenario.sensitive)
    together = code_together({"original": original}, names)
    coded: Coded = together["original"]
    return {
        name: [together.levels[name].labels[code] for code in coded[name].tolist()]
        for name in names
    }
