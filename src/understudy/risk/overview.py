"""All attacks by matching and by classification on one release, side by side."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from understudy.data.frames import Backend, Frame
from understudy.results import Line, Result, to_plain
from understudy.risk.attacker_votes import Attackers
from understudy.risk.attackers import attackers_on
from understudy.risk.attribution import attributions
from understudy.risk.attribution_result import TITLES, Attribution, Unmatched
from understudy.risk.compared_tables import listed_releases
from understudy.risk.disclosure import disclosure_of
from understudy.risk.disclosure_result import Disclosure
from understudy.risk.prepare import prepare
from understudy.risk.scenario import Scenario
from understudy.risk.tolerance import Tolerance


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
        for rule in TITLES:
            yield from self.attribution[rule].lines()
        models = self.attackers
        if models is not None:
            yield models.line("vote", f"{models.voters} classifiers", models.ensemble)
            yield models.line("mean", "on average", models.mean)
            yield models.line("best", f"best model: {models.best}", models.maximum)
        keys = len(self.scenario.keys)
        # The other lines are about fewer keys.
        knowing = f", all {keys} keys" if (self.scenario.known or keys) < keys else ""
        for line in self.disclosure.lines():
            yield replace(line, meaning=f"{line.meaning}{knowing}")

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each measure, beside its references."""
        return self._framed([asdict(line) for line in self.lines()], backend)

    def summary(self) -> str:
        """Return the results in sentences, those of each attack on a line."""
        results = [self.attribution["nearest"], self.attackers, self.disclosure]
        return "\n".join(result.summary() for result in results if result is not None)

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain values, with None for nan."""
        return {
            "scenario": to_plain(self.scenario),
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
    synthetic: Frame | Sequence[Frame],
    *,
    keys: str | Sequence[str],
    sensitive: str,
    known: int | None = None,
    tolerance: Tolerance | float | dt.timedelta | str | None = None,
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
        The original table and the release; several releases in a list are attacked together.
    keys, sensitive, known
        What the attacker may know, wants, and knows; see `Scenario`. Disclosure (repU, DiSCO) is
        always measured with all keys.
    tolerance : Tolerance, float, timedelta, str, optional
        How far off a guess of a number or a date may be; see `attribution`. Disclosure counts equal
        values alone.
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
        original,
        listed_releases(synthetic),
        scenario,
        control=control,
        groups=groups,
        special=special,
        tolerance=tolerance,
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
