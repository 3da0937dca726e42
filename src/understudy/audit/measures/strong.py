"""The strong attacker, who knows the synthesizer and all other records."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.audit.findings import NAN, Figure, Histogram, ReleaseFindings, StrongFindings
from understudy.audit.measures.declaration import (
    REITER,
    STRONGEST,
    Collected,
    Column,
    Explanation,
    FigureKind,
    Measure,
    Part,
    Trust,
    mean,
    spread,
)
from understudy.audit.measures.records import BINS, counts_between
from understudy.audit.synthesis import Synthesis
from understudy.audit.task import Task
from understudy.audit.units import Units
from understudy.data.frames import to_narwhals
from understudy.errors import NoDensityError, UnderstudyError
from understudy.risk.strong import StrongAttack, strong_attacker, strong_attacker_on_units
from understudy.synthesis.private import PrivateSynthesizer
from understudy.wording import bits, number, people, sentence

MOST_REFITS = 50
MOST_REFITTED = 150_000
"""New fits for each table, but for quick audits; fewer for large ones: so many records in all."""
PRIOR = "informed"
"""With any other, guesses after the release would forget what the other records tell."""
MOST_ROWS = 20_000
MOST_COLUMNS = 20
ATTACKED = 200
"""The whole record is attacked in tables up to this size, for so many records."""

KIND = FigureKind(
    "strong",
    "Strong attacker",
    "Share of people whose sensitive value is guessed by an attacker who knows the synthesizer, "
    "everyone else's record, and the rest of the person's own",
    question="strongest",
    chart="Share of people whose value is guessed by an attacker who knows everything else.",
)
RECORD_KIND = FigureKind(
    "strong_record",
    "Strong attacker, whole record",
    "Share of people whose whole record is guessed by an attacker who knows the synthesizer and "
    "everyone else's record",
)


def _how(task: Task) -> dict[str, Any]:
    """Return how exactly to attack, by how long an audit may take."""
    if task.measures == "quick":
        return {"prior": PRIOR, "mode": "fixed"}
    refits = min(MOST_REFITS, MOST_REFITTED // max(len(to_narwhals(task.original)), 1))
    return {"prior": PRIOR, "mode": "auto", "refits": refits}


@dataclass(frozen=True, eq=False)
class OnUnits:
    """The attack on the records of units, one by one, and on all records of a unit together.

    `together` is None if that was not possible, and `reason` says why.
    """

    records: StrongAttack
    units: Units
    together: StrongAttack | None
    reason: str = ""

    @property
    def most_exposed(self) -> StrongAttack:
        """What is learnt of the record of each unit that the release tells most about."""
        gains = np.where(np.isnan(self.records.gain_bits), -np.inf, self.records.gain_bits)
        units = self.units.original[self.records.record]
        order = np.lexsort((-self.records.posterior, -gains, units))
        _, first = np.unique(units[order], return_index=True)
        return self.records.take(order[first])

    @property
    def drawn(self) -> StrongAttack:
        """What is learnt of one record of each unit, drawn at random."""
        return self.records.take(np.flatnonzero(np.isin(self.records.record, self.units.rows)))


def _run(synthesis: Synthesis) -> StrongAttack | OnUnits:
    found, units = _run_records(synthesis), synthesis.task.units
    if units is None:
        return found
    assert synthesis.given.model is not None  # noqa: S101  # there is no such job without one
    together, reason = None, ""
    try:
        together = strong_attacker_on_units(
            synthesis.given.model,
            synthesis.task.original,
            synthesis.table,
            unknown=synthesis.task.scenario.sensitive,
            unit_id=units.names,
        )
    except UnderstudyError as error:
        reason = sentence(str(error))
    return OnUnits(found, units, together, reason)


def _run_records(synthesis: Synthesis) -> StrongAttack:
    model = synthesis.given.model
    assert model is not None  # noqa: S101  # there is no such job without one
    if isinstance(model, PrivateSynthesizer):
        model.require_no_noise()
    try:
        return strong_attacker(
            model,
            synthesis.task.original,
            synthesis.table,
            unknown=synthesis.task.scenario.sensitive,
            **_how(synthesis.task),
        )
    except NoDensityError:
        model.require_single()
        raise NoDensityError(
            "The strong attacker needs a model that draws from counts of records, and "
            f"{type(model).__name__} with these settings does not."
        ) from None


def _run_record(synthesis: Synthesis) -> StrongAttack | str:
    """Attack the whole record of some people, or say why not."""
    task, model = synthesis.task, synthesis.given.model
    assert model is not None  # noqa: S101  # there is no such job without one
    rows, columns = to_narwhals(task.original).shape
    if rows > MOST_ROWS or columns > MOST_COLUMNS:
        return (
            f"Not run: the original has {rows:,} records and {columns:,} columns, and this attack "
            f"is limited to {MOST_ROWS:,} records and {MOST_COLUMNS} columns."
        )
    records = np.arange(rows)
    if rows > ATTACKED:
        drawn = np.random.default_rng(task.seed).choice(rows, ATTACKED, replace=False)
        records = np.sort(drawn)
    return strong_attacker(model, task.original, synthesis.table, records=records, **_how(task))


def _figure(kind: FigureKind, found: Sequence[StrongAttack], note: str) -> Figure:
    after = [attack.accuracy_after for attack in found]
    return kind.figure(
        baseline=mean(attack.accuracy_before for attack in found),
        synthetic=mean(after),
        gain=mean(attack.accuracy_after - attack.accuracy_before for attack in found),
        spread=spread(after),
        note=note,
    )


def _collect(_first: Synthesis, found: Sequence[StrongAttack | OnUnits]) -> Collected:
    by_unit = [one for one in found if isinstance(one, OnUnits)]
    if by_unit:
        return _collect_units(by_unit)
    return _collect_records([one for one in found if isinstance(one, StrongAttack)])


def _collect_units(found: Sequence[OnUnits]) -> Collected:
    """Return the findings by unit: what the release tells of its most exposed record, or of all.

    How often the attacker guesses correctly is told of one record of each, drawn at random.
    """
    worst = [one.most_exposed for one in found]
    drawn = [one.drawn for one in found]
    together = [one.together for one in found if one.together is not None]
    certain = max(attack.certain for attack in (*worst, *together))
    note = (
        f"{certain:,} people are certain to be disclosed, by one of their records or by all of "
        "them together."
    )
    told = (
        "A unit counts as its most exposed record does. Shares of correct guesses are of one "
        "record of each unit, drawn at random."
    )
    if together:
        most = max(attack.max_gain for attack in together)
        told += (
            f" An attacker who knows nothing of a unit's value in any of its records, and "
            "everyone else's records, learns at most "
            f"{bits(most)} bits; {people(max(attack.certain for attack in together))} "
            "disclosed for certain."
        )
    else:
        told += f" A unit's records together were not attacked: {found[0].reason}"
    findings = findings_of(worst)
    findings = replace(
        findings,
        certain=certain,
        accuracy_before=mean(attack.accuracy_before for attack in drawn),
        accuracy_after=mean(attack.accuracy_after for attack in drawn),
        max_gain_bits=max(
            (gain for one in (*worst, *together) if not math.isnan(gain := one.max_gain)),
            default=NAN,
        ),
        notes=(told, *findings.notes),
    )
    numbers = {
        f"strong_unit.{name}": value
        for name, value in (
            ("certain", max((float(one.certain) for one in together), default=NAN)),
            ("mean_gain_bits", mean(one.mean_gain for one in together)),
            ("max_gain_bits", max((one.max_gain for one in together), default=NAN)),
        )
    }
    return Collected([_figure(KIND, drawn, note)], numbers, release={"strong": findings})


def _collect_records(found: Sequence[StrongAttack]) -> Collected:
    certain = max(attack.certain for attack in found)
    note = f"{certain:,} people are certain to be disclosed."
    if found[0].refitted:
        note += f" For {found[0].refitted:,} of {len(found[0]):,}, the model was fitted anew."
    return Collected([_figure(KIND, found, note)], release={"strong": findings_of(found)})


def _collect_record(_first: Synthesis, found: Sequence[StrongAttack | str]) -> Collected:
    attacks = [attack for attack in found if isinstance(attack, StrongAttack)]
    if not attacks:
        return Collected([RECORD_KIND.figure(note=str(found[0]))])
    note = (
        f"{len(attacks[0]):,} records were attacked; "
        f"{max(attack.certain for attack in attacks):,} are certain to be disclosed. On average "
        f"the attacker learns {mean(attack.mean_gain for attack in attacks):.2f} bits about one."
    )
    return Collected([_figure(RECORD_KIND, attacks, note)])


def findings_of(found: Sequence[StrongAttack]) -> StrongFindings:
    """Return all figures over the syntheses, and the distribution of the first."""
    first = found[0]
    notes = tuple(dict.fromkeys(note for attack in found for note in attack.notes))
    if first.fixed is not None:
        notes += (first.refitted_in_words(),)
    if len(found) > 1:
        notes += (
            f"Figures are means over {len(found)} syntheses. The number of people who are certain "
            "to be disclosed, and the largest gain, are those of the worst synthesis.",
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
        max_gain_bits=max(
            (gain for attack in found if not math.isnan(gain := attack.max_gain)), default=NAN
        ),
        gains=gain_histogram(first),
        notes=notes,
    )


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
    edges: NDArray[np.float64] = np.arange(first, max(last, first + 1) + 1, dtype=np.float64) * step
    return Histogram(tuple(edges.round(10).tolist()), counts_between(gains, edges))


def _round_step(least: float) -> float:
    """Return the next of 1, 2 and 5 times a power of ten."""
    if least < 1e-6:
        return 1e-6
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * unit for unit in (1, 2, 5, 10) if power * unit >= least * (1 - 1e-9))


def _values(release: ReleaseFindings) -> list[tuple[str, object]]:
    strong = release.strong
    if strong is None:
        return []
    derived = {
        "certain_share": strong.certain / strong.records if strong.records else math.nan,
        "gain": strong.accuracy_after - strong.accuracy_before,
    }
    return [("strong", vars(strong) | derived)]


def _field(name: str) -> Callable[[ReleaseFindings], float]:
    return lambda release: getattr(release.strong, name, math.nan)


STRONG = Measure(
    "strong",
    "attacking with full knowledge",
    _run,
    _collect,
    needed=lambda _task, given: given.model is not None,
    needs="the model that made the release",
    figures=(KIND,),
    numbers={
        "strong": (
            "certain",
            "certain_share",
            "accuracy_before",
            "accuracy_after",
            "gain",
            "mean_gain_bits",
            "gain_bits_99_percent",
            "max_gain_bits",
            "share_above_half",
            "share_above_90_percent",
        ),
        "strong_unit": ("certain", "mean_gain_bits", "max_gain_bits"),
    },
    values=_values,
    found=lambda release: release.strong,
    explanation=Explanation(
        "The strong attacker",
        "This attacker knows the synthesizer and every original record except for one value, and "
        "computes how probable each candidate value is, given the release. The gain is the base-2 "
        "logarithm of how much more probable the truth became. The value is certain if no other "
        "world could have given this release.",
        REITER,
    ),
    part=Part("strong", "The strong attacker", 3),
    trust=(Trust("strong attacker", "record", ("D1", "D2", "D3", "D4", "D5")),),
    columns=(
        Column(
            STRONGEST,
            "Certain",
            "people whose value is certain to an attacker who knows everything else",
            _field("certain"),
            number,
        ),
        Column(
            STRONGEST,
            "Bits",
            "what this attacker learns about a person, on average",
            _field("mean_gain_bits"),
            lambda bits: number(bits, 3),
            in_terminal=False,
        ),
    ),
    of_units="all records",
    place=71,
)
STRONG_RECORD = Measure(
    "strong_record",
    "attacking whole records",
    _run_record,
    _collect_record,
    level="full",
    needed=lambda _task, given: given.model is not None,
    needs="the model that made the release",
    figures=(RECORD_KIND,),
    explanation=Explanation(
        "The strong attacker, whole record",
        "The same attacker knows all original records but one, and nothing about that one. Every "
        "record that could have been there is a candidate. We count the people whose whole "
        "record is the most probable one. Where there are too many candidates, nothing is counted "
        "and the figure says so.",
        REITER,
    ),
    of_units="all records",
    place=80,
)
