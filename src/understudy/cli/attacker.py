"""The attacker: the options that say what one knows, wants and tries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from understudy.cli import options
from understudy.cli.option_groups import option
from understudy.errors import ParameterError

if TYPE_CHECKING:
    from understudy.audit.policy import Policy
    from understudy.risk.scenario import Scenario

_PANEL = options.ATTACKER

Model = Annotated[
    Path | None,
    option(
        "The model that made the synthetic table, from `understudy synth --save-model`.",
        panel=_PANEL,
    ),
]


@dataclass(frozen=True, kw_only=True)
class Attacker:
    """What an attacker knows, wants and tries."""

    keys: options.Keys = ""
    sensitive: options.Sensitive = ""
    known: Annotated[
        int | None,
        option(
            "How many of the keys the attacker knows: all sets of that size are attacked.",
            panel=_PANEL,
            default="all",
            min=1,
        ),
    ] = None
    scenario: Annotated[
        Path | None,
        option(
            "A TOML file with keys, sensitive and known, in place of these options.", panel=_PANEL
        ),
    ] = None
    control: Annotated[
        Path | None,
        option("Records like the original ones that the synthesis did not use.", panel=_PANEL),
    ] = None
    classifiers: Annotated[
        Literal["strong", "papers", "none"],
        option(
            "Which classifiers attack: strong (ours), papers (those of the papers) or none, which "
            "is fastest.",
            panel=options.AUDIT,
            default=True,
        ),
    ] = "strong"
    groups: Annotated[
        str,
        option(
            "Numeric columns to put into groups of equal size: age=10,income=5.",
            panel=options.AUDIT,
        ),
    ] = ""

    @property
    def named(self) -> bool:
        """Whether any of what the attacker knows and wants is given."""
        return bool(self.keys or self.sensitive or self.scenario)

    def read(self, policy: Policy | None = None) -> Scenario:
        """Return what the attacker knows and wants; what the options leave open, a policy says."""
        from understudy.risk.scenario import Scenario

        if self.scenario is not None:
            if self.keys or self.sensitive or self.known is not None:
                raise ParameterError("--scenario replaces --keys, --sensitive and --known.")
            return Scenario.load(self.scenario)
        keys, sensitive, known = options.split_names(self.keys), self.sensitive.strip(), self.known
        if policy is not None:
            if not keys:
                keys, known = list(policy.keys), policy.known if known is None else known
            sensitive = sensitive or policy.sensitive
        if not keys or not sensitive:
            more = "" if policy is None else ", or a --policy file with them"
            raise ParameterError(f"Give --keys and --sensitive, or a --scenario file{more}.")
        return Scenario(keys, sensitive, known)

    @property
    def preset(self) -> Literal["strong", "papers"] | None:
        """The classifiers that attack, None for none."""
        return None if self.classifiers == "none" else self.classifiers

    def read_groups(self) -> dict[str, int] | None:
        """Return the numbers of groups that were given as COLUMN=NUMBER."""
        pairs = [part.rpartition("=") for part in options.split_names(self.groups)]
        if any(not name or not number.isdecimal() for name, _, number in pairs):
            raise ParameterError(
                f"--groups must be COLUMN=NUMBER, separated by commas; got {self.groups!r}."
            )
        return {name: int(number) for name, _, number in pairs} or None
