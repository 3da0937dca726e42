"""All attacks by matching and by classification on one release, side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from understudy.data.frames import Backend, Frame
from understudy.results import Result
from understudy.risk.attacker_results import Attackers
from understudy.risk.attackers import attackers_on
from understudy.risk.attribution import attributions
from understudy.risk.attribution_result import TITLES, Attribution, Unmatched
from understudy.risk.disclosure import disclosure_of
from understudy.risk.disclosure_result import DISCO, REPU, Disclosure
from understudy.risk.prepare import prepare
from understudy.risk.scenario import Scenario

if TYPE_CHECKING:
    from understudy.charts import number_line


@dataclass(frozen=True)
class Line:
    """One measure beside what it is compared with; shares of records, nan where there is none.

    Parameters
    ----------
    measure, meaning : str
        Its name, and what is counted, in words.
    baseline : float
        Without the release.
    synthetic : float
        With it.
    original : float
        With the original data themselves.
    control : float
        With the release, for people who are not in the data.
    gain : float
        What the release adds to the baseline.
    """

    measure: str
    meaning: str
    baseline: float
    synthetic: float
    original: float
    control: float
    gain: float


@dataclass(frozen=True, eq=False)
class Overview(Result):
    """The results of all attacks on one release.

    Parameters
    ----------
    scenario : Scenario
        What the attacker knows and wants.
    attribution : dict
        The result of each way to treat records without a match: nearest, ignore, zero.
    attackers : Attackers or None
        The result of the classifiers, if they were asked for.
    disclosure : Disclosure
        Identity and attribute disclosure with all keys.
    """

    scenario: Scenario
    attribution: Mapping[Unmatched, Attribution]
    attackers: Attackers | None
    disclosure: Disclosure

    def lines(self) -> Iterator[Line]:
        """Yield each measure beside its references."""
        for rule, (name, meaning) in TITLES.items():
            found = self.attribution[rule]
            yield Line(
                name,
                meaning,
                found.baseline,
                found.accuracy,
                found.original.accuracy,
                found.control.accuracy if found.control is not None else math.nan,
                found.gain,
            )
        if self.attackers is not None:
            models = self.attackers
            scores = {
                "vote": (models.ensemble, f"{models.voters} classifiers"),
                "mean": (models.mean, "on average"),
                "best": (models.maximum, f"best model: {models.best}"),
            }
            for name, (score, meaning) in scores.items():
                yield Line(
                    name,
                    meaning,
                    models.baseline,
                    score.accuracy,
                    score.original,
                    score.control,
                    score.gain,
                )
        told = self.disclosure
        keys = len(self.scenario.keys)
        # The other lines are about fewer keys.
        knowing = f", all {keys} keys" if (self.scenario.known or keys) < keys else ""
        yield Line(
            REPU[0],
            f"{REPU[1]}{knowing}",
            math.nan,
            told.repu,
            told.uio,
            math.nan,
            math.nan,
        )
        yield Line(
            DISCO[0],
            f"{DISCO[1]}{knowing}",
            told.disco_baseline,
            told.disco,
            told.dorig,
            told.control.disco if told.control is not None else math.nan,
            told.disco_gain,
        )

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each measure, beside its references."""
        import polars as pl

        return self._framed(pl.DataFrame([asdict(line) for line in self.lines()]), backend)

    def summary(self) -> str:
        """Return the results in sentences, those of each attack on a line."""
        results = [self.attribution["nearest"], self.attackers, self.disclosure]
        return "\n".join(result.summary() for result in results if result is not None)

    __str__ = summary

    def _lines(self) -> Sequence[number_line.Line]:
        from understudy.charts import number_line

        return [
            number_line.Line(
                line.measure,
                line.meaning,
                {
                    role: getattr(line, role)
                    for role in ("baseline", "synthetic", "original", "control")
                },
            )
            for line in self.lines()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain values, with None for nan."""
        return {
            "scenario": {
                "keys": list(self.scenario.keys),
                "sensitive": self.scenario.sensitive,
                "known": self.scenario.known,
            },
            "attribution": {rule: found.to_dict() for rule, found in self.attribution.items()},
            "attackers": self.attackers.to_dict() if self.attackers is not None else None,
            "disclosure": self.disclosure.to_dict(),
        }

    def reasons(self) -> dict[str, str]:
        """Return why results are undefined, by measure; that there is no control is no reason."""
        results: dict[str, Mapping[str, str]] = {
            name: self.attribution[rule].reasons for rule, (name, _) in TITLES.items()
        }
        if self.attackers is not None:
            results["classifiers"] = self.attackers.reasons
        results["disclosure"] = self.disclosure.reasons
        return {
            f"{measure}, {name}": reason
            for measure, reasons in results.items()
            for name, reason in reasons.items()
            if not name.startswith("control")
        }


def overview(  # noqa: PLR0913  # the tables, the attacker, and the means of attack
    original: Frame,
    synthetic: Frame,
    *,
    keys: str | Sequence[str],
    sensitive: str,
    known: int | None = None,
    classifiers: Literal["strong", "papers"] | None = "strong",
    control: Frame | None = None,
    groups: Mapping[str, int] | None = None,
    special: Mapping[str, Sequence[float]] | None = None,
    processes: int = 1,
    random_state: int = 0,
) -> Overview:
    """Attack a release in all ways that need nothing but the two files.

    Parameters
    ----------
    original, synthetic : frame
        The original table and the release.
    keys, sensitive, known
        What the attacker may know, wants, and knows; see `Scenario`. Disclosure (repU, DiSCO) is
        always measured with all keys.
    classifiers : {"strong", "papers"} or None
        Which classifiers attack; see `attackers`.
    control : frame, optional
        Records like the original's that were not used for the synthesis.
    groups, special : mapping, optional
        Numeric columns to put in groups, and their numbers that are not grouped.
    processes, random_state : int
        For the classifiers.

    Examples
    --------
    >>> from understudy import load
    >>> survey = load("cmc")
    >>> found = overview(survey, survey, keys=["age", "children"], sensitive="method",
    ...                  classifiers=None)
    >>> round(found.attribution["nearest"].accuracy, 3), round(found.disclosure.repu, 3)
    (0.627, 0.044)
    """
    scenario = Scenario(keys, sensitive, known)
    prepared = prepare(
        original, [synthetic], scenario, control=control, groups=groups, special=special
    )
    trained = None
    if classifiers is not None:
        trained = attackers_on(
            prepared, classifiers, processes=processes, random_state=random_state
        )
    return Overview(
        scenario,
        attributions(prepared, tuple(TITLES)),
        trained,
        disclosure_of(prepared),
        _backend=prepared.backend,
    )
