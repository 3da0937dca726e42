"""The measures that are put to the test, each as a score of one record, or of the whole table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from understudy.risk.attackers import attackers
from understudy.risk.attribution_result import Unmatched
from understudy.risk.linkability import linkability
from understudy.risk.lookalikes import lookalikes
from understudy.risk.membership import membership_exact
from understudy.risk.nearest_neighbour import nearest_neighbour
from understudy.risk.overview import Overview, overview
from understudy.risk.prepare import prepare
from understudy.risk.rare_values import rare_values_of
from understudy.risk.scenario import Scenario
from understudy.risk.singling_out import singling_out
from understudy.risk.strong.attack import strong_attacker
from understudy.risk.telling_keys import telling_keys_of
from understudy.worlds.releases import CELLS, KEYS, RECORD, TARGET, Release

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Measure:
    """A measure of risk, and what its score can be.

    Parameters
    ----------
    name : str
        What it is called.
    about : {"record", "table"}
        Whether it is the score of the one record, or that of the whole table.
    baseline : float
        Its score without the release: of one who knows which values there can be, and no more, or
        of a table in which nothing is found.
    meaning : str
        What is counted, in words.
    maximum : float
        The highest score.
    """

    name: str
    about: Literal["record", "table"]
    baseline: float
    meaning: str
    maximum: float = 1.0

    @property
    def label(self) -> str:
        """The name, with what the score is about.

        Examples
        --------
        >>> MEASURES[0].label
        '0CAP, record'
        """
        return f"{self.name}, {self.about}"


_VALUES = 2  # that the target can have
_ONE = 1 / (RECORD + 1)  # of all records: the one is the last
_CAP = "share of the synthetic records with its keys that have its value; "
MEASURES = (
    Measure("0CAP", "record", 1 / _VALUES, f"{_CAP}0 if none has its keys"),
    Measure("ICAP", "record", 1 / _VALUES, f"{_CAP}left out if none has its keys"),
    Measure("GCAP", "record", 1 / _VALUES, f"{_CAP}the nearest ones if none has its keys"),
    Measure("telling keys", "record", 1 / _VALUES, "share of sets of keys that tell its value"),
    Measure("nearest neighbour", "record", 1 / _VALUES, "whether the most similar record tells it"),
    Measure("classifiers", "record", 1 / _VALUES, "whether six classifiers vote for its value"),
    Measure("repU", "record", 0, "whether its keys are unique in both tables"),
    Measure("DiSCO", "record", 0, "whether all records with its keys have one value, and its own"),
    Measure("DiSCO gain", "record", 0, "DiSCO less what a constant guess gets right"),
    Measure("repU", "table", 0, "share of the records that it counts"),
    Measure("DiSCO", "table", 0, "share of the records that it counts"),
    Measure("DiSCO gain", "table", 0, "DiSCO less the share that a constant guess gets right"),
    Measure("rare values", "table", 0, "share told of those with one value, beyond chance"),
    Measure("lookalikes", "record", 0, "whether a synthetic record is much closer than the next"),
    Measure("lookalikes", "table", 0, "share with one, less what fresh people would give at most"),
    Measure(
        "singling out", "record", 0, "whether a combination of one record's values fits it alone"
    ),
    Measure("singling out", "table", 0, "share that fits one person, less what chance gives"),
    Measure(
        "linkability", "record", _ONE, "whether its keys and its target have one nearest record"
    ),
    Measure("linkability", "table", _ONE, "share of the records that are linked"),
    Measure("membership", "record", 1 / 2, "posterior probability that the record was there"),
    Measure("strong attacker", "record", 1 / len(CELLS), "posterior probability of the record"),
)
"""All measures, in the order of the table."""
CLASSIFIERS, MEMBERSHIP, STRONG = (
    next(one for one in MEASURES if one.name == name)
    for name in ("classifiers", "membership", "strong attacker")
)


def scores_of(
    release: Release, original: pl.DataFrame, *, classifiers: bool = True
) -> Mapping[Measure, float]:
    """Return the score of each measure for one release of the simulated data.

    Classifiers take more time than all else.
    """
    found = overview(original, release.table, keys=KEYS, sensitive=TARGET, classifiers=None)
    attack = strong_attacker(
        release.model,
        original,
        release.table,
        unknown="*",
        prior="uniform",
        mode="refit",
        records=[RECORD],
    )
    inside = membership_exact(
        release.model, original, release.table, draws=0, mode="refit", records=[RECORD]
    )
    scores = _by_matching(found) | _by_closeness(release, original)
    scores |= _by_keys(release, original)
    scores |= _by_singling_out(release, original) | _by_linking(release, original)
    scores[MEMBERSHIP.label] = float(inside.without.values[0])
    scores[STRONG.label] = float(attack.posterior[0])
    if classifiers:
        # Of the original, only the record: the same models trained on all of it for a reference
        # would take as long again.
        record = original[RECORD : RECORD + 1]
        votes = attackers(record, release.table, keys=KEYS, sensitive=TARGET, preset="papers")
        scores[CLASSIFIERS.label] = float(votes.per_record()["ensemble"][0])
    return {measure: scores[measure.label] for measure in MEASURES if measure.label in scores}


def _by_matching(found: Overview) -> dict[str, float]:
    """Return the scores of all attacks that need nothing but the two tables, by label."""
    rules: dict[str, Unmatched] = {"0CAP": "zero", "ICAP": "ignore", "GCAP": "nearest"}
    scores = {
        f"{name}, record": float(found.attribution[rule].per_record()["cap"][RECORD])
        for name, rule in rules.items()
    }
    told = found.disclosure
    record = told.per_record().row(RECORD, named=True)
    return scores | {
        "repU, record": float(record["replicated"]),
        "DiSCO, record": float(record["correct"]),
        "DiSCO gain, record": float(record["correct"]) - float(record["constant"]),
        "repU, table": told.repu,
        "DiSCO, table": told.disco,
        "DiSCO gain, table": told.disco_gain,
    }


def _by_keys(release: Release, original: pl.DataFrame) -> dict[str, float]:
    """Return the scores of the attacks by all sets of keys, similar records and each value."""
    prepared = prepare(original, [release.table], Scenario(KEYS, TARGET))
    keys = telling_keys_of(prepared)
    near = nearest_neighbour(
        original[RECORD : RECORD + 1], release.table, keys=KEYS, sensitive=TARGET
    )
    worst = rare_values_of(prepared).worst
    beyond = 0.0 if worst is None else worst.share - worst.expected / worst.people
    return {
        "telling keys, record": float(keys.per_record()["right"][RECORD]),
        "nearest neighbour, record": near.accuracy,
        "rare values, table": beyond,
    }


def _by_closeness(release: Release, original: pl.DataFrame) -> dict[str, float]:
    """Return the scores of lookalikes, by label."""
    found = lookalikes(original, release.table, random_state=0)
    return {
        "lookalikes, record": float(found.per_record()["lookalike"][RECORD]),
        "lookalikes, table": found.excess / found.people,
    }


def _by_singling_out(release: Release, original: pl.DataFrame) -> dict[str, float]:
    """Return the scores of predicates of one, three and all four columns, by label."""
    found = singling_out(original, release.table, random_state=0)
    gains = [told.gain for told in found.attacks if told.attack.attacks]
    return {
        "singling out, record": float(found.per_record()["singled_out"][RECORD]),
        "singling out, table": max(0.0, *gains),
    }


def _by_linking(release: Release, original: pl.DataFrame) -> dict[str, float]:
    """Return the scores of linking the keys with the target, by label."""
    found = linkability(original, release.table, KEYS, TARGET, random_state=0)
    return {
        "linkability, record": float(found.per_record()["linked"][RECORD]),
        "linkability, table": found.attack.value,
    }
