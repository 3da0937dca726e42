"""All that can be told of membership: what is given decides which attacks are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from understudy.data.frames import Backend, Frame, Layout
from understudy.errors import NoDensityError, ParameterError
from understudy.results import Line, Result, to_plain
from understudy.risk.compared_tables import listed_releases
from understudy.risk.membership.control import membership_by_control
from understudy.risk.membership.control_result import ControlMembership
from understudy.risk.membership.exact import membership_exact
from understudy.risk.membership.exact_result import ExactMembership
from understudy.risk.membership.shadow_result import Others, ShadowMembership
from understudy.risk.membership.shadows import membership_by_shadows
from understudy.risk.strong.command import Command
from understudy.risk.strong.simulator import Synthesize
from understudy.synthesis import Synthesizer
from understudy.synthesis.blocks import RandomState
from understudy.wording import sentence


@dataclass(frozen=True, eq=False)
class Membership(Result):
    """What can be told of who was in the data; see `membership`.

    Parameters
    ----------
    exact : ExactMembership or None
        By the density of the model.
    control : ControlMembership or None
        By control records.
    shadow : ShadowMembership or None
        By shadow releases of the tool.
    reasons : mapping from str to str
        Why an attack was not made.
    """

    exact: ExactMembership | None = None
    control: ControlMembership | None = None
    shadow: ShadowMembership | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def parts(self) -> dict[str, ExactMembership | ControlMembership | ShadowMembership]:
        """The attacks that were made, by name."""
        every = {"exact": self.exact, "control": self.control, "shadow": self.shadow}
        return {name: found for name, found in every.items() if found is not None}

    def lines(self) -> list[Line]:
        """Return the lines of all attacks."""
        return [line for found in self.parts.values() for line in found.lines()]

    def to_frame(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each figure: the attack, its name, the value and the baseline."""
        rows = [
            {
                "attack": name,
                "figure": line.measure,
                "baseline": line.baseline,
                "synthetic": line.synthetic,
                "control": line.control,
            }
            for name, found in self.parts.items()
            for line in found.lines()
        ]
        return self._framed(rows, backend)

    def per_record(self, *, backend: Backend | None = None) -> Frame:
        """Return a row for each person, with what each attack tells; null where it was not made."""
        import polars as pl

        joined: pl.DataFrame | None = None
        for name, found in self.parts.items():
            own: Any = found.per_record(backend="polars")
            own = own.rename({one: f"{name}_{one}" for one in own.columns if one != "record"})
            joined = (
                own if joined is None else joined.join(own, "record", how="full", coalesce=True)
            )
        content = pl.DataFrame({"record": []}) if joined is None else joined.sort("record")
        return self._framed(content, backend)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of all attacks as plain values."""
        parts: dict[str, Any] = dict.fromkeys(("exact", "control", "shadow"))
        parts |= {name: found.to_dict() for name, found in self.parts.items()}
        plain: dict[str, Any] = to_plain({**parts, "reasons": dict(self.reasons)})
        return plain

    def summary(self) -> str:
        """Return the sentences of all attacks, and which were not made."""
        told = [found.summary() for found in self.parts.values()]
        return " ".join([*told, *(sentence(reason) for reason in self.reasons.values())])


def membership(  # noqa: PLR0913  # what is given decides which attacks are made
    original: Frame,
    synthetic: Frame | Sequence[Frame],
    *,
    model: Synthesizer | None = None,
    control: Frame | None = None,
    tool: Synthesize | Command | str | None = None,
    prior: float = 0.5,
    columns: Sequence[str] | None = None,
    targets: int = 10,
    shadows: int = 200,
    others: Others = "sample",
    processes: int = 1,
    random_state: RandomState = 0,
) -> Membership:
    """Tell who was in the data, by all attacks for which there is what they need.

    Parameters
    ----------
    original, synthetic : frame
        The confidential table, and the release or a list of releases.
    model : Synthesizer, optional
        The fitted model that made the release: for the exact attack on everybody
        (`membership_exact`).
    control : frame, optional
        People of the same population who were not used: for the attack on any file
        (`membership_by_control`), and beside the exact one.
    tool : callable, Command or str, optional
        What makes releases, as a function or a command line: for shadow releases of the most
        exposed people (`membership_by_shadows`).
    prior : float
        Of the exact attack: the probability that a person was in, before the release.
    columns : sequence of str, optional
        What control records and shadow releases are compared by; all columns if not given.
    targets, shadows, others, processes
        Of shadow releases: how many people, releases for each of them, from whom these are made,
        and runs at the same time.
    random_state : int, numpy Generator or None
        Decides all that is drawn.

    Returns
    -------
    Membership

    Examples
    --------
    >>> from understudy import BayesNet, load
    >>> people = load("cmc")
    >>> model = BayesNet(2, "greedy", smoothing=0, random_state=1).fit(people[:1000])
    >>> release = model.sample(random_state=2)
    >>> found = membership(people[:1000], release, model=model, control=people[1000:])
    >>> found.exact.without.certain > 100, found.control.auc > 0.6
    (True, True)
    >>> found.reasons
    {'shadow': 'without the tool, as a function or a command, no shadow releases can be made'}
    """
    if model is None and control is None and tool is None:
        raise ParameterError(
            "membership needs to know more than the two tables: give the model that made the "
            "release (model), people who were not in the data (control), or a way to make "
            "releases (tool)."
        )
    releases = listed_releases(synthetic)
    exact = by_control = shadow = None
    reasons: dict[str, str] = {}
    if model is None:
        reasons["exact"] = "without the model that made the release, there is no exact answer"
    else:
        try:
            exact = membership_exact(
                model, original, releases, control=control, prior=prior, random_state=random_state
            )
        except NoDensityError as error:
            reasons["exact"] = str(error)
    if control is None:
        reasons["control"] = "without people who were not in the data, nobody can be compared"
    else:
        by_control = membership_by_control(
            original, releases, control, columns=columns, random_state=random_state
        )
    if tool is None:
        reasons["shadow"] = (
            "without the tool, as a function or a command, no shadow releases can be made"
        )
    else:
        shadow = membership_by_shadows(
            tool,
            original,
            releases[0] if len(releases) == 1 else None,
            columns=columns,
            targets=targets,
            shadows=shadows,
            others=others,
            processes=processes,
            random_state=random_state,
        )
    backend = Layout.of(original).backend
    return Membership(exact, by_control, shadow, reasons, _backend=backend)
