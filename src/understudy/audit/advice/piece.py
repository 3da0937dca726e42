"""A piece of advice: what to do, what to expect of it, and what it takes, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from understudy.synthesis import METHODS
from understudy.wording import listed

Action = Literal["synthesize", "keep", "audit", "describe", "remove uniques", "coarsen", "decide"]
"""What is to be done: synthesize anew, or again to keep it, audit a table, describe the columns,
take records out, join rare values and cut off extremes, or decide: there is nothing to run."""

MODEL, CONTROL = "model", "control"
"""Parameters of an audit that stand for the model of the release, and for control records, whatever
they are called."""


@dataclass(frozen=True)
class Advice:
    """Something to try.

    Parameters
    ----------
    text : str
        What to do.
    effect : str
        What can be expected of it, and what it costs.
    action : {"synthesize", "keep", "audit", "describe", "remove uniques", "coarsen", "decide"}
        What is to be done.
    method : str
        For a synthesis: the method.
    parameters : mapping
        For a synthesis, its parameters, where they are not the defaults; for an audit, what it
        needs beside the tables; for a description, its arguments; for coarser values, the share
        from which on numbers are cut off, and the least people of a text, by column.
    output : str
        What the result can be called.
    uses : str
        The `output` of the advice whose result it takes: the table to audit, or the description
        to synthesize with. Empty for an audit of the release itself.
    release : str
        The release that it is about.
    unsaid : tuple of str
        Parameters that were set for the release and are not in `parameters`, since they may hold
        values of the data.
    """

    text: str
    effect: str
    action: Action
    method: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)
    output: str = ""
    uses: str = ""
    release: str = ""
    unsaid: tuple[str, ...] = ()

    @property
    def sentences(self) -> str:
        """What to do, and what can be expected of it."""
        unsaid = (
            f" Set {listed(self.unsaid)} again as before: the audit does not keep such values."
            if self.unsaid
            else ""
        )
        return f"{self.text} {self.effect}{unsaid}".strip()

    @property
    def code(self) -> str:
        """The same in Python.

        Examples
        --------
        >>> Advice("", "", "synthesize", "cart", {"minbucket": 20}).code
        'Cart(minbucket=20).fit(original).sample()'
        """
        values = {name: repr(value) for name, value in self.parameters.items()}
        values |= {name: name for name in (MODEL, CONTROL) if name in values}
        given = ", ".join(f"{name}={value}" for name, value in values.items())
        if self.action == "synthesize":
            tables = f"original, {self.uses}" if self.uses else "original"
            return f"{METHODS[self.method].__name__}({given}).fit({tables}).sample()"
        if self.action == "describe":
            return f"Schema.infer(original, {given})"
        if self.action == "remove uniques":
            return f"remove_replicated_uniques(original, synthetic, {given}).frame"
        if self.action == "coarsen":
            return self._coarsened()
        if self.action in {"decide", "keep"}:
            return ""
        synthetic = self.uses.replace("-", "_") or "synthetic"
        return f"understudy.audit(original, {synthetic}, {given})"

    def _coarsened(self) -> str:
        shares, least = (self.parameters.get(name, {}) for name in ("top_code", "group_rare"))
        lines = []
        if isinstance(shares, Mapping) and shares:
            asked = {name: (None, share) for name, share in shares.items()}
            limits = f"limits_by_share(original, {asked!r})"
            lines.append(f"synthetic = top_bottom_code(synthetic, {limits}).frame")
        if least:
            lines.append(f"synthetic = group_rare(original, synthetic, {least!r}).frame")
        return "\n".join(lines)


KEEP = Advice("Make this release again, and keep it.", "A comparison keeps no tables.", "keep")
"""For the release to choose, where it was made only to be compared."""
