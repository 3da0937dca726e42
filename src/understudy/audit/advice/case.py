"""The release that advice is about, and how it was made as far as that is known."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from understudy.audit.advice.piece import Advice
from understudy.audit.findings import Findings, MadeBy, ReleaseFindings
from understudy.synthesis import METHODS
from understudy.wording import quoted


@dataclass(frozen=True)
class Case:
    """A release, how it was made as far as is known, and what advice about it has in common."""

    findings: Findings
    release: ReleaseFindings
    made: MadeBy | None

    @property
    def many(self) -> str:
        """What the records are about."""
        return self.findings.units.many

    @property
    def sensitive(self) -> str:
        """The sensitive column in quotes, or what to call it."""
        return quoted([self.findings.sensitive]) if self.findings.sensitive else "the secret column"

    @property
    def protects(self) -> Mapping[str, str | None]:
        """The columns that the release protects, and what each stays linked to."""
        found = self.made.parameters.get("protect") if self.made is not None else None
        return found if isinstance(found, Mapping) else {}

    @property
    def protected(self) -> bool:
        """Whether the sensitive column is protected."""
        drawn = self.release.network.protected if self.release.network is not None else ()
        return self.findings.sensitive in {*drawn, *self.protects}

    @property
    def protection(self) -> Mapping[str, str | None]:
        """What is to be protected: the sensitive column, and what was before."""
        sensitive = self.findings.sensitive
        own = {sensitive: self.kept_target} if sensitive else {}
        return {**self.protects, **own}

    @property
    def kept_target(self) -> str | None:
        """The target, to which a protected column stays linked, unless the attacker knows it."""
        target = self.findings.target
        known = {self.findings.sensitive, *self.findings.keys}
        return target if target and target not in known else None

    def number(self, name: str) -> Any:  # noqa: ANN401  # a number, or None
        """Return a parameter that is one number; None if the method has none, or another form."""
        assert self.made is not None  # noqa: S101  # the callers looked
        known = inspect.signature(METHODS[self.made.method]).parameters
        if name not in known or name in self.made.unsaid:
            return None
        value = self.made.parameters.get(name, known[name].default)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def synthesize(
        self,
        text: str,
        effect: str,
        output: str,
        made: MadeBy | None = None,
        *,
        uses: str = "",
        **changes: object,
    ) -> Advice:
        """Return the advice to synthesize as before, or by another method, with some changes."""
        made = made or self.made
        assert made is not None  # noqa: S101  # the callers looked
        parameters = dict(made.parameters) | changes
        return Advice(
            text, effect, "synthesize", made.method, parameters, output, uses, unsaid=made.unsaid
        )

    def audit(self, text: str, output: str, *, uses: str = "", **more: object) -> Advice:
        """Return the advice to audit the release, or what another advice made, in the same way."""
        found = self.findings
        given = {"keys": list(found.keys), "sensitive": found.sensitive}
        also = {"target": found.target or None, "known": found.known}
        parameters = given | {name: value for name, value in also.items() if value is not None}
        return Advice(text, "", "audit", "", parameters | more, output, uses)


def guessed_method(name: str) -> MadeBy | None:
    """Return the method that a release is named after, if it is.

    Examples
    --------
    >>> guessed_method("out/cart-1.csv").method
    'cart'
    """
    methods = {cls.__name__.casefold(): method for method, cls in METHODS.items()}
    methods |= {method: method for method in METHODS}
    if name.casefold() in methods:
        return MadeBy(methods[name.casefold()])
    # A file named random-sample.csv was not made by the method random.
    words = re.findall(r"[a-z]+", PurePath(name).stem.casefold())
    told = [methods[word] for word in words if word in methods]
    return MadeBy(told[0]) if told and told[0] != "random" else None
