"""The attacker who knows the synthesizer and all other records, as plain values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from understudy.audit.collect_records import gain_histogram
from understudy.audit.collect_risk import mean, spread
from understudy.audit.findings import NAN, Figure, StrongFindings
from understudy.audit.inputs import Given, Task
from understudy.data.frames import Frame, to_narwhals
from understudy.errors import NoDensityError
from understudy.risk.strong import StrongAttack, strong_attacker

PRIOR = "informed"
"""With any other, guesses after the release would forget what the other records tell."""
MOST_ROWS = 20_000
MOST_COLUMNS = 20
ATTACKED = 200
"""The whole record is attacked in tables up to this size, for so many records."""

_MEANING = (
    "Share of people guessed right by who knows the synthesizer, all other records, and all of the "
    "person"
)


def attack_sensitive(task: Task, given: Given, synthetic: Frame) -> StrongAttack:
    """Attack the sensitive attribute of every record."""
    assert given.model is not None  # noqa: S101  # there is no such job without one
    try:
        return strong_attacker(
            given.model,
            task.original,
            synthetic,
            unknown=task.scenario.sensitive,
            prior=PRIOR,
            mode="fixed",
        )
    except NoDensityError:
        raise NoDensityError(
            "The strong attacker needs a model that draws from counts of records, and "
            f"{type(given.model).__name__} with these settings does not."
        ) from None


def attack_record(task: Task, given: Given, synthetic: Frame) -> StrongAttack | str:
    """Attack the whole record of some people, or say why not."""
    assert given.model is not None  # noqa: S101  # there is no such job without one
    frame = to_narwhals(task.original)
    rows, columns = frame.shape
    if rows > MOST_ROWS or columns > MOST_COLUMNS:
        return (
            f"Not run: the original has {rows:,} records and {columns:,} columns, and this is "
            f"done up to {MOST_ROWS:,} and {MOST_COLUMNS}."
        )
    records = np.arange(rows)
    if rows > ATTACKED:
        drawn = np.random.default_rng(task.seed).choice(rows, ATTACKED, replace=False)
        records = np.sort(drawn)
    return strong_attacker(given.model, task.original, synthetic, prior=PRIOR, records=records)


def strong_figure(found: Sequence[StrongAttack]) -> Figure:
    """Return the share of right guesses of the sensitive attribute over the syntheses."""
    after = [attack.accuracy_after for attack in found]
    return Figure(
        "strong",
        "Strong attacker",
        f"{_MEANING} but the sensitive value",
        baseline=mean(attack.accuracy_before for attack in found),
        synthetic=mean(after),
        gain=mean(attack.accuracy_after - attack.accuracy_before for attack in found),
        spread=spread(after),
        note=f"{max(attack.certain for attack in found):,} people are certain to be disclosed.",
    )


def record_figure(found: Sequence[StrongAttack | str]) -> Figure:
    """Return the same for the whole record, or why it was not attacked."""
    title, meaning = (
        "Strong attacker, whole record",
        "Share of people whose whole record is guessed right by who knows the synthesizer and all "
        "other records",
    )
    attacks = [attack for attack in found if isinstance(attack, StrongAttack)]
    if not attacks:
        return Figure("strong_record", title, meaning, note=str(found[0]))
    after = [attack.accuracy_after for attack in attacks]
    return Figure(
        "strong_record",
        title,
        meaning,
        baseline=mean(attack.accuracy_before for attack in attacks),
        synthetic=mean(after),
        gain=mean(attack.accuracy_after - attack.accuracy_before for attack in attacks),
        spread=spread(after),
        note=(
            f"{len(attacks[0]):,} records were attacked; "
            f"{max(attack.certain for attack in attacks):,} are certain to be disclosed, and the "
            f"release tells {mean(attack.mean_gain for attack in attacks):.2f} bits of one on "
            "average."
        ),
    )


def strong_findings(found: Sequence[StrongAttack]) -> StrongFindings:
    """Return all figures over the syntheses, and the distribution of the first."""
    first = found[0]
    notes = tuple(dict.fromkeys(note for attack in found for note in attack.notes))
    if len(found) > 1:
        notes += (
            f"Figures are means over {len(found)} syntheses; how many are certain, and the largest "
            "gain, are of the worst of them.",
        )
    return StrongFindings(
        prior=first.prior_name,
        mode=first.mode,
        records=len(first),
        certain=max(attack.certain for attack in found),
        share_above_half=mean(attack.share_above(0.5) for attack in found),
        share_above_90_percent=mean(attack.share_above(0.9) for attack in found),
        accuracy_before=mean(attack.accuracy_before for attack in found),
        accuracy_after=mean(attack.accuracy_after for attack in found),
        mean_gain_bits=mean(attack.mean_gain for attack in found),
        gain_bits_99_percent=mean(attack.quantile_gain(0.99) for attack in found),
        max_gain_bits=_largest([attack.max_gain for attack in found]),
        gains=gain_histogram(first),
        notes=notes,
    )


def _largest(values: Sequence[float]) -> float:
    return max((value for value in values if not math.isnan(value)), default=NAN)
